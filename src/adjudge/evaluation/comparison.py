"""Models side by side on the same judgments: how good, how sure, how fast, and which to take.

With gold they are cross-validated over it, and ranked by log loss: right and honest in one.
Without, they are scored by judgments held out, which says how well the panel predicts itself and
not which labels are right. Models that do not differ significantly share a rank. A model that fails
is named with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from time import perf_counter
from typing import Any, get_args, get_type_hints

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judgments import GoldLike, Judgments, JudgmentsLike, takes_tables
from adjudge.data.source import count_of
from adjudge.engines.engine import Engine
from adjudge.errors import AdjudgeError, BadData, BadSetting, UnknownName
from adjudge.evaluation.against_gold import BesideVote, beside_vote
from adjudge.evaluation.crossvalidation import CrossValidation, cross_validate
from adjudge.evaluation.heldout import HeldOut, held_out_score
from adjudge.evaluation.measures import CLIP
from adjudge.evaluation.significance import correct_by_item, rank_methods
from adjudge.models.calibrated import with_calibration
from adjudge.models.model import Model, Progress, Step
from adjudge.models.registry import MODELS, model

_FEW = 30  # items of a first fit, so that no clock measures the compiler
_SLOW = 1.0  # seconds of a fit that are worth sparing
_MUCH = 10.0  # times faster that a model has to be


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """A model that takes part, under a name that says how it is fitted."""

    name: str
    model: Model


def entrants(*, gold: bool, names: Sequence[str] | None = None, seed: int = 0) -> list[Entrant]:
    """Every model of the registry, once for each way in which it is fitted; or those named.

    A name stands for all its ways, ``hybrid-confusion:em`` for one. The vote is weighted by
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
        return [Entrant(name=name, model=made) for name, made in known.items()]
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
    """How one model fared; ``reason`` says why it has no scores."""

    name: str
    scores: Mapping[str, float]
    seconds: float | None = None  # of a fit, on average
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison:
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

    def to_table(self) -> Any:
        """One row a model: scores, ranks, seconds of a fit, reason."""
        names = list(dict.fromkeys(name for row in self.results for name in row.scores))
        columns: dict[str, Any] = {
            "model": pa.array([row.name for row in self.results], pa.large_string())
        }
        for name in names:
            kind = pa.int64() if name in _WHOLE else pa.float64()
            values = [row.scores.get(name) for row in self.results]
            columns[name] = pa.array(
                [None if v is None or np.isnan(v) else v for v in values]
            ).cast(kind)
        columns["seconds"] = pa.array([row.seconds for row in self.results], pa.float64())
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

    def score(entrant: Entrant, on_step: Progress | None) -> Any:
        with suppress(Exception):  # so that what is compiled is compiled; the real fit says more
            entrant.model.fit(first, engine=engine)
        shared: dict[str, Any] = {"folds": folds, "seed": seed, "engine": engine}
        if gold is None:
            return held_out_score(entrant.model, judgments, progress=on_step, **shared)
        timed: Any = _Timed(with_calibration(entrant.model, calibrate))
        return timed, cross_validate(timed, judgments, gold, progress=on_step, **shared)

    found, failed = _run_all(chosen, score, folds, progress)
    if not found:
        reasons = "; ".join(f"{row.name}: {row.reason}" for row in failed)
        raise BadData(f"no model could be scored ({reasons})")
    if gold is None:
        return _by_judgments(found, failed, judgments, level, folds)
    return _by_gold(found, failed, judgments, gold, level, folds)


class _Timed:
    """A model whose fits are clocked."""

    def __init__(self, of: Model) -> None:
        self.of, self.name, self.fits, self.seconds = of, of.name, 0, 0.0

    def fit(
        self,
        judgments: Judgments,
        gold: Gold | None = None,
        *,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> Consensus:
        """The consensus of the model."""
        begun = perf_counter()
        consensus = self.of.fit(judgments, gold, engine=engine, progress=progress)
        self.seconds += perf_counter() - begun
        self.fits += 1
        return consensus


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
        except Exception as error:  # noqa: BLE001 - the others go on whatever fails in one
            reason = f"{type(error).__name__}: {error}"
            failed.append(_ModelResult(name=entrant.name, scores={}, reason=reason))
    return found, failed


def _by_gold(
    found: Mapping[str, tuple[_Timed, CrossValidation]],
    failed: Sequence[_ModelResult],
    judgments: Judgments,
    gold: Gold,
    level: float,
    folds: int,
) -> Comparison:
    """The comparison of cross-validated models: the lowest log loss first."""
    pooled = {name: crossed.pooled for name, (_, crossed) in found.items()}
    losses = {name: _losses(crossed) for name, (_, crossed) in found.items()}
    correct = correct_by_item(pooled)
    ranked = rank_methods(losses, higher_is_better=False, level=level)
    accuracy_rank = {place.method: place.rank for place in rank_methods(correct, level=level)}
    results = []
    for place in ranked:
        timed, scores = found[place.method][0], pooled[place.method]
        values = {
            "log_loss": float(scores["log_loss"]),
            "rank": place.rank,
            "accuracy": scores["accuracy"].value,
            "low": _number(scores["accuracy"].low),
            "high": _number(scores["accuracy"].high),
            "accuracy_rank": accuracy_rank[place.method],
            "brier": float(scores["brier"]),
            "corrected_calibration_error": float(scores["corrected_calibration_error"]),
        }
        seconds = timed.seconds / timed.fits
        results.append(_ModelResult(name=place.method, scores=values, seconds=seconds))
    alike = [row for row in results if row.scores["rank"] == 1]
    close = rank_methods({row.name: correct[row.name] for row in alike}, level=level)
    calibrated = tuple(
        name for name, (timed, _) in found.items() if getattr(timed.of, "calibrate", False)
    )
    accurate = {place.method for place in close if place.rank == 1}
    chosen, spared = _pick([row.name for row in alike if row.name in accurate], results)
    beside = beside_vote(pooled[chosen.name], judgments)
    return Comparison(
        by="gold",
        results=(*results, *failed),
        chosen=chosen.name,
        recommendation=_advice_by_gold(chosen, spared, alike, results, beside),
        notes=(
            f"cross-validated by {folds} folds over {count_of(len(gold), 'gold item')}, "
            f"ranked by log loss; "
            "models share a rank where a paired t-test over items finds no difference "
            f"(p > {level:g})",
            _describe_calibration(calibrated, list(found)),
            *_vote_note(beside),
        ),
        calibrated=calibrated,
    )


def _describe_calibration(calibrated: Sequence[str], names: Sequence[str]) -> str:
    """Which models were calibrated by gold."""
    if not calibrated:
        return "probabilities are not calibrated by gold"
    others = [name for name in names if name not in calibrated]
    but = f", except those of {_listed(others)}" if others else ""
    return f"probabilities are calibrated by the gold of the other folds{but}"


def _vote_note(beside: BesideVote | None) -> tuple[str, ...]:
    if beside is None:
        return ()
    return (
        "the plain vote share, half a judgment added to each label, has a log loss of "
        f"{beside.vote:.3f}: a model above it is too sure",
    )


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _losses(crossed: CrossValidation) -> NDArray[np.float64]:  # (gold,)
    """The log loss of each gold item; NaN where it has no label."""
    given = crossed.posterior[np.arange(len(crossed.truth)), crossed.truth]
    return np.asarray(-np.log(np.clip(given, CLIP, 1 - CLIP)))


def _pick(
    names: Sequence[str], results: Sequence[_ModelResult]
) -> tuple[_ModelResult, _ModelResult | None]:
    """The first of the names, or one that does as well in far less time, and then the first."""
    by_name = {row.name: row for row in results}
    best = by_name[names[0]]
    quick = min((by_name[name] for name in names), key=_time)
    if _time(best) > _SLOW and _time(best) > _MUCH * _time(quick):
        return quick, best
    return best, None


def _time(row: _ModelResult) -> float:
    return row.seconds or 0.0


def _advice_by_gold(
    chosen: _ModelResult,
    spared: _ModelResult | None,
    alike: Sequence[_ModelResult],
    results: Sequence[_ModelResult],
    beside: BesideVote | None,
) -> str:
    """Sentences that recommend a model by gold."""
    scores = chosen.scores
    text = (
        f"Take {chosen.name}: log loss {scores['log_loss']:.3f}, accuracy "
        f"{scores['accuracy']:.3f} ({scores['low']:.3f} to {scores['high']:.3f})"
    )
    others = [row.name for row in alike if row is not chosen]
    if spared is not None:
        text += (
            f"; {spared.name} is no better by log loss or accuracy as far as this gold can tell, "
            f"and takes {_time(spared):.1f} s a fit instead of {_time(chosen):.2f} s"
        )
    elif others:
        text += (
            f"; {_listed(others)} {'has' if len(others) == 1 else 'have'} as low a log loss, as "
            "far as this gold can tell"
        )
    elif len(results) > 1:
        text += "; its log loss is lower than every other's, significantly"
    warning = beside.warning if beside is not None else None
    return f"{text}.{'' if warning is None else f' {warning}'}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _by_judgments(
    found: Mapping[str, HeldOut],
    failed: Sequence[_ModelResult],
    judgments: Judgments,
    level: float,
    folds: int,
) -> Comparison:
    """The comparison of models that predicted judgments held out."""
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
    alike = [row for row in results if row.scores["rank"] == 1]
    chosen, spared = _pick([row.name for row in alike], results)
    floor = _label_shares_score(judgments)
    return Comparison(
        by="judgments",
        results=(*results, *failed),
        chosen=chosen.name,
        recommendation=_advice_by_judgments(chosen, spared, alike, results),
        notes=(
            f"log score of a judgment (nats, nearer to 0 is better) by {folds} folds of "
            f"{count_of(len(judgments), 'judgment')}; the shares of the labels alone give "
            f"{floor:.4f}",
            f"models share a rank where a paired t-test over items finds no difference "
            f"(p > {level:g})",
        ),
    )


def _advice_by_judgments(
    chosen: _ModelResult,
    spared: _ModelResult | None,
    alike: Sequence[_ModelResult],
    results: Sequence[_ModelResult],
) -> str:
    """What judgments held out tell of models, and what they do not."""
    scores = chosen.scores
    text = (
        f"{chosen.name} predicts judgments held out best: a log score of "
        f"{scores['log_score']:.4f} (s.e. {scores['se']:.4f})"
    )
    others = [row.name for row in alike if row is not chosen]
    if spared is not None:
        text = (
            f"{chosen.name} predicts judgments held out as well as any: a log score of "
            f"{scores['log_score']:.4f} (s.e. {scores['se']:.4f}); {spared.name} is no better as "
            f"far as these judgments can tell, and takes {_time(spared):.1f} s a fit instead of "
            f"{_time(chosen):.2f} s"
        )
    elif others:
        text += (
            f"; {_listed(others)} {'does' if len(others) == 1 else 'do'} as well, as far as these "
            "judgments can tell"
        )
    elif len(results) > 1:
        text += ", better than every other, significantly"
    return f"{text}. {_UNKNOWN}"


_UNKNOWN = (
    "This measures how well the panel predicts itself, not the truth: judges who make the same "
    "mistakes predict one another well. Which model's labels are right, and whether its "
    "probabilities can be believed, cannot be known without gold; 25 labels by an expert begin to "
    "tell."
)


def _label_shares_score(judgments: Judgments) -> float:
    """The mean log score of predicting every judgment by how common its label is: no model."""
    counts = np.bincount(judgments.label, minlength=len(judgments.scale.labels))
    shares = counts[counts > 0] / len(judgments)
    return float((shares * np.log(shares)).sum())
