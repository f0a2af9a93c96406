"""TREC relevance judgments (qrels): ``topic 0 document grade``, without a header.

Lines that begin with ``#`` are remarks. One file is gold; several are a judge each, by their names,
and so are the values of the second column where pairs repeat under them.
"""

from __future__ import annotations

from typing import IO, Any

import numpy as np
import pyarrow as pa

from adjudge.data._gold_table import gold_from_table
from adjudge.data.build import load_table
from adjudge.data.formats._ratings import graded, judge_name
from adjudge.data.formats._spaced import (
    check_cells,
    check_rows,
    find_repeated,
    numbers_of,
    read_spaced,
)
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.writing import write_rows
from adjudge.data.names import encode
from adjudge.data.source import Source
from adjudge.errors import shown

_NAMES = ("topic", "0", "document", "grade")
_FILLERS = ("0", "Q0")  # what the second column holds, and means nothing


def _read(file: File, options: Options) -> Content:
    """Gold: the grade of each pair of topic and document; or the judgments of several judges.

    Where pairs repeat under different values of the second column, these are judges. Where
    judgments are wanted, the file is the one judge.
    """
    table, source = read_spaced(file, options, _NAMES, comments=True)
    _, wrong = numbers_of(table["grade"], whole=False)
    table = check_rows(
        table, source, [(wrong, "grade", lambda _, value: f"{shown(value)} is no number")]
    )
    roles = _roles(table, source)
    if "judge" in roles or options.wanted == "judgments":
        return _judgments(table, source, roles, options, file)
    roles = {**roles, "gold": "grade"}
    gold = gold_from_table(table, source=source, roles=roles, scale=options.truths)
    return Content(gold=gold, bad=source.skipped)


def _roles(table: Any, source: Source) -> dict[str, str]:
    """Which column is the topic, and whether one names judges; what is unusual is told."""
    usual = {"topic": "topic", "document": "document"}
    _, seconds = encode(table["0"])
    _, firsts = encode(table["topic"])
    name = firsts[0].as_py()
    if seconds[0].as_py() not in _FILLERS and len(table) > 1:
        _, grades = encode(table["grade"])
        if len(grades) == 1:
            source.remark(
                f"every grade is {grades[0].as_py()}, and the second column is not 0 or Q0: wanted "
                "topic, 0, document and grade, in this order"
            )
    filled = len(firsts) == 1 and name in _FILLERS
    if len(seconds) == 1 and (not filled or seconds[0].as_py() in _FILLERS):
        return usual
    odd = filled or (len(firsts) == 1 and not _is_number(name))
    if odd and not find_repeated(table, ("0", "document"))[0].any():
        source.remark(f"the topic is taken from the second column, since the first is {name!r}")
        return {"topic": "0", "document": "document"}
    if find_repeated(table, ("topic", "document"))[0].any():
        told = ", ".join(seconds.to_pylist()[:6])
        source.remark(
            f"pairs repeat under the {len(seconds)} values of the second column ({told}), which "
            "are taken for judges"
        )
        return {**usual, "judge": "0"}
    return usual


def _is_number(text: str) -> bool:
    return text.lstrip("-").replace(".", "", 1).isdigit()


def _judgments(
    table: Any, source: Source, roles: dict[str, str], options: Options, file: File
) -> Content:
    """The grades as judgments: of the judges in the file, or of the file as a judge."""
    if "judge" not in roles:
        name = pa.array([judge_name(file.name)], pa.large_string())
        table = table.append_column("judge", name.take(pa.array(np.zeros(len(table), np.int64))))
        source.remark(f"every grade is a judgment of one judge, {judge_name(file.name)!r}")
        roles = {**roles, "judge": "judge"}
    judgments, _ = load_table(
        table, scale=options.scale, source=source, roles={**roles, "label": "grade"}
    )
    return Content(judgments=judgments, bad=source.skipped)


def _write(content: Content, file: IO[bytes]) -> None:
    """The labels, or else the gold, as qrels."""
    table = graded(content, "qrels")
    check_cells(table, ("topic", "document"), "qrels", r"\t\n\v\f\r ")
    columns = [table["topic"], pa.array(["0"] * len(table)), table["document"], table["grade"]]
    write_rows(pa.table(columns, names=list(_NAMES)), file, delimiter=" ")


FORMATS = (
    Format(
        name="qrels",
        title="TREC qrels: topic 0 document grade",
        reads=("gold", "judgments"),
        writes=("labels", "gold"),
        extension=".qrels",
        read=_read,
        write=_write,
    ),
)
