"""Decisions about a judge, worked out by hand."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.collect.rules.decisions import (
    Record,
    after_page,
    after_regrade,
    after_training,
    block_by_hand,
    first_stage,
    is_below,
    passes,
    resume,
    training_left,
    training_length,
    unblock_by_hand,
)
from adjudge.collect.rules.policy import Policy
from adjudge.errors import BadSetting

BETA = Policy(trust="beta", confidence=0.9)


@pytest.mark.parametrize(
    ("right", "seen", "policy", "least", "below"),
    [
        (3, 5, Policy(), 1, True),
        (4, 5, Policy(), 1, False),
        (7, 10, Policy(), 1, False),
        (0, 4, Policy(), 5, False),
        (0, 1, BETA, 1, False),
        (0, 2, BETA, 1, True),
    ],
)
def test_share_and_beta_say_below_as_worked_out_by_hand(
    right: int, seen: int, policy: Policy, least: int, below: bool
) -> None:
    line = 0.6 if policy.trust == "beta" else 0.7  # 1 - 0.4^2 = 0.84, and 1 - 0.4^3 = 0.936
    assert is_below(right, seen, line, policy, least) is below


def test_the_first_stage_depends_on_consent_training_and_gold() -> None:
    assert first_stage(Policy(), training_golds=20) == "consent"
    free = Policy(require_consent=False)
    assert first_stage(free, training_golds=20) == "training"
    assert first_stage(free, training_golds=0) == "working"
    assert first_stage(free.changed({"training": False}), training_golds=20) == "working"
    assert (training_length(free, 12), training_length(free, 30)) == (12, 20)


def training(right: int, seen: int, attempt: int = 1) -> Record:
    return Record(stage="training", training_seen=seen, training_right=right, attempt=attempt)


def test_training_may_require_a_number_of_right_answers() -> None:
    policy = Policy(training_rule="correct", training_pairs=20, training_tries=2)

    def after(seen: int, right: int) -> tuple[str, int]:
        record = Record(stage="training", training_seen=seen, training_right=right)
        return after_training(record, policy, pairs=20).stage, training_left(
            record, policy, pairs=20
        )

    assert after(20, 20) == ("working", 0)
    assert after(20, 15) == ("training", 5)  # a share would have passed or failed by now
    assert after(28, 20) == ("working", 0)
    assert after(38, 17) == ("training", 2)  # two results are left of forty
    assert after(40, 19) == ("failed", 0)
    assert passes(20, 40, policy)
    assert not passes(19, 20, policy)
    with pytest.raises(BadSetting, match="training_rule = 'all': expected share or correct"):
        Policy(training_rule="all")


def test_trust_may_count_the_training_too() -> None:
    record = Record(stage="working", training_seen=20, training_right=18, seen=5, right=2)
    assert after_page(record, Policy()).stage == "warned"  # 2 of 5
    assert after_page(record, Policy(trust_training=True)).stage == "working"  # 20 of 25
    poor = Record(stage="working", training_seen=20, training_right=12, seen=5, right=4)
    assert after_page(poor, Policy()).stage == "working"  # 4 of 5
    assert after_page(poor, Policy(trust_training=True)).stage == "warned"  # 16 of 25


def test_training_is_passed_failed_or_tried_again() -> None:
    policy = Policy(training_tries=2)
    assert after_training(training(0, 19), policy, pairs=20).events == ()
    assert after_training(training(14, 20), policy, pairs=20).events == ("training-passed",)
    again = after_training(training(13, 20), policy, pairs=20)
    assert (again.events, again.record) == (("training-again",), training(0, 0, 2))
    last = after_training(training(13, 20, 2), policy, pairs=20)
    assert (last.events, last.stage) == (("training-failed",), "failed")


def working(right: int, seen: int, **more: Any) -> Record:
    return Record(stage=more.pop("stage", "working"), right=right, seen=seen, **more)


def test_warned_once_and_blocked_only_after_further_golds() -> None:
    policy = Policy(golds_after_warning=3)
    assert after_page(working(0, 4), policy).events == ()
    warned = after_page(working(2, 5), policy)
    assert (warned.events, warned.stage, warned.record.warned_at) == (("warned",), "warned", 5)
    same = after_page(dataclasses.replace(warned.record, seen=7, right=2), policy)
    assert (same.events, same.stage) == ((), "warned")
    gone = after_page(dataclasses.replace(warned.record, seen=8, right=2), policy)
    assert (gone.events, gone.stage) == (("blocked",), "blocked")
    better = after_page(dataclasses.replace(warned.record, seen=15, right=12), policy)
    assert (better.events, better.stage, better.record.warned_at) == (("recovered",), "working", 5)
    again = after_page(dataclasses.replace(better.record, seen=20, right=13), policy)
    assert (again.events, again.stage) == ((), "warned")  # below again, but not warned again


def test_beta_never_blocks_for_one_miss() -> None:
    policy = Policy(trust="beta", least_golds=1)
    assert after_page(working(0, 1), policy).events == ("warned",)  # P(< 0.7) = 0.91
    careful = Policy(trust="beta", least_golds=1, confidence=0.95)
    assert after_page(working(0, 1), careful).events == ()


def test_a_regrade_only_ever_puts_right() -> None:
    policy = Policy()
    blocked = working(3, 10, stage="blocked", warned_at=5)
    assert after_regrade(blocked, policy).events == ()
    lifted = after_regrade(dataclasses.replace(blocked, right=6), policy)
    assert (lifted.events, lifted.stage) == (("unblocked",), "warned")
    cleared = after_regrade(dataclasses.replace(blocked, right=9), policy)
    assert (cleared.stage, cleared.record.warned_at) == ("working", None)
    by_hand = dataclasses.replace(blocked, right=9, by_hand=True)
    assert after_regrade(by_hand, policy).stage == "blocked"
    unwarned = after_regrade(working(9, 10, stage="warned", warned_at=5), policy)
    assert (unwarned.events, unwarned.record.warned_at) == (("recovered",), None)
    assert after_regrade(working(0, 10), policy).events == ()
    failed = dataclasses.replace(training(13, 20), stage="failed")
    assert after_regrade(failed, policy, passed=True).events == ("training-passed",)
    assert after_regrade(failed, policy, passed=False).stage == "failed"


def test_by_hand_gives_a_fresh_start_and_goes_back_to_where_she_was() -> None:
    record = working(3, 10, stage="blocked", warned_at=5)
    fresh = unblock_by_hand(block_by_hand(record))
    assert fresh == Record(stage="working")
    early = block_by_hand(training(2, 3))
    assert (early.stage, early.by_hand) == ("blocked", True)
    assert unblock_by_hand(early) == training(2, 3)


def test_taking_up_work_again_keeps_a_warning() -> None:
    policy = Policy()
    low = working(3, 10, stage="finished", warned_at=5)
    assert resume(low, policy).stage == "warned"
    assert resume(dataclasses.replace(low, right=8), policy).stage == "working"


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=30),
    st.sampled_from(["share", "beta"]),
    st.integers(1, 10),
    st.integers(1, 6),
)
@settings(deadline=None)
def test_no_judge_is_blocked_without_a_warning_and_further_golds(
    pages: list[tuple[int, int]], trust: str, least: int, after: int
) -> None:
    policy = Policy(trust=trust, least_golds=least, golds_after_warning=after)  # type: ignore[arg-type]
    record = Record(stage="working")
    warnings = 0
    for right, wrong in pages:
        before = record
        record = dataclasses.replace(
            record, seen=record.seen + right + wrong, right=record.right + right
        )
        decision = after_page(record, policy)
        record = decision.record
        warnings += decision.events.count("warned")
        if "blocked" in decision.events:
            assert before.warned_at is not None
            assert record.seen - before.warned_at >= after
            assert record.seen >= least
            break
    assert warnings <= 1
