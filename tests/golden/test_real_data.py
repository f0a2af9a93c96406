"""Real crowd judgments: counts as published, accuracies at the level that was measured before.

Accuracies are on all gold items, unsupervised; the levels are those of the specification of the
models: MajorityVote .640 +- .01 and DawidSkene >= .690 on trec-rf10 (binary), >= .925 on rte.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from adjudge import DawidSkene, MajorityVote, SingleConfusion
from adjudge.data.formats import Content, read
from adjudge.data.formats.trec_rf10 import trec_2011_subset
from adjudge.evaluation.against_gold import evaluate


@pytest.fixture(scope="module")
def trec(shared_data: Path) -> Content:
    return trec_2011_subset(read(shared_data / "trec-rf10" / "judgments.tsv"))


def test_trec_binary(trec: Content) -> None:
    vote = evaluate(MajorityVote().fit(trec.judgments), trec.gold)
    assert vote.scored == 3275
    assert vote["expected_accuracy"].value == pytest.approx(0.640, abs=0.01)
    assert vote["accuracy"].value == pytest.approx(0.640, abs=0.01)
    skene = evaluate(DawidSkene().fit(trec.judgments), trec.gold)
    assert skene["accuracy"].value >= 0.690
    topics = evaluate(DawidSkene(by_topic=True).fit(trec.judgments), trec.gold)
    assert topics["accuracy"].value >= 0.690


def test_trec_graded_beats_the_vote(shared_data: Path) -> None:
    content = read(shared_data / "trec-rf10" / "judgments.tsv")
    judgments = content.judgments.without_labels(-2)
    gold = content.gold.select(np.array(content.gold.texts()) != "-2")
    vote = evaluate(MajorityVote().fit(judgments), gold)["accuracy"].value
    skene = evaluate(DawidSkene().fit(judgments), gold)["accuracy"].value
    assert vote == pytest.approx(0.459, abs=0.01)  # majority, measured for peers
    assert skene >= 0.50  # crowd-kit's Dawid-Skene reaches .514


def test_binary_truth_from_graded_labels(shared_data: Path) -> None:
    content = read(shared_data / "trec-rf10" / "judgments.tsv")
    judgments = content.judgments.with_scale(content.judgments.scale.with_binary_truth())
    gold = content.gold.select(np.array(content.gold.texts()) != "-2")
    result = evaluate(DawidSkene().fit(judgments), gold)
    assert judgments.scale.truths == ("0", "1")
    assert result["accuracy"].value >= 0.68


def test_rte(shared_data: Path) -> None:
    content = read(shared_data / "rte" / "judgments.csv")
    assert len(content.judgments) == 8000
    assert evaluate(DawidSkene().fit(content.judgments), content.gold)["accuracy"].value >= 0.925
    vote = evaluate(MajorityVote().fit(content.judgments), content.gold)
    assert vote["expected_accuracy"].value == pytest.approx(0.897, abs=0.0005)


def test_web_relevance(shared_data: Path) -> None:
    content = read(shared_data / "web-relevance" / "judgments.csv")
    judgments = content.judgments
    counts = (len(judgments), judgments.item_count, judgments.judge_count, len(content.gold))
    assert counts == (15567, 2665, 177, 2653)
    vote = evaluate(MajorityVote().fit(judgments), content.gold)["expected_accuracy"].value
    skene = evaluate(DawidSkene().fit(judgments), content.gold)["accuracy"].value
    single = evaluate(SingleConfusion().fit(judgments), content.gold)["accuracy"].value
    assert vote == pytest.approx(0.731, abs=0.0005)
    assert skene >= 0.825
    assert vote < single < skene
