"""What a report and figures show: judgments read, fitted, and looked through."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.cli import _options as o
from adjudge.cli._console import command_line, progress
from adjudge.cli._files import Input, read_judgments
from adjudge.cli._fitting import build_model, fit_model, make_engine
from adjudge.cli._places import list_files, place_of
from adjudge.data.source import count_of

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
    from adjudge.evaluation.crossvalidation import CrossValidation
    from adjudge.models.model import Model
    from adjudge.report.results import Results

_FOLDS = 5  # of the gold
_LEAST_GOLD = 2


def gather_findings(
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
    from adjudge.report.results import Provenance, gather

    model = build_model(fitting)
    digests = _hash_files(*judgments, gold)
    read = read_judgments(judgments, gold, reading, labelling)
    known = read.choose_gold(use_gold)
    consensus = fit_model(model, read.judgments, known, fitting)
    blind: Consensus | None = None
    crossed: CrossValidation | None = None
    if known is not None:
        with progress(f"fitting {model.name} without gold") as on_step:
            blind = model.fit(
                read.judgments, None, engine=make_engine(fitting.threads), progress=on_step
            )
        crossed = _cross_validate(model, read.judgments, known, fitting)
    provenance = Provenance(
        title=title or place_of(judgments),
        command=command_line(),
        files=digests,
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
    """The model as it made the labels, scored across folds of gold; None where it was sampled.

    Then gold calibrates nothing, a fit takes long, and the one without gold has to do.
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
    bad = omissions["bad_rows"]
    if bad:
        first = bad[0]
        notes.append(
            f"{count_of(len(bad), 'bad row')} left out, the first at {first['place']}: "
            f"{first['problem']}."
        )
    return tuple(notes)
