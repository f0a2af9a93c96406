"""Plain judgments: every fault a person may make, each with its full message, and round trips."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from adjudge.data.build import load_table
from adjudge.data.formats import delimited, plain, read, records
from adjudge.data.formats.writing import write_table
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale
from adjudge.simulation import demo
from reading import complaint, gold_in, judgments_in

THREE = Scale.parse("0<1<2")


def _file(folder: Path, text: str | bytes, name: str = "judgments.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def _rows(judgments: Judgments | None) -> list[tuple[str, ...]]:
    assert judgments is not None
    return [tuple(row.values()) for row in judgments.to_table().to_pylist()]


# What is read


def test_item_judge_and_label(tmp_path: Path) -> None:
    content = read(_file(tmp_path, "item,judge,label\na,w,1\nb,w,2\na,v,1.0\n"))
    assert content.format == "csv"
    assert content.gold is None
    assert str(judgments_in(content).scale) == "1 < 2"
    assert _rows(judgments_in(content)) == [("a", "w", "1"), ("a", "v", "1"), ("b", "w", "2")]


def test_topic_and_document_make_an_item(tmp_path: Path) -> None:
    content = read(_file(tmp_path, "topic\tdoc\tworker_id\tgrade\n7\td1\tw\t0\n7\td2\tw\t1\n"))
    assert _rows(content.judgments) == [
        ("7/d1", "7", "d1", "w", "0"),
        ("7/d2", "7", "d2", "w", "1"),
    ]


def test_gold_with_judgments(tmp_path: Path) -> None:
    content = read(_file(tmp_path, "item,judge,label,gold\na,w,1,\nb,w,2,2\na,v,1,1\n"))
    assert gold_in(content).to_table().to_pydict() == {"item": ["a", "b"], "gold": ["1", "2"]}


def test_gold_alone(tmp_path: Path) -> None:
    path = _file(tmp_path, "item,gold,why,honeypot\na,1,as seen,no\nb,,,\nc,0,,yes\n")
    gold = Gold.read(path)
    assert gold.to_table().to_pydict() == {
        "item": ["a", "c"],
        "gold": ["1", "0"],
        "reason": ["as seen", ""],
        "honeypot": [False, True],
    }


def test_labels_are_gold_where_gold_is_expected(tmp_path: Path) -> None:
    gold = Gold.read(_file(tmp_path, "item,label\na,1\n"))
    assert gold.to_table().to_pydict() == {"item": ["a"], "gold": ["1"]}


def test_labels_where_labels_are_expected(tmp_path: Path) -> None:
    path = _file(tmp_path, "topic,doc,label\n7,a,1\n7,,1\n7,b,0\n")
    content = read(path, kind="labels", skip_bad=True)
    assert content.gold is None
    assert content.labels.to_pydict() == {
        "item": ["7/a", "7/b"],
        "topic": ["7", "7"],
        "document": ["a", "b"],
        "label": ["1", "0"],
    }
    assert [bad.place for bad in content.bad] == ["judgments.csv, line 3, column doc"]


def test_labels_with_gold(tmp_path: Path) -> None:
    path = _file(tmp_path, "item,label,gold\na,1,0\n,1,1\nb,0,\n")
    content = read(path, kind="labels", skip_bad=True)
    assert gold_in(content).to_table().to_pydict() == {"item": ["a"], "gold": ["0"]}
    assert content.labels.to_pydict() == {"item": ["a", "b"], "label": ["1", "0"]}
    assert [bad.place for bad in content.bad] == ["judgments.csv, line 3, column item"]


def test_time_and_seconds(tmp_path: Path) -> None:
    text = "item,judge,label,time,seconds\na,w,1,1970-01-01T00:01:00Z,2.5\nb,w,1,,\n"
    judgments = Judgments.read(_file(tmp_path, text))
    assert judgments.time is not None
    assert judgments.seconds is not None
    np.testing.assert_array_equal(judgments.time, [60.0, np.nan])
    np.testing.assert_array_equal(judgments.seconds, [2.5, np.nan])


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffitem,judge,label\na,w,1\nb,w,0\n",
        "item,judge,label\r\na,w,1\r\nb,w,0\r\n",
        "item,judge,label\ra,w,1\rb,w,0",
        "\nitem,judge,label\n\na,w,1\n\n\nb,w,0\n\n",
        '"item","judge","label"\n"a","w","1"\n"b","w","0"\n',
        "item,judge,label,,\na,w,1,,\nb,w,0,,\n",
        '{"item": "a", "judge": "w", "label": 1}\n\n{"item": "b", "judge": "w", "label": 0}',
        '\ufeff{"item": "a", "judge": "w", "label": "1"}\n{"item": "b", "judge": "w", "label": 0}',
    ],
)
def test_harmless_habits_of_other_programs(tmp_path: Path, text: str) -> None:
    judgments = Judgments.read(_file(tmp_path, text))
    assert _rows(judgments) == [("a", "w", "1"), ("b", "w", "0")]


# Faults, each with its full message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,label,note\na,1,x\n", "judgments.csv, column judge: missing-column"),
        ("item,judge,note\na,w,x\n", "judgments.csv, column label: missing-column"),
        ("judge,label\nw,1\n", "judgments.csv, column item: missing-column"),
        ("item,judge,label\n", "judgments.csv: bad-data"),
        ("item,gold\n", "judgments.csv: no-rows"),
        ("", "judgments.csv: empty-file"),
        (
            "item,judge,label,label\na,w,1,2\n",
            "judgments.csv, line 1, column label: repeated-column",
        ),
        (
            "item,topic,judge,label\na,7,w,1\na,8,v,1\n",
            "judgments.csv, line 3, column topic: two-values",
        ),
        (
            "item,judge,label\na,w,1\nb,w,\nc,w,2\nd,w,cat\ne,w,3\n",
            "judgments.csv, line 5, column label: mixed-labels",
        ),
        (
            "item,judge,label\na,w,dog\nb,w,7\nc,w,cat\n",
            "judgments.csv, line 3, column label: mixed-labels",
        ),
        (
            "item,judge,label,gold\na,w,1,\nb,w,0,yes\n",
            "judgments.csv, line 3, column gold: mixed-labels",
        ),
        (
            "item,judge,label\na,w,1\nb,w,nan\n",
            "judgments.csv, line 3, column label: missing-label",
        ),
        ("item,judge,label\na,w,1\nb,,1\n", "judgments.csv, line 3, column judge: bad-id"),
        ("item,judge,label\n \t,w,1\n", "judgments.csv, line 2, column item: bad-id"),
        ("topic,doc,judge,label\n7,,w,1\n", "judgments.csv, line 2, column doc: bad-id"),
        ("item,judge,label\na,w,1\nb,w,\n", "judgments.csv, line 3, column label: missing-label"),
        ("item,judge,label\na,w,\n", "judgments.csv, line 2, column label: bad-data"),
        ("item,judge,label\na,w,1\nb\0,w,1\n", "judgments.csv, line 3, column item: bad-id"),
        ("item,judge,label\na,w,yes\nb,w,no\0\n", "judgments.csv, line 3, column label: bad-id"),
        ('item,judge,label\n"a\nb",w,1\nc,w\n', "judgments.csv, line 4: wrong-width"),
        ('item,judge,label\na,w,1\n"b,w,1\nc,w,1\n', "judgments.csv, line 3: open-quote"),
        ("topic,doc,judge,label\na/b,c,w,1\na,b/c,w,1\n", "judgments.csv: bad-data"),
    ],
)
def test_a_bad_file(tmp_path: Path, text: str, message: str) -> None:
    assert complaint(read, _file(tmp_path, text)) == message


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("item,judge,label\na,w,0\nb,w,2\nx,w,4\n", "line 4, column label"),
        ("item,judge,label,gold\na,w,1,\nb,w,1,5\n", "line 3, column gold"),
        ('item,judge,label\n"a\nb\r\nc",w,1\n\n"d",w,2\ne,w,3\n', "line 7, column label"),
    ],
)
def test_a_value_off_the_scale(tmp_path: Path, text: str, place: str) -> None:
    code = complaint(read, _file(tmp_path, text), scale=THREE)
    assert code == f"judgments.csv, {place}: label-off-scale"


def test_parquet_cut_short(tmp_path: Path) -> None:
    file = io.BytesIO()
    pa.parquet.write_table(pa.table({"item": ["a"], "judge": ["w"], "label": [1]}), file)
    path = _file(tmp_path, file.getvalue()[:-20], "judgments.parquet")
    assert complaint(read, path) == "judgments.parquet: broken-file"


def test_parquet_speaks_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "judgments.parquet"
    table = pa.table({"item": ["a", "b"], "judge": ["w", None], "label": [1, 2]})
    pa.parquet.write_table(table, path)
    assert complaint(read, path) == "judgments.parquet, row 2, column judge: bad-id"


# Bad rows skipped


def test_every_kind_of_bad_row_is_skipped_and_listed(tmp_path: Path) -> None:
    text = "item,judge,label\na,w,1\n\nb,w\nc,,1\nd,w,7\n,w,1\ne,w,\na,v,2\nf,w,1,1\n"
    content = read(_file(tmp_path, text), scale=THREE, skip_bad=True)
    assert _rows(content.judgments) == [("a", "w", "1"), ("a", "v", "2")]
    assert [(bad.row, bad.place) for bad in content.bad] == [
        (1, "judgments.csv, line 4"),
        (2, "judgments.csv, line 5, column judge"),
        (3, "judgments.csv, line 6, column label"),
        (4, "judgments.csv, line 7, column item"),
        (5, "judgments.csv, line 8, column label"),
        (7, "judgments.csv, line 10"),
    ]


def test_notes_after_skipped_rows_name_the_right_line(tmp_path: Path) -> None:
    text = "item,judge,label,gold\nb,w\n,w,1,\nc,w,1,\na,w,1,1\na,v,1,2\n"
    content = read(_file(tmp_path, text), skip_bad=True)
    assert content.notes == (
        "column gold: 1 item with contradicting gold (line 5); their gold is left out",
    )
    assert content.gold is None or len(content.gold) == 0


def test_a_row_of_another_topic_is_skipped(tmp_path: Path) -> None:
    text = "item,topic,judge,label\na,7,w,1\na,8,v,1\nb,8,v,0\n"
    content = read(_file(tmp_path, text), skip_bad=True)
    assert [bad.place for bad in content.bad] == ["judgments.csv, line 3, column topic"]
    assert len(content.judgments or ()) == 2


def test_bad_gold_rows_are_skipped_and_listed(tmp_path: Path) -> None:
    content = read(_file(tmp_path, "item,gold\na,1\nb,\n,2\nc,0\n", "gold.csv"), skip_bad=True)
    assert gold_in(content).to_table().to_pydict() == {"item": ["a", "c"], "gold": ["1", "0"]}
    assert [(bad.row, bad.place) for bad in content.bad] == [(2, "gold.csv, line 4, column item")]


@pytest.mark.parametrize("order", ["grouped", "shuffled"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_large_file_is_read_as_dictionaries_and_is_the_same(
    kind: str, order: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = demo(seed=3)
    table = made.judgments.to_table()
    if order == "shuffled":
        table = table.take(pa.array(np.random.default_rng(1).permutation(len(table))))
    path = tmp_path / f"large.{kind}"
    with path.open("wb") as file:
        write_table(table, file, f".{kind}", guard=True)
    small = read(path)
    for module in (delimited, records):
        monkeypatch.setattr(module, "is_large", lambda _: True)
    seen: list[Any] = []

    def look(table: Any, *given: Any, **more: Any) -> Any:
        seen.extend(table[name].type for name in ("item", "judge", "label"))
        return load_table(table, *given, **more)

    monkeypatch.setattr(plain, "load_table", look)
    large = read(path)
    assert len(seen) == 3
    assert all(pa.types.is_dictionary(kind) for kind in seen)
    assert judgments_in(large).to_table().equals(judgments_in(small).to_table())
    assert judgments_in(large).judges.equals(judgments_in(small).judges)
