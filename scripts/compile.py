"""Compile the kernels once, before tests run in several processes that would each compile them.

    .venv/bin/python scripts/compile.py

numba keeps what it compiled beside the kernels (or in NUMBA_CACHE_DIR). Every model is fitted to a
few judgments, half of the models in one process and half in another; where that was done since the
kernels changed, nothing is done.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KERNELS = ROOT / "src" / "adjudge" / "kernels"
STAMP = KERNELS / "__pycache__" / "compiled"
HALVES = 2


def state() -> str:
    """The kernels as numba tells them apart: by name, time and size; and who compiled them."""
    files = sorted(KERNELS.glob("*.py"))
    told = [f"{file.name} {file.stat().st_mtime_ns} {file.stat().st_size}" for file in files]
    return hashlib.sha256("\n".join([sys.version, *told]).encode()).hexdigest()


def fit(half: int) -> None:
    """Fit half of the models to a small crowd, with topics and without, with gold and without."""
    from adjudge import Gold, Judgments
    from adjudge.models.registry import MODELS, model

    rows = {
        "item": [f"i{n // 4}" for n in range(48)],
        "topic": [f"t{n // 24}" for n in range(48)],
        "judge": [f"j{n % 4 + n % 3}" for n in range(48)],
        "label": [n * n % 3 for n in range(48)],
    }
    judgments = Judgments.from_table(rows)
    gold = Gold.of({"i0": 0, "i1": 1, "i2": 1, "i3": 0})
    for name, kind in list(MODELS.items())[half::HALVES]:
        short = {"chains": 2, "warmup": 4, "draws": 4} if hasattr(kind, "draws") else {}
        for more in ({}, {"by_topic": True}):
            known = {key for key in more if hasattr(kind, key)}
            if known == set(more):
                fitted = model(name, **short, **more).fit(judgments, gold)
                fitted.predict(judgments)
                model(name, **short, **more).fit(judgments)


def main() -> None:
    """Compile in two processes, unless nothing has changed."""
    if sys.argv[1:]:
        fit(int(sys.argv[1]))
        return
    now = state()
    if STAMP.is_file() and STAMP.read_text() == now:
        return
    begun = time.monotonic()
    print("Setting up: compiling the kernels (once) ...", file=sys.stderr)
    command = [sys.executable, __file__]
    running = [subprocess.Popen([*command, str(half)]) for half in range(HALVES)]
    codes = [process.wait() for process in running]
    if any(codes):
        raise SystemExit("the kernels could not be compiled")
    STAMP.parent.mkdir(exist_ok=True)
    STAMP.write_text(now)
    print(f"  in {time.monotonic() - begun:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
