"""adjudge report: everything that was found on one page, or single figures of it."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
from adjudge.cli import command, flag, option
from adjudge.cli._console import command_line, is_verbose, progress, say
from adjudge.cli._fitting import build_model, fit_model, make_engine
from adjudge.cli._reading import Input, list_files, place_of, read_judgments
from adjudge.cli._results import STDOUT, check_places, page, print_json, show_rows, tell_written
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting, UnknownName

if TYPE_CHECKING:
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
    from adjudge.evaluation.crossvalidation import CrossValidation
    from adjudge.models.model import Model
    from adjudge.report.results import Results

_FOLDS = 5  # of the gold
_LEAST_GOLD = 2
_KINDS = ("png", "svg", "html", "json")
_UNKNOWN = (".pdf", ".gif", ".jpg", ".jpeg", ".webp", ".eps")  # pictures, not names of folders
_ALL = "all"


@command(
    "adjudge report judgments.csv --gold gold.csv -o report.html",
    "adjudge report judgments.csv -m hierarchical-confusion --seed 7",
    "adjudge report judgments.csv --figure confusion -o confusion.png",
    "adjudge report judgments.csv --figure all -o figures --as svg",
)
def run(
    judgments: list[str] | None = o.JUDGMENTS_IF_ANY,
    *,
    gold: str | None = o.GOLD,
    use_gold: bool = o.USE_GOLD,
    output: Path | None = option(
        "--output -o PATH",
        "Where to write; report.html if not given, - is standard output. With --figure: a file "
        "that ends in .png, .svg, .html or .json, or a folder; the folder 'figures' if not given.",
    ),
    title: str | None = option("--title TEXT", "The heading; the name of the file if not given."),
    figure: list[str] | None = option(
        "--figure NAME...",
        "Draw this figure instead of the page; 'all' draws every figure that the data allow.",
    ),
    file_type: str = option(
        "--as KIND", "Figures in a folder: png, svg, html (interactive) or json.", "png"
    ),
    theme: str = option("--theme NAME", "PNG, SVG and JSON: light or dark.", "light"),
    list_figures: bool = flag("--list", "List the figures and what each shows, and stop."),
    fitting: o.Fitting,
    reading: o.TruthReading,
    printing: o.Printing,
) -> None:
    """Write a report on one HTML page, or draw single figures.

    The page is one file and needs no network. It shows the labels, how sure they are, which judges
    to keep, train or drop, and what to do next. Gold given with --gold guides the labels and
    calibrates their probabilities. They are then scored by cross-validation. For comparisons, use
    'adjudge rank-pairs --report'.
    """
    if list_figures:
        _list_figures(printing)
        return
    if not judgments:
        raise BadSetting("JUDGMENTS", None, "a file of judgments, or --list")
    place = output or Path("figures" if figure else "report.html")
    names = _check_figures(figure, place, file_type, theme) if figure else None
    if names is None and place != STDOUT:
        _check_file(place, ("html", "htm"))
    inputs = (*judgments, gold)
    check_places({"--output": place}, inputs=inputs, free=("--output",), printing=printing)
    from adjudge.report.page import write_report  # before the fit: a library may be missing

    results = _gather(judgments, gold, use_gold, title, fitting, reading)
    if names is not None:
        written = _draw(results, names, place, file_type, theme)
        for name, path in written.items():
            tell_written(name, path)
        if printing.json:
            print_json({"figures": {name: str(path) for name, path in written.items()}})
        return
    with progress("making the page") as on_step:
        write_report(results, place, progress=on_step)
    tell_written("report", place)
    if printing.json:
        print_json(_summarise(results, place))
    elif place != STDOUT and not printing.quiet:
        _show(results)


def _gather(
    judgments: list[str],
    gold: str | None,
    use_gold: bool,
    title: str | None,
    fitting: o.Fitting,
    reading: o.TruthReading,
) -> Results:
    """Read, fit (twice where gold guides the fit) and evaluate."""
    from adjudge.report.results import Provenance, gather

    model = build_model(fitting)
    digests = _hash_files(*judgments, gold)
    read = read_judgments(judgments, gold, reading)
    known = read.choose_gold(use_gold)
    consensus = fit_model(model, read.judgments, known, fitting)
    blind = crossed = None
    if known is not None:
        engine = make_engine(fitting.threads)
        with progress(f"fitting {model.name} without gold") as on_step:
            blind = model.fit(read.judgments, None, engine=engine, progress=on_step)
        crossed = _cross_validate(model, read.judgments, known, fitting)
    named_gold = [] if gold is None else ["--gold", gold]
    provenance = Provenance(
        title=title or place_of(judgments),
        command=command_line(),
        files=digests,
        inputs="" if "-" in judgments else shlex.join([*judgments, *named_gold]),
        left_out=_describe_omissions(read),
    )
    with progress("looking at judges and items") as on_step:
        return gather(
            consensus,
            gold=read.every,
            blind=blind,
            crossed=crossed,
            provenance=provenance,
            progress=on_step,
        )


def _cross_validate(
    model: Model, judgments: Judgments, gold: Gold, fitting: o.Fitting
) -> CrossValidation | None:
    """Score the model across folds of gold; None where it is sampled.

    Then gold calibrates nothing, a fit takes long, and the fit without gold is scored instead.
    """
    from adjudge.evaluation.crossvalidation import cross_validate
    from adjudge.models.calibrated import with_calibration
    from adjudge.models.model import is_sampled
    from adjudge.report.results import RESAMPLES

    if len(gold) < _LEAST_GOLD or (is_sampled(model) and not fitting.calibrate):
        return None
    with progress(f"fitting {model.name} across folds of the gold") as on_step:
        return cross_validate(
            with_calibration(model, fitting.calibrate),
            judgments,
            gold,
            folds=min(_FOLDS, len(gold)),
            seed=fitting.seed,
            engine=make_engine(fitting.threads),
            progress=on_step,
            resamples=RESAMPLES,
        )


def _hash_files(*places: str | None) -> tuple[tuple[str, str], ...]:
    """The SHA-256 of each file that is read, by its name; what comes from elsewhere has none."""
    kept = []
    for path in map(Path, list_files([place for place in places if place is not None])):
        if path.is_file():
            with path.open("rb") as file:
                kept.append((path.name, hashlib.file_digest(file, "sha256").hexdigest()))
    return tuple(kept)


def _describe_omissions(read: Input) -> tuple[str, ...]:
    """What the readers left out, in sentences."""
    omissions = read.omissions
    notes = [f"{str(note)[:1].upper()}{str(note)[1:]}." for note in omissions["left_out"]]
    if bad := omissions["bad_rows"]:
        notes.append(
            f"{count_of(len(bad), 'bad row')} left out, the first at {bad[0]['place']}: "
            f"{bad[0]['problem']}."
        )
    return tuple(notes)


def _summarise(results: Results, output: Path) -> dict[str, Any]:
    """The first screen of the page as data."""
    from adjudge.report.headline import make_headline
    from adjudge.report.words import certainty, missing

    return {
        "output": str(output),
        "model": results.consensus.model,
        "settings": results.consensus.settings,
        **asdict(make_headline(results)),
        "certainty": certainty(results),
        "missing": missing(results),
    }


def _show(results: Results) -> None:
    """Print the verdict and the next actions; with --verbose also how sure the labels are."""
    from rich.text import Text

    from adjudge.report.headline import make_headline
    from adjudge.report.words import certainty

    out, headline = page(), make_headline(results)
    out.print(Text(headline.verdict, style="bold"))
    for action in headline.actions:
        command = f" {action.command}" if action.command else ""
        out.print(Text(f"Next: {action.what}.{command}"), soft_wrap=True)
    for sentence in certainty(results) if is_verbose() else ():
        out.print(Text(sentence))


def _check_figures(names: list[str], output: Path, file_type: str, theme: str) -> list[str]:
    """The figures by name, none for all; what cannot be drawn or written is refused."""
    from adjudge.report.plots.figures import FIGURES
    from adjudge.report.theme import find_theme

    chosen = [] if _ALL in names else names
    for name in chosen:
        if name not in FIGURES:
            raise UnknownName("figure", name, FIGURES)
    find_theme(theme)
    if file_type not in _KINDS:
        raise BadSetting("--as", file_type, f"one of {', '.join(_KINDS)}")
    if output.suffix.lower()[1:] in _KINDS:
        if len(chosen) != 1:
            raise BadSetting("--output", str(output), "one --figure for a file, or a folder")
        _check_file(output, _KINDS)
    elif output.suffix.lower() in _UNKNOWN or (output.exists() and not output.is_dir()):
        expected = f"a folder, or a file that ends in {', '.join(f'.{kind}' for kind in _KINDS)}"
        raise BadSetting("--output", str(output), expected)
    return chosen


def _check_file(output: Path, kinds: Sequence[str]) -> None:
    """Refuse a name of another kind, or of a folder."""
    if output.suffix.lower()[1:] not in kinds:
        raise BadSetting("--output", str(output), f"a name that ends in .{kinds[0]}")
    if output.is_dir():
        raise BadData("is a folder; expected a file to write", source=str(output))


def _draw(
    results: Results, names: list[str], output: Path, file_type: str, theme: str
) -> dict[str, Path]:
    """Write the figures; if all are drawn, what each of the others needs is said."""
    from adjudge.models.model import Step
    from adjudge.report.plots.figures import FIGURES, draw
    from adjudge.report.saving import save

    single = output.suffix.lower()[1:] in _KINDS
    drawable = []
    for name in names or FIGURES:
        lacking = FIGURES[name].lacks(results)
        if lacking is None or names:
            drawable.append(name)
        else:
            say((f"no {name}: it needs {lacking}", "dim"))
    charts = {}
    with progress("drawing") as on_step:
        for done, name in enumerate(drawable):
            if on_step is not None:
                on_step(Step("drawing", done, len(drawable), name))
            charts[name] = draw(name, results)
    if not single:
        output.mkdir(exist_ok=True)
    written = {}
    for name, chart in charts.items():
        written[name] = output if single else output / f"{name}.{file_type}"
        save(chart, written[name], theme=theme)
    return written


def _list_figures(printing: o.Printing) -> None:
    """The figures, for a program or a person."""
    from adjudge.report.plots.figures import FIGURES

    if printing.json:
        print_json([{"name": entry.name, "shows": entry.shows} for entry in FIGURES.values()])
        return
    rows = FIGURES.values()
    page().print(show_rows("Figures", rows, "name as figure", "shows:s as what it shows"))
