"""No sequence of events breaks an invariant: state machines over the services."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from adjudge.collect.consensus import refit
from adjudge.collect.rules.decisions import is_below
from adjudge.collect.rules.golds import for_screening, for_training
from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import OTHERS, Answer, Page
from adjudge.collect.values.project import Arm, GoldEntry, Project
from adjudge.errors import NotFound
from collecting import LABELS, Bench, check_quotas, made_item, made_project, refused
from sizes import sized

pytestmark = pytest.mark.slow

EXAMPLES = sized(2, full=50)  # sequences per test; new ones at every run
STEPS = sized(25, full=40)  # of each


KEYS = st.sampled_from(["anna", "berta", "carla", "dora", "tester"])
PLACES = st.integers(0, 50)


class Collecting(RuleBasedStateMachine):
    """Judges, a requester and the clock, in any order."""

    database: Database
    made: dict[str, Any]

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench(self.database, self.project())
        self.judges: dict[str, str] = {}
        self.pages: list[tuple[str, Page, list[Answer]]] = []  # as they were first sent
        self.shown: dict[str, set[int]] = {}
        self.given: set[tuple[str, frozenset[str]]] = set()  # judges with the rows of a page
        self.extra = 0
        for key in ("anna", "berta", "carla"):  # at work from the start, so that more can happen
            self.arrive(key)
            self.bench.judging.consent(self.judges[key])
            while self.bench.judging.state(self.judges[key]).stage == "training":
                self.submit_right(key)

    def project(self) -> Project:
        return made_project(**self.made)

    def eligible(self, kind: str) -> set[int]:
        fits = for_training if kind == "training" else for_screening
        rows = self.bench.rows(
            sa.select(schema.golds).where(schema.golds.c.project == self.bench.project)
        )
        return {row.id for row in rows if row.active and fits(row.role)}

    def golds_on(self, page: Page) -> set[int]:
        rows = schema.page_rows
        return {
            row.gold
            for row in self.bench.rows(
                sa.select(rows.c.gold)
                .join(schema.pages, schema.pages.c.id == rows.c.page)
                .where(schema.pages.c.public == page.page, rows.c.gold.is_not(None))
            )
        }

    def fetch(self, judge: str) -> Page | None:
        """A page, with the check that no gold comes twice while unseen ones are left.

        A page that was left comes back as it was, with its gold.
        """
        before = self.bench.judging.state(judge).page
        page = self.bench.judging.page(judge)
        if page is None or page.page == before:
            return page
        golds, seen = self.golds_on(page), self.shown.setdefault(judge, set())
        rows = frozenset(row.title for row in page.rows)
        if page.why:
            self.check_refresher(page, golds, seen)
        elif golds & seen and (judge, rows) not in self.given:
            assert self.eligible(page.kind) <= seen | golds
            if page.kind == "work":
                assert self.eligible(page.kind) <= seen
        seen |= golds
        self.given.add((judge, rows))
        if page.kind == "work":
            sizes = {len(group.rows) for group in page.groups}
            assert len(sizes) == 1 or not golds
        return page

    def check_refresher(self, page: Page, golds: set[int], seen: set[int]) -> None:
        """Of each label no gold comes again while unseen ones are left; none but for people."""
        table = schema.golds
        rows = self.bench.rows(sa.select(table.c.id, table.c.accepted, table.c.active))
        label = {row.id: row.accepted[0] for row in rows}
        unseen = self.eligible("training") - seen - golds
        assert not {label[gold] for gold in golds & seen} & {label[gold] for gold in unseen}
        assert page.kind == "training"
        assert len(page.rows) <= self.made["refresher_pairs"]

    def fetch_if_consented(self, key: str, *, at_work: bool = False) -> tuple[str, Page | None]:
        """A judge who came and consented, or is at work, with the page they get; else no page."""
        judge = self.judges.get(key)
        stage = self.bench.judging.state(judge).stage if judge else "consent"
        if stage == "consent" or (at_work and stage not in ("working", "warned")):
            return "", None
        return judge or "", self.fetch(judge or "")

    @rule(key=KEYS)
    def arrive(self, key: str) -> None:
        view = self.bench.arrive(key, kind="dry-run" if key == "tester" else "person")
        assert self.judges.setdefault(key, view.judge) == view.judge

    @rule(key=KEYS)
    def consent(self, key: str) -> None:
        if key in self.judges:
            assert self.bench.judging.consent(self.judges[key]).stage != "consent"

    @rule(key=KEYS)
    def look(self, key: str) -> None:
        if key not in self.judges:
            return
        if self.bench.judging.state(self.judges[key]).stage == "consent":
            with refused("consent-wanted"):
                self.bench.judging.page(self.judges[key])
            return
        self.fetch(self.judges[key])

    @rule(key=KEYS, how=st.sampled_from(["right", "wrong", "mixed", "others"]), seed=PLACES)
    def submit(self, key: str, how: str, seed: int) -> None:
        judge, page = self.fetch_if_consented(key)
        if page is None:
            assert not judge or self.bench.judging.state(judge).stage not in ("consent", "training")
            return
        answers = self.bench.answers(page, right=how in ("right", "others"))
        if how == "mixed":
            right = self.bench.answers(page)
            answers = [
                right[place] if (place + seed) % 3 else answer
                for place, answer in enumerate(answers)
            ]
        if how == "others":
            first = seed % len(answers)
            answers[first] = Answer(row=answers[first].row, label=OTHERS[seed % 2])
        outcome = self.bench.judging.submit(judge, page.page, page.key, answers)
        assert outcome.stored == len(page.rows)
        self.pages.append((judge, page, answers))

    @rule(key=KEYS)
    def submit_right(self, key: str) -> None:
        self.submit(key, "right", 0)

    @rule(key=KEYS)
    def submit_wrong(self, key: str) -> None:
        self.submit(key, "wrong", 0)

    @rule(key=KEYS)
    def block_and_let_others_fill(self, key: str) -> None:
        """What a blocked judge had goes to others; unblocked, hers is beyond what was needed."""
        self.block(key)
        for other in self.judges:
            if other != key:
                self.submit(other, "right", 0)
        self.nothing_is_broken()
        self.unblock(key)

    @rule(key=KEYS, upto=st.integers(1, 3))
    def submit_partly(self, key: str, upto: int) -> None:
        judge, page = self.fetch_if_consented(key)
        if page is None or upto >= len(page.rows):
            return
        answers = self.bench.answers(page)[:upto]
        done = {answer.row for answer in (*page.answers, *answers)}
        if page.kind == "work" or len(done) < len(page.rows):
            with refused("rows-missing"):
                self.bench.judging.submit(judge, page.page, page.key, answers)

    @rule(key=KEYS, label=st.sampled_from(LABELS))
    def train_row(self, key: str, label: str) -> None:
        judge, page = self.fetch_if_consented(key)
        if page is not None and page.kind == "training":
            done = {answer.row for answer in page.answers}
            row = next((row.row for row in page.rows if row.row not in done), 1)
            outcome = self.bench.judging.answer_training(judge, page.page, row, label)
            assert outcome.feedback[0].given == label or outcome.again

    @rule(how=st.sampled_from(["right", "wrong", "others"]))
    def try_it_out(self, how: str) -> None:
        """A dry run, whose answers count nowhere."""
        self.arrive("tester")
        self.consent("tester")
        self.submit("tester", how, 0)

    @rule(key=KEYS, label=st.sampled_from(LABELS))
    def miss_and_be_refreshed(self, key: str, label: str) -> None:
        self.submit_wrong(key)
        self.train_row(key, label)

    @rule(place=PLACES)
    def submit_again(self, place: int) -> None:
        if self.pages:
            judge, page, answers = self.pages[place % len(self.pages)]
            assert self.bench.judging.submit(judge, page.page, page.key, answers).again

    @rule(place=PLACES)
    def submit_as_another(self, place: int) -> None:
        if self.pages:
            judge, page, answers = self.pages[place % len(self.pages)]
            for other in self.judges.values():
                if other != judge:
                    with pytest.raises(NotFound):
                        self.bench.judging.submit(other, page.page, page.key, answers)

    @rule(minutes=st.sampled_from([1, 20, 40]))
    def wait(self, minutes: int) -> None:
        self.bench.clock.forward(minutes=minutes)

    @rule()
    def sweep(self) -> None:
        self.bench.judging.sweep()
        assert self.bench.judging.sweep() == 0

    @rule(key=KEYS)
    def late(self, key: str) -> None:
        """A page that expires before it is sent: kept, since she was given nothing else."""
        judge, page = self.fetch_if_consented(key, at_work=True)
        if page is None:
            return
        self.bench.clock.forward(minutes=61)
        for other in self.judges.values():
            if other != judge and self.bench.judging.state(other).stage in ("working", "warned"):
                self.fetch(other)
        answers = self.bench.answers(page)
        outcome = self.bench.judging.submit(judge, page.page, page.key, answers)
        assert outcome.stored == len(page.rows)

    @rule(key=KEYS)
    def finish(self, key: str) -> None:
        judge = self.judges.get(key)
        if judge is None:
            return
        view = self.bench.judging.state(judge)
        begun = view.pages > 0 or not view.open_items
        if view.stage == "finished" or (view.stage in ("working", "warned") and begun):
            policy = self.bench.services.projects.get_policy(self.bench.slug)[0]
            low = view.stage != "finished" and is_below(
                view.gold_right or 0, view.gold_seen or 0, policy.block_below, policy
            )
            assert self.bench.judging.finish(judge).stage == ("blocked" if low else "finished")
        elif view.reason.endswith("when you finished."):
            assert self.bench.judging.finish(judge) == view
        else:
            with refused("nothing-done"):
                self.bench.judging.finish(judge)

    @rule(key=KEYS)
    def block(self, key: str) -> None:
        if key in self.judges:
            row = self.bench.services.judges.block(self.bench.slug, self.judges[key], "by hand")
            assert (row.stage, row.by_hand) == ("blocked", True)

    @rule(key=KEYS)
    def unblock(self, key: str) -> None:
        if key in self.judges:
            row = self.bench.services.judges.unblock(self.bench.slug, self.judges[key])
            assert row.stage != "blocked"

    @rule(place=PLACES)
    def contest(self, place: int) -> None:
        if self.pages:
            judge, page, _ = self.pages[place % len(self.pages)]
            graded = self.bench.judging.outcome(judge, page.page).feedback
            for one in graded[:1]:
                self.bench.judging.contest(judge, page.page, one.row, "I disagree")

    @rule(place=PLACES, accepted=st.sets(st.sampled_from(LABELS), min_size=1))
    def regrade(self, place: int, accepted: set[str]) -> None:
        entry = self.bench.value.golds[place % len(self.bench.value.golds)]
        self.bench.services.gold.edit(self.bench.slug, entry.item, accepted=sorted(accepted))

    @rule(place=PLACES, active=st.booleans())
    def retire(self, place: int, active: bool) -> None:
        entry = self.bench.value.golds[place % len(self.bench.value.golds)]
        self.bench.services.gold.edit(self.bench.slug, entry.item, active=active)

    @rule(gold=st.booleans())
    def import_more(self, gold: bool) -> None:
        self.extra += 1
        item = made_item(f"extra{self.extra}", f"t{self.extra % 3}")
        golds = [GoldEntry(item=item.name, accepted=("Spam",))] if gold else []
        added = self.bench.services.projects.add_items(self.bench.slug, [item], golds)
        assert (added.added, added.golds_added) == (1, int(gold))

    @rule(needed=st.integers(1, 3))
    def change_policy(self, needed: int) -> None:
        self.bench.services.projects.set_policy(self.bench.slug, {"judgments_per_item": needed})

    @invariant()
    def nothing_is_broken(self) -> None:
        self.bench.check()


class InArms(Collecting):
    """The same with two arms, each of which has its own number of judgments on an item."""

    def project(self) -> Project:
        made = made_project(**{**self.made, "judgments_by_arm": True})
        return replace(made, arms=(Arm(name="even", training_mix="uniform"), Arm(name="plain")))

    @rule(needed=st.integers(1, 3))
    def change_policy(self, needed: int) -> None:
        if check_quotas(self.bench) > needed:
            with refused("quota-passed"):
                super().change_policy(needed)
        else:
            super().change_policy(needed)

    @invariant()
    def no_arm_is_over_its_number(self) -> None:
        check_quotas(self.bench)


class Adaptive(Collecting):
    """The same where items close when they are sure; ``check`` works out what each needs."""

    @rule(most=st.integers(2, 4), sure=st.sampled_from([0.6, 0.9, 0.99]))
    def change_policy(self, most: int, sure: float) -> None:  # type: ignore[override]
        changes = {"most_judgments": most, "sure": sure}
        self.bench.services.projects.set_policy(self.bench.slug, changes)

    @rule(key=KEYS, label=st.sampled_from(LABELS))
    def submit_one_label(self, key: str, label: str) -> None:
        """So that judges agree on some items and not on others."""
        judge, page = self.fetch_if_consented(key, at_work=True)
        if page is not None:
            answers = self.bench.answers(page, label=label)
            self.bench.judging.submit(judge, page.page, page.key, answers)

    @rule()
    def fit(self) -> None:
        if self.bench.services.exports.get_judgments(self.bench.slug) is not None:
            assert refit._fit_one(self.bench.services, self.bench.slug, "hybrid-confusion").made


SMALL = {
    "topics": 2,
    "results": 3,
    "golds": 8,
    "judgments_per_item": 2,
    "training_pairs": 2,
    "training_tries": 2,
    "queries_per_page": 2,
    "results_per_query": 2,
    "screening_golds": 1,
    "screening_pairs": 3,
    "least_golds": 1,
    "set_aside_after": 2,
    "refresher_pairs": 3,
    "refresher_after": 1,
    "refreshers": 2,
    "lease_minutes": 60,
    "require_consent": True,
}


def run(
    database: Database,
    examples: int,
    steps: int,
    kind: type[Collecting] = Collecting,
    **made: Any,
) -> None:
    class Machine(kind):  # type: ignore[misc,valid-type]
        pass

    Machine.database = database
    Machine.made = {**SMALL, **made}
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def plain(gold_topics: str, trust: str) -> dict[str, Any]:
    return {"kind": Collecting, "gold_topics": gold_topics, "trust": trust, "confidence": 0.6}


IN_ARMS = {"kind": InArms, "judgments_per_item": 1}
ADAPTIVE = {"kind": Adaptive, "closing": "adaptive", "judgments_per_item": 3}


@pytest.mark.parametrize(
    "machine",
    [
        plain("shared", "beta"),
        plain("apart", "share"),
        pytest.param(plain("shared", "share"), marks=pytest.mark.full),
        pytest.param(plain("apart", "beta"), marks=pytest.mark.full),
        IN_ARMS,
        ADAPTIVE,
    ],
)
def test_no_sequence_of_events_breaks_an_invariant(
    sqlite: Database, machine: dict[str, Any]
) -> None:
    run(sqlite, EXAMPLES, STEPS, **machine)


@pytest.mark.parametrize("machine", [{}, IN_ARMS, ADAPTIVE])
def test_no_sequence_of_events_breaks_an_invariant_on_postgresql(
    postgresql: Database, machine: dict[str, Any]
) -> None:
    examples = sized(1, full=2) if machine is ADAPTIVE else max(1, EXAMPLES // 2)
    run(postgresql, examples, sized(20, full=30), **machine)
