from __future__ import annotations

import numpy as np
import pyarrow as pa

from adjudge.evaluation.scores import calibration
from adjudge.report.plots.calibration import calibration_plot
from adjudge.report.plots.ratings import accuracy_by_ratings
from charts import spec_with_data


def test_a_point_for_each_bin_that_holds_items() -> None:
    confidence = np.array([0.55, 0.55, 0.95, 0.95, 0.95, 0.95])
    right = np.array([True, False, True, True, True, False])
    spec = spec_with_data(calibration_plot(calibration(confidence, right)))
    rows = spec["layer"][1]["data"]["values"]
    assert rows == [
        {"confidence": 0.55, "share": 0.5, "items": 2},
        {"confidence": 0.95, "share": 0.75, "items": 4},
    ]
    assert "calibration error 0.150" in spec["title"]["subtitle"][0]  # (2 * 0.05 + 4 * 0.2) / 6


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
