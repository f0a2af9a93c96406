"""adjudge simulate: made judgments whose truth is known."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, say
from adjudge.errors import BadSetting

NAME = "simulate"
EXAMPLE = (
    "Example:  adjudge simulate --items 1000 --judges 50 "
    "--population 'skilled(8,2):80,spammer:15,lazy:5' -o judgments.csv --truth truth.csv"
)


def run(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where the judgments go; - is standard output."
        ),
    ] = Path("-"),
    truth: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the truth of every item goes.")
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the revealed share of the truth goes."),
    ] = None,
    items: Annotated[int, typer.Option(help="How many items.")] = 1000,
    judges: Annotated[int, typer.Option(help="How many judges.")] = 50,
    per_item: Annotated[
        str, typer.Option(metavar="N or N-M", help="Judgments an item: a number, or a range.")
    ] = "5",
    population: Annotated[
        str,
        typer.Option(
            metavar="KINDS",
            help="Kinds of judges with their weights: skilled, two-coin, biased, spammer, lazy, "
            "adversary, dirichlet; settings in brackets.",
        ),
    ] = "skilled:80,spammer:10,lazy:5,adversary:5",
    labels: Annotated[
        str, typer.Option(metavar="SCALE", help="The scale: '0<1<2' in order, 'cat,dog' without.")
    ] = "0<1",
    prevalence: Annotated[
        str, typer.Option(metavar="SHARES", help="How common each label is, such as 0.7,0.2,0.1.")
    ] = "",
    topics: Annotated[int, typer.Option(help="How many topics; 0 for none.")] = 0,
    concentration: Annotated[
        float, typer.Option(help="How alike topics are in prevalence; higher is more alike.")
    ] = math.inf,
    activity: Annotated[
        str, typer.Option(help="How judgments spread over judges: even, zipf, lognormal.")
    ] = "zipf",
    steepness: Annotated[float, typer.Option(help="How long the tail of judges is.")] = 1.0,
    gold_share: Annotated[float, typer.Option(help="Share of the items that are gold.")] = 0.0,
    honeypots: Annotated[float, typer.Option(help="Share of the items planted as tests.")] = 0.0,
    timed: Annotated[
        bool, typer.Option("--timed", help="Give judgments times and seconds.")
    ] = False,
    seed: o.Seed = 0,
    quiet: o.Quiet = False,
) -> None:
    """Make judgments from a stated crowd, with the truth that real judgments hide."""
    from adjudge.cli.writing import extension_of, write_table
    from adjudge.data.formats import Content
    from adjudge.data.formats.plain import table_of
    from adjudge.data.scale import Scale
    from adjudge.simulation import Crowd, Population

    be_quiet(quiet)
    for path in (output, truth, gold):
        if path is not None:
            extension_of(path)
    if gold is not None and gold_share == 0:
        raise BadSetting("--gold-share", gold_share, "a share above 0, since --gold asks for gold")
    crowd = Crowd(
        items=items,
        population=Population.parse(population, judges=judges),
        scale=Scale.parse(labels),
        prevalence=_shares(prevalence),
        topics=topics,
        concentration=concentration,
        per_item=_range(per_item),
        activity=activity,
        steepness=steepness,
        gold=gold_share,
        honeypots=honeypots,
        timed=timed,
    )
    made = crowd.make(seed)
    say(f"{made.judgments!r} from {crowd.population}, seed {seed}")
    write_table(table_of(Content(judgments=made.judgments)), output)
    for path, known in ((truth, made.truth), (gold, made.gold)):
        if path is not None:
            write_table(known.to_table(), path)


def _shares(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise BadSetting("--prevalence", text, "shares such as 0.7,0.2,0.1") from None


def _range(text: str) -> int | tuple[int, int]:
    try:
        low, _, high = text.partition("-")
        return (int(low), int(high)) if high else int(low)
    except ValueError:
        raise BadSetting("--per-item", text, "a number such as 5, or a range such as 3-8") from None
