"""Inspect: the log of an evaluation, in JSON or as its archive (``.eval``).

A sample in an epoch, answered by a model, is the item; each scorer is a judge, and the value of its
score the label: C, I, P and N for correct, incorrect, partial and no answer, or a number. Of a
score with several values each is a judge of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from adjudge.data.build import load_table
from adjudge.data.formats._records import RecordRows, as_object, as_text, read_json
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.source import count_of
from adjudge.errors import BadData


def _read(file: File, options: Options) -> Content:
    """The scores of every sample."""
    log, samples = _log(file)
    model = str(as_object(log.get("eval")).get("model") or "model")
    rows, unscored = RecordRows(file, options), 0
    for number, sample in enumerate(samples, start=1):
        scores = sample.get("scores") if isinstance(sample, dict) else None
        if not isinstance(scores, dict) or not scores:
            unscored += 1
            continue
        item = f"{model}/{sample.get('id')}/{sample.get('epoch', 1)}"
        for judge, label in _values(scores):
            rows.add(f"sample {number}", {"item": item, "judge": judge, "label": label})
    if unscored:
        rows.source.remark(f"{count_of(unscored, 'sample')} left out: no score")
    if not len(rows):
        raise BadData("there is no score in this log", source=file.name)
    table = rows.table("item", "judge", "label")
    roles = {name: name for name in table.column_names}
    judgments, _ = load_table(table, scale=options.scale, source=rows.source, roles=roles)
    return Content(judgments=judgments, bad=rows.source.skipped)


def _log(file: File) -> tuple[dict[str, Any], list[Any]]:
    """What a log says of itself, and its samples."""
    if file.is_folder:
        names = [name for name in sorted(file.names) if name.startswith("samples/")]
        samples = [read_json(part) for part in file.files(*names)] if names else []
        head = [name for name in ("header.json", "_journal/start.json") if name in file.names]
        return as_object(read_json(file.files(head[0])[0]) if head else {}), samples
    log = as_object(read_json(file))
    held = log.get("samples")
    return log, held if isinstance(held, list) else []


def _values(scores: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Every scorer with the value it gave."""
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            for key, one in value.items():
                if (text := as_text(one)) is not None:
                    yield f"{scorer}/{key}", text
        elif value is not None:
            yield str(scorer), json.dumps(value) if isinstance(value, list) else str(as_text(value))


FORMATS = (
    Format(
        name="inspect",
        title="Inspect log: samples with the scores of each scorer, .json or .eval",
        reads=("judgments",),
        extension=".json",
        read=_read,
    ),
)
