"""Which exports can be made of a project as it is, and why the others cannot, before any is asked.

A format is tried on a few rows: one item and more of each label, and every kind of id that a format
may be unable to hold.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import func, or_, select

from adjudge.collect.managing.exporting import (
    list_exports,
    list_unjudged,
    make_content,
    write_format,
)
from adjudge.collect.managing.projects import read_project
from adjudge.collect.store.arrow import label_of, read_gold, read_judgments
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import items, judgments
from adjudge.data.scale import as_number
from adjudge.errors import AdjudgeError

_FEW = 40  # items of each sort that a format is tried on
_SPACES = (" ", "\t", "\n", "\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Offer:
    """An export, and why it cannot be made; empty where it can."""

    name: str
    title: str
    kind: str
    extension: str
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Offers:
    """Every export of a project, and what labels leave out."""

    offers: list[_Offer]
    labelled: int  # items that the fit has a label for
    unjudged: int  # items that nobody trusted judged, which no export of labels holds
    golds: int  # items of known label, which are exported as gold
    graded: bool  # whether each label stands for a number


def list_offers(request: Request, labels: Any) -> _Offers:
    """Every export, tried on a few rows. ``labels`` is the consensus table, None without a fit."""
    held = {
        "labels": None if labels is None else _few_labels(labels),
        "judgments": _few_judgments(request),
        "gold": read_gold(request.on, request.project),
    }
    project = read_project(request.on, request.project.id)
    project = replace(project, items=project.items[:_FEW])
    offers = []
    for entry in list_exports():
        if entry.kind == "comparisons" and not request.project.of_pairs:
            continue
        problem = ""
        if entry.kind in held:
            try:
                content = make_content(request, entry.kind, held[entry.kind], project)
                write_format(content, entry, io.BytesIO())
            except AdjudgeError as fault:
                problem = _told(str(fault))
        offers.append(
            _Offer(name=entry.name, title=entry.title, kind=entry.kind, extension=entry.extension,
                   problem=problem)
        )  # fmt: skip
    scale = request.project.scale
    numbers = all(as_number(label) is not None for label in scale.labels)
    return _Offers(
        offers=offers,
        labelled=0 if labels is None else len(labels),
        unjudged=len(list_unjudged(request)),
        golds=sum(gold.active for gold in request.project.golds.values()),
        graded=bool(scale.grades) or scale.ordinal or numbers,
    )


def _told(problem: str) -> str:
    """A problem in the words of the page, rather than of a command line."""
    if "rates with numbers" in problem:
        return "Its labels are numbers: give each label a grade, below."
    if "count as relevant" in problem:
        return "It knows relevant and not: give each label a grade, below; 0 is not relevant."
    return f"{problem[:1].upper()}{problem[1:]}."


def _few_labels(labels: Any) -> Any:
    """Rows of a consensus table: some of each label, and ids that are hard to write."""
    kept: list[int] = []
    count: dict[Any, int] = {}
    names = [name for name in ("item", "topic", "document") if name in labels.column_names]
    ids = [labels[name].to_pylist() for name in names]
    for row, label in enumerate(labels["label"].to_pylist()):
        count[label] = count.get(label, 0) + 1
        hard = any(mark in (one[row] or " ") for one in ids for mark in _SPACES)
        if count[label] <= 3 or (hard and len(kept) < _FEW):
            kept.append(row)
    return labels.take(kept)


def _few_judgments(request: Request) -> Any:
    """The judgments of a few items: one at least of each label, and ids that are hard to write."""
    ours = judgments.c.project == request.project.id
    plain = (ours, judgments.c.kind == "work", judgments.c.gold.is_(None))
    label = label_of(request.project.question)
    of_labels = select(func.min(judgments.c.item)).where(*plain).group_by(label)
    hard = or_(*(items.c[c].contains(m) for c in ("document", "topic", "name") for m in _SPACES))
    odd = select(items.c.id).where(items.c.project == request.project.id, hard).limit(_FEW)
    few = select(judgments.c.item).where(*plain).order_by(judgments.c.id).limit(_FEW)
    chosen = set()
    for wanted in (of_labels, odd, few):
        chosen |= set(request.on.execute(wanted).scalars())
    return read_judgments(
        request.on, request.project, trusted=True, golds=False, only=sorted(chosen)
    )
