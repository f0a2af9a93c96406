"""The options that commands share, and the reading that goes with them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli.console import say
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.data.formats import Content
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments

_READING = "How to read"
_SCALE = "Labels"
_PRINT = "What to print"

JudgmentsFile = Annotated[
    Path, typer.Argument(metavar="JUDGMENTS", help="File of judgments, in any known format.")
]
GoldFile = Annotated[
    Path | None,
    typer.Option("--gold", metavar="FILE", help="Known truth: item (or topic, document) and gold."),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="Format of the file, where the header misleads.",
        rich_help_panel=_READING,
    ),
]
Encoding = Annotated[
    str,
    typer.Option(help="Text encoding of the file, such as latin-1.", rich_help_panel=_READING),
]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad-rows",
        help="Leave bad rows out, counted and listed, instead of stopping.",
        rich_help_panel=_READING,
    ),
]
Question = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Which answer to take, where a file holds several.",
        rich_help_panel=_READING,
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="SCALE",
        help="The scale: '0<1<2' in order, 'cat,dog' without.",
        rich_help_panel=_SCALE,
    ),
]
Relevant = Annotated[
    str | None,
    typer.Option(
        metavar="LABELS", help="Labels that count as relevant, such as 1,2.", rich_help_panel=_SCALE
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop-label",
        metavar="LABEL",
        help="Leave out judgments with this label (again for more).",
        rich_help_panel=_SCALE,
    ),
]
Binary = Annotated[
    bool,
    typer.Option(
        "--binary",
        help="Collapse labels to relevant (1) or not (0) before anything else.",
        rich_help_panel=_SCALE,
    ),
]
BinaryTruth = Annotated[
    bool,
    typer.Option(
        "--binary-truth",
        help="Keep the graded labels, but let truth be relevant or not.",
        rich_help_panel=_SCALE,
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Say nothing but errors.", rich_help_panel=_PRINT)
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print the result as one JSON document.", rich_help_panel=_PRINT),
]
ModelName = Annotated[
    str, typer.Option("--model", "-m", metavar="NAME", help="Which model; see 'adjudge models'.")
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to write: .csv, .tsv, .jsonl, .parquet; - is standard output.",
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of everything random.", min=0)]
TiesRule = Annotated[
    str, typer.Option("--ties", metavar="RULE", help="How ties are broken: random, lower, higher.")
]
ByTopic = Annotated[bool, typer.Option("--by-topic", help="Give each topic its own prevalence.")]
Iterations = Annotated[int | None, typer.Option(help="Stop after this many iterations.", min=1)]
Threads = Annotated[int | None, typer.Option(help="Threads to use; all cores if not given.", min=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a person wants a file of judgments read and its labels taken."""

    format: str | None = None
    encoding: str = "utf-8"
    skip_bad: bool = False
    question: str | None = None
    labels: str | None = None
    relevant: str | None = None
    drop: tuple[str, ...] = ()
    binary: bool = False
    binary_truth: bool = False

    def read(
        self, path: Path, gold: Path | None = None
    ) -> tuple[Judgments, Gold | None, Gold | None]:
        """Judgments, the gold given for the fit, and the gold that stood beside the judgments."""
        from adjudge.data.gold import Gold

        if self.binary and self.binary_truth:
            raise BadSetting("--binary-truth", True, "either --binary or --binary-truth")
        content = self.content(path)
        if content.judgments is None:
            from adjudge.data.judgments import Judgments

            Judgments.read(path, **self.options)  # says what the file holds instead
            raise AssertionError
        given = Gold.read(gold, encoding=self.encoding) if gold is not None else None
        return self.shape(content.judgments, given, content.gold)

    @property
    def options(self) -> dict[str, Any]:
        """The options of the reader."""
        from adjudge.data.scale import Scale

        named = self.relevant.split(",") if self.relevant else ()
        return {
            "format": self.format,
            "encoding": self.encoding,
            "skip_bad": self.skip_bad,
            "question": self.question,
            "scale": Scale.parse(self.labels, relevant=named) if self.labels else None,
        }

    def content(self, path: Path) -> Content:
        """What the file holds; rows that were skipped are counted and listed."""
        from adjudge.data.formats import read

        content = read(path, wanted="judgments", **self.options)
        tell_bad_rows(content)
        return content

    def shape(
        self, judgments: Judgments, given: Gold | None, beside: Gold | None
    ) -> tuple[Judgments, Gold | None, Gold | None]:
        """Apply what was said of labels to judgments and both kinds of gold."""
        if self.relevant and not self.labels:
            judgments = judgments.with_scale(
                judgments.scale.with_relevant(self.relevant.split(","))
            )
        full = judgments.scale
        if self.drop:
            judgments = judgments.without_labels(*self.drop)
            beside = _without(beside, self.drop)
            given = _without(given, self.drop)
        if self.binary_truth:
            judgments = judgments.with_scale(judgments.scale.with_binary_truth())
        if self.binary:
            judgments = judgments.collapse()
            beside = None if beside is None else beside.collapse(full)
            given = None if given is None else given.collapse(full)
        return judgments, given, beside


def _without(gold: Gold | None, labels: tuple[str, ...]) -> Gold | None:
    """Gold without the items whose truth is one of the labels."""
    import numpy as np

    from adjudge.data.scale import canonical

    if gold is None:
        return None
    gone = {canonical(label) for label in labels}
    return gold.select(np.array([text not in gone for text in gold.texts()], dtype=np.bool_))


def tell_bad_rows(content: Content) -> None:
    """Say how many rows were left out, and list the first of them."""
    if content.bad:
        say(f"[yellow]{len(content.bad):,} bad rows left out:[/]")
        for row in content.bad[:10]:
            say(f"  {row.place}: {row.problem}")
        if len(content.bad) > 10:
            say(f"  ... and {len(content.bad) - 10:,} more")
