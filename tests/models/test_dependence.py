"""What judgments count for where judges err together: formulas by hand, and made panels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import DawidSkene, Judgments
from adjudge.collect.rules.adaptive import Knowledge, accuracy_by_count, order_of, read_knowledge
from adjudge.data.consensus import Families
from adjudge.evaluation.diagnosis.diagnose import _count_votes, _list_items
from adjudge.evaluation.diagnosis.next_judges import suggest_judges
from adjudge.evaluation.stopping import Stopping
from adjudge.models.dependence import count_effective, count_further, weaken, working_correlation
from adjudge.models.item_types import ItemTypes
from adjudge.simulation import demo
from adjudge.simulation.planning import plan


def panel(*, together: float, seed: int = 1, items: int = 400, judges: int = 12) -> Judgments:
    """Judges right in 85%; of some items all see the same wrong cue, and mostly follow it."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, size=items)
    cue = np.where(rng.random(items) < together, 1 - truth, truth)
    given_ = np.where(rng.random((items, judges)) < 0.85, cue[:, None], 1 - cue[:, None])
    item, judge = np.indices(given_.shape)
    table = {
        "item": [f"i{n}" for n in item.ravel()],
        "judge": [f"j{n}" for n in judge.ravel()],
        "label": [str(n) for n in given_.ravel()],
    }
    return Judgments.from_table(pa.table(table))


def test_numbers_by_hand() -> None:
    assert count_effective(np.array([0, 1, 2, 5]), 0.25) == pytest.approx([0, 1, 1.6, 2.5])
    assert count_further(np.array([0, 1]), 0.25) == pytest.approx([1, 0.6])
    assert weaken(np.array([0, 1, 5]), 0.25) == pytest.approx([1, 1, 0.5])
    assert count_further(np.arange(9), 0.0) == pytest.approx(np.ones(9))


@given(st.integers(0, 200), st.floats(0, 1))
def test_more_never_counts_for_less_and_never_for_more_than_it_is(count: int, rho: float) -> None:
    further = float(count_further(np.array(count), rho))
    assert -1e-9 <= further <= 1 + 1e-9
    assert float(count_effective(np.array(count), rho)) <= count + 1e-9


def test_a_fit_that_takes_judges_for_independent_has_no_correlation() -> None:
    assert working_correlation(DawidSkene().fit(demo().judgments)) == 0.0


def test_what_is_believed_between_fits_is_as_sure_as_the_fit() -> None:
    """A plain product of confusions is much surer than the fit, which knows of dependence."""
    judgments = panel(together=0.25)
    fit = ItemTypes().fit(judgments)
    ids = np.arange(judgments.judge_count)
    knowledge = read_knowledge(fit, ids)
    assert knowledge.correlation > 0
    again = Knowledge.from_json(knowledge.to_json())
    assert again.correlation == knowledge.correlation
    sure = float(fit.probability.mean())
    rows = (judgments.item_count, judgments.item, judgments.judge, judgments.label)
    found = knowledge.posterior_of(*rows).max(axis=1).mean()
    stored = {**knowledge.to_json(), "correlation": 0.0}
    plain = Knowledge.from_json(stored).posterior_of(*rows).max(axis=1).mean()
    assert abs(found - sure) < 0.5 * abs(plain - sure)


def test_made_judges_are_more_than_as_many_who_err_together() -> None:
    judgments = panel(together=0.25)
    fit = ItemTypes().fit(judgments)
    knowledge = read_knowledge(fit, np.arange(judgments.judge_count))
    alone = Knowledge.from_json({**knowledge.to_json(), "correlation": 0.0})
    with_, without = (accuracy_by_count(k, knowledge.confusion, 9) for k in (knowledge, alone))
    assert with_[:2] == pytest.approx(without[:2])
    assert with_[9] < without[9]
    made = plan(fit, model=DawidSkene(), accuracy=0.99, items=300, most=4, runs=2)
    rows = made.table.to_pylist()
    assert rows[0]["n_eff"] == 1.0
    assert rows[-1]["n_eff"] == pytest.approx(
        float(count_effective(np.array(rows[-1]["per_item"]), working_correlation(fit)))
    )
    assert "err together" in made.notes[-1]


def test_of_two_items_in_equal_doubt_the_one_with_fewer_judgments_comes_first() -> None:
    posterior, confusion = np.full((2, 2), 0.5), np.array([[0.8, 0.2], [0.2, 0.8]])
    rule = Stopping(least=1, most=20, sure=0.99)
    trusted = np.array([12, 3])
    assert order_of(rule, trusted, posterior, confusion).tolist() == [0, 1]
    assert order_of(rule, trusted, posterior, confusion, 0.2).tolist() == [1, 0]


def test_gain_is_scaled_and_a_copy_is_not_suggested() -> None:
    judgments = panel(together=0.25)
    part = judgments.select(judgments=(judgments.item % 3 > 0) | (judgments.judge < 3))
    fit = ItemTypes().fit(part)
    table = _list_items(fit, _count_votes(part))
    assert table["n_eff"].to_pylist() == fit.effective.tolist()
    assert max(table["gain"].to_numpy()[part.counts_per_item == 12]) < 0.5
    family = np.arange(12, dtype=np.int32)
    family[3] = 0
    kin = replace(fit, families=replace(Families.none(12), family=family))
    few = np.flatnonzero(part.counts_per_item == 3)[:5]
    assert (suggest_judges(fit, few, count=9)[0] == 3).any(axis=1).all()
    assert not (suggest_judges(kin, few, count=9)[0] == 3).any()
