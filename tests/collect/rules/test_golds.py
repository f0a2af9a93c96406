"""Choosing golds: quotas by hand, the paper's mixes, never one twice while unseen are left."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.collect.rules.golds import (
    GoldCard,
    choose_training,
    quota,
    screening_order,
)

LABELS = ("Matching", "Not Matching", "Off Topic", "Spam")

# Le et al. 2010, table 1, of 20 pairs.
PAPER = {
    1: ({"Matching": 72.7, "Not Matching": 8, "Off Topic": 19.3, "Spam": 0}, (14, 2, 4, 0)),
    2: ({"Matching": 58, "Not Matching": 23.3, "Off Topic": 18, "Spam": 0.7}, (11, 5, 4, 0)),
    3: ({"Matching": 45.3, "Not Matching": 47.3, "Off Topic": 7.3, "Spam": 0}, (9, 10, 1, 0)),
    4: ({"Matching": 34.7, "Not Matching": 56, "Off Topic": 9.3, "Spam": 0.7}, (7, 11, 2, 0)),
    5: ({"Matching": 12.7, "Not Matching": 84, "Off Topic": 3.3, "Spam": 0}, (2, 17, 1, 0)),
}


def cards(counts: dict[str, int]) -> list[GoldCard[str]]:
    return [
        GoldCard(f"{label}-{number}", f"topic {number}", label)
        for label, count in counts.items()
        for number in range(count)
    ]


@pytest.mark.parametrize("experiment", PAPER)
def test_quotas_of_the_papers_five_mixes(experiment: int) -> None:
    mix, expected = PAPER[experiment]
    assert tuple(quota(mix, LABELS, 20).values()) == expected
    golds = cards(dict.fromkeys(LABELS, 20))
    chosen = choose_training(golds, 20, mix, np.random.default_rng(1))
    counts = Counter(name.split("-")[0] for name in chosen)
    assert tuple(counts[label] for label in LABELS) == expected


def test_a_label_with_too_little_gold_is_filled_from_others() -> None:
    golds = cards({"Matching": 2, "Spam": 30})
    chosen = choose_training(golds, 20, "uniform", np.random.default_rng(2))
    counts = Counter(name.split("-")[0] for name in chosen)
    assert counts == {"Matching": 2, "Spam": 18}
    assert len(choose_training(golds, 50, "uniform", np.random.default_rng(2))) == 32


def test_a_training_set_takes_seen_golds_only_when_it_must() -> None:
    golds = cards({"Matching": 10})
    seen = [f"Matching-{number}" for number in range(7)]
    chosen = choose_training(golds, 5, "any", np.random.default_rng(3), seen=seen)
    assert {"Matching-7", "Matching-8", "Matching-9"} <= set(chosen)
    assert len(set(chosen)) == 5


@given(
    st.dictionaries(st.sampled_from(LABELS), st.floats(0, 10), min_size=1).filter(
        lambda mix: sum(mix.values()) > 0
    ),
    st.integers(0, 60),
)
@settings(deadline=None)
def test_a_quota_adds_up_and_is_off_by_less_than_one(mix: dict[str, float], count: int) -> None:
    chosen = quota(mix, LABELS, count)
    assert sum(chosen.values()) == count
    total = sum(mix.values())
    for label in LABELS:
        assert abs(chosen[label] - count * mix.get(label, 0) / total) < 1 + 1e-6


@given(st.sets(st.integers(0, 11)), st.sampled_from(["any", "uniform"]), st.integers(0, 99))
@settings(deadline=None)
def test_screening_gives_unseen_golds_while_there_are_any(
    seen: set[int], mix: str, seed: int
) -> None:
    golds = [GoldCard(n, n % 3, LABELS[n % 4]) for n in range(12)]
    shown = {n: 100 - n for n in seen}
    order = [g.item for g in screening_order(golds, shown, mix, np.random.default_rng(seed))]
    if len(seen) < 12:
        assert set(order) == set(range(12)) - seen
    else:
        assert order == list(range(11, -1, -1))  # shown longest ago first
        none = screening_order(golds, shown, mix, np.random.default_rng(seed), runs_out="none")
        assert none == []


def test_screening_keeps_to_the_mix_over_time() -> None:
    golds = cards({"Matching": 40, "Spam": 40})
    order = screening_order(golds, {}, {"Matching": 3, "Spam": 1}, np.random.default_rng(6))
    for length in (4, 8, 20, 40):
        counts = Counter(gold.label for gold in order[:length])
        assert counts["Matching"] == 3 * length // 4
    # She has had ten of Spam already: the next are Matching until the mix is made good.
    shown = {f"Spam-{n}": n for n in range(10)}
    later = screening_order(golds, shown, {"Matching": 3, "Spam": 1}, np.random.default_rng(7))
    assert {gold.label for gold in later[:29]} == {"Matching"}
