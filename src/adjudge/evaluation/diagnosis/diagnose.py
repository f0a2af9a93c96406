"""Diagnosis of judges and items: whom to keep, train or drop, who changed, what to collect next.

Judges who change over time tire, learn, or stop looking. A judgment counts as right by the
probability of the truth that it names. What the model expects of the judge on such an item is
subtracted, so that a run of harder truths is no change. If a judge stays the same, the running sum
of the rest stays near 0; its largest excursion,

    max_t |sum_{s <= t} (r_s - mean r)| / (sd(r) sqrt(n)),

is distributed as that of a Brownian bridge (the CUSUM test; the limit is Kolmogorov's). It needs no
assumption about the moment of change; where it is largest is the likeliest moment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import kolmogorov

from adjudge.data.consensus import Consensus, places
from adjudge.data.judges import LEVEL as INTERVAL
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
from adjudge.evaluation.diagnosis.advice import Limits
from adjudge.evaluation.diagnosis.judge_tables import list_judges
from adjudge.evaluation.diagnosis.next_judges import FewJudges, find_few_judges
from adjudge.evaluation.scores import interval_columns, jeffreys, name_codes, tabulate
from adjudge.evaluation.significance import adjust
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

    ``drift``, one row per judge with enough times: see ``find_drift``; ``history``, one row
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
    shape = judgments.item_count, len(judgments.scale.labels)
    return tabulate(shape, judgments.item, judgments.label)


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


_LEAST = 20  # judgments with a time: ten per half
_LEVEL = 0.05  # false discovery rate among judges reported as changed
_BLOCKS = 10  # stretches of a judge's history at most
_BLOCK = 10  # judgments in a stretch at least, but for judges with fewer
_Floats = NDArray[np.float64]
_NONE = np.empty(0), np.empty(0, dtype=np.int64)


class _Timed(NamedTuple):
    """The judgments of one judge with a time, in order."""

    judge: int
    time: _Floats
    right: _Floats  # the chance that each names the truth
    beyond: _Floats  # less what was expected


def find_drift(consensus: Consensus) -> tuple[Any | None, Any | None, tuple[str, ...]]:
    """Return who changed, the history of each judge, and notes.

    Who changed: one row per judge with enough times, the most certain first: ``judge``,
    ``judgments``, ``begin``, ``end``, ``accuracy_early`` and ``accuracy_late`` (halves of their
    judgments, with intervals), ``change`` between them, ``statistic``, ``p``, ``p_adjusted`` for
    all judges, ``changed``, ``changed_at``, ``accuracy_before`` and ``accuracy_after`` that moment,
    ``sentence``. The history: ``judge``, ``block``, ``begin``, ``end``, ``judgments``,
    ``accuracy``, ``low``, ``high``. Both None where there are no times.
    """
    time = consensus.judgments.time
    if time is None or np.isnan(time).all():
        note = "no times: drift was not checked; a column 'time' adds it"
        return None, None, (note,)
    timed = list(_sort_judgments(consensus, time))
    enough = [one for one in timed if len(one.time) >= _LEAST and one.time[-1] > one.time[0]]
    few = consensus.judgments.judge_count - len(enough)
    table = _test_judges(consensus, enough)
    changed = int(np.count_nonzero(table["changed"].to_numpy()))
    note = f"drift was checked for {count_of(len(enough), 'judge')}, and found for {changed:,}"
    if few:
        note += (
            f"; {few:,} {'has' if few == 1 else 'have'} fewer than {_LEAST} judgments at different "
            "times"
        )
    return table, _list_blocks(consensus, timed), (note,)


def _sort_judgments(consensus: Consensus, time: _Floats) -> Iterator[_Timed]:
    """Yield the judgments with a time of each judge who has some."""
    judgments, scale = consensus.judgments, consensus.scale
    known = np.flatnonzero(~np.isnan(time))
    known = known[np.lexsort((time[known], judgments.judge[known]))]
    judge = judgments.judge[known].astype(np.int64)
    posterior = consensus.posterior[judgments.item[known]]  # (judgment, truth)
    named = np.array(scale.truth_of)[judgments.label[known]]
    right = np.where(named >= 0, posterior[np.arange(len(known)), np.maximum(named, 0)], 0.0)
    rates = np.einsum("jkl,kl->jk", consensus.confusion, scale.stands)
    mine = rates[judge] if len(rates) > 1 else rates
    expected = np.einsum("mk,mk->m", posterior, np.broadcast_to(mine, posterior.shape))
    who, begin = np.unique(judge, return_index=True)
    columns = (np.split(part, begin[1:]) for part in (time[known], right, right - expected))
    yield from map(_Timed, who.tolist(), *columns)


def _find_excursion(one: _Timed) -> tuple[float, int]:
    """Return the statistic of a judge, and the number of judgments before the moment.

    A moment lies between two times: judgments of one time have no order.
    """
    centred = one.beyond - one.beyond.mean()
    moments = np.flatnonzero(np.diff(one.time) > 0)
    height = np.abs(np.cumsum(centred)[moments])
    sd = float(centred.std())
    statistic = 0.0 if sd < 1e-9 else float(height.max()) / (sd * len(centred) ** 0.5)
    return statistic, int(moments[height.argmax()]) + 1


def _test_judges(consensus: Consensus, judges: Sequence[_Timed]) -> Any:
    """Return the table of who changed."""
    found = [_find_excursion(one) for one in judges]
    statistic, before = (np.array(part) for part in zip(*found, strict=True)) if found else _NONE
    p = np.asarray(kolmogorov(statistic))
    fair = adjust(p)
    changed = fair <= _LEVEL
    half = [len(one.right) // 2 for one in judges]
    early = _share([one.right[:at] for one, at in zip(judges, half, strict=True)])
    late = _share([one.right[at:] for one, at in zip(judges, half, strict=True)])
    old = _share([one.right[:at] for one, at in zip(judges, before, strict=True)])[0]
    new = _share([one.right[at:] for one, at in zip(judges, before, strict=True)])[0]
    moment = np.array([one.time[at] for one, at in zip(judges, before, strict=True)])
    columns: dict[str, Any] = {
        "judge": consensus.judgments.judges.take(
            pa.array([one.judge for one in judges], pa.int64())
        ),
        "judgments": pa.array([len(one.time) for one in judges], pa.int64()),
        "begin": _instants(np.array([one.time[0] for one in judges])),
        "end": _instants(np.array([one.time[-1] for one in judges])),
    }
    columns |= interval_columns("accuracy_early", early) | interval_columns("accuracy_late", late)
    parts = (changed, moment, old, new, early[0], late[0])
    sentences = [_describe(*row) for row in zip(*(part.tolist() for part in parts), strict=True)]
    columns |= {
        "change": pa.array(late[0] - early[0]),
        "statistic": pa.array(statistic),
        "p": pa.array(p),
        "p_adjusted": pa.array(fair),
        "changed": pa.array(changed),
        "changed_at": _instants(np.where(changed, moment, np.nan)),
        "accuracy_before": pa.array(old, mask=~changed),
        "accuracy_after": pa.array(new, mask=~changed),
        "sentence": pa.array(sentences, pa.large_string()),
    }
    return pa.table(columns).take(pa.array(np.lexsort((-statistic, p))))


def _describe(
    changed: bool, moment: float, old: float, new: float, early: float, late: float
) -> str:
    """Say how a judge changed, if they did."""
    if changed:
        day = f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M}"
        return f"right in {old:.0%} before {day}, in {new:.0%} since"
    return (
        f"no change beyond chance: right in {early:.0%} of their first half, {late:.0%} of their "
        "second"
    )


def _share(parts: Sequence[_Floats]) -> tuple[_Floats, _Floats, _Floats]:  # (part,) each
    """Return the share of right judgments in each part, and its interval."""
    total = np.array([len(part) for part in parts], dtype=np.float64)
    hits = np.minimum([part.sum() for part in parts], total)
    return hits / np.maximum(total, 1.0), *jeffreys(hits, total, INTERVAL)


def _list_blocks(consensus: Consensus, judges: Sequence[_Timed]) -> Any:
    """Return each judge's work in up to ten blocks of about equal size."""
    rows, parts = [], []
    for one in judges:
        size = len(one.time)
        blocks = min(max(size // _BLOCK, 1), _BLOCKS)
        edges = [size * number // blocks for number in range(blocks + 1)]
        for number, (first, last) in enumerate(pairwise(edges), 1):
            rows.append((one.judge, number, one.time[first], one.time[last - 1]))
            parts.append(one.right[first:last])
    judge, block, begin, end = (np.array(column) for column in zip(*rows, strict=True))
    accuracy, low, high = _share(parts)
    return pa.table(
        {
            "judge": consensus.judgments.judges.take(pa.array(judge)),
            "block": pa.array(block),
            "begin": _instants(begin),
            "end": _instants(end),
            "judgments": pa.array([len(part) for part in parts]),
            "accuracy": pa.array(accuracy),
            "low": pa.array(low),
            "high": pa.array(high),
        }
    )


def _instants(seconds: _Floats) -> Any:
    """Convert seconds since 1970 to UTC timestamps, null for NaN."""
    unknown = np.isnan(seconds)
    micro = np.rint(np.where(unknown, 0.0, seconds) * 1e6).astype(np.int64)
    return pa.array(micro, pa.timestamp("us", tz="UTC"), mask=unknown)
