"""Exports of annotation and evaluation tools: what is read from each, by hand."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from adjudge.data.formats import Content, read, write


def held(content: Content) -> tuple[int, int, int, tuple[str, ...]]:
    judgments = content.judgments
    assert judgments is not None
    counts = (len(judgments), judgments.item_count, judgments.judge_count)
    return (*counts, content.options or judgments.scale.labels)


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def prodigy(number: int, session: str, **more: Any) -> dict[str, Any]:
    base = {"text": f"t{number}", "_input_hash": number, "_task_hash": 10 + number}
    return base | {"_session_id": session, "answer": "accept"} | more


CHOICES = [{"id": "A", "text": "a"}, {"id": "B", "text": "b"}]
LS = {"annotation_id": 1, "created_at": "2024-01-01T00:00:00Z", "lead_time": 2.5}
SCORE = {"source": "ANNOTATION", "name": "helpful", "timestamp": "2024-01-01T00:00:00Z"}
FILES: dict[str, tuple[str, str, tuple[int, int, int, tuple[str, ...]]]] = {
    "prodigy-choice.jsonl": (
        lines(
            prodigy(1, "d-ann", options=CHOICES, accept=["A"]),
            prodigy(1, "d-bob", options=CHOICES, accept=["B"]),
            prodigy(2, "d-ann", options=CHOICES, accept=[], answer="ignore"),
        ),
        "prodigy",
        (2, 1, 2, ("A", "B")),
    ),
    "prodigy-binary.jsonl": (
        lines(
            prodigy(1, "d-ann", label="X"),
            prodigy(1, "d-bob", label="X", answer="reject"),
            prodigy(2, "d-bob", label="X", answer="reject"),
        ),
        "prodigy",
        (3, 2, 2, ("accept", "reject")),
    ),
    "ls-min.json": (
        json.dumps(
            [
                {"id": 1, "text": "a", "sentiment": "pos", "annotator": 1, **LS},
                {"id": 1, "text": "a", "sentiment": "neg", "annotator": 2, **LS},
                {"id": 2, "text": "b", "sentiment": "pos", "annotator": 1, **LS},
                {"id": 2, "text": "b", "sentiment": "pos", "annotator": 2, **LS},
            ]
        ),
        "label-studio-flat",
        (4, 2, 2, ("neg", "pos")),
    ),
    "ls-multi.json": (
        json.dumps(
            [
                {"id": 1, "text": "a", "tags": {"choices": ["x", "y"]}, "annotator": 1, **LS},
                {"id": 1, "text": "a", "tags": "x", "annotator": 2, **LS},
            ]
        ),
        "label-studio-flat",
        (4, 2, 2, ("x", "y")),
    ),
    "ls.csv": (
        "text,id,sentiment,annotator,annotation_id,created_at,updated_at,lead_time\n"
        "a,1,pos,ann@x.org,7,2024-01-01T00:00:00Z,2024-01-01T00:00:00Z,1.5\n"
        "a,1,neg,bob@x.org,8,2024-01-01T00:00:00Z,2024-01-01T00:00:00Z,1.5\n"
        "b,2,pos,ann@x.org,9,2024-01-01T00:00:00Z,2024-01-01T00:00:00Z,1.5\n"
        "b,2,pos,bob@x.org,10,2024-01-01T00:00:00Z,2024-01-01T00:00:00Z,1.5\n",
        "label-studio-flat",
        (4, 2, 2, ("neg", "pos")),
    ),
    "admin.jsonl": (
        lines(
            {"id": 1, "text": "a", "label": ["pos"], "Comments": []},
            {"id": 2, "text": "b", "label": ["neg"], "Comments": []},
            {"id": 3, "text": "c", "label": [], "Comments": []},
        ),
        "doccano",
        (2, 2, 1, ("neg", "pos")),
    ),
    "langfuse.json": (
        json.dumps(
            {
                "data": [
                    {"id": "1", "traceId": "t1", "value": 1, "authorUserId": "u1", **SCORE},
                    {"id": "2", "traceId": "t1", "value": 0, "authorUserId": "u2", **SCORE},
                    {"id": "3", "traceId": "t2", "value": 1, "authorUserId": "u1", **SCORE},
                ],
                "meta": {"page": 1},
            }
        ),
        "langfuse",
        (3, 2, 2, ("0", "1")),
    ),
    "inspect.json": (
        json.dumps(
            {
                "version": 2,
                "status": "success",
                "eval": {"task": "t", "model": "m/x"},
                "samples": [
                    {
                        "id": 1,
                        "epoch": 1,
                        "scores": {"match": {"value": "C"}, "f1": {"value": "I"}},
                    },
                    {
                        "id": 2,
                        "epoch": 1,
                        "scores": {"match": {"value": "I"}, "f1": {"value": "I"}},
                    },
                ],
            }
        ),
        "inspect",
        (4, 2, 2, ("C", "I")),
    ),
    "umbrela.jsonl": (
        lines(
            {
                "model": "gpt",
                "query": "q",
                "passage": "p1",
                "prediction": "##final score: 2",
                "judgment": 2,
                "result_status": 1,
            },
            {
                "model": "gpt",
                "query": "q",
                "passage": "p2",
                "prediction": "",
                "judgment": 0,
                "result_status": 1,
            },
            {
                "model": "llama",
                "query": "q",
                "passage": "p2",
                "prediction": "",
                "judgment": 1,
                "result_status": 1,
            },
        ),
        "umbrela",
        (3, 2, 2, ("0", "1", "2")),
    ),
    "promptfoo.json": (
        json.dumps(
            {
                "evalId": "e",
                "results": {
                    "version": 3,
                    "results": [
                        {
                            "promptIdx": 0,
                            "testIdx": 0,
                            "provider": {"id": "p"},
                            "gradingResult": {
                                "pass": False,
                                "componentResults": [
                                    {"pass": True, "assertion": {"type": "contains"}},
                                    {"pass": False, "assertion": {"type": "llm-rubric"}},
                                ],
                            },
                        }
                    ],
                },
            }
        ),
        "promptfoo",
        (2, 1, 2, ("fail", "pass")),
    ),
    "potato-lines.jsonl": (
        lines({"id": "i1", "displayed_text": "x", "label_annotations": {"s": {"yes": "1"}}}),
        "potato",
        (1, 1, 1, ("yes",)),
    ),
    "list.json": (
        json.dumps([{"item": n // 2, "judge": f"j{n % 2}", "label": n % 2} for n in range(6)]),
        "json",
        (6, 3, 2, ("0", "1")),
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_an_export_is_read(tmp_path: Path, name: str) -> None:
    text, kind, wanted = FILES[name]
    place = tmp_path / ("annotated_instances.jsonl" if name == "potato-lines.jsonl" else name)
    place.write_text(text)
    content = read(place)
    assert (content.format, held(content)) == (kind, wanted)


def test_an_output_that_nobody_graded_has_not_failed(tmp_path: Path) -> None:
    results = [
        {"promptIdx": 0, "testIdx": 0, "success": True},
        {"promptIdx": 0, "testIdx": 1, "success": False},
        {"promptIdx": 0, "testIdx": 2, "gradingResult": None},
    ]
    path = tmp_path / "promptfoo.json"
    path.write_text(json.dumps({"evalId": "e", "results": {"results": results}}))
    content = read(path, format="promptfoo")
    assert held(content) == (2, 2, 1, ("fail", "pass"))
    assert "1 outcome left out: neither passed nor failed" in " ".join(content.notes)


def test_an_archive_of_inspect(tmp_path: Path) -> None:
    log = json.loads(FILES["inspect.json"][0])
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        archive.writestr("header.json", json.dumps({"eval": log["eval"]}))
        for sample in log["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    (tmp_path / "log.eval").write_bytes(body.getvalue())
    content = read(tmp_path / "log.eval")
    assert (content.format, held(content)) == ("inspect", (4, 2, 2, ("C", "I")))


def test_a_file_a_person_in_an_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "doccano.zip", "w") as archive:
        for name, label in (("ann", "pos"), ("bob", "neg")):
            archive.writestr(f"{name}.jsonl", lines({"id": 1, "text": "a", "label": [label]}))
    content = read(tmp_path / "doccano.zip")
    assert held(content) == (2, 1, 2, ("neg", "pos"))


def test_several_scores_are_several_questions(tmp_path: Path) -> None:
    found = json.loads(FILES["langfuse.json"][0])
    found["data"].append({**found["data"][0], "name": "toxic"})
    (tmp_path / "s.json").write_text(json.dumps(found))
    with pytest.raises(Exception, match=r"2 scores \(helpful, toxic\)"):
        read(tmp_path / "s.json")
    assert held(read(tmp_path / "s.json", question="toxic"))[0] == 1


def test_ratings_for_a_ranking_evaluation(tmp_path: Path) -> None:
    place = tmp_path / "gold.csv"
    place.write_text("topic,document,label,probability\nq1,a,2,.9\nq1,b,0,.8\n")
    content = read(place, wanted="labels")
    write(Content(labels=content.labels), tmp_path / "r.json", format="rank-eval")
    made = json.loads((tmp_path / "r.json").read_text())
    assert made["requests"][0]["ratings"] == [
        {"_index": "INDEX", "_id": "a", "rating": 2},
        {"_index": "INDEX", "_id": "b", "rating": 0},
    ]
