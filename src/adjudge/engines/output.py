"""Labels written block by block: to one file in turn, or to a folder of Parquet files at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.judgments import Judgments
from adjudge.data.mapped import releaser
from adjudge.data.stored import open_stored
from adjudge.engines._pieces import folder_of
from adjudge.engines.encoding import Each

_ROWS = 1_000_000  # items in a block


def _block_of(consensus: Consensus, start: int, stop: int) -> Any:
    """The labels of the items from ``start`` to ``stop``, without ranks, which need all items."""
    known, fallback = consensus.known, consensus.fallback
    block = replace(
        consensus,
        judgments=consensus.judgments.run(start, stop),
        posterior=np.array(consensus.posterior[start:stop]),
        choice=consensus.choice[start:stop],
        known=None if known is None else known[start:stop],
        fallback=None if fallback is None else fallback[start:stop],
        effective=None if consensus.effective is None else consensus.effective[start:stop],
    )
    return block.labels.drop_columns(["rank"])


def label_blocks(consensus: Consensus) -> Iterator[Any]:
    """The labels as tables of some rows each; memory that is mapped is given back after each."""
    offsets, posterior = consensus.judgments.offsets, consensus.posterior
    release = releaser(offsets, posterior)
    for start, stop in _runs(len(consensus.choice)):
        yield _block_of(consensus, start, stop)
        if release is not None:
            release((start, stop), (start, stop))


def _runs(items: int) -> list[tuple[int, int]]:
    starts = range(0, items, _ROWS) if items else (0,)
    return [(start, min(start + _ROWS, items)) for start in starts]


def write_parts(consensus: Consensus, folder: Path, each: Each) -> int:
    """Labels as Parquet files in a folder that is there, as many at once as ``each`` can do.

    Where the judgments are encoded on disk, only posteriors travel, and whoever writes a file takes
    the names from there. How many files there are.
    """
    stored = folder_of(consensus.judgments)
    fallback, effective = consensus.fallback, consensus.effective

    def jobs() -> Iterator[tuple[Any, ...]]:
        for number, (start, stop) in enumerate(_runs(len(consensus.choice))):
            place = str(folder / f"part-{number:05}.parquet")
            if stored is None:
                yield place, _block_of(consensus, start, stop)
                continue
            rows = (
                np.array(consensus.posterior[start:stop]),
                consensus.choice[start:stop],
                None if fallback is None else fallback[start:stop],
                None if effective is None else effective[start:stop],
            )
            yield place, partial(_stored_block, str(stored), start, stop, *rows)

    return sum(1 for _ in each(_write_part, jobs()))


def _write_part(place: str, block: Any) -> None:
    """Write a table, given or to be made."""
    pq.write_table(block() if callable(block) else block, place)


def _stored_block(
    folder: str,
    start: int,
    stop: int,
    posterior: NDArray[np.float64],  # (item, truth)
    choice: NDArray[np.int16],  # (item,)
    fallback: NDArray[np.bool_] | None,  # (item,)
    effective: NDArray[np.float64] | None,  # (item,)
) -> Any:
    """The labels of a run of items whose names are taken from a folder."""
    judgments: Judgments = open_stored(Path(folder), check=False)[0].run(start, stop)
    none = np.empty((0, 0))
    consensus = Consensus(
        model="",
        settings={},
        judgments=judgments,
        posterior=posterior,
        choice=choice,
        prevalence=none,
        confusion=none,
        counts=none,
        fallback=fallback,
        effective=effective,
    )
    return consensus.labels.drop_columns(["rank"])
