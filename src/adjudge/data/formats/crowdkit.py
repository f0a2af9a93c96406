"""crowd-kit's tables: judgments ``task,worker,label``, truth ``task,true_label``."""

from __future__ import annotations

from typing import IO

import pyarrow as pa

from adjudge.data._gold_table import gold_from_table
from adjudge.data.build import load_table
from adjudge.data.formats.delimited import delimiter_of, read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.writing import write_csv
from adjudge.errors import BadData


def _read(file: File, options: Options) -> Content:
    """Judgments, or truth as gold, by the header."""
    table, source = read_delimited(file, options, delimiter=delimiter_of(file), guarded=True)
    names = set(table.column_names)
    truth = "true_label" if "true_label" in names else "label"
    if "true_label" in names or (options.wanted in ("gold", "labels") and "worker" not in names):
        roles = {"item": "task", "gold": truth}
        gold = gold_from_table(table, source=source, roles=roles, scale=options.truths)
        return Content(gold=gold, bad=source.skipped)
    roles = {"item": "task", "judge": "worker", "label": "label"}
    roles = {role: name for role, name in roles.items() if name in names}
    judgments, _ = load_table(table, scale=options.scale, source=source, roles=roles)
    return Content(judgments=judgments, bad=source.skipped)


def _write(content: Content, file: IO[bytes]) -> None:
    """The labels as truth, if there are any; else the judgments; else the gold as truth."""
    if content.labels is not None:
        table = content.labels.select(["item", "label"])
    elif content.judgments is not None:
        table = content.judgments.to_table().select(["item", "judge", "label"])
    elif content.gold is not None:
        table = content.gold.to_table().select(["item", "gold"])
    else:
        raise BadData("crowd-kit holds judgments, labels or gold, and there are none to write")
    names = ["task", "worker", "label"] if table.num_columns == 3 else ["task", "true_label"]
    write_csv(pa.table(table.columns, names=names), file, guard=True)


FORMATS = (
    Format(
        name="crowd-kit",
        title="crowd-kit: task,worker,label; truth task,true_label",
        reads=("judgments", "gold"),
        writes=("judgments", "labels", "gold"),
        read=_read,
        write=_write,
    ),
)
