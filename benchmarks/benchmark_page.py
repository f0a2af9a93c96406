"""The benchmark page of the docs: a table of all sides by kind of set, and a picture."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import mean
from typing import Any

import tables
from accuracy import CASE, VOTE
from model_tables import KINDS, Line, Lines, is_peer, sides_of, table

from adjudge.models.registry import DEFAULT

DOCS = Path(__file__).resolve().parents[1] / "docs"
PICTURE = DOCS / "images" / "benchmark.png"
FIGURES = ("accuracy", "log_loss", "ece")
# Equal or nearly equal to others in the picture.
ALIKE = ("majority-vote", "vote", "crowd-kit MajorityVote", "crowd-kit Wawa", "single-confusion")


def write(lines: Lines) -> None:
    """Write the page from the newest measurements, if there are any."""
    known = [line for line in lines if line["case"] == CASE]
    if known:
        tables.put(DOCS / "benchmark.md", f"{_table(known)}\n\n{tables.colophon(known)}")
        draw(known)


def by_family(lines: Lines, side: str, sets: set[str]) -> dict[str, Line]:
    """Return the figures of a side on some sets, averaged within each family."""
    found: dict[str, Lines] = {}
    for line in lines:
        if line["side"] == side and line["set"] in sets and "accuracy" in line:
            found.setdefault(line["family"], []).append(line)
    return {family: _mean(own) for family, own in found.items()}


def _mean(lines: Iterable[Line]) -> Line:
    rows = list(lines)
    return {name: mean(line[name] for line in rows) for name in FIGURES}


def _sets(lines: Lines, kind: str, side: str = VOTE) -> set[str]:
    """Return the sets of a kind on which a side has figures."""
    return {c["set"] for c in lines if (c["kind"], c["side"]) == (kind, side) and "accuracy" in c}


def _table(lines: Lines) -> str:
    """One row per side: its figures for each kind of set."""
    every = {kind: _sets(lines, kind) for kind in KINDS}
    rows = []
    for side in sides_of(lines):
        cells = [_cell(lines, side, kind, sets) for kind, sets in every.items()]
        cpu = sum(line.get("cpu") or 0.0 for line in lines if line["side"] == side)
        rows.append((_name(side), *cells, f"{cpu:.1f}"))
    families = {kind: len(by_family(lines, VOTE, sets)) for kind, sets in every.items()}
    header = (f"{KINDS[k]}: {len(every[k])} sets, {families[k]} families" for k in KINDS)
    return table(("", *header, "CPU s"), rows)


def _name(side: str) -> str:
    return side if is_peer(side) or side == VOTE else f"**{side}**"


def _cell(lines: Lines, side: str, kind: str, every: set[str]) -> str:
    """The figures of a side; where it lacks sets, its gain over the vote on those that it has."""
    sets = _sets(lines, kind, side)
    if not sets:
        return "–"
    own, vote, best = (by_family(lines, one, sets) for one in (side, VOTE, DEFAULT))
    if sets == every:
        return " / ".join(f"{value:.3f}" for value in _mean(own.values()).values())
    gain, other = (_mean(one.values())["accuracy"] for one in (own, best))
    base = _mean(vote.values())["accuracy"]
    return f"on {len(sets)} sets: {gain - base:+.3f} to the vote ({DEFAULT} {other - base:+.3f})"


def draw(lines: Lines) -> None:
    """Draw accuracy against log loss for people and for LLM judges."""
    import altair as alt
    import pyarrow as pa

    rows: list[dict[str, Any]] = []
    for kind in ("crowds", "panels"):
        every = _sets(lines, kind)
        for side in sides_of(lines):
            if side in ALIKE or _sets(lines, kind, side) != every:
                continue
            who = "other library" if is_peer(side) else "vote" if side == VOTE else "adjudge"
            means = _mean(by_family(lines, side, every).values())
            rows.append({"side": side, "judges": KINDS[kind], "who": who, **means})
    scale = alt.Scale(type="log", domain=[0.5, 6], nice=False)
    base = alt.Chart(pa.Table.from_pylist(rows)).encode(
        x=alt.X("log_loss:Q", title="log loss (left is better)", scale=scale),
        y=alt.Y("accuracy:Q", title="accuracy", scale=alt.Scale(zero=False)),
    )
    points = base.mark_point(filled=True, size=70).encode(
        color=alt.Color("who:N", title=None), shape=alt.Shape("who:N", title=None)
    )
    names = base.mark_text(align="left", dx=7, fontSize=9).encode(text="side:N")
    chart = (points + names).properties(width=380, height=330)
    chart.facet(column=alt.Column("judges:N", title=None, sort=["people"])).resolve_scale(
        x="independent", y="independent"
    ).save(PICTURE, ppi=80)
