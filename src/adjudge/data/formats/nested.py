"""Items with their judgments inside: one record per item, in JSON, JSON Lines or Parquet.

The judgments are in a list of objects (``{"id": 1, "annotations": [{"annotator": "ann", "label":
"yes"}]}``), in one object by judge (``"annotations": {"ann": 3}``), or in two lists of one length
(``"annotators": ["ann"], "labels": ["yes"]``), at most one object down. Where there are several,
each is a question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from adjudge.data._second_questions import tell_label
from adjudge.data.columns import letters_of, roles_of
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File, spelt_out
from adjudge.data.formats.plain import content_of
from adjudge.data.formats.records import (
    RecordRows,
    as_list,
    as_object,
    json_records,
    read_parquet,
    single,
)
from adjudge.data.formats.tables import choose_question, left_out
from adjudge.data.shapes import FEWEST_ROWS, find_judges
from adjudge.data.synonyms import SYNONYMS
from adjudge.errors import BadData, Remedy, name_columns

_OUTSIDE = ("item", "topic", "document", "gold")
_INSIDE = ("judge", "label", "time", "seconds")
_IDS = ("id", "idx", "uid", "index")  # keys of the item where no other is
_PEOPLE = tuple(word for word in SYNONYMS["judge"] if word not in ("model", "llm"))
_OF_PEOPLE = ("annotations", "judgments", "judgements")  # objects by judge, whatever the keys
_RECORD = " record"  # what no key of a judgment is called
_UNFINISHED = ("draft", "discarded", "rejected", "cancelled", "canceled", "skipped")


@dataclass(frozen=True, slots=True)
class Nest:
    """Where the judgments are in a record: the keys that lead there, and their form."""

    name: str
    path: tuple[str, ...]
    form: Literal["list", "by judge", "lists", "votes"]
    judges: str = ""  # the key of the judges, where they are a list of their own

    def judgments(self, record: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Return the judgments in a record, each as columns and values."""
        held = _get_at(record, self.path)
        if self.form == "list":
            for one in as_list(held):
                yield spelt_out(one) if isinstance(one, dict) else {"value": one}
        elif self.form == "votes":
            for vote in as_list(held):
                yield {"judge": "votes", **(vote if isinstance(vote, dict) else {"label": vote})}
        elif self.form == "by judge":
            for judge, label in as_object(held).items():
                yield {"judge": judge, "label": label}
        else:
            judges, labels = _parts(record.get(self.judges)), _parts(held)
            same = len(judges) == len(labels)
            for at, judge in enumerate(judges):
                yield {"judge": judge, "label": labels[at]} if same else {"judge": judge}


def _nests_in(file: File) -> dict[str, Nest]:
    """Return where the judgments are, by name, as the first record of a file shows it."""
    record = file.records[0] if file.records else {}
    plain = {key: value for key, value in record.items() if not isinstance(value, list | dict)}
    if {"judge", "label"} <= roles_of(list(plain)).keys():
        return {}  # a judgment itself
    places: list[tuple[tuple[str, ...], Any]] = [((key,), held) for key, held in record.items()]
    places += [((k, i), v) for k, held in record.items() for i, v in as_object(held).items()]
    nests = (_nest(path, held, file.records) for path, held in places)
    return {nest.name: nest for nest in nests if nest is not None} or (
        _parallel(record, file.records)
    )


def _nest(path: tuple[str, ...], held: Any, records: list[dict[str, Any]]) -> Nest | None:
    name = path[-1]
    if isinstance(held, list) and held and all(isinstance(one, dict) for one in held):
        if "judge" in roles_of(list(spelt_out(held[0]))):
            return Nest(name, path, "list")
        every = (spelt_out(one) for record in records for one in as_list(_get_at(record, path)))
        votes = len(path) == 1 and all(roles_of(list(one)).keys() == {"label"} for one in every)
        repeated = any(_repeats(record.get(name)) for record in records)
        return Nest(name, path, "votes") if votes and repeated else None
    flat = isinstance(held, dict) and not any(isinstance(v, list | dict) for v in held.values())
    by_judge = flat and len(held) > 1 and _is_plural(name, "label")
    return Nest(name, path, "by judge") if by_judge else None


def _get_at(record: dict[str, Any], path: tuple[str, ...]) -> Any:
    """Return what a record holds where a path of keys leads."""
    held: Any = record
    for key in path:
        held = as_object(held).get(key)
    return held


def _repeats(held: Any) -> bool:
    """Whether a list has an entry twice, as lists of votes do and those of options do not."""
    entries = list(map(str, as_list(held)))
    return len(set(entries)) < len(entries)


def _ask_who_judged(nest: Nest, file: File) -> None:
    """Refuse keys that are equal in all records and do not look like names of judges."""
    keys = [set(as_object(_get_at(record, nest.path))) for record in file.records]
    names = list(as_object(_get_at(file.records[0], nest.path)))
    same = len(keys) >= FEWEST_ROWS and all(own == keys[0] for own in keys)
    if (
        same
        and letters_of(nest.name) not in _OF_PEOPLE
        and not find_judges(dict.fromkeys(names, ()))
    ):
        pattern = ".".join([*nest.path, "*"])
        named = [Remedy("format", "nested"), Remedy("questions-are", pattern), Remedy("counts")]
        problem = (
            f"the keys of {nest.name} ({', '.join(names[:8])}) may be judges, questions, or labels "
            "with their votes"
        )
        raise BadData.at(file.name, "unclear-columns", problem, value=names, remedies=named)


def _parallel(record: dict[str, Any], records: list[dict[str, Any]]) -> dict[str, Nest]:
    """Return two lists of one length, of judges and of their labels; or lists of votes."""
    found = {key: _parts(value) for key, value in record.items()}
    lists = {
        key: value
        for key, value in found.items()
        if value and not any(isinstance(one, list | dict) for one in value)
    }
    judges = [key for key in lists if _is_plural(key, "judge")]
    labels = [key for key in lists if _is_plural(key, "label")]
    if not judges:
        repeated = [key for key in labels if any(_repeats(one.get(key)) for one in records)]
        return {key: Nest(key, (key,), "votes") for key in repeated}
    if len(judges) != 1:
        return {}
    same = [key for key in labels if len(lists[key]) == len(lists[judges[0]])]
    return {key: Nest(key, (key,), "lists", judges[0]) for key in same}


def _parts(held: Any) -> list[Any]:
    """Return the entries of a list, or of a text that separates them by commas."""
    if isinstance(held, str) and "," in held:
        return [part.strip() for part in held.split(",")]
    return as_list(held)


def _is_plural(name: str, role: str) -> bool:
    """Whether a key is the plural, perhaps with ids, of a word for a role: annotator_labels."""
    letters = letters_of(name)
    if role == "label":
        letters = next(
            (rest for who in _PEOPLE if (rest := letters.removeprefix(who)) != letters), letters
        )
    return any(letters in (f"{word}s", f"{word}es", f"{word}ids") for word in SYNONYMS[role])


def _read(file: File, options: Options) -> Content:
    """Read the judgments of every record, each with the item of its record."""
    nests = _nests_in(file)
    if options.question is not None and len(nests) == 1 and options.question not in nests:
        named = {**options.columns, "label": options.question}  # a part of each judgment
        options = replace(options, columns=named, question=None)
    name = choose_question(nests, options, file.name, "question")
    rows, gone = RecordRows(file, options), Counter[str]()
    parts = RecordRows(file, options)  # the judgments as they are, not by role
    for place, record in _records(file, rows):
        _add((rows, parts), gone, place, record, nests[name], options)
    if nests[name].form == "by judge":
        if not options.named:
            _ask_who_judged(nests[name], file)
        people = list(dict.fromkeys(rows.values("judge")))
        listed = ", ".join(people[:8]) + (", ..." if len(people) > 8 else "")
        rows.source.remark(f"each name in {name} is taken for a judge ({len(people)}: {listed})")
    if nests[name].form == "votes":
        rows.source.repeats = True
        rows.source.remark(
            f"{name} lists votes; who voted is not known, so all are read as those of one judge"
        )
    if len(nests) > 1:
        others = ", ".join(other for other in nests if other != name)
        rows.source.remark(f"the judgments are {name}; others: {others}", Remedy("question"))
    notes = tuple(left_out(count, "judgment", why) for why, count in gone.items())
    if not len(rows):
        reason = "; ".join(notes) or name
        raise BadData(f"there is no judgment: {reason}", source=file.name, code="no-judgments")
    if "label" not in options.columns:
        table = parts.table()
        roles = roles_of([part for part in table.column_names if part != _RECORD])
        if {"judge", "label"} <= roles.keys():
            roles = {"item": _RECORD, "judge": roles["judge"], "label": roles["label"]}
            tell_label(table, roles, rows.source, table.column_names)
    content = content_of(rows.table(), rows.source, replace(options, columns={}))
    return replace(content, notes=(*content.notes, *notes))


def _records(file: File, rows: RecordRows) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the records of a file with their places."""
    if file.kind == "parquet":
        for number, row in enumerate(read_parquet(file).to_pylist(), start=1):
            yield f"row {number}", row
    else:
        yield from json_records(file, rows)


def _add(
    gathered: tuple[RecordRows, RecordRows],
    gone: Counter[str],
    place: str,
    record: dict[str, Any],
    nest: Nest,
    options: Options,
) -> None:
    """Add the judgments of a record, each with what the record says of its item."""
    rows, parts = gathered
    around = {k: v for k, v in spelt_out(record).items() if not isinstance(v, list | dict)}
    named = options.columns
    outside = roles_of(list(around), named={r: c for r, c in named.items() if c in around})
    cells = {role: around[outside[role]] for role in _OUTSIDE if role in outside}
    if "item" not in cells and "document" not in cells:
        key = next((key for key in around if letters_of(key) in _IDS), None)
        if key is None:
            problem = f"no key says what was judged; the keys are {', '.join(around)}"
            raise rows.source.error(
                None, problem, code="missing-column", remedies=[name_columns("item")]
            )
        cells["item"] = around[key]
    for given in nest.judgments(record):
        inside = roles_of(list(given), named={r: c for r, c in named.items() if c in given})
        state = str(given.get("status", "")).casefold()
        if state in _UNFINISHED:
            gone[state] += 1
            continue
        if "label" not in inside:
            problem = f"which part of {nest.name} is the label is not clear: {', '.join(given)}"
            rows.fault(place, problem, code="no-label", remedies=[name_columns("label")])
            continue
        found, problem = single(given[inside["label"]])
        if problem:
            rows.fault(place, problem, value=given[inside["label"]], code="not-one-label")
        elif found is None:
            gone["no label"] += 1
        else:
            own = {role: given[inside[role]] for role in _INSIDE if role in inside}
            rows.add(place, {**cells, **own, "label": found})
            parts.add(place, {**given, _RECORD: place})


FORMATS = (
    Format(
        name="nested",
        title="items with their judgments inside: JSON, JSON Lines or Parquet",
        asks=True,
        reads=("judgments", "gold"),
        extension=".json",
        fits=lambda file: (file.is_json or file.kind == "parquet") and bool(_nests_in(file)),
        read=_read,
    ),
)
