"""Checkpoints: the state of a fit, written every few sweeps, so that it can go on after a loss.

A checkpoint is a folder with a file for each loop of the fit: one for expectation-maximisation, one
for each chain. A fit that goes on from it takes the same path, bit by bit, that it would have taken
without the loss. Each file says which fit it is of, and a fit does not go on from another's.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import BadData, BadSetting

_ABOUT = "about.json"
_LAYOUT = 2  # of the arrays and states that fits write: a checkpoint of another layout is refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A folder to write to every so many sweeps; with ``resume``, to go on from first."""

    folder: Path
    every: int = 10
    resume: bool = False
    about: dict[str, Any] = field(default_factory=dict)  # which fit it is of

    def __post_init__(self) -> None:
        if self.every < 1:
            raise BadSetting("every", self.every, "at least 1 sweep")

    def of(self, model: str, settings: Mapping[str, Any], cells: NDArray[np.int64]) -> Checkpoint:
        """The checkpoint of one fit: model, settings, and how many judgments are in each cell."""
        about = {
            "layout": _LAYOUT,
            "model": model,
            **{f"setting {name}": repr(value) for name, value in settings.items()},
            "judgments": int(cells.sum()),
            "cells": zlib.crc32(np.ascontiguousarray(cells).tobytes()),
        }
        return Checkpoint(folder=self.folder, every=self.every, resume=self.resume, about=about)

    def due(self, sweeps: int) -> bool:
        """Whether so many sweeps are a moment to write."""
        return sweeps % self.every == 0

    def save(self, name: str, arrays: Mapping[str, NDArray[Any]], state: Any = None) -> None:
        """Write arrays and a state that JSON can hold, complete or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        part, place = self.folder / f".{name}.part", self.folder / f"{name}.npz"
        part.write_text(json.dumps(self.about), encoding="utf-8")
        part.replace(self.folder / _ABOUT)  # chains write it too, at the same time
        record = json.dumps({"about": self.about, "state": state})
        with part.open("wb") as file:
            everything: Any = {"record": np.array(record), **arrays}
            np.savez(file, **everything)
            file.flush()
            os.fsync(file.fileno())
        part.replace(place)

    def load(self, name: str) -> tuple[dict[str, NDArray[Any]], Any] | None:
        """The arrays and the state that were written; None where there is nothing to go on from."""
        place = self.folder / f"{name}.npz"
        if not self.resume or not (self.folder / _ABOUT).is_file():
            return None
        try:
            record = json.loads((self.folder / _ABOUT).read_text(encoding="utf-8"))
            self._check(record)
            if not place.is_file():
                return None
            with place.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                arrays = {key: file[key] for key in file.files}
            record = json.loads(str(arrays.pop("record")))
            self._check(record["about"])
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as fault:
            raise BadData(
                f"is cut short, or no checkpoint ({type(fault).__name__})", source=str(place)
            ) from None
        return arrays, record["state"]

    def _check(self, record: Mapping[str, Any]) -> None:
        """Refuse a checkpoint of another fit, with the first thing that differs."""
        for key, mine in self.about.items():
            if record.get(key) != mine:
                raise BadData(
                    f"is of another fit: {key} was {record.get(key)}, and is {mine}",
                    source=str(self.folder),
                    expected="the checkpoint of this fit",
                )
