from __future__ import annotations

import math

import pytest

from adjudge.replications.pages import _markdown
from adjudge.replications.replication import Cell, Table

NEAR = Cell(row="a", column="x", published=0.50, obtained=0.51, sd=0.01)
FAR = Cell(row="b", column="x", published=0.60, obtained=0.51, sd=0.01)
NEW = Cell(row="b", column="y", published=math.nan, obtained=0.7, sd=0.01, note="(new)")


def test_cells_say_where_they_differ() -> None:
    assert [cell.differs for cell in (NEAR, FAR, NEW)] == [False, True, False]
    assert FAR.difference() == ("b, x: obtained 0.510, published 0.600: lower by 0.090, 9.0 sd.")
    assert _markdown([NEAR, FAR, NEW]) == (
        "| | x | y |\n| --- | --- | --- |\n"
        "| a | 0.510 ± 0.010 (0.500) | – |\n"
        "| b | 0.510 ± 0.010 (0.600) | 0.700 ± 0.010 (new) |\n"
    )
    assert Table(name="", title="", source="", cells=[NEAR]).to_table()[
        "published"
    ].to_pylist() == [0.5]


def test_mean_and_sd_are_over_seeds() -> None:
    cell = Cell.over("a", "x", [0.4, 0.5, 0.6], published=0.5)
    assert (cell.obtained, cell.sd) == (pytest.approx(0.5), pytest.approx(0.1))
    assert math.isnan(Cell.over("a", "x", [0.4]).sd)
    assert math.isnan(Cell.over("a", "x", []).obtained)
    assert Cell.over("a", "x", [0.1 + 0.2, 0.3, 0.3]).sd == 0


def test_one_seed_tells_of_no_difference_and_rounding_is_none() -> None:
    assert not Cell.over("a", "x", [0.4], published=0.9).differs
    same = Cell(row="a", column="x", published=0.667, obtained=2 / 3, sd=0.0)
    assert not same.differs


def test_ranks_have_no_digits() -> None:
    rank = Cell(row="a", column="rank", published=2, obtained=1, sd=0.0, digits=0)
    assert _markdown([rank]).splitlines()[-1] == "| a | 1 (2) |"
    assert rank.difference() == "a, rank: obtained 1, published 2: lower by 1."
