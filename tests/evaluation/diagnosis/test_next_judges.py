"""Items: votes and disagreement by hand, gain and suggestions against plain loops."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge import Consensus, Gold, HybridConfusion, Judgments, MajorityVote, Scale
from adjudge.data.formats import read
from adjudge.evaluation.diagnosis.diagnose import _count_votes, _list_items, diagnose
from adjudge.evaluation.diagnosis.next_judges import find_few_judges, suggest_judges
from adjudge.evaluation.stopping import gain_of
from adjudge.simulation import demo


def of_rows(*rows: tuple[str, str, str]) -> Judgments:
    items, judges, labels = zip(*rows, strict=True)
    table = pa.table({"item": list(items), "judge": list(judges), "label": list(labels)})
    return Judgments.from_table(table, scale=Scale.parse("0<1<2"))


def plain_gain(belief: list[float], confusion: np.ndarray) -> float:
    """Doubt now, less the doubt expected after each label that may come, by Bayes' rule."""

    def bits(shares: list[float]) -> float:
        return -sum(p * math.log2(p) for p in shares if p > 0)

    truths, labels = confusion.shape
    left = 0.0
    for label in range(labels):
        joint = [belief[k] * confusion[k, label] for k in range(truths)]
        if sum(joint) > 0:
            left += sum(joint) * bits([p / sum(joint) for p in joint])
    return bits(belief) - left


def test_votes_and_disagreement_by_hand() -> None:
    given_ = of_rows(
        ("a", "x", "0"), ("a", "y", "0"), ("a", "z", "1"),  # two of three pairs differ
        ("b", "x", "2"),
        ("c", "x", "1"), ("c", "y", "2"),
    )  # fmt: skip
    consensus = MajorityVote(ties="higher").fit(given_, Gold.of({"b": 0, "d": 1}))
    table = _list_items(consensus, _count_votes(consensus.judgments)).to_pydict()
    assert _count_votes(given_).tolist() == [[2, 1, 0], [0, 0, 1], [0, 1, 1]]
    assert table["item"] == ["a", "b", "c", "d"]
    assert table["label"] == ["0", "0", "2", "1"]
    assert table["disagreement"] == [pytest.approx(2 / 3), None, 1.0, None]
    # The vote of c is a tie: the consensus is one of the two, so it does not differ.
    assert table["vote"] == ["0", "2", "2", None]
    assert table["vote_share"] == [pytest.approx(2 / 3), 1.0, 0.5, None]
    assert table["differs"] == [False, True, False, False]
    assert table["gain"][1] == table["gain"][3] == 0.0  # gold has nothing to gain
    assert table["gain_rank"] == [2, 3, 1, 3]


@given(
    st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=6),
    st.lists(st.lists(st.floats(0.001, 1), min_size=4, max_size=4), min_size=3, max_size=3),
)
@settings(deadline=None)
def test_gain_is_the_doubt_that_bayes_rule_takes_away(
    beliefs: list[list[float]], rows: list[list[float]]
) -> None:
    posterior = np.array(beliefs) + 1e-6
    posterior /= posterior.sum(axis=1, keepdims=True)
    confusion = np.array(rows) / np.sum(rows, axis=1, keepdims=True)
    expected = [plain_gain(belief.tolist(), confusion) for belief in posterior]
    assert gain_of(posterior, confusion) == pytest.approx(expected, abs=1e-9)


@pytest.fixture(scope="module")
def fitted() -> Consensus:
    return HybridConfusion(method="em").fit(demo().judgments)


def test_suggested_judges_are_the_best_who_have_not_judged(fitted: Consensus) -> None:
    given_ = fitted.judgments
    among = np.arange(given_.judge_count) % 3 > 0
    items = np.array([7, 0, 399])
    found, bits = suggest_judges(fitted, items, among=among, count=4)
    for row, item in enumerate(items):
        judged = set(given_.judge[given_.offsets[item] : given_.offsets[item + 1]].tolist())
        able = [j for j in range(given_.judge_count) if among[j] and j not in judged]
        gain = {j: plain_gain(fitted.posterior[item].tolist(), fitted.confusion[j]) for j in able}
        best = sorted(able, key=lambda j: -gain[j])[:4]
        assert found[row].tolist() == best
        assert bits[row] == pytest.approx([gain[j] for j in best], abs=1e-9)


def test_no_judge_left_to_suggest(fitted: Consensus) -> None:
    nobody = np.zeros(fitted.judgments.judge_count, dtype=np.bool_)
    found, bits = suggest_judges(fitted, np.array([3]), among=nobody, count=2)
    assert found.tolist() == [[-1, -1]]
    assert np.isnan(bits).all()
    two = of_rows(("a", "x", "0"), ("a", "y", "1"), ("b", "x", "2"))
    consensus = HybridConfusion(method="em").fit(two)
    found, bits = suggest_judges(consensus, np.array([0, 1]), count=3)
    assert found.tolist() == [[-1, -1, -1], [1, -1, -1]]
    assert np.isnan(bits).tolist() == [[True] * 3, [False, True, True]]


def panel(accuracies: list[float], *, items: int = 300, share: float = 1.0, seed: int = 0):
    """Independent judges of these accuracies, each on a share of the items; and gold."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, items)
    shape = (items, len(accuracies))
    other = (truth[:, None] + rng.integers(1, 3, shape)) % 3
    label = np.where(rng.random(shape) < np.array(accuracies), truth[:, None], other)
    item, judge = np.nonzero(rng.random(shape) < share)
    rows = {"item": item, "judge": judge, "label": label[item, judge]}
    judgments = Judgments.from_table(rows)
    place = [int(name) for name in judgments.items.to_pylist()]
    return judgments, truth[place].astype(np.int16)


def test_good_judges_are_found() -> None:
    judgments, known = panel([0.4, 0.95, 0.34, 0.4, 0.95, 0.34, 0.95, 0.34, 0.4, 0.34])
    found = find_few_judges(judgments, known)
    assert found is not None
    assert set(found.judges) <= {"1", "4", "6"}
    assert (found.of, found.items) == (10, 300)
    assert found.accuracy >= found.accuracy_all - 0.02
    assert found.log_loss <= found.log_loss_all + 0.02
    assert all(name in str(found) for name in found.judges)
    assert find_few_judges(judgments, known) == found


def test_equal_independent_judges_are_all_needed() -> None:
    judgments, known = panel([0.6] * 8, items=1000)
    assert find_few_judges(judgments, known) is None


def test_nothing_is_said_of_crowds_nor_without_gold() -> None:
    judgments, known = panel([0.9] * 12, share=0.3)
    assert find_few_judges(judgments, known) is None
    judgments, known = panel([0.95, 0.34, 0.34, 0.34])
    assert find_few_judges(judgments, known) is not None
    known[49:] = -1
    assert find_few_judges(judgments, known) is None
    assert find_few_judges(judgments, None) is None
    assert diagnose(MajorityVote().fit(judgments), pairs=False).few is None


def test_a_few_of_33_carry_llmjudge(shared_data: Path) -> None:
    content = read(shared_data / "panels" / "llmjudge.csv")
    found = find_few_judges(content.judgments, content.gold.align(content.judgments))
    assert found is not None
    assert len(found.judges) <= 6
    assert found.log_loss < found.log_loss_all + 0.03
