"""Copiers are found, independent judges are not, and the evidence is what plain loops say."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import Consensus, DawidSkene, Gold, HybridConfusion, Judgments, MajorityVote, Scale
from adjudge.evaluation.diagnosis import _collusion as collusion
from adjudge.evaluation.diagnosis._collusion import COPIED, find_pairs
from adjudge.models.item_types import ItemTypes
from adjudge.simulation import Crowd, Population
from strategies import judgments

EM = HybridConfusion(method="em")


def crowd_of(seed: int, *, items: int = 600, **more: Any) -> Judgments:
    people = Population.parse("skilled(8,2):16,spammer:2")
    settings_ = {"scale": Scale.parse("0<1<2"), "per_item": 5, **more}
    return Crowd(items=items, population=people, **settings_).make(seed).judgments


def copied(given_: Judgments, pairs: list[tuple[int, int]], share: float = 0.9) -> Judgments:
    """The same, but of the items that both judged, the second takes over the first one's labels."""
    label, item = given_.label.copy(), given_.item
    rng = np.random.default_rng(len(given_))
    for first, second in pairs:
        own, hers = np.flatnonzero(given_.judge == first), np.flatnonzero(given_.judge == second)
        _, x, y = np.intersect1d(item[own], item[hers], return_indices=True)
        taken = rng.random(len(x)) < share
        label[hers[y[taken]]] = label[own[x[taken]]]
    return replace(given_, label=label)


def named(table: Any) -> list[tuple[str, str]]:
    return list(zip(table["judge_a"].to_pylist(), table["judge_b"].to_pylist(), strict=True))


COPIES = [("judge-0001", "judge-0002"), ("judge-0003", "judge-0004")]


@pytest.mark.parametrize("model", [EM, DawidSkene(), MajorityVote()], ids=lambda model: model.name)
def test_copiers_are_found_and_no_others(model: Any) -> None:
    found, false = 0, 0
    for seed in range(6):
        table, _ = find_pairs(model.fit(copied(crowd_of(seed, items=1000), [(0, 1), (2, 3)])))
        found += len(set(named(table)) & set(COPIES))
        false += len(set(named(table)) - set(COPIES))
        assert table["agreements"].to_numpy() == pytest.approx(
            0.93 * table["items"].to_numpy(), rel=0.15
        )
        assert (table["expected"].to_numpy() < table["agreements"].to_numpy()).all()
        assert (table["copied"].to_numpy() > 0.5).all()
    assert found >= 10  # of 12
    assert false <= 1


@pytest.mark.parametrize("difficulty", [None, (1.0, 2.0)], ids=["alike", "items differ"])
@pytest.mark.parametrize("model", [EM, MajorityVote()], ids=lambda model: model.name)
def test_independent_judges_are_not_found(model: Any, difficulty: Any) -> None:
    tables = [find_pairs(model.fit(crowd_of(s, difficulty=difficulty)))[0] for s in range(6)]
    # With the false discovery rate at 5% of nothing, 1 crowd in 20 may have a pair: 6 have 0.3.
    assert sum(len(table) > 0 for table in tables) <= 1


def test_groups_hang_together() -> None:
    table, _ = find_pairs(EM.fit(copied(crowd_of(3, items=2000), [(0, 1), (2, 3), (2, 4)], 1.0)))
    groups: dict[int, set[str]] = {}
    for pair, group in zip(named(table), table["group"].to_pylist(), strict=True):
        groups.setdefault(group, set()).update(pair)
    assert sorted(map(sorted, groups.values())) == [
        ["judge-0001", "judge-0002"],
        ["judge-0003", "judge-0004", "judge-0005"],
    ]
    assert sorted(groups) == [1, 2]


def plain(consensus: Consensus, least: int) -> dict[tuple[int, int], dict[str, float]]:
    """The evidence on every pair by loops: labels, chances, and the mean likelihood ratio."""
    given_, theta = consensus.judgments, consensus.confusion
    by_item: list[dict[int, int]] = [{} for _ in range(given_.item_count)]
    for item, judge, label in zip(given_.item, given_.judge, given_.label, strict=True):
        by_item[item].setdefault(int(judge), int(label))
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for item, labels in enumerate(by_item):
        topic = 0 if len(consensus.prevalence) == 1 else int(given_.topic[item])
        for a, b in itertools.combinations(sorted(labels), 2):
            belief = consensus.prevalence[topic].copy()
            for judge, label in labels.items():
                if judge not in (a, b):
                    belief = belief * theta[judge, :, label]
            belief = belief / belief.sum()
            if consensus.known is not None and consensus.known[item] >= 0:
                belief = np.eye(len(belief))[consensus.known[item]]
            both = [sum(belief * theta[a, :, y] * theta[b, :, y]) for y in range(theta.shape[2])]
            one = found.setdefault((a, b), {"n": 0, "alike": 0, "due": 0.0, "ratio": COPIED * 0})
            score = -1.0
            if labels[a] == labels[b]:
                y = labels[a]
                alone = (sum(belief * theta[a, :, y]) + sum(belief * theta[b, :, y])) / 2
                score = min(alone / both[y], 10.0) - 1
            one["n"] += 1
            one["alike"] += labels[a] == labels[b]
            one["due"] += sum(both)
            one["ratio"] = one["ratio"] + np.log1p(COPIED * score)
    kept = {pair: one for pair, one in found.items() if one["n"] >= least}
    for one in kept.values():
        one["p"] = min(1.0, 1.0 / float(np.exp(one.pop("ratio")).mean()))
    return kept


@given(judgments(labels=3), st.booleans())
def test_the_plain_twin_agrees(given_: Judgments, golden: bool) -> None:
    gold = Gold.of({given_.items[0].as_py(): 1}) if golden else None
    consensus = EM.fit(given_, gold)
    table, _ = find_pairs(consensus, least=2, level=1.0)
    expected = plain(consensus, 2)
    names = given_.judges.to_pylist()
    assert len(table) == len(expected)
    for row in table.to_pylist():
        a, b = names.index(row["judge_a"]), names.index(row["judge_b"])
        twin = expected[a, b]
        assert (row["items"], row["agreements"]) == (twin["n"], twin["alike"])
        assert row["expected"] == pytest.approx(twin["due"])
        assert row["p"] == pytest.approx(twin["p"], rel=1e-6)


def test_too_many_judgments_leave_out_the_fullest_items(monkeypatch: pytest.MonkeyPatch) -> None:
    given_ = crowd_of(0, per_item=(2, 6))
    size = given_.counts_per_item
    few = int((size * (size - 1) // 2)[size < 6].sum())
    monkeypatch.setattr(collusion, "_MOST_COMPARED", few)
    table, notes = find_pairs(EM.fit(given_))
    assert len(table) == 0
    assert f"left out the {int((size == 6).sum()):,} items with most judgments" in notes[0]


def test_errors_that_a_small_panel_shares_are_n_effs_and_raise_no_alarm() -> None:
    """Six judges follow the same wrong cues: each pair agrees beyond independence, as all do."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 500)
    cue = np.where(rng.random(500) < 0.3, 1 - truth, truth)
    label = np.where(rng.random((500, 6)) < 0.85, cue[:, None], 1 - cue[:, None])
    label[:, 5] = np.where(rng.random(500) < 0.9, label[:, 4], label[:, 5])  # but these two copy
    item, judge = np.indices(label.shape)
    rows = {"item": item.ravel(), "judge": judge.ravel(), "label": label.ravel()}
    gold = Gold.of({str(number): int(truth[number]) for number in range(200)})
    consensus = ItemTypes(weigh_copies=False).fit(Judgments.from_table(rows), gold)
    found = find_pairs(consensus)[0]
    assert named(found) == [("4", "5")]
    assert consensus.effective is not None
    assert consensus.effective.mean() < 2.5
    assert len(find_pairs(replace(consensus, dependence=None))[0]) > 10  # of 15, by independence
