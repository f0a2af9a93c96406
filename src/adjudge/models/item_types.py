"""ItemTypes: items of more types than labels, read through a reference judge.

    t_i ~ Categorical(pi);  y_ij ~ Categorical(theta_j[t_i, :]);  theta_j[t, :] ~ Dirichlet(20 R_jt)

Judges are not independent given the truth: items are hard for everybody, language models share
their errors, one model asked five times is not five judges. Three things follow. Near copies have
one voice between them (``adjudge.models._families``). Items come in an easy and a hard kind of
every label, so that what makes judges err together has a place of its own. And a type is not taken
for its label, but read through what a good judge says of it. What is believed of a judge's rows, R,
comes in two structures, ``habit`` and ``slant``, and for ordered labels in a third, ``line``
(all in ``adjudge.models._type_judges``); the answer is their mean, half of it the line's. Gold
calibrates the answer (``adjudge.models._calibration``), outside the fit.

Each structure is fitted by EM: R is brought up to date in the first sweeps, and once it is frozen
the objective, log-likelihood + 20 sum R log theta + 1/2 sum log pi, never falls. It stops early, by
a coarse tolerance: on real judgments more sweeps made probabilities worse.

No paper: the model is adjudge's own. Dawid and Skene (1979), doi:10.2307/2346806, is the case of
one kind of every label, free rows, and types taken for labels.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from adjudge.data.consensus import Consensus
from adjudge.data.judgments import GoldLike, JudgmentsLike, takes_tables
from adjudge.engines.checkpoint import Checkpoint
from adjudge.engines.engine import Engine, Parameters
from adjudge.engines.item_types import BeginTypes, ChooseItems, CountTops
from adjudge.errors import BadSetting
from adjudge.models._families import key_judges
from adjudge.models._type_judges import (
    MANY,
    FittedTypes,
    HabitRows,
    Rows,
    SlantRows,
    exact_sum,
    normalise,
    weighted_cells,
    weights_of,
    whole_cells,
)
from adjudge.models._type_reading import conclude_types
from adjudge.models.model import (
    Prepared,
    Progress,
    Step,
    Ties,
    check_ties,
    checkpoint_of,
    prepare,
)

_Floats = NDArray[np.float64]
_BINS = 2**16  # of top shares, to find their median
_WIDTH = 0.35  # grades: how far from its mean grade an item's first type lies
_MANY_LABELS = 20  # labels above which there is one type of each
_TOPIC = 10.0  # items' worth of all types in the prevalence of a topic
_EVERY = 0.5  # pseudo-items of each type
_SAMPLE = 100_000  # judgments that are fitted first, where there are many more
_ONE_VOICE = 1.2  # what copies weigh together, at most
_SWEEPS_FOR_ALL = 3  # over all items, for the prevalence of types, once some of them are fitted
_FEWEST = 10  # sweeps before beliefs are frozen: where a label is rare the first gain little
_TABLES = 25  # of rates (judge, truth, label) held at once


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemTypes:
    """Near copies share one voice, items have types, types are read through a reference judge.

    ``structures`` are averaged; ``line`` counts only where labels are ordered and more than two.
    ``kinds`` are the types of every label, ``strength`` the pseudo-judgments that draw a judge's
    row to what is believed of them. Beliefs are frozen after ``frozen`` sweeps, or when a sweep
    gains less than ten times ``tolerance``, in nats an item; below ``tolerance`` the fit stops.
    """

    name: ClassVar[str] = "item-types"
    shared: ClassVar[bool] = False

    structures: tuple[str, ...] = ("habit", "slant", "line")
    kinds: int = 2
    strength: float = 20.0
    iterations: int = 40
    frozen: int = 20
    tolerance: float = 5e-4
    weigh_copies: bool = True
    calibrate: bool = True
    by_topic: bool = False
    ties: Ties = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        check_ties(self.ties)
        if not self.structures or set(self.structures) - {"habit", "slant", "line"}:
            raise BadSetting("structures", self.structures, "some of habit, slant and line")
        if self.kinds < 1:
            raise BadSetting("kinds", self.kinds, "at least 1")
        if not self.strength > 0:
            raise BadSetting("strength", self.strength, "more than 0")
        if self.iterations < 1:
            raise BadSetting("iterations", self.iterations, "at least 1")
        if self.frozen < 1:
            raise BadSetting("frozen", self.frozen, "at least 1")
        if not self.tolerance >= 0:
            raise BadSetting("tolerance", self.tolerance, "0 or more")

    @takes_tables
    def fit(
        self,
        judgments: JudgmentsLike,
        gold: GoldLike = None,
        *,
        engine: Engine | None = None,
        progress: Progress | None = None,
        start: Consensus | None = None,
    ) -> Consensus:
        """The consensus of judgments; gold calibrates it. ``start``: go on from an earlier fit."""
        prepared = prepare(
            judgments,
            gold,
            engine,
            by_topic=self.by_topic,
            copies=self.weigh_copies,
            repeats=True,
            tables=_TABLES,
        )
        with threadpool_limits(1, "blas"):  # more would only wait for one another, and change bits
            fitted = _fit_structures(self, prepared, progress, start)
            return conclude_types(self, prepared, fitted)


@dataclass(frozen=True, slots=True)
class _Pace:
    """How soon a fit may settle: later from votes than from where another fit ended."""

    fewest: int  # sweeps before beliefs are frozen
    most: int
    patience: float  # times the tolerance, below which a gain ends the fit


@dataclass(slots=True, eq=False)
class _FitState:
    """Where a fit stands."""

    counts: _Floats  # (judge, type, label)
    classes: _Floats  # (topic, type)
    believed: _Floats = field(default_factory=lambda: np.empty(0))
    trace: list[float] = field(default_factory=list)
    frozen: int = 0


def _names_of(model: ItemTypes, prepared: Prepared) -> tuple[str, ...]:
    """The structures to fit: no line where labels have no order, or are two."""
    scale = prepared.judgments.scale
    ordered = scale.ordinal and len(scale.labels) > 2
    return tuple(name for name in model.structures if name != "line" or ordered) or ("habit",)


def _fit_structures(
    model: ItemTypes, prepared: Prepared, progress: Progress | None, start: Consensus | None
) -> list[FittedTypes]:
    """Every structure that the model has for these judgments, fitted.

    Items that one voice judged tell nothing of how often it errs, so the others are fitted alone.
    Where judgments are very many, a sample of these is fitted first, and all go on from there.
    """
    begun: dict[str, tuple[Parameters, dict[str, _Floats]]] = {}
    earlier = _earlier(start, prepared)
    told = prepared
    if len(prepared.judgments) > 2 * _SAMPLE:
        if not earlier:
            begun = _fit_sample(model, prepared, progress)
    else:
        told = _told_by_several(prepared)
    by_topic = model.by_topic and told is prepared
    begun |= {name: (given, {}) for name, given in earlier.items()}
    median = -1 if begun else _median_top(told)
    fitted: list[FittedTypes] = []
    for name in _names_of(model, prepared):
        rows = _rows(model, prepared, told, name)
        given, numbers = begun.pop(name, (None, {}))
        if given is None or given.confusion.shape[1] != rows.types:
            state = _begin(told, rows, median)
            pace = _Pace(_FEWEST, model.frozen, 1)
        else:
            rows.recall({**rows.state, **numbers})
            swept = told.sweeps.expect(_for_topics(given, told, by_topic=by_topic))
            state = _FitState(swept.confusion, swept.classes)
            pace = _Pace(1, 2, 10)
        checkpoint = checkpoint_of(told, model)
        one = _maximise(model, told, name, rows, state, progress, pace, checkpoint)[0]
        if told is not prepared:
            one = _for_all(model, prepared, one)
        if len(prepared.judgments) > MANY and any(each.kinds for each in fitted):
            one = replace(one, counts=np.empty(0))
        fitted.append(one)
    return fitted


def _told_by_several(prepared: Prepared) -> Prepared:
    """The judgments of items that more than one voice judged, if there are others."""
    several = prepared.voices_per_item() > _ONE_VOICE
    return prepared if several.all() else _only(prepared, several)


def _only(prepared: Prepared, items: NDArray[np.bool_]) -> Prepared:
    """The judgments of some items, by the same judges and families."""
    few = prepared.judgments.select(items=items, keep_empty=True)
    return prepare(few, None, prepared.engine, repeats=True, families=prepared.families)


def _for_all(model: ItemTypes, prepared: Prepared, fitted: FittedTypes) -> FittedTypes:
    """A fit to some items with the prevalence among all of them, and what is counted on all."""
    given, overall = fitted.parameters, fitted.overall
    given = _for_topics(given, prepared, by_topic=model.by_topic)
    for _ in range(_SWEEPS_FOR_ALL):
        overall, prevalence = _prevalence(prepared.sweeps.expect(given).classes)
        given = replace(given, prevalence=prevalence)
    counts = prepared.sweeps.expect(given).confusion
    return replace(fitted, prevalence=given.prevalence, overall=overall, counts=counts)


def _prevalence(classes: _Floats) -> tuple[_Floats, _Floats]:  # (type,), (topic or 1, type)
    """How common types are among all items, and in each topic, from their counts (topic, type)."""
    overall = normalise(exact_sum(classes) + _EVERY)
    if len(classes) > 1:
        return overall, normalise(classes + _TOPIC * overall)
    return overall, overall[None]


def _rows(model: ItemTypes, prepared: Prepared, told: Prepared, name: str) -> Rows:
    """What is believed of judges in a structure, before anything is counted.

    Which labels they like to give all their judgments show, not only those that are fitted.
    """
    kinds = model.kinds if len(prepared.judgments.scale.labels) <= _MANY_LABELS else 1
    cells, weight = weighted_cells(prepared), weights_of(told)
    if name == "slant":
        return SlantRows(cells, weight, kinds, model.strength)
    count = weighted_cells(told).sum(axis=1)
    return HabitRows(cells, count, weight, kinds, line=name == "line")


def _for_topics(given: Parameters, prepared: Prepared, *, by_topic: bool) -> Parameters:
    """Parameters with a row of prevalence for every topic, if topics have their own."""
    topics = prepared.judgments.topic_count if by_topic else 1
    if len(given.prevalence) == topics or prepared.judgments.topic is None:
        return given
    mean = given.prevalence.mean(axis=0, keepdims=True)
    return replace(given, prevalence=np.repeat(mean, topics, axis=0))


def _fit_sample(
    model: ItemTypes, prepared: Prepared, progress: Progress | None
) -> dict[str, tuple[Parameters, dict[str, _Floats]]]:
    """Parameters and numbers about judges from a sample of the items, by structure."""
    whole = prepared.judgments
    key = key_judges(whole_cells(prepared))[prepared.voices.judge_of]
    several = prepared.voices_per_item() > _ONE_VOICE
    share = _SAMPLE / max(int(whole.counts_per_item[several].sum()), 1)
    chosen = prepared.sweeps.rows(ChooseItems(key, min(share, 1.0)), 1)[:, 0] > 0
    few = _only(prepared, chosen & several)
    if not len(few.judgments):
        return {}
    median = _median_top(few)
    found = {}
    for name in _names_of(model, few):
        rows = _rows(model, few, few, name)
        state = _begin(few, rows, median)
        pace = _Pace(_FEWEST, model.frozen, 1)
        fitted, numbers = _maximise(model, few, name, rows, state, progress, pace, None)
        found[name] = (fitted.parameters, numbers)
    return found


def _earlier(start: Consensus | None, prepared: Prepared) -> dict[str, Parameters]:
    """The parameters of an earlier fit for these judges, by structure."""
    from adjudge.models._type_memory import TypesMemory

    memory = None if start is None else start.predictor
    if not isinstance(memory, TypesMemory):
        return {}
    if memory.fitted.scale.labels != prepared.judgments.scale.labels:
        return {}
    found, _ = memory.parameters(prepared.judgments)
    return {each.name: parameters for each, parameters in zip(memory.types, found, strict=True)}


def _median_top(prepared: Prepared) -> int:
    """The bin of the median share that the most voted label of an item has."""
    (bins,) = prepared.sweeps.ask(CountTops(prepared.voices.units, _BINS))
    return int(np.searchsorted(np.cumsum(bins), 0.5 * bins.sum()))


def _begin(prepared: Prepared, rows: Rows, median: int) -> _FitState:
    """Counts by votes alone."""
    sweeps, units = prepared.sweeps, prepared.voices.units
    task = BeginTypes(units, rows.kinds, rows.place, _WIDTH, median, _BINS)
    found = sweeps.counts(*sweeps.ask(task))
    return _FitState(found.confusion, found.classes)


def _kept(state: _FitState, rows: Rows) -> dict[str, NDArray[Any]]:
    """What a checkpoint keeps of a fit."""
    return {
        "counts": state.counts,
        "classes": state.classes,
        "believed": state.believed,
        "trace": np.array(state.trace),
        "frozen": np.array(state.frozen),
        **{f"rows {name}": values for name, values in rows.state.items()},
    }


def _recall(state: _FitState, kept: tuple[dict[str, NDArray[Any]], Any] | None, rows: Rows) -> None:
    """Bring a fit to where a checkpoint says that it stood."""
    if kept is None:
        return
    arrays, _ = kept
    state.counts, state.classes = arrays["counts"], arrays["classes"]
    state.believed, state.trace = arrays["believed"], arrays["trace"].tolist()
    state.frozen = int(arrays["frozen"])
    rows.recall({name: arrays[f"rows {name}"] for name in rows.state})


def _maximise(
    model: ItemTypes,
    prepared: Prepared,
    name: str,
    rows: Rows,
    state: _FitState,
    progress: Progress | None,
    pace: _Pace,
    checkpoint: Checkpoint | None,
) -> tuple[FittedTypes, dict[str, _Floats]]:
    """Sweep until the objective gains too little, the beliefs being frozen on the way."""
    strength = model.strength * weights_of(prepared)[:, None, None]
    least = model.tolerance * max(prepared.judgments.item_count, 1)
    _recall(state, None if checkpoint is None else checkpoint.load(f"types-{name}"), rows)
    typical, prevalence = np.empty(0), np.empty(0)
    rates, overall = np.empty(0), np.empty(0)
    converged = False
    for done in range(len(state.trace) + 1, model.iterations + 1):
        if not state.frozen:
            state.believed = rows.update(state.counts)
        typical = rows.typical(state.counts)
        rates = normalise(state.counts + strength * state.believed)
        overall, prevalence = _prevalence(state.classes)
        given = Parameters(prevalence=prevalence, confusion=rates, of_types=True)
        swept = prepared.sweeps.expect(given)
        state.counts, state.classes = swept.confusion, swept.classes
        prior = strength * state.believed * np.log(np.maximum(rates, 1e-300))
        state.trace.append(
            swept.log_likelihood
            + float(exact_sum(exact_sum(prior).reshape(-1)))
            + _EVERY * float(np.log(overall).sum())
        )
        if progress is not None:
            progress(Step(f"fitting {name}", done, model.iterations))
        gain = abs(state.trace[-1] - state.trace[-2]) if done > 1 else np.inf
        if state.frozen and done > state.frozen + 1 and gain <= pace.patience * least:
            converged = True
            break
        settled = done >= pace.fewest and gain <= 10 * least
        if not state.frozen and (done >= pace.most or settled):
            state.frozen = done
        if checkpoint is not None and checkpoint.due(done) and done < model.iterations:
            checkpoint.save(f"types-{name}", _kept(state, rows))
    fitted = FittedTypes(
        name=name,
        kinds=0 if len(rows.place) else rows.kinds,
        prevalence=prevalence,
        overall=overall,
        rates=rates,
        believed=state.believed,
        typical=typical,
        counts=state.counts,
        trace=tuple(state.trace),
        frozen=state.frozen,
        converged=converged,
    )
    return fitted, rows.state
