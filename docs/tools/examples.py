"""Run the examples of a page: files, shell commands and Python sessions.

A fenced block ``console`` has commands after ``$ `` and their output; ``pycon`` is a Python
session; a block with ``title="name"`` is written to a file of that name. A page runs from top to
bottom in an empty folder. ``[...]`` alone on a line replaces lines that the page leaves out.

Commands of adjudge run in this process, as at a terminal ``WIDTH`` columns wide, or as in a pipe
if ``| head -n N`` follows. ``cat`` and ``head`` show files; other commands are errors.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

WIDTH = 90
GAP = "[...]"
_FENCE = re.compile(
    r"^```(?P<kind>\w+)(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
_TITLE = re.compile(r'title="([^"]+)"')
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_RULE = re.compile(r"[\s─━═╭╮╰╯│┌┐└┘╞╡┆]+")
_BAR = re.compile(r".*━.* \d+:\d\d:\d\d\s*")  # a progress bar, which only a slow run shows
_LONG = re.compile(r"\d+\.\d{13,}(?:e-?\d+)?")
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(slots=True)
class Page:
    """A page with the output of a run; ``faults`` lists the differences from what it showed."""

    text: str  # as it should be
    faults: list[str] = field(default_factory=list)


def run_page(text: str, folder: Path) -> Page:
    """Run the examples of a page in an empty folder."""
    page = Page(text="")
    names: dict[str, Any] = {}
    done = 0
    with _at_terminal(folder):
        for block in _FENCE.finditer(text):
            kind, info, body = block["kind"], block["info"], block["body"]
            title = _TITLE.search(info)
            fresh = body
            if title is not None:
                path = folder / title[1]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(body, encoding="utf-8")
            elif kind == "console":
                fresh = _run_shell(body, page)
            elif kind == "pycon":
                fresh = _run_python(body, names, page)
            page.text += text[done : block.start("body")] + fresh
            done = block.end("body")
    page.text += text[done:]
    return page


class _Screen(io.TextIOWrapper):
    """A terminal or pipe that keeps its output."""

    def __init__(self, terminal: bool) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def read_all(self) -> str:
        self.flush()
        raw: Any = self.buffer
        return _ESCAPE.sub("", raw.getvalue().decode())


@contextmanager
def _at_terminal(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    settings = {"COLUMNS": str(WIDTH), "LINES": "50", "TERM": "xterm"}
    os.chdir(folder)
    try:
        with patch.dict(os.environ, settings):
            yield
    finally:
        os.chdir(before)


def _run_shell(body: str, page: Page) -> str:
    """Return the block with the current output of its commands; output that matches is kept."""
    fresh = ""
    for part in re.split(r"^(?=\$ )", body, flags=re.MULTILINE):
        if not part.startswith("$ "):
            fresh += part
            continue
        found = re.match(r"\$ ((?:.*\\\n)*.*)\n?", part)
        command = found[1] if found else ""
        shown = part[found.end() :] if found else ""
        printed = _printed(command.replace("\\\n", " "))
        if not alike(shown, printed):
            page.faults.append(f"$ {command}\nshown:\n{shown}\nprinted:\n{printed}")
            shown = _cut_like(shown, printed)
        fresh += f"$ {command}\n{shown}"
    return fresh


def _printed(command: str) -> str:
    """Return the output of a command, without trailing spaces."""
    line, _, pipe = command.partition("|")
    words = shlex.split(line)
    screen = _Screen(terminal=not pipe)
    if words[0] in ("cat", "head"):
        text = Path(words[-1]).read_text(encoding="utf-8")
        pipe = pipe or (line if words[0] == "head" else "")
    else:
        with redirect_stdout(screen), redirect_stderr(_Screen(False) if pipe else screen):
            _adjudge(words)
        text = screen.read_all()
    lines = [entry.rstrip() for entry in text.splitlines()]
    lines = [entry for entry in lines if not entry.startswith("First run here:")]
    lines = [entry for entry in lines if not _BAR.fullmatch(entry)]
    if pipe:
        count = re.search(r"head -n (\d+)", pipe)
        if count is None:
            raise ValueError(f"no example can run {command!r}")
        lines = lines[: int(count[1])]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "".join(f"{entry}\n" for entry in lines)


def _adjudge(words: list[str]) -> None:
    from adjudge.cli import call

    if words[0] == "./scripts/demo":
        words = ["adjudge", "demo", *words[1:]]
    if words[0] != "adjudge":
        raise ValueError(f"no example can run {words[0]!r}")
    call(words[1:])


def alike(shown: str, printed: str) -> bool:
    """Whether two outputs agree, apart from spaces, rules of tables and lines left out.

    The last digits of a number with full precision may differ between machines.
    """
    parts = [re.escape(_plain(part)) for part in shown.split(f"{GAP}\n")]
    return re.fullmatch(r"(?:.*\n)?".join(parts), _plain(printed), re.DOTALL) is not None


def _plain(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.splitlines() if not _RULE.fullmatch(line))
    text = "".join(f"{line}\n" for line in lines if line)
    return _LONG.sub(lambda found: f"{float(found[0]):.12g}", text)


def _cut_like(shown: str, printed: str) -> str:
    """Return the new output with lines left out where the old one had gaps.

    The parts before the first gap and after the last keep their number of lines. A part between two
    gaps begins at the same line as before; if that line is gone, nothing is left out.
    """
    parts = [part.splitlines() for part in shown.split(f"{GAP}\n")]
    lines = printed.splitlines()
    kept = [lines[: len(parts[0])]]
    for part in parts[1:-1]:
        begin = next((at for at, line in enumerate(lines) if line.split() == part[0].split()), None)
        if begin is None:
            return printed
        kept.append(lines[begin : begin + len(part)])
    if len(parts) == 1 or sum(map(len, parts)) >= len(lines):
        return printed
    kept.append(lines[len(lines) - len(parts[-1]) :])
    return f"{GAP}\n".join("".join(f"{line}\n" for line in part) for part in kept)


class _Session(doctest.DocTestRunner):
    """A Python session that keeps what each line printed."""

    def __init__(self) -> None:
        super().__init__(verbose=False, optionflags=_FLAGS)
        self.got: dict[int, str] = {}
        self.faults: list[str] = []

    def report_start(self, out: Any, test: Any, example: Any) -> None:
        """Print nothing."""

    def report_success(self, out: Any, test: Any, example: Any, got: str) -> None:  # noqa: ARG002
        """Keep the shown output, which may have gaps of its own."""
        self.got[example.lineno] = example.want

    def report_failure(self, out: Any, test: Any, example: Any, got: str) -> None:  # noqa: ARG002
        """Keep the output."""
        self.got[example.lineno] = "\n".join(line or "<BLANKLINE>" for line in got.splitlines())
        self.faults.append(f">>> {example.source}shown:\n{example.want}\nprinted:\n{got}")

    def report_unexpected_exception(self, out: Any, test: Any, example: Any, exc_info: Any) -> None:
        """Keep the error."""
        self.report_failure(out, test, example, f"{exc_info[0].__name__}: {exc_info[1]}")


def _run_python(body: str, names: dict[str, Any], page: Page) -> str:
    """Return the session with its current output; names remain defined for the next block."""
    test = doctest.DocTestParser().get_doctest(body, names, "page", None, 0)
    session = _Session()
    session.run(test, out=lambda _: None, clear_globs=False)
    names.update(test.globs)
    page.faults.extend(session.faults)
    if not session.faults:
        return body
    fresh = ""
    for example in test.examples:
        first, *more = example.source.rstrip("\n").split("\n")
        fresh += "\n".join([f">>> {first}", *(f"... {line}" for line in more)]) + "\n"
        got = session.got.get(example.lineno, "").rstrip("\n")
        fresh += f"{got}\n" if got else ""
    return fresh
