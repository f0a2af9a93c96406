"""The simulated crowd of the training-question experiment: what is assumed of it, and its runs.

Everything assumed of people is a field of ``Assumptions``, with where it comes from. No field
belongs to an arm: what differs between arms is the gold alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from adjudge.collect.rules.decisions import (
    Record,
    after_page,
    after_training,
    training_left,
)
from adjudge.collect.rules.golds import GoldCard, choose_training, screening_order
from adjudge.collect.rules.policy import Policy
from adjudge.collect.rules.routing import Slot, compose, interleave
from adjudge.errors import BadData, BadSetting
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
from adjudge.simulation.visits import AT_WORK, GoldFeedback, Sheet, SheetOutcome, Stage, visit

_AHEAD = 2  # pages' worth of open items, and of golds, that a page is made from


@dataclass(frozen=True, slots=True)
class _Shown:
    """A result: the text that is shown of it, its query, its true label."""

    text: str
    query: str
    truth: str


@dataclass(slots=True, eq=False)
class JudgeRecord:
    """What the collection knows of one judge."""

    record: Record
    training: list[int]  # golds still to be shown in training, by their number
    judged: NDArray[np.bool_]  # (item,)
    gold_shown: dict[int, int] = field(default_factory=dict)  # gold: when
    rows: int = 0  # shown in work
    golds: int = 0  # of them
    leased: NDArray[np.int64] | None = None  # items of the page they have
    items: list[NDArray[np.int64]] = field(default_factory=list)  # judged, page by page
    labels: list[list[str]] = field(default_factory=list)  # given to them
    trained: bool = False  # whether they came to the end of the training

    @property
    def trusted(self) -> bool:
        """Whether their judgments count."""
        return self.record.stage != "blocked"


class ArmCollection:
    """The collection of one arm: the same items as in every other, and gold of its own."""

    def __init__(
        self,
        items: Sequence[_Shown],
        golds: Sequence[_Shown],
        labels: tuple[str, ...],
        policy: Policy,
        rng: np.random.Generator,
    ) -> None:
        self.items = items
        self.golds = golds
        self.labels = labels
        self.policy = policy
        self.records: dict[str, JudgeRecord] = {}
        self.trusted = np.zeros(len(items), dtype=np.int64)
        self.leased = np.zeros(len(items), dtype=np.int64)
        self._order = np.array(interleave([item.query for item in items], 1))
        self._queries = [items[place].query for place in range(len(items))]
        self._cards = [
            GoldCard(-1 - place, gold.query, gold.truth) for place, gold in enumerate(golds)
        ]
        self._rng = rng

    @property
    def full(self) -> bool:
        """Whether every item has its trusted judgments."""
        return bool((self.trusted >= self.policy.judgments_per_item).all())

    def arrive(self, key: str) -> Stage:
        """Take in a judge, who begins with the training."""
        training = choose_training(
            self._cards, self.policy.training_pairs, self.policy.training_mix, self._rng
        )
        self.records[key] = JudgeRecord(
            record=Record(stage="training"),
            training=training,
            judged=np.zeros(len(self.items), dtype=np.bool_),
        )
        return "training"

    def sheet(self, key: str) -> Sheet | None:
        """One pair of the training, or a page of work."""
        judge = self.records[key]
        if judge.record.stage not in AT_WORK:
            return None
        if judge.record.stage == "training":
            gold = judge.training[0]
            return Sheet("training", (self._text(gold),), self.labels, (gold,))
        page = tuple(slot.item for group in self._page(judge) for slot in group)
        if not page:
            return None
        work = np.array([number for number in page if number >= 0], dtype=np.int64)
        self.leased[work] += 1
        judge.leased = work
        return Sheet("work", tuple(self._text(number) for number in page), self.labels, page)

    def _page(self, judge: JudgeRecord) -> list[list[Slot[int]]]:
        """The groups of their next page, from the first open items that they have not judged."""
        needed = self.policy.judgments_per_item
        open_to_them = (self.trusted + self.leased < needed) & ~judge.judged
        ahead = _AHEAD * self.policy.pairs_per_page
        chosen = self._order[open_to_them[self._order]][:ahead]
        work = [(int(place), self._queries[place]) for place in chosen]
        golds = screening_order(
            self._cards, judge.gold_shown, self.policy.screening_mix, self._rng,
            runs_out=self.policy.gold_runs_out,
        )  # fmt: skip
        most = _AHEAD * self.policy.screening_golds
        return compose(
            work, golds[:most], self.policy, self._rng, shown=judge.rows, golds_shown=judge.golds
        )

    def _text(self, number: int) -> str:
        """What is shown of an item, or of a gold, whose numbers are below 0."""
        return (self.items[number] if number >= 0 else self.golds[-1 - number]).text

    def submit(self, key: str, sheet: Sheet, labels: Sequence[str]) -> SheetOutcome:
        """Grade golds, store judgments, decide on the judge."""
        judge = self.records[key]
        if not isinstance(sheet.page, tuple) or len(labels) != len(sheet.rows):
            raise BadData("a sheet of another collection, or not a label for each of its rows")
        told = self._graded(judge, sheet.page, labels, every=sheet.kind == "training")
        right = sum(one.right for one in told)
        if sheet.kind == "training":
            self._trained(judge, right)
            return SheetOutcome(_stage(judge), tuple(told))
        self._worked(judge, sheet.page, labels)
        record = replace(
            judge.record, seen=judge.record.seen + len(told), right=judge.record.right + right
        )
        judge.record = after_page(record, self.policy).record
        if not judge.trusted:
            for items in judge.items:
                self.trusted[items] -= 1
        missed = tuple(one for one in told if not one.right) if self.policy.feedback else ()
        return SheetOutcome(_stage(judge), missed)

    def _graded(
        self, judge: JudgeRecord, page: tuple[int, ...], labels: Sequence[str], *, every: bool
    ) -> list[GoldFeedback]:
        """How each gold of a page was answered."""
        told = []
        for row, number in enumerate(page):
            if number >= 0:
                continue
            truth = self.golds[-1 - number].truth
            told.append(GoldFeedback(row, (truth,), labels[row] == truth))
            judge.gold_shown[number] = len(judge.gold_shown)
        if not every:
            judge.rows += len(page)
            judge.golds += len(told)
        return told

    def _trained(self, judge: JudgeRecord, right: int) -> None:
        """One more pair of the training done; at its end they pass or fail."""
        judge.training.pop(0)
        record = replace(
            judge.record,
            training_seen=judge.record.training_seen + 1,
            training_right=judge.record.training_right + right,
        )
        pairs = self.policy.training_pairs
        judge.record = after_training(record, self.policy, pairs=pairs).record
        judge.trained = judge.record.stage != "training"
        if not judge.training and not judge.trained:  # until so many were right
            judge.training = choose_training(
                self._cards, training_left(record, self.policy, pairs=pairs),
                self.policy.training_mix, self._rng, seen=judge.gold_shown,
            )  # fmt: skip

    def _worked(self, judge: JudgeRecord, page: tuple[int, ...], labels: Sequence[str]) -> None:
        """Store the judgments of a page, and end its lease."""
        given = [label for number, label in zip(page, labels, strict=True) if number >= 0]
        work = np.array([number for number in page if number >= 0], dtype=np.int64)
        self._return(judge)
        self.trusted[work] += 1
        judge.judged[work] = True
        judge.items.append(work)
        judge.labels.append(given)

    def _return(self, judge: JudgeRecord) -> None:
        """Give the items of their page back to the pool."""
        if judge.leased is not None:
            self.leased[judge.leased] -= 1
            judge.leased = None

    def leave(self, key: str) -> None:
        """Their page, if they have one, returns to the pool."""
        self._return(self.records[key])


def _stage(judge: JudgeRecord) -> Stage:
    """Their stage, as a visitor knows it: nobody consents here."""
    stage = judge.record.stage
    return "training" if stage == "consent" else stage


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

    items: tuple[_Shown, ...]
    golds: Mapping[str, tuple[_Shown, ...]]  # arm

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
        _Shown(f"result {place}", f"query {place // _RESULTS_PER_QUERY}", LABELS[truth])
        for place, truth in enumerate(truths)
    )
    made = {}
    for arm, counts in golds.items():
        labels = np.repeat(np.arange(len(LABELS)), counts)
        made[arm] = tuple(
            _Shown(f"gold {arm}/{place}", f"gold query {arm}/{place}", LABELS[truth])
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
