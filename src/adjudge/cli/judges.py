"""adjudge judges: how far each judge can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, grid, name

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments

NAME = "judges"
_HEADINGS = {"sensitivity": "sens.", "specificity": "spec."}  # so that 80 columns hold them
EXAMPLES = (
    "adjudge judges judgments.csv --gold gold.csv -o judges.csv",
    "adjudge judges judgments.csv --gold gold.csv --features all",
)


def run(
    judgments: o.JudgmentsFile,
    *,
    gold: o.GoldFile = None,
    use_gold: o.UseGold = False,
    output: o.Output = None,
    top: Annotated[
        int, o.option("--top", metavar="N", min=0, help="Judges to show a person; 0 for all.")
    ] = 25,
    features: Annotated[
        str | None,
        o.option(
            "--features",
            metavar="NAMES",
            help="Features instead of a fit: all, or names joined by commas.",
        ),
    ] = None,
    fitting: o.Fitting,
    labelling: o.TruthLabelling,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """Show how good each judge is: accuracy, bits of information a judgment, rates, intervals.

    A judge of 0 bits tells nothing, however many judgments she gave. The fit is the one that
    'adjudge consensus' makes with the same options.
    """
    from adjudge.cli.fitting import built, fitted, summary
    from adjudge.cli.reading import read_judgments
    from adjudge.cli.writing import check_places, check_printing, deliver

    be_quiet(printing.quiet or printing.json)
    check_places({"--output": output}, inputs=(judgments, gold))
    check_printing(printing, output)
    model = built(fitting)
    read = read_judgments(judgments, gold, reading, labelling)
    known = read.given
    if known is None and use_gold:
        known = read.beside
    if features is not None:
        every = known if known is not None else read.beside
        table = _features(read.judgments, every, features, fitting.seed)
        deliver(
            table,
            "judges",
            output,
            printing,
            about={"features": features, **read.omissions},
            show=lambda: _shown(table, top or len(table)),
        )
        return
    consensus = fitted(model, read.judgments, known, fitting)
    deliver(
        consensus.judges,
        "judges",
        output,
        printing,
        about=summary(consensus, read),
        show=lambda: busiest(consensus, top or consensus.judgments.judge_count),
    )


def _features(judgments: Judgments, gold: Gold | None, names: str, seed: int) -> Any:
    """The table of features, of all that the data allow or of those named."""
    from adjudge.evaluation.features import feature_table

    chosen = None if names == "all" else tuple(part.strip() for part in names.split(","))
    return feature_table(judgments, gold, names=chosen, seed=seed)


def _shown(table: Any, count: int) -> Any:
    """The features of the busiest judges for people: the values, without counts and bounds."""
    from adjudge.cli.writing import number
    from adjudge.models.features import FEATURES, PAPER, TYPICAL

    rows = table.sort_by([("judgments", "descending")]).slice(0, count).to_pylist()
    heads = [column for column in table.column_names if column in (*FEATURES, "bits")]
    cells = [
        [
            name(row["judge"]),
            f"{row['judgments']:,}",
            *(number(row[column], 2) for column in heads),
        ]
        for row in rows
    ]
    short = [PAPER.get(column, "typ." if column == TYPICAL else column) for column in heads]
    columns = [("judge", "left"), ("n", "right"), *((head, "right") for head in short)]
    legend = ", ".join(f"{PAPER[column]} {column}" for column in heads if column in PAPER)
    return grid(f"Features of judges: {legend}, typ. {TYPICAL}", columns, cells)


def busiest(consensus: Consensus, count: int) -> Any:
    """The judges with most judgments, as a table for people."""
    from adjudge.cli.writing import interval, number

    table = consensus.judges.sort_by([("judgments", "descending")])
    rows = table.slice(0, count).to_pylist()
    extra = [column for column in ("sensitivity", "specificity", "bias") if column in rows[0]]
    cells = [
        [
            name(row["judge"]),
            f"{row['judgments']:,}",
            number(row["accuracy"]),
            interval(row["accuracy_low"], row["accuracy_high"]),
            number(row["bits"]),
            *(number(row[column], 2) for column in extra),
        ]
        for row in rows
    ]
    columns = [
        ("judge", "left"),
        ("judgments", "right"),
        ("accuracy", "right"),
        ("90% interval", "right"),
        ("bits", "right"),
        *((_HEADINGS.get(column, column), "right") for column in extra),
    ]
    hidden = consensus.judgments.judge_count - len(rows)
    more = f" ({hidden:,} more: --top 0 shows all)" if hidden else ""
    return grid(f"Judges with most judgments{more}", columns, cells)
