"""Comparisons of two items: read, fitted, and what commands of judgments make of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
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
from adjudge.cli._reading import describe, list_files, omissions_of, place_of, read_content
from adjudge.cli._results import deliver, print_json, show_rows
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting, UnknownName

if TYPE_CHECKING:
    from adjudge.data.comparisons import Comparisons
    from adjudge.data.formats import Content
    from adjudge.data.judgments import Judgments
    from adjudge.data.preferences import Preferences
    from adjudge.models.registry import PairModel

_ONLY = ("pairs", "evalica", "crowd-kit-pairs", "arena", "mt-bench")


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


def read_comparisons(places: list[str], reading: o.Reading) -> tuple[Comparisons, Content]:
    """The comparisons of all files together, and what was read."""
    content = read_content(places, reading, kind="comparisons")
    if content.comparisons is None:
        problem = f"there are no comparisons in this file: {describe(content)}"
        raise BadData(problem, source=place_of(places))
    comparisons = content.comparisons
    for pattern in reading.family or ():
        comparisons = comparisons.with_family_rule(pattern)
    return comparisons, content


def fit_pairs(
    model: PairModel, compared: Comparisons, graded: Judgments | None = None
) -> Preferences:
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


def summarise_pairs(found: Preferences, content: Content) -> dict[str, Any]:
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


def write_pair_page(found: Preferences, path: Path, title: str) -> None:
    """The page of a ranking to its file."""
    from adjudge.report.preferences import write_pair_report

    if str(path) != "-" and path.suffix.lower() not in (".html", ".htm"):
        raise BadSetting("--report", str(path), "a name that ends in .html")
    write_pair_report(found, path, title=title, command=command_line())
    say(f"report written to {path}")


def show_pairs(table: Any) -> Any:
    """Pairs to ask next, for people."""
    rows = table.to_pylist()
    columns = ("left", "right", "p_above:.0% as left above", "comparisons as so far")
    return show_rows("Ask next", rows, *columns, "gain:.3f as bits gained")


def holds_comparisons(places: list[str], reading: o.Reading) -> bool:
    """Whether files of this machine are of formats that hold comparisons and nothing else."""
    from adjudge.data.formats import detect

    if reading.format is not None:
        return reading.format in _ONLY
    try:
        paths = [Path(place) for place in list_files(places)]
        if not paths or not all(path.is_file() for path in paths):
            return False
        return all(detect(path, encoding=reading.encoding).name in _ONLY for path in paths)
    except BadData:
        return False  # reading it says what is wrong


def refuse(given: dict[str, object]) -> None:
    """Refuse options that do not apply to comparisons."""
    for option, value in given.items():
        if value:
            raise BadSetting(option, str(value), "a file of judgments, not of comparisons")


def deliver_pair_judges(
    places: list[str],
    top: int,
    fitting: o.Fitting,
    reading: o.Reading,
    out: o.Delivery,
) -> None:
    """The judges of comparisons."""
    compared, content = read_comparisons(places, reading)
    found = fit_pairs(build_pair_model(fitting), compared)
    deliver(
        found.judges,
        "judges",
        out,
        about=summarise_pairs(found, content),
        show=lambda: _judges_grid(found.judges, top),
    )


def _judges_grid(table: Any, top: int) -> Any:
    """The busiest judges for people."""
    rows = table.sort_by([("comparisons", "descending")]).slice(0, top or len(table)).to_pylist()
    columns = ["judge", "comparisons as n", "agreement:.2f"]
    if rows and "skill" in rows[0]:
        columns += ["skill:.2f", "skill_low to skill_high as interval", "verdict"]
    if rows and "position" in rows[0]:
        columns.append("position:.2f")
    columns.append("tie_share:.2f as ties")
    return show_rows("Judges (skill .5: a coin flip; position in log odds)", rows, *columns)


def deliver_pair_next(
    places: list[str],
    top: int,
    fitting: o.Fitting,
    reading: o.Reading,
    out: o.Delivery,
) -> None:
    """The pairs to ask next, of comparisons."""
    from adjudge.evaluation.preferences import next_pairs

    compared, content = read_comparisons(places, reading)
    found = fit_pairs(build_pair_model(fitting), compared)
    table = next_pairs(found, top)
    about = summarise_pairs(found, content)
    deliver(table, "pairs", out, about=about, show=lambda: show_pairs(table))


def deliver_pair_report(
    places: list[str],
    output: Path,
    title: str | None,
    fitting: o.Fitting,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """The page of comparisons."""
    compared, content = read_comparisons(places, reading)
    found = fit_pairs(build_pair_model(fitting), compared)
    write_pair_page(found, output, title or place_of(places))
    if printing.json:
        print_json({"output": str(output)} | summarise_pairs(found, content))
