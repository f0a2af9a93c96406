"""The PMF paper's tables, figures and claims, from the results of its parts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adjudge.evaluation.significance import rank_methods
from adjudge.evaluation.tuning import ALPHAS
from adjudge.replications._charts import beside, curves
from adjudge.replications._data import results_of
from adjudge.replications.pmf import ALPHA, FITS, LEAK, LEAKED, PUBLISHED, RANK, RIDGE, VARIANTS
from adjudge.replications.pmf._claims import Marks, Outcomes, beyond, claims, grid_claim, right_of
from adjudge.replications.replication import (
    Cell,
    PaperFigure,
    ReplicationResult,
    Setup,
    Table,
)

_COLUMNS = ("ACC", "ACC rank", "RMSE", "RMSE rank", "SPE", "SPE rank")  # of table 1
_BY_GOLD = ("4 WV", "5 filter", "6 WV+filter")  # methods that measure judges on gold


def gather(setup: Setup, partials: Mapping[str, Any]) -> ReplicationResult:
    """Table 1, its variants, the models in the same terms, the choice of D and lambda, alpha."""
    splits = results_of("split", partials)
    outcomes: Outcomes = dict(partials["unsupervised"]["methods"])
    marks: Marks = dict(partials["unsupervised"]["marks"])
    for name in splits[0]["methods"]:
        outcomes[name] = [split["methods"][name] for split in splits]
        marks[name] = [split["marks"][name] for split in splits]
    for name in _BY_GOLD:
        seen = [split["leaked"][LEAKED[1]][name] for split in splits]
        outcomes[name + LEAK], marks[name + LEAK] = seen, [run["marks"] for run in seen]
    alphas = {name: [split["alpha"][name] for split in splits] for name in splits[0]["alpha"]}
    tried = [entry for part in results_of("rank", partials) for entry in part]
    seven = _cells({name: outcomes[name] for name in PUBLISHED}, alphas, marks)
    return ReplicationResult(
        tables=[
            Table(
                name="table-1",
                title="Seven methods",
                source="Table 1, page 2",
                cells=seven,
                cause=partial(_cause, covered=_most_covered(splits)),
            ),
            Table(
                name="fits",
                title="The same with a fit that is cut short, and with λ = 2",
                source="Table 1, page 2, methods 3 and 7",
                cells=_variants(outcomes, alphas),
                cause=lambda _: "Start, stopping rule and cut of the paper are not described",
            ),
            Table(
                name="leaked",
                title="What the filter's figures can come from",
                source="Table 1, page 2, at its α = 0.67: which gold judges are measured on, and "
                "what becomes of an item whose judges were all dropped",
                cells=_leaked(splits),
                cause=_leak,
            ),
            Table(
                name="models",
                title="Where the models stand in the same terms",
                source="Beyond the paper; ranks are among all rows and the seven",
                cells=_models(outcomes, marks),
            ),
            Table(
                name="rank-and-lambda",
                title="Choice of D and λ: held-out error",
                source="Parameters, page 2: RMSE on labels held out, all labels, no gold",
                cells=_tried(tried),
                digits=4,
            ),
        ],
        figures=[
            beside(
                [cell for cell in seven if cell.column in ("ACC", "SPE")],
                name="table-1-plot",
                title="Seven methods: accuracy and specificity",
                source="Table 1, page 2",
                axis="share",
                columns=2,
            ),
            _alpha_figure(splits),
        ],
        claims=[*claims(outcomes, marks), grid_claim(tried), *beyond(outcomes, marks)],
        notes=_notes(
            setup,
            len(splits),
            alphas,
            partials["unsupervised"]["fitted"],
            float(np.mean([run["SEN"] for run in outcomes["4 WV"]])),
        ),
    )


def _notes(
    setup: Setup,
    splits: int,
    alphas: Mapping[str, list[float]],
    fitted: Mapping[str, Sequence[float]],
    sensitivity: float,
) -> list[str]:
    short = " Sampled models run 50 sweeps after 50 here." if setup.quick else ""
    found = "; ".join(f"{name} α {np.median(values):.2f}" for name, values in alphas.items())
    told = "; ".join(
        f"λ = {FITS[how][0]:g}, {steps:.0f} steps, objective {value:,.1f}"
        f"{'' if converged else ', cut short'}"
        for how, (steps, value, converged) in fitted.items()
    )
    return [
        "Data: TREC 2011 crowdsourcing, task 2: 89,624 binary judgments of 19,033 items by 762 "
        "judges, 3,275 of the items with gold, as in the paper. Its split was not published: mean "
        f"and sd are over {splits} seeded splits, each with 1,000 test items, half of them "
        f"relevant, and 2,275 for training.{short}",
        "RMSE is that of 0/1 labels, sqrt(1 - ACC), as the published figures show. An item whose "
        "judges were all dropped falls back to the plain vote; `coverage` is the share of test "
        "items that kept a judge, and `ACC, covered` the accuracy on those.",
        "**Tests** are two-tailed, paired, at 0.05, over the 1,000 items of one split: the paper "
        "has one. Which split is luck: two methods differ if they do so in more than half of the "
        f"{splits} splits, and what is shown is the median p. Ranks are those of the first split. "
        "A test over splits, which share most of their items, would find any difference at all.",
        "**PMF** with rank 30, λ = 0.1 as published, fitted until the gradient is zero; labels are "
        "cut where completed numbers spread (cut in the middle, nearly all would be relevant). The "
        "published accuracies (.643 and .673) lie on the way to the minimum, not at it. Accuracy "
        "rises as the fit goes on: alternating least squares from a start at random comes to .622 "
        "and .611 (methods 3 and 7) after 20 sweeps, .665 and .672 after 50, .689 and .688 after "
        f"100, tried apart on the same splits; the fits here: {told}. The paper goes by gradient "
        "descent and does not say when it stopped. Labels not centred, λ multiplied by counts, or "
        "a cut in the middle come no nearer to its specificities. α chosen on training gold, "
        f"median over splits: {found}.",
        "**Specificities of EM and WV** (.418 and .900): no reading tried here reaches them. WV's "
        "at an accuracy of .642 means a sensitivity of .384, where every vote here calls most "
        f"items relevant: WV's sensitivity here is {sensitivity:.2f}.",
    ]


def _cause(cell: Cell, covered: str) -> str:
    if "rank" in cell.column:
        return "Ranks follow the values, tested here over the items of a split"
    if cell.column == "α":
        return "α is chosen on training gold that is not the paper's"
    if cell.row in ("5 filter", "6 WV+filter"):
        return covered
    if cell.row == "4 WV":
        return (
            "The paper does not say how judges without gold weigh; here they have the mean. No "
            "reading reaches this specificity"
        )
    if cell.row == "2 EM":
        return "No reading of EM reaches this: DawidSkene's log-likelihood was checked elsewhere"
    if "PMF" in cell.row:
        return "A fit at its minimum; one that is cut short is nearer (below)"
    return "The paper's test items were not published, and ties and starts are not described"


def _leak(cell: Cell) -> str:
    if cell.row.startswith("4 WV"):
        return "No reading of which gold is seen reaches WV's specificity"
    if "all gold" in cell.row:
        return "Leakage: judges are measured on the gold of the test items too, which is no score"
    return "A fair score, which does not reach the published"


def _most_covered(splits: Sequence[Mapping[str, Any]]) -> str:
    """What the filter reaches at best on the items that it covers, in words."""
    sweep = [split["sweep"]["5 filter"] for split in splits]
    means = [
        [float(np.mean([run[at][key] for run in sweep])) for key in ("covered", "coverage")]
        for at in range(len(ALPHAS))
    ]
    best = max(range(len(ALPHAS)), key=lambda at: means[at][0])
    return (
        "No α reaches the paper's 0.75 on all test items here, and on the items that keep a judge "
        f"the best is {means[best][0]:.3f}, at α = {ALPHAS[best]:.2f} with {means[best][1]:.0%} of "
        "the items; measured on all gold, the test's too, the filter comes to the paper's "
        "accuracy, though not to its specificity (below)"
    )


def _leaked(splits: Sequence[Mapping[str, Any]]) -> list[Cell]:
    """Methods 4 to 6 by reading, beside the published values."""
    made = []
    for reading in LEAKED:
        for name in _BY_GOLD:
            runs = [split["leaked"][reading][name] for split in splits]
            if name == "4 WV" and reading == LEAKED[1]:
                continue  # no filter, so no item is lost: as the reading before
            told = _published(name, "ACC", "SPE") | dict.fromkeys(("SEN", "coverage"), math.nan)
            made += _row(f"{name}: {reading}", runs, told)
    return made


def _published(name: str, *columns: str) -> dict[str, float]:
    """What table 1 has for a method, in all its columns or in some."""
    told = dict(zip(_COLUMNS, PUBLISHED[name], strict=True))
    return {column: told[column] for column in columns or _COLUMNS}


def _row(
    name: str,
    runs: Sequence[Mapping[str, float]],
    published: Mapping[str, float],
    ranks: Mapping[str, int] | None = None,
) -> list[Cell]:
    """The cells of a method: columns with what was published, NaN for nothing, over the splits."""
    made = []
    for column, told in published.items():
        if column.endswith("rank"):
            place = (ranks or {})[f"{name} {column}"]
            cell = Cell(row=name, column=column, published=told, obtained=place, sd=0.0, digits=0)
        elif column == "RMSE":
            errors = [math.sqrt(1.0 - run["ACC"]) for run in runs]
            cell = Cell.over(name, column, errors, published=told)
        else:
            key = "covered" if column == "ACC, covered" else column
            cell = Cell.over(name, column, [run[key] for run in runs], published=told)
        made.append(cell)
    return made


def _cells(outcomes: Outcomes, alphas: Mapping[str, list[float]], marks: Marks) -> list[Cell]:
    """Mean and sd over splits beside the published values, ranks by paired tests over items."""
    made = []
    ranks = _ranks(outcomes, marks)
    for name, runs in outcomes.items():
        made += _row(name, runs, _published(name) | {"SEN": math.nan}, ranks)
        if name in alphas:
            made.append(Cell.over(name, "α", alphas[name], published=ALPHA[name]))
        if name in ("5 filter", "6 WV+filter"):
            made += _row(name, runs, dict.fromkeys(("coverage", "ACC, covered"), math.nan))
    return made


def _ranks(outcomes: Outcomes, marks: Marks) -> dict[str, int]:
    """Ranks by paired tests over the items of the first split; for SPE, those not relevant."""
    right = {name: right_of(marks[name][0]) for name in outcomes}
    halves = {name: values[: len(values) // 2] for name, values in right.items()}
    return {
        f"{place.method} {score} rank": place.rank
        for score, values in (("ACC", right), ("RMSE", right), ("SPE", halves))
        for place in rank_methods(values)
    }


def _variants(outcomes: Outcomes, alphas: Mapping[str, list[float]]) -> list[Cell]:
    made = []
    for name, plain in VARIANTS.items():
        made += _row(name, outcomes[name], _published(plain, "ACC", "RMSE", "SPE"))
        if name in alphas:
            made.append(Cell.over(name, "α", alphas[name], published=ALPHA[plain]))
    return made


def _models(outcomes: Outcomes, marks: Marks) -> list[Cell]:
    """The models, without gold and with it, ranked among all methods."""
    among = {
        name: runs
        for name, runs in outcomes.items()
        if name not in VARIANTS and not name.endswith(LEAK)
    }
    ranks = _ranks(among, marks)
    told = dict.fromkeys(("ACC", "ACC rank", "RMSE", "SPE", "SPE rank"), math.nan)
    return [
        cell
        for name, runs in among.items()
        if name not in PUBLISHED
        for cell in _row(name, runs, told, ranks)
    ]


def _tried(tried: Sequence[Sequence[float]]) -> list[Cell]:
    return [
        Cell(
            row=f"λ = {ridge:g}",
            column=f"D = {rank:g}",
            published=math.nan,
            obtained=error,
            sd=math.nan,
            note="(the paper's choice)" if (rank, ridge) == (RANK, RIDGE) else "",
        )
        for rank, ridge, error in sorted(tried, key=lambda entry: (entry[1], entry[0]))
    ]


def _alpha_figure(splits: Sequence[Mapping[str, Any]]) -> PaperFigure:
    """Accuracy on the test items under every alpha, mean and sd over splits."""
    rows = []
    for name in splits[0]["sweep"]:
        for at, alpha in enumerate(ALPHAS):
            runs = [split["sweep"][name][at] for split in splits]
            accuracy = np.array([run["ACC"] for run in runs])
            covered = [run["covered"] for run in runs if not math.isnan(run["covered"])]
            rows.append(
                {
                    "method": name,
                    "alpha": alpha,
                    "accuracy": float(accuracy.mean()),
                    "sd": float(accuracy.std(ddof=1)),
                    "coverage": float(np.mean([run["coverage"] for run in runs])),
                    "covered": float(np.mean(covered)) if covered else math.nan,
                }
            )
    return PaperFigure(
        name="alpha",
        title="Accuracy under every threshold of the filter",
        source="Parameters, page 2: α from 0.60 to 0.99, which the paper swept and did not plot",
        data=pa.Table.from_pylist(rows),
        chart=_alpha_chart,
        caption="Bands are one sd over splits. Left: all test items, those without a kept judge "
        "by the plain vote. Right: accuracy on the items that keep a judge, and their share.",
    )


def _alpha_chart(table: Any) -> Any:
    import altair as alt

    looks: dict[str, Any] = {
        "x": "alpha",
        "colour": "method",
        "x_title": "α: accuracy below which judges are dropped",
        "width": 300,
        "height": 260,
    }
    whole = curves(table, y="accuracy", sd="sd", title="All test items", **looks)
    raw = table.filter(pc.equal(table["method"], "5 filter"))
    both = pa.concat_tables(
        pa.table({"alpha": raw["alpha"], "share": raw[column], "method": [said] * len(raw)})
        for column, said in (("covered", "accuracy, covered items"), ("coverage", "items covered"))
    )
    part = curves(both, y="share", title="Method 5 on the items it covers", **looks)
    return alt.hconcat(whole, part).resolve_scale(color="independent")
