"""What a replication is: parts that can be stopped and gone on with, gathered into a result.

A paper is one file of this folder with a constant ``REPLICATION``, an object of the protocol
``Replication``, and one line in ``registry.py``. Its work goes in two steps:

1. ``parts(setup)`` names the units of work, some seconds to a minute each. A part's ``work`` gets a
   ``Progress`` (or None) and gives plain JSON: dicts with text keys, lists, text, numbers,
   booleans, None; NaN is allowed, NumPy numbers other than ``float`` are not. ``settings`` holds
   all that the part's result depends on (seeds, counts, the fingerprint of a data file): with the
   name of the part and the version of adjudge it is the key under which a finished part is kept
   and found again. The names of a paper's parts differ, and are made of letters, digits, ``-``,
   ``_`` and ``.``. ``parts`` itself is cheap: reading and fitting belong into ``work``; but it
   complains of missing data.
2. ``gather(setup, partials)`` gets every part's result by its name, always after a turn through
   JSON, and makes tables, figures and claims. It runs anew each time, so it computes little.

The runner (``running.py``) measures seconds and peak memory and fills them in; the writer
(``pages.py``) makes Markdown, CSV and pictures. Neither is a paper's business.

Rules of the house: published values stand as data beside page and cell; nothing is tuned to agree;
seeds are numbers in the settings; a paper without a number of its own takes ``setup.seeds`` where
it is given. Real data are found by ``data.py``; what is made comes from ``adjudge.simulation``.
``setup.quick`` makes the same tables with fewer seeds, runs or draws, in less than half a minute.
Altair is imported inside ``chart`` functions only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from adjudge.errors import BadSetting
from adjudge.models.model import Progress
from adjudge.replications.cells import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a person asks for: quick or full, how many seeds, where the real data are."""

    quick: bool = False
    seeds: int | None = None  # None: as many as the paper's file says
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
class Part:
    """A unit of work, kept when it is done: a name, what it depends on, and the work."""

    name: str
    settings: Mapping[str, Any]
    work: Callable[[Progress | None], Any]

    def run(self, progress: Progress | None = None) -> Any:
        """The part's result as plain JSON."""
        return self.work(progress)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of a paper: its data, and how the chart is made of them when it is wanted."""

    name: str  # of its files
    title: str
    source: str
    data: Any  # Arrow table
    chart: Callable[[Any], Any]  # the Arrow table -> an Altair chart
    caption: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something that the paper says, whether it holds here (None: cannot be told), and why."""

    text: str
    holds: bool | None
    evidence: str  # the figures, in words
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A paper replicated: tables, figures, claims, and what it took."""

    paper: str
    title: str
    source: str
    command: str = ""  # what the page says it was made by, after ``adjudge replicate``; the paper
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    claims: Sequence[Claim] = ()
    notes: Sequence[str] = ()  # paragraphs: data, departures from the paper
    seconds: float = float("nan")  # filled in by the runner: all parts together
    busy: float = float("nan")  # seconds of all cores together
    memory: float = float("nan")  # bytes, the greatest of the parts
    parts: Mapping[str, float] = field(default_factory=dict)  # seconds of each


class Replication(Protocol):
    """A paper that can be replicated."""

    @property
    def name(self) -> str:
        """Its name on the command line."""
        ...

    @property
    def title(self) -> str:
        """What is replicated, in a line."""
        ...

    @property
    def source(self) -> str:
        """Authors, year, title, where it appeared."""
        ...

    def parts(self, setup: Setup) -> Sequence[Part]:
        """The units of work, in the order in which they run."""
        ...

    def gather(self, setup: Setup, partials: Mapping[str, Any]) -> Result:
        """The tables, figures and claims that the parts' results come to."""
        ...
