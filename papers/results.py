"""What a replication gives (tables, claims, figures) and the page that shows it.

A run of an experiment is ``{row: {column: value}}``. ``compare`` takes one run per seed and puts
mean and sd next to the published values.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from adjudge import BadSetting
from adjudge.report.saving import save

Run = Mapping[str, Mapping[str, float]]
_PAGES = Path(__file__).parent / "pages"
_ROUNDED = 5e-4  # published values have three digits: closer than this is equal
_VERDICTS = {True: "holds", False: "does not hold", None: "undecided"}
_OWN_FIGURES = {
    True: ". The published figures pass it",
    False: ". **The paper's own figures fail it**, so this counts neither for nor against it",
    None: "",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a paper is run: quick or in full, with how many seeds, on data in which folder."""

    quick: bool = False
    seeds: int | None = None  # None: the number that the paper's module sets
    data: Path | None = None  # None: ADJUDGE_DATA, or ../shared/data

    def __post_init__(self) -> None:
        if self.seeds is not None and self.seeds < 2:
            raise BadSetting("seeds", self.seeds, "2 or more: sd is over seeds")

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
    """Whether a claim holds here (None: undecided), and the figures behind that.

    ``passes`` is what the same criterion says of the published figures, None where there are none.
    """

    holds: bool | None
    evidence: str
    published: str = ""
    passes: bool | None = None
    readings: str = ""  # what other readings of the paper give


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of the paper, its source and its criterion, with what was found."""

    text: str
    source: str  # "beyond the paper" where this project asks it
    criterion: str
    reading: str
    finding: Finding

    @property
    def beyond(self) -> bool:
        """Whether this project asks it, not the paper."""
        return "beyond the paper" in self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class Replication:
    """The result of one paper.

    ``findings`` go by the names in ``pages/PAPER.toml``, which says what the paper claims;
    ``name@data`` is the same claim on other data, beyond the paper. The page quotes ``values``.
    """

    tables: Mapping[str, Any]  # DataFrames from ``compare``
    figures: Mapping[str, Figure]
    findings: Mapping[str, Finding]
    values: Mapping[str, Any]


def compare(
    values: Sequence[Run] | Mapping[tuple[str, str], Any],
    published: Run | None = None,
    *,
    notes: Mapping[tuple[str, str], str] | None = None,
    exact: Collection[str] = (),
    digits: int = 3,
) -> Any:
    """A DataFrame with one row per cell: mean and sd over runs, next to the published value.

    ``values`` are runs, or the values of all runs by row and column. Columns in ``exact`` have one
    value without spread, such as a rank.
    """
    rows = []
    for (row, column), found in (
        values if isinstance(values, Mapping) else _by_cell(values)
    ).items():
        told = (published or {}).get(row, {}).get(column, math.nan)
        mean = float(np.mean(found))
        sd = float(np.std(found, ddof=1)) if len(found) > 1 else math.nan
        sd = 0.0 if column in exact or sd < 1e-12 else sd
        differs = abs(told - mean) > max(2 * sd, _ROUNDED) and not math.isnan(sd)
        note = (notes or {}).get((row, column), "")
        rows.append((row, column, told, mean, sd, differs, note, digits))
    heads = ["row", "column", "published", "obtained", "sd", "differs", "note", "digits"]
    return pd.DataFrame(rows, columns=heads)


def _by_cell(runs: Sequence[Run]) -> dict[tuple[str, str], list[float]]:
    found: dict[tuple[str, str], list[float]] = {}
    for run in runs:
        for row, columns in run.items():
            for column, value in columns.items():
                found.setdefault((row, column), []).append(value)
    return found


def check(
    test: Callable[[Any], bool | None],
    show: Callable[[Any], str],
    ours: Any,
    *,
    published: Any = None,
    readings: Mapping[str, Any] | None = None,
) -> Finding:
    """Apply one criterion to our figures, to the published ones, and under other readings."""
    others = [f"{name}: {show(v)}, {_VERDICTS[test(v)]}" for name, v in (readings or {}).items()]
    told = () if published is None else (show(published), test(published))
    return Finding(test(ours), show(ours), *(told or ("", None)), "; ".join(others))


def _load(name: str) -> dict[str, Any]:
    return tomllib.loads((_PAGES / f"{name}.toml").read_text(encoding="utf-8"))


def read_published(name: str) -> dict[str, Any]:
    """The published values in ``pages/PAPER.toml``, by table."""
    return dict(_load(name)["published"])


def read_claims(name: str, findings: Mapping[str, Finding]) -> list[Claim]:
    """What ``pages/PAPER.toml`` says of the claims, with what was found for each."""
    said, found = _load(name)["claims"], []
    for key, finding in findings.items():
        name, _, data = key.partition("@")
        entry = said[name]
        text = f"{entry['text']} ({data})" if data else entry["text"]
        source = "beyond the paper" if data else str(entry["source"])
        remark, reading = entry.get("remark", ""), entry.get("reading", "")
        published = ". ".join(filter(None, (finding.published, remark)))
        both = ". ".join(filter(None, (reading, finding.readings)))
        full = replace(finding, published=published)
        found.append(Claim(text, source, entry.get("criterion", ""), both, full))
    return found


def write(name: str, text: str, result: Replication, folder: Path) -> None:
    """Write the page, and a folder with one CSV per table and figure, and pictures."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    for key, table in result.tables.items():
        table.drop(columns="digits").to_csv(place / f"{key}.csv", index=False)
    for key, figure in result.figures.items():
        figure.data.drop(columns="digits", errors="ignore").to_csv(
            place / f"{key}.csv", index=False
        )
        for suffix in (".png", ".svg"):
            save(figure.chart, place / f"{key}{suffix}")
    (folder / f"{name}.md").write_text(text, encoding="utf-8")


def render(name: str, made: str, result: Replication) -> str:
    """The page of a paper, from its template; ``made`` says how and how long it was run."""
    env = Environment(loader=FileSystemLoader(_PAGES), undefined=StrictUndefined)  # noqa: S701
    return env.get_template(f"{name}.md").render(
        result.values,
        made=f"{made} Cells: obtained ± sd over seeds (published).",
        claims=_claims(read_claims(name, result.findings)),
        tables=result.tables,
        table=lambda key: _table(result.tables[key], f"{name}/{key}.csv"),
        figure=lambda key: f"![{key}]({name}/{key}.png)\n\nData: [{key}.csv]({name}/{key}.csv)",
    )


def index(rows: Iterable[tuple[str, str, Replication, float]], manner: str) -> str:
    """The page that lists the papers: name, page, result and seconds of each."""
    lines = [
        f"# Replications\n\nThe papers behind the models, each published value next to the one "
        f"obtained here. {manner} The pages are written by `./scripts/replicate`.\n\n"
        "A cell agrees if published and obtained differ by at most two sd over seeds. A claim is "
        "tested by a criterion that is also applied to the paper's own figures, where it has "
        "some.\n",
        "| paper | cells | within two sd | claims that hold | beyond the paper | seconds |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, text, result, seconds in rows:
        title = text.splitlines()[0].strip("# ")
        cells = pd.concat(result.tables.values())
        cells = cells[cells.published.notna()]
        claims = read_claims(name, result.findings)
        ours, more = ([c for c in claims if c.beyond == side] for side in (False, True))
        counts = f"{count_holding(ours)} | {count_holding(more)} | {seconds:.0f}"
        lines.append(
            f"| [{title}]({name}.md) | {len(cells)} | {(~cells.differs).sum()} | {counts} |"
        )
    return "\n".join([*lines, ""])


def count_holding(claims: Sequence[Claim]) -> str:
    """How many claims hold of those decided, and how many are undecided."""
    holds = [claim.finding.holds for claim in claims]
    rest = holds.count(None)
    more = f" ({rest} undecided)" if rest else ""
    return f"{holds.count(True)} of {len(holds) - rest}{more}"


def _claims(claims: Sequence[Claim]) -> str:
    parts = []
    for head, beyond in (("What the paper says", False), ("Beyond the paper", True)):
        chosen = [claim for claim in claims if claim.beyond == beyond]
        if chosen:
            parts += [f"## {head}", f"{count_holding(chosen)} hold."]
            parts.append("\n".join(map(_claim, chosen)))
    return "\n\n".join(parts)


def _claim(claim: Claim) -> str:
    found = claim.finding
    head = f"- **{_VERDICTS[found.holds].capitalize()}**: {claim.text}"
    details = {"Obtained": found.evidence, "Criterion": claim.criterion, "Reading": claim.reading}
    if not claim.beyond:
        head += f" ({claim.source})"
        details = {"Published": found.published or "in words only", **details}
        details["Criterion"] += _OWN_FIGURES[found.passes]
    lines = [f"    - *{name}:* {text.strip('. ')}." for name, text in details.items() if text]
    return "\n".join([head, *lines])


def _table(cells: Any, file: str) -> str:
    """The cells as a Markdown table; a star marks those that differ from the published value."""
    columns = list(dict.fromkeys(cells.column))
    lines = [f"| | {' | '.join(columns)} |", "| --- |" + " --- |" * len(columns)]
    for row in dict.fromkeys(cells.row):
        shown = {cell.column: _cell(cell) for cell in cells[cells.row == row].itertuples()}
        lines.append(f"| {row} | {' | '.join(shown.get(c, '–') for c in columns)} |")
    known = int(cells.published.notna().sum())
    differ = f" {cells.differs.sum()} of {known} published cells differ by more than two sd (*)."
    return "\n".join(lines) + f"\n\nData: [{Path(file).name}]({file}).{differ if known else ''}"


def _cell(cell: Any) -> str:
    if math.isnan(cell.obtained):
        return "–"
    form = f".{cell.digits}f" if cell.sd != 0 else "g"  # a value without spread, such as a rank
    text = f"{round(cell.obtained, cell.digits):{form}}"
    text += f" ± {cell.sd:{form}}" if cell.sd > 0 else ""
    if not math.isnan(cell.published):
        text += f" ({cell.published:{form}})" + "*" * cell.differs
    return f"{text} {cell.note}".strip()
