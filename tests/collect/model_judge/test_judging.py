"""A model at work: the same way through as any judge, in process and over HTTP."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.cli import call
from adjudge.collect.model_judge.endpoint import SpendingLimit
from adjudge.collect.model_judge.judging import HttpWork, InProcessWork, Work
from adjudge.collect.model_judge.ledger import AnswerLedger
from adjudge.collect.values.questions import FurtherQuestion
from adjudge.errors import BadData, EndpointFailed
from model_work import go, work_of
from sites import served, small_project


def knows(body: dict[str, Any]) -> str:
    """A model that reads the title."""
    good = "A good lamp" in body["messages"][1]["content"]
    return json.dumps({"reason": "the title", "label": "Good" if good else "Bad"})


def clueless(body: dict[str, Any]) -> str:
    other = {"Good": "Bad", "Bad": "Good"}
    return json.dumps({"reason": "it shines", "label": other[json.loads(knows(body))["label"]]})


def test_a_good_model_is_trained_judges_everything_and_is_trusted(
    speaker: Any, tmp_path: Path
) -> None:
    speaker.answer = knows
    work, services, slug = work_of(tmp_path)
    tally, _ = go(work, speaker, tmp_path / "l.jsonl")
    assert tally.judge is not None
    assert tally.judge.stage == "finished"
    assert tally.judge.accuracy == 1.0
    progress = services.projects.get_progress(slug)
    assert (progress.closed, progress.trusted) == (12, 12)
    (row,) = services.judges.get_all(slug)
    assert (row.kind, row.channel, row.stage) == ("model", "api", "finished")
    judgments = services.exports.get_judgments(slug)
    assert judgments is not None
    for item, label in zip(judgments.items.to_pylist(), judgments.label.tolist(), strict=True):
        query, result = (int(part[1:]) for part in item.split("/"))
        assert judgments.scale.labels[label] == ("Good", "Bad")[(query + result) % 2]
    comments = set(services.exports.get_table(slug)["comment"].to_pylist())
    assert comments == {"the title"}


def test_it_gets_feedback_on_mistakes_unless_that_is_off(speaker: Any, tmp_path: Path) -> None:
    for learn in (True, False):
        folder = tmp_path / str(learn)
        folder.mkdir()
        speaker.bodies.clear()
        speaker.answer = clueless
        work, *_ = work_of(folder, training_tries=2)
        go(work, speaker, folder / "l.jsonl", learn=learn)
        said = [body["messages"][0]["content"] for body in speaker.bodies]
        lessons = [text for text in said if "Mistakes you made before" in text]
        assert bool(lessons) is learn
        if learn:
            assert "Its own title says which it is." in lessons[-1]


def test_stopped_by_a_fault_it_resumes_and_asks_nothing_twice(speaker: Any, tmp_path: Path) -> None:
    work, services, slug = work_of(tmp_path, training=False)
    count = 0

    def falters(body: dict[str, Any]) -> str:
        nonlocal count
        count += 1
        if count == 8:
            speaker.faults = [(401, {})]
        return knows(body)

    speaker.answer = falters
    path = tmp_path / "l.jsonl"
    with pytest.raises(EndpointFailed):
        go(work, speaker, path, concurrency=1)
    kept = len(path.read_text().splitlines())
    assert kept == 8
    with path.open("a") as file:
        file.write('{"key": "cut sho')  # the power went
    speaker.answer, speaker.faults = knows, []
    tally, endpoint = go(work, speaker, path)
    asked = len(path.read_text().splitlines())
    assert tally.from_ledger >= 1
    assert endpoint.usage.requests == asked - kept
    assert services.projects.get_progress(slug).closed == 12


def test_with_the_budget_spent_it_stops_and_resumes_later(speaker: Any, tmp_path: Path) -> None:
    speaker.answer = knows
    work, services, slug = work_of(tmp_path, training=False)
    path = tmp_path / "l.jsonl"
    tally, endpoint = go(work, speaker, path, budget=SpendingLimit(tokens=1500), concurrency=1)
    assert tally.stopped is not None
    assert "of 1,500 tokens are spent" in tally.stopped
    usage = endpoint.usage
    assert usage.prompt_tokens + usage.completion_tokens <= 1500
    assert services.projects.get_progress(slug).closed < 12
    tally, _ = go(work, speaker, path)
    assert tally.stopped is None
    assert tally.from_ledger > 0
    assert services.projects.get_progress(slug).closed == 12


def test_an_invalid_ledger_is_named(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    path.write_text("not a ledger\n")
    with (
        pytest.raises(BadData, match=r"l\.jsonl, line 1: is not a line of a ledger"),
        AnswerLedger.opened(path),
    ):
        pass


@pytest.mark.parametrize("over_http", [False, True])
def test_required_further_questions_are_answered(
    speaker: Any, tmp_path: Path, over_http: bool
) -> None:
    def answer(body: dict[str, Any]) -> str:
        asked = "freshness" in body["messages"][0]["content"]
        more = {"answers": {"freshness": "Fresh"}} if asked else {}
        return json.dumps({**json.loads(knows(body)), **more})

    speaker.answer = answer
    required = FurtherQuestion(name="freshness", labels="Stale < Fresh", share=0.5)
    optional = FurtherQuestion(name="why", kind="words", required=False)
    project = replace(small_project(judgments_per_item=1), questions=(required, optional))
    with served(tmp_path) as site:
        slug = site.open_project(project)
        work: Work = InProcessWork(site.parts.judging, slug, "m")
        if over_http:
            site.set_up()
            work = HttpWork(site.url, slug, site.make_token(scope="judge", project=slug), "m")
        tally, _ = go(work, speaker, tmp_path / "l.jsonl")
        if isinstance(work, HttpWork):
            work.close()
        assert tally.judge is not None
        assert tally.judge.stage == "finished"
        assert site.services.projects.get_progress(slug).closed == 12
        table = site.services.exports.get_table(slug)
        given = table["answer_freshness"].to_pylist()
        assert 0 < given.count("Fresh") < len(given)
        assert set(table["answer_why"].to_pylist()) == {None}


def test_unreadable_replies_are_counted_and_shown(speaker: Any, tmp_path: Path) -> None:
    speaker.answer = lambda _: "Sure! I would say Good."
    work, _, _ = work_of(tmp_path, training=False)
    tally, _ = go(work, speaker, tmp_path / "l.jsonl", most=1)
    assert tally.unreadable == tally.unanswered == tally.judged > 0
    assert "I would say Good" in tally.problem


def test_a_failed_training_ends_the_command_with_1(
    speaker: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    speaker.answer = clueless
    _, _, slug = work_of(tmp_path)
    given = [slug, "--database", str(tmp_path / "a.db"), "--endpoint", speaker.url, "--ask", "m"]
    monkeypatch.chdir(tmp_path)
    with ThreadPoolExecutor(1) as pool:  # apart from the loop of a browser of another test
        code = pool.submit(call, ["judge-with-model", *given, "--json"]).result()
    assert (code, json.loads(capsys.readouterr().out)["judge"]["stage"]) == (1, "failed")
