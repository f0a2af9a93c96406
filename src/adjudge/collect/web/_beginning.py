"""What a new project begins with: labels, guidelines, presets, and a list of what to check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adjudge.collect.rules.golds import for_screening, for_training
from adjudge.collect.rules.policy import Policy
from adjudge.collect.values.project import Item, Project
from adjudge.collect.values.questions import FurtherQuestion
from adjudge.collect.values.sides import in_words, is_of_pairs
from adjudge.collect.web._forms import Form
from adjudge.data.scale import Scale, as_number, canonical
from adjudge.data.source import count_of
from adjudge.errors import BadSetting

STARTING_SCALE = Scale(
    labels=("Not relevant", "Partly relevant", "Relevant"),
    ordinal=True,
    relevant=("Partly relevant", "Relevant"),
    grades=(0.0, 1.0, 2.0),
)
PRESETS = {
    "open": ("Open link", "Whoever has the link may judge; three judgments a pair, unpaid."),
    "colleagues": ("Colleagues", "By invitation only; three judgments a pair, unpaid."),
    "prolific": ("Prolific", "Participants of a panel; five judgments a pair; set the pay next."),
    "pilot": ("Quick pilot", "One judgment a pair, no training, two pages a judge, to try it out."),
}
_SETTINGS: dict[str, dict[str, Any]] = {
    "open": {"channels": ["open", "invite", "api"], "judgments_per_item": 3},
    "colleagues": {"channels": ["invite", "api"], "judgments_per_item": 3},
    "prolific": {"channels": ["panel", "api"], "judgments_per_item": 5},
    "pilot": {"channels": ["open", "invite", "api"], "judgments_per_item": 1, "training": False,
              "max_pages": 2},
}  # fmt: skip
_AT_FIRST = Policy()
_OF_PANELS = ("panel", "participant_parameter", "return_link", "code_finished", "code_failed",
              "code_blocked", "code_nothing_left")  # fmt: skip
_SAY_WHEN = ": say when, with an example."  # what guidelines to begin with ask for
_SHOWN = 12  # items offered to be made gold
_SECONDS = 12.0  # that a judgment takes, roughly
_ENOUGH = 10  # gold that checks judges at all


def preset_policy(name: str, policy: Policy = _AT_FIRST, *, pairs: bool = False) -> dict[str, Any]:
    """The settings of a preset; those of a panel go when it is left.

    ``pairs``: with those of a new project of pairs: two results take longer to read than one.
    """
    if name not in _SETTINGS:
        raise BadSetting("preset", name, " or ".join(_SETTINGS))
    left = policy.panel not in ("none", name)
    gone = {one: getattr(_AT_FIRST, one) for one in _OF_PANELS} if left else {}
    paired = {"queries_per_page": 5, "results_per_query": 2} if pairs else {}
    return {"training": True, "max_pages": None, **paired, **gone, **_SETTINGS[name]}


def words_for(scale: Scale) -> str:
    """Guidelines to begin with."""
    pairs = is_of_pairs(scale.labels)
    first = "Read the query, then the result, and say how well it answers the query."
    if pairs:
        first = "Read the query, then both results, and say which of the two is better."
    labels = scale.labels if pairs else reversed(scale.labels)
    lines = [f"- **{in_words(label, pairs)}**{_SAY_WHEN}" for label in labels]
    return "\n".join([first, "", *lines])


def read_scale(form: Form) -> Scale:
    """The labels of a form: each with its grade; ordered by their grades where that is wanted."""
    pairs = []
    given = zip(form.lists.get("label", []), form.lists.get("grade", []), strict=False)
    for label, text in given:
        name = canonical(label)
        if not name:
            continue
        grade = as_number(text.strip())
        if grade is None or not -1e6 <= grade <= 1e6:
            raise BadSetting("grade", text, f"a number as the grade of {name}")
        pairs.append((name, grade))
    if len(pairs) < 2:
        raise BadSetting("labels", len(pairs), "two labels at least")
    ordered = bool(form.text("ordered"))
    if ordered:
        pairs.sort(key=lambda pair: pair[1])
    return Scale(
        labels=tuple(name for name, _ in pairs),
        ordinal=ordered,
        relevant=tuple(name for name, grade in pairs if grade > 0),
        grades=tuple(grade for _, grade in pairs),
    )


def read_colours(form: Form) -> dict[str, str]:
    """The colours of the labels of a form, of those that have one."""
    given = zip(form.lists.get("label", []), form.lists.get("colour", []), strict=False)
    return {canonical(label): colour for label, colour in given if canonical(label) and colour}


def some_of(items: Sequence[Item]) -> list[Item]:
    """A few items from all over, to be made gold."""
    step = max(1, len(items) // _SHOWN)
    return list(items[::step][:_SHOWN])


@dataclass(frozen=True, slots=True)
class _ChecklistEntry:
    """One thing to see to before a project is opened."""

    good: bool
    text: str
    at: str = ""  # where it is seen to, below on the page or beyond
    mend: str = ""  # what the link there is called


def check_list(project: Project, policy: Policy) -> list[_ChecklistEntry]:
    """What there is, and what judges would miss."""
    known = {gold.item for gold in project.golds}
    work = sum(item.name not in known for item in project.items)
    trained = {g.accepted[0] for g in project.golds if g.role in ("training", "both")}
    pairs = is_of_pairs(project.scale.labels)
    untrained = [in_words(label, pairs) for label in project.scale.labels if label not in trained]
    answers = work * policy.judgments_per_item
    said = project.guidelines.strip()
    begun = not said or _SAY_WHEN in said
    paid = policy.pay_per_page > 0
    return [
        _ChecklistEntry(work > 0, f"{count_of(work, 'pair')} to judge"),
        _ChecklistEntry(
            not begun,
            "guidelines are written" if not begun else
            "the guidelines do not say yet when each label is right",
            *(("#guide", "Write them") if begun else ()),
        ),
        _ChecklistEntry(
            not untrained or not policy.training,
            "every label has training gold" if not untrained else "no training is wanted"
            if not policy.training else f"no training gold for {', '.join(untrained)}",
            *(("#gold", "Give some") if untrained and policy.training else ()),
        ),
        _gold_entry(project, policy, len(known)),
        _ChecklistEntry(
            paid or policy.panel == "none",
            f"{policy.pay_per_page} {policy.currency} a page" if paid else
            "unpaid" if policy.panel == "none" else "the panel wants pay",
            *(() if paid or policy.panel == "none" else ("/settings", "Set it")),
        ),
        _ChecklistEntry(
            True,
            f"{count_of(answers, 'judgment')}, about {_how_long(answers * _SECONDS / 60)} of "
            f"judging in all ({_SECONDS:.0f} seconds each)",
        ),
    ]  # fmt: skip


def _how_long(minutes: float) -> str:
    if minutes < 90:
        return count_of(round(minutes), "minute")
    return f"{minutes / 60:.1f} hours" if minutes < 600 else f"{minutes / 60:,.0f} hours"


def _gold_entry(project: Project, policy: Policy, known: int) -> _ChecklistEntry:
    """Whether there is gold to check judges by: enough, and more than the training tells them."""
    if known < _ENOUGH:
        text = f"{count_of(known, 'gold pair')}: with {_ENOUGH} or more, judges are checked while "
        return _ChecklistEntry(False, f"{text}they work", "#gold", "Pick them")
    hidden = sum(for_screening(gold.role) for gold in project.golds)
    told = sum(for_training(gold.role) for gold in project.golds)
    both = sum(gold.role == "both" for gold in project.golds)
    taken = max(0, min(policy.training_pairs, told) - (told - both)) if policy.training else 0
    if policy.screening and hidden <= taken:
        text = (
            f"{count_of(known, 'gold pair')}, and the training tells the labels of all that would "
            "be hidden"
        )
        return _ChecklistEntry(False, f"{text} in the work", "/settings", "Shorten it")
    return _ChecklistEntry(True, count_of(known, "gold pair"))


def read_question_form(form: Form) -> list[FurtherQuestion]:
    """The further questions of a form, side by side; one without a name is none."""
    names = ("q-name", "q-text", "q-kind", "q-labels", "q-share", "q-required")
    made = []
    for name, text, kind, labels, share, required in zip(
        *(form.lists.get(one, []) for one in names), strict=False
    ):
        if not name.strip():
            continue
        number = as_number(share.strip())
        if number is None:
            raise BadSetting(f"share of {name}", share, "a number, such as 1 or 0.2")
        made.append(
            FurtherQuestion(
                name=name.strip(),
                text=text.strip(),
                kind=kind,
                labels="" if kind == "words" else labels.strip(),
                required=required != "no",
                share=number,
            )
        )
    return made
