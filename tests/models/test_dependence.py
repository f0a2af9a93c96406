"""The effective number of judges who err together: formulas by hand, simulated and real panels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import DawidSkene, Gold, Judgments
from adjudge.collect.rules.adaptive import Knowledge, order_of, read_knowledge
from adjudge.data.consensus import Families
from adjudge.data.formats import read
from adjudge.evaluation.diagnosis.diagnose import _count_votes, _list_items
from adjudge.evaluation.diagnosis.next_judges import suggest_judges
from adjudge.evaluation.stopping import Stopping
from adjudge.models.dependence import (
    count_effective,
    count_further,
    measure_dependence,
)
from adjudge.models.item_types import ItemTypes
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
    assert count_further(np.arange(9), 0.0) == pytest.approx(np.ones(9))


@given(st.integers(0, 200), st.floats(0, 1))
def test_more_never_counts_for_less_and_never_for_more_than_it_is(count: int, rho: float) -> None:
    further = float(count_further(np.array(count), rho))
    assert -1e-9 <= further <= 1 + 1e-9
    assert float(count_effective(np.array(count), rho)) <= count + 1e-9


def known_of(judgments: Judgments, truth: np.ndarray) -> np.ndarray:  # (item,)
    """The gold label of each item of ``panel``, by its name."""
    place = [int(name[1:]) for name in judgments.items.to_pylist()]
    return truth[place].astype(np.int16)


def shared_errors(seed: int = 1) -> tuple[Judgments, np.ndarray]:
    """A panel whose judges share some errors, and its gold."""
    truth = np.random.default_rng(seed).integers(0, 2, size=400)  # as ``panel`` draws it first
    judgments = panel(together=0.25, seed=seed)
    return judgments, known_of(judgments, truth)


def kish(judgments: Judgments, known: np.ndarray) -> float:
    """J^2 / sum of r_jk, by the matrix of correlations of a complete panel."""
    wrong = np.empty((judgments.item_count, judgments.judge_count))
    wrong[judgments.item, judgments.judge] = judgments.label != known[judgments.item]
    kept = wrong[known >= 0]
    return float(judgments.judge_count**2 / np.corrcoef(kept.T).sum())


def test_on_gold_it_is_kishs_number() -> None:
    judgments, known = shared_errors()
    found = measure_dependence(judgments, known, Families.none(12))
    assert found is not None
    assert found.gold_items == 400
    expected = kish(judgments, known)
    assert count_effective(np.array(12), found.correlation) == pytest.approx(expected, rel=0.02)
    assert found.low < found.correlation < found.high < found.low + 0.2
    few, many = found.range_of(expected)
    assert few < expected < many


def test_a_negative_correlation_counts_as_none() -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 300)
    right = np.tile([True, True, False], (300, 1))
    right = rng.permuted(right, axis=1)  # one of three errs on every item: r = -1/2
    item, judge = np.indices(right.shape)
    label = np.where(right, truth[:, None], 1 - truth[:, None])
    rows = {"item": [f"i{n}" for n in item.ravel()], "judge": judge.ravel(), "label": label.ravel()}
    judgments = Judgments.from_table(rows)
    found = measure_dependence(judgments, known_of(judgments, truth), Families.none(3))
    assert found is not None
    assert found.correlation == found.low == 0.0
    assert found.gold_items == 300


def test_a_copy_in_a_family_changes_nothing() -> None:
    judgments, known = shared_errors()
    table = judgments.to_table().select(["item", "judge", "label"])
    rows = table.filter(pc.equal(table["judge"], "j0"))
    copy = rows.set_column(1, "judge", pa.array(["copy"] * len(rows), pa.large_string()))
    more = Judgments.from_table(pa.concat_tables([table, copy.cast(table.schema)]))
    family = np.arange(13, dtype=np.int32)
    names = more.judges.to_pylist()
    family[names.index("copy")] = family[names.index("j0")]
    kin = replace(Families.none(13), family=family)
    for gold in (None, known):
        alone = measure_dependence(judgments, gold, Families.none(12))
        both = measure_dependence(more, gold, kin)
        plain = measure_dependence(more, gold, Families.none(13))
        assert both.correlation == pytest.approx(alone.correlation, rel=1e-3)
        assert plain.correlation > 1.01 * alone.correlation


def test_without_gold_it_is_estimated_from_agreement() -> None:
    """Three judges, three labels: 5 of 9 pairs agree, so S = (5/9 - 1/3) / (2/3) = 1/3."""
    given_ = [(0, 0, 0), (1, 1, 2), (2, 2, 0)]
    rows = {
        "item": [f"i{n}" for n in range(3) for _ in range(3)],
        "judge": ["a", "b", "c"] * 3,
        "label": [label for labels in given_ for label in labels],
    }
    found = measure_dependence(Judgments.from_table(rows), None, Families.none(3))
    assert found is not None
    ends = [(odds / (1 + odds)) for odds in (1 / 3, 1 / 9, 1)]
    assert [found.correlation, found.low, found.high] == pytest.approx(ends)
    assert found.gold_items == 0
    alone = Judgments.from_table({"item": ["x", "y"], "judge": ["a", "b"], "label": [0, 1]})
    assert measure_dependence(alone, None, Families.none(2)) is None


def test_no_order_changes_a_bit() -> None:
    judgments, known = shared_errors()
    table = judgments.to_table().select(["item", "judge", "label"])
    order = np.random.default_rng(2).permutation(len(table))
    mixed = Judgments.from_table(table.take(order))
    place = [int(name[1:]) for name in judgments.items.to_pylist()]
    truth = known[np.argsort(place)]
    for gold, same in ((None, None), (known, known_of(mixed, truth))):
        first = measure_dependence(judgments, gold, Families.none(12))
        assert measure_dependence(mixed, same, Families.none(12)) == first


def test_a_fit_has_one_number_and_predict_keeps_it() -> None:
    judgments, known = shared_errors()
    names = judgments.items.to_pylist()
    gold = Gold.of({name: int(label) for name, label in zip(names[:60], known, strict=False)})
    fit = ItemTypes().fit(judgments, gold)
    assert fit.dependence is not None
    assert fit.dependence.gold_items == 60
    assert fit.effective == pytest.approx(count_effective(np.full(400, 12), fit.correlation))
    again = fit.predict(judgments)
    assert again.dependence == fit.dependence
    assert again.effective.tolist() == fit.effective.tolist()
    assert fit.effective[0] < 6


@pytest.mark.parametrize(
    "name", ["10k_prompts", "cebab_stars", "lgbteen", "llmjudge", "mtbench", "summeval"]
)
def test_fifty_gold_items_measure_a_real_panel(shared_data: Path, name: str) -> None:
    """Within 1.5 times of Kish's number on the other gold items; without gold, within twice."""
    content = read(shared_data / "panels" / f"{name}.csv")
    judgments = content.judgments
    known = content.gold.align(judgments)
    none, judges = Families.none(judgments.judge_count), np.array(judgments.judge_count)
    hits = []
    for seed in range(10):
        drawn = np.random.default_rng(seed).permutation(np.flatnonzero(known >= 0))
        some, rest = np.full_like(known, -1), known.copy()
        some[drawn[:50]] = known[drawn[:50]]
        rest[drawn[:50]] = -1
        found = measure_dependence(judgments, some, none)
        assert found.gold_items == 50
        expected = kish(judgments, rest)
        ratio = count_effective(judges, found.correlation) / expected
        hits.append(1 / 1.5 < ratio < 1.5)
    assert sum(hits) >= 9
    blind = measure_dependence(judgments, None, none)
    assert 0.5 < count_effective(judges, blind.correlation) / expected < 2
    measured = measure_dependence(judgments, known, none)
    assert blind.low < measured.correlation < blind.high


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


def test_independent_judges_are_worth_more_than_as_many_who_err_together() -> None:
    judgments = panel(together=0.25)
    fit = ItemTypes().fit(judgments)
    made = plan(fit, model=DawidSkene(), accuracy=0.99, items=300, most=4, runs=2)
    rows = made.table.to_pylist()
    assert rows[0]["n_eff"] == 1.0
    assert rows[-1]["n_eff"] == pytest.approx(
        float(count_effective(np.array(rows[-1]["per_item"]), fit.correlation))
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
