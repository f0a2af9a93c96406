"""The figures by name: what each shows, what it needs, and how it is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from adjudge.data.source import count_of
from adjudge.errors import BadData, UnknownName
from adjudge.report.results import Results

_TWO_TRUTHS = "two truths: --binary or --binary-truth makes them"
_DRAWS = "draws: a sampled model, such as --model hierarchical-confusion, keeps them"
_GOLD = "gold: --gold FILE gives it"
_MOST_LABELS = 16  # cells to a side of a matrix that can be read


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure: its name, what it shows, how it is drawn, and what it lacks if it cannot be."""

    name: str
    shows: str
    lacks: Callable[[Results], str | None]
    make: Callable[[Results], Any]


def draw(name: str, results: Results) -> Any:
    """The figure of that name as an Altair chart; an error says what it needs."""
    if name not in FIGURES:
        raise UnknownName("figure", name, FIGURES)
    figure = FIGURES[name]
    lacking = figure.lacks(results)
    if lacking is not None:
        raise BadData(f"the figure {name} needs {lacking}", wanted=lacking)
    return figure.make(results)


def _judged(results: Results) -> str | None:
    return None if len(results.consensus.judgments) else "judgments"


def _few_labels(results: Results) -> str | None:
    scale = results.consensus.scale
    few = max(len(scale.labels), len(scale.truths)) <= _MOST_LABELS
    return None if few else f"{_MOST_LABELS} labels or fewer, or its cells cannot be read"


def _two_truths(results: Results) -> str | None:
    rates = {"sensitivity", "specificity"} <= set(results.diagnosis.judges.column_names)
    return None if rates else _TWO_TRUTHS


def _clouds(results: Results) -> str | None:
    if results.consensus.draws is None:
        return _DRAWS
    return _two_truths(results)


def _draws(results: Results) -> str | None:
    from adjudge.report.plots._chains import parameters_of

    draws = results.consensus.draws
    return _DRAWS if draws is None or draws.draws < 2 or not parameters_of(draws) else None


def _learnt(results: Results) -> str | None:
    from adjudge.report.plots.hyper import learnt_priors

    draws = results.consensus.draws
    learns = "a model that learns its priors: hierarchical-relevance or hierarchical-confusion"
    return None if draws is not None and learnt_priors(draws) else learns


def _gold(results: Results) -> str | None:
    return _GOLD if results.evaluation is None else None


def _calibrated(results: Results) -> str | None:
    found = results.evaluation
    return _GOLD if found is None or found.calibration is None else None


def _curve(results: Results) -> str | None:
    return _GOLD if results.curve is None else None


def _steps(results: Results) -> str | None:
    fitted = results.consensus.draws is None and len(results.consensus.trace) > 1
    return None if fitted else "a model fitted by iterations, such as --model dawid-skene"


def _voted_chart(results: Results) -> Any:
    from adjudge.report.plots.voted import voted_relevance

    return voted_relevance(results.consensus)


def _rates_chart(results: Results) -> Any:
    from adjudge.report.plots.rates import sensitivity_specificity

    return sensitivity_specificity(results.diagnosis.judges)


def _clouds_chart(results: Results, samples: int = 300) -> Any:
    from adjudge.report.plots.clouds import judge_clouds

    draws = results.consensus.draws
    return None if draws is None else judge_clouds(results.consensus, draws, samples=samples)


def _hyper_chart(results: Results) -> Any:
    from adjudge.report.plots.hyper import hyper_priors

    draws = results.consensus.draws
    return None if draws is None else hyper_priors(draws)


def _confusion_chart(results: Results) -> Any:
    from adjudge.report.plots._confusion import confusion_map

    population, scale = results.diagnosis.population, results.consensus.scale
    name = f"{results.consensus.model}, {count_of(population.judges, 'judge')}"
    return confusion_map({name: (population.mean, population.sd)}, scale.truths, scale.labels)


def _matrix_chart(results: Results) -> Any:
    from adjudge.report.plots._matrix import judge_item_matrix

    return judge_item_matrix(results.consensus.judgments)


def _ratings_chart(results: Results) -> Any:
    from adjudge.report.plots._ratings import accuracy_by_ratings

    return accuracy_by_ratings(results.curve)


def _skills_chart(results: Results) -> Any:
    from adjudge.report.plots._skills import accuracy_by_judgments

    return accuracy_by_judgments(results.diagnosis.judges)


def _calibration_chart(results: Results) -> Any:
    from adjudge.report.plots._calibration import calibration_plot

    found = results.evaluation
    return (
        None if found is None or found.calibration is None else calibration_plot(found.calibration)
    )


def _trace_chart(results: Results) -> Any:
    from adjudge.report.plots._chains import trace_plot

    draws = results.consensus.draws
    return None if draws is None else trace_plot(draws)


def _rank_chart(results: Results) -> Any:
    from adjudge.report.plots._chains import rank_plot

    draws = results.consensus.draws
    return None if draws is None else rank_plot(draws)


def _steps_chart(results: Results) -> Any:
    from adjudge.report.plots._chains import likelihood_trace

    return likelihood_trace(results.consensus.trace)


def _listed(*figures: tuple[str, str, Any, Any]) -> dict[str, Figure]:
    return {
        name: Figure(name=name, shows=shows, lacks=lacks, make=make)
        for name, shows, lacks, make in figures
    }


FIGURES: dict[str, Figure] = _listed(
    ("voted-estimated", "what the model makes of the votes", _judged, _voted_chart),
    (
        "sensitivity-specificity",
        "how good each judge is on either truth, with the line of chance",
        _two_truths,
        _rates_chart,
    ),
    (
        "judge-clouds",
        "posterior clouds of sixteen judges, by number of judgments",
        _clouds,
        _clouds_chart,
    ),
    ("hyper-priors", "the learnt priors of judges and topics", _learnt, _hyper_chart),
    ("confusion", "the average confusion, with sd between judges", _few_labels, _confusion_chart),
    ("judge-item-matrix", "who gave which item which label", _judged, _matrix_chart),
    ("accuracy-by-ratings", "accuracy with fewer judgments an item", _curve, _ratings_chart),
    (
        "accuracy-by-judgments",
        "accuracy of judges against how much they judged",
        _judged,
        _skills_chart,
    ),
    ("calibration", "whether 80% sure is right in 80%", _calibrated, _calibration_chart),
    ("trace", "the chains of a sampled model, draw by draw", _draws, _trace_chart),
    ("ranks", "how the draws of each chain rank among all", _draws, _rank_chart),
    ("convergence", "what a fit maximises, iteration by iteration", _steps, _steps_chart),
)
