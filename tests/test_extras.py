"""Adjudge with its core alone: what works, and which extra it names for what does not."""

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
# An environment in which no library of an extra can be imported, and what is run there.
ALONE = """
import contextlib, io, json, sys
from importlib.abc import MetaPathFinder
from adjudge.lazy import _EXTRAS

absent = {*_EXTRAS, "matplotlib", "markdown_it"}

class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())

import adjudge
from adjudge.cli import call
from adjudge.errors import MissingExtra

ended = {}
commands, lines = json.loads(sys.argv[1])
for command in commands:
    if "postgresql" in command:  # the server's other libraries are there
        absent = {"psycopg"}
    with contextlib.redirect_stderr(io.StringIO()) as said:
        code = call(command.split())
    ended[command] = code, said.getvalue()
    for line in lines if command.startswith("simulate") else []:
        try:
            exec(line)
        except MissingExtra as error:
            ended[line] = error.extra, str(error)
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
SAMPLED = "-m hybrid-confusion --set chains=1 --set warmup=10 --set draws=10"
LACKING = {
    "report judgments.csv -o report.html": ("altair|jinja2", "report"),
    "serve --demo": ("fastapi|sqlalchemy|uvicorn|itsdangerous", "serve"),
    "consensus judgments.csv --engine dask": ("distributed", "dask"),
    f"consensus judgments.csv {SAMPLED} --save-draws draws.nc": ("h5netcdf", "arviz"),
    "rank judgments.csv --runs by.run": ("ir_measures", "ir"),
    "serve --database postgresql://u:p@127.0.0.1:1/x": ("psycopg", "postgres"),  # the last
}
PYTHON = {
    "adjudge.fit('judgments.csv').plot()": "report",
    "adjudge.fit('judgments.csv').judges.to_pandas()": "frames",
    "adjudge.fit('judgments.csv', model='hierarchical-relevance').to_arviz()": "arviz",
    "adjudge.Client('http://127.0.0.1:1', 'token')": "serve",
    "import adjudge.crowdkit": "frames",
    "import adjudge.report; adjudge.report.write_report": "report",
    "import adjudge.sklearn": "sklearn",
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, str]]:
    """How each ends where only the core is installed; one process, as each imports the same."""
    given = json.dumps([[*JOBS, *LACKING], list(PYTHON)])
    folder = tmp_path_factory.mktemp("alone")
    (folder / "by.run").write_text("q Q0 item-0000001 1 2.0 system\n")
    command = [sys.executable, "-c", ALONE, given]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    found: dict[str, tuple[Any, str]] = json.loads(done.stderr.splitlines()[-1])
    return found


@pytest.mark.parametrize("command", JOBS)
def test_the_core_does_the_main_jobs(ended: dict[str, tuple[Any, str]], command: str) -> None:
    code, said = ended[command]
    assert code == 0, said


@pytest.mark.parametrize("command", LACKING)
def test_a_command_names_the_missing_extra(ended: dict[str, tuple[Any, str]], command: str) -> None:
    libraries, extra = LACKING[command]
    code, said = ended[command]
    assert code == 2
    assert said in {
        f"error: {one} is not installed: pip install 'adjudge[{extra}]'\n"
        for one in libraries.split("|")
    }


@pytest.mark.parametrize("line", PYTHON)
def test_python_names_the_missing_extra(ended: dict[str, tuple[Any, str]], line: str) -> None:
    extra, said = ended[line]
    assert extra == PYTHON[line]
    assert said.endswith(f"pip install 'adjudge[{extra}]'")


def test_a_missing_extra_is_an_error_of_ours_and_of_imports() -> None:
    assert issubclass(MissingExtra, AdjudgeError)
    assert issubclass(MissingExtra, ImportError)


def test_every_extra_is_named_where_it_is_missing() -> None:
    extras = set(PROJECT["optional-dependencies"]) - {"all", "papers", "test", "docs"}
    assert set(lazy._EXTRAS.values()) == extras
    assert {extra for _, extra in LACKING.values()} | set(PYTHON.values()) == extras
