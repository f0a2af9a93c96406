"""A model that compares: asked in both orders, contradictions are ties, its side is measured."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from adjudge.collect.model_judge.endpoint import Endpoint
from adjudge.collect.model_judge.judging import (
    _settle,
    _SideTally,
)
from adjudge.collect.model_judge.ledger import _key_of
from adjudge.collect.model_judge.prompts import NO_ANSWER, OtherQuestion, Question, Reply
from compared import better, paired_project
from model_work import go, work_of

LABELS = ("left", "tie", "right")


def reads(body: dict[str, Any]) -> str:
    """A model that compares what the texts say."""
    left, right = re.findall(r"(?:Left|Right) result text: (.*)", body["messages"][1]["content"])
    return json.dumps({"reason": "worth more", "label": better(left, right)})


def first(_: dict[str, Any]) -> str:
    return json.dumps({"reason": "it comes first", "label": "left"})


def test_a_model_that_reads_is_asked_twice_and_takes_no_side(speaker: Any, tmp_path: Path) -> None:
    speaker.answer = reads
    work, services, slug = work_of(tmp_path, paired_project)
    tally, _ = go(work, speaker, tmp_path / "l.jsonl")
    assert tally.judge is not None
    assert (tally.judge.stage, tally.judge.accuracy) == ("finished", 1.0)
    assert len(speaker.bodies) == 2 * tally.judged
    assert tally.sides.agreed == tally.sides.pairs == tally.judged
    assert tally.sides.position == (0.0, 0.0, 0.0)
    compared = services.exports.get_comparisons(slug)
    assert compared is not None
    assert compared.kind is not None
    assert compared.kind.tolist() == [1]
    assert (len(compared), compared.outcome_counts["tie"]) == (40, 0)


def test_a_model_that_goes_by_the_side_gives_ties_and_is_found_out(
    speaker: Any, tmp_path: Path
) -> None:
    speaker.answer = first
    work, services, slug = work_of(tmp_path, paired_project, screening_golds=0)
    tally, _ = go(work, speaker, tmp_path / "l.jsonl")
    assert (tally.sides.agreed, tally.sides.pairs) == (0, 40)
    assert tally.sides.position == (1.0, 1.0, 1.0)
    compared = services.exports.get_comparisons(slug)
    assert compared is not None
    assert compared.outcome_counts["tie"] == 40
    comments = set(services.exports.get_table(slug)["comment"].to_pylist())
    assert comments == {"Asked in both orders: left, then right. it comes first"}


def test_contradictions_are_ties_where_there_are_ties() -> None:
    left, right, tie = (Reply(label=label, reason="so") for label in ("left", "right", "tie"))
    none = Reply(label=NO_ANSWER)
    assert _settle(left, right, LABELS) == left
    assert _settle(left, left, LABELS).label == "tie"
    assert _settle(left, left, ("left", "right")).label == "left"
    assert _settle(right, tie, LABELS).label == "tie"
    assert _settle(tie, tie, LABELS) == tie
    assert _settle(none, left, LABELS).label == "right"
    assert _settle(left, none, LABELS) == left
    assert _settle(none, none, LABELS).label == NO_ANSWER


def test_the_side_taken_has_an_interval() -> None:
    tally = _SideTally()
    assert tally.position is None
    for _ in range(30):
        tally.add("left", "right")
    for _ in range(10):
        tally.add("left", "left")
    tally.add(NO_ANSWER, "left")
    assert (tally.pairs, tally.agreed) == (40, 30)
    assert tally.position is not None
    mean, low, high = tally.position
    assert mean == pytest.approx(0.25)
    assert high - mean == pytest.approx(1.6449 * (0.25 * 0.75 / 40) ** 0.5, rel=1e-4)
    assert mean - low == pytest.approx(high - mean)


def test_old_ledgers_know_questions_of_single_results() -> None:
    """The key of a single result is what it was before there were pairs."""
    single = Question(query="q", title="t")
    asked = Endpoint(url="http://x", model="m")
    assert _key_of(asked, "g", ("A", "B"), single, 0) == "68bf686d2a0e5650318c46949b8dac87"
    pair = Question(query="q", title="t", beside=OtherQuestion(title="u"))
    keys = {_key_of(asked, "g", LABELS, one, 0) for one in (pair, pair.mirrored)}
    assert len(keys) == 2
    assert pair.mirrored.mirrored == pair
