"""adjudge simulate: made judgments whose truth is known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from adjudge.cli import Command, flag, option
from adjudge.cli import _options as o
from adjudge.cli._console import is_piped, progress, say
from adjudge.cli._files import STDOUT, check_places, tell_written, write_tables
from adjudge.cli._results import grid, page
from adjudge.data.source import count_of
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.simulation import Crowd

_POPULATION = "skilled:80,spammer:10,lazy:5,adversary:5"
_SHOWN = 10  # judgments a person is shown


@dataclass(frozen=True, slots=True, kw_only=True)
class _Making:
    """What crowd is at work, and on what."""

    panel: ClassVar[str] = "What is made"

    items: Annotated[int, option("--items", "N", "How many items.")] = 1000
    judges: Annotated[int, option("--judges", "N", "How many judges.")] = 50
    per_item: Annotated[str, option("--per-item", "N[-M]", "Judgments an item, or a range.")] = "5"
    population: Annotated[
        str,
        option(
            "--population",
            "KINDS",
            "Kinds of judges, with settings in brackets and weights: skilled, two-coin, "
            f"biased, spammer, lazy, adversary, dirichlet. By default {_POPULATION}.",
            show_default=False,
        ),
    ] = _POPULATION
    labels: Annotated[str, option("--labels", "SCALE", "'0<1<2' in order, 'cat,dog' not.")] = "0<1"
    prevalence: Annotated[
        str, option("--prevalence", "SHARES", "Of each label, such as 0.7,0.3.")
    ] = ""
    topics: Annotated[int, option("--topics", "N", "How many topics; 0 for none.")] = 0
    concentration: Annotated[
        float, option("--concentration", "X", "How alike topics are in prevalence.")
    ] = math.inf
    activity: Annotated[
        str, option("--activity", "SPREAD", "Of the judges: even, zipf, lognormal.")
    ] = "zipf"
    steepness: Annotated[float, option("--steepness", "X", "How long the tail of judges is.")] = 1.0
    difficulty: Annotated[
        str, option("--difficulty", "A,B", "Of items: a Beta(A, B), such as 1,4.")
    ] = ""
    repeats: Annotated[bool, flag("--repeats", "Let a judge judge an item again.")] = False
    gold_share: Annotated[float, option("--gold-share", "X", "Share of items that are gold.")] = 0.0
    honeypots: Annotated[float, option("--honeypots", "X", "Share of items planted as tests.")] = (
        0.0
    )
    timed: Annotated[bool, flag("--timed", "Give judgments times and seconds.")] = False

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


def _run(
    *,
    output: o.Output = None,
    truth: Annotated[
        Path | None, option("--truth", "FILE", "Where the truth of every item goes.")
    ] = None,
    gold: Annotated[
        Path | None, option("--gold", "FILE", "Where the revealed share of the truth goes.")
    ] = None,
    making: _Making,
    seed: o.Seed = 0,
    quietness: o.Quietness,  # noqa: ARG001 - obeyed before the command runs
) -> None:
    """Make judgments from a stated crowd, with the truth that real judgments hide."""
    from adjudge.data.formats import Content

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
    table = Content(judgments=judgments).to_table()
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


COMMAND = Command(
    _run,
    examples=(
        "adjudge simulate -o judgments.csv --truth truth.csv",
        "adjudge simulate --population 'skilled(8,2):80,spammer:20' > judgments.csv",
    ),
)


def _first(table: Any) -> Any:
    """The first of the judgments, as a table for people."""
    rows = table.slice(0, _SHOWN).to_pylist()
    cells = [
        [f"{v:%Y-%m-%d %H:%M:%S}" if name == "time" else str(v) for name, v in row.items()]
        for row in rows
    ]
    return grid("Judgments", table.column_names, cells)


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
