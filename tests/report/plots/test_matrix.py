from __future__ import annotations

import pyarrow as pa

from adjudge import Judgments
from adjudge.report.plots.judges import _busiest_block, judge_item_matrix
from charts import spec_with_data

TABLE = pa.table(
    {
        "item": ["a", "a", "a", "b", "b", "c", "d"],
        "judge": ["x", "y", "z", "x", "y", "x", "w"],
        "label": ["2", "1", "0", "0", "0", "1", "2"],
    }
)


def test_judges_and_items_go_by_their_means() -> None:
    judgments = Judgments.from_table(TABLE)
    block = _busiest_block(judgments)
    judges = [judgments.judges[int(code)].as_py() for code in block.judges]
    items = [judgments.items[int(code)].as_py() for code in block.items]
    assert judges == ["z", "y", "x", "w"]  # means 0, 0.5, 1, 2
    assert items == ["b", "a", "c", "d"]  # means 0, 1, 1, 2
    cells = {(items[row], judges[column]): int(label) for row, column, label in zip(
        block.row, block.column, block.label, strict=True)}  # fmt: skip
    assert cells[("a", "x")] == 2
    assert cells[("b", "y")] == 0
    assert len(cells) == 7


def test_of_many_the_busiest_are_shown() -> None:
    judgments = Judgments.from_table(TABLE)
    block = _busiest_block(judgments, judges=2, items=1)
    assert [judgments.judges[int(code)].as_py() for code in block.judges] == ["y", "x"]
    assert [judgments.items[int(code)].as_py() for code in block.items] == ["a"]
    assert block.label.tolist() == [2, 1]


def test_the_chart_names_judge_item_and_label() -> None:
    spec = spec_with_data(judge_item_matrix(Judgments.from_table(TABLE)))
    rows = spec["data"]["values"]
    assert {"column": 2, "row": 1, "label": "2", "judge": "x", "item": "a"} in rows
    assert spec["title"]["subtitle"] == ["4 judges and 4 items"]
