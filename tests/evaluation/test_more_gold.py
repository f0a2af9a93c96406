"""What more gold labels would show: the margins are those that an evaluation then reports."""

from __future__ import annotations

from dataclasses import asdict

import pytest

import adjudge
from adjudge import Gold, MajorityVote
from adjudge.evaluation import evaluate
from adjudge.evaluation.against_gold import MoreGold
from adjudge.evaluation.scores import wilson
from gold_panels import drawn, made_panel


def test_without_gold_the_margin_is_that_of_fifty_labels() -> None:
    judgments, _ = made_panel()
    consensus = MajorityVote().fit(judgments)
    found = MoreGold.of(consensus)
    assert found is not None
    share = float(consensus.probability.mean())
    low, high = wilson(50 * share, 50)
    assert asdict(found) == {
        "have": 0,
        "labels": 50,
        "accuracy": pytest.approx(share),
        "margin_now": None,
        "margin": pytest.approx((high - low) / 2),
        "level": 0.95,
    }
    narrow = MoreGold.of(consensus, level=0.5)
    assert narrow is not None
    assert narrow.margin < found.margin


def test_the_margin_is_what_an_evaluation_then_reports() -> None:
    """On average over draws, as far as the probabilities of the fit are right."""
    judgments, gold = made_panel()
    consensus = adjudge.fit(judgments)
    found = MoreGold.of(consensus)
    assert found is not None
    widths = []
    for seed in range(20):
        score = evaluate(consensus, drawn(gold, 50, seed))["accuracy"]
        assert score.low is not None
        assert score.high is not None
        widths.append((score.high - score.low) / 2)
    assert found.margin == pytest.approx(sum(widths) / len(widths), rel=0.25)


def test_gold_there_is_already_counts_and_its_items_do_not() -> None:
    judgments, gold = made_panel()
    few = drawn(gold, 20, 1)
    consensus = MajorityVote().fit(judgments, few)
    found = MoreGold.of(consensus, few)
    assert found is not None
    assert (found.have, found.labels) == (20, 50)
    left = few.align(judgments) < 0
    assert found.accuracy == pytest.approx(float(consensus.probability[left].mean()))
    assert found.margin_now is not None
    assert found.margin_now > found.margin
    assert MoreGold.of(consensus, drawn(gold, 50, 1)) is None


def test_no_more_labels_than_there_are_items() -> None:
    judgments, gold = made_panel(items=30)
    consensus = MajorityVote().fit(judgments)
    found = MoreGold.of(consensus)
    assert found is not None
    assert found.labels == 30
    assert MoreGold.of(consensus, drawn(gold, 21, 1)) is None
    strangers = Gold.of({f"other-{number}": 1 for number in range(60)})
    again = MoreGold.of(consensus, strangers)
    assert again == found
