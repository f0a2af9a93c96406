"""What is compared: one function a case, which gives a run its comparisons."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import history
import made
from accuracy import accuracy
from cost import cost
from from_table import table
from made import MANY, Size, size_of, what_of
from pairs import pairs
from some_gold import gold
from tables import FIRST

if TYPE_CHECKING:
    from side_by_side import Run

HERE = Path(__file__).resolve().parent
ITERATIONS = 20
TEXT = 10**6  # judgments up to which crowd-kit gets ids as text too
PROCESSES = 2
Task = Callable[[], dict[str, Any]]


def dawid_skene(run: Run) -> None:
    """Dawid-Skene, 20 iterations exactly, next to crowd-kit's; and until it has converged."""
    for judgments in run.sizes:
        for classes in run.classes:
            size = size_of(judgments, classes)
            folder = str(made.arrays(size, run.cache))
            sides: dict[str, Any] = {
                "adjudge": _fit(run, size, folder),
                "adjudge, until converged": _fit(run, size, folder, iterations=500, tolerance=1e-6),
            }
            if run.peers is not None:
                sides["crowd-kit"] = _fit_theirs(run, size, folder, "numbers", "crowd-kit")
                if judgments <= TEXT:
                    name = "crowd-kit, ids as text"
                    sides[name] = _fit_theirs(run, size, folder, "text", name)
            run.comparison("dawid-skene", what_of(size), sides)
    for classes in () if run.quick else run.classes:
        size = Size(50, 20, classes)
        run.comparison("dawid-skene", what_of(size), {FIRST: lambda size=size: _cold(run, size)})


def _cold(run: Run, size: Size) -> dict[str, Any]:
    """The first fit where nothing has been compiled yet."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {"size": [size.items, size.judges, size.classes], "threads": run.threads}
        found: dict[str, Any] = run.ours("cold", env={"NUMBA_CACHE_DIR": folder}, **settings)
        return found


def _fit(
    run: Run, size: Size, folder: str, *, iterations: int = ITERATIONS, tolerance: float = 0.0
) -> Task:
    return lambda: run.ours(
        "fit",
        size=[size.items, size.judges, size.classes],
        folder=folder,
        threads=run.threads,
        iterations=iterations,
        tolerance=tolerance,
    )


def _fit_theirs(run: Run, size: Size, folder: str, ids: str, side: str) -> Task | str:
    """A fit of crowd-kit, or why it is not run: it would take longer than the cap."""
    smaller = {"case": "dawid-skene", **what_of(size_of(size.judgments // 10, size.classes))}
    key = history.key_of({**smaller, "side": side})
    known = {**run.before, **{history.key_of(line): line for line in run.done}}.get(key, {})
    if "left_out" in known:
        return str(known["left_out"])
    expected = 10 * known.get("cpu", 0.0)
    if expected > run.cap:
        return (
            f"not run: more than {expected:,.0f} s of CPU to expect, ten times its "
            f"{known['cpu']:,.0f} s for a tenth of the judgments; the cap is {run.cap:,.0f} s"
        )
    return lambda: run.peer("fit", folder=folder, iterations=ITERATIONS, ids=ids)


def scale(run: Run) -> None:
    """Dawid-Skene alone: the time of a judgment should be flat, above all with as many judges."""
    sizes: list[tuple[int, int | None]] = [
        (judgments, None) for judgments in run.sizes if judgments >= 10**6
    ]
    sizes += [(judgments, MANY) for judgments in run.sizes if judgments == 10**6]
    for classes in run.classes:
        for judgments, judges in sizes:
            size = size_of(judgments, classes, judges)
            folder = str(made.arrays(size, run.cache))
            run.comparison("scale", what_of(size), {"adjudge": _fit(run, size, folder)})


def engines(run: Run) -> None:
    """Threads next to a cluster of two processes on this machine."""
    for judgments in run.sizes:
        for classes in run.classes:
            if judgments < 10**7 and not run.quick:
                continue
            size = size_of(judgments, classes)
            shape = [size.items, size.judges, size.classes]
            given = {"size": shape, "folder": str(made.arrays(size, run.cache))}

            def fit(engine: str, given: dict[str, Any] = given) -> dict[str, Any]:
                settings = {**given, "engine": engine, "processes": PROCESSES}
                found: dict[str, Any] = run.ours("fit on", threads=run.threads, **settings)
                return found

            sides = {"threads": lambda fit=fit: fit("threads")}
            sides[f"Dask, {PROCESSES} processes"] = lambda fit=fit: fit("dask")
            run.comparison("engines", what_of(size), sides)


def reading(run: Run) -> None:
    """A CSV file into Judgments, next to pyarrow.csv on the same file."""
    size = Size(2_000, 100, 2) if run.quick else Size(1_000_000, 10_000, 2)
    warm = Size(1_000, 100, 2) if run.quick else Size(20_000, 10_000, 2)
    for order in ("grouped", "shuffled"):
        paths = {
            "path": str(made.csv(size, run.cache, order)),
            "warm_up": str(made.csv(warm, run.cache, order)),
        }
        sides = {
            "adjudge": lambda paths=paths: run.ours("read", **paths),
            "pyarrow.csv": lambda paths=paths: run.ours("read by pyarrow", **paths),
        }
        run.comparison("reading", {"judgments": size.judgments, "order": order}, sides)


def samplers(run: Run) -> None:
    """The hierarchical relevance model next to JAGS and nutpie, by its own script."""
    if any(line["case"] == "samplers" for line in run.done):
        return
    print("samplers:", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, str(HERE / "samplers.py"), "--threads", str(run.threads)]
        words += ["--repeats", str(run.repeats), "--cache", str(run.cache.parent)]
        if run.quick:
            words += ["--quick", "-o", folder]
        else:
            words += ["--jags-iterations", "100", "--also", folder]
        if run.peers is None:
            words += ["--no-jags", "--no-nutpie"]
        done = subprocess.run(words, stdout=subprocess.DEVNULL, check=False)
        files = list(Path(folder).glob("*.json"))
        if done.returncode or not files:
            print("samplers: left out, see above", file=sys.stderr)
            return
        result = json.loads(files[0].read_text(encoding="utf-8"))
    what = {"case": "samplers", "judgments": result["crowd"]["judgments"]}
    names = ("cpu", "wall", "peak", "scaled", "chains", "warmup", "draws")
    lines = []
    for side in result["sides"]:
        line = {**run.about, "date": run.about["run"], **what, "side": side["side"]}
        if "missing" in side:
            lines.append({**line, "left_out": f"not run: {side['missing']}"})
            continue
        least = min(figures["effective"] for figures in side["hyper"].values())
        rate = least / side.get("measured", side["cpu"])
        figures = {name: side[name] for name in names if name in side}
        lines.append({**line, **figures, "effective_a_second": round(rate, 3)})
    run.note(lines)


CASES = {
    "dawid-skene": dawid_skene,
    "scale": scale,
    "engines": engines,
    "reading": reading,
    "table": table,
    "accuracy": accuracy,
    "gold": gold,
    "cost": cost,
    "pairs": pairs,
    "samplers": samplers,
}
