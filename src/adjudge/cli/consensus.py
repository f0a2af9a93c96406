"""adjudge consensus: judgments in, labels out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, count, grid, is_piped, name, page, say

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus
    from adjudge.data.gold import Gold

NAME = "consensus"
EXAMPLES = (
    "adjudge consensus judgments.csv --gold gold.csv -o labels.csv",
    "adjudge consensus judgments.csv -m majority-vote --to qrels > crowd.qrels",
)
_SHOWN = 12  # items a person is shown
_FEW = 6  # truths up to which each has a column there


def run(
    judgments: o.JudgmentsFile,
    *,
    gold: o.GoldFile = None,
    use_gold: o.UseGold = False,
    output: o.Output = None,
    to: Annotated[
        str | None,
        o.option("--to", metavar="FORMAT", help="Another format; see 'adjudge convert --list'."),
    ] = None,
    judges: Annotated[
        Path | None, o.option("--judges", metavar="FILE", help="Write the table of judges too.")
    ] = None,
    fitting: o.Fitting,
    labelling: o.TruthLabelling,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """Turn judgments into one label for each item, with its probability.

    The labels go to -o, or to standard output when it is piped; a person at a terminal sees the
    least certain items. Gold given with --gold fixes the truth of its items; gold in the
    judgments file only measures accuracy, unless --use-gold.
    """
    from adjudge.cli.fitting import built, fitted, summary
    from adjudge.cli.reading import read_judgments

    be_quiet(printing.quiet or printing.json)
    _check(judgments, gold, output, to, judges, printing)
    model = built(fitting)
    read = read_judgments(judgments, gold, reading, labelling)
    known = read.given
    if known is None and use_gold:
        known = read.beside
    consensus = fitted(model, read.judgments, known, fitting)
    about = summary(consensus, read)
    if known is None and read.beside is not None:
        about["accuracy"] = _accuracy(consensus, read.beside)
    every = read.given if read.given is not None else read.beside
    _deliver(consensus, every, about, output, to, judges, printing)


def _check(
    judgments: Path,
    gold: Path | None,
    output: Path | None,
    to: str | None,
    judges: Path | None,
    printing: o.Printing,
) -> None:
    """Complain of what cannot be written before any work is done."""
    from adjudge.cli.writing import STDOUT, check_format, check_places, check_printing

    if to is not None:
        check_format(to, output or STDOUT, "labels")
    check_printing(printing, STDOUT if to is not None and output is None else output)
    check_places(
        {"--output": output, "--judges": judges},
        inputs=(judgments, gold),
        free=() if to is None else ("--output",),
    )


def _accuracy(consensus: Consensus, gold: Gold) -> dict[str, Any]:
    """How the labels fare against gold that the fit did not see; it is told."""
    from adjudge.evaluation.against_gold import evaluate

    result = evaluate(consensus, gold)
    score = result["accuracy"]
    if score.defined:
        say(
            f"  accuracy against the gold in the file: {score.value:.3f} "
            f"({score.low:.3f} to {score.high:.3f}); the fit did not use it (--use-gold would)"
        )
    return {"value": score.value, "low": score.low, "high": score.high, "items": result.scored}


def _deliver(
    consensus: Consensus,
    gold: Gold | None,
    about: dict[str, Any],
    output: Path | None,
    to: str | None,
    judges: Path | None,
    printing: o.Printing,
) -> None:
    """Write the labels where they are wanted, or show the least certain to a person."""
    from adjudge.cli.writing import STDOUT, print_json, tell_written, write_content, write_tables
    from adjudge.data.formats import Content

    place = output
    if place is None and (to is not None or (is_piped() and not printing.json)):
        place = STDOUT
    if to is not None and place is not None:
        content = Content(labels=consensus.labels, scale=consensus.scale, gold=gold)
        write_content(content, place, to)
        write_tables((consensus.judges, judges))
    else:
        write_tables((consensus.judges, judges), (consensus.labels, place))
    for table, written in (("labels", place), ("judges", judges)):
        if written is not None:
            tell_written(table, written)
    if printing.json:
        print_json(
            about if place is not None else {**about, "labels": consensus.labels.to_pylist()}
        )
    elif place is None:
        page().print(least_certain(consensus))
        say((f"{count(len(consensus.choice), 'label')} in all; -o labels.csv keeps them", "dim"))


def least_certain(consensus: Consensus) -> Any:
    """The items about which most doubt is left, as a table for people."""
    import numpy as np

    order = np.argsort(-consensus.entropy, kind="stable")[:_SHOWN]
    rows = consensus.labels.take(order).to_pylist()
    truths = consensus.scale.truths
    shares = [(f"p({name(truth)})", f"p_{truth}") for truth in truths]
    if len(truths) > _FEW:
        shares = [("probability", "probability")]
    cells = [
        [
            name(row["item"]),
            name(row["label"]),
            *(f"{row[column]:.2f}" for _, column in shares),
            f"{row['judgments']:,}",
        ]
        for row in rows
    ]
    columns = [("item", "left"), ("label", "left"), *((head, "right") for head, _ in shares)]
    return grid("Least certain items", [*columns, ("judgments", "right")], cells)
