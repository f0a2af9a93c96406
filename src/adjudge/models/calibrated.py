"""Any model, with its probabilities calibrated by gold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus, Families
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import Names, look_up
from adjudge.engines.engine import Engine
from adjudge.errors import AdjudgeError
from adjudge.kernels.keys import deal
from adjudge.models._families import EffectiveJudges, split_judges
from adjudge.models.model import Progress, Ties, is_sampled, pick, put_gold
from adjudge.models.settings import FitPredict

if TYPE_CHECKING:
    from adjudge.models._calibration import Calibration


@dataclass(frozen=True, slots=True, eq=False)
class _CalibratedMemory:
    """The memory of a fit, with its calibration, called with other judgments."""

    model: Any
    memory: Callable[[Judgments], Consensus]
    calibration: Calibration
    judges: Names  # of the fit

    def __call__(self, judgments: Judgments) -> Consensus:
        """The calibrated consensus of other judgments under what was learnt."""
        consensus = self.memory(judgments)
        table, posterior = consensus.judgments, np.array(consensus.posterior)
        split, effective = _split_consensus(consensus)
        calibration = self.calibration.for_judges(look_up(table.judges, self.judges))
        calibration.apply(split, effective, posterior)
        choice = _pick(self.model, posterior, table)
        return replace(consensus, posterior=posterior, choice=choice, predictor=self)


@dataclass(frozen=True, slots=True)
class Calibrated(FitPredict):
    """A model whose probabilities gold calibrates, fitted like any other."""

    calibrate: ClassVar[bool] = True

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
        start: Consensus | None = None,
    ) -> Consensus:
        """The consensus, calibrated if there is gold."""
        more: dict[str, Any] = {"engine": engine, "progress": progress}
        if gold is None:
            more |= {} if start is None else {"start": start}
            consensus: Consensus = self.model.fit(judgments, **more)
            return consensus
        return fit_calibrated(self.model, judgments, gold, start=start, **more)


def with_calibration(model: Any, calibrate: bool | None = None) -> Any:
    """The model whose probabilities gold calibrates, unless ``calibrate`` is false.

    By default, a model that is sampled, which takes long, is not calibrated. Scores across folds
    of gold have to fit this model in every fold, not the one inside.
    """
    settings = {entry.name for entry in fields(model)} if is_dataclass(model) else set()
    if "calibrate" in settings:  # it calibrates itself
        return model if calibrate is None else replace(model, calibrate=calibrate)
    return (
        Calibrated(model) if (not is_sampled(model) if calibrate is None else calibrate) else model
    )


def fit_calibrated(
    model: Any,
    judgments: Judgments,
    gold: Gold,
    *,
    engine: Engine | None = None,
    progress: Progress | None = None,
    start: Consensus | None = None,
    folds: int = 5,
) -> Consensus:
    """The consensus of any model, its probabilities calibrated by gold across folds.

    A model that learns from gold is sure of the gold items. So the calibration is learnt from fits
    that did not see an item's gold: each fold's items as the fit with the other folds has them.
    """
    more = {} if start is None else {"start": start}
    consensus: Consensus = model.fit(judgments, gold, engine=engine, progress=progress, **more)
    if getattr(model, "calibrate", False):
        return consensus  # it calibrates itself
    table, known = consensus.judgments, gold.align(consensus.judgments)
    fold = np.empty(len(gold.items), dtype=np.int64)
    _deal(gold.items, folds, fold)
    posterior, held_out = np.array(consensus.posterior), np.zeros(len(known), dtype=np.bool_)
    for number in range(folds):
        if not (fold == number).any():
            continue
        rest = gold.select(fold != number)
        try:
            others = model.fit(judgments, rest if len(rest) else None, engine=engine)
        except AdjudgeError:  # it fits with all gold, but needs more than is left: weights by gold
            continue
        hidden = gold.items.filter(pa.array(fold == number))
        here, there = look_up(hidden, table.items), look_up(hidden, others.judgments.items)
        judged = (here >= 0) & (there >= 0)  # gold without judgments is not in the other fit
        posterior[here[judged]] = others.posterior[there[judged]]
        held_out[here[judged]] = True
    split, effective = _split_consensus(consensus)
    confusion = np.broadcast_to(
        consensus.confusion, (table.judge_count, *consensus.confusion.shape[1:])
    )
    from adjudge.models._calibration import calibrate_by  # brings scipy.optimize

    learnt_from = np.where(held_out, known, np.int16(-1))
    calibration = calibrate_by(learnt_from, split, effective, posterior, confusion)
    if calibration is None:
        return consensus
    final = np.array(consensus.posterior)
    calibration.apply(split, effective, final)
    put_gold(final, known)
    choice = _pick(model, final, table)
    other = (known < 0) & (table.counts_per_item > 0)
    before, after = (consensus.choice, consensus.probability), (choice, final.max(axis=1))
    note = calibration.describe_change(other, before, after)
    memory = consensus.predictor
    if memory is not None and getattr(memory, "like_fit", True):
        memory = _CalibratedMemory(model, memory, calibration, table.judges)
    notes = (*consensus.notes, note)
    return replace(consensus, posterior=final, choice=choice, notes=notes, predictor=memory)


def _split_consensus(consensus: Consensus) -> tuple[Judgments, EffectiveJudges]:
    """The judgments of a consensus by independent judges: a family counts as one."""
    table = consensus.judgments
    return split_judges(
        table, consensus.families or Families.none(table.judge_count), repeats=False
    )


def _pick(model: Any, posterior: NDArray[np.float64], table: Judgments) -> NDArray[np.int16]:
    """The most probable label of each item, with ties broken as the model does."""
    ties: Ties = getattr(model, "ties", "random")  # a model of another package may have neither
    return pick(posterior, table, ties=ties, seed=getattr(model, "seed", 0))[0]


def _deal(names: Names, folds: int, out: NDArray[np.int64]) -> None:
    """Assign items to folds by their names, whatever their order."""
    _, starts, letters = names.buffers()
    ends = np.frombuffer(starts, dtype=np.int64)[names.offset : names.offset + len(names) + 1]
    data = np.frombuffer(letters, dtype=np.uint8) if letters else np.zeros(1, dtype=np.uint8)
    deal(ends, data, folds, out)
