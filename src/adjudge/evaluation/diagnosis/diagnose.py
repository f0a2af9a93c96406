"""Diagnosis of judges and items: whom to keep, train or drop, and what to collect next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus, places
from adjudge.data.judgments import GoldLike, Judgments, takes_tables
from adjudge.data.results import Result
from adjudge.data.source import count_of
from adjudge.evaluation.diagnosis._collusion import find_pairs
from adjudge.evaluation.diagnosis._confusions import (
    AverageConfusion,
    Confusions,
    average_judges,
    find_commonest,
    list_common_mistakes,
    list_mistakes,
    measure_confusions,
    pool_rates,
)
from adjudge.evaluation.diagnosis._drift import find_drift
from adjudge.evaluation.diagnosis.advice import Limits
from adjudge.evaluation.diagnosis.judge_tables import list_judges
from adjudge.evaluation.diagnosis.next_judges import FewJudges, find_few_judges
from adjudge.evaluation.scores import name_codes
from adjudge.evaluation.stopping import gain_of
from adjudge.models.dependence import count_further
from adjudge.models.model import Progress, Step

_STAGES = ("judges", "drift", "pairs", "items")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Diagnosis(Result):
    """The judges and items of a consensus, in Arrow tables with 90% intervals.

    ``judges``, one row per judge, in the order of ``consensus.judges``, with all its columns and
    ``p_chance``, ``skill``, ``bias``, each with an interval; ``mistake_truth``, ``mistake_label``,
    ``mistake_rate``, ``mistake_low``, ``mistake_high``; ``seconds``, the median, where known;
    ``gold_judgments`` and ``gold_accuracy`` with gold; ``advice`` and ``why``.

    ``confusions``, one row per mistake and judge: judge, truth, label, rate, low, high, judgments.
    ``common``, one row per mistake: truth, label, rate, judges, judgments.

    ``drift``, one row per judge with enough times: see ``_drift.find_drift``; ``history``, one row
    per block of a judge's work. Both None without times.

    ``pairs``, one row per pair of judges who agree more than expected: see
    ``_collusion.find_pairs``. None if they were not looked for.

    ``items``, one row per item in the order of ``consensus.labels``: see ``_list_items``.

    ``few``, the few judges of a panel who do as well as all on gold: see ``find_few_judges``.
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
    notes: tuple[str, ...]  # what is missing, what would add it, and how checks were made
    limits: Limits
    few: FewJudges | None = None

    @property
    def facts(self) -> str:
        """How many judges to keep, train, drop and watch."""
        advice = Counter(self.judges["advice"].to_pylist())
        said = ", ".join(f"{name} {count}" for name, count in sorted(advice.items()))
        return f"{count_of(len(self.judges), 'judge')}: {said}"

    def to_table(self) -> Any:
        """Return ``judges``."""
        return self.judges


@takes_tables
def diagnose(
    consensus: Consensus,
    *,
    gold: GoldLike = None,
    pairs: bool = True,
    limits: Limits | None = None,
    flags: Mapping[str, Sequence[str]] | None = None,
    progress: Progress | None = None,
) -> Diagnosis:
    """Diagnose the judges of a consensus, and its items.

    ``gold`` decides the advice on judges who judged enough of it, as does gold that the fit was
    given; for a consensus that uses gold, give it to ``fit``. ``pairs`` looks for judges who copy.
    ``limits`` are the thresholds of the advice. ``flags`` are reasons to look at a judge, such as
    too little time per item: a judge who has any is watched at best.
    """
    chosen = Limits() if limits is None else limits

    def report(stage: int) -> None:
        if progress is not None:
            note = _STAGES[stage] if stage < len(_STAGES) else ""
            progress(Step("diagnosing", stage, len(_STAGES), note))

    report(0)
    confusion = measure_confusions(consensus)
    commonest = find_commonest(consensus.counts, consensus.scale)
    judges, of_judges = list_judges(consensus, gold, confusion, commonest, chosen, flags or {})
    report(1)
    drift, history, of_drift = find_drift(consensus)
    report(2)
    found, of_pairs = find_pairs(consensus) if pairs else (None, ())
    report(3)
    votes = _count_votes(consensus.judgments)
    items = _list_items(consensus, votes)
    report(4)
    return Diagnosis(
        judges=judges,
        confusion=confusion,
        population=average_judges(consensus, confusion, chosen.least),
        confusions=list_mistakes(consensus, confusion),
        common=list_common_mistakes(consensus, commonest),
        drift=drift,
        history=history,
        pairs=found,
        items=items,
        votes=votes,
        notes=(*of_judges, *of_drift, *of_pairs),
        limits=chosen,
        few=find_few_judges(
            consensus.judgments,
            consensus.known if gold is None else gold.align(consensus.judgments),
        ),
    )


def _count_votes(judgments: Judgments) -> NDArray[np.int64]:  # (item, label)
    """Count how many judgments gave each item each label."""
    labels = len(judgments.scale.labels)
    cell = judgments.item.astype(np.int64) * labels + judgments.label
    return np.bincount(cell, minlength=judgments.item_count * labels).reshape(-1, labels)


def _list_items(consensus: Consensus, votes: NDArray[np.int64]) -> Any:
    """Return one row per item, in the order of ``consensus.labels``.

    ``item``, ``topic``, ``document`` where known, ``label``, ``probability``, ``entropy`` in bits,
    ``judgments``, and ``n_eff``, their effective number, where the model estimates it.
    ``disagreement``: the chance that two of its judgments differ, null of fewer than
    two. ``vote``: the truth with most votes, null without any; of several with as many the label of
    the consensus if it is one of them, else the first. ``vote_share``: its share of the votes.
    ``differs``: whether the consensus has another label than the vote. ``gain``: the
    bits of information about the truth that one more judgment by an average judge is expected to
    give, scaled by its weight next to the other judgments (``count_further``); ``gain_rank``: 1 for
    the item that would gain most.
    """
    judgments, scale = consensus.judgments, consensus.scale
    columns = judgments.item_columns
    columns["label"] = name_codes(scale.truths, consensus.choice)
    columns["probability"] = pa.array(consensus.probability)
    columns["entropy"] = pa.array(consensus.entropy)
    columns["judgments"] = pa.array(judgments.counts_per_item)
    if consensus.effective is not None:
        columns["n_eff"] = pa.array(consensus.effective)
    columns["disagreement"] = _disagreement(votes)
    vote, share = _vote(consensus, votes)
    columns["vote"] = name_codes(scale.truths, vote)
    columns["vote_share"] = pa.array(share, mask=vote < 0)
    columns["differs"] = pa.array((vote >= 0) & (vote != consensus.choice))
    gain = gain_of(consensus.posterior, pool_rates(consensus.counts))
    gain *= count_further(judgments.counts_per_item, consensus.correlation or 0.0)
    columns["gain"] = pa.array(gain)
    columns["gain_rank"] = pa.array(places(gain, np.zeros(len(gain), dtype=np.int32)))
    return pa.table(columns)


def _disagreement(votes: NDArray[np.int64]) -> Any:  # (item,)
    """Return the probability that two judgments of an item differ."""
    total = votes.sum(axis=1)
    pairs = total * (total - 1)
    alike = (votes * (votes - 1)).sum(axis=1)
    return pa.array(1.0 - alike / np.where(pairs > 0, pairs, 1), mask=pairs == 0)


def _vote(
    consensus: Consensus, votes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:  # (item,), (item,)
    """Return the truth with most votes, -1 without votes, and its share of them."""
    cast = votes @ consensus.scale.stands.T.astype(np.int64)
    most = cast.max(axis=1, initial=0)
    chosen = consensus.choice.astype(np.int64)
    here = np.arange(len(cast))
    vote = np.where(cast[here, chosen] == most, chosen, cast.argmax(axis=1))
    vote[most == 0] = -1
    return vote, np.asarray(most / np.maximum(cast.sum(axis=1), 1), dtype=np.float64)
