"""The simulated crowd of the training-question experiment: what is assumed, and how it is run.

Everything assumed about people is a field of ``Assumptions``. No field belongs to an arm: arms
differ by their gold alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.collect.rules.decisions import Record, after_page, after_training
from adjudge.collect.rules.golds import GoldCard, choose_training, screening_order
from adjudge.collect.rules.policy import Policy
from adjudge.collect.rules.routing import compose, interleave
from adjudge.simulation import Matrix
from adjudge.simulation.behaviours import (
    AT_WORK,
    Clicker,
    Ethical,
    GoldFeedback,
    LabelSpammer,
    Patience,
    Sheet,
    SheetOutcome,
    SimulatedJudge,
    Stage,
    visit,
)

LABELS = ("Matching", "Not Matching", "Off Topic", "Spam")
_RESULTS_PER_QUERY = 5
_AHEAD = 2  # a page is made from the open items and golds of this many pages


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """What the simulation assumes about the crowd, the same in every arm.

    - ``spammers``, ``clickers``: shares of those who come; the others are ethical. The paper says
      that its pay drew both ethical and unethical workers, and gives no shares; here a fifth are
      unethical, about as many as failed its training (33 of 149), half of each kind.
    - ``confusion``: how an ethical judge errs on average before any mix influences them. Its level
      is that of the middle arm of table 3 (recall .77 of Not Matching, accuracy .75); the rest is
      ours.
    - ``kappa``: rows of a judge's own matrix are Dirichlet(kappa * confusion). Ours.
    - ``anchoring``: uniform between these for ethical judges: 0 ignores the label mix that was
      seen, 1 uses it as the prior, as Bayes' rule would. Ours: the full range.
    - ``learning``: how much errors shrink with examples of both labels (``Ethical``); 0 is not at
      all. Ours: the paper says that training makes workers more skilled, and gives no measure.
    - ``errors``: the factor on the errors of ``confusion`` before anything is learnt, so that
      judges who learn reach its level.
    - ``leaving``: the share who leave without the training: 106 of 255 in table 2.
    - ``pages``: pages of work that a judge would do, geometric with this mean. From table 2 and
      five judgments per item: 6,400 judgments per arm by about 20 who passed, 20 per page.
    - ``at_once``: judges at work at a time. Ours.

    Judges err independently given the truth, and learn the label mix from training and from the
    golds that they missed at work.
    """

    spammers: float = 0.10
    clickers: float = 0.10
    confusion: Matrix = (
        (0.70, 0.27, 0.02, 0.01),
        (0.15, 0.78, 0.06, 0.01),
        (0.05, 0.35, 0.57, 0.03),
        (0.05, 0.15, 0.20, 0.60),
    )
    kappa: float = 20.0
    anchoring: tuple[float, float] = (0.0, 1.0)
    learning: float = 0.0
    errors: float = 1.0
    leaving: float = 0.4
    pages: float = 15.0
    at_once: int = 8


@dataclass(frozen=True, slots=True)
class Shown:
    """A result: the text that is shown, its query, its true label."""

    text: str
    query: str
    truth: str


@dataclass(frozen=True, slots=True)
class Material:
    """The results to be judged, the same in every arm, and each arm's gold."""

    items: tuple[Shown, ...]
    golds: Mapping[str, tuple[Shown, ...]]  # arm

    @property
    def truth(self) -> NDArray[np.int64]:  # (item,)
        """The true label of each item."""
        return np.array([LABELS.index(item.truth) for item in self.items])


def make_material(
    queries: int,
    mix: Sequence[float],  # (label,)
    golds: Mapping[str, Sequence[int]],  # arm: (label,)
    rng: np.random.Generator,
) -> Material:
    """Results with exactly this mix of labels, and gold with each arm's counts of labels.

    Each gold has its own query.
    """
    count = queries * _RESULTS_PER_QUERY
    exact = count * np.array(mix) / sum(mix)
    each = np.floor(exact).astype(np.int64)
    each[np.argsort(each - exact, kind="stable")[: count - int(each.sum())]] += 1
    truths = rng.permutation(np.repeat(LABELS, each))
    items = tuple(
        Shown(f"result {place}", f"query {place // _RESULTS_PER_QUERY}", str(truth))
        for place, truth in enumerate(truths)
    )
    made = {
        arm: tuple(
            Shown(f"gold {arm}/{place}", f"gold query {arm}/{place}", str(truth))
            for place, truth in enumerate(np.repeat(LABELS, counts))
        )
        for arm, counts in golds.items()
    }
    return Material(items, made)


def arrivals(
    crowd: Assumptions, sight: Mapping[str, int], rng: np.random.Generator
) -> Iterator[SimulatedJudge]:
    """Those who come, one after the other, without end."""
    mean = crowd.errors * np.array(crowd.confusion)
    np.fill_diagonal(mean, 0.0)
    mean += np.diag(1.0 - mean.sum(axis=1))
    while True:
        own = np.random.default_rng(rng.integers(2**63))
        kind = own.random()
        behaviour: Any
        if kind >= crowd.spammers + crowd.clickers:
            rows = np.stack([own.dirichlet(crowd.kappa * row) for row in mean])
            lean = float(own.uniform(*crowd.anchoring))
            behaviour = Ethical(rows, sight, own, anchoring=lean, learning=crowd.learning)
        else:
            behaviour = LabelSpammer(own) if kind < crowd.spammers else Clicker(own)
        training = 0.0 if own.random() < crowd.leaving else np.inf
        yield SimulatedJudge(behaviour, Patience(training, float(own.geometric(1 / crowd.pages))))


@dataclass(slots=True, eq=False)
class JudgeState:
    """What the collection knows of one judge."""

    training: list[int]  # golds still to be shown in training
    judged: NDArray[np.bool_]  # (item,)
    record: Record = field(default_factory=lambda: Record(stage="training"))
    gold_shown: dict[int, int] = field(default_factory=dict)  # gold: when
    items: list[int] = field(default_factory=list)  # judged
    labels: list[int] = field(default_factory=list)  # given to them

    @property
    def stage(self) -> Stage:
        """The stage as a visitor knows it: nobody consents here."""
        return "training" if self.record.stage == "consent" else self.record.stage


class ArmCollection:
    """The collection of one arm, decided by the rules of the collection server.

    It is a ``JudgingClient``: simulated judges arrive, answer sheets and get feedback. Items have
    numbers from 0, golds below 0.
    """

    def __init__(self, made: Material, arm: str, policy: Policy, rng: np.random.Generator) -> None:
        self.items, self.golds, self.policy = made.items, made.golds[arm], policy
        self.judges: dict[str, JudgeState] = {}
        self.trusted = np.zeros(len(self.items), dtype=np.int64)
        self._order = np.array(interleave([item.query for item in self.items], 1))
        self._cards = [
            GoldCard(-1 - n, gold.query, gold.truth) for n, gold in enumerate(self.golds)
        ]
        self._rng = rng

    @property
    def full(self) -> bool:
        """Whether every item has its trusted judgments."""
        return bool((self.trusted >= self.policy.judgments_per_item).all())

    def arrive(self, key: str) -> Stage:
        """Register a judge, who starts with the training."""
        golds, mix = self.policy.training_pairs, self.policy.training_mix
        training = choose_training(self._cards, golds, mix, self._rng)
        self.judges[key] = JudgeState(training, np.zeros(len(self.items), dtype=np.bool_))
        return "training"

    def sheet(self, key: str) -> Sheet | None:
        """One gold of the training, or a page of work."""
        judge = self.judges[key]
        if judge.stage not in AT_WORK:
            return None
        if judge.stage == "training":
            return self._sheet("training", (judge.training[0],))
        page = self._page(judge)
        return self._sheet("work", page) if page else None

    def _sheet(self, kind: Any, page: tuple[int, ...]) -> Sheet:
        shown = (self.items[n] if n >= 0 else self.golds[-1 - n] for n in page)
        return Sheet(kind, tuple(result.text for result in shown), LABELS, page)

    def _page(self, judge: JudgeState) -> tuple[int, ...]:
        """The next page, from the first open items that the judge has not judged."""
        policy = self.policy
        open_items = (self.trusted < policy.judgments_per_item) & ~judge.judged
        chosen = self._order[open_items[self._order]][: _AHEAD * policy.pairs_per_page]
        work = [(int(number), self.items[number].query) for number in chosen]
        golds = screening_order(
            self._cards,
            judge.gold_shown,
            policy.screening_mix,
            self._rng,
            runs_out=policy.gold_runs_out,
        )[: _AHEAD * policy.screening_golds]
        seen = judge.record.seen
        shown = seen + len(judge.items)
        groups = compose(work, golds, policy, self._rng, shown=shown, golds_shown=seen)
        return tuple(slot.item for group in groups for slot in group)

    def submit(self, key: str, sheet: Sheet, labels: Sequence[str]) -> SheetOutcome:
        """Grade golds, store judgments, decide on the judge."""
        judge, page = self.judges[key], sheet.page
        assert isinstance(page, tuple)
        graded = [
            GoldFeedback(row, (self.golds[-1 - n].truth,), labels[row] == self.golds[-1 - n].truth)
            for row, n in enumerate(page)
            if n < 0
        ]
        for feedback in graded:
            judge.gold_shown[page[feedback.row]] = len(judge.gold_shown)
        right = sum(feedback.right for feedback in graded)
        if sheet.kind == "training":
            self._train(judge, right)
            return SheetOutcome(judge.stage, tuple(graded))
        self._store(judge, page, labels)
        seen, rights = judge.record.seen + len(graded), judge.record.right + right
        judge.record = after_page(
            replace(judge.record, seen=seen, right=rights), self.policy
        ).record
        if judge.stage == "blocked":
            self.trusted[judge.items] -= 1
        missed = tuple(one for one in graded if not one.right) if self.policy.feedback else ()
        return SheetOutcome(judge.stage, missed)

    def _train(self, judge: JudgeState, right: int) -> None:
        """One more gold of the training is done; at its end the judge passes or fails."""
        judge.training.pop(0)
        seen, rights = judge.record.training_seen + 1, judge.record.training_right + right
        record = replace(judge.record, training_seen=seen, training_right=rights)
        pairs = self.policy.training_pairs
        judge.record = after_training(record, self.policy, pairs=pairs).record

    def _store(self, judge: JudgeState, page: tuple[int, ...], labels: Sequence[str]) -> None:
        """Store the judgments of a page."""
        work = [(n, LABELS.index(label)) for n, label in zip(page, labels, strict=True) if n >= 0]
        items = [number for number, _ in work]
        self.trusted[items] += 1
        judge.judged[items] = True
        judge.items += items
        judge.labels += [label for _, label in work]

    def leave(self, key: str) -> None:
        """Nothing to return: a page is answered in the same step as it is made."""


def run_experiment(
    policy: Policy,
    crowd: Assumptions,
    golds: Mapping[str, Sequence[int]],  # arm: (label,)
    *,
    queries: int,
    mix: Sequence[float],  # (label,)
    seed: int,
) -> tuple[Material, dict[str, ArmCollection]]:
    """All arms of one experiment: the same results and the same people in each.

    In reality each arm has its own people; here the same ones come to each, so that arms differ by
    their gold and not by who came.
    """
    streams = np.random.SeedSequence(seed).spawn(2 + len(golds))
    made = make_material(queries, mix, golds, np.random.default_rng(streams[0]))
    every = [*made.items, *(gold for own in made.golds.values() for gold in own)]
    sight = {shown.text: LABELS.index(shown.truth) for shown in every}
    collections = {}
    for arm, stream in zip(golds, streams[2:], strict=True):
        rng = np.random.default_rng(stream)
        collections[arm] = collection = ArmCollection(made, arm, policy, rng)
        came = _arrive(collection, arrivals(crowd, sight, np.random.default_rng(streams[1])))
        take_turns(came, crowd.at_once, rng)
    return made, collections


def _arrive(
    collection: ArmCollection, comers: Iterator[SimulatedJudge]
) -> Iterator[Iterator[Stage]]:
    """One visit after the other, until every item has its trusted judgments."""
    for number, judge in enumerate(comers):
        if collection.full:
            return
        yield visit(judge, collection, f"judge {number}")


def take_turns(
    came: Iterator[Iterator[Stage] | None], at_once: int, rng: np.random.Generator
) -> None:
    """Let those who come take random turns, this many at a time, until nobody comes."""
    visits: list[Iterator[Stage]] = []
    while True:
        if len(visits) < at_once:
            try:
                visitor = next(came)
            except StopIteration:
                return
            visits += [visitor] if visitor else []
        if visits:
            at = int(rng.integers(len(visits)))
            if next(visits[at], None) is None:
                visits.pop(at)
