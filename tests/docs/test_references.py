"""Names in docstrings and comments exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
_DOTTED = re.compile(r"``(adjudge(?:\.\w+)+)``")
_ENTRY_POINTS = {"adjudge.models", "adjudge.formats"}


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or something that a module defines."""
    place, rest = SRC, name.split(".")
    while rest and (place / rest[0]).is_dir():
        place /= rest.pop(0)
    if rest and (place / f"{rest[0]}.py").is_file():
        place /= f"{rest.pop(0)}.py"
    if not rest:
        return True
    module = place / "__init__.py" if place.is_dir() else place
    named = {
        part
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        for part in (getattr(node, "name", None), getattr(node, "id", None))
    }
    return rest[0] in named


def test_names_in_docstrings_exist() -> None:
    missing = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in SRC.rglob("*.py")
        for name in _DOTTED.findall(file.read_text(encoding="utf-8"))
        if name not in _ENTRY_POINTS and not exists(name)
    ]
    assert missing == []
