"""The plan of a project, made as the background makes it."""

from __future__ import annotations

import time
from dataclasses import replace
from decimal import Decimal

import pytest
import sqlalchemy as sa

from adjudge.collect.consensus import planner
from adjudge.collect.consensus.planner import PlanRow, Wish
from adjudge.collect.rules.policy import Policy
from adjudge.collect.services.exports import ExportService
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store.database import Database
from adjudge.collect.store.schema import plans
from adjudge.data.gold import Gold
from adjudge.errors import BadSetting, Refused
from collecting import Bench

WISH = Wish.checked(0.7, "0.30", 0.2)


def piloted(database: Database) -> Bench:
    """Ten judges who are mostly right on what they judged."""
    bench = Bench(
        database, topics=8, golds=20, training=False, least_golds=50, pay_per_page="0.20",
        screening_golds=5, screening_pairs=20, judgments_per_item=4,
    )  # fmt: skip
    for number in range(8):
        judge = bench.arrive(f"j{number}").judge
        bench.turn(judge, label="Spam" if number == 7 else "Matching")
    return bench


def test_a_plan_is_requested_made_and_used(sqlite: Database) -> None:
    bench = piloted(sqlite)
    services, slug = bench.services, bench.slug
    assert (planner.find_due(services), planner.read_plan(services, slug)) == ([], None)
    planner.ask(services, slug, WISH)
    assert planner.find_due(services) == [slug]
    asked = planner.read_asked(services, slug)
    assert asked is not None
    assert (asked.wish, asked.tried) == (WISH, 0)
    plan = planner._plan_one(services, slug)
    assert plan is not None
    assert plan.problem == ""
    assert (planner.find_due(services), planner.read_asked(services, slug)) == ([], None)
    assert planner.read_plan(services, slug) == plan, "as it was kept"
    assert planner._plan_one(services, slug) is None, "nothing is asked any more"
    assert (plan.items, plan.pilot_judges) == (40, 8)
    assert plan.per_item is not None
    chosen = plan.row(plan.per_item)
    assert chosen is not None
    assert chosen.low >= 0.7
    assert all(row.low < 0.7 for row in plan.rows if row.per_item < chosen.per_item)
    assert len(plan.rows) == min(planner._MOST, plan.per_item + 2), "two more for the curve"
    # 20 of the 25 results of a page are work; a page costs 0.30.
    for row in plan.rows:
        assert row.judgments == 40 * row.per_item
        assert row.pages == 2 * row.per_item
        assert row.golds == 10 * row.per_item
        assert row.money == Decimal("0.60") * row.per_item
    assert (plan.golds_there, plan.golds_needed > 0) == (20, True)
    services.projects.set_policy(slug, {"judgments_per_item": plan.per_item + 1})
    changes = planner.list_changes(plan, services.projects.get_policy(slug)[0])
    assert changes == {"pay_per_page": Decimal("0.30"), "judgments_per_item": plan.per_item}
    services.projects.set_policy(slug, changes)
    assert planner.list_changes(plan, services.projects.get_policy(slug)[0]) == {}


def test_simulated_judges_unlike_the_real_ones_on_gold_are_reported(sqlite: Database) -> None:
    bench = piloted(sqlite)
    progress = bench.services.projects.get_progress(bench.slug)
    assert (progress.gold_right, progress.gold_seen) == (42, 42)

    def notes_for(accuracy: float, per_item: int = 1) -> tuple[str, ...]:
        row = PlanRow(
            per_item=per_item, accuracy=accuracy, low=accuracy - 0.02, high=accuracy + 0.02,
            judgments=40, golds=10, pages=2, cost="0.60",
        )  # fmt: skip
        return planner._compare_with_gold(bench.services, bench.slug, (row,))

    # Wilson's interval of 42 of 42: from 42 / (42 + 1.645 ** 2).
    (easier,) = notes_for(0.53)
    assert "right in 100% (94% to 100%), simulated ones in 53%" in easier
    assert "gold is easier than the work, this plan is too pessimistic" in easier
    assert notes_for(0.95) == ()
    assert notes_for(0.53, per_item=2) == ()
    judge = bench.arrive("new").judge
    for _ in range(2):
        bench.turn(judge, right=False)
    progress = bench.services.projects.get_progress(bench.slug)
    assert (progress.gold_right, progress.gold_seen) == (42, 47)
    assert "gold is harder than the work, this plan is too optimistic" in notes_for(0.999)[0]


@pytest.mark.parametrize(
    ("share", "per_item", "changes"),
    [
        (0.125, 5, {"screening_golds": 1, "screening_pairs": 7}),
        (0.0, 5, {"screening": False}),
        (0.2, 7, {"judgments_per_item": 7}),
    ],
)
def test_another_share_of_gold_is_said_in_fewest_numbers(
    share: float, per_item: int, changes: dict[str, object]
) -> None:
    plan = planner.ProjectPlan(wish=Wish.checked(0.9, "0", share), per_item=per_item)
    assert planner.list_changes(plan, Policy()) == changes


@pytest.mark.parametrize(
    ("wish", "setting"),
    [
        ((1.0, "0", 0.2), "accuracy"),
        ((float("nan"), "0", 0.2), "accuracy"),
        ((0.9, "much", 0.2), "pay_per_page"),
        ((0.9, "0", 0.95), "gold_share"),
    ],
)
def test_impossible_targets_are_refused(wish: tuple[float, str, float], setting: str) -> None:
    with pytest.raises(BadSetting, check=lambda error: error.setting == setting):
        Wish.checked(*wish)


def test_an_obstacle_is_named_and_nothing_is_tried_forever(sqlite: Database) -> None:
    bench = Bench(sqlite, topics=2, golds=0, screening=False)
    services, slug = bench.services, bench.slug
    with pytest.raises(Refused, match="a plan needs a pilot: there are no judgments yet"):
        planner.ask(services, slug, WISH)
    bench.turn(bench.arrive().judge)
    planner.ask(services, slug, WISH)
    planner.note_failure(services, slug, -9)
    plan = planner.read_plan(services, slug)
    assert plan is not None
    assert plan.problem == "its process ended with code -9"
    assert planner.find_due(services) == []
    bench.services.judges.block(slug, services.judges.get_all(slug)[0].judge)
    planner.ask(services, slug, WISH)
    made = planner._plan_one(services, slug)
    assert made is not None
    assert made.problem == "a plan needs a pilot: there are no trusted judgments yet"
    planner.ask(services, slug, WISH)
    services.projects.set_state(slug, "closed")
    services.projects.delete(slug)
    assert planner.find_due(services) == []
    assert bench.rows(sa.select(plans)) == [], "the project is gone, and its wish with it"


def test_a_plan_of_an_adaptive_project_is_of_fixed_numbers(sqlite: Database) -> None:
    bench = piloted(sqlite)
    services, slug = bench.services, bench.slug
    services.projects.set_policy(slug, {"closing": "adaptive", "least_judgments": 3})
    planner.ask(services, slug, WISH)
    plan = planner._plan_one(services, slug)
    assert plan is not None
    assert plan.problem == ""
    assert [row.judgments for row in plan.rows] == [40 * row.per_item for row in plan.rows]
    policy = Policy(closing="adaptive", least_judgments=3)
    fresh = planner.list_changes(replace(plan, per_item=2), policy)
    assert (fresh["judgments_per_item"], fresh["least_judgments"]) == (2, 2)


def test_a_request_that_comes_while_a_plan_is_made_is_kept(sqlite: Database) -> None:
    bench = Bench(sqlite, topics=2, golds=0, screening=False)
    bench.turn(bench.arrive().judge)
    planner.ask(bench.services, bench.slug, WISH)
    other = Wish.checked(0.8, "0", 0.0)

    class Asking(ExportService):
        def get_gold(self, slug: str) -> Gold | None:
            time.sleep(0.01)
            planner.ask(bench.services, slug, other)
            return bench.services.exports.get_gold(slug)

    services = RequesterServices(sqlite)
    services.exports = Asking(services.caller)
    planner._plan_one(services, bench.slug)
    asked = planner.read_asked(bench.services, bench.slug)
    assert asked is not None
    assert (asked.wish, asked.tried) == (other, 0)
