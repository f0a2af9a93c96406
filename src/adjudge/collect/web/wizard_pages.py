"""A new project, step by step: files, columns, labels, gold, who judges, a list to check, open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from adjudge.collect.rules.golds import for_screening, for_training
from adjudge.collect.rules.policy import Policy
from adjudge.collect.values.judging import AskedQuestion
from adjudge.collect.values.project import COLOURS, GoldEntry, Item, Project
from adjudge.collect.values.questions import FurtherQuestion, read_questions
from adjudge.collect.values.sides import PAIR_SCALE, PAIR_SCALE_WITHOUT_TIES, in_words, is_of_pairs
from adjudge.collect.web import _uploading
from adjudge.collect.web._forms import Form, SentForm, number_or_text, read_grade
from adjudge.collect.web._login import LoggedIn, Who, page_router
from adjudge.collect.web._state import state_of
from adjudge.data.labels import likely_order
from adjudge.data.scale import Scale, canonical
from adjudge.errors import AdjudgeError, BadSetting, Refused

if TYPE_CHECKING:
    from adjudge.collect.importing import Preview


STARTING_SCALE = Scale(
    labels=("Not relevant", "Partly relevant", "Relevant"),
    ordinal=True,
    relevant=("Partly relevant", "Relevant"),
    grades=(0.0, 1.0, 2.0),
)
PRESETS = {
    "open": ("Open link", "Whoever has the link may judge; three judgments per item, unpaid."),
    "colleagues": ("Colleagues", "By invitation only; three judgments per item, unpaid."),
    "prolific": ("Prolific", "Participants of a panel; five judgments per item; set the pay next."),
    "pilot": (
        "Quick pilot",
        "One judgment per item, no training, two pages per judge, to try it out.",
    ),
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
              "code_blocked", "code_nothing_left", "code_partial", "least_pages")  # fmt: skip
_SAY_WHEN = ": say when, with an example."  # what guidelines to begin with ask for
_SHOWN = 12  # items offered to be made gold
_SECONDS = 12.0  # that a judgment takes, roughly
_ENOUGH = 10  # gold that checks judges at all


def _preset_policy(name: str, policy: Policy = _AT_FIRST, *, pairs: bool = False) -> dict[str, Any]:
    """The settings of a preset; those of a panel go when it is left.

    ``pairs``: with those of a new project of pairs: two results take longer to read than one.
    """
    if name not in _SETTINGS:
        raise BadSetting("preset", name, " or ".join(_SETTINGS))
    left = policy.panel not in ("none", name)
    gone = {one: getattr(_AT_FIRST, one) for one in _OF_PANELS} if left else {}
    paired = {"queries_per_page": 5, "results_per_query": 2} if pairs else {}
    return {"training": True, "max_pages": None, **paired, **gone, **_SETTINGS[name]}


def use_preset(who: LoggedIn, slug: str, preset: str) -> None:
    """Set what a preset of who judges says."""
    projects = who.services.projects
    projects.set_policy(slug, _preset_policy(preset, projects.get_policy(slug)[0]))
    if preset == "prolific":
        projects.use_panel(slug, "prolific")


def _words_for(scale: Scale) -> str:
    """Guidelines to begin with."""
    pairs = is_of_pairs(scale.labels)
    first = "Read the query, then the result, and say how well it answers the query."
    if pairs:
        first = "Read the query, then both results, and say which of the two is better."
    labels = scale.labels if pairs else reversed(scale.labels)
    lines = [f"- **{in_words(label, pairs)}**{_SAY_WHEN}" for label in labels]
    return "\n".join([first, "", *lines])


def _read_scale(form: Form) -> Scale:
    """Return the labels of a form with their grades; ordered by them if asked."""
    rows = [(canonical(row["label"]), row["grade"]) for row in form.rows("label", "grade")]
    pairs = [(label, read_grade(label, grade)) for label, grade in rows if label]
    if len(pairs) < 2:
        raise BadSetting("labels", len(pairs), "two labels at least")
    ordered = bool(form.text("ordered"))
    if ordered:
        pairs.sort(key=lambda pair: pair[1])
    return Scale(
        labels=tuple(label for label, _ in pairs),
        ordinal=ordered,
        relevant=tuple(label for label, grade in pairs if grade > 0),
        grades=tuple(grade for _, grade in pairs),
    )


def _read_colours(form: Form) -> dict[str, str]:
    """Return the colours of the labels of a form, of those that have one."""
    rows = [(canonical(row["label"]), row["colour"]) for row in form.rows("label", "colour")]
    return {label: colour for label, colour in rows if label and colour}


def _read_questions(form: Form) -> Sequence[FurtherQuestion]:
    """Return the further questions of a form; one without a name is left out."""
    made = []
    for row in form.rows("q-name", "q-text", "q-kind", "q-labels", "q-share", "q-required"):
        name, text, kind, labels, share, required = map(str.strip, row.values())
        given = {"name": name, "text": text, "kind": kind, "required": required != "no"}
        labels = "" if kind == "words" else labels
        made += [{**given, "labels": labels, "share": number_or_text(share)}] if name else []
    return read_questions(made)


def _some_of(items: Sequence[Item]) -> list[Item]:
    """A few items from all over, to be made gold."""
    step = max(1, len(items) // _SHOWN)
    return list(items[::step][:_SHOWN])


def _check_list(project: Project, policy: Policy) -> dict[str, Any]:
    """Return what there is to judge and to check judges by, which the page puts into words."""
    golds, labels = project.golds, project.scale.labels
    pairs = is_of_pairs(labels)
    known = {gold.item for gold in golds}
    trained = {gold.accepted[0] for gold in golds if gold.role in ("training", "both")}
    work = sum(item.name not in known for item in project.items)
    answers = work * policy.judgments_per_item
    training = sum(for_training(gold.role) for gold in golds)
    both = sum(gold.role == "both" for gold in golds)
    taken = max(0, min(policy.training_pairs, training) - (training - both))
    hidden = sum(for_screening(gold.role) for gold in golds)
    return {
        "work": work,
        "written": bool(project.guidelines.strip()) and _SAY_WHEN not in project.guidelines,
        "untrained": [in_words(label, pairs) for label in labels if label not in trained],
        "golds": len(known),
        "enough": _ENOUGH,
        # whether the training gives away the labels of all gold that would be hidden
        "given_away": policy.screening and hidden <= (taken if policy.training else 0),
        "answers": answers,
        "seconds": _SECONDS,
        "minutes": answers * _SECONDS / 60,
    }


router = page_router()


@router.get("/projects/new")
def _new(who: Who) -> Response:
    """Where files are given."""
    from adjudge.collect.importing.tables import PARTS

    settings = state_of(who.request).settings
    return who.show(
        "new",
        name="",
        preview=None,
        kept="",
        columns=(),
        parts=PARTS,
        most=settings.upload_bytes,
        rows=settings.upload_rows,
    )


@router.post("/projects/upload")
def _create(who: Who, form: SentForm) -> Response | str:
    """Make a draft of the files, or show what is wrong with them; they are kept either way."""
    name, labels = form.text("name", most=200), form.text("labels", most=2_000)
    kept = form.text("kept", most=40)
    files = form.files or who.services.uploads.find(kept)
    if not files:
        problem = "No file was sent: choose one, or drop it on the page."
        return _new(who.showing(422, name=name, problem=problem))
    if len(files) == 1 and _is_archive(files[0][1]):
        return _restore(who, name, *files[0])
    name = name or PurePosixPath(files[0][0]).stem.replace("_", " ").strip().capitalize()
    if form.files:
        kept = who.services.uploads.keep(files)
    by_hand = _by_hand(form)
    preview: Preview | None = None
    try:
        scale = Scale.parse(labels) if labels else None
        preview = _uploading.read(who.request, files, scale, columns=by_hand)
        if preview.errors:
            columns = _columns(who, files, by_hand)
            shown = who.showing(422, name=name, preview=preview, kept=kept, columns=columns)
            return _new(shown)
        scale = scale or _scale_of(preview)
        project = Project(
            name=name,
            scale=scale,
            guidelines=form.text("guidelines", most=200_000) or _words_for(scale),
            items=preview.items,
            golds=preview.golds,
            policy=_preset_policy("open", pairs=is_of_pairs(scale.labels)),
        )
        made = who.services.projects.create(project)
    except AdjudgeError as fault:
        return _new(who.again(fault, name=name, preview=preview, kept=kept))
    who.services.uploads.note_origin(made.slug, kept, by_hand)
    return f"/projects/{made.slug}/begin?done=read"


def _is_archive(body: bytes) -> bool:
    """Whether a file is what the page of exports gives as the entire project."""
    return body.startswith(b"PK") and b"project.json" in body and b"items.jsonl" in body


def _restore(who: LoggedIn, name: str, file: str, body: bytes) -> Response | str:
    """Make a project again from its archive; its answers stay there."""
    from adjudge.collect.importing import Upload
    from adjudge.collect.services.archive import read_archive

    try:
        project = read_archive(Upload(name=file, body=body), _uploading.limits_of(who.request))
        made = who.services.projects.create(replace(project, name=name or project.name))
    except AdjudgeError as fault:
        return _new(who.again(fault, name=name))
    return f"/projects/{made.slug}/begin?done=restored"


def _scale_of(preview: Preview) -> Scale:
    """The labels that the gold of the files suggests, or three grades to begin with."""
    if any(item.beside is not None for item in preview.items):
        return PAIR_SCALE
    given = {label for gold in preview.golds for label in gold.accepted}
    if given <= set(STARTING_SCALE.labels):  # which are known to have an order, and grades
        return STARTING_SCALE
    order = likely_order(sorted(given))
    if order:  # the next page shows it, to be changed
        grades = tuple(map(float, range(len(order))))
        return Scale(labels=order, ordinal=True, relevant=order[1:], grades=grades)
    return Scale.infer(given) if len(given) > 1 else STARTING_SCALE


def _by_hand(form: Form) -> dict[str, str]:
    """What somebody said that columns are."""
    names, parts = form.lists.get("column", []), form.lists.get("part", [])
    return dict(zip(names, parts, strict=False))


def _grades(scale: Scale) -> Sequence[float]:
    """The grades of labels, or what is offered: 1 for relevant ones where they have no order."""
    if not scale.grades and not scale.ordinal and scale.relevant:
        return [float(label in scale.relevant) for label in scale.labels]
    return scale.grades or [*map(float, scale.values)]


def _columns(who: LoggedIn, files: list[tuple[str, bytes]], by_hand: dict[str, str]) -> list[Any]:
    from adjudge.collect.importing import Upload
    from adjudge.collect.importing.tables import find_columns

    uploads = [Upload(name=name, body=body) for name, body in files]
    return find_columns(uploads, by_hand, _uploading.limits_of(who.request))


@router.get("/projects/{project}/begin")
def _begin(who: Who, project: str) -> Response:
    """A draft, looked over before it is opened."""
    from adjudge.collect.importing.tables import PARTS

    summary, held = who.services.projects.get_head(project), who.services.projects.read(project)
    policy = who.services.projects.get_policy(project)[0]
    upload, by_hand = who.services.uploads.get_origin(project)
    files = who.services.uploads.find(upload) if summary.state == "draft" else []
    scale = held.scale
    golds = {gold.item: gold.accepted for gold in held.golds}
    work = [item for item in held.items if item.name not in golds]
    return who.show_project(
        "Overview",
        "begin",
        project,
        project=summary,
        columns=_columns(who, files, by_hand),
        parts=PARTS,
        first=next(iter(held.items), None),
        others=("can't judge", "page broken"),
        scale=scale,
        grades=[f"{grade:g}" for grade in _grades(scale)],
        golds=golds,
        candidates=_some_of(work),
        guidelines=held.guidelines,
        presets=PRESETS,
        policy=policy,
        colours=COLOURS,
        chosen_colours=held.colours,
        questions=list(held.questions),
        shown_questions=[
            AskedQuestion(name=one.name, text=one.text, labels=one.choices, required=one.required)
            for one in held.questions
        ],
        checks=_check_list(held, policy),
    )


@router.post("/projects/{project}/begin")
def _save(project: str, form: SentForm, who: Who) -> Response | str:
    """Save a part of the draft, or open it."""
    if who.services.projects.get_head(project).state != "draft":
        raise Refused(
            "not-draft", "this project is not a draft any more: change it in its settings"
        )
    try:
        done = _do(who, project, form)
    except AdjudgeError as fault:
        return _begin(who.again(fault), project)
    after = "" if done.startswith("opened") else "/begin"
    return f"/projects/{project}{after}?done={done}"


def _do(who: LoggedIn, slug: str, form: Form) -> str:
    what, projects = form.need("do", most=20), who.services.projects
    if what == "columns":
        _map_again(who, slug, _by_hand(form))
    elif what == "labels":
        projects.set_scale(slug, _read_scale(form), colours=_read_colours(form))
    elif what == "questions":
        projects.set_questions(slug, _read_questions(form))
    elif what == "ties":
        projects.set_scale(slug, PAIR_SCALE if form.text("ties") else PAIR_SCALE_WITHOUT_TIES)
    elif what == "guidelines":
        projects.set_guidelines(slug, form.text("guidelines", most=200_000))
    elif what == "gold":
        pairs = zip(form.lists.get("item", []), form.lists.get("label", []), strict=False)
        entries = [GoldEntry(item=item, accepted=(label,)) for item, label in pairs if label]
        if not entries:
            raise BadSetting("gold", "nothing", "a label for one item at least")
        projects.add_items(slug, (), entries)
    elif what == "preset":
        use_preset(who, slug, form.need("preset", most=20))
    elif what == "open":
        projects.set_state(slug, "open")
        who.services.uploads.forget(who.services.uploads.get_origin(slug)[0])
        given = {"open", "panel"} & set(projects.get_policy(slug)[0].channels)
        return "opened" if given else "opened-to-invited"
    else:
        expected = "columns, labels, ties, questions, guidelines, gold, preset or open"
        raise BadSetting("do", what, expected)
    return "saved"


def _map_again(who: LoggedIn, slug: str, by_hand: dict[str, str]) -> None:
    """Read the kept files once more, with other parts for their columns."""
    upload, _ = who.services.uploads.get_origin(slug)
    files = who.services.uploads.find(upload)
    if not files:
        raise BadSetting("files", "nothing", "files that are still kept: send them again")
    scale = who.services.projects.get_scale(slug)
    preview = _uploading.read(who.request, files, scale, columns=by_hand).check()
    who.services.projects.replace_items(slug, preview.items, preview.golds)
    who.services.uploads.note_origin(slug, upload, by_hand)
