"""adjudge simulate: made judgments whose truth is known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, grid, is_piped, page, progress, say
from adjudge.data.source import count_of
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.simulation import Crowd

NAME = "simulate"
EXAMPLES = (
    "adjudge simulate -o judgments.csv --truth truth.csv",
    "adjudge simulate --population 'skilled(8,2):80,spammer:20' > judgments.csv",
)
_POPULATION = "skilled:80,spammer:10,lazy:5,adversary:5"
_SHOWN = 10  # judgments a person is shown
_MADE = "What is made"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Making:
    """What crowd is at work, and on what."""

    items: Annotated[int, o.option("--items", metavar="N", help="How many items.", panel=_MADE)] = (
        1000
    )
    judges: Annotated[
        int, o.option("--judges", metavar="N", help="How many judges.", panel=_MADE)
    ] = 50
    per_item: Annotated[
        str,
        o.option("--per-item", metavar="N[-M]", help="Judgments an item, or a range.", panel=_MADE),
    ] = "5"
    population: Annotated[
        str,
        o.option(
            "--population",
            metavar="KINDS",
            help="Kinds of judges, with settings in brackets and weights: skilled, two-coin, "
            f"biased, spammer, lazy, adversary, dirichlet. By default {_POPULATION}.",
            panel=_MADE,
            show_default=False,
        ),
    ] = _POPULATION
    labels: Annotated[
        str,
        o.option("--labels", metavar="SCALE", help="'0<1<2' in order, 'cat,dog' not.", panel=_MADE),
    ] = "0<1"
    prevalence: Annotated[
        str,
        o.option(
            "--prevalence", metavar="SHARES", help="Of each label, such as 0.7,0.3.", panel=_MADE
        ),
    ] = ""
    topics: Annotated[
        int, o.option("--topics", metavar="N", help="How many topics; 0 for none.", panel=_MADE)
    ] = 0
    concentration: Annotated[
        float,
        o.option(
            "--concentration", metavar="X", help="How alike topics are in prevalence.", panel=_MADE
        ),
    ] = math.inf
    activity: Annotated[
        str,
        o.option(
            "--activity",
            metavar="SPREAD",
            help="Of the judges: even, zipf, lognormal.",
            panel=_MADE,
        ),
    ] = "zipf"
    steepness: Annotated[
        float,
        o.option("--steepness", metavar="X", help="How long the tail of judges is.", panel=_MADE),
    ] = 1.0
    difficulty: Annotated[
        str,
        o.option(
            "--difficulty", metavar="A,B", help="Of items: a Beta(A, B), such as 1,4.", panel=_MADE
        ),
    ] = ""
    repeats: Annotated[
        bool, o.option("--repeats", help="Let a judge judge an item again.", panel=_MADE)
    ] = False
    gold_share: Annotated[
        float,
        o.option("--gold-share", metavar="X", help="Share of items that are gold.", panel=_MADE),
    ] = 0.0
    honeypots: Annotated[
        float,
        o.option("--honeypots", metavar="X", help="Share of items planted as tests.", panel=_MADE),
    ] = 0.0
    timed: Annotated[
        bool, o.option("--timed", help="Give judgments times and seconds.", panel=_MADE)
    ] = False

    def crowd(self) -> Crowd:
        """The crowd that is asked for."""
        from adjudge.data.scale import Scale
        from adjudge.simulation import Crowd, Population

        return Crowd(
            items=self.items,
            population=Population.parse(self.population, judges=self.judges),
            scale=Scale.parse(self.labels),
            prevalence=_numbers("--prevalence", self.prevalence, "shares such as 0.7,0.2,0.1"),
            topics=self.topics,
            concentration=self.concentration,
            per_item=_range(self.per_item),
            activity=self.activity,
            steepness=self.steepness,
            repeats=self.repeats,
            difficulty=_pair(self.difficulty),
            gold=self.gold_share,
            honeypots=self.honeypots,
            timed=self.timed,
        )


def run(
    *,
    output: o.Output = None,
    truth: Annotated[
        Path | None,
        o.option("--truth", metavar="FILE", help="Where the truth of every item goes."),
    ] = None,
    gold: Annotated[
        Path | None,
        o.option("--gold", metavar="FILE", help="Where the revealed share of the truth goes."),
    ] = None,
    making: _Making,
    seed: o.Seed = 0,
    quietness: o.Quietness,
) -> None:
    """Make judgments from a stated crowd, with the truth that real judgments hide."""
    from adjudge.cli.writing import STDOUT, check_places, tell_written, write_tables
    from adjudge.data.formats import Content
    from adjudge.data.formats.plain import table_of

    be_quiet(quietness.quiet)
    check_places({"--output": output, "--truth": truth, "--gold": gold})
    if gold is not None and making.gold_share == 0:
        raise BadSetting("--gold-share", 0.0, "a share above 0, since --gold asks for gold")
    crowd = making.crowd()
    with progress("making judgments"):
        made = crowd.make(seed)
    judgments = made.judgments
    say(
        f"{count_of(len(judgments), 'judgment')} of {count_of(judgments.item_count, 'item')} "
        f"by {count_of(judgments.judge_count, 'judge')} ({crowd.population}), seed {seed}"
    )
    table = table_of(Content(judgments=judgments))
    place = STDOUT if output is None and is_piped() else output
    results = {
        "judgments": (table, place),
        "truth": (made.truth.to_table(), truth),
        "gold": (made.gold.to_table(), gold),
    }
    write_tables(*results.values(), guard=False)
    for name, (_, path) in results.items():
        if path is not None:
            tell_written(name, path)
    if place is None:
        page().print(_first(table))
        say((f"{count_of(table.num_rows, 'judgment')} in all; -o judgments.csv keeps them", "dim"))


def _first(table: Any) -> Any:
    """The first of the judgments, as a table for people."""
    rows = table.slice(0, _SHOWN).to_pylist()
    cells = [
        [f"{v:%Y-%m-%d %H:%M:%S}" if name == "time" else str(v) for name, v in row.items()]
        for row in rows
    ]
    return grid("Judgments", [(name, "left") for name in table.column_names], cells)


def _numbers(option: str, text: str, wanted: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise BadSetting(option, text, wanted) from None


def _pair(text: str) -> tuple[float, float] | None:
    wanted = "two numbers above 0, such as 1,4"
    given = _numbers("--difficulty", text, wanted)
    if len(given) not in (0, 2):
        raise BadSetting("--difficulty", text, wanted)
    return (given[0], given[1]) if given else None


def _range(text: str) -> int | tuple[int, int]:
    try:
        low, _, high = text.partition("-")
        return (int(low), int(high)) if high else int(low)
    except ValueError:
        raise BadSetting("--per-item", text, "a number such as 5, or a range such as 3-8") from None
