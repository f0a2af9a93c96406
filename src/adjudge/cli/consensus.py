"""adjudge consensus: judgments in, labels out."""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
from adjudge.cli import command, flag, option
from adjudge.cli._console import is_piped, say
from adjudge.cli._fitting import (
    are_numbers,
    check_engine,
    choose_model,
    cluster_reader,
    fit_model,
    make_engine,
    open_engine,
)
from adjudge.cli._reading import Input, read_judgments
from adjudge.cli._results import (
    STDOUT,
    check_format,
    check_places,
    page,
    print_json,
    tell_written,
    write_content,
    write_tables,
)
from adjudge.cli._summary import check_sampled, show_least_certain, summarise, tell_scores
from adjudge.data.source import count_of
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus
    from adjudge.data.gold import Gold

_ROWS = 1_000_000  # labels in a file of a folder


@command(
    "adjudge consensus judgments.csv --gold gold.csv -o labels.csv",
    "adjudge consensus judgments.csv -m majority-vote --to qrels > crowd.qrels",
    "adjudge consensus j.csv -m hierarchical-confusion --save-draws draws.nc",
    "adjudge consensus part-*.parquet --engine dask --workers 4 -o labels",
)
def run(
    judgments: list[str] = o.JUDGMENTS,
    *,
    gold: str | None = o.GOLD,
    use_gold: bool = o.USE_GOLD,
    to: str | None = option("--to FORMAT", "Another format; see 'adjudge convert --list'."),
    judges: Path | None = option("--judges FILE", "Write the table of judges too."),
    topics: Path | None = option("--topics FILE", "Write the prevalence of each topic too."),
    save_draws: Path | None = option(
        "--save-draws FILE", "Write the draws of a sampled model (.nc)."
    ),
    with_unjudged: bool = flag(
        "--with-unjudged", "Keep items that nobody judged, labelled from the others."
    ),
    fitting: o.Fitting,
    running: o.Running,
    reading: o.NumberReading,
    out: o.Delivery,
) -> None:
    """Turn judgments into one label per item, with its probability.

    The labels go to -o, or to standard output when it is piped; a person at a terminal sees the
    least certain items. Gold given with --gold fixes the truth of its items; gold in the
    judgments file only measures accuracy, unless --use-gold.

    Labels that are many different numbers are read as numbers: each judge has a bias and a noise.
    Several files of a kind are read as one. An output without an extension is a folder, which gets
    Parquet files. 'adjudge models' lists the settings of each model for --set.
    """
    if to is not None:
        check_format(to, out.output or STDOUT, "labels")
        out = replace(out, output=out.output or STDOUT)
    places = {"--output": out.output, "--judges": judges, "--topics": topics}
    free = to is not None or _is_folder(out.output)
    check_places(
        {**places, "--save-draws": save_draws},
        inputs=(*judgments, gold),
        free=("--output", "--save-draws") if free else ("--save-draws",),
        printing=out,
    )
    check_engine(running, fitting.threads)
    fitting, reading, model = choose_model(fitting, reading)
    if save_draws is not None:
        if save_draws.suffix != ".nc":
            raise BadSetting("--save-draws", str(save_draws), "a name that ends in .nc")
        check_sampled(model)
    plain = running == o.Running()
    opened: Any = nullcontext(make_engine(fitting.threads))
    with opened if plain else open_engine(running, fitting.threads) as engine:
        reader = None if plain else cluster_reader(engine, judgments, reading)
        read = read_judgments(judgments, gold, reading, reader)
        read = _leave_out_unjudged(read, with_unjudged)
        known = read.choose_gold(use_gold)
        if model is None or are_numbers(read.judgments, reading, fitting):
            from adjudge.cli._numbers import deliver_numbers

            deliver_numbers(read, known, fitting, engine, places, to, out)
            return
        consensus = fit_model(model, read.judgments, known, fitting, engine)
        about = summarise(consensus, read) if out.json else {}
        if known is None and read.beside is not None:
            about |= tell_scores(consensus, read.beside, read.judgments)
        earlier = ["--gold", gold] if gold is not None else []
        about |= _tell_more_gold(consensus, read.every, [*judgments, *earlier])
        if save_draws is not None and consensus.draws is not None:
            consensus.draws.save(save_draws)
            tell_written("draws", save_draws)
        _deliver(consensus, read.every, about, places, to, out)


def _tell_more_gold(consensus: Consensus, gold: Gold | None, given: list[str]) -> dict[str, Any]:
    """Say what more gold labels would show, if there are few; the numbers as data.

    ``given`` are the arguments that name the judgments and the gold.
    """
    from adjudge.evaluation.against_gold import MoreGold

    found = MoreGold.of(consensus, gold)
    if found is None:
        return {"more_gold": None}
    now = "" if found.margin_now is None else f", now ±{found.margin_now:.2f}"
    say(
        f"  {found.labels} {'more ' if found.have else ''}gold labels would measure accuracy to "
        f"±{found.margin:.2f}{now} ({found.level:.0%} interval, if {found.accuracy:.0%} of labels "
        f"are right as their probabilities say): adjudge next {shlex.join(given)} "
        f"--gold {found.labels} -o gold-to-fill.csv"
    )
    return {"more_gold": asdict(found)}


def _leave_out_unjudged(read: Input, with_unjudged: bool) -> Input:
    """What was read without the items that nobody judged, unless they are wanted."""
    idle = read.judgments.counts_per_item == 0
    if not idle.any():
        return read
    unjudged = f"{count_of(int(idle.sum()), 'item')} that nobody judged"
    if with_unjudged:
        say(f"{unjudged} kept: their labels are guesses")
        return read
    say(f"{unjudged} left out (--with-unjudged keeps them)")
    return replace(read, judgments=read.judgments.select(items=~idle, keep_empty=True))


def _is_folder(path: Path | None) -> bool:
    """Whether a path asks for a folder of Parquet files: it has no extension, or is one already."""
    if path is None or path == STDOUT:
        return False
    return path.is_dir() or (not path.suffix and not path.exists())


def _deliver(
    consensus: Consensus,
    gold: Gold | None,
    about: dict[str, Any],
    places: dict[str, Path | None],
    to: str | None,
    out: o.Delivery,
) -> None:
    """Write the tables where they are wanted, or show the least certain items to a person."""
    place = places["--output"]
    if place is None and is_piped() and not out.json:
        place = STDOUT
    tables: dict[str, tuple[Any, Path | None]] = {
        "judges": (consensus.judges, places["--judges"]),
        "topics": (consensus.topics, places["--topics"]),
    }
    if place is not None and (to is not None or _is_folder(place)):
        _write_labels(consensus, gold, place, to)
        tell_written("labels", place)
        write_tables(tables)
    else:
        write_tables({"labels": (consensus.labels, place), **tables})
    if out.json:
        rows = {} if place is not None else {"labels": consensus.labels.to_pylist()}
        print_json(about | rows)
    elif place is None:
        page().print(show_least_certain(consensus))
        say((f"{count_of(len(consensus.choice), 'label')} in all; -o labels.csv keeps them", "dim"))


def _write_labels(consensus: Consensus, gold: Gold | None, place: Path, to: str | None) -> None:
    """Labels in another format, or as Parquet files in a folder that appears complete."""
    if to is not None:
        from adjudge.data.formats import Content

        content = Content(labels=consensus.labels, scale=consensus.scale, gold=gold)
        write_content(content, place, to)
        return
    import pyarrow.parquet as pq

    from adjudge.data.formats.writing import written_folder

    labels = consensus.labels.drop_columns(["rank"])
    parts = frozenset(path.name for path in place.glob("part-?????.parquet"))
    with written_folder(place, replaces=parts) as folder:
        for number, start in enumerate(range(0, max(len(labels), 1), _ROWS)):
            pq.write_table(labels.slice(start, _ROWS), folder / f"part-{number:05}.parquet")
