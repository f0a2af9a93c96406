"""Reading for commands: pipes, gold on its scale, labels as the person wants them."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from adjudge import Judgments
from adjudge.cli._options import LabelReading, Reading, TruthReading
from adjudge.cli._reading import allow_labels, drop_gold, read_content, shape_labels
from adjudge.data.gold import Gold
from adjudge.data.scale import Scale
from adjudge.errors import BadSetting
from commands import Run

PLAIN = "item,judge,label\na,x,1\nb,x,0\n"


def test_standard_input_is_read_and_named(
    adjudge: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "j.csv").write_text(PLAIN + "c,,1\n")
    with (folder / "j.csv").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        ended = adjudge("consensus", "-")
    assert (ended.code, ended.out) == (2, "")
    assert ended.error.place == "standard input, line 4, column judge"


def test_a_pipe_can_be_read(folder: Path) -> None:
    pipe = folder / "pipe.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(PLAIN,))
    writer.start()
    content = read_content([str(pipe)], Reading())
    writer.join()
    assert content.judgments is not None
    assert content.judgments.items.to_pylist() == ["a", "b"]


def judgments_of(*labels: str) -> Judgments:
    count = range(len(labels))
    table = {"item": [f"i{n}" for n in count], "judge": ["x"] * len(labels), "label": labels}
    import pyarrow as pa

    held = pa.table({name: list(values) for name, values in table.items()})
    return Judgments.from_table(held, scale=Scale.infer(labels))


def test_gold_may_have_dropped_and_binary_values() -> None:
    scale = Scale.parse("bad<good")
    assert allow_labels(scale, LabelReading()) == scale
    assert allow_labels(scale, LabelReading(drop_label=["-2"])).labels == ("bad", "good", "-2")
    assert allow_labels(scale, LabelReading(binary=True)).labels == ("bad", "good", "0", "1")
    both = TruthReading(binary_truth=True, drop_label=["good"])
    assert allow_labels(scale, both).labels == ("bad", "good", "0", "1")


def test_dropping_a_label_drops_items_with_that_gold() -> None:
    judgments = judgments_of("1", "0", "-2", "1")
    gold = Gold.of({"i0": 1, "i1": -2})
    left, (kept, none) = shape_labels(judgments, LabelReading(drop_label=["-2.0"]), gold, None)
    assert left.items.to_pylist() == ["i0", "i3"]
    assert left.scale.labels == ("0", "1")
    assert none is None
    assert kept is not None
    assert kept.items.to_pylist() == ["i0"]


def test_binary_truth_has_no_place_for_a_broken_link() -> None:
    judgments = judgments_of("2", "0", "-2")
    gold = Gold.of({"i0": 2, "i2": -2})
    left, (kept,) = shape_labels(judgments, TruthReading(binary_truth=True), gold)
    assert len(left) == 3
    assert left.scale.truths == ("0", "1")
    assert kept is not None
    assert kept.items.to_pylist() == ["i0"]


def test_binary_gold_of_graded_judgments_is_collapsed_once() -> None:
    judgments = judgments_of("bad", "good", "bad")
    gold = Gold.of({"i0": "good", "i1": "1", "i2": "0"})
    left, (kept,) = shape_labels(judgments, LabelReading(relevant="good", binary=True), gold)
    assert left.label.tolist() == [0, 1, 0]
    assert kept is not None
    assert kept.texts() == ["1", "1", "0"]


def test_gold_without_the_label_is_left_alone() -> None:
    gold = Gold.of({"a": 1})
    assert drop_gold(gold, ["7"]) is gold
    assert len(drop_gold(gold, ["1"])) == 0


@pytest.mark.parametrize(
    ("labelling", "setting", "value"),
    [
        (LabelReading(drop_label=["9"]), "--drop-label", "9"),
        (LabelReading(drop_label=["0", "1"]), "--drop-label", "0,1"),
        (TruthReading(binary=True, binary_truth=True), "--binary-truth", True),
        (LabelReading(relevant="3"), "relevant", "3"),
    ],
)
def test_what_cannot_be_done_to_labels(
    labelling: LabelReading, setting: str, value: object
) -> None:
    with pytest.raises(BadSetting) as caught:
        shape_labels(judgments_of("1", "0"), labelling)
    assert (caught.value.setting, caught.value.value) == (setting, value)
