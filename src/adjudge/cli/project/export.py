"""adjudge project export: a project's judgments, gold, labels, or all of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
from adjudge.cli import argument, command, flag, option
from adjudge.cli._console import be_quiet, say
from adjudge.cli._fitting import build_model, fit_model
from adjudge.cli._results import grid, page
from adjudge.cli.project._shared import open_services
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.collect.services.requester import RequesterServices


@command(
    "adjudge project export shop-search -o answers.csv",
    "adjudge project export shop-search --to labels-qrels -o crowd.qrels",
    "adjudge project export shop-search --to archive -o shop-search.zip",
)
def run(
    project: str | None = argument("PROJECT", "The project's short name."),
    *,
    to: str = option("--to NAME", "What to export; --list shows all.", "answers"),
    output: Path = option("--output -o FILE", "Where to; - is standard output.", Path("-")),
    untrusted: bool = flag("--untrusted", "With the judgments of blocked judges."),
    question: str = option("--question NAME", "Judgments or labels of a further question.", ""),
    list_exports: bool = flag("--list", "List what can be exported."),
    database: str = o.DATABASE,
    fitting: o.Fitting,
    printing: o.Printing,
) -> None:
    """Write a project's answers, judgments, gold or labels to a file, or all of it.

    Labels are fitted by the model that the options name, on trusted judgments and gold.
    """
    from adjudge.collect.services import exports
    from adjudge.data.formats.writing import written_whole

    be_quiet(printing.quiet)  # --json has nothing to print here
    if list_exports:
        rows = [[e.name, e.extension, e.title] for e in exports.list_exports()]
        columns = ["export", "file", "what it is"]
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
    judgments = services.exports.get_judgments(
        project, trusted=not untrusted, golds=True, question=question
    )
    if judgments is None:
        raise BadSetting("PROJECT", project, "a project that has judgments")
    gold = None if question else services.exports.get_gold(project)
    return fit_model(build_model(fitting), judgments, gold, fitting).labels
