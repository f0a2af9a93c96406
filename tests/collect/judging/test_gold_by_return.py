"""Whether gold shows by what comes back: to who finishes, lets time run out, or has two accounts.

Each attacker sees pages as any judge does, and names rows as gold by what did or did not come
again. They must do no better than somebody who names rows at random: a fifth of them is gold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

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


def finish_and_ask_again(bench: Bench, number: int) -> tuple[set[str], set[str]]:
    """Rows of a page that do not come again to who finishes and asks for pages once more."""
    judge = come(bench, f"judge {number}")
    before = titles(bench.judging.page(judge))
    bench.judging.finish(judge)
    return before - next_titles(bench, judge, 12), before


def let_time_run_out(bench: Bench, number: int) -> tuple[set[str], set[str]]:
    """The same with a page whose time ran out."""
    judge = come(bench, f"judge {number}", pages=0)
    before = titles(bench.judging.page(judge))
    bench.clock.forward(minutes=61)
    bench.judging.sweep()
    return before - next_titles(bench, judge, 12), before


def return_to_another(bench: Bench, number: int) -> tuple[set[str], set[str]]:
    """Rows that one account gave back and a second, which asks at once, is not given."""
    first = come(bench, f"first {number}")
    before = titles(bench.judging.page(first))
    bench.judging.finish(first)
    second = come(bench, f"second {number}", pages=0)
    return before - next_titles(bench, second, 4), before


def run_out_to_another(bench: Bench, number: int) -> tuple[set[str], set[str]]:
    """The same with a page whose time ran out."""
    first = come(bench, f"first {number}", pages=0)
    before = titles(bench.judging.page(first))
    bench.clock.forward(minutes=61)
    second = come(bench, f"second {number}", pages=0)
    return before - next_titles(bench, second, 4), before


def side_by_side_apart(bench: Bench, number: int) -> tuple[set[str], set[str]]:
    """Rows that only one of two accounts has, which ask at the same time."""
    first, second = (titles(bench.judging.page(come(bench, f"{name} {number}", pages=0)))
                     for name in ("first", "second"))  # fmt: skip
    return first ^ second, first | second


def side_by_side_alike(bench: Bench, number: int) -> tuple[set[str], set[str]]:
    """Rows that both of two accounts have."""
    apart, seen = side_by_side_apart(bench, number)
    return seen - apart, seen


ATTACKS = (
    finish_and_ask_again, let_time_run_out, return_to_another, run_out_to_another,
    side_by_side_apart, side_by_side_alike,
)  # fmt: skip


@pytest.mark.parametrize(
    ("results", "gold_topics", "closing"),
    [
        (5, "shared", "fixed"), (5, "apart", "fixed"), (5, "shared", "adaptive"),
        pytest.param(5, "apart", "adaptive", marks=pytest.mark.full),
        pytest.param(15, "shared", "fixed", marks=pytest.mark.full),
        pytest.param(15, "apart", "fixed", marks=pytest.mark.full),
    ],
)  # fmt: skip
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_what_comes_back_says_nothing_of_gold(
    sqlite: Database, attack: Attack, results: int, gold_topics: str, closing: str
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
        guess, rows = attack(bench, number)
        named |= {f"{number} {title}" for title in guess}
        seen |= {f"{number} {title}" for title in rows}
    gold = {row for row in seen if "gold" in row}
    hits = len(named & gold)
    share = len(gold) / len(seen)
    print(f"\n{attack.__name__}: named {len(named)} of {len(seen)}, {hits} of {len(gold)} gold")
    # Twice what chance gives, and three more, is what few rows make of chance.
    assert hits <= 2 * share * len(named) + 3
