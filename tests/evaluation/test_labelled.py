from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale
from adjudge.errors import BadData
from adjudge.evaluation._labelled import read_labels
from adjudge.models.majority_vote import MajorityVote

GRADES = Scale.parse("0<1<2")
NONE = Gold.of({})


def test_numbers_and_texts_are_one() -> None:
    for values in (["0", "2", ""], [0, 2, None], [0.0, 2.0, None]):
        found = read_labels(pa.table({"item": ["a", "b", "c"], "label": values}), GRADES, NONE)
        assert found.choice.tolist() == [0, 2, -1]
        assert found.posterior is None


def test_items_by_topic_and_document() -> None:
    table = pa.table({"topic": [20, 20], "document": ["x", "y"], "label": ["0", "1"]})
    assert read_labels(table, GRADES, NONE).items.to_pylist() == ["20/x", "20/y"]
    assert read_labels(table.drop_columns("topic"), GRADES, NONE).items.to_pylist() == ["x", "y"]


def test_probabilities_go_to_their_truth_in_any_order_of_columns() -> None:
    table = pa.table({"item": ["a"], "label": ["2"], "p_2": ["0.7"], "p_0": ["0.3"]})
    found = read_labels(table, GRADES, NONE)
    assert found.posterior is not None
    assert found.posterior.tolist() == [[0.3, 0.0, 0.7]]


def test_the_scale_is_inferred_from_labels_columns_and_gold() -> None:
    table = pa.table({"item": ["a"], "label": ["1"], "p_0": [0.2], "p_1": [0.8]})
    found = read_labels(table, None, Gold.of({"a": 3}))
    assert str(found.scale) == "0 < 1 < 3"
    assert found.scale.relevant == ("1", "3")
    plain = read_labels(pa.table({"item": ["a", "b"], "label": ["2", ""]}), None, Gold.of({"a": 0}))
    assert str(plain.scale) == "0 < 2"


def test_a_consensus_on_another_scale() -> None:
    table = pa.table({"item": ["a", "a", "b"], "judge": ["j", "k", "j"], "label": [1, 2, 0]})
    judgments = Judgments.from_table(table, scale=GRADES)
    consensus = MajorityVote(ties="lower").fit(judgments)
    found = read_labels(consensus, GRADES.with_binary_truth(), NONE)
    assert found.choice.tolist() == [1, 0]
    assert found.posterior == pytest.approx(np.array([[0, 1], [1, 0]]))
    with pytest.raises(BadData) as error:
        read_labels(consensus, Scale.parse("0<1"), NONE)
    assert error.value.value == "2"


AB = {"item": ["a", "b"], "label": ["0", "1"]}
A = {"item": ["a"], "label": ["0"]}


@pytest.mark.parametrize(
    ("columns", "row", "column"),
    [
        ({"item": ["a"], "colour": ["0"]}, None, "label"),
        ({"topic": ["a"], "label": ["0"]}, None, "item"),
        (AB | {"label": ["0", "7"]}, 2, "label"),
        (AB | {"item": ["a", "a"]}, 2, "item"),
        (AB | {"item": ["a", None]}, 2, "item"),
        (AB | {"p_0": [1.0, 0.5], "p_1": [0.0, 0.2]}, 2, "p_0, p_1"),
        (A | {"p_0": [1.5], "p_1": [-0.5]}, 1, "p_0, p_1"),
        (A | {"p_0": [None], "p_1": [1.0]}, 1, "p_0, p_1"),
        (A | {"p_0": [0.4], "p_9": [0.6]}, None, None),
        (A | {"p_0": ["much"]}, 1, "p_0"),
        (AB | {"label": ["0", ""], "p_0": ["1", "much"]}, 2, "p_0"),
        (A | {"p_0": [["1"]]}, None, "p_0"),
    ],
)
def test_bad_tables(columns: dict[str, Any], row: int | None, column: str | None) -> None:
    with pytest.raises(BadData) as error:
        read_labels(pa.table(columns), GRADES, NONE, source="out.csv")
    assert (error.value.source, error.value.row, error.value.column) == ("out.csv", row, column)


def test_a_row_without_a_label_needs_no_probabilities() -> None:
    table = pa.table({"item": ["a"], "label": [""], "p_0": [""], "p_1": [""]})
    assert read_labels(table, GRADES, NONE).choice.tolist() == [-1]
