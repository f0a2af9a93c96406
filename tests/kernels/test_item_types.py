"""The passes of item types against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from adjudge import Judgments
from adjudge.engines.engine import Parameters
from adjudge.engines.tasks import BeginTypes, CountTops, Prints, ReadTypes
from adjudge.engines.threads import ThreadsEngine
from adjudge.kernels.fixed import SHARE, WEIGHT
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


def types_of(table: Judgments, given: Parameters, item: int) -> NDArray[np.float64]:
    logs = np.log(given.prevalence[0]).copy()
    for m in range(table.offsets[item], table.offsets[item + 1]):
        logs += np.log(given.confusion[table.judge[m], :, table.label[m]])
    p = np.exp(logs - logs.max())
    return p / p.sum()


@pytest.mark.parametrize("kinds", [1, 2])
def test_a_fit_starts_from_vote_shares(table: Judgments, kinds: int) -> None:
    """An item without votes is left open; one above the median top share is of the easy kind."""
    table = table.select(judgments=table.item != 7, keep_empty=True)
    rng = np.random.default_rng(4)
    weight = rng.integers(WEIGHT // 4, WEIGHT, table.judge_count)
    votes = np.zeros((table.item_count, 3))
    np.add.at(votes, (table.item, table.label), weight[table.judge] / WEIGHT)
    votes += 0.1
    share = votes / votes.sum(axis=1, keepdims=True)
    place = np.minimum((share.max(axis=1) * 64).astype(np.int64), 63)
    judged = table.counts_per_item > 0
    sweeps = ThreadsEngine().load(table)
    (bins,) = sweeps.run(CountTops(weight, 64))
    assert bins.tolist() == np.bincount(place[judged], minlength=64).tolist()
    median = int(np.median(place[judged]))
    easy = np.where(place > median, 0.9, 0.1)
    spread = np.stack([1 - easy, easy], axis=1) if kinds == 2 else np.ones((len(place), 1))
    types = (share[:, :, None] * spread[:, None, :]).reshape(len(place), -1)
    types[~judged] = 1 / types.shape[1]
    expected = np.zeros((table.judge_count, 3, types.shape[1]))
    np.add.at(expected, (table.judge, table.label), types[table.item])
    counts, classes = sweeps.run(BeginTypes(weight, kinds, median, 64))
    found = counts.reshape(table.judge_count, 3, -1) / SHARE
    assert found == pytest.approx(expected[:, :, 1:], abs=1e-6)  # type 0 is the rest
    assert classes / SHARE == pytest.approx(types.sum(axis=0)[1:], abs=1e-6)


def test_types_are_read_as_truths(table: Judgments, parameters: Parameters) -> None:
    reading = np.random.default_rng(2).dirichlet(np.ones(2), size=6)
    sweeps = ThreadsEngine().load(table)
    found = sweeps.write_rows(ReadTypes(sweeps.tables(parameters), reading), 2)
    for item in (0, 17, 59):
        p = types_of(table, parameters, item)
        assert found[item] == pytest.approx(p @ reading, abs=1e-9)


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
    (prints,) = sweeps.run(Prints(key_judges(sweeps.cells())))
    by_name = dict(zip(both.judges.to_pylist(), prints.tolist(), strict=True))
    assert by_name["j0"] == by_name["same"]
    assert by_name["j0"] != by_name["nearly"]
    assert len(set(prints.tolist())) == both.judge_count - 1
