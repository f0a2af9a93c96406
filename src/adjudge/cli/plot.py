"""adjudge plot: figures of what was found, to look at or to print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli import Command, flag, option
from adjudge.cli import _options as o
from adjudge.cli._console import progress, say
from adjudge.cli._files import check_places
from adjudge.cli._findings import gather_findings
from adjudge.cli._results import grid, page, print_json
from adjudge.errors import BadData, BadSetting, UnknownName

if TYPE_CHECKING:
    from adjudge.report.results import Results

_KINDS = ("png", "svg", "html", "json")


def _run(
    judgments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[JUDGMENTS]...",
            help="Files of judgments in any known format, a folder, a pattern or an address; - is "
            "standard input.",
        ),
    ] = None,
    *,
    figure: Annotated[
        list[str] | None,
        option(
            "--figure",
            "NAME",
            "The figure to draw (again for more); all that the data allow if not given.",
        ),
    ] = None,
    output: Annotated[
        Path,
        option(
            "--output -o", "PATH", "A file for one figure (.png, .svg, .html, .json), or a folder."
        ),
    ] = Path("figures"),
    file_type: Annotated[
        str, option("--as", "KIND", "In a folder: png, svg, html (interactive) or json.")
    ] = "png",
    theme: Annotated[
        str, option("--theme", "NAME", "Of PNG, SVG and JSON: light or dark.")
    ] = "light",
    list_figures: Annotated[
        bool, flag("--list", "List the figures and what each shows, and stop.")
    ] = False,
    gold: o.GoldFile = None,
    use_gold: o.UseGold = False,
    fitting: o.Fitting,
    labelling: o.TruthLabelling,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """Draw figures: judges against chance, posteriors, confusion, calibration and more.

    A name that ends in .png, .svg or .html says the form of one figure; any other name is a
    folder, which gets all figures that the data allow. HTML is interactive and needs no network.
    """
    from adjudge.report.plots.figures import FIGURES

    if list_figures:
        _list(printing)
        return
    if not judgments:
        raise BadSetting("JUDGMENTS", None, "a file of judgments, or --list")
    for name in figure or ():
        if name not in FIGURES:
            raise UnknownName("figure", name, FIGURES)
    _check(output, figure or [], file_type, theme)
    check_places({"--output": output}, inputs=(*judgments, gold), free=("--output",))
    results = gather_findings(judgments, gold, use_gold, fitting, labelling, reading)
    written = _draw(results, figure or [], output, file_type, theme)
    for name, path in written.items():
        say(f"{name} written to {path}")
    if printing.json:
        print_json({"figures": {name: str(path) for name, path in written.items()}})


COMMAND = Command(
    _run,
    examples=(
        "adjudge plot judgments.csv --figure confusion -o confusion.png",
        "adjudge plot judgments.csv --gold gold.csv -o figures --as svg",
        "adjudge plot --list",
    ),
)


def _check(output: Path, names: list[str], file_type: str, theme: str) -> None:
    """Refuse forms and places that cannot be, before any work is done."""
    from adjudge.report.theme import find_theme

    find_theme(theme)
    if file_type not in _KINDS:
        raise BadSetting("--as", file_type, f"one of {', '.join(_KINDS)}")
    if output.suffix.lower()[1:] in _KINDS:
        if len(names) != 1:
            raise BadSetting("--output", str(output), "one --figure for a file, or a folder")
        if output.is_dir():
            raise BadData("is a folder; wanted a file to write", source=str(output))
    elif output.exists() and not output.is_dir():
        wanted = f"a folder, or a name that ends in {', '.join(f'.{name}' for name in _KINDS)}"
        raise BadSetting("--output", str(output), wanted)


def _draw(
    results: Results, names: list[str], output: Path, file_type: str, theme: str
) -> dict[str, Path]:
    """Write the figures; of those not asked for by name, what cannot be drawn is told."""
    from adjudge.models.model import Step
    from adjudge.report.plots.figures import FIGURES, draw
    from adjudge.report.saving import save

    single = output.suffix.lower()[1:] in _KINDS
    chosen = names or list(FIGURES)
    lacking = {name: FIGURES[name].lacks(results) for name in chosen}
    for name, reason in lacking.items():
        if reason is not None and names:
            draw(name, results)  # says what it needs
        elif reason is not None:
            say((f"no {name}: it needs {reason}", "dim"))
    drawable = [name for name in chosen if lacking[name] is None]
    if not single:
        output.mkdir(exist_ok=True)
    written = {}
    with progress("drawing") as on_step:
        for done, name in enumerate(drawable):
            if on_step is not None:
                on_step(Step("drawing", done, len(drawable), name))
            written[name] = output if single else output / f"{name}.{file_type}"
            save(draw(name, results), written[name], theme=theme)
    return written


def _list(printing: o.Printing) -> None:
    """The figures, for a program or a person."""
    from adjudge.report.plots.figures import FIGURES

    if printing.json:
        print_json([{"name": entry.name, "shows": entry.shows} for entry in FIGURES.values()])
        return
    rows: list[list[Any]] = [[entry.name, entry.shows] for entry in FIGURES.values()]
    page().print(grid("Figures", ["figure", "what it shows"], rows))
