"""Cells, pages and files, on a toy paper; data that are missing; the command."""

from __future__ import annotations

import math
from pathlib import Path

import altair as alt
import pandas as pd
import pytest

from adjudge import BadSetting
from papers import results
from papers.__main__ import PAPERS, main
from papers.data import read_binary, split_gold
from papers.stats import Interval

RUNS = [{"near": {"x": v}, "far": {"x": v, "y": v}} for v in (0.5, 0.6, 0.7)]
PUBLISHED = {"near": {"x": 0.6}, "far": {"x": 0.9}}


TOY = """
title = "A toy"
citation = "Nobody (2000)."
data = "Toys."
method = "Run {{ seeds }} times."
readings = ["It is one."]
[[chosen]]
what = "x"
why = "y"
when = "before"
[figures]
line = "A line."
[published]
[claims.rises]
text = "It rises"
source = "page 4"
criterion = "by 0.1"
[claims.stays]
text = "It stays"
source = "page 5"
criterion = "within 0.1"
[claims.met]
text = "It is 3"
source = "page 6"
criterion = "within 0.1"
apart = "chosen to be so"
[claims.asked]
text = "Asked"
source = "ours"
criterion = "if so"
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> results.Replication:
    """A paper with one table, one figure and four claims."""
    for name in ("page.md", "index.md"):
        (tmp_path / name).write_text((results._PAGES / name).read_text())
    (tmp_path / "toy.toml").write_text(TOY)
    monkeypatch.setattr(results, "_PAGES", tmp_path)
    data = pd.DataFrame({"x": [0.0, 1.0], "y": [0.5, 0.6]})
    chart = alt.Chart(data).mark_line().encode(x="x:Q", y="y:Q")
    readings = {"low": {"": Interval(-1, -2, -0.5)}}
    rises = results.Finding.above(
        {"": Interval(1, 0.5, 2)}, published={"": 2}, readings=readings, form="g"
    )
    return results.Replication(
        tables={"one": results.compare(RUNS, PUBLISHED, notes={("far", "y"): "(new)"})},
        figures={"line": results.Figure(data, chart)},
        findings={
            "rises": rises,
            "stays": results.Finding(None, "0.5", "[0.4, 0.7]", "0.6", False),
            "met": results.Finding(True, "3", "", "3", True),
            "asked": results.Finding(True, "Yes"),
            "rises@other data": results.Finding(False, "No"),
        },
        values={"seeds": 3},
    )


def test_a_page_and_its_files(toy: results.Replication, tmp_path: Path) -> None:
    text = results.render("toy", "Made.", toy, verdicts=True)
    assert "Run 3 times." in text
    assert "| It rises (page 4) | 2 | 1 [0.5, 2] | holds |" in text
    assert "| It stays (page 5) | 0.6 | 0.5 [0.4, 0.7] | undecided |" in text
    assert "| It is 3 (page 6) | 3 | 3  | not counted |" in text
    assert "| It rises (other data) (ours) |  | No  | does not hold |" in text
    assert "| x | y | before |" in text
    assert "[one.csv](toy/one.csv): 1 of 2 published values agree" in text
    out = tmp_path / "out"
    results.write("toy", text, toy, out, verdicts=True)
    assert (out / "toy.md").read_text(encoding="utf-8") == text
    cells = pd.read_csv(out / "toy" / "one.csv")
    assert cells.published.tolist()[:2] == [0.6, 0.9]
    claims = pd.read_csv(out / "toy" / "claims.csv").set_index("claim")
    assert claims.loc["It rises", "other readings"] == "low: -1, does not hold"
    assert claims.loc["It stays", "published values by the criterion"] == "fail"
    assert claims.loc["It is 3", "not counted because"] == "chosen to be so"
    assert (out / "toy" / "line.png").read_bytes().startswith(b"\x89PNG")
    assert (out / "toy" / "line.svg").read_text().startswith("<svg")
    index = results.index([("toy", toy, 12.3)], "This is the full run.")
    assert "| [A toy](toy.md) | 1 of 2 | 1 | 0 | 1 | 1 | 12 |" in index


def cell(values: list[float], published: float = math.nan, **more: object) -> object:
    runs = [{"a": {"x": value}} for value in values]
    return next(results.compare(runs, {"a": {"x": published}}, **more).itertuples())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "published", "agrees"),
    [
        ([0.4, 0.5, 0.6], 0.5, True),
        ([0.4, 0.5, 0.6], 1.0, False),  # t(2) * 0.1 * sqrt(1 + 1/3) = 0.497
        ([0.4, 0.5, 0.6], 0.99, True),
        ([0.4, 0.5], 0.5, None),  # fewer than three seeds: no verdict
        ([0.4], 0.4, None),
        ([0.3, 0.3, 0.3], results.Printed("0.3049"), False),
        ([0.3049, 0.3049, 0.3049], results.Printed("0.30"), True),  # rounds to what is printed
        ([73.4, 73.4, 73.4], 73, True),
        ([0.4, 0.5, 0.6], math.nan, None),
    ],
)
def test_a_published_value_agrees_within_its_decimals_and_monte_carlo_error(
    values: list[float], published: float, agrees: bool | None
) -> None:
    found = cell(values, published)
    assert (None if pd.isna(found.agrees) else bool(found.agrees)) == agrees


def test_what_settings_were_chosen_to_meet_is_not_counted() -> None:
    runs = [{"a": {"x": value, "rank": 1.0}} for value in (0.4, 0.5, 0.6)]
    stated = {"a": {"x": 0.5, "rank": 1.0}}
    assert results.count_cells([results.compare(runs, stated)]) == (2, 2)
    assert results.count_cells([results.compare(runs, stated, apart={"rank": "a rank"})]) == (1, 1)
    assert results.count_cells([results.compare(runs, stated, apart="chosen")]) == (0, 0)
    assert results.Printed("0.750").decimals == 3


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for arguments in (
        ["zscor"],
        ["pmf", "--data", str(tmp_path)],
        ["pmf", "--seeds", "0"],
        ["pmf", "--gold", "gold.csv"],
        ["training", "--judgments", "judgments.csv"],
    ):
        try:
            code: object = main(arguments)
        except SystemExit as stopped:
            code = stopped.code
        assert code == 2
        assert "error" in capsys.readouterr().err
    with pytest.raises(BadSetting):
        results.Options(seeds=0)
    assert results.Options(quick=True, seeds=7).count(full=3, quick=2) == 7
    assert len(PAPERS) == 5


def test_the_counts_and_splits_of_trec_2011(shared_data: Path) -> None:
    judgments, gold = read_binary(results.Options(data=shared_data))
    assert len(judgments) == 89_624
    assert (judgments.item_count, judgments.judge_count) == (19_033, 762)
    assert (judgments.topic_count, len(gold)) == (100, 3_275)
    tests = []
    for seed in range(2):
        split = split_gold(judgments, gold, seed)
        assert (len(split.test), split.truth.sum(), len(split.train)) == (1000, 500, 2275)
        names = set(judgments.items.take(split.test).to_pylist())
        assert not names & set(split.train.items.to_pylist())
        tests.append(names)
    assert tests[0] != tests[1]
