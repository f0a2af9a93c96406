"""adjudge project create: a new collection project."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli import Command, flag, option
from adjudge.cli import _options as o
from adjudge.cli._console import say
from adjudge.cli._results import print_json
from adjudge.cli.project._shared import open_services, read_items, read_json, read_policy, read_text
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting

if TYPE_CHECKING:
    from adjudge.collect.values.project import Project
    from adjudge.collect.values.questions import FurtherQuestion
    from adjudge.collect.values.requesting import ProjectSummary


def _run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the project is called.")],
    *,
    labels: Annotated[
        str | None, option("--labels", "SCALE", "'0<1<2' in order, 'Matching,Spam' without.")
    ] = None,
    relevant: Annotated[
        str | None, option("--relevant", "LABELS", "Labels that count as relevant.")
    ] = None,
    guidelines: Annotated[
        Path | None, option("--guidelines", "FILE", "What judges go by: Markdown.")
    ] = None,
    items: Annotated[
        list[Path] | None,
        option(
            "--items",
            "FILES",
            "Items and gold: CSV, JSONL, TREC topics + run + documents, BEIR, Quepid book; "
            "with columns left and right, pairs to compare.",
        ),
    ] = None,
    depth: o.Depth = 10,
    qrels_as_gold: o.QrelsAsGold = False,
    policy: Annotated[
        Path | None, option("--policy", "FILE", "Settings of the policy, as JSON.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        option("--set", "NAME=VALUE", "One setting of the policy (again for more)."),
    ] = None,
    questions: Annotated[
        Path | None, option("--questions", "FILE", "Further questions about each item, as JSON.")
    ] = None,
    archive: Annotated[Path | None, option("--archive", "FILE", "Make it from an archive.")] = None,
    starter: Annotated[
        bool, flag("--starter", "The starter project: product search, made items.")
    ] = False,
    open_now: Annotated[bool, flag("--open", "Open it to judges at once.")] = False,
    database: o.Database = o.DATABASE,
    printing: o.Printing,
) -> None:
    """Make a collection project; everything is checked before anything is stored."""
    ready = _read_ready_made(archive, starter=starter)
    made = _make_empty(labels, relevant, items) if ready is None else ready
    made = replace(made, name=name)
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
    _tell(stored, as_json=printing.json)


COMMAND = Command(
    _run,
    examples=(
        "adjudge project create Shop --labels '0<1<2' --items items.csv gold.csv",
        "adjudge project create Answers --items pairs.csv",
        "adjudge project create Shop --starter --open",
    ),
    lists=("--items",),
)


def _read_ready_made(archive: Path | None, *, starter: bool) -> Project | None:
    """The project of an archive, or the starter."""
    if archive is not None:
        from adjudge.collect.services.archive import read_archive

        return read_archive(archive)
    if starter:
        from adjudge.collect.starter import make_starter as starter_project

        return starter_project()
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
    """The project with items and gold read; where no scale is known they must be pairs."""
    scale = made.scale if known else None
    preview = read_items(files, scale=scale, depth=depth, qrels_as_gold=qrels_as_gold)
    if not known and not any(item.beside is not None for item in preview.items):
        raise BadSetting("--labels", None, "a scale such as '0<1<2': the items are no pairs")
    return replace(made, items=preview.items, golds=preview.golds)


def _tell(stored: ProjectSummary, *, as_json: bool) -> None:
    """What was made, and the next step."""
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


def _read_questions(path: Path) -> tuple[FurtherQuestion, ...]:
    from adjudge.collect.values.questions import read_questions

    given = read_json(path)
    if not isinstance(given, list):
        raise BadData("is no JSON list of questions", source=path.name)
    return read_questions(given)
