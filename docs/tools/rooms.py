"""The rooms of the house, and how many imports lead from one to another.

    .venv/bin/python docs/tools/rooms.py [--write]

Rooms and their order are those of the import contracts in ``pyproject.toml``. Counted is every
module of one room that imports a module of another, once for each pair of modules, wherever in the
file the import stands. ``--write`` puts the pictures into ``docs/design.md``.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
PAGE = ROOT / "docs" / "design.md"

Edges = Counter[tuple[str, str]]  # (the room that imports, the room that is imported): how often


def layers(container: str) -> list[list[str]]:
    """The rooms of a container from the top down, those of one layer together."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for contract in settings["tool"]["importlinter"]["contracts"]:
        if container in contract.get("containers", ()):
            return [re.findall(r"\w+", layer) for layer in contract["layers"]]
    raise SystemExit(f"no contract has layers for {container}")


def edges(container: str) -> Edges:
    """How often the modules of each room import those of another room in the same container."""
    found: Edges = Counter()
    for module, others in imports(SRC).items():
        here = _room(module, container)
        for there in (_room(other, container) for other in others):
            if here is not None and there is not None and there != here:
                found[here, there] += 1
    return found


@cache
def imports(src: Path) -> dict[str, set[str]]:
    """Every module below a folder, and the modules there that it imports."""
    known = {_module(path, src): path for path in src.rglob("*.py")}
    return {module: {*_imported(path, known)} for module, path in known.items()}


def upwards(container: str) -> Edges:
    """The edges to a higher room, or to another of the same layer: there should be none."""
    level = {room: n for n, rooms in enumerate(layers(container)) for room in rooms}
    return Counter({e: n for e, n in edges(container).items() if level[e[1]] <= level[e[0]]})


def _module(path: Path, src: Path) -> str:
    parts = path.relative_to(src).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _room(module: str, container: str) -> str | None:
    """The room of a module; what stands in the container itself is in none."""
    if not module.startswith(f"{container}."):
        return None
    return module.removeprefix(f"{container}.").partition(".")[0]


def _imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules that a file imports, or imports something from."""
    for node in _statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module in known:
            for entry in node.names:
                below = f"{node.module}.{entry.name}"
                yield below if below in known else node.module
        elif isinstance(node, ast.Import):
            yield from (entry.name for entry in node.names if entry.name in known)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements of a file, wherever they stand; most of it are expressions."""
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        below = getattr(node, field, None)
        for each in below if isinstance(below, list) else ():
            yield each
            yield from _statements(each)


def picture(container: str) -> str:
    """The rooms from the top down, and beside each how often it imports each one below it."""
    order = [room for rooms in layers(container) for room in rooms]
    count = edges(container)
    wide = max(map(len, order))
    rows = []
    for number, room in enumerate(order):
        cells = [f"{count[room, other] or '·':>4}" for other in order[:number]]
        cells += ["   ╲"] + [f"{count[room, other] or '·':>4}" for other in order[number + 1 :]]
        rows.append(f"{room:>{wide}} {number + 1:>2} {''.join(cells)}".rstrip())
    head = f"{'':>{wide}}    " + "".join(f"{number + 1:>4}" for number in range(len(order)))
    return "\n".join(["```text", head, *rows, "```"])


def both() -> str:
    """The picture of the whole house, and that of the rooms of ``collect``."""
    return "\n\n".join(
        [picture("adjudge"), "The rooms of `collect`, likewise:", picture("adjudge.collect")]
    )


def filled(text: str) -> str:
    """The page with the pictures as the code is now."""
    part = f"<!-- rooms -->\n\n{both()}\n\n<!-- end of rooms -->"
    return re.sub(r"<!-- rooms -->.*?<!-- end of rooms -->", lambda _: part, text, flags=re.DOTALL)


def main() -> None:
    """Print the pictures, or write them into the page."""
    if "--write" in sys.argv:
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(both())


if __name__ == "__main__":
    main()
