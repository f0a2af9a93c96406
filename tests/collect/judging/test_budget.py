"""The budget: never exceeded, however many ask at once; everybody gets an honest message."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
import sqlalchemy as sa

from adjudge.collect.rules.endings import BUDGET_SPENT
from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from adjudge.errors import Refused
from collecting import Bench, sqlite_first

PAGES = {"queries_per_page": 2, "results_per_query": 2, "training": False}


def worked(bench: Bench) -> int:
    given = schema.judgments
    statement = sa.select(sa.func.count()).where(
        given.c.project == bench.project, given.c.kind == "work", given.c.gold.is_(None)
    )
    return int(bench.rows(statement)[0][0])


def all_at_once(bench: Bench, judges: int) -> None:
    """Judges who ask for pages and answer them, as fast as they can."""
    gate = threading.Barrier(judges)

    def life(number: int) -> None:
        judge = bench.arrive(f"judge {number}").judge
        gate.wait()
        while (page := bench.judging.page(judge)) is not None:
            assert bench.services.projects.get_progress(bench.slug).budget is not None
            bench.judging.submit(judge, page.page, page.key, bench.answers(page))

    with ThreadPoolExecutor(judges) as pool:
        list(pool.map(life, range(judges)))


@sqlite_first
def test_the_budget_is_spent_to_the_last_page_and_not_passed(database: Database) -> None:
    bench = Bench(
        database, topics=10, golds=8, pay_per_page="0.20", budget="1.50", code_finished="DONE",
        **PAGES,
    )  # fmt: skip
    all_at_once(bench, 6)
    progress = bench.services.projects.get_progress(bench.slug)
    assert progress.cost == Decimal("1.40")
    assert progress.budget is not None
    assert (progress.budget.spent, progress.budget.earned) == (True, Decimal("1.40"))
    assert any("The budget is spent" in warning for warning in progress.warnings)
    view = bench.arrive("judge 0")
    assert (view.stage, view.open_items, view.completion_code) == ("finished", False, "DONE")
    assert view.reason.startswith("The budget of this project was spent")
    bench.check()
    bench.services.projects.set_policy(bench.slug, {"budget": "1.60"})
    offered = bench.judging.state(view.judge)
    assert (offered.stage, offered.open_items) == ("finished", True), "her end page says so"
    assert bench.judging.page(view.judge) is not None, "a larger budget takes her up again"
    assert bench.judging.state(view.judge).stage == "working"


def test_a_budget_of_judgments_ends_with_a_short_page(database: Database) -> None:
    bench = Bench(database, topics=10, golds=8, budget_judgments=33, **PAGES)
    all_at_once(bench, 4)
    assert worked(bench) == 33
    budget = bench.services.projects.get_progress(bench.slug).budget
    assert budget is not None
    assert (budget.judged, budget.rows_in_hand, budget.spent) == (33, 0, True)
    reasons = {row.reason for row in bench.rows(sa.select(schema.judges))}
    assert reasons == {BUDGET_SPENT}
    bench.check()


def test_what_is_in_judges_hands_is_kept_for_them_until_it_expires(sqlite: Database) -> None:
    bench = Bench(sqlite, pay_per_page="0.20", budget="0.20", lease_minutes=30, **PAGES)
    anna, berta, carla = (bench.arrive(key).judge for key in ("anna", "berta", "carla"))
    page = bench.page(anna)
    assert bench.judging.page(berta) is None
    bench.clock.forward(minutes=31)
    assert bench.judging.page(carla) is not None, "anna's time is over"
    with pytest.raises(Refused) as late:
        bench.judging.submit(anna, page.page, page.key, bench.answers(page))
    assert late.value.code == "page-expired"
    assert "the budget of the project is spent" in str(late.value)
    bench.turn(carla)
    assert bench.services.projects.get_progress(bench.slug).cost == Decimal("0.20")
    bench.check()


def test_no_judge_is_trained_for_work_that_cannot_be_paid(sqlite: Database) -> None:
    bench = Bench(
        sqlite, pay_per_page="0.20", pay_failed="0.05", budget="0.25", training_pairs=4,
        queries_per_page=2, results_per_query=2, code_finished="DONE", code_nothing_left="LATE",
    )  # fmt: skip
    anna, berta = (bench.arrive(key).judge for key in ("anna", "berta"))
    assert bench.judging.page(anna) is not None
    assert bench.judging.page(berta) is not None, "0.05 for anna, 0.20 for a page of berta's"
    carla = bench.arrive("carla").judge
    assert bench.judging.page(carla) is None
    view = bench.judging.state(carla)
    assert (view.stage, view.completion_code, view.pay) == ("finished", "LATE", Decimal("0.00"))
    bench.turn(anna)
    bench.turn(berta, right=False)
    assert bench.judging.state(berta).stage == "failed"
    bench.turn(anna)
    assert bench.judging.page(anna) is None
    assert bench.services.projects.get_progress(bench.slug).cost == Decimal("0.25")
    bench.services.projects.set_policy(bench.slug, {"budget": "9.00"})
    assert bench.judging.page(carla) is None, "she never did the training"
    assert bench.judging.page(anna) is not None
    bench.check()
