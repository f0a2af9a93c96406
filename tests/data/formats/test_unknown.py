"""Files that no format fits: JSON is described by its keys, and the suggested next step works."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge.data.formats import read
from adjudge.errors import BadData
from faults import fault_of
from reading import judgments_in

RECORDS = [{"thing": i % 3, "by": f"j{i % 2}", "found": i % 2} for i in range(6)]
LINES = "".join(json.dumps(record) + "\n" for record in RECORDS)
LONG = "x" * 70_000  # longer than the beginning that is looked at
START = "no known format fits this JSON: "

JSON = {
    "list": (json.dumps(RECORDS), "its keys are thing, by, found"),
    "indented": (json.dumps(RECORDS, indent=2), "its keys are thing, by, found"),
    "marked": ("\ufeff" + json.dumps(RECORDS), "its keys are thing, by, found"),
    "lines": (LINES, "its keys are thing, by, found"),
    "object": (json.dumps(RECORDS[0]), "its keys are thing, by, found"),
    "after nothing": (json.dumps([None, *RECORDS]), "its keys are thing, by, found"),
    "under a key": (
        json.dumps({"made": 1, "rows": RECORDS}),
        "its keys are made, rows; each of 'rows' has thing, by, found",
    ),
    "deeper": (
        json.dumps({"meta": {"v": 1}, "payload": {"rows": RECORDS}}),
        "its keys are meta, payload; 'meta' has v; 'payload' has rows; "
        "each of 'payload.rows' has thing, by, found",
    ),
    "nested": (
        json.dumps([{"thing": {"name": 1}, "found": "x"}]),
        "its keys are thing, found; 'thing' has name",
    ),
    "nested in lines": (
        '{"ID": 1, "ANNOTATIONS": [{"LABEL": 1, "WHO": 2}]}\n{"ID": 2, "ANNOTATIONS": []}\n',
        "its keys are ID, ANNOTATIONS; each of 'ANNOTATIONS' has LABEL, WHO",
    ),
    "tasks under a key": (
        json.dumps({"data": [{"id": 1, "annotations": [{"result": []}], "data": {}}]}),
        "its keys are data; each of 'data' has id, annotations, data; "
        "each of 'data.annotations' has result",
    ),
    "long lines": (f'{{"thing": "{LONG}", "found": 1}}\n' * 2, "its keys are thing, found"),
    "long before": (
        json.dumps({"log": LONG, "rows": RECORDS}),
        "its keys are log, rows; each of 'rows' has thing, by, found",
    ),
    "lists": (json.dumps([[1, "a"], [2, "b"]]), "it has no keys"),
    "nothing": ("[]", "it has no keys"),
}


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize("ending", [".json", ".jsonl", ".txt"])
def test_unknown_json_is_described_by_its_keys(tmp_path: Path, name: str, ending: str) -> None:
    text, keys = JSON[name]
    path = tmp_path / f"like{ending}"
    path.write_text(text)
    with pytest.raises(BadData) as fault:
        read(path)
    assert fault_of(fault.value) == f"{path.name}: unknown-format"
    assert fault.value.problem == f"{START}{keys}"


@pytest.mark.parametrize("name", ["list", "indented", "marked", "lines", "under a key"])
def test_columns_that_are_named_make_judgments_of_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / "like.json"
    path.write_text(JSON[name][0])
    columns = {"item": "thing", "judge": "by", "label": "found"}
    judgments = judgments_in(read(path, columns=columns))
    assert (len(judgments), judgments.item_count, judgments.judge_count) == (6, 3, 2)


def test_upper_case_keys_of_a_known_export_are_listed(shared_data: Path, tmp_path: Path) -> None:
    text = (shared_data / "files" / "label-studio.json").read_text()
    path = tmp_path / "upper.json"
    path.write_text(text.upper().replace("NULL", "null").replace("FALSE", "false"))
    with pytest.raises(BadData, match="its keys are ID, ANNOTATIONS"):
        read(path)
