"""How formats of rows without a header are known, their cells set apart by blanks."""

from __future__ import annotations

import re
from collections.abc import Callable

from adjudge.data.formats._spaced import is_number, is_whole
from adjudge.data.formats.opening import File
from adjudge.data.formats.run import is_run_row


def most_rows(file: File, fits: Callable[[list[str]], bool]) -> bool:
    """Whether the first line fits, which a header would not, and most of those after it.

    A fault in one of them is for the reader to name.
    """
    text = re.sub(r"(?m)^\s*#.*$", "", file.text) if "#" in file.text else file.text
    if not fits(re.split(r"[\r\n]", text.lstrip(), maxsplit=1)[0].split()):
        return False
    whole = text.rpartition("\n")[0] or text  # the last line may be cut off
    lines = [line.split() for line in whole.replace("\r", "\n").split("\n")]
    rows = [cells for cells in lines if cells][:50]
    return bool(rows) and fits(rows[0]) and 2 * sum(map(fits, rows)) >= len(rows)


def _qrels(cells: list[str]) -> bool:
    """Four fields, the last a whole number, the second 0 or Q0 or the third an id."""
    if len(cells) != 4 or not is_number(cells[3]):
        return False
    if not is_whole(cells[3]) and cells[1] not in {"0", "Q0"}:
        return False
    # A submission of TREC 2011 has four fields too: its third is a rank.
    return cells[1] in {"0", "Q0"} or not (is_whole(cells[2]) or cells[2] == "na")


def _submission(cells: list[str]) -> bool:
    """Four fields: the third a rank or ``na``, the fourth from 0 to 1 or ``na``."""
    if len(cells) != 4:
        return False
    placed = cells[2] == "na" or is_whole(cells[2])
    return placed and (cells[3] == "na" or is_number(cells[3]))


RULES: dict[str, Callable[[list[str]], bool]] = {
    "qrels": _qrels,
    "run": is_run_row,
    "trec-2011-submission": _submission,
}
