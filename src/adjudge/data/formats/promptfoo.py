"""promptfoo: the results of an evaluation, in JSON or CSV.

The item is an output: a test under a prompt and a provider. Each assertion is a judge, by its type
and metric, and its label is pass or fail; an output that has none is judged by the evaluation as a
whole. In CSV only the outcome of each output is left.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

from adjudge.data.build import load_table
from adjudge.data.formats._records import RecordRows, as_object, read_json, read_records
from adjudge.data.formats.delimited import delimiter_of
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.source import count_of
from adjudge.errors import BadData

_WHOLE = "promptfoo"
_OUTCOME = re.compile(r"^\[(PASS|FAIL|ERROR)\]")
_LABELS = ("fail", "pass")


def _read(file: File, options: Options) -> Content:
    """The outcome of every assertion on every output."""
    rows, errors, ungraded = RecordRows(file, options), 0, 0
    found = _outputs(file)
    for number, result in enumerate(found, start=1):
        if not isinstance(result, dict):
            rows.fault(f"result {number}", "is no result; wanted an object")
            continue
        graded = as_object(result.get("gradingResult"))
        if not graded and result.get("error"):
            errors += 1
            continue
        for judge, passed in _judged(result, graded):
            if not isinstance(passed, bool):
                ungraded += 1
                continue
            told = {"item": _item(result), "judge": judge, "label": _LABELS[passed]}
            rows.add(f"result {number}", told)
    if errors:
        rows.source.remark(f"{count_of(errors, 'output')} left out: the provider failed")
    if ungraded:
        rows.source.remark(f"{count_of(ungraded, 'outcome')} left out: neither passed nor failed")
    return _content(rows, options, file)


def _content(rows: RecordRows, options: Options, file: File) -> Content:
    if not len(rows):
        raise BadData("there is no graded output in it", source=file.name)
    table = rows.table("item", "judge", "label")
    roles = {name: name for name in table.column_names}
    judgments, _ = load_table(table, scale=options.scale, source=rows.source, roles=roles)
    return Content(judgments=judgments, bad=rows.source.skipped)


def _outputs(file: File) -> list[Any]:
    """The results of an evaluation, wherever this release of promptfoo puts them."""
    if file.text.lstrip().startswith("{") and '"results"' not in file.text:
        return [record for _, record in read_records(file, "result")]
    found = read_json(file)
    for _ in range(3):
        inner = found.get("results") if isinstance(found, dict) else found
        if isinstance(inner, dict) and isinstance(inner.get("outputs"), list):
            return list(inner["outputs"])
        if isinstance(inner, list):
            return inner
        found = inner
    return []


def _item(result: dict[str, Any]) -> str:
    """The name of an output: its test, prompt and provider."""
    provider = result.get("provider")
    name = provider.get("label") or provider.get("id") if isinstance(provider, dict) else provider
    test = result.get("testIdx")
    if test is None:
        test = ", ".join(f"{k}={v}" for k, v in as_object(result.get("vars")).items())
    prompt = result.get("promptIdx")
    if prompt is None:
        prompt = result.get("promptId") or as_object(result.get("prompt")).get("label")
    return "/".join(str(part) for part in (test, prompt, name) if part is not None)


def _judged(result: dict[str, Any], graded: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The assertions on an output, each as a judge, and whether it passed."""
    parts = graded.get("componentResults")
    seen: dict[str, int] = {}
    for part in parts if isinstance(parts, list) else []:
        if isinstance(part, dict) and isinstance(part.get("assertion"), dict):
            assertion = part["assertion"]
            name = str(assertion.get("metric") or assertion.get("type") or _WHOLE)
            seen[name] = seen.get(name, 0) + 1
            yield (name if seen[name] == 1 else f"{name} {seen[name]}"), part.get("pass")
    if not seen:
        yield _WHOLE, graded.get("pass", result.get("success", result.get("pass")))


def _read_csv(file: File, options: Options) -> Content:
    """The outcome of every output: a row a test, a column a prompt."""
    rows = RecordRows(file, options)
    text = io.StringIO(file.read_text(), newline="")
    table = [cells for cells in csv.reader(text, delimiter=delimiter_of(file)) if cells]
    outcomes = [[_OUTCOME.match(cell) for cell in cells] for cells in table[1:]]
    # Variables and whatever else stands beside the outputs have no outcome in any row.
    outputs = sorted({at for found in outcomes for at, one in enumerate(found) if one is not None})
    for number, found in enumerate(outcomes, start=1):
        for place, at in enumerate(outputs, start=1):
            outcome = found[at] if at < len(found) else None
            if outcome is not None and outcome[1] != "ERROR":
                told = {"item": f"{number}/{place}", "judge": _WHOLE}
                rows.add(f"row {number}", told | {"label": outcome[1].lower()})
    rows.source.remark(
        "outputs have no names here: each is called by its row and its prompt's place"
    )
    return _content(rows, options, file)


FORMATS = (
    Format(
        name="promptfoo",
        title="promptfoo results in JSON: an output an item, an assertion a judge",
        reads=("judgments",),
        extension=".json",
        read=_read,
    ),
    Format(
        name="promptfoo-csv",
        title="promptfoo results in CSV: [PASS] and [FAIL] of every output",
        reads=("judgments",),
        read=_read_csv,
    ),
)
