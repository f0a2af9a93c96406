from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from adjudge.evaluation.against_gold import _calibration
from adjudge.report.plots.labels import accuracy_by_ratings, calibration_plot
from charts import spec_with_data


def test_a_point_for_each_bin_that_holds_items() -> None:
    confidence = np.array([0.55, 0.55, 0.95, 0.95, 0.95, 0.95])
    right = np.array([True, False, True, True, True, False])
    spec = spec_with_data(calibration_plot(_calibration(confidence, right)))
    rows = spec["layer"][2]["data"]["values"]
    points = [{name: row[name] for name in ("confidence", "share", "items")} for row in rows]
    assert points == [
        {"confidence": 0.55, "share": 0.5, "items": 2},
        {"confidence": 0.95, "share": 0.75, "items": 4},
    ]
    reach = spec["layer"][1]
    assert (reach["mark"]["type"], reach["encoding"]["y2"]["field"]) == ("rule", "share_high")
    assert [row["share_low"] for row in rows] == pytest.approx([0.0945, 0.3006], abs=1e-4)
    assert [row["share_high"] for row in rows] == pytest.approx([0.9055, 0.9544], abs=1e-4)
    # S = .1 and .8, V = .495 and .19, z = .142 and 1.835: .1 x .113 - 1.407 x .395 = -.544 and
    # .8 x .934 - .872 x .074 = .682, over 6 items: luck explains the first and not the second.
    assert "calibration error 0.023, bias corrected" in spec["title"]["subtitle"][0]


def test_no_error_is_less_than_none() -> None:
    found = _calibration(np.full(10, 0.9), np.arange(10) > 0)
    assert found.corrected < 0
    spec = spec_with_data(calibration_plot(found))
    assert "calibration error 0.000, bias corrected" in spec["title"]["subtitle"][0]


def test_the_curve_of_accuracy() -> None:
    curve = pa.table(
        {
            "method": ["vote", "vote", "em", "em"],
            "ratings": [1, 3, 1, 3],
            "accuracy": [0.5, 0.6, 0.55, 0.75],
            "low": [0.4, 0.5, 0.45, 0.65],
            "high": [0.6, 0.7, 0.65, 0.85],
        }
    )
    spec = spec_with_data(accuracy_by_ratings(curve))
    assert spec["layer"][0]["encoding"]["x"]["axis"]["values"] == [1, 3]
    assert spec["data"]["values"][3] == {
        "method": "em", "ratings": 3, "accuracy": 0.75, "low": 0.65, "high": 0.85
    }  # fmt: skip
