"""What is read from the sample of every format, and from exports of tools, by hand."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjudge.data.formats import Content, read, write
from adjudge.data.model_answers import ModelAnswers
from format_samples import SAMPLES
from reading import complaint, judgments_in


def held(content: Content) -> tuple[int, int, int, tuple[str, ...]]:
    judgments = judgments_in(content)
    counts = (len(judgments), judgments.item_count, judgments.judge_count)
    return (*counts, content.options or judgments.scale.labels)


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def prodigy(number: int, session: str, **more: Any) -> dict[str, Any]:
    base = {"text": f"t{number}", "_input_hash": number, "_task_hash": 10 + number}
    return base | {"_session_id": session, "answer": "accept"} | more


CHOICES = [{"id": "A", "text": "a"}, {"id": "B", "text": "b"}]
LS = {"annotation_id": 1, "created_at": "2024-01-01T00:00:00Z", "lead_time": 2.5}
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
}
READ = {  # what the sample of each format holds: kind, counts of rows, items and judges, labels
    "csv": ("judgments", 12, 4, 3, "0 < 1"),
    "tsv": ("judgments", 12, 4, 3, "0 < 1"),
    "jsonl": ("judgments", 12, 4, 3, "0 < 1"),
    "json": ("judgments", 12, 4, 3, "0 < 1"),
    "parquet": ("judgments", 12, 4, 3, "0 < 1"),
    "wide": ("judgments", 36, 12, 3, "0 < 1"),
    "matrix": ("judgments", 36, 12, 3, "0 < 1"),
    "crowd-kit": ("judgments", 12, 4, 3, "0 < 1"),
    "consensus": ("labels", 12),
    "consensus-jsonl": ("labels", 12),
    "consensus-parquet": ("labels", 12),
    "trec-rf10": ("judgments", 12, 12, 3, "-2 < 0 < 1 < 2"),
    "trec-2011": ("judgments", 12, 12, 3, "0 < 1"),
    "trec-2011-submission": ("labels", 12),
    "qrels": ("gold", 12),
    "run": ("run", 12),
    "beir": ("gold", 12),
    "mturk": ("judgments", 12, 4, 3, "0 < 1"),
    "appen": ("judgments", 12, 4, 3, "0 < 1"),
    "appen-aggregated": ("gold", 12),
    "toloka": ("judgments", 12, 4, 3, "0 < 1"),
    "kaggle": ("gold", 12),
    "label-studio": ("judgments", 8, 4, 2, "0 < 1"),
    "label-studio-flat": ("judgments", 12, 4, 3, "neg, pos"),
    "doccano": ("judgments", 12, 12, 1, "l0, l1"),
    "prodigy": ("judgments", 12, 12, 3, "accept, reject"),
    "potato": ("judgments", 12, 12, 1, "yes"),
    "langfuse": ("judgments", 12, 4, 3, "0 < 1"),
    "inspect": ("judgments", 24, 12, 2, "C, I"),
    "promptfoo": ("judgments", 24, 12, 2, "fail, pass"),
    "promptfoo-csv": ("judgments", 6, 6, 1, "fail, pass"),
    "umbrela": ("judgments", 12, 4, 3, "0 < 1 < 2"),
    "argilla": ("judgments", 24, 12, 2, "0 < 1"),
    "nested": ("judgments", 24, 12, 2, "0 < 1 < 2"),
    "quepid-case": ("gold", 12),
    "quepid-book": ("judgments", 24, 12, 2, "0 < 1"),
    "quepid-book-json": ("judgments", 12, 12, 1, "0 < 1"),
    "quepid-case-json": ("judgments", 8, 8, 1, "0 < 1"),
    "quepid-static": ("run", 12),
    "rank-eval": ("gold", 8),
    "opensearch": ("gold", 8),
    "alt-test": ("judgments", 12, 4, 3, "0 < 1"),
    "pairs": ("comparisons", 6),
    "evalica": ("comparisons", 3),
    "crowd-kit-pairs": ("comparisons", 3),
    "arena": ("comparisons", 3),
    "mt-bench": ("comparisons", 6),
}


def counted(content: Content) -> tuple[object, ...]:
    """Return the kind of what a content holds, how much of it, and the scale."""
    judgments = content.judgments
    if judgments is not None:
        counts = (len(judgments), judgments.item_count, judgments.judge_count)
        return ("judgments", *counts, str(judgments.scale))
    kinds = ("comparisons", "gold", "labels", "run")
    kind = next(kind for kind in kinds if getattr(content, kind) is not None)
    return (kind, len(getattr(content, kind)))


@pytest.mark.parametrize("name", READ)
def test_the_sample_of_a_format_is_read(tmp_path: Path, name: str) -> None:
    file, body = SAMPLES[name]
    (tmp_path / file).write_bytes(body)
    assert counted(read(tmp_path / file)) == READ[name]


@pytest.mark.parametrize("name", FILES)
def test_an_export_is_read(tmp_path: Path, name: str) -> None:
    text, kind, held_parts = FILES[name]
    (tmp_path / name).write_text(text)
    content = read(tmp_path / name)
    assert (content.format, held(content)) == (kind, held_parts)


def test_an_ungraded_output_has_not_failed(tmp_path: Path) -> None:
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


def graded(number: int, kind: str, asked: Any = None, **more: Any) -> dict[str, Any]:
    """Return an output of promptfoo with one verdict of a grader."""
    assertion = {"type": kind} | ({} if asked is None else {"provider": asked})
    part = {"pass": number % 2 == 0, "assertion": assertion, "tokensUsed": {"total": 30}}
    about = {"promptIdx": 0, "testIdx": number, "cost": 0.5, **more}
    return about | {"gradingResult": {"pass": True, "componentResults": [part]}}


def scored(number: int, source: str, metadata: dict[str, Any], **more: Any) -> dict[str, Any]:
    about = {"traceId": f"t{number}", "name": "helpful", "value": number % 2, "source": source}
    return about | {"metadata": metadata} | more


def inspected(grader: dict[str, Any], number: int = 0, cost: float | None = 0.01) -> dict[str, Any]:
    said = [{"role": "user"}, {"role": "assistant", "model": "small-2026"}]
    scores = {"model_graded_qa": {"value": "C", "metadata": {"grading": said}}, "match": "I"}
    used = {"grader": {"total_cost": cost, "total_tokens": 9}}
    sample = {"id": number, "epoch": 1, "scores": scores, "role_usage": used}
    scorer = {"name": "inspect_ai/model_graded_qa", "options": grader}
    about = {"model": "big", "scorers": [{"name": "match"}, scorer]}
    roles = {"model_roles": {"grader": {"model": "small"}}}
    return {"status": "success", "eval": {"task": "t", **about, **roles}, "samples": [sample]}


OPTIONS = {"testCase": {"options": {"provider": {"id": "small"}}}}
ANSWERS: dict[str, tuple[str, Any, list[tuple[str, str, str, str, float, float, float]]]] = {
    # By judge: name, model, prompt, version, its cost, tokens and highest confidence; -1 unknown.
    "a grader of promptfoo": (
        "promptfoo",
        [
            graded(1, "llm-rubric", "small"),
            graded(2, "llm-rubric", {"text": {"id": "big"}}),
            graded(3, "llm-rubric", ["big"]),
        ],
        [
            ("small/llm-rubric", "small", "llm-rubric", "", -1, 30, -1),
            ('["big"]/llm-rubric', '["big"]', "llm-rubric", "", -1, 30, -1),
            ("big/llm-rubric", "big", "llm-rubric", "", -1, 30, -1),
        ],
    ),
    "the grader of a test of promptfoo": (
        "promptfoo",
        [graded(1, "not-llm-rubric", **OPTIONS), graded(2, "contains", **OPTIONS)],
        [
            ("small/not-llm-rubric", "small", "not-llm-rubric", "", -1, 30, -1),
            ("contains", "", "", "", -1, -1, -1),
        ],
    ),
    "evaluators of Langfuse": (
        "langfuse",
        [scored(1, "EVAL", {}, evaluatorId="e1"), scored(2, "EVAL", {}, evaluatorId="e2")],
        [("e1", "", "", "", -1, -1, -1), ("e2", "", "", "", -1, -1, -1)],
    ),
    "models of Langfuse": (
        "langfuse",
        [
            scored(1, "EVAL", {"model": "small", "cost": 0.5, "confidence": 0.75}),
            scored(1, "EVAL", {"model": "big", "prompt": "p1", "version": "7"}),
            scored(2, "API", json.dumps({"model": "big", "prompt": "p2", "confidence": "high"})),
        ],
        [
            ("small/EVAL", "small", "EVAL", "", 0.5, -1, 0.75),
            ("big/EVAL", "big", "p1", "7", -1, -1, -1),
            ("big/API", "big", "p2", "", -1, -1, -1),
        ],
    ),
    "a grader of Inspect": (
        "inspect",
        inspected({"model": "large"}),
        [
            ("large/model_graded_qa", "large", "model_graded_qa", "small-2026", 0.01, 9, -1),
            ("match", "", "", "", -1, -1, -1),
        ],
    ),
    "the role of a grader of Inspect": (
        "inspect",
        inspected({}, cost=None),
        [
            ("small/model_graded_qa", "small", "model_graded_qa", "small-2026", -1, 9, -1),
            ("match", "", "", "", -1, -1, -1),
        ],
    ),
    "metrics of deepeval": (
        "deepeval",
        {"testCases": [
            {"name": f"c{n}", "metricsData": [
                {"name": "Bias", "success": True, "evaluationModel": m, "evaluationCost": 0.25}
            ]} for n, m in enumerate(("small", "big", "big"))
        ]},
        [
            ("small/Bias", "small", "Bias", "", 0.25, -1, -1),
            ("big/Bias", "big", "Bias", "", 0.5, -1, -1),
        ],
    ),
    "prompts of UMBRELA, which are texts of items": (
        "umbrela",
        [
            {"model": "small", "query": "q", "passage": f"p{n}", "prompt": f"Is p{n} good?",
             "judgment": n} for n in range(3)
        ],
        [("small", "small", "", "", -1, -1, -1)],
    ),
    "weighted preferences of AlpacaEval": (
        "alpacaeval",
        [
            {"instruction": f"q{n}", "generator_1": "a", "generator_2": "b", "annotator": "gpt",
             "preference": given, "price_per_example": 0.25} for n, given in enumerate((1.25, 2))
        ],
        [("gpt", "", "", "", 0.5, -1, 0.75)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_an_evaluation_names_its_models(tmp_path: Path, name: str) -> None:
    kind, held, expected = ANSWERS[name]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(held))
    found = ModelAnswers.load(path, format=kind)
    judge = found.judgments.judge
    numbers = [
        [-1.0 if values is None or np.isnan(own := values[judge == code]).all() else total(own)
         for values, total in
         ((found.cost, np.nansum), (found.tokens, np.nansum), (found.confidence, np.nanmax))]
        for code in range(found.judgments.judge_count)
    ]  # fmt: skip
    names = found.judgments.judges.to_pylist()
    parts = zip(names, found.model, found.prompt, found.version, numbers, strict=True)
    assert {(*about, *values) for *about, values in parts} == set(expected)
    if kind != "alpacaeval":
        assert set(judgments_in(read(path, format=kind)).judges.to_pylist()) == set(names)


def test_numbers_of_a_judge_that_are_none_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    path.write_text(json.dumps([scored(n, "EVAL", {"confidence": "high"}) for n in (1, 2)]))
    assert "2 confidences left out: not a number" in ModelAnswers.load(path).notes


def test_annotations_of_langfuse_are_by_people(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    scores = [scored(1, "EVAL", {"model": "m"}), scored(1, "ANNOTATION", {}, authorUserId="ann")]
    path.write_text(json.dumps(scores))
    judgments = ModelAnswers.load(path).judgments
    assert judgments.kind is not None
    assert dict(zip(judgments.judges.to_pylist(), judgments.kind.tolist(), strict=True)) == {
        "m/EVAL": 1,
        "ann": 0,
    }


def test_several_evaluations_keep_their_models(tmp_path: Path) -> None:
    paths = []
    for model in ("small", "big"):
        paths.append(tmp_path / f"{model}.json")
        paths[-1].write_text(json.dumps([graded(1, "llm-rubric", model)]))
    found = ModelAnswers.load(paths)
    assert set(found.model) == {"small", "big"}
    assert found.tokens is not None
    assert found.tokens.tolist() == [30, 30]


def test_an_archive_of_inspect(tmp_path: Path) -> None:
    log = json.loads(SAMPLES["inspect"][1])
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        archive.writestr("header.json", json.dumps({"eval": log["eval"]}))
        for sample in log["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    (tmp_path / "log.eval").write_bytes(body.getvalue())
    content = read(tmp_path / "log.eval")
    assert (content.format, held(content)) == ("inspect", (24, 12, 2, ("C", "I")))


def test_a_file_a_person_in_an_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "doccano.zip", "w") as archive:
        for name, label in (("ann", "pos"), ("bob", "neg")):
            archive.writestr(f"{name}.jsonl", lines({"id": 1, "text": "a", "label": [label]}))
    content = read(tmp_path / "doccano.zip")
    assert held(content) == (2, 1, 2, ("neg", "pos"))


def test_ratings_for_a_ranking_evaluation(tmp_path: Path) -> None:
    place = tmp_path / "gold.csv"
    place.write_text("topic,document,label,probability\nq1,a,2,.9\nq1,b,0,.8\n")
    content = read(place, kind="labels")
    write(Content(labels=content.labels), tmp_path / "r.json", format="rank-eval")
    made = json.loads((tmp_path / "r.json").read_text())
    assert made["requests"][0]["ratings"] == [
        {"_index": "INDEX", "_id": "a", "rating": 2},
        {"_index": "INDEX", "_id": "b", "rating": 0},
    ]


def kept(folder: Path, content: Any) -> Path:
    path = folder / "people.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_judges_items_and_labels(tmp_path: Path) -> None:
    path = kept(tmp_path, {"ann": {"a": 3, "b": 1.0}, "bob": {"a": 2, "c": None}})
    content = read(path)
    assert content.format == "alt-test"
    assert sorted(zip(*judgments_in(content).to_table().to_pydict().values(), strict=True)) == [
        ("a", "ann", "3"),
        ("a", "bob", "2"),
        ("b", "ann", "1"),
    ]
    assert str(judgments_in(content).scale) == "1 < 2 < 3"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"ann": {"a": 1}, "bob": 3}', ", judge 'bob', item 1: not-an-object"),
        ('{"ann": {"a": 1, "b": [1, 2]}}', ", judge 'ann', item 'b': not-one-label"),
        ('{"ann": {"a": null}}', ": no-judgments"),
        ('{"ann": {"a": 1}', ", line 1: invalid-json"),
        ('{"ann": {"a": 1, "b": "x"}}', ", judge 'ann', item 'b', column label: mixed-labels"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, content: str, message: str) -> None:
    assert complaint(read, kept(tmp_path, content)) == f"people.json{message}"
