"""Judgments in delimited tables by description: which column has which role.

``Table`` reads exports whose columns are known. Platforms let a requester ask several questions of
one item and name the inputs at will; adjudge wants one question, and takes an input for topic or
document only where its name says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data._gold_table import gold_from_table
from adjudge.data._instants import instants, seconds_between
from adjudge.data.build import load_table
from adjudge.data.columns import roles_of
from adjudge.data.formats.delimited import read_delimited
from adjudge.data.formats.format import Content, Options
from adjudge.data.formats.multi_select import split_options
from adjudge.data.formats.opening import File
from adjudge.data.gold import Gold
from adjudge.data.names import as_names, encode, look_up, pair_names
from adjudge.data.scale import Scale
from adjudge.data.source import Source, count_of
from adjudge.errors import BadData, Remedy

_ADDRESSES = ("url", "documenturl", "docurl", "pageurl", "link")
_SECONDS = "_seconds"  # a column added to the table


@dataclass(frozen=True, kw_only=True)
class Table:
    """How judgments, or gold, are found in a delimited table.

    ``roles``: the column of each role, or several of which the first that is there counts. A table
    without a judge holds gold. In the names of columns ``*`` is the question or input:
    ``answers`` are columns of which one is the label, each called a ``question``; ``gold`` and
    ``reason`` belong to the question; ``inputs`` describe the item, and are topic and document
    where their names say so. ``times``: when an assignment began and ended.

    ``skips``: a column, the words in it, and why such a row is not a judgment. ``honeypots``: gold
    is of planted items, or of those that the column ``planted`` marks. ``unknown``: the gold that
    means that there is none. ``choices``: several options may be chosen, as JSON lists or one per
    line. ``known``: more columns whose names are spelt alike in any case. ``prepare`` changes the
    table where its shape demands code, and may choose the question; ``item`` names the column of
    the item, which it may add.
    """

    roles: Mapping[str, str | tuple[str, ...]]
    answers: str = ""
    question: str = "question"
    inputs: str | Callable[[list[str], str], list[str]] = ""
    gold: str = ""
    reason: str = ""
    times: tuple[str, str] | None = None
    skips: tuple[tuple[str, tuple[str, ...], str], ...] = ()
    honeypots: bool = False
    planted: str = ""
    unknown: str = ""
    choices: Literal["", "lists", "lines"] = ""
    scale: Scale | None = None
    delimiter: str | None = None
    quoted: bool = True
    guarded: bool = False
    prepare: Callable[[Any, Source, Options], tuple[Any, str]] | None = None
    item: Callable[[Any, Source, dict[str, str], list[str]], tuple[Any, str]] | None = None
    known: tuple[str, ...] = field(default=())

    def read(self, file: File, options: Options) -> Content:
        """Read what a file holds."""
        table, source = read_delimited(
            file,
            options,
            delimiter=self.delimiter,
            quoted=self.quoted,
            spelt=self._spell,
            guarded=self.guarded,
        )
        return self.content(table, source, options)

    def content(self, table: Any, source: Source, options: Options) -> Content:
        """Return the judgments, or the gold, in a table."""
        question = ""
        if self.prepare is not None:
            table, question = self.prepare(table, source, options)
        if self.answers and not question:
            found = [bare for n in table.column_names if (bare := bare_name(n, self.answers))]
            question = choose_question(found, options, source.name, self.question)
        roles = self._roles(table.column_names, question)
        table, notes = leave_out(table, source, self._reasons(table, roles))
        table = self._timed(table, source, roles)
        if "gold" in roles and self.unknown:
            gold = table[roles["gold"]]
            known = pc.not_equal(pc.utf8_trim_whitespace(gold), self.unknown)
            table = with_column(table, roles["gold"], pc.if_else(known, gold, ""))
        if "judge" not in roles:
            truth = gold_from_table(table, source=source, roles=roles, scale=options.truths)
            return Content(gold=truth, bad=source.skipped, notes=notes)
        inputs = list(self._inputs(table.column_names, question).values())
        if self.item is not None:
            table, roles["item"] = self.item(table, source, roles, inputs)
            roles = {role: name for role, name in roles.items() if name}
        content = judged_content(
            table,
            source,
            roles,
            replace(options, scale=options.scale or self.scale),
            inputs=tuple(inputs),
            prefix=self.inputs.removesuffix("*") if isinstance(self.inputs, str) else "",
            choices=self.choices,
        )
        gold = content.gold
        if gold is not None:
            gold = self._describe_gold(gold, table, roles, self.reason.replace("*", question))
        return replace(content, gold=gold, notes=notes)

    def _describe_gold(self, gold: Gold, table: Any, roles: dict[str, str], reason: str) -> Gold:
        """Return the gold with its reasons, and with the items marked that were planted."""
        if self.honeypots:
            marks = np.ones(len(gold), dtype=np.bool_)
            if self.planted in table.column_names:
                marks = is_word(table[self.planted], "true", "1")[first_rows(gold, table, roles)]
            gold = replace(gold, honeypot=marks)
        return with_reasons(gold, table, roles, reason) if reason in table.column_names else gold

    def _inputs(self, columns: list[str], question: str) -> dict[str, str]:
        """Return the columns that describe the item, by their names without the prefix."""
        if isinstance(self.inputs, str):
            return {bare: n for n in columns if (bare := bare_name(n, self.inputs))}
        return {name: name for name in self.inputs(columns, question)}

    def _spell(self, name: str) -> str:
        """Return the name of a column as the format has it, whatever its case."""
        columns = [n for names in self.roles.values() for n in as_tuple(names)]
        inputs = self.inputs if isinstance(self.inputs, str) else ""
        more = (*(self.times or ()), self.planted, self.reason, self.gold, inputs, self.answers)
        for known in (*columns, *(skip[0] for skip in self.skips), *self.known, *more):
            before, star, after = known.partition("*")
            inner = name[len(before) : len(name) - len(after)]
            spelt = f"{before}{inner}{after}"
            if known and spelt.casefold() == name.casefold() and bool(inner) == bool(star):
                return spelt
        return name

    def _roles(self, columns: list[str], question: str) -> dict[str, str]:
        """Return the column of each role."""
        roles: dict[str, str] = {}
        for role, names in self.roles.items():
            found = next((name for name in as_tuple(names) if name in columns), None)
            if found is not None:
                roles[role] = found
        if self.answers:
            roles["label"] = self.answers.replace("*", question)
        if self.gold and (gold := self.gold.replace("*", question)) in columns:
            roles["gold"] = gold
        inputs = self._inputs(columns, question)
        return roles | {role: inputs[name] for role, name in pair_columns(inputs).items()}

    def _reasons(self, table: Any, roles: dict[str, str]) -> dict[str, NDArray[np.bool_]]:
        """Return which rows are not judgments, by the reason."""
        reasons: dict[str, NDArray[np.bool_]] = {}
        for column, words, reason in self.skips:
            if column in table.column_names:
                marked = is_word(table[column], *words)
                reasons[reason] = reasons.get(reason, False) | marked
        if self.answers:
            reasons["no answer"] = is_blank(table[roles["label"]])
        return reasons

    def _timed(self, table: Any, source: Source, roles: dict[str, str]) -> Any:
        """Return the table with times read, and the seconds between start and end."""
        names = [name for name in self.times or () if name in table.column_names]
        for name in names:
            table = with_column(table, name, instants(table[name], source, name))
        if names:
            roles["time"] = names[-1]
        if len(names) == 2:
            seconds = seconds_between(*(table[name] for name in names))
            table = table.append_column(_SECONDS, seconds)
            roles["seconds"] = _SECONDS
        return table


def as_tuple(names: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    return (names,) if isinstance(names, str) else names


def bare_name(name: str, pattern: str) -> str:
    """Return what a column's name has for the ``*`` of a pattern; empty if it does not fit."""
    before, _, after = pattern.partition("*")
    fits = bool(pattern) and name.startswith(before) and name.endswith(after)
    return name[len(before) : len(name) - len(after)] if fits else ""


def with_column(table: Any, name: str, column: Any) -> Any:
    """Return the table with a column replaced, or added where there is none of that name."""
    if name not in table.column_names:
        return table.append_column(name, column)
    return table.set_column(table.column_names.index(name), name, column)


def judged_content(
    table: Any,
    source: Source,
    roles: dict[str, str],
    options: Options,
    *,
    inputs: tuple[str, ...] = (),
    prefix: str = "",
    choices: Literal["", "lists", "lines"] = "",
) -> Content:
    """Return the judgments, and the gold next to them, in a table whose roles are known.

    ``inputs`` are columns that describe the item, carried along without their ``prefix``. With
    ``choices``, labels may be lists of options, or lines with an option each.
    """
    every: tuple[str, ...] = ()
    if choices:
        table, roles, every = split_options(table, source, roles, options, choices)
    judgments, gold = load_table(
        table,
        scale=options.scale,
        source=source,
        roles=roles,
        fields=() if every else inputs,
    )
    if prefix and judgments.fields is not None:
        bare = [name.removeprefix(prefix) for name in judgments.fields.column_names]
        judgments = replace(judgments, fields=judgments.fields.rename_columns(bare))
    return Content(judgments=judgments, gold=gold, bad=source.skipped, options=every)


def need_columns(columns: Iterable[str], source: Source, *names: str) -> None:
    """Refuse columns without one of these names."""
    known = list(columns)
    for name in names:
        if name not in known:
            problem = f"no column {name!r}; the columns are {', '.join(known)}"
            raise source.error(None, problem, column=name, code="missing-column")


def scale_of(texts: Iterable[str]) -> Scale | None:
    """Return the scale of labels and gold together; None where they mix numbers and text."""
    try:
        return Scale.infer(texts)
    except BadData:
        return None


def gold_as_labels(gold: Gold) -> Any:
    """Return gold as a consensus table."""
    table = gold.to_table()
    return table.rename_columns(["label" if n == "gold" else n for n in table.column_names])


def with_reasons(gold: Gold, table: Any, roles: dict[str, str], column: str) -> Gold:
    """Return the gold with the first reason that a column of the judgments has for each item."""
    given = pa.array(~is_blank(table[column]))
    if not pc.any(given).as_py():
        return gold
    rows = first_rows(gold, table.filter(given), roles)
    reasons = as_names(table[column].filter(given)).take(pa.array(rows, mask=rows < 0))
    return replace(gold, reasons=reasons.fill_null(""))


def first_rows(gold: Gold, table: Any, roles: dict[str, str]) -> NDArray[np.int64]:  # (gold,)
    """Return the first row of the table about each gold item, -1 where there is none."""
    if "item" in roles:
        items = as_names(table[roles["item"]])
    else:
        items = pair_names(as_names(table[roles["topic"]]), as_names(table[roles["document"]]))
    codes, names = encode(items)
    first = np.unique(codes, return_index=True)[1][-len(names) :]  # without that of missing names
    found = look_up(gold.items, names)
    return np.where(found < 0, -1, first[found])


def keep_rows(table: Any, source: Source, kept: NDArray[np.bool_]) -> Any:  # (row,)
    """Return the rows under the mask; the source still finds their lines."""
    if kept.all():
        return table
    rows = np.flatnonzero(kept)
    source.keep(rows)
    return table.take(pa.array(rows))


def leave_out(
    table: Any, source: Source, reasons: Mapping[str, NDArray[np.bool_]]
) -> tuple[Any, tuple[str, ...]]:
    """Return the rows that no reason excludes, and a note for each reason that took some away.

    A row counts for the first reason that fits. That nothing is left is an error.
    """
    kept = np.ones(len(table), dtype=np.bool_)
    notes = []
    for reason, gone in reasons.items():
        count = int((kept & gone).sum())
        if count:
            notes.append(left_out(count, "row", reason))
        kept &= ~gone
    if len(table) and not kept.any():
        raise source.error(
            None, f"there is no judgment left: {'; '.join(notes)}", code="no-judgments"
        )
    return keep_rows(table, source, kept), tuple(notes)


def without_repeats(table: Any, source: Source) -> tuple[Any, int]:
    """Return the table without rows that repeat an earlier one in every cell, and their number."""
    key = np.zeros(len(table), dtype=np.int64)
    for column in table.columns:
        codes, names = encode(column)
        key = np.unique(key * (len(names) + 1) + codes + 1, return_inverse=True)[1].astype(np.int64)
    kept = np.zeros(len(table), dtype=np.bool_)
    kept[np.unique(key, return_index=True)[1]] = True
    return keep_rows(table, source, kept), int(len(table) - kept.sum())


def left_out(count: int, what: str, reason: str) -> str:
    """Return a note such as ``3 rows left out: rejected by the requester``."""
    return f"{count_of(count, what)} left out: {reason}"


def is_blank(column: Any) -> NDArray[np.bool_]:  # (row,)
    """Return which cells hold nothing but white space."""
    return is_word(column, "") | np.asarray(pc.is_null(column), dtype=np.bool_)


def is_word(column: Any, *words: str) -> NDArray[np.bool_]:  # (row,)
    """Return which cells hold one of the words, in any case."""
    lower = pc.utf8_lower(pc.utf8_trim_whitespace(column.cast(pa.large_string())))
    found = pc.is_in(lower, value_set=pa.array(words, pa.large_string()))
    return np.asarray(pc.fill_null(found, False), dtype=np.bool_)


def choose_question(found: Iterable[str], options: Options, source: str, what: str) -> str:
    """Return the question whose answers are the labels: the only one, or the one named.

    ``what`` is a question called in this format.
    """
    names = list(dict.fromkeys(found))
    listed = ", ".join(names)
    if not names:
        raise BadData(f"there is no {what}", source=source, code="no-question")
    if options.question is None:
        if len(names) == 1:
            return names[0]
        problem = f"there are {len(names)} {what}s ({listed}); expected one"
        remedies = [Remedy("question")]
        raise BadData.at(source, "several-questions", problem, value=names, remedies=remedies)
    name = options.question
    matches = [
        known for known in names if name == known or name.endswith((f".{known}", f":{known}"))
    ]
    if not matches:
        raise BadData.wrong(source, "unknown-question", f"a {what}, one of {listed}", name)
    return max(matches, key=len)


def asked_questions(table: Any, item: str, names: Iterable[str]) -> list[str]:
    """Return the columns that may be answers to a question: they differ within an item, and repeat.

    An input is the same in every row of an item. What hardly ever repeats is free text, and what
    is mostly empty a comment; where nothing else is left, all that differ are given.
    """
    items, _ = encode(table[item])
    varying, answers = [], []
    for name in names:
        codes, values = encode(table[name])
        blank = np.append(is_blank(values), True)[codes] if len(values) else np.ones(1, np.bool_)
        given = np.flatnonzero(~blank)
        if not given.size:
            continue
        pairs = np.unique(items[given].astype(np.int64) * (len(values) + 1) + codes[given])
        if len(pairs) == len(np.unique(items[given])):
            continue
        varying.append(name)
        distinct = len(np.unique(codes[given]))
        if 2 * given.size >= len(codes) and 2 * distinct < max(given.size, 4):
            answers.append(name)
    return answers or varying


def pair_columns(names: Iterable[str]) -> dict[str, str]:
    """Return which inputs are the topic and the document, where their names say so plainly."""
    inputs = list(names)
    found = roles_of(inputs)
    pair: dict[str, str] = {role: found[role] for role in ("topic", "document") if role in found}
    if "document" not in pair:
        letters = {re.sub(r"[^a-z]", "", name.casefold()): name for name in reversed(inputs)}
        address = next((letters[word] for word in _ADDRESSES if word in letters), None)
        if address is not None:
            pair["document"] = address
    return pair


def judge_name(name: str) -> str:
    """Return the name of a file as that of a judge: without folders and without its ending."""
    plain = PurePath(name).name
    for ending in (".gz", ".bz2", ".zip", ".txt", ".qrels", ".qrel", ".tsv", ".csv", ".json"):
        plain = plain.removesuffix(ending) or plain
    return plain
