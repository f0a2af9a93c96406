"""Quepid: the ratings of a case in CSV, and the judgments of a book in CSV or JSON.

A case has one rating for each pair of query and document, so it holds labels, and serves as gold. A
book has the judgments of several people: in CSV a column each, in JSON a list with each pair. A
judgment that is unrateable or put off is no judgment: it is left out and counted in the notes. In a
book a pair that nobody rated yet is kept as an item without judgments; whoever is not named is
``Unknown``, as Quepid calls them. Ratings are numbers, so labels of an ordered scale of words are
written as their places. Quepid puts a space before a text that a spreadsheet would run; it is taken
off again, as is our own apostrophe.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data._gold_table import gold_from_table
from adjudge.data.build import load_table
from adjudge.data.columns import letters_of
from adjudge.data.formats._exports import is_blank, keep_rows, left_out
from adjudge.data.formats._ratings import need_pairs, queries, ratings
from adjudge.data.formats._records import RecordRows, read_json, scalars, single
from adjudge.data.formats.delimited import Delimited, delimiter_of, read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.writing import guarded, unguarded, write_csv, write_rows
from adjudge.data.judgments import Judgments
from adjudge.data.names import as_names, encode, pair_names
from adjudge.data.scale import Scale, as_number, canonical
from adjudge.data.source import Source
from adjudge.errors import BadData, shown

_UNKNOWN = "Unknown"
_CELLS = 4_000_000  # cells of a book that are laid out at a time
_FIELD = "document_fields."


def _freed(table: Any) -> Any:
    """A table without the marks that keep a spreadsheet from running its cells."""
    plain = unguarded(table).columns
    columns = [pc.replace_substring_regex(column, r"^ ([=+\-@])", r"\1") for column in plain]
    return pa.table(columns, names=table.column_names)


def _read_case(file: File, options: Options) -> Content:
    """The ratings of a case, as labels and as gold."""
    table, source, lone = _read_case_rows(file, options)
    names = {letters_of(name): name for name in table.column_names}
    query, document, rating = names["query"], names["docid"], names["rating"]
    table = _freed(table)
    blank = is_blank(table[rating])
    table = keep_rows(table, source, ~blank)
    roles = {"topic": query, "document": document, "gold": rating}
    gold = gold_from_table(table, source=source, roles=roles)
    scale = options.scale or (Scale.infer(gold.values) if len(gold) else None)
    if scale is not None:
        gold.codes(scale)  # refuses a rating that is not on the scale
    labels = gold.to_table()
    labels = labels.rename_columns(
        ["label" if name == "gold" else name for name in labels.column_names]
    )
    unrated = lone + int(blank.sum())
    notes = (left_out(unrated, "row", "no rating"),) if unrated else ()
    return Content(gold=gold, labels=labels, scale=scale, bad=source.skipped, notes=notes)


def _read_case_rows(file: File, options: Options) -> tuple[Any, Source, int]:
    """The table of a case, and how many rows are a query alone, as Quepid writes an unrated one."""
    table, source = read_delimited(file, replace(options, skip_bad=True))
    source.skip_bad = options.skip_bad
    if not source.bad:
        return table, source, 0
    width = len(table.column_names)
    shape = Delimited(file, delimiter_of(file))
    lone = [line for line, cells in shape.records() if len(cells) == 1]
    for line, cells in shape.records():
        if len(cells) not in (1, width) and not options.skip_bad:
            raise BadData(
                f"{len(cells)} cells where the header has {width}",
                source=file.name,
                line=line,
                value=cells,
                expected=f"{width} cells",
            )
    places = {f"{file.name}, line {line}" for line in lone}
    source.bad = [bad for bad in source.bad if bad.place not in places]
    return table, source, len(lone)


def _write_case(content: Content, file: IO[bytes]) -> None:
    """The label of each pair as its rating; gold, where there are no labels."""
    if content.labels is None and content.gold is not None:
        labels = content.gold.to_table()
        given = labels["gold"]
    else:
        labels = content.need("labels", "quepid-case")
        given = labels["label"]
    need_pairs(labels.column_names, "quepid-case")
    rated = ratings(given, content.known_scale, "quepid-case")
    columns = {
        "query": queries(labels["topic"], content.texts),
        "docid": labels["document"],
        "rating": _numerals(rated),
    }
    write_csv(pa.table(columns), file, guard=True)


def _numerals(numbers: Any) -> Any:
    """Numbers as people write them: 3, not 3.0."""
    codes, names = encode(numbers.cast(pa.string()))
    texts = [canonical(name) for name in names.to_pylist()]
    return pa.array(texts, pa.large_string()).take(pa.array(codes, mask=codes < 0))


def _read_book(file: File, options: Options) -> Content:
    """The judgments of a book in CSV: a column a judge, a cell a judgment."""
    table, source = read_delimited(file, options)
    names = _freed(pa.table({"name": table.column_names}))["name"].to_pylist()
    table = _freed(table).rename_columns(names)
    place = {letters_of(name): name for name in names[:2]}
    if set(place) != {"query", "docid"}:
        raise source.error(None, f"the columns are {', '.join(names)}; wanted query, docid, judges")
    query, document = place["query"], place["docid"]
    long = _a_row_a_judgment(table, source, names)
    roles = {"topic": query, "document": document, "judge": "judge", "label": "rating"}
    judgments, _ = load_table(long, scale=options.scale, source=source, roles=roles)
    pairs = table.filter(pa.array(~is_blank(table[query]) & ~is_blank(table[document])))
    judgments = _with_pairs(judgments, pairs[query], pairs[document])
    return Content(judgments=judgments, bad=source.skipped)


def _a_row_a_judgment(table: Any, source: Source, names: list[str]) -> Any:
    """The book with a row for each cell that holds a rating, in the order of its rows."""
    judged = table.columns[2:]  # by place: two people may have one name
    given = [np.flatnonzero(~is_blank(column)) for column in judged]
    rows = np.concatenate([*given, np.empty(0, dtype=np.int64)])
    if not rows.size:
        raise source.error(None, "there is no judgment in this book")
    judge = np.repeat(np.arange(len(given)), [len(part) for part in given])
    cells = [as_names(c).take(pa.array(part)) for c, part in zip(judged, given, strict=True)]
    order = np.argsort(rows, kind="stable")
    source.keep(rows[order])
    columns = {name: as_names(table[name]).take(pa.array(rows[order])) for name in names[:2]}
    columns["judge"] = pa.array(names[2:], pa.large_string()).take(pa.array(judge[order]))
    columns["rating"] = pa.concat_arrays(cells).take(pa.array(order))
    return pa.table(columns)


def _with_pairs(judgments: Judgments, topics: Any, documents: Any) -> Judgments:
    """The judgments with every pair of the book as an item, rated or not."""
    topics, documents = as_names(topics), as_names(documents)
    items = pair_names(topics, documents)
    codes, names = encode(items)
    first = np.zeros(len(names), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    where = pa.array(first)
    return judgments.with_items(names, topics=topics.take(where), documents=documents.take(where))


def _write_book(content: Content, file: IO[bytes]) -> None:
    """The judgments as a book in CSV; a judge who rated a pair twice has no room in it."""
    judgments, topics, documents = _pairs(content, "quepid-book")
    judges = judgments.judges.to_pylist()
    _check_cells(judgments, judges)
    label = pa.array(judgments.scale.labels, pa.large_string())
    used = pa.array(np.unique(judgments.label))
    rated = ratings(label.take(used), judgments.scale, "quepid-book")
    numeral = np.full(len(label), "", dtype=object)
    numeral[np.asarray(used)] = _numerals(rated).to_pylist()
    header = guarded(pa.array(judges, pa.large_string())).to_pylist()
    columns = ["query", "docid", *header]
    empty = pa.table([pa.array([], pa.large_string())] * len(columns), names=columns)
    write_csv(empty, file)
    step = max(1, _CELLS // len(columns))
    item = judgments.item
    for start in range(0, judgments.item_count, step):
        end = min(start + step, judgments.item_count)
        chosen = slice(int(judgments.offsets[start]), int(judgments.offsets[end]))
        cells = np.full((len(judges), end - start), "", dtype=object)  # (judge, item of the block)
        cells[judgments.judge[chosen], item[chosen] - start] = numeral[judgments.label[chosen]]
        block = [guarded(topics[start:end]), guarded(documents[start:end])]
        block += [pa.array(row, pa.large_string()) for row in cells]
        write_rows(pa.table(block, names=columns), file, delimiter=",", quoted=True)


def _pairs(content: Content, name: str) -> tuple[Judgments, Any, Any]:
    """The judgments to write, with the query and the document of each item."""
    judgments: Judgments = content.need("judgments", name)
    known: dict[str, Any] = {"topic": judgments.topics, "document": judgments.documents}
    need_pairs([role for role, names in known.items() if names is not None], name)
    topics = known["topic"].take(pa.array(judgments.topic))
    return judgments, queries(topics, content.texts), known["document"]


def _check_cells(judgments: Judgments, judges: list[str]) -> None:
    """Refuse what a table with a column a judge and a row a pair cannot hold."""
    for name in judges:
        if letters_of(name) in ("query", "docid") or name != name.strip():
            raise BadData(
                f"a book in CSV has a column a judge, and {shown(name)} is no name for one; "
                "wanted quepid-book-json",
                value=name,
                expected="another format",
            )
    cell = judgments.item.astype(np.int64) * judgments.judge_count + judgments.judge
    found, counts = np.unique(cell, return_counts=True)
    if (counts > 1).any():
        item, judge = divmod(int(found[np.argmax(counts > 1)]), judgments.judge_count)
        raise BadData(
            f"judge {shown(judges[judge])} has {counts.max()} judgments of item "
            f"{shown(judgments.items[item].as_py())}, and a book in CSV has room for one; "
            "wanted quepid-book-json",
            expected="another format",
        )


def _read_book_json(file: File, options: Options) -> Content:
    """The judgments of a book in JSON, on the scale that it names."""
    book = read_json(file)
    pairs = book.get("query_doc_pairs") if isinstance(book, dict) else None
    if not isinstance(pairs, list):
        raise BadData("there is no list query_doc_pairs", source=file.name, expected="a book")
    rows, every, gone = RecordRows(file, options), RecordRows(file, options), Counter[str]()
    for number, pair in enumerate(pairs, start=1):
        place = f"pair {number}"
        if not isinstance(pair, dict):
            rows.fault(place, f"{shown(pair)} is no pair; wanted an object")
            continue
        known = {"query_text": pair.get("query_text"), "doc_id": pair.get("doc_id")}
        if not any(value in (None, "") for value in known.values()):
            every.add(place, known)
        _gather(rows, gone, place, pair, known)
    notes = tuple(left_out(count, "judgment", why) for why, count in gone.items())
    if not len(rows):
        raise rows.source.error(None, "there is no judgment in this book")
    table = rows.table("query_text", "doc_id", "user_email", "rating")
    fields = tuple(name for name in table.column_names if name.startswith(_FIELD))
    judgments, _ = load_table(
        table,
        scale=options.scale or _book_scale(book),
        source=rows.source,
        roles={
            "topic": "query_text",
            "document": "doc_id",
            "judge": "user_email",
            "label": "rating",
        },
        fields=fields,
    )
    if fields:
        bare = [name.removeprefix(_FIELD) for name in fields]
        judgments = replace(judgments, fields=judgments.fields.rename_columns(bare))
    whole = every.table("query_text", "doc_id")
    judgments = _with_pairs(judgments, whole["query_text"], whole["doc_id"])
    return Content(judgments=judgments, bad=rows.source.skipped, notes=notes)


def _gather(
    rows: RecordRows, gone: Counter[str], place: str, pair: dict[str, Any], known: dict[str, Any]
) -> None:
    """The judgments of one pair."""
    fields = pair.get("document_fields")
    if isinstance(fields, str):
        try:
            fields = json.loads(fields)
        except ValueError:
            fields = None
    inputs = {f"{_FIELD}{name}": value for name, value in scalars(fields).items()}
    judgments = pair.get("judgements") or pair.get("judgments") or []
    for number, entry in enumerate(judgments if isinstance(judgments, list) else [], start=1):
        where = f"{place}, judgement {number}"
        if not isinstance(entry, dict):
            rows.fault(where, f"{shown(entry)} is no judgement; wanted an object")
        elif entry.get("unrateable"):
            gone["unrateable"] += 1
        elif entry.get("judge_later"):
            gone["to be judged later"] += 1
        else:
            rating, problem = single(entry.get("rating"))
            if problem:
                rows.fault(where, problem, value=entry.get("rating"), wanted="one rating")
            elif rating is None:
                gone["no rating"] += 1
            else:
                told = {"user_email": entry.get("user_email") or _UNKNOWN, "rating": rating}
                rows.add(where, known | told | inputs)


def _book_scale(book: dict[str, Any]) -> Scale | None:
    """The scale that a book names, itself or by its scorer: ``[0, 1, 2]`` or ``"0,1,2"``."""
    scorer = book.get("scorer")
    given = book.get("scale") or (scorer.get("scale") if isinstance(scorer, dict) else None)
    parts = given.split(",") if isinstance(given, str) else given
    if not isinstance(parts, list) or not parts:
        return None
    texts = dict.fromkeys(canonical(part) for part in parts)
    if any(as_number(text) is None for text in texts):
        return None
    return Scale.parse("<".join(sorted(texts, key=float))) if len(texts) > 1 else None


def _write_book_json(content: Content, file: IO[bytes]) -> None:
    """The judgments as a book in JSON."""
    judgments, topics, documents = _pairs(content, "quepid-book-json")
    labels = pa.array(judgments.scale.labels, pa.large_string())
    numbers = ratings(labels, judgments.scale, "quepid-book-json").to_pylist()
    book = {
        "name": "adjudge",
        "scale": [_number(number) for number in numbers],
        "query_doc_pairs": list(_book_pairs(judgments, topics, documents, numbers)),
    }
    file.write((json.dumps(book, ensure_ascii=False) + "\n").encode())


def _number(number: float) -> int | float:
    return int(number) if number == int(number) else number


def _book_pairs(
    judgments: Judgments, topics: Any, documents: Any, numbers: list[float]
) -> Iterator[dict[str, Any]]:
    judges = judgments.judges.to_pylist()
    fields = [] if judgments.fields is None else judgments.fields.to_pylist()
    names = zip(topics.to_pylist(), documents.to_pylist(), strict=True)
    for item, (topic, document) in enumerate(names):
        shown_fields = fields[item] if fields else {}
        places = range(int(judgments.offsets[item]), int(judgments.offsets[item + 1]))
        yield {
            "query_text": topic,
            "doc_id": document,
            "position": None,
            "document_fields": {k: v for k, v in shown_fields.items() if v is not None},
            "judgements": [
                {
                    "rating": _number(numbers[judgments.label[place]]),
                    "unrateable": False,
                    "user_email": judges[judgments.judge[place]],
                    "explanation": None,
                }
                for place in places
            ],
        }


FORMATS = (
    Format(
        name="quepid-case",
        title="Quepid case: query, docid, rating",
        reads=("gold", "labels"),
        writes=("labels", "gold"),
        read=_read_case,
        write=_write_case,
    ),
    Format(
        name="quepid-book",
        title="Quepid book, comma separated: query, docid, a column a judge",
        reads=("judgments",),
        writes=("judgments",),
        read=_read_book,
        write=_write_book,
    ),
    Format(
        name="quepid-book-json",
        title="Quepid book in JSON: query_doc_pairs with their judgements",
        reads=("judgments",),
        writes=("judgments",),
        extension=".json",
        read=_read_book_json,
        write=_write_book_json,
    ),
)
