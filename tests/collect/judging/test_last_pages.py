"""The last pages of a project: gold that was owed does not keep judges from what is left."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from adjudge.collect.rules.endings import pay_of_page
from adjudge.collect.rules.policy import Policy
from adjudge.collect.store.database import Database
from collecting import Bench


def test_no_page_is_gold_alone(database: Database) -> None:
    """Too little gold for its places, and then a single item left."""
    bench = Bench(database, topics=12, results=10, golds=8, role="screening", training=False,
                  judgments_per_item=2)  # fmt: skip
    judge = bench.arrive("anna").judge
    pages = 0
    while (page := bench.judging.page(judge)) is not None:
        assert len(bench.truths(page)) < len(page.rows), f"page {pages}"
        bench.judging.submit(judge, page.page, page.key, bench.answers(page))
        pages += 1
        assert pages < 60
    assert bench.judging.state(judge).stage == "finished"
    assert {item.trusted for item in bench.items() if item.name.startswith("t")} == {1}
    bench.check()


def test_a_project_costs_what_was_forecast(sqlite: Database) -> None:
    bench = Bench(sqlite, topics=8, results=5, golds=60, role="screening", training=False,
                  judgments_per_item=3, pay_per_page="0.75")  # fmt: skip
    forecast = bench.services.projects.get_progress(bench.slug).cost_to_finish
    assert forecast == Decimal("4.50"), "120 judgments, 20 on a full page"
    judges = [bench.arrive(f"judge {number}").judge for number in range(5)]
    sizes = []
    while pages := [(judge, page) for judge in judges if (page := bench.judging.page(judge))]:
        for judge, page in pages:
            bench.judging.submit(judge, page.page, page.key, bench.answers(page))
            sizes.append(len(page.rows))
    assert min(sizes) < 10, "there are short pages"
    progress = bench.services.projects.get_progress(bench.slug)
    assert (progress.lacking, progress.cost_to_finish) == (0, 0)
    assert abs(progress.cost / forecast - 1) < Decimal("0.1"), sizes


@pytest.mark.parametrize(
    ("rows", "short_pages", "paid"),
    [(25, "by-items", 750_000), (22, "by-items", 750_000), (21, "by-items", 630_000),
     (1, "by-items", 30_000), (1, "full", 750_000)],
)  # fmt: skip
def test_the_pay_of_a_page_follows_its_items(rows: int, short_pages: Any, paid: int) -> None:
    policy = Policy(pay_per_page="0.75", short_pages=short_pages)
    assert pay_of_page(policy, rows) == paid
    assert pay_of_page(Policy(pay_per_page="0.02"), 1) == 10_000, "one cent at least"
    assert pay_of_page(Policy(), 25) == 0


def test_projects_of_earlier_versions_go_on_paying_every_page_alike() -> None:
    stored = Policy().to_dict()
    del stored["short_pages"]
    assert Policy.from_stored(stored).short_pages == "full"
