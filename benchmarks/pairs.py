"""Comparisons side by side: strengths of items from pairs, next to evalica and crowd-kit.

1,000 made items are compared by 100 judges, who are right eight times in ten, some more, some less.
evalica knows no judges and gives no intervals; ours has intervals within its time, and codes names
within it too. crowd-kit's NoisyBradleyTerry has its default settings, and is run where it is to be
expected below the cap.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import history
import numpy as np

if TYPE_CHECKING:
    from side_by_side import Run

CASE = "pairs"
ITEMS, JUDGES = 1000, 100
STRENGTHS, SKILLS = "strengths", "with the skill of judges"
PARTS = ("left", "right", "judge", "outcome")


def pairs(run: Run) -> None:
    """The case: strengths alone, then with the skill of judges."""
    for size in run.sizes:
        folder = str(_made(size, run.cache))
        what = {"comparisons": size, "asked": STRENGTHS}
        sides: dict[str, Any] = {
            "adjudge bradley-terry, with intervals": _ours(run, "bradley-terry", folder)
        }
        if run.peers is not None:
            sides["evalica bradley_terry"] = lambda folder=folder: run.peer(
                "pairs by evalica", folder=folder
            )
        run.comparison(CASE, what, sides)
        what = {"comparisons": size, "asked": SKILLS}
        sides = {
            "adjudge crowd-bradley-terry, with intervals": _ours(run, "crowd-bradley-terry", folder)
        }
        if run.peers is not None:
            sides["crowd-kit NoisyBradleyTerry"] = _noisy(run, size, folder)
        run.comparison(CASE, what, sides)


def _ours(run: Run, model: str, folder: str) -> Any:
    return lambda: run.ours("pairs", model=model, folder=folder)


def _noisy(run: Run, size: int, folder: str) -> Any:
    """A fit of crowd-kit, or why it is not run."""
    side = {"asked": SKILLS, "side": "crowd-kit NoisyBradleyTerry"}
    key = history.key_of({"case": CASE, "comparisons": size // 10, **side})
    known = {**run.before, **{history.key_of(line): line for line in run.done}}.get(key, {})
    expected = 10 * known.get("cpu", 0.0)
    if expected > run.cap:
        return f"not run: more than {expected:,.0f} s of CPU to expect; the cap is {run.cap:,.0f} s"
    return lambda: run.peer("pairs by crowd-kit", folder=folder)


def _made(size: int, cache: Path) -> Path:
    """The comparisons as arrays of codes, made once; an outcome is 1 where the left one won."""
    folder = cache / f"pairs-{size}"
    if not (folder / f"{PARTS[-1]}.npy").is_file():
        random = np.random.default_rng(1)
        strengths, right = random.normal(0, 1, ITEMS), random.beta(8, 2, JUDGES)
        left = random.integers(ITEMS, size=size)
        other = (left + random.integers(1, ITEMS, size=size)) % ITEMS
        judge = random.integers(JUDGES, size=size)
        ahead = strengths[left] - strengths[other]
        ahead = np.where(random.random(size) < right[judge], ahead, -ahead)
        won = random.random(size) < 1 / (1 + np.exp(-ahead))
        folder.mkdir(parents=True, exist_ok=True)
        for part, values in zip(PARTS, (left, other, judge, won), strict=True):
            np.save(folder / f"{part}.npy", values.astype(np.int32))
    return folder


def names(kind: str, count: int) -> list[str]:
    """Names as people have them."""
    return [f"{kind}-{number:04d}" for number in range(count)]


def loaded(folder: str) -> dict[str, np.ndarray]:
    """The arrays of a folder."""
    return {part: np.load(Path(folder) / f"{part}.npy") for part in PARTS}


def measure_pairs(model: str, folder: str) -> dict[str, Any]:
    """A fit of ours, from a table of names to strengths with intervals."""
    import pyarrow as pa
    from meter import Meter

    from adjudge import BradleyTerry, Comparisons, CrowdBradleyTerry

    parts = loaded(folder)
    called = {
        "left": names("item", ITEMS),
        "right": names("item", ITEMS),
        "judge": names("judge", JUDGES),
        "outcome": ["right", "left"],
    }
    table = pa.table(
        {
            "label" if part == "outcome" else part: pa.DictionaryArray.from_arrays(
                parts[part], called[part]
            ).cast(pa.string())
            for part in PARTS
        }
    )
    kind = {"bradley-terry": BradleyTerry, "crowd-bradley-terry": CrowdBradleyTerry}[model]
    kind(copies=False).fit(Comparisons.from_table(table.slice(0, 2000)))
    with Meter() as meter:
        found = kind(copies=False).fit(Comparisons.from_table(table))
    return {**meter.reading, "converged": bool(found.converged)}


TASKS = {"pairs": measure_pairs}
