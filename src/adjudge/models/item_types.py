"""ItemTypes, the default: items of more types than labels, read through a reference judge.

    t_i ~ Categorical(pi);  y_ij ~ Categorical(theta_j[t_i, :]);  theta_j[t, :] ~ Dirichlet(20 R_jt)

Judges are not independent given the true label: some items are hard for everybody, and language
models share their errors. So every label has two types of item, an easy and a hard kind, fitted by
EM, and a type is not taken for its label: it means what a good judge says about it (Z). The answer
is then blended with the vote share of the item,

    log P_i = (a - c log v_i) log(sum_t P_it Z_t) + b log(vote share) + constant,

v_i being the number of its judgments, and the vote counts more where the types carry less
information than the votes do. R, the rows expected of a judge, is in ``_judge_rows``; near-
duplicate judges are in ``_families``; gold calibrates the answer afterwards (``_calibration``).
Constants were chosen by leaving out one family of data sets at a time: docs/models/item-types.md
has the figures, and ``benchmarks/default_model.py`` makes them.

Dawid and Skene (1979), doi:10.2307/2346806, is the case of one kind per label, free rows, types
taken for labels, and no blend.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from adjudge.data.consensus import Consensus
from adjudge.data.judgments import Judgments
from adjudge.data.names import look_up
from adjudge.engines.engine import Counts, Engine, Parameters
from adjudge.engines.tasks import BeginTypes, ChooseItems, CountTops, ReadTypes
from adjudge.models import _types as answer
from adjudge.models._families import key_judges
from adjudge.models._notes import describe_unconverged
from adjudge.models._types import JudgeRows, exact_sum, normalise
from adjudge.models.dependence import measure_dependence
from adjudge.models.loop import Loop, State
from adjudge.models.model import (
    Prepared,
    Progress,
    Ties,
    checkpoint_of,
    conclude,
    count_judgments,
    pick,
    prepare,
    prepare_others,
    put_gold,
)
from adjudge.models.settings import Fitted, Given

if TYPE_CHECKING:
    from adjudge.models._calibration import Calibration

_Floats = NDArray[np.float64]
_ITEMS = 5.0  # pseudo-items of each type, in the prevalence
_TOPIC = 10.0  # pseudo-items of the overall prevalence, in that of a topic
_UPDATES = 10  # iterations in which the expected rows are updated; then they are fixed
_MANY_LABELS = 20  # labels above which there is one type of each
_ONE_JUDGE = 1.2  # effective judges per item, up to which an item shows nothing about its judges
_SAMPLE = 100_000  # judgments that are fitted first where there are more than twice as many
_BINS = 2**16  # of top vote shares, to find their median
_TABLES = 15  # of rates (judge, type, label) in memory at once


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemTypes(Fitted):
    """Two types of item per label, read through a reference judge and blended with the vote.

    ``kinds`` are the types of each label. ``strength`` is the number of pseudo-judgments that draw
    a judge's row to the expected one. The fit stops when an iteration gains less than ``tolerance``
    nats per item.
    """

    name: ClassVar[str] = "item-types"
    continues: ClassVar[bool] = True

    kinds: int = 2
    strength: float = 20.0
    iterations: int = 40
    tolerance: float = 2e-3
    weigh_copies: bool = True
    calibrate: bool = True
    by_topic: bool = False
    ties: Ties = "random"
    seed: int = 0

    def _fit(self, given: Given) -> Consensus:
        prepared = prepare(
            *given[:3],
            by_topic=self.by_topic,
            copies=self.weigh_copies,
            repeats=True,
            tables=_TABLES,
        )
        with threadpool_limits(1, "blas"):  # more threads wait for each other and change bits
            fitted = _fit_types(self, prepared, given.progress, given.start)
            return _conclude(self, prepared, fitted)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedTypes:
    """The result of EM."""

    kinds: int  # types of each label
    prevalence: _Floats  # (topic, type), or one row
    overall: _Floats  # (type,)
    rates: _Floats  # (judge, type, label)
    typical: _Floats  # (type, label) the row of a judge about whom nothing is known
    counts: _Floats  # (judge, type, label) under these rates; empty once used
    trace: tuple[float, ...]  # the objective
    frozen: int  # the iteration from which the objective never falls
    converged: bool

    @property
    def parameters(self) -> Parameters:
        """Prevalence and rates, as the engine takes them."""
        return Parameters(prevalence=self.prevalence, confusion=self.rates, of_types=True)


def _fit_types(
    model: ItemTypes, prepared: Prepared, progress: Progress | None, start: Consensus | None
) -> FittedTypes:
    """Fit types.

    Items with one effective judge show nothing about how often that judge errs, so the others are
    fitted alone. Of very many judgments a sample is fitted first, and all continue from there.
    """
    given, judges = _earlier(start, prepared), None
    if len(prepared.judgments) <= 2 * _SAMPLE:
        part = _with_several_judges(prepared)
    else:
        part = prepared
        if given is None:
            given, judges = _fit_sample(model, prepared, progress)
    rows = _rows(model, prepared, part)
    loop = Loop(most=model.iterations, progress=progress, checkpoint=checkpoint_of(part, model))
    if given is None or given.confusion.shape[1] != rows.types:
        fitted = _maximise(model, part, rows, _begin(part, rows), loop, _UPDATES)
    else:
        if judges is not None:
            rows.restore(judges)
        by_topic = model.by_topic and part is prepared
        counted = part.sweeps.expect(_for_topics(given, part, by_topic=by_topic))
        fitted = _maximise(model, part, rows, counted, loop, 2)
    return fitted if part is prepared else _for_all_items(model, prepared, fitted)


def _with_several_judges(prepared: Prepared) -> Prepared:
    """The judgments of items with more than one effective judge."""
    several = prepared.effective_per_item() > _ONE_JUDGE
    return prepared if several.all() or not several.any() else _only(prepared, several)


def _only(prepared: Prepared, items: NDArray[np.bool_]) -> Prepared:
    """The judgments of some items, by the same judges and families."""
    few = prepared.judgments.select(items=items, keep_empty=True)
    return prepare(few, None, prepared.engine, repeats=True, families=prepared.families)


def _for_all_items(model: ItemTypes, prepared: Prepared, fitted: FittedTypes) -> FittedTypes:
    """A fit to some items with the prevalence and the counts of all items."""
    given = _for_topics(fitted.parameters, prepared, by_topic=model.by_topic)
    overall = fitted.overall
    for _ in range(3):
        overall, prevalence = _prevalence(prepared.sweeps.expect(given).classes)
        given = replace(given, prevalence=prevalence)
    counts = prepared.sweeps.expect(given).confusion
    return replace(fitted, prevalence=given.prevalence, overall=overall, counts=counts)


def _prevalence(classes: _Floats) -> tuple[_Floats, _Floats]:  # (type,), (topic or 1, type)
    """The prevalence of types among all items and in each topic, from counts (topic, type)."""
    overall = normalise(exact_sum(classes) + _ITEMS)
    if len(classes) > 1:
        return overall, normalise(classes + _TOPIC * overall)
    return overall, overall[None]


def _rows(model: ItemTypes, prepared: Prepared, part: Prepared) -> JudgeRows:
    """The expected rows of judges before anything is counted."""
    kinds = model.kinds if len(prepared.judgments.scale.labels) <= _MANY_LABELS else 1
    cells = prepared.effective.fold(prepared.effective_cells(), weighted=True)
    return JudgeRows(cells, answer.weight_judges(part), kinds, model.strength)


def _for_topics(given: Parameters, prepared: Prepared, *, by_topic: bool) -> Parameters:
    """Parameters with one row of prevalence per topic, if topics have their own."""
    topics = prepared.judgments.topic_count if by_topic else 1
    if len(given.prevalence) == topics or prepared.judgments.topic is None:
        return given
    mean = given.prevalence.mean(axis=0, keepdims=True)
    return replace(given, prevalence=np.repeat(mean, topics, axis=0))


def _fit_sample(
    model: ItemTypes, prepared: Prepared, progress: Progress | None
) -> tuple[Parameters | None, dict[str, _Floats] | None]:
    """Fit a sample of the items with several judges: the parameters, and the state of rows."""
    judgments = prepared.judgments
    key = key_judges(prepared.sweeps.cells())[prepared.effective.judge_of]
    several = prepared.effective_per_item() > _ONE_JUDGE
    share = _SAMPLE / max(int(judgments.counts_per_item[several].sum()), 1)
    chosen = prepared.sweeps.write_rows(ChooseItems(key, min(share, 1.0)), 1)[:, 0] > 0
    few = _only(prepared, chosen & several)
    if not len(few.judgments):
        return None, None
    rows = _rows(model, few, few)
    loop = Loop(most=model.iterations, progress=progress)
    fitted = _maximise(model, few, rows, _begin(few, rows), loop, _UPDATES)
    return fitted.parameters, rows.state


def _earlier(start: Consensus | None, prepared: Prepared) -> Parameters | None:
    """The parameters of an earlier fit for these judges."""
    memory = None if start is None else start.predictor
    if not isinstance(memory, TypesMemory):
        return None
    if memory.fitted.scale.labels != prepared.judgments.scale.labels:
        return None
    return memory.parameters(prepared.judgments)[0]


def _begin(prepared: Prepared, rows: JudgeRows) -> Counts:
    """Start from votes: an item is easy where its top vote share is above the median."""
    sweeps, units = prepared.sweeps, prepared.effective.units
    (bins,) = sweeps.run(CountTops(units, _BINS))
    median = int(np.searchsorted(np.cumsum(bins), 0.5 * bins.sum()))
    return sweeps.counts(*sweeps.run(BeginTypes(units, rows.kinds, median, _BINS)))


def _maximise(
    model: ItemTypes, prepared: Prepared, rows: JudgeRows, begun: Counts, loop: Loop, updates: int
) -> FittedTypes:
    """Run EM; expected rows are updated in the first iterations and fixed afterwards.

    From then on it maximises log-likelihood + strength sum R log theta + 5 sum log pi.
    """
    strength = model.strength * rows.weight[:, None, None]
    least = model.tolerance * max(prepared.judgments.item_count, 1)

    def step(now: State, done: int) -> tuple[State, float]:
        if done:
            rows.restore(now)
        expected = rows.update(now["counts"]) if done < updates else now["expected"]
        rates = normalise(now["counts"] + strength * expected)
        overall, prevalence = _prevalence(now["classes"])
        given = Parameters(prevalence=prevalence, confusion=rates, of_types=True)
        counted = prepared.sweeps.expect(given)
        prior = strength * expected * np.log(np.maximum(rates, 1e-300))
        value = (
            counted.log_likelihood
            + float(exact_sum(exact_sum(prior).reshape(-1)))
            + _ITEMS * float(np.log(overall).sum())
        )
        after = {"counts": counted.confusion, "classes": counted.classes, "expected": expected}
        after |= {"rates": rates, "overall": overall, "prevalence": prevalence}
        return {**after, "typical": rows.typical(now["counts"]), **rows.state}, value

    def settled(trace: Sequence[float]) -> bool:
        return len(trace) > updates + 1 and abs(trace[-1] - trace[-2]) <= least

    begin = {"counts": begun.confusion, "classes": begun.classes}
    found, trace, converged = loop.run("types", begin, step, settled)
    names = ("overall", "prevalence", "rates", "typical", "counts")
    return FittedTypes(
        kinds=rows.kinds,
        trace=trace,
        frozen=updates,
        converged=converged,
        **{name: found[name] for name in names},
    )


def _conclude(model: ItemTypes, prepared: Prepared, fitted: FittedTypes) -> Consensus:
    """Read types as true labels, blend with the vote, calibrate by gold, measure judges."""
    reading = answer.read_types(prepared, fitted.overall, fitted.rates)
    posterior = _read_items(prepared, fitted.parameters, reading)
    powers = answer.choose_powers(prepared, posterior)
    answer.blend(prepared, posterior, powers)
    notes = answer.describe(prepared)
    calibration = None
    if prepared.known is not None and model.calibrate:
        from adjudge.models._calibration import calibrate_by  # brings scipy.optimize

        plain = answer.confusion_of(count_judgments(prepared.judgments, posterior))
        calibration = calibrate_by(
            prepared.known, prepared.split, prepared.effective, posterior, plain
        )
    if calibration is not None:
        choice, _ = pick(posterior, prepared.judgments, ties=model.ties, seed=model.seed)
        before = choice, posterior.max(axis=1)
        calibration.apply(prepared.split, prepared.effective, posterior)
    prevalence = answer.prevalence_of(prepared.judgments, posterior, by_topic=model.by_topic)
    answer.fill_empty(prepared.judgments, posterior, prevalence)
    level = answer.level_of(prepared, fitted.counts, fitted.kinds, posterior)
    put_gold(posterior, prepared.known)
    counts = count_judgments(prepared.judgments, posterior)
    if not fitted.converged:
        notes.append(describe_unconverged(model.iterations))
    consensus = conclude(
        model,
        prepared,
        Parameters(prevalence=prevalence, confusion=answer.confusion_of(counts)),
        posterior=posterior,
        counts=counts,
        trace=fitted.trace,
        converged=fitted.converged,
        notes=tuple(notes),
    )
    if calibration is not None and prepared.known is not None:
        other = (prepared.known < 0) & (prepared.judgments.counts_per_item > 0)
        after = consensus.choice, consensus.probability
        note = calibration.describe_change(other, before, after)
        consensus = replace(consensus, notes=(*consensus.notes, note))
    dependence = measure_dependence(prepared.judgments, prepared.known, prepared.families)
    consensus = replace(
        consensus,
        level=level,
        dependence=dependence,
        effective=answer.count_effective_judgments(prepared, dependence),
        predictor=None,
    )
    fitted = replace(fitted, counts=np.empty(0))
    memory = TypesMemory(model, consensus, prepared.engine, fitted, reading, powers, calibration)
    return replace(consensus, predictor=memory)


def _read_items(prepared: Prepared, given: Parameters, reading: _Floats) -> _Floats:
    """The probabilities of every item's true label, (item, truth)."""
    task = ReadTypes(prepared.sweeps.tables(given), reading)
    return prepared.sweeps.write_rows(task, len(prepared.judgments.scale.truths))


@dataclass(frozen=True, slots=True, eq=False)
class TypesMemory:
    """A fit, called with other judgments to label them."""

    model: ItemTypes
    fitted: Consensus
    engine: Engine
    types: FittedTypes
    reading: _Floats  # (type, truth)
    powers: answer.Powers
    calibration: Calibration | None

    def parameters(self, judgments: Judgments) -> tuple[Parameters, int]:
        """The parameters for other judges, and how many of them are new."""
        code = look_up(judgments.judges, self.fitted.judgments.judges)
        rates = np.concatenate([self.types.rates, self.types.typical[None]])[code]  # -1: the last
        prevalence = self.types.overall[None]
        known = self.fitted.judgments.topics
        if self.model.by_topic and judgments.topics is not None and known is not None:
            every = np.concatenate([self.types.prevalence, self.types.overall[None]])
            prevalence = every[look_up(judgments.topics, known)]
        given = Parameters(prevalence=prevalence, confusion=rates, of_types=True)
        return given, int((code < 0).sum())

    def __call__(self, judgments: Judgments) -> Consensus:
        """Label other judgments with what was learnt."""
        fitted = self.fitted
        by_topic = self.model.by_topic and judgments.topics is not None
        prepared, code = prepare_others(
            fitted, judgments, self.engine, by_topic=by_topic, repeats=True
        )
        judgments = prepared.judgments
        parameters, new = self.parameters(judgments)
        posterior = _read_items(prepared, parameters, self.reading)
        answer.blend(prepared, posterior, self.powers)
        if self.calibration is not None:
            self.calibration.for_judges(code).apply(prepared.split, prepared.effective, posterior)
        answer.fill_empty(judgments, posterior, fitted.overall_prevalence[None])
        counts = count_judgments(judgments, posterior)
        prevalence = answer.prevalence_of(judgments, posterior, by_topic=by_topic)
        notes = (
            (f"{new:,} of {judgments.judge_count:,} judges are new: treated as typical judges",)
            if new
            else ()
        )
        consensus = conclude(
            replace(self.model, by_topic=by_topic),
            prepared,
            Parameters(prevalence=prevalence, confusion=answer.confusion_of(counts)),
            posterior=posterior,
            counts=counts,
            notes=notes,
        )
        level = fitted.level if fitted.level is not None else np.zeros(fitted.judgments.judge_count)
        return replace(
            consensus,
            level=np.append(level, exact_sum(level) / max(len(level), 1))[code],  # -1: the mean
            dependence=fitted.dependence,
            effective=answer.count_effective_judgments(prepared, fitted.dependence),
            predictor=self,
        )
