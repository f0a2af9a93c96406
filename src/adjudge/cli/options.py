"""The options that commands share: groups of them, each declared once, and single ones.

A command names a group in its signature, and ``spread`` makes options of its fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import groups

option = groups.option

_READ = "How to read"
_LABELS = "Labels"
_FIT = "How to fit"
_PLACE = "Where to run"
_PRINT = "What to print"


JudgmentsFiles = Annotated[
    list[str],  # a path would lose a slash of s3://
    typer.Argument(
        metavar="JUDGMENTS...",
        help="Files of judgments in any known format, a folder, a pattern, or an address such as "
        "https://... or 's3://bucket/*.parquet'; - is standard input.",
    ),
]
GoldFile = Annotated[
    str | None,
    option(
        "--gold",
        metavar="FILE",
        help="Known truth: a file of item (or topic, document) and gold, a folder, pattern or "
        "address of such, or a column beside the judgments.",
    ),
]
UseGold = Annotated[
    bool,
    option("--use-gold", help="Let gold that stands in the judgments file guide the fit too."),
]
Output = Annotated[
    Path | None,
    option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to write: .csv, .tsv, .jsonl, .parquet; - is standard output.",
    ),
]
Resamples = Annotated[
    int,
    option(
        "--resamples",
        metavar="N",
        min=0,
        help="Bootstrap resamples of the items for the intervals; 0 for none.",
    ),
]
Weight = Annotated[
    str | None,
    option(
        "--weight",
        metavar="FEATURES",
        help="Weight of a vote: features joined by *, each with a power or none.",
    ),
]
Seed = Annotated[int, option("--seed", metavar="N", min=0, help="Seed of everything random.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a person wants a file read."""

    format: Annotated[
        str | None,
        option(
            "--format", metavar="NAME", help="Its format, where the header misleads.", panel=_READ
        ),
    ] = None
    encoding: Annotated[
        str,
        option(
            "--encoding",
            metavar="NAME",
            help="Its encoding, such as latin-1; found out if not given.",
            panel=_READ,
        ),
    ] = "auto"
    question: Annotated[
        str | None,
        option(
            "--question", metavar="NAME", help="The answer to take, if it has several.", panel=_READ
        ),
    ] = None
    item: Annotated[
        str | None,
        option("--item", metavar="COLUMN", help="The column of items.", panel=_READ),
    ] = None
    judge: Annotated[
        str | None,
        option("--judge", metavar="COLUMN", help="The column of judges.", panel=_READ),
    ] = None
    label: Annotated[
        str | None,
        option("--label", metavar="COLUMN", help="The column of labels.", panel=_READ),
    ] = None
    topic: Annotated[
        str | None,
        option("--topic", metavar="COLUMN", help="The column of topics.", panel=_READ),
    ] = None
    document: Annotated[
        str | None,
        option("--document", metavar="COLUMN", help="The column of documents.", panel=_READ),
    ] = None
    time: Annotated[
        str | None,
        option("--time", metavar="COLUMN", help="The column of times.", panel=_READ),
    ] = None
    no_header: Annotated[
        bool,
        option("--no-header", help="Its first line is a row; columns are 1, 2, ...", panel=_READ),
    ] = False
    skip_bad_rows: Annotated[
        bool,
        option("--skip-bad-rows", help="Leave bad rows out, and list them, not stop.", panel=_READ),
    ] = False
    family: Annotated[
        str | None,
        option(
            "--family",
            metavar="REGEX",
            help="Judges who share what this finds in their names are one source: '(.*)-run'.",
            panel=_READ,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelling:
    """What a person says of the labels."""

    labels: Annotated[
        str | None,
        option(
            "--labels",
            metavar="SCALE",
            help="The scale: '0<1<2' in order, 'cat,dog' without.",
            panel=_LABELS,
        ),
    ] = None
    relevant: Annotated[
        str | None,
        option(
            "--relevant",
            metavar="LABELS",
            help="Labels that count as relevant, such as 1,2.",
            panel=_LABELS,
        ),
    ] = None
    drop_label: Annotated[
        list[str] | None,
        option(
            "--drop-label",
            metavar="LABEL",
            help="Leave out this label, and items with this gold (again for more).",
            panel=_LABELS,
        ),
    ] = None
    binary: Annotated[
        bool,
        option("--binary", help="Collapse labels to relevant (1) or not (0) first.", panel=_LABELS),
    ] = False

    bin: Annotated[
        int | None,
        option(
            "--bin",
            metavar="N",
            min=2,
            help="Put numeric labels into N grades of equal width first.",
            panel=_LABELS,
        ),
    ] = None

    @property
    def named_relevant(self) -> tuple[str, ...]:
        """The labels named as relevant."""
        return tuple(self.relevant.split(",")) if self.relevant else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthLabelling(Labelling):
    """The same where there is a truth to speak of."""

    binary_truth: Annotated[
        bool,
        option(
            "--binary-truth",
            help="Keep graded labels, but let truth be relevant or not.",
            panel=_LABELS,
        ),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberLabelling(TruthLabelling):
    """The same where labels may be numbers."""

    continuous: Annotated[
        bool | None,
        option(
            "--continuous/--classes",
            help="Labels are numbers, not classes (by default if more than 20 are).",
            panel=_LABELS,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """Which model is fitted, and how."""

    model: Annotated[
        str | None,
        option(
            "--model",
            "-m",
            metavar="NAME",
            help="See 'adjudge models'; item-types if not given.",
            panel=_FIT,
        ),
    ] = None
    method: Annotated[
        str | None,
        option(
            "--method",
            metavar="NAME",
            help="How it is fitted, where there are several ways: gibbs, em, variational.",
            panel=_FIT,
        ),
    ] = None
    chains: Annotated[
        int | None,
        option("--chains", metavar="N", help="Chains of a sampled model.", panel=_FIT),
    ] = None
    warmup: Annotated[
        int | None,
        option("--warmup", metavar="N", help="Sweeps before draws are kept.", panel=_FIT),
    ] = None
    draws: Annotated[
        int | None, option("--draws", metavar="N", help="Draws each chain keeps.", panel=_FIT)
    ] = None
    thin: Annotated[
        int | None, option("--thin", metavar="N", help="Sweeps between draws.", panel=_FIT)
    ] = None
    by_topic: Annotated[
        bool, option("--by-topic", help="Give each topic its own prevalence.", panel=_FIT)
    ] = False
    calibrate: Annotated[
        bool | None,
        option(
            "--calibrate/--no-calibrate",
            help="Let gold calibrate probabilities, across folds (by default, unless sampled).",
            panel=_FIT,
        ),
    ] = None
    ties: Annotated[
        str | None,
        option(
            "--ties",
            metavar="RULE",
            help="How ties are broken: random (as by default), lower, higher.",
            panel=_FIT,
        ),
    ] = None
    iterations: Annotated[
        int | None,
        option(
            "--iterations",
            metavar="N",
            min=1,
            help="Stop after this many iterations.",
            panel=_FIT,
        ),
    ] = None
    weight: Annotated[
        str | None,
        option("--weight", metavar="FEATURES", help="Of vote: features joined by *.", panel=_FIT),
    ] = None
    filter: Annotated[
        str | None,
        option(
            "--filter",
            metavar="FILTER",
            help="Of vote: [|]zscore[|]:FEATURE+FEATURE:GAMMA, accuracy:ALPHA.",
            panel=_FIT,
        ),
    ] = None
    settings: Annotated[
        list[str] | None,
        option(
            "--set",
            metavar="NAME=VALUE",
            help="Any other setting of the model (again for more).",
            panel=_FIT,
        ),
    ] = None
    seed: Annotated[
        int, option("--seed", metavar="N", min=0, help="Seed of everything random.", panel=_FIT)
    ] = 0
    threads: Annotated[
        int | None,
        option(
            "--threads",
            metavar="N",
            min=1,
            help="Threads to use; all cores if not given.",
            panel=_FIT,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """Where the work is done, and what is kept of it on the way."""

    engine: Annotated[
        str,
        option("--engine", metavar="NAME", help="threads of this process, or dask.", panel=_PLACE),
    ] = "threads"
    scheduler: Annotated[
        str | None,
        option(
            "--scheduler",
            metavar="ADDRESS",
            help="Of dask: a cluster that runs, such as tcp://host:8786.",
            panel=_PLACE,
        ),
    ] = None
    workers: Annotated[
        int | None,
        option(
            "--workers",
            metavar="N",
            min=1,
            help="Of dask: processes to start on this machine, if there is no scheduler.",
            panel=_PLACE,
        ),
    ] = None
    scratch: Annotated[
        Path | None,
        option(
            "--scratch",
            metavar="FOLDER",
            help="Room for encoded judgments; with a scheduler, one that all its workers see.",
            panel=_PLACE,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """How a fit survives the loss of its machine."""

    checkpoint: Annotated[
        Path | None,
        option(
            "--checkpoint",
            metavar="FOLDER",
            help="Keep here, every few sweeps, how far the fit is.",
            panel=_PLACE,
        ),
    ] = None
    every: Annotated[
        int,
        option("--every", metavar="N", min=1, help="Sweeps between checkpoints.", panel=_PLACE),
    ] = 10
    resume: Annotated[
        bool,
        option("--resume", help="Go on from the checkpoint, if there is one.", panel=_PLACE),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Quietness:
    """Whether a person wants to hear how the work goes."""

    quiet: Annotated[
        bool,
        option("--quiet", "-q", help="No messages and no progress; errors only.", panel=_PRINT),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Printing(Quietness):
    """What is printed, and for whom."""

    json: Annotated[
        bool, option("--json", help="Print the result as one JSON document.", panel=_PRINT)
    ] = False
