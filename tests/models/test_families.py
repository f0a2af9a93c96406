"""Families: near copies are found, strangers are not, what is declared counts."""

from __future__ import annotations

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
from adjudge.engines.threads import ThreadsEngine
from adjudge.models import _families as module
from adjudge.models._families import find_families, voices_of
from adjudge.models._voice_sweeps import VoiceSweeps
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


def test_sweeps_over_voices_find_the_same_families() -> None:
    """Voices are more than judges: tables of judges, read by their codes, end too soon."""
    table = panel(copies=2)
    plain = found_in(table)
    assert plain.any
    spoken, voices = voices_of(table, plain, repeats=True)
    assert len(voices.judge_of) > table.judge_count
    sweeps = VoiceSweeps(ThreadsEngine(), spoken, voices, None, by_topic=False, shared=False)
    again = find_families(table, sweeps)
    assert again.merged == plain.merged
    assert again.suspected == plain.suspected
    np.testing.assert_array_equal(again.family, plain.family)
    np.testing.assert_array_equal(again.share, plain.share)


def test_strangers_are_no_family() -> None:
    for seed in range(5):
        found = found_in(panel(seed=seed))
        assert not found.any
        assert not found.suspected
        assert found.voices() == 8


@pytest.mark.parametrize("copies", [1, 4])
def test_exact_copies_are_one_voice(copies: int) -> None:
    found = found_in(panel(copies=copies))
    assert found.groups == ((0, *range(8, 8 + copies)),)
    assert found.share[0] == pytest.approx(1.0, abs=1e-6)
    assert found.voices() == pytest.approx(8)


def test_noisy_copies_are_reported_but_not_merged() -> None:
    table = panel(copies=1, rerolled=0.15)
    found = found_in(table)
    assert not found.any
    assert found.suspected[0].judges == (0, 8)
    assert 0.7 <= found.suspected[0].excess < 0.9
    notes = ItemTypes().fit(table).notes
    assert any("judge-00 and judge-08 agree more than all judges together" in n for n in notes)


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
    assert labels == [str(label) for label in truth]


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
    import dataclasses

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
    assert "x1 and x2 have one voice between them (declared)" in consensus.notes


def test_a_model_beside_the_judge_is_a_family_and_alone_the_judge() -> None:
    both = Judgments.from_table(
        {"item": ["a", "a"], "judge": ["p1", "p2"], "model": ["m", "m"], "label": [0, 1]}
    )
    assert both.judges.to_pylist() == ["p1", "p2"]
    assert both.family.tolist() == [0, 0]
    alone = Judgments.from_table({"item": ["a", "a"], "model": ["m", "n"], "label": [0, 1]})
    assert alone.judges.to_pylist() == ["m", "n"]
    assert alone.family is None


def test_a_judge_in_two_families_is_an_error() -> None:
    with pytest.raises(BadData, match=r"judge 'x' has family 'g' here but 'f' at .*; wanted one"):
        Judgments.from_table(
            {"item": ["a", "b"], "judge": ["x", "x"], "label": [0, 1], "family": ["f", "g"]}
        )


def test_a_rule_on_names_declares_families() -> None:
    table = panel(judges=4).with_family_rule(r"judge-(\d)")
    assert table.families.to_pylist() == ["0"]
    assert table.family.tolist() == [0, 0, 0, 0]
    with pytest.raises(BadSetting, match="family = 'gpt': wanted a pattern found in the name"):
        panel().with_family_rule("gpt")
    with pytest.raises(BadSetting, match="wanted a regular expression"):
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
    alike = (common >= 20) & (correlation >= 0.75)
    company, loading = 1.0 + alike.sum(axis=1), np.full(judges, 0.6)
    for _ in range(30):
        new = loading.copy()
        for judge in range(judges):
            partners = np.flatnonzero(common[judge] >= 5)
            if len(partners) < 2:
                continue
            ratio = correlation[judge, partners] / loading[partners]
            weight = (
                np.minimum(common[judge, partners], 50.0) * loading[partners] / company[partners]
            )
            order = np.argsort(ratio, kind="stable")
            sums = np.cumsum(weight[order])
            new[judge] = np.clip(ratio[order][sums >= 0.5 * sums[-1]][0], 0.05, 0.9)
        moved, loading = np.abs(new - loading).max(), 0.5 * (loading + new)
        if moved < 1e-3:
            break
    np.testing.assert_array_equal(module._loadings(pairs), loading)
