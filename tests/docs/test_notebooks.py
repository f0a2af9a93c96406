"""The notebooks of the docs run, are kept without outputs, and their pages show what they print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tools import load

TOOL: Any = load("notebooks")
NOTEBOOKS = TOOL.notebooks()
each = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


@each
def test_they_are_kept_without_outputs(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == TOOL.stripped(text), "run docs/tools/notebooks.py"


@each
@pytest.mark.slow
def test_their_pages_show_what_they_print(path: Path) -> None:
    page, charts = TOOL.render(path)
    assert page == path.with_suffix(".md").read_text(encoding="utf-8"), (
        "run docs/tools/notebooks.py"
    )
    assert len(charts) >= 3
    assert all((path.parent / name).is_file() for name in charts)


def test_an_error_names_its_cell(tmp_path: Path) -> None:
    bad = tmp_path / "bad.ipynb"
    cell = '{"cell_type": "code", "source": ["x = 1\\n", "x / 0"], "outputs": [1]}'
    bad.write_text(f'{{"cells": [{{"cell_type": "markdown", "source": ["# Bad"]}}, {cell}]}}')
    with pytest.raises(ZeroDivisionError) as caught:
        TOOL.render(bad)
    assert str(caught.traceback[-1].path).endswith("bad.ipynb, cell 2")
