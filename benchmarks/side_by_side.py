"""Measure adjudge side by side with its peers and write the results down.

Every measurement runs in a fresh process; the sides of a comparison take turns, several times, and
the least of each figure counts: what else runs on a machine can only add to it.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import made
import peers
import tables
from machine import commit, machine, versions
from made import Size

HERE = Path(__file__).resolve().parent
ITERATIONS = 20
REAL = ("trec-rf10 binary", "rte", "web-relevance")
Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Run:
    """What was asked for."""

    quick: bool
    large: bool
    repeats: int
    threads: int
    data: Path
    cache: Path
    peers: Path | None  # the Python that has them

    @property
    def classes(self) -> tuple[int, ...]:
        return (2,) if self.quick else (2, 5)

    def ours(self, task: str, *, env: dict[str, str] | None = None, **settings: Any) -> Any:
        """A task of ours in a fresh process."""
        return _asked(Path(sys.executable), "ours.py", task, settings, env)

    def theirs(self, task: str, **settings: Any) -> Any:
        """A task of the peers in a fresh process."""
        if self.peers is None:
            raise ValueError("there are no peers in this run")
        return _asked(self.peers, "theirs.py", task, settings, None)

    def least(self, sides: dict[str, Callable[[], dict[str, Any]]]) -> dict[str, dict[str, Any]]:
        """Every side measured in turn, so many times; the least of its figures."""
        readings: dict[str, Rows] = {side: [] for side in sides}
        for turn in range(self.repeats):
            for side, measure in sides.items():
                readings[side].append(measure())
                got = readings[side][-1]
                print(f"  {turn + 1}/{self.repeats} {side}: {_brief(got)}", file=sys.stderr)
        return {side: _least(rows) for side, rows in readings.items()}


def _asked(
    python: Path, script: str, task: str, settings: dict[str, Any], env: dict[str, str] | None
) -> Any:
    done = subprocess.run(
        [str(python), str(HERE / script), task, json.dumps(settings)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, **(env or {})},
    )
    return json.loads(done.stdout.splitlines()[-1])


def _least(rows: Rows) -> dict[str, Any]:
    """The least CPU time, wall time and memory of several measurements, and all their times."""
    best = min(rows, key=lambda row: row["cpu"])
    peaks = [row["peak"] for row in rows if row["peak"] is not None]
    names = ("cpu", "system", "wall")
    return {
        **best,
        "wall": min(row["wall"] for row in rows),
        "peak": min(peaks, default=None),
        "each": [{name: round(row[name], 4) for name in names} for row in rows],
    }


def _brief(reading: dict[str, Any]) -> str:
    peak = "" if reading["peak"] is None else f", {reading['peak'] / 1e6:,.0f} MB over the data"
    cpu = f"{reading['cpu']:.3f} s CPU ({reading['system']:.3f} system)"
    return f"{cpu}, {reading['wall']:.3f} s{peak}"


def dawid_skene(run: Run) -> Rows:
    """Dawid-Skene, 20 iterations exactly, beside crowd-kit's."""
    rows: Rows = []
    for classes in run.classes:
        size = Size(1_000, 100, classes) if run.quick else Size(100_000, 1_000, classes)
        _say(f"Dawid-Skene, {size.judgments:,} judgments, {classes} classes")
        folder = str(made.arrays(size, run.cache))
        sides = {"adjudge": _fit(run, size, folder)}
        if run.peers is not None:
            for ids in ("numbers", "text"):
                sides[f"crowd-kit, ids as {ids}"] = _fit_theirs(run, folder, ids)
        for side, figures in run.least(sides).items():
            rows.append({**_shape(size), "side": side, **figures})
        if not run.quick:
            rows[-len(sides)]["cold"] = _cold(run, size)
    return rows


def _fit(
    run: Run, size: Size, folder: str, *, iterations: int = ITERATIONS, tolerance: float = 0.0
) -> Callable[[], dict[str, Any]]:
    return lambda: run.ours(
        "fit",
        size=[size.items, size.judges, size.classes],
        folder=folder,
        threads=run.threads,
        iterations=iterations,
        tolerance=tolerance,
    )


def _fit_theirs(run: Run, folder: str, ids: str) -> Callable[[], dict[str, Any]]:
    return lambda: run.theirs("fit", folder=folder, iterations=ITERATIONS, ids=ids)


def _cold(run: Run, size: Size) -> float:
    """Seconds of the first fit where nothing has been compiled yet."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {"size": [size.items, size.judges, size.classes], "threads": run.threads}
        return float(run.ours("cold", env={"NUMBA_CACHE_DIR": folder}, **settings)["wall"])


def _shape(size: Size) -> dict[str, int]:
    return {
        "judgments": size.judgments,
        "items": size.items,
        "judges": size.judges,
        "classes": size.classes,
    }


def scale(run: Run) -> Rows:
    """Dawid-Skene alone on larger crowds: 20 iterations, and until it has converged."""
    sizes = [(1_000_000, 10_000)] if not run.quick else [(2_000, 100)]
    if run.large:
        sizes.append((10_000_000, 10_000))
    rows: Rows = []
    for items, judges in sizes:
        for classes in run.classes:
            size = Size(items, judges, classes)
            _say(f"Scale, {size.judgments:,} judgments, {classes} classes")
            folder = str(made.arrays(size, run.cache))
            sides = {
                f"{ITERATIONS} iterations": _fit(run, size, folder),
                "until converged": _fit(run, size, folder, iterations=500, tolerance=1e-6),
            }
            for side, figures in run.least(sides).items():
                rows.append({**_shape(size), "side": side, **figures})
    return rows


def reading(run: Run) -> Rows:
    """A CSV file into Judgments, beside pyarrow.csv on the same file."""
    size = Size(2_000, 100, 2) if run.quick else Size(1_000_000, 10_000, 2)
    warm = Size(1_000, 100, 2) if run.quick else Size(20_000, 10_000, 2)
    rows: Rows = []
    for order in ("grouped", "shuffled"):
        _say(f"Reading, {size.judgments:,} rows, {order}")
        paths = {
            "path": str(made.csv(size, run.cache, order)),
            "warm_up": str(made.csv(warm, run.cache, order)),
        }
        sides = {
            "adjudge": lambda paths=paths: run.ours("read", **paths),
            "pyarrow.csv": lambda paths=paths: run.ours("read by pyarrow", **paths),
        }
        for side, figures in run.least(sides).items():
            rows.append({"order": order, "side": side, **figures})
    return rows


def accuracy(run: Run) -> Rows:
    """Every model of the registry on real crowds, beside crowd-kit's."""
    rows: Rows = []
    for name in REAL[1:2] if run.quick else REAL:
        if not run.data.is_dir():
            _say(f"Accuracy on {name}: left out, no real judgments (set ADJUDGE_DATA)")
            continue
        _say(f"Accuracy on {name}")
        with tempfile.TemporaryDirectory() as folder:
            arrays = str(Path(folder) / "judgments.npz")
            settings = {"name": name, "data": str(run.data), "arrays": arrays}
            found = run.ours("real", **settings, sample=not run.quick)
            more = run.theirs("real", arrays=arrays)["rows"] if run.peers is not None else []
        shape = {"set": name, "judgments": found["judgments"], "gold": found["gold"]}
        rows += [{**shape, **row} for row in found["rows"] + more]
    return rows


CASES = {"dawid-skene": dawid_skene, "scale": scale, "reading": reading, "accuracy": accuracy}


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks/run", description=__doc__)
    parser.add_argument("--case", action="append", choices=CASES, help="only this one; repeatable")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, once: does it all run?")
    parser.add_argument("--large", action="store_true", help="100 million judgments too")
    parser.add_argument("--no-peers", action="store_true", help="adjudge alone")
    parser.add_argument("--repeats", type=int, default=5, help="turns of every side (5)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--cache", type=Path, default=HERE / ".cache", help="made data, peers")
    parser.add_argument("-o", "--output", type=Path, help="folder of results (benchmarks/results)")
    return parser.parse_args()


def main() -> None:
    """Measure, print the tables, and write them down unless it was only a quick look."""
    options = _options()
    data = Path(os.environ.get("ADJUDGE_DATA", HERE.parent.parent / "shared" / "data"))
    run = Run(
        quick=options.quick,
        large=options.large,
        repeats=1 if options.quick else options.repeats,
        threads=options.threads,
        data=data,
        cache=options.cache / "data",
        peers=None if options.no_peers else peers.python_of(options.cache),
    )
    start = datetime.datetime.now(datetime.UTC)
    result: dict[str, Any] = {
        "date": start.isoformat(timespec="seconds"),
        "commit": commit(HERE.parent),
        "machine": machine(),
        "versions": versions(),
        "peers": run.theirs("versions") if run.peers is not None else None,
        "threads": run.threads,
        "repeats": run.repeats,
        "quick": run.quick,
        "cases": {name: CASES[name](run) for name in options.case or CASES},
    }
    print(tables.markdown(result))
    output = options.output or (None if run.quick else HERE / "results")
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        path = output / f"{start:%Y-%m-%d-%H%M}.json"
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if output == HERE / "results":
        tables.refresh(HERE / "README.md", output)


if __name__ == "__main__":
    main()
