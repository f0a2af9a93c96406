"""What is measured of adjudge (and of pyarrow alone), each task in a process of its own."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import accuracy
import cost
import from_table
import numpy as np
import pairs
import pyarrow.csv
import some_gold
from made import Size
from made import judgments as load
from meter import Meter, answer

from adjudge import DaskEngine, DawidSkene, Judgments, ThreadsEngine
from adjudge.simulation import Crowd, Population


def fit(
    size: list[int], folder: str, threads: int, iterations: int, tolerance: float
) -> dict[str, Any]:
    """Dawid-Skene on a made crowd; what is compiled is compiled or loaded before."""
    shape = Size(*size)
    engine = ThreadsEngine(threads=threads)
    model = DawidSkene(iterations=iterations, tolerance=tolerance)
    model.fit(_tiny(shape), engine=engine)
    judgments = load(shape, Path(folder))
    moments: list[float] = []
    with Meter() as meter:
        consensus = model.fit(
            judgments, engine=engine, progress=lambda _: moments.append(time.process_time())
        )
    truth = np.load(Path(folder) / "truth.npy")
    done = len(consensus.trace)
    right = float(np.mean(consensus.choice == truth))
    each = (moments[-1] - moments[0]) / max(len(moments) - 1, 1)  # nothing before or after them
    return {**meter.reading, "iterations": done, "accuracy": right, "iteration": round(each, 6)}


def fit_on(
    size: list[int], folder: str, engine: str, processes: int, threads: int
) -> dict[str, Any]:
    """Dawid-Skene until it has converged, in threads or on a cluster that was started before.

    The first fits, on a tiny crowd, load what is compiled.
    """
    shape = Size(*size)
    model = DawidSkene(iterations=500, tolerance=1e-6)
    with ExitStack() as stack:
        place: Any = ThreadsEngine(threads=threads)
        if engine == "dask":
            place = stack.enter_context(DaskEngine(processes=processes))
        for _ in range(2):
            model.fit(_tiny(shape), engine=place)
        judgments = load(shape, Path(folder))
        with Meter(place.client if engine == "dask" else None) as meter:
            consensus = model.fit(judgments, engine=place)
    right = float(np.mean(consensus.choice == np.load(Path(folder) / "truth.npy")))
    return {**meter.reading, "iterations": len(consensus.trace), "accuracy": right}


def cold(size: list[int], threads: int) -> dict[str, Any]:
    """The first fit of all, on a tiny crowd; the caller sees to it that nothing is compiled."""
    tiny = _tiny(Size(*size))
    with Meter() as meter:
        DawidSkene(iterations=20).fit(tiny, engine=ThreadsEngine(threads=threads))
    return meter.reading


def _tiny(size: Size) -> Judgments:
    crowd = Crowd(items=50, population=Population.parse("skilled:20"), scale=size.scale)
    return crowd.make().judgments


def read_csv(path: str, warm_up: str) -> dict[str, Any]:
    """A file into Judgments."""
    Judgments.read(warm_up)
    with Meter() as meter:
        rows = len(Judgments.read(path))
    return {**meter.reading, "rows": rows}


def read_csv_by_pyarrow(path: str, warm_up: str) -> dict[str, Any]:
    """The same file into an Arrow table, types inferred, and nothing else done."""
    pyarrow.csv.read_csv(warm_up)
    with Meter() as meter:
        rows = len(pyarrow.csv.read_csv(path))
    return {**meter.reading, "rows": rows}


if __name__ == "__main__":
    answer(
        {
            "fit": fit,
            "fit on": fit_on,
            "cold": cold,
            "read": read_csv,
            "read by pyarrow": read_csv_by_pyarrow,
            **accuracy.TASKS,
            **some_gold.TASKS,
            **cost.TASKS,
            **from_table.TASKS,
            **pairs.TASKS,
        }
    )
