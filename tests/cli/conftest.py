"""What tests of the command line ask for: commands run in this process, and small files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge.cli import _endings, call
from commands import Ended, Run

JUDGMENTS = """\
topic,document,judge,label
q1,d1,ann,1
q1,d1,bob,1
q1,d1,cy,0
q1,d2,ann,0
q1,d2,bob,0
q2,d1,ann,1
q2,d1,cy,1
q2,d3,bob,0
q2,d3,cy,0
q2,d3,ann,1
"""


@pytest.fixture
def adjudge(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """A command in this process, its standard output piped."""
    monkeypatch.setenv("COLUMNS", "80")
    explain, explained = _endings.explain, list[BaseException]()

    def keep(error: BaseException) -> int:
        explained.append(error)
        return explain(error)

    monkeypatch.setattr(_endings, "explain", keep)

    def run(*arguments: object) -> Ended:
        capsys.readouterr()
        explained.clear()
        code = call([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Ended(code, out, err, explained[0] if explained else None)

    return run


@pytest.fixture
def at_terminal(adjudge: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The same with standard output a plain terminal of 80 columns."""

    def run(*arguments: object) -> Ended:
        # Here and not before: pytest sets its streams afresh before each test.
        monkeypatch.setenv("TERM", "dumb")
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        return adjudge(*arguments)

    return run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, so that messages hold short names."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def crowd(folder: Path) -> Path:
    """Ten judgments of four items by three judges, and gold for two of them and for a stranger."""
    (folder / "judgments.csv").write_text(JUDGMENTS)
    (folder / "gold.csv").write_text("topic,document,gold\nq1,d1,1\nq2,d3,0\nq9,d9,1\n")
    return folder


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the demo."""
    place = tmp_path_factory.mktemp("kept") / "demo"
    assert call(["demo", "--folder", str(place), "--quiet"]) == 0
    return place


def left_over(folder: Path) -> list[str]:
    """Everything in a folder, hidden files too."""
    return sorted(file.name for file in folder.iterdir())


@pytest.fixture
def names() -> Callable[[Path], list[str]]:
    """The names of everything in a folder, hidden files too."""
    return left_over
