"""adjudge rank-pairs: items ranked by comparisons of two, with judges and what to ask next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
from adjudge.cli import argument, command, option
from adjudge.cli._console import (
    command_line,
    describe_size,
    detail,
    labels_of,
    progress,
    say,
    warn,
)
from adjudge.cli._fitting import read_settings
from adjudge.cli._reading import describe, omissions_of, place_of, read_content
from adjudge.cli._results import (
    Column,
    check_places,
    deliver_all,
    show_rows,
    tell_written,
)
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting, UnknownName

if TYPE_CHECKING:
    from adjudge.data.comparisons import Comparisons
    from adjudge.data.formats import Content
    from adjudge.data.judgments import Judgments
    from adjudge.data.preferences import Preferences
    from adjudge.models.registry import PairModel

_SHOWN = 40  # items shown to a person


@dataclass(frozen=True, slots=True, kw_only=True)
class _More:
    """What else is written."""

    grades: str | None = option(
        "--grades FILE",
        "Judgments of the same items on a scale of grades, to rank by both at once.",
    )
    pairs: Path | None = option("--pairs FILE", "Write wins, observed and expected, per pair.")
    judges: Path | None = option("--judges FILE", "Write the table of judges too.")
    next_pairs: Path | None = option("--next FILE", "Write the pairs to ask next too.")
    report: Path | None = option("--report FILE", "Write a page of it too (.html).")
    save_draws: Path | None = option(
        "--save-draws FILE", "Write draws for ArviZ (.nc); with --set method=gibbs."
    )
    top: int = option("--top N", "How many pairs to ask next; 0 for all.", 10, min=0)
    sure: float = option("--sure P", "How certain the order of two items should be.", 0.95)


@command(
    "adjudge rank-pairs comparisons.csv --model bradley-terry -o ranking.csv",
    "adjudge rank-pairs people.csv gpt4.csv --judges judges.csv --next next.csv",
    "adjudge rank-pairs c.csv --set method=gibbs --report pairs.html",
    "adjudge rank-pairs comparisons.csv --grades judgments.csv -o ranking.csv",
)
def run(
    files: list[str] = argument(
        "COMPARISONS...",
        "Files of comparisons in any known format, a folder, a pattern or an address; a file "
        "without a column of judges is one judge.",
        required=True,
    ),
    *,
    more: _More,
    fitting: o.Fitting,
    reading: o.Reading,
    out: o.Delivery,
) -> None:
    """Rank items by comparisons of two, with intervals and the skill of judges.

    Models: crowd-bradley-terry (judges' skill, ties, position; the default), bradley-terry,
    graded-bradley-terry, win-rate and elo. Scores are log strengths: a difference of 1 is odds of
    2.7 to 1. Items of one cluster cannot be separated. --set method=gibbs draws from the posterior,
    not from a normal. With --grades comparisons and grades are fitted by one model,
    graded-bradley-terry, and every item has the probabilities of its grades too.
    """
    places = {
        "--output": out.output,
        "--pairs": more.pairs,
        "--judges": more.judges,
        "--next": more.next_pairs,
    }
    others = {"--report": more.report, "--save-draws": more.save_draws}
    inputs = files if more.grades is None else [*files, more.grades]
    check_places({**places, **others}, inputs=inputs, free=tuple(others), printing=out)
    if more.grades is not None:
        fitting = _for_grades(fitting, more.grades)
    model = build_pair_model(fitting)
    if more.save_draws is not None and getattr(model, "method", "") != "gibbs":
        raise BadSetting("--save-draws", str(more.save_draws), "--set method=gibbs with it")
    compared, content = _read_comparisons(files, reading)
    graded = None if more.grades is None else _read_grades(more.grades, reading)
    found = _fit(model, compared, graded)
    tables, about = _tables(found, more)
    if more.save_draws is not None and found.samples is not None:
        found.samples.save(more.save_draws)
        tell_written("draws", more.save_draws)
    if more.report is not None:
        _write_page(found, more.report, place_of(files))
    paths = dict(zip(tables, places.values(), strict=True))
    rows = {part: [] if table is None else table.to_pylist() for part, table in tables.items()}
    deliver_all(
        {part: (table, None if table is None else paths[part]) for part, table in tables.items()},
        out,
        about=lambda _: _summarise(found, content) | about | rows,
        show=lambda: _show(found, tables, about),
    )


def build_pair_model(fitting: o.Fitting) -> PairModel:
    """Build the chosen model; a setting that it does not have is an error."""
    from adjudge.models.registry import DEFAULT_PAIRS, PAIR_MODELS

    chosen = fitting.model or DEFAULT_PAIRS
    if chosen not in PAIR_MODELS:
        raise UnknownName("model of comparisons", chosen, PAIR_MODELS)
    kind = PAIR_MODELS[chosen]
    settings = read_settings(fitting, kind, such_as="regularisation=0")
    model: PairModel = kind(**settings)
    return model


def _read_comparisons(places: list[str], reading: o.Reading) -> tuple[Comparisons, Content]:
    """The comparisons of all files together, and what was read."""
    content = read_content(places, reading, kind="comparisons")
    if content.comparisons is None:
        problem = f"there are no comparisons in this file: {describe(content)}"
        raise BadData(problem, source=place_of(places))
    comparisons = content.comparisons
    for pattern in reading.family or ():
        comparisons = comparisons.with_family_rule(pattern)
    return comparisons, content


def _fit(model: PairModel, compared: Comparisons, graded: Judgments | None = None) -> Preferences:
    """Fit comparisons, with a progress bar, and say in one line what was fitted."""
    more: Any = () if graded is None else (graded,)
    with progress(f"fitting {model.name}") as on_step:
        found = model.fit(compared, *more, progress=on_step)
    outcomes = compared.outcome_counts
    say(
        f"{count_of(len(compared), 'comparison')} of {count_of(compared.item_count, 'item')} by "
        f"{count_of(compared.judge_count, 'judge')}: {count_of(outcomes['tie'], 'tie')}, "
        f"{outcomes['cannot say']:,} could not say"
    )
    detail(("model ", "dim"), found.model)
    if graded is not None:
        say(f"with {describe_size(graded)}; labels {labels_of(graded.scale)}")
    for parameter, (value, low, high) in found.parameters.items():
        between = "" if low != low else f" ({low:.2f} to {high:.2f})"  # noqa: PLR0124 - NaN
        detail(f"  {parameter} {value:.2f}{between}")
    for note in found.notes:
        detail(f"  {note}")
    if found.converged is False:
        warn("the fit stopped before it converged; allow more with --set iterations=N")
    return found


def _summarise(found: Preferences, content: Content) -> dict[str, Any]:
    """The run as data: what went in and what was left out, which model, how it ended."""
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


def _write_page(found: Preferences, path: Path, title: str) -> None:
    """The page of a ranking to its file."""
    from adjudge.report.preferences import write_pair_report

    if str(path) != "-" and path.suffix.lower() not in (".html", ".htm"):
        raise BadSetting("--report", str(path), "a name that ends in .html")
    write_pair_report(found, path, title=title, command=command_line())
    say(f"report written to {path}")


def _show_next(table: Any) -> Any:
    """Pairs to ask next, for people."""
    rows = table.to_pylist()
    columns = ("left", "right", "p_above:.0% as left above", "comparisons as so far")
    return show_rows("Ask next", rows, *columns, "gain:.3f as bits gained")


def _for_grades(fitting: o.Fitting, grades: str) -> o.Fitting:
    """The model that takes grades, which is the only one that does."""
    from adjudge.models.pairs.graded_bradley_terry import GradedBradleyTerry

    if fitting.model not in (None, GradedBradleyTerry.name):
        raise BadSetting("--grades", grades, f"--model {GradedBradleyTerry.name}, or none")
    return replace(fitting, model=GradedBradleyTerry.name)


def _read_grades(place: str, reading: o.Reading) -> Judgments:
    """The grades next to comparisons; the columns of comparisons do not apply to them."""
    own = o.Reading(encoding=reading.encoding, skip_bad_rows=reading.skip_bad_rows)
    content = read_content([place], own, kind="judgments")
    if content.judgments is None:
        problem = f"there are no judgments in this file: {describe(content)}"
        raise BadData(problem, source=place_of([place]))
    return reading.declare(content.judgments)


def _tables(found: Preferences, more: _More) -> tuple[dict[str, Any], dict[str, Any]]:
    """Every table of a ranking, and what is said of it."""
    from adjudge.evaluation import preferences as p

    tables: dict[str, Any] = {"ranking": found.ranking, "pairs": None, "judges": found.judges}
    tables["next"] = None
    if found.unit != "log strength":
        return tables, {}
    fit = p.measure_fit(found)
    tables["pairs"] = fit.pairs
    tables["next"] = p.next_pairs(found, more.top)
    about = {
        "sure": more.sure,
        "sureness": fit.sureness,
        "comparisons_needed": p.comparisons_needed(found, more.sure),
        "fit": {
            "log_loss": fit.log_loss,
            "log_loss_without": fit.without,
        },
    }
    return tables, about


def _show(found: Preferences, tables: dict[str, Any], about: dict[str, Any]) -> list[Any]:
    """The ranking for a person, then what to ask next."""
    rows = tables["ranking"].slice(0, _SHOWN).to_pylist()
    hidden = found.comparisons.item_count - len(rows)
    columns: list[Column] = [
        "item",
        "score:.2f",
        (f">{found.level:.0%} interval", lambda row: _format_range(row, "low", "high", ".2f")),
        "rank",
        (">between", lambda row: _format_range(row, "rank_low", "rank_high", "")),
        "p_above_next:.0% as above\nnext",
        (">cluster", lambda row: str(row["cluster"] or "-")),
        "comparisons as n",
    ]
    if found.grades is not None:
        columns.append((">grade", lambda row: f"{row['grade']} ({row['p_' + row['grade']]:.0%})"))
    more = f" ({hidden:,} more: -o FILE has all)" if hidden else ""
    parts = [show_rows(f"Items by {found.unit}{more}", rows, *columns)]
    if tables["next"] is not None:
        needed = about["comparisons_needed"]
        many = "more than a thousand times as many" if needed is None else f"{needed:,} more"
        parts += [
            _show_next(tables["next"]),
            f"The order of two items is {about['sureness']:.0%} sure on average; "
            f"for {about['sure']:.0%}: {many} {'comparison' if needed == 1 else 'comparisons'}.",
        ]
    return parts


def _format_range(row: Any, low: str, high: str, form: str) -> str:
    return "-" if row[low] is None else f"{row[low]:{form}} to {row[high]:{form}}"
