"""adjudge consensus: judgments in, labels out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, grid, is_piped, name, page, say
from adjudge.data.source import count_of
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.cli.reading import Input
    from adjudge.data.consensus import Consensus
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
    from adjudge.engines.engine import Engine

NAME = "consensus"
EXAMPLES = (
    "adjudge consensus judgments.csv --gold gold.csv -o labels.csv",
    "adjudge consensus judgments.csv -m majority-vote --to qrels > crowd.qrels",
    "adjudge consensus j.csv -m hierarchical-confusion --save-draws draws.nc",
    "adjudge consensus part-*.parquet --engine dask --workers 4 -o labels",
)
_SHOWN = 12  # items a person is shown
_FEW = 6  # truths up to which each has a column there


def run(
    judgments: o.JudgmentsFiles,
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
    topics: Annotated[
        Path | None,
        o.option("--topics", metavar="FILE", help="Write the prevalence of each topic too."),
    ] = None,
    save_draws: Annotated[
        Path | None,
        o.option("--save-draws", metavar="FILE", help="Write the draws of a sampled model (.nc)."),
    ] = None,
    with_unjudged: Annotated[
        bool,
        o.option("--with-unjudged", help="Keep items that nobody judged, labelled by the rest."),
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
    from adjudge.cli.engines import check_engine, one_file, open_engine
    from adjudge.cli.fitting import built, check_sampled, fitted, summary
    from adjudge.cli.reading import read_judgments

    be_quiet(printing.quiet or printing.json)
    places = {"--output": output, "--judges": judges, "--topics": topics}
    _check((*judgments, gold), places, to, save_draws, printing)
    check_engine(place, fitting.threads)
    if fitting.model == "continuous":
        fitting, labelling = replace(fitting, model=None), replace(labelling, continuous=True)
    model = None if labelling.continuous else built(fitting)
    if save_draws is not None:
        check_sampled(model)
    with (
        open_engine(place, keeping, fitting.threads) as engine,
        one_file(judgments, engine, place, labelling, reading) as file,
    ):
        read = read_judgments(file, gold, reading, labelling)
        read = _judged_only(read, with_unjudged)
        known = read.given
        if known is None and use_gold:
            known = read.beside
        if model is None or _is_continuous(read.judgments, labelling, fitting):
            from adjudge.cli.continuous import run_continuous

            run_continuous(read, known, fitting, engine, places, to, printing)
            return
        consensus = fitted(model, read.judgments, known, fitting, engine)
        about = summary(consensus, read) if printing.json else {}
        if known is None and read.beside is not None:
            from adjudge.cli.against_gold import tell_scores

            about |= tell_scores(consensus, read.beside, read.judgments)
        every = read.given if read.given is not None else read.beside
        if save_draws is not None and consensus.draws is not None:
            consensus.draws.save(save_draws)
            say(f"draws written to {save_draws}")
        _deliver(consensus, every, about, places, to, printing, engine)


def _judged_only(read: Input, with_unjudged: bool) -> Input:
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


def _is_continuous(judgments: Judgments, labelling: o.NumberLabelling, fitting: o.Fitting) -> bool:
    """Whether labels are numbers rather than classes: as told, or by how many there are."""
    from adjudge.data.labels import is_many

    asked = labelling.continuous is not None or fitting.model is not None
    return not asked and is_many(judgments.scale) and labelling.labels is None


def _check(
    inputs: tuple[str | None, ...],
    places: dict[str, Path | None],
    to: str | None,
    save_draws: Path | None,
    printing: o.Printing,
) -> None:
    """Refuse what cannot be written before any work is done."""
    from adjudge.cli.writing import (
        STDOUT,
        check_format,
        check_places,
        check_printing,
        is_folder,
    )

    output = places["--output"]
    if to is not None:
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
    engine: Engine,
) -> None:
    """Write the tables where they are wanted, or show the least certain items to a person."""
    from adjudge.cli.engines import each_of
    from adjudge.cli.writing import (
        STDOUT,
        is_folder,
        print_json,
        tell_written,
        write_content,
        write_labels,
        write_tables,
    )
    from adjudge.data.formats import Content

    place = places["--output"]
    if place is None and (to is not None or (is_piped() and not printing.json)):
        place = STDOUT
    wanted = {name: where for name in ("judges", "topics") if (where := places[f"--{name}"])}
    beside = [(getattr(consensus, name), where) for name, where in wanted.items()]
    if place is not None and to is None and is_folder(place):
        write_tables(*beside)
        write_labels(consensus, place, each_of(engine))
    elif to is not None and place is not None:
        content = Content(labels=consensus.labels, scale=consensus.scale, gold=gold)
        write_content(content, place, to)
        write_tables(*beside)
    else:
        write_tables(*beside, (_labels_to_write(consensus), place))
    for table, where in {"labels": place, **wanted}.items():
        if where is not None:
            tell_written(table, where)
    if printing.json:
        print_json(
            about if place is not None else {**about, "labels": consensus.labels.to_pylist()}
        )
    elif place is None:
        page().print(_least_certain(consensus))
        say((f"{count_of(len(consensus.choice), 'label')} in all; -o labels.csv keeps them", "dim"))


def _labels_to_write(consensus: Consensus) -> Any:
    """The table of labels; in blocks, and without ranks, where it may not fit into memory."""
    from adjudge.data.mapped import map_of

    if map_of(consensus.posterior) is None:
        return consensus.labels
    from adjudge.engines.output import label_blocks

    return label_blocks(consensus)


def _least_certain(consensus: Consensus) -> Any:
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
