"""adjudge consensus: judgments in, labels out."""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from dataclasses import asdict, replace
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from adjudge.cli import Command, flag, option
from adjudge.cli import _options as o
from adjudge.cli._console import is_piped, say
from adjudge.cli._files import (
    STDOUT,
    Input,
    check_places,
    check_printing,
    is_folder,
    read_judgments,
    tell_written,
    write_tables,
)
from adjudge.cli._fitting import (
    are_numbers,
    choose_model,
    fit_model,
    make_engine,
)
from adjudge.data.source import count_of
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus
    from adjudge.data.gold import Gold


def _run(
    judgments: o.JudgmentsFiles,
    *,
    gold: o.GoldFile = None,
    use_gold: o.UseGold = False,
    output: o.Output = None,
    to: Annotated[
        str | None, option("--to", "FORMAT", "Another format; see 'adjudge convert --list'.")
    ] = None,
    judges: Annotated[
        Path | None, option("--judges", "FILE", "Write the table of judges too.")
    ] = None,
    topics: Annotated[
        Path | None, option("--topics", "FILE", "Write the prevalence of each topic too.")
    ] = None,
    save_draws: Annotated[
        Path | None, option("--save-draws", "FILE", "Write the draws of a sampled model (.nc).")
    ] = None,
    with_unjudged: Annotated[
        bool, flag("--with-unjudged", "Keep items that nobody judged, labelled by the rest.")
    ] = False,
    fitting: o.Fitting,
    place: o.EngineOptions,
    keeping: o.Keeping,
    labelling: o.NumberLabelling,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """Turn judgments into one label for each item, with its probability.

    The labels go to -o, or to standard output when it is piped; a person at a terminal sees the
    least certain items. Gold given with --gold fixes the truth of its items; gold in the
    judgments file only measures accuracy, unless --use-gold.

    Labels that are many different numbers are read as such: each judge has a bias and a noise.
    Several files of a kind are taken as one. An output without an extension is a folder, which gets
    Parquet files.
    """
    places = {"--output": output, "--judges": judges, "--topics": topics}
    _check((*judgments, gold), places, to, save_draws, printing)
    chosen = place != o.EngineOptions() or keeping != o.Keeping()
    if chosen:
        from adjudge.cli._large import check_engine

        check_engine(place, fitting.threads)
    fitting, labelling, model = choose_model(fitting, labelling)
    if save_draws is not None:
        from adjudge.cli._summary import check_sampled

        check_sampled(model)
    opened: Any = nullcontext(make_engine(fitting.threads))
    reader = None
    if chosen:
        from adjudge.cli._large import cluster_reader, open_engine

        opened = open_engine(place, keeping, fitting.threads)
    with opened as engine:
        if chosen:
            reader = cluster_reader(engine, judgments, reading)
        file = Path(judgments[0]) if _is_one_file(judgments) else judgments
        read = read_judgments(file, gold, reading, labelling, reader)
        read = _leave_out_unjudged(read, with_unjudged)
        known = read.choose_gold(use_gold)
        if model is None or are_numbers(read.judgments, labelling, fitting):
            from adjudge.cli._numbers import deliver_numbers

            deliver_numbers(read, known, fitting, engine, places, to, printing)
            return
        consensus = fit_model(model, read.judgments, known, fitting, engine)
        from adjudge.cli._summary import summarise, tell_scores

        about = summarise(consensus, read) if printing.json else {}
        if known is None and read.beside is not None:
            about |= tell_scores(consensus, read.beside, read.judgments)
        earlier = ["--gold", gold] if gold is not None else []
        about |= _tell_more_gold(consensus, read.every, [*judgments, *earlier])
        if save_draws is not None and consensus.draws is not None:
            consensus.draws.save(save_draws)
            say(f"draws written to {save_draws}")
        _deliver(consensus, read.every, about, places, to, printing)


COMMAND = Command(
    _run,
    examples=(
        "adjudge consensus judgments.csv --gold gold.csv -o labels.csv",
        "adjudge consensus judgments.csv -m majority-vote --to qrels > crowd.qrels",
        "adjudge consensus j.csv -m hierarchical-confusion --save-draws draws.nc",
        "adjudge consensus part-*.parquet --engine dask --workers 4 -o labels",
    ),
)


def _tell_more_gold(consensus: Consensus, gold: Gold | None, given: list[str]) -> dict[str, Any]:
    """Say what more gold labels would show, where there are few; the numbers as data.

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


def _is_one_file(judgments: list[str]) -> bool:
    """Whether one file of this machine is named, by its path."""
    from adjudge.data.formats.opening import is_uri

    return len(judgments) == 1 and not is_uri(judgments[0]) and not has_magic(judgments[0])


def _leave_out_unjudged(read: Input, with_unjudged: bool) -> Input:
    """What was read without the items that nobody judged, which is told; unless they are wanted."""
    idle = read.judgments.counts_per_item == 0
    lone = int(idle.sum())
    if not lone:
        return read
    if with_unjudged:
        say(f"{count_of(lone, 'item')} that nobody judged kept: their labels are guesses")
        return read
    say(f"{count_of(lone, 'item')} that nobody judged left out (--with-unjudged keeps them)")
    return replace(read, judgments=read.judgments.select(items=~idle, keep_empty=True))


def _check(
    inputs: tuple[str | None, ...],
    places: dict[str, Path | None],
    to: str | None,
    save_draws: Path | None,
    printing: o.Printing,
) -> None:
    """Refuse what cannot be written before any work is done."""
    output = places["--output"]
    if to is not None:
        from adjudge.cli._results import check_format

        check_format(to, output or STDOUT, "labels")
    check_printing(printing, STDOUT if to is not None and output is None else output)
    folder = is_folder(output)
    check_places(
        {**places, "--save-draws": save_draws},
        inputs=inputs,
        free=("--output", "--save-draws") if folder or to is not None else ("--save-draws",),
    )
    if save_draws is not None and save_draws.suffix != ".nc":
        raise BadSetting("--save-draws", str(save_draws), "a name that ends in .nc")


def _deliver(
    consensus: Consensus,
    gold: Gold | None,
    about: dict[str, Any],
    places: dict[str, Path | None],
    to: str | None,
    printing: o.Printing,
) -> None:
    """Write the tables where they are wanted, or show the least certain items to a person."""
    place = places["--output"]
    if place is None and (to is not None or (is_piped() and not printing.json)):
        place = STDOUT
    wanted = {name: where for name in ("judges", "topics") if (where := places[f"--{name}"])}
    beside = [(getattr(consensus, name), where) for name, where in wanted.items()]
    if place is not None and (to is not None or is_folder(place)):
        from adjudge.cli._large import write_labels

        write_labels(consensus, gold, place, to)
        write_tables(*beside)
    else:
        write_tables(*beside, (consensus.labels, place))
    for table, where in {"labels": place, **wanted}.items():
        if where is not None:
            tell_written(table, where)
    if printing.json:
        from adjudge.cli._results import print_json

        rows = {} if place is not None else {"labels": consensus.labels.to_pylist()}
        print_json(about | rows)
    elif place is None:
        from adjudge.cli._results import page
        from adjudge.cli._summary import show_least_certain

        page().print(show_least_certain(consensus))
        say((f"{count_of(len(consensus.choice), 'label')} in all; -o labels.csv keeps them", "dim"))
