"""Features by hand, on a table of ten rows, and what they lack named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import BadData, Gold, Judgments, Scale, UnknownName
from adjudge.models.weighting import FEATURES, PAPER, TYPICAL, available, measure_features
from strategies import gold_for, judgments, shuffled

# Ten judgments by two judges; grades 0..2, -2 a broken link; d5 is a honeypot.
ROWS = [
    ("d1", "x", 2), ("d1", "y", 1), ("d2", "x", 0), ("d2", "y", 2), ("d3", "x", 1), ("d3", "y", 1),
    ("d4", "x", 0), ("d4", "y", 0), ("d5", "x", -2), ("d5", "y", 1),
]  # fmt: skip
SCALE = Scale(
    labels=("-2", "0", "1", "2"),
    ordinal=True,
    truths=("0", "1", "2"),
    truth_of=(-1, 0, 1, 2),
    relevant=("1", "2"),
)


@pytest.fixture
def table() -> Judgments:
    item, judge, label = zip(*ROWS, strict=True)
    return Judgments.from_table({"item": item, "judge": judge, "label": label}, scale=SCALE)


@pytest.fixture
def gold() -> Gold:
    return Gold.from_table(
        {
            "item": ["d1", "d2", "d3", "d5"],
            "gold": ["2", "0", "2", "-2"],
            "honeypot": ["", "", "", "yes"],
        }
    )


def test_against_gold_by_hand(table: Judgments, gold: Gold) -> None:
    names = ("graded-accuracy-gold", "binary-accuracy-gold", "graded-distance-gold")
    found = measure_features(table, gold, names=names)
    # x: d1 2=2, d2 0=0, d3 1 for 2: 2 of 3; relevance 3 of 3; distance 1 of 3 grades of 2.
    # y: d1 1 for 2, d2 2 for 0, d3 1 for 2: 0 of 3; relevance 2 of 3; distance 1 + 2 + 1.
    assert found["graded-accuracy-gold"].tolist() == pytest.approx([2 / 3, 0])
    assert found["binary-accuracy-gold"].tolist() == pytest.approx([1, 2 / 3])
    assert found["graded-distance-gold"].tolist() == pytest.approx([1 - 1 / 6, 1 - 4 / 6])
    assert found.counts["graded-accuracy-gold"].tolist() == [3, 3]


def test_honeypots_by_hand(table: Judgments, gold: Gold) -> None:
    found = measure_features(table, gold, names=("honeypot-accuracy",))
    assert found["honeypot-accuracy"].tolist() == [1, 0]
    assert found.counts["honeypot-accuracy"].tolist() == [1, 1]


def test_against_the_majority_by_hand(table: Judgments) -> None:
    more = pa.concat_tables(
        [
            table.to_table(),
            pa.table(
                {
                    "item": pa.array(["d1", "d2", "d3", "d4"], pa.large_string()),
                    "judge": pa.array(["z"] * 4, pa.large_string()),
                    "label": pa.array(["2", "0", "0", "0"], pa.large_string()),
                }
            ),
        ]
    )
    three = Judgments.from_table(more, scale=SCALE)
    names = ("graded-accuracy-majority", "binary-accuracy-majority", "graded-distance-majority")
    found = measure_features(three, names=names)
    # Majority: d1 2, d2 0, d3 1, d4 0, d5 1 (y's only vote for a truth).
    assert found["graded-accuracy-majority"].tolist() == pytest.approx([1, 3 / 5, 3 / 4])
    assert found["binary-accuracy-majority"].tolist() == pytest.approx([1, 4 / 5, 3 / 4])
    assert found["graded-distance-majority"].tolist() == pytest.approx(
        [1, 1 - (1 + 2) / 2 / 5, 1 - 1 / 2 / 4]
    )


def test_the_majority_of_a_honeypot_does_not_count(table: Judgments, gold: Gold) -> None:
    names = ("graded-accuracy-majority", "binary-accuracy-majority", "graded-distance-majority")
    found = measure_features(table, gold, names=names)
    plain = table.select(items=np.array([name != "d5" for name in table.items.to_pylist()]))
    alone = measure_features(plain, names=names)
    # d5 is a honeypot: y's label there, the only vote, is not held for its truth.
    assert found.counts["graded-accuracy-majority"].tolist() == [4, 4]
    for name in names:
        assert found[name].tolist() == alone[name].tolist()
    unmarked = Gold(items=gold.items, value=gold.value, values=gold.values)  # gold, but no honeypot
    every = measure_features(table, unmarked, names=names)
    assert every.counts["graded-accuracy-majority"].tolist() == [4, 5]


def test_typicality_by_hand() -> None:
    rows = {
        "item": list("abcd") * 2,
        "judge": ["x"] * 4 + ["y"] * 4,
        "label": [0, 0, 1, 1, 1, 1, 1, 1],
    }
    table = Judgments.from_table(rows)
    found = measure_features(table, names=(TYPICAL,), priors=(0.5, 0.5))
    # y: (0 + 1, 4 + 1) / 6 against (1/2, 1/2): distance 2/3, half of it off 1.
    assert found[TYPICAL].tolist() == pytest.approx([1, 2 / 3])
    own = measure_features(table, names=(TYPICAL,))  # expected: mean of (1/2, 1/2) and (0, 1)
    assert own[TYPICAL][0] == pytest.approx(1 - abs((2 + 0.5) / 6 - 0.25))
    with pytest.raises(BadData, match="expected 2 that sum to 1"):
        measure_features(table, names=(TYPICAL,), priors=(0.5, 0.6))


def test_what_is_lacking_is_named(table: Judgments, gold: Gold) -> None:
    with pytest.raises(BadData) as caught:
        measure_features(table, names=("graded-accuracy-gold",))
    assert str(caught.value) == (
        "feature graded-accuracy-gold needs gold, and no judged item has any"
    )
    with pytest.raises(BadData) as caught:
        measure_features(table, Gold.of({"d1": 2}), names=("honeypot-accuracy",))
    assert str(caught.value) == (
        "feature honeypot-accuracy needs honeypots, and no gold item is marked as one"
    )
    nominal = Judgments.from_table({"item": ["a"], "judge": ["x"], "label": ["cat"]})
    with pytest.raises(BadData) as caught:
        measure_features(nominal, names=("graded-distance-majority",))
    assert str(caught.value) == (
        "feature graded-distance-majority needs an ordinal scale, and cat has no order"
    )
    with pytest.raises(UnknownName, match="did you mean 'honeypot-accuracy'"):
        measure_features(table, gold, names=("honeypot-acuracy",))
    assert available(table, gold) == FEATURES
    assert available(nominal, None) == ("graded-accuracy-majority", TYPICAL)


def test_a_judge_without_gold_has_the_mean(table: Judgments) -> None:
    found = measure_features(table, Gold.of({"d1": 2}), names=("graded-accuracy-gold",))
    assert found["graded-accuracy-gold"].tolist() == [1, 0]
    alone = replace(table, judges=pa.array(["x", "y", "z"], pa.large_string()))
    found = measure_features(alone, Gold.of({"d1": 2}), names=("graded-accuracy-gold",))
    assert np.isnan(found["graded-accuracy-gold"][2])
    assert found.filled("graded-accuracy-gold").tolist() == [1, 0, 0.5]
    assert found.filled("graded-accuracy-gold", shrink=1.0).tolist() == [0.75, 0.25, 0.5]


@given(data=st.data())
def test_renumbering_changes_nothing_and_all_are_shares(data: st.DataObject) -> None:
    table = data.draw(judgments(labels=3))
    gold = data.draw(gold_for(table))
    names = tuple(name for name in PAPER if name in available(table, gold))
    one = measure_features(table, gold, names=names)
    moved, _ = shuffled(table, data.draw(st.integers(0, 99)))
    other = measure_features(moved, gold, names=names)
    order = [moved.judges.to_pylist().index(name) for name in table.judges.to_pylist()]
    for name in names:
        assert np.array_equal(one[name], other[name][order], equal_nan=True)
        known = one[name][~np.isnan(one[name])]
        assert ((known >= 0) & (known <= 1)).all()
