"""Generate parts of pages from the code: commands, formats and policy settings.

Each is between ``<!-- NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, get_args, get_type_hints

COMMON = "Common"


def filled(text: str) -> str:
    """Regenerate each such part of a page."""

    def fill(found: re.Match[str]) -> str:
        return f"<!-- {found[1]} -->\n\n{PARTS[found[1]]()}\n<!-- end -->"

    names = "|".join(PARTS)
    return re.sub(rf"<!-- ({names}) -->\n.*?<!-- end -->", fill, text, flags=re.DOTALL)


def commands() -> str:
    """Describe every command: its purpose, an example and own options; then the shared options."""
    known = list_commands()
    options = {name: list(_options(entry.callback)) for name, entry in known.items()}
    uses = Counter(option for rows in options.values() for option in rows)
    panels = Counter(panel for rows in options.values() for panel in {one.panel for one in rows})
    shared: dict[str, dict[str, None]] = {COMMON: {}}  # panel: rows
    parts = []
    for name, entry in known.items():
        own, groups = [], dict[str, list[str]]()
        for option in options[name]:
            panel = option.panel if panels[option.panel] > 1 else None
            if panel is None and uses[option] == 1:
                own.append(option.row)
            else:
                groups.setdefault(panel or COMMON, []).append(option.name)
                shared.setdefault(panel or COMMON, {})[option.row] = None
        parts.append(_command(name, entry, own, groups))
    parts.append("## Shared options\n")
    for panel, rows in shared.items():
        parts.append(f"### {panel}\n\n{_table(list(rows))}\n")
    return "\n".join(parts)


def list_commands(only: str | None = None) -> dict[str, Any]:
    """List the commands by name, such as ``project create``; or those of one file."""
    from adjudge.cli import _build

    app = _build(only)
    found = {str(entry.name): entry for entry in app.registered_commands}
    for group in app.registered_groups:
        below = group.typer_instance
        if below is not None:
            found |= {f"{below.info.name} {e.name}": e for e in below.registered_commands}
    return found


class Option(NamedTuple):
    """An argument or option of a command, with its row of a table."""

    panel: str | None
    name: str
    row: str


def _options(run: Any) -> Iterator[Option]:
    """Yield each argument and option of a command."""
    hints = get_type_hints(run, include_extras=True)
    for given in inspect.signature(run).parameters.values():
        panel = hints[given.name].__metadata__[0].rich_help_panel
        yield Option(panel, *_row(given.name, hints[given.name], given.default))


def _command(name: str, entry: Any, own: list[str], groups: dict[str, list[str]]) -> str:
    """Return the section of a command."""
    example = re.search(r"^\s*(adjudge .*)$", entry.epilog, re.MULTILINE)
    shown = example[1] if example else f"adjudge {name}"
    parts = [f"## adjudge {name}", entry.help.split("\n\n")[0], f"```sh\n{shown}\n```"]
    if own:
        parts.append(_table(own))
    common = groups.pop(COMMON, [])
    links = [
        f"[{panel.split()[-1].lower()}](#{panel.lower().replace(' ', '-')})" for panel in groups
    ]
    if common or links:
        parts.append(f"Also: {', '.join([*common, *links])}.")
    return "\n\n".join(parts) + "\n"


def _table(rows: list[str]) -> str:
    return "\n".join(["| option | meaning |", "| --- | --- |", *rows])


def _row(name: str, hint: Any, default: Any) -> tuple[str, str]:
    """Return the name of an argument or option, and its row of a table."""
    kinds, info = set(get_args(hint.__origin__)) or {hint.__origin__}, hint.__metadata__[0]
    what = _cell(" ".join((info.help or "").split()))
    if type(info).__name__ == "ArgumentInfo":
        return f"`{info.metavar}`", f"| `{info.metavar}` | {what} |"
    # Typer takes the first flag of an Annotated option for its default until it is asked.
    flags = [flag for flag in (info.default, *info.param_decls) if str(flag).startswith("-")]
    flags = flags or [f"--{name.replace('_', '-')}"]
    value = info.metavar or ""
    if not value and bool not in kinds:
        value = "N" if int in kinds else "X" if float in kinds else "TEXT"
    if default is inspect.Parameter.empty:
        what += " Required."
    elif default not in (None, False, ""):
        what += f" Default: {default}."
    listed = ", ".join([*flags[:-1], f"{flags[-1]} {value}".strip()])
    return f"`{flags[0]}`", f"| `{listed}` | {what} |"


def formats() -> str:
    """List the formats: what each is read as and written from, and what it looks like."""
    from adjudge.data.formats import formats as known

    rows = [
        f"| `{entry.name}` | {_kinds(entry.reads)} | {_kinds(entry.writes)} | "
        f"{_cell(entry.title)} |"
        for entry in known().values()
    ]
    head = ["| format | read as | written from | what it looks like |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *rows]) + "\n"


def _kinds(kinds: tuple[str, ...]) -> str:
    return ", ".join(kinds) or "–"


def _cell(text: str) -> str:
    """Escape text for a cell of a Markdown table."""
    return text.replace("<", "&lt;").replace(">", "&gt;").replace("|", "\\|").replace("*", "\\*")


def synonyms() -> str:
    """List the other names of columns that are recognised."""
    from adjudge.data.synonyms import SYNONYMS

    rows = []
    for role in ("item", "topic", "document", "judge", "label", "gold", "time", "seconds"):
        others = ", ".join(name for name in SYNONYMS[role] if name != role)
        optional = " (optional)" if role in {"gold", "time", "seconds"} else ""
        rows.append(f"| `{role}`{optional} | {others} |")
    return "\n".join(["| column | also known as |", "| --- | --- |", *rows]) + "\n"


def policy() -> str:
    """List the settings of a policy."""
    from adjudge.collect.rules.policy import Policy

    rows = ["| setting | default | meaning |", "| --- | --- | --- |"]
    for name, default in Policy().to_dict().items():
        shown = json.dumps(default).strip('"') or "(empty)"
        field = Policy.model_fields[name]
        rows.append(f"| `{name}` | `{shown}` | {field.title}. {field.description} |")
    return "\n".join(rows) + "\n"


def names() -> str:
    """List every public name, for mkdocstrings to document."""
    parts, seen = [], set[str]()
    for module, public in _modules():
        rows = [f"::: {module}.{name}" for name in public if name not in seen]
        seen.update(public)
        parts.append("\n\n".join([f"## {module}", *rows]))
    return "\n\n".join(parts) + "\n"


def routes() -> str:
    """List the routes of the API, with the first line of their descriptions."""
    from fastapi import FastAPI

    from adjudge.collect.web.app import API, _routes

    app = FastAPI()
    app.router.routes.extend(_routes())
    rows = ["| method | path | what it does |", "| --- | --- | --- |"]
    for path, found in app.openapi()["paths"].items():
        if not path.startswith(API):
            continue
        for method, operation in found.items():
            what = operation["description"].splitlines()[0].replace("``", "`")
            rows.append(f"| `{method.upper()}` | `{path.removeprefix(API)}` | {what} |")
    return "\n".join(rows) + "\n"


def _modules() -> Iterator[tuple[str, list[str]]]:
    """Yield each public module with its names."""
    for module in ("adjudge", "adjudge.evaluation", "adjudge.report", "adjudge.simulation"):
        yield module, importlib.import_module(module).__all__
    yield "adjudge.sklearn", ["ConsensusEstimator"]


PARTS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "formats": formats,
    "names": names,
    "policy": policy,
    "routes": routes,
    "synonyms": synonyms,
}
