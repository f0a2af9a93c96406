"""The pictures of a report, from small judgments whose figures are known."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from adjudge import Consensus, Judgments, MajorityVote
from adjudge.evaluation.diagnosis.diagnose import diagnose
from adjudge.report.plots.overview import (
    agreement_heatmap,
    confidence_histogram,
    measure_pairs,
    stacked_votes,
    topic_disagreement,
)
from charts import spec_with_data

ITEMS = {"a": "111", "b": "110", "c": "000", "d": "001", "e": "110", "f": "111"}


@pytest.fixture(scope="module")
def consensus() -> Consensus:
    rows = [
        {"topic": "t1" if item < "d" else "t2", "document": item, "judge": judge, "label": label}
        for item, labels in ITEMS.items()
        for judge, label in zip("xyz", labels, strict=True)
    ]
    judgments = Judgments.from_table(pa.Table.from_pylist(rows))
    return MajorityVote(weigh_copies=False).fit(judgments)


def test_labels_are_counted_by_probability(consensus: Consensus) -> None:
    spec = spec_with_data(confidence_histogram(consensus))
    counts = {row["low"]: row["labels"] for row in spec["data"]["values"] if row["labels"]}
    assert counts == {0.65: 3, 0.95: 3}
    assert spec["title"]["subtitle"] == ["50% of 6 labels are at least 90% sure, 0% less than 60%"]


def test_votes_are_shares_per_item_ordered_by_label(consensus: Consensus) -> None:
    spec = spec_with_data(stacked_votes(consensus, diagnose(consensus).votes))
    shares = [round(row["share"] * 3) for row in spec["data"]["values"] if row["label"] == "1"]
    assert shares == [0, 1, 3, 3, 2, 2]
    assert spec["title"]["subtitle"] == ["all judges agree on 50% of 6 items"]


def test_pairs_agree_on_items_that_both_judged(consensus: Consensus) -> None:
    share, common = measure_pairs(consensus, np.array([0, 1, 2]))
    assert share[0].tolist() == pytest.approx([1, 1, 3 / 6])  # x, y agree always; z on a, c, f
    assert common.tolist() == [[6] * 3] * 3
    rows = spec_with_data(agreement_heatmap(consensus))["data"]["values"]
    pairs = {frozenset((row["first"], row["second"])): row["share"] for row in rows}
    assert pairs == {frozenset("xy"): 1.0, frozenset("xz"): 0.5, frozenset("yz"): 0.5}


def test_topics_come_by_their_disagreement(consensus: Consensus) -> None:
    spec = spec_with_data(topic_disagreement(consensus, diagnose(consensus).items))
    rows = spec["layer"][0]["data"]["values"]
    assert [row["topic"] for row in rows] == ["t2", "t1"]
    assert [row["mean"] for row in rows] == pytest.approx([4 / 9, 2 / 9], abs=1e-3)
