"""Advice and gold: gold leads where there is enough, wherever it was given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adjudge import Gold, HierarchicalConfusion, Judgments, MajorityVote, Scale
from adjudge.evaluation.diagnosis._evidence import weigh_gold
from adjudge.evaluation.diagnosis.diagnose import diagnose

ITEMS = 60
TRUTH = np.arange(ITEMS) % 2
SKEWED = (np.arange(ITEMS) % 15 == 0).astype(int)  # 4 of 60


def judged(scale: str = "0<1", **judges: np.ndarray) -> Judgments:
    rows = [(f"i{n}", j, str(k)) for j, labels in judges.items() for n, k in enumerate(labels)]
    table = dict(zip(("item", "judge", "label"), map(list, zip(*rows, strict=True)), strict=True))
    return Judgments.from_table(table, scale=Scale.parse(scale))


def gold_of(truth: np.ndarray, count: int = ITEMS) -> Gold:
    return Gold.of({f"i{n}": int(k) for n, k in enumerate(truth[:count])})


def wrong(truth: np.ndarray, *, every: int) -> np.ndarray:
    """Wrong labels of two, but for one item in so many."""
    return np.where(np.arange(ITEMS) // 2 % every == 0, truth, 1 - truth)


def advised(found: Any) -> dict[str, str]:
    return dict(zip(*(found.judges[name].to_pylist() for name in ("judge", "advice")), strict=True))


FOOLED = judged(
    a=wrong(TRUTH, every=6), b=wrong(TRUTH, every=5), c=wrong(TRUTH, every=4), good=TRUTH
)


@pytest.mark.parametrize(
    "model", [MajorityVote(), HierarchicalConfusion(chains=1, warmup=50, draws=50)]
)
def test_gold_leads_where_three_judges_outvote_the_one_who_is_right(model: Any) -> None:
    fit = model.fit(FOOLED)
    before = advised(diagnose(fit, pairs=False))
    assert before["good"] == "drop"
    found = diagnose(fit, gold=gold_of(TRUTH), pairs=False)
    assert advised(found) == {"a": "drop", "b": "drop", "c": "drop", "good": "keep"}
    good = found.judges.to_pylist()[3]
    assert good["why"].startswith("right on 100% (97% to 100%) of 60 gold items")
    assert good["skill_low"] > 0.8


def test_gold_that_the_fit_was_given_counts_as_well() -> None:
    fit = MajorityVote().fit(FOOLED, gold_of(TRUTH, 20))
    assert advised(diagnose(fit, pairs=False))["good"] == "keep"
    evidence = weigh_gold(fit, gold_of(TRUTH, 30), least=10)
    assert evidence.golds.sum(axis=(1, 2)).tolist() == [30.0] * 4
    assert evidence.golds[3].tolist() == [[15.0, 0.0], [0.0, 15.0]]


def test_with_little_gold_the_consensus_counts_too() -> None:
    fit = MajorityVote().fit(FOOLED)
    evidence = weigh_gold(fit, gold_of(TRUTH, 6), least=10)
    assert not evidence.decides.any()
    assert evidence.counts.sum(axis=(1, 2)) == pytest.approx([ITEMS] * 4)
    assert evidence.counts[3] == pytest.approx(np.eye(2) * 3 + fit.evidence[3] * 0.9)


def test_the_consensus_fills_truths_that_gold_lacks_and_no_more() -> None:
    """Gold has 40 of truth 0 and 2 of truth 1; the consensus adds 8 to the latter."""
    truth = (np.arange(ITEMS) >= 38).astype(int)
    given = Gold.of({f"i{n}": int(truth[n]) for n in range(40)})
    fit = MajorityVote().fit(judged(x=truth, y=truth, z=truth))
    evidence = weigh_gold(fit, given, least=10)
    assert evidence.decides.all()
    assert evidence.counts[0] == pytest.approx(np.diag([38.0, 10.0]))


def test_the_commonest_label_alone_is_not_kept_and_not_dropped() -> None:
    """Right on 93% of gold by always giving 0, where 7% are 1."""
    fit = MajorityVote().fit(judged(x=SKEWED, y=SKEWED, lazy=SKEWED * 0))
    assert advised(diagnose(fit, gold=gold_of(SKEWED), pairs=False))["lazy"] == "watch"


def test_few_right_of_many_labels_may_be_skill() -> None:
    """Of ten labels: half right is kept, one in ten is chance."""
    truth = np.arange(200) % 10
    rng = np.random.default_rng(1)
    half = np.where(rng.random(200) < 0.45, truth, rng.integers(0, 10, 200))
    chance = rng.integers(0, 10, 200)
    fit = MajorityVote().fit(judged("0,1,2,3,4,5,6,7,8,9", half=half, chance=chance, same=chance))
    found = diagnose(fit, gold=gold_of(truth, 200), pairs=False)
    assert advised(found) == {"half": "keep", "chance": "drop", "same": "drop"}


def test_flags_are_heeded() -> None:
    fit = MajorityVote().fit(judged(x=TRUTH, y=TRUTH, z=TRUTH))
    found = diagnose(fit, gold=gold_of(TRUTH), pairs=False, flags={"y": ["too fast"]})
    assert advised(found) == {"x": "keep", "y": "watch", "z": "keep"}
    assert found.judges["why"][1].as_py().startswith("too fast; right on ")
