"""Every real file that new users tried: read, asked about with an option that works, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adjudge.data.formats import Content, read
from adjudge.errors import BadData

TRIVIA = (
    "JudgeLM,Gemma-2B,Llama3-70B,Llama-70B,GPT-4,Llama-7B,Llama3-8B,Llama-13B,Mistral-7B,Human-Eval"
)
NUMBERED = {"header": False, "columns": {"judge": "1", "item": "2", "label": "3"}}
READ: dict[str, tuple[str | int, ...]] = {  # kind, judgments, items, judges, labels, gold
    "files/beir-scifact-test.tsv": ("beir", 0, 339, 0, 1, 339),
    "files/crowdflower-binary.csv": ("appen", 150, 10, 67, 2, 0),
    "files/crowdflower-multi-select.csv": ("appen", 14 * 150, 14 * 10, 67, 2, 0),
    "files/doccano.csv": ("csv", 3, 3, 1, 2, 0),
    "files/doccano.jsonl": ("doccano", 3, 3, 1, 2, 0),
    "files/get-another-label-gold.txt": ("headerless", 0, 1000, 0, 2, 1000),
    "files/get-another-label.txt": ("headerless", 5000, 1000, 83, 2, 0),
    "files/headerless.csv": ("headerless", 15567, 2665, 177, 5, 0),
    "files/item-worker-label-truth.csv": ("csv", 0, 108, 0, 2, 108),
    "files/item-worker-label.csv": ("csv", 4212, 108, 39, 2, 0),
    "files/label-studio.json": ("label-studio", 4, 2, 2, 1, 0),
    "files/mace-example.csv": ("matrix", 1000, 100, 20, 4, 0),
    "files/mace-wsd.csv": ("matrix", 1770, 177, 34, 3, 0),
    "files/mturk-batch.csv": ("mturk", 2805, 281, 79, 3, 0),
    "files/mturk-minimal.csv": ("mturk", 63, 7, 17, 5, 0),
    "files/opensearch-judgments.json": ("opensearch", 0, 40, 0, 6, 40),
    "files/own-platform-multiple-choice.csv": ("csv", 27 * 1000, 27 * 50, 54, 2, 0),
    "files/potato": ("potato", 12, 6, 2, 3, 0),
    "files/promptfoo.csv": ("promptfoo-csv", 10, 10, 1, 2, 0),
    "files/promptfoo.json": ("promptfoo", 8, 8, 1, 1, 0),
    "files/qrels-odd.txt": ("qrels", 0, 118, 0, 13, 118),
    "files/qrels.txt": ("qrels", 0, 3681, 0, 2, 3681),
    "files/quepid-book.json.zip": ("quepid-book-json", 1920, 2420, 13, 4, 0),
    "files/quepid-case.json.zip": ("quepid-case-json", 1679, 1679, 3, 4, 0),
    "files/quepid-static.csv": ("quepid-static", 0, 3, 0, 0, 0),
    "files/spark-crowd-binary-ann.parquet": ("parquet", 10000, 1000, 10, 2, 0),
    "files/spark-crowd-binary-gt.parquet": ("parquet", 0, 1000, 0, 2, 1000),
    "files/spark-crowd-cont-ann.parquet": ("parquet", 10000, 1000, 10, 10000, 0),
    "files/spark-crowd-cont-gt.parquet": ("parquet", 0, 1000, 0, 1000, 1000),
    "files/spark-crowd-multi-ann.parquet": ("parquet", 10000, 1000, 10, 3, 0),
    "files/spark-crowd-multi-gt.parquet": ("parquet", 0, 1000, 0, 3, 1000),
    "files/trec-run.txt": ("run", 0, 1500, 0, 0, 0),
    "files-2/alpacaeval-annotations.json": ("alpacaeval", 25, 2, 1, 0, 0),
    "files-2/biggen-evals.json": ("json", 25, 25, 1, 1, 0),
    "files-2/ct-rte.csv": ("csv", 160, 16, 40, 2, 16),
    "files-2/davidson-counts.csv": ("wide", 508, 160, 1, 3, 0),
    "files-2/deepeval-run.json": ("deepeval", 2, 1, 2, 2, 0),
    "files-2/judgebench.jsonl": ("judgebench", 49, 25, 1, 3, 25),
    "files-2/lewidi-csc.json": ("nested", 110, 25, 106, 6, 0),
    "files-2/lewidi-paraphrase.json": ("nested", 200, 50, 4, 11, 0),
    "files-2/pandalm-testset.json": ("wide", 75, 25, 3, 2, 0),
    "files-2/snow-valence.tsv": ("tsv", 160, 16, 10, 46, 16),
}
ASKED: dict[str, tuple[str, str, dict[str, Any], tuple[str | int, ...]]] = {
    # The code of the question, the setting that it names, an answer, and what is read then.
    "files/label-studio-export.csv": (
        *("several-questions", "columns", {"columns": {"label": "alternative_titles"}}),
        ("label-studio-flat", 2, 2, 1, 1, 0),
    ),
    "files/qrels-groups.txt": (
        *("negative-label", "drop-label", {"drop_labels": ["-1"]}),
        ("qrels", 10362, 3733, 3, 7, 0),
    ),
    "files-2/act-ms.csv": ("no-header", "header", NUMBERED, ("csv", 161, 157, 6, 10, 0)),
    "files-2/act-zencrowd.csv": ("no-header", "header", NUMBERED, ("csv", 161, 36, 10, 2, 0)),
    "files-2/appen-nyt.csv": (
        *("several-questions", "question", {"question": "relevance"}),
        ("appen", 160, 11, 25, 3, 0),
    ),
    "files-2/do-not-answer.csv": (
        *("unclear-columns", "questions-are", {"questions_are": "*_harmful"}),
        ("wide", 960, 960, 1, 2, 0),
    ),
    "files-2/evalica-codings.csv": (
        *("unclear-columns", "transpose", {"transpose": True}),
        ("matrix", 41, 12, 4, 5, 0),
    ),
    "files-2/lemur-mturk_cast_all.csv": (
        *("unclear-columns", "questions-are", {"questions_are": "score*"}),
        ("wide", 800, 653, 1, 5, 0),
    ),
    "files-2/ls-gts.json": (
        *("bad-id", "skip-bad-rows", {"skip_bad": True}),
        ("label-studio", 3, 3, 1, 1, 2),
    ),
    "files-2/made-criteria.csv": (
        *("unclear-columns", "questions-are", {"questions_are": "relevance,fluency,coherence"}),
        ("wide", 300, 300, 1, 4, 0),
    ),
    "files-2/made-wide-final.csv": (
        *("unclear-columns", "judges-are", {"judges_are": "alice,bob"}),
        ("wide", 200, 100, 2, 4, 0),
    ),
    "files-2/made-wide-rank.csv": (
        *("unclear-columns", "judges-are", {"judges_are": ["alice", "bob"]}),
        ("wide", 200, 100, 2, 4, 0),
    ),
    "files-2/trivia-judges.csv": (
        *("unclear-columns", "judges-are", {"judges_are": TRIVIA}),
        ("wide", 1600, 160, 10, 2, 0),
    ),
    "files-2/wmt-mqm.tsv": (
        *("incomplete-item", "columns", {"columns": {"item": "system,doc,seg_id"}}),
        ("tsv", 160, 125, 6, 10, 0),
    ),
}
REFUSED = {
    "files-2/lemur-all_random.csv": "two-values",
    "files-2/neg-leaderboard.csv": "unknown-format",
    "files-2/neg-students.csv": "unclear-columns",
    "files-2/neg-votes.csv": "unknown-format",
    "files-2/prometheus-pairwise.json": "unknown-format",
}


def counts(content: Content) -> tuple[str | int, ...]:
    """Return kind, judgments (or comparisons), items, judges, labels and gold."""
    gold = 0 if content.gold is None else len(content.gold)
    if content.judgments is not None:
        held = content.judgments
        many = (len(held), held.item_count, held.judge_count, len(held.scale.labels))
    elif content.comparisons is not None:
        pairs = content.comparisons
        many = (len(pairs), pairs.item_count, pairs.judge_count, 0)
    elif content.gold is not None:
        many = (0, gold, 0, len(content.gold.values))
    else:
        many = (0, 0 if content.run is None else len(content.run), 0, 0)
    return (content.format, *many, gold)


@pytest.mark.parametrize("name", READ)
def test_it_is_read(shared_data: Path, name: str) -> None:
    assert counts(read(shared_data / name)) == READ[name]


@pytest.mark.parametrize("name", ASKED)
def test_it_is_asked_about_and_an_answer_reads_it(shared_data: Path, name: str) -> None:
    code, setting, answer, expected = ASKED[name]
    with pytest.raises(BadData) as caught:
        read(shared_data / name)
    assert caught.value.code == code
    assert setting in [remedy.setting for remedy in caught.value.remedies]
    assert counts(read(shared_data / name, **answer)) == expected


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(shared_data: Path, name: str) -> None:
    with pytest.raises(BadData) as caught:
        read(shared_data / name)
    assert caught.value.code == REFUSED[name]


def test_every_file_is_listed(shared_data: Path) -> None:
    held = {f"{folder}/{p.name}" for folder in ("files", "files-2") for p in
            (shared_data / folder).iterdir()}  # fmt: skip
    assert held - {"files-2/README.md"} == READ.keys() | ASKED.keys() | REFUSED.keys()
