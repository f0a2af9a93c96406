"""The preset prompt: its structure, and how its answers are read."""

from __future__ import annotations

import pytest

from adjudge.collect.model_judge.prompts import PROMPTS, Question, Reply
from adjudge.errors import BadData

GRADES = ("0", "1", "2", "3")
UMBRELA = PROMPTS["umbrela"]


def test_the_structure_of_umbrela_is_there() -> None:
    question = Question(query="how tall is a {lamp}", title="Lamps", text="Two metres {high}.")
    (message,) = UMBRELA.messages(question, "unused", GRADES)
    text = message["content"]
    assert message["role"] == "user"
    places = [text.index(part) for part in (
        "0 = ", "1 = ", "2 = ", "3 = ", "Query: how tall is a {lamp}",
        "Passage: Lamps\nTwo metres {high}.", "intends", "(M)", "trustworthy", "(T)", "(O)",
        "##final score: O",
    )]  # fmt: skip
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("content", "reply"),
    [
        ("##final score: 2", Reply(label="2")),
        ("M: 2, T: 3\n##final score: 3\n", Reply(label="3", reason="M: 2, T: 3")),
        ("Reasons.\n**Final score:** 1", Reply(label="1", reason="Reasons.")),
        ("##final score: 0\n##final score: 0", Reply(label="0")),
    ],
)
def test_scores_that_are_read(content: str, reply: Reply) -> None:
    assert UMBRELA.parse(content, Question(query="q"), GRADES) == reply


@pytest.mark.parametrize(
    "content", ["3", "", "##final score: 4", "##final score: 1\n##final score: 2", "score: 2",
                "the final score: 3 would be too high"],
)  # fmt: skip
def test_scores_that_are_not(content: str) -> None:
    with pytest.raises(BadData, match="final scores"):
        UMBRELA.parse(content, Question(query="q"), GRADES)
