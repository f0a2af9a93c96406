"""What the next page of a judge holds, where golds go, when an item closes: pure functions.

How gold is hidden. The shape of a page is drawn up first, from the work there is, and golds are put
into it after that. Every group of a page has the same number of rows, so that a group's size says
nothing; a page has the same share of gold whatever that size is, and what rounding leaves over is
carried to the next page. Groups are in random order, and so do the rows in each. A gold joins
work of its own query where there is some, else golds of its query make a group of their own. Where
gold is alone under its query, the groups of that page all have one row. No query heads two
groups of a page, since that would show gold too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, Literal, TypeVar
from zlib import crc32

import numpy as np

from adjudge.collect.rules.golds import GoldCard
from adjudge.collect.rules.policy import FULL_PAGE, Policy

_Key = TypeVar("_Key", bound=Hashable)
_ItemState = Literal["open", "closed", "set aside", "withdrawn", "final", "skipped"]
EARLY_GOLDS = 5  # at most, which judges meet on their first rows
STICKY = ("withdrawn", "final", "skipped")  # states that counters do not change
# The first state whose counter has reached its bound; else an item is open.
STATE_RULE: tuple[tuple[_ItemState, str, str], ...] = (
    ("closed", "trusted", "needed"),
    ("set aside", "broken", "set_aside_after"),
)


@dataclass(frozen=True, slots=True)
class Slot(Generic[_Key]):
    """One row of a page to be: which item, and whether it is there as gold."""

    item: _Key
    gold: bool


Plan = list[list[Slot[_Key]]]  # groups of rows, in order
_Arrange = Callable[[list[_Key], Sequence[GoldCard[_Key]]], Sequence[GoldCard[_Key]]]
_Due = Callable[[int], int]  # how many golds a page of so many rows should have


def item_state(*, trusted: int, needed: int, broken: int, set_aside_after: int) -> _ItemState:
    """The state that an item's counters give it; one that is sticky stays so."""
    limits = {"needed": needed, "set_aside_after": set_aside_after}
    values = {"trusted": trusted, "broken": broken, **limits}
    return next(
        (state for state, have, enough in STATE_RULE if values[have] >= values[enough]), "open"
    )


def _count_scheduled_golds(rows: int, policy: Policy, seed: Sequence[int]) -> int:
    """How many of a judge's first ``rows`` rows are to be gold.

    Among every 25 rows (5 golds with 20 pairs, by the policy) gold has its places drawn at random,
    so that every row is gold with the same probability and no count of rows shows it.
    """
    golds, width = policy.screening_golds, policy.screening_golds + policy.screening_pairs
    block, rest = divmod(rows, width)
    if rest == 0:
        return golds * block
    places = np.random.default_rng([*seed, block]).permutation(width)[:golds]
    return golds * block + int(np.count_nonzero(places < rest))


def count_early_golds(policy: Policy, golds: int, seed: Sequence[int]) -> int:
    """How many golds the first pages have beyond the schedule, so that judges are checked early.

    Later pages keep the usual share: else who met gold early would know that none comes next.
    """
    if not policy.gold_before_closing or policy.trust_training:
        return 0
    least = min(policy.least_golds, golds)
    pages = math.ceil(2 * least / policy.pairs_per_page)
    return max(0, least - _count_scheduled_golds(pages * policy.pairs_per_page, policy, seed))


def compose(
    work: Sequence[tuple[_Key, Hashable]],
    golds: Sequence[GoldCard[_Key]],
    policy: Policy,
    rng: np.random.Generator,
    *,
    shown: int = 0,
    golds_shown: int = 0,
    lacking: int = 0,
    seed: Sequence[int] = (0,),
    arrange: _Arrange[_Key] | None = None,
) -> Plan[_Key]:
    """The groups of a judge's next page, in random order; empty where there is no work.

    A page of few rows may be all gold, when it is gold's turn.

    ``work`` are items they may be given with their topics, the first to be judged first; ``golds``
    the golds they may be given, the most needed first. ``shown`` and ``golds_shown`` count the rows
    and golds they have been shown in work pages so far. ``seed`` says when gold is due. A judge who
    lacks golds before their judgments count gets them earlier, on at most half of the rows.

    When two accounts compare their pages, these should differ no more in work than in gold:
    ``arrange`` puts golds into the order that fits the work that there would be. It is
    given those that the page has a use for, and may give others too.
    """
    # Gold is arranged for this work, so this work has to be given.
    salt = None if arrange is None else int(rng.integers(2**32))
    by_topic: dict[Hashable, list[_Key]] = {}
    for item, topic in work:
        by_topic.setdefault(topic, []).append(item)
    if not by_topic:
        return []

    def due(rows: int) -> int:
        scheduled = _count_scheduled_golds(shown + rows, policy, seed) - golds_shown
        return max(scheduled, min(lacking, rows // 2))

    pile = _Pile(by_topic, golds, rng, salt)
    share = policy.screening_share if golds else 0.0
    if share and lacking:
        share = max(share, min(0.5, lacking / (lacking + len(work))))
    if share == 0.0:
        plan = _plan_without_gold(pile, policy)
    else:
        plan = _with_gold(pile, policy, share, due, arrange)
    shuffled = [[group[place] for place in rng.permutation(len(group))] for group in plan]
    return [shuffled[place] for place in rng.permutation(len(shuffled))]


@dataclass(frozen=True)
class _Pile(Generic[_Key]):
    """Work by topic and gold, in order of preference, and how much gold topics have.

    Golds may be thousands, of as many topics: they are counted at every page, but only those of
    the few topics that are chosen are put together.
    """

    work: dict[Hashable, list[_Key]]
    golds: Sequence[GoldCard[_Key]]
    rng: np.random.Generator
    salt: int | None

    @cached_property
    def counts(self) -> dict[Hashable, int]:
        """How many golds topics have, the topic that is needed most first."""
        return Counter([gold.topic for gold in self.golds])

    def hiding(self, size: int) -> Collection[Hashable]:
        """The topics whose golds could be in a group of so many rows, with work or alone."""
        found = {
            topic
            for topic, items in self.work.items()
            if topic in self.counts and len(items) + self.counts[topic] >= size
        }
        if max(self.counts.values(), default=0) >= size:
            found.update(topic for topic, count in self.counts.items() if count >= size)
        return found

    def useful(self, size: int) -> list[GoldCard[_Key]]:
        """The golds that could be in a group of so many rows."""
        hiding = self.hiding(size)
        return [gold for gold in self.golds if gold.topic in hiding]

    def golds_of(self, topics: Container[Hashable]) -> dict[Hashable, list[_Key]]:
        """The golds of these topics, both in order of preference."""
        found: dict[Hashable, list[_Key]] = {}
        for gold in self.golds:
            if gold.topic in topics:
                found.setdefault(gold.topic, []).append(gold.item)
        return found

    def room(self, topic: Hashable) -> int:
        """How many rows of work a topic could give."""
        return len(self.work.get(topic, ()))

    def able(self, size: int) -> list[Hashable]:
        """The topics whose work could fill a group of so many rows."""
        return [topic for topic, items in self.work.items() if len(items) >= size]

    def some(self, topic: Hashable, count: int) -> list[Slot[_Key]]:
        """Rows of work of a topic: any of its items, so that all of them get on alike."""
        items = self.work.get(topic, [])
        if count < len(items) and self.salt is not None:
            salt = self.salt
            items = sorted(items, key=lambda item: _drawn(item, salt))[:count]
        elif count < len(items):
            items = [items[place] for place in self.rng.permutation(len(items))[:count]]
        return [Slot(item, False) for item in items]


def _drawn(item: Hashable, salt: int) -> int:
    """A number that an item draws, the same at every time with the same salt."""
    mixed = (crc32(repr(item).encode()) ^ salt) * 0x9E3779B1 & 0xFFFFFFFF
    return (mixed ^ mixed >> 15) * 0x85EBCA77 & 0xFFFFFFFF


def _cap(topics: int, policy: Policy) -> int:
    """The most rows of a group: the policy's, or more where queries are few."""
    if topics >= policy.queries_per_page:
        return policy.results_per_query
    return math.ceil(policy.pairs_per_page / max(1, topics))


def _plan_without_gold(pile: _Pile[_Key], policy: Policy) -> Plan[_Key]:
    """Groups in order of preference, as long as the page has room."""
    cap = _cap(len(pile.work), policy)
    plan: Plan[_Key] = []
    room = policy.pairs_per_page
    for topic in pile.work:
        if room <= 0 or (cap > 1 and len(plan) >= policy.queries_per_page):
            break
        plan.append(pile.some(topic, min(cap, room)))
        room -= len(plan[-1])
    return plan


def _with_gold(
    pile: _Pile[_Key],
    policy: Policy,
    share: float,
    due: _Due,
    arrange: _Arrange[_Key] | None,
) -> Plan[_Key]:
    """A page whose groups are all of one size, with the golds that are due on it.

    How many groups of how many rows is settled before anybody asks how many golds are due:
    otherwise the shape of a page would show its gold.
    """
    size, groups = _shape(pile, policy)
    full = size * groups >= FULL_PAGE * policy.pairs_per_page
    if not full:
        size, groups = _last_shape(pile, policy, share)
    if arrange is not None:
        work = [slot.item for topic in pile.able(size)[:groups] for slot in pile.some(topic, size)]
        golds = pile.useful(size) if full else pile.golds
        fitting = work[: len(work) - max(0, due(len(work)))]
        pile = replace(pile, golds=arrange(fitting, golds))
        if not full:  # the last may hang on which gold is first
            size, groups = _full_groups_shape(pile, policy, share)
    if size * groups * 2 < min(policy.pairs_per_page, sum(map(len, pile.work.values()))):
        # Few queries, and gold under queries of its own: it cannot be hidden from anyone who
        # looks at queries, so that a page may as well be full.
        crowded = _plan_crowded(pile, policy, due)
        if crowded:
            return crowded
    rows = groups * size
    return _plan_filled(pile, size, groups, due(rows), share) or _plan_filled(
        pile, size, groups, round(share * rows), share
    )


def _full_groups_shape(pile: _Pile[_Key], policy: Policy, share: float) -> tuple[int, int]:
    """Rows of a group, and groups, of a page."""
    size, groups = _shape(pile, policy)
    if size * groups < FULL_PAGE * policy.pairs_per_page:
        return _last_shape(pile, policy, share)
    return size, groups


def _shape(pile: _Pile[_Key], policy: Policy) -> tuple[int, int]:
    """Rows of a group, and groups, of a page that work alone could fill.

    The largest groups that all but fill a page, or where none do, the fullest page there is.
    """
    best = (1, 0)
    for size in _sizes(pile, policy):
        groups = min(policy.pairs_per_page // size, len(pile.able(size)))
        if size * groups > best[0] * best[1]:
            best = (size, groups)
        if size * groups >= FULL_PAGE * policy.pairs_per_page:
            break
    return best


def _last_shape(pile: _Pile[_Key], policy: Policy, share: float) -> tuple[int, int]:
    """The shape of a page where work is running out: the most work with the usual gold."""
    best, most = (1, 1), 0
    for size in _sizes(pile, policy):
        for groups in range(policy.pairs_per_page // size, 0, -1):
            plan = _plan_filled(pile, size, groups, round(share * groups * size), share)
            work = sum(not slot.gold for group in plan for slot in group)
            if work > most:
                best, most = (size, groups), work
            if plan:
                break
    return best


def _sizes(pile: _Pile[_Key], policy: Policy) -> range:
    """The numbers of rows a group may have, the largest first: larger ones would have no gold."""
    topics = max(len(pile.work), len(pile.counts))
    if topics < policy.queries_per_page:
        topics = len(pile.work.keys() | pile.counts.keys())
    hidden = max(pile.counts.values(), default=0)
    for topic, items in pile.work.items():
        if topic in pile.counts:
            hidden = max(hidden, len(items) + pile.counts[topic])
    return range(min(_cap(topics, policy), hidden), 0, -1)


def _plan_filled(pile: _Pile[_Key], size: int, groups: int, golds: int, share: float) -> Plan[_Key]:
    """So many groups of so many rows, as near to so many golds as they come; else none."""
    hiding = pile.hiding(size)
    golden = (topic for topic in pile.counts if topic in hiding)
    plan, used = _gold_groups(pile, golden, groups, size, golds, share)
    rest = [topic for topic in pile.able(size) if topic not in used][: groups - len(plan)]
    if len(plan) + len(rest) < groups:
        return []
    return plan + [pile.some(topic, size) for topic in rest]


def _gold_groups(
    pile: _Pile[_Key], topics: Iterable[Hashable], groups: int, size: int, due: int, share: float
) -> tuple[Plan[_Key], set[Hashable]]:
    """Groups that hold the golds due, as near as complete groups come, and the topics they use."""
    counts: dict[Hashable, int] = {}  # golds of a topic
    usual = max(1, round(share * size))
    for topic in topics:
        if due <= 0 or len(counts) == groups:
            break
        least = max(1, size - pile.room(topic))
        if least - due > due:  # more off the mark than none at all
            continue
        counts[topic] = min(pile.counts[topic], size, max(least, min(usual, due)))
        due -= counts[topic]
    for topic, count in tuple(counts.items()):  # too few topics have gold: they hold more of it
        more = max(0, min(pile.counts[topic], size, count + due) - count)
        counts[topic] = count + more
        due -= more
    golds = pile.golds_of(counts)
    plan = [
        [Slot(item, True) for item in golds[topic][:count]] + pile.some(topic, size - count)
        for topic, count in counts.items()
    ]
    return plan, set(counts)


def _plan_crowded(pile: _Pile[_Key], policy: Policy, due: _Due) -> Plan[_Key]:
    """A full page with several groups of a query: the last resort, see ``gold_warnings``."""
    size = max(1, min(max(pile.counts.values(), default=1), policy.results_per_query))
    chunks = [
        [Slot(item, False) for item in items[start : start + size]]
        for items in pile.work.values()
        for start in range(0, len(items) - size + 1, size)
    ]
    gold = [
        [Slot(item, True) for item in items[:size]]
        for items in pile.golds_of(pile.counts).values()
        if len(items) >= size
    ]
    groups = min(policy.pairs_per_page // size, len(chunks))  # whether gold is due or not
    golden = min(len(gold), groups, max(0, round(due(groups * size) / size)))
    return chunks[: groups - golden] + gold[:golden] if chunks else []


def interleave(topics: Sequence[Hashable], size: int) -> list[int]:
    """The places of items in routing order: ``size`` of each topic in turn, then ``size`` more.

    So that items next to each other in that order make pages of several queries.

    >>> interleave(["a", "a", "a", "b", "b"], 2)
    [0, 1, 3, 4, 2]
    """
    counts: dict[Hashable, int] = {}
    order: dict[Hashable, int] = {}
    keys = []
    for place, topic in enumerate(topics):
        number = counts.get(topic, 0)
        counts[topic] = number + 1
        keys.append((number // size, order.setdefault(topic, len(order)), place))
    return [place for _, _, place in sorted(keys)]


def assign_arm(seed: int, arrival: int, arms: Sequence[str], *, block: int = 2) -> str:
    """The arm of the ``arrival``-th judge (from 0): permuted blocks, reproducible from the seed.

    Each block holds every arm ``block`` times in random order, so that arms are never further
    apart than that.
    """
    width = len(arms) * block
    rng = np.random.default_rng([seed, arrival // width])
    order = rng.permutation(width)
    return arms[int(order[arrival % width]) % len(arms)]
