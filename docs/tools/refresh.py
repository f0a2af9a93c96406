"""Rewrite the examples and the generated parts of the pages from the current code.

    .venv/bin/python docs/tools/refresh.py [PAGE ...]

Review the difference: numbers that changed belong in the changelog, under "Changed results".
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from examples import run_page
from reference import filled

ROOT = Path(__file__).resolve().parents[2]


def pages() -> list[Path]:
    """List README.md and every page of the docs."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def main() -> None:
    """Refresh the given pages, or all."""
    chosen = [Path(name).resolve() for name in sys.argv[1:]] or pages()
    for path in chosen:
        before = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            page = run_page(filled(before), Path(folder))
        if page.text != before:
            path.write_text(page.text, encoding="utf-8")
            print(f"{path.relative_to(ROOT)}: rewritten, {len(page.faults)} examples differed")


if __name__ == "__main__":
    main()
