"""Where the real judgments are, and the subsets of them that the papers used."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path

from adjudge.data.formats import Content, read
from adjudge.data.formats.trec_rf10 import trec_2011_subset
from adjudge.errors import BadData

_VARIABLE = "ADJUDGE_DATA"
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
