"""Which golds a judge is shown: in the training, hidden in the work, and in refreshers.

Pure functions on plain values; randomness comes in as a generator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from adjudge.collect.rules.policy import Policy
from adjudge.collect.values.project import Mix
from adjudge.data.source import count_of

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class GoldCard(Generic[_Key]):
    """What choosing needs of a gold: item, topic and true label.

    Where several labels are accepted, ``label`` is the first.
    """

    item: _Key
    topic: Hashable
    label: str


def quota(mix: Mix, labels: Sequence[str], count: int) -> dict[str, int]:
    """How many of ``count`` golds each label gets, by largest remainders.

    >>> quota({"Matching": 0.453, "Not Matching": 0.473, "Off Topic": 0.073}, ["Matching",
    ...       "Not Matching", "Off Topic", "Spam"], 20)
    {'Matching': 9, 'Not Matching': 10, 'Off Topic': 1, 'Spam': 0}
    """
    shares = _shares(mix, labels)
    total = sum(shares.values())
    if total <= 0:
        return dict.fromkeys(labels, 0)
    exact = {label: count * share / total for label, share in shares.items()}
    chosen = {label: int(value + 1e-9) for label, value in exact.items()}
    left = count - sum(chosen.values())
    by_remainder = sorted(labels, key=lambda label: chosen[label] - exact[label])
    for label in by_remainder[:left]:
        chosen[label] += 1
    return chosen


def _shares(mix: Mix, labels: Sequence[str]) -> dict[str, float]:
    """The share of each label in a mix; ``any`` counts as uniform here."""
    if isinstance(mix, str):
        return dict.fromkeys(labels, 1.0)
    return {label: float(mix.get(label, 0.0)) for label in labels}


def choose_training(
    golds: Sequence[GoldCard[_Key]],
    count: int,
    mix: Mix,
    rng: np.random.Generator,
    *,
    seen: Iterable[_Key] = (),
) -> list[_Key]:
    """The training set: ``count`` golds with the label mix asked for, unseen ones before seen ones.

    Other labels fill up for a label with too little gold, so that the set is as long as the
    gold allows. In random order.
    """
    known = set(seen)
    fresh = [gold for gold in golds if gold.item not in known]
    chosen = _by_mix(fresh, count, mix, rng)
    if len(chosen) < count:
        stale = [gold for gold in golds if gold.item in known]
        chosen += _by_mix(stale, count - len(chosen), mix, rng)
    return [chosen[place].item for place in rng.permutation(len(chosen))]


def _by_mix(
    golds: Sequence[GoldCard[_Key]], count: int, mix: Mix, rng: np.random.Generator
) -> list[GoldCard[_Key]]:
    """At most ``count`` golds: the quota of each label, then any."""
    order = [golds[place] for place in rng.permutation(len(golds))]
    if mix == "any" or len(order) <= count:
        return order[:count]
    named = () if isinstance(mix, str) else mix
    labels = list(dict.fromkeys([*named, *sorted({gold.label for gold in golds})]))
    return fill_quota(order, quota(mix, labels, count), count)


def fill_quota(
    order: Iterable[GoldCard[_Key]], quotas: Mapping[str, int], count: int
) -> list[GoldCard[_Key]]:
    """The first golds of each label up to its quota, then the next up to ``count``."""
    left, chosen, rest = dict(quotas), list[GoldCard[_Key]](), list[GoldCard[_Key]]()
    for gold in order:
        if left[gold.label] > 0:
            left[gold.label] -= 1
            chosen.append(gold)
        else:
            rest.append(gold)
    return chosen + rest[: max(0, count - len(chosen))]


def screening_order(
    golds: Sequence[GoldCard[_Key]],
    shown: Mapping[_Key, int],
    mix: Mix,
    rng: np.random.Generator | None,
    *,
    runs_out: str = "repeat",
) -> list[GoldCard[_Key]]:
    """The golds a judge may be screened with next, the most needed first.

    ``shown`` says when they were shown which: any number that grows with time. Unseen golds alone
    are given while there are any; then, if they may repeat, those shown longest ago come first.
    Among the unseen, the label they lack most by ``mix`` comes first; within a label at random, or
    without ``rng`` in the order given.
    """
    fresh = [gold for gold in golds if gold.item not in shown]
    if not fresh:
        if runs_out != "repeat":
            return []
        return sorted(golds, key=lambda gold: shown[gold.item])
    if rng is not None:
        fresh = [fresh[place] for place in rng.permutation(len(fresh)).tolist()]
    return fresh if mix == "any" else _by_deficit(fresh, golds, shown, mix)


def order_by_work(
    count: int, work: Sequence[int], *, seed: int, among: Sequence[int] | None = None
) -> NDArray[np.int64]:
    """The order of golds for a page with this work: the same for everyone who is given it.

    With ``among`` the order of these alone, as in that of all.

    Every gold draws a number for each item of work there may be, and comes by its least for this
    work. Pages that share a part of their work so share about as large a part of their gold.

    >>> order_by_work(5, [3, 1, 2], seed=1).tolist() == order_by_work(5, [1, 2, 3], seed=1).tolist()
    True
    >>> every = order_by_work(5, [3, 1], seed=1)
    >>> some = order_by_work(5, [3, 1], seed=1, among=[4, 0])
    >>> some.tolist() == [place for place in every.tolist() if place in (0, 4)]
    True
    """
    places = np.arange(count) if among is None else np.array(sorted(among), dtype=np.int64)
    keys = np.array([*work] or [0], dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    drawn = keys[:, None] ^ _draw_numbers(count, seed)[places]  # (work, gold)
    shifted = np.empty_like(drawn)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # splitmix64
        np.right_shift(drawn, np.uint64(shift), out=shifted)
        drawn ^= shifted
        drawn *= np.uint64(factor)
    np.right_shift(drawn, np.uint64(31), out=shifted)
    drawn ^= shifted
    return places[np.argsort(drawn.min(axis=0), kind="stable")]


@lru_cache(maxsize=8)
def _draw_numbers(count: int, seed: int) -> NDArray[np.uint64]:
    """The number that each of so many golds of a project has to itself."""
    drawn = np.random.default_rng([seed, 5]).integers(0, 2**63, count, dtype=np.uint64)
    drawn.flags.writeable = False
    return drawn


def _by_deficit(
    fresh: Sequence[GoldCard[_Key]],
    golds: Sequence[GoldCard[_Key]],
    shown: Mapping[_Key, int],
    mix: Mix,
) -> list[GoldCard[_Key]]:
    """Fresh golds merged so that the labels shown in all stay as near the mix as they can."""
    shares = _shares(mix, sorted({gold.label for gold in golds}))
    total_share = sum(shares.values()) or 1.0
    had = Counter(gold.label for gold in golds if gold.item in shown)
    piles: dict[str, list[GoldCard[_Key]]] = {}
    for gold in reversed(fresh):
        piles.setdefault(gold.label, []).append(gold)
    ordered: list[GoldCard[_Key]] = []
    total = sum(had.values())
    while piles:
        total += 1
        label = max(
            piles, key=lambda name: (total * shares[name] / total_share - had[name], shares[name])
        )
        ordered.append(piles[label].pop())
        had[label] += 1
        if not piles[label]:
            del piles[label]
    return ordered


def for_training(role: str) -> bool:
    """Whether a gold of this role may train."""
    return role in ("training", "both")


def for_screening(role: str) -> bool:
    """Whether a gold of this role may screen."""
    return role in ("screening", "both")


def gold_warnings(
    policy: Policy,
    *,
    training: Sequence[GoldCard[_Key]],
    screening: Sequence[GoldCard[_Key]],
    work_topics: Mapping[Hashable, int],
) -> list[str]:
    """What a requester should know of the project's gold, in sentences; none if all is well."""
    said = []
    if not training and not screening:
        return ["There is no gold: judges are neither trained nor screened, and none is blocked."]
    if policy.training and len(training) < policy.training_pairs:
        said.append(
            f"The training wants {count_of(policy.training_pairs, 'pair')}, and there is gold for "
            f"{len(training)}: {'there is no training' if not training else 'all of it is used'}."
        )
    if policy.screening and not screening:
        said.append("There is no gold to screen with: nobody is warned or blocked.")
    if policy.screening and screening:
        said += _screening_warnings(policy, screening, work_topics)
    return said


def _screening_warnings(
    policy: Policy, screening: Sequence[GoldCard[_Key]], work_topics: Mapping[Hashable, int]
) -> list[str]:
    """Too little gold for one judge, one label only, gold under queries of its own."""
    said = []
    share = policy.screening_share
    spare = len(screening) - (policy.training_pairs if policy.training else 0)
    work = sum(work_topics.values())
    pages = policy.max_pages or -(-work // max(1, round(policy.pairs_per_page * (1 - share))))
    needed = round(min(pages * policy.pairs_per_page, work / (1 - share)) * share)
    if spare < needed:
        said.append(
            f"A judge who judges all they may meets about "
            f"{count_of(needed, 'screening gold')}, and "
            f"{max(0, spare)} are left after the training: then gold "
            + {"repeat": "repeats.", "none": "stops.", "finish": "runs out and they are finished."}[
                policy.gold_runs_out
            ]
        )
    if len({gold.label for gold in screening}) == 1:
        said.append("All screening gold has one label: whoever always gives it is never found out.")
    apart = Counter(gold.topic for gold in screening if not work_topics.get(gold.topic))
    if work_topics and apart and sum(apart.values()) > len(screening) / 2:
        most = min(max(apart.values()), policy.results_per_query)
        said.append(
            "Most gold is under queries that have no other results. Pages stay uniform (at "
            f"most {count_of(most, 'result')} a query), but a judge who "
            "notes queries could tell: better gold comes from the queries that are judged."
        )
    return said


Pair = tuple[str, str]  # the accepted label, the given one
_LISTED = 3  # kinds of mistake that are named to a judge


def is_due(policy: Policy, *, misses: int, had: int) -> bool:
    """Whether a judge gets a refresher now.

    ``misses`` are golds missed in work since their last refresher, or since their (fresh) start;
    ``had`` the refreshers they have done.
    """
    if policy.refresher_pairs == 0 or had >= policy.refreshers:
        return False
    return misses >= policy.refresher_after


def confusions(missed: Iterable[Pair]) -> dict[Pair, int]:
    """How often each accepted label was taken for which other, the commonest mistake first."""
    counts = Counter(missed)
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _label_weights(confused: Mapping[Pair, int]) -> dict[str, int]:
    """How much each label is to be trained.

    A mistake has two sides: the label that was right, and the one that was given. Both are shown,
    since the judge has to learn how they differ.

    >>> _label_weights({("Spam", "Off Topic"): 2, ("Matching", "Off Topic"): 1})
    {'Spam': 2, 'Off Topic': 3, 'Matching': 1}
    """
    weights: Counter[str] = Counter()
    for pair, count in confused.items():
        weights.update(dict.fromkeys(pair, count))
    return dict(weights)


def choose_refresher(
    golds: Sequence[GoldCard[_Key]],
    confused: Mapping[Pair, int],
    count: int,
    rng: np.random.Generator,
    *,
    seen: Iterable[_Key] = (),
) -> list[_Key]:
    """The golds of a refresher: of the labels that they confused alone, in proportion, mixed.

    Within a label, unseen gold comes first. Other labels fill up for a label with too little gold,
    so that the refresher is as long as the gold allows.
    """
    weights = _label_weights(confused)
    of_kind = [gold for gold in golds if gold.label in weights]
    labels = sorted({gold.label for gold in of_kind})
    count = min(count, len(of_kind))
    quotas = quota({label: float(weights[label]) for label in labels}, labels, count)
    known = set(seen)
    order = [of_kind[place] for place in rng.permutation(len(of_kind))]
    order.sort(key=lambda gold: gold.item in known)
    chosen = fill_quota(order, quotas, count)
    return [chosen[place].item for place in rng.permutation(len(chosen))]


def why(confused: Mapping[Pair, int], *, kinds: bool = True) -> str:
    """Why a judge gets a refresher, in words for themselves; ``kinds``: with what they confused."""
    total = sum(confused.values())
    results = "1 result whose answer is known" if total == 1 else (
        f"{total} results whose answers are known"
    )  # fmt: skip
    if not kinds:
        return f"Among your last results you missed {results}."
    listed = [
        f"{given} where {accepted} is right" + ("" if count == 1 else f" ({count} times)")
        for (accepted, given), count in list(confused.items())[:_LISTED]
    ]
    more = ", among others" if len(confused) > _LISTED else ""
    return f"Among your last results you missed {results}: you answered {'; '.join(listed)}{more}."


def to_json(confused: Mapping[Pair, int]) -> list[list[Any]]:
    """Confusions as JSON has them: accepted, given, how often."""
    return [[accepted, given, count] for (accepted, given), count in confused.items()]


def from_json(stored: Iterable[Sequence[Any]]) -> dict[Pair, int]:
    """Confusions from JSON."""
    return {(str(accepted), str(given)): int(count) for accepted, given, count in stored}


def between(marks: Sequence[int], answers: Iterable[tuple[int, bool]]) -> list[tuple[int, int]]:
    """Golds (seen, right) before the first of these marks, after each, and before the next.

    ``answers`` are (place, right), with places in the same order as the marks.

    >>> between([10, 20], [(3, False), (4, True), (12, True), (25, True)])
    [(2, 1), (1, 1), (1, 1)]
    """
    found = [[0, 0] for _ in range(len(marks) + 1)]
    for place, right in answers:
        part = found[int(np.searchsorted(marks, place))]
        part[0] += 1
        part[1] += right
    return [(seen, right) for seen, right in found]
