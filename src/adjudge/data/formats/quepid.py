"""Quepid: the ratings of a case in CSV, and the judgments of a book in CSV or JSON.

A case has one rating for each pair of query and document, so it holds labels, and serves as gold. A
book has the judgments of several people: in CSV a column each, in JSON a list with each pair. A
judgment that is unrateable or put off is left out and counted in the notes. In a
book a pair that nobody rated yet is kept as an item without judgments; whoever is not named is
``Unknown``, as Quepid calls them. Ratings are numbers, so labels of an ordered scale of words are
written as their places. Quepid puts a space before a text that a spreadsheet would run; it is taken
off again, as is our own apostrophe.
"""

from __future__ import annotations

from dataclasses import replace
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data._gold_table import gold_from_table
from adjudge.data.columns import letters_of, roles_of
from adjudge.data.formats.delimited import Delimited, ragged, read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.ratings import need_pairs, queries, ratings
from adjudge.data.formats.recognition import fields, letters
from adjudge.data.formats.records import Level, RecordRows, Records, as_object, read_json
from adjudge.data.formats.tables import (
    gold_as_labels,
    is_blank,
    judged_content,
    keep_rows,
    left_out,
    need_columns,
)
from adjudge.data.formats.writing import guarded, unguarded, write_csv
from adjudge.data.judgments import Judgments
from adjudge.data.names import as_names, encode, pair_names
from adjudge.data.scale import Scale, as_number, canonical
from adjudge.data.shapes import read_by_judge
from adjudge.data.source import Source
from adjudge.errors import BadData, shown

_CELLS = 4_000_000  # cells of a book that are laid out at a time
_BOOK = Records(
    levels=(Level("pair", "query_doc_pairs"), Level("judgment", "judgements")),
    roles={
        "topic": ("query_text",),
        "document": ("doc_id",),
        "judge": ("user_email",),
        "label": ("rating",),
    },
    judge="Unknown",
    skips=(("unrateable", bool, "unrateable"), ("judge_later", bool, "to be judged later")),
    unlabelled="no rating",
    inputs="document_fields",
)


def _remove_marks(column: Any) -> Any:
    """Return a column without the marks that keep a spreadsheet from running its cells."""
    (plain,) = unguarded(pa.table({"": column})).columns
    return pc.replace_substring_regex(plain, r"^ ([=+\-@])", r"\1")


def _read_case(file: File, options: Options) -> Content:
    """Read the ratings of a case, as labels and as gold."""
    table, source, lone = _case_rows(file, options)
    table = pa.table({letters_of(name): _remove_marks(table[name]) for name in table.column_names})
    blank = is_blank(table["rating"])
    table = keep_rows(table, source, ~blank)
    roles = {"topic": "query", "document": "docid", "gold": "rating"}
    gold = gold_from_table(table, source=source, roles=roles)
    scale = options.scale or (Scale.infer(gold.values) if len(gold) else None)
    if scale is not None:
        gold.codes(scale)  # refuses a rating that is not on the scale
    labels = gold_as_labels(gold)
    unrated = lone + int(blank.sum())
    notes = (left_out(unrated, "row", "no rating"),) if unrated else ()
    return Content(gold=gold, labels=labels, scale=scale, bad=source.skipped, notes=notes)


def _case_rows(file: File, options: Options) -> tuple[Any, Source, int]:
    """Return the table of a case, and how many rows are a query alone, as unrated ones are."""
    table, source = read_delimited(file, replace(options, skip_bad=True))
    source.skip_bad = options.skip_bad
    if not source.bad:
        return table, source, 0
    shape = Delimited(file, file.delimiter)
    lone = [line for line, cells in shape.records() if len(cells) == 1]
    for line, cells in shape.records():
        if len(cells) not in (1, len(shape.header)) and not options.skip_bad:
            raise ragged(shape, line, cells)
    places = {f"{file.name}, line {line}" for line in lone}
    source.bad = [bad for bad in source.bad if bad.place not in places]
    return table, source, len(lone)


def _write_case(content: Content, file: IO[bytes]) -> None:
    """Write the label of each pair as its rating; gold, where there are no labels."""
    kind, found = content.first("quepid-case", "labels", "gold")
    labels = found if kind == "labels" else gold_as_labels(found)
    need_pairs(labels.column_names, "quepid-case")
    columns = {
        "query": queries(labels["topic"], content.texts),
        "docid": labels["document"],
        "rating": _numerals(ratings(labels["label"], content.known_scale, "quepid-case")),
    }
    write_csv(pa.table(columns), file, guard=True)


def _numerals(numbers: Any) -> Any:
    """Return numbers as people write them: 3, not 3.0."""
    codes, names = encode(numbers.cast(pa.string()))
    texts = [canonical(name) for name in names.to_pylist()]
    return pa.array(texts, pa.large_string()).take(pa.array(codes, mask=codes < 0))


def _is_book(file: File) -> bool:
    """Recognise a header of query, docid and names, over cells that are numbers or empty."""
    if sorted(letters_of(name) for name in file.columns[:2]) != ["docid", "query"]:
        return False
    rows = file.rows[:21]
    roles = roles_of(rows[0][2:])
    known = {"label", "gold"} & set(roles)
    plain = {"judge", "label"} <= set(roles) or (known and len(roles) == len(rows[0]) - 2)
    if len(rows[0]) < 3 or plain:
        return False
    complete = [cells for cells in rows[1:] if len(cells) == len(rows[0])]
    return all(not c.strip() or as_number(c.strip()) is not None for r in complete for c in r[2:])


def _read_book(file: File, options: Options) -> Content:
    """Read the judgments of a book in CSV: a column per judge, a cell per judgment."""
    table, source = read_delimited(file, options)
    names = _remove_marks(pa.array(table.column_names)).to_pylist()
    places = [letters_of(name) for name in names[:2]]
    need_columns(places, source, "query", "docid")
    columns = [as_names(_remove_marks(column)) for column in table.columns]
    pair = dict(zip(places, columns[:2], strict=True))
    book = pa.table([*pair.values(), *columns[2:]], [*pair, *names[2:]])
    where = {"topic": "query", "document": "docid"}
    long, roles = read_by_judge(book, names[2:], where, source)
    content = judged_content(long, source, roles, options)
    given = pa.array(~is_blank(pair["query"]) & ~is_blank(pair["docid"]))
    return _with_pairs(content, pair["query"].filter(given), pair["docid"].filter(given))


def _with_pairs(content: Content, topics: Any, documents: Any) -> Content:
    """Return the judgments with every pair of the book as an item, rated or not."""
    codes, names = encode(pair_names(topics, documents))
    where = pa.array(np.unique(codes, return_index=True)[1])
    judgments = content.need("judgments", "quepid-book").with_items(
        names, topics=topics.take(where), documents=documents.take(where)
    )
    return replace(content, judgments=judgments)


def _write_book(content: Content, file: IO[bytes]) -> None:
    """Write the judgments as a book in CSV; a judge may have one rating per pair."""
    judgments, topics, documents = _pairs(content, "quepid-book")
    judges = judgments.judges.to_pylist()
    _check_cells(judgments, judges)
    label = pa.array(judgments.scale.labels, pa.large_string())
    used = pa.array(np.unique(judgments.label))
    numeral = np.full(len(label), "", dtype=object)
    rated = ratings(label.take(used), judgments.scale, "quepid-book")
    numeral[np.asarray(used)] = _numerals(rated).to_pylist()
    columns = ["query", "docid", *guarded(pa.array(judges, pa.large_string())).to_pylist()]
    step = max(1, _CELLS // len(columns))
    for start in range(0, judgments.item_count, step):
        end = min(start + step, judgments.item_count)
        chosen = slice(int(judgments.offsets[start]), int(judgments.offsets[end]))
        cells = np.full((len(judges), end - start), "", dtype=object)  # (judge, item of the block)
        item = judgments.item[chosen] - start
        cells[judgments.judge[chosen], item] = numeral[judgments.label[chosen]]
        block = [topics[start:end], documents[start:end]]
        block += [pa.array(row, pa.large_string()) for row in cells]
        write_csv(pa.table(block, names=columns), file, guard=True, header=start == 0)


def _pairs(content: Content, name: str) -> tuple[Judgments, Any, Any]:
    """Return the judgments to write, with the query and the document of each item."""
    judgments: Judgments = content.need("judgments", name)
    known: dict[str, Any] = {"topic": judgments.topics, "document": judgments.documents}
    need_pairs([role for role, names in known.items() if names is not None], name)
    topics = known["topic"].take(pa.array(judgments.topic))
    return judgments, queries(topics, content.texts), known["document"]


def _check_cells(judgments: Judgments, judges: list[str]) -> None:
    """Refuse what a table with a column per judge and a row per pair cannot hold."""
    for name in judges:
        if letters_of(name) in ("query", "docid") or name != name.strip():
            expected = "a name of a judge that can be a column, other than query and docid"
            raise BadData.wrong(None, "bad-judge-name", expected, name)
    cell = judgments.item.astype(np.int64) * judgments.judge_count + judgments.judge
    found, counts = np.unique(cell, return_counts=True)
    if (counts > 1).any():
        item, judge = divmod(int(found[np.argmax(counts > 1)]), judgments.judge_count)
        name, twice = shown(judges[judge]), shown(judgments.items[item].as_py())
        problem = f"judge {name} judged item {twice} more than once; quepid-book has room for one"
        raise BadData.at(None, "repeated-judgment", problem, value=judges[judge])


def _read_book_json(file: File, options: Options) -> Content:
    """Read the judgments of a book in JSON, on the scale that it names."""
    book = as_object(read_json(file))
    content = _BOOK.content(book, file, replace(options, scale=options.scale or _scale_of(book)))
    pairs = RecordRows(file, replace(options, skip_bad=True))
    for place, record in replace(_BOOK, levels=_BOOK.levels[:1]).records(book, pairs):
        known = {name: record.get(name) for name in ("query_text", "doc_id")}
        if not any(value in (None, "") for value in known.values()):
            pairs.add(place, known)
    table = pairs.table("query_text", "doc_id")
    return _with_pairs(content, as_names(table["query_text"]), as_names(table["doc_id"]))


def _scale_of(book: dict[str, Any]) -> Scale | None:
    """Return the scale that a book names, itself or by its scorer: ``[0, 1]`` or ``"0,1"``."""
    given = book.get("scale") or as_object(book.get("scorer")).get("scale")
    parts = given.split(",") if isinstance(given, str) else given
    if not isinstance(parts, list) or not parts:
        return None
    texts = dict.fromkeys(canonical(part) for part in parts)
    if any(as_number(text) is None for text in texts):
        return None
    return Scale.parse("<".join(sorted(texts, key=float))) if len(texts) > 1 else None


FORMATS = (
    Format(
        name="quepid-case",
        title="Quepid case: query, docid, rating",
        reads=("gold", "labels"),
        writes=("labels", "gold"),
        fits=letters("docid", "query", "rating", only=True),
        read=_read_case,
        write=_write_case,
    ),
    Format(
        name="quepid-book",
        title="Quepid book, comma separated: query, docid, one column per judge",
        writes=("judgments",),
        fits=_is_book,
        read=_read_book,
        write=_write_book,
    ),
    Format(
        name="quepid-book-json",
        title="Quepid book in JSON: query_doc_pairs with their judgements",
        extension=".json",
        fits=fields("query_doc_pairs"),
        read=_read_book_json,
    ),
)
