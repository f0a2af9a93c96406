"""Made crowds on disk, so that every process measures the same judgments; made once and kept."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from adjudge import Judgments, Scale
from adjudge.data.formats.writing import write_csv
from adjudge.simulation import Crowd, Population, number_names

# Hard enough that Dawid-Skene still gains in its twentieth iteration.
POPULATION = "skilled(6,4):80,spammer:10,lazy:10"
PER_ITEM = 10
SEED = 1
JUDGES = {10**5: 100, 10**6: 1_000}  # and 10,000 for larger crowds
MANY = 10_000  # judges


@dataclass(frozen=True, slots=True)
class Size:
    """How large a made crowd is: items with ten judgments each, judges, classes."""

    items: int
    judges: int
    classes: int

    @property
    def judgments(self) -> int:
        return self.items * PER_ITEM

    @property
    def name(self) -> str:
        return f"{self.items}x{PER_ITEM}-{self.judges}-{self.classes}"

    @property
    def scale(self) -> Scale:
        return Scale(labels=tuple(str(grade) for grade in range(self.classes)), ordinal=True)


def size_of(judgments: int, classes: int, judges: int | None = None) -> Size:
    """A made crowd of so many judgments, ten an item."""
    least = max(judgments // 100, 10) if judgments < 10**5 else MANY
    return Size(judgments // PER_ITEM, judges or JUDGES.get(judgments, least), classes)


def what_of(size: Size) -> dict[str, int]:
    """What a comparison on a made crowd is of."""
    return {"judgments": size.judgments, "judges": size.judges, "classes": size.classes}


def arrays(size: Size, cache: Path) -> Path:
    """The folder that holds a crowd as NumPy arrays: offsets, judge, label, truth."""
    folder = cache / size.name
    if not folder.is_dir():
        population = Population.parse(POPULATION, judges=size.judges)
        crowd = Crowd(items=size.items, population=population, scale=size.scale, per_item=PER_ITEM)
        made = crowd.make(SEED)
        judgments = made.judgments
        parts = {
            "offsets": judgments.offsets,
            "judge": judgments.judge,
            "label": judgments.label,
            "truth": made.truth.value,
        }
        temporary = cache / f".{size.name}.{os.getpid()}"
        temporary.mkdir(parents=True)
        for name, values in parts.items():
            np.save(temporary / f"{name}.npy", values)
        temporary.rename(folder)
    return folder


def judgments(size: Size, folder: Path) -> Judgments:
    """A crowd's judgments, read back."""
    return Judgments(
        scale=size.scale,
        items=number_names("item", size.items, 7),
        judges=number_names("judge", size.judges, 4),
        offsets=np.load(folder / "offsets.npy"),
        judge=np.load(folder / "judge.npy"),
        label=np.load(folder / "label.npy"),
    )


def csv(size: Size, cache: Path, order: str) -> Path:
    """A crowd as a CSV file, its rows grouped by item or shuffled."""
    path = cache / f"{size.name}-{order}.csv"
    if not path.is_file():
        table = judgments(size, arrays(size, cache)).to_table()
        if order == "shuffled":
            rows = np.random.default_rng(SEED).permutation(len(table))
            table = table.take(pa.array(rows))
        temporary = path.with_suffix(f".{os.getpid()}")
        with temporary.open("wb") as file:
            write_csv(table, file)
        temporary.rename(path)
    return path
