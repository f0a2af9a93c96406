"""Which columns a person named, and whether columns are those of judgments or of comparisons."""

from __future__ import annotations

from collections.abc import Mapping

from adjudge.data.columns import letters_of, roles_of
from adjudge.data.synonyms import NAMED, PAIR_SYNONYMS
from adjudge.errors import BadData, shown


def comparison_roles(columns: list[str]) -> dict[str, str]:
    """Which column plays which role; empty where the columns are not those of comparisons."""
    decided = {role: PAIR_SYNONYMS[role] for role in ("won", "lost")}
    paired = {role: names for role, names in PAIR_SYNONYMS.items() if role not in decided}
    found = roles_of(columns, paired) | roles_of(columns, decided)
    if {"left", "right", "outcome"} <= found.keys():
        return {role: name for role, name in found.items() if role not in decided}
    if decided.keys() <= found.keys() and not {"left", "right"} & found.keys():
        return {role: name for role, name in found.items() if role != "outcome"}
    return {}


def are_judgments(columns: list[str]) -> bool:
    """Whether columns are two of item, judge and label, or item and gold."""
    roles = roles_of(columns)
    parts = ("item" in roles or "document" in roles, "judge" in roles, "label" in roles)
    return sum(parts) >= 2 or (parts[0] and "gold" in roles)  # with one missing, say which


def named_columns(given: Mapping[str, str], columns: list[str], source: str) -> dict[str, str]:
    """The columns that a person named by role, as the table spells them; or an error.

    A column without a name goes by its number, counted from 1.
    """
    found: dict[str, str] = {}
    for role, name in given.items():
        if role not in NAMED:
            raise BadData(
                f"there is no role {shown(role)}; wanted one of {', '.join(NAMED)}", source=source
            )
        exact = [column for column in columns if column == name]
        loose = [column for column in columns if letters_of(column) == letters_of(name) != ""]
        place = f"column {name}"
        chosen = exact or ([place] if place in columns else []) or (loose[:1] if loose else [])
        if not chosen:
            raise BadData(
                f"there is no column {shown(name)} to be the {role}; "
                f"the columns are {', '.join(columns)}",
                source=source,
                column=name,
                wanted=role,
            )
        found[role] = chosen[0]
    return found
