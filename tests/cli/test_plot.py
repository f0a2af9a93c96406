from __future__ import annotations

from pathlib import Path

import pytest

from commands import Run
from sizes import sized


def test_one_figure_in_the_form_of_its_name(adjudge: Run, crowd: Path) -> None:
    for name in sized(("a.png", "a.svg", "a.json"), full=("a.png", "a.svg", "a.html", "a.json")):
        ended = adjudge("plot", "judgments.csv", "--figure", "confusion", "-o", name)
        assert ended.code == 0, ended.err
        assert ended.err.splitlines()[-1] == f"confusion written to {name}"
        assert ended.out == ""
    assert (crowd / "a.png").read_bytes()[:4] == b"\x89PNG"
    assert (crowd / "a.svg").read_text(encoding="utf-8").startswith("<svg")


def test_a_folder_gets_all_that_the_data_allow(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("plot", "judgments.csv", "-o", "figures", "--as", "svg", "--theme", "dark")
    assert ended.code == 0, ended.err
    assert sorted(file.name for file in (crowd / "figures").iterdir()) == [
        "accuracy-by-judgments.svg",
        "confusion.svg",
        "convergence.svg",
        "judge-item-matrix.svg",
        "sensitivity-specificity.svg",
        "voted-estimated.svg",
    ]
    assert "no calibration: it needs gold: --gold FILE gives it" in ended.err
    assert "#14171b" in (crowd / "figures" / "confusion.svg").read_text(encoding="utf-8")


def test_figures_as_json(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("plot", "judgments.csv", "--figure", "confusion", "-o", "a.svg", "--json")
    assert ended.json == {"figures": {"confusion": "a.svg"}}


def test_the_list(adjudge: Run) -> None:
    ended = adjudge("plot", "--list")
    assert "judge-clouds" in ended.out
    listed = adjudge("plot", "--list", "--json").json
    assert {"name": "confusion", "shows": "the average confusion, with sd between judges"} in listed
    assert len(listed) == 12


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "error: no JUDGMENTS: wanted a file of judgments, or --list\n"),
        (
            ("judgments.csv", "-o", "a.png"),
            "error: --output = 'a.png': wanted one --figure for a file, or a folder\n",
        ),
        (
            ("judgments.csv", "-o", "gold.csv"),
            "error: --output = 'gold.csv': wanted a folder, or a name that ends in .png, .svg, "
            ".html, .json\n",
        ),
        (
            ("judgments.csv", "--as", "pdf"),
            "error: --as = 'pdf': wanted one of png, svg, html, json\n",
        ),
        (
            ("judgments.csv", "--theme", "drak"),
            "error: there is no theme 'drak'; did you mean 'dark'? Known: light, dark\n",
        ),
    ],
)
def test_what_cannot_be(adjudge: Run, crowd: Path, arguments: tuple[str, ...], said: str) -> None:
    ended = adjudge("plot", *arguments)
    assert (ended.code, ended.out, ended.err) == (2, "", said)


def test_a_figure_that_is_not_and_one_that_cannot_be(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("plot", "judgments.csv", "--figure", "confusions")
    assert ended.code == 2
    assert ended.err.startswith("error: there is no figure 'confusions'; did you mean 'confusion'?")
    ended = adjudge("plot", "judgments.csv", "--figure", "calibration", "-o", "a.png", "-q")
    assert ended.code == 2
    assert ended.err == "error: the figure calibration needs gold: --gold FILE gives it\n"
