"""Crowds: what is made is what was stated, and the same seed makes the same."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from adjudge.data.scale import Scale
from adjudge.errors import BadSetting
from adjudge.simulation import Crowd, Given, Population, Simulated
from adjudge.simulation._crowd import pick

THREE = Scale.parse("0<1<2")
MIX = Population.parse("skilled:80,spammer:10,lazy:5,adversary:5", judges=40)
SHARP = ((0.7, 0.3, 0.0), (0.1, 0.8, 0.1), (0.05, 0.1, 0.85))
FLAT = ((0.4, 0.3, 0.3), (0.3, 0.4, 0.3), (0.2, 0.3, 0.5))
TWO = Population(((Given(SHARP), 3), (Given(FLAT), 5)))


def same(one: Simulated, other: Simulated) -> bool:
    """Whether two makes are the same to the bit."""
    tables = ("judgments", "truth", "gold")
    return (
        all(
            getattr(one, name).to_table().equals(getattr(other, name).to_table()) for name in tables
        )
        and one.confusion.tobytes() == other.confusion.tobytes()
        and one.prevalence.tobytes() == other.prevalence.tobytes()
        and one.kinds == other.kinds
    )


def everything(**changes: Any) -> Crowd:
    settings: dict[str, Any] = {
        "items": 300,
        "population": MIX,
        "scale": THREE,
        "topics": 7,
        "concentration": 4.0,
        "per_item": (2, 6),
        "activity": "zipf",
        "difficulty": (1.0, 4.0),
        "gold": 0.2,
        "honeypots": 0.05,
        "timed": True,
    }
    return Crowd(**(settings | changes))


def test_the_same_seed_makes_the_same_and_another_seed_does_not() -> None:
    assert same(everything().make(3), everything().make(3))
    assert not same(everything().make(3), everything().make(4))


def test_the_number_of_threads_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    crowd = Crowd(items=150_000, population=MIX, scale=THREE, per_item=8, activity="lognormal")
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    alone = crowd.make(1)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert same(alone, crowd.make(1))


def test_sizes_and_names_are_exact() -> None:
    made = everything().make(3)
    judgments = made.judgments
    assert (judgments.item_count, judgments.judge_count, judgments.topic_count) == (300, 40, 7)
    assert judgments.judge.dtype == np.int32
    assert judgments.label.dtype == np.int8
    assert judgments.items[0].as_py() == "item-0000001"
    assert judgments.items[299].as_py() == "item-0000300"
    assert judgments.judges[39].as_py() == "judge-0040"
    assert judgments.topics[6].as_py() == "topic-007"
    assert judgments.items.type == judgments.judges.type == pa.large_string()
    assert judgments.topic is not None
    sizes = np.bincount(judgments.topic)
    assert sizes.max() - sizes.min() == 1
    assert len(made.truth) == 300
    assert len(made.gold) == 60
    assert made.gold.honeypot is not None
    assert made.gold.honeypot.sum() == 15
    assert made.confusion.shape == (40, 3, 3)
    assert made.prevalence.shape == (7, 3)
    assert len(made.kinds) == 40
    assert made.kinds.count("skilled") == 32
    assert repr(made) == f"Simulated({judgments!r}, 60 gold)"
    known, truth = made.gold.align(judgments), made.truth.align(judgments)
    assert (truth >= 0).all()
    np.testing.assert_array_equal(known[known >= 0], truth[known >= 0])
    assert made.gold.honeypots(judgments).sum() == 15
    assert made.gold.topics[0].as_py() == "topic-001"
    assert chisquare(np.bincount(judgments.counts_per_item)[2:]).pvalue > 1e-3  # even over 2 to 6
    more = Crowd(items=10, population=TWO, scale=THREE, per_item=20, repeats=True).make(1)
    assert len(more.judgments) == 200


def test_labels_come_by_the_confusion_of_their_judge() -> None:
    crowd = Crowd(items=20_000, population=TWO, scale=THREE, prevalence=(0.2, 0.3, 0.5), per_item=4)
    made = crowd.make(11)
    judgments = made.judgments
    truth = made.truth.value[judgments.item]
    counts = np.zeros((8, 3, 3))
    np.add.at(counts, (judgments.judge, truth, judgments.label), 1)
    assert (counts[:3, 0, 2] == 0).all()  # a cell of 0 stays empty
    for judge in range(8):
        for row, share in zip(counts[judge], (SHARP, FLAT)[judge >= 3], strict=True):
            possible = np.array(share) > 0
            expected = np.array(share)[possible] * row.sum()
            assert chisquare(row[possible], expected).pvalue > 1e-5
    assert (
        chisquare(np.bincount(made.truth.value), 20_000 * np.array([0.2, 0.3, 0.5])).pvalue > 1e-3
    )
    assert chisquare(counts.sum(axis=(1, 2))).pvalue > 1e-3  # even activity


def test_topics_have_dirichlet_prevalence() -> None:
    crowd = Crowd(
        items=4000,
        population=MIX,
        scale=THREE,
        topics=4000,
        prevalence=(0.6, 0.3, 0.1),
        concentration=5.0,
    )
    made = crowd.make(1)
    phi = np.array([0.6, 0.3, 0.1])
    np.testing.assert_allclose(made.prevalence.mean(axis=0), phi, atol=0.015)
    np.testing.assert_allclose(made.prevalence.var(axis=0), phi * (1 - phi) / 6, rtol=0.1)
    assert kstest(made.prevalence[:, 0], "beta", args=(3, 2)).pvalue > 1e-3
    # Truth follows the prevalence of its own topic.
    own = made.prevalence[np.arange(4000), made.truth.value].mean()
    assert own == pytest.approx((made.prevalence**2).sum(axis=1).mean(), abs=0.02)


def test_difficulty_mixes_the_rows_and_spares_honeypots() -> None:
    crowd = Crowd(
        items=60_000,
        population=Population(((Given(SHARP), 4),)),
        scale=THREE,
        prevalence=(0.2, 0.3, 0.5),
        per_item=2,
        difficulty=(2.0, 3.0),
        gold=0.5,
        honeypots=0.25,
    )
    made = crowd.make(9)
    assert made.difficulty is not None
    easy = made.truth.honeypot
    assert easy is not None
    assert (made.difficulty[easy] == 0).all()
    assert kstest(made.difficulty[~easy], "beta", args=(2, 3)).pvalue > 1e-3
    judgments = made.judgments
    truth, label, item = made.truth.value[judgments.item], judgments.label, judgments.item
    theta = np.array(SHARP)
    for chosen, lost in ((easy[item], 0.0), (~easy[item], 0.4)):
        mixed = (1 - lost) * theta + lost * np.array([0.2, 0.3, 0.5]) @ theta
        counts = np.zeros((3, 3))
        np.add.at(counts, (truth[chosen], label[chosen]), 1)
        observed = counts / counts.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(observed, mixed, atol=0.015)
    # Hard items are harder.
    hard = made.difficulty[item] > 0.6
    right = label == truth
    assert right[hard].mean() < right[~hard & ~easy[item]].mean() - 0.15


def test_times_run_on_and_spammers_are_quick() -> None:
    population = Population.parse("skilled:20,spammer:20")
    made = Crowd(items=2000, population=population, per_item=4, timed=True).make(5)
    judgments = made.judgments
    assert judgments.time is not None
    assert judgments.seconds is not None
    assert judgments.seconds.min() >= 0.1
    medians = [np.median(judgments.seconds[judgments.judge == judge]) for judge in range(40)]
    assert np.median(medians[:20]) == pytest.approx(20, rel=0.25)
    assert np.median(medians[20:]) == pytest.approx(4, rel=0.25)
    start = 1_767_225_600
    for judge in range(40):
        mine = judgments.judge == judge
        time, seconds = judgments.time[mine], judgments.seconds[mine]
        # Her items come in order, each judgment ends its seconds after the one before.
        np.testing.assert_allclose(np.diff(time), seconds[1:], atol=2e-3)
        assert start < time[0] - seconds[0] < start + 7 * 86_400


def test_pick_never_takes_a_share_of_zero() -> None:
    # A tenth ten times sums to less than 1 in floats; the share of 0 after it must stay untaken.
    assert np.cumsum([0.1] * 10)[-1] < 1
    shares = np.array([[0.1] * 10 + [0.0], [0.0, 0.9, 0.1] + [0.0] * 8])
    almost = np.nextafter(1.0, 0.0)
    uniform = np.array([0.0, almost, 0.0, almost])
    chosen = pick(uniform, shares, np.array([0, 0, 1, 1], dtype=np.int32))
    assert chosen.tolist() == [0, 9, 1, 2]


@given(data=st.data())
def test_small_crowds_hold_together(data: st.DataObject) -> None:
    scale = data.draw(
        st.sampled_from([Scale.parse("0<1"), THREE, Scale.parse("a,b,c,d"), Scale(labels=("x",))])
    )
    judges = data.draw(st.integers(1, 12))
    items = data.draw(st.integers(1, 30))
    topics = data.draw(st.integers(0, items))
    low = data.draw(st.integers(0, judges))
    high = data.draw(st.integers(max(low, 1), judges))
    gold = data.draw(st.floats(0, 1))
    crowd = Crowd(
        items=items,
        population=Population.parse("skilled:3,spammer:1,lazy:1,dirichlet:1", judges=judges),
        scale=scale,
        topics=topics,
        concentration=data.draw(st.floats(0.5, 50)) if topics else math.inf,
        per_item=(low, high),
        activity=data.draw(st.sampled_from(["even", "zipf", "lognormal"])),
        difficulty=data.draw(st.sampled_from([None, (1.0, 3.0)])),
        gold=gold,
        honeypots=gold * data.draw(st.floats(0, 1)),
        timed=data.draw(st.booleans()),
    )
    made = crowd.make(data.draw(st.integers(0, 1 << 60)))
    judgments = made.judgments
    assert judgments.item_count == len(made.truth) == items
    assert judgments.judge_count == len(made.kinds) == judges
    counts = judgments.counts_per_item
    assert ((counts >= low) & (counts <= high)).all()
    assert len(judgments.judge) == len(judgments.label) == counts.sum()
    assert ((judgments.label >= 0) & (judgments.label < len(scale.labels))).all()
    assert len(np.unique(judgments.item * judges + judgments.judge)) == len(judgments)
    assert len(made.gold) == round(gold * items)
    np.testing.assert_allclose(made.prevalence.sum(axis=1), 1)
    np.testing.assert_allclose(made.confusion.sum(axis=2), 1)


@pytest.mark.parametrize(
    ("changes", "setting"),
    [
        ({"items": 0}, "items"),
        ({"topics": 301}, "topics"),
        ({"prevalence": (0.5, 0.5)}, "prevalence"),
        ({"prevalence": (0.5, 0.4, 0.2)}, "prevalence"),
        ({"concentration": 0}, "concentration"),
        ({"per_item": (3, 2)}, "per_item"),
        ({"per_item": (2, 50)}, "per_item"),
        ({"steepness": 0}, "steepness"),
        ({"difficulty": (1.0, 0.0)}, "difficulty"),
        ({"gold": 1.2}, "gold"),
        ({"honeypots": 0.3}, "honeypots"),
        ({"activity": "zipff"}, "activity"),
    ],
)
def test_bad_settings_say_what_is_wrong(changes: dict[str, Any], setting: str) -> None:
    with pytest.raises(BadSetting) as caught:
        everything(**changes)
    assert caught.value.setting == setting
    with pytest.raises(BadSetting) as caught:
        everything().make(-1)
    assert caught.value.setting == "seed"
