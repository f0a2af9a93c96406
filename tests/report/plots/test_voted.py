from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from adjudge import Gold, Judgments, MajorityVote, Scale
from adjudge.report.plots.labels import _mean_estimate, estimate_both, voted_relevance
from charts import spec_with_data


def judged(labels: dict[str, str], scale: str) -> Judgments:
    """Items with a letter for each label they got, each from another judge."""
    rows = [
        {"item": item, "judge": f"j{place}", "label": label}
        for item, given in labels.items()
        for place, label in enumerate(given)
    ]
    return Judgments.from_table(pa.Table.from_pylist(rows), scale=Scale.parse(scale))


def test_binary_votes_are_shares_of_relevant() -> None:
    consensus = MajorityVote().fit(judged({"a": "110", "b": "0", "c": "1111"}, "0<1"))
    both = estimate_both(consensus)
    np.testing.assert_allclose(both.voted, [2 / 3, 0, 1])
    np.testing.assert_array_equal(both.estimated, consensus.posterior[:, 1])
    assert (both.low, both.high, both.what) == (0.0, 1.0, "relevance")


def test_grades_are_means_on_the_scale() -> None:
    consensus = MajorityVote().fit(judged({"a": "013", "b": "33"}, "0<1<3"))
    both = estimate_both(consensus)
    np.testing.assert_allclose(both.voted, [4 / 3, 3.0])
    np.testing.assert_allclose(both.estimated, consensus.posterior @ [0.0, 1.0, 3.0])
    assert (both.low, both.high, both.what) == (0.0, 3.0, "grade")


def test_of_labels_without_order_it_is_the_share_of_the_chosen_one() -> None:
    consensus = MajorityVote(ties="lower").fit(judged({"a": "xxy", "b": "zz"}, "x,y,z"))
    both = estimate_both(consensus)
    np.testing.assert_allclose(both.voted, [2 / 3, 1.0])
    np.testing.assert_array_equal(both.estimated, consensus.probability)


def test_items_whose_truth_was_given_are_left_out() -> None:
    judgments = judged({"a": "110", "b": "0"}, "0<1")
    both = estimate_both(MajorityVote().fit(judgments, Gold.of({"a": 0})))
    np.testing.assert_array_equal(both.voted, [0.0])


def test_the_line_has_the_mean_of_each_part() -> None:
    labels = {"a": "0001", "b": "0011", "c": "0111", "d": "1111"}
    consensus = MajorityVote().fit(judged(labels, "0<1"))
    both = estimate_both(consensus)
    along, mean = _mean_estimate(both, parts=2)  # below one half, and from one half on
    np.testing.assert_allclose(along, [0.25, 0.75])
    np.testing.assert_allclose(mean, [both.estimated[0], both.estimated[1:].mean()])


def test_cells_hold_every_item_once() -> None:
    consensus = MajorityVote().fit(judged({"a": "110", "b": "110", "c": "0"}, "0<1"))
    spec = spec_with_data(voted_relevance(consensus))
    cells = next(layer for layer in spec["layer"] if layer.get("name") == "cells")
    rows = cells["data"]["values"]
    assert sum(row["items"] for row in rows) == 3
    assert sorted(row["items"] for row in rows) == [1, 2]
    middle = next(row for row in rows if row["items"] == 2)
    assert middle["voted"] == pytest.approx(2 / 3, abs=0.034)
