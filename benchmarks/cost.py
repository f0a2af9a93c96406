"""What a fit costs until it has converged, each model next to Dawid-Skene in the same run."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import made
import numpy as np
from entries import entries, is_factored
from made import Size, size_of, what_of
from meter import Meter
from scoring import score
from sets import list_sets, read_set

from adjudge import Judgments, ThreadsEngine
from adjudge.evaluation.comparison import Entrant
from adjudge.simulation import Crowd, Population

if TYPE_CHECKING:
    from side_by_side import Run

CASE = "cost"
SIZES = (10**6, 10**7)
PANEL = "llmjudge"
_QUICK = ("dawid-skene", "item-types")


def cost(run: Run) -> None:
    """The case: made crowds of a million judgments and ten, and the largest panel."""
    for judgments in run.sizes:
        if judgments not in SIZES and not run.quick:
            continue
        for classes in run.classes:
            size = size_of(judgments, classes)
            folder = str(made.arrays(size, run.cache))
            shape = [size.items, size.judges, size.classes]
            sides = {
                name: partial(
                    run.ours,
                    "cost of made",
                    side=name,
                    size=shape,
                    folder=folder,
                    threads=run.threads,
                )
                for name in (_QUICK if run.quick else names())
            }
            run.comparison(CASE, what_of(size), sides)
    if PANEL in list_sets(run.data) and not run.quick:
        given: dict[str, Any] = {"name": PANEL, "data": str(run.data), "threads": run.threads}
        sides = {name: partial(run.ours, "cost of real", side=name, **given) for name in names()}
        run.comparison(CASE, {"set": PANEL}, sides)


def names() -> list[str]:
    """The models that sweep over the judgments and do not sample."""
    return [entry.name for entry in entries() if not is_factored(entry)]


def measure_made(side: str, size: list[int], folder: str, threads: int) -> dict[str, Any]:
    """A model on a made crowd, until it has converged."""
    shape = Size(*size)
    judgments = made.judgments(shape, Path(folder))
    truth = np.load(Path(folder) / "truth.npy")
    return _measure(_entry(side), judgments, truth, threads)


def measure_real(side: str, name: str, data: str, threads: int) -> dict[str, Any]:
    """A model on a real set, fitted a second time: everything is loaded."""
    held = read_set(list_sets(Path(data))[name])
    entry = _entry(side)
    entry.model.fit(held.judgments, engine=ThreadsEngine(threads=threads))
    return _measure(entry, held.judgments, held.truth, threads)


def _entry(side: str) -> Entrant:
    return next(entry for entry in entries() if entry.name == side)


def _measure(entry: Entrant, judgments: Judgments, truth: Any, threads: int) -> dict[str, Any]:
    engine = ThreadsEngine(threads=threads)
    tiny = Crowd(items=50, population=Population.parse("skilled:20"), scale=judgments.scale)
    entry.model.fit(tiny.make().judgments, engine=engine)
    with Meter() as meter:
        consensus = entry.model.fit(judgments, engine=engine)
    figures = score(truth, consensus.posterior)
    found = {name: figures[name] for name in ("accuracy", "log_loss")}
    return {**meter.reading, "iterations": len(consensus.trace), **found}


TASKS = {"cost of made": measure_made, "cost of real": measure_real}
