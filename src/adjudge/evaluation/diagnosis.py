"""Judging the judges: whom to keep, train or drop, what is confused, and what to collect next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.given import GoldLike, takes_tables
from adjudge.evaluation.advice import Limits
from adjudge.evaluation.collusion import pairs_of
from adjudge.evaluation.confusions import (
    AverageConfusion,
    Confusions,
    common_table,
    commonest_of,
    confusions_of,
    mistakes_table,
    population_of,
)
from adjudge.evaluation.drift import drift_of
from adjudge.evaluation.items import items_of, votes_of
from adjudge.evaluation.judge_card import judges_of
from adjudge.models.model import Progress, Step

_STAGES = ("judges", "drift", "pairs", "items")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Diagnosis:
    """What a consensus says of its judges and items. Tables are Arrow tables; intervals are 90%.

    ``judges``, a row a judge, in the order of ``consensus.judges`` and with all its columns, then
    ``p_chance``, ``skill``, ``bias``, each with an interval; ``mistake_truth``, ``mistake_label``,
    ``mistake_rate``, ``mistake_low``, ``mistake_high``; ``seconds``, the median, where known;
    ``gold_judgments`` and ``gold_accuracy`` with gold; ``advice`` and ``why``.

    ``confusions``, a row for each mistake of each judge: judge, truth, label, rate, low, high,
    judgments. ``common``, a row for each mistake: truth, label, rate, judges, judgments.

    ``drift``, a row for each judge with times enough: see ``adjudge.evaluation.drift``; with
    ``history``, a row for each stretch of a judge's work. Both None where there are no times.

    ``pairs``, a row for each two judges who agree more than the model explains: see
    ``adjudge.evaluation.collusion``. None where they were not looked for.

    ``items``, a row an item in the order of ``consensus.labels``: see ``adjudge.evaluation.items``.
    """

    judges: Any
    confusion: Confusions
    population: AverageConfusion
    confusions: Any
    common: Any
    drift: Any | None
    history: Any | None
    pairs: Any | None
    items: Any
    votes: NDArray[np.int64]  # (item, label) how many judgments gave it
    notes: tuple[str, ...]  # what is missing and what would add it, and how things were done
    limits: Limits


@takes_tables
def diagnose(
    consensus: Consensus,
    *,
    gold: GoldLike = None,
    pairs: bool = True,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Diagnosis:
    """Everything that can be said of the judges of a consensus, and of its items.

    ``gold`` only adds how each judge did on it; to let it guide the consensus, give it to ``fit``.
    ``pairs`` looks for judges who copy. ``limits`` are the thresholds of the advice.
    """
    chosen = Limits() if limits is None else limits

    def tell(stage: int) -> None:
        if progress is not None:
            note = _STAGES[stage] if stage < len(_STAGES) else ""
            progress(Step("diagnosing", stage, len(_STAGES), note))

    tell(0)
    confusion = confusions_of(consensus)
    commonest = commonest_of(consensus)
    judges, said = judges_of(consensus, gold, confusion, commonest, chosen)
    tell(1)
    drift, history, of_drift = drift_of(consensus)
    tell(2)
    found, of_pairs = pairs_of(consensus) if pairs else (None, ())
    tell(3)
    votes = votes_of(consensus.judgments)
    items = items_of(consensus, votes)
    tell(4)
    return Diagnosis(
        judges=judges,
        confusion=confusion,
        population=population_of(consensus, confusion, chosen.least),
        confusions=mistakes_table(consensus, confusion),
        common=common_table(consensus, commonest),
        drift=drift,
        history=history,
        pairs=found,
        items=items,
        votes=votes,
        notes=(*said, *of_drift, *of_pairs),
        limits=chosen,
    )
