"""adjudge project create, import and state: a project is made, filled and opened."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from adjudge.cli import _options as o
from adjudge.cli import argument, command, flag, option
from adjudge.cli._console import say
from adjudge.cli._reading import read_text
from adjudge.cli._results import answer
from adjudge.cli.project._shared import (
    POLICY,
    SETTINGS,
    open_services,
    read_items,
    read_json,
    read_policy,
    warn,
)
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting

if TYPE_CHECKING:
    from adjudge.collect.values.project import Project
    from adjudge.collect.values.questions import FurtherQuestion


@command(
    "adjudge project create Shop --labels '0<1<2' --items items.csv gold.csv",
    "adjudge project create Answers --items pairs.csv",
    "adjudge project create Shop --starter --open",
)
def create(
    name: str = argument("NAME", "What the project is called.", required=True),
    *,
    labels: str | None = option("--labels SCALE", "'0<1<2' in order, 'Matching,Spam' without."),
    relevant: str | None = option("--relevant LABELS", "Labels that count as relevant."),
    guidelines: Path | None = option("--guidelines FILE", "Guidelines for judges: Markdown."),
    items: list[Path] | None = option(
        "--items FILE...",
        "Items and gold: CSV, JSONL, TREC topics + run + documents, BEIR, Quepid book; with "
        "columns left and right, pairs to compare.",
    ),
    depth: int = o.DEPTH,
    qrels_as_gold: bool = o.QRELS_AS_GOLD,
    policy: Path | None = POLICY,
    settings: list[str] | None = SETTINGS,
    questions: Path | None = option(
        "--questions FILE", "Further questions about each item, as JSON."
    ),
    archive: Path | None = option("--archive FILE", "Create it from an archive."),
    starter: bool = flag("--starter", "The starter project: product search, sample items."),
    open_now: bool = flag("--open", "Open it to judges at once."),
    database: str = o.DATABASE,
    printing: o.Printing,
) -> None:
    """Create a collection project; everything is checked before anything is stored."""
    ready = _read_ready_made(archive, starter=starter)
    made = replace(ready or _make_empty(labels, relevant, items), name=name)
    if guidelines is not None:
        made = replace(made, guidelines=read_text(guidelines))
    if questions is not None:
        made = replace(made, questions=_read_questions(questions))
    if items:
        known = labels is not None or ready is not None
        made = _add_items(made, items, known=known, depth=depth, qrels_as_gold=qrels_as_gold)
    made = replace(made, policy={**made.policy, **read_policy(policy, settings or ())})
    services = open_services(database)
    stored = services.projects.create(made)
    if open_now:
        stored = services.projects.set_state(stored.slug, "open")
    shown = ("slug", "state", "items", "golds")
    answer(printing, {name: getattr(stored, name) for name in shown})
    say(
        (stored.slug, "bold"),
        f" is created, with {count_of(stored.items, 'item')} and "
        f"{count_of(stored.golds, 'gold')}, and is {stored.state}",
    )
    if stored.state == "draft":
        say(f"  judges can come once it is opened: 'adjudge project state {stored.slug} open'")


def _read_ready_made(archive: Path | None, *, starter: bool) -> Project | None:
    """The project of an archive, or the starter."""
    if archive is not None:
        from adjudge.collect.services.archive import read_archive

        return read_archive(archive)
    if starter:
        from adjudge.collect.starter import make_starter

        return make_starter()
    return None


def _make_empty(labels: str | None, relevant: str | None, items: list[Path] | None) -> Project:
    """A project with its scale; pairs need no labels of their own."""
    from adjudge.collect.values.project import Project
    from adjudge.collect.values.sides import PAIR_SCALE
    from adjudge.data.scale import Scale

    if labels is None and not items:
        raise BadSetting("--labels", None, "a scale such as '0<1<2', or --starter")
    named = tuple(relevant.split(",")) if relevant else ()
    scale = PAIR_SCALE if labels is None else Scale.parse(labels, relevant=named)
    return Project(name="", scale=scale)


def _add_items(
    made: Project, files: list[Path], *, known: bool, depth: int, qrels_as_gold: bool
) -> Project:
    """The project with items and gold read; if no scale is known they must be pairs."""
    scale = made.scale if known else None
    preview = read_items(files, scale=scale, depth=depth, qrels_as_gold=qrels_as_gold)
    if not known and not any(item.beside is not None for item in preview.items):
        raise BadSetting("--labels", None, "a scale such as '0<1<2': the items are no pairs")
    return replace(made, items=preview.items, golds=preview.golds)


def _read_questions(path: Path) -> tuple[FurtherQuestion, ...]:
    from adjudge.collect.values.questions import read_questions

    given = read_json(path)
    if not isinstance(given, list):
        raise BadData("expected a JSON list of questions", source=path.name)
    return read_questions(given)


@command(
    "adjudge project import shop-search items.csv gold.csv",
    "adjudge project import shop-search topics.xml run.txt docs.jsonl --check",
)
def import_items(
    project: str = o.PROJECT,
    files: list[Path] = argument("FILES", "Items and gold, in any known format.", required=True),
    *,
    depth: int = o.DEPTH,
    qrels_as_gold: bool = o.QRELS_AS_GOLD,
    withdraw: bool = flag("--replace", "Withdraw items that are not in these files."),
    check: bool = flag("--check", "Look for faults only; store nothing."),
    database: str = o.DATABASE,
    printing: o.Printing,
) -> None:
    """Add items and gold to a project, or change those of a known name.

    All faults are listed with file, line and column, and nothing is stored unless there are none.
    """
    services = open_services(database)
    held = services.projects.read(project)
    known = frozenset(item.name for item in held.items)
    preview = read_items(
        files, scale=held.scale, known=known, depth=depth, qrels_as_gold=qrels_as_gold
    )
    if check:
        found = f"{count_of(len(preview.items), 'item')} and {count_of(len(preview.golds), 'gold')}"
        say(f"{found}: no fault")
        return
    store = services.projects.replace_items if withdraw else services.projects.add_items
    done = store(project, preview.items, preview.golds)
    answer(printing, asdict(done))
    say(
        f"{count_of(done.added, 'item')} added, {done.changed:,} changed, {done.withdrawn:,} "
        f"withdrawn; {count_of(done.golds_added, 'gold')} added, {done.golds_changed:,} changed"
    )
    warn(done.warnings)


@command("adjudge project state shop-search open", "adjudge project state shop-search paused")
def set_state(
    project: str = o.PROJECT,
    state: Literal["open", "paused", "closed"] = argument(
        "STATE", "open, paused or closed.", required=True
    ),
    *,
    database: str = o.DATABASE,
    printing: o.Printing,
) -> None:
    """Open a project to judges, pause it (open pages may still be sent), or close it."""
    done = open_services(database).projects.set_state(project, state)
    answer(printing, {"slug": done.slug, "state": done.state})
    say((done.slug, "bold"), f" is {done.state}")
