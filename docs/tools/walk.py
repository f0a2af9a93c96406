"""The walk of one command through the code: files and functions that a run passes through.

    .venv/bin/python docs/tools/walk.py [--write] [--json] [COMMAND ...]

Without a command it is ``consensus`` on a small made CSV. Counted is every function of adjudge that
is called once the command runs, in whatever thread; what a module does while it is imported is not.
Lines are those of the files, whole. ``--write`` puts the table into ``docs/design.md``.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src" / "adjudge"
PAGE = ROOT / "docs" / "design.md"

Walk = dict[str, list[str]]  # file: the functions called in it


def follow(arguments: list[str]) -> Walk:
    """Run a command in this process, and note every function that it passes through."""
    import threading

    found: dict[str, set[str]] = {}
    loading = threading.local()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(f"{SRC}{os.sep}"):
            return
        depth = getattr(loading, "depth", 0)
        if code.co_name == "<module>":
            loading.depth = depth + {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and depth == 0:
            found.setdefault(code.co_filename, set()).add(_named(code.co_qualname))

    _load_libraries()
    from adjudge.cli import call

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        code = call(arguments)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    if code:
        raise SystemExit(f"the command ended with {code}")
    return {Path(file).relative_to(SRC).as_posix(): sorted(f) for file, f in sorted(found.items())}


def _load_libraries() -> None:
    """Import what the command will: followed, it would take seconds, and it is not ours."""
    for library in ("numba", "pyarrow.csv", "pyarrow.compute", "rich.console", "pydantic", "typer"):
        importlib.import_module(library)
    from numba.core.registry import cpu_target
    from pyarrow import array

    cpu_target.target_context.refresh()  # what numba imports before the first kernel
    array([0])  # pandas, where Arrow finds it


def _named(name: str) -> str:
    """The function that holds a loop in brackets or a lambda."""
    return re.sub(r"\.<locals>.*|^<.*", "", name)


def walked(*arguments: str) -> Walk:
    """The walk of a command in a process of its own, where nothing is loaded yet."""
    given = ["--", *arguments] if arguments else []
    with tempfile.TemporaryDirectory() as folder:
        if not arguments:
            made = Path(folder) / "judgments.csv"
            rows = [f"i{n // 3},j{n % 5},{n * n % 3}" for n in range(300)]
            made.write_text("\n".join(["item,judge,label", *rows, ""]))
            given = ["--", "consensus", str(made), "-q", "-o", str(Path(folder) / "labels.csv")]
        ran = subprocess.run(
            [sys.executable, __file__, *given], capture_output=True, text=True, check=True
        )
    walk: Walk = json.loads(ran.stdout.splitlines()[-1])
    return walk


def lines_of(walk: Walk) -> dict[str, int]:
    """How long each file of a walk is."""
    return {file: len((SRC / file).read_text().splitlines()) for file in walk}


def table(walk: Walk) -> str:
    """The walk by room, as a table of the docs."""
    lengths = lines_of(walk)
    files, lines, functions = Counter[str](), Counter[str](), Counter[str]()
    for file, called in walk.items():
        room = file.rpartition("/")[0]
        files[room] += 1
        lines[room] += lengths[file]
        functions[room] += len({name for name in called if name})
    rows = [f"| {room} | {files[room]} | {lines[room]:,} | {functions[room]} |" for room in files]
    whole = [files.total(), lines.total(), functions.total()]
    head = ["| room | files | lines in them | functions called |", "| --- | --: | --: | --: |"]
    return "\n".join([*head, *rows, f"| **all** | {whole[0]} | {whole[1]:,} | {whole[2]} |"])


def main() -> None:
    """Follow a command and print its walk, or write it into the page."""
    given = sys.argv[1:]
    if "--" in given:
        print(json.dumps(follow(given[given.index("--") + 1 :])))
        return
    flags = {flag for flag in given if flag in ("--write", "--json")}
    walk = walked(*(word for word in given if word not in flags))
    if "--json" in flags:
        print(json.dumps(walk, indent=2))
    if "--write" in flags:
        text = PAGE.read_text(encoding="utf-8")
        part = f"<!-- walk -->\n\n{table(walk)}\n\n<!-- end -->"
        page = re.sub(r"<!-- walk -->.*?<!-- end -->", part, text, flags=re.DOTALL)
        PAGE.write_text(page, encoding="utf-8")
    if not flags:
        print(table(walk))


if __name__ == "__main__":
    main()
