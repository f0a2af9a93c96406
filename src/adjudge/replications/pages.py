"""Results as files: a Markdown page a paper, CSV of every table and figure, pictures, an index."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from adjudge.data.formats.writing import write_csv, writing, written_whole
from adjudge.replications.replication import (
    Cell,
    Claim,
    PaperFigure,
    ReplicationResult,
    Setup,
    Table,
)

VERDICTS = {True: "holds", False: "does not hold", None: "cannot be told"}
MEGABYTE = 1e6


def write(result: ReplicationResult, setup: Setup, folder: Path) -> None:
    """The page of a paper, and beside it a folder with its tables, figures and their data."""
    beside = folder / result.paper
    with writing(beside):
        beside.mkdir(parents=True, exist_ok=True)
    for table in result.tables:
        _write_csv(table.to_table(), beside / f"{table.name}.csv")
    for figure in result.figures:
        _write_csv(figure.data, beside / f"{figure.name}.csv")
        _write_pictures(figure, beside)
    _write_text("\n".join(page(result, setup)), folder / f"{result.paper}.md")


def write_index(results: Sequence[ReplicationResult], setup: Setup, folder: Path) -> None:
    """A page that leads to the papers, with what each came to."""
    lines = [
        "# Replications",
        "",
        "The papers behind the models, with every published value beside the one obtained here. "
        f"Nothing is tuned to agree. {_manner(setup)}",
        "",
        "A cell is within two sd if published and obtained lie no further apart, the sd being that "
        "over seeds. A claim holds by a criterion that the paper's own figures pass, where it has "
        "figures; what a paper does not say is counted apart. Work is seconds of all cores "
        "together. The pages are written by `adjudge replicate`.",
        "",
        "| paper | cells | within two sd | claims that hold | beyond the paper | seconds | of work "
        "| memory |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for result in results:
        cells = [cell for table in result.tables for cell in table.cells if _published(cell)]
        near = sum(not cell.differs for cell in cells)
        said = [claim for claim in result.claims if not claim.beyond]
        more = [claim for claim in result.claims if claim.beyond]
        lines.append(
            f"| [{result.title}]({result.paper}.md) | {len(cells)} | {near} "
            f"| {_counted(said)} | {_counted(more)} "
            f"| {result.seconds:.0f} | {result.busy:.0f} | {result.memory / MEGABYTE:.0f} MB |"
        )
    _write_text("\n".join([*lines, ""]), folder / "index.md")


def page(result: ReplicationResult, setup: Setup) -> Iterator[str]:
    """The lines of a paper's page."""
    from adjudge import __version__

    yield f"# {result.title}\n"
    yield f"{result.source}\n"
    yield (
        f"Made by `adjudge replicate {result.command or result.paper}"
        f"{' --quick' if setup.quick else ''}`, "
        f"adjudge {__version__}, in {result.seconds:.0f} s ({result.busy:.0f} s of work on all "
        f"cores), with at most {result.memory / MEGABYTE:.0f} MB of memory. {_manner(setup)} "
        "Cells read: obtained ± sd over seeds (published).\n"
    )
    for note in result.notes:
        yield f"{note}\n"
    for title, beyond in (
        ("What the paper says, and whether it holds here", False),
        ("Beyond the paper", True),
    ):
        claims = [claim for claim in result.claims if claim.beyond == beyond]
        if claims:
            yield f"## {title}\n"
            yield f"{_counted(claims)} hold.\n"
            yield from map(_claim, claims)
            yield ""
    for table in result.tables:
        yield from _table(table, result.paper)
    for figure in result.figures:
        yield f"## {figure.title}\n"
        yield f"{figure.source}. {figure.caption}".strip() + "\n"
        yield f"![{figure.title}]({result.paper}/{figure.name}.png)\n"
        yield f"Data: [{figure.name}.csv]({result.paper}/{figure.name}.csv)\n"


def differences(table: Table) -> dict[str, list[str]]:
    """A sentence on every cell whose values lie more than two sd apart, by their likely cause."""
    found: dict[str, list[str]] = {}
    for cell in table.cells:
        if cell.differs:
            cause = table.cause(cell) if table.cause else ""
            found.setdefault(cause, []).append(cell.difference(table.digits))
    return found


def _table(table: Table, paper: str) -> Iterator[str]:
    yield f"## {table.title}\n"
    yield f"{table.source}.\n"
    yield _markdown(table.cells, table.digits)
    yield f"Data: [{table.name}.csv]({paper}/{table.name}.csv)\n"
    known = [cell for cell in table.cells if _published(cell)]
    apart = differences(table)
    if known and not apart:
        yield "No cell differs from the published one by more than two sd.\n"
    elif apart:
        many = sum(map(len, apart.values()))
        yield f"{many} of {len(known)} cells differ from the published by more than two sd.\n"
        for cause, sentences in apart.items():
            yield f"{(cause or 'No cause is known').rstrip('.')}:\n"
            yield from (f"- {sentence}" for sentence in sentences)
            yield ""


def _markdown(cells: Sequence[Cell], digits: int = 3) -> str:
    """A table for people: ``obtained ± sd (published)`` in each cell."""
    columns = list(dict.fromkeys(cell.column for cell in cells))
    lines = ["| | " + " | ".join(columns) + " |", "| --- |" + " --- |" * len(columns)]
    for name in dict.fromkeys(cell.row for cell in cells):
        found = {cell.column: cell for cell in cells if cell.row == name}
        lines.append(
            f"| {name} | "
            + " | ".join(_shown(found.get(column), digits) for column in columns)
            + " |"
        )
    return "\n".join(lines) + "\n"


def _shown(cell: Cell | None, digits: int = 3) -> str:
    """A cell for people: ``obtained ± sd (published) note``, a dash where there is nothing."""
    if cell is None or math.isnan(cell.obtained):
        return "–"
    digits = cell.digits if cell.digits is not None else digits
    text = f"{cell.obtained:.{digits}f}"
    if cell.sd > 0:  # else it is the same for all seeds, or there is one alone
        text += f" ± {cell.sd:.{digits}f}"
    if not math.isnan(cell.published):
        text += f" ({cell.published:.{digits}f})"
    return f"{text} {cell.note}".strip()


def _claim(claim: Claim) -> str:
    """A claim as an entry of a list, with what it stands on below it."""
    head = f"- **{VERDICTS[claim.holds].capitalize()}**: {claim.text}"
    if claim.beyond:
        told = {"Obtained": claim.evidence, "Criterion": claim.criterion, "Reading": claim.reading}
    else:
        head += f" ({claim.source})" if claim.source else ""
        bare = "" if claim.passes is not None else " There are no figures to try the criterion on."
        told = {
            "Published": f"{claim.published or 'in words only.'}{bare}",
            "Obtained": claim.evidence,
            "Criterion": f"{claim.criterion} {_OWN[claim.passes]}".strip(),
            "Reading": claim.reading,
        }
    return "\n".join([head, *(f"    - *{name}:* {text}" for name, text in told.items() if text)])


# What a criterion says of the paper's own figures.
_OWN = {
    True: "The published figures pass it.",
    False: "**The paper's own figures fail it**, so that nothing is held against it.",
    None: "",
}


def _counted(claims: Sequence[Claim]) -> str:
    """How many hold of those that can be told, and how many cannot."""
    told = [claim for claim in claims if claim.holds is not None]
    open_ = len(claims) - len(told)
    more = f" ({open_} cannot be told)" if open_ else ""
    return f"{sum(bool(claim.holds) for claim in told)} of {len(told)}{more}"


def _published(cell: Cell) -> bool:
    return not math.isnan(cell.published)


def _manner(setup: Setup) -> str:
    seeds = f", {setup.seeds} seeds" if setup.seeds else ""
    return f"This is the {'quick' if setup.quick else 'full'} run{seeds}."


def _write_text(text: str, path: Path) -> None:
    with written_whole(path) as file:
        file.write(text.encode())


def _write_csv(table: object, path: Path) -> None:
    with written_whole(path) as file:
        write_csv(table, file, guard=True)


def _write_pictures(figure: PaperFigure, folder: Path) -> None:
    """The chart as PNG and SVG."""
    from adjudge.report.saving import save

    chart = figure.chart(figure.data)
    for suffix in (".png", ".svg"):
        save(chart, folder / f"{figure.name}{suffix}")
