"""A table of items judged by a model, through a real server that misbehaves."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjudge.cli import call
from adjudge.collect.model_judge.endpoint import Endpoint, SpendingLimit, _label_logprob, _Usage
from adjudge.collect.model_judge.items import Answers, judge_items, read_items
from adjudge.collect.model_judge.ledger import AnswerLedger, SampledAnswers
from adjudge.collect.model_judge.prompts import NO_ANSWER, PROMPTS, Reply
from adjudge.errors import BadData, BadSetting, BudgetSpent
from waiting import alone

LABELS = ("0", "1", "2", "3")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "items.csv"
    rows = [f"q{n},d{n},words {n},A page of {n}" for n in range(40)]
    path.write_text("\n".join(["query_id,document,query,text", *rows, ""]))
    return path


def by_number(body: dict[str, Any]) -> str:
    """The grade is the number in the query, by four."""
    number = int(re.findall(r"words (\d+)", body["messages"][-1]["content"])[0])
    if "final score" in body["messages"][0]["content"]:
        return f"M 2, T 2\n##final score: {number % 4}"
    return json.dumps({"reason": "by number", "label": str(number % 4)})


def go(
    speaker: Any, table: Path, *, prompt: str = "guidelines", **settings: Any
) -> tuple[Answers, Endpoint]:
    kept = {name: settings.pop(name) for name in ("samples", "concurrency", "most")
            if name in settings}  # fmt: skip
    endpoint = Endpoint(
        url=speaker.url, model="m", first_wait=0.01, prompt=PROMPTS[prompt], **settings
    )

    async def run() -> Answers:
        with AnswerLedger.opened(table.with_suffix(".jsonl")) as ledger:
            async with endpoint as opened:
                return await judge_items(
                    read_items(table), opened, ledger, guidelines="G", labels=LABELS, **kept
                )

    return alone(run()), endpoint


@pytest.mark.parametrize("prompt", list(PROMPTS))
def test_every_item_gets_its_label_despite_faults_of_the_server(
    speaker: Any, table: Path, prompt: str
) -> None:
    speaker.answer = by_number
    speaker.faults = ["cut", (429, {"Retry-After": "0.01"}), (500, {}), "bad json", (503, {})]
    found, endpoint = go(speaker, table, prompt=prompt)
    assert [one.commonest.label for one in found.sampled] == [str(n % 4) for n in range(40)]
    assert endpoint.usage.faults == 5
    rows = found.to_table("m", prompt).to_pylist()
    assert rows[7]["item"] == "q7/d7"
    assert (rows[7]["model"], rows[7]["prompt"], rows[7]["version"]) == ("m", prompt, "m-2026-01")
    assert (rows[7]["label"], rows[7]["tokens"]) == ("3", 110)
    assert "cost" not in rows[7]  # no prices, no costs


def test_samples_are_asked_apart_and_kept_apart(speaker: Any, table: Path) -> None:
    count = 0

    def wavers(body: dict[str, Any]) -> str:
        nonlocal count
        with speaker.lock:
            count += 1
            number = count
        return json.dumps({"reason": str(number), "label": "1" if number % 3 else "2"})

    speaker.answer = wavers
    found, _ = go(speaker, table, samples=3, most=10, temperature=0.7, concurrency=1)
    assert {body["temperature"] for body in speaker.bodies} == {0.7}
    assert len(speaker.bodies) == 30
    assert all(len(one.replies) == 3 for one in found.sampled)
    assert [one.commonest.label for one in found.sampled] == ["1"] * 10
    samples = [row["sample"] for row in found.to_table("m", "guidelines").to_pylist()]
    assert samples == [1, 2, 3] * 10
    again, _ = go(speaker, table, samples=4, most=10, temperature=0.7)
    assert len(speaker.bodies) == 40  # one more of each, and no old one again
    assert again.known == 30
    assert [one.replies[:3] for one in again.sampled] == [one.replies for one in found.sampled]


@pytest.mark.parametrize(
    "limit", [{"tokens": 4000}, {"money": 0.02, "price_in": 10.0, "price_out": 20.0}]
)
@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_budget_is_never_exceeded(
    speaker: Any, table: Path, limit: dict[str, Any], concurrency: int
) -> None:
    speaker.answer = by_number
    budget = SpendingLimit(**limit)
    found, endpoint = go(speaker, table, budget=budget, concurrency=concurrency)
    usage = endpoint.usage
    assert found.stopped is not None
    assert 0 < len(found.sampled) < 40
    if budget.tokens is not None:
        assert usage.prompt_tokens + usage.completion_tokens <= 4000
        assert "of 4,000 tokens are spent, and the next request may take" in found.stopped
    else:
        assert budget.cost(usage.prompt_tokens, usage.completion_tokens) <= 0.02
        assert "of 0.02 is spent, and the next request may cost" in found.stopped
        rows = found.to_table("m", "guidelines").to_pylist()
        assert rows[0]["cost"] == pytest.approx((100 * 10 + 10 * 20) / 1e6)
    more, _ = go(speaker, table)  # with another budget it goes on
    assert len(more.sampled) == 40
    assert more.known >= len(found.sampled)


def test_money_needs_prices() -> None:
    with pytest.raises(BadSetting) as caught:
        SpendingLimit(money=1.0)
    assert caught.value.setting == "budget"


def test_what_is_set_aside_is_given_back() -> None:
    budget, usage = SpendingLimit(tokens=1000), _Usage()
    with (
        budget.holding(usage, 1000, 400),
        pytest.raises(BudgetSpent),
        budget.holding(usage, 10, 100),
    ):
        pass
    with budget.holding(usage, 10, 100):
        pass


@pytest.mark.parametrize("prompt", list(PROMPTS))
def test_log_probabilities_of_the_label(speaker: Any, table: Path, prompt: str) -> None:
    speaker.answer = by_number
    found, _ = go(speaker, table, prompt=prompt, logprobs=True, most=5)
    assert all(body["logprobs"] is True for body in speaker.bodies)
    assert [one.replies[0].logprob for one in found.sampled] == [-0.25] * 5
    again, _ = go(speaker, table, prompt=prompt, logprobs=True, most=5)  # from the ledger
    assert [one.replies[0].logprob for one in again.sampled] == [-0.25] * 5


def test_an_endpoint_without_log_probabilities_is_asked_without(speaker: Any, table: Path) -> None:
    speaker.answer, speaker.knows_logprobs, speaker.knows_schema = by_number, False, False
    found, _ = go(speaker, table, logprobs=True, most=3, concurrency=1)
    assert [one.commonest.label for one in found.sampled] == ["0", "1", "2"]
    assert ["logprobs" in body for body in speaker.bodies] == [True, True, False, False, False]
    assert "logprob" not in found.to_table("m", "guidelines").column_names


@pytest.mark.parametrize(
    ("tokens", "label", "found"),
    [
        ([('{"label": "', -0.1), ("2", -0.5), ('"}', 0.0)], "2", -0.5),
        ([('{"label": "Not', -0.25), (" Matching", -0.5), ('"}', 0.0)], "Not Matching", -0.75),
        ([('{"a": 12, "label": "', 0.0), ("1", -2.0), ('"}', 0.0)], "1", -2.0),
        ([("nothing here", -1.0)], "2", None),
    ],
)
def test_the_tokens_of_a_label(tokens: list[Any], label: str, found: float | None) -> None:
    choice = {"logprobs": {"content": [{"token": t, "logprob": p} for t, p in tokens]}}
    content = "".join(text for text, _ in tokens)
    assert _label_logprob(choice, content, label) == found


@pytest.mark.parametrize(
    "logprobs", [None, {}, {"content": None}, {"content": [{"token": "2"}]}, {"content": [3]}]
)
def test_invalid_log_probabilities(logprobs: Any) -> None:
    assert _label_logprob({"logprobs": logprobs}, "2", "2") is None


def test_of_equally_common_answers_the_first_counts_and_none_counts_last() -> None:
    replies = [Reply(label=label) for label in (NO_ANSWER, NO_ANSWER, "2", "1", "1", "2")]
    assert SampledAnswers(replies=tuple(replies), known=0).commonest.label == "2"
    assert SampledAnswers(replies=tuple(replies[:2]), known=0).commonest.label == NO_ANSWER


def test_a_model_that_gives_no_answer_leaves_no_row(speaker: Any, table: Path) -> None:
    speaker.answer = lambda _: "nonsense"
    found, _ = go(speaker, table, most=2)
    assert found.unanswered == 2
    assert found.to_table("m", "guidelines").num_rows == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,text\na,b\n", "items.csv, line 1: the columns are item, text; expected query, and"),
        ("item,query\na,b\n", "expected query, and something to judge by (title, text, url,"),
        ("item,query,text\n", "items.csv: there is no item to judge"),
        ("item,query,text\na,q,t\na,q,u\n", "items.csv, line 3: item 'a' is there twice"),
        ("item,query,text\n,q,t\n", "items.csv, line 2: the item has no name"),
    ],
)
def test_tables_that_cannot_be_judged(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "items.csv"
    path.write_text(text)
    with pytest.raises(BadData) as caught:
        read_items(path)
    assert message in str(caught.value)


def command(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "adjudge", "judge-with-model", *map(str, arguments)],
        capture_output=True, text=True, cwd=folder, env=os.environ | {"COLUMNS": "80"}, check=False,
    )  # fmt: skip


def test_from_the_command_line_to_an_audit(
    speaker: Any, table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    speaker.answer = by_number
    asked = ("--items", table.name, "--endpoint", speaker.url, "--ask", "m", "--prompt", "umbrela",
             "--logprobs", "--price-in", 1, "--price-out", 2)  # fmt: skip
    first = command(table.parent, *asked, "-o", "a.csv", "--samples", 2)
    assert (first.returncode, first.stdout) == (0, ""), first.stderr
    assert "40 of 40 items, 2 samples each, 0 it could not judge, 0 answered before" in first.stderr
    assert "8,000 + 800 tokens, 0.0096 spent" in first.stderr
    speaker.version = "m-2026-02"
    monkeypatch.chdir(table.parent)
    again = ["judge-with-model", *map(str, asked), "--json", "--budget", "0.002"]
    with ThreadPoolExecutor(1) as pool:  # once per process; outside the loop of a browser, as below
        pool.submit(call, again).result()
    summary = json.loads(capsys.readouterr().out)
    assert summary["stopped"].startswith("0.00")
    assert 0 < summary["judged"] < 40
    with (table.parent / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 80
    assert np.allclose([float(row["logprob"]) for row in rows], -0.25)
    from adjudge.data.model_answers import ModelAnswers
    from adjudge.evaluation import audit

    answers = ModelAnswers.read(table.parent / "a.csv")
    (version,) = audit(answers, resamples=0).judges
    assert (version.judge, version.version, version.samples) == ("m", "m-2026-01", 2.0)
    assert version.cost == pytest.approx(0.0096)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "error: PROJECT is missing: expected either a project"),
        (("shop", "--items", "items.csv"), "expected either a project, or --items FILE"),
        (("shop", "-o", "a.csv"), "expected --items with it; a project has its own"),
        (
            ("--items", "items.csv", "--prompt", "umbrela", "--labels", "0<1"),
            "error: --prompt = 'umbrela': expected the labels 0, 1, 2, 3, not 0, 1",
        ),
        (("--items", "items.csv", "--budget", "1"), "price-in or price-out"),
        (("--items", "items.csv", "--guidelines", "no.md"), "error: no.md: cannot be read"),
    ],
)
def test_what_cannot_be_asked_is_said(
    table: Path,
    arguments: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(table.parent)
    monkeypatch.setenv("COLUMNS", "80")
    required = ["--endpoint", "http://127.0.0.1:9/v1", "--ask", "m"]
    with ThreadPoolExecutor(1) as pool:  # outside the loop of a browser, as ``alone`` says
        assert pool.submit(call, ["judge-with-model", *arguments, *required]).result() == 2
    assert message in capsys.readouterr().err
