"""From types to the answer: what types mean and the blend with the vote, by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.typing import NDArray

from adjudge import ItemTypes, Judgments
from adjudge.data.judgments import MODEL, PERSON
from adjudge.models import _types as answer
from adjudge.models._types import (
    _SHARE,
    _SHARE_MORE,
    _TYPES,
    _TYPES_KIND,
    _TYPES_LESS,
    _TYPES_MANY,
    Powers,
)
from adjudge.models.item_types import TypesMemory
from adjudge.models.model import Prepared, prepare
from real_sets import share_votes


@pytest.fixture
def table() -> Judgments:
    """Twelve judges of 40 items, four each, on three labels."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 40)
    slip = rng.random(160) < 0.3
    return Judgments.from_table(
        {
            "item": [f"i{n:02}" for n in range(40) for _ in range(4)],
            "judge": [f"j{j:02}" for _ in range(40) for j in rng.choice(12, 4, replace=False)],
            "label": np.where(slip, rng.integers(0, 3, 160), np.repeat(truth, 4)).tolist(),
        }
    )


@pytest.fixture
def prepared(table: Judgments) -> Prepared:
    return prepare(table, None, None, repeats=True)


def certain(items: int, truths: int) -> NDArray[np.float64]:
    """An answer that carries all the information there is."""
    return np.eye(truths)[np.arange(items) % truths]


def near(powers: Powers, abs: float = 1e-6) -> object:
    return pytest.approx(dataclasses.astuple(powers), abs=abs)


def test_the_powers_follow_what_types_carry(prepared: Prepared) -> None:
    items = prepared.judgments.item_count
    found = answer.choose_powers(prepared, certain(items, 3))
    assert dataclasses.astuple(found) == near(Powers(_TYPES, _TYPES_MANY, _SHARE))
    found = answer.choose_powers(prepared, np.full((items, 3), 1 / 3))
    expected = Powers(_TYPES - _TYPES_LESS, _TYPES_MANY, _SHARE + _SHARE_MORE)
    assert dataclasses.astuple(found) == near(expected)


def test_the_powers_between(prepared: Prepared) -> None:
    rng = np.random.default_rng(1)
    posterior = rng.dirichlet(np.ones(3), size=prepared.judgments.item_count)

    def information(rows: NDArray[np.float64]) -> float:
        mean = rows.mean(axis=0)
        return float((rows * np.log(rows)).sum(axis=1).mean() - (mean * np.log(mean)).sum())

    x = 1 - min(information(posterior) / information(share_votes(prepared.judgments)), 1.0)
    assert 0 < x < 1
    expected = Powers(_TYPES - _TYPES_LESS * x, _TYPES_MANY, _SHARE + _SHARE_MORE * x)
    found = answer.choose_powers(prepared, posterior)
    assert dataclasses.astuple(found) == near(expected, 1e-5)


@pytest.mark.parametrize(("kind", "balance"), [(MODEL, 1.0), (PERSON, -1.0)])
def test_the_power_of_types_depends_on_declared_kinds(
    table: Judgments, kind: int, balance: float
) -> None:
    declared = dataclasses.replace(table, kind=np.full(table.judge_count, kind, dtype=np.int8))
    prepared = prepare(declared, None, None, repeats=True)
    found = answer.choose_powers(prepared, certain(table.item_count, 3))
    assert found.many == pytest.approx(_TYPES_MANY + _TYPES_KIND * balance)


def test_the_blend_by_hand(prepared: Prepared) -> None:
    rng = np.random.default_rng(2)
    posterior = rng.dirichlet(np.ones(3), size=prepared.judgments.item_count)
    posterior[0] = [1.0, 0.0, 0.0]
    power = 0.7 - 0.1 * np.log(4)  # four judgments per item
    expected = np.maximum(posterior, 1e-12) ** power * share_votes(prepared.judgments) ** 0.3
    expected /= expected.sum(axis=1, keepdims=True)
    answer.blend(prepared, posterior, Powers(0.7, 0.1, 0.3))
    assert posterior == pytest.approx(expected)


def test_a_fit_is_the_blend_of_its_types(table: Judgments, prepared: Prepared) -> None:
    """The answer from fitted rates, what types mean, and powers, in NumPy alone."""
    consensus = ItemTypes().fit(table)
    memory = consensus.predictor
    assert isinstance(memory, TypesMemory)
    logs = np.tile(np.log(memory.types.overall), (table.item_count, 1))
    np.add.at(logs, table.item, np.log(memory.types.rates[table.judge, :, table.label]))
    types = np.exp(logs - logs.max(axis=1, keepdims=True))
    types /= types.sum(axis=1, keepdims=True)
    read = types @ memory.reading
    powers = memory.powers
    assert dataclasses.astuple(answer.choose_powers(prepared, read)) == near(powers, 1e-6)
    expected = read ** (powers.types - powers.many * np.log(4)) * share_votes(table) ** powers.share
    expected /= expected.sum(axis=1, keepdims=True)
    assert consensus.posterior == pytest.approx(expected, abs=1e-6)


def test_what_types_mean_by_hand(prepared: Prepared) -> None:
    """A mean of judges, weighted by their information; 1 / (judges + 1) is spread evenly."""
    rng = np.random.default_rng(3)
    rates = rng.dirichlet(np.ones(3), size=(12, 6))
    prevalence = rng.dirichlet(np.ones(6))
    count = prepared.judgments.counts_per_judge
    judges = np.minimum(1, count / 20).sum()
    exponent = 4 * judges**2 / (judges**2 + 20**2)
    mean = np.einsum("t,jtl->jl", prevalence, rates)[:, None]
    bits = np.einsum("t,jtl->j", prevalence, rates * np.log(rates / mean)) * count / (count + 20)
    expected = np.einsum("j,jtl->tl", bits**exponent, rates)
    expected /= expected.sum(axis=1, keepdims=True)
    expected += (1 / 3 - expected) / (judges + 1)
    assert answer.read_types(prepared, prevalence, rates) == pytest.approx(expected, rel=1e-6)
