"""adjudge consensus: judgments in, labels out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, grid, is_piped, page, say

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus
    from adjudge.data.gold import Gold

NAME = "consensus"
EXAMPLE = (
    "Example:  adjudge consensus judgments.csv --model dawid-skene --gold gold.csv -o labels.csv"
)
_SHOWN = 12  # rows a person is shown


def run(
    judgments: o.JudgmentsFile,
    model: o.ModelName = "dawid-skene",
    gold: o.GoldFile = None,
    use_gold: Annotated[
        bool,
        typer.Option(
            "--use-gold", help="Let gold that stands in the judgments file guide the fit."
        ),
    ] = False,
    output: o.Output = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="FORMAT", help="Write another format, such as qrels; see 'convert'."
        ),
    ] = None,
    judges: Annotated[
        Path | None,
        typer.Option("--judges", metavar="FILE", help="Write the table of judges here too."),
    ] = None,
    by_topic: o.ByTopic = False,
    ties: o.TiesRule = "random",
    seed: o.Seed = 0,
    iterations: o.Iterations = None,
    threads: o.Threads = None,
    labels: o.Labels = None,
    relevant: o.Relevant = None,
    drop_label: o.Drop = None,
    binary: o.Binary = False,
    binary_truth: o.BinaryTruth = False,
    format: o.Format = None,
    encoding: o.Encoding = "utf-8",
    skip_bad_rows: o.SkipBad = False,
    question: o.Question = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Turn judgments into one label for each item, with its probability.

    The labels go to -o, or to standard output when it is piped; a person at a terminal sees the
    least certain items. Gold given with --gold fixes the truth of its items; gold in the
    judgments file only measures accuracy, unless --use-gold.
    """
    from adjudge.cli.fitting import built, fitted, tell
    from adjudge.cli.writing import extension_of, write_table

    be_quiet(quiet or json)
    if output is not None and to is None:
        extension_of(output)
    if judges is not None:
        extension_of(judges)
    chosen = built(model, by_topic=by_topic, ties=ties, seed=seed, iterations=iterations)
    reading = o.Reading(
        format=format,
        encoding=encoding,
        skip_bad=skip_bad_rows,
        question=question,
        labels=labels,
        relevant=relevant,
        drop=tuple(drop_label or ()),
        binary=binary,
        binary_truth=binary_truth,
    )
    read, given, beside = reading.read(judgments, gold)
    if use_gold and given is None:
        given, beside = beside, None
    consensus = fitted(chosen, read, given, threads)
    tell(consensus)
    _tell_accuracy(consensus, beside)
    if judges is not None:
        write_table(consensus.judges, judges)
        say(f"judges written to {judges}")
    _deliver(consensus, output, to, json, beside)


def _tell_accuracy(consensus: Consensus, gold: Gold | None) -> None:
    """How the labels fare against gold that the fit did not see."""
    if gold is None:
        return
    from adjudge.evaluation.against_gold import evaluate

    score = evaluate(consensus, gold)["accuracy"]
    if score.value is not None:
        say(
            f"  accuracy against the gold in the file: {score.value:.3f} "
            f"({score.low:.3f} to {score.high:.3f}); it was not used in the fit (--use-gold)"
        )


def _deliver(
    consensus: Consensus, output: Path | None, to: str | None, as_json: bool, gold: Gold | None
) -> None:
    """Write the labels where they are wanted, or show the least certain to a person."""
    from adjudge.cli.fitting import summary
    from adjudge.cli.writing import print_json, write_table
    from adjudge.data.formats import Content, write

    target = output if output is not None else Path("-")
    if to is not None:
        content = Content(labels=consensus.labels, scale=consensus.scale, gold=gold)
        write(content, target, format=to)
    elif output is not None:
        write_table(consensus.labels, output)
    if output is not None and str(output) != "-":
        say(f"labels written to {output}")
    if as_json:
        whole = summary(consensus)
        if output is None and to is None:
            whole["items_table"] = consensus.labels.to_pylist()
        print_json(whole)
    elif output is None and to is None:
        if is_piped():
            write_table(consensus.labels, target)
        else:
            page().print(least_certain(consensus))
            say(f"[dim]{len(consensus.choice):,} labels in all; -o labels.csv keeps them[/]")


def least_certain(consensus: Consensus, count: int = _SHOWN) -> Any:
    """The items about which most doubt is left, as a table for people."""
    import numpy as np

    order = np.argsort(-consensus.entropy, kind="stable")[:count]
    rows = consensus.labels.take(order).to_pylist()
    truths = consensus.scale.truths
    cells = [
        [
            row["item"],
            row["label"],
            *(f"{row[f'p_{truth}']:.2f}" for truth in truths),
            str(row["judgments"]),
        ]
        for row in rows
    ]
    columns = [("item", "left"), ("label", "left"), *((f"p({t})", "right") for t in truths)]
    return grid("Least certain items", [*columns, ("judgments", "right")], cells)
