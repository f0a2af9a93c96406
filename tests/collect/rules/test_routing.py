"""Routing: pages made by hand, properties of every page, and gold that nothing gives away."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.collect.rules.golds import GoldCard
from adjudge.collect.rules.policy import Policy
from adjudge.collect.rules.routing import (
    Plan,
    _count_scheduled_golds,
    assign_arm,
    compose,
    interleave,
    item_state,
)
from collecting import LABELS
from sizes import sized


def work_of(topics: int, results: int) -> list[tuple[str, str]]:
    return [(f"t{t}d{d}", f"t{t}") for t in range(topics) for d in range(results)]


def golds_of(count: int, where: str, spread: int) -> list[GoldCard[str]]:
    return [GoldCard(f"g{n}", where.format(n % spread), LABELS[n % 4]) for n in range(count)]


def shape(plan: Plan[str]) -> list[tuple[int, int]]:
    """Rows and golds of each group, sorted."""
    return sorted((len(group), sum(slot.gold for slot in group)) for group in plan)


SPARSE = [*work_of(2, 5), ("x", "x"), *work_of(9, 5)[10:]]


@pytest.mark.parametrize(
    ("work", "golds", "groups"),
    [
        # The paper's page has five queries of five results, one of them all gold.
        (work_of(30, 5), golds_of(25, "g{}", 5), [(5, 0)] * 4 + [(5, 5)]),
        (work_of(30, 5), golds_of(30, "t{}", 30), [(5, 1)] * 5),  # under the same queries
        (work_of(30, 5), golds_of(30, "g{}", 30), [(1, 0)] * 20 + [(1, 1)] * 5),  # alone
        (work_of(1, 60), golds_of(30, "t{}", 1), [(25, 5)]),
        (SPARSE, [], [(1, 0)] + [(5, 0)] * 4),  # as long as they can be
        ([], golds_of(5, "g{}", 5), []),
    ],
)
def test_the_shape_of_a_page(
    work: list[tuple[str, str]], golds: list[GoldCard[str]], groups: list[tuple[int, int]]
) -> None:
    assert shape(compose(work, golds, Policy(), np.random.default_rng(1))) == groups


def test_pages_of_one_row_are_gold_when_it_is_golds_turn() -> None:
    policy = Policy(queries_per_page=1, results_per_query=1)
    rng = np.random.default_rng(1)
    kinds: list[bool] = []
    for _ in range(25):
        golds = golds_of(30, "g{}", 30)
        shown, known = len(kinds), sum(kinds)
        plan = compose(work_of(9, 5), golds, policy, rng, shown=shown, golds_shown=known)
        kinds += [slot.gold for group in plan for slot in group]
    assert (len(kinds), sum(kinds)) == (25, 5)


def test_gold_is_due_at_places_that_cannot_be_counted_out() -> None:
    policy = Policy()
    at: Counter[int] = Counter()
    judges = sized(500, full=2000)
    for judge in range(judges):
        steps = [_count_scheduled_golds(rows, policy, (7, judge)) for rows in range(51)]
        assert (steps[25], steps[50]) == (5, 10)
        at.update(row for row in range(50) if steps[row + 1] > steps[row])
    # Each of 50 places is gold for a fifth of the judges: of 2,000 for 400, give or take 18.
    spread = np.sqrt(judges * 0.2 * 0.8)
    assert all(abs(at[row] - judges / 5) < 5 * spread for row in range(50))


def test_what_rounding_leaves_over_is_carried_to_the_next_page() -> None:
    policy = Policy(queries_per_page=1, results_per_query=3)
    shown = golds = 0
    rng = np.random.default_rng(3)
    for _ in range(50):
        plan = compose(
            work_of(40, 3), golds_of(90, "t{}", 40), policy, rng, shown=shown, golds_shown=golds
        )
        shown += sum(map(len, plan))
        golds += sum(slot.gold for group in plan for slot in group)
        assert abs(golds - _count_scheduled_golds(shown, policy, (0,))) <= 2
    assert shown == 150


@st.composite
def piles(draw: st.DrawFn) -> tuple[list[tuple[str, str]], list[GoldCard[str]], Policy]:
    topics = draw(st.lists(st.integers(1, 8), max_size=12))
    work = [(f"t{t}d{d}", f"t{t}") for t, size in enumerate(topics) for d in range(size)]
    golds = [
        GoldCard(f"g{n}", draw(st.sampled_from(["t0", "t1", "t2", "x", "y", f"z{n}"])), "Spam")
        for n in range(draw(st.integers(0, 12)))
    ]
    policy = Policy(
        queries_per_page=draw(st.integers(1, 5)),
        results_per_query=draw(st.integers(1, 6)),
        screening_golds=draw(st.integers(0, 5)),
        screening_pairs=draw(st.integers(1, 20)),
    )
    return work, golds, policy


@given(piles(), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 10)), min_size=2, max_size=6))
def test_the_shape_of_a_page_does_not_depend_on_the_golds_that_are_due(
    pile: tuple[list[tuple[str, str]], list[GoldCard[str]], Policy],
    before: list[tuple[int, int]],
) -> None:
    work, golds, policy = pile
    rng = np.random.default_rng(0)
    made = [
        compose(work, golds, policy, rng, shown=shown, golds_shown=known, seed=(shown, known))
        for shown, known in before
    ]
    assert len({tuple(sorted(map(len, plan))) for plan in made}) == 1


def test_gold_is_as_frequent_on_pages_of_every_shape() -> None:
    """Judges whose queries give out one by one, so that pages of many shapes are made."""
    policy = Policy()
    rows: Counter[tuple[int, ...]] = Counter()
    known: Counter[tuple[int, ...]] = Counter()
    for judge in range(250):
        rng = np.random.default_rng(judge)
        sizes = rng.integers(2, 8, size=40)
        work = [(f"t{t}d{d}", f"t{t}") for t, many in enumerate(sizes) for d in range(many)]
        golds = golds_of(80, "t{}", 40)
        shown = seen = 0
        for _ in range(5):
            plan = compose(work, golds, policy, rng, shown=shown, golds_shown=seen, seed=(7, judge))
            kinds = [slot.gold for group in plan for slot in group]
            rows[tuple(sorted(map(len, plan)))] += len(kinds)
            known[tuple(sorted(map(len, plan)))] += sum(kinds)
            shown, seen = shown + len(kinds), seen + sum(kinds)
            used = {slot.item for group in plan for slot in group}
            work = [one for one in work if one[0] not in used]
            golds = [gold for gold in golds if gold.item not in used]
    assert {kind[0] for kind in rows} >= {5, 4, 3}, rows
    for kind, count in rows.items():
        sd = (0.2 * 0.8 / count) ** 0.5  # less in truth: golds of 25 rows are always five
        assert abs(known[kind] / count - 0.2) < 4 * sd, kind


@given(piles(), st.integers(0, 40), st.integers(0, 10), st.integers(0, 99))
def test_every_page_keeps_the_rules(
    pile: tuple[list[tuple[str, str]], list[GoldCard[str]], Policy],
    shown: int,
    golds_shown: int,
    seed: int,
) -> None:
    work, golds, policy = pile
    shown += golds_shown
    rng = np.random.default_rng(seed)
    plan = compose(work, golds, policy, rng, shown=shown, golds_shown=golds_shown)
    slots = [slot for group in plan for slot in group]
    assert bool(plan) == bool(work)
    if not plan:
        return
    assert len({slot.item for slot in slots}) == len(slots)
    size = len(plan[0])
    due = _count_scheduled_golds(shown + len(slots), policy, (0,)) - golds_shown
    # The last pages may have the usual golds where fewer are due, so that all work fits on them.
    due = max(due, round(policy.screening_share * len(slots)), 0)
    assert sum(slot.gold for slot in slots) <= max(2 * due, due + size / 2) + 1e-9
    topic_of = {**dict(work), **{gold.item: gold.topic for gold in golds}}
    topics = [{topic_of[slot.item] for slot in group} for group in plan]
    assert all(len(names) == 1 for names in topics)
    assert {slot.item for slot in slots if slot.gold} <= {gold.item for gold in golds}
    assert {slot.item for slot in slots if not slot.gold} <= dict(work).keys()
    assert len(slots) <= policy.pairs_per_page
    if golds and policy.screening_share > 0:
        assert len(set(map(len, plan))) == 1  # one size
    if policy.screening_share == 0:
        assert not any(slot.gold for slot in slots)


@given(st.lists(st.sampled_from("abcd"), max_size=40), st.integers(1, 6))
@settings(deadline=None)
def test_interleaving_keeps_every_item_and_takes_topics_by_turns(
    topics: list[str], size: int
) -> None:
    order = interleave(topics, size)
    assert sorted(order) == list(range(len(topics)))
    rounds = []
    seen: Counter[str] = Counter()
    for place in order:
        rounds.append(seen[topics[place]] // size)
        seen[topics[place]] += 1
    assert rounds == sorted(rounds)


@given(st.integers(0, 2**60), st.integers(1, 5), st.integers(1, 4), st.integers(1, 80))
@settings(deadline=None)
def test_arms_are_balanced_within_a_block_at_every_moment(
    seed: int, arms: int, block: int, arrivals: int
) -> None:
    names = [f"arm{n}" for n in range(arms)]
    counts: Counter[str] = Counter()
    for arrival in range(arrivals):
        arm = assign_arm(seed, arrival, names, block=block)
        assert arm == assign_arm(seed, arrival, names, block=block)
        counts[arm] += 1
        assert max(counts.values()) - min(counts[name] for name in names) <= block
        if (arrival + 1) % (arms * block) == 0:
            assert len(set(counts.values())) == 1


@pytest.mark.parametrize(
    ("trusted", "broken", "state"),
    [(4, 0, "open"), (5, 0, "closed"), (4, 3, "set aside"), (5, 3, "closed")],
)
def test_the_state_of_an_item(trusted: int, broken: int, state: str) -> None:
    assert item_state(trusted=trusted, needed=5, broken=broken, set_aside_after=3) == state
