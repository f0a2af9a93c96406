"""adjudge report: everything that was found, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from adjudge.cli import Command, option
from adjudge.cli import _options as o
from adjudge.cli._console import progress
from adjudge.cli._files import STDOUT, check_places, tell_written
from adjudge.cli._findings import gather_findings
from adjudge.cli._pairs import deliver_pair_report, holds_comparisons, refuse
from adjudge.cli._places import fetch_first
from adjudge.cli._results import page, print_json
from adjudge.errors import BadData, BadSetting

if TYPE_CHECKING:
    from adjudge.report.results import Results


@fetch_first
def _run(
    judgments: o.JudgmentsFiles,
    *,
    gold: o.GoldFile = None,
    use_gold: o.UseGold = False,
    output: Annotated[
        Path,
        option("--output -o", "FILE", "Where to write the page (.html); - is standard output."),
    ] = Path("report.html"),
    title: Annotated[
        str | None, option("--title", "TEXT", "Its heading; the name of the file by default.")
    ] = None,
    fitting: o.Fitting,
    labelling: o.TruthLabelling,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """Make a report: labels, judges with a card each, disagreements, model checks, on one page.

    The page is one file that needs no network and opens on a phone, in light or dark, or printed.
    It says which labels, how sure, whom to keep, train or drop, and what to collect next. Gold
    given with --gold guides the labels and calibrates their probabilities, so they are scored
    across its folds: each by a fit that was told the others. Of comparisons it is the page of
    'adjudge rank-pairs --report'.
    """
    from adjudge.report.page import write_report

    _check_name(output)
    check_places(
        {"--output": output}, inputs=(*judgments, gold), free=("--output",), printing=printing
    )
    if holds_comparisons(judgments, reading):
        refuse({"--gold": gold})
        deliver_pair_report(judgments, output, title, fitting, reading, printing)
        return
    results = gather_findings(judgments, gold, use_gold, fitting, labelling, reading, title=title)
    with progress("making the page") as on_step:
        write_report(results, output, progress=on_step)
    tell_written("report", output)
    if printing.json:
        print_json(_summarise(results, output))
    elif output != STDOUT and not printing.quiet:
        _show(results)


COMMAND = Command(
    _run,
    examples=(
        "adjudge report judgments.csv --gold gold.csv -o report.html",
        "adjudge report judgments.csv -m hierarchical-confusion --seed 7",
    ),
)


def _check_name(output: Path) -> None:
    """Refuse a name that no browser would open, or of a folder."""
    if output == STDOUT:
        return
    if output.suffix.lower() not in (".html", ".htm"):
        raise BadSetting("--output", str(output), "a name that ends in .html")
    if output.is_dir():
        raise BadData("is a folder; wanted a file to write", source=str(output))


def _summarise(results: Results, output: Path) -> dict[str, Any]:
    """The findings as data."""
    from adjudge.report.words import findings, missing

    return {
        "output": str(output),
        "model": results.consensus.model,
        "settings": results.consensus.settings,
        "findings": {
            finding.question: {"answer": finding.answer, "tone": finding.tone}
            for finding in findings(results)
        },
        "missing": missing(results),
    }


def _show(results: Results) -> None:
    """The findings for a person, as on the page."""
    from rich.padding import Padding
    from rich.text import Text

    from adjudge.report.words import findings

    out = page()
    for finding in findings(results):
        out.print(Text(finding.question, style="bold"))
        for sentence in finding.answer:
            out.print(Padding(Text(sentence), (0, 0, 0, 2), expand=False))
