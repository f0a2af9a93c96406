"""Toloka assignments, and the tables of crowd-kit."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from adjudge.data.formats import Content, read, write
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from reading import complaint, gold_in, judged, judgments_in

HEADER = (
    "INPUT:query\tINPUT:docid\tOUTPUT:result\tGOLDEN:result\tHINT:text\tHINT:default_language\t"
    "ASSIGNMENT:link\tASSIGNMENT:task_id\tASSIGNMENT:assignment_id\tASSIGNMENT:worker_id\t"
    "ASSIGNMENT:status\tASSIGNMENT:started\tASSIGNMENT:submitted"
)


def pool(folder: Path, *lines: str, header: str = HEADER) -> Path:
    path = folder / "assignments.tsv"
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def row(
    task: str,
    judge: str,
    label: str,
    *,
    status: str = "APPROVED",
    gold: str = "",
    hint: str = "",
    start: str = "2020-05-20T12:00:00.000",
    end: str = "2020-05-20T12:00:30.500",
) -> str:
    cells = ["red dress", f"d{task}", label, gold, hint, "", "http://x", task, "a", judge, status]
    return "\t".join([*cells, start, end])


def test_task_is_the_item_and_knows_its_topic(tmp_path: Path) -> None:
    path = pool(
        tmp_path,
        row("t1", "w1", "1", gold="1", hint="It says so"),
        row("t1", "w2", "0", gold="1"),
        "",  # a blank line parts the suites of tasks
        row("t2", "w1", "0"),
    )
    content = read(path)
    assert content.format == "toloka"
    assert judged(content) == {("t1", "w1", "1"), ("t1", "w2", "0"), ("t2", "w1", "0")}
    judgments = judgments_in(content)
    assert judgments.topics.to_pylist() == ["red dress"]
    assert judgments.documents.to_pylist() == ["dt1", "dt2"]
    assert judgments.fields.to_pylist()[0] == {"query": "red dress", "docid": "dt1"}
    assert judgments.seconds.tolist() == [30.5] * 3
    assert judgments.time[0] == 1589976030.5
    assert gold_in(content).to_table().to_pylist() == [
        {
            "item": "t1",
            "topic": "red dress",
            "document": "dt1",
            "gold": "1",
            "reason": "It says so",
            "honeypot": True,
        }
    ]


def test_only_finished_assignments_count(tmp_path: Path) -> None:
    path = pool(
        tmp_path,
        row("t1", "w1", "1"),
        row("t1", "w2", "1", status="SUBMITTED"),
        row("t1", "w3", "0", status="REJECTED"),
        row("t1", "w4", "", status="SKIPPED", end=""),
        row("t1", "w5", "", status="EXPIRED", end=""),
        row("t1", "w6", "", status="ACTIVE", end=""),
        row("t1", "w7", ""),
    )
    content = read(path)
    assert judged(content) == {("t1", "w1", "1"), ("t1", "w2", "1")}
    assert content.notes == (
        "1 row left out: rejected by the requester",
        "1 row left out: skipped",
        "1 row left out: not finished in time",
        "1 row left out: not finished yet",
        "1 row left out: no answer",
    )


def test_inputs_are_the_item_without_a_task_id(tmp_path: Path) -> None:
    header = "INPUT:image\tOUTPUT:result\tASSIGNMENT:worker_id"
    path = pool(tmp_path, "a.png\tcat\tw1", "b.png\tdog\tw1", "a.png\tdog\tw2", header=header)
    assert judged(read(path)) == {
        ("a.png", "w1", "cat"),
        ("b.png", "w1", "dog"),
        ("a.png", "w2", "dog"),
    }
    header = "INPUT:left\tINPUT:right\tOUTPUT:result\tASSIGNMENT:worker_id"
    path = pool(tmp_path, "a\tb\tleft\tw1", "a\tc\tright\tw1", header=header)
    assert judged(read(path)) == {("a/b", "w1", "left"), ("a/c", "w1", "right")}
    path = pool(tmp_path, "a/b\tc\tleft\tw1", "a\tb/c\tright\tw1", header=header)
    assert complaint(read, path) == "assignments.tsv, column ASSIGNMENT:task_id: missing-column"


def test_pair_of_inputs_is_the_item_without_a_task_id(tmp_path: Path) -> None:
    header = (
        "INPUT:query\tINPUT:document\tOUTPUT:result\tGOLDEN:result\tHINT:text\tASSIGNMENT:worker_id"
    )
    path = pool(
        tmp_path,
        "q1\td1\t1\t0\tno verb\tw1",
        "q1\td2\t0\t\t\tw1",
        "q1\td1\t0\t0\t\tw2",
        header=header,
    )
    content = read(path)
    assert judged(content) == {("q1/d1", "w1", "1"), ("q1/d2", "w1", "0"), ("q1/d1", "w2", "0")}
    assert gold_in(content).items.to_pylist() == ["q1/d1"]
    assert gold_in(content).reasons.to_pylist() == ["no verb"]


def test_a_fault_has_its_line(tmp_path: Path) -> None:
    path = pool(
        tmp_path,
        row("t1", "w1", "1", status="REJECTED"),
        row("t1", "w2", "1"),
        "",
        row("t1", "", "1"),
    )
    assert complaint(read, path) == ("assignments.tsv, line 5, column ASSIGNMENT:worker_id: bad-id")
    content = read(path, skip_bad=True)
    assert judged(content) == {("t1", "w2", "1")}
    assert len(content.bad) == 1


def crowd_file(folder: Path, text: str) -> Path:
    path = folder / "crowd.csv"
    path.write_text(text)
    return path


def test_judgments_of_crowd_kit(tmp_path: Path) -> None:
    content = read(crowd_file(tmp_path, "worker,task,label\nw,a,cat\nv,a,dog\nw,b,dog\n"))
    assert content.format == "crowd-kit"
    assert judgments_in(content).to_table().to_pydict() == {
        "item": ["a", "a", "b"],
        "judge": ["w", "v", "w"],
        "label": ["cat", "dog", "dog"],
    }


@pytest.mark.parametrize("read_as", [None, "gold"])
def test_truth_of_crowd_kit(tmp_path: Path, read_as: None) -> None:
    content = read(crowd_file(tmp_path, "task\ttrue_label\na\tcat\nb\tdog\n"), kind=read_as)
    assert gold_in(content).to_table().to_pydict() == {"item": ["a", "b"], "gold": ["cat", "dog"]}


def test_crowd_kit_is_written(tmp_path: Path) -> None:
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
