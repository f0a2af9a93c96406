"""Cells, pages and files, on a toy paper; data that are missing; the command."""

from __future__ import annotations

import math
from pathlib import Path

import altair as alt
import pandas as pd
import pytest

from adjudge import BadData, BadSetting
from papers import results
from papers.__main__ import PAPERS, main
from papers.data import find_file, read_trec_2011, split_gold
from papers.stats import hold_all, is_above

RUNS = [{"near": {"x": v}, "far": {"x": v, "y": v}} for v in (0.5, 0.6, 0.7)]
PUBLISHED = {"near": {"x": 0.6}, "far": {"x": 0.9}}


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> results.Replication:
    """A paper with one table, one figure and four claims."""
    (tmp_path / "toy.md").write_text(
        '# A toy\n\n{{ made }}\n\n{{ claims }}\n\n{{ table("one") }}\n\n{{ figure("line") }}\n'
    )
    (tmp_path / "toy.toml").write_text(
        '[claims.rises]\ntext = "It rises."\nsource = "page 4"\ncriterion = "if it rises by 0.1"\n'
        '[claims.stays]\ntext = "It stays."\nsource = "page 5"\ncriterion = "if neither differs"\n'
        'remark = "Drawn"\n[claims.asked]\ntext = "Asked."\nsource = "beyond the paper"\n'
    )
    monkeypatch.setattr(results, "_PAGES", tmp_path)
    data = pd.DataFrame({"x": [0.0, 1.0], "y": [0.5, 0.6]})
    chart = alt.Chart(data).mark_line().encode(x="x:Q", y="y:Q")
    rises = results.check(lambda v: v > 0, lambda v: f"{v:g}", 1, published=2, readings={"low": -1})
    return results.Replication(
        tables={"one": results.compare(RUNS, PUBLISHED, notes={("far", "y"): "(new)"})},
        figures={"line": results.Figure(data, chart)},
        findings={
            "rises": rises,
            "stays": results.Finding(None, "0.5 to 0.6", "0.4 to 0.7", False),
            "asked": results.Finding(True, "Yes"),
            "rises@other data": results.Finding(False, "No"),
        },
        values={},
    )


PAGE = """\
# A toy

Made. Cells: obtained ± sd over seeds (published).

## What the paper says

1 of 1 (1 undecided) hold.

- **Holds**: It rises. (page 4)
    - *Published:* 2.
    - *Obtained:* 1.
    - *Criterion:* if it rises by 0.1. The published figures pass it.
    - *Reading:* low: -1, does not hold.
- **Undecided**: It stays. (page 5)
    - *Published:* 0.4 to 0.7. Drawn.
    - *Obtained:* 0.5 to 0.6.
    - *Criterion:* if neither differs. **The paper's own figures fail it**, so this counts \
neither for nor against it.

## Beyond the paper

1 of 2 hold.

- **Holds**: Asked.
    - *Obtained:* Yes.
- **Does not hold**: It rises. (other data)
    - *Obtained:* No.
    - *Criterion:* if it rises by 0.1.

| | x | y |
| --- | --- | --- |
| near | 0.600 ± 0.100 (0.600) | – |
| far | 0.600 ± 0.100 (0.900)* | 0.600 ± 0.100 (new) |

Data: [one.csv](toy/one.csv). 1 of 2 published cells differ by more than two sd (*).

![line](toy/line.png)

Data: [line.csv](toy/line.csv)"""


def test_a_page_and_its_files(toy: results.Replication, tmp_path: Path) -> None:
    text = results.render("toy", "Made.", toy)
    assert text == PAGE
    out = tmp_path / "out"
    results.write("toy", text, toy, out)
    assert (out / "toy.md").read_text(encoding="utf-8") == PAGE
    cells = pd.read_csv(out / "toy" / "one.csv")
    assert cells.published.tolist()[:2] == [0.6, 0.9]
    assert cells.differs.tolist() == [False, True, False]
    assert (out / "toy" / "line.png").read_bytes().startswith(b"\x89PNG")
    assert (out / "toy" / "line.svg").read_text().startswith("<svg")
    index = results.index([("toy", text, toy, 12.3)], "This is the quick run.")
    assert index.splitlines()[-1] == (
        "| [A toy](toy.md) | 2 | 1 | 1 of 1 (1 undecided) | 1 of 2 | 12 |"
    )


def cell(values: list[float], published: float = math.nan, **more: object) -> object:
    runs = [{"a": {"x": value}} for value in values]
    return next(results.compare(runs, {"a": {"x": published}}, **more).itertuples())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "published", "sd", "differs"),
    [
        ([0.4, 0.5, 0.6], 0.5, 0.1, False),
        ([0.4, 0.5, 0.6], 0.71, 0.1, True),
        ([0.4], 0.9, math.nan, False),  # one seed has no spread to measure by
        ([0.1 + 0.2, 0.3, 0.3], 0.3004, 0.0, False),  # rounding is no spread, nor a difference
        ([0.4, 0.5], math.nan, 0.0707, False),
    ],
)
def test_mean_and_sd_are_over_runs(
    values: list[float], published: float, sd: float, differs: bool
) -> None:
    found = cell(values, published)
    assert found.sd == pytest.approx(sd, abs=1e-4, nan_ok=True)
    assert found.differs == differs


def test_ranks_have_no_spread_and_no_digits() -> None:
    found = cell([1, 2], 2.0, exact=["x"])
    assert (found.sd, found.differs) == (0, True)
    assert results._cell(cell([1], 2.0, exact=["x"])) == "1 (2)*"


def test_verdicts() -> None:
    assert [is_above(*pair) for pair in ((3, 1), (2, 1), (-3, 1))] == [True, None, False]
    assert [hold_all(all_) for all_ in ([True], [True, None], [None, False])] == [True, None, False]


def test_missing_data_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadData) as error:
        find_file("trec-rf10", tmp_path)
    assert error.value.source == str(tmp_path / "trec-rf10" / "judgments.tsv")
    file = tmp_path / "web-relevance" / "judgments.csv"
    file.parent.mkdir()
    file.touch()
    monkeypatch.setenv("ADJUDGE_DATA", str(tmp_path))
    assert find_file("web-relevance") == file


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for arguments in (["zscor"], ["pmf", "--data", str(tmp_path)], ["pmf", "--seeds", "1"]):
        try:
            code: object = main(arguments)
        except SystemExit as stopped:
            code = stopped.code
        assert code == 2
        assert "error" in capsys.readouterr().err
    with pytest.raises(BadSetting):
        results.Options(seeds=1)
    assert results.Options(quick=True, seeds=7).count(full=3, quick=2) == 7
    assert len(PAPERS) == 6


def test_the_counts_and_splits_of_trec_2011(shared_data: Path) -> None:
    judgments, gold = read_trec_2011(find_file("trec-rf10", shared_data))
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
