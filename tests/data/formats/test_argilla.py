"""Argilla records, flattened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.data.formats import read
from reading import complaint, judged, judgments_in


def record(
    number: object, answers: list[tuple[str, object, str]], **more: object
) -> dict[str, Any]:
    return {
        "id": number,
        "status": "completed",
        "_server_id": f"uuid-{number}",
        "query": "red dress",
        "text": f"text {number}",
        "score": 0.5,
        "relevance.responses": [value for _, value, _ in answers] or None,
        "relevance.responses.users": [user for user, _, _ in answers] or None,
        "relevance.responses.status": [status for _, _, status in answers] or None,
        "relevance.suggestion": None,
        "relevance.suggestion.agent": None,
        "relevance.suggestion.score": None,
    } | more


def records(folder: Path, *entries: object, lines: bool = False) -> Path:
    path = folder / ("records.jsonl" if lines else "records.json")
    text = "\n".join(json.dumps(e) for e in entries) if lines else json.dumps(entries, indent=1)
    path.write_text(text + "\n")
    return path


@pytest.mark.parametrize("lines", [False, True])
def test_submitted_responses_are_judgments(tmp_path: Path, lines: bool) -> None:
    path = records(
        tmp_path,
        record(
            "r1",
            [
                ("u1", "yes", "submitted"),
                ("u2", "no", "submitted"),
                ("u3", "no", "draft"),
                ("u4", "no", "discarded"),
                ("u5", None, "submitted"),
            ],
        ),
        record("r2", [("u1", ["no"], "submitted")]),
        record("r3", []),
        lines=lines,
    )
    content = read(path)
    assert content.format == "argilla"
    assert judged(content) == {("r1", "u1", "yes"), ("r1", "u2", "no"), ("r2", "u1", "no")}
    judgments = judgments_in(content)
    assert judgments.topics.to_pylist() == ["red dress"]
    assert judgments.fields.to_pylist() == [
        {"query": "red dress", "text": "text r1", "score": "0.5"},
        {"query": "red dress", "text": "text r2", "score": "0.5"},
    ]
    assert set(content.notes) == {
        "1 response left out: draft, not submitted",
        "1 response left out: discarded, not submitted",
        "1 response left out: no answer",
    }


def test_suggestions_of_an_agent_are_judgments(tmp_path: Path) -> None:
    named = {"relevance.suggestion": 3, "relevance.suggestion.agent": "gpt"}
    path = records(
        tmp_path,
        record(1, [("u1", 2, "submitted")], **named),
        record(2, [("u1", 2, "submitted")], **{"relevance.suggestion": 1}),
    )
    content = read(path)
    assert judged(content) == {("1", "u1", "2"), ("1", "gpt", "3"), ("2", "u1", "2")}
    assert content.notes == ("1 suggestion left out: no agent is named",)


def test_faults_name_their_record(tmp_path: Path) -> None:
    path = records(
        tmp_path,
        record(1, [("u1", ["a", "b"], "submitted"), ("u2", "a", "submitted")]),
        record(2, [("u1", {"a": 1}, "submitted")]),
        record(3, [("u1", "a", "submitted")], **{"relevance.responses.users": []}),
        record(None, [("u1", "a", "submitted")]),
        record(5, [("u1", "a", "submitted")], **{"relevance.responses": "a"}),
        7,
    )
    places = [
        "records.json, record 1, response 1",
        "records.json, record 2, response 1",
        *(f"records.json, record {number}" for number in (3, 4, 5, 6)),
    ]
    assert complaint(read, path) == f"{places[0]}: not-one-label"
    content = read(path, skip_bad=True)
    assert judged(content) == {("1", "u2", "a")}
    assert [bad.place for bad in content.bad] == places
