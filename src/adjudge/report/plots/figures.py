"""The figures by name: what each shows, what it needs, and how it is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from adjudge.data.consensus import Consensus
from adjudge.data.judgments import MODEL
from adjudge.data.results import inferred_probability
from adjudge.data.source import count_of
from adjudge.errors import BadData, UnknownName
from adjudge.evaluation.model_judges.answers import kinds_of
from adjudge.report.results import Results

_DRAWS = "the draws of a sampled model, such as hierarchical-confusion"
_MOST_LABELS = 16  # cells to a side of a matrix that can be read


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure: its name, what it shows, and what it lacks if it cannot be drawn."""

    name: str
    shows: str
    lacks: Callable[[Results], str | None]


def draw(name: str, results: Results) -> Any:
    """The figure of that name as an Altair chart; an error says what it needs."""
    if name not in FIGURES:
        raise UnknownName("figure", name, FIGURES)
    lacking = FIGURES[name].lacks(results)
    if lacking is not None:
        raise BadData(f"the figure {name} needs {lacking}", expected=lacking)
    return _draw(name, results)


def _judged(results: Results) -> str | None:
    return None if len(results.consensus.judgments) else "judgments"


def _inferred(results: Results) -> str | None:
    return None if len(inferred_probability(results.consensus)) else "items without gold"


def _few_labels(results: Results) -> str | None:
    scale = results.consensus.scale
    few = max(len(scale.labels), len(scale.truths)) <= _MOST_LABELS
    return None if few else f"{_MOST_LABELS} labels or fewer, or its cells cannot be read"


def _two_truths(results: Results) -> str | None:
    rates = {"sensitivity", "specificity"} <= set(results.diagnosis.judges.column_names)
    return None if rates else "two truths: binary labels, or a binary truth"


def _clouds(results: Results) -> str | None:
    if results.consensus.draws is None:
        return _DRAWS
    return _two_truths(results)


def _draws(results: Results) -> str | None:
    from adjudge.report.plots.chains import parameters_of

    draws = results.consensus.draws
    return _DRAWS if draws is None or draws.draws < 2 or not parameters_of(draws) else None


def _learnt(results: Results) -> str | None:
    from adjudge.report.plots.chains import learnt_priors

    draws = results.consensus.draws
    learns = "a model that learns its priors: hierarchical-relevance or hierarchical-confusion"
    return None if draws is not None and learnt_priors(draws) else learns


def _several_judges(results: Results) -> str | None:
    return None if results.consensus.judgments.judge_count > 2 else "three judges or more"


def _topics(results: Results) -> str | None:
    return "topics" if results.consensus.judgments.topics is None else _judged(results)


def _need_calibration(results: Results) -> str | None:
    found = results.evaluation
    return "gold" if found is None or found.calibration is None else None


def _curve(results: Results) -> str | None:
    return "gold" if results.curve is None else None


def _name_kinds(consensus: Consensus) -> list[str] | None:
    """Return what each judge is, where there are both people and LLM judges."""
    kinds = kinds_of(consensus.judgments)
    if kinds is None or len(set(kinds.tolist())) < 2:
        return None
    return ["model" if kind == MODEL else "person" for kind in kinds]


def _draw(name: str, results: Results) -> Any:
    """The chart of that name, of results that lack nothing of it; Altair is heavy, so late."""
    from adjudge.report.plots import chains, judges, labels, overview

    consensus, diagnosis = results.consensus, results.diagnosis
    population = diagnosis.population
    draws: Any = consensus.draws
    scored: Any = results.evaluation
    charts: dict[str, Callable[[], Any]] = {
        "judge-intervals": lambda: judges.judge_intervals(
            diagnosis.judges,
            diagnosis.limits.least,
            kinds=_name_kinds(consensus),
            labels=None if scored is None else scored["accuracy"].value,
        ),
        "confidence": lambda: overview.confidence_histogram(consensus),
        "votes": lambda: overview.stacked_votes(consensus, diagnosis.votes),
        "agreement": lambda: overview.agreement_heatmap(consensus),
        "topic-disagreement": lambda: overview.topic_disagreement(consensus, diagnosis.items),
        "voted-estimated": lambda: labels.voted_relevance(consensus),
        "sensitivity-specificity": lambda: judges.sensitivity_specificity(diagnosis.judges),
        "judge-clouds": lambda: judges.judge_clouds(consensus, draws),
        "hyper-priors": lambda: chains.hyper_priors(draws),
        "confusion": lambda: judges.confusion_map(
            population.mean,
            population.sd,
            consensus.scale,
            f"{consensus.model}, {count_of(population.judges, 'judge')}",
        ),
        "judge-item-matrix": lambda: labels.judge_item_matrix(consensus.judgments),
        "accuracy-by-ratings": lambda: labels.accuracy_by_ratings(results.curve),
        "calibration": lambda: labels.calibration_plot(scored.calibration),
        "trace": lambda: chains.trace_plot(draws),
    }
    return charts[name]()


FIGURES: dict[str, Figure] = {
    name: Figure(name=name, shows=shows, lacks=lacks)
    for name, shows, lacks in (
        ("judge-intervals", "accuracy of each judge with its 90% interval, worst first", _judged),
        ("confidence", "how many labels there are of each probability", _inferred),
        ("votes", "the votes of items as stacked bars", _few_labels),
        ("agreement", "how often judges agree, similar ones side by side", _several_judges),
        ("topic-disagreement", "the topics whose judges disagree most", _topics),
        ("voted-estimated", "the model's estimates against the votes", _inferred),
        (
            "sensitivity-specificity",
            "how good each judge is on either truth, with the line of chance",
            _two_truths,
        ),
        ("judge-clouds", "posterior clouds of sixteen judges, by number of judgments", _clouds),
        ("hyper-priors", "the learnt priors of judges and topics", _learnt),
        ("confusion", "the average confusion, with sd between judges", _few_labels),
        ("judge-item-matrix", "who gave which item which label", _judged),
        ("accuracy-by-ratings", "accuracy with fewer judgments per item", _curve),
        (
            "calibration",
            "whether labels that are 80% sure are right in 80% of cases",
            _need_calibration,
        ),
        ("trace", "the chains of a sampled model, draw by draw", _draws),
    )
}
