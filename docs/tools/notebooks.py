"""Run the notebooks of the docs, cell by cell, as Jupyter would, without Jupyter.

    .venv/bin/python docs/tools/notebooks.py [NOTEBOOK ...]

A notebook is JSON; its code cells are run in order in one namespace, in a process of its own. They
are kept without outputs, so that a difference shows what changed: this strips them. Data are looked
for in the folder that ``ADJUDGE_DATA`` names.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"


def notebooks() -> list[Path]:
    """Every notebook of the docs."""
    return sorted(FOLDER.glob("*.ipynb"))


def stripped(text: str) -> str:
    """A notebook without outputs and counts."""
    notebook: dict[str, Any] = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def run(path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a notebook in a folder; an error names its cell and line."""
    return subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), "--run", str(path.resolve())],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def _run_cells(path: Path) -> None:
    """The code cells, one after the other."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for number, cell in enumerate(cells, 1):
        if cell["cell_type"] == "code":
            code = compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec")
            exec(code, names)  # noqa: S102 - the notebook is ours


def main() -> None:
    """Run the notebooks that are named, or all of them, and strip their outputs."""
    if sys.argv[1:2] == ["--run"]:
        _run_cells(Path(sys.argv[2]))
        return
    for path in [Path(name) for name in sys.argv[1:]] or notebooks():
        done = run(path, Path.cwd())
        print(f"{path.name}:\n{done.stdout}{done.stderr}")
        if done.returncode:
            sys.exit(done.returncode)
        path.write_text(stripped(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
