"""TREC's relevance judgments (qrels) and runs: lines without a header.

Qrels are ``topic 0 document grade``; lines that begin with ``#`` are comments. One file is gold;
several are one judge each, by their names, and so are the values of the second column where pairs
repeat under them. A run is the ranking of a search system: ``topic Q0 document rank score tag``.
"""

from __future__ import annotations

from typing import IO, Any

import numpy as np
import pyarrow as pa

from adjudge.data._gold_table import gold_from_table
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.ratings import graded
from adjudge.data.formats.recognition import lines_like
from adjudge.data.formats.spaced import (
    check_cells,
    check_rows,
    find_repeated,
    is_number,
    is_whole,
    nul_fault,
    read_spaced,
    repeated_fault,
    typed_numbers,
)
from adjudge.data.formats.tables import judge_name, judged_content
from adjudge.data.formats.writing import write_csv
from adjudge.data.names import encode
from adjudge.data.source import Source

_QRELS = ("topic", "0", "document", "grade")
_RUN = ("topic", "Q0", "document", "rank", "score", "tag")
_FILLERS = ("0", "Q0")  # what the second column holds, and means nothing


def _is_qrels_row(cells: list[str]) -> bool:
    """Four fields, the last a whole number, the second 0 or Q0 or the third an id."""
    if len(cells) != 4 or not is_number(cells[3]):
        return False
    if not is_whole(cells[3]) and cells[1] not in _FILLERS:
        return False
    # A submission of TREC 2011 has four fields too: its third is a rank.
    return cells[1] in _FILLERS or not (is_whole(cells[2]) or cells[2] == "na")


def is_run_row(cells: list[str]) -> bool:
    """Six fields, of which the fourth is a whole number and the fifth a number."""
    return len(cells) == 6 and is_whole(cells[3]) and is_number(cells[4])


def _read_qrels(file: File, options: Options) -> Content:
    """Read the grade of each pair as gold; or the judgments of several judges.

    Where pairs repeat under different values of the second column, these are judges. Where
    judgments are asked for, the file is the one judge.
    """
    table, source = read_spaced(file, options, _QRELS, comments=True)
    table = check_rows(table, source, [typed_numbers(table, "grade")[1]])
    roles = _qrels_roles(table, source)
    if "judge" not in roles and options.kind != "judgments":
        gold = gold_from_table(
            table, source=source, roles={**roles, "gold": "grade"}, scale=options.truths
        )
        return Content(gold=gold, bad=source.skipped)
    if "judge" not in roles:
        judge = judge_name(file.name)
        table = table.append_column("judge", pa.repeat(pa.scalar(judge), len(table)))
        source.remark(f"every grade is a judgment of one judge, {judge!r}")
        roles = {**roles, "judge": "judge"}
    return judged_content(table, source, {**roles, "label": "grade"}, options)


def _qrels_roles(table: Any, source: Source) -> dict[str, str]:
    """Return which column is the topic, and whether one names judges; note what is unusual."""
    usual = {"topic": "topic", "document": "document"}
    seconds, firsts, grades = (
        encode(table[name])[1].to_pylist() for name in ("0", "topic", "grade")
    )
    name = firsts[0]
    if seconds[0] not in _FILLERS and len(table) > 1 and len(grades) == 1:
        source.remark(
            f"every grade is {grades[0]}, and the second column is not 0 or Q0: expected "
            "topic, 0, document and grade, in this order"
        )
    filled = len(firsts) == 1 and name in _FILLERS
    if len(seconds) == 1 and (not filled or seconds[0] in _FILLERS):
        return usual
    number = name.lstrip("-").replace(".", "", 1).isdigit()
    odd = filled or (len(firsts) == 1 and not number)
    if odd and not _repeats(table, "0", "document"):
        source.remark(f"the topic is taken from the second column, since the first is {name!r}")
        return {"topic": "0", "document": "document"}
    if _repeats(table, "topic", "document"):
        listed = ", ".join(seconds[:6])
        source.remark(
            f"pairs repeat under the {len(seconds)} values of the second column ({listed}), which "
            "are taken for judges"
        )
        return {**usual, "judge": "0"}
    return usual


def _repeats(table: Any, *columns: str) -> bool:
    return bool((find_repeated(table, *columns) != np.arange(len(table))).any())


def _write_qrels(content: Content, file: IO[bytes]) -> None:
    """Write the labels, or else the gold, as qrels."""
    table = graded(content, "qrels")
    check_cells(table, ("topic", "document"), "qrels", r"\t\n\v\f\r ")
    columns = [table["topic"], pa.array(["0"] * len(table)), table["document"], table["grade"]]
    made = pa.table(columns, names=list(_QRELS))
    write_csv(made, file, delimiter=" ", header=False, quoted=False)


def _read_run(file: File, options: Options) -> Content:
    """Read a run: topic, document, rank, score, tag, line; a document once in a topic."""
    table, source = read_spaced(file, options, _RUN, lines=True)
    rank, odd_rank = typed_numbers(
        table, "rank", "a whole number", "not-a-whole-number", integer=True
    )
    score, odd_score = typed_numbers(table, "score")
    typed = table.set_column(3, "rank", rank).set_column(4, "score", score)
    faults = [nul_fault(table, "topic"), nul_fault(table, "document"), odd_rank, odd_score]
    table = check_rows(typed, source, faults)
    table = check_rows(table, source, [repeated_fault(table, source, "topic", "document")])
    return Content(run=table.drop_columns(["Q0"]), bad=source.skipped)


FORMATS = (
    Format(
        name="qrels",
        title="TREC qrels: topic 0 document grade",
        reads=("gold", "judgments"),
        writes=("labels", "gold"),
        extension=".qrels",
        fits=lines_like(_is_qrels_row),
        read=_read_qrels,
        write=_write_qrels,
    ),
    Format(
        name="run",
        title="TREC run: topic Q0 document rank score tag",
        reads=("run",),
        extension=".run",
        fits=lines_like(is_run_row),
        read=_read_run,
    ),
)
