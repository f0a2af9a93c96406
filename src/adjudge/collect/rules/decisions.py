"""The decisions about a judge that follow from a project's policy: trained, warned, blocked.

Everything here is pure: the record of a judge goes in, a decision comes out. No
database, no clock. The same functions run live, in a regrade, in the replay of a log and in a
simulated experiment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from adjudge.collect.rules.policy import Policy
from adjudge.collect.values.judging import Stage, accuracy_of

# Answers to gold by the try at the training, 0 for work, counted as right, wrong or ungraded.
_Graded = Mapping[int, Counter[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What decisions need to know of a judge.

    ``seen`` and ``right`` count the screening golds answered since they came, or since a requester
    last unblocked them: that is a fresh start. ``warned_at`` is ``seen`` when they were warned.
    """

    stage: Stage
    seen: int = 0
    right: int = 0
    warned_at: int | None = None
    by_hand: bool = False  # blocked by a requester: only a requester unblocks
    before: Stage | None = None  # the stage before a block by hand, or at the finish
    attempt: int = 1  # the present try at the training
    training_seen: int = 0  # in the present try
    training_right: int = 0

    @property
    def accuracy(self) -> float | None:
        """Share of screening golds right; None before the first."""
        return accuracy_of(self.right, self.seen)

    @property
    def figures(self) -> dict[str, Any]:
        """What a decision on the judge rests on, for the log."""
        return {"stage": self.stage, "seen": self.seen, "right": self.right}

    @property
    def ended_blocked(self) -> bool:
        """Whether the judge was blocked when they finished."""
        return self.stage == "blocked" and self.before == "finished" and not self.by_hand

    def recounted(self, graded: _Graded) -> Record:
        """The record with its tallies counted again.

        In training an answer without a grade fills its place and does no harm; in work it is not
        counted.
        """
        work, trained = graded[0], graded[self.attempt]
        return replace(
            self,
            seen=work["right"] + work["wrong"],
            right=work["right"],
            training_seen=trained.total(),
            training_right=trained["right"] + trained["ungraded"],
        )

    def has_passed(self, graded: _Graded, policy: Policy) -> bool:
        """Whether one of the tries that the judge has ended would pass now."""
        ended = self.attempt if self.stage == "failed" else self.attempt - 1
        tries = (graded[attempt] for attempt in range(1, ended + 1))
        return any(
            one and passes(one["right"] + one["ungraded"], one.total(), policy) for one in tries
        )


_Event = Literal[
    "training-passed", "training-failed", "training-again", "warned", "recovered", "blocked",
    "unblocked", "blocked-at-finish",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What follows from a record: the record after it, and the events to log, with figures."""

    record: Record
    events: tuple[_Event, ...] = ()

    @property
    def stage(self) -> Stage:
        """The stage after the decision."""
        return self.record.stage


def first_stage(policy: Policy, *, training_golds: int) -> Stage:
    """The stage of a judge who has just arrived."""
    if policy.require_consent:
        return "consent"
    return stage_after_consent(policy, training_golds=training_golds)


def stage_after_consent(policy: Policy, *, training_golds: int) -> Stage:
    """Training where the policy and the gold have one, else work."""
    return "training" if training_length(policy, training_golds) else "working"


def training_length(policy: Policy, training_golds: int) -> int:
    """How many pairs the training has: the policy's number, or as much gold as there is."""
    return min(policy.training_pairs, training_golds) if policy.training else 0


def after_training(record: Record, policy: Policy, *, pairs: int) -> Decision:
    """The decision after answers in training: still at it, passed, failed, or another try."""
    if record.stage != "training" or training_left(record, policy, pairs=pairs):
        return Decision(record=record)
    by_share = policy.training_rule == "share"
    right, seen = record.training_right, record.training_seen
    if passes(right, seen, policy) if by_share else right >= pairs:
        return Decision(record=replace(record, stage="working"), events=("training-passed",))
    if by_share and record.attempt < policy.training_tries:
        again = replace(record, attempt=record.attempt + 1, training_seen=0, training_right=0)
        return Decision(record=again, events=("training-again",))
    return Decision(record=replace(record, stage="failed"), events=("training-failed",))


def training_left(record: Any, policy: Policy, *, pairs: int) -> int:
    """How many pairs of the training are still to be shown, at the least; 0 ends a try.

    By the rule ``share`` a try has so many pairs. By ``correct`` it goes on until so many were
    answered rightly, as in the paper ("each worker has to complete 20 query-result pairs
    successfully"), and ends unpassed when ``training_tries`` times as many were shown.
    """
    if policy.training_rule == "share":
        return max(0, pairs - int(record.training_seen))
    most = policy.training_tries * pairs
    return max(0, min(pairs - int(record.training_right), most - int(record.training_seen)))


def passes(right: int, seen: int, policy: Policy) -> bool:
    """Whether a try at the training reaches what the policy wants."""
    if policy.training_rule == "correct":
        return right >= policy.training_pairs
    return right >= policy.training_pass * seen - 1e-9


def after_page(record: Record, policy: Policy) -> Decision:
    """The decision after a page of work whose golds are already in the record's tallies.

    Below the warning line they are warned, once. Below the blocking line they are blocked, but only
    after a warning and further golds. A warned judge whose accuracy recovers works on as before;
    falling below the threshold again brings no second warning.
    """
    if record.stage not in ("working", "warned"):
        return Decision(record=record)
    low = _below(record, policy, policy.warn_below)
    if record.warned_at is None:
        if not low:
            return Decision(record=record)
        warned = replace(record, stage="warned", warned_at=record.seen)
        return Decision(record=warned, events=("warned",))
    further = record.seen - record.warned_at
    if further >= policy.golds_after_warning and _below(record, policy, policy.block_below):
        return Decision(record=replace(record, stage="blocked"), events=("blocked",))
    if low:
        return Decision(record=replace(record, stage="warned"))
    events: tuple[_Event, ...] = ("recovered",) if record.stage == "warned" else ()
    return Decision(record=replace(record, stage="working"), events=events)


def at_finish(record: Record, policy: Policy) -> Decision:
    """The decision on a judge whose way ends, at their own wish or since there is no more.

    Who goes needs no warning: below the blocking line they end as blocked, however few golds they
    have met. Otherwise a page answered at random would be trusted of everyone who leaves after it.
    """
    at_work = record.stage in ("working", "warned")
    if at_work and _below(record, policy, policy.block_below, least=1):
        blocked = replace(record, stage="blocked", before="finished")
        return Decision(record=blocked, events=("blocked-at-finish",))
    return Decision(record=replace(record, stage="finished"))


def golds_lacking(record: Any, policy: Policy, golds: int) -> int:
    """How many golds a judge has still to meet before their judgments close items.

    ``golds`` is how many there are to be met.
    """
    if not policy.gold_before_closing or policy.screening_share == 0:
        return 0
    seen = record.seen + (record.training_seen if policy.trust_training else 0)
    return max(0, min(policy.least_golds, golds) - int(seen))


def is_checked(record: Record, policy: Policy, golds: int, *, over: bool = False) -> bool:
    """Whether the judgments of a judge close items.

    They do once the judge has met ``least_golds`` and is not below the blocking line. ``over``:
    the judge can meet no further gold, and what they met has to do.
    """
    if not policy.gold_before_closing or policy.screening_share == 0 or golds == 0:
        return True
    enough = over or golds_lacking(record, policy, golds) == 0
    return enough and not _below(record, policy, policy.block_below, least=1)


def after_regrade(record: Record, policy: Policy, *, passed: bool = False) -> Decision:
    """The decision after gold was edited and the record's tallies were counted again.

    A regrade only ever puts right: it lifts a block or a warning that the tallies no longer bear
    out, and lets a judge through who failed the training (``passed``). It never warns or blocks:
    the next page does, if need be. A block by hand stays.
    """
    if record.stage in ("failed", "training") and passed:
        return Decision(record=replace(record, stage="working"), events=("training-passed",))
    if record.stage == "warned" and not _below(record, policy, policy.warn_below):
        recovered = replace(record, stage="working", warned_at=None)
        return Decision(record=recovered, events=("recovered",))
    if record.stage != "blocked" or record.by_hand:
        return Decision(record=record)
    if _below(record, policy, policy.block_below, least=1 if record.ended_blocked else None):
        return Decision(record=record)
    if record.ended_blocked:
        ended = replace(record, stage="finished", before=None)
        return Decision(record=ended, events=("unblocked",))
    if _below(record, policy, policy.warn_below):
        return Decision(record=replace(record, stage="warned"), events=("unblocked",))
    free = replace(record, stage="working", warned_at=None)
    return Decision(record=free, events=("unblocked",))


def block_by_hand(record: Record) -> Record:
    """The record after a requester blocked the judge."""
    before = None if record.stage == "blocked" else record.stage
    return replace(record, stage="blocked", by_hand=True, before=before or record.before)


def unblock_by_hand(record: Record) -> Record:
    """The record after a requester unblocked the judge: a fresh start, tallies from zero.

    One who was blocked before they came to work goes on where they were.
    """
    early = record.before in ("consent", "training", "failed")
    stage: Stage = record.before if early and record.before else "working"
    return replace(record, stage=stage, by_hand=False, before=None, seen=0, right=0, warned_at=None)


def resume(record: Record, policy: Policy) -> Record:
    """The record of a finished judge who takes up work again."""
    low = record.warned_at is not None and _below(record, policy, policy.warn_below)
    return replace(record, stage="warned" if low else "working")


def _below(record: Record, policy: Policy, line: float, least: int | None = None) -> bool:
    """Whether a judge counts as below a line, on hidden gold or also on that of the training."""
    right, seen = record.right, record.seen
    if policy.trust_training:
        right, seen = right + record.training_right, seen + record.training_seen
    return is_below(right, seen, line, policy, policy.least_golds if least is None else least)


def is_below(right: int, seen: int, line: float, policy: Policy, least: int = 1) -> bool:
    """Whether an accuracy on golds counts as below a line; never before ``least`` golds.

    ``share``: the share correct so far is below it (the paper's). ``beta``: it is more probable
    than ``confidence`` that the accuracy is below it, by Beta(1 + right, 1 + wrong).
    """
    if seen < least:
        return False
    if policy.trust == "share":
        return right < line * seen - 1e-9
    from scipy.special import betainc

    return bool(betainc(1 + right, 1 + seen - right, line) > policy.confidence)
