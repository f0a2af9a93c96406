"""The options that commands share: groups of them, each declared once, and single ones.

A group is a dataclass: a command names it in its signature, and gets it filled in. ``panel`` is
where its options stand in the help.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand

from adjudge.cli import flag, option
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.data.judgments import Judgments

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
        "FILE",
        "Known truth: a file of item (or topic, document) and gold, a folder, pattern or "
        "address of such, or a column beside the judgments.",
    ),
]
UseGold = Annotated[
    bool, flag("--use-gold", "Let gold that stands in the judgments file guide the fit too.")
]
Output = Annotated[
    Path | None,
    option(
        "--output -o", "FILE", "Where to write: .csv, .tsv, .jsonl, .parquet; - is standard output."
    ),
]
Resamples = Annotated[
    int,
    option(
        "--resamples", "N", "Bootstrap resamples of the items for the intervals; 0 for none.", min=0
    ),
]
Weight = Annotated[
    str | None,
    option(
        "--weight", "FEATURES", "Weight of a vote: features joined by *, each with a power or none."
    ),
]
Database = Annotated[
    str,
    option("--database", "URL", "Where it is kept: a SQLite file, or postgresql://USER@HOST/NAME."),
]
DATABASE = "adjudge.db"
ProjectName = Annotated[str, typer.Argument(metavar="PROJECT", help="The project's short name.")]
Depth = Annotated[int, option("--depth", "N", "Results of each topic of a run.", min=1)]
QrelsAsGold = Annotated[bool, flag("--qrels-as-gold", "Take the grades of a BEIR folder as gold.")]
Calibrate = Annotated[
    bool | None,
    flag(
        "--calibrate/--no-calibrate",
        "Let gold calibrate probabilities, across folds (by default, unless sampled).",
    ),
]
Seed = Annotated[int, option("--seed", "N", "Seed of everything random.", min=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a person wants a file read."""

    panel: ClassVar[str] = "How to read"

    format: Annotated[
        str | None, option("--format", "NAME", "Its format, where the header misleads.")
    ] = None
    encoding: Annotated[
        str, option("--encoding", "NAME", "Its encoding, such as latin-1; found out if not given.")
    ] = "auto"
    question: Annotated[
        str | None, option("--question", "NAME", "The answer to take, if it has several.")
    ] = None
    item: Annotated[str | None, option("--item", "COLUMN", "The column of items.")] = None
    judge: Annotated[str | None, option("--judge", "COLUMN", "The column of judges.")] = None
    label: Annotated[str | None, option("--label", "COLUMN", "The column of labels.")] = None
    topic: Annotated[str | None, option("--topic", "COLUMN", "The column of topics.")] = None
    document: Annotated[str | None, option("--document", "COLUMN", "The column of documents.")] = (
        None
    )
    time: Annotated[str | None, option("--time", "COLUMN", "The column of times.")] = None
    no_header: Annotated[
        bool, flag("--no-header", "Its first line is a row; columns are 1, 2, ...")
    ] = False
    skip_bad_rows: Annotated[
        bool, flag("--skip-bad-rows", "Leave bad rows out, and list them, not stop.")
    ] = False
    family: Annotated[
        list[str] | None,
        option(
            "--family",
            "REGEX",
            "Judges who share what this finds in their names are one source: '(.*)-run' (again "
            "for more).",
        ),
    ] = None
    kind: Annotated[
        list[str] | None,
        option(
            "--kind",
            "REGEX=KIND",
            "Judges with this in their names are people or LLMs: '^gpt=model' (again for more).",
        ),
    ] = None

    @property
    def about_judges(self) -> bool:
        """Whether anything is declared about judges."""
        return bool(self.family or self.kind)

    def declare(self, judgments: Judgments) -> Judgments:
        """The judgments with what is declared about their judges."""
        for pattern in self.family or ():
            judgments = judgments.with_family_rule(pattern)
        for rule in self.kind or ():
            pattern, equals, kind = rule.rpartition("=")
            if not equals:
                raise BadSetting("--kind", rule, "REGEX=person or REGEX=model")
            judgments = judgments.with_kind_rule(pattern, kind)
        return judgments


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelling:
    """What a person says of the labels."""

    panel: ClassVar[str] = "Labels"

    labels: Annotated[
        str | None, option("--labels", "SCALE", "The scale: '0<1<2' in order, 'cat,dog' without.")
    ] = None
    relevant: Annotated[
        str | None, option("--relevant", "LABELS", "Labels that count as relevant, such as 1,2.")
    ] = None
    drop_label: Annotated[
        list[str] | None,
        option(
            "--drop-label",
            "LABEL",
            "Leave out this label, and items with this gold (again for more).",
        ),
    ] = None
    binary: Annotated[
        bool, flag("--binary", "Collapse labels to relevant (1) or not (0) first.")
    ] = False

    bin: Annotated[
        int | None,
        option("--bin", "N", "Put numeric labels into N grades of equal width first.", min=2),
    ] = None

    @property
    def named_relevant(self) -> tuple[str, ...]:
        """The labels named as relevant."""
        return tuple(self.relevant.split(",")) if self.relevant else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthLabelling(Labelling):
    """The same where there is a truth to speak of."""

    binary_truth: Annotated[
        bool, flag("--binary-truth", "Keep graded labels, but let truth be relevant or not.")
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberLabelling(TruthLabelling):
    """The same where labels may be numbers."""

    continuous: Annotated[
        bool | None,
        flag(
            "--continuous/--classes",
            "Labels are numbers, not classes (by default if more than 20 are).",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """Which model is fitted, and how."""

    panel: ClassVar[str] = "How to fit"

    model: Annotated[
        str | None, option("--model -m", "NAME", "See 'adjudge models'; item-types if not given.")
    ] = None
    method: Annotated[
        str | None,
        option(
            "--method",
            "NAME",
            "How it is fitted, where there are several ways: gibbs, em, variational.",
        ),
    ] = None
    chains: Annotated[int | None, option("--chains", "N", "Chains of a sampled model.")] = None
    warmup: Annotated[int | None, option("--warmup", "N", "Sweeps before draws are kept.")] = None
    draws: Annotated[int | None, option("--draws", "N", "Draws each chain keeps.")] = None
    thin: Annotated[int | None, option("--thin", "N", "Sweeps between draws.")] = None
    by_topic: Annotated[bool, flag("--by-topic", "Give each topic its own prevalence.")] = False
    calibrate: Calibrate = None
    ties: Annotated[
        str | None,
        option("--ties", "RULE", "How ties are broken: random (as by default), lower, higher."),
    ] = None
    iterations: Annotated[
        int | None, option("--iterations", "N", "Stop after this many iterations.", min=1)
    ] = None
    weight: Annotated[
        str | None, option("--weight", "FEATURES", "Of vote: features joined by *.")
    ] = None
    filter: Annotated[
        str | None,
        option(
            "--filter", "FILTER", "Of vote: [|]zscore[|]:FEATURE+FEATURE:GAMMA, accuracy:ALPHA."
        ),
    ] = None
    settings: Annotated[
        list[str] | None,
        option("--set", "NAME=VALUE", "Any other setting of the model (again for more)."),
    ] = None
    seed: Annotated[int, option("--seed", "N", "Seed of everything random.", min=0)] = 0
    threads: Annotated[
        int | None, option("--threads", "N", "Threads to use; all cores if not given.", min=1)
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """Where the work is done, and what is kept of it on the way."""

    panel: ClassVar[str] = "Where to run"

    engine: Annotated[str, option("--engine", "NAME", "threads of this process, or dask.")] = (
        "threads"
    )
    scheduler: Annotated[
        str | None,
        option("--scheduler", "ADDRESS", "Of dask: a cluster that runs, such as tcp://host:8786."),
    ] = None
    workers: Annotated[
        int | None,
        option(
            "--workers",
            "N",
            "Of dask: processes to start on this machine, if there is no scheduler.",
            min=1,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """How a fit survives the loss of its machine."""

    panel: ClassVar[str] = "Where to run"

    checkpoint: Annotated[
        Path | None,
        option("--checkpoint", "FOLDER", "Keep here, every few sweeps, how far the fit is."),
    ] = None
    every: Annotated[int, option("--every", "N", "Sweeps between checkpoints.", min=1)] = 10
    resume: Annotated[bool, flag("--resume", "Go on from the checkpoint, if there is one.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Quietness:
    """Whether a person wants to hear how the work goes."""

    panel: ClassVar[str] = "What to print"

    quiet: Annotated[bool, flag("--quiet -q", "No messages and no progress; errors only.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Printing(Quietness):
    """What is printed, and for whom."""

    json: Annotated[bool, flag("--json", "Print the result as one JSON document.")] = False


def _repeat_options(arguments: Sequence[str], options: Collection[str]) -> list[str]:
    """Arguments with each of the options named again before its second value, third, and so on.

    Values go on up to the next argument that begins with a dash; ``-`` alone is a value, and after
    ``--`` nothing is an option.
    """
    found: list[str] = []
    current: str | None = None
    fresh = False
    for number, argument in enumerate(arguments):
        if argument == "--":
            return [*found, *arguments[number:]]
        if argument.startswith("-") and argument != "-":
            name = argument.partition("=")[0]
            current = name if name in options else None
            fresh = argument == name
        elif current is not None:
            if not fresh:
                found.append(current)
            fresh = False
        found.append(argument)
    return found


def make_list_command(options: Collection[str]) -> type[TyperCommand]:
    """The class of a command of whose options some take several values at once."""

    class ListOptions(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            return super().parse_args(ctx, _repeat_options(args, options))

    return ListOptions
