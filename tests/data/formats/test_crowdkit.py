"""crowd-kit's tables, in and out."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from adjudge.data.formats import Content, read, write
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.errors import BadData
from faults import fault_of


def _file(folder: Path, text: str) -> Path:
    path = folder / "crowd.csv"
    path.write_text(text)
    return path


def test_judgments(tmp_path: Path) -> None:
    content = read(_file(tmp_path, "worker,task,label\nw,a,cat\nv,a,dog\nw,b,dog\n"))
    assert content.format == "crowd-kit"
    assert content.judgments is not None
    assert content.judgments.to_table().to_pydict() == {
        "item": ["a", "a", "b"],
        "judge": ["w", "v", "w"],
        "label": ["cat", "dog", "dog"],
    }


@pytest.mark.parametrize("wanted", [None, "gold"])
def test_truth(tmp_path: Path, wanted: None) -> None:
    content = read(_file(tmp_path, "task\ttrue_label\na\tcat\nb\tdog\n"), wanted=wanted)
    assert content.gold is not None
    assert content.gold.to_table().to_pydict() == {"item": ["a", "b"], "gold": ["cat", "dog"]}


def test_labels_are_truth_where_gold_is_wanted(tmp_path: Path) -> None:
    path = _file(tmp_path, "task,label\na,cat\n")
    assert Gold.read(path).to_table().to_pydict() == {"item": ["a"], "gold": ["cat"]}
    with pytest.raises(BadData) as raised:
        Judgments.read(path)
    assert raised.value.source == str(path)


def test_a_bad_row_has_its_line(tmp_path: Path) -> None:
    with pytest.raises(BadData) as raised:
        read(_file(tmp_path, "task,worker,label\na,w,cat\na,,dog\n"))
    assert fault_of(raised.value) == "crowd.csv, line 3, column worker: bad-id"


def test_bad_rows_are_skipped_and_listed(tmp_path: Path) -> None:
    content = read(_file(tmp_path, "task,true_label\na,cat\n,dog\nb\n"), skip_bad=True)
    assert content.gold is not None
    assert content.gold.items.to_pylist() == ["a"]
    assert [bad.place for bad in content.bad] == [
        "crowd.csv, line 3, column task",
        "crowd.csv, line 4",
    ]


def test_what_is_written(tmp_path: Path) -> None:
    table = pa.table({"item": ["a", "b,"], "judge": ["w", "v"], "label": ["cat", "dog"]})
    judgments, gold = Judgments.from_table(table), Gold.of({"a": "cat"})
    labels = pa.table({"item": ["a"], "label": ["dog"], "probability": [0.9]})
    path = tmp_path / "out.csv"
    write(Content(judgments=judgments, gold=gold), path, format="crowd-kit")
    assert path.read_text() == 'task,worker,label\na,w,cat\n"b,",v,dog\n'
    assert read(path).judgments is not None
    write(Content(gold=gold), path, format="crowd-kit")
    assert path.read_text() == "task,true_label\na,cat\n"
    write(Content(judgments=judgments, labels=labels), path, format="crowd-kit")
    assert path.read_text() == "task,true_label\na,dog\n"


def test_nothing_to_write(tmp_path: Path) -> None:
    with pytest.raises(BadData) as raised:
        write(Content(), tmp_path / "out.csv", format="crowd-kit")
    assert fault_of(raised.value) == "nothing-to-write"
