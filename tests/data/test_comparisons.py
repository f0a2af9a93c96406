"""Comparisons: built from tables of any library, joined and selected."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import Comparisons
from adjudge.data.comparisons import OUTCOMES
from adjudge.errors import BadData, BadSetting, ReadingWarning

ROWS = {
    "left": ["a", "b", "a", "c"],
    "right": ["b", "c", "c", "a"],
    "judge": ["ann", "ann", "bob", "bob"],
    "label": ["left", "tie", "c", "cannot say"],
}


@pytest.mark.parametrize("library", [pa.table, pd.DataFrame, pl.DataFrame])
def test_from_the_table_of_any_library(library) -> None:
    found = Comparisons.from_table(library(ROWS))
    assert found.items.to_pylist() == ["a", "b", "c"]
    assert found.left.tolist() == [0, 1, 0, 2]
    assert found.right.tolist() == [1, 2, 2, 0]
    assert [OUTCOMES[code] for code in found.outcome] == ["left", "tie", "right", "cannot say"]
    assert found.outcome_counts == {"left": 1, "right": 1, "tie": 1, "cannot say": 1}
    assert found.counts_per_judge.tolist() == [2, 2]
    assert found.counts_per_item.tolist() == [3, 2, 3]
    assert repr(found) == "Comparisons(4 comparisons, 3 items, 2 judges)"


def test_a_winner_and_a_loser_do_not_say_who_stood_where() -> None:
    found = Comparisons.from_table({"winner": ["a", "b"], "loser": ["b", "c"]}, judge="me")
    assert found.outcome.tolist() == [0, 0]
    assert found.judges.to_pylist() == ["me"]
    assert found.shown_first.tolist() == [-1, -1]


WORDS = [
    *((word, 0) for word in ("A", "model_a", "Left", "[[A]]", "1", "a")),
    ("[[C]]", 2),
    *((word, 2) for word in ("tie (bothbad)", "Draw", "both", "neither")),
]


@pytest.mark.parametrize(("word", "outcome"), WORDS)
def test_words_for_an_outcome(word: str, outcome: int) -> None:
    table = {"model_a": ["a"], "model_b": ["b"], "winner": [word]}
    assert Comparisons.from_table(table).outcome.tolist() == [outcome]


def test_who_was_shown_first_is_a_side_or_an_item() -> None:
    table = ROWS | {"first": ["left", "c", "c", ""]}
    assert Comparisons.from_table(table).shown_first.tolist() == [0, 1, 1, -1]


@pytest.mark.parametrize(
    ("change", "place", "code"),
    [
        ({"right": ["b", "b", "c", "a"]}, "row 2, column right", "bad-id"),
        ({"label": ["left", "tie", "d", "left"]}, "row 3, column label", "bad-outcome"),
        ({"label": ["left", "", "a", "left"]}, "row 2, column label", "bad-outcome"),
        ({"left": ["a", " ", "a", "c"]}, "row 2, column left", "bad-id"),
        ({"judge": ["ann", "", "bob", "bob"]}, "row 2, column judge", "bad-id"),
        (
            {"left": ["right", "b", "a", "c"], "label": ["right", "left", "a", "left"]},
            "row 1",
            "bad-outcome",
        ),
    ],
)
def test_a_bad_row_is_named_or_skipped(change: dict, place: str, code: str) -> None:
    with pytest.raises(BadData) as caught:
        Comparisons.from_table(ROWS | change)
    assert caught.value.place.startswith(f"table, {place}")
    assert caught.value.code == code
    with pytest.warns(ReadingWarning, match=f"1 bad row left out, at table, {place}"):
        assert len(Comparisons.from_table(ROWS | change, skip_bad=True)) == 3


@pytest.mark.parametrize(
    ("table", "column", "code"),
    [
        ({"left": ["a"], "label": ["left"]}, "right", "missing-column"),
        ({"left": ["a"], "right": ["b"]}, "label", "missing-column"),
        ({"left": [], "right": [], "label": []}, None, "bad-data"),
    ],
)
def test_a_table_without_comparisons_is_refused(table: dict, column: str, code: str) -> None:
    with pytest.raises(BadData) as caught:
        Comparisons.from_table(table)
    assert (caught.value.column, caught.value.code) == (column, code)


def test_joined_by_name() -> None:
    one = Comparisons.from_table(ROWS)
    two = Comparisons.from_table({"left": ["d"], "right": ["b"], "label": ["d"]}, judge="bob")
    both = Comparisons.join([one, two])
    assert both.items.to_pylist() == ["a", "b", "c", "d"]
    assert both.judges.to_pylist() == ["ann", "bob"]
    assert (both.left[-1], both.right[-1], both.judge[-1]) == (3, 1, 1)
    assert len(both.select(both.judge == 1)) == 3
    with pytest.raises(BadSetting):
        Comparisons.join([])


def test_families_by_a_rule() -> None:
    found = Comparisons.from_table(ROWS).with_family_rule("^(.)")
    assert found.family is not None
    assert found.family.tolist() == [0, 1]
    with pytest.raises(BadSetting, match="a pattern found in the name of a judge, such as 'ann'"):
        found.with_family_rule("zzz")


def test_as_judgments_pairs_are_items_whichever_side_they_were_on() -> None:
    table = {"left": ["a", "b"], "right": ["b", "a"], "judge": ["x", "y"], "label": ["a", "a"]}
    found = Comparisons.from_table(table).as_judgments()
    assert found.item_count == 1
    assert found.label.tolist() == [0, 0]


OUTCOME = st.sampled_from(OUTCOMES)
PAIRS = st.lists(
    st.tuples(
        st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda pair: pair[0] != pair[1]),
        st.sampled_from(["ann", "bob"]),
        OUTCOME,
    ),
    min_size=1,
)


@given(PAIRS)
def test_a_table_and_back(rows) -> None:
    table = {
        "left": [f"i{pair[0]}" for pair, _, _ in rows],
        "right": [f"i{pair[1]}" for pair, _, _ in rows],
        "judge": [judge for _, judge, _ in rows],
        "label": [outcome for _, _, outcome in rows],
    }
    found = Comparisons.from_table(table)
    assert found.to_table().to_pydict() == table
    judgments = found.as_judgments()
    assert len(judgments) == np.count_nonzero(found.outcome != 3)
