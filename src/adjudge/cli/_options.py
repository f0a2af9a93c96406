"""The options that commands share: groups of them, each declared once, and single ones.

A group is a dataclass: a command names it in its signature and gets an instance. ``panel`` is where
the options of a class are in the help; base classes have their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adjudge.cli import argument, flag, option
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.data.judgments import Judgments

_PLACES = (
    "Files of judgments in any known format, a folder, a pattern, or an address such as "
    "https://... or 's3://bucket/*.parquet'; - is standard input."
)
# A place is text: a path would lose a slash of s3://
JUDGMENTS = argument("JUDGMENTS...", _PLACES, required=True)
JUDGMENTS_IF_ANY = argument("[JUDGMENTS]...", _PLACES)
GOLD = option(
    "--gold FILE",
    "Gold labels: a file with columns item (or topic, document) and gold. Also a folder, pattern "
    "or address, or the name of a column in the judgments file.",
)
USE_GOLD = flag("--use-gold", "Let the gold column of the judgments file guide the fit too.")
RESAMPLES = option(
    "--resamples N", "Bootstrap resamples of the items for the intervals; 0 for none.", 1000, min=0
)
DATABASE = option(
    "--database URL",
    "Where it is kept: a SQLite file, or postgresql://USER@HOST/NAME.",
    "adjudge.db",
)
PROJECT = argument("PROJECT", "The project's short name.", required=True)
DEPTH = option("--depth N", "Results per topic of a run.", 10, min=1)
QRELS_AS_GOLD = flag("--qrels-as-gold", "Take the grades of a BEIR folder as gold.")
CALIBRATE = flag(
    "--calibrate/--no-calibrate",
    "Use gold to calibrate probabilities, across folds (default, except for sampled models).",
    None,
)
PEOPLE = option(
    "--people REGEX",
    "Judges whose names match are people; without it, a column kind or family says who is.",
)
PROMPT = option("--prompt FILE", "The prompt of the judge; the card stores its hash.")
RUBRIC = option("--rubric FILE", "The rubric of the judge; the card stores its hash.")

SEED = option("--seed N", "Seed of all random numbers.", 0, min=0)
THREADS = option("--threads N", "Threads to use; all cores if not given.", min=1)
SCALE = option("--labels SCALE", "The scale: '0<1<2' if labels have an order, 'cat,dog' if not.")
SETTINGS = option("--set NAME=VALUE", "A setting of the model. Repeat for more.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How files are read."""

    panel: ClassVar[str] = "How to read"

    format: str | None = option("--format NAME", "Format of the file, if it is detected wrongly.")
    encoding: str = option(
        "--encoding NAME", "Encoding of the file, such as latin-1; detected if not given.", "auto"
    )
    question: str | None = option(
        "--question NAME", "The question to use, if the file has several."
    )
    item: str | None = option(
        "--item COLUMN",
        "The column of items. Several columns can name an item together: system,segment.",
    )
    judge: str | None = option("--judge COLUMN", "The column of judges.")
    label: str | None = option("--label COLUMN", "The column of labels.")
    topic: str | None = option("--topic COLUMN", "The column of topics.")
    document: str | None = option("--document COLUMN", "The column of documents.")
    time: str | None = option("--time COLUMN", "The column of times.")
    no_header: bool = flag("--no-header", "The file has no header; columns are called 1, 2, ...")
    judges_are: str | None = option(
        "--judges-are COLUMNS", "In a wide table, the columns of judges: 'ann,bob' or 'rater*'."
    )
    questions_are: str | None = option(
        "--questions-are COLUMNS",
        "In a wide table, the columns of questions; each row is one item.",
    )
    transpose: bool = flag(
        "--transpose", "In a wide table, each row is a judge and each column an item."
    )
    counts: bool = flag("--counts", "In a wide table, each column counts the votes for one label.")
    repeats: bool = flag(
        "--repeats",
        "If a judge has several rows on one item, count each as a judgment, not as a copy.",
    )
    skip_bad_rows: bool = flag("--skip-bad-rows", "Skip invalid rows and list them.")
    family: list[str] | None = option(
        "--family REGEX",
        "Judges are one source if this matches the same text in their names: '(.*)-run'. Repeat "
        "for more.",
    )
    kind: list[str] | None = option(
        "--kind REGEX=KIND",
        "Judges whose names match are people or LLMs: '^gpt=model' or '^ann=person'. Repeat for "
        "more.",
    )

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
class AnswerReading(Reading):
    """How answers of LLM judges are read, and their scale."""

    panel: ClassVar[str] = "Labels"

    labels: str | None = SCALE
    relevant: str | None = option(
        "--relevant LABELS", "Labels that count as relevant, such as 1,2."
    )
    binary: bool = flag("--binary", "Collapse labels to relevant (1) or not (0) first.")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelReading(AnswerReading):
    """How files are read, and how their labels are changed."""

    panel: ClassVar[str] = "Labels"
    takes_numbers: ClassVar[bool] = False  # labels that are numbers rather than classes

    drop_label: list[str] | None = option(
        "--drop-label LABEL", "Leave out this label, and items with this gold. Repeat for more."
    )
    bin: int | None = option(
        "--bin N", "Put numeric labels into N grades of equal width first.", min=2
    )

    @property
    def named_relevant(self) -> tuple[str, ...]:
        """The labels named as relevant."""
        return tuple(self.relevant.split(",")) if self.relevant else ()

    @property
    def binary_truth(self) -> bool:
        """Whether graded labels have a binary truth."""
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthReading(LabelReading):
    """The same for commands that infer the truth."""

    panel: ClassVar[str] = "Labels"

    binary_truth: bool = flag(
        "--binary-truth", "Keep the grades of judges, but infer only relevant or not."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberReading(TruthReading):
    """The same for commands that also take labels that are numbers."""

    panel: ClassVar[str] = "Labels"
    takes_numbers: ClassVar[bool] = True

    continuous: bool | None = flag(
        "--continuous/--classes",
        "Labels are numbers, not classes (default if more than 20 differ).",
        None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """Which model is fitted, and how."""

    panel: ClassVar[str] = "How to fit"

    model: str | None = option("--model -m NAME", "See 'adjudge models'; item-types if not given.")
    by_topic: bool = flag("--by-topic", "Give each topic its own prevalence.")
    calibrate: bool | None = CALIBRATE
    settings: list[str] | None = SETTINGS
    seed: int = SEED
    threads: int | None = THREADS


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """Where a fit runs, and how it survives the loss of its machine."""

    panel: ClassVar[str] = "Where to run"

    engine: str = option("--engine NAME", "threads (of this process) or dask.", "threads")
    scheduler: str | None = option(
        "--scheduler ADDRESS", "With dask: a running cluster, such as tcp://host:8786."
    )
    workers: int | None = option(
        "--workers N",
        "With dask: processes to start on this machine, if there is no scheduler.",
        min=1,
    )
    checkpoint: Path | None = option(
        "--checkpoint FOLDER", "Save the state of the fit here, every few iterations."
    )
    every: int = option("--every N", "Iterations between checkpoints.", 10, min=1)
    resume: bool = flag("--resume", "Continue from the checkpoint, if there is one.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quietness:
    """Whether messages and progress are shown."""

    panel: ClassVar[str | None] = "What to print"

    quiet: bool = flag("--quiet -q", "No messages and no progress; errors only.")
    verbose: bool = flag("--verbose -v", "Show details: the model, its notes and settings.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Printing(Quietness):
    """What is printed, and for whom."""

    panel: ClassVar[str | None] = "What to print"

    json: bool = flag("--json", "Print the result as one JSON document.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery(Printing):
    """Where the table of a command goes, and what is printed."""

    panel: ClassVar[str | None] = None

    output: Path | None = option(
        "--output -o FILE", "Where to write: .csv, .tsv, .jsonl, .parquet; - is standard output."
    )
