"""Actors do what their descriptions say, and learn from feedback."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from adjudge.errors import BadSetting
from adjudge.simulation.behaviours import (
    Clicker,
    Ethical,
    GoldFeedback,
    LabelSpammer,
    Patience,
    Sheet,
    SheetOutcome,
    SimulatedJudge,
    Stage,
    visit,
)
from adjudge.simulation.crowd_spec import _Colluder

LABELS = ("a", "b", "c")
THETA = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]])
SIGHT = {"is a": 0, "is b": 1, "is c": 2}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def work(*rows: str) -> Sheet:
    return Sheet("work", rows, LABELS)


def gave_feedback(actor: Ethical | LabelSpammer, right: str, times: int = 1) -> None:
    """Tell an actor so often that her answer was wrong and what it should have been."""
    wrong = next(label for label in LABELS if label != right)
    for _ in range(times):
        actor.learn(Sheet("training", ("x",), LABELS), [wrong], [GoldFeedback(0, (right,), False)])


def test_an_ethical_judge_without_anchoring_follows_the_confusion_matrix() -> None:
    judge = Ethical(THETA, SIGHT, rng())
    gave_feedback(judge, "c", 50)
    for truth, text in enumerate(SIGHT):
        answers = judge.answer(work(*[text] * 20_000))
        shares = [answers.count(label) / 20_000 for label in LABELS]
        np.testing.assert_allclose(shares, THETA[truth], atol=0.012)


def test_an_anchored_judge_takes_the_mix_for_a_prior() -> None:
    judge = Ethical(THETA, SIGHT, rng(), anchoring=1.0)
    np.testing.assert_allclose(judge.leaning, THETA)  # no feedback: no leaning
    gave_feedback(judge, "a", 5)  # the mix is now (6, 1, 1) / 8
    np.testing.assert_allclose(judge.mix, [0.75, 0.125, 0.125])
    # By hand, for truth b: (.2 * 6, .7, .1) / 2.0
    np.testing.assert_allclose(judge.leaning[1], [0.6, 0.35, 0.05])
    half = Ethical(THETA, SIGHT, rng(), anchoring=0.5)
    gave_feedback(half, "a", 3)  # (4, 1, 1) / 6, and the root of 4 is 2
    np.testing.assert_allclose(half.leaning[1], np.array([0.4, 0.7, 0.1]) / 1.2)


def test_a_right_answer_teaches_as_well_as_a_correction() -> None:
    labels = ["a", "b", "c"]
    feedback = [GoldFeedback(0, ("a", "b"), True), GoldFeedback(2, ("b", "a"), False)]
    assert {one.row: one.right_answer(labels) for one in feedback} == {0: "a", 2: "b"}
    judge = Ethical(THETA, SIGHT, rng())
    judge.learn(work("is a", "is b", "is c"), labels, feedback)
    assert judge.label_counts.tolist() == [2, 2, 1]


def test_a_spammer_gives_the_commonest_label_so_far() -> None:
    spammer = LabelSpammer(rng(3))
    first = spammer.answer(work("is a", "is b"))
    assert first[0] == first[1]
    gave_feedback(spammer, "b")
    assert spammer.answer(work("is a", "is c")) == ["b", "b"]
    gave_feedback(spammer, "c", 2)
    assert spammer.answer(work("is a")) == ["c"]
    gave_feedback(spammer, "b")
    assert spammer.answer(work("is a")) == ["b"]  # a tie: b was there first
    assert {LabelSpammer(rng(seed)).answer(work("x"))[0] for seed in range(30)} == set(LABELS)


def test_colluders_agree_and_share_gold_answers() -> None:
    one = other = _Colluder(rng(1))  # members share their ring
    page = work(*[f"text {number}" for number in range(40)])
    given = one.answer(page)
    assert other.answer(page) == given
    assert len(set(given)) == 3
    right = "b" if given[7] != "b" else "c"
    one.learn(page, given, [GoldFeedback(7, (right,), False)])
    after = other.answer(page)
    assert after[7] == right
    assert after[:7] + after[8:] == given[:7] + given[8:]


def test_errors_shrink_with_examples_of_both_labels() -> None:
    judge = Ethical(THETA, SIGHT, rng(), learning=0.5)
    assert np.array_equal(judge.skill, THETA)
    gave_feedback(judge, "a", 4)  # many of one label do not show how it differs from another
    assert np.allclose(judge.skill, THETA)
    gave_feedback(judge, "b", 4)  # 4 * 4 / 8 = 2: errors between a and b are halved
    assert np.allclose(judge.skill, [[0.85, 0.05, 0.1], [0.1, 0.8, 0.1], [0.1, 0.3, 0.6]])
    skewed = Ethical(THETA, SIGHT, rng(), learning=0.5)
    gave_feedback(skewed, "a", 7)
    gave_feedback(skewed, "b", 1)  # as many examples, but 7 * 1 / 8 of both
    assert skewed.skill[0, 1] == pytest.approx(0.1 / (1 + 0.5 * 7 / 8))
    assert np.allclose(skewed.skill.sum(axis=1), 1)
    with pytest.raises(BadSetting, match="learning = -1: expected 0 or more"):
        Ethical(THETA, SIGHT, rng(), learning=-1)


VISITS_LABELS = ("a", "b")


class Counter:
    """A client with three training pairs and some pages, that notes what is asked of it."""

    def __init__(self, pages: int, *, blocks_after: int = 99) -> None:
        self.asked: list[str] = []
        self.pages = pages
        self.blocks_after = blocks_after
        self.trained = 0
        self.worked = 0

    def arrive(self, key: str) -> Stage:
        self.asked.append(f"arrive {key}")
        return "training"

    def sheet(self, key: str) -> Sheet | None:
        if self.trained < 3:
            return Sheet("training", ("pair",), VISITS_LABELS)
        if self.worked == self.pages:
            return None
        return Sheet("work", ("one", "two"), VISITS_LABELS)

    def submit(self, key: str, sheet: Sheet, labels: Sequence[str]) -> SheetOutcome:
        assert len(labels) == len(sheet.rows)
        self.asked.append(sheet.kind)
        if sheet.kind == "training":
            self.trained += 1
            return SheetOutcome("working" if self.trained == 3 else "training")
        self.worked += 1
        return SheetOutcome("blocked" if self.worked == self.blocks_after else "working")

    def leave(self, key: str) -> None:
        self.asked.append("leave")


def clicker(**patience: float) -> SimulatedJudge:
    return SimulatedJudge(Clicker(np.random.default_rng(0)), Patience(**patience))


@pytest.mark.parametrize(
    ("patience", "client", "expected"),
    [
        ({}, Counter(2), ["training"] * 3 + ["work"] * 2 + ["leave"]),
        ({"training": 0}, Counter(2), ["leave"]),
        ({"training": 1}, Counter(2), ["training", "leave"]),
        ({"pages": 1}, Counter(2), ["training"] * 3 + ["work", "leave"]),
        ({}, Counter(9, blocks_after=2), ["training"] * 3 + ["work"] * 2),
    ],
)
def test_a_visit_ends_when_it_should(
    patience: dict[str, float], client: Counter, expected: list[str]
) -> None:
    stages = list(visit(clicker(**patience), client, "me"))
    assert client.asked == ["arrive me", *expected]
    assert len(stages) == len([word for word in expected if word != "leave"])
