"""The sweeps of item types beside plain NumPy twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import entr, rel_entr

from adjudge import Judgments
from adjudge.engines.engine import Parameters
from adjudge.engines.item_types import AgreementBeyond, CountLeftOut, Prints, ReadTypes
from adjudge.engines.threads import ThreadsEngine
from adjudge.kernels.fixed import LIKELIHOOD, SHARE, WEIGHT
from adjudge.models._families import key_judges


@pytest.fixture
def table() -> Judgments:
    rng = np.random.default_rng(0)
    return Judgments.from_table(
        {
            "item": [f"i{n}" for n in range(60) for _ in range(5)],
            "judge": [f"j{j}" for _ in range(60) for j in rng.choice(9, 5, replace=False)],
            "label": rng.integers(0, 3, 300).tolist(),
        }
    )


@pytest.fixture
def parameters(table: Judgments) -> Parameters:
    rng = np.random.default_rng(1)
    rates = rng.dirichlet(np.ones(3), size=(table.judge_count, 6))
    return Parameters(prevalence=rng.dirichlet(np.ones(6))[None], confusion=rates, of_types=True)


def types_of(table: Judgments, given: Parameters, item: int, without: tuple[int, ...] = ()):
    logs = np.log(given.prevalence[0]).copy()
    for m in range(table.offsets[item], table.offsets[item + 1]):
        if m not in without:
            logs += np.log(given.confusion[table.judge[m], :, table.label[m]])
    p = np.exp(logs - logs.max())
    return p / p.sum()


def test_left_out_counts(table: Judgments, parameters: Parameters) -> None:
    sweeps = ThreadsEngine().load(table)
    source = np.arange(table.judge_count, dtype=np.int32)
    source[1] = 0  # two judges of one source: both are left out together
    grouped = source != np.arange(table.judge_count)
    grouped[0] = True
    task = CountLeftOut(sweeps.tables(parameters), 6, source, grouped, key_judges(sweeps.cells()))
    counts, on_gold = sweeps.ask(task)
    assert not len(on_gold)
    wanted = np.zeros((table.judge_count, 3, 6))
    before = parameters.prevalence[0]
    for item in range(table.item_count):
        rows = range(table.offsets[item], table.offsets[item + 1])
        for m in rows:
            own = tuple(n for n in rows if source[table.judge[n]] == source[table.judge[m]])
            p = types_of(table, parameters, item, own)
            # as far as the others tell: the information gained, of all that there was to gain
            told = rel_entr(p, before).sum() / entr(before).sum()
            wanted[table.judge[m], table.label[m]] += np.sqrt(min(told, 1.0)) * p
    assert counts.reshape(wanted.shape) / SHARE == pytest.approx(wanted, abs=1e-6)


def test_left_out_counts_by_topic(table: Judgments, parameters: Parameters) -> None:
    """What others tell is measured from the types of the item's own topic."""
    rows = table.to_table().select(["item", "judge", "label"]).to_pydict()
    rows["topic"] = [f"t{int(item[1:]) % 2}" for item in rows["item"]]
    table = Judgments.from_table(rows)
    assert table.topic is not None
    rng = np.random.default_rng(3)
    given = replace(parameters, prevalence=rng.dirichlet(np.ones(6), size=2))
    sweeps = ThreadsEngine().load(table, by_topic=True)
    source, grouped = np.arange(table.judge_count, dtype=np.int32), np.zeros(9, dtype=np.bool_)
    task = CountLeftOut(sweeps.tables(given), 6, source, grouped, key_judges(sweeps.cells()))
    counts, _ = sweeps.ask(task)
    wanted = np.zeros((table.judge_count, 3, 6))
    for item in range(table.item_count):
        before = given.prevalence[table.topic[item]]
        own = replace(given, prevalence=before[None])
        for m in range(table.offsets[item], table.offsets[item + 1]):
            p = types_of(table, own, item, (m,))
            told = min(rel_entr(p, before).sum() / entr(before).sum(), 1.0)
            wanted[table.judge[m], table.label[m]] += np.sqrt(told) * p
    assert counts.reshape(wanted.shape) / SHARE == pytest.approx(wanted, abs=1e-6)


def test_agreement_beyond_types(table: Judgments, parameters: Parameters) -> None:
    sweeps = ThreadsEngine().load(table)
    judges = np.arange(table.judge_count, dtype=np.int32)
    task = AgreementBeyond(
        sweeps.tables(parameters),
        np.full(table.judge_count, int(WEIGHT)),
        key_judges(sweeps.cells()),
        judges,
        judges,
        parameters.confusion,
        1.0,
        300.0,
    )
    (sums,) = sweeps.ask(task)
    wanted = np.zeros(3)
    for item in range(table.item_count):
        rows = range(table.offsets[item], table.offsets[item + 1])
        for m in rows:
            for n in rows:
                if m < n:
                    p = types_of(table, parameters, item, (m, n))
                    one = parameters.confusion[table.judge[m]]
                    other = parameters.confusion[table.judge[n]]
                    same = float(table.label[m] == table.label[n])
                    wanted += 2 / 5 * np.array([same, p @ (one * other).sum(axis=1), 1.0])
    assert sums / LIKELIHOOD == pytest.approx(wanted, abs=1e-4)


def test_types_are_read_as_truths(table: Judgments, parameters: Parameters) -> None:
    rng = np.random.default_rng(2)
    sweeps = ThreadsEngine().load(table)
    tables = sweeps.tables(parameters)
    readings = [rng.dirichlet(np.ones(2), size=6) for _ in range(2)]
    task = ReadTypes((tables, tables), tuple(readings), np.full(2, 0.5))
    found = sweeps.rows(task, 2)
    for item in (0, 17, 59):
        p = types_of(table, parameters, item)
        assert found[item] == pytest.approx(p @ (readings[0] + readings[1]) / 2, abs=1e-9)


def test_prints_are_equal_for_equal_judgments_only(table: Judgments) -> None:
    rows = table.to_table().select(["item", "judge", "label"]).to_pylist()
    own = [row for row in rows if row["judge"] == "j0"]
    other = [dict(row) for row in own]
    other[0]["label"] = str((int(other[0]["label"]) + 1) % 3)
    more = (
        rows
        + [{**row, "judge": "same"} for row in own]
        + [{**row, "judge": "nearly"} for row in other]
    )
    both = Judgments.from_table(
        {name: [row[name] for row in more] for name in ("item", "judge", "label")}
    )
    sweeps = ThreadsEngine().load(both)
    (prints,) = sweeps.ask(Prints(key_judges(sweeps.cells())))
    by_name = dict(zip(both.judges.to_pylist(), prints.tolist(), strict=True))
    assert by_name["j0"] == by_name["same"]
    assert by_name["j0"] != by_name["nearly"]
    assert len(set(prints.tolist())) == both.judge_count - 1
