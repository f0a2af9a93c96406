from __future__ import annotations

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale
from adjudge.errors import BadSetting
from adjudge.evaluation import agreement as judge_pairs
from adjudge.evaluation.agreement import cohen_kappa, mean_cohen_kappa, without_repeats

SCALE = Scale.parse("0<1<2")


def judged(rows: list[tuple[str, str, str]]) -> Judgments:
    items, judges, labels = zip(*rows, strict=True)
    table = pa.table({"item": list(items), "judge": list(judges), "label": list(labels)})
    return Judgments.from_table(table, scale=SCALE)


def two_judges(cells: dict[tuple[str, str], int]) -> Judgments:
    pairs = [pair for pair, count in cells.items() for _ in range(count)]
    rows = [(f"i{n}", "ann", a) for n, (a, _) in enumerate(pairs)]
    return judged(rows + [(f"i{n}", "bob", b) for n, (_, b) in enumerate(pairs)])


# Fifty grants, two readers: the usual textbook example, kappa 0.4.
TEXTBOOK = {("1", "1"): 20, ("1", "0"): 5, ("0", "1"): 10, ("0", "0"): 15}


def test_cohen_by_hand() -> None:
    # Observed 35/50; chance .5 * .6 + .5 * .4.
    assert cohen_kappa(two_judges(TEXTBOOK), "ann", "bob").value == pytest.approx(0.4)


def test_cohen_interval_has_the_width_that_theory_says() -> None:
    many = {cell: 20 * count for cell, count in TEXTBOOK.items()}
    found = cohen_kappa(two_judges(many), "ann", "bob", resamples=2000)
    # Fleiss, Cohen & Everitt (1969), equation 13, worked out from the table.
    p = np.array([[20, 5], [10, 15]]) / 50
    rows, columns, seen, chance = p.sum(1), p.sum(0), np.trace(p), p.sum(1) @ p.sum(0)
    inner = sum(p[i, i] * ((1 - chance) - (columns[i] + rows[i]) * (1 - seen)) ** 2 for i in (0, 1))
    outer = sum(p[i, j] * (columns[i] + rows[j]) ** 2 for i, j in ((0, 1), (1, 0)))
    spread = inner + (1 - seen) ** 2 * outer - (seen * chance - 2 * chance + seen) ** 2
    reach = 1.96 * math.sqrt(spread / 1000) / (1 - chance) ** 2
    assert found.low == pytest.approx(0.4 - reach, abs=0.1 * reach)
    assert found.high == pytest.approx(0.4 + reach, abs=0.1 * reach)


def test_only_common_items_count_and_the_first_of_repeats() -> None:
    rows = [("a", "ann", "0"), ("a", "bob", "0"), ("b", "ann", "1"), ("b", "bob", "1")]
    more = [("c", "ann", "2"), ("d", "bob", "2"), ("b", "bob", "0"), ("a", "ann", "2")]
    assert cohen_kappa(judged(rows + more), "ann", "bob").value == 1.0


def test_no_common_items_and_one_label() -> None:
    apart = judged([("a", "ann", "0"), ("b", "bob", "0")])
    assert cohen_kappa(apart, "ann", "bob").reason == "the two judges have no item in common"
    alike = judged([("a", "ann", "0"), ("a", "bob", "0")])
    assert cohen_kappa(alike, "ann", "bob", resamples=5).reason == (
        "both judges gave one label, the same, throughout"
    )


def test_an_unknown_judge() -> None:
    with pytest.raises(BadSetting) as error:
        cohen_kappa(two_judges(TEXTBOOK), "ann", "cat")
    assert str(error.value) == "judge = 'cat': wanted one of the 2 judges"


def test_without_repeats_keeps_the_first() -> None:
    judgments = judged([("a", "j", "2"), ("a", "k", "1"), ("a", "j", "0"), ("b", "j", "1")])
    single = without_repeats(judgments)
    assert single.to_table().select(["item", "judge", "label"]).to_pylist() == [
        {"item": "a", "judge": "j", "label": "2"},
        {"item": "a", "judge": "k", "label": "1"},
        {"item": "b", "judge": "j", "label": "1"},
    ]
    assert without_repeats(single) is single


# --- the mean over pairs ---


def naive_mean(rows: list[tuple[str, str, str]], least: int) -> tuple[float, int, int]:
    """The mean over pairs from scikit-learn's kappa of each pair, pairs used, pairs left out."""
    first: dict[tuple[str, str], str] = {}
    for item, judge, label in rows:
        first.setdefault((judge, item), label)
    judges = sorted({judge for judge, _ in first})
    total = weight = 0.0
    used = left_out = 0
    for a, b in itertools.combinations(judges, 2):
        items = [item for judge, item in first if judge == a and (b, item) in first]
        left, right = [first[a, item] for item in items], [first[b, item] for item in items]
        if not items:
            continue
        if len(items) < least or len(set(left) | set(right)) == 1:
            left_out += 1
            continue
        used += 1
        total += len(items) * cohen_kappa_score(left, right)
        weight += len(items)
    return (total / weight if weight else math.nan), used, left_out


rows_of_judgments = st.lists(
    st.tuples(
        st.sampled_from([f"i{n}" for n in range(8)]),
        st.sampled_from([f"j{n}" for n in range(5)]),
        st.sampled_from(SCALE.labels),
    ),
    min_size=1,
    max_size=60,
)


@given(rows_of_judgments, st.integers(1, 4))
def test_the_twin_agrees(rows: list[tuple[str, str, str]], least: int) -> None:
    found = mean_cohen_kappa(judged(rows), least_common=least)
    value, used, left_out = naive_mean(rows, least)
    assert found.score.value == pytest.approx(value, nan_ok=True, abs=1e-12)
    assert (found.pairs, found.left_out) == (used, left_out)
    assert found.score.defined == (found.score.reason is None)


def test_of_two_judges_it_is_cohen() -> None:
    found = mean_cohen_kappa(two_judges(TEXTBOOK), resamples=500, seed=1)
    alone = cohen_kappa(two_judges(TEXTBOOK), "ann", "bob", resamples=500, seed=1)
    assert found.score.value == pytest.approx(0.4)
    assert found.score.low is not None
    assert found.score.high is not None
    assert found.score.low == pytest.approx(alone.low, abs=0.05)
    assert found.score.high == pytest.approx(alone.high, abs=0.05)


def test_weighting_by_hand() -> None:
    cells = {("1", "1"): 20, ("1", "0"): 5, ("0", "1"): 10, ("0", "0"): 15}
    pairs = [pair for pair, count in cells.items() for _ in range(count)]
    rows = [(f"i{n}", "ann", a) for n, (a, _) in enumerate(pairs)]
    rows += [(f"i{n}", "bob", b) for n, (_, b) in enumerate(pairs)]
    # Two more judges who always agree, on ten items of their own.
    rows += [(f"k{n}", judge, str(n % 2)) for n in range(10) for judge in ("cat", "dan")]
    found = mean_cohen_kappa(judged(rows))
    assert found.score.value == pytest.approx((50 * 0.4 + 10 * 1.0) / 60)
    assert (found.pairs, found.left_out) == (2, 0)


def test_reasons() -> None:
    apart = mean_cohen_kappa(judged([("a", "ann", "0"), ("b", "bob", "0")]))
    assert apart.score.reason == "no two judges have 5 items in common"
    alike = judged([(f"i{n}", judge, "1") for n in range(6) for judge in ("ann", "bob")])
    found = mean_cohen_kappa(alike)
    assert found.score.reason == (
        "no two judges used more than one label on the items they have in common"
    )
    assert (found.pairs, found.left_out) == (0, 1)


def test_too_many_pairs_are_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_pairs, "_MOST_PAIRS", 49)
    found = mean_cohen_kappa(two_judges(TEXTBOOK))
    assert found.score.reason == ("50 pairs of judgments are more than the 49 that are compared")
