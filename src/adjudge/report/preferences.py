"""The page of a ranking by comparisons: one file that needs no network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from adjudge.data.preferences import Preferences
from adjudge.evaluation import preferences as evaluation
from adjudge.report.page import render_page, write_page

_MATRIX = 30  # items of the matrix: more cannot be read
_SURE = 0.95


def write_pair_report(found: Preferences, path: Path, *, title: str, command: str = "") -> None:
    """Write the page to a file."""
    write_page(pair_report_html(found, title=title, command=command), path)


def pair_report_html(found: Preferences, *, title: str, command: str = "") -> str:
    """The page as one HTML document."""
    fit = evaluation.measure_fit(found)
    rows = found.ranking.to_pylist()
    ends = [row["low"] for row in rows] + [row["high"] for row in rows]
    judges = [] if found.judges is None else found.judges.to_pylist()
    judges.sort(key=lambda row: -row["comparisons"])
    return render_page(
        "pairs.html.j2",
        "pairs.css",
        title=title,
        command=command,
        found=found,
        compared=found.comparisons,
        outcomes=found.comparisons.outcome_counts,
        rows=rows,
        least=min(ends),
        most=max(ends),
        judges=[row for row in judges if row["comparisons"]],
        graders=[row for row in judges if row.get("judgments")],
        kinds=_kinds(found),
        fit=fit,
        surprising=_surprising(fit.pairs),
        matrix=_matrix(found, fit.pairs),
        most_items=_MATRIX,
        next=evaluation.next_pairs(found, 10).to_pylist(),
        sureness=fit.sureness,
        needed=evaluation.comparisons_needed(found, _SURE),
        sure=_SURE,
        r_hat={} if found.samples is None else found.samples.r_hat(),
    )


def _kinds(found: Preferences) -> list[dict[str, Any]]:
    """Return the agreement of people and of LLM judges, where they are known."""
    compared = found.comparisons
    if compared.kind is None or found.judges is None:
        return []
    agreement = np.array(
        [np.nan if value is None else value for value in found.judges["agreement"].to_pylist()]
    )
    many = compared.counts_per_judge
    shown = []
    for code, name in ((0, "person"), (1, "model")):
        own = (compared.kind == code) & ~np.isnan(agreement)
        if own.any():
            mean = float((agreement[own] * many[own]).sum() / many[own].sum())
            shown.append({"name": name, "judges": int(own.sum()), "agreement": mean})
    return shown


def _surprising(pairs: Any) -> list[dict[str, Any]]:
    """The pairs whose wins are furthest from what was expected."""
    order = np.argsort(-np.abs(pairs["z"].to_numpy()), kind="stable")[:10]
    return list(pairs.take(order).to_pylist())


def _matrix(found: Preferences, pairs: Any) -> dict[str, Any]:
    """Observed and expected shares of wins of the best items against each other."""
    names = found.comparisons.items.take(found.order[:_MATRIX]).to_pylist()
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for row in pairs.to_pylist():
        many = row["comparisons"]
        cell = {"many": many, "off": abs(row["z"]) > 2.5}
        seen, due = row["observed"] / many, row["expected"] / many
        cells[row["first"], row["second"]] = {**cell, "seen": seen, "due": due}
        cells[row["second"], row["first"]] = {**cell, "seen": 1.0 - seen, "due": 1.0 - due}
    lines = [
        {"name": first, "cells": [cells.get((first, second)) for second in names]}
        for first in names
    ]
    return {"names": names, "lines": lines}
