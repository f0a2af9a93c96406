"""A user's script is checked by mypy --strict against the package as it is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import adjudge

CACHE = Path(__file__).resolve().parents[1] / ".mypy_cache" / "users"
SCRIPT = """
import pandas as pd

import adjudge
from adjudge import Consensus, ContinuousConsensus, DawidSkene, Gold, Judgments
from adjudge.evaluation import evaluate, measure_agreement

frame = pd.DataFrame({"item": ["a"], "judge": ["x"], "label": [1]})
judgments: Judgments = Judgments.from_table(frame)
either: Consensus | ContinuousConsensus = adjudge.fit(frame, gold={"a": 1})
numbers: ContinuousConsensus = adjudge.fit(frame, model="continuous")
consensus: Consensus = adjudge.fit(frame, gold={"a": 1}, model="item-types")
again = DawidSkene(diagonal=2.0).fit(frame, Gold.of({"a": 1}))
accuracy: float | None = evaluate(again, Gold.of({"a": 1}))["accuracy"].value
measure_agreement(judgments)
Judgments.concat([frame, judgments]).topic_count + consensus.judgments.item_count
reveal_type(consensus.posterior)
"""


@pytest.mark.slow
def test_a_users_script_is_strictly_typed(tmp_path: Path) -> None:
    assert (Path(adjudge.__file__).parent / "py.typed").is_file()
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    # Not the project's own settings: a user has none.
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--follow-imports"]
    command += ["silent", "--ignore-missing-imports", "--cache-dir", str(CACHE)]
    done = subprocess.run(
        [*command, str(script)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout
    assert "ndarray" in done.stdout
