"""Things counted in messages."""

from __future__ import annotations

import pytest

from adjudge.data.source import count_of


@pytest.mark.parametrize(
    ("number", "what", "wanted"),
    [
        (0, "judge", "0 judges"),
        (1, "judge", "1 judge"),
        (2418, "judge", "2,418 judges"),
        (1, "person", "1 person"),
        (3, "person", "3 people"),
    ],
)
def test_so_many_of_something(number: int, what: str, wanted: str) -> None:
    assert count_of(number, what) == wanted


def test_a_sentence_goes_on_as_its_number_wants() -> None:
    assert count_of(1, "item", "is", "are") == "1 item is"
    assert count_of(2, "item", "is", "are") == "2 items are"
