"""Thresholds tuned inside cross-validation: nothing leaks, ties go to the gentler."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adjudge import BadData, BadSetting, Gold, Judgments, Scale
from adjudge.data.formats import read
from adjudge.data.names import look_up
from adjudge.evaluation.tuning import ALPHAS, GAMMAS, Tuner
from adjudge.models.weighting import AccuracyFilter, Feature, Product, ZScore, parse_weight
from adjudge.simulation import Crowd, Population

BINARY = "binary-accuracy-gold"


@pytest.fixture(scope="module")
def crowd():
    population = Population.parse("skilled(9,1):15,spammer:15")
    return Crowd(items=600, population=population, gold=0.5, per_item=5).make(seed=4)


def by_accuracy(alpha: float) -> AccuracyFilter:
    return AccuracyFilter(alpha=alpha)


def test_a_tuned_filter_beats_no_filter(crowd) -> None:
    tuner = Tuner(crowd.judgments, crowd.gold, seed=1)
    plain = tuner.tune(None, (), measure="binary")
    tuned = tuner.tune(lambda g: ZScore(BINARY, gamma=g), GAMMAS, measure="binary")
    assert tuned.mean > plain.mean + 0.03
    assert len(tuned.thresholds) == 5
    assert set(tuned.thresholds) <= set(GAMMAS)
    assert plain.thresholds == ()
    assert min(tuned.dropped) > 0
    flipped = Tuner(crowd.judgments, crowd.gold, seed=1, flip=True)
    accuracy = flipped.tune(by_accuracy, ALPHAS, Feature(BINARY), measure="binary", gentler="lower")
    assert accuracy.mean > plain.mean + 0.03
    assert tuned.sd >= 0


def test_equal_thresholds_yield_to_the_gentler() -> None:
    """Judges who are all alike: no threshold matters, so the one that drops fewest is taken."""
    rows = [(f"i{n}", judge, n % 2) for n in range(40) for judge in ("a", "b", "c")]
    item, judge, label = zip(*rows, strict=True)
    table = Judgments.from_table({"item": item, "judge": judge, "label": label})
    gold = Gold.of({f"i{n}": n % 2 for n in range(40)})
    tuner = Tuner(table, gold)
    by_score = tuner.tune(lambda g: ZScore(BINARY, gamma=g), GAMMAS, measure="binary")
    assert set(by_score.thresholds) == {4.0}
    flipped = Tuner(table, gold, flip=True)
    tuned = flipped.tune(by_accuracy, ALPHAS, measure="binary", gentler="lower")
    assert set(tuned.thresholds) == {0.60}


def test_the_test_fold_never_tunes(crowd) -> None:
    """Gold of the outer fold turned upside down changes no threshold of that fold."""
    tuner = Tuner(crowd.judgments, crowd.gold, seed=1)
    honest = tuner.tune(lambda g: ZScore(BINARY, gamma=g), GAMMAS, measure="binary")
    spoilt = Tuner(crowd.judgments, crowd.gold, seed=1)
    other = np.append(spoilt.fold == 0, False)[spoilt._place]
    spoilt.gold = replace(
        spoilt.gold, value=np.where(other, 1 - spoilt.gold.value, spoilt.gold.value)
    )
    spoilt.truth = np.where(spoilt.fold == 0, 1 - spoilt.truth, spoilt.truth)
    again = spoilt.tune(lambda g: ZScore(BINARY, gamma=g), GAMMAS, measure="binary")
    assert again.thresholds[0] == honest.thresholds[0]
    assert again.accuracy[0] == pytest.approx(1 - honest.accuracy[0])


def test_votes_that_are_kept_change_nothing(crowd) -> None:
    """Filters, weights and measures in turn on one tuner, as each alone on a new one."""
    one = Tuner(crowd.judgments, crowd.gold, seed=1)
    for weight in (None, Feature(BINARY), None):
        for measure in ("graded", "binary"):
            both = [
                tuner.tune(lambda g: ZScore(BINARY, gamma=g), GAMMAS[::8], weight, measure=measure)
                for tuner in (one, Tuner(crowd.judgments, crowd.gold, seed=1))
            ]
            assert both[0].thresholds == both[1].thresholds
            assert both[0].fallback == both[1].fallback
            assert np.array_equal(both[0].correct, both[1].correct)


def test_what_cannot_be_tuned_is_refused(crowd) -> None:
    with pytest.raises(BadData, match="there is no gold for any judged item"):
        Tuner(crowd.judgments, Gold.of({"elsewhere": 1}))
    with pytest.raises(BadSetting, match="at least 3: two to choose by, one to score"):
        Tuner(crowd.judgments, crowd.gold, folds=2)
    with pytest.raises(BadSetting, match="at least one to choose from"):
        Tuner(crowd.judgments, crowd.gold).tune(lambda g: ZScore(BINARY, gamma=g), ())


@pytest.mark.slow
def test_the_level_of_the_zscore_paper_is_passed(shared_data: Path) -> None:
    """Published bests: .5194 graded, .6875 binary; the level to reach here is .54 and .705."""
    full = read(shared_data / "trec-rf10" / "judgments.tsv")
    chosen = np.zeros(full.judgments.item_count, dtype=np.bool_)
    chosen[look_up(full.gold.items, full.judgments.items)] = True
    labels = full.judgments.scale.labels
    scale = Scale(
        labels=labels,
        ordinal=True,
        truths=("0", "1", "2"),
        truth_of=(-1, 0, 1, 2),
        relevant=("1", "2"),
    )
    table = full.judgments.select(items=chosen).with_scale(scale)
    weight = parse_weight("graded-accuracy-gold^2*binary-accuracy-gold^2")
    found = {}
    for measure in ("graded", "binary"):
        means = []
        for seed in (1, 2, 3):
            tuner = Tuner(table, full.gold, seed=seed, shrink=5.0)
            make = lambda g: ZScore("graded-accuracy-gold", gamma=g)  # noqa: E731
            means.append(tuner.tune(make, GAMMAS, weight, measure=measure).mean)
        found[measure] = np.mean(means)
    assert found["graded"] >= 0.54
    assert found["binary"] >= 0.705
    plain = Tuner(table, full.gold, seed=1).tune(None, ())
    assert plain.mean == pytest.approx(0.46, abs=0.01)
    assert isinstance(weight, Product)
