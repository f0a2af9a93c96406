"""What papers share: the real judgments and how they are split, results by kind, peak memory."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.formats import Content, read
from adjudge.data.formats.trec_rf10 import trec_2011_subset
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.errors import BadData

_VARIABLE = "ADJUDGE_DATA"
_TEST = 1000  # items
_BESIDE = Path("..") / "shared" / "data"
_FILES = {
    "trec-rf10": (
        "judgments.tsv",
        "the crowd judgments of the TREC 2010 relevance feedback track, "
        "'topicID workerID docID gold label', tab separated (98,453 judgments)",
    ),
    "web-relevance": (
        "judgments.csv",
        "the web relevance judgments of Zhou, Platt, Basu and Mao 2012 (15,567 judgments)",
    ),
    "rte": ("judgments.csv", "the entailment judgments of Snow and others 2008 (8,000 judgments)"),
}


def real_file(name: str, folder: Path | None = None) -> Path:
    """The file of a real data set, or an error that says what to put where."""
    place = folder if folder is not None else Path(os.environ.get(_VARIABLE) or _BESIDE)
    file, what = _FILES[name]
    path = place / name / file
    if not path.is_file():
        raise BadData(
            f"there is no such file; put there {what}, or name the folder that holds "
            f"{name}/{file} by --data or {_VARIABLE}",
            source=str(path),
            wanted=what,
        )
    return path


def fingerprint(path: Path) -> str:
    """A few letters that change when the file does, for the settings of a part."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


@lru_cache(maxsize=2)
def contents(path: Path) -> Content:
    """What is in a file, read once for all parts of a run."""
    return read(path)


@lru_cache(maxsize=1)
def trec_2011(path: Path) -> Content:
    """The binary judgments of TREC 2011 crowdsourcing task 2, made once for all parts of a run."""
    return trec_2011_subset(contents(path))


def results_of(kind: str, partials: Mapping[str, Any]) -> list[Any]:
    """The results of the parts of one kind, by how their names begin, in the order they ran."""
    return [result for name, result in partials.items() if name.startswith(kind)]


def rows_table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Any:
    """Rows as an Arrow table with these columns."""
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def get_both(
    content: Content, paper: str = "PMF", wanted: str = "TREC 2011 task 2"
) -> tuple[Judgments, Gold]:
    """The judgments and the gold of a paper's data."""
    if content.judgments is None or content.gold is None:
        raise BadData(f"the {paper} paper needs judgments and gold", wanted=wanted)
    return content.judgments, content.gold


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Gold items for training, and the items and truth of the test."""

    train: Gold
    test: NDArray[np.int64]  # (test,) items
    truth: NDArray[np.int16]  # (test,)


def split_gold(judgments: Judgments, gold: Gold, seed: int) -> Split:
    """A seeded split: a test set balanced between the classes, the rest for training."""
    known = gold.align(judgments)
    rng = np.random.default_rng([2012, seed])
    drawn = [rng.choice(np.flatnonzero(known == k), _TEST // 2, replace=False) for k in (0, 1)]
    test = np.sort(np.concatenate(drawn))
    names = set(judgments.items.take(test).to_pylist())
    mask = np.array([name not in names for name in gold.items.to_pylist()], dtype=np.bool_)
    return Split(gold.select(mask), test, known[test])


def measure_peak() -> float:
    """The greatest memory of the process in bytes: since the part began where the system can tell.

    Linux can (and is asked to forget the peak before each part); elsewhere it is the peak since the
    process began, and NaN where the system does not tell.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        if found:
            return float(found.group(1)) * 1024
    if sys.platform == "win32":
        return float("nan")
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else peak * 1024)
