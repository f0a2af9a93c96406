"""Label Studio JSON exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.data.formats import read
from adjudge.data.scale import Scale
from reading import complaint, gold_in, judged, judgments_in


def answer(value: object, name: str = "relevance", kind: str = "choices") -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": kind, "value": {kind: value}}


def annotation(*results: dict[str, Any], by: object = 10, **more: object) -> dict[str, Any]:
    return {
        "id": 1001,
        "result": list(results),
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2021-03-09T22:16:08.500000Z",
        "lead_time": 4.288,
        "completed_by": by,
    } | more


def task(number: object, *annotations: dict[str, Any], **more: object) -> dict[str, Any]:
    data = {"query": "red dress", "docid": f"d{number}", "tags": ["x"], "price": 3}
    return {"id": number, "data": data, "annotations": list(annotations), "project": 83} | more


def export(folder: Path, *tasks: object) -> Path:
    path = folder / "project-1.json"
    path.write_text(json.dumps(list(tasks)))
    return path


def test_annotations_are_judgments(tmp_path: Path) -> None:
    path = export(
        tmp_path,
        task(
            1,
            annotation(answer(["yes"])),
            annotation(answer(["no"]), by={"id": 11, "email": "b@x.org"}),
            annotation(answer(["no"]), by={"id": 12}),
        ),
        task(2, annotation(answer("yes"))),
    )
    content = read(path)
    assert content.format == "label-studio"
    assert judged(content) == {
        ("1", "10", "yes"),
        ("1", "b@x.org", "no"),
        ("1", "12", "no"),
        ("2", "10", "yes"),
    }
    judgments = judgments_in(content)
    assert judgments.topics.to_pylist() == ["red dress"]
    assert judgments.documents.to_pylist() == ["d1", "d2"]
    assert judgments.fields.to_pylist()[0] == {"query": "red dress", "docid": "d1", "price": "3"}
    assert judgments.seconds.tolist() == [4.288] * 4
    assert judgments.time[0] == 1615328168.5
    assert content.gold is None
    assert content.notes == ()


@pytest.mark.parametrize(("kind", "value"), [("rating", 3), ("number", 3.0), ("choices", ["3"])])
def test_ratings_and_numbers(tmp_path: Path, kind: str, value: object) -> None:
    path = export(tmp_path, task(1, annotation(answer(value, kind=kind))))
    assert judged(read(path)) == {("1", "10", "3")}


def test_ground_truth_is_gold_and_no_judgment(tmp_path: Path) -> None:
    path = export(
        tmp_path,
        task(
            1,
            annotation(answer(2, kind="rating"), by=1, ground_truth=True),
            annotation(answer(1, kind="rating")),
        ),
        task(2, annotation(answer(0, kind="rating"), by=1, ground_truth=True)),
    )
    content = read(path)
    assert judged(content) == {("1", "10", "1")}
    assert judgments_in(content).scale.labels == ("0", "1", "2")
    assert gold_in(content).to_table().to_pylist() == [
        {"item": "1", "topic": "red dress", "document": "d1", "gold": "2"},
        {"item": "2", "topic": "red dress", "document": "d2", "gold": "0"},
    ]


def test_predictions_are_judgments_of_models(tmp_path: Path) -> None:
    path = export(
        tmp_path,
        task(
            1,
            annotation(answer(["a"])),
            predictions=[
                {"model_version": "bert 2", "result": [answer(["b"])], "score": 0.7},
                {"model_version": "", "result": [answer(["b"])]},
            ],
        ),
    )
    content = read(path)
    assert judged(content) == {("1", "10", "a"), ("1", "bert 2", "b")}
    assert content.notes == ("1 prediction left out: the model has no name",)


def test_cancelled_and_unanswered_are_left_out(tmp_path: Path) -> None:
    path = export(
        tmp_path,
        task(
            1,
            annotation(answer(["a"])),
            annotation(answer(["b"]), by=2, was_cancelled=True),
            annotation(by=3),
            annotation(answer([]), by=4),
        ),
    )
    content = read(path)
    assert judged(content) == {("1", "10", "a")}
    assert content.notes == (
        "1 annotation left out: cancelled",
        "2 annotations left out: no answer",
    )


def test_faults_name_task_and_annotation(tmp_path: Path) -> None:
    path = export(
        tmp_path,
        task(1, annotation(answer(["a"])), annotation(answer(["a", "b"]), by=2)),
        task(2, annotation(answer(["a"]), answer(["b"]))),
        "no task",
        task(5, annotation(answer(["b"]), by=None)),
        task(6, annotation(answer(["b"]), created_at="noon")),
    )
    places = [
        "project-1.json, task 1, annotation 2",
        "project-1.json, task 2, annotation 1",
        "project-1.json, task 3",
        "project-1.json, task 4, annotation 1, column judge",
    ]
    assert complaint(read, path) == f"{places[0]}: not-one-label"
    content = read(path, skip_bad=True)
    assert judged(content) == {("1", "10", "a"), ("6", "10", "b")}
    assert sorted(bad.place for bad in content.bad) == places
    assert content.notes[-1].startswith("column time: 1 of its values is no time")


def test_gold_off_the_scale_names_its_annotation(tmp_path: Path) -> None:
    path = export(
        tmp_path, task(1, annotation(answer(["1"])), annotation(answer(["7"]), ground_truth=True))
    )
    assert complaint(read, path, scale=Scale.parse("0<1")) == (
        "project-1.json, task 1, annotation 2, column gold: label-off-scale"
    )
    content = read(path, scale=Scale.parse("0<1"), skip_bad=True)
    assert content.gold is None
    assert len(content.bad) == 1
