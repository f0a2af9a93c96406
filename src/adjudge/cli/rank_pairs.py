"""adjudge rank-pairs: items ranked by comparisons of two, with judges and what to ask next."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, grid, is_piped, name, page, progress, say
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting, UnknownName

if TYPE_CHECKING:
    from adjudge.data.comparisons import Comparisons
    from adjudge.data.formats import Content
    from adjudge.data.judgments import Judgments
    from adjudge.data.preferences import Preferences
    from adjudge.models.pairs.registry import PairModel

NAME = "rank-pairs"
EXAMPLES = (
    "adjudge rank-pairs comparisons.csv --model bradley-terry -o ranking.csv",
    "adjudge rank-pairs people.csv gpt4.csv --judges judges.csv --next next.csv",
    "adjudge rank-pairs comparisons.csv --method gibbs --report pairs.html",
    "adjudge rank-pairs comparisons.csv --grades judgments.csv -o ranking.csv",
)
_OPTIONS = ("method", "chains", "warmup", "draws", "by_topic", "iterations", "ties")
_SHOWN = 40  # items shown to a person


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What else a person wants of a ranking."""

    grades: Annotated[
        str | None,
        o.option(
            "--grades",
            metavar="FILE",
            help="Judgments of the same items on a scale of grades, to rank by both at once.",
        ),
    ] = None
    pairs: Annotated[
        Path | None,
        o.option("--pairs", metavar="FILE", help="Write wins, observed and expected, of pairs."),
    ] = None
    judges: Annotated[
        Path | None, o.option("--judges", metavar="FILE", help="Write the table of judges too.")
    ] = None
    next_pairs: Annotated[
        Path | None, o.option("--next", metavar="FILE", help="Write the pairs to ask next too.")
    ] = None
    report: Annotated[
        Path | None, o.option("--report", metavar="FILE", help="Write a page of it too (.html).")
    ] = None
    save_draws: Annotated[
        Path | None,
        o.option("--save-draws", metavar="FILE", help="Write draws for ArviZ (.nc); with gibbs."),
    ] = None
    top: Annotated[
        int, o.option("--top", metavar="N", min=0, help="How many pairs to ask next; 0 for all.")
    ] = 10
    sure: Annotated[
        float,
        o.option("--sure", metavar="P", help="How sure the order of two items should be."),
    ] = 0.95


def run(
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
    from adjudge.cli.reading import place_of
    from adjudge.cli.writing import check_places, check_printing, print_json, write_tables

    be_quiet(printing.quiet or printing.json)
    places = {"--output": output, "--pairs": wanted.pairs, "--judges": wanted.judges}
    places |= {"--next": wanted.next_pairs}
    others = {"--report": wanted.report, "--save-draws": wanted.save_draws}
    inputs = files if wanted.grades is None else [*files, wanted.grades]
    check_places({**places, **others}, inputs=inputs, free=tuple(others))
    check_printing(printing, output)
    if wanted.grades is not None:
        fitting = _for_grades(fitting, wanted.grades)
    model = built_pair_model(fitting)
    if wanted.save_draws is not None and getattr(model, "method", "") != "gibbs":
        raise BadSetting("--save-draws", str(wanted.save_draws), "--method gibbs beside it")
    compared, content = read_comparisons(files, reading)
    graded = None if wanted.grades is None else _read_grades(wanted.grades, reading)
    found = fitted_pairs(model, compared, graded)
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
        print_json(pair_summary(found, content) | about | rows)
    elif output is None and is_piped():
        write_tables((tables["ranking"], Path("-")))
    elif output is None:
        _show(found, tables, about)


def _for_grades(fitting: o.Fitting, grades: str) -> o.Fitting:
    """The model that takes grades, which is the only one that does."""
    from adjudge.models.pairs.graded_bradley_terry import GradedBradleyTerry

    if fitting.model not in (None, GradedBradleyTerry.name):
        raise BadSetting("--grades", grades, f"--model {GradedBradleyTerry.name}, or none")
    return replace(fitting, model=GradedBradleyTerry.name)


def _read_grades(place: str, reading: o.Reading) -> Judgments:
    """The grades beside comparisons; how comparisons are read says nothing of their columns."""
    from adjudge.cli.reading import holds, place_of, read_content

    own = o.Reading(encoding=reading.encoding, skip_bad_rows=reading.skip_bad_rows)
    content = read_content([place], own, wanted="judgments")
    if content.judgments is None:
        problem = f"there are no judgments in this file: {holds(content)}"
        raise BadData(problem, source=place_of([place]))
    judgments = content.judgments
    return judgments if reading.family is None else judgments.with_family_rule(reading.family)


def built_pair_model(fitting: o.Fitting) -> PairModel:
    """The model that is asked for; a setting that was given but is not the model's is an error."""
    from adjudge.cli.fitting import value_of
    from adjudge.models.pairs.registry import PAIR_MODELS

    chosen = fitting.model or next(iter(PAIR_MODELS))  # the first is the default
    if chosen not in PAIR_MODELS:
        raise UnknownName("model of comparisons", chosen, PAIR_MODELS)
    own = {entry.name for entry in fields(PAIR_MODELS[chosen])}
    settings: dict[str, Any] = {"seed": fitting.seed}
    for option in _OPTIONS:
        value = getattr(fitting, option)
        if value is None or value is False:
            continue
        if option not in own:
            flag = "--" + option.replace("_", "-")
            raise BadSetting(flag, value, f"a model that has it; {chosen} has no {option}")
        settings[option] = value
    hints = get_type_hints(PAIR_MODELS[chosen])
    for text in fitting.settings or ():
        setting, equals, value = text.partition("=")
        if not equals:
            raise BadSetting("--set", text, "NAME=VALUE, such as regularisation=0")
        if setting not in own:
            raise UnknownName(f"setting of {chosen}", setting, sorted(own))
        settings[setting] = value_of(text, value, hints[setting])
    made: PairModel = PAIR_MODELS[chosen](**settings)
    return made


def read_comparisons(places: list[str], reading: o.Reading) -> tuple[Comparisons, Content]:
    """The comparisons of all files together, and what was read."""
    from adjudge.cli.reading import holds, place_of, read_content

    content = read_content(places, reading, wanted="comparisons")
    if content.comparisons is None:
        problem = f"there are no comparisons in this file: {holds(content)}"
        raise BadData(problem, source=place_of(places))
    if reading.family is None:
        return content.comparisons, content
    return content.comparisons.with_family_rule(reading.family), content


def fitted_pairs(
    model: PairModel, compared: Comparisons, graded: Judgments | None = None
) -> Preferences:
    """The preferences, with a bar while it takes long; what was fitted is told."""
    beside: Any = () if graded is None else (graded,)
    with progress(f"fitting {model.name}") as on_step:
        found = model.fit(compared, *beside, progress=on_step)
    outcomes = compared.outcome_counts
    say(
        (found.model, "bold"),
        f" on {count_of(len(compared), 'comparison')} of "
        f"{count_of(compared.item_count, 'item')} by "
        f"{count_of(compared.judge_count, 'judge')}: {count_of(outcomes['tie'], 'tie')}, "
        f"{outcomes['cannot say']:,} could not say",
    )
    if graded is not None:
        say(
            f"  with {count_of(len(graded), 'judgment')} of "
            f"{count_of(graded.item_count, 'item')} by "
            f"{count_of(graded.judge_count, 'judge')} on the scale {graded.scale}"
        )
    for parameter, (value, low, high) in found.parameters.items():
        between = "" if low != low else f" ({low:.2f} to {high:.2f})"  # noqa: PLR0124 - NaN
        say(f"  {parameter} {value:.2f}{between}")
    for note in found.notes:
        say(f"  {note}")
    return found


def pair_summary(found: Preferences, content: Content) -> dict[str, Any]:
    """The run as data: what went in and what was left out, which model, how it ended."""
    from adjudge.cli.reading import omissions_of

    compared = found.comparisons
    names = ("value", "low", "high")
    return {
        "model": found.model,
        "settings": dict(found.settings),
        "unit": found.unit,
        "counts": {
            "comparisons": len(compared),
            "items": compared.item_count,
            "judges": compared.judge_count,
            "topics": compared.topic_count,
            **compared.outcome_counts,
        },
        "parameters": {k: dict(zip(names, v, strict=True)) for k, v in found.parameters.items()},
        "converged": found.converged,
        "r_hat": None if found.samples is None else found.samples.r_hat(),
        "notes": found.notes,
        **omissions_of(content),
    }


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


def write_pair_page(found: Preferences, path: Path, title: str) -> None:
    """The page of a ranking to its file."""
    from adjudge.cli.console import command_line
    from adjudge.report.preferences import write_pair_report

    if str(path) != "-" and path.suffix.lower() not in (".html", ".htm"):
        raise BadSetting("--report", str(path), "a name that ends in .html")
    write_pair_report(found, path, title=title, command=command_line())
    say(f"report written to {path}")


def _show(found: Preferences, tables: dict[str, Any], about: dict[str, Any]) -> None:
    """The ranking for a person, then what to ask next."""
    from adjudge.cli.writing import number

    rows = tables["ranking"].slice(0, _SHOWN).to_pylist()
    hidden = found.comparisons.item_count - len(rows)
    heads = [("item", "left"), ("score", "right"), (f"{found.level:.0%} interval", "right")]
    heads += [("rank", "right"), ("between", "right"), ("above next", "right")]
    heads += [("cluster", "right"), ("n", "right")]
    heads += [("grade", "right")] * (found.grades is not None)
    cells = [
        [
            name(row["item"]),
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
        out.print(pair_grid(tables["next"]))
        needed = about["comparisons_needed"]
        told = "more than a thousand times as many" if needed is None else f"{needed:,} more"
        word = "comparison" if needed == 1 else "comparisons"
        out.print(
            f"The order of two items is {about['sureness']:.0%} sure on average; "
            f"for {about['sure']:.0%}: {told} {word}."
        )


def pair_grid(table: Any) -> Any:
    """Pairs to ask next, for people."""
    heads = [("left", "left"), ("right", "left"), ("left above", "right")]
    heads += [("so far", "right"), ("bits gained", "right")]
    cells = [
        [
            name(row["left"]),
            name(row["right"]),
            f"{row['p_above']:.0%}",
            f"{row['comparisons']:,}",
            f"{row['gain']:.3f}",
        ]
        for row in table.to_pylist()
    ]
    return grid("Ask next", heads, cells)
