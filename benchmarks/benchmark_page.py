"""The benchmark page of the docs: a table of all sides by kind of set, and a picture."""

from __future__ import annotations

from pathlib import Path
from statistics import mean
from typing import Any

import tables
from accuracy import CASE, VOTE
from model_tables import KINDS, Line, Lines, is_peer, sides_of, table

DOCS = Path(__file__).resolve().parents[1] / "docs"
PICTURE = DOCS / "images" / "benchmark.png"
FIGURES = ("accuracy", "log_loss", "ece")
TITLES = ("accuracy", "log loss", "calibration error")


def write(lines: Lines) -> None:
    """Write the page from the newest measurements, if there are any."""
    known = [line for line in lines if line["case"] == CASE]
    if known:
        tables.put(DOCS / "benchmark.md", f"{_table(known)}\n\n{tables.colophon(known)}")
        draw(known)


def by_family(lines: Lines, side: str, kind: str) -> dict[str, Line]:
    """Return the figures of a side, averaged within each family of a kind."""
    found: dict[str, Lines] = {}
    for line in lines:
        if (line["side"], line["kind"]) == (side, kind) and "accuracy" in line:
            found.setdefault(line["family"], []).append(line)
    return {family: _mean(own) for family, own in found.items()}


def _mean(lines: Lines) -> Line:
    names = [name for name in FIGURES if all(name in line for line in lines)]
    return {name: mean(line[name] for line in lines) for name in names}


def _table(lines: Lines) -> str:
    """One row per side: families, then figures, for each kind of set."""
    families = {kind: by_family(lines, VOTE, kind) for kind in KINDS}
    rows = []
    for side in sides_of(lines):
        cells = []
        for kind, vote in families.items():
            own = by_family(lines, side, kind)
            cells.append(_cell(own, vote))
        ran = sum(line["side"] == side and "accuracy" in line for line in lines)
        cpu = sum(line.get("cpu") or 0.0 for line in lines if line["side"] == side)
        rows.append((_name(side), *cells, str(ran), f"{cpu:.1f}"))
    sets = {kind: len({c["set"] for c in lines if c["kind"] == kind}) for kind in KINDS}
    header = (f"{KINDS[kind]}: {sets[kind]} sets, {len(families[kind])} families" for kind in KINDS)
    return table(("", *header, "sets run", "CPU s"), rows)


def _name(side: str) -> str:
    return side if is_peer(side) or side == VOTE else f"**{side}**"


def _cell(own: dict[str, Line], vote: dict[str, Line]) -> str:
    """The figures of a side; where it lacks families, its gain on those that it has."""
    if not own:
        return "–"
    if len(own) < len(vote):
        gain = mean(own[family]["accuracy"] - vote[family]["accuracy"] for family in own)
        return f"({len(own)} families: {gain:+.3f} to the vote)"
    means = _mean(list(own.values()))
    return " / ".join(f"{means[name]:.3f}" for name in FIGURES if name in means)


def draw(lines: Lines) -> None:
    """Draw accuracy against log loss for people and for LLM judges."""
    import altair as alt
    import pyarrow as pa

    rows: list[dict[str, Any]] = []
    for kind in ("crowds", "panels"):
        families = by_family(lines, VOTE, kind)
        for side in sides_of(lines):
            own = by_family(lines, side, kind)
            means = _mean(list(own.values()))
            if len(own) == len(families) and "log_loss" in means:
                who = "other library" if is_peer(side) else "adjudge"
                who = "vote" if side == VOTE else who
                rows.append({"side": side, "judges": KINDS[kind], "who": who, **means})
    base = alt.Chart(pa.Table.from_pylist(rows)).encode(
        x=alt.X("log_loss:Q", title="log loss (left is better)", scale=alt.Scale(type="log")),
        y=alt.Y("accuracy:Q", title="accuracy", scale=alt.Scale(zero=False)),
    )
    points = base.mark_point(filled=True, size=70).encode(
        color=alt.Color("who:N", title=None), shape=alt.Shape("who:N", title=None)
    )
    names = base.mark_text(align="left", dx=7, fontSize=9).encode(text="side:N")
    chart = (points + names).properties(width=380, height=330)
    chart.facet(column=alt.Column("judges:N", title=None)).resolve_scale(
        x="independent", y="independent"
    ).save(PICTURE, ppi=110)
