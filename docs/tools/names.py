"""The public names under src: how many there are, and which need not be public.

    .venv/bin/python docs/tools/names.py [--unused] [--twice] [--trespassing]

A public name is a function or a class at the top level of a module, neither of which begins with an
underscore: what stands in ``models/_gibbs.py`` belongs to ``models/`` alone. What a module only
imports is not counted, nor are the migrations, whose names Alembic sets.

``--unused`` lists the names without an underscore, constants too, that nothing outside their module
uses: no other module, test, benchmark, script or page of the docs. ``--twice`` lists the names of
classes, private ones too, that stand in more than one module. ``--trespassing`` lists the imports
of a private module from outside its package.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
USERS = ("src", "tests", "benchmarks", "scripts", "docs")

# Names that are looked up in a module known only when it runs: a command's, a format's, a paper's,
# a router's, a background process's, and the app that uvicorn is told to start.
LOOKED_UP = {
    "COMMAND",
    "COMMANDS",
    "ENVIRONMENT",
    "FORMATS",
    "REPLICATION",
    "router",
    "main",
    "from_environment",
}


def module_of(path: Path) -> str:
    """The dotted name of a file."""
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, ast.Module]:
    """Every module under src, parsed."""
    return {
        module_of(path): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SRC.rglob("*.py"))
        if "migrations" not in path.parts
    }


def defined(body: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """What is defined at the top level, also under ``if`` and ``try``."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found = (part for target in targets for part in ast.walk(target))
            yield from ((part.id, node) for part in found if _is_set(part))
        elif isinstance(node, ast.If | ast.Try):
            yield from defined(node.body)
            yield from defined(node.orelse)


def _is_set(part: ast.AST) -> bool:
    return isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)


@cache
def plain() -> dict[tuple[str, str], ast.stmt]:
    """The names without an underscore, by module and name; those of private modules too."""
    return {
        (module, name): node
        for module, tree in modules().items()
        for name, node in defined(tree.body)
        if not name.startswith("_")
    }


def public() -> dict[tuple[str, str], ast.stmt]:
    """The public functions and classes, by module and name."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return {
        (module, name): node
        for (module, name), node in plain().items()
        if isinstance(node, kinds) and owner_of(module) is None
    }


def owner_of(module: str) -> str | None:
    """The package that a private module belongs to; None for a module open to all."""
    parts = module.split(".")
    for place, part in enumerate(parts):
        if part.startswith("_") and not part.startswith("__"):
            return ".".join(parts[:place])
    return None


def trespassing() -> list[tuple[str, str]]:
    """The modules that import a private module of a package that they are not in."""
    return [
        (module, imported)
        for module, tree in modules().items()
        for imported in sorted({name for use in _used_by(tree) for name in (use[0], ".".join(use))})
        if (owner := owner_of(imported)) is not None
        and imported in modules()
        and not f"{module}.".startswith(f"{owner}.")
    ]


@cache
def _used_by(tree: ast.Module) -> frozenset[tuple[str, str]]:
    """The names that a module under src uses, which is asked more than once."""
    return frozenset(used(tree))


def used(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The names of other modules that a file uses: imported, by attribute, or in a text."""
    known, nodes = modules(), list(_walk(tree))
    short = {}  # what a module is called in this file
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            for entry in node.names:
                yield node.module, entry.name
                if f"{node.module}.{entry.name}" in known:
                    short[entry.asname or entry.name] = f"{node.module}.{entry.name}"
        elif isinstance(node, ast.Import):
            short |= {entry.asname or entry.name: entry.name for entry in node.names}
    for node in nodes:
        if isinstance(node, ast.Attribute):
            base = _dotted(node.value)
            yield short.get(base, base), node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from mentioned(node.value)


def _walk(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node that may hold a name, in half the time that ast.walk takes for all of them."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, list):
                left += [one for one in value if isinstance(one, ast.AST)]
            elif isinstance(value, ast.AST) and field not in ("ctx", "op"):
                left.append(value)


def _dotted(node: ast.expr) -> str:
    """A name with its attributes, as it is written; nothing for any other expression."""
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return before and f"{before}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def mentioned(text: str) -> Iterator[tuple[str, str]]:
    """The names that a text has: ``from adjudge.x import y``, ``adjudge.x.y``, ``adjudge.x:y``."""
    if "adjudge" not in text:
        return
    for found in re.finditer(r"from (adjudge[\w.]*) import (\([^)]*\)|[^\n]*)", text):
        yield from ((found[1], name) for name in re.findall(r"\w+", found[2]))
    yield from re.findall(r"\b(adjudge(?:\.\w+)*)[.:](\w+)", text)


def unused() -> list[tuple[str, str]]:
    """The names without an underscore that nothing outside their module uses."""
    left = {use for use in plain() if use[1] not in LOOKED_UP}
    # What the packages pass on: by whose name, what.
    passed_on = {
        (package, name): (module, name)
        for package, tree in modules().items()
        if _is_package(package)
        for module, name in _used_by(tree)
    }

    def strike(found: set[tuple[str, str]]) -> None:
        left.difference_update(found, {passed_on[use] for use in found if use in passed_on})

    for module, tree in modules().items():
        strike({use for use in _used_by(tree) if use[0] != module})
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        strike(set(mentioned(page.read_text(encoding="utf-8"))))
    for path in (path for folder in USERS for path in (ROOT / folder).rglob("*.py")):
        if ".cache" in path.parts:  # what the benchmarks have installed
            continue
        if path.is_relative_to(SRC) and module_of(path) in modules():
            continue
        text = path.read_text("utf-8")
        if not {name for _, name in left}.isdisjoint(re.findall(r"\w+", text)):  # worth parsing
            strike(set(used(ast.parse(text))))
    return [use for use in plain() if use in left]


def _is_package(module: str) -> bool:
    return SRC.joinpath(*module.split("."), "__init__.py").is_file()


def twice() -> dict[str, list[str]]:
    """The classes' names that stand in more than one module."""
    homes = defaultdict[str, list[str]](list)
    for module, tree in modules().items():
        for name, node in defined(tree.body):
            if isinstance(node, ast.ClassDef):
                homes[name.lstrip("_")].append(module)
    return {name: found for name, found in homes.items() if len(found) > 1}


def main() -> None:
    """Print the count by room and kind, or the lists that are asked for."""
    asked = {
        "--unused": lambda: [f"{m}.{n}" for m, n in unused()],
        "--twice": lambda: [f"{n}: {', '.join(m)}" for n, m in twice().items()],
        "--trespassing": lambda: [f"{m} imports {n}" for m, n in trespassing()],
    }
    if wanted := [lines for option, lines in asked.items() if option in sys.argv]:
        print("\n".join(line for lines in wanted for line in lines()))
        return
    rooms, kinds = Counter[str](), Counter[str]()
    for (module, _), node in public().items():
        rooms[".".join(module.split(".")[: 3 if ".collect." in module else 2])] += 1
        kinds["classes" if isinstance(node, ast.ClassDef) else "functions"] += 1
    for room, count in rooms.most_common():
        print(f"{count:6,}  {room}")
    print(f"{kinds.total():6,}  in all:", *(f"{count:,} {kind}" for kind, count in kinds.items()))


if __name__ == "__main__":
    main()
