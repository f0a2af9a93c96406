"""What a replication is: parts that can be stopped and gone on with, gathered into a result.

A paper is a folder beside this file: the published values and the run in its ``__init__.py``, with
a constant ``REPLICATION``; tables, figures and claims in its ``_result.py``; and one line in
``PAPERS``. Its work goes in two steps:

1. ``parts(setup)`` names the units of work, some seconds to a minute each. A part's ``work`` gets a
   ``Progress`` (or None) and gives plain JSON: dicts with text keys, lists, text, numbers,
   booleans, None; NaN is allowed, NumPy numbers other than ``float`` are not. ``settings`` holds
   all that the part's result depends on (seeds, counts, the fingerprint of a data file): with the
   name of the part and the version of adjudge it is the key under which a finished part is kept
   and found again. The names of a paper's parts differ, and are made of letters, digits, ``-``,
   ``_`` and ``.``. ``parts`` itself is cheap: reading and fitting belong into ``work``; but it
   refuses missing data.
2. ``gather(setup, partials)`` gets every part's result by its name, always after a turn through
   JSON, and makes tables, figures and claims. It runs again each time, so it computes little.

The runner (``running.py``) measures seconds and peak memory and fills them in; the writer
(``pages.py``) makes Markdown, CSV and pictures. Neither is a paper's business.

Rules of the house: published values stand as data beside page and cell; nothing is tuned to agree;
seeds are numbers in the settings; a paper without a number of its own takes ``setup.seeds`` where
it is given. Real data are found by ``_data.py``; what is made comes from ``adjudge.simulation``.
``setup.quick`` makes the same tables with fewer seeds, runs or draws, in less than half a minute.
Altair is imported inside ``chart`` functions only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from adjudge.errors import BadSetting
from adjudge.models.model import Progress

_SAME = 1e-12  # an sd that only rounding makes
_ROUNDED = 5e-4  # published values have three digits: nearer than this is the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One published value beside the mean and sd obtained; NaN where nothing was published."""

    row: str
    column: str
    published: float
    obtained: float
    sd: float
    note: str = ""
    digits: int | None = None  # to show; None: as many as its table

    @classmethod
    def over(
        cls,
        row: str,
        column: str,
        values: Sequence[float],
        *,
        published: float = math.nan,
        note: str = "",
    ) -> Self:
        """A cell from the values of several seeds: their mean and sd, NaN from fewer than two."""
        found = np.asarray(values, dtype=np.float64)
        sd = float(found.std(ddof=1)) if len(found) > 1 else math.nan
        return cls(
            row=row,
            column=column,
            published=published,
            obtained=float(found.mean()) if len(found) else math.nan,
            sd=0.0 if sd < _SAME else sd,
            note=note,
        )

    @property
    def differs(self) -> bool:
        """Whether the published value lies more than two sd from what was obtained."""
        if any(map(math.isnan, (self.published, self.obtained, self.sd))):
            return False
        return abs(self.published - self.obtained) > max(2 * self.sd, _ROUNDED)

    def difference(self, digits: int = 3) -> str:
        """A sentence on how far published and obtained lie apart."""
        digits = self.digits if self.digits is not None else digits
        gap = self.obtained - self.published
        sds = f", {abs(gap) / self.sd:.1f} sd" if self.sd > 0 else ""
        return (
            f"{self.row}, {self.column}: obtained {self.obtained:.{digits}f}, "
            f"published {self.published:.{digits}f}: "
            f"{'higher' if gap > 0 else 'lower'} by {abs(gap):.{digits}f}{sds}."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a person asks for: quick or full, how many seeds, where the real data are."""

    quick: bool = False
    seeds: int | None = None  # None: as many as the paper's run says
    data: Path | None = None  # None: ADJUDGE_DATA, or ../shared/data

    def __post_init__(self) -> None:
        if self.seeds is not None and self.seeds < 2:
            raise BadSetting("--seeds", self.seeds, "2 or more, since sd is over seeds")

    def count(self, *, full: int, quick: int) -> int:
        """How many seeds or runs: as asked for, or the paper's own number."""
        if self.seeds is not None:
            return self.seeds
        return quick if self.quick else full


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicationPart:
    """A unit of work, kept when it is done: a name, what it depends on, and the work."""

    name: str
    settings: Mapping[str, Any]
    work: Callable[[Progress | None], Any]  # gives plain JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of a paper: each cell published and obtained.

    ``cause`` says, for a cell whose two values differ, why they may: a sentence, or nothing.
    """

    name: str  # of its CSV file
    title: str
    source: str  # "table 1, page 2"
    cells: Sequence[Cell]
    digits: int = 3
    cause: Callable[[Cell], str] | None = None

    def to_table(self) -> Any:
        """The cells as an Arrow table."""
        names = ("row", "column", "published", "obtained", "sd", "note")
        return pa.table({name: [getattr(cell, name) for cell in self.cells] for name in names})


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFigure:
    """A figure of a paper: its data, and how the chart is made of them when it is wanted."""

    name: str  # of its files
    title: str
    source: str
    data: Any  # Arrow table
    chart: Callable[[Any], Any]  # the Arrow table -> an Altair chart
    caption: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something that the paper says, whether it holds here (None: cannot be told), and why.

    A criterion that the paper's own figures fail would say nothing of ours: ``passes`` is what the
    same criterion says of them, None where the paper gives no figures to hold it against.
    """

    text: str
    holds: bool | None
    evidence: str  # the figures obtained, in words
    criterion: str = ""  # when it holds: "if ..." or "from ... on"
    source: str = ""
    published: str = ""  # the paper's own figures or words
    reading: str = ""  # how the paper is read, where it can be read in more ways than one
    passes: bool | None = None

    @property
    def beyond(self) -> bool:
        """Whether the paper does not say it: what is asked of its data besides."""
        return "beyond the paper" in self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicationResult:
    """A paper replicated: tables, figures, claims, and what it took."""

    paper: str = ""  # filled in by the runner, with title and source
    title: str = ""
    source: str = ""
    command: str = ""  # what the page says it was made by, after ``adjudge replicate``; the paper
    tables: Sequence[Table] = ()
    figures: Sequence[PaperFigure] = ()
    claims: Sequence[Claim] = ()
    notes: Sequence[str] = ()  # paragraphs: data, departures from the paper
    seconds: float = float("nan")  # filled in by the runner: all parts together
    busy: float = float("nan")  # seconds of all cores together
    memory: float = float("nan")  # bytes, the greatest of the parts
    parts: Mapping[str, float] = field(default_factory=dict)  # seconds of each


@dataclass(frozen=True, slots=True, kw_only=True)
class Replication:
    """A paper that can be replicated."""

    name: str  # on the command line
    title: str  # what is replicated, in a line
    source: str  # authors, year, title, where it appeared
    parts: Callable[[Setup], Sequence[ReplicationPart]]  # the units of work, in their order
    gather: Callable[[Setup, Mapping[str, Any]], ReplicationResult]  # what their results come to
