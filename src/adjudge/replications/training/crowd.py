"""The simulated crowd of the training-question experiment: what is assumed of it, and its runs.

Everything assumed of people is a field of ``Assumptions``, with where it comes from. No field
belongs to an arm: what differs between arms is the gold alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.collect.rules.policy import Policy
from adjudge.errors import BadSetting
from adjudge.replications.training.collection import ArmCollection, Shown
from adjudge.simulation import Matrix
from adjudge.simulation.behaviours import (
    Behaviour,
    Clicker,
    Ethical,
    KnownTruths,
    LabelSpammer,
    MadeJudge,
    Patience,
)
from adjudge.simulation.visits import Stage, visit

LABELS = ("Matching", "Not Matching", "Off Topic", "Spam")
NOT_MATCHING = 1
_RESULTS_PER_QUERY = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """What the simulation takes for granted about the crowd, the same in every arm.

    - ``ethical``, ``spammers``, ``clickers``: shares of those who come. The paper says that its
      pay drew both ethical and unethical workers, and gives no shares; a fifth are unethical here,
      about as many as failed its training (33 of 149), half of each kind.
    - ``confusion``: how an ethical judge errs on average before any mix leans on them. Its level is
      that of the middle arm of table 3 (recall .77 of Not Matching, accuracy .75); the rest ours.
    - ``kappa``: rows of a judge's own matrix are Dirichlet(kappa * confusion). Ours.
    - ``anchoring``: each ethical judge's is uniform between these: 0 ignores the label mix that
      was seen, 1 takes it for the prior as Bayes' rule would. Ours: the whole range.
    - ``learning``: how far errors shrink with examples of both labels (``Ethical``); 0 is not at
      all. Ours: the paper says that training makes workers more skilled, and gives no measure.
    - ``errors``: what the errors of ``confusion`` are multiplied with before anything is learnt, so
      that judges who learn come to its level and do not begin there.
    - ``leaving``: the share who come and go without the training: 106 of 255 in table 2.
    - ``pages``: pages of work a judge would do, geometric with this mean. From table 2 and the
      five judgments an item: 6,400 judgments an arm by about 20 who passed, 20 a page.
    - ``at_once``: judges at work at a time. Ours.

    Judges err independently of each other given the truth, and learn the label mix from training
    and from the golds they are told they missed; whether they become more skilled by it is
    ``learning``.
    """

    ethical: float = 0.8
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

    def __post_init__(self) -> None:
        shares = self.ethical + self.spammers + self.clickers
        if abs(shares - 1) > 1e-9:
            raise BadSetting("ethical, spammers, clickers", shares, "shares that sum to 1")

    @property
    def beginners(self) -> NDArray[np.float64]:  # (truth, label)
        """How an ethical judge errs on average before they learn anything."""
        errors = self.errors * np.array(self.confusion)
        np.fill_diagonal(errors, 0.0)
        return np.asarray(errors + np.diag(1.0 - errors.sum(axis=1)))


@dataclass(frozen=True, slots=True)
class Material:
    """The results to be judged, the same in every arm, and each arm's gold."""

    items: tuple[Shown, ...]
    golds: Mapping[str, tuple[Shown, ...]]  # arm

    @property
    def sight(self) -> KnownTruths:
        """What someone who looks can see: the truth of every text."""
        every = [*self.items, *(gold for golds in self.golds.values() for gold in golds)]
        return {shown.text: LABELS.index(shown.truth) for shown in every}

    @property
    def truth(self) -> NDArray[np.int64]:  # (item,)
        """The truth of each item, as its place among the labels."""
        return np.array([LABELS.index(item.truth) for item in self.items])


def material(
    queries: int,
    mix: Sequence[float],  # (label,)
    golds: Mapping[str, Sequence[int]],  # arm: (label,)
    rng: np.random.Generator,
) -> Material:
    """Results with the mix of labels, exactly, and gold with each arm's counts of labels.

    Each gold stands alone under a query of its own.
    """
    count = queries * _RESULTS_PER_QUERY
    exact = count * np.array(mix) / sum(mix)
    each = np.floor(exact).astype(np.int64)
    each[np.argsort(each - exact, kind="stable")[: count - int(each.sum())]] += 1
    truths = rng.permutation(np.repeat(np.arange(len(LABELS)), each))
    items = tuple(
        Shown(f"result {place}", f"query {place // _RESULTS_PER_QUERY}", LABELS[truth])
        for place, truth in enumerate(truths)
    )
    made = {}
    for arm, counts in golds.items():
        labels = np.repeat(np.arange(len(LABELS)), counts)
        made[arm] = tuple(
            Shown(f"gold {arm}/{place}", f"gold query {arm}/{place}", LABELS[truth])
            for place, truth in enumerate(labels)
        )
    return Material(items, made)


def arrivals(
    crowd: Assumptions, sight: KnownTruths, rng: np.random.Generator, *, learns_at_work: bool = True
) -> Iterator[MadeJudge]:
    """Those who come, one after the other, without end.

    ``learns_at_work``: whether golds that a judge missed in work shift the mix that they expect.
    """
    mean = crowd.beginners
    kinds = np.cumsum([crowd.ethical, crowd.spammers])
    while True:
        own = np.random.default_rng(rng.integers(2**63))
        kind = own.random()
        behaviour: Behaviour
        if kind < kinds[0]:
            rows = np.stack([own.dirichlet(crowd.kappa * row) for row in mean])
            anchoring = float(own.uniform(*crowd.anchoring))
            behaviour = Ethical(
                rows,
                sight,
                own,
                anchoring=anchoring,
                learning=crowd.learning,
                learns_at_work=learns_at_work,
            )
        elif kind < kinds[1]:
            behaviour = LabelSpammer(own)
        else:
            behaviour = Clicker(own)
        training = 0.0 if own.random() < crowd.leaving else np.inf
        pages = float(own.geometric(1 / crowd.pages))
        yield MadeJudge(behaviour, Patience(training=training, pages=pages))


def _run_arm(
    collection: ArmCollection, comers: Iterator[MadeJudge], at_once: int, rng: np.random.Generator
) -> None:
    """Let judges come, so many at a time, until every item has its trusted judgments."""
    came = 0
    visits: list[Iterator[Stage]] = []
    while not collection.full:
        while len(visits) < at_once:
            visits.append(visit(next(comers), collection, f"judge {came}"))
            came += 1
        at = int(rng.integers(len(visits)))
        if next(visits[at], None) is None:
            visits.pop(at)


def run_experiment(
    policy: Policy,
    crowd: Assumptions,
    golds: Mapping[str, Sequence[int]],  # arm: (label,)
    *,
    queries: int,
    mix: Sequence[float],  # (label,)
    seed: int,
) -> tuple[Material, dict[str, ArmCollection]]:
    """All arms of one experiment: the same results in each, and the same people coming.

    In truth an arm has people of its own; here the same ones come to each, not knowing of each
    other, so that arms differ by their gold and not by who happened to come.
    """
    streams = np.random.SeedSequence(seed).spawn(2 + len(golds))
    made = material(queries, mix, golds, np.random.default_rng(streams[0]))
    sight = made.sight
    collections = {}
    for arm, stream in zip(golds, streams[2:], strict=True):
        rng = np.random.default_rng(stream)
        collections[arm] = ArmCollection(made.items, made.golds[arm], LABELS, policy, rng)
        comers = arrivals(crowd, sight, np.random.default_rng(streams[1]))
        _run_arm(collections[arm], comers, crowd.at_once, rng)
    return made, collections
