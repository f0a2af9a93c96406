from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from commands import Run


def test_a_page_and_the_findings(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("report", "judgments.csv", "--gold", "gold.csv", "-o", "report.html")
    assert ended.code == 0, ended.err
    assert ended.err.splitlines()[-1] == "report written to report.html"
    assert ended.out.startswith("Which labels?\n  5 items have a label: ")
    page = (crowd / "report.html").read_text(encoding="utf-8")
    assert "<h1>judgments.csv</h1>" in page
    assert "adjudge report judgments.csv --gold gold.csv -o report.html" in page
    digest = hashlib.sha256((crowd / "judgments.csv").read_bytes()).hexdigest()
    assert digest in page
    assert "dealt into 3 folds, and each is scored by a fit that was told" in page


def test_the_page_is_called_report_if_nobody_names_it(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("report", "judgments.csv", "--title", "A <b>title</b>", "-q")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    page = (crowd / "report.html").read_text(encoding="utf-8")
    assert "<h1>A &lt;b&gt;title&lt;/b&gt;</h1>" in page
    assert "no gold" in page


def test_to_standard_output(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("report", "judgments.csv", "-o", "-")
    assert ended.code == 0
    assert ended.out.startswith("<!doctype html>")
    assert ended.out.endswith("</html>\n") or ended.out.endswith("</html>")
    assert not (crowd / "report.html").exists()


def test_findings_as_json(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("report", "judgments.csv", "--json")
    assert ended.err == ""
    assert ended.json["model"] == "item-types"
    assert next(iter(ended.json["findings"])) == "Which labels?"
    assert ended.json["output"] == "report.html"


def test_a_sampled_model_adds_checks_and_chains(adjudge: Run, crowd: Path) -> None:
    sampled = ("-m", "hierarchical-relevance", "--chains", "2", "--warmup", "20", "--draws", "20")
    ended = adjudge("report", "judgments.csv", *sampled, "--seed", "5", "-q")
    assert ended.code == 0, ended.err
    page = (crowd / "report.html").read_text(encoding="utf-8")
    found = set(re.findall(r'<figure id="figure-([\w-]+)"', page))
    assert {"sensitivity-specificity", "judge-clouds", "hyper-priors", "trace", "ranks"} <= found
    assert "<dt>seed</dt><dd>5</dd>" in page
    assert "Do the chains agree?" in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("-o", "report.pdf"),
            "error: --output = 'report.pdf': wanted a name that ends in .html\n",
        ),
        (("-o", "none/r.html"), "error: none: there is no such folder to write into\n"),
        (("-o", "judgments.html"), "error: judgments.html: is a folder; wanted a file to write\n"),
        (
            ("-o", "-", "--json"),
            "error: --json = True: wanted -o FILE, since standard output cannot have both\n",
        ),
    ],
)
def test_places_that_cannot_be(
    adjudge: Run, crowd: Path, arguments: tuple[str, ...], said: str
) -> None:
    (crowd / "judgments.html").mkdir()
    ended = adjudge("report", "judgments.csv", *arguments)
    assert (ended.code, ended.out, ended.err) == (2, "", said)
