"""The pages of the docs that are made of the measurements."""

from __future__ import annotations

from pathlib import Path
from statistics import mean

import accuracy_tables as t
import tables

from adjudge.models.default import DEFAULT, SETTINGS

DOCS = Path(__file__).resolve().parents[1] / "docs" / "models"


def write(lines: t.Lines) -> None:
    """Make the pages again from the newest measurements, if there are any."""
    known = [line for line in lines if line["case"] == "accuracy" and "kind" in line]
    if known:
        tables.put(DOCS / "accuracy.md", accuracy_page(lines, known))
        tables.put(DOCS / "default.md", default_page(known))


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


def default_side() -> str:
    """The default, as it is named in the tables."""
    method = SETTINGS.get("method")
    return f"{DEFAULT}:{method}" if method else DEFAULT


def default_page(known: t.Lines) -> str:
    """What the default does on each kind of set, beside the others; then every made crowd."""
    parts, sentences = [], []
    for kind, title in t.TITLES.items():
        chosen = [line for line in known if line["kind"] == kind and _is_model(line["side"])]
        if not chosen:
            continue
        sentences.append(f"- {_sentence(chosen, title)}")
        parts += [f"## {title}", t.means(chosen)]
        if kind == "made":
            parts += ["Crowd by crowd, accuracy / log loss, means of five seeds:"]
            parts += [t.sets_table(chosen, t.sides_of(chosen))]
    return "\n\n".join(["\n".join(sentences), *parts, tables.colophon(known)])


def _is_model(side: str) -> bool:
    """Whether it is the vote or a model that can be asked for."""
    return not t.is_peer(side) and side != t.PROTOTYPE


def _sentence(lines: t.Lines, title: str) -> str:
    """How the default fares, and whether its probabilities are worse than the vote's."""
    own, vote = t.by_set(lines, default_side()), t.by_set(lines, t.VOTE)
    if not own:
        return f"**{title}**: `{default_side()}` was not measured."
    figures = {
        name: (mean(line[name] for line in own.values()), mean(vote[s][name] for s in own))
        for name in ("accuracy", "log_loss")
    }
    right, loss = figures["accuracy"], figures["log_loss"]
    best = max(
        (mean(line["accuracy"] for line in found.values()), side)
        for side in t.sides_of(lines)
        if len(found := t.by_set(lines, side)) == len(own)
    )
    worse = sum(line["log_loss"] > vote[name]["log_loss"] for name, line in own.items())
    honest = (
        f"its probabilities are worse than the vote's on {worse} of {len(own)}"
        if worse
        else "its probabilities are better than the vote's on all"
    )
    return (
        f"**{title}** ({len(own)}): accuracy {right[0]:.3f} (the vote {right[1]:.3f}; the most "
        f"accurate, `{best[1]}`, {best[0]:.3f}), log loss {loss[0]:.3f} (the vote {loss[1]:.3f}); "
        f"{honest}."
    )
