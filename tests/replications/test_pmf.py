"""What the PMF paper claims, on its own data, in a small form: orderings, not digits."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from adjudge.replications import pmf
from adjudge.replications._data import Split, get_both, real_file, split_gold, trec_2011
from adjudge.replications.pmf._claims import compare
from adjudge.replications.replication import ReplicationResult, Setup
from sizes import FULL, sized

pytestmark = pytest.mark.slow


def test_splits_are_balanced_and_disjoint(shared_data: Path) -> None:
    judgments, gold = get_both(trec_2011(real_file("trec-rf10", shared_data)))
    tests = []
    for seed in range(2):
        split = split_gold(judgments, gold, seed)
        assert len(split.test) == 1000
        assert split.truth.sum() == 500
        assert len(split.train) == 2275
        names = set(judgments.items.take(split.test).to_pylist())
        assert not names & set(split.train.items.to_pylist())
        tests.append(names)
    assert tests[0] != tests[1]


def test_outcome_by_hand() -> None:
    split = Split(None, np.arange(4), np.array([0, 0, 1, 1], dtype=np.int16))
    choice = np.array([0, 1, 1, 1], dtype=np.int16)
    found = pmf._outcome(split, choice, np.array([False, True, False, False]))
    assert found == {
        "ACC": 0.75, "SPE": 0.5, "SEN": 1.0, "coverage": 0.75, "covered": 1.0
    }  # fmt: skip
    assert pmf._marks(split, choice) == "1011"  # those that are not relevant first
    nobody = pmf._outcome(split, choice, np.ones(4, dtype=np.bool_))
    assert math.isnan(nobody["covered"])


def test_methods_are_compared_over_the_items_of_each_split() -> None:
    rng = np.random.default_rng(1)

    def split(share: float) -> str:
        return "".join(map(str, (rng.random(1000) < share).astype(int)))

    marks = {
        "good": [split(0.8) for _ in range(4)],
        "poor": [split(0.6) for _ in range(4)],
        "as poor": [split(0.6) for _ in range(4)],
    }
    assert compare(marks, "good", "poor").better
    assert not compare(marks, "poor", "good").better
    assert not compare(marks, "poor", "good").equal
    assert compare(marks, "poor", "as poor").equal
    same = compare(marks, "good", "good")
    assert (same.ahead, same.behind, same.p) == (0, 0, 1.0)


def _thinned(folder: Path, out: Path) -> Path:
    """The same real judgments, of the items without gold those of one in ten."""
    head, *rows = real_file("trec-rf10", folder).read_text().splitlines(keepends=True)
    fields = [row.split("\t") for row in rows]
    items = [(topic, document) for topic, _, document, _, _ in fields]
    known = {item for item, row in zip(items, fields, strict=True) if row[3] != "-1"}
    kept = known | set(sorted(set(items) - known)[::10])
    path = out / "trec-rf10" / "judgments.tsv"
    path.parent.mkdir()
    path.write_text("".join([head, *(r for r, i in zip(rows, items, strict=True) if i in kept)]))
    return out


@pytest.fixture(scope="module")
def result(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> ReplicationResult:
    """The quick run; unless all is asked for, on fewer items, and the grid's errors made up.

    Labels are scored on items with gold, of which none is left out. The others tell of judges only.
    """
    data = shared_data if FULL else _thinned(shared_data, tmp_path_factory.mktemp("data"))
    setup = Setup(quick=True, data=data, seeds=sized(2, full=None))
    partials = {}
    for part in pmf.REPLICATION.parts(setup):
        grid = part.name.startswith("rank") and not FULL
        rank = int(part.name.rpartition("-")[2]) if grid else 0
        made = [[rank, ridge, 1 / (1 + ridge)] for ridge in part.settings["ridges"]] if grid else []
        partials[part.name] = made or part.work(None)
    return pmf.REPLICATION.gather(setup, partials)


def test_orderings(result: ReplicationResult) -> None:
    holds = {claim.text: claim.holds for claim in result.claims}
    assert holds["PMF with majority voting outperforms majority voting."]
    assert holds["Filtering judges beats voting without a filter."]
    # Published otherwise: here PMF does no worse than filters alone, and the page says so.
    assert not holds["Filtering does better without PMF than with it (methods 6 and 7)."]
    table, fits, leaked, models, grid = result.tables
    found = {(cell.row, cell.column): cell.obtained for cell in table.cells}
    assert found["1 MV", "ACC"] == pytest.approx(0.62, abs=0.02)
    assert found["2 EM", "ACC"] > found["1 MV", "ACC"] + 0.03
    assert found["5 filter", "coverage"] < 1
    assert found["5 filter", "ACC, covered"] > found["5 filter", "ACC"]
    for name, published in pmf.PUBLISHED.items():
        error = math.sqrt(1 - found[name, "ACC"])
        assert found[name, "RMSE"] == pytest.approx(error, abs=0.002)
        assert found[name, "RMSE rank"] == found[name, "ACC rank"]
        assert published[2] == pytest.approx(math.sqrt(1 - published[0]), abs=0.002)
    # A fit that is cut short is nearer the published .643 than one at its minimum.
    short = {(cell.row, cell.column): cell.obtained for cell in fits.cells}
    assert {cell.row for cell in fits.cells} == set(pmf.VARIANTS)
    ahead = sized(0.0, full=0.02)  # fewer items are fitted in fewer steps
    assert short["3 PMF+MV, cut short", "ACC"] + ahead < found["3 PMF+MV", "ACC"]
    seen = {(cell.row, cell.column): cell.obtained for cell in leaked.cells}
    assert seen["5 filter: all gold, not relevant", "ACC"] == pytest.approx(0.752, abs=0.02)
    assert seen["5 filter: training gold, not relevant", "ACC"] < 0.70
    ranked = {(cell.row, cell.column): cell.obtained for cell in models.cells}
    assert ranked["HierarchicalRelevance, gold", "ACC"] > ranked["HierarchicalRelevance", "ACC"]
    errors = {(cell.row, cell.column): cell.obtained for cell in grid.cells}
    assert errors["λ = 2", "D = 30"] < errors["λ = 0.1", "D = 30"]
    alpha = result.figures[1].data
    assert len(alpha) == 40 * 5
