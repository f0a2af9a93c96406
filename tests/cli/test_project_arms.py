"""The commands on arms and gold."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from adjudge.collect.services.judging import JudgingService
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import Answer, Arrival
from collecting import made_project
from commands import Run


@pytest.fixture(autouse=True)
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project that is open, in the folder where commands look for it."""
    monkeypatch.chdir(tmp_path)
    database = Database("adjudge.db")
    services = RequesterServices(database)
    made = made_project(topics=4, golds=40, training=False, judgments_per_item=10)
    services.projects.create(replace(made, seed=7))  # the same arms at every run
    services.projects.set_state("made", "open")
    database.close()


def work() -> None:
    """Six judges with a page each: the first two rows Spam, all others Matching."""
    database = Database("adjudge.db")
    judging = JudgingService(database)
    for number in range(6):
        judge = judging.arrive(Arrival(project="made", channel="open", key=f"j{number}")).judge
        page = judging.page(judge)
        assert page is not None
        judging.submit(
            judge,
            page.page,
            page.key,
            [
                Answer(row=row.row, label="Spam" if row.title.endswith("d0") else "Matching")
                for row in page.rows
            ],
        )
    database.close()


def test_arms_are_shown_set_and_reported(adjudge: Run) -> None:
    assert json.loads(adjudge("project", "arms", "made", "--json").out) == [{"name": "all"}]
    Path("arms.json").write_text(
        '{"population": {"Spam": 1, "Matching": 3}, "arms": [{"name": "even", "training_mix": '
        '"uniform"}, {"name": "as it is", "training_mix": "population", "pay_per_page": 0.3}]}'
    )
    shown = adjudge("project", "arms", "made", "--set", "arms.json")
    assert shown.code == 0, shown.err
    assert "75%" in shown.out
    assert json.loads(adjudge("project", "arms", "made", "--json").out)[1] == {
        "name": "as it is",
        "training_mix": {"Spam": 1, "Matching": 3},
        "pay_per_page": "0.3",
    }
    work()
    Path("test.csv").write_text("item,gold\n" + "".join(f"t{n}d0,Spam\n" for n in range(4)))
    ended = adjudge("project", "arms", "made", "--report", "--test", "test.csv", "--json")
    report = json.loads(ended.out)
    assert report["against"] == "test.csv"
    came = [row["came"] for row in report["funnel"]]
    assert (sum(came), max(came) - min(came) <= 2) == (6, True)  # in blocks of four
    voted = [row for row in report["measures"] if row["what"] == "majority-vote"]
    assert {row["value"] for row in voted if row["measure"] == "accuracy"} == {1.0}
    result = adjudge("project", "arms", "made", "--report", "--model", "dawid-skene")
    for words in ("Funnel", "dawid-skene", "recall Off Topic"):
        assert words in result.out
    assert adjudge("project", "arms", "made", "-o", "measures.csv").code == 0
    assert Path("measures.csv").read_text().startswith("arm,what,measure,value,low,high")


def test_gold_is_forecast_suggested_approved_and_split(adjudge: Run) -> None:
    shown = adjudge("project", "gold", "made", "--judges", "20")
    assert "golds needed for a typical judge" in shown.out
    forecast = json.loads(adjudge("project", "gold", "made", "--forecast", "--json").out)
    assert (forecast["items"], forecast["judgments"], forecast["have"]) == (20, 200, 40)
    work()
    found = json.loads(
        adjudge(
            *("project", "gold", "made", "--suggest", "3", "--json"),
            *("-m", "majority-vote", "--no-calibrate"),
        ).out
    )
    assert [one["label"] for one in found] == ["Matching", "Spam", "Matching"]
    item = found[1]["item"]
    done = adjudge("project", "gold", "made", "--approve", item, "--label", "Spam")
    assert f"{item} is screening gold: Spam" in done.err
    split = adjudge("project", "gold", "made", "--split", "Matching=3,Spam=1")
    assert "20 golds for training, 21 golds for screening" in split.err
    assert "lacks gold for its mix: 5 Matching" in split.err
    for arguments, words in (
        (("--approve", "t1d1"), "--label is missing: expected the label that is right"),
        (("--approve", item, "--label", "Spam"), "is gold already"),
        (("--approve", "t1d1", "--label", "Spam", "--role", "x"), "training or screening or both"),
        (("--split", "even"), "uniform, any, or a mix"),
        (("--split", "Spam=x"), "a mix such as"),
        (("--split", "Nope=1"), "labels of the project's scale"),
    ):
        ended = adjudge("project", "gold", "made", *arguments)
        assert (ended.code, words in ended.err) == (2, True), ended.err
