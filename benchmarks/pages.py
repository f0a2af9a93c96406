"""The page of the docs that is made of the measurements."""

from __future__ import annotations

from pathlib import Path

import accuracy_tables as t
import tables

DOCS = Path(__file__).resolve().parents[1] / "docs" / "models"


def write(lines: t.Lines) -> None:
    """Make the page again from the newest measurements, if there are any."""
    known = [line for line in lines if line["case"] == "accuracy" and "kind" in line]
    if known:
        tables.put(DOCS / "accuracy.md", accuracy_page(lines, known))


def accuracy_page(lines: t.Lines, known: t.Lines) -> str:
    """Means and every set, of real crowds and panels, then copies, less, and gold."""
    parts = []
    for kind in ("crowd", "panel"):
        chosen = [line for line in known if line["kind"] == kind]
        if not chosen:
            continue
        sides = t.sides_of(chosen)
        ours = [side for side in sides if not t.is_peer(side)]
        peers = [side for side in sides if t.is_peer(side)]
        sets = len({line["set"] for line in chosen})
        parts += [f"## {t.TITLES[kind]}", f"Means over {sets} sets:", t.means(chosen)]
        parts += ["Set by set, accuracy / log loss:", t.sets_table(chosen, ours)]
        if peers:
            parts += ["Other libraries:", t.sets_table(chosen, peers)]
    for case, text in (("copies", t.copies), ("thinned", t.thinned), ("gold", t.gold)):
        chosen = [line for line in lines if line["case"] == case]
        if chosen:
            parts.append(text(chosen).replace("### ", "## ", 1))
    parts.append(tables.colophon(known))
    return "\n\n".join(parts)
