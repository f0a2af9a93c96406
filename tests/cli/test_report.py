from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from commands import Run


def test_a_page_and_its_verdict(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("report", "judgments.csv", "--gold", "gold.csv", "-o", "report.html")
    assert ended.code == 0, ended.err
    assert ended.err.splitlines()[-1] == "report written to report.html"
    assert "of the labels are right on" in ended.out
    assert "\nNext: " in ended.out
    verbose = adjudge("report", "judgments.csv", "-v", "-o", "other.html").out
    assert ("% sure;" in ended.out, "% sure;" in verbose) == (False, True)
    page = (crowd / "report.html").read_text(encoding="utf-8")
    assert '<p class="brand">judgments.csv</p>' in page
    assert "adjudge report judgments.csv --gold gold.csv -o report.html" in page
    digest = hashlib.sha256((crowd / "judgments.csv").read_bytes()).hexdigest()
    assert digest in page
    assert "split into 3 folds, and each is scored by a fit that used the other folds" in page


def test_the_page_is_called_report_by_default(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("report", "judgments.csv", "--title", "A <b>title</b>", "-q")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    page = (crowd / "report.html").read_text(encoding="utf-8")
    assert '<p class="brand">A &lt;b&gt;title&lt;/b&gt;</p>' in page
    assert "no gold" in page


def test_next_commands_name_what_was_read(adjudge: Run, crowd: Path) -> None:
    (crowd / "sub").mkdir()
    for name in ("judgments.csv", "gold.csv"):
        (crowd / name).rename(crowd / "sub" / name)
    ended = adjudge("report", "sub/judgments.csv", "--gold", "sub/gold.csv", "--json")
    commands = [action["command"] for action in ended.json["actions"] if action["command"]]
    assert commands
    assert all("sub/judgments.csv --gold sub/gold.csv" in command for command in commands)


def test_the_first_screen_as_json(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("report", "judgments.csv", "--json")
    assert ended.err == ""
    assert ended.json["model"] == "item-types"
    assert len(ended.json["tiles"]) == 4
    assert ended.json["verdict"].startswith("About")
    assert ended.json["output"] == "report.html"


def test_a_sampled_model_adds_checks_and_chains(adjudge: Run, crowd: Path) -> None:
    sampled = "-m hierarchical-relevance --set chains=2 --set warmup=20 --set draws=20 --seed 5"
    ended = adjudge("report", "judgments.csv", *sampled.split(), "-q")
    assert ended.code == 0, ended.err
    page = (crowd / "report.html").read_text(encoding="utf-8")
    found = set(re.findall(r'<figure id="figure-([\w-]+)"', page))
    assert {"sensitivity-specificity", "judge-clouds", "hyper-priors", "trace"} <= found
    assert "<dt>seed</dt><dd>5</dd>" in page
    assert "Do the chains agree?" in page


def test_a_folder_gets_all_that_the_data_allow(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("report", "judgments.csv", "--figure", "all", "--as", "svg", "--theme", "dark")
    assert ended.code == 0, ended.err
    assert sorted(file.name for file in (crowd / "figures").iterdir()) == [
        "agreement.svg",
        "confidence.svg",
        "confusion.svg",
        "judge-intervals.svg",
        "judge-item-matrix.svg",
        "sensitivity-specificity.svg",
        "topic-disagreement.svg",
        "voted-estimated.svg",
        "votes.svg",
    ]
    assert "no calibration: it needs gold" in ended.err
    assert "#14171b" in (crowd / "figures" / "confusion.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("", "JUDGMENTS"),
        ("judgments.csv -o report.pdf", "--output"),
        ("judgments.csv -o none/r.html", "none"),
        ("judgments.csv -o judgments.html", "judgments.html"),
        ("judgments.csv -o - --json", "--json"),
        ("judgments.csv --figure all -o a.png", "--output"),
        ("judgments.csv --figure confusion -o a.gif", "--output"),
        ("judgments.csv --figure all -o gold.csv", "--output"),
        ("judgments.csv --figure all --as pdf", "--as"),
        ("judgments.csv --figure all --theme drak", "theme: dark"),
        ("judgments.csv --figure confusions", "figure: confusion"),
    ],
)
def test_what_cannot_be(adjudge: Run, crowd: Path, arguments: str, fault: str) -> None:
    (crowd / "judgments.html").mkdir()
    assert adjudge("report", *arguments.split()).fault == fault


def test_a_figure_that_lacks_something_says_what(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("report", "judgments.csv", "--figure", "calibration", "-o", "a.png", "-q")
    assert (ended.code, ended.error.expected) == (2, "gold")
