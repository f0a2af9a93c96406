"""Adjudge with its core alone: what works, and the sentence for what does not."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

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
# Every command in turn: what it is told on standard error, and how it ends.
RUN = """
import contextlib, io, json
from adjudge.cli import call

ended = []
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stderr(io.StringIO()) as told:
        code = call(words)
    ended.append((code, told.getvalue()))
try:
    import adjudge.report
    adjudge.report.write_report
except Exception as error:
    ended.append(([kind.__name__ for kind in type(error).__mro__], str(error)))
print(json.dumps(ended), file=sys.stderr)
"""
JOBS = [
    "simulate --items 60 -o judgments.csv --truth gold.csv",
    "consensus judgments.csv -o labels.csv",
    "judges judgments.csv --json",
    "agreement judgments.csv --json",
    "next judgments.csv --json",
    "evaluate labels.csv --gold gold.csv --json",
    "estimate judgments.csv --gold gold.csv --target share:1 --json",
]
LACKING = {
    "report judgments.csv -o report.html": ("altair|jinja2", "report"),
    "serve --demo": ("fastapi|sqlalchemy|uvicorn|itsdangerous", "serve"),
    "consensus judgments.csv --engine dask": ("distributed", "dask"),
}
WRITING = "adjudge.report.write_report"


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, str]]:
    """How commands end where only the core is installed; one process, as each imports the same."""
    lines = [*JOBS, *LACKING]
    command = [sys.executable, "-c", ALONE + RUN, json.dumps([line.split() for line in lines])]
    folder = tmp_path_factory.mktemp("alone")
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    return dict(zip([*lines, WRITING], json.loads(done.stderr.splitlines()[-1]), strict=True))


@pytest.mark.parametrize("command", JOBS)
def test_the_core_does_the_main_jobs(ended: dict[str, tuple[Any, str]], command: str) -> None:
    code, told = ended[command]
    assert code == 0, told


@pytest.mark.parametrize("command", LACKING)
def test_a_missing_extra_is_one_sentence(ended: dict[str, tuple[Any, str]], command: str) -> None:
    libraries, extra = LACKING[command]
    code, told = ended[command]
    assert code == 2
    assert told in {
        f"error: {one} is not installed: pip install 'adjudge[{extra}]'\n"
        for one in libraries.split("|")
    }


def test_python_gets_the_same_hint(ended: dict[str, tuple[Any, str]]) -> None:
    kinds, _ = ended[WRITING]
    assert kinds[0] == "MissingExtra"
    assert issubclass(MissingExtra, AdjudgeError)
    assert issubclass(MissingExtra, ImportError)


def test_every_extra_that_is_named_exists() -> None:
    assert set(lazy._EXTRAS.values()) <= set(PROJECT["optional-dependencies"])
