"""Judges who change are found, when they did, and steady ones are not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from adjudge import Consensus, HybridConfusion, Judgments, Scale
from adjudge.data.build import load_table
from adjudge.evaluation.diagnosis.diagnose import find_drift
from adjudge.simulation import Crowd, Population

EM = HybridConfusion(method="em")
PEOPLE = Population.parse("skilled(9,1):20,spammer:2")


def crowd_of(seed: int) -> Judgments:
    crowd = Crowd(items=600, population=PEOPLE, scale=Scale.parse("0<1<2"), per_item=5, timed=True)
    return crowd.make(seed).judgments


def spoilt(given: Judgments, judge: int, seed: int) -> tuple[Judgments, float]:
    """A judge who gives labels at random from the middle of her time on, and when that is."""
    own = np.flatnonzero(given.judge == judge)
    assert given.time is not None
    moment = float(np.sort(given.time[own])[len(own) // 2])
    late = own[given.time[own] >= moment]
    label = given.label.copy()
    label[late] = np.random.default_rng(seed).integers(0, 3, len(late))
    return replace(given, label=label), moment


def test_a_judge_who_stops_looking_is_found() -> None:
    found, others = 0, 0
    for seed in range(5):
        given, moment = spoilt(crowd_of(seed), 3, seed)
        table, _, _ = find_drift(EM.fit(given))
        assert table is not None
        assert len(table) == 22
        for row in table.to_pylist():
            if row["judge"] != "judge-0004":
                others += row["changed"]
                continue
            found += row["changed"]
            if row["changed"]:
                assert row["accuracy_early"] > row["accuracy_late"] + 0.2
                assert row["accuracy_before"] > row["accuracy_after"] + 0.2
                assert row["change"] == pytest.approx(row["accuracy_late"] - row["accuracy_early"])
                span = (row["end"] - row["begin"]).total_seconds()
                assert abs(row["changed_at"].timestamp() - moment) < 0.2 * span
                assert f"{row['changed_at']:%Y-%m-%d %H:%M}" in row["sentence"]
    assert found >= 4
    assert others <= 1


def test_p_values_of_steady_judges_are_no_smaller_than_they_say() -> None:
    p = np.concatenate([find_drift(EM.fit(crowd_of(seed)))[0]["p"].to_numpy() for seed in range(8)])
    for level in (0.02, 0.05, 0.2):
        assert (p <= level).mean() <= level + 2 * np.sqrt(level / len(p))


def one_judge(order: list[int], each: int = 1) -> Consensus:
    """Gold on 40 items: right on 20, then wrong on 20; so many of them at each time."""
    rows = {
        "item": [f"i{n}" for n in order],
        "judge": ["x"] * 40,
        "label": [1 - n % 2 if n >= 20 else n % 2 for n in order],
        "time": [1_000_000 + 60 * (n // each) for n in order],
        "gold": [n % 2 for n in order],
    }
    return EM.fit(*load_table(rows, source="table")[:2])


def test_judgments_of_one_time_have_no_order() -> None:
    order = np.random.default_rng(0).permutation(40).tolist()
    one, two = (find_drift(one_judge(rows, 8))[0] for rows in (list(range(40)), order))
    assert one["p"].to_pylist() == pytest.approx(two["p"].to_pylist(), abs=1e-9)
    assert one["changed_at"].to_pylist() == two["changed_at"].to_pylist()


def test_the_statistic_by_hand() -> None:
    table, history, _ = find_drift(one_judge(list(range(40))))
    assert table is not None
    assert history is not None
    (row,) = table.to_pylist()
    # Residuals are +1/2 and then -1/2: the sum reaches 10 after 20, over sd 1/2 and root of 40.
    assert row["statistic"] == pytest.approx(10 / (0.5 * np.sqrt(40)))
    assert row["p"] == pytest.approx(2 * np.exp(-2 * row["statistic"] ** 2), rel=1e-3)
    assert row["changed"]
    assert row["changed_at"] == datetime.fromtimestamp(1_000_000 + 60 * 20, UTC)
    assert (row["accuracy_early"], row["accuracy_late"]) == (1.0, 0.0)
    assert (row["accuracy_before"], row["accuracy_after"]) == (1.0, 0.0)
    assert history["block"].to_pylist() == [1, 2, 3, 4]
    assert history["accuracy"].to_pylist() == [1.0, 1.0, 0.0, 0.0]
    assert history["judgments"].to_pylist() == [10] * 4
    assert history["begin"][2].as_py() == datetime.fromtimestamp(1_000_000 + 60 * 20, UTC)


def test_no_times_and_too_few() -> None:
    given = crowd_of(0)
    for times in (None, np.full(len(given), np.nan)):
        assert find_drift(EM.fit(replace(given, time=times)))[:2] == (None, None)
    assert given.time is not None
    once = np.where(given.judge < 2, 5.0, np.nan)  # two judges, all at one time
    some = np.flatnonzero(given.judge == 2)[:19]
    once[some] = np.arange(len(some))
    table, history, notes = find_drift(EM.fit(replace(given, time=once)))
    assert table is not None
    assert len(table) == 0
    assert history is not None
    assert set(history["judge"].to_pylist()) == {"judge-0001", "judge-0002", "judge-0003"}
    assert "22 have fewer than 20 judgments" in notes[0]


def test_a_run_of_harder_truths_is_no_drift() -> None:
    # A judge who is right 95% of the time on truth 0 and 55% on truth 1, and sees the 0s first.
    rng = np.random.default_rng(4)
    truth = np.repeat([0, 1], 150)
    rate = np.array([0.95, 0.55])
    label = np.where(rng.random(300) < rate[truth], truth, 1 - truth)
    given, gold = load_table(
        {
            "item": [f"i{n}" for n in range(300)],
            "judge": ["x"] * 300,
            "label": label,
            "time": np.arange(300.0),
            "gold": truth,
        },
        source="table",
    )[:2]
    (row,) = find_drift(EM.fit(given, gold))[0].to_pylist()
    assert row["accuracy_early"] > row["accuracy_late"] + 0.2
    assert row["p"] > 0.05
