"""What is measured of the peers, by the Python of their own environment."""

from __future__ import annotations

import importlib.metadata
import platform
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene
from from_table import ITERATIONS, columns
from meter import Meter, answer
from pairs import ITEMS, JUDGES, loaded, names
from peer_answers import answers

NEVER = float("-inf")  # the gain below which it stops: its objective can fall, and stop it early


def fit(folder: str, iterations: int, ids: str) -> dict[str, Any]:
    """Dawid-Skene on a made crowd, so many iterations whatever its objective says."""
    model = DawidSkene(n_iter=iterations, tol=NEVER)
    model.fit(_frame(np.arange(40) // 4, np.arange(40) % 7, np.arange(40) % 2, ids))
    parts = {part: np.load(Path(folder) / f"{part}.npy") for part in ("offsets", "judge", "label")}
    items = len(parts["offsets"]) - 1
    item = np.repeat(np.arange(items), np.diff(parts["offsets"]))
    frame = _frame(item, parts["judge"], parts["label"], ids)
    del parts, item
    with Meter() as meter:
        model.fit(frame)
    truth = np.load(Path(folder) / "truth.npy")
    labels = model.labels_.sort_index()  # ids as text have leading zeros, so that they sort alike
    right = float(np.mean(labels.to_numpy().astype(np.int64) == truth))
    return {**meter.reading, "iterations": len(model.loss_history_), "accuracy": right}


def _frame(item: Any, judge: Any, label: Any, ids: str) -> pd.DataFrame:
    """Judgments as crowd-kit expects them, with ids and labels as integers or as text."""
    frame = pd.DataFrame({"task": item, "worker": judge, "label": label})
    frame = frame.astype(np.int64)
    if ids == "text":
        frame["task"] = "item-" + frame["task"].astype(str).str.zfill(7)
        frame["worker"] = "judge-" + frame["worker"].astype(str).str.zfill(4)
        frame["label"] = frame["label"].astype(str)
    return frame


def table_to_labels(folder: str, order: str) -> dict[str, Any]:
    """A data frame of text ids to labels, 20 iterations."""
    given = columns(folder, order)
    frame = pd.DataFrame(dict(zip(("task", "worker", "label"), given.values(), strict=True)))
    model = DawidSkene(n_iter=ITERATIONS, tol=NEVER)
    model.fit(frame.head(2000))
    with Meter() as meter:
        labels = model.fit_predict(frame)
    return {**meter.reading, "rows": len(labels)}


def pairs_by_evalica(folder: str) -> dict[str, Any]:
    """Bradley-Terry on lists of names, as evalica has them."""
    import evalica

    parts, items = loaded(folder), np.array(names("item", ITEMS))
    left, right = items[parts["left"]].tolist(), items[parts["right"]].tolist()
    winners = [evalica.Winner.X if won else evalica.Winner.Y for won in parts["outcome"]]
    evalica.bradley_terry(left[:2000], right[:2000], winners[:2000])
    with Meter() as meter:
        evalica.bradley_terry(left, right, winners)
    return {**meter.reading}


def pairs_by_crowd_kit(folder: str) -> dict[str, Any]:
    """NoisyBradleyTerry on a frame of names."""
    from crowdkit.aggregation import NoisyBradleyTerry

    parts, items = loaded(folder), np.array(names("item", ITEMS))
    left, right = items[parts["left"]], items[parts["right"]]
    frame = pd.DataFrame(
        {
            "worker": np.array(names("judge", JUDGES))[parts["judge"]],
            "left": left,
            "right": right,
            "label": np.where(parts["outcome"] == 1, left, right),
        }
    )
    NoisyBradleyTerry(n_iter=2).fit_predict(frame.head(500))
    with Meter() as meter:
        NoisyBradleyTerry().fit_predict(frame)
    return {**meter.reading}


def versions() -> dict[str, str]:
    """The versions that matter."""
    names = ("crowd-kit", "cleanlab", "evalica", "numpy", "pandas", "scipy")
    return {"python": platform.python_version()} | {
        name: importlib.metadata.version(name) for name in names
    }


if __name__ == "__main__":
    answer(
        {
            "fit": fit,
            "table to labels": table_to_labels,
            "answers": answers,
            "pairs by evalica": pairs_by_evalica,
            "pairs by crowd-kit": pairs_by_crowd_kit,
            "versions": versions,
        }
    )
