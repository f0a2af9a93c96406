"""The notebooks of the docs run from first cell to last, and are kept without outputs."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("ADJUDGE_DATA", ROOT.parent / "shared" / "data"))


def tool() -> Any:
    """docs/tools/notebooks.py as a module."""
    path = ROOT / "docs" / "tools" / "notebooks.py"
    spec = importlib.util.spec_from_file_location("docs_notebooks", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = tool()
NOTEBOOKS = TOOL.notebooks()
each = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


def test_there_are_some() -> None:
    assert "few-labels" in {path.stem for path in NOTEBOOKS}


@each
def test_they_are_kept_without_outputs(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == TOOL.stripped(text), "run docs/tools/notebooks.py"


@each
@pytest.mark.slow
def test_they_run(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In this process, which has the libraries; the tool runs each in one of its own."""
    if "ADJUDGE_DATA" in path.read_text(encoding="utf-8") and not DATA.is_dir():
        pytest.skip(f"no data at {DATA}")
    monkeypatch.setenv("ADJUDGE_DATA", str(DATA))
    monkeypatch.chdir(tmp_path)
    TOOL._run_cells(path)
    assert capsys.readouterr().out


def test_an_error_names_its_cell(tmp_path: Path) -> None:
    bad = tmp_path / "bad.ipynb"
    cell = '{"cell_type": "code", "source": ["x = 1\\n", "x / 0"], "outputs": [1]}'
    bad.write_text(f'{{"cells": [{{"cell_type": "markdown", "source": ["# Bad"]}}, {cell}]}}')
    done = TOOL.run(bad, tmp_path)
    assert done.returncode == 1
    assert 'File "bad.ipynb, cell 2", line 2' in done.stderr
    assert "ZeroDivisionError" in done.stderr
