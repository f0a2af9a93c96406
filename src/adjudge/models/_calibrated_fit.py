"""Any model, its answer calibrated by gold: what labels are made by where there is gold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus, Families
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import Names, look_up
from adjudge.engines.engine import Engine
from adjudge.kernels.keys import deal
from adjudge.models._calibration import calibrate_by
from adjudge.models._families import voices_of
from adjudge.models.model import Progress, Ties, pick


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A model whose answer gold calibrates, to be fitted as any other."""

    model: Any

    @property
    def name(self) -> str:
        """The model's own name."""
        return str(self.model.name)

    def fit(
        self,
        judgments: Judgments,
        gold: Gold | None = None,
        *,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> Consensus:
        """The consensus, calibrated if there is gold."""
        if gold is None:
            consensus: Consensus = self.model.fit(judgments, engine=engine, progress=progress)
            return consensus
        return fit_calibrated(self.model, judgments, gold, engine=engine, progress=progress)


def fit_calibrated(
    model: Any,
    judgments: Judgments,
    gold: Gold,
    *,
    engine: Engine | None = None,
    progress: Progress | None = None,
    folds: int = 5,
) -> Consensus:
    """The consensus of any model, its probabilities calibrated by gold across folds.

    A model that learns from gold is sure of it, so what its probabilities mean is learnt from fits
    that were not told: each fold's gold items as the fit with the other folds has them.
    """
    consensus: Consensus = model.fit(judgments, gold, engine=engine, progress=progress)
    if getattr(model, "calibrate", False):
        return consensus  # it calibrates itself
    table = consensus.judgments
    fold = np.empty(len(gold.items), dtype=np.int64)
    _deal(gold.items, folds, fold)
    posterior = np.array(consensus.posterior)
    for number in range(folds):
        if not (fold == number).any() or (fold == number).all():
            continue
        told = model.fit(judgments, gold.select(fold != number), engine=engine)
        hidden = gold.items.filter(pa.array(fold == number))
        here, there = look_up(hidden, table.items), look_up(hidden, told.judgments.items)
        posterior[here] = told.posterior[there]
    families = consensus.families or Families.none(table.judge_count)
    spoken, voices = voices_of(table, families, repeats=False)
    confusion = np.broadcast_to(
        consensus.confusion, (table.judge_count, *consensus.confusion.shape[1:])
    )
    known = gold.align(table)
    calibration = calibrate_by(known, spoken, voices, posterior, confusion)
    if calibration is None:
        return consensus
    final = np.array(consensus.posterior)
    calibration = calibration.apply(spoken, voices, final)
    final[known >= 0] = np.eye(final.shape[1])[known[known >= 0]]
    ties: Ties = getattr(model, "ties", "random")  # a model of another package may have neither
    choice, _ = pick(final, table, ties=ties, seed=getattr(model, "seed", 0))
    notes = (*consensus.notes, calibration.told)
    return replace(consensus, posterior=final, choice=choice, notes=notes)


def _deal(names: Names, folds: int, out: NDArray[np.int64]) -> None:
    """Deal items out into folds by their names, whatever their order."""
    _, starts, letters = names.buffers()
    ends = np.frombuffer(starts, dtype=np.int64)[names.offset : names.offset + len(names) + 1]
    data = np.frombuffer(letters, dtype=np.uint8) if letters else np.zeros(1, dtype=np.uint8)
    deal(ends, data, folds, out)
