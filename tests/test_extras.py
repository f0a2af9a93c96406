"""Adjudge with its core alone: what works, and the sentence for what does not."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from adjudge import lazy
from adjudge.errors import AdjudgeError, MissingExtra

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
# An environment in which no library of an extra can be imported, for the command after it.
ALONE = """
import sys
from importlib.abc import MetaPathFinder
from adjudge.lazy import _EXTRAS

class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {*_EXTRAS, "pandas", "polars", "matplotlib", "markdown_it"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""
COMMAND = f"{ALONE}\nsys.argv[0] = 'adjudge'\nfrom adjudge.__main__ import main\nmain()"


def alone(*arguments: object) -> subprocess.CompletedProcess[str]:
    """A command where only the core is installed."""
    command = [sys.executable, "-c", COMMAND, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_core_does_the_main_jobs(tmp_path: Path) -> None:
    """One process runs them all: each would import the same."""
    judgments, gold, labels = tmp_path / "judgments.csv", tmp_path / "gold.csv", tmp_path / "l.csv"
    commands = [
        ["simulate", "--items", "60", "-o", judgments, "--truth", gold],
        ["consensus", judgments, "-o", labels],
        ["judges", judgments, "--json"],
        ["agreement", judgments, "--json"],
        ["next", judgments, "--json"],
        ["evaluate", labels, "--gold", gold, "--json"],
        ["estimate", judgments, "--gold", gold, "--target", "share:1", "--json"],
    ]
    words = [[str(word) for word in command] for command in commands]
    code = f"{ALONE}\nfrom adjudge.cli import call\nsys.exit(any([call(one) for one in {words!r}]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alone")
    (folder / "judgments.csv").write_text("item,judge,label\na,x,1\na,y,0\nb,x,0\nb,y,0\n")
    return folder


@pytest.mark.parametrize(
    ("arguments", "library", "extra"),
    [
        (["report", "judgments.csv", "-o", "report.html"], "altair|jinja2", "report"),
        (["serve", "--demo"], "fastapi|sqlalchemy|uvicorn|itsdangerous", "serve"),
        (["consensus", "judgments.csv", "--engine", "dask"], "distributed", "dask"),
    ],
)
def test_a_missing_extra_is_one_sentence(
    crowd: Path, arguments: list[str], library: str, extra: str
) -> None:
    done = alone(*[crowd / one if "." in one else one for one in arguments])
    assert done.returncode == 2
    told = {
        f"error: {one} is not installed: pip install 'adjudge[{extra}]'\n"
        for one in library.split("|")
    }
    assert done.stderr in told


def test_python_is_told_too() -> None:
    code = f"{ALONE}\nimport adjudge.report\nadjudge.report.write_report"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtra" in done.stderr
    assert issubclass(MissingExtra, AdjudgeError)
    assert issubclass(MissingExtra, ImportError)


def test_every_extra_that_is_named_exists() -> None:
    assert set(lazy._EXTRAS.values()) <= set(PROJECT["optional-dependencies"])
