from __future__ import annotations

import numpy as np

from adjudge.data.scale import Scale
from adjudge.report.plots.judges import confusion_map
from charts import spec_with_data

MEAN = np.array([[0.75, 0.25, 0.0], [0.125, 0.875, np.nan]])
SD = np.array([[0.1, 0.05, 0.0], [0.25, 0.5, np.nan]])


def test_cells_have_mean_and_sd_in_words() -> None:
    scale = Scale(labels=("0", "1", "broken"), truths=("no", "yes"), truth_of=(0, 1, -1))
    spec = spec_with_data(confusion_map(MEAN, SD, scale, "all"))
    rows = spec["data"]["values"]
    assert [(row["truth"], row["label"], row["words"], row["under"]) for row in rows] == [
        ("no", "0", "0.75", "(0.10)"),
        ("no", "1", "0.25", "(0.05)"),
        ("no", "broken", "0.00", "(0.00)"),
        ("yes", "0", "0.12", "(0.25)"),
        ("yes", "1", "0.88", "(0.50)"),
        ("yes", "broken", "–", ""),
    ]
    assert rows[5]["mean"] is None
