"""What was read from the files of a project, and everything that is wrong with them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import unescape
from typing import Any

from adjudge.collect.importing._upload import ImportLimits
from adjudge.collect.values.ids import topic_id
from adjudge.collect.values.project import GoldEntry, Item, OtherResult
from adjudge.data.scale import Scale, canonical
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """Items and gold as they would be stored, with the errors that stop them from being so."""

    items: tuple[Item, ...] = ()
    golds: tuple[GoldEntry, ...] = ()
    errors: tuple[BadData, ...] = ()
    more_errors: int = 0  # beyond those kept
    notes: tuple[str, ...] = ()
    kind: str = ""

    def check(self) -> Preview:
        """Itself, or the first of its errors."""
        if self.errors:
            raise self.errors[0]
        return self


@dataclass(slots=True)
class Gathering:
    """Items and gold while files are read: each fault is kept with its place, and reading goes on.

    ``known`` are the names of items that are stored already, so that gold may be for them;
    ``topics`` are the topics of stored queries, and ``columns`` the parts of columns as somebody
    said.
    """

    limits: ImportLimits
    scale: Scale | None
    known: frozenset[str] = frozenset()
    columns: Mapping[str, str] = field(default_factory=dict)
    topics: Mapping[str, str] = field(default_factory=dict)
    items: dict[str, Item] = field(default_factory=dict)
    golds: dict[str, GoldEntry] = field(default_factory=dict)
    errors: list[BadData] = field(default_factory=list)
    more: int = 0
    notes: list[str] = field(default_factory=list)
    verbatim: bool = False  # texts are taken as they are, with their HTML entities
    _decoded: int = 0  # texts with HTML entities
    _spelled: dict[str, str] = field(default_factory=dict)  # labels of gold, by the scale's
    _places: dict[str, str] = field(default_factory=dict)
    _gold_places: dict[str, tuple[str, int | None]] = field(default_factory=dict)

    def topic_of(self, query: str) -> str:
        """The topic of a query that came without: that of the stored one, or its id."""
        return self.topics.get(query) or topic_id(query)

    def make_document(self) -> str:
        """The id of a document that has none, by its number among the items."""
        return f"row-{len(self.known) + len(self._places) + 1}"

    def add_fault(self, problem: str | BadData, **place: Any) -> None:
        """Keep an error, or count it where there are many."""
        error = problem if isinstance(problem, BadData) else BadData(problem, **place)
        if len(self.errors) < self.limits.errors:
            self.errors.append(error)
        else:
            self.more += 1

    def add(
        self,
        cells: dict[str, str],
        *,
        source: str,
        line: int | None,
        other: dict[str, str] | None = None,
    ) -> Item | None:
        """One item, unless something is wrong with it; of a pair with the right one."""
        place: dict[str, Any] = {"source": source, "line": line}
        for texts in () if self.verbatim else (cells, other or {}):
            for name in _WORDS & texts.keys():
                if _ENTITY.search(texts[name]):
                    texts[name] = unescape(texts[name])
                    self._decoded += 1
        for name, value in (*cells.items(), *(other or {}).items()):
            problem, code = "", ""
            if len(value) > self.limits.field:
                problem = f"{len(value):,} characters; expected at most {self.limits.field:,}"
                code = "too-large"
            elif not _is_storable(value):
                problem, code = _NOT_STORABLE, "bad-text"
            elif name in ("url", "image") and value and not _is_web(value):
                problem = f"{shown(value)} is not a web address; expected http:// or https://"
                code = "bad-address"
            if problem:
                self.add_fault(problem, **place, column=name, value=value, code=code)
                return None
        try:
            item = Item(**cells, beside=None if other is None else OtherResult(**other))
        except BadSetting as fault:
            self.add_fault(f"expected {fault.expected}", **place, code=f"bad-{fault.setting}")
            return None
        if item.name in self._places:
            problem = f"item {shown(item.name)} is at {self._places[item.name]} already"
            self.add_fault(problem, **place, value=item.name, code="repeated-item")
            return None
        if len(self.items) >= self.limits.rows:
            problem = f"there are more than {self.limits.rows:,} items"
            raise BadData(problem, source=source, code="too-large")
        where = f"{source}, line {line}" if line is not None else source
        self._places[item.name] = where
        self.items[item.name] = item
        return item

    def add_gold(
        self,
        item: str,
        given: str,
        *,
        source: str,
        line: int | None,
        column: str,
        reason: str = "",
        reasons: dict[str, str] | None = None,
        role: str = "",
    ) -> None:
        """The gold of one item: accepted labels with ``|`` between them."""
        place: dict[str, Any] = {"source": source, "line": line}
        explained = {self._spell(label): text for label, text in (reasons or {}).items()}
        if not all(map(_is_storable, (item, given, reason, *explained, *explained.values()))):
            self.add_fault(_NOT_STORABLE, **place, column=column, code="bad-text")
            return
        parts = (self._spell(canonical(part)) for part in given.split("|") if part.strip())
        accepted = tuple(dict.fromkeys(parts))
        known = None if self.scale is None else self.scale.labels
        for label in (*accepted, *explained):
            if known is not None and label not in known:
                problem = f"{shown(label)} is not on the scale {self.scale}"
                place |= {"column": column, "value": label, "code": "label-off-scale"}
                self.add_fault(problem, **place)
                return
        if item in self.golds:
            problem = f"item {shown(item)} has gold already"
            self.add_fault(problem, **place, value=item, code="repeated-gold")
            return
        try:
            entry = GoldEntry(item=item, accepted=accepted, reason=reason, reasons=explained,
                              role=role or "both")  # type: ignore[arg-type] # fmt: skip
        except BadSetting as fault:
            problem = f"{fault.setting} is {shown(fault.value)}; expected {fault.expected}"
            place |= {"column": fault.setting, "value": fault.value, "code": f"bad-{fault.setting}"}
            self.add_fault(problem, **place)
            return
        self.golds[item] = entry
        self._gold_places[item] = (source, line)

    def _spell(self, label: str) -> str:
        """A label as the scale spells it, where upper and lower case alone differ."""
        known = () if self.scale is None else self.scale.labels
        alike = [one for one in known if one.casefold() == label.casefold()]
        if label in known or len(alike) != 1:
            return label
        self._spelled[label] = alike[0]
        return alike[0]

    def _unite_spellings(self) -> None:
        """Without a scale, spell labels of gold that differ in case alone as most of them are."""
        counts = Counter(label for gold in self.golds.values() for label in gold.accepted)
        best: dict[str, str] = {}
        for label, _ in counts.most_common():
            best.setdefault(label.casefold(), label)
        other = {label: best[label.casefold()] for label in counts if label not in best.values()}
        if other:
            self._spelled |= other
            for item, gold in self.golds.items():
                accepted = dict.fromkeys(other.get(label, label) for label in gold.accepted)
                reasons = {other.get(label, label): text for label, text in gold.reasons.items()}
                self.golds[item] = replace(gold, accepted=tuple(accepted), reasons=reasons)

    def preview(self, kind: str) -> Preview:
        """What was gathered; gold for an item that is nowhere is an error too."""
        if self.scale is None:
            self._unite_spellings()
        if self._spelled:
            pairs = ", ".join(f"{own} as {label}" for own, label in sorted(self._spelled.items()))
            self.notes.append(
                "Labels of gold differ in upper and lower case only, and are read as one: "
                f"{pairs}. "
                "Are they different labels? Then rename them."
            )
        if self._decoded:
            texts = count_of(self._decoded, "text")
            self.notes.append(f"HTML entities such as &amp; are decoded in {texts}.")
        for item in list(self.golds):
            if item not in self.items and item not in self.known:
                source, line = self._gold_places[item]
                problem = f"gold for item {shown(item)}, and there is no such item"
                place: dict[str, Any] = {"source": source, "line": line, "value": item}
                self.add_fault(problem, **place, code="unknown-item")
                del self.golds[item]
        return Preview(
            items=tuple(self.items.values()),
            golds=tuple(self.golds.values()),
            errors=tuple(self.errors),
            more_errors=self.more,
            notes=tuple(self.notes),
            kind=kind,
        )


_WORDS = {"query", "need", "category", "title", "text"}  # parts that judges read
_ENTITY = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_NOT_STORABLE = "half of a surrogate pair or a NUL is not a character; expected text"


def _is_storable(text: str) -> bool:
    """Whether every database can store a text: JSON can spell what UTF-8 cannot."""
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_web(address: str) -> bool:
    return address.lower().startswith(("http://", "https://"))
