"""adjudge rank-pairs: items ranked by comparisons of two, with judges and what to ask next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli import Command, option
from adjudge.cli import _options as o
from adjudge.cli._console import is_piped, say
from adjudge.cli._files import check_places, read_content, write_tables
from adjudge.cli._labels import describe
from adjudge.cli._pairs import (
    build_pair_model,
    fit_pairs,
    read_comparisons,
    show_pairs,
    summarise_pairs,
    write_pair_page,
)
from adjudge.cli._places import place_of
from adjudge.cli._results import grid, number, page, print_json, shorten
from adjudge.errors import BadData, BadSetting

if TYPE_CHECKING:
    from adjudge.data.judgments import Judgments
    from adjudge.data.preferences import Preferences

_SHOWN = 40  # items shown to a person


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What else a person wants of a ranking."""

    grades: Annotated[
        str | None,
        option(
            "--grades",
            "FILE",
            "Judgments of the same items on a scale of grades, to rank by both at once.",
        ),
    ] = None
    pairs: Annotated[
        Path | None, option("--pairs", "FILE", "Write wins, observed and expected, of pairs.")
    ] = None
    judges: Annotated[Path | None, option("--judges", "FILE", "Write the table of judges too.")] = (
        None
    )
    next_pairs: Annotated[
        Path | None, option("--next", "FILE", "Write the pairs to ask next too.")
    ] = None
    report: Annotated[
        Path | None, option("--report", "FILE", "Write a page of it too (.html).")
    ] = None
    save_draws: Annotated[
        Path | None, option("--save-draws", "FILE", "Write draws for ArviZ (.nc); with gibbs.")
    ] = None
    top: Annotated[int, option("--top", "N", "How many pairs to ask next; 0 for all.", min=0)] = 10
    sure: Annotated[float, option("--sure", "P", "How sure the order of two items should be.")] = (
        0.95
    )


def _run(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="COMPARISONS...",
            help="Files of comparisons in any known format, a folder, a pattern or an address; one "
            "without judges is a judge.",
        ),
    ],
    *,
    output: o.Output = None,
    wanted: _Wanted,
    fitting: o.Fitting,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """Rank items by comparisons of two, with intervals, and say how far judges can be trusted.

    Models: crowd-bradley-terry (judges' skill, ties, position; the default), bradley-terry,
    graded-bradley-terry, win-rate and elo. Scores are log strengths: a difference of 1 is odds of
    2.7 to 1. Items of one cluster cannot be told apart. --method gibbs draws from the posterior,
    not from a normal. With --grades comparisons and grades are fitted by one model,
    graded-bradley-terry, and every item has the probabilities of its grades too.
    """
    places = {"--output": output, "--pairs": wanted.pairs, "--judges": wanted.judges}
    places |= {"--next": wanted.next_pairs}
    others = {"--report": wanted.report, "--save-draws": wanted.save_draws}
    inputs = files if wanted.grades is None else [*files, wanted.grades]
    check_places({**places, **others}, inputs=inputs, free=tuple(others), printing=printing)
    if wanted.grades is not None:
        fitting = _for_grades(fitting, wanted.grades)
    model = build_pair_model(fitting)
    if wanted.save_draws is not None and getattr(model, "method", "") != "gibbs":
        raise BadSetting("--save-draws", str(wanted.save_draws), "--method gibbs beside it")
    compared, content = read_comparisons(files, reading)
    graded = None if wanted.grades is None else _read_grades(wanted.grades, reading)
    found = fit_pairs(model, compared, graded)
    tables, about = _tables(found, wanted)
    paths = dict(zip(tables, places.values(), strict=True))
    write_tables(*((table, paths[part]) for part, table in tables.items() if table is not None))
    for part, path in paths.items():
        if path is not None and tables[part] is not None:
            say(f"{part} written to {path}")
    if wanted.save_draws is not None and found.samples is not None:
        found.samples.save(wanted.save_draws)
        say(f"draws written to {wanted.save_draws}")
    if wanted.report is not None:
        write_pair_page(found, wanted.report, place_of(files))
    if printing.json:
        rows = {part: [] if t is None else t.to_pylist() for part, t in tables.items()}
        print_json(summarise_pairs(found, content) | about | rows)
    elif output is None and is_piped():
        write_tables((tables["ranking"], Path("-")))
    elif output is None:
        _show(found, tables, about)


COMMAND = Command(
    _run,
    examples=(
        "adjudge rank-pairs comparisons.csv --model bradley-terry -o ranking.csv",
        "adjudge rank-pairs people.csv gpt4.csv --judges judges.csv --next next.csv",
        "adjudge rank-pairs comparisons.csv --method gibbs --report pairs.html",
        "adjudge rank-pairs comparisons.csv --grades judgments.csv -o ranking.csv",
    ),
)


def _for_grades(fitting: o.Fitting, grades: str) -> o.Fitting:
    """The model that takes grades, which is the only one that does."""
    from adjudge.models.pairs.graded_bradley_terry import GradedBradleyTerry

    if fitting.model not in (None, GradedBradleyTerry.name):
        raise BadSetting("--grades", grades, f"--model {GradedBradleyTerry.name}, or none")
    return replace(fitting, model=GradedBradleyTerry.name)


def _read_grades(place: str, reading: o.Reading) -> Judgments:
    """The grades beside comparisons; how comparisons are read says nothing of their columns."""
    own = o.Reading(encoding=reading.encoding, skip_bad_rows=reading.skip_bad_rows)
    content = read_content([place], own, wanted="judgments")
    if content.judgments is None:
        problem = f"there are no judgments in this file: {describe(content)}"
        raise BadData(problem, source=place_of([place]))
    return reading.declare(content.judgments)


def _tables(found: Preferences, wanted: _Wanted) -> tuple[dict[str, Any], dict[str, Any]]:
    """Every table of a ranking, and what is said beside them."""
    from adjudge.evaluation import preferences as p

    tables: dict[str, Any] = {"ranking": found.ranking, "pairs": None, "judges": found.judges}
    tables["next"] = None
    if found.unit != "log strength":
        return tables, {}
    fit = p.measure_fit(found)
    tables["pairs"] = fit.pairs
    tables["next"] = p.next_pairs(found, wanted.top)
    about = {
        "sure": wanted.sure,
        "sureness": fit.sureness,
        "comparisons_needed": p.comparisons_needed(found, wanted.sure),
        "fit": {
            "log_loss": fit.log_loss,
            "log_loss_without": fit.without,
            "intransitive_triples": fit.triples,
            "triples": fit.of_triples,
        },
    }
    return tables, about


def _show(found: Preferences, tables: dict[str, Any], about: dict[str, Any]) -> None:
    """The ranking for a person, then what to ask next."""
    rows = tables["ranking"].slice(0, _SHOWN).to_pylist()
    hidden = found.comparisons.item_count - len(rows)
    heads = ["item", ">score", f">{found.level:.0%} interval"]
    heads += [">rank", ">between", ">above next"]
    heads += [">cluster", ">n"]
    heads += [">grade"] * (found.grades is not None)
    cells = [
        [
            shorten(row["item"]),
            number(row["score"], 2),
            "-" if row["low"] is None else f"{row['low']:.2f} to {row['high']:.2f}",
            str(row["rank"]),
            "-" if row["rank_low"] is None else f"{row['rank_low']} to {row['rank_high']}",
            "-" if row["p_above_next"] is None else f"{row['p_above_next']:.0%}",
            str(row["cluster"] or "-"),
            f"{row['comparisons']:,}",
            *([f"{row['grade']} ({row['p_' + row['grade']]:.0%})"] if "grade" in row else []),
        ]
        for row in rows
    ]
    more = f" ({hidden:,} more: -o FILE has all)" if hidden else ""
    out = page()
    out.print(grid(f"Items by {found.unit}{more}", heads, cells))
    if tables["next"] is not None:
        out.print(show_pairs(tables["next"]))
        needed = about["comparisons_needed"]
        told = "more than a thousand times as many" if needed is None else f"{needed:,} more"
        word = "comparison" if needed == 1 else "comparisons"
        out.print(
            f"The order of two items is {about['sureness']:.0%} sure on average; "
            f"for {about['sure']:.0%}: {told} {word}."
        )
