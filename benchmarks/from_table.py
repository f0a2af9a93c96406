"""From a table of text ids to labels, next to crowd-kit, and to Judgments, next to Arrow.

Users start with a data frame or an Arrow table of names. The first comparison is the entire way to
labels: Dawid-Skene with 20 iterations. The second is the way to ``Judgments`` alone, which checks
rows and groups them by item, next to ``dictionary_encode`` of the same three columns.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from meter import Meter

if TYPE_CHECKING:
    from side_by_side import Run

CASE = "table"
ITERATIONS = 20
LARGEST = 10**6  # judgments; crowd-kit holds an array of rows by classes and several copies of it
ORDERS = ("grouped", "shuffled")
SEED = 1


def table(run: Run) -> None:
    """The case: both comparisons, rows grouped by item and shuffled."""
    import made  # imports adjudge, which the peers' environment does not have
    from made import size_of, what_of

    for judgments in run.sizes:
        if judgments > LARGEST:
            continue
        for classes in run.classes:
            size = size_of(judgments, classes)
            folder = str(made.arrays(size, run.cache))
            for order in ORDERS:
                given = {"folder": folder, "order": order}
                ours = partial(run.ours, threads=run.threads, **given)
                sides: dict[str, Any] = {"adjudge": partial(ours, "table to labels")}
                if run.peers is not None:
                    sides["crowd-kit"] = partial(run.peer, "table to labels", **given)
                what = {**what_of(size), "order": order}
                run.comparison(CASE, {**what, "asked": "labels"}, sides)
                sides = {
                    "adjudge": partial(ours, "table to judgments"),
                    "Arrow's dictionary_encode": partial(ours, "encode columns"),
                }
                run.comparison(CASE, {**what, "asked": "judgments"}, sides)


def columns(folder: str, order: str) -> dict[str, Any]:
    """A made crowd as columns of text, its rows grouped by item or shuffled."""
    parts = {name: np.load(Path(folder) / f"{name}.npy") for name in ("offsets", "judge", "label")}
    item = np.repeat(np.arange(len(parts["offsets"]) - 1), np.diff(parts["offsets"]))
    rows = np.arange(len(item))
    if order == "shuffled":
        rows = np.random.default_rng(SEED).permutation(len(item))
    return {
        "item": _names("item-%07d", item)[rows],
        "judge": _names("judge-%04d", parts["judge"])[rows],
        "label": _names("%d", parts["label"])[rows],
    }


def _names(pattern: str, codes: Any) -> Any:
    return np.array([pattern % code for code in range(int(codes.max()) + 1)], object)[codes]


def to_labels(folder: str, order: str, threads: int) -> dict[str, Any]:
    """The table to labels by adjudge."""
    import pandas as pd

    from adjudge import DawidSkene, ThreadsEngine

    engine, model = ThreadsEngine(threads=threads), DawidSkene(iterations=ITERATIONS, tolerance=0.0)
    frame = pd.DataFrame(columns(folder, order))
    model.fit(frame.head(2000), engine=engine)
    with Meter() as meter:
        labels = model.fit(frame, engine=engine).labels
    return {**meter.reading, "rows": len(labels)}


def to_judgments(folder: str, order: str, threads: int) -> dict[str, Any]:  # noqa: ARG001
    """The table to Judgments by adjudge."""
    from adjudge import Judgments

    given = _arrow(folder, order)
    Judgments.from_table(given.slice(0, 2000))
    with Meter() as meter:
        rows = len(Judgments.from_table(given))
    return {**meter.reading, "rows": rows}


def encode(folder: str, order: str, threads: int) -> dict[str, Any]:  # noqa: ARG001
    """The columns of the table, each encoded by Arrow."""
    given = _arrow(folder, order)
    given.slice(0, 2000).column(0).dictionary_encode()
    with Meter() as meter:
        for column in given.columns:
            column.dictionary_encode()
    return {**meter.reading, "rows": len(given)}


def _arrow(folder: str, order: str) -> Any:
    import pyarrow as pa

    return pa.table({name: pa.array(values) for name, values in columns(folder, order).items()})


TASKS = {
    "table to labels": to_labels,
    "table to judgments": to_judgments,
    "encode columns": encode,
}
