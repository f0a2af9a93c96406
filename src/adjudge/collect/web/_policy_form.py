"""The policy of a project as a form: every setting as it is declared, and back from a form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from adjudge.collect.rules.policy import Policy, settings_by_part
from adjudge.collect.web._forms import Form, number_or_text

_LONGEST_LINE = 2_000  # characters of a text that is shown on one line


@dataclass(frozen=True, slots=True)
class Field:
    """One setting as the form shows it."""

    name: str
    title: str
    hint: str
    kind: str  # flag, number, text, long, choice, several
    value: Any
    options: tuple[str, ...] = ()
    default: str = ""  # in words


@dataclass(frozen=True, slots=True)
class _FormPart:
    """Settings that belong together: those to tick, and those to fill in."""

    title: str
    flags: list[Field]
    fields: list[Field]


_BASIC = {
    "judgments_per_item": "How many trusted judgments does each item need?",
    "training_pairs": "On how many items are judges trained?",
    "pay_per_page": "What is a page paid?",
    "budget": "What may it cost at most?",
    "channels": "How may judges come?",
}


def basics(policy: Policy) -> list[Field]:
    """The five questions that everybody answers."""
    known = {field.name: field for field in fields(policy)}
    return [replace(known[name], title=question) for name, question in _BASIC.items()]


def parts(policy: Policy) -> list[_FormPart]:
    """Every other setting of a policy, part by part."""
    made: list[_FormPart] = []
    known = {field.name: field for field in fields(policy) if field.name not in _BASIC}
    for title, names in settings_by_part().items():
        theirs = [known[name] for name in names if name in known]
        ticked = [field for field in theirs if field.kind in ("flag", "several")]
        made.append(_FormPart(title, ticked, [one for one in theirs if one not in ticked]))
    return made


def fields(policy: Policy) -> list[Field]:
    """Every setting of a policy, as it is declared."""
    shown = []
    for name, declared in Policy.model_fields.items():
        value = getattr(policy, name)
        kind, options = _kind(declared)
        if kind in ("text", "number"):
            value = in_form(value)
        title, hint = str(declared.title), str(declared.description)
        default = _default(declared.default)
        shown.append(Field(name, title, hint, kind, value, options, default))
    return shown


def _default(value: object) -> str:
    """A default in words."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(value)
    return in_form(value) or "none"


def _kinds(declared: FieldInfo) -> tuple[Any, ...]:
    """The types that a setting may have."""
    return get_args(declared.annotation) or (declared.annotation,)


def _kind(declared: FieldInfo) -> tuple[str, tuple[str, ...]]:
    """How a setting is entered, and what can be chosen."""
    kinds = _kinds(declared)
    if get_origin(declared.annotation) is tuple:
        return "several", get_args(kinds[0])
    if get_origin(declared.annotation) is Literal:
        return "choice", kinds
    if kinds == (bool,):
        return "flag", ()
    if kinds == (str,):
        longest = next(one.max_length for one in declared.metadata if hasattr(one, "max_length"))
        return "text" if longest <= _LONGEST_LINE else "long", ()
    return "text" if str in kinds else "number", ()


def in_form(value: object) -> str:
    """A value as the text of a field; empty for none."""
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return ", ".join(f"{label}: {share:g}" for label, share in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)


def settings(form: Form, policy: Policy) -> dict[str, Any]:
    """The settings that a form changes; errors about values are the policy's own."""
    changed: dict[str, Any] = {}
    for field in fields(policy):
        if field.kind == "flag":
            value: Any = field.name in form.fields
        elif field.kind == "several":
            value = tuple(form.lists.get(field.name, []))
        else:
            value = form.text(field.name, most=20_000) if field.name in form.fields else field.value
        if value != field.value:
            changed[field.name] = read(field.name, value) if isinstance(value, str) else value
    return changed


def read(name: str, text: str) -> Any:
    """Read the value of a setting from its text; the policy checks it."""
    kinds = _kinds(Policy.model_fields[name])
    if name.endswith("_mix") and ":" in text:
        parts = (part.rpartition(":") for part in text.split(","))
        return {label.strip(): number_or_text(share) for label, _, share in parts}
    if NoneType in kinds and not text:
        return None
    return number_or_text(text) if int in kinds or float in kinds else text
