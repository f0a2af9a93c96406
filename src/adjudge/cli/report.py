"""adjudge report: everything that was found, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from adjudge.cli import options as o
from adjudge.cli.brought import brings_files
from adjudge.cli.console import be_quiet, command_line, page, progress
from adjudge.data.source import count_of
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.cli.reading import Input
    from adjudge.data.consensus import Consensus
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
    from adjudge.evaluation.crossvalidation import CrossValidation
    from adjudge.models.model import Model
    from adjudge.report.results import Results

_FOLDS = 5  # of the gold
_LEAST_GOLD = 2

NAME = "report"
EXAMPLES = (
    "adjudge report judgments.csv --gold gold.csv -o report.html",
    "adjudge report judgments.csv -m hierarchical-confusion --seed 7",
)


@brings_files
def run(
    judgments: o.JudgmentsFiles,
    *,
    gold: o.GoldFile = None,
    use_gold: o.UseGold = False,
    output: Annotated[
        Path,
        o.option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write the page (.html); - is standard output.",
        ),
    ] = Path("report.html"),
    title: Annotated[
        str | None,
        o.option("--title", metavar="TEXT", help="Its heading; the name of the file by default."),
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
    from adjudge.cli.pair_commands import holds_comparisons, pair_report, refuse
    from adjudge.cli.writing import STDOUT, check_places, check_printing, print_json, tell_written
    from adjudge.report.page import write_report

    be_quiet(printing.quiet or printing.json)
    _check_name(output)
    check_places({"--output": output}, inputs=(*judgments, gold), free=("--output",))
    check_printing(printing, output)
    if holds_comparisons(judgments, reading):
        refuse({"--gold": gold})
        pair_report(judgments, output, title, fitting, reading, printing)
        return
    results = found(judgments, gold, use_gold, fitting, labelling, reading, title=title)
    with progress("making the page") as on_step:
        write_report(results, output, progress=on_step)
    tell_written("report", output)
    if printing.json:
        print_json(_summary(results, output))
    elif output != STDOUT and not printing.quiet:
        _tell(results)


def _check_name(output: Path) -> None:
    """Refuse a name that no browser would open, or of a folder."""
    from adjudge.cli.writing import STDOUT
    from adjudge.errors import BadData

    if output == STDOUT:
        return
    if output.suffix.lower() not in (".html", ".htm"):
        raise BadSetting("--output", str(output), "a name that ends in .html")
    if output.is_dir():
        raise BadData("is a folder; wanted a file to write", source=str(output))


def found(
    judgments: list[str],
    gold: str | None,
    use_gold: bool,
    fitting: o.Fitting,
    labelling: o.TruthLabelling,
    reading: o.Reading,
    *,
    title: str | None = None,
) -> Results:
    """What there is to show: read, fitted (twice where gold guides the fit), looked through."""
    from adjudge.cli.fitting import built, engine_of, fitted
    from adjudge.cli.reading import place_of, read_judgments
    from adjudge.report.results import Provenance, gather

    model = built(fitting)
    digests = _digests(*judgments, gold)
    read = read_judgments(judgments, gold, reading, labelling)
    known = read.given
    if known is None and use_gold:
        known = read.beside
    consensus = fitted(model, read.judgments, known, fitting)
    blind: Consensus | None = None
    crossed: CrossValidation | None = None
    if known is not None:
        with progress(f"fitting {model.name} without gold") as on_step:
            blind = model.fit(read.judgments, None, engine=engine_of(fitting), progress=on_step)
        crossed = _across_folds(model, read.judgments, known, fitting)
    provenance = Provenance(
        title=title or place_of(judgments),
        command=command_line(),
        files=digests,
        left_out=_left_out(read),
    )
    every = read.given if read.given is not None else read.beside
    with progress("looking at judges and items") as on_step:
        return gather(
            consensus,
            gold=every,
            blind=blind,
            crossed=crossed,
            provenance=provenance,
            progress=on_step,
        )


def _across_folds(
    model: Model, judgments: Judgments, gold: Gold, fitting: o.Fitting
) -> CrossValidation | None:
    """The model as it made the labels, scored across folds of gold; None where it was sampled.

    Then gold calibrates nothing, a fit takes long, and the one without gold has to do.
    """
    from adjudge.cli.fitting import engine_of
    from adjudge.evaluation.crossvalidation import cross_validate
    from adjudge.models.model import is_sampled
    from adjudge.models.registry import with_calibration
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
            engine=engine_of(fitting),
            progress=on_step,
            resamples=RESAMPLES,
        )


def _digests(*places: str | None) -> tuple[tuple[str, str], ...]:
    """The SHA-256 of each file that is read, by its name; what comes from elsewhere has none."""
    import hashlib

    from adjudge.cli.reading import each_file

    kept = []
    for path in map(Path, each_file([place for place in places if place is not None])):
        if path.is_file():
            with path.open("rb") as file:
                kept.append((path.name, hashlib.file_digest(file, "sha256").hexdigest()))
    return tuple(kept)


def _left_out(read: Input) -> tuple[str, ...]:
    """What the readers left out, in sentences."""
    omissions = read.omissions
    notes = [f"{str(note)[:1].upper()}{str(note)[1:]}." for note in omissions["left_out"]]
    bad = omissions["bad_rows"]
    if bad:
        first = bad[0]
        notes.append(
            f"{count_of(len(bad), 'bad row')} left out, the first at {first['place']}: "
            f"{first['problem']}."
        )
    return tuple(notes)


def _summary(results: Results, output: Path) -> dict[str, Any]:
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


def _tell(results: Results) -> None:
    """The findings for a person, as on the page."""
    from rich.padding import Padding
    from rich.text import Text

    from adjudge.report.words import findings

    out = page()
    for finding in findings(results):
        out.print(Text(finding.question, style="bold"))
        for sentence in finding.answer:
            out.print(Padding(Text(sentence), (0, 0, 0, 2), expand=False))
