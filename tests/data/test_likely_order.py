"""Labels whose words have an order: reported, and never assumed."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge import Judgments
from adjudge.data.formats import read
from adjudge.data.labels import likely_order
from adjudge.errors import ReadingWarning


@pytest.mark.parametrize(
    "expected",
    [
        "Not relevant<Partially relevant<Relevant",
        "Irrelevant<Marginally relevant<Fairly relevant<Highly relevant",
        "not_relevant<partially_relevant<highly_relevant",
        "bad<fair<good<excellent<perfect",
        "low<medium<high",
        "none<minor<moderate<major<critical",
        "Strongly disagree<Disagree<Neither agree nor disagree<Agree<Strongly agree",
        "negative<neutral<positive",
        "No<Partly<Yes",
        "never<sometimes<often<always",
        "irrelevant<complement<substitute<exact",
        "1 - not at all<2 - a little<3 - very much",
        "1 star<2 stars<3 stars<4 stars",
    ],
)
def test_words_with_an_order(expected: str) -> None:
    order = tuple(expected.split("<"))
    assert likely_order(sorted(order)) == order
    assert likely_order(order[::-1]) == order


@pytest.mark.parametrize(
    "labels",
    [
        ("cat", "dog", "none"),
        ("no", "yes"),  # two need none
        ("bad", "fair", "good", "cannot say"),
        ("fair", "average", "good"),  # which of two is higher is not known
        ("relevant", "spam", "not relevant"),
        ("news", "sports", "high"),
        ("1 news", "5 sports", "7 art"),
        ("", " ", "-"),
    ],
)
def test_words_without(labels: tuple[str, ...]) -> None:
    assert likely_order(labels) == ()


WORDS = ("Relevant", "Not relevant", "Partially relevant")
TEXT = "item,judge,label\n" + "".join(
    f"i{item},j{judge},{WORDS[(item + judge) % 3]}\n" for item in range(4) for judge in range(3)
)
HINT = "column label: these labels look ordered and are taken without an order"


def test_a_reader_reports_a_likely_order_and_does_not_assume_it(tmp_path: Path) -> None:
    path = tmp_path / "judgments.csv"
    path.write_text(TEXT)
    content = read(path)
    assert content.notes == (HINT,)
    assert content.judgments is not None
    assert not content.judgments.scale.ordinal
    with pytest.warns(ReadingWarning, match="scale=Scale.parse") as warned:
        Judgments.read(path)
    order = "scale=Scale.parse('Not relevant<Partially relevant<Relevant')"
    assert str(warned[0].message).endswith(f"{order} names the scale")


def test_files_taken_together_have_one_order(tmp_path: Path) -> None:
    for name, labels in (("a", WORDS[:2]), ("b", WORDS)):
        rows = [f"{name}{n},j{j},{labels[n % len(labels)]}" for n in range(6) for j in range(2)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["item,judge,label", *rows]) + "\n")
    content = read([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert [note for note in content.notes if "order" in note] == [HINT]
