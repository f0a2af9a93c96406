"""What is said of a fit: the run as data, judges diagnosed, scores against gold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli._console import detail, progress, warn
from adjudge.cli._results import show_rows
from adjudge.data.source import count_of
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.cli._reading import Input
    from adjudge.data.consensus import Consensus
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
    from adjudge.evaluation.diagnosis.diagnose import Diagnosis
    from adjudge.evaluation.predictive import Check
    from adjudge.models.model import Model


def count_sizes(judgments: Judgments) -> dict[str, int]:
    """Return how many judgments, items, judges and topics there are."""
    return {
        "judgments": len(judgments),
        "items": judgments.item_count,
        "judges": judgments.judge_count,
        "topics": judgments.topic_count,
    }


def summarise(consensus: Consensus, read: Input) -> dict[str, Any]:
    """Return the run as data: counts, model, settings, convergence, and what was left out."""
    from adjudge.evaluation.diagnosis.families import FamilySummary

    judgments, scale = consensus.judgments, consensus.scale
    prevalence = zip(scale.truths, consensus.overall_prevalence.tolist(), strict=True)
    return {
        "model": consensus.model,
        "settings": consensus.settings,
        "counts": count_sizes(judgments),
        "scale": {"labels": scale.labels, "truths": scale.truths, "ordinal": scale.ordinal},
        "iterations": len(consensus.trace),
        "converged": consensus.converged,
        "log_likelihood": consensus.trace[-1] if consensus.trace else None,
        "prevalence": dict(prevalence),
        "notes": consensus.notes,
        **FamilySummary(consensus).to_json(),
        **_describe_draws(consensus),
        **read.omissions,
    }


def _describe_draws(consensus: Consensus) -> dict[str, Any]:
    """What a sampled model adds to the summary: chains, diagnostics, checks."""
    from dataclasses import asdict

    draws = consensus.draws
    if draws is None:
        return {}
    return {
        "chains": draws.chains,
        "draws": draws.draws,
        "relabelled": draws.relabelled,
        "diagnostics": draws.diagnostics(),
        "checks": [asdict(check) for check in _check_draws(consensus)],
    }


def tell_checks(consensus: Consensus) -> None:
    """Warn where a sampled model does not fit the judgments."""
    failed = [check for check in _check_draws(consensus) if check.fails]
    if failed:
        checks = count_of(len(failed), "model check")
        warn(f"{checks} failed: the probabilities are too sure (--verbose lists the checks)")
    for check in failed:
        detail(f"  {check}")


def _check_draws(consensus: Consensus) -> tuple[Check, ...]:
    """Return the posterior predictive checks of a sampled model, none for other models."""
    if consensus.draws is None or not len(consensus.judgments):
        return ()
    from adjudge.evaluation.predictive import predictive_checks

    return predictive_checks(consensus, seed=int(str(consensus.settings.get("seed", 0))))


def diagnose_fit(consensus: Consensus, gold: Gold | None, *, pairs: bool) -> Diagnosis:
    """Diagnose a fit, with a progress bar."""
    from adjudge.evaluation.diagnosis.diagnose import diagnose

    with progress("diagnosing") as on_step:
        found = diagnose(consensus, gold=gold, pairs=pairs, progress=on_step)
    if pairs:
        detail(f"  {found.notes[-1]}")
    return found


def tell_scores(consensus: Consensus, gold: Gold, judgments: Judgments) -> dict[str, Any]:
    """Return the scores of labels on gold that the fit did not use, and say what is notable."""
    from adjudge.evaluation.against_gold import compare_with_vote, evaluate

    result = evaluate(consensus, gold)
    score = result["accuracy"]
    names = {"log loss": "log_loss", "calibration error": "corrected_calibration_error"}
    others = {words: result[key] for words, key in names.items() if result[key].defined}
    if score.defined:
        for words, other in others.items():
            detail(f"  {words} {other.shown.value:.3f}")
        detail("  the fit did not use the gold of the file (--use-gold would)")
    vote = compare_with_vote(result, judgments)
    if vote is not None and vote.warning is not None:
        warn(vote.warning)
    return {
        "accuracy": {
            "value": score.value,
            "low": score.low,
            "high": score.high,
            "items": result.scored,
        },
        **{names[words]: other.value for words, other in others.items()},
    }


def scores_grid(
    title: str, table: Any, level: float, meanings: Mapping[str, str] | None = None
) -> Any:
    """Return a table of scores for people: an undefined one says why, others what they mean."""
    from adjudge.evaluation.scores import Score

    rows = table.to_pylist()
    for row in rows:
        for column in ("value", "low", "high", "mean"):
            if row.get(column) is not None:
                row[column] = Score(name=row["score"], value=row[column]).shown.value
        row["words"] = row["reason"] or (meanings or {}).get(row["score"], "")
        row["score"] = row["score"].replace("_", " ")
    folds = ["mean as mean of folds", "sd"] if "mean" in table.column_names else []
    words = ["words:s as what it is"] if any(row["words"] for row in rows) else []
    columns = ("score", "value", f"low to high as {level:.0%} interval", *folds, *words)
    return show_rows(title, rows, *columns)


def show_least_certain(consensus: Consensus, count: int) -> Any:
    """Return the least certain items as a table for people."""
    import numpy as np

    order = np.argsort(-consensus.entropy, kind="stable")[:count]
    rows = consensus.labels.take(order).to_pylist()
    columns = ("item as least certain item", "label", "probability:.2f", "judgments")
    return show_rows("", rows, *columns)


def check_sampled(model: Model | None, place: Path) -> None:
    """Refuse draws asked from a model that draws none, as that of numbers, which is None here."""
    from adjudge.models.model import is_sampled

    if not is_sampled(model):
        name = "continuous" if model is None else model.name
        raise BadSetting("--save-draws", str(place), f"a sampled model; {name} has no draws here")
