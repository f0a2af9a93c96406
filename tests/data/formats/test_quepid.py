"""Quepid cases and books."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.data.formats import Content, read, write
from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale
from reading import complaint, gold_in, judgments_in


def text_file(folder: Path, name: str, *lines: str) -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n", newline="")
    return path


def rated(content: Content) -> set[tuple[Any, ...]]:
    rows = judgments_in(content).to_table().to_pylist()
    return {(row["topic"], row["document"], row["judge"], row["label"]) for row in rows}


@pytest.mark.parametrize(
    "header", ["query,docid,rating", "Query,DocID,Rating", '"query","doc_id","rating"']
)
def test_case_holds_labels_and_gold(tmp_path: Path, header: str) -> None:
    path = text_file(tmp_path, "case.csv", header, "red dress,d1,3", "red dress,d2,0.0", " =1,d1,1")
    content = read(path)
    assert content.format == "quepid-case"
    rows = [("red dress", "d1", "3"), ("red dress", "d2", "0"), ("=1", "d1", "1")]
    assert content.labels.to_pylist() == [
        {"item": f"{t}/{d}", "topic": t, "document": d, "label": label} for t, d, label in rows
    ]
    assert gold_in(content).texts() == ["3", "0", "1"]
    assert content.scale is not None
    assert content.scale.labels == ("0", "1", "3")


def test_a_query_without_ratings_is_no_fault(tmp_path: Path) -> None:
    lines = ("query,docid,rating", "lonely", "red dress,d1,3", "blue,d2,")
    content = read(text_file(tmp_path, "case.csv", *lines))
    assert content.labels["topic"].to_pylist() == ["red dress"]
    assert content.notes == ("2 rows left out: no rating",)
    assert content.bad == ()
    path = text_file(tmp_path, "case.csv", *lines, "a,b,c,d", "e,f")
    assert complaint(read, path) == "case.csv, line 5: wrong-width"
    content = read(path, skip_bad=True)
    assert [bad.place for bad in content.bad] == ["case.csv, line 5", "case.csv, line 6"]


def test_labels_are_written_as_a_case(tmp_path: Path) -> None:
    labels = pa.table(
        {
            "item": ["1", "2"],
            "topic": ["=cmd", "-1"],
            "document": ["d1", "d,2"],
            "label": ["2", "0.5"],
            "probability": [0.5, 0.5],
        }
    )
    path = tmp_path / "case.csv"
    write(Content(labels=labels), path, format="quepid-case")
    assert path.read_text() == 'query,docid,rating\n\'=cmd,d1,2\n-1,"d,2",0.5\n'
    content = read(path)
    assert content.format == "quepid-case"
    assert content.labels["topic"].to_pylist() == ["=cmd", "-1"]
    write(Content(gold=content.gold), path, format="quepid-case")
    assert read(path).labels.equals(content.labels)


@pytest.mark.parametrize("header", ["query,docid,Ann,b@x.org", "Query,Doc_Id,Ann,b@x.org"])
def test_book_has_a_column_a_judge(tmp_path: Path, header: str) -> None:
    path = text_file(
        tmp_path, "book.csv", header, "red dress,d1,3.0,2", "red dress,d2,,0", '" -x",d3,,'
    )
    content = read(path)
    assert content.format == "quepid-book"
    assert rated(content) == {
        ("red dress", "d1", "Ann", "3"),
        ("red dress", "d1", "b@x.org", "2"),
        ("red dress", "d2", "b@x.org", "0"),
    }
    assert judgments_in(content).items.to_pylist() == ["red dress/d1", "red dress/d2", "-x/d3"]
    assert judgments_in(content).counts_per_item.tolist() == [2, 1, 0]


def test_book_faults_have_their_lines(tmp_path: Path) -> None:
    path = text_file(
        tmp_path, "book.csv", "query,docid,Ann,Bob", "q,d1,,", "q,d2,1,1", "q,d3,0,9", ",d4,1,"
    )
    assert (
        complaint(read, path, scale=Scale.parse("0<1"))
        == "book.csv, line 4, column label: label-off-scale"
    )
    content = read(path, scale=Scale.parse("0<1"), skip_bad=True)
    assert len(rated(content)) == 3
    assert [bad.place for bad in content.bad] == [
        "book.csv, line 4, column label",
        "book.csv, line 5, column query",
    ]


def book(*pairs: object, **more: object) -> dict[str, Any]:
    return {"name": "My book", "show_rank": True, "query_doc_pairs": list(pairs)} | more


def pair(query: object, document: object, *judgments: object, **more: object) -> dict[str, Any]:
    known = {"query_text": query, "doc_id": document, "position": 1}
    return known | {"document_fields": {"title": "T"}, "judgements": list(judgments)} | more


def judgment(judge: str | None, rating: object, **more: object) -> dict[str, Any]:
    found = {"rating": rating, "unrateable": False, "judge_later": False, "explanation": "so"}
    return found | ({} if judge is None else {"user_email": judge}) | more


def json_file(folder: Path, full: object) -> Path:
    path = folder / "book.json"
    path.write_text(json.dumps(full))
    return path


def test_book_in_json(tmp_path: Path) -> None:
    path = json_file(
        tmp_path,
        book(
            pair(
                "red",
                7,
                judgment("a@x.org", 3.0),
                judgment(None, 1.0),
                judgment("b@x.org", None, unrateable=True),
                judgment("c@x.org", None, judge_later=True),
                judgment("d@x.org", None),
            ),
            pair("red", "d2", document_fields=None),
            pair(
                "blue", "d3", judgment("a@x.org", 0), document_fields='{"title": "U", "tags": []}'
            ),
            scorer={"name": "DCG", "scale": [0, 1, 2, 3]},
        ),
    )
    content = read(path)
    assert content.format == "quepid-book-json"
    assert rated(content) == {
        ("red", "7", "a@x.org", "3"),
        ("red", "7", "Unknown", "1"),
        ("blue", "d3", "a@x.org", "0"),
    }
    judgments = judgments_in(content)
    assert judgments.scale.labels == ("0", "1", "2", "3")
    assert judgments.items.to_pylist() == ["red/7", "blue/d3", "red/d2"]
    assert judgments.counts_per_item.tolist() == [2, 1, 0]
    assert judgments.fields["title"].to_pylist() == ["T", "U", None]
    assert content.notes == (
        "1 judgment left out: unrateable",
        "1 judgment left out: to be judged later",
        "1 judgment left out: no rating",
    )


def test_book_in_json_names_the_place_of_faults(tmp_path: Path) -> None:
    path = json_file(
        tmp_path,
        book(
            pair("red", "d1", judgment("a", 1)),
            pair("red", "d2", judgment("a", 9), judgment("b", [0, 1]), "x"),
            pair("", "d3", judgment("a", 1)),
            3,
            scale="0,1",
        ),
    )
    places = [
        "book.json, pair 2, judgment 1, column label",
        "book.json, pair 2, judgment 2",
        "book.json, pair 2, judgment 3",
        "book.json, pair 3, judgment 1, column topic",
        "book.json, pair 4",
    ]
    assert complaint(read, path) == f"{places[1]}: not-one-label"  # before those of values
    content = read(path, skip_bad=True)
    assert rated(content) == {("red", "d1", "a", "1")}
    assert sorted(bad.place for bad in content.bad) == places


letters = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff"), min_size=1
)
ids = letters.map(str.strip).filter(bool)
risky = st.sampled_from(["=1+1", "'=1", "@a", "-b", "+c", "-1", "''-", 'a"b', "a,b", "a\nb"])
cells = st.dictionaries(
    st.tuples(ids | risky, ids | risky, ids | risky.filter(lambda name: "\n" not in name)),
    st.sampled_from(["0", "1", "2.5", "3"]),
    min_size=1,
    max_size=12,
)


@given(given_cells=cells)
def test_book_round_trip(given_cells: dict[tuple[str, str, str], str]) -> None:
    topics, documents, judges = zip(*given_cells, strict=True)
    if len({f"{t}/{d}" for t, d, _ in given_cells}) < len({(t, d) for t, d, _ in given_cells}):
        return  # such pairs have no ids of their own
    if any(re.sub("[^a-z]", "", j.casefold()) in ("query", "docid") for j in judges):
        return
    table = {"topic": topics, "document": documents, "judge": judges}
    columns = {name: pa.array(part, pa.string()) for name, part in table.items()}
    columns["label"] = pa.array(list(given_cells.values()), pa.string())
    judgments = Judgments.from_table(pa.table(columns))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "book"
        write(Content(judgments=judgments), path, format="quepid-book")
        content = read(path, format="quepid-book")  # named: a judge may be called "label"
    expected = {(t, d, j, label) for (t, d, j), label in given_cells.items()}
    assert rated(content) == expected
    assert len(judgments_in(content)) == len(expected)
    assert judgments_in(content).scale.labels == judgments.scale.labels


def test_a_book_keeps_unrated_pairs(tmp_path: Path) -> None:
    full = book(pair("q", "d1", judgment("a", 1)), pair("q", "d2"), scale=[0, 1])
    write(read(json_file(tmp_path, full)), tmp_path / "b.csv", format="quepid-book")
    assert judgments_in(read(tmp_path / "b.csv")).items.to_pylist() == ["q/d1", "q/d2"]


def test_what_a_wide_book_cannot_hold(tmp_path: Path) -> None:
    columns = {"topic": ["q", "q"], "document": ["d", "d"], "label": ["1", "0"]}
    twice = Judgments.from_table(pa.table(columns | {"judge": ["a", "a"]}))
    assert (
        complaint(write, Content(judgments=twice), tmp_path / "b.csv", format="quepid-book")
        == "repeated-judgment"
    )
    named = Judgments.from_table(pa.table(columns | {"judge": ["a", "Query"]}))
    assert (
        complaint(write, Content(judgments=named), tmp_path / "b.csv", format="quepid-book")
        == "bad-judge-name"
    )
