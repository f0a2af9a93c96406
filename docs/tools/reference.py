"""The parts of pages that are made from the code: commands, formats and policy settings.

Each is between ``<!-- NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import inspect
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_type_hints


def filled(text: str) -> str:
    """The text with each such part as the code tells it now."""

    def fill(found: re.Match[str]) -> str:
        return f"<!-- {found[1]} -->\n\n{PARTS[found[1]]()}\n<!-- end -->"

    names = "|".join(PARTS)
    return re.sub(rf"<!-- ({names}) -->\n.*?<!-- end -->", fill, text, flags=re.DOTALL)


def commands() -> str:
    """Every command with its words, its examples and its options; then the options they share."""
    known = list_commands()
    options = {name: list(_options(entry.callback)) for name, entry in known.items()}
    uses = Counter(panel for rows in options.values() for panel in {panel for panel, _, _ in rows})
    shared: dict[str, dict[str, str]] = {}  # panel: option: row
    parts = []
    for name, entry in known.items():
        own, others = [], dict[str, list[str]]()
        for panel, option, row in options[name]:
            if panel is None or uses[panel] == 1:
                own.append(row)
            else:
                others.setdefault(panel, []).append(option)
                shared.setdefault(panel, {})[option] = row
        parts.append(_command(name, entry, own, others))
    parts.append("## Options that commands share\n")
    for panel, rows in shared.items():
        parts.append(f"### {panel}\n\n{_table(list(rows.values()))}\n")
    return "\n".join(parts)


def list_commands(only: str | None = None) -> dict[str, Any]:
    """Every command by its words, ``consensus``, ``project create``; or those of one file alone."""
    from adjudge.cli import _build

    made = _build(only)
    found = {str(entry.name): entry for entry in made.registered_commands}
    for group in made.registered_groups:
        below = group.typer_instance
        if below is not None:
            found |= {f"{below.info.name} {e.name}": e for e in below.registered_commands}
    return found


def _options(run: Any) -> Iterator[tuple[str | None, str, str]]:
    """Each option of a command: the panel of the help that it stands in, its name, its row."""
    hints = get_type_hints(run, include_extras=True)
    for given in inspect.signature(run).parameters.values():
        panel = hints[given.name].__metadata__[0].rich_help_panel
        yield panel, *_row(given.name, hints[given.name], given.default)


def _command(name: str, entry: Any, own: list[str], others: dict[str, list[str]]) -> str:
    """The section of a command."""
    examples = "\n".join(re.findall(r"^\s*(adjudge .*)$", entry.epilog, re.MULTILINE))
    parts = [f"## adjudge {name}", entry.help, f"```sh\n{examples}\n```"]
    if own:
        parts.append(_table(own))
    if others:
        links = (
            f"- [{panel}](#{panel.lower().replace(' ', '-')}): {', '.join(options)}"
            for panel, options in others.items()
        )
        parts.append("\n".join(links))
    return "\n\n".join(parts) + "\n"


def _table(rows: list[str]) -> str:
    return "\n".join(["| option | default | what it does |", "| --- | --- | --- |", *rows])


def _row(name: str, hint: Any, default: Any) -> tuple[str, str]:
    """The name of an argument or option, and its row of a table."""
    kinds, told = set(get_args(hint.__origin__)) or {hint.__origin__}, hint.__metadata__[0]
    what = _cell(" ".join((told.help or "").split()))
    if type(told).__name__ == "ArgumentInfo":
        needed = "required" if default is inspect.Parameter.empty else ""
        return told.metavar, f"| `{told.metavar}` | {needed} | {what} |"
    # Typer takes the first flag of an Annotated option for its default until it is asked.
    flags = [flag for flag in (told.default, *told.param_decls) if str(flag).startswith("-")]
    flags = flags or [f"--{name.replace('_', '-')}"]
    value = told.metavar or ""
    if not value and bool not in kinds:
        value = "N" if int in kinds else "X" if float in kinds else "TEXT"
    shown = "" if default is None or default is False or default == "" else f"`{default}`"
    if default is inspect.Parameter.empty:
        shown = "required"
    listed = ", ".join(f"`{flag}`" for flag in flags)
    return f"`{flags[0]}`", f"| {' '.join([listed, _cell(value)]).strip()} | {shown} | {what} |"


def formats() -> str:
    """Every format: what it is read as, what it is written from, what it looks like."""
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
    """Text that Markdown shows as it stands: angle brackets would be taken for HTML."""
    return text.replace("<", "&lt;").replace(">", "&gt;").replace("|", "\\|").replace("*", "\\*")


def policy() -> str:
    """Every setting of a policy, with its default and what it means."""
    from adjudge.collect.rules.policy import Policy

    rows = ["| setting | default | meaning |", "| --- | --- | --- |"]
    for name, default in Policy().to_dict().items():
        shown = json.dumps(default).strip('"') or "(empty)"
        field = Policy.model_fields[name]
        rows.append(f"| `{name}` | `{shown}` | {field.title}. {field.description} |")
    return "\n".join(rows) + "\n"


PARTS: dict[str, Callable[[], str]] = {"commands": commands, "formats": formats, "policy": policy}
