"""What a model is, and what every model does before and after its own work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus, Families
from adjudge.data.gold import Gold
from adjudge.data.judgments import GoldLike, Judgments, JudgmentsLike
from adjudge.data.names import look_up
from adjudge.data.scale import MOST_LABELS
from adjudge.data.source import count_of
from adjudge.engines.checkpoint import Checkpoint
from adjudge.engines.engine import Engine, Parameters
from adjudge.engines.sweeps import Sweeps
from adjudge.engines.threads import ThreadsEngine
from adjudge.errors import BadData
from adjudge.kernels import keys as kernels
from adjudge.kernels.confusion import count_under
from adjudge.kernels.fixed import SHARE
from adjudge.models._families import EffectiveJudges, find_families, split_judges
from adjudge.models._notes import describe_families
from adjudge.models._weighted_sweeps import WeightedSweeps


def free_memory() -> int | None:
    """Bytes of memory that can still be had, or None where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        return None
    return None


def _check_rates(judges: int, types: int, labels: int, tables: int) -> None:
    """Refuse rates of judges, in that many tables at once, that would not fit into memory."""
    need, free = judges * types * labels * 8 * tables, free_memory()
    if free is not None and need > free:
        raise BadData(
            f"{labels:,} labels by {judges:,} judges: how each judge labels each truth would take "
            f"about {need / 2**30:,.0f} GB, and {free / 2**30:,.1f} GB are free; fewer labels or "
            "judges are needed (numbers can be read as such or put into bins: --continuous, --bin)"
        )


Ties = Literal["random", "lower", "higher"]

_TABLES = 8  # of rates (judge, truth, label) that a fit holds at once

_RULES = {"lower": kernels.LOWER, "higher": kernels.HIGHER, "random": kernels.RANDOM}


@dataclass(frozen=True, slots=True)
class Step:
    """How far a fit has come: iteration ``done`` of at most ``total``, and a word on it."""

    stage: str
    done: int
    total: int
    note: str = ""


Progress = Callable[[Step], None]


@runtime_checkable
class Model(Protocol):
    """Settings, checked when made, and one method that turns judgments into a consensus."""

    name: ClassVar[str]

    def fit(
        self,
        judgments: JudgmentsLike,
        gold: GoldLike = None,
        *,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> Consensus:
        """The consensus of judgments, with gold where it is known."""


def is_sampled(model: Any) -> bool:
    """Whether a model is fitted by drawing from its posterior, which takes long."""
    return hasattr(model, "draws") and getattr(model, "method", "gibbs") == "gibbs"


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Judgments with their gold in place, loaded into an engine."""

    judgments: Judgments
    known: NDArray[np.int16] | None  # (item,)
    engine: Engine
    sweeps: Sweeps
    notes: tuple[str, ...]
    families: Families
    effective: EffectiveJudges
    split: Judgments  # by effective judge

    @property
    def weighted(self) -> bool:
        """Whether any judgment weighs less than one."""
        return len(self.effective.judge_of) > self.effective.judges

    def effective_cells(self) -> NDArray[np.int64]:  # (effective judge, label)
        """How many judgments there are of each label by each effective judge."""
        sweeps = self.sweeps
        return sweeps.inner.cells() if isinstance(sweeps, WeightedSweeps) else sweeps.cells()

    def effective_per_item(self) -> NDArray[np.float64]:  # (item,)
        """Add up the weights of each item's judgments: copies and repeats weigh less than one."""
        judgments = self.judgments
        effective = judgments.counts_per_item.astype(np.float64)
        if self.weighted:
            weight, some = self.effective.weight[self.split.judge], effective > 0
            effective[some] = np.add.reduceat(weight, judgments.offsets[:-1][some])
        return effective


def prepare(
    judgments: Judgments,
    gold: Gold | None,
    engine: Engine | None,
    *,
    by_topic: bool = False,
    shared: bool = False,
    copies: bool = True,
    repeats: bool = False,
    families: Families | None = None,
    tables: int = _TABLES,
) -> Prepared:
    """Put gold next to judgments and load both into an engine.

    Gold for an item that nobody judged is kept: the item joins the others, without judgments, and
    counts in the prevalence. With ``copies``, near-duplicate judges, found or declared, count as
    one judge; ``families`` says who they are, where that is known already. With ``repeats``, so do
    the repeated judgments of an item by one judge. ``tables`` of the rates of judges
    are held at once, and have to fit into memory.
    """
    if len(judgments.scale.labels) > MOST_LABELS:
        raise BadData(
            f"{len(judgments.scale.labels):,} different labels are more than the {MOST_LABELS:,} "
            "that can be classes; adjudge.Continuous reads numbers as they are, "
            "Judgments.in_bins(5) makes grades of them",
            expected=f"at most {MOST_LABELS:,} different labels",
        )
    if not shared:
        scale = judgments.scale
        _check_rates(judgments.judge_count, len(scale.truths), len(scale.labels), tables)
    notes: tuple[str, ...] = ()
    known = None
    if gold is not None and len(gold):
        notes = gold.tell_unjudged(judgments)
        if notes:
            judgments = judgments.with_items(
                gold.items, topics=gold.topics, documents=gold.documents
            )
        known = gold.align(judgments)
    place = engine if engine is not None else ThreadsEngine()
    sweeps: Sweeps = place.load(judgments, known, by_topic=by_topic, shared=shared)
    if families is None:
        none = Families.none(judgments.judge_count)
        families = find_families(judgments, sweeps) if copies else none
    split, effective = split_judges(judgments, families, repeats=repeats)
    if split is not judgments:
        sweeps = WeightedSweeps(place, split, effective, known, by_topic=by_topic, shared=shared)
    notes = (*notes, *describe_families(families, judgments))
    return Prepared(judgments, known, place, sweeps, notes, families, effective, split)


def checkpoint_of(prepared: Prepared, model: Any) -> Checkpoint | None:
    """The checkpoint of this fit, where its engine keeps one."""
    checkpoint = prepared.engine.checkpoint
    if checkpoint is None:
        return None
    return checkpoint.of(model.name, settings_of(model), prepared.sweeps.cells())


def pick(
    posterior: NDArray[np.float64], judgments: Judgments, *, ties: Ties, seed: int
) -> tuple[NDArray[np.int16], int]:  # (item,)
    """The most probable truth of each item, ties by the rule, and how many ties there were."""
    choice = np.zeros(len(posterior), dtype=np.int16)
    if not len(posterior):
        return choice, 0
    _, starts, letters = judgments.items.buffers()
    offset = judgments.items.offset
    begin = np.frombuffer(starts, dtype=np.int64)[offset : offset + len(posterior) + 1]
    data = np.frombuffer(letters, dtype=np.uint8) if letters else np.zeros(1, dtype=np.uint8)
    tied = int(kernels.choose(posterior, begin, data, seed, _RULES[ties], choice))
    return choice, tied


def _tell_ties(model: Any, tied: int, items: int) -> list[str]:
    """A sentence on ties, if there were any."""
    if not tied:
        return []
    how = f"at random, seed {model.seed}" if model.ties == "random" else f"to the {model.ties}"
    return [f"{tied:,} of {count_of(items, 'item')} tied; broken {how}"]


def count_judgments(
    judgments: Judgments, posterior: NDArray[np.float64]
) -> NDArray[np.float64]:  # (judge, truth, label)
    """How often each judge gave each label to items of each truth, in expectation."""
    scale = judgments.scale
    shape = (judgments.judge_count, len(scale.truths), len(scale.labels))
    units = np.zeros(shape, dtype=np.int64)
    given = (judgments.offsets, judgments.judge, judgments.label, 0, judgments.item_count)
    count_under(*given, posterior, units)
    return units / SHARE


def put_gold(posterior: NDArray[np.float64], known: NDArray[np.int16] | None) -> None:
    """Put gold (-1: none) in the place of probabilities (item, truth)."""
    if known is not None:
        fixed = known >= 0
        posterior[fixed] = np.eye(posterior.shape[1])[known[fixed]]


def settings_of(model: Any) -> dict[str, object]:
    """The settings of a model by name, as its consensus records them."""
    return {entry.name: getattr(model, entry.name) for entry in fields(model)}


def conclude(
    model: Any,
    prepared: Prepared,
    parameters: Parameters,
    *,
    posterior: NDArray[np.float64] | None = None,  # (item, truth)
    counts: NDArray[np.float64] | None = None,  # (judge, truth, label)
    trace: tuple[float, ...] = (),
    converged: bool | None = None,
    notes: tuple[str, ...] = (),
    **memory: Any,  # what predicting needs: fields of Memory
) -> Consensus:
    """The consensus that parameters imply: posterior, labels, judges, and a way to predict."""
    if posterior is None or counts is None:
        posterior, last = prepared.sweeps.posterior(parameters, own=True)
        counts = last.confusion
    choice, tied = pick(posterior, prepared.judgments, ties=model.ties, seed=model.seed)
    notes = (*notes, *_tell_ties(model, tied, len(choice)))
    consensus = Consensus(
        model=model.name,
        settings=settings_of(model),
        judgments=prepared.judgments,
        posterior=posterior,
        choice=choice,
        prevalence=parameters.prevalence,
        confusion=parameters.confusion,
        counts=counts,
        known=prepared.known,
        trace=trace,
        converged=converged,
        families=prepared.families,
        notes=(*prepared.notes, *notes),
    )
    return replace(consensus, predictor=Memory(model, consensus, prepared.engine, **memory))


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """A fitted model's memory, called with other judgments (Liu and Wang 2012, section 4).

    A judge who is not in the fit gets ``population``, the confusion of all judges together; a topic
    that is not gets the prevalence of all items together. Families of judges are those of the fit.
    The memory of a vote is ``votes``, and a judge who is not in the fit gets the mean weight.
    ``like_fit`` says whether probabilities are made as in the fit: only then can a calibration
    learnt from the fit be applied to them.
    """

    model: Any
    fitted: Consensus
    engine: Engine
    population: NDArray[np.float64] | None = None  # (truth, label)
    votes: tuple[NDArray[Any], ...] | None = None  # (judge,) weights, plain weights, flips
    like_fit: bool = True

    def __call__(self, judgments: Judgments) -> Consensus:
        """The consensus of other judgments under what was learnt."""
        fitted = self.fitted
        prevalence, by_topic = self._prevalence(judgments)
        prepared, code = prepare_others(
            fitted, judgments, self.engine, by_topic=by_topic, shared=self._shared
        )
        confusion, unseen = fitted.confusion, 0
        if len(confusion) == fitted.judgments.judge_count and not self._shared:
            every = np.concatenate([confusion, self._population[None]])
            unseen = int((code < 0).sum())
            confusion = every[code]  # -1 is the last: the population
        parameters = Parameters(prevalence=prevalence, confusion=confusion)
        posterior = counts = None
        given = "the population's confusion"
        if self.votes is not None:
            weight, plain, flipped = self.votes
            mean = round(float(plain.mean())) if len(plain) else 1
            units = (np.append(weight, mean), np.append(plain, mean), np.append(flipped, False))
            posterior, _, shares = prepared.sweeps.weigh(*(unit[code] for unit in units))
            counts, given = shares / SHARE, "the mean weight"
        notes = (f"{unseen:,} of {len(code):,} judges are new: {given}",) if unseen else ()
        labels = conclude(
            self.model, prepared, parameters, posterior=posterior, counts=counts, notes=notes
        )
        return replace(labels, predictor=self)

    @property
    def _shared(self) -> bool:
        return bool(getattr(self.model, "shared", False))

    @property
    def _population(self) -> NDArray[np.float64]:  # (truth, label)
        if self.population is not None:
            return self.population
        return np.asarray(self.fitted.confusion.mean(axis=0))

    def _prevalence(self, judgments: Judgments) -> tuple[NDArray[np.float64], bool]:
        """The prevalence of each topic of the other judgments, as far as it is known."""
        fitted = self.fitted
        known = fitted.judgments.topics
        if not getattr(self.model, "by_topic", False) or judgments.topics is None or known is None:
            if len(fitted.prevalence) == 1:
                return fitted.prevalence, False
            return fitted.overall_prevalence[None], False
        if len(fitted.prevalence) != len(known):
            raise BadData("the fit has no prevalence by topic to predict with")
        every = np.concatenate([fitted.prevalence, fitted.overall_prevalence[None]])
        return every[look_up(judgments.topics, known)], True


def prepare_others(
    fitted: Consensus, judgments: Judgments, engine: Engine, **how: bool
) -> tuple[Prepared, NDArray[np.int32]]:  # (judge,)
    """Load other judgments under the scale and families of a fit; the code of each judge in it."""
    if judgments.scale.labels != fitted.scale.labels:
        judgments = judgments.with_scale(fitted.scale)
    code = look_up(judgments.judges, fitted.judgments.judges)
    families = _families_among(fitted.families, code)
    return prepare(judgments, None, engine, families=families, **how), code


def _families_among(
    families: Families | None,
    code: NDArray[np.int32],  # (judge,) of the fit, -1 for a new one
) -> Families:
    """The families of a fit among other judges; new judges have none."""
    none = Families.none(len(code))
    if families is None:
        return none
    seen = np.flatnonzero(code >= 0)
    family, share, declared = none.family.copy(), none.share.copy(), none.declared.copy()
    _, first, group = np.unique(families.family[code[seen]], return_index=True, return_inverse=True)
    family[seen] = seen[first][group]
    share[seen], declared[seen] = families.share[code[seen]], families.declared[code[seen]]
    return replace(none, family=family, share=share, declared=declared)
