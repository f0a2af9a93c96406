"""adjudge plan: its output for judgments without gold."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from commands import Run


def test_a_plan_that_gold_belies_says_so(adjudge: Run, folder: Path) -> None:
    """Judges who err together on hard items seem worse to each other than to gold."""
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 4, 400)
    rows, golds = ["item,judge,label"], ["item,gold"]
    for item, grade in enumerate(truth):
        hard, common = rng.random() < 0.25, rng.integers(0, 4)
        for judge, right in enumerate((0.8, 0.82, 0.7, 0.72, 0.65)):
            label = grade if rng.random() < right else np.clip(grade + rng.choice([-1, 1]), 0, 3)
            label = common if hard and rng.random() < 0.7 else label
            rows.append(f"i{item},j{judge},{label}")
        if item < 250:
            golds.append(f"i{item},{grade}")
    (folder / "j.csv").write_text("\n".join(rows) + "\n")
    (folder / "g.csv").write_text("\n".join(golds) + "\n")
    options = ("--most", 5, "--runs", 2, "--json")
    notes = adjudge("plan", "j.csv", "--gold", "g.csv", *options).json["notes"]
    assert notes[-1].startswith("With the pilot's 5 judgments per item this plan has 7")
    assert "the plan is too low. Trust the differences between rows" in notes[-1]
    assert len(adjudge("plan", "j.csv", *options).json["notes"]) == len(notes) - 1
