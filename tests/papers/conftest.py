"""What tests of the papers share: smaller real data, and a check of a paper's page."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from papers import results
from papers.data import find_file
from sizes import FULL

PAGES = Path(results.__file__).parent / "pages"
MOST_WORDS = 1200  # of a page


@pytest.fixture(scope="session")
def small_data(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real judgments; unless all is asked for, of fewer items.

    Of TREC a tenth of the items without gold, since labels are scored on gold; of web-relevance a
    third of the items.
    """
    if FULL:
        return shared_data
    out = tmp_path_factory.mktemp("data")
    head, *rows = find_file("trec-rf10", shared_data).read_text().splitlines(keepends=True)
    cells = [row.split("\t") for row in rows]
    known = {(cell[0], cell[2]) for cell in cells if cell[3] != "-1"}
    kept = known | set(sorted({(cell[0], cell[2]) for cell in cells} - known)[::10])
    few = [r for r, cell in zip(rows, cells, strict=True) if (cell[0], cell[2]) in kept]
    (out / "trec-rf10").mkdir()
    (out / "trec-rf10" / "judgments.tsv").write_text("".join([head, *few]))
    head, *rows = find_file("web-relevance", shared_data).read_text().splitlines(keepends=True)
    third = set(sorted({row.partition(",")[0] for row in rows})[::3])
    (out / "web-relevance").mkdir()
    kept_rows = [row for row in rows if row.partition(",")[0] in third]
    (out / "web-relevance" / "judgments.csv").write_text("".join([head, *kept_rows]))
    return out


@pytest.fixture(scope="session")
def check_page() -> Callable[[str, results.Replication], str]:
    """The page has every table, figure and claim, every claim is tested, and it is short."""

    def check(name: str, result: results.Replication) -> str:
        text = results.render(name, "", result, verdicts=True)
        for key in result.tables:
            assert f"({name}/{key}.csv)" in text, key
        for key, figure in result.figures.items():
            assert f"({name}/{key}.png)" in text, key
            assert "$schema" in figure.chart.to_dict()
        said = tomllib.loads((PAGES / f"{name}.toml").read_text())["claims"]
        assert {key.partition("@")[0] for key in result.findings} == set(said)
        assert text.count(" |\n") >= len(result.findings)
        assert len(text.split()) <= MOST_WORDS
        return text

    return check
