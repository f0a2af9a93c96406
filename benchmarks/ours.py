"""What is measured of adjudge (and of pyarrow alone), each task in a process of its own."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pyarrow.csv
from made import Size, truth_of
from made import judgments as load
from meter import Meter, answer

from adjudge import MODELS, BadData, DaskEngine, DawidSkene, Judgments, ThreadsEngine
from adjudge.data.formats import Content, read
from adjudge.data.formats.trec_rf10 import trec_2011_subset
from adjudge.evaluation.against_gold import evaluate
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


def fit_stored(folder: str, tiny: str, engine: str, processes: int, threads: int) -> dict[str, Any]:
    """Dawid-Skene until it has converged, judgments encoded on disk and checked before.

    A cluster is started before, and the first fit, on a tiny crowd, loads what is compiled.
    """
    model = DawidSkene(iterations=500, tolerance=1e-6)
    with ExitStack() as stack:
        place: Any = ThreadsEngine(threads=threads)
        if engine == "dask":
            place = stack.enter_context(DaskEngine(processes=processes))
        for _ in range(2):
            model.fit(Judgments.read(tiny), engine=place)
        judgments = Judgments.read(folder)
        with Meter(place.client if engine == "dask" else None) as meter:
            consensus = model.fit(judgments, engine=place)
    right = float(np.mean(consensus.choice == truth_of(Path(folder))))
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


def real(name: str, data: str, arrays: str, sample: bool) -> dict[str, Any]:
    """Every model of the registry on real judgments; the judgments as arrays, for the peers."""
    content = _real(name, Path(data))
    judgments, gold = content.judgments, content.gold
    if judgments is None or gold is None:
        raise ValueError(f"{name} needs judgments and gold")
    np.savez(
        arrays,
        item=judgments.item,
        judge=judgments.judge,
        label=judgments.label,
        gold=gold.align(judgments),
    )
    rows = []
    tiny = Crowd(items=50, population=Population.parse("skilled:20"), scale=judgments.scale)
    for title, model in _models(sample):
        try:
            model.fit(tiny.make().judgments)
        except BadData:
            continue  # not a model for this scale
        with Meter() as meter:
            consensus = model.fit(judgments)
        result = evaluate(consensus, gold)
        right = result["expected_accuracy"].value
        rows.append({"model": title, "accuracy": right, "cpu": meter.reading["cpu"]})
    return {"judgments": len(judgments), "gold": result.scored, "rows": rows}


def _real(name: str, data: Path) -> Content:
    if name == "trec-rf10 binary":
        return trec_2011_subset(read(data / "trec-rf10" / "judgments.tsv"))
    return read(data / name / "judgments.csv")


def _models(sample: bool) -> list[tuple[str, Any]]:
    """The models of the registry, those with several methods once with each."""
    found = []
    for name, kind in MODELS.items():
        settings = {field.name for field in fields(kind)}
        methods = get_args(get_type_hints(kind)["method"]) if "method" in settings else ()
        if "chains" in settings and not methods:
            methods = ("gibbs",)
        for method in methods or ("",):
            if method == "gibbs" and not sample:
                continue
            chosen = {"method": method} if "method" in settings else {}
            found.append((f"{name}, {method}" if method else name, kind(**chosen)))
    return found


if __name__ == "__main__":
    answer(
        {
            "fit": fit,
            "fit stored": fit_stored,
            "cold": cold,
            "read": read_csv,
            "read by pyarrow": read_csv_by_pyarrow,
            "real": real,
        }
    )
