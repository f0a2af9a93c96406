"""Wide tables: which of their columns are judges, questions or counts of votes, and one row each.

Only names that say so make columns judges (``annotator_1``, ``rater B``): five columns that share
their values may as well be the scores of five documents, five criteria, or counts. What the names
leave open is asked, and ``Options`` have the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.columns import as_text, letters_of, roles_of, words_of
from adjudge.data.names import as_names
from adjudge.data.scale import as_number
from adjudge.data.source import Source
from adjudge.data.synonyms import NO_QUESTION, SYNONYMS
from adjudge.errors import BadData, Remedy, name_columns, shown

if TYPE_CHECKING:
    from adjudge.data.formats.format import Options

NONE = ("", "na", "nan", "null", "none", "-", "?")  # cells that hold no judgment
MOST_LABELS = 12  # different values that columns of one kind may have
FEWEST_ROWS = 3  # rows below which nothing can be concluded
_WIDTH = 40  # letters of a label
_LISTED = 8  # columns that are named
_TEXT = 80  # letters of a cell of free text
_MOST_VOTES = 100_000_000
# Words in the names of columns that are made from the judges' labels, or are no labels; and of
# those that hold how many votes there are.
_MADE = """
final rank ranking class total mean average avg median mode sum std sd stdev var variance min max
minimum maximum count counts num number n majority maj gold golden truth true correct groundtruth gt
reference consensus agreed agreement kappa alpha entropy result aggregate aggregated aggregation
overall adjudicated adjudication adjudicator resolved resolution merged combined votes winner
unanimous disagreement confidence
"""
_SUMS = "count counts total totals n num number votes sum annotators judges"
_NEVER, _TOTALS = frozenset(_MADE.split()), frozenset(_SUMS.split())
_JUDGES = (*(word for word in SYNONYMS["judge"] if word != "model"), "expert", "human", "person")
_STEM = re.compile(
    rf"(?P<before>.*?)(?P<word>(?<![a-z])(?:{'|'.join(_JUDGES)}))[\s_.#-]*"
    r"(?P<id>\d+|[a-z](?![a-z]))(?P<after>(?:[\s_.-].*)?)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?P<word>.*?)[\s_.#-]*(?P<id>\d+)(?P<after>\D*)")
Cells = Mapping[str, Sequence[str]]  # the first cells of each column


def is_judgment_table(cells: Cells) -> bool:
    """Whether a table has a judge and a label in each row, so that it is not wide."""
    roles = roles_of(list(cells))
    if not {"judge", "label"} <= roles.keys():
        return False
    numbered = any(_is_numbered(roles[role], cells) for role in ("judge", "label"))
    return not (numbered or _is_free_text(cells[roles["label"]]))


def is_wide(cells: Cells) -> bool:
    """Whether a table has columns of judges or counts, or several that share a set of values."""
    if len(cells) < 3 or len(next(iter(cells.values()))) < FEWEST_ROWS or is_judgment_table(cells):
        return False
    names = find_judges(cells) or (find_votes(cells) or ("", []))[1]
    roles = roles_of(list(cells))
    drawn = {"gold", "sampling"} <= roles.keys()  # items to get gold for
    if not names and not drawn:
        alike = find_alike(cells)
        names = alike if _lacks_judge(roles, cells, alike) else []
    return 1 < len(names) < len(cells)


def _lacks_judge(roles: Mapping[str, str], cells: Cells, alike: Sequence[str]) -> bool:
    """Whether no column says who judged, or it has a row per judge or several labels per row."""
    person, label = roles.get("judge", ""), roles.get("label", "")
    people = cells.get(person, ())
    distinct = len(set(people))
    by_row = distinct < 2 or distinct == len(people) or person in alike
    return by_row or _is_numbered(person, cells) or (label in alike and _is_numbered(label, cells))


def first_texts(table: Any, most: int = 300) -> Cells:
    """Return the first cells of each column of a table as text; none where it holds no text."""
    found = {}
    for name in table.column_names:
        try:
            found[name] = pc.fill_null(
                as_names(as_text(table[name].slice(0, most))), ""
            ).to_pylist()
        except pa.ArrowException:
            continue
    return found


def find_judges(cells: Cells) -> list[str]:
    """Return the columns that are judges by their names, or whose names recur in the rows."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name in cells:
        if stem := _STEM.fullmatch(name):
            words = {*words_of(stem["before"]), *words_of(stem["after"])}
            if not words & (NO_QUESTION | _NEVER):
                key = tuple(stem[part].casefold() for part in ("before", "word", "after"))
                found.setdefault(key, []).append(name)
    groups = [own for own in found.values() if len(own) > 1 and _may_be_labels(own, cells)]
    if len(groups) == 1:
        return groups[0]
    return [] if groups else _find_named_in_rows(cells)


def find_votes(cells: Cells) -> tuple[str, list[str]] | None:
    """Return the column of totals and those that count the votes for a label, if they add up."""
    numbers = {name: _wholes(given) for name, given in cells.items()}
    for total, sums in numbers.items():
        if sums is None or not _TOTALS & set(words_of(total)) or len(sums) < FEWEST_ROWS:
            continue
        parts = {
            name: own
            for name, own in numbers.items()
            if own is not None and name != total and (own <= sums).all() and (own >= 0).all()
        }
        for left_out in range(3):
            for chosen in combinations(parts, max(len(parts) - left_out, 0)):
                if len(chosen) > 1 and np.array_equal(sum(parts[n] for n in chosen), sums):
                    return total, list(chosen)
    return None


def find_alike(cells: Cells) -> list[str]:
    """Return the columns that share one small set of values: judges, questions or others."""
    roles = roles_of(list(cells))
    places = ("item", "topic", "document", "gold", "time", "sampling")
    taken = {roles[role] for role in places if role in roles}
    taken = {name for name in taken if not _is_numbered(name, cells)} | {next(iter(cells), "")}
    values: dict[str, set[str]] = {}
    for name, given in cells.items():
        own = {cell for cell in given if cell.strip().casefold() not in NONE}
        free = name not in taken and not set(words_of(name)) & (NO_QUESTION | _NEVER)
        if free and 0 < len(own) <= MOST_LABELS and max(map(len, own)) < _WIDTH:
            values[name] = own
    alike = [
        name
        for name, own in values.items()
        if any(2 * len(own & other) >= len(own) for key, other in values.items() if key != name)
    ]
    every = set().union(*(values[name] for name in alike)) if alike else set()
    return alike if len(alike) > 1 and len(every) <= MOST_LABELS else []


def ask_shape(cells: Cells, place: Source) -> BadData:
    """Return the question what the columns of a wide table are."""
    likely = find_alike(cells)
    listed = ", ".join(likely[:_LISTED]) + (", ..." if len(likely) > _LISTED else "")
    names = ",".join(likely) if len(likely) <= _LISTED else None
    remedies = [Remedy("judges-are", names), Remedy("questions-are", names), Remedy("transpose")]
    if all(_wholes(cells[name]) is not None for name in likely):
        remedies.append(Remedy("counts"))
    return place.error(
        None,
        f"it is not clear what the columns {listed or 'of this table'} are: judges, questions or "
        "something else",
        value=likely,
        code="unclear-columns",
        remedies=[*remedies, name_columns("item", "judge", "label")],
    )


def settle_shape(
    table: Any, options: Options, cells: Cells, place: Source, named: Mapping[str, str]
) -> tuple[Any, dict[str, str]]:
    """Return a wide table with one row per judgment, and the column of each role.

    Where neither the shape nor the names say what its columns are, it is asked.
    """
    columns = table.column_names
    roles = roles_of(columns, named=dict(named))
    if place.row_of is None:
        place.every = lambda: (table, None)
    questions = _chosen(options.questions_are, columns, place)
    if options.transpose:
        return _read_transposed(table, questions, roles, place)
    if questions:
        return _by_question(table, questions, roles, place)
    judges = _chosen(options.judges_are, columns, place)
    votes = None if judges else find_votes(cells)
    if options.counts or votes is not None:
        return _by_vote(table, votes, cells, roles, place)
    judges = judges or find_judges(cells)
    if not judges:
        raise ask_shape(cells, place)
    return _by_judge(table, judges, roles, place)


def _by_judge(
    table: Any, judges: list[str], roles: dict[str, str], place: Source
) -> tuple[Any, dict[str, str]]:
    """Read a column per judge; a numbered column of labels belongs to the judge of its number."""
    columns = table.column_names
    labels = [_sibling(name, columns, "label") for name in judges]
    paired = None not in labels and not set(labels) & set(judges)
    cells = [name for name in labels if name is not None] if paired else judges
    where = _places(roles, columns, [*judges, *cells])
    if "gold" in roles and roles["gold"] not in {*judges, *cells}:
        where = {**where, "gold": roles["gold"]}
    listed = ", ".join(judges[:8]) + (", ..." if len(judges) > 8 else "")
    others = [n for n in find_alike(first_texts(table)) if n not in {*judges, *where.values()}]
    note = f"a wide table: one column per judge ({len(judges)}: {listed})"
    if paired:
        note = f"a wide table: {', '.join(cells[:8])} are the labels of the judges in {listed}"
    note += f"; not read: {', '.join(others)}" if others and not paired else ""
    place.remark(note, Remedy("judges-are"))
    if not paired:
        return read_by_judge(table, judges, where, place)
    rows, column = _find_cells(table, cells, place)
    held = {
        "judge": _cells(table, judges, rows, column),
        "label": _cells(table, cells, rows, column),
    }
    return _long(table, where, rows, held)


def read_by_judge(
    table: Any, judges: list[str], where: dict[str, str], place: Source
) -> tuple[Any, dict[str, str]]:
    """Return a row for each cell of the columns of judges, with what ``where`` names of its row."""
    rows, column = _find_cells(table, judges, place)
    held = {"judge": as_names(judges).take(pa.array(column))}
    return _long(table, where, rows, held | {"label": _cells(table, judges, rows, column)})


def _by_question(
    table: Any, questions: list[str], roles: dict[str, str], place: Source
) -> tuple[Any, dict[str, str]]:
    """Read a column per question: an item is a row and a question, or the question's document."""
    columns = table.column_names
    documents = [_sibling(name, columns, "document") or "" for name in questions]
    rows, column = _find_cells(table, questions, place)
    held: dict[str, Any] = {"label": _cells(table, questions, rows, column)}
    where = _places(roles, columns, [*questions, *filter(None, documents)])
    if all(documents) and len(set(documents)) == len(questions):
        held["document"] = _cells(table, documents, rows, column)
        where = {"topic": roles["topic"] if "topic" in roles else next(iter(where.values()))}
    elif len(questions) > 1:
        names = _item_names(table, where)
        slash = pa.scalar("/", pa.large_string())
        asked = as_names(questions).take(pa.array(column))
        held["item"] = pc.binary_join_element_wise(names.take(pa.array(rows)), asked, slash)
        where = {}
    judge = roles.get("judge")
    if judge is not None and judge not in questions:
        where["judge"] = judge
    else:
        held["judge"] = as_names([place.name.split(".")[0] or "judge"] * len(rows))
    return _long(table, where, rows, held)


def _read_transposed(
    table: Any, items: list[str], roles: dict[str, str], place: Source
) -> tuple[Any, dict[str, str]]:
    """Read a row per judge and a column per item."""
    columns = table.column_names
    bare = columns == number_columns(len(columns))
    judge = None if bare else roles.get("judge", columns[0])
    judge = columns[0] if judge is not None and _is_numbered(judge, columns) else judge
    items = items or [name for name in columns if name != judge]
    rows, column = _find_cells(table, items, place)
    held: dict[str, Any] = {"label": _cells(table, items, rows, column)}
    names = [str(at) for at in range(1, len(items) + 1)] if bare else items
    held["item"] = as_names(names).take(pa.array(column))
    if judge is None:
        held["judge"] = as_names([str(row + 1) for row in rows.tolist()])
    return _long(table, {} if judge is None else {"judge": judge}, rows, held)


def _by_vote(
    table: Any,
    votes: tuple[str, list[str]] | None,
    cells: Cells,
    roles: dict[str, str],
    place: Source,
) -> tuple[Any, dict[str, str]]:
    """Read counts of votes: so many judgments of a label, of judges who are not known."""
    labels = votes[1] if votes is not None else find_alike(cells) or _find_wholes(cells)
    if len(labels) < 2:
        raise ask_shape(cells, place)
    where = _places(roles, table.column_names, [*labels, *(votes or ())[:1]])
    counts = [_wholes(as_names(as_text(table[name])).to_pylist()) for name in labels]
    if any(own is None or (own < 0).any() for own in counts):
        expected = "whole numbers"
        raise place.error(None, f"expected {expected} as counts", code="not-counts")
    matrix = np.stack([own for own in counts if own is not None], axis=1)
    if matrix.sum() > _MOST_VOTES:
        raise place.error(None, f"{int(matrix.sum()):,} votes are too many", code="too-many-votes")
    flat = np.repeat(np.arange(matrix.size), matrix.ravel())
    if not flat.size:
        raise place.error(None, "there is no vote in this table", code="no-judgments")
    rows, column = flat // len(labels), flat % len(labels)
    place.keep(rows)
    place.repeats = True
    place.remark(
        f"counts of votes per label ({', '.join(labels)}); who voted is not known, so all votes "
        "are read as those of one judge"
    )
    held: dict[str, Any] = {"label": as_names(labels).take(pa.array(column))}
    held["judge"] = as_names(["votes"] * len(rows))
    return _long(table, where, rows, held)


def number_columns(width: int) -> list[str]:
    """Return the names of the columns of a table that has no header."""
    return [f"column {place}" for place in range(1, width + 1)]


def _find_cells(
    table: Any, cells: list[str], place: Source
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the row and the column of each cell that holds something, in the order of the rows."""
    blank = pa.array(NONE, pa.large_string())
    rows = []
    for name in cells:
        text = pc.utf8_lower(pc.utf8_trim_whitespace(as_names(as_text(table[name]))))
        none = pc.is_in(pc.fill_null(text, ""), value_set=blank)
        rows.append(np.flatnonzero(~np.asarray(none, dtype=np.bool_)))
    row = np.concatenate([*rows, np.empty(0, dtype=np.int64)]).astype(np.int64)
    if not row.size:
        raise place.error(None, "there is no judgment in this table", code="no-judgments")
    column = np.repeat(np.arange(len(rows)), [len(own) for own in rows])
    order = np.argsort(row, kind="stable")
    place.keep(row[order])
    return row[order], column[order]


def _cells(table: Any, names: list[str], rows: NDArray[np.int64], column: NDArray[np.int64]) -> Any:
    """Return the cell in each of these rows and columns."""
    columns = [table[name] for name in names]
    if len({column.type for column in columns}) > 1:
        columns = [as_names(as_text(column)) for column in columns]
    every = pa.chunked_array(
        [chunk for column in columns for chunk in pa.chunked_array(column).chunks]
    )
    return every.take(pa.array(column * len(table) + rows))


def _long(
    table: Any, where: dict[str, str], rows: NDArray[np.int64], held: dict[str, Any]
) -> tuple[Any, dict[str, str]]:
    """Return what every judgment has of its row, and what it has of its own."""
    found = {name: table[name].take(pa.array(rows)) for name in where.values()} | held
    return pa.table(found), where | {role: role for role in held}


def _places(roles: dict[str, str], columns: list[str], taken: list[str]) -> dict[str, str]:
    """Return which columns name the item: those that say so, or else the first."""
    free = {role: name for role, name in roles.items() if name not in taken}
    if {"topic", "document"} <= free.keys() and "item" not in free:
        return {role: free[role] for role in ("topic", "document")}
    first = next((name for name in columns if name not in taken), "")
    own = free.get("item") or free.get("document") or first
    return {"item": own} if own else {}


def _item_names(table: Any, where: dict[str, str]) -> Any:
    slash = pa.scalar("/", pa.large_string())
    parts = [as_names(as_text(table[name])) for name in where.values()]
    return parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, slash)


def _chosen(given: str | Sequence[str], columns: list[str], place: Source) -> list[str]:
    """Return the columns given by names or patterns, which a text separates by commas."""
    found: list[str] = []
    for name in filter(None, given.split(",") if isinstance(given, str) else given):
        own = [c for c in columns if c in (name, f"column {name}")]
        own = own or [c for c in columns if fnmatchcase(c.casefold(), name.strip().casefold())]
        if not own:
            raise place.error(
                None,
                f"there is no column {shown(name)}; the columns are {', '.join(columns)}",
                value=name,
                code="missing-column",
            )
        found += own
    return list(dict.fromkeys(found))


def _sibling(name: str, columns: list[str], role: str) -> str | None:
    """Return the column of a role that has the number of another: ``document2`` of ``score2``."""
    own = _NUMBERED.fullmatch(name)
    if own is None:
        return None
    for other in columns:
        found = _NUMBERED.fullmatch(other)
        same = found is not None and found["id"] == own["id"] and other != name
        word = "" if found is None else letters_of(found["word"])
        if same and {word, word.removesuffix("id")} & set(SYNONYMS[role]):
            return other
    return None


def _is_numbered(name: str, cells: Iterable[str]) -> bool:
    """Whether there are several columns of a name that differ only in their number."""
    return sum(letters_of(other) == letters_of(name) for other in cells) > 1


def _is_free_text(cells: Sequence[str]) -> bool:
    """Whether cells hold long texts."""
    given = [len(cell) for cell in cells if cell.strip()]
    return bool(given) and sum(given) > _TEXT * len(given)


def _may_be_labels(names: list[str], cells: Cells) -> bool:
    """Whether columns hold neither free text nor ids: of ids, no two of a row are equal."""
    if any(_is_free_text(cells[name]) for name in names):
        return False
    rows = zip(*(cells[name] for name in names), strict=True)
    several = [own for row in rows if len(own := [cell for cell in row if cell.strip()]) > 2]
    words = any(as_number(cell) is None for row in several for cell in row)
    unlike = len(several) >= FEWEST_ROWS and all(len(set(row)) == len(row) for row in several)
    return not (words and unlike)


def _find_named_in_rows(cells: Cells) -> list[str]:
    """Return the columns whose names recur in the cells of another column."""
    likely = find_alike(cells)
    for name, given in cells.items():
        said = {part for cell in given for part in re.split(r"[\s,;|]+", cell.strip())}
        known = [own for own in likely if own in said and not own.isdigit()]
        if name not in likely and len(known) > 1:
            return known
    return []


def _find_wholes(cells: Cells) -> list[str]:
    """Return the columns after the first that hold whole numbers."""
    return [name for name in list(cells)[1:] if _wholes(cells[name]) is not None]


def _wholes(cells: Sequence[str | None]) -> NDArray[np.int64] | None:
    """Return cells as whole numbers; None where one is not."""
    numbers = [as_number((cell or "").strip()) for cell in cells]
    if not numbers or any(n is None or n != int(n) for n in numbers):
        return None
    return np.array([int(n) for n in numbers if n is not None], dtype=np.int64)
