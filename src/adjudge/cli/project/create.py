"""adjudge project create: a new collection project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, say
from adjudge.cli.project.stored import DATABASE, Stored, checked, open_services
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting

if TYPE_CHECKING:
    from adjudge.collect.values.project import Project
    from adjudge.collect.values.questions import FurtherQuestion
    from adjudge.collect.values.requesting import ProjectSummary

NAME = "create"
EXAMPLES = (
    "adjudge project create Shop --labels '0<1<2' --items items.csv gold.csv",
    "adjudge project create Answers --items pairs.csv",
    "adjudge project create Shop --starter --open",
)
LIST_OPTIONS = ("--items",)


def run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the project is called.")],
    *,
    labels: Annotated[
        str | None,
        o.option("--labels", metavar="SCALE", help="'0<1<2' in order, 'Matching,Spam' without."),
    ] = None,
    relevant: Annotated[
        str | None, o.option("--relevant", metavar="LABELS", help="Labels that count as relevant.")
    ] = None,
    guidelines: Annotated[
        Path | None, o.option("--guidelines", metavar="FILE", help="What judges go by: Markdown.")
    ] = None,
    items: Annotated[
        list[Path] | None,
        o.option(
            "--items",
            metavar="FILES",
            help="Items and gold: CSV, JSONL, TREC topics + run + documents, BEIR, Quepid book; "
            "with columns left and right, pairs to compare.",
        ),
    ] = None,
    depth: Annotated[
        int, o.option("--depth", metavar="N", min=1, help="Results of each topic of a run.")
    ] = 10,
    qrels_as_gold: Annotated[
        bool, o.option("--qrels-as-gold", help="Take the grades of a BEIR folder as gold.")
    ] = False,
    policy: Annotated[
        Path | None, o.option("--policy", metavar="FILE", help="Settings of the policy, as JSON.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        o.option("--set", metavar="NAME=VALUE", help="One setting of the policy (again for more)."),
    ] = None,
    questions: Annotated[
        Path | None,
        o.option("--questions", metavar="FILE", help="Further questions about each item, as JSON."),
    ] = None,
    archive: Annotated[
        Path | None, o.option("--archive", metavar="FILE", help="Make it from an archive.")
    ] = None,
    starter: Annotated[
        bool, o.option("--starter", help="The starter project: product search, made items.")
    ] = False,
    open_now: Annotated[bool, o.option("--open", help="Open it to judges at once.")] = False,
    database: Stored = DATABASE,
    printing: o.Printing,
) -> None:
    """Make a collection project; everything is checked before anything is stored."""
    from dataclasses import replace

    be_quiet(printing.quiet or printing.json)
    ready = _ready_made(archive, starter=starter)
    made = _empty(labels, relevant, items) if ready is None else ready
    made = replace(made, name=name)
    if guidelines is not None:
        made = replace(made, guidelines=text_of(guidelines))
    if questions is not None:
        made = replace(made, questions=_questions(questions))
    if items:
        known = labels is not None or ready is not None
        made = _with_items(made, items, known=known, depth=depth, qrels_as_gold=qrels_as_gold)
    made = replace(made, policy={**made.policy, **policy_settings(policy, settings or ())})
    services = open_services(database)
    stored = services.projects.create(made)
    if open_now:
        stored = services.projects.set_state(stored.slug, "open")
    _tell(stored, as_json=printing.json)


def _ready_made(archive: Path | None, *, starter: bool) -> Project | None:
    """The project of an archive, or the starter."""
    if archive is not None:
        from adjudge.collect.services.archive import read_archive

        return read_archive(archive)
    if starter:
        from adjudge.collect.starter import make_starter as starter_project

        return starter_project()
    return None


def _empty(labels: str | None, relevant: str | None, items: list[Path] | None) -> Project:
    """A project with its scale; pairs need no labels of their own."""
    from adjudge.collect.values.project import Project
    from adjudge.collect.values.sides import PAIR_SCALE
    from adjudge.data.scale import Scale

    if labels is None and not items:
        raise BadSetting("--labels", None, "a scale such as '0<1<2', or --starter")
    named = tuple(relevant.split(",")) if relevant else ()
    scale = PAIR_SCALE if labels is None else Scale.parse(labels, relevant=named)
    return Project(name="", scale=scale)


def _with_items(
    made: Project, files: list[Path], *, known: bool, depth: int, qrels_as_gold: bool
) -> Project:
    """The project with items and gold read; where no scale is known they must be pairs."""
    from dataclasses import replace

    from adjudge.collect.importing import ImportLimits, read

    limits = ImportLimits(bytes=2_000_000_000, rows=10_000_000)
    scale = made.scale if known else None
    preview = checked(
        read(files, scale=scale, depth=depth, qrels_as_gold=qrels_as_gold, limits=limits)
    )
    if not known and not any(item.beside is not None for item in preview.items):
        raise BadSetting("--labels", None, "a scale such as '0<1<2': the items are no pairs")
    return replace(made, items=preview.items, golds=preview.golds)


def _tell(stored: ProjectSummary, *, as_json: bool) -> None:
    """What was made, and the next step."""
    from adjudge.cli.writing import print_json

    if as_json:
        print_json({"slug": stored.slug, "state": stored.state, "items": stored.items,
                    "golds": stored.golds})  # fmt: skip
        return
    say(
        (stored.slug, "bold"),
        f" is made, with {count_of(stored.items, 'item')} and {count_of(stored.golds, 'gold')}, "
        f"and is {stored.state}",
    )
    if stored.state == "draft":
        say(f"  judges can come once it is opened: 'adjudge project state {stored.slug} open'")


def _questions(path: Path) -> tuple[FurtherQuestion, ...]:
    from adjudge.collect.values.questions import read_questions

    try:
        given = json.loads(text_of(path))
    except json.JSONDecodeError as fault:
        raise BadData(f"is no JSON ({fault.msg})", source=path.name, line=fault.lineno) from None
    if not isinstance(given, list):
        raise BadData("is no JSON list of questions", source=path.name)
    return read_questions(given)


def text_of(path: Path) -> str:
    """The text of a file."""
    try:
        return path.read_text("utf-8")
    except OSError as fault:
        raise BadData(f"cannot be read ({fault.strerror})", source=str(path)) from None
    except UnicodeDecodeError:
        raise BadData("is not UTF-8; wanted UTF-8", source=str(path)) from None


def policy_settings(file: Path | None, given: tuple[str, ...] | list[str]) -> dict[str, Any]:
    """The settings of a policy from a file and from options, which come last."""
    found: dict[str, Any] = {}
    if file is not None:
        try:
            found = json.loads(text_of(file))
        except json.JSONDecodeError as fault:
            raise BadData(
                f"is no JSON ({fault.msg})", source=file.name, line=fault.lineno
            ) from None
        if not isinstance(found, dict):
            raise BadData("is no JSON object of settings", source=file.name)
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise BadSetting("--set", text, "NAME=VALUE, such as judgments_per_item=3")
        try:
            found[name] = json.loads(value)
        except json.JSONDecodeError:
            found[name] = value
    return found
