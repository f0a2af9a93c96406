"""Run the notebooks of the docs, and write each as a page with its outputs.

    .venv/bin/python docs/tools/notebooks.py [NOTEBOOK ...]

A notebook is kept without outputs, so that a difference shows what changed. Its page has the text
that each cell printed, and its charts as pictures.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import vl_convert
from altair import TopLevelMixin

from adjudge.report.theme import spec_of

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
_SCALE = 1.25  # pixels of a picture for each of the chart
_ROWS = 30  # lines of text that a cell may show


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


def render(path: Path) -> tuple[str, dict[str, Any]]:
    """Run a notebook; return its page as Markdown, and its charts by file name."""
    names: dict[str, Any] = {"__name__": "__main__"}
    parts: list[str] = []
    charts: dict[str, Any] = {}
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"], 1):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        printed, value = run_cell(source, names, f"{path.name}, cell {number}")
        if isinstance(value, TopLevelMixin):
            name = f"{path.stem}-{len(charts) + 1}.png"
            charts[name] = value
            parts.append(f"![{value.to_dict()['title']['text']}]({name})")
        elif value is not None:
            printed += value.summary() if hasattr(value, "summary") else str(value)
        if printed.strip():
            lines = printed.rstrip().splitlines()[:_ROWS]
            place = len(parts) - (1 if parts[-1].startswith("![") else 0)
            parts.insert(place, "```text\n" + "\n".join(map(str.rstrip, lines)) + "\n```")
    return "\n\n".join(parts) + "\n", charts


def run_cell(source: str, names: dict[str, Any], place: str) -> tuple[str, Any]:
    """Run a cell as Jupyter does; return what it printed, and its last value."""
    tree = ast.parse(source, place)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, place, "exec"), names)  # noqa: S102 - the notebook is ours
        if last is not None:
            expression = ast.Expression(last.value)  # type: ignore[attr-defined]
            value = eval(compile(expression, place, "eval"), names)  # noqa: S307 - likewise
    return printed.getvalue(), value


def main() -> None:
    """Render the notebooks that are named, or all of them, and strip their outputs."""
    for path in [Path(name) for name in sys.argv[1:]] or notebooks():
        page, charts = render(path)
        path.with_suffix(".md").write_text(page, encoding="utf-8")
        for name, chart in charts.items():
            picture = vl_convert.vegalite_to_png(spec_of(chart), scale=_SCALE)
            (path.parent / name).write_bytes(picture)
        path.write_text(stripped(path.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"{path.name}: {len(charts)} charts")


if __name__ == "__main__":
    main()
