"""Estimates: a target from the judgments of any judges and people's gold on a part of the items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold, take_gold
from adjudge.data.judgments import Judgments, take_judgments
from adjudge.data.results import Result
from adjudge.data.runs import Run
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting, shown
from adjudge.evaluation._pool import Unjudged, check_unjudged
from adjudge.evaluation.estimation._checks import check_random, check_rarity, check_size
from adjudge.evaluation.estimation._difference import (
    Corrected,
    Interval,
    correct,
    over_topics,
    rogan_gladen,
)
from adjudge.evaluation.estimation._rankings import (
    by_kind,
    levels_of,
    ranking_target,
)
from adjudge.evaluation.estimation._sampling import Sample, align_judged, by_item, sample_of
from adjudge.evaluation.estimation._targets import Expansion, Mean, Target, plain_target
from adjudge.models.cross_calibration import CrossFit
from adjudge.models.model import Progress
from adjudge.models.registry import DEFAULT
from adjudge.models.registry import model as build_model

_Estimator = Literal["prediction-powered", "classical", "rogan-gladen"]
_Over = Literal["items", "topics"]
_Strata = Literal["topic", "consensus"]
_Floats = NDArray[np.float64]
_STEPS = 20  # of a ratio's expansion around its own value
_ENDLESS = 0  # a population without end


_NUMBERS = ("target", "estimate", "low", "high", "classical", "classical_low", "classical_high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(Result):
    """A target's estimate and interval, beside those of gold alone.

    ``saved`` is how many more labels gold alone would need for an interval as narrow; ``power`` is
    the part of the beliefs that was used; ``judged`` the share of each run's places that count that
    is judged. ``warnings`` are reasons to trust the interval less.
    """

    target: str
    estimate: float
    low: float
    high: float
    classical: float
    classical_low: float
    classical_high: float
    method: str
    gold: int
    items: int
    level: float
    saved: int | None
    power: float | None
    judged: dict[str, float]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def facts(self) -> str:
        """The estimate with its interval."""
        return f"{self.target} {self.estimate:.3f} ({self.low:.3f} to {self.high:.3f})"

    def to_table(self) -> Any:
        """Return one row: the estimate, its interval, and that of gold alone."""
        return pa.table({name: [getattr(self, name)] for name in _NUMBERS})

    def to_json(self) -> dict[str, Any]:
        """The estimate as data."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a target is to be estimated."""

    estimator: _Estimator = "prediction-powered"
    over: _Over = "items"
    strata: _Strata | None = None
    sampled: Literal["random"] | None = None
    population: int | None = None
    unjudged: Unjudged = "not-relevant"
    level: float = 0.95
    folds: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        for name, kinds in (("estimator", _Estimator), ("over", _Over), ("strata", _Strata)):
            value = getattr(self, name)
            if value not in get_args(kinds) and not (name == "strata" and value is None):
                raise BadSetting(name, value, f"one of {', '.join(get_args(kinds))}")
        if self.sampled not in (None, "random"):
            raise BadSetting("sampled", self.sampled, "random, or nothing where that is to be seen")
        if not 0 < self.level < 1:
            raise BadSetting("level", self.level, "a number between 0 and 1, such as 0.95")
        if self.folds < 2:
            raise BadSetting("folds", self.folds, "at least 2")
        check_unjudged(self.unjudged)

    def target(self, name: str, consensus: Consensus, runs: Sequence[Run]) -> Target:
        """The target of a name; one without runs that asks for them is refused."""
        judged = consensus.judgments.counts_per_item > 0
        plain = plain_target(name, consensus, judged)
        if plain is None:
            return ranking_target(name, consensus, judged, runs, self.unjudged, self.seed)
        if runs:
            raise BadSetting("runs", runs[0].name, f"a measure of rankings; {name} has no run")
        return plain

    def beliefs(self, fit: CrossFit, gold: Gold) -> _Floats:  # (item, truth)
        """What is believed of each item, its own gold apart."""
        known = align_judged(gold, fit.consensus.judgments)
        return fit.beliefs(known, folds=self.folds, seed=self.seed)


def estimate(
    judgments: Judgments | Consensus | str | Path | Any,
    gold: Gold | str | Path | Any,
    target: str,
    *,
    runs: Sequence[Run | str | Path] = (),
    model: str | None = None,
    family: str | None = None,
    progress: Progress | None = None,
    settings: dict[str, Any] | None = None,
    **plan: Any,
) -> Estimate:
    """A target, estimated from judgments and from gold on a part of their items.

    ``target`` is ``mean-grade``, ``share:LABEL,...``, ``agreement:JUDGE``, ``error:JUDGE:TRUTH`` or
    a measure of rankings such as ``nDCG@10``, of one run or of the first minus the second.
    ``judgments`` and ``gold`` are as for ``fit``; a consensus fitted without gold serves too.
    ``plan`` has the fields of ``Plan``: ``estimator`` (prediction-powered, classical,
    rogan-gladen), ``over`` (items: these; topics: others too), ``strata`` (topic, consensus),
    ``population`` (how many items these were drawn from; 0 for endlessly many), ``level``.
    """
    how = Plan(**plan)
    known = take_gold(gold)
    consensus = judgments if isinstance(judgments, Consensus) else None
    if consensus is None:
        table = take_judgments(judgments)
        if family is not None:
            table = table.with_family_rule(family)
        check_gold(known, table)
        made: Any = build_model(model or DEFAULT, **(settings or {}))
        consensus = made.fit(table, progress=progress)
    elif consensus.known is not None and (consensus.known >= 0).any():
        raise BadSetting("judgments", consensus.model, "a consensus that was fitted without gold")
    systems = [run if isinstance(run, Run) else Run.read(run) for run in runs]
    return estimate_from(CrossFit.of(consensus), known, target, systems, how)


def estimate_from(
    fit: CrossFit,
    gold: Gold,
    name: str,
    runs: Sequence[Run],
    plan: Plan,
    beliefs: _Floats | None = None,  # (item, truth)
) -> Estimate:
    """The same from a fit that is ready to be calibrated; ``beliefs`` are the plan's, if made."""
    table = fit.consensus.judgments
    known = align_judged(gold, table)
    notes = check_gold(gold, table)
    target = plan.target(name, fit.consensus, runs)
    sample = _sample(target, gold, known, table, plan, fit.consensus)
    warnings = check_size(target, sample, gold.source)
    if not sample.drawn:
        within = "each topic of " if plan.strata == "topic" else ""
        notes.append(f"gold is taken for a random draw of {within}the {len(target.item):,} items")
    plain = _overall(sample, len(fit.consensus.scale.truths))
    alone, at = _solve(target, sample, np.tile(plain, (len(target.item), 1)), plain, tune=False)
    warnings += check_rarity(at.adds, sample)
    before = fit.consensus.posterior[target.item]
    warnings += check_random(before, at.adds, sample, gold, assured=plan.sampled == "random")
    found, around, rated = alone, at, None
    if plan.estimator == "prediction-powered":
        belief = (plan.beliefs(fit, gold) if beliefs is None else beliefs)[target.item]
        kind = target.strata()
        if sample.drawn and kind is not None:
            belief = by_kind(belief, kind, sample, folds=plan.folds, seed=plan.seed)
        found, around = _solve(target, sample, belief, plain, tune=True)
    elif plan.estimator == "rogan-gladen":
        rated = _by_rates(target, sample, fit.consensus, plan)
    return _concluded(target, sample, plan, (alone, at), (found, around), rated, warnings, notes)


def _sample(
    target: Target,
    gold: Gold,
    known: NDArray[np.int16],
    table: Judgments,
    plan: Plan,
    consensus: Consensus,
) -> Sample:
    """The gold items among the target's members, drawn as told, or at random, in strata or not."""
    member = np.flatnonzero(known[target.item] >= 0)

    def take(values: NDArray[Any] | None) -> NDArray[Any] | None:  # (gold,)
        if values is None or gold.sampling is None:
            return None
        return by_item(values, gold, table)[target.item[member]]

    sample = sample_of(
        member.astype(np.int64),
        known[target.item[member]],
        len(target.item),
        take(gold.sampling),
        take(gold.round),
        gold.source,
        take(gold.stratum),
    )
    if sample.drawn:
        return sample
    stratum = target.strata()
    if plan.strata == "topic":
        if target.topics is None:
            raise BadSetting("strata", "topic", "judgments with topics, and these have none")
        stratum = target.topics
    elif plan.strata == "consensus":
        stratum = consensus.choice[target.item].astype(np.int64)
    return sample if stratum is None else sample.in_strata(stratum)


def _overall(sample: Sample, truths: int) -> _Floats:  # (truth,)
    """What gold alone says of every item: the share of each truth."""
    weight = 1.0 / sample.chance
    share = np.bincount(sample.truth, weights=weight, minlength=truths)
    return np.asarray(share / share.sum())


def _solve(
    target: Target, sample: Sample, belief: _Floats, plain: _Floats, *, tune: bool
) -> tuple[Corrected, Expansion]:
    """The corrected estimate; of a ratio, expanded around itself until it stays."""
    told = belief.copy()
    told[sample.item] = np.eye(belief.shape[1])[sample.truth]
    at: float | None = None
    levels = None
    if target.is_normalised and target.topics is not None:
        gold = target.topics[sample.item], sample.truth
        levels = levels_of(belief[sample.item], *gold, int(target.topics.max()) + 1)
    few = target.strata() is not None
    for _ in range(_STEPS):
        expansion = target.expand(told, at, levels)
        found = correct(expansion, sample, belief, plain, tune=tune, few=few)
        value = found.interval.value
        if not target.is_ratio or (at is not None and abs(value - at) < 1e-10):
            break
        at = value
    return found, expansion


def _concluded(
    target: Target,
    sample: Sample,
    plan: Plan,
    by_gold: tuple[Corrected, Expansion],
    by_both: tuple[Corrected, Expansion],
    rated: tuple[float, float, float] | None,
    warnings: list[str],
    notes: list[str],
) -> Estimate:
    """The estimate with its interval, and what gold alone would give."""

    def about_population(found: tuple[Corrected, Expansion]) -> Interval:
        interval = found[0].interval
        if plan.over == "topics":
            interval = over_topics(*found, target.topics, is_sum=target.is_sum, seed=plan.seed)
        return _in_population(interval, by_gold[1], sample, target, plan)

    first, second = about_population(by_gold), about_population(by_both)
    classical_low, classical_high = first.bounds(plan.level, target.bounds)
    low, high = second.bounds(plan.level, target.bounds)
    value = float(np.clip(second.value, *target.bounds))
    if rated is not None:
        value, low, high = rated
    saved = _saved(len(sample), len(target.item), classical_high - classical_low, high - low)
    method: list[str] = [plan.estimator]
    if plan.strata is not None and not sample.drawn:
        method.append(f"stratified by {plan.strata}")
    if plan.over == "topics":
        method.append("clustered by topic" + (", bootstrap" if second.errors is not None else ""))
    tuned = plan.estimator == "prediction-powered"
    return Estimate(
        target=target.name,
        estimate=value,
        low=low,
        high=high,
        classical=float(np.clip(first.value, *target.bounds)),
        classical_low=classical_low,
        classical_high=classical_high,
        method=", ".join(method),
        gold=len(sample),
        items=len(target.item),
        level=plan.level,
        saved=None if plan.over == "topics" or plan.population is not None else saved,
        power=second.power if tuned else None,
        judged=target.judged,
        warnings=tuple(warnings),
        notes=(*notes, *target.notes),
    )


def _in_population(
    interval: Interval, expansion: Expansion, sample: Sample, target: Target, plan: Plan
) -> Interval:
    """The interval about the population that the items were drawn from, where that is told."""
    size = plan.population
    if size is None:
        return interval
    if plan.over == "topics" or not target.is_sum:
        raise BadSetting("population", size, "a share or a mean over items")
    items = len(target.item)
    if size != _ENDLESS and size < items:
        raise BadSetting("population", size, f"at least the {items:,} items there are")
    values = expansion.known(sample.item, sample.truth) * items
    left = 1 / items - (1 / size if size != _ENDLESS else 0.0)
    return replace(interval, variance=interval.variance + float(values.var(ddof=1)) * left)


def _by_rates(
    target: Target, sample: Sample, consensus: Consensus, plan: Plan
) -> tuple[float, float, float]:
    """Rogan and Gladen's estimate of a share from the labels of the consensus without gold."""
    if not isinstance(target, Mean) or not target.name.startswith("share"):
        raise BadSetting("estimator", "rogan-gladen", f"a share; {target.name} is none")
    alone = plan.strata is None and plan.over == "items" and plan.population is None
    if sample.drawn or not alone:
        wanted = "gold drawn at random, about these items; prediction-powered knows the rest"
        raise BadSetting("estimator", "rogan-gladen", wanted)
    chosen = target.worth[0] > 0
    labelled = chosen[consensus.choice[target.item]]
    return rogan_gladen(labelled, sample.item, chosen[sample.truth], plan.level)


def _saved(gold: int, items: int, alone: float, width: float) -> int | None:
    """How many labels more gold alone would need for an interval of this width."""
    if not alone > 0 or not width > 0:
        return None
    part = (width / alone) ** 2
    needed = 1.0 / ((1 / gold - 1 / items) * part + 1 / items)
    return round(needed) - gold


def check_gold(gold: Gold, judgments: Judgments) -> list[str]:
    """Refuse gold that nobody judged, and gold of one class; notes say what is left out."""
    known = align_judged(gold, judgments)
    have = known[known >= 0]
    if not have.size:
        there = "gold is on items nobody judged" if len(gold) else "there is no gold"
        raise BadData(f"{there}; wanted gold on a part of the judged items", source=gold.source)
    if len(np.unique(have)) == 1:
        label = shown(judgments.scale.truths[int(have[0])])
        raise BadData(
            f"every gold label on a judged item is {label}: gold of one class says nothing about "
            "the others; wanted gold on more items, drawn at random",
            source=gold.source,
        )
    alone = len(gold) - have.size
    if not alone:
        return []
    return [f"{alone:,} of {count_of(len(gold), 'gold item')} left out, since nobody judged them"]
