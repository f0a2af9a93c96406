"""Estimates of a target from the judgments of any judges and gold on a part of the items."""

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
from adjudge.errors import BadData, BadSetting, Remedy, shown
from adjudge.evaluation._pool import Unjudged, check_unjudged
from adjudge.evaluation.estimation._difference import (
    Interval,
    correct,
    over_topics,
)
from adjudge.evaluation.estimation._rankings import (
    by_kind,
    levels_of,
    ranking_target,
)
from adjudge.evaluation.estimation._sampling import Sample, align_judged, by_item, sample_of
from adjudge.evaluation.estimation._targets import Expansion, Target, plain_target
from adjudge.models.cross_calibration import CrossFit
from adjudge.models.model import Progress
from adjudge.models.registry import DEFAULT
from adjudge.models.registry import model as build_model

_Estimator = Literal["prediction-powered", "classical"]
_Over = Literal["items", "topics"]
_Strata = Literal["topic", "consensus"]
_Floats = NDArray[np.float64]
_STEPS = 20  # of a ratio's expansion around its own value
_ENDLESS = 0  # an infinite population
_FEWEST, _FEW = 10, 50  # gold items below which there is no estimate, and a warning
_FEWEST_COUNTED, _FEW_COUNTED = 3, 20  # the same for documents in places that count
_RARE = 5  # gold items of a kind below which there is a warning
_ODD, _STRANGE = 3.0, 4.5  # standard errors from a random draw: a warning, a refusal
_NUMBERS = ("target", "estimate", "low", "high", "classical", "classical_low", "classical_high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(Result):
    """A target's estimate and interval, next to those of gold alone.

    ``saved`` is how many more labels gold alone would need for an interval as narrow. ``power`` is
    the part of the beliefs that was used. ``judged`` is the share of each run's places that count
    that is judged. ``warnings`` are reasons to trust the interval less.
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
        """Return the estimate as data."""
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
            raise BadSetting("sampled", self.sampled, "random, or nothing")
        if not 0 < self.level < 1:
            raise BadSetting("level", self.level, "a number between 0 and 1, such as 0.95")
        if self.folds < 2:
            raise BadSetting("folds", self.folds, "at least 2")
        check_unjudged(self.unjudged)

    def target(self, name: str, consensus: Consensus, runs: Sequence[Run]) -> Target:
        """Return the target of a name; runs are for measures of rankings only."""
        judged = consensus.judgments.counts_per_item > 0
        plain = plain_target(name, consensus, judged)
        if plain is None:
            return ranking_target(name, consensus, judged, runs, self.unjudged, self.seed)
        if runs:
            raise BadSetting("runs", runs[0].name, f"a measure of rankings; {name} takes no run")
        return plain

    def beliefs(self, fit: CrossFit, gold: Gold) -> _Floats:  # (item, truth)
        """Return the beliefs about each item, made without its own gold."""
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
    leave_out_honeypots: bool = False,
    **plan: Any,
) -> Estimate:
    """Estimate a target from judgments and from gold on a part of their items.

    ``target`` is ``mean-grade``, ``share:LABEL,...``, ``agreement:JUDGE``, ``error:JUDGE:TRUTH`` or
    a measure of rankings such as ``nDCG@10``, of one run or of the first minus the second.
    ``judgments`` and ``gold`` are as for ``fit``; a consensus fitted without gold serves too.
    ``leave_out_honeypots`` leaves out the items that gold marks as honeypots.
    ``plan`` has the fields of ``Plan``: ``estimator`` (prediction-powered, classical), ``over``
    (items: these; topics: others too), ``strata`` (topic, consensus), ``population`` (how many
    items these were drawn from; 0 for infinitely many), ``level``.
    """
    how = Plan(**plan)
    known = take_gold(gold)
    if leave_out_honeypots:
        judgments, known = known.without_honeypots(take_judgments(judgments))
    consensus = judgments if isinstance(judgments, Consensus) else None
    if consensus is None:
        table = take_judgments(judgments)
        if family is not None:
            table = table.with_family_rule(family)
        check_gold(known, table)
        chosen: Any = build_model(model or DEFAULT, **(settings or {}))
        consensus = chosen.fit(table, progress=progress)
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
    """Estimate from a fit that is ready to be calibrated; ``beliefs`` are the plan's, if made."""
    table = fit.consensus.judgments
    known = align_judged(gold, table)
    notes = check_gold(gold, table)
    target = plan.target(name, fit.consensus, runs)
    sample = _sample(target, gold, known, table, plan, fit.consensus)
    warnings = _check_size(target, sample, gold.source)
    if not sample.drawn:
        within = "each topic of " if plan.strata == "topic" else ""
        notes.append(f"gold is taken for a random draw of {within}the {len(target.item):,} items")
    weight = 1.0 / sample.chance
    shares = np.bincount(sample.truth, weights=weight, minlength=len(fit.consensus.scale.truths))
    plain = shares / shares.sum()  # what gold alone says of every item
    alone, at = _solve(target, sample, np.tile(plain, (len(target.item), 1)), plain, tune=False)
    warnings += _check_rarity(at.adds, sample)
    before = fit.consensus.posterior[target.item]
    warnings += _check_random(before, at.adds, sample, gold, assured=plan.sampled == "random")
    found, around = alone, at
    if plan.estimator == "prediction-powered":
        belief = (plan.beliefs(fit, gold) if beliefs is None else beliefs)[target.item]
        kind = target.strata()
        if sample.drawn and kind is not None:
            belief = by_kind(belief, kind, sample, folds=plan.folds, seed=plan.seed)
        found, around = _solve(target, sample, belief, plain, tune=True)

    def about_population(interval: Interval, expansion: Expansion) -> Interval:
        if plan.over == "topics":
            topics = target.topics
            interval = over_topics(
                interval, expansion, topics, is_sum=target.is_sum, seed=plan.seed
            )
        return _in_population(interval, at, sample, target, plan)

    both = about_population(alone, at), about_population(found, around)
    return _report(target, sample, plan, *both, warnings, notes)


def _report(
    target: Target,
    sample: Sample,
    plan: Plan,
    first: Interval,  # from gold alone
    second: Interval,
    warnings: list[str],
    notes: list[str],
) -> Estimate:
    """Put the estimate together."""
    classical_low, classical_high = first.bounds(plan.level, target.bounds)
    low, high = second.bounds(plan.level, target.bounds)
    value = float(np.clip(second.value, *target.bounds))
    saved = _count_saved(len(sample), len(target.item), classical_high - classical_low, high - low)
    method: list[str] = [plan.estimator]
    if plan.strata is not None and not sample.drawn:
        method.append(f"stratified by {plan.strata}")
    if plan.over == "topics":
        method.append("clustered by topic" + (", bootstrap" if second.errors is not None else ""))
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
        power=second.power if plan.estimator == "prediction-powered" else None,
        judged=target.judged,
        warnings=tuple(warnings),
        notes=(*notes, *target.notes),
    )


def _sample(
    target: Target,
    gold: Gold,
    known: NDArray[np.int16],
    table: Judgments,
    plan: Plan,
    consensus: Consensus,
) -> Sample:
    """Return the gold items among the target's members, drawn as given, or at random."""
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
            raise BadSetting("strata", "topic", "judgments with topics; these have none")
        stratum = target.topics
    elif plan.strata == "consensus":
        stratum = consensus.choice[target.item].astype(np.int64)
    return sample if stratum is None else sample.in_strata(stratum)


def _solve(
    target: Target, sample: Sample, belief: _Floats, plain: _Floats, *, tune: bool
) -> tuple[Interval, Expansion]:
    """Return the corrected estimate; a ratio is expanded around itself until it does not change."""
    given = belief.copy()
    given[sample.item] = np.eye(belief.shape[1])[sample.truth]
    at: float | None = None
    levels = None
    if target.is_normalised and target.topics is not None:
        gold = target.topics[sample.item], sample.truth
        levels = levels_of(belief[sample.item], *gold, int(target.topics.max()) + 1)
    few = target.strata() is not None
    for _ in range(_STEPS):
        expansion = target.expand(given, at, levels)
        found = correct(expansion, sample, belief, plain, tune=tune, few=few)
        if not target.is_ratio or (at is not None and abs(found.value - at) < 1e-10):
            break
        at = found.value
    return found, expansion


def _in_population(
    interval: Interval, expansion: Expansion, sample: Sample, target: Target, plan: Plan
) -> Interval:
    """Return the interval about the population of the items, if its size is set."""
    size = plan.population
    if size is None:
        return interval
    if plan.over == "topics" or not target.is_sum:
        raise BadSetting("population", size, "a share or a mean over items")
    items = len(target.item)
    if size != _ENDLESS and size < items:
        raise BadSetting("population", size, f"at least the {items:,} items there are")
    values = expansion.adds[sample.item, sample.truth] * items
    left = 1 / items - (1 / size if size != _ENDLESS else 0.0)
    return replace(interval, variance=interval.variance + float(values.var(ddof=1)) * left)


def _count_saved(gold: int, items: int, alone: float, width: float) -> int | None:
    """Return how many more labels gold alone would need for an interval of this width."""
    if not alone > 0 or not width > 0:
        return None
    part = (width / alone) ** 2
    needed = 1.0 / ((1 / gold - 1 / items) * part + 1 / items)
    return round(needed) - gold


def check_gold(gold: Gold, judgments: Judgments) -> list[str]:
    """Refuse gold of no judged item, and gold of one class; return notes on what is left out."""
    known = align_judged(gold, judgments)
    have = known[known >= 0]
    if not have.size:
        there = "no gold item has a judgment" if len(gold) else "there is no gold"
        raise BadData(
            f"{there}; expected gold of some judged items", source=gold.source, code="no-gold"
        )
    if len(np.unique(have)) == 1:
        label = shown(judgments.scale.truths[int(have[0])])
        raise BadData(
            f"every gold label on a judged item is {label}: gold of one class says nothing about "
            "the others; expected gold of more items, drawn at random",
            source=gold.source,
            code="gold-of-one-class",
        )
    alone = len(gold) - have.size
    if not alone:
        return []
    return [f"{alone:,} of {count_of(len(gold), 'gold item')} left out, since nobody judged them"]


def _check_size(target: Target, sample: Sample, source: str) -> list[str]:
    """Refuse too little gold for a target; return a warning where it is just enough."""
    if len(sample) < _FEWEST:
        raise BadData(
            f"{count_of(len(sample), 'gold label', 'is', 'are')} too few for an interval on "
            f"{target.name}; expected at least {_FEWEST}, better {_FEW}",
            source=source,
            code="too-little-gold",
        )
    warnings = []
    of_one = target.bounds[0] >= 0
    if target.is_normalised and of_one and not sample.drawn and len(sample) < len(target.item):
        warnings.append(
            f"{target.name} is divided by what the best ranking could have, which is mostly an "
            "estimate: the interval may be too narrow; that of a difference of two runs, or of "
            "items drawn for this target, is better"
        )
    if len(sample) < _FEW:
        warnings.append(f"{len(sample)} gold labels are few: the interval holds only roughly")
    kinds = target.strata()
    if kinds is None or sample.drawn:
        return warnings
    counted = int(kinds[sample.item].sum())
    places = f"of the {int(kinds.sum()):,} documents in places that count"
    if counted < _FEWEST_COUNTED:
        raise BadData(
            f"{counted} {places} {'has' if counted == 1 else 'have'} gold; expected at least "
            f"{_FEWEST_COUNTED}, better 30: label some of them, drawn for this target",
            source=source,
            code="too-little-gold",
        )
    if counted < _FEW_COUNTED:
        warnings.append(f"only {counted} {places} have gold: the interval rests on these")
    return warnings


def _check_rarity(adds: _Floats, sample: Sample) -> list[str]:  # (member, truth)
    """Return a warning where nearly all gold items add the same to a share."""
    values = adds[sample.item, sample.truth]
    if len(np.unique(adds)) > 2:
        return []
    common = int(np.unique(values, return_counts=True)[1].max())
    if len(values) - common >= _RARE:
        return []
    return [
        f"all gold labels but {len(values) - common} are of one kind: the interval holds only "
        "roughly, and is likely too narrow"
    ]


def _check_random(
    posterior: _Floats,  # (member, truth) made without gold
    adds: _Floats,  # (member, truth)
    sample: Sample,
    gold: Gold,
    *,
    assured: bool,
) -> list[str]:
    """Check whether judges expect of gold items what a random draw of items would be.

    For gold drawn with unequal probabilities, the weighted total is compared.
    """
    warnings = []
    if gold.honeypot is not None and gold.honeypot.any():
        warnings.append("gold has honeypots, which were not drawn: set leave_out_honeypots")
    if sample.drawn:
        apart = _distance_drawn(np.einsum("ik,ik->i", posterior, adds), sample)
        if apart >= _ODD:
            warnings.append(
                f"gold does not look drawn with the probabilities it states ({apart:.1f} standard "
                "errors off): the interval holds only if that is chance"
            )
        return warnings
    each = [_distance(posterior[:, k], sample) for k in range(posterior.shape[1])]
    truth, apart = int(np.argmax(each)), max(each)
    if apart < _ODD:
        return warnings
    drawn = float(posterior[sample.item, truth].mean())
    text = (
        f"gold was not drawn at random: judges expect label number {truth + 1} of the scale for "
        f"{drawn:.1%} of gold items but for {posterior[:, truth].mean():.1%} of all items "
        f"({apart:.1f} standard errors apart)"
    )
    if apart >= _STRANGE and not assured:
        raise BadData(
            f"{text}; expected a random draw, or a column sampling_probability in the gold",
            source=gold.source,
            code="gold-not-random",
            remedies=(Remedy("sampled"),),
        )
    return [*warnings, f"{text}: the interval holds only if that is chance"]


def _distance(values: _Floats, sample: Sample) -> float:  # (member,)
    """Return how far the sample's mean is from that of all items, in standard errors.

    The standard error is by the spread of all items: a few gold items of a stratum do not show it.
    """
    weight = 1.0 / sample.chance
    mean = float((weight * values[sample.item]).sum() / weight.sum())
    variance = float(values.var(ddof=1)) * (1 / len(sample) - 1 / len(values))
    return float(abs(mean - values.mean()) / np.sqrt(variance)) if variance > 1e-15 else 0.0


def _distance_drawn(values: _Floats, sample: Sample) -> float:  # (member,)
    """Return how far the sample's weighted total is from that of all items, in standard errors."""
    shares = np.full(sample.rounds, 1 / sample.rounds)
    variance, _ = sample.variance(values[sample.item], shares)
    apart = abs(float((sample.weights(shares) * values[sample.item]).sum() - values.sum()))
    least = 1e-12 * float((values**2).sum()) * len(values)
    return float(apart / np.sqrt(variance)) if variance > least else 0.0
