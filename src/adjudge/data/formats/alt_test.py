"""Judge by judge in JSON: an object with an object each judge, which has a label each item.

So the authors of the alternative annotator test publish people and models (Calderon, Reichart and
Dror 2025): ``{"ann": {"item 1": 3, "item 2": 1}, "bob": {...}}``. An item whose label is null or
empty was not judged. Where items are pairs, ``question__left__right__turn``, and labels say which
is better, the file holds comparisons too, for whoever wants those.
"""

from __future__ import annotations

import json
from typing import IO, Any

import pyarrow as pa

from adjudge.data.build import load_table
from adjudge.data.comparisons import load_comparisons
from adjudge.data.formats._records import RecordRows, read_json, single
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.errors import BadData, shown


def _read(file: File, options: Options) -> Content:
    """The judgments of every judge, in the order of the file."""
    found = read_json(file)
    rows = RecordRows(file, options)
    if not isinstance(found, dict):
        raise BadData("is no object of judges; wanted judge, item, label", source=file.name)
    for judge, labels in found.items():
        place = f"judge {shown(judge)}"
        if not isinstance(labels, dict):
            rows.fault(place, f"{shown(labels)} is no object; wanted a label for each item")
            continue
        for item, given in labels.items():
            label, problem = single(given)
            if problem:
                rows.fault(f"{place}, item {shown(item)}", problem, value=given, wanted="one label")
            elif label is not None:
                rows.add(
                    f"{place}, item {shown(item)}", {"item": item, "judge": judge, "label": label}
                )
    if not len(rows):
        raise rows.source.error(None, "there is no judgment in this file")
    if options.wanted == "comparisons":
        return _comparisons(rows)
    table = rows.table("item", "judge", "label")
    judgments, _ = load_table(table, scale=options.scale, source=rows.source)
    return Content(judgments=judgments, bad=rows.source.skipped)


def _comparisons(rows: RecordRows) -> Content:
    """The rows as comparisons; an item that is no pair is a fault, not skipped."""
    table = rows.table("item", "judge", "label")
    parts = [str(item).split("__") for item in table["item"].to_pylist()]
    for row, found in enumerate(parts):
        if len(found) not in (3, 4):
            item = table["item"][row].as_py()
            problem = f"item {shown(item)} is no pair; wanted question__left__right__turn"
            raise rows.source.error(row, problem, value=item, expected="a pair")
    columns = {
        "left": [found[1] for found in parts],
        "right": [found[2] for found in parts],
        "label": table["label"],
        "judge": table["judge"],
        "topic": ["/".join([found[0], *found[3:]]) for found in parts],
    }
    pairs = load_comparisons(pa.table(columns), source=rows.source)
    return Content(comparisons=pairs, bad=rows.source.skipped)


def _write(content: Content, file: IO[bytes]) -> None:
    """The judgments by judge and item; a judge who judged an item twice has no room in it."""
    judgments = content.need("judgments", "alt-test")
    labels = [_plain(label) for label in judgments.scale.labels]
    table = judgments.to_table()
    found: dict[str, dict[str, Any]] = {}
    for judge, item, label in zip(
        table["judge"].to_pylist(),
        table["item"].to_pylist(),
        judgments.label.tolist(),
        strict=True,
    ):
        own = found.setdefault(judge, {})
        if item in own:
            raise BadData(
                f"judge {shown(judge)} judged item {shown(item)} twice, and alt-test has room for "
                "one label; wanted another format",
                expected="another format",
            )
        own[item] = labels[label]
    file.write((json.dumps(found, ensure_ascii=False, indent=1) + "\n").encode())


def _plain(label: str) -> Any:
    """A label as JSON has it: a whole number as one."""
    try:
        return int(label)
    except ValueError:
        return label


FORMATS = (
    Format(
        name="alt-test",
        title="JSON by judge: judge, item, label, as the alternative annotator test has it",
        reads=("judgments", "comparisons"),
        writes=("judgments",),
        extension=".json",
        read=_read,
        write=_write,
    ),
)
