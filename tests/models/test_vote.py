"""Weighted and filtered votes: by hand, their fallbacks, and their text form."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge import BadData, BadSetting, Gold, Judgments, MajorityVote, UnknownName
from adjudge.models.vote import Vote
from adjudge.models.weighting import (
    AccuracyFilter,
    Feature,
    Product,
    ZScore,
    _Both,
    parse_filter,
    parse_weight,
)
from adjudge.simulation import Crowd, Population

GRADED = "graded-accuracy-gold"
BINARY = "binary-accuracy-gold"


@pytest.fixture
def table() -> Judgments:
    """Four gold items g1..g4 (truth 1, 1, 0, 0) and one item 'new' to be voted on."""
    says = {
        "good": [1, 1, 0, 0, 1],
        "fair": [1, 0, 0, 0, 0],
        "poor": [0, 0, 0, 1, 0],
        "none": [None, None, None, None, 0],
    }
    items = ["g1", "g2", "g3", "g4", "new"]
    rows = [
        (item, judge, label)
        for judge, labels in says.items()
        for item, label in zip(items, labels, strict=True)
        if label is not None
    ]
    item, judge, label = zip(*rows, strict=True)
    return Judgments.from_table({"item": item, "judge": judge, "label": label})


@pytest.fixture
def gold() -> Gold:
    return Gold.of({"g1": 1, "g2": 1, "g3": 0, "g4": 0})


def share(model: Vote, table: Judgments, gold: Gold) -> float:
    """The share of label 1 among the votes on the new item."""
    fit = model.fit(table, gold)
    return float(fit.posterior[table.items.to_pylist().index("new"), 1])


def test_weights_by_hand(table: Judgments, gold: Gold) -> None:
    # Accuracies: good 1, fair 3/4, poor 1/4; the judge without gold has their mean, 2/3.
    assert share(Vote(), table, gold) == pytest.approx(1 / 4)
    weights = 1 + 3 / 4 + 1 / 4 + 2 / 3
    assert share(Vote(weight=Feature(BINARY)), table, gold) == pytest.approx(1 / weights)
    squares = 1 + 9 / 16 + 1 / 16 + 4 / 9
    both = Vote(weight=Feature(BINARY) * Feature(BINARY))
    assert share(both, table, gold) == pytest.approx(1 / squares)
    assert share(Vote(weight=f"{BINARY}^2"), table, gold) == pytest.approx(1 / squares)


def test_filters_by_hand(table: Judgments, gold: Gold) -> None:
    # Only good reaches .8; the judge without gold passes.
    fit = Vote(keep=AccuracyFilter(alpha=0.8)).fit(table, gold)
    rows = {row["judge"]: row for row in fit.judges.to_pylist()}
    assert [rows[name]["kept"] for name in ("good", "fair", "poor", "none")] == [
        *(True, False, False, True)
    ]
    assert rows["fair"]["dropped_by"] == BINARY
    assert fit.notes[0] == "2 of 4 judges dropped by accuracy:0.8"
    assert share(Vote(keep="accuracy:0.8"), table, gold) == pytest.approx(1 / 2)
    # Mean 2/3, sd .3118: poor lies (2/3 - 1/4) / .3118 = 1.34 below.
    low = Vote(keep=ZScore(BINARY, gamma=1.3)).fit(table, gold)
    assert [row["kept"] for row in low.judges.to_pylist()] == [True, True, False, True]
    high = Vote(keep=ZScore(BINARY, gamma=1.4)).fit(table, gold)
    assert all(row["kept"] for row in high.judges.to_pylist())


def test_a_z_score_of_both_sides_by_hand(table: Judgments, gold: Gold) -> None:
    # Mean 2/3, sd .3118: poor lies 1.34 below, good (1 - 2/3) / .3118 = 1.07 above, fair .27.
    def kept(**settings) -> list[bool]:
        fit = Vote(keep=ZScore(BINARY, **settings)).fit(table, gold)
        return [row["kept"] for row in fit.judges.to_pylist()]

    assert kept(gamma=1.0) == [True, True, False, True]
    assert kept(gamma=1.0, sides="both") == [False, True, False, True]
    assert kept(gamma=1.2, sides="both") == [True, True, False, True]
    with pytest.raises(BadSetting, match="sides = 'high': expected low or both"):
        ZScore(BINARY, gamma=1.0, sides="high")


def test_a_feature_of_a_weight_can_be_reversed(table: Judgments, gold: Gold) -> None:
    # 1 - accuracy: good 0 (the least weight there is), fair 1/4, poor 3/4, none 1/3 (the mean).
    turned = Vote(weight=f"1-{BINARY}").choose(table, gold).plain
    plain = Vote(weight=BINARY).choose(table, gold).plain
    assert turned.tolist() == pytest.approx((1 - plain).tolist())
    both = Vote(weight=f"1-{BINARY}*{BINARY}").choose(table, gold).plain
    assert both.tolist() == pytest.approx((plain * (1 - plain)).tolist())
    assert parse_weight(str(parse_weight(f"1-{BINARY}^2"))) == Product((f"1-{BINARY}",) * 2)


def test_flipping_uses_a_contrary_judge(table: Judgments, gold: Gold) -> None:
    fit = Vote(weight=Feature(BINARY), flip=True).fit(table, gold)
    rows = {row["judge"]: row for row in fit.judges.to_pylist()}
    assert rows["poor"]["flipped"]
    assert rows["poor"]["weight"] == pytest.approx(0.75)
    # poor's 0 on the new item counts as a 1 of weight 3/4; the mean of 1, 3/4, 3/4 is 5/6.
    expected = (1 + 3 / 4) / (1 + 3 / 4 + 3 / 4 + 5 / 6)
    assert share(Vote(weight=Feature(BINARY), flip=True), table, gold) == pytest.approx(expected)
    three = Judgments.from_table({"item": ["a"] * 3, "judge": list("xyz"), "label": [0, 1, 2]})
    with pytest.raises(BadData, match="only two labels can be flipped"):
        Vote(flip=True).fit(three, Gold.of({"a": 1}))


def test_an_item_without_a_kept_judge_falls_back_and_says_so() -> None:
    rows = {
        "item": ["g1", "g1", "g2", "g2", "lone"],
        "judge": ["good", "bad", "good", "bad", "bad"],
        "label": [1, 0, 0, 1, 1],
    }
    fit = Vote(keep=AccuracyFilter(alpha=0.6)).fit(
        Judgments.from_table(rows), Gold.of({"g1": 1, "g2": 0})
    )
    assert fit.labels["fallback"].to_pylist() == [False, False, True]
    assert fit.labels["label"].to_pylist() == [1, 0, 1]
    assert "1 item had no kept judge: the plain vote counts" in fit.notes


def test_a_filter_that_drops_everybody_is_not_applied(table: Judgments) -> None:
    wrong = Gold.of({"g1": 0, "g2": 0, "g3": 1, "g4": 1})
    alone = table.select(judgments=table.judge != 3)
    fit = Vote(keep=AccuracyFilter(alpha=0.99)).fit(alone, wrong)
    assert fit.notes[0] == "the filter accuracy:0.99 drops every judge: it is not applied"
    assert all(row["kept"] for row in fit.judges.to_pylist())


def test_a_feature_without_variance_keeps_everybody_and_says_so() -> None:
    rows = {"item": ["a", "a", "b", "b"], "judge": ["x", "y"] * 2, "label": [1, 1, 0, 0]}
    fit = Vote(keep=ZScore(GRADED, gamma=0.1)).fit(Judgments.from_table(rows), Gold.of({"a": 1}))
    assert f"{GRADED} is the same for all judges: its Z-score drops nobody" in fit.notes


def test_a_plain_vote_is_the_majority_vote() -> None:
    made = Crowd(items=300, population=Population.parse("skilled:20")).make(seed=1)
    plain, majority = Vote(seed=5).fit(made.judgments), MajorityVote(seed=5).fit(made.judgments)
    assert np.allclose(plain.posterior, majority.posterior)
    assert np.array_equal(plain.choice, majority.choice)


def test_weights_and_filters_beat_the_plain_vote_where_spammers_are() -> None:
    population = Population.parse("skilled(9,1):10,spammer:20")
    made = Crowd(items=1500, population=population, gold=0.3, per_item=5).make(seed=2)
    truth = made.truth.align(made.judgments)
    rest = made.gold.align(made.judgments) < 0
    models = (Vote(), Vote(weight=Feature(BINARY) * Feature(BINARY)), Vote(keep="accuracy:0.7"))
    plain, weighted, filtered = (
        (model.fit(made.judgments, made.gold).choice == truth)[rest].mean() for model in models
    )
    assert plain + 0.03 < weighted
    assert plain + 0.05 < filtered


def test_text_and_values_are_one() -> None:
    assert parse_weight(f"{GRADED}*{BINARY}^2") == Product((GRADED, BINARY, BINARY))
    assert parse_filter("accuracy:0.67") == AccuracyFilter(alpha=0.67)
    both = parse_filter(f"zscore:{GRADED}+{BINARY}:1.5 & accuracy:0.7")
    assert both == _Both((ZScore(GRADED, BINARY, gamma=1.5), AccuracyFilter(alpha=0.7)))
    assert both == ZScore(GRADED, BINARY, gamma=1.5) & AccuracyFilter(alpha=0.7)
    assert parse_filter(str(both)) == both
    sides = ZScore(GRADED, gamma=0.6, sides="both")
    assert parse_filter(f"|zscore|:{GRADED}:0.6") == sides
    assert parse_filter(str(sides)) == sides
    assert Vote(weight=GRADED).weight == Feature(GRADED)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "zscor:x:1",
            "filter = 'zscor:x:1': expected zscore:FEATURE+FEATURE:GAMMA, "
            "|zscore|:FEATURE:GAMMA or accuracy:ALPHA",
        ),
        ("accuracy:high", "filter = 'accuracy:high': expected zscore:FEATURE+FEATURE:GAMMA, "),
        (f"zscore:{GRADED}:-1", "gamma = -1.0: expected more than 0"),
        ("accuracy:1.5", "alpha = 1.5: expected a number from 0 to 1"),
    ],
)
def test_bad_filters(text: str, message: str) -> None:
    with pytest.raises(BadSetting) as caught:
        Vote(keep=text)
    assert str(caught.value).startswith(message)


def test_bad_weights() -> None:
    with pytest.raises(UnknownName, match="did you mean 'graded-accuracy-gold'"):
        Vote(weight="graded-acuracy-gold")
    with pytest.raises(BadSetting, match="powers from 1 to 9"):
        Vote(weight=f"{GRADED}^0")
    with pytest.raises(BadSetting, match="shrink = -1"):
        Vote(shrink=-1)
    table = Judgments.from_table({"item": ["a"], "judge": ["x"], "label": [1]})
    with pytest.raises(BadData, match="needs gold, and no judged item has any"):
        Vote(weight=GRADED).fit(table)
