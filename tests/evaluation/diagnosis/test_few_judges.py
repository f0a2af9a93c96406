"""The few judges that carry a panel: found where there are some, with gold, and on panels only."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from adjudge import Judgments
from adjudge.data.formats import read
from adjudge.evaluation.diagnosis.diagnose import diagnose
from adjudge.evaluation.diagnosis.next_judges import find_few_judges
from adjudge.models.majority_vote import MajorityVote


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


def test_the_good_ones_are_found() -> None:
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
