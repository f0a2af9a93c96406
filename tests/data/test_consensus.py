from __future__ import annotations

import numpy as np
import pytest

from adjudge import DawidSkene, Gold, ItemTypes, Judgments, MajorityVote
from adjudge.data.judges import information
from adjudge.evaluation.diagnosis.diagnose import diagnose


@pytest.fixture
def table() -> Judgments:
    return Judgments.from_table(
        {
            "topic": ["q", "q", "q", "q", "r", "r"],
            "document": ["a", "a", "b", "b", "a", "c"],
            "judge": ["x", "y", "x", "y", "x", "y"],
            "label": [1, 1, 0, 1, 1, 0],
        }
    )


def test_labels_have_the_columns_of_a_consensus_table(table: Judgments) -> None:
    labels = MajorityVote(ties="higher").fit(table).labels
    assert labels.column_names == [
        *("item", "topic", "document", "label", "probability", "p_0", "p_1"),
        *("judgments", "entropy", "rank", "fallback"),
    ]
    row = ["q/b", "q", "b", 1, 0.5, 0.5, 0.5, 2, 1.0, 2, False]
    assert list(labels.to_pylist()[1].values()) == row
    assert labels["rank"].to_pylist() == [1, 2, 1, 2]


def test_ranks_are_shared_by_equal_scores_and_restart_in_each_topic() -> None:
    rows = {
        "topic": ["t"] * 5 + ["u"] * 2,
        "document": list("abcdefg"),
        "judge": ["x"] * 7,
        "label": [1, 0, 1, 0, 1, 0, 0],
    }
    assert MajorityVote().fit(Judgments.from_table(rows)).rank.tolist() == [1, 4, 1, 4, 1, 1, 1]


def test_graded_items_are_ranked_by_their_expected_grade() -> None:
    rows = {"item": ["a", "a", "b", "c"], "judge": ["x", "y", "x", "x"], "label": [0, 4, 1, 3]}
    consensus = MajorityVote().fit(Judgments.from_table(rows))
    assert consensus.score.tolist() == [2.0, 1.0, 3.0]
    assert consensus.rank.tolist() == [2, 3, 1]


def test_judges_by_hand(table: Judgments) -> None:
    # votes: q/a 1; q/b 1/2 each; r/a 1; r/c 0. x: (q/a,1) (q/b,0) (r/a,1): 2.5 of 3 right.
    row = MajorityVote().fit(table).judges.to_pylist()[0]
    assert row["judge"] == "x"
    assert row["judgments"] == 3
    assert row["accuracy"] == pytest.approx(2.5 / 3)
    assert row["sensitivity"] == pytest.approx(2 / 2.5)
    assert row["specificity"] == pytest.approx(1.0)
    assert row["accuracy_low"] < row["accuracy"] < row["accuracy_high"]


def test_bits_are_those_of_mutual_information() -> None:
    # A judge always right about two even truths gives 1 bit; one who ignores the truth gives 0.
    sure = np.array([[[1e6, 0.0], [0.0, 1e6]]])
    blind = np.array([[[7e5, 3e5], [7e5, 3e5]]])
    even = np.array([0.5, 0.5])
    assert information(sure, even)[0] == pytest.approx(1, abs=1e-3)
    assert information(blind, even)[0] == pytest.approx(0, abs=1e-9)
    # 90% right on both sides: 1 - H(0.9) = 0.531 bits.
    good = np.array([[[9e6, 1e6], [1e6, 9e6]]])
    assert information(good, even)[0] == pytest.approx(0.531, abs=1e-3)
    # An always-wrong judge is as informative as an always-right one.
    assert information(sure[:, ::-1], even)[0] == pytest.approx(1, abs=1e-3)


def test_a_judge_without_judgments_has_no_rates(table: Judgments) -> None:
    silent = table.select(judgments=table.judge == 0, keep_empty=True)
    row = DawidSkene().fit(silent).judges.to_pylist()[1]
    assert row["judgments"] == 0
    assert row["accuracy"] is None
    assert row["sensitivity_low"] is None


@pytest.mark.parametrize("model", [DawidSkene(), ItemTypes(), MajorityVote()])
def test_judgments_without_other_judges_are_no_evidence(model) -> None:
    """Of 200 judgments ten are on items that others judged: intervals are those of ten.

    Nobody judged the items of a third judge: no accuracy is shown.
    """
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 200)
    rows = {
        "item": [f"i{n:03}" for n in (*range(200), *range(10), *range(200, 240))],
        "judge": ["ann"] * 200 + ["ben"] * 10 + ["cat"] * 40,
        "label": [*label.tolist(), *label[:10].tolist(), *rng.integers(0, 2, 40).tolist()],
    }
    table = Judgments.from_table(rows)
    consensus = model.fit(table)
    assert consensus.evidence.sum(axis=(1, 2)) == pytest.approx([10, 10, 0])
    ann, _, cat = consensus.judges.to_pylist()
    compared = model.fit(table.select(items=table.counts_per_item == 2)).judges.to_pylist()[0]
    for end in ("low", "high"):
        assert ann[f"accuracy_{end}"] == pytest.approx(compared[f"accuracy_{end}"], abs=0.06)
    assert [cat[name] for name in ("accuracy", "accuracy_low", "accuracy_high")] == [None] * 3
    card = diagnose(consensus).judges.to_pylist()
    alone = "40 judgments, none of them on items that others judged: too few to say"
    assert (card[2]["advice"], card[2]["why"]) == ("watch", alone)
    # gold is something to hold them against
    gold = Gold.of({f"i{n:03}": int(label[n]) for n in range(100, 150)})
    with_gold = model.fit(table, gold)
    assert with_gold.evidence.sum(axis=(1, 2)) == pytest.approx([60, 10, 0])
    measured = with_gold.judges.to_pylist()[0]
    assert measured["accuracy_low"] > ann["accuracy_low"] + 0.2  # right on all 50
    # copies of one source count as one judge
    declared = table.with_families(["one", "one", "cat"])
    assert model.fit(declared).evidence.sum() == pytest.approx(0)
