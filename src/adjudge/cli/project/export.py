"""adjudge project export: a project's judgments, gold, labels, or all of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, grid, page, say
from adjudge.cli.project.stored import DATABASE, Stored, open_services
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.collect.services.requester import RequesterServices

NAME = "export"
EXAMPLES = (
    "adjudge project export shop-search -o answers.csv",
    "adjudge project export shop-search --to labels-qrels -o crowd.qrels",
    "adjudge project export shop-search --to archive -o shop-search.zip",
)


def run(
    project: Annotated[
        str | None, typer.Argument(metavar="PROJECT", help="The project's short name.")
    ] = None,
    *,
    to: Annotated[
        str, o.option("--to", metavar="NAME", help="What to export; --list shows all.")
    ] = "answers",
    output: Annotated[
        Path, o.option("--output", "-o", metavar="FILE", help="Where to; - is standard output.")
    ] = Path("-"),
    untrusted: Annotated[
        bool, o.option("--untrusted", help="With the judgments of blocked judges.")
    ] = False,
    question: Annotated[
        str,
        o.option("--question", metavar="NAME", help="Judgments or labels of a further question."),
    ] = "",
    list_exports: Annotated[bool, o.option("--list", help="List what can be exported.")] = False,
    database: Stored = DATABASE,
    fitting: o.Fitting,
    printing: o.Printing,
) -> None:
    """Write a project's answers, judgments, gold or labels to a file, or the whole of it.

    Labels are fitted by the model that the options name, on trusted judgments and gold.
    """
    from adjudge.collect.services import exports
    from adjudge.data.formats.files import written_whole

    be_quiet(printing.quiet)
    if list_exports:
        rows = [[e.name, e.extension, e.title] for e in exports.list_exports()]
        columns = [("export", "left"), ("file", "left"), ("what it is", "left")]
        page().print(grid("Exports", columns, rows))
        return
    if project is None:
        raise BadSetting("PROJECT", None, "a project, or --list")
    entry = exports.find_export(to)
    services = open_services(database)
    labels = None
    if entry.kind == "labels":
        labels = _labels(services, project, fitting, untrusted, question)
    with written_whole(output) as file:
        services.exports.write(
            project, to, file, labels=labels, trusted=not untrusted, question=question
        )
    if str(output) != "-":
        say(f"{project}: {entry.title.lower()}; written to {output}")


def _labels(
    services: RequesterServices, project: str, fitting: o.Fitting, untrusted: bool, question: str
) -> Any:
    """The consensus table of a project."""
    from adjudge.cli.fitting import built, fitted

    judgments = services.exports.get_judgments(
        project, trusted=not untrusted, golds=True, question=question
    )
    if judgments is None:
        raise BadSetting("PROJECT", project, "a project that has judgments")
    gold = None if question else services.exports.get_gold(project)
    return fitted(built(fitting), judgments, gold, fitting).labels
