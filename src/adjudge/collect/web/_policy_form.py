"""The policy of a project as a form: every setting with its words, and back from what was sent."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from adjudge.collect.rules.policy import Policy
from adjudge.collect.values.judging import CHANNELS
from adjudge.collect.web._forms import Form
from adjudge.errors import BadSetting

_WORDS: dict[str, tuple[str, str]] = {
    "judgments_per_item": ("Trusted judgments an item", "An item closes when it has so many."),
    "judgments_by_arm": ("So many judgments in each arm", "Else over all arms together."),
    "closing": ("When an item closes", "fixed: at that number; adaptive: when it is sure."),
    "least_judgments": ("Adaptive: at least", "judgments of every item."),
    "most_judgments": ("Adaptive: at most", "Empty: as many as above."),
    "sure": ("Adaptive: how sure", "Probability of the label, from 0.5 to 1."),
    "queries_per_page": ("Queries a page", ""),
    "results_per_query": ("Results a query", ""),
    "lease_minutes": ("Minutes a page is kept for its judge", "Then it goes to others."),
    "max_pages": ("Pages a judge may do", "Empty for no limit."),
    "set_aside_after": ("Set an item aside after", "so many answers that it cannot be judged."),
    "training": ("Training before the work", ""),
    "training_pairs": ("Results in the training", ""),
    "training_rule": ("What passes the training", "share: of its results; correct: so many right."),
    "training_pass": ("Share right to pass", "From 0 to 1."),
    "training_tries": ("Tries", "With correct: times as many results at most."),
    "training_mix": ("Labels in the training", "any, uniform, or shares such as: Spam: 0.2, ..."),
    "screening": ("Hidden gold in the work", ""),
    "screening_golds": ("Golds", "in every so many other results:"),
    "screening_pairs": ("Other results for those golds", ""),
    "screening_mix": ("Labels of hidden gold", "any, uniform, or shares."),
    "gold_runs_out": ("When a judge has seen all gold", ""),
    "feedback": ("Tell a judge what they missed", ""),
    "images": ("Show pictures of results", "Loaded by the judge's browser from where they are."),
    "previews": (
        "Open results in a frame beside the work",
        "Locked in: it can run its own scripts, and reach nothing of this page.",
    ),
    "trust": ("How trust is measured", "share: right among seen; beta: posterior."),
    "trust_training": ("Trust counts the training too", "Else hidden gold alone."),
    "warn_below": ("Warn below", "Accuracy on gold, from 0 to 1."),
    "block_below": ("Block below", "After a warning."),
    "confidence": ("How sure to be, with beta", "From 0 to 1."),
    "least_golds": ("Golds before any warning", ""),
    "golds_after_warning": ("Golds between warning and block", ""),
    "refresher_pairs": ("Results in a refresher", "0 for no refreshers."),
    "refresher_after": ("Missed golds that bring one", "Since the last refresher."),
    "refreshers": ("Refreshers a judge may have", ""),
    "flag_seconds": ("Flag who takes fewer seconds a pair", "Median. 0 for no such flag."),
    "flag_same_label": ("Flag one label on this share", "Where others differ. 0 for no such flag."),
    "flag_work_share": (
        "Flag work this far below gold",
        "Share of the agreement with others that gold lets expect. 0 for no such flag.",
    ),
    "flag_least": ("Answers before a flag for labels", "That others have answered too."),
    "flags_block": ("Block who is flagged", "Else only you do."),
    "pay_per_page": ("Pay for a page", ""),
    "pay_failed": ("Pay for who fails the training", ""),
    "pay_blocked": ("Pay the work of blocked judges", ""),
    "budget": ("Budget", "No page that would pass it is given out. Empty for none."),
    "budget_judgments": ("Budget in judgments", "Answers to work. Empty for none."),
    "currency": ("Currency", ""),
    "code_finished": ("Completion code: finished", "Empty for none."),
    "code_failed": ("Completion code: training failed", ""),
    "code_blocked": ("Completion code: blocked", ""),
    "code_nothing_left": ("Completion code: nothing left to judge", "For who came too late."),
    "panel": ("Panel whose rules are checked", ""),
    "participant_parameter": ("Name of the participant's id", "In the panel's link to you."),
    "return_link": ("Link back to the panel", "With {code}, {participant}, {SESSION_ID} ..."),
    "require_consent": ("Ask for consent", ""),
    "consent": ("Words of the consent", "Markdown."),
    "channels": (
        "Ways judges may come",
        "open: the link; invite: by name; panel; api: scripts, models.",
    ),
    "address_per_minute": ("New judges a minute from one address", "0 for no limit."),
    "address_per_hour": ("New judges an hour from one address", "0 for no limit."),
    "newcomers_per_minute": ("New judges a minute in all", "0 for no limit."),
    "newcomers_per_hour": ("New judges an hour in all", "0 for no limit."),
}

_PARTS = {  # by the first setting of each; what has no part of its own joins the last
    "judgments_per_item": "Pages and items",
    "training": "Training",
    "screening": "Hidden gold",
    "feedback": "What judges see",
    "trust": "Trust",
    "refresher_pairs": "Refreshers",
    "flag_seconds": "Flags",
    "pay_per_page": "Pay and completion codes",
    "panel": "Panel",
    "require_consent": "Coming in",
}
_CHOICES = {
    "closing": ("fixed", "adaptive"),
    "training_rule": ("share", "correct"),
    "gold_runs_out": ("repeat", "none", "finish"),
    "trust": ("share", "beta"),
    "panel": ("none", "prolific"),
}

_MAY_BE_NONE: dict[str, type[int] | type[Decimal]] = {
    "max_pages": int,
    "most_judgments": int,
    "budget": Decimal,
    "budget_judgments": int,
}


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

    @property
    def words(self) -> str:
        """What it is found by."""
        return f"{self.name} {self.name.replace('_', ' ')} {self.title} {self.hint}"


@dataclass(frozen=True, slots=True)
class _FormPart:
    """Settings that belong together: those to tick, and those to fill in."""

    title: str
    flags: list[Field]
    fields: list[Field]


_BASIC = ("judgments_per_item", "training_pairs", "pay_per_page", "budget", "channels")


def basics(policy: Policy) -> list[Field]:
    """The five settings that everybody sets."""
    known = {field.name: field for field in fields(policy)}
    return [known[name] for name in _BASIC]


def parts(policy: Policy) -> list[_FormPart]:
    """Every other setting of a policy, part by part."""
    made: list[_FormPart] = []
    for field in fields(policy):
        if field.name in _PARTS or not made:
            made.append(_FormPart(_PARTS.get(field.name, "Policy"), [], []))
        if field.name not in _BASIC:
            ticked = field.kind in ("flag", "several")
            (made[-1].flags if ticked else made[-1].fields).append(field)
    return made


def fields(policy: Policy) -> list[Field]:
    """Every setting of a policy, those without words of their own under their names."""
    shown = []
    standard = Policy()
    for field in dataclasses.fields(policy):
        value = getattr(policy, field.name)
        title, hint = _WORDS.get(field.name, (field.name.replace("_", " ").capitalize(), ""))
        kind, options = _kind(field.name, value)
        if kind in ("text", "number"):
            value = in_form(value)
        default = _default(getattr(standard, field.name))
        shown.append(Field(field.name, title, hint, kind, value, options, default))
    return shown


def _default(value: object) -> str:
    """A default in words."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(value)
    return in_form(value) or "none"


def _kind(name: str, value: object) -> tuple[str, tuple[str, ...]]:
    if name == "channels":
        return "several", CHANNELS
    if name in _CHOICES:
        return "choice", _CHOICES[name]
    if name == "consent":
        return "long", ()
    if isinstance(value, bool):
        return "flag", ()
    if isinstance(value, int | float | Decimal):
        return "number", ()
    return "text", ()


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
        now = getattr(policy, field.name)
        if field.kind == "flag":
            value: Any = field.name in form.fields
        elif field.kind == "several":
            value = tuple(form.lists.get(field.name, []))
        elif field.name in form.fields:
            value = _read(field, form.text(field.name, most=20_000), now)
        else:
            continue
        if value != now:
            changed[field.name] = value
    return changed


def _read(field: Field, text: str, now: object) -> Any:
    if field.name in _MAY_BE_NONE:
        return _number(field, text, _MAY_BE_NONE[field.name]) if text else None
    if isinstance(now, Decimal | int | float):
        return _number(field, text, type(now))
    if field.name.endswith("_mix") and ":" in text:
        parts = (part.rpartition(":") for part in text.split(","))
        return {label.strip(): _number(field, share, float) for label, _, share in parts}
    return text


def _number(
    field: Field, text: str, kind: type[int] | type[float] | type[Decimal]
) -> int | float | Decimal:
    try:
        return kind(text.strip())
    except (ValueError, InvalidOperation):
        wanted = "a whole number" if kind is int else "a number"
        raise BadSetting(field.name, text, wanted) from None
