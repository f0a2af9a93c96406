"""What a replication gives (tables, claims, figures) and the page that shows it.

A run of an experiment is ``{row: {column: value}}``. ``compare`` takes one run per seed and puts
mean and sd next to the published values.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from scipy.stats import t

from adjudge import BadSetting
from adjudge.report.saving import save
from papers.stats import LEAST_SEEDS, Interval, hold_all

Run = Mapping[str, Mapping[str, float]]
_PAGES = Path(__file__).parent / "pages"
BEYOND = "ours"
_VERDICTS = {True: "holds", False: "does not hold", None: "undecided"}
_PASSES = {True: "pass", False: "fail", None: "none, or in words only"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a paper is run: quick or in full, with how many seeds, on which data."""

    quick: bool = False
    seeds: int | None = None  # None: the number that the paper's module sets
    data: Path | None = None  # None: ADJUDGE_DATA, or ../shared/data
    judgments: Path | None = None  # other judgments than the paper's
    gold: Path | None = None  # None: in the file of the judgments

    def __post_init__(self) -> None:
        if self.seeds is not None and self.seeds < 1:
            raise BadSetting("seeds", self.seeds, "1 or more")
        if self.gold is not None and self.judgments is None:
            raise BadSetting("gold", str(self.gold), "--judgments FILE next to it")

    def count(self, *, full: int, quick: int) -> int:
        """The number of seeds or runs."""
        return self.seeds or (quick if self.quick else full)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: its data as a DataFrame, and the Altair chart."""

    data: Any
    chart: Any


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether a claim holds here (None: undecided), and the values behind that.

    ``passes`` is what the same criterion says of the published figures, None where there are none.
    """

    holds: bool | None
    obtained: str
    interval: str = ""
    published: str = ""
    passes: bool | None = None
    readings: str = ""  # what other readings of the paper give

    @classmethod
    def above(
        cls,
        gaps: Mapping[str, Interval],
        least: float = 0.0,
        *,
        published: Mapping[str, float] | None = None,
        readings: Mapping[str, Mapping[str, Interval]] | None = None,
        form: str = "+.3f",
    ) -> Finding:
        """Whether every difference is above a value; shows the difference that decides.

        It holds if every interval is above the value, and fails if one is entirely below it.
        """

        def decide(found: Mapping[str, Interval]) -> tuple[bool | None, str]:
            verdict = hold_all(gap.above(least) for gap in found.values())
            edge = "high" if verdict is False else "low"
            return verdict, min(found, key=lambda name: getattr(found[name], edge))

        verdict, name = decide(gaps)
        others = []
        for reading, found in (readings or {}).items():
            holds, which = decide(found)
            others.append(
                f"{reading}: {found[which].mean:{form}} {which}".rstrip() + f", {_VERDICTS[holds]}"
            )
        paper = published or {}
        lowest = min(paper, key=lambda key: paper[key], default="")
        return cls(
            verdict,
            f"{gaps[name].mean:{form}} {name}".strip(),
            gaps[name].show(form),
            f"{paper[lowest]:{form}} {lowest}".strip() if paper else "",
            paper[lowest] > least if paper else None,
            "; ".join(others),
        )

    @classmethod
    def within(cls, gaps: Mapping[str, Interval], margin: float) -> Finding:
        """Whether every difference is smaller than a margin; shows the one furthest from 0."""
        most = max(gaps, key=lambda name: max(gaps[name].high, -gaps[name].low))
        verdict = hold_all(gap.within(margin) for gap in gaps.values())
        return cls(verdict, f"{gaps[most].mean:+.3f} {most}".strip(), gaps[most].show())


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of the paper, its source and its criterion, with what was found."""

    text: str
    source: str  # BEYOND where this project asks it
    criterion: str
    apart: str  # why the claim is not counted; empty where it is
    verdict: str
    finding: Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Replication:
    """The result of one paper.

    ``findings`` are named as in ``pages/PAPER.toml``, which has what the paper claims; a result on
    other data than the paper's has none. The page quotes ``values``.
    """

    tables: Mapping[str, Any]  # DataFrames from ``compare``
    figures: Mapping[str, Figure]
    findings: Mapping[str, Finding]
    values: Mapping[str, Any]
    about: str = ""  # description of data that are not the paper's


class Printed(float):
    """A published number that knows how many decimals were printed."""

    decimals: int

    def __new__(cls, text: str) -> Printed:
        """Take the number as it is printed."""
        found = super().__new__(cls, text)
        found.decimals = len(text.partition(".")[2])
        return found


def compare(
    values: Sequence[Run] | Mapping[tuple[str, str], Any],
    published: Run | None = None,
    *,
    notes: Mapping[tuple[str, str], str] | None = None,
    apart: str | Mapping[str, str] = "",
    decimals: int = 3,
    published_runs: int = 1,
) -> Any:
    """A DataFrame with one row per cell: mean and sd over runs, next to the published value.

    ``values`` are runs, or the values of all runs by row and column. ``apart`` says why cells (all,
    or those of a row or column) do not count: ranks, costs, or what settings were chosen to meet.
    A value agrees if it is within the printed decimals and the Monte Carlo error of both sides.
    """
    cells = values if isinstance(values, Mapping) else _by_cell(values)
    why = {} if isinstance(apart, str) else apart
    rows = []
    for (row, column), found in cells.items():
        paper = (published or {}).get(row, {}).get(column, math.nan)
        mean = float(np.mean(found))
        sd = float(np.std(found, ddof=1)) if len(found) > 1 else math.nan
        unit = 0.5 * 10.0 ** -getattr(paper, "decimals", 0 if isinstance(paper, int) else decimals)
        agrees = None
        if len(found) >= LEAST_SEEDS and not math.isnan(paper):
            spread = sd * math.sqrt(1 / len(found) + 1 / published_runs)
            agrees = abs(paper - mean) <= unit + t.ppf(0.975, len(found) - 1) * spread + 1e-12
        note = (notes or {}).get((row, column), "")
        reason = apart if isinstance(apart, str) else why.get(row, why.get(column, ""))
        rows.append((row, column, float(paper), mean, sd, agrees, reason, note, decimals))
    heads = ["row", "column", "published", "obtained", "sd", "agrees", "apart", "note", "decimals"]
    return pd.DataFrame(rows, columns=heads)


def _by_cell(runs: Sequence[Run]) -> dict[tuple[str, str], list[float]]:
    cells = [(row, column) for row, columns in runs[0].items() for column in columns]
    return {(row, column): [run[row][column] for run in runs] for row, column in cells}


@cache
def _load(name: str) -> dict[str, Any]:
    text = (_PAGES / f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text, parse_float=Printed)


def read_published(name: str) -> dict[str, Any]:
    """The published values in ``pages/PAPER.toml``, by table."""
    return dict(_load(name)["published"])


def read_claims(name: str, findings: Mapping[str, Finding]) -> list[Claim]:
    """What ``pages/PAPER.toml`` says of the claims, with what was found for each."""
    said, found = _load(name)["claims"], []
    for full_name, finding in findings.items():
        key, _, data = full_name.partition("@")
        entry = said[key]
        text = f"{entry['text']} ({data})" if data else entry["text"]
        source = BEYOND if data else entry["source"]
        apart = entry.get("apart", "") if not data else ""
        verdict = "not counted" if apart else _VERDICTS[finding.holds]
        found.append(Claim(text, source, entry["criterion"], apart, verdict, finding))
    return found


def count_verdicts(claims: Iterable[Claim]) -> dict[str, int]:
    """How many of the paper's own claims hold, do not, are undecided or are not counted."""
    own = [claim.verdict for claim in claims if claim.source != BEYOND]
    return {name: own.count(name) for name in (*_VERDICTS.values(), "not counted")}


def count_cells(tables: Iterable[Any]) -> tuple[int, int]:
    """How many published values agree, of how many that are compared."""
    cells = pd.concat(list(tables))
    cells = cells[cells.agrees.notna() & (cells.apart == "")]
    return int(cells.agrees.sum()), len(cells)


def write(name: str, text: str, result: Replication, folder: Path, *, verdicts: bool) -> None:
    """Write the page, and a folder with one CSV per table and figure, and pictures."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    for key, table in result.tables.items():
        table.drop(columns="decimals").to_csv(place / f"{key}.csv", index=False)
    for key, figure in result.figures.items():
        figure.data.drop(columns="decimals", errors="ignore").to_csv(
            place / f"{key}.csv", index=False
        )
        for suffix in (".png", ".svg"):
            save(figure.chart, place / f"{key}{suffix}")
    if result.findings:
        rows = [
            {
                "claim": claim.text, "source": claim.source, "criterion": claim.criterion,
                "published": claim.finding.published, "obtained": claim.finding.obtained,
                "interval": claim.finding.interval,
                "verdict": claim.verdict if verdicts else "",
                "published values by the criterion": _PASSES[claim.finding.passes],
                "other readings": claim.finding.readings, "not counted because": claim.apart,
            }
            for claim in read_claims(name, result.findings)
        ]  # fmt: skip
        pd.DataFrame(rows).to_csv(place / "claims.csv", index=False)
    (folder / f"{name}.md").write_text(text, encoding="utf-8")


def render(name: str, made: str, result: Replication, *, verdicts: bool) -> str:
    """The page of a paper; ``made`` says how and how long it was run.

    ``verdicts``: whether claims get one. Quick runs and runs of fewer than three seeds have none.
    """
    env = Environment(loader=FileSystemLoader(_PAGES), undefined=StrictUndefined)  # noqa: S701
    page = _load(name)

    def fill(text: str) -> str:
        return env.from_string(text).render(result.values)

    claims = read_claims(name, result.findings)
    cells = {key: count_cells([table]) for key, table in result.tables.items()}
    return env.get_template("page.md").render(
        name=name,
        made=made,
        title=page["title"],
        citation=page["citation"],
        about=result.about or fill(page["data"]),
        method=fill(page["method"]),
        readings=[] if result.about else [fill(text) for text in page["readings"]],
        chosen=[] if result.about else page["chosen"],
        captions={key: fill(text) for key, text in page["figures"].items()},
        figures=list(result.figures),
        claims=claims,
        verdicts=verdicts,
        counts=count_verdicts(claims),
        tables={key: format_table(table) for key, table in result.tables.items()}
        if result.about
        else {},
        cells=cells,
    )


def index(rows: Iterable[tuple[str, Replication, float]], manner: str) -> str:
    """The page that lists the papers: name, result and seconds of CPU time of each."""
    env = Environment(loader=FileSystemLoader(_PAGES), undefined=StrictUndefined)  # noqa: S701
    listed = []
    for name, result, seconds in rows:
        cells = count_cells(result.tables.values())
        counts = count_verdicts(read_claims(name, result.findings))
        listed.append((name, _load(name)["title"], *cells, *counts.values(), f"{seconds:.0f}"))
    return env.get_template("index.md").render(rows=listed, manner=manner)


def format_table(cells: Any) -> str:
    """The cells as a Markdown table: mean ± sd over seeds."""
    columns = list(dict.fromkeys(cells.column))
    lines = [f"| | {' | '.join(columns)} |", "| --- |" + " --- |" * len(columns)]
    for row in dict.fromkeys(cells.row):
        shown = {cell.column: _format_cell(cell) for cell in cells[cells.row == row].itertuples()}
        lines.append(f"| {row} | {' | '.join(shown.get(c, '–') for c in columns)} |")
    return "\n".join(lines)


def _format_cell(cell: Any) -> str:
    if math.isnan(cell.obtained):
        return "–"
    text = f"{cell.obtained:.{cell.decimals}f}"
    text += f" ± {cell.sd:.{cell.decimals}f}" if cell.sd > 0 else ""
    return f"{text} {cell.note}".strip()
