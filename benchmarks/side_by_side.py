"""Measure adjudge side by side with its peers, write every measurement down, and make the tables.

Every measurement runs in a fresh process; the sides of a comparison take turns, several times, and
the least time counts, and the most memory: what else runs on a machine can only add to a time.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import benchmark_page
import cases
import history
import peers
import tables
from calibration import calibrate
from machine import commit, machine, versions

HERE = Path(__file__).resolve().parent
LONG = 60.0  # CPU seconds of a turn after which a side gets no other
Rows = list[dict[str, Any]]


@dataclass(slots=True)
class Run:
    """What was asked for, what was there before, and what has been measured."""

    quick: bool
    full: bool  # the samplers too, where every model is measured
    sets: frozenset[str]  # the only ones that accuracy and gold are measured on; none for all
    models: frozenset[str]  # the only ones of accuracy and gold; none for all
    sizes: tuple[int, ...]  # judgments
    repeats: int
    threads: int
    cap: float  # CPU seconds that a fit of a peer may take
    data: Path
    cache: Path
    peers: Path | None  # the Python that has them
    skip: frozenset[str]
    about: dict[str, Any]
    before: dict[tuple[Any, ...], history.Line]
    keep: Path | None  # the folder of the history
    done: Rows = field(default_factory=list)

    def wants(self, name: str) -> bool:
        """Whether a set is to be measured."""
        return not self.sets or name in self.sets

    @property
    def classes(self) -> tuple[int, ...]:
        return (2,) if self.quick else (2, 5)

    def ours(self, task: str, *, env: dict[str, str] | None = None, **settings: Any) -> Any:
        """A task of ours in a fresh process."""
        return _asked(Path(sys.executable), "ours.py", task, settings, env)

    def peer(self, task: str, **settings: Any) -> Any:
        """A task of the peers in a fresh process."""
        if self.peers is None:
            raise ValueError("there are no peers in this run")
        return _asked(self.peers, "peer_tasks.py", task, settings, None)

    def comparison(self, case: str, what: dict[str, Any], sides: dict[str, Any]) -> None:
        """Measure every side in turn, and write it down; a text is a side that is not run, and why.

        A comparison that this run has made already, before it was broken off, is not made again.
        """
        planned = [{"case": case, **what, "side": side} for side in sides]
        made = {history.key_of(line) for line in self.done}
        if all(history.key_of(line) in made for line in planned):
            say(f"{title(case, what)}: measured already")
            return
        say(title(case, what))
        stamp = {**self.about, "date": _now(), "calibration": round(calibrate(), 5)}
        measured = self.least({side: run for side, run in sides.items() if callable(run)})
        lines = []
        for line in planned:
            given = sides[line["side"]]
            figures = measured[line["side"]] if callable(given) else {"left_out": given}
            lines.append({**stamp, **line, **figures})
        self.note(lines)

    def note(self, lines: Rows) -> None:
        """Keep lines, here and in the history."""
        self.done += lines
        if self.keep is not None:
            history.append(self.keep, lines)

    def note_rows(self, what: dict[str, Any], rows: Rows) -> None:
        """Keep what one process measured of several sides, each once."""
        date = {"date": _now(), "turns": 1}
        self.note([{**self.about, **date, **what, **_rounded(row)} for row in rows])

    def least(self, sides: dict[str, Callable[[], dict[str, Any]]]) -> dict[str, dict[str, Any]]:
        """Every side measured in turn, so many times; the least of its times, the most memory."""
        readings: dict[str, Rows] = {side: [] for side in sides}
        for turn in range(self.repeats):
            for side, measure in sides.items():
                if turn and readings[side][0]["cpu"] > LONG:
                    continue
                readings[side].append(measure())
                say(f"  {turn + 1}/{self.repeats} {side}: {_brief(readings[side][-1])}")
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
    """The least CPU and wall time of several measurements, the most memory, and all their times."""
    best = min(rows, key=lambda row: row["cpu"])
    peaks = [row["peak"] for row in rows if row["peak"] is not None]
    names = ("cpu", "system", "wall")
    rounded = {name: round(best[name], 5) for name in names if name in best}
    return {
        **best,
        **rounded,
        "wall": round(min(row["wall"] for row in rows), 5),
        "peak": max(peaks, default=None),
        **({"iteration": min(row["iteration"] for row in rows)} if "iteration" in best else {}),
        "turns": len(rows),
        "each": [[round(row["cpu"], 4), round(row["wall"], 4)] for row in rows],
    }


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, **({"cpu": round(row["cpu"], 5)} if "cpu" in row else {})}


def _brief(reading: dict[str, Any]) -> str:
    peak = "" if reading["peak"] is None else f", {reading['peak'] / 1e6:,.0f} MB"
    return f"{reading['cpu']:.3f} s CPU, {reading['wall']:.3f} s{peak}"


def title(case: str, what: dict[str, Any]) -> str:
    """A comparison in a few words."""
    parts = [
        f"{name} {value:,}" if isinstance(value, int) else value for name, value in what.items()
    ]
    return f"{case}: {', '.join(parts)}"


def say(text: str) -> None:
    """Report progress."""
    print(text, file=sys.stderr, flush=True)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks/run", description=__doc__)
    every, usual = ", ".join(cases.CASES), "1e5,1e6,1e7"
    parser.add_argument("--only", action="append", choices=cases.CASES, help=f"one of {every}")
    parser.add_argument("--skip", action="append", choices=[*cases.CASES, "peers"], default=[])
    parser.add_argument("--sizes", default=usual, help=f"judgments ({usual}; up to 1e8)")
    parser.add_argument(
        "--cap", type=float, default=300.0, help="CPU seconds a peer's fit may take"
    )
    parser.add_argument("--sets", default="", help="sets of accuracy and gold, joined by ;")
    parser.add_argument("--models", default="", help="models of accuracy and gold, joined by ;")
    parser.add_argument("--full", action="store_true", help="samplers too, in accuracy")
    parser.add_argument("--repeats", type=int, default=5, help="turns of every side (5)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--resume", action="store_true", help="go on with a run broken off")
    parser.add_argument("--compare", action="store_true", help="with the last run; write nothing")
    parser.add_argument(
        "--quick", action="store_true", help="tiny, once: does it run? keep nothing"
    )
    parser.add_argument("--cache", type=Path, default=HERE / ".cache", help="made data, peers")
    parser.add_argument("--history", type=Path, help="its folder (benchmarks/history)")
    return parser.parse_args()


def _named(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(";") if part.strip())


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(sorted(int(float(word)) for word in text.split(",")))


def _begun(options: argparse.Namespace, cache: Path) -> str:
    """The name of this run: a new one, or with ``--resume`` that of the last."""
    place, now = cache / "unfinished", _now()
    if options.resume and place.is_file():
        return place.read_text(encoding="ascii")
    if not options.quick and not options.compare:
        cache.mkdir(parents=True, exist_ok=True)
        place.write_text(now, encoding="ascii")
    return now


def _run(options: argparse.Namespace) -> Run:
    folder = options.history or HERE / "history"
    started = _begun(options, options.cache)
    before = list(history.lines_in(folder))
    with_peers = "peers" not in options.skip
    python = peers.python_of(options.cache) if with_peers else None
    data = Path(os.environ.get("ADJUDGE_DATA", HERE.parent.parent / "shared" / "data"))
    run = Run(
        quick=options.quick,
        full=options.full,
        sets=_named(options.sets),
        models=_named(options.models),
        sizes=(10_000,) if options.quick else _sizes(options.sizes),
        repeats=1 if options.quick else options.repeats,
        threads=options.threads,
        cap=options.cap,
        data=data,
        cache=options.cache / "data",
        peers=python,
        skip=frozenset(options.skip),
        about={
            "run": started,
            "commit": commit(HERE.parent),
            "machine": machine(),
            "threads": options.threads,
            "versions": versions(),
        },
        before={history.key_of(line): line for line in before if line["run"] != started},
        keep=None if options.compare or (options.quick and not options.history) else folder,
    )
    if options.resume:
        run.done = [line for line in before if line["run"] == started]
    if python is not None:
        run.about["peers"] = run.peer("versions")
    return run


def main() -> int:
    """Measure, tell what changed, and write the tables unless it was only a look."""
    options = _options()
    run = _run(options)
    for name in options.only or cases.CASES:
        if name not in run.skip:
            cases.CASES[name](run)
    changes = history.compared(run.before, run.done)
    print(tables.markdown(run.done))
    if changes:
        print(tables.changes(changes))
    if not options.quick and not options.compare:
        (options.cache / "unfinished").unlink(missing_ok=True)
    if run.keep == HERE / "history":
        newest = list(history.newest(run.keep).values())
        tables.refresh(HERE / "README.md", newest)
        benchmark_page.write(newest)
    return int(options.compare and any(change["worse"] for change in changes))


if __name__ == "__main__":
    sys.exit(main())
