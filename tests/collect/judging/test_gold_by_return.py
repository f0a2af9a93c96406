"""Whether gold shows by what comes back: to who finishes, lets time run out, or has two accounts.

Each attacker sees pages as any judge does, and names rows as gold by what did or did not come
again. They must do no better than somebody who names rows at random: a fifth of them is gold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import Page
from collecting import Bench, made_project
from sizes import sized

GOLDS = 60
Attack = Callable[[Bench, int], tuple[set[str], set[str]]]  # rows named as gold, and all seen


def titles(page: Page | None) -> set[str]:
    """What somebody who compares pages notes of each row."""
    assert page is not None
    return {row.title for row in page.rows}


def come(bench: Bench, name: str, pages: int = 1) -> str:
    """A judge who has answered so many pages, well."""
    judge = bench.arrive(name).judge
    for _ in range(pages):
        bench.turn(judge)
    return judge


def next_titles(bench: Bench, judge: str, pages: int) -> set[str]:
    """The rows of a judge's next pages, each answered."""
    seen: set[str] = set()
    for _ in range(pages):
        page = bench.judging.page(judge)
        if page is None:
            break
        seen |= titles(page)
        bench.turn(judge)
    return seen


def finish(bench: Bench, judge: str) -> None:
    bench.judging.finish(judge)


def run_out(bench: Bench, judge: str) -> None:
    bench.clock.forward(minutes=61)


def miss(
    bench: Bench, number: int, *, end: Callable[[Bench, str], None], another: bool
) -> tuple[set[str], set[str]]:
    """Rows of a page that is left unanswered, and that do not come to who asks for pages next.

    The same judge once more, or a second account, which asks at once.
    """
    judge = come(bench, f"first {number}", pages=int(end is finish))
    before = titles(bench.judging.page(judge))
    end(bench, judge)
    if another:
        judge = come(bench, f"second {number}", pages=0)
    else:
        bench.judging.sweep()
    return before - next_titles(bench, judge, 4 if another else 12), before


def side_by_side_apart(bench: Bench, number: int) -> tuple[set[str], set[str]]:
    """Rows that only one of two accounts has, which ask at the same time."""
    first, second = (titles(bench.judging.page(come(bench, f"{name} {number}", pages=0)))
                     for name in ("first", "second"))  # fmt: skip
    return first ^ second, first | second


def side_by_side_alike(bench: Bench, number: int) -> tuple[set[str], set[str]]:
    """Rows that both of two accounts have."""
    apart, seen = side_by_side_apart(bench, number)
    return seen - apart, seen


ATTACKS: dict[str, Attack] = {
    "finish and ask again": partial(miss, end=finish, another=False),
    "let time run out": partial(miss, end=run_out, another=False),
    "return to another": partial(miss, end=finish, another=True),
    "run out to another": partial(miss, end=run_out, another=True),
    "side by side apart": side_by_side_apart,
    "side by side alike": side_by_side_alike,
}


@pytest.mark.parametrize(
    ("results", "gold_topics", "closing"),
    [
        (5, "shared", "fixed"), (5, "apart", "fixed"), (5, "shared", "adaptive"),
        pytest.param(5, "apart", "adaptive", marks=pytest.mark.full),
        pytest.param(15, "shared", "fixed", marks=pytest.mark.full),
        pytest.param(15, "apart", "fixed", marks=pytest.mark.full),
    ],
)  # fmt: skip
@pytest.mark.parametrize("attack", ATTACKS)
def test_what_comes_back_says_nothing_of_gold(
    sqlite: Database, attack: str, results: int, gold_topics: str, closing: str
) -> None:
    named: set[str] = set()
    seen: set[str] = set()
    for number in range(sized(4, full=6)):
        bench = Bench(
            sqlite,
            replace(made_project(topics=30, results=results, golds=GOLDS, role="screening",
                                 gold_topics=gold_topics, judgments_per_item=2, closing=closing),
                    seed=number),
        )  # fmt: skip
        for other in range(number):  # a crowd before them, so that the queue is not as it was
            come(bench, f"other {other}", pages=1 + other % 2)
        if number > 2:
            leaving = bench.services.judges.get_all(bench.slug)[-1].judge
            bench.services.judges.block(bench.slug, leaving)
        guess, rows = ATTACKS[attack](bench, number)
        named |= {f"{number} {title}" for title in guess}
        seen |= {f"{number} {title}" for title in rows}
    gold = {row for row in seen if "gold" in row}
    hits = len(named & gold)
    share = len(gold) / len(seen)
    print(f"\n{attack}: named {len(named)} of {len(seen)}, {hits} of {len(gold)} gold")
    # Twice what chance gives, and three more, is what few rows make of chance.
    assert hits <= 2 * share * len(named) + 3
