"""The arms of an experiment: read, checked, stored, and dealt out to judges."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.collect.rules.routing import assign_arm
from adjudge.collect.services.arms import _PAPER_LABELS, FIVE_MIXES, preset_arms, read_arms
from adjudge.collect.services.projects import _find_misassigned
from adjudge.collect.store.database import Database
from adjudge.collect.values.project import Arm
from adjudge.errors import BadData, BadSetting
from collecting import LABELS, Bench, made_project, refused, sqlite_first
from papers.training import TABLE_1
from papers.training.crowd import LABELS as REPLICATED


def log_of(bench: Bench) -> list[Any]:
    return bench.services.projects.get_log(bench.slug, limit=10_000)[::-1]


def seed_of(bench: Bench) -> int:
    from adjudge.collect.store.schema import projects

    with bench.database.read() as on:
        return int(on.execute(projects.select()).one().seed)


def draft(database: Database, **made: Any) -> Bench:
    """A project nobody has come to."""
    return Bench(database, made_project(**{"topics": 4, "training": False, **made}))


def test_the_five_mixes_are_those_of_the_paper_and_of_its_replication() -> None:
    assert _PAPER_LABELS == REPLICATED
    assert [list(mix) for mix in FIVE_MIXES.values()] == list(TABLE_1.values())
    five = preset_arms("five-mixes", labels=LABELS)
    assert [arm.name for arm in five] == ["mix-1", "mix-2", "mix-3", "mix-4", "mix-5"]
    third = {"Matching": 45.3, "Not Matching": 47.3, "Off Topic": 7.3, "Spam": 0.0}
    assert (five[2].training_mix, five[2].screening_mix) == (third, third)


def test_arms_are_read_from_json() -> None:
    made = read_arms(
        {
            "population": {"1": 90, "0": 10},
            "arms": [
                {"name": "even", "training_mix": "uniform", "pay_per_page": 0.25},
                {"name": "as it is", "training_mix": "population", "feedback": False},
                {"name": "own", "screening_mix": {"1.0": 1}, "guidelines": "# Else"},
            ],
        },
        labels=("0", "1"),
    )
    assert made == (
        Arm(name="even", training_mix="uniform", pay_per_page="0.25"),
        Arm(name="as it is", training_mix={"1": 90, "0": 10}, feedback=False),
        Arm(name="own", screening_mix={"1": 1}, guidelines="# Else"),
    )
    assert read_arms([arm.to_dict() for arm in made], labels=("0", "1")) == made


@pytest.mark.parametrize(
    ("bad", "at"),
    [
        ({"arm": []}, ("part of a file of arms", "arm")),
        ([], ("arms", 0)),
        ([{"name": " "}], ("name of an arm", " ")),
        ([{"training_mix": "any"}], ("name of arm 1", None)),
        ([{"name": "a"}, {"name": "A"}], ("name of an arm", "A")),
        ([{"name": "a", "training_mix": {"2": 1}}], ("training_mix of arm a", "2")),
        ([{"name": "a", "training_mix": "population"}], ("training_mix of arm a", "population")),
        ([{"name": "a", "screening_mix": 3}], ("screening_mix of arm a", 3)),
        ([{"name": "a", "guidelines": 3}], ("guidelines of arm 1", 3)),
    ],
)
def test_bad_arms_are_refused(bad: Any, at: tuple[str, object]) -> None:
    with pytest.raises(BadSetting) as caught:
        read_arms(bad, labels=("0", "1"))
    assert (caught.value.setting, caught.value.value) == at


@pytest.mark.parametrize(("bad", "place"), [("x", ""), ([3], "arm 1")])
def test_what_is_no_list_of_arms_is_refused(bad: Any, place: str) -> None:
    with pytest.raises(BadData) as caught:
        read_arms(bad, labels=("0", "1"))
    assert caught.value.place == place


@sqlite_first
def test_arms_change_the_policy_and_guidelines_of_their_judges(database: Database) -> None:
    bench = draft(database, pay_per_page="0.10", judgments_per_item=8)
    expected = (
        Arm(name="rich", pay_per_page="0.50", feedback=False, guidelines="# Rich"),
        Arm(name="poor"),
    )
    version = bench.services.projects.get_policy(bench.slug)[1]
    assert bench.services.arms.set_all(bench.slug, expected) == expected
    assert bench.services.arms.get_all(bench.slug) == expected
    assert bench.services.projects.get_policy(bench.slug)[1] == version + 1
    assert (
        bench.services.arms.set_all(bench.slug, expected) == expected
    )  # nothing new, no new version
    assert bench.services.projects.get_policy(bench.slug)[1] == version + 1
    seen = {}
    for number in range(8):
        judge = bench.arrive(f"j{number}").judge
        view = bench.judging.project(bench.slug, judge=judge)
        arm = next(
            row.arm for row in bench.services.judges.get_all(bench.slug) if row.judge == judge
        )
        seen[arm] = (str(view.pay_per_page), view.feedback, view.guidelines)
        bench.turn(judge)
    assert seen == {
        "rich": ("0.50", False, "# Rich"),
        "poor": ("0.10", True, "# Guidelines"),
    }
    bench.check()


def test_bad_settings_of_an_arm_are_refused_by_name(sqlite: Database) -> None:
    bench = draft(sqlite)
    bad: dict[str, Any] = {
        "pay_per_page": "much",
        "training_mix": {"Spam": 0.0},
        "feedback": "yes",
    }
    for name, value in bad.items():
        with pytest.raises(BadSetting) as caught:
            bench.services.arms.set_all(bench.slug, [Arm(name="a", **{name: value})])
        assert (caught.value.setting, caught.value.value) == (f"{name} of arm a", value)
    assert [arm.name for arm in bench.services.arms.get_all(bench.slug)] == ["all"]


@sqlite_first
def test_once_a_judge_has_come_arms_can_only_be_added(database: Database) -> None:
    bench = draft(database)
    first = (Arm(name="a"), Arm(name="b", feedback=False))
    bench.services.arms.set_all(bench.slug, first)
    for number in range(5):
        bench.arrive(f"j{number}")
    for wrong in (first[:1], first[::-1], (Arm(name="a", feedback=False), first[1])):
        with refused("arms-fixed") as caught:
            bench.services.arms.set_all(bench.slug, wrong)
        assert caught.value.evidence == {"arms": ["a", "b"]}
    bench.services.arms.set_all(bench.slug, (*first, Arm(name="c")))
    for number in range(5, 17):
        bench.arrive(f"j{number}")
    arms = Counter(entry.figures["arm"] for entry in log_of(bench) if entry.event == "arrived")
    assert arms["c"] >= 2
    bench.check()


def test_every_judge_is_in_the_arm_that_the_seed_and_the_log_say(database: Database) -> None:
    bench = draft(database)
    bench.services.arms.set_all(bench.slug, preset_arms("five-mixes", labels=LABELS))
    counts: Counter[str] = Counter()
    for number in range(23):
        bench.arrive(f"j{number}")
        arrived = log_of(bench)[-1].figures
        counts[arrived["arm"]] += 1
        assert max(counts.values()) - min(counts[f"mix-{n}"] for n in range(1, 6)) <= 2
    bench.arrive("j3")  # sticky: she is known
    assert (
        sum(row.arm.startswith("mix-") for row in bench.services.judges.get_all(bench.slug)) == 23
    )
    entries, seed = log_of(bench), seed_of(bench)
    assert _find_misassigned(seed, entries) == []
    assert bench.services.projects.audit(bench.slug) == []
    assert _find_misassigned(seed + 1, entries) != []


@given(
    seed=st.integers(0, 2**62 - 1),
    steps=st.lists(st.integers(0, 25), min_size=1, max_size=4),
)
@settings(deadline=None)
def test_arms_stay_balanced_also_when_some_are_added_on_the_way(
    seed: int, steps: list[int]
) -> None:
    """From the moment an arm is added on, arms are never further apart than two blocks."""
    arrival = 0
    for many, count in enumerate(steps, 2):
        names = [f"arm{n}" for n in range(many)]
        counts: Counter[str] = Counter()
        for _ in range(count):
            counts[assign_arm(seed, arrival, names)] += 1
            arrival += 1
            gap = max(counts.values()) - min(counts[name] for name in names)
            assert gap <= (2 if many == 2 else 4)
