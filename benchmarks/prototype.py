"""The prototype of the model for judges who depend on one another, run beside ours.

It lies in the folder of references beside the data and is no part of the project; without it, its
side is left out. It is run from a copy: what is compiled of it is kept beside its file, and nothing
is written beside the data.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from adjudge import Judgments

COPY = Path(__file__).resolve().parent / ".cache" / "dependence_prototype.py"
PLACE = Path("reference") / "dependence" / "prototype.py"
MISSING = "no prototype beside the data"


def load(data: Path) -> ModuleType | None:
    """The prototype, or None where it is not there."""
    path = data.resolve().parent / PLACE
    if not path.is_file():
        return None
    text = path.read_bytes()
    if not COPY.is_file() or COPY.read_bytes() != text:
        COPY.parent.mkdir(parents=True, exist_ok=True)
        COPY.write_bytes(text)
    spec = importlib.util.spec_from_file_location(COPY.stem, COPY)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    sys.modules[COPY.stem] = module  # what was compiled before looks for it there
    spec.loader.exec_module(module)
    return module


def arrays_of(judgments: Judgments) -> dict[str, Any]:
    """Judgments as it wants them: sorted by item, judge and label."""
    order = np.lexsort((judgments.label, judgments.judge, judgments.item))
    return {
        "I": judgments.item[order].astype(np.int64),
        "J": judgments.judge[order].astype(np.int64),
        "L": judgments.label[order].astype(np.int64),
        "n": judgments.item_count,
        "m": judgments.judge_count,
        "K": len(judgments.scale.labels),
        "labs": list(judgments.scale.labels),
        "start": judgments.offsets,
    }
