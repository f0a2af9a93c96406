"""Mechanical Turk batch results."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adjudge.data.formats import read
from adjudge.errors import BadData
from reading import complaint, gold_in, judged, judgments_in

HEADER = """
HITId HITTypeId Title Description Keywords Reward CreationTime MaxAssignments RequesterAnnotation
AssignmentDurationInSeconds AutoApprovalDelayInSeconds Expiration NumberOfSimilarHITs
LifetimeInSeconds AssignmentId WorkerId AssignmentStatus AcceptTime SubmitTime AutoApprovalTime
ApprovalTime RejectionTime RequesterFeedback WorkTimeInSeconds LifetimeApprovalRate
Last30DaysApprovalRate Last7DaysApprovalRate
"""

USUAL = {
    "HITTypeId": "3TYPE",
    "Title": "Is this page relevant, or not?",
    "Reward": "$0.05",
    "AssignmentStatus": "Approved",
    "AcceptTime": "Tue Mar 05 18:08:00 PST 2013",
    "SubmitTime": "Tue Mar 05 18:08:31 PST 2013",
    "WorkTimeInSeconds": "31",
}


def batch(folder: Path, extra: list[str], *rows: dict[str, str]) -> Path:
    path = folder / "Batch_1_batch_results.csv"
    names = [*HEADER.split(), *extra, "Approve", "Reject"]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, restval="", quoting=csv.QUOTE_ALL)
        writer.writeheader()
        for number, row in enumerate(rows, start=1):
            writer.writerow(USUAL | {"AssignmentId": f"A{number}"} | row)
    return path


def given(hit: str, judge: str, **more: str) -> dict[str, str]:
    """An assignment, whose other columns have a point where a name has two underscores."""
    return {"HITId": hit, "WorkerId": judge} | {k.replace("__", "."): v for k, v in more.items()}


def test_pair_of_topic_and_document_is_the_item(tmp_path: Path) -> None:
    inputs = {"Input.query": "red, dress", "Input.docno": "d1", "Input.title": "A dress"}
    late = {"SubmitTime": "Wed Jul 03 01:08:31 PDT 2013", "WorkTimeInSeconds": "12"}
    path = batch(
        tmp_path,
        [*inputs, "Answer.relevance"],
        given("H1", "W1", Answer__relevance="2") | inputs,
        given("H9", "W2", Answer__relevance="0") | inputs | late,  # another HIT on the same pair
    )
    content = read(path)
    assert content.format == "mturk"
    assert judged(content) == {("red, dress/d1", "W1", "2"), ("red, dress/d1", "W2", "0")}
    judgments = judgments_in(content)
    assert judgments.topics.to_pylist() == ["red, dress"]
    assert judgments.documents.to_pylist() == ["d1"]
    assert judgments.fields.to_pylist() == [
        {"query": "red, dress", "docno": "d1", "title": "A dress"}
    ]
    assert judgments.seconds.tolist() == [31.0, 12.0]
    assert [datetime.fromtimestamp(t, UTC) for t in judgments.time] == [
        datetime(2013, 3, 6, 2, 8, 31, tzinfo=UTC),
        datetime(2013, 7, 3, 8, 8, 31, tzinfo=UTC),
    ]
    assert content.notes == ()
    assert content.gold is None


def test_hit_is_the_item_without_a_pair(tmp_path: Path) -> None:
    path = batch(
        tmp_path,
        ["Input.image_url", "Input.gold", "Answer.category.label"],
        given("H1", "W1", Answer__category__label="cat", Input__gold="dog"),
        given("H2", "W1", Answer__category__label="dog"),
    )
    content = read(path)
    assert judged(content) == {("H1", "W1", "cat"), ("H2", "W1", "dog")}
    assert gold_in(content).to_table().to_pylist() == [{"item": "H1", "gold": "dog"}]


def test_rejected_and_unanswered_are_left_out_and_counted(tmp_path: Path) -> None:
    path = batch(
        tmp_path,
        ["Answer.relevance"],
        given("H1", "W1", Answer__relevance="1"),
        given("H1", "W2", Answer__relevance="0", AssignmentStatus="Rejected"),
        given("H1", "W3", Answer__relevance="0", AssignmentStatus="Submitted", Reject="Random"),
        given("H1", "W4", Answer__relevance="", AssignmentStatus="Submitted"),
        given("H1", "W5", Answer__relevance="1", Reject="overturned"),
    )
    content = read(path)
    assert judged(content) == {("H1", "W1", "1"), ("H1", "W5", "1")}
    assert content.notes == (
        "2 rows left out: rejected by the requester",
        "1 row left out: no answer",
    )
    assert content.bad == ()


def test_a_column_a_choice(tmp_path: Path) -> None:
    columns = ["Answer.grade.0", "Answer.grade.1", "Answer.grade.2"]
    marks = {"W1": ("false", "true", "false"), "W2": ("true", "false", "false")}
    marks["W3"] = ("false", "false", "false")
    rows = (given("H1", j) | dict(zip(columns, own, strict=True)) for j, own in marks.items())
    path = batch(tmp_path, columns, *rows)
    content = read(path)
    assert judged(content) == {("H1", "W1", "1"), ("H1", "W2", "0")}
    assert content.notes == ("1 row left out: no answer",)


def test_two_choices_are_a_fault_with_its_line(tmp_path: Path) -> None:
    columns = ["Answer.grade.0", "Answer.grade.1"]
    path = batch(
        tmp_path,
        columns,
        {"HITId": "H1", "WorkerId": "W1"} | dict(zip(columns, ["false", "true"], strict=True)),
        {"HITId": "H1", "WorkerId": "W2"} | dict(zip(columns, ["true", "true"], strict=True)),
    )
    place = "Batch_1_batch_results.csv, line 3, column Answer.grade"
    assert complaint(read, path) == f"{place}: not-one-label"
    content = read(path, skip_bad=True)
    assert judged(content) == {("H1", "W1", "1")}
    assert [bad.place for bad in content.bad] == [place]


def test_answers_packed_in_json(tmp_path: Path) -> None:
    def packed(**answers: object) -> dict[str, str]:
        return {"Answer.taskAnswers": json.dumps([answers])}

    path = batch(
        tmp_path,
        ["Answer.taskAnswers"],
        {"HITId": "H1", "WorkerId": "W1"} | packed(grade={"0": False, "1": True}, note="ok"),
        {"HITId": "H1", "WorkerId": "W2"} | packed(grade={"0": True, "1": False}, note=""),
        {"HITId": "H2", "WorkerId": "W1"} | packed(grade={"0": False, "1": False}, note=""),
    )
    content = read(path, question="grade")
    assert judged(content) == {("H1", "W1", "1"), ("H1", "W2", "0")}
    assert content.notes == ("1 row left out: no answer",)
    path = batch(
        tmp_path,
        ["Answer.taskAnswers"],
        {"HITId": "H1", "WorkerId": "W1"} | packed(category={"label": "cat"}),
        {"HITId": "H2", "WorkerId": "W1"} | packed(category="dog"),
    )
    assert judged(read(path)) == {("H1", "W1", "cat"), ("H2", "W1", "dog")}


def test_lines_stay_right_after_rows_were_left_out(tmp_path: Path) -> None:
    path = batch(
        tmp_path,
        ["Answer.relevance"],
        {"HITId": "H1", "WorkerId": "W1", "Answer.relevance": "1", "AssignmentStatus": "Rejected"},
        {"HITId": "H1", "WorkerId": "W2", "Answer.relevance": "1"},
        {"HITId": "H1", "WorkerId": "W3", "Answer.relevance": "0", "SubmitTime": "noon"},
        {"HITId": "", "WorkerId": "W4", "Answer.relevance": "0"},
    )
    with pytest.raises(BadData) as caught:
        read(path)
    assert caught.value.sentence.startswith(
        "Batch_1_batch_results.csv, line 5, column HITId: the item id is empty"
    )
    content = read(path, skip_bad=True)
    assert judged(content) == {("H1", "W2", "1"), ("H1", "W3", "0")}
    assert [bad.place for bad in content.bad] == ["Batch_1_batch_results.csv, line 5, column HITId"]
    assert content.notes == (
        "1 row left out: rejected by the requester",
        "column SubmitTime: 1 of its values is no time, such as 'noon', and left out",
    )
