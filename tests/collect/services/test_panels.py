"""Outside panels: what Prolific asks for, how participants end, and how many may come at once."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from itertools import count
from typing import Any

import pytest
import sqlalchemy as sa

from adjudge.collect.rules.policy import Policy
from adjudge.collect.services._panels import preset_panel
from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from adjudge.errors import Refused, UnknownName
from collecting import Bench, refused

BACK = "https://panel.example/done?code={code}&who={participant}&session={SESSION_ID}"


def test_the_preset_sets_what_prolific_asks_for_and_keeps_what_is_there() -> None:
    numbers = count(1)
    policy = Policy(code_finished="MINE", code_blocked="MINE", training_tries=3, channels=("open",))
    changes = preset_panel("prolific", policy, make_code=lambda: f"CODE{next(numbers)}")
    assert changes == {
        "panel": "prolific",
        "participant_parameter": "PROLIFIC_PID",
        "return_link": "https://app.prolific.com/submissions/complete?cc={code}",
        "least_pages": 3,
        "channels": ["open", "panel"],
        "code_failed": "CODE1",
        "code_blocked": "CODE2",
        "code_nothing_left": "CODE3",
        "code_partial": "CODE4",
    }
    full = policy.changed(changes)
    assert preset_panel("prolific", full) == {}
    assert Policy().changed(preset_panel("prolific", Policy())).training_tries == 2
    with pytest.raises(UnknownName, match="panel 'prolifik'"):
        preset_panel("prolifik", policy)


def test_the_full_code_is_for_as_many_pages_as_the_policy_says(database: Database) -> None:
    bench = Bench(database, training=False, topics=30, golds=60, least_pages=2, own_codes=True,
                  code_finished="ALL", code_partial="SOME", pay_per_page="1.00")  # fmt: skip
    ends = {}
    for key, pages in (("one", 1), ("two", 2)):
        ends[key] = bench.judging.finish(_at_work(bench, key, pages=pages))
    codes = {key: (view.completion_code or "").split("-")[0] for key, view in ends.items()}
    assert codes == {"one": "SOME", "two": "ALL"}
    assert ends["one"].pay == Decimal("1.00"), "each page is paid all the same"
    table = bench.services.exports.get_panel_outcomes(bench.slug)
    rows = {row["participant"]: row for row in table.to_pylist()}
    assert [rows[key]["outcome"] for key in ("one", "two")] == ["partial", "finished"]
    assert [rows[key]["code"] for key in ends] == [v.completion_code for v in ends.values()]
    other = bench.judging.finish(_at_work(bench, "three", pages=2)).completion_code
    assert other != ends["two"].completion_code


def _at_work(bench: Bench, key: str, *, pages: int) -> str:
    judge = bench.arrive(key, channel="panel").judge
    for _ in range(pages):
        bench.turn(judge)
    return judge


def test_who_finds_no_more_work_gets_the_full_code(sqlite: Database) -> None:
    bench = Bench(sqlite, training=False, topics=1, results=2, golds=2, least_pages=5,
                  code_finished="ALL", code_partial="SOME")  # fmt: skip
    judge = _at_work(bench, "anna", pages=1)
    assert bench.judging.page(judge) is None
    assert bench.judging.state(judge).completion_code == "ALL"


def test_who_finishes_while_others_have_the_rest_gets_the_full_code(sqlite: Database) -> None:
    bench = Bench(sqlite, training=False, topics=8, golds=20, judgments_per_item=1, least_pages=3,
                  code_finished="ALL", code_partial="SOME")  # fmt: skip
    first = _at_work(bench, "first", pages=1)
    for number in range(4):
        bench.judging.page(bench.arrive(f"other {number}").judge)
    assert not bench.judging.state(first).open_items
    assert bench.judging.finish(first).completion_code == "ALL"


def outcomes_of(bench: Bench) -> dict[str, dict[str, str]]:
    file = io.BytesIO()
    bench.services.exports.write(bench.slug, "panel-outcomes", file)
    rows = csv.DictReader(io.StringIO(file.getvalue().decode("utf-8-sig")))
    return {row["participant"]: row for row in rows}


def test_what_links_say_of_judges_is_exported_as_columns(database: Database) -> None:
    bench = Bench(database, topics=2, results=2)
    people = {"a": {"age": "34", "language": "fr"}, "b": {"age": "51", "STUDY_ID": "s"}, "c": {}}
    names = [
        bench.arrive(key, channel="panel", parameters=given).judge for key, given in people.items()
    ]
    file = io.BytesIO()
    bench.services.exports.write(bench.slug, "judges", file)
    rows = list(csv.DictReader(io.StringIO(file.getvalue().decode("utf-8-sig"))))
    assert list(rows[0]) == ["judge", "arm", "kind", "channel", "age", "language"]
    found = [(row["judge"], row["age"], row["language"]) for row in rows]
    assert found == [(names[0], "34", "fr"), (names[1], "51", ""), (names[2], "", "")]


def test_how_each_participant_ended_and_what_she_is_due(database: Database) -> None:
    bench = Bench(
        database, topics=2, results=3, golds=60, judgments_per_item=1, training_pairs=4,
        queries_per_page=1, results_per_query=4, screening_golds=1, screening_pairs=3,
        pay_per_page="0.20", pay_failed="0.05", code_finished="DONE", code_failed="OUT",
        code_blocked="STOP", code_nothing_left="LATE", return_link=BACK,
        gold_before_closing=False,
    )  # fmt: skip

    def come(key: str, session: str) -> str:
        given = {"STUDY_ID": "s1", "SESSION_ID": session}
        return bench.arrive(key, channel="panel", parameters=given).judge

    failed, bad, good, late, idle = (
        come(key, f"of {key}") for key in ("f&x=1", "b", "g", "l", "i")
    )
    bench.turn(failed, right=False)
    view = bench.judging.state(failed)
    assert view.return_link == (
        "https://panel.example/done?code=OUT&who=f%26x%3D1&session=of%20f%26x%3D1"
    )
    bench.turn(bad)
    bench.turn(bad)
    bench.services.judges.block(bench.slug, bad)
    bench.turn(late)  # the training; nobody is trained once nothing is left
    bench.turn(good)
    while bench.judging.page(good) is not None:
        bench.turn(good)
    assert bench.judging.state(good).stage == "finished"
    assert come("g", "second") == good
    assert bench.judging.page(late) is None
    view = bench.judging.state(late)
    assert (view.completion_code, view.pay) == ("LATE", Decimal("0.05"))
    assert bench.judging.state(idle).return_link is None

    found = outcomes_of(bench)
    shown = {
        key: (row["session"], row["outcome"], row["code"], row["pay_due"], row["action"])
        for key, row in found.items()
    }
    assert shown == {
        "f&x=1": ("of f&x=1", "failed", "OUT", "0.05", "screen-out payment"),
        "b": ("of b", "blocked", "STOP", "0.20", "approve"),
        "g": ("second", "finished", "DONE", found["g"]["pay_due"], "approve"),
        "l": ("of l", "nothing-left", "LATE", "0.05", "screen-out payment"),
        "i": ("of i", "unfinished", "", "0.00", "wait"),
    }
    assert Decimal(found["g"]["pay_due"]) == Decimal("0.20") * int(found["g"]["pages"])
    assert {row["study"] for row in found.values()} == {"s1"}
    (again,) = bench.services.projects.get_log(bench.slug, event="came-again")
    assert again.figures["before"] == {"STUDY_ID": "s1", "SESSION_ID": "of g"}
    due = sum(Decimal(row["pay_due"]) for row in found.values())
    assert bench.services.projects.get_progress(bench.slug).cost == due
    bench.check()


def test_who_came_too_late_can_stop_and_gets_a_code(sqlite: Database) -> None:
    bench = Bench(
        sqlite, topics=1, results=2, golds=40, judgments_per_item=1, training=False,
        screening=False, code_nothing_left="LATE",
    )  # fmt: skip
    first, second = (bench.arrive(key, channel="panel").judge for key in ("first", "second"))
    bench.page(first)
    with pytest.raises(Refused, match="please judge a page first"):
        bench.judging.finish(first)
    assert bench.judging.page(second) is None
    view = bench.judging.finish(second)
    assert (view.stage, view.completion_code, view.pay) == ("finished", "LATE", Decimal("0.00"))
    bench.check()


def test_new_judges_per_minute_and_hour_are_limited(database: Database) -> None:
    bench = Bench(database, newcomers_per_minute=2, newcomers_per_hour=3)

    def turned_away(key: str, seconds: int, **more: Any) -> None:
        with refused("crowded") as caught:
            bench.arrive(key, **more)
        assert caught.value.evidence == {"seconds": seconds}

    first = bench.arrive("a").judge
    bench.clock.forward(seconds=10)
    bench.arrive("b", channel="panel")
    turned_away("c", 50)
    turned_away("c", 50, channel="panel")
    assert bench.arrive("a").judge == first
    bench.arrive("token:c", channel="api")
    bench.arrive("tester", kind="dry-run")  # the requester herself
    bench.clock.forward(seconds=50)
    bench.arrive("c")
    bench.clock.forward(seconds=60)
    turned_away("d", 3600 - 120)
    came = bench.rows(sa.select(sa.func.count()).select_from(schema.judges))[0][0]
    assert came == 5
    bench.clock.forward(seconds=3600 - 120)
    bench.arrive("d")
