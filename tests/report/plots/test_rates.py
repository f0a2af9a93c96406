from __future__ import annotations

from typing import Any

import pyarrow as pa

from adjudge.report.plots.judges import accuracy_by_judgments, drawn_rows, sensitivity_specificity
from charts import spec_with_data

JUDGES = pa.table(
    {
        "judge": ["few", "many", "none", "unknown"],
        "judgments": [3, 90, 0, 40],
        "specificity": [0.5, 0.25, 0.5, None],
        "sensitivity": [0.75, 1.0, 0.5, 0.5],
        "accuracy": [0.6, 0.5, None, 0.7],
        "accuracy_low": [0.4, 0.45, None, 0.6],
        "accuracy_high": [0.8, 0.55, None, 0.8],
        "advice": ["watch", "drop", "watch", "keep"],
    }
)


def layers(chart: Any) -> dict[str, Any]:
    spec = spec_with_data(chart)
    parts = spec.get("layer", [spec])
    return {layer.get("name", str(place)): layer for place, layer in enumerate(parts)}


def test_busiest_first_and_only_those_with_rates() -> None:
    assert drawn_rows(JUDGES, "specificity", "sensitivity").tolist() == [1, 0]
    assert drawn_rows(JUDGES, "accuracy").tolist() == [1, 3, 0]


def test_points_stand_where_the_rates_are_and_the_line_where_they_sum_to_one() -> None:
    found = layers(sensitivity_specificity(JUDGES))
    points = found["judges"]["data"]["values"]
    assert points == [
        {
            "judge": "many",
            "judgments": 90,
            "specificity": 0.25,
            "sensitivity": 1.0,
            "advice": "drop",
        },
        {
            "judge": "few",
            "judgments": 3,
            "specificity": 0.5,
            "sensitivity": 0.75,
            "advice": "watch",
        },
    ]
    ends = next(layer for layer in found.values() if layer["mark"]["type"] == "line")
    assert all(row["specificity"] + row["sensitivity"] == 1 for row in ends["data"]["values"])
    assert found["judges"]["encoding"]["size"]["field"] == "judgments"
    assert found["judges"]["encoding"]["color"]["scale"]["domain"] == ["watch", "drop"]


def test_without_advice_there_is_no_legend_of_it() -> None:
    found = layers(sensitivity_specificity(JUDGES.drop_columns(["advice"])))
    assert "color" not in found["judges"]["encoding"]


def test_few_judges_have_their_intervals_drawn_and_many_do_not() -> None:
    assert "with 90% intervals" in str(spec_with_data(accuracy_by_judgments(JUDGES))["title"])
    many = pa.concat_tables([JUDGES] * 60)
    spec = spec_with_data(accuracy_by_judgments(many))
    assert spec["title"]["subtitle"] == ["180 judges"]
