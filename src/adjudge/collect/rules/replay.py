"""Replay of the log: the state that every judge should have by the log alone.

Pure. An audit compares it with what is stored; the two must be equal at any moment.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, cast

from adjudge.collect.rules.decisions import (
    Record,
    after_page,
    after_regrade,
    after_training,
    at_finish,
    block_by_hand,
    resume,
    unblock_by_hand,
)
from adjudge.collect.rules.golds import is_due
from adjudge.collect.rules.policy import Policy
from adjudge.collect.values.requesting import LogEntry


@dataclass(slots=True)
class _Judge:
    """A judge in the replay: their record, and every answer they gave to gold."""

    arm: str
    record: Record
    work: list[tuple[str, str]] = field(default_factory=list)  # gold, label; since a fresh start
    training: dict[int, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    refreshers: int = 0
    mark: int = 0  # how much of ``work`` came before the last refresher


class LogReplay:
    """Plays a log, entry by entry; ``records`` are their states."""

    def __init__(self) -> None:
        self._policies: dict[int, Policy] = {}
        self._arms: dict[str, dict[str, Any]] = {}
        self._accepted: dict[str, list[str] | None] = {}
        self._judges: dict[str, _Judge] = {}
        self.faults: list[str] = []  # what the log holds and should not

    @property
    def records(self) -> dict[str, Record]:
        """The state of each judge."""
        return {name: judge.record for name, judge in self._judges.items()}

    @property
    def refreshers(self) -> dict[str, int]:
        """How many refreshers each judge has done; those who did none are not in."""
        done = {name: judge.refreshers for name, judge in self._judges.items()}
        return {name: count for name, count in done.items() if count}

    def play(self, entries: Iterable[LogEntry]) -> LogReplay:
        """Play entries in order."""
        for entry in entries:
            self._step(entry)
        return self

    def _policy(self, entry: LogEntry, arm: str) -> Policy:
        policy = self._policies[entry.policy_version]
        return Policy.from_stored({**dict(policy), **self._arms.get(arm, {})})

    def _step(self, entry: LogEntry) -> None:
        figures = cast(dict[str, Any], entry.figures)
        if entry.event in ("project-created", "policy-changed", "arms-changed"):
            self._policies[entry.policy_version] = Policy.from_stored(figures["policy"])
            self._arms = figures.get("arms", self._arms)
        if "golds" in figures and isinstance(figures["golds"], dict):
            self._accepted |= figures["golds"]
        if entry.event == "gold-edited":
            self._accepted[str(figures["gold"])] = figures["accepted"]
        if entry.judge is None:
            return
        if entry.event == "arrived":
            self._judges[entry.judge] = _Judge(figures["arm"], Record(stage=figures["stage"]))
            return
        judge = self._judges[entry.judge]
        judge.record = self._after(entry, judge, figures)

    def _after(self, entry: LogEntry, judge: _Judge, figures: dict[str, Any]) -> Record:
        record = judge.record
        policy = self._policy(entry, judge.arm)
        match entry.event:
            case "consented":
                return replace(record, stage=figures["stage"])
            case "training-answered":
                judge.training[record.attempt] += [(str(g), label) for g, label in figures["golds"]]
                record = record.recounted(self._count_grades(judge))
                if not figures["ended"]:
                    return record
                return after_training(record, policy, pairs=figures["pairs"]).record
            case "training-waived":
                return replace(record, stage="working")
            case "page-answered":
                judge.work += [(str(g), label) for g, label in figures["golds"]]
                return after_page(record.recounted(self._count_grades(judge)), policy).record
            case "refresher-given":
                misses = self._grades(judge.work[judge.mark :])["wrong"]
                if not is_due(policy, misses=misses, had=judge.refreshers):
                    self.faults.append(f"judge {entry.judge}: a refresher after {misses} misses")
            case "refresher-answered":
                if figures["ended"]:
                    judge.refreshers += 1
                    judge.mark = len(judge.work)
            case "regraded":
                graded = self._count_grades(judge)
                passed = record.has_passed(graded, policy)
                return after_regrade(record.recounted(graded), policy, passed=passed).record
            case "finished":
                return replace(record, stage="finished")
            case "blocked-at-finish":
                decision = at_finish(record, policy)
                if decision.stage != "blocked":
                    self.faults.append(f"judge {entry.judge}: blocked at the finish, wrongly")
                return decision.record
            case "training-resumed":
                return replace(record, stage="training")
            case "resumed":
                return resume(record, policy)
            case "blocked-by-hand":
                return block_by_hand(record)
            case "unblocked-by-hand":
                judge.work.clear()
                judge.mark = 0
                return unblock_by_hand(record)
        return record

    def _grades(self, answers: Iterable[tuple[str, str]]) -> Counter[str]:
        """Answers to gold, counted by their grade under the gold as it is now."""
        counts: Counter[str] = Counter()
        for gold, label in answers:
            accepted = self._accepted.get(gold)
            counts[
                "ungraded" if accepted is None else "right" if label in accepted else "wrong"
            ] += 1
        return counts

    def _count_grades(self, judge: _Judge) -> dict[int, Counter[str]]:
        """Every answer of a judge to gold, by the try at the training and grade; 0 is work."""
        tries = {attempt: self._grades(answers) for attempt, answers in judge.training.items()}
        return defaultdict(Counter, {**tries, 0: self._grades(judge.work)})
