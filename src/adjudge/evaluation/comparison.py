"""Models side by side on the same judgments: accuracy, calibration, time, and a recommendation.

With gold they are cross-validated over it, and ranked by log loss, which measures accuracy and
calibration together. Without gold they are scored by judgments held out, which measures how well
the panel predicts itself, not which labels are right. Models that do not differ significantly share
a rank. A model that fails is named with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, get_args, get_type_hints

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.gold import Gold
from adjudge.data.judgments import GoldLike, Judgments, JudgmentsLike, takes_tables
from adjudge.data.results import Result
from adjudge.data.source import count_of
from adjudge.engines.engine import Engine
from adjudge.errors import AdjudgeError, BadData, BadSetting, UnknownName
from adjudge.evaluation.against_gold import compare_with_vote
from adjudge.evaluation.crossvalidation import (
    CrossValidation,
    HeldOut,
    cross_validate,
    held_out_score,
)
from adjudge.evaluation.measures import CLIP
from adjudge.evaluation.significance import correct_by_item, rank_methods
from adjudge.models.calibrated import with_calibration
from adjudge.models.model import Model, Progress, Step
from adjudge.models.registry import MODELS, model

_FEW = 30  # items of a first fit, so that no clock measures the compiler


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """A model that takes part, under a name that says how it is fitted."""

    name: str
    model: Model


def entrants(*, gold: bool, names: Sequence[str] | None = None, seed: int = 0) -> list[Entrant]:
    """Return every model of the registry, once per method of fitting; or those named.

    A name includes all its methods; ``hybrid-confusion:em`` is one of them. The vote is weighted by
    accuracy, against gold if there is any, since without weights it is the majority vote.
    """
    known: dict[str, Model] = {}
    for name, kind in MODELS.items():
        settings: dict[str, object] = {"seed": seed}
        if name == "vote":
            settings["weight"] = f"graded-accuracy-{'gold' if gold else 'majority'}"
        ways = _ways(kind)
        for way in ways or ("",):
            more = {"method": way} if way else {}
            known[f"{name}:{way}" if way else name] = model(name, **settings, **more)
    if names is None:
        return [Entrant(name=name, model=found) for name, found in known.items()]
    chosen: dict[str, Entrant] = {}
    for name in names:
        found = [full for full in known if full == name or full.partition(":")[0] == name]
        if not found:
            raise UnknownName("model", name, [*MODELS, *(full for full in known if ":" in full)])
        chosen |= {full: Entrant(name=full, model=known[full]) for full in found}
    return list(chosen.values())


def _ways(kind: type[Any]) -> tuple[str, ...]:
    """The ways in which a model that can be sampled is fitted; none where there is one way."""
    own = {entry.name for entry in fields(kind)}
    if not {"method", "chains"} <= own:
        return ()
    return get_args(get_type_hints(kind)["method"])


@dataclass(frozen=True, slots=True, kw_only=True)
class _ModelResult:
    """The scores of one model, or the reason why it has none."""

    name: str
    scores: Mapping[str, float | None]
    seconds: float = 0.0  # per fit, on average
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison(Result):
    """Models from best to worst, those that failed last, and which of them to take.

    ``by`` is "gold" or "judgments": what they were scored by. ``calibrated`` names the models whose
    probabilities were calibrated by the gold of the other folds.
    """

    by: str
    results: tuple[_ModelResult, ...]
    chosen: str
    recommendation: str
    notes: tuple[str, ...]
    calibrated: tuple[str, ...] = ()

    @property
    def facts(self) -> str:
        """Which model to take."""
        return self.recommendation

    def to_table(self) -> Any:
        """One row per model: scores, ranks, seconds per fit, reason."""
        names = dict.fromkeys(name for row in self.results for name in row.scores)
        columns = {"model": pa.array([row.name for row in self.results], pa.large_string())}
        for name in names:
            kind = pa.int64() if name in _WHOLE else pa.float64()
            values = [row.scores.get(name) for row in self.results]
            columns[name] = pa.array(values, kind, from_pandas=True)
        seconds = [None if row.reason else row.seconds for row in self.results]
        columns["seconds"] = pa.array(seconds, pa.float64())
        columns["reason"] = pa.array([row.reason for row in self.results], pa.large_string())
        return pa.table(columns)


_WHOLE = ("rank", "accuracy_rank", "clipped")


@takes_tables
def compare_models(
    judgments: JudgmentsLike,
    gold: GoldLike = None,
    *,
    models: Sequence[Entrant] | None = None,
    folds: int = 5,
    calibrate: bool | None = None,
    seed: int = 0,
    level: float = 0.05,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Models compared on judgments: cross-validated over gold, or by judgments held out.

    By gold they are compared as ``adjudge.fit`` makes labels: calibrated by the gold of the other
    folds, unless a model is sampled. ``calibrate`` decides for all models.
    ``level`` is that of the paired t-tests behind the ranks: between models, item by item.
    """
    if folds < 2:
        raise BadSetting("folds", folds, "at least 2")
    chosen = models if models is not None else entrants(gold=gold is not None, seed=seed)
    if not chosen:
        raise BadSetting("models", None, "at least one")
    few = np.arange(judgments.item_count) < _FEW
    first = judgments.select(items=few & (judgments.counts_per_item > 0))

    calibrated: list[str] = []

    def score(entrant: Entrant, on_step: Progress | None) -> Any:
        with suppress(Exception):  # so that what is compiled is compiled; the real fit says more
            entrant.model.fit(first, engine=engine)
        shared: dict[str, Any] = {"folds": folds, "seed": seed, "engine": engine}
        if gold is None:
            return held_out_score(entrant.model, judgments, progress=on_step, **shared)
        fitted = with_calibration(entrant.model, calibrate)
        crossed = cross_validate(fitted, judgments, gold, progress=on_step, **shared)
        if getattr(fitted, "calibrate", False):
            calibrated.append(entrant.name)
        return crossed

    found, failed = _run_all(chosen, score, folds, progress)
    if not found:
        reasons = "; ".join(f"{row.name}: {row.reason}" for row in failed)
        raise BadData(f"no model could be scored ({reasons})")
    if gold is None:
        return _by_judgments(found, failed, judgments, level, folds)
    return _by_gold(found, failed, calibrated, judgments, gold, level, folds)


def _run_all(
    chosen: Sequence[Entrant],
    score: Callable[[Entrant, Progress | None], Any],
    folds: int,
    progress: Progress | None,
) -> tuple[dict[str, Any], list[_ModelResult]]:
    """What each model's scoring gave, and those that failed with their reasons."""
    found: dict[str, Any] = {}
    failed: list[_ModelResult] = []
    for number, entrant in enumerate(chosen):

        def on_step(step: Step, number: int = number, name: str = entrant.name) -> None:
            if progress is not None:
                done = number * folds + step.done
                progress(Step("comparing", done, len(chosen) * folds, name))

        try:
            found[entrant.name] = score(entrant, on_step if progress is not None else None)
        except AdjudgeError as error:
            failed.append(_ModelResult(name=entrant.name, scores={}, reason=str(error)))
        except Exception as error:  # noqa: BLE001 - one failure does not stop the others
            reason = f"{type(error).__name__}: {error}"
            failed.append(_ModelResult(name=entrant.name, scores={}, reason=reason))
    return found, failed


def _by_gold(
    found: Mapping[str, CrossValidation],
    failed: Sequence[_ModelResult],
    calibrated: Sequence[str],
    judgments: Judgments,
    gold: Gold,
    level: float,
    folds: int,
) -> Comparison:
    """Compare cross-validated models: the lowest log loss first."""
    pooled = {name: crossed.pooled for name, crossed in found.items()}
    losses = {name: _losses(crossed) for name, crossed in found.items()}
    correct = correct_by_item(pooled)
    accuracy_rank = {place.method: place.rank for place in rank_methods(correct, level=level)}
    results = []
    for place in rank_methods(losses, higher_is_better=False, level=level):
        scores = pooled[place.method]
        accuracy = scores["accuracy"]
        values = {
            "log_loss": scores["log_loss"].value,
            "rank": place.rank,
            "accuracy": accuracy.value,
            "low": accuracy.low,
            "high": accuracy.high,
            "accuracy_rank": accuracy_rank[place.method],
            "brier": scores["brier"].value,
            "corrected_calibration_error": scores["corrected_calibration_error"].value,
        }
        seconds = found[place.method].seconds
        results.append(_ModelResult(name=place.method, scores=values, seconds=seconds))
    alike = [row.name for row in results if row.scores["rank"] == 1]
    close = rank_methods({name: correct[name] for name in alike}, level=level)
    accurate = {place.method for place in close if place.rank == 1}
    chosen = next(name for name in alike if name in accurate)
    scores = pooled[chosen]
    vote = compare_with_vote(scores, judgments)
    notes = [
        f"cross-validated by {folds} folds over {count_of(len(gold), 'gold item')}, "
        f"ranked by log loss; {_describe_ranks(level)}",
        _describe_calibration(calibrated, list(found)),
    ]
    text = f"Take {chosen}: log loss {scores['log_loss'].value:.3f}, {scores['accuracy']}"
    text += f"{_compare_others(chosen, alike, results)}."
    if vote is not None:
        notes.append(
            "the plain vote share, half a judgment added to each label, has a log loss of "
            f"{vote.vote:.3f}: a model above it is overconfident"
        )
        text += f" {vote.warning}" if vote.warning else ""
    return Comparison(
        by="gold",
        results=(*results, *failed),
        chosen=chosen,
        recommendation=text,
        notes=tuple(notes),
        calibrated=tuple(calibrated),
    )


def _describe_ranks(level: float) -> str:
    return (
        f"models share a rank where a paired t-test over items finds no difference (p > {level:g})"
    )


def _describe_calibration(calibrated: Sequence[str], names: Sequence[str]) -> str:
    """Say which models were calibrated by gold."""
    if not calibrated:
        return "probabilities are not calibrated by gold"
    others = ", ".join(name for name in names if name not in calibrated)
    but = f", except those of {others}" if others else ""
    return f"probabilities are calibrated by the gold of the other folds{but}"


def _losses(crossed: CrossValidation) -> NDArray[np.float64]:  # (gold,)
    """Return the log loss of each gold item; NaN where it has no label."""
    given = crossed.posterior[np.arange(len(crossed.truth)), crossed.truth]
    return np.asarray(-np.log(np.clip(given, CLIP, 1 - CLIP)))


def _compare_others(chosen: str, alike: Sequence[str], results: Sequence[_ModelResult]) -> str:
    """Say how the other models compare with the chosen one."""
    others = ", ".join(name for name in alike if name != chosen)
    if others:
        return f"; not significantly different: {others}"
    return "; significantly better than every other model" if len(results) > 1 else ""


def _by_judgments(
    found: Mapping[str, HeldOut],
    failed: Sequence[_ModelResult],
    judgments: Judgments,
    level: float,
    folds: int,
) -> Comparison:
    """Compare models that predicted judgments held out."""
    ranked = rank_methods({name: held.by_item for name, held in found.items()}, level=level)
    results = [
        _ModelResult(
            name=place.method,
            scores={
                "log_score": found[place.method].mean,
                "se": found[place.method].error,
                "rank": place.rank,
                "clipped": found[place.method].clipped,
            },
            seconds=found[place.method].seconds,
        )
        for place in ranked
    ]
    alike = [row.name for row in results if row.scores["rank"] == 1]
    chosen = alike[0]
    held = found[chosen]
    return Comparison(
        by="judgments",
        results=(*results, *failed),
        chosen=chosen,
        recommendation=(
            f"{chosen} predicts judgments held out best: a log score of {held.mean:.4f} "
            f"(s.e. {held.error:.4f}){_compare_others(chosen, alike, results)}. {_UNKNOWN}"
        ),
        notes=(
            f"log score per judgment (nats, nearer to 0 is better) by {folds} folds of "
            f"{count_of(len(judgments), 'judgment')}; the shares of the labels alone give "
            f"{_label_shares_score(judgments):.4f}",
            _describe_ranks(level),
        ),
    )


_UNKNOWN = (
    "This measures how well the judges predict one another, not the truth: judges who make the "
    "same mistakes predict one another well. Only gold shows whose labels are right and whether "
    "probabilities are calibrated; start with 25 labels by an expert."
)


def _label_shares_score(judgments: Judgments) -> float:
    """The mean log score of predicting every judgment by how common its label is: no model."""
    counts = np.bincount(judgments.label, minlength=len(judgments.scale.labels))
    shares = counts[counts > 0] / len(judgments)
    return float((shares * np.log(shares)).sum())
