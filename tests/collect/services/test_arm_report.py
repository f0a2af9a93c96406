"""The report by arm: a small experiment through the services, against figures worked out apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import precision_recall_fscore_support

from adjudge import Gold
from adjudge.collect.store.database import Database
from adjudge.collect.values.arms import JUDGES, VOTE
from adjudge.collect.values.judging import Answer
from adjudge.collect.values.project import Arm
from adjudge.errors import BadData
from adjudge.models.dawid_skene import DawidSkene
from collecting import LABELS, Bench, made_project, sqlite_first

ARMS = (Arm(name="one"), Arm(name="two", feedback=False))
POLICY: dict[str, Any] = {"least_golds": 1000, "judgments_per_item": 20, "training_pairs": 4}


def bench_of(database: Database, **more: Any) -> Bench:
    bench = Bench(database, made_project(**{"topics": 4, "golds": 60, **POLICY, **more}))
    bench.services.arms.set_all(bench.slug, ARMS)
    return bench


def arm_of(bench: Bench, judge: str) -> str:
    return next(row.arm for row in bench.services.judges.get_all(bench.slug) if row.judge == judge)


def trained(bench: Bench, key: str, *, right: bool = True, **more: Any) -> str:
    judge = bench.arrive(key, **more).judge
    while bench.judging.state(judge).stage == "training":
        bench.turn(judge, right=right)
    return judge


def page_at_random(bench: Bench, judge: str, skill: float, rng: np.random.Generator) -> None:
    """A page of work: gold right with this probability, work at random."""
    page = bench.page(judge)
    truths = bench.truths(page)
    answers = []
    for row in page.rows:
        label = str(rng.choice(LABELS))
        if row.row in truths and rng.random() < skill:
            label = truths[row.row]
        answers.append(Answer(row=row.row, label=label))
    bench.judging.submit(judge, page.page, page.key, answers)


@pytest.fixture
def experiment(sqlite: Database) -> tuple[Bench, dict[str, str]]:
    """Twelve judges, three pages each: good in arm one, bad in arm two; and one on a dry run."""
    bench = bench_of(sqlite, topics=24)
    rng = np.random.default_rng(0)
    arms = {}
    for number in range(12):
        judge = trained(bench, f"j{number}")
        arms[judge] = arm_of(bench, judge)
        for _ in range(3):
            page_at_random(bench, judge, 0.9 if arms[judge] == "one" else 0.3, rng)
    dry = trained(bench, "tester", kind="dry-run")
    page_at_random(bench, dry, 1.0, rng)
    return bench, arms


def twin(bench: Bench, judges: set[str], truth: dict[str, str]) -> list[tuple[str, str, str, str]]:
    """Judge, item, label and truth of every first answer in work, by plain Python."""
    seen: set[tuple[str, str]] = set()
    found = []
    for row in bench.services.exports.get_table(bench.slug).to_pylist():
        key = (row["judge"], row["item"])
        if row["judge"] in judges and key not in seen:
            seen.add(key)
            if row["kind"] == "work" and row["item"] in truth:
                found.append((row["judge"], row["item"], row["label"], truth[row["item"]]))
    return found


def gold_truth(bench: Bench) -> dict[str, str]:
    return {row.item: row.accepted[0] for row in bench.services.gold.get_all(bench.slug)}


def test_the_measures_of_judges_are_means_of_each_judges_own(
    experiment: tuple[Bench, dict[str, str]],
) -> None:
    bench, arms = experiment
    report = bench.services.arms.report(bench.slug, resamples=200)
    answers = twin(bench, set(arms), gold_truth(bench))
    for arm in ("one", "two"):
        each = []
        for judge in (judge for judge, hers in arms.items() if hers == arm):
            mine = [(true, label) for who, _, label, true in answers if who == judge]
            true, label = zip(*mine, strict=True)
            precision, recall, *_ = precision_recall_fscore_support(
                true, label, labels=LABELS, zero_division=np.nan
            )
            right = np.mean([one == other for one, other in mine])
            each.append([right, *precision, *recall])
        expected = np.nanmean(each, axis=0)
        found = [one for one in report.measures if (one.arm, one.what) == (arm, JUDGES)]
        assert [one.value for one in found] == pytest.approx(list(expected))
        assert {one.units for one in found} == {6}
        assert found[0].measure == "accuracy"
        assert found[0].low <= found[0].value <= found[0].high  # type: ignore[operator]
    assert report.overall(JUDGES) < 0.02  # type: ignore[operator]
    pair = next(one for one in report.differences if one.what == JUDGES and one.second == "two")
    assert (pair.first, pair.measure, pair.test) == ("one", "accuracy", "permutation of judges")
    assert pair.gap == pytest.approx(
        report.found(JUDGES, "accuracy")[0].value - report.found(JUDGES, "accuracy")[1].value  # type: ignore[operator]
    )


def test_the_aggregate_is_that_of_each_arms_own_judges(
    experiment: tuple[Bench, dict[str, str]],
) -> None:
    bench, arms = experiment
    report = bench.services.arms.report(bench.slug, models=[DawidSkene()], resamples=100)
    assert report.models == (VOTE, "dawid-skene")
    answers = twin(bench, set(arms), gold_truth(bench))
    for place, arm in enumerate(("one", "two")):
        votes: dict[str, list[str]] = {}
        for judge, item, label, _ in answers:
            if arms[judge] == arm:
                votes.setdefault(item, []).append(label)
        sure = {}
        tied = 0
        for item, given in votes.items():
            counts = sorted((given.count(label), label) for label in set(given))
            if len(counts) > 1 and counts[-1][0] == counts[-2][0]:
                tied += 1
            else:
                sure[item] = counts[-1][1]
        right = sum(label == gold_truth(bench)[item] for item, label in sure.items())
        found = report.found(VOTE, "accuracy")[place]
        assert found.units == len(votes)
        assert found.judgments == sum(map(len, votes.values()))
        assert found.value is not None
        assert right <= found.value * len(votes) + 1e-9 <= right + tied + 1e-9
    tests = [one for one in report.differences if one.what == VOTE]
    assert {one.test for one in tests} == {"sign test over items", "permutation of judges"}
    assert all(one.p is not None and one.p < 0.05 for one in tests)


@sqlite_first
def test_the_funnel_counts_drop_outs_and_leaves_out_dry_runs(database: Database) -> None:
    bench = bench_of(database)
    stages: dict[str, list[str]] = {"one": [], "two": []}
    for number in range(8):
        judge = bench.arrive(f"j{number}").judge
        arm = arm_of(bench, judge)
        fate = ("passed", "failed", "left", "began")[len(stages[arm])]
        stages[arm].append(fate)
        if fate == "began":
            page = bench.page(judge)
            bench.judging.answer_training(judge, page.page, page.rows[0].row, "Spam")
        elif fate != "left":
            while bench.judging.state(judge).stage == "training":
                bench.turn(judge, right=fate == "passed")
        if fate == "passed":
            bench.turn(judge)
    for value in ("1", "true"):
        bench.arrive(f"dry {value}", kind="dry-run")
    bench.arrive("real", channel="panel", parameters={"dry_run": "0"})
    report = bench.services.arms.report(bench.slug, resamples=0)
    assert report.left_out == 2
    assert report.notes[0] == "Left out: 2 on a dry run."
    assert sum(row.came for row in report.funnel) == 9
    for row in report.funnel:
        assert (row.trained, row.passed, row.failed, row.worked) == (3, 1, 1, 1)
        assert row.left_training == 1
        assert row.left_before == row.came - 3
        assert row.passed_share == 0.5
        # Wilson's interval of 1 of 2
        assert (row.low, row.high) == pytest.approx((0.0945, 0.9055), abs=1e-4)


def test_a_test_gold_measures_the_work_itself(sqlite: Database) -> None:
    bench = bench_of(sqlite)
    for number in range(4):
        judge = trained(bench, f"j{number}")
        for _ in range(3):
            if bench.judging.state(judge).open_items:
                label = "Matching" if arm_of(bench, judge) == "one" else "Spam"
                bench.turn(judge, label=label)
    truth = {f"t{t}d{d}": "Matching" if d < 3 else "Spam" for t in range(4) for d in range(5)}
    report = bench.services.arms.report(bench.slug, test=Gold.of(truth), resamples=50)
    assert report.against == "gold"
    found = report.tables()["measures"].to_pylist()
    voted = {(row["arm"], row["measure"]): row for row in found if row["what"] == VOTE}
    one, two = voted["one", "accuracy"], voted["two", "accuracy"]
    assert (one["units"], two["units"]) == (20, 20)
    assert (one["value"], two["value"]) == (0.6, 0.4)
    assert voted["one", "recall Matching"]["value"] == 1.0
    assert voted["one", "precision Matching"]["value"] == 0.6
    assert voted["one", "precision Spam"]["value"] is None
    with pytest.raises(BadData, match="gold: no item of it was judged"):
        bench.services.arms.report(bench.slug, test=Gold.of({"elsewhere": "Spam"}))


def test_several_accepted_labels_are_all_right(sqlite: Database) -> None:
    bench = bench_of(sqlite, training=False, golds=20, topics=8)
    for gold in range(20):
        bench.services.gold.edit(bench.slug, f"gold{gold}", accepted=("Spam", "Matching"))
    judge = bench.arrive().judge
    page = bench.page(judge)
    golds = sorted(bench.truths(page))
    given = dict(
        zip(golds, ("Spam", "Matching", "Matching", "Off Topic", "can't judge"), strict=True)
    )
    bench.judging.submit(
        judge,
        page.page,
        page.key,
        [Answer(row=row.row, label=given.get(row.row, "Spam")) for row in page.rows],
    )
    report = bench.services.arms.report(bench.slug, resamples=0)
    mine = {one.measure: one for one in report.measures if one.what == JUDGES and one.units}
    assert mine["accuracy"].value == 3 / 4
    assert mine["recall Matching"].value == 1.0
    assert mine["recall Spam"].value == 1 / 2  # Off Topic is held against the first accepted
    assert mine["precision Off Topic"].value == 0.0
    assert report.notes == ("1 answer of known truth gives no label, and is left out.",)


def test_only_the_first_answer_to_a_gold_counts(sqlite: Database) -> None:
    """Gold that was shown in training, or missed before, does not show what she knows."""
    bench = bench_of(sqlite, golds=6, training_pairs=4, topics=8)
    judge = trained(bench, "anna")
    for _ in range(3):
        bench.turn(judge)
    report = bench.services.arms.report(bench.slug, resamples=0)
    used = [one for one in report.measures if one.what == JUDGES and one.units]
    assert {one.judgments for one in used} == {2}


def test_arms_with_other_screening_mixes_are_compared_only_where_they_can_be(
    sqlite: Database,
) -> None:
    bench = Bench(sqlite, made_project(topics=8, golds=60, **{**POLICY, "training": False}))
    mixes = [{"Matching": 9, "Spam": 1}, {"Matching": 1, "Spam": 9}]
    bench.services.arms.set_all(
        bench.slug, [Arm(name=f"m{n}", screening_mix=mix) for n, mix in enumerate(mixes)]
    )
    rng = np.random.default_rng(1)
    for number in range(8):
        page_at_random(bench, bench.arrive(f"j{number}").judge, 0.6, rng)
    report = bench.services.arms.report(bench.slug, resamples=50)
    assert any("do not compare; recall does" in note for note in report.notes)
    kinds = {(one.measure.split()[0], one.test) for one in report.differences}
    assert kinds == {
        ("recall", "permutation of judges"), ("accuracy", "sign test over items"),
    }  # fmt: skip
    truth = {f"t{t}d{d}": "Matching" for t in range(8) for d in range(5)}
    tested = bench.services.arms.report(bench.slug, test=Gold.of(truth), resamples=50)
    assert tested.overall(VOTE) is not None
    assert tested.notes == ()
