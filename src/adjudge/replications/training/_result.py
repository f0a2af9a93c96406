"""Tables 1 to 4 and figure 2 of Le and others (2010), from the results of the parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pyarrow as pa

from adjudge.replications._charts import error_lines
from adjudge.replications._claims import error_of
from adjudge.replications._data import rows_table
from adjudge.replications.replication import Cell, PaperFigure, ReplicationResult, Setup, Table
from adjudge.replications.training import (
    ACCURACY,
    ARMS,
    BASELINE,
    CONTROL,
    CORRECT,
    CROWDS,
    FIGURE_2,
    GOLDS,
    HYBRID,
    LEARNING,
    MAIN,
    POLICY,
    TABLE_1,
    TABLE_2,
    TABLE_3,
    TABLE_4,
    VOTE,
)
from adjudge.replications.training._claims import Runs, claims, values
from adjudge.replications.training._crowd import LABELS, Assumptions

_AGGREGATE = "Aggregate accuracy"
_SHOWN = {VOTE: "majority vote", HYBRID: "HybridConfusion"}


def gather(_: Setup, partials: Mapping[str, Any]) -> ReplicationResult:
    """Tables, figure 2, the same by strength of anchoring, and what the paper says."""
    runs: dict[str, list[Any]] = {name: [] for name in CROWDS}
    for name, part in partials.items():
        runs[name.rsplit("-seeds-", 1)[0]] += part
    return ReplicationResult(
        tables=_tables(runs),
        figures=_figures(runs),
        claims=claims(runs[MAIN], runs[LEARNING], runs[CONTROL]),
        notes=_notes(len(runs[MAIN])),
    )


def _notes(count: int) -> list[str]:
    crowd = CROWDS[MAIN]
    return [
        "**This is a simulation.** The paper hired 255 people; here made judges of stated "
        "behaviour go through the same training, screening, warning, blocking and routing, decided "
        "by the functions that the collection server uses. It can show that the paper's "
        "explanation (judges lean to the label mix they are shown, and spammers exploit it) is "
        "enough for its main finding. It cannot show that people do so. "
        f"Mean and sd over {count} experiments, at most 20 where the strength of anchoring or the "
        "rule of the training is another.",
        _assumed(crowd),
        "**The task.** 256 queries with 5 results each, 82.67% Not Matching, 14.5% Matching, 2.5% "
        "Off Topic, 0.33% Spam; 20 pairs of training, 5 golds with every 20 pairs of work, the "
        "share correct on golds as trust, "
        f"pass at {POLICY.training_pass:g}, warning below {POLICY.warn_below:g}, block below "
        f"{POLICY.block_below:g} (the paper's lines are not published; these let about as many "
        "pass as in its table 2), 5 trusted judgments an item. Golds by table 1, which has "
        "multiples of 1 in 150. The paper has workers complete 20 pairs successfully, which is "
        "read here as a share of 20, and beside it as 20 right of at most 40, the training "
        "counting for trust too (`training_rule`, `trust_training`). Each gold stands under a "
        "query of its own. The same people come to every arm, so that arms differ by their gold "
        "alone.",
        "**The paper's own certainty.** The percentages of its test set are multiples of 1 in 600. "
        "If the aggregates were measured on 600 results, an accuracy of .877 has a standard error "
        "of .013, and the difference between arms 3 and 5 (.027) is about 1.3 standard errors of a "
        "difference between independent samples: the published ordering is not beyond chance.",
    ]


def _assumed(crowd: Assumptions) -> str:
    """Every assumption with its value, and what is said of them."""
    listed = "; ".join(
        f"`{entry.name}` {getattr(crowd, entry.name)}"
        for entry in fields(crowd)
        if entry.name != "confusion"
    )
    rows = "; ".join(
        f"{label} as {', '.join(f'{cell:.2f}' for cell in row)}"
        for label, row in zip(LABELS, crowd.confusion, strict=True)
    )
    return (
        f"**What is assumed of the crowd**, the same in every arm: {listed}. An ethical judge "
        f"takes, on average and before any mix leans on them, {rows} (in the order "
        f"{', '.join(LABELS)}). They lean by p(label | truth) ∝ confusion × mix ^ anchoring, where "
        "the mix is of the right answers they were told in training and of golds they missed in "
        "work. Spammers give the label that was right most often so far, clickers any label. "
        "Judges err independently given the truth and do not become more skilled. **A second "
        "crowd learns**: the paper says that training makes workers more skilled, and in its table "
        "3 they are, with the uniform mix, less apt to call what is not Not Matching so (its last "
        "row here, which follows from precision and recall). There the errors begin "
        f"{CROWDS[LEARNING].errors:g} times as large, and taking k for l becomes rarer by 1 + "
        f"{CROWDS[LEARNING].learning:g} n_k n_l / (n_k + n_l), n being the examples told of each. "
        "Where each value comes from is said at "
        "`adjudge.replications.training._crowd.Assumptions`: levels are those of totals and of "
        "the middle arm, and no value was chosen arm by arm. "
        "Other shares that were tried (.75, .15, .10 and .85, .10, .05), and the server's lines "
        "(.7, .7, .6), gave the same order, arms 3 and 4 within .01 of each other either way."
    )


def _judge_cause(cell: Cell) -> str:
    """Why a judge's measure may differ from the published one."""
    if cell.column in ("arm 1", "arm 2") and cell.obtained < cell.published:
        return (
            "Made judges lean to Matching here more than the paper's did, who knew the task from "
            "earlier runs and may have learnt the mix of the work itself."
        )
    return "How far judges lean, and how many spammers pass where one label rules, is assumed."


def _vote_cause(cell: Cell) -> str:
    """Why a measure of the aggregate may differ from the published one."""
    if cell.column == "arm 5" and cell.obtained < cell.published:
        return "How far judges lean, and how many spammers pass where one label rules, is assumed."
    return "Made judges err independently of each other, so that five votes mend more."


def paper_tables(main: list[Any], *, dealt: str) -> list[Table]:
    """Tables 1 to 4 and figure 2 of the paper; ``dealt`` says how golds came to meet table 1."""
    return [
        Table(
            name="table-1",
            title="Golds of each arm, percent",
            source=f"Table 1, page 2; {dealt}",
            digits=1,
            cells=_mix_cells(),
        ),
        Table(
            name="table-2",
            title="Funnel",
            source="Table 2, page 3",
            digits=1,
            cells=_arm_cells(main, "funnel", TABLE_2),
            cause=lambda _: (
                "Shares of kinds, pages a judge does and the lines of the policy are assumed."
            ),
        ),
        Table(
            name="table-3",
            title="Average measures of a judge",
            source="Table 3, page 3; mean over judges with a page of work",
            cells=_arm_cells(main, "judges", TABLE_3),
            cause=_judge_cause,
        ),
        Table(
            name="table-4",
            title="Aggregate by majority vote",
            source=(
                "Figure 2 and table 4, page 3; of figure 2 the text gives the accuracy of arms 3 "
                "and 5"
            ),
            cells=[
                *(
                    Cell.over(
                        _AGGREGATE,
                        f"arm {arm}",
                        values(main, arm, VOTE, ACCURACY).tolist(),
                        published=FIGURE_2.get(arm, np.nan),
                    )
                    for arm in ARMS
                ),
                *_arm_cells(main, VOTE, TABLE_4),
            ],
            cause=_vote_cause,
        ),
    ]


def _tables(runs: dict[str, list[Any]]) -> list[Table]:
    return [
        *paper_tables(runs[MAIN], dealt="counts of golds chosen to meet it"),
        Table(
            name="table-3-learning",
            title="Average measures of a judge who learns",
            source="Table 3, page 3; the crowd whose errors shrink with examples of both labels",
            cells=_arm_cells(runs[LEARNING], "judges", TABLE_3),
            cause=_judge_cause,
        ),
        Table(
            name="table-4-learning",
            title="Aggregate by majority vote of judges who learn",
            source="Table 4, page 3; the same crowd",
            cells=_arm_cells(runs[LEARNING], VOTE, TABLE_4),
            cause=_vote_cause,
        ),
        Table(
            name="table-2-correct",
            title="Funnel with a training that wants 20 right",
            source="Table 2, page 3; 20 right of at most 40 pass, and the training counts for "
            "trust too",
            digits=1,
            cells=_arm_cells(runs[CORRECT], "funnel", TABLE_2),
            cause=lambda _: (
                "Shares of kinds, pages a judge does and how many pairs may be tried are assumed."
            ),
        ),
        Table(
            name="crowds",
            title="Aggregate accuracy by crowd and by model",
            source="Beyond the paper: the same arms with other judges, and with another model",
            cells=_crowd_cells(runs),
        ),
    ]


def _mix_cells() -> list[Cell]:
    """Table 1: the gold of each arm."""
    return [
        Cell(
            row=label,
            column=f"arm {arm}",
            published=TABLE_1[arm][place],
            obtained=100 * GOLDS[arm][place] / sum(GOLDS[arm]),
            sd=np.nan,
        )
        for place, label in enumerate(LABELS)
        for arm in ARMS
    ]


def _arm_cells(runs: Runs, what: str, published: Mapping[str, Sequence[float]]) -> list[Cell]:
    """The cells of a table with a column for each arm."""
    return [
        Cell.over(measure, f"arm {arm}", values(runs, arm, what, measure).tolist(), published=told)
        for measure, row in published.items()
        if measure in runs[0][ARMS[0]][what]  # a server's report has the paper's own measures alone
        for arm, told in zip(ARMS, row, strict=True)
    ]


_SAID = {
    MAIN: "as assumed",
    LEARNING: "judges who learn",
    CORRECT: "as assumed, 20 right to pass",
    "strength-0": "no anchoring",
    "strength-0.5": "anchoring 0.5",
    "strength-1": "anchoring 1",
    CONTROL: "no anchoring, ethical judges only",
}


def _crowd_cells(runs: dict[str, list[Any]]) -> list[Cell]:
    return [
        Cell.over(
            f"{said}, {shown}", f"arm {arm}", values(runs[name], arm, model, ACCURACY).tolist()
        )
        for name, said in _SAID.items()
        for model, shown in _SHOWN.items()
        for arm in ARMS
    ]


def _figures(runs: dict[str, list[Any]]) -> list[PaperFigure]:
    return [
        aggregate_figure(runs[MAIN], "trusted judgments"),
        PaperFigure(
            name="strength-plot",
            title="Aggregate accuracy by strength of anchoring",
            source="Beyond the paper",
            data=strength_data(
                runs,
                # Crowds that differ by what they are, not by the policy.
                [(name, said) for name, said in _SAID.items() if name != CORRECT],
                _SHOWN,
            ),
            chart=strength_chart,
            caption=(
                "Means, ± 2 standard errors, of the majority vote and of HybridConfusion by EM; "
                "the crowd as assumed lies on that with anchoring 0.5."
            ),
        ),
    ]


def aggregate_figure(runs: Runs, judgments: str) -> PaperFigure:
    """Figure 2, of the judgments that are named."""
    return PaperFigure(
        name="figure-2-plot",
        title="Aggregate accuracy by arm",
        source="Figure 2, page 3",
        data=_aggregate_data(runs),
        chart=_aggregate_chart,
        caption=(
            f"Majority vote of the {judgments}, ± 2 sd over experiments; rings are the published "
            "values that the text gives, the rule is the accuracy of answering Not Matching "
            "throughout."
        ),
    )


def _aggregate_data(runs: Runs) -> Any:
    found = [values(runs, arm, VOTE, ACCURACY) for arm in ARMS]
    return pa.table(
        {
            "arm": list(ARMS),
            "obtained": [float(one.mean()) for one in found],
            "sd": [float(one.std(ddof=1)) for one in found],
            "published": [FIGURE_2.get(arm) for arm in ARMS],
            "baseline": [BASELINE] * len(ARMS),
        }
    )


def strength_data(
    runs: dict[str, list[Any]], crowds: Iterable[tuple[str, str]], models: Mapping[str, str]
) -> Any:
    """Mean accuracy and its standard error by crowd, model and arm; crowds and models by name."""
    rows = []
    for name, said in crowds:
        for model, shown in models.items():
            for arm in ARMS:
                found = values(runs[name], arm, model, ACCURACY)
                rows.append((said, shown, arm, float(found.mean()), error_of(found)))
    return rows_table(("crowd", "model", "arm", "mean", "error"), rows)


def _aggregate_chart(table: Any) -> Any:
    """Figure 2: aggregate accuracy by arm, obtained and published, above the baseline."""
    import altair as alt

    from adjudge.report.plots import drawing
    from adjudge.report.theme import LIGHT

    rows = table.to_pylist()
    data = drawing.table(
        arm=[row["arm"] for row in rows],
        obtained=[row["obtained"] for row in rows],
        low=[row["obtained"] - 2 * row["sd"] for row in rows],
        high=[min(1.0, row["obtained"] + 2 * row["sd"]) for row in rows],
        published=[row["published"] or float("nan") for row in rows],
        baseline=[row["baseline"] for row in rows],
    )
    x = alt.X("arm:N", title="arm", axis=alt.Axis(labelAngle=0))
    scale = alt.Scale(zero=False)
    base = alt.Chart(data)
    rule = base.mark_rule(color=LIGHT.soft, strokeDash=[4, 3]).encode(
        y=alt.Y("mean(baseline):Q", title="accuracy", scale=scale)
    )
    spread = base.mark_rule(color=LIGHT.blue, strokeWidth=2).encode(
        x=x, y=alt.Y("low:Q", title="accuracy", scale=scale), y2="high:Q"
    )
    dots = base.mark_circle(color=LIGHT.blue, size=70, opacity=1).encode(x=x, y="obtained:Q")
    rings = base.mark_point(color=LIGHT.orange, size=80, filled=False, strokeWidth=2).encode(
        x=x, y="published:Q"
    )
    return (rule + spread + dots + rings).properties(width=340, height=260)


def strength_chart(table: Any) -> Any:
    """Aggregate accuracy by arm, a line for each crowd, a panel for each model."""
    import altair as alt

    rows = table.to_pylist()
    crowds = list(dict.fromkeys(row["crowd"] for row in rows))
    colour = alt.Color("crowd:N", sort=crowds, title=None, legend=alt.Legend(labelLimit=300))
    x = alt.X("arm:N", title="arm", axis=alt.Axis(labelAngle=0))
    panels = []
    for model in dict.fromkeys(row["model"] for row in rows):
        found = [row for row in rows if row["model"] == model]
        looks: dict[str, Any] = {"dots": 28, "width": 260, "height": 260, "title": model}
        scale = alt.Scale(zero=False)
        panels.append(error_lines(found, x, colour, up="accuracy", scale=scale, **looks))
    return alt.hconcat(*panels).resolve_scale(y="shared")


def gap_chart(table: Any) -> Any:
    """How far the uniform arm is ahead of others, crowd by crowd."""
    import altair as alt

    from adjudge.report.plots import drawing
    from adjudge.report.theme import LIGHT

    rows = table.to_pylist()
    crowds = list(dict.fromkeys(row["crowd"] for row in rows))
    arms = list(dict.fromkeys(row["arm"] for row in rows))
    data = drawing.table(
        **{key: [row[key] for row in rows] for key in ("crowd", "arm", "gap")},
        low=[row["gap"] - 2 * row["error"] for row in rows],
        high=[row["gap"] + 2 * row["error"] for row in rows],
        zero=[0.0 for _ in rows],
    )
    colour = alt.Color("arm:N", sort=arms, title=None)
    title = "accuracy of arm 3 less that of another"
    y = alt.Y("crowd:N", sort=crowds, title=None, axis=alt.Axis(labelLimit=330, grid=True))
    apart = alt.YOffset("arm:N", sort=arms)
    base = alt.Chart(data)
    rule = base.mark_rule(color=LIGHT.soft, strokeDash=[4, 3]).encode(
        x=alt.X("mean(zero):Q", title=title)
    )
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=title), x2="high:Q", y=y, yOffset=apart, color=colour
    )
    dots = base.mark_circle(size=60, opacity=1).encode(
        x=alt.X("gap:Q", title=title), y=y, yOffset=apart, color=colour
    )
    return (rule + bars + dots).properties(width=380, height=34 * len(crowds))
