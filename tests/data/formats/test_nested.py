"""Items with their judgments inside, and tables that were once taken for something else."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adjudge.data.formats import detect, read
from adjudge.data.judgments import Judgments
from adjudge.errors import BadData
from reading import judgments_in

JUDGES = ("ann", "bob", "cem")
GIVEN = {f"d{n}": dict(zip(JUDGES, "012" if n % 2 else "110", strict=True)) for n in range(6)}
EXPECTED = Counter(
    (item, judge, label) for item, own in GIVEN.items() for judge, label in own.items()
)

OBJECTS = [
    {"item_id": i, "text": "x", "annotations": [{"annotator": j, "label": v} for j, v in g.items()]}
    for i, g in GIVEN.items()
]
BY_JUDGE = [{"id": i, "annotations": {j: int(v) for j, v in g.items()}} for i, g in GIVEN.items()]
LISTS = [
    {"id": i, "annotators": list(g), "labels": [int(v) for v in g.values()]}
    for i, g in GIVEN.items()
]
ARGILLA = [
    {
        "id": i,
        "status": "completed",
        "fields": {"text": "x"},
        "responses": {"relevance": [{"value": v, "user_id": j} for j, v in g.items()]},
    }
    for i, g in GIVEN.items()
]


def judgments_of(held: Judgments) -> Counter[tuple[str, str, str]]:
    rows = held.to_table().to_pylist()
    return Counter((row["item"], row["judge"], row["label"]) for row in rows)


@pytest.mark.parametrize("records", [OBJECTS, BY_JUDGE, LISTS, ARGILLA])
@pytest.mark.parametrize("kind", ["json", "jsonl", "parquet"])
def test_judgments_inside_items(kind: str, records: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / f"records.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(records), path)
    else:
        full = json.dumps(records) if kind == "json" else "\n".join(map(json.dumps, records))
        path.write_text(full)
    assert detect(path).name == "nested"
    found = judgments_in(read(path))
    assert judgments_of(found) == EXPECTED


def test_a_list_of_judgments_under_a_key_is_plain(tmp_path: Path) -> None:
    path = tmp_path / "j.json"
    rows = [{"item": i, "judge": j, "label": v} for i, j, v in EXPECTED]
    path.write_text(json.dumps({"annotations": rows}))
    assert judgments_of(Judgments.read(path)) == EXPECTED


def test_several_lists_are_questions_and_drafts_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "j.json"
    own = [{"value": "a", "user_id": "u"}, {"value": "b", "user_id": "v", "status": "draft"}]
    record = {"id": 1, "responses": {"tone": own, "use": own}}
    path.write_text(json.dumps([record, {**record, "id": 2}]))
    with pytest.raises(BadData, match=r"there are 2 questions .tone, use."):
        read(path)
    content = read(path, question="use")
    assert len(judgments_in(content)) == 2
    assert "2 judgments left out: draft" in content.notes


def test_a_judgment_without_a_label_asks(tmp_path: Path) -> None:
    path = tmp_path / "j.json"
    given = [
        {"worker_id": "w", "data": {"toxic": "yes"}},
        {"worker_id": "x", "data": {"toxic": "no"}},
    ]
    path.write_text(json.dumps([{"id": 1, "responses": given}]))
    with pytest.raises(BadData, match=r"not clear: worker_id, data.toxic; columns="):
        read(path)
    found = Judgments.read(path, columns={"label": "data.toxic"})
    assert judgments_of(found) == Counter([("1", "w", "yes"), ("1", "x", "no")])


def lines(*rows: str) -> str:
    return "\n".join(rows) + "\n"


SURVEYS = {
    "qualtrics": lines(
        "StartDate,Finished,ResponseId,Q1,Q2",
        "Start Date,Finished,Response ID,Is 1 relevant?,Is 2 relevant?",
        *(f"2024-01-0{n},True,R_{n},Yes,{'Yes' if n % 2 else 'No'}" for n in range(1, 8)),
    ),
    "forms": lines(
        "Timestamp,Email Address,How good is 1?,How good is 2?",
        *(f"2024/01/0{n},p{n}@x.org,{n % 3},{n % 2}" for n in range(1, 8)),
    ),
    "participants": lines("participant,Q1,Q2,Q3", *(f"p{n},{n % 3},1,2" for n in range(8))),
}


@pytest.mark.parametrize(
    ("name", "code"),
    [("qualtrics", "survey"), ("forms", "survey"), ("participants", "unclear-columns")],
)
def test_a_survey_is_not_a_wide_table(name: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "survey.csv"
    path.write_text(SURVEYS[name])
    with pytest.raises(BadData, check=lambda fault: fault.code == code) as caught:
        read(path)
    assert "transpose" in {remedy.setting for remedy in caught.value.remedies}


def test_commas_for_thousands_stay(tmp_path: Path) -> None:
    path = tmp_path / "j.csv"
    path.write_text(
        lines("item;judge;label", *(f"d{n // 2};j{n % 2};{n % 2 + 1},000" for n in range(8)))
    )
    assert Judgments.read(path).scale.labels == ("1,000", "2,000")


@pytest.mark.parametrize("before", ["sep=,", "# exported today", "Export of project X,,"])
def test_a_header_below_the_first_line_is_named(before: str, tmp_path: Path) -> None:
    path = tmp_path / "j.csv"
    path.write_text(lines(before, "item,judge,label", "a,x,yes", "a,y,no", "b,x,yes", "b,y,no"))
    with pytest.raises(BadData, match="line 2 looks like it"):
        read(path)


@pytest.mark.parametrize(
    ("start", "what"), [(b"SQLite format 3\0", "SQLite"), (b"ARROW1\0\0", "Arrow")]
)
def test_what_is_no_text_is_named(start: bytes, what: str, tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    path.write_bytes(start + bytes(200))
    with pytest.raises(BadData, match=f"expected text or Parquet, got an? .*{what}"):
        read(path)


def test_a_parquet_file_with_a_damaged_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "nested.parquet"
    pq.write_table(pa.Table.from_pylist(OBJECTS), path)
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(BadData, match="complete Parquet file"):
        read(path)
