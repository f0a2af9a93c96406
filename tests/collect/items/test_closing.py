"""Adaptive closing through the real services, with made judges of known confusion."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from adjudge.collect.consensus import refit
from adjudge.collect.consensus._learning import learn
from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from adjudge.collect.store.settings import knowledge_name
from adjudge.collect.values.judging import Answer, Page
from collecting import (
    LABELS,
    Bench,
    check_counters,
    check_standing,
    made_item,
    made_project,
    sqlite_first,
)
from stores import new_store

SMALL = {"queries_per_page": 4, "results_per_query": 3, "training": False, "golds": 0}


@dataclass
class Run:
    """A collection from beginning to end."""

    bench: Bench
    judgments: int
    accuracy: float


def truths_of(bench: Bench, seed: int) -> dict[str, str]:
    """A truth for every item, by its title; golds have their own."""
    rng = np.random.default_rng(seed)
    known = {f"title of {gold.item}": gold.accepted[0] for gold in bench.value.golds}
    for item in bench.value.items:
        known.setdefault(item.title, LABELS[rng.choice(4, p=[0.4, 0.3, 0.2, 0.1])])
    return known


def answer(page: Page, truths: dict[str, str], skill: float, rng: Any) -> list[Answer]:
    """A judge who is right with a probability, and else says anything."""
    return [
        Answer(
            row=row.row,
            label=truths[row.title] if rng.random() < skill else LABELS[rng.integers(4)],
        )
        for row in page.rows
    ]


def collect(database: Database, *, judges: int, fit_every: int, seed: int = 1, **made: Any) -> Run:
    """Judges of every skill in turn, until nothing is left; a fit now and then."""
    trusting = {"training": False, "warn_below": 0.0, "block_below": 0.0}
    project = replace(made_project(**trusting, **made), seed=seed)
    bench = Bench(database, project)
    truths = truths_of(bench, seed)
    rng = np.random.default_rng(seed)
    skills = np.linspace(0.35, 0.9, judges)
    names = [bench.arrive(f"judge {number}").judge for number in range(judges)]
    fitted, pages = 0, [bench.judging.page(judge) for judge in names]
    while any(pages):
        for judge, skill in zip(names, skills, strict=True):
            page = bench.judging.page(judge)
            if page is not None:
                given = answer(page, truths, float(skill), rng)
                bench.judging.submit(judge, page.page, page.key, given)
        stored = bench.services.projects.get(bench.slug).judgments
        idle = not any(bench.judging.page(judge) for judge in names)
        if idle or stored - fitted >= fit_every:  # a fit may open items again
            fit = refit._fit_one(bench.services, bench.slug, refit.DEFAULT)
            assert fit.state == "ready"
            fitted = stored
        pages = [bench.judging.page(judge) for judge in names]
    rows = [
        row
        for page in range(fit.pages)
        for row in refit.read_labels(bench.services, bench.slug, refit.DEFAULT, page)
    ]
    right = [row["label"] == truths[f"title of {row['item']}"] for row in rows]
    return Run(bench, bench.services.projects.get(bench.slug).judgments, float(np.mean(right)))


def test_fewer_judgments_than_a_fixed_number_at_no_less_accuracy(
    sqlite: Database, tmp_path: Path
) -> None:
    made = {"topics": 30, "results": 8, "golds": 30, "judges": 14, "fit_every": 150}
    fixed = collect(sqlite, **made)
    adaptive = collect(
        new_store(tmp_path / "other.db"), closing="adaptive", sure=0.8, most_judgments=8,
        pay_per_page="0.20", **made,
    )  # fmt: skip
    assert fixed.judgments == 5 * 240
    assert adaptive.judgments < 0.92 * fixed.judgments
    assert adaptive.accuracy >= fixed.accuracy
    savings = adaptive.bench.services.projects.get_progress(adaptive.bench.slug).savings
    assert savings is not None
    assert savings.closed >= 230  # a few may lack judges who have not judged them yet
    assert savings.saved == 5 * savings.closed - savings.judgments
    # Never too sure; with judges who err independently, too modest by some hundredths.
    assert -0.1 <= savings.accuracy - adaptive.accuracy <= 0.03
    assert savings.saved_money == pytest.approx(
        Decimal("0.01") * savings.saved, abs=Decimal("0.01")
    )
    assert fixed.bench.services.projects.get_progress(fixed.bench.slug).savings is None
    adaptive.bench.check()
    adaptive.bench.database.close()


@sqlite_first
def test_an_item_is_asked_for_again_until_it_is_sure(database: Database) -> None:
    """Before any fit two who agree are sure of one of four labels (0.94); two who differ are not.

    Two of three make 0.84: 0.049 to 0.007 for the other, and 0.001 for each of the rest.
    """
    bench = Bench(database, topics=4, results=3, closing="adaptive", sure=0.84, **SMALL)
    anna, berta, carla, dora = (bench.arrive(key).judge for key in ("a", "b", "c", "d"))
    assert {item.needed for item in bench.items()} == {2}
    bench.turn(anna, label="Spam")
    page = bench.page(berta)
    given = [
        Answer(row=row.row, label="Spam" if place % 3 else "Matching")
        for place, row in enumerate(page.rows)
    ]
    doubted = {row.title for place, row in enumerate(page.rows) if place % 3 == 0}
    bench.judging.submit(berta, page.page, page.key, given)
    state = {item.title: (item.state, item.needed, item.trusted) for item in bench.items()}
    assert {title for title, (state, *_) in state.items() if state == "open"} == doubted
    assert all(state[title] == ("open", 3, 2) for title in doubted)
    page = bench.page(carla)
    assert {row.title for row in page.rows} == doubted, "each is asked for once, and nothing else"
    assert bench.judging.page(dora) is None
    bench.clock.forward(minutes=61)
    bench.judging.sweep()
    bench.check()
    bench.turn(dora, label="Spam")
    assert {item.state for item in bench.items()} == {"closed"}
    bench.services.judges.block(bench.slug, anna)  # who was with dora against berta
    bench.check()
    assert {item.state for item in bench.items()} == {"open"}
    bench.services.judges.unblock(bench.slug, anna)
    bench.check()
    assert {item.state for item in bench.items()} == {"closed"}


def test_a_fit_closes_what_is_sure_by_it_and_opens_what_is_not(sqlite: Database) -> None:
    """Judges who are hardly better than chance are not sure of anything together."""
    bench = Bench(sqlite, topics=4, results=3, closing="adaptive", most_judgments=9, **SMALL)
    for key in ("anna", "berta"):
        bench.turn(bench.arrive(key).judge, label="Spam")
    assert {item.state for item in bench.items()} == {"closed"}
    poor = replace_pool(bench, 0.3)
    assert {(item.state, item.needed) for item in bench.items()} == {("open", 3)}
    assert poor == bench.services.settings.get(knowledge_name(bench.project))
    page = bench.judging.page(bench.arrive("carla").judge)  # a service that has the old snapshot
    assert page is not None
    assert len(page.rows) == 12
    replace_pool(bench, 0.9)
    assert {(item.state, item.needed) for item in bench.items()} == {("open", 3)}, "all are out"
    bench.check()
    bench.clock.forward(minutes=61)
    bench.judging.sweep()
    bench.check()
    assert {(item.state, item.needed) for item in bench.items()} == {("closed", 2)}


def replace_pool(bench: Bench, accuracy: float) -> Any:
    """A fit after which all judges are known to be right so often."""
    from adjudge.models.registry import model

    judgments = bench.services.exports.get_judgments(bench.slug)
    assert judgments is not None
    fit = model("majority-vote").fit(judgments)
    rest = (1 - accuracy) / 3
    rates = np.full((4, 4), rest) + (accuracy - rest) * np.eye(4)
    many = np.broadcast_to(1000 * rates, (judgments.judge_count, 4, 4))
    alike = np.broadcast_to(rates, many.shape)
    even = replace(fit, confusion=alike, counts=many, prevalence=np.full((1, 4), 0.25))
    learn(bench.services, bench.slug, even)
    bench.check()
    return bench.services.settings.get(knowledge_name(bench.project))


def test_the_queue_begins_with_what_is_most_in_doubt(sqlite: Database) -> None:
    bench = Bench(
        sqlite, topics=12, results=2, golds=0, training=False, closing="adaptive",
        queries_per_page=3, results_per_query=2, most_judgments=9,
    )  # fmt: skip
    anna, berta = bench.arrive("anna").judge, bench.arrive("berta").judge
    doubted = set()
    for place in range(4):
        bench.turn(anna, label="Spam")
        page = bench.page(berta)
        label = "Matching" if place == 2 else "Spam"
        doubted |= {row.title for row in page.rows} if place == 2 else set()
        bench.judging.submit(berta, page.page, page.key, bench.answers(page, label=label))
    bench.services.projects.add_items(
        bench.slug, [made_item(f"new{n}", f"n{n}") for n in range(12)]
    )
    replace_pool(bench, 0.7)
    ranks = {item.title: item.rank for item in bench.items() if item.state == "open"}
    fresh = [rank for title, rank in ranks.items() if title not in doubted]
    assert max(fresh) < min(ranks[title] for title in doubted), "below the least comes first"
    reached = {row.reached for row in bench.rows(sa.select(schema.judges))}
    assert reached == {0}
    bench.check()


def test_the_policy_can_change_while_items_are_out(database: Database) -> None:
    bench = Bench(database, topics=4, results=3, judgments_per_item=3, **SMALL)
    anna, berta = bench.arrive("anna").judge, bench.arrive("berta").judge
    bench.turn(anna, label="Spam")
    bench.turn(berta, label="Spam")
    bench.page(bench.arrive("carla").judge)
    bench.services.projects.set_policy(bench.slug, {"closing": "adaptive"})
    bench.check()
    assert {(item.state, item.needed) for item in bench.items()} == {("open", 3)}
    bench.services.projects.set_policy(bench.slug, {"sure": 0.99})
    bench.check()
    bench.turn(bench.arrive("carla").judge, label="Off Topic")
    assert {item.state for item in bench.items()} == {"closed"}, "at the most, which is 3"
    bench.services.projects.set_policy(bench.slug, {"most_judgments": 4})
    assert {(item.state, item.needed) for item in bench.items()} == {("open", 4)}
    bench.check()
    bench.services.projects.set_policy(bench.slug, {"closing": "fixed", "judgments_per_item": 5})
    assert {(item.state, item.needed) for item in bench.items()} == {("open", 5)}
    bench.check()


def test_judges_fits_and_blocks_at_once_keep_every_need_right(database: Database) -> None:
    """Many at once; what a fit in the background and a submit set last is what the fit says."""
    bench = Bench(
        database, topics=8, results=4, golds=0, training=False, closing="adaptive",
        most_judgments=6, queries_per_page=4, results_per_query=2,
    )  # fmt: skip
    judges = [bench.arrive(f"judge {number}").judge for number in range(5)]
    bench.turn(judges[0])
    done = threading.Event()

    def judge_on(number: int) -> None:
        rng = np.random.default_rng(number)
        while (page := bench.judging.page(judges[number])) is not None:
            given = [Answer(row=row.row, label=LABELS[rng.integers(2)]) for row in page.rows]
            bench.judging.submit(judges[number], page.page, page.key, given)

    def disturb() -> None:
        while not done.is_set():
            assert refit._fit_one(bench.services, bench.slug, refit.DEFAULT).state == "ready"
            bench.services.judges.block(bench.slug, judges[0])
            bench.services.judges.unblock(bench.slug, judges[0])

    other = threading.Thread(target=disturb)
    other.start()
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(judge_on, range(1, 5)))
    finally:
        done.set()
        other.join()
    check_counters(bench)
    check_standing(bench)
    refit._fit_one(bench.services, bench.slug, refit.DEFAULT)
    bench.check()
    assert {item.state for item in bench.items()} <= {"closed", "open"}
