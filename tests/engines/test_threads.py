"""What the engine of threads reports about itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# Judgments are loaded, as for any model that sweeps, and nothing else is compiled.
LOADS = """
from adjudge import Judgments, ThreadsEngine
from adjudge.engines.threads import are_sweeps_compiled

print(are_sweeps_compiled())
ThreadsEngine().load(Judgments.from_table({"item": ["a"], "judge": ["b"], "label": ["1"]}))
print(are_sweeps_compiled())
"""


def test_the_first_run_is_reported_once(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", LOADS],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split() == ["False", "True"]
