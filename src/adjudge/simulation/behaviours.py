"""Simulated judges who act and learn, and what they can do where judgments are collected.

A client in this process, for experiments, and a client of a server over HTTP look the same from
here: a ``JudgingClient``. A simulated judge sees what any judge would see: the rows of a sheet as
text, the feedback on them, and their own stage. Nothing separates gold from work.

A judge has a behaviour (what they do with a sheet) and a patience (when they leave).

``Ethical``       looks at each result, errs by a confusion matrix, and leans to the labels that
                  feedback named most: anchoring.
``LabelSpammer``  does not look: gives the label that was right most often so far.
``Clicker``       does not look: any label, each as likely.

A judge who looks knows the truth of a result from its text: ``KnownTruths`` maps texts to truths.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import BadSetting

Stage = Literal["training", "working", "warned", "finished", "failed", "blocked"]
AT_WORK: tuple[Stage, ...] = ("training", "working", "warned")


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows to be answered together: in training one at a time, so that each mistake teaches."""

    kind: Literal["training", "work"]
    rows: tuple[str, ...]  # what is shown of each result
    labels: tuple[str, ...]
    page: object = None  # what the client itself needs to know its own page again


@dataclass(frozen=True, slots=True)
class GoldFeedback:
    """Feedback about one answered gold: about each in training, about the missed ones in work."""

    row: int  # its place on the sheet, from 0
    accepted: tuple[str, ...]
    right: bool

    def right_answer(self, labels: Sequence[str]) -> str:
        """The right answer of its row: their own, given their labels, or the first accepted."""
        return labels[self.row] if self.right else self.accepted[0]


@dataclass(frozen=True, slots=True)
class SheetOutcome:
    """The result of a sheet: the judge's stage now, and the feedback."""

    stage: Stage
    feedback: tuple[GoldFeedback, ...] = ()


class JudgingClient(Protocol):
    """Where judges come, answer sheets and get feedback; ``key`` is who the judge is."""

    def arrive(self, key: str) -> Stage:
        """Take in someone who came, with their consent; the stage they begin at."""

    def sheet(self, key: str) -> Sheet | None:
        """The next sheet for them; None where there is nothing, for now or for good."""

    def submit(self, key: str, sheet: Sheet, labels: Sequence[str]) -> SheetOutcome:
        """Hand in a label for each row of a sheet."""

    def leave(self, key: str) -> None:
        """Go away, with or without an unanswered sheet, which returns to the pool."""


def visit(judge: SimulatedJudge, client: JudgingClient, key: str) -> Iterator[Stage]:
    """A judge's way through, one sheet a step, so that many can be at work in turns.

    It ends when they leave, are sent away, or there is nothing left for them to do.
    """
    stage = client.arrive(key)
    answered = {"training": 0, "work": 0}
    while stage in AT_WORK:
        kind = "training" if stage == "training" else "work"
        stays = judge.patience.stays(stage, answered[kind])
        sheet = client.sheet(key) if stays else None
        if sheet is None:
            client.leave(key)
            return
        labels = judge.behaviour.answer(sheet)
        outcome = client.submit(key, sheet, labels)
        judge.behaviour.learn(sheet, labels, outcome.feedback)
        answered[sheet.kind] += 1
        stage = outcome.stage
        yield stage


KnownTruths = Mapping[str, int]  # the text of a result -> its truth, by its place on the scale


class Behaviour(Protocol):
    """What someone does with a sheet, and with the feedback about it."""

    def answer(self, sheet: Sheet) -> list[str]:
        """A label for each row."""

    def learn(self, sheet: Sheet, labels: Sequence[str], feedback: Sequence[GoldFeedback]) -> None:
        """Learn from the feedback about the labels they gave."""


@dataclass(frozen=True, slots=True)
class Patience:
    """When someone leaves of their own will.

    ``training`` is how many pairs of training they would do, 0 for one who only looks in, and
    ``pages`` how many pages of work.
    """

    training: float = math.inf
    pages: float = math.inf

    def stays(self, stage: Stage, sheets: int) -> bool:
        """Whether they go on, having answered that many sheets of this stage."""
        return sheets < (self.training if stage == "training" else self.pages)


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedJudge:
    """A simulated judge: how they behave, and how long they stay."""

    behaviour: Behaviour
    patience: Patience = field(default_factory=Patience)


class Ethical:
    """A judge who looks: errs by their matrix, and leans to the labels that feedback showed most.

        p(label | truth)  is proportional to  theta[truth, label] * mix[label] ** anchoring

    ``mix`` is the share of each label among the answers reported as right, in training and in
    screening, after one of each label taken for granted. With anchoring 0 the judge is the
    confusion matrix and nothing else; with 1 they take the mix for the prior, as Bayes would.

    With ``learning`` they become more skilled: taking truth k for label l becomes rarer with the
    examples of both that they were shown, n_k and n_l, since one alone does not show how they
    differ,

        theta[k, l]  /=  1 + learning * n_k n_l / (n_k + n_l)

    and what errors lose, the right label gains.
    """

    def __init__(
        self,
        confusion: NDArray[np.float64],  # (truth, label)
        truths: KnownTruths,
        rng: np.random.Generator,
        *,
        anchoring: float = 0.0,
        learning: float = 0.0,
    ) -> None:
        for name, value in (("anchoring", anchoring), ("learning", learning)):
            if not 0 <= value < math.inf:
                raise BadSetting(name, value, "0 or more")
        self.confusion = confusion
        self.learning = learning
        self.anchoring = anchoring
        self.label_counts = np.ones(confusion.shape[1])  # (label,)
        self._truths = truths
        self._rng = rng

    @property
    def mix(self) -> NDArray[np.float64]:  # (label,)
        """The share of each label as they have come to expect it."""
        return np.asarray(self.label_counts / self.label_counts.sum())

    @property
    def skill(self) -> NDArray[np.float64]:  # (truth, label)
        """Their confusion matrix before any mix leans on it, as far as they have learnt."""
        if not self.learning:
            return self.confusion
        seen = self.label_counts - 1.0  # one of each was taken for granted
        both = seen[:, None] + seen
        shared = np.divide(seen[:, None] * seen, both, out=np.zeros_like(both), where=both > 0)
        errors = self.confusion / (1.0 + self.learning * shared)
        np.fill_diagonal(errors, 0.0)
        return np.asarray(errors + np.diag(1.0 - errors.sum(axis=1)))

    @property
    def leaning(self) -> NDArray[np.float64]:  # (truth, label)
        """Their confusion matrix as it is by now."""
        tilted = self.skill * self.mix**self.anchoring
        return np.asarray(tilted / tilted.sum(axis=1, keepdims=True))

    def answer(self, sheet: Sheet) -> list[str]:
        """What they take each row for."""
        edges = np.cumsum(self.leaning, axis=1)  # (truth, label)
        truth = [self._truths[row] for row in sheet.rows]
        chance = self._rng.random(len(truth))
        chosen = (chance[:, None] >= edges[truth][:, :-1]).sum(axis=1)
        return [sheet.labels[code] for code in chosen]

    def learn(self, sheet: Sheet, labels: Sequence[str], feedback: Sequence[GoldFeedback]) -> None:
        """Count the answers that were right; of several accepted ones, the first."""
        for answer in (one.right_answer(labels) for one in feedback):
            self.label_counts[sheet.labels.index(answer)] += 1


class LabelSpammer:
    """One who does not look: gives the label that was right most often so far.

    Until the first feedback they give one label of their own choice; where labels tie, the one
    that came to the front first.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.label_counts: dict[str, int] = {}
        self.favourite: str | None = None
        self._rng = rng

    def answer(self, sheet: Sheet) -> list[str]:
        """The same label for every row."""
        if self.favourite is None:
            self.favourite = sheet.labels[int(self._rng.integers(len(sheet.labels)))]
        return [self.favourite] * len(sheet.rows)

    def learn(self, sheet: Sheet, labels: Sequence[str], feedback: Sequence[GoldFeedback]) -> None:  # noqa: ARG002
        """Count the answers that were right."""
        for answer in (one.right_answer(labels) for one in feedback):
            self.label_counts[answer] = self.label_counts.get(answer, 0) + 1
        if self.label_counts:
            self.favourite = max(self.label_counts, key=self.label_counts.__getitem__)


class Clicker:
    """One who does not look: any label, each as likely, and learns nothing."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def answer(self, sheet: Sheet) -> list[str]:
        """A label at random for every row."""
        return [
            sheet.labels[code]
            for code in self._rng.integers(len(sheet.labels), size=len(sheet.rows))
        ]

    def learn(self, sheet: Sheet, labels: Sequence[str], feedback: Sequence[GoldFeedback]) -> None:
        """Nothing."""
