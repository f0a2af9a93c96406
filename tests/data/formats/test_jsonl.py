"""JSONL: ids that Arrow would change stay as they are, and every fault has its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adjudge.data.formats import read
from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale
from reading import complaint, judgments_in


def _file(folder: Path, text: str | bytes, name: str = "judgments.jsonl") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def _items(path: Path, **options: Any) -> list[str]:
    items: list[str] = Judgments.read(path, **options).items.to_pylist()
    return items


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('"2009-01-01"', '"2009-01-01 00:00:00"'),
        ('"2009-01-01T00:00:00Z"', '"2009-01-01"'),
        ("123456789012345678901", "123456789012345678902"),
        ("9007199254740993", "1.5"),
        ('"1"', "2"),
        ('"x"', "true"),
    ],
)
def test_ids_are_the_text_of_the_file(tmp_path: Path, first: str, second: str) -> None:
    row = '{{"item": {}, "judge": "w", "label": 1}}\n'
    path = _file(tmp_path, row.format(first) + row.format(second))
    assert _items(path) == [first.strip('"'), second.strip('"')]


def test_labels_that_are_true_or_false(tmp_path: Path) -> None:
    row = '{{"item": "a", "judge": "{}", "label": {}}}\n'
    path = _file(tmp_path, row.format("w", "true") + row.format("v", "false"))
    assert Judgments.read(path).scale == Scale(labels=("false", "true"), relevant=("true",))


def test_objects_over_several_lines(tmp_path: Path) -> None:
    text = '{\n"item": "a",\n"judge": "w", "label": 1}\n{"item": "b", "judge": "w", "label": 5}'
    assert complaint(read, _file(tmp_path, text), scale=Scale.parse("0<1")) == (
        "judgments.jsonl, line 2, column label: label-off-scale"
    )


def test_a_broken_line(tmp_path: Path) -> None:
    good = '{"item": "a", "judge": "w", "label": 1}\n'
    path = _file(tmp_path, good + "\n" + good + '{"item": "b", "judge": "w", "label"\n')
    assert complaint(read, path) == "judgments.jsonl, line 4: invalid-json"


def test_a_list_where_a_label_should_be(tmp_path: Path) -> None:
    row = '{{"item": "a", "judge": "w", "label": {}}}\n'
    path = _file(tmp_path, row.format(1) + row.format([1, 2]))
    assert complaint(read, path) == "judgments.jsonl, line 2, column label: not-one-value"


def test_a_key_that_is_missing_from_a_line(tmp_path: Path) -> None:
    path = _file(tmp_path, '{"item": "a", "judge": "w", "label": 1}\n{"item": "b", "label": 1}\n')
    assert complaint(read, path) == "judgments.jsonl, line 2, column judge: bad-id"


def test_bad_lines_are_skipped_and_listed_with_those_after_them(tmp_path: Path) -> None:
    row = '{{"item": "{}", "judge": "w", "label": {}}}\n'
    text = row.format("a", 1) + "nonsense\n\n" + row.format("b", 7) + row.format("c", [0]) + "{}\n"
    content = read(_file(tmp_path, text), scale=Scale.parse("0<1"), skip_bad=True)
    assert judgments_in(content).items.to_pylist() == ["a"]
    assert [(bad.row, bad.place) for bad in content.bad] == [
        (1, "judgments.jsonl, line 2"),
        (2, "judgments.jsonl, line 4, column label"),
        (3, "judgments.jsonl, line 5, column label"),
        (4, "judgments.jsonl, line 6, column item"),
    ]
