"""What the peers answer on sets of judgments; run by the Python of their own environment.

Each is fitted with its default settings and stopped at the cap of CPU time or memory. An answer is
an array of probabilities (item, label).
"""

from __future__ import annotations

import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from cleanlab.multiannotator import convert_long_to_wide_dataset, get_label_quality_multiannotator
from crowdkit.aggregation import (
    MACE,
    DawidSkene,
    MajorityVote,
    OneCoinDawidSkene,
    Wawa,
    ZeroBasedSkill,
)
from meter import Meter

MOST = 8 * 2**30  # bytes of memory
# GLAD is left out: it takes more than 300 CPU seconds on trec-rf10 binary.
CROWD_KIT = (MajorityVote, Wawa, ZeroBasedSkill, DawidSkene, OneCoinDawidSkene, MACE)


class OutOfTime(Exception):
    """A fit has reached the cap of CPU time."""


def answers(folder: str, names: list[str], cap: float) -> dict[str, list[dict[str, Any]]]:
    """Fit every peer on sets of a folder; write the answers, return times and failures."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
    found = {}
    for name in names:
        print(f"accuracy of peers: {name}", file=sys.stderr, flush=True)
        found[name] = _answer(Path(folder) / name, cap)
    return found


def _answer(folder: Path, cap: float) -> list[dict[str, Any]]:
    """Fit every peer on one set."""
    held = np.load(folder / "judgments.npz")
    items, _, classes = (int(size) for size in held["shape"])
    frame = pd.DataFrame({"task": held["item"], "worker": held["judge"], "label": held["label"]})
    frame = frame.astype(np.int64)
    rows, kept = [], {}
    for side, answer in peers().items():
        try:
            with _limited(cap), Meter() as meter:
                kept[side] = answer(frame, items, classes)
        except OutOfTime:
            rows.append({"side": side, "left_out": f"more than {cap:g} s of CPU"})
        except MemoryError:
            rows.append({"side": side, "left_out": f"more than {MOST / 2**30:g} GB of memory"})
        except Exception as error:  # noqa: BLE001 - a peer may fail in any way
            said = f"{type(error).__name__}: {error}".splitlines()[0][:120]
            rows.append({"side": side, "left_out": said})
        else:
            rows.append({"side": side, "cpu": meter.reading["cpu"]})
    np.savez(folder / "answers.npz", **kept)
    return rows


def peers() -> dict[str, Callable[[pd.DataFrame, int, int], Any]]:
    """Every peer by name: judgments, items, labels -> its answer."""
    found: dict[str, Callable[[pd.DataFrame, int, int], Any]] = {}
    for kind in CROWD_KIT:
        found[f"crowd-kit {kind.__name__}"] = lambda frame, items, classes, kind=kind: _spread(
            kind().fit_predict_proba(frame), items, classes
        )
    found["cleanlab CROWDLAB"] = _crowdlab
    return found


def _spread(shares: pd.DataFrame, items: int, classes: int) -> Any:  # (item, label)
    """A frame of probabilities as an array; a label that nobody gave has none."""
    full = shares.reindex(index=range(items), columns=range(classes)).fillna(0.0)
    return full.to_numpy().astype(np.float64)


def _crowdlab(frame: pd.DataFrame, items: int, classes: int) -> Any:  # (item, label)
    """Run CROWDLAB with the smoothed vote shares as the classifier's probabilities.

    It gives a probability for its label only; the other labels share the rest.
    """
    counts = np.zeros((items, classes))
    np.add.at(counts, (frame["task"].to_numpy(), frame["label"].to_numpy()), 1.0)
    shares = (counts + 0.5) / (counts + 0.5).sum(axis=1, keepdims=True)
    judged = np.flatnonzero(counts.sum(axis=1) > 0)
    wide = convert_long_to_wide_dataset(
        frame.rename(columns={"worker": "annotator"})
        .drop_duplicates(["task", "annotator"])
        .reset_index(drop=True)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = get_label_quality_multiannotator(
            wide.sort_index(),
            shares[judged],
            return_detailed_quality=False,
            return_annotator_stats=False,
            verbose=False,
        )["label_quality"]
    label = found["consensus_label"].to_numpy().astype(np.int64)
    sure = found["consensus_quality_score"].to_numpy()
    answer = np.full((items, classes), 1.0 / classes)
    answer[judged] = ((1 - sure) / (classes - 1))[:, None]
    answer[judged, label] = sure
    return answer


@contextmanager
def _limited(cap: float) -> Iterator[None]:
    """Stop what runs in it once it has used so many seconds of CPU."""

    def stop(_number: int, _frame: object) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, cap)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
