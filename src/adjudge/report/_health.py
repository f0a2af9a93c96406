"""The state of the data: how much there is, how it is spread, what was left out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from adjudge.data.source import count_of
from adjudge.report.results import Results

_BARS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bar:
    """One bar of a small chart: its name, its length as a share of the longest, and a word."""

    name: str
    length: float
    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Health:
    """What a person should know of the data before they believe anything made of them."""

    sizes: tuple[tuple[str, str], ...]  # tiles: number and what it counts
    remarks: tuple[str, ...]
    per_item: tuple[_Bar, ...]
    labels: tuple[_Bar, ...]


def describe_data(results: Results) -> _Health:
    """The sizes, spreads and oddities of the judgments."""
    judgments = results.consensus.judgments
    sizes = [
        (f"{len(judgments):,}", "judgments"),
        (f"{judgments.item_count:,}", "items"),
        (f"{judgments.judge_count:,}", "judges"),
    ]
    if judgments.topics is not None:
        sizes.append((f"{judgments.topic_count:,}", "topics"))
    if results.gold is not None:
        sizes.append((f"{len(results.gold):,}", "gold items"))
    used = np.bincount(judgments.label, minlength=len(judgments.scale.labels))
    return _Health(
        sizes=tuple(sizes),
        remarks=tuple(_remarks(results)),
        per_item=_histogram(judgments.counts_per_item),
        labels=_bars(list(judgments.scale.labels)[:_BARS], used[:_BARS], int(used.sum())),
    )


def _remarks(results: Results) -> list[str]:
    judgments = results.consensus.judgments
    per_item, per_judge = judgments.counts_per_item, judgments.counts_per_judge
    found = []
    if len(judgments):
        found.append(
            f"An item has {count_of(round(np.median(per_item)), 'judgment')} (median), from "
            f"{per_item.min():,} "
            f"to {per_item.max():,}; a judge gave {np.median(per_judge):.0f}, from "
            f"{per_judge.min():,} to {per_judge.max():,}."
        )
        tenth = max(1, len(per_judge) // 10)
        share = float(np.sort(per_judge)[-tenth:].sum()) / len(judgments)
        found.append(
            f"The busiest {count_of(tenth, 'judge')} gave {percent(share)} of all judgments."
        )
    empty, single = int((per_item == 0).sum()), int((per_item == 1).sum())
    if empty:
        found.append(
            f"{count_of(empty, 'item')} {'has' if empty == 1 else 'have'} no judgment at all."
        )
    if single:
        found.append(
            f"{count_of(single, 'item')} {'has' if single == 1 else 'have'} only one: nobody can "
            "disagree there."
        )
    repeats = results.agreement.repeats
    if repeats:
        found.append(
            f"{count_of(repeats, 'judgment')} {'repeats' if repeats == 1 else 'repeat'} a judge's "
            "earlier one of the same item."
        )
    if results.gold is not None:
        lost = int(results.gold.without_judgments(judgments).sum())
        if lost:
            found.append(
                f"{lost:,} of {count_of(len(results.gold), 'gold item')} "
                f"{'was' if lost == 1 else 'were'} judged by nobody."
            )
    return [*found, *results.provenance.left_out]


def _histogram(counts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> tuple[_Bar, ...]:
    """How many items have how many judgments; the many are put together at the end."""
    if not len(counts):
        return ()
    high = int(counts.max())
    if high < _BARS:
        edges = list(range(high + 2))
    else:
        edges = sorted({*range(8), *np.geomspace(8, high + 1, 5).astype(int).tolist()})
    tally, _ = np.histogram(counts, bins=np.array(edges, dtype=np.float64) - 0.5)
    names = [
        str(low) if upper - low == 1 else f"{low}–{upper - 1}" for low, upper in pairwise(edges)
    ]
    first = next((at for at, value in enumerate(tally) if value), 0)
    return _bars(names[first:], tally[first:], int(tally.sum()))


def _bars(
    names: list[str], values: np.ndarray[tuple[int], np.dtype[np.int64]], total: int
) -> tuple[_Bar, ...]:
    longest = max(int(values.max(initial=0)), 1)
    return tuple(
        _Bar(
            name=name,
            length=round(float(value) / longest, 4),
            word=f"{int(value):,} ({percent(float(value) / max(total, 1))})",
        )
        for name, value in zip(names, values, strict=True)
    )


def percent(share: float) -> str:
    """A share as people say it; what is nearly nothing, or nearly all, does not look like it."""
    if not np.isfinite(share):
        return "–"
    if 0 < share < 0.01:
        return "under 1%"
    if 0.99 < share < 1:
        return "over 99%"
    return f"{share:.0%}"
