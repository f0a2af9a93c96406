from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score

from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale
from adjudge.errors import BadSetting, UnknownName
from adjudge.evaluation import agreement as judge_pairs
from adjudge.evaluation.agreement import (
    Agreement,
    _fleiss_kappa,
    _krippendorff_alpha,
    _Patterns,
    _percent_agreement,
    cohen_kappa,
    mean_cohen_kappa,
    measure_agreement,
    without_repeats,
)

FIVE = Scale.parse("1<2<3<4<5")
Triple = tuple[str, str, str]  # item, judge, label


def judged(triples: list[Triple], scale: Scale = FIVE) -> Judgments:
    columns = list(zip(*triples, strict=True)) if triples else [(), (), ()]
    names = ("item", "judge", "label")
    table = pa.table(
        {name: pa.array(column, pa.string()) for name, column in zip(names, columns, strict=True)}
    )
    return Judgments.from_table(table, scale=scale)


def of_counts(rows: list[list[int]]) -> Judgments:
    """Judgments with these label counts, an item a row; judges are numbered within each item."""
    triples = []
    for item, row in enumerate(rows):
        labels = [label + 1 for label, count in enumerate(row) for _ in range(count)]
        triples += [(f"i{item}", f"j{place}", str(label)) for place, label in enumerate(labels)]
    return judged(triples)


# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: four observers,
# twelve units, some values missing.
KRIPPENDORFF = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""

# Fleiss (1971), table 1: thirty patients, six psychiatrists, five diagnoses.
FLEISS = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""


def krippendorff() -> Judgments:
    lines = [line.split() for line in KRIPPENDORFF.strip().splitlines()]
    return judged(
        [
            (f"u{unit}", f"o{observer}", value)
            for observer, line in enumerate(lines)
            for unit, value in enumerate(line)
            if value != "."
        ]
    )


def test_krippendorffs_example() -> None:
    found = measure_agreement(krippendorff())
    assert round(found["alpha_nominal"].value, 3) == 0.743
    assert round(found["alpha_ordinal"].value, 3) == 0.815
    assert round(found["alpha_interval"].value, 3) == 0.849
    # Unit 12 has one value; the others have 40.
    assert (found.items, found.left_out, found.judgments) == (11, 1, 40)


def test_fleiss_example() -> None:
    rows = [[int(digit) for digit in row] for row in FLEISS.split()]
    judgments = of_counts(rows)
    totals = _Patterns.of(judgments)
    assert (totals.times @ totals.counts).tolist() == [26, 26, 30, 55, 43]  # as printed there
    assert round(measure_agreement(judgments)["fleiss_kappa"].value, 3) == 0.430


# --- a plain twin that looks at every pair ---


def naive(judgments: Judgments, metric: str) -> float:
    """Krippendorff's alpha by its definition, from the coincidences of every pair of judgments."""
    size = len(judgments.scale.labels)
    together = np.zeros((size, size))
    for item in range(judgments.item_count):
        labels = judgments.label[judgments.offsets[item] : judgments.offsets[item + 1]]
        for a, b in itertools.permutations(range(len(labels)), 2):
            together[labels[a], labels[b]] += 1 / (len(labels) - 1)
    used = together.sum(axis=0)
    distance = np.zeros((size, size))
    for a, b in itertools.product(range(size), repeat=2):
        if metric == "nominal":
            distance[a, b] = a != b
        elif metric == "interval":
            distance[a, b] = (judgments.scale.values[a] - judgments.scale.values[b]) ** 2
        else:
            low, high = min(a, b), max(a, b)
            between = used[low : high + 1].sum() - (used[a] + used[b]) / 2
            distance[a, b] = 0 if a == b else between**2
    expected = (np.outer(used, used) * distance).sum() / max(used.sum() - 1, 1)
    if expected == 0:
        return math.nan
    return float(1 - (together * distance).sum() / expected)


def naive_percent(judgments: Judgments) -> float:
    alike = pairs = 0
    for item in range(judgments.item_count):
        labels = judgments.label[judgments.offsets[item] : judgments.offsets[item + 1]]
        for a, b in itertools.combinations(labels, 2):
            alike, pairs = alike + int(a == b), pairs + 1
    return alike / pairs if pairs else math.nan


def naive_fleiss(judgments: Judgments) -> float:
    shares, used = [], np.zeros(len(judgments.scale.labels))
    for item in range(judgments.item_count):
        labels = judgments.label[judgments.offsets[item] : judgments.offsets[item + 1]]
        if len(labels) >= 2:
            pairs = list(itertools.combinations(labels, 2))
            shares.append(np.mean([a == b for a, b in pairs]))
            used += np.bincount(labels, minlength=len(used))
    if (used > 0).sum() < 2:
        return math.nan
    chance = ((used / used.sum()) ** 2).sum()
    return float((np.mean(shares) - chance) / (1 - chance))


def rows_on(scale: Scale) -> st.SearchStrategy[list[Triple]]:
    row = st.tuples(
        st.sampled_from([f"i{n}" for n in range(8)]),
        st.sampled_from([f"j{n}" for n in range(5)]),
        st.sampled_from(scale.labels),
    )
    return st.lists(row, min_size=1, max_size=60)


@given(rows_on(FIVE))
def test_the_twin_agrees(rows: list[Triple]) -> None:
    judgments = judged(rows)
    found = measure_agreement(judgments)
    expected = {
        "percent_agreement": naive_percent(judgments),
        "fleiss_kappa": naive_fleiss(judgments),
        **{f"alpha_{m}": naive(judgments, m) for m in ("nominal", "ordinal", "interval")},
    }
    for name, value in expected.items():
        assert found[name].value == pytest.approx(value, nan_ok=True, abs=1e-9), name
        assert found[name].defined == (found[name].reason is None)


# --- undefined ---

ALIKE = [(f"i{n}", judge, "1") for n in range(6) for judge in ("ann", "bob")]
PETS = [("a", "j", "cat"), ("a", "k", "dog"), ("b", "j", "dog")]


@pytest.mark.parametrize(
    ("rows", "scale", "name", "reason"),
    [
        ([("a", "j", "1"), ("b", "k", "2")], FIVE, "alpha_nominal", "no item has two judgments"),
        ([("a", "j", "1"), ("b", "k", "2")], FIVE, "cohen_kappa", "no two judges have 5 items"),
        (ALIKE, FIVE, "alpha_ordinal", "every judgment gives one label"),
        (ALIKE, FIVE, "cohen_kappa", "no two judges used more than one label"),
        (PETS, Scale.parse("cat,dog"), "alpha_interval", "the scale is nominal"),
    ],
)
def test_what_is_undefined_says_why(
    rows: list[Triple], scale: Scale, name: str, reason: str
) -> None:
    found = measure_agreement(judged(rows, scale), resamples=10)[name]
    assert not found.defined
    assert (found.reason or "").startswith(reason)


# --- repeats, intervals, size ---


def test_repeats_count_or_do_not() -> None:
    rows = [("a", "j", "1"), ("a", "j", "2"), ("a", "k", "1"), ("b", "j", "2"), ("b", "j", "2")]
    counted = measure_agreement(judged(rows))
    assert counted.repeats == 2
    assert counted["percent_agreement"].value == pytest.approx(2 / 4)
    first = measure_agreement(judged(rows), repeats="first")
    assert first["percent_agreement"].value == 1.0  # only j and k on a are left, both 1
    assert (first.items, first.left_out, first.repeats) == (1, 1, 2)


def test_judgments_are_left_as_they_were() -> None:
    judgments = krippendorff()
    offsets, label = judgments.offsets.copy(), judgments.label.copy()
    measure_agreement(judgments, resamples=5)
    assert np.array_equal(judgments.offsets, offsets)
    assert np.array_equal(judgments.label, label)


def crowd(items: int, judges: int, each: int, seed: int, labels: int = 5) -> Judgments:
    random = np.random.default_rng(seed)
    truth = random.integers(0, labels, items)
    item = np.repeat(np.arange(items), each)
    guess = random.integers(0, labels, item.size)
    label = np.where(random.random(item.size) < 0.6, truth[item], guess) + 1
    table = pa.table(
        {
            "item": pa.array(item).cast(pa.string()),
            "judge": pa.array(random.integers(0, judges, item.size)).cast(pa.string()),
            "label": label,
        }
    )
    return Judgments.from_table(table)


@pytest.mark.parametrize("labels", [3, 70])  # 70: too many to group items by their counts
def test_a_weight_of_n_equals_n_copies_of_the_pattern(labels: int) -> None:
    judgments = crowd(30, 6, 4, seed=1, labels=labels)
    patterns = _Patterns.of(judgments)
    assert patterns.times.sum() == 30
    rows = np.random.default_rng(0).integers(0, len(patterns.times), size=(3, 25))
    weight = np.array([np.bincount(row, minlength=len(patterns.times)) for row in rows])
    dense = patterns.counts.toarray().astype(int)
    values = judgments.scale.values
    for row, drawn in zip(rows, weight.astype(np.float64), strict=True):
        copied = _of_rows(dense[row], judgments.scale)
        one = drawn[None, :]
        assert _percent_agreement(patterns, one) == pytest.approx(naive_percent(copied))
        assert _fleiss_kappa(patterns, one) == pytest.approx(naive_fleiss(copied))
        for metric in ("nominal", "ordinal", "interval"):
            found = _krippendorff_alpha(patterns, one, metric=metric, values=values)
            assert found == pytest.approx(naive(copied, metric))


def _of_rows(counts: NDArray[np.int64], scale: Scale) -> Judgments:
    rows = []
    for item, row in enumerate(counts):
        labels = [label for label, count in enumerate(row) for _ in range(count)]
        rows += [(f"i{item}", f"j{at}", scale.labels[code]) for at, code in enumerate(labels)]
    return judged(rows, scale)


def test_intervals_are_seeded_and_shrink_with_more_items() -> None:
    def alpha(items: int, seed: int) -> Agreement:
        return measure_agreement(crowd(items, 10, 5, seed=2), resamples=200, seed=seed)

    few, again, other, many = alpha(100, 1), alpha(100, 1), alpha(100, 2), alpha(1600, 1)
    assert few.to_table().equals(again.to_table())
    assert not few.to_table().equals(other.to_table())
    for name in few.scores:
        wide, narrow = few[name], many[name]
        assert wide.low is not None
        assert wide.high is not None
        assert narrow.low is not None
        assert narrow.high is not None
        assert wide.low < wide.value < wide.high
        # Sixteen times the items, a quarter of the width; Cohen's pairs change as well.
        if name != "cohen_kappa":
            ratio = (wide.high - wide.low) / (narrow.high - narrow.low)
            assert ratio == pytest.approx(4, rel=0.3)


def test_bad_settings() -> None:
    judgments = krippendorff()
    with pytest.raises(BadSetting, match=r"^repeats = 'last': expected count or first$"):
        measure_agreement(judgments, repeats="last")  # type: ignore[arg-type]
    with pytest.raises(BadSetting, match=r"^least_common = 0: expected at least 1 item in common$"):
        measure_agreement(judgments, least_common=0)
    with pytest.raises(UnknownName) as error:
        measure_agreement(judgments)["fleis"]
    assert error.value.nearest == ("fleiss_kappa",)


SCALE = Scale.parse("0<1<2")


paired = partial(judged, scale=SCALE)


def two_judges(cells: dict[tuple[str, str], int]) -> Judgments:
    pairs = [pair for pair, count in cells.items() for _ in range(count)]
    rows = [(f"i{n}", "ann", a) for n, (a, _) in enumerate(pairs)]
    return paired(rows + [(f"i{n}", "bob", b) for n, (_, b) in enumerate(pairs)])


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
    assert cohen_kappa(paired(rows + more), "ann", "bob").value == 1.0


def test_without_repeats_keeps_the_first() -> None:
    judgments = paired([("a", "j", "2"), ("a", "k", "1"), ("a", "j", "0"), ("b", "j", "1")])
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


@given(rows_on(SCALE), st.integers(1, 4))
def test_judge_pairs_the_twin_agrees(rows: list[tuple[str, str, str]], least: int) -> None:
    found = mean_cohen_kappa(paired(rows), least_common=least)
    value, used, left_out = naive_mean(rows, least)
    assert found.score.value == pytest.approx(value, nan_ok=True, abs=1e-12)
    assert (found.pairs, found.left_out) == (used, left_out)
    assert found.score.defined == (found.score.reason is None)


def test_too_many_pairs_are_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_pairs, "_MOST_PAIRS", 49)
    found = mean_cohen_kappa(two_judges(TEXTBOOK))
    assert found.score.reason == ("50 pairs of judgments are more than the 49 that are compared")
