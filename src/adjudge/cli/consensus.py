"""adjudge consensus: judgments in, labels out."""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
from adjudge.cli import command, flag, option
from adjudge.cli._console import describe_size, detail, is_piped, is_verbose, say
from adjudge.cli._fitting import (
    are_numbers,
    check_engine,
    choose_model,
    cluster_reader,
    fit_model,
    make_engine,
    open_engine,
)
from adjudge.cli._numbers import check_numbers, fit_numbers, show_widest, summarise_numbers
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
from adjudge.lazy import load

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
    from adjudge.evaluation.against_gold import MoreGold
    from adjudge.models.number_consensus import ContinuousConsensus

_ROWS = 1_000_000  # labels in a file of a folder


@command(
    "adjudge consensus judgments.csv --gold gold.csv -o labels.csv",
    "adjudge consensus judgments.csv -m majority-vote --to qrels > crowd.qrels",
    "adjudge consensus j.csv -m hierarchical-confusion --save-draws draws.nc",
    "adjudge consensus part-*.parquet --engine dask --workers 4 -o labels",
    "adjudge consensus new.csv --start last-week.adjudge -o labels.csv",
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
    start: Path | None = option(
        "--start FILE",
        "Label with the judges that an earlier consensus (--save) learnt, without a fit.",
    ),
    save: Path | None = option("--save FILE", "Keep the consensus, for --start."),
    with_unjudged: bool = flag(
        "--with-unjudged", "Keep items without judgments; their labels come from the other items."
    ),
    fitting: o.Fitting,
    running: o.Running,
    reading: o.NumberReading,
    out: o.Delivery,
) -> None:
    """Turn judgments into one label per item, with its probability.

    -o writes the labels to a file. Without -o, a terminal shows the least certain items, and a pipe
    gets all labels. Gold given with --gold fixes the labels of its items. Gold in the judgments
    file only measures accuracy; with --use-gold it fixes labels too.

    If labels are many different numbers, they are read as numbers: the model estimates a bias and
    a noise for each judge. Several files of one kind are read as one table. An output name without
    an extension is a folder of Parquet files. 'adjudge models' lists the settings for --set.
    """
    if to is not None:
        check_format(to, out.output or STDOUT, "labels")
        out = replace(out, output=out.output or STDOUT)
    places = {"--output": out.output, "--judges": judges, "--topics": topics}
    free = to is not None or _is_folder(out.output)
    check_places(
        {**places, "--save-draws": save_draws, "--save": save},
        inputs=(*judgments, gold, start),
        free=("--save-draws", "--save", *(("--output",) if free else ())),
        printing=out,
    )
    check_engine(running, fitting.threads)
    if start is not None:
        _check_start(
            fitting,
            running,
            {"--gold": gold, "--use-gold": use_gold, "--save-draws": save_draws},
        )
    fitting, reading, model = choose_model(fitting, reading)
    if save_draws is not None:
        if save_draws.suffix != ".nc":
            raise BadSetting("--save-draws", str(save_draws), "a name that ends in .nc")
        check_sampled(model, save_draws)
        load("h5netcdf")  # before a fit that may take long
    plain = running == o.Running()
    opened: Any = nullcontext(make_engine(fitting.threads))
    with opened if plain else open_engine(running, fitting.threads) as engine:
        from adjudge.evaluation.against_gold import MoreGold

        reader = None if plain else cluster_reader(engine, judgments, reading)
        read = read_judgments(judgments, gold, reading, reader)
        read = _leave_out_unjudged(read, with_unjudged)
        known = read.choose_gold(use_gold)
        if start is not None:
            consensus = _recall(start, read.judgments)
        elif model is None or are_numbers(read.judgments, reading, fitting):
            check_numbers(fitting, places, to)
            consensus = fit_numbers(read, known, fitting, engine)
        else:
            consensus = fit_model(model, read.judgments, known, fitting, engine)
        if save is not None:
            consensus.save(save)
            tell_written("consensus", save)
        if not hasattr(consensus, "entropy"):  # of numbers
            _deliver(consensus, None, summarise_numbers(consensus, read), places, to, out)
            if out.output is None and not is_piped():
                say(("Next: ", "bold"), "-o labels.csv keeps the values")
            return
        about = summarise(consensus, read) if out.json else {}
        if known is None and read.file_gold is not None:
            about |= tell_scores(consensus, read.file_gold, read.judgments)
        more = MoreGold.of(consensus, read.every)
        about |= {"more_gold": None if more is None else asdict(more)}
        if save_draws is not None and consensus.draws is not None:
            consensus.draws.save(save_draws)
            tell_written("draws", save_draws)
        _say_quality(consensus, about.get("accuracy"))
        _deliver(consensus, read.every, about, places, to, out)
        earlier = ["--gold", gold] if gold else []
        _say_next(more, shlex.join([*judgments, *earlier]), out.output is not None or is_piped())


def _check_start(fitting: o.Fitting, running: o.Running, given: dict[str, Any]) -> None:
    """Refuse options of a fit together with ``--start``, which fits nothing."""
    options: dict[str, Any] = {
        "--model": fitting.model,
        "--set": fitting.settings,
        "--by-topic": fitting.by_topic,
        "--checkpoint": running.checkpoint,
        "--resume": running.resume,
    }
    if fitting.calibrate is not None:
        options["--calibrate"] = str(fitting.calibrate)
    for name, value in (options | given).items():
        if value:
            raise BadSetting(name, str(value), "to be left out: --start fits nothing")


def _recall(start: Path, judgments: Judgments) -> Any:
    """The consensus of judgments by what an earlier one learnt of judges and prevalence."""
    from adjudge.data.saved import Saved

    earlier: Any = Saved.load(start)
    found = earlier.predict(judgments)
    say(f"{describe_size(judgments)}; labelled by {start}")
    for note in found.notes:
        detail(f"  {note}")
    return found


def _say_quality(consensus: Consensus, accuracy: dict[str, Any] | None) -> None:
    """Say how sure the labels are, and how accurate on gold that the fit did not use."""
    from adjudge.data.results import SURE, inferred_probability

    probability = inferred_probability(consensus)
    by_gold = len(consensus.choice) - len(probability)
    said = count_of(len(consensus.choice), "label")
    if by_gold:
        said += f" ({by_gold:,} by gold)"
    if len(probability):
        others = " of the others" if by_gold else ""
        said += f", {float((probability >= SURE).mean()):.0%}{others} at least {SURE:.0%} sure"
    elif by_gold:
        said += "; 'adjudge report' scores the model on them by cross-validation"
    if accuracy is not None and accuracy["low"] is not None:
        said += (
            f"; accuracy on the {count_of(accuracy['items'], 'gold item')} of the file "
            "{value:.3f} ({low:.3f} to {high:.3f})".format(**accuracy)
        )
    say(said)


def _say_next(more: MoreGold | None, files: str, kept: bool) -> None:
    """Say the next step: to label gold where there is little, or else to look at the judges.

    ``files`` are the arguments that were read, ``kept`` is whether the labels were written.
    """
    keep = "" if kept else "-o labels.csv keeps the labels; "
    if more is None:
        say(("Next: ", "bold"), f"{keep}adjudge report {files}")
        return
    say(
        ("Next: ", "bold"),
        f"{keep}adjudge next {files} --gold {more.labels} -o gold-to-fill.csv "
        f"(gold that measures accuracy to ±{more.margin:.2f})",
    )


def _leave_out_unjudged(read: Input, with_unjudged: bool) -> Input:
    """Leave out items without judgments, unless an option keeps them."""
    idle = read.judgments.counts_per_item == 0
    if not idle.any():
        return read
    unjudged = f"{count_of(int(idle.sum()), 'item')} without judgments"
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
    consensus: Consensus | ContinuousConsensus,
    gold: Gold | None,
    about: dict[str, Any],
    places: dict[str, Path | None],
    to: str | None,
    out: o.Delivery,
) -> None:
    """Write the tables to their places, or show the least certain items to a person."""
    place = places["--output"]
    if place is None and is_piped() and not out.json:
        place = STDOUT
    tables: dict[str, tuple[Any, Path | None]] = {
        "judges": (consensus.judges.to_table(), places["--judges"]),
        "topics": (getattr(consensus, "topics", None), places["--topics"]),
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
        count = 12 if is_verbose() else 3
        shows: Any = show_least_certain if hasattr(consensus, "entropy") else show_widest
        page().print(shows(consensus, count))


def _write_labels(consensus: Any, gold: Gold | None, place: Path, to: str | None) -> None:
    """Labels in another format, or as Parquet files in a folder that appears complete."""
    if to is not None:
        from adjudge.data.formats import Content

        content = Content(labels=consensus.labels, scale=consensus.scale, gold=gold)
        write_content(content, place, to)
        return
    import pyarrow.parquet as pq

    from adjudge.data.formats.writing import written_folder

    labels = consensus.labels
    labels = labels.drop_columns([name for name in ("rank",) if name in labels.column_names])
    parts = frozenset(path.name for path in place.glob("part-?????.parquet"))
    with written_folder(place, replaces=parts) as folder:
        for number, start in enumerate(range(0, max(len(labels), 1), _ROWS)):
            pq.write_table(labels.slice(start, _ROWS), folder / f"part-{number:05}.parquet")
