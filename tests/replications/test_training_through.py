"""The five arms through a real server: what it reports, and whose the effect is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from adjudge.collect.rules.golds import GoldCard, choose_training
from adjudge.replications.replication import Setup
from adjudge.replications.training import (
    ACCURACY,
    ARMS,
    CAME,
    GOLDS,
    PASSED,
    POLICY,
    PRECISION,
    RECALL,
    TABLE_1,
    UNIFORM,
    VOTE,
)
from adjudge.replications.training._crowd import LABELS
from adjudge.replications.training._through import (
    _MAIN,
    _NONE,
    _POOL,
    _STRONG,
    _THROUGH,
    REPLICATION,
    _experiment,
)
from sizes import FULL, sized

pytestmark = pytest.mark.slow

Arms = Mapping[str, Mapping[str, Mapping[str, float]]]


def accuracy(arms: Arms) -> dict[str, float]:
    return {arm: arms[arm][VOTE][ACCURACY] for arm in ARMS}


def test_the_gold_is_enough_for_the_training_of_every_arm() -> None:
    assert tuple(max(GOLDS[arm][place] for arm in ARMS) for place in range(4)) == _POOL
    cards = [
        GoldCard((label, number), number, label)
        for label, count in zip(LABELS, _POOL, strict=True)
        for number in range(count)
    ]
    for shares in TABLE_1.values():
        mix = dict(zip(LABELS, shares, strict=True))
        chosen = choose_training(cards, 20, mix, np.random.default_rng(0))
        for label, share in mix.items():
            count = sum(name == label for name, _ in chosen)
            assert abs(count - 20 * share / sum(shares)) < 1


def test_parts_are_experiments_that_can_be_gone_on_with() -> None:
    parts = REPLICATION.parts(Setup(quick=True))
    assert len(parts) == 2 * 3
    assert {part.name for part in parts} >= {f"{_MAIN}-seed-001", f"{_NONE}-seed-002"}
    assert parts[0].settings["queries"] < REPLICATION.parts(Setup())[0].settings["queries"]


SMALL = replace(_THROUGH[_NONE], at_once=1, leaving=0.0)
SHORT = POLICY.changed(  # one right lets in, or half of those who come would do so in vain
    {"training_pairs": 4, "training_pass": sized(0.25, full=POLICY.training_pass)}
)
QUERIES = sized(2, full=4)  # of five results


def test_the_server_reports_every_arm() -> None:
    found = _experiment(SMALL, QUERIES, 1, policy=SHORT)
    if FULL:
        assert _experiment(SMALL, QUERIES, 1, policy=SHORT) == found, "it can be had again"
    arms: Arms = found["arms"]
    assert tuple(arms) == ARMS
    for arm in arms.values():
        assert (
            arm["judgments"][VOTE] == 5 * 5 * QUERIES
        )  # its number on every item, no more and no less
        assert arm["funnel"][CAME] >= arm["funnel"][PASSED] >= 5
        assert all(0 <= arm[VOTE][name] <= 1 for name in (ACCURACY, PRECISION, RECALL))
    came = [arm["funnel"][CAME] for arm in arms.values()]
    assert max(came) - min(came) <= 2  # dealt out in blocks
    assert found["work"] > 5 * 5 * 5 * QUERIES
    partials = {
        f"{name}-seed-{seed:03d}": {**found, "judgments": 1000}
        for name in _THROUGH
        for seed in (1, 2)
    }
    result = REPLICATION.gather(Setup(quick=True), partials)
    assert [table.name for table in result.tables] == [
        *("table-1", "table-2", "table-3", "table-4", "strengths")
    ]
    held = {claim.text: claim.holds for claim in result.claims}
    assert held["Every arm has the same number of trusted judgments, in every experiment."]
    assert len(held) == len(_THROUGH) + 1
    assert all(figure.chart(figure.data).to_dict() for figure in result.figures)


@pytest.mark.full
def test_the_effect_is_the_judges_and_not_the_softwares() -> None:
    """With strong anchoring the uniform arm is best; with none no arm differs beyond chance.

    The whole dose-response is on the page of the replication; here 50 items an arm, so that the
    next best mix, which is .03 behind, can only be told not to be clearly better.
    """
    strong = accuracy(_experiment(_THROUGH[_STRONG], 10, 1)["arms"])
    none = accuracy(_experiment(_THROUGH[_NONE], 10, 1)["arms"])
    error = (0.93 * 0.07 / 50) ** 0.5
    for arm in ARMS:
        assert strong[UNIFORM] > strong[arm] - 2 * error
        assert abs(none[UNIFORM] - none[arm]) < 3 * error * 2**0.5
    assert sum(strong[UNIFORM] > strong[arm] + 2 * error for arm in ARMS) >= 2
