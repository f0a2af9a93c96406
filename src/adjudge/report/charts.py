"""The chart of each kind of result, for ``plot`` in Python and notebooks."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from adjudge.data.consensus import Consensus
from adjudge.data.preferences import Preferences
from adjudge.data.results import ItemResult, Result
from adjudge.errors import BadSetting, UnknownName
from adjudge.evaluation.against_gold import Evaluation, evaluate
from adjudge.evaluation.agreement import measure_agreement
from adjudge.evaluation.comparison import Comparison
from adjudge.evaluation.diagnosis.diagnose import Diagnosis, diagnose
from adjudge.evaluation.estimation.estimate import Estimate
from adjudge.evaluation.ranking.rank import Ranking
from adjudge.report.plots import judges, labels, layout
from adjudge.report.plots.figures import draw
from adjudge.report.plots.layout import add_title, tooltip
from adjudge.report.results import Results
from adjudge.report.theme import LIGHT, chart_config

_MOST = 40  # rows of a chart


def plot(result: Result, name: str | None = None, **options: Any) -> Any:
    """Return the chart of a result; ``name`` chooses one where there are several."""
    if isinstance(result, Consensus):
        chart = _plot_consensus(result, name or "confidence", **options)
    elif name is not None and not isinstance(result, Ranking):
        raise BadSetting("name", name, "none: this result has one chart")
    elif isinstance(result, Diagnosis):
        chart = judges.judge_intervals(result.judges, result.limits.least)
    elif isinstance(result, Evaluation) and result.calibration is not None:
        chart = labels.calibration_plot(result.calibration)
    elif isinstance(result, ItemResult):
        chart = _draw_intervals(
            [{"name": k, "value": v} for k, v in result.probabilities.items()],
            f"Item {result.item}",
            "probability",
        )
    else:
        chart = _draw_intervals(*_list_rows(result, name), level=getattr(result, "level", 0.95))
    chart.config = chart_config(LIGHT)
    return chart


def _plot_consensus(consensus: Consensus, name: str, gold: Any = None) -> Any:
    """Draw a figure of the report; only what the figure needs is computed."""
    scored = None if gold is None or consensus.known is not None else evaluate(consensus, gold)
    results = Results(
        consensus=consensus,
        diagnosis=diagnose(consensus, gold=gold, pairs=False),
        agreement=measure_agreement(consensus.judgments),
        evaluation=scored,
    )
    return draw(name, results)


def _list_rows(result: Result, name: str | None) -> tuple[list[dict[str, Any]], str, str]:
    """Return rows of name, value, low and high, a title, and what the value is."""
    title = type(result).__name__
    if isinstance(result, Estimate):
        rows = [(result.method, result.estimate, result.low, result.high)]
        rows += [("gold alone", result.classical, result.classical_low, result.classical_high)]
        keys = ("name", "value", "low", "high")
        return [dict(zip(keys, row, strict=True)) for row in rows], title, result.target
    table = result.to_table()
    if isinstance(result, Ranking):
        chosen = name or next(iter(result.values))
        if chosen not in result.values:
            raise UnknownName("measure", chosen, result.values)
        table = table.filter(np.array(table["measure"].to_pylist()) == chosen)
        return _pick(table, "system", "value"), title, chosen
    if isinstance(result, Preferences):
        return _pick(table, "item", "score"), title, result.unit
    if isinstance(result, Comparison):
        measure = "log_loss" if "log_loss" in table.column_names else "log_score"
        return _pick(table, "model", measure), title, measure.replace("_", " ")
    if "judge" in table.column_names:
        value = "accuracy" if "accuracy" in table.column_names else "noise"
        return _pick(table, "judge", value), title, value
    return _pick(table, "score", "value"), title, "value"


def _pick(table: Any, name: str, value: str) -> list[dict[str, Any]]:
    prefix = "" if "low" in table.column_names else f"{value}_"
    return [
        {
            "name": str(row[name]).replace("_", " ") if name == "score" else row[name],
            "value": row[value],
            "low": row.get(f"{prefix}low"),
            "high": row.get(f"{prefix}high"),
        }
        for row in table.to_pylist()
        if row[value] is not None and np.isfinite(row[value])
    ]


def _draw_intervals(
    rows: list[dict[str, Any]], title: str, what: str, level: float | None = None
) -> Any:
    """Draw values with their intervals, one per row."""
    shown = rows[:_MOST]
    names = [layout.shorten(str(row["name"]), 28) for row in shown]
    columns = {key: [row.get(key) for row in shown] for key in ("name", "value", "low", "high")}
    axis = alt.Axis(labelExpr=layout.pick_label(names), ticks=False, labelLimit=190)
    y = alt.Y("place:O", title=None, axis=axis)
    base = alt.Chart(layout.table(place=list(range(len(shown))), **columns)).encode(y=y)
    x = alt.X("value:Q", title=what, scale=alt.Scale(zero=False))
    formats = dict.fromkeys(("value", "low", "high"), ".3f")
    points = base.mark_point(filled=True, size=50, color=LIGHT.blue).encode(
        x=x, tooltip=tooltip({key: key for key in columns}, formats)
    )
    bars = base.mark_rule(strokeWidth=3, opacity=0.35, color=LIGHT.blue).encode(
        x="low:Q", x2="high:Q"
    )
    said = [f"the first {len(shown)} of {len(rows):,}"] if len(rows) > len(shown) else []
    if level is not None and any(row.get("low") is not None for row in shown):
        said.append(f"lines are {level:.0%} intervals")
    chart = (bars + points).properties(width=360, height=max(60, 18 * len(shown)))
    return add_title(chart, title, "; ".join(said))
