"""What the papers claim, on their own data, in a small form: orderings, not digits."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from adjudge.data.formats import Content, read
from adjudge.data.formats.trec_rf10 import trec_2011_subset
from adjudge.replications import pmf, zscore
from adjudge.replications.cells import Cell, cell_table, markdown


@pytest.fixture(scope="module")
def trec(shared_data: Path) -> Content:
    return read(shared_data / "trec-rf10" / "judgments.tsv")


def test_cells_say_where_they_differ() -> None:
    near = Cell(row="a", column="x", published=0.50, obtained=0.51, sd=0.01)
    far = Cell(row="b", column="x", published=0.60, obtained=0.51, sd=0.01)
    new = Cell(row="b", column="y", published=math.nan, obtained=0.7, sd=0.01)
    assert [cell.differs for cell in (near, far, new)] == [False, True, False]
    assert markdown([near, far, new]) == (
        "| | x | y |\n| --- | --- | --- |\n"
        "| a | 0.510 ± 0.010 (0.500) | – |\n"
        "| b | 0.510 ± 0.010 (0.600) | 0.700 ± 0.010 |\n"
    )
    assert cell_table([near])["published"].to_pylist() == [0.5]


def test_zscore_data_are_the_papers(trec: Content) -> None:
    judgments, gold = zscore.paper_data(trec)
    assert (judgments.item_count, int(gold.honeypot.sum())) == (4460, 1183)
    graded = gold.select(~gold.honeypot)
    items = graded.align(judgments) >= 0
    votes = np.array(judgments.scale.truth_of)[judgments.label] >= 0
    assert int((items[judgments.item] & votes).sum()) == 19_699


def test_filters_and_weights_beat_the_plain_vote(trec: Content) -> None:
    judgments, gold = zscore.paper_data(trec)
    tuner = zscore.Tuner(judgments, gold, seed=1)
    plain = tuner.tune(None, ()).mean
    features = tuple(zscore.NAMES[code] for code in ("GACG", "GDSG"))
    make = lambda gamma: zscore.ZScore(*features, gamma=gamma)  # noqa: E731
    filtered = tuner.tune(make, zscore.GAMMAS[::4]).mean
    weighted = tuner.tune(None, (), zscore.WEIGHTS["SWM"]).mean
    both = tuner.tune(make, zscore.GAMMAS[::4], zscore.WEIGHTS["SWM"]).mean
    assert plain < weighted < both
    assert plain < filtered < both
    assert set(zscore.PUBLISHED) == set(zscore.ROWS)


def test_the_seven_methods_of_the_pmf_paper(trec: Content) -> None:
    cells, outcomes = pmf.table_1(trec_2011_subset(trec), seeds=3)
    found = {(cell.row, cell.column): cell.obtained for cell in cells}
    accuracy = {name: found[name, "ACC"] for name in pmf.PUBLISHED}
    assert accuracy["1 MV"] == pytest.approx(0.62, abs=0.02)
    assert accuracy["2 EM"] > accuracy["1 MV"] + 0.03
    assert accuracy["3 PMF+MV"] >= accuracy["1 MV"]
    assert accuracy["5 filter"] > accuracy["1 MV"]
    assert accuracy["7 PMF+WV+filter"] > accuracy["4 WV"]
    assert found["5 filter", "coverage"] < 1
    assert found["5 filter", "ACC, covered"] > accuracy["5 filter"]
    assert all(len(runs) == 3 for runs in outcomes.values())
    for name in pmf.PUBLISHED:
        assert found[name, "RMSE"] == pytest.approx(math.sqrt(1 - accuracy[name]), abs=0.002)


def test_splits_are_balanced_and_disjoint(trec: Content) -> None:
    content = trec_2011_subset(trec)
    for split in pmf.splits(content.judgments, content.gold, 2):
        assert len(split.test) == 1000
        assert split.truth.sum() == 500
        assert len(split.train) == 2275
        names = set(content.judgments.items.take(split.test).to_pylist())
        assert not names & set(split.train.items.to_pylist())
