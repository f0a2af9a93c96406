"""Families: near copies are found, strangers are not, what is declared counts."""

from __future__ import annotations

import dataclasses
import shlex

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import (
    BadData,
    BadSetting,
    DawidSkene,
    HierarchicalConfusion,
    HybridConfusion,
    ItemTypes,
    Judgments,
    MajorityVote,
    SingleConfusion,
    Vote,
)
from adjudge.data.consensus import Families
from adjudge.data.names import as_names
from adjudge.engines.threads import ThreadsEngine
from adjudge.models import _families as module
from adjudge.models._families import find_families
from strategies import shuffled


def panel(
    *, items: int = 400, judges: int = 8, copies: int = 0, rerolled: float = 0.0, seed: int = 0
) -> Judgments:
    """Judges of like skill on all items, and copies of the first."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, items)
    rows: dict[str, list[object]] = {"item": [], "judge": [], "label": []}
    first = np.zeros(0)
    for judge in range(judges + copies):
        own = np.where(rng.random(items) < 0.4, rng.integers(0, 3, items), truth)
        if judge == 0:
            first = own
        if judge >= judges:
            own = np.where(rng.random(items) < rerolled, rng.integers(0, 3, items), first)
        rows["item"] += [f"i{n}" for n in range(items)]
        rows["judge"] += [f"judge-{judge:02}"] * items
        rows["label"] += own.tolist()
    return Judgments.from_table(rows)


def found_in(table: Judgments) -> Families:
    return find_families(table, ThreadsEngine().load(table))


def test_strangers_are_no_family() -> None:
    for seed in range(5):
        found = found_in(panel(seed=seed))
        assert not found.any
        assert not found.suspected
        assert found.effective_judges() == 8


@pytest.mark.parametrize("copies", [1, 4])
def test_exact_copies_count_as_one_judge(copies: int) -> None:
    found = found_in(panel(copies=copies))
    assert found.groups == ((0, *range(8, 8 + copies)),)
    assert found.share[0] == pytest.approx(1.0, abs=1e-6)
    assert found.effective_judges() == pytest.approx(8)


@pytest.mark.parametrize(("copies", "judges"), [(1, 8), (4, 8), (4, 6), (2, 3)])
def test_noisy_copies_are_reported_as_one_group_but_not_merged(copies: int, judges: int) -> None:
    table = panel(judges=judges, copies=copies, rerolled=0.15)
    found = found_in(table)
    assert not found.any
    (alike,) = found.suspected
    assert alike.judges == (0, *range(judges, judges + copies))
    assert 0.4 < alike.excess < 0.9
    assert alike.common == 400


def test_a_group_has_the_families_that_it_joins() -> None:
    """Two exact copies and two noisy ones: the exact ones are a family, and all are reported."""
    table = panel(copies=4, rerolled=0.15)
    own, exact = table.judge == 0, np.isin(table.judge, [8, 9])
    label = table.label.copy()
    for judge in (8, 9):
        label[table.judge == judge] = label[own]
    assert exact.sum() == 800
    found = found_in(dataclasses.replace(table, label=label))
    assert found.groups == ((0, 8, 9),)
    assert [alike.judges for alike in found.suspected] == [(0, 8, 9, 10, 11)]


def test_duplicates_that_would_leave_too_few_judges_are_reported() -> None:
    table = panel(judges=3, copies=2)
    found = found_in(table)
    assert not found.any
    assert [alike.judges for alike in found.suspected] == [(0, 3, 4)]


def test_the_reported_option_declares_the_family() -> None:
    names = ["it's (a)", "b|c", "d e$", "f.g", "h", "i", "j", "k"]
    table = panel(copies=2, rerolled=0.15)
    table = dataclasses.replace(table, judges=as_names([*names, "x-1\\", "y^"]))
    (note,) = (note for note in ItemTypes().fit(table).notes if "--family" in note)
    words = shlex.split(note.split("one source, declare it with ")[1])
    declared = table.with_family_rule(words[1])
    assert declared.families.to_pylist() == ["it's (a)"]
    assert declared.family.tolist() == [0, *[-1] * 7, 0, 0]
    found = found_in(declared)
    assert found.groups == ((0, 8, 9),)
    assert found.declared[[0, 8, 9]].all()
    assert not found.suspected


def test_rules_add_to_what_is_declared() -> None:
    table = panel(judges=6).with_family_rule("^(?:judge-00|judge-01)()$")
    more = table.with_family_rule("^(?:judge-02|judge-05)()$")
    assert more.families.to_pylist() == ["judge-00", "judge-02"]
    assert more.family.tolist() == [0, 0, 1, -1, -1, 1]


def test_a_few_equal_judgments_of_many_make_a_copy() -> None:
    """Two judges of some of thousands of items, alike in all of them."""
    rng = np.random.default_rng(3)
    rows: dict[str, list[object]] = {"item": [], "judge": [], "label": []}
    for item in range(3000):
        for judge in rng.choice(300, 3, replace=False):
            rows["item"].append(f"i{item}")
            rows["judge"].append(f"j{judge}")
            rows["label"].append(int(rng.integers(0, 4)))
    twin = [n for n, judge in enumerate(rows["judge"]) if judge == "j7"]
    for n in twin:
        rows["item"].append(rows["item"][n])
        rows["judge"].append("twin")
        rows["label"].append(rows["label"][n])
    table = Judgments.from_table(rows)
    found = found_in(table)
    names = table.judges.to_pylist()
    assert [sorted(names[j] for j in group) for group in found.groups] == [["j7", "twin"]]


def test_perfect_judges_are_no_copies() -> None:
    """Three who are always right say the same, and a fourth who never is."""
    truth = np.random.default_rng(0).integers(0, 3, 60)
    rows: dict[str, list[object]] = {"item": [], "judge": [], "label": []}
    for judge in range(4):
        rows["item"] += [f"i{n}" for n in range(60)]
        rows["judge"] += [f"j{judge}"] * 60
        rows["label"] += (truth if judge < 3 else (truth + 1) % 3).tolist()
    table = Judgments.from_table(rows)
    assert not found_in(table).any
    labels = ItemTypes().fit(table).labels["label"].to_pylist()
    assert labels == list(truth)


def test_neither_order_nor_names_matter() -> None:
    table = panel(copies=2)
    found = found_in(table)
    moved, _ = shuffled(table, 5)
    again = found_in(moved)
    names, other = table.judges.to_pylist(), moved.judges.to_pylist()
    assert {frozenset(names[j] for j in group) for group in found.groups} == {
        frozenset(other[j] for j in group) for group in again.groups
    }


MODELS = [
    MajorityVote(ties="lower"),
    Vote(ties="lower"),
    DawidSkene(),
    SingleConfusion(),
    HybridConfusion(method="em"),
    HierarchicalConfusion(method="variational"),
]


@pytest.mark.parametrize("model", MODELS, ids=[model.name for model in MODELS])
def test_every_model_counts_copies_once(model) -> None:
    alone = model.fit(panel())
    more = model.fit(panel(copies=4))
    assert more.families is not None
    assert more.families.any
    assert more.posterior == pytest.approx(alone.posterior, abs=0.05)
    assert (more.choice == alone.choice).mean() > 0.98
    assert more.counts.sum(axis=(1, 2)) == pytest.approx(more.judgments.counts_per_judge)


def test_a_sampled_model_counts_copies_once() -> None:
    short = HybridConfusion(chains=2, warmup=100, draws=100, thin=1)
    alone, more = short.fit(panel()), short.fit(panel(copies=4))
    assert np.abs(more.posterior - alone.posterior).mean() < 0.02
    assert more.counts.sum(axis=(1, 2)) == pytest.approx(more.judgments.counts_per_judge)


@pytest.mark.parametrize("model", MODELS, ids=[model.name for model in MODELS])
def test_where_nothing_is_found_no_bit_changes(model) -> None:
    table = panel()
    plain = dataclasses.replace(model, weigh_copies=False).fit(table)
    weighed = model.fit(table)
    assert np.array_equal(plain.posterior, weighed.posterior)
    assert np.array_equal(plain.confusion, weighed.confusion)


def test_a_column_declares_families() -> None:
    table = {
        "item": ["a", "a", "a", "b", "b", "b"],
        "judge": ["x1", "x2", "y"] * 2,
        "label": [1, 1, 0, 0, 0, 1],
        "family": ["x", "x", ""] * 2,
    }
    judgments = Judgments.from_table(table)
    assert judgments.families.to_pylist()[judgments.family[0]] == "x"
    assert judgments.family.tolist()[2] == -1
    consensus = MajorityVote(ties="lower").fit(judgments)
    assert consensus.posterior == pytest.approx(0.5)
    assert consensus.families.groups == ((0, 1),)
    assert consensus.families.declared.tolist() == [True, True, False]


def test_a_model_next_to_a_judge_is_a_family_and_alone_the_judge() -> None:
    both = Judgments.from_table(
        {"item": ["a", "a"], "judge": ["p1", "p2"], "model": ["m", "m"], "label": [0, 1]}
    )
    assert both.judges.to_pylist() == ["p1", "p2"]
    assert both.family.tolist() == [0, 0]
    alone = Judgments.from_table({"item": ["a", "a"], "model": ["m", "n"], "label": [0, 1]})
    assert alone.judges.to_pylist() == ["m", "n"]
    assert alone.family is None


def test_a_judge_in_two_families_is_an_error() -> None:
    with pytest.raises(BadData, match=r"judge 'x' has family 'g' here but 'f' at .*; expected one"):
        Judgments.from_table(
            {"item": ["a", "b"], "judge": ["x", "x"], "label": [0, 1], "family": ["f", "g"]}
        )


def test_a_rule_on_names_declares_families() -> None:
    table = panel(judges=4).with_family_rule(r"judge-(\d)")
    assert table.families.to_pylist() == ["0"]
    assert table.family.tolist() == [0, 0, 0, 0]
    with pytest.raises(BadSetting, match="family = 'gpt': expected a pattern found in the name"):
        panel().with_family_rule("gpt")
    with pytest.raises(BadSetting, match="expected a regular expression"):
        panel().with_family_rule("(")
    few = table.select(judgments=table.judge < 2)
    assert few.family.tolist() == [0, 0]


@given(st.integers(4, 60), st.floats(0.05, 1.0), st.integers(0, 10_000))
def test_loadings_are_weighted_medians_over_partners(judges: int, met: float, seed: int) -> None:
    """Worked out for blocks of judges with as many partners; here for one judge after another."""
    rng = np.random.default_rng(seed)
    common = np.triu(
        np.where(rng.random((judges,) * 2) < met, rng.integers(0, 80, (judges,) * 2), 0), 1
    )
    common = (common + common.T).astype(float)
    correlation = np.triu(rng.normal(0.4, 0.4, (judges,) * 2).clip(-1, 1), 1)
    correlation = (correlation + correlation.T) * (common >= 5)
    pairs = module._Pairs(np.arange(judges), common, correlation, common)
    loading = np.full(judges, 0.6)
    for judge in range(judges):
        own = np.sort(correlation[judge, common[judge] >= 5])
        if len(own) > 1:
            loading[judge] = np.sqrt(np.clip(own[(len(own) - 1) // 2], 0.05**2, 0.95**2))
    for _ in range(40):
        excess = 1.0 - (1.0 - correlation) / (1.0 - np.outer(loading, loading))
        from_family = 1.0 + ((common >= 20) & (excess >= 0.35)).sum(axis=1)
        new = loading.copy()
        for judge in range(judges):
            partners = np.flatnonzero(common[judge] >= 5)
            if len(partners) < 2:
                continue
            ratio = correlation[judge, partners] / loading[partners]
            weight = (
                np.minimum(common[judge, partners], 50.0)
                * loading[partners]
                / from_family[partners]
            )
            order = np.argsort(ratio, kind="stable")
            sums = np.cumsum(weight[order])
            new[judge] = np.clip(ratio[order][sums >= 0.5 * sums[-1]][0], 0.05, 0.95)
        moved, loading = np.abs(new - loading).max(), 0.5 * (loading + new)
        if moved < 1e-3:
            break
    np.testing.assert_array_equal(module._loadings(pairs), loading)
