"""Samplers of the hierarchical relevance model side by side: adjudge, JAGS and nutpie, in one run.

    python benchmarks/samplers.py                        # the published run on every side
    python benchmarks/samplers.py --jags-iterations 100  # JAGS for less long, its time scaled up
    python benchmarks/samplers.py --quick                # a tiny crowd: does it all still run?

The published run is 3 chains of 1,000 sweeps of warm-up and 1,000 draws on trec-rf10, the judgments
of task 2 of TREC 2011. What is compared is CPU time, memory, and how many effective draws of the
hyper-parameters a second of CPU time gives. This process imports nothing large, since the
memory of a child is counted from its parent's on.
"""

from __future__ import annotations

import argparse
import datetime
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jags_files
import sampler_tables
from machine import commit, machine, versions
from processes import Failed, measured

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "samplers"
PAGE = HERE / "samplers.md"
MODEL = HERE / "hierarchical_relevance.bug"
CHAINS = 3
PACKAGES = ("nutpie", "pymc")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Run:
    """What was asked for, and where the prepared judgments are."""

    folder: Path
    cache: Path
    warmup: int
    draws: int
    repeats: int
    threads: int
    jags_iterations: int
    nutpie_draws: int

    @property
    def length(self) -> dict[str, int]:
        return {"chains": CHAINS, "warmup": self.warmup, "draws": self.draws}

    @property
    def sweeps(self) -> int:
        """Sweeps of all chains together."""
        return CHAINS * (self.warmup + self.draws)


def asked(
    script: str, task: str, settings: dict[str, Any], python: Path | None = None
) -> dict[str, Any]:
    """A task of one of the scripts of this folder, in a fresh process, and what that took."""
    command = [str(python or sys.executable), str(HERE / script), task, json.dumps(settings)]
    process = measured(command, env=ONE_THREAD)
    printed = process.pop("printed").splitlines()
    return {**json.loads(printed[-1]), "process": process}


def ours(run: Run) -> dict[str, Any]:
    """Our sampler, several times, each with another seed: the least time, the mean of the rest."""
    settings = {"folder": str(run.folder), **run.length, "threads": run.threads}
    fits = []
    for turn in range(run.repeats):
        warm = asked("samplers_ours.py", "fit", {**settings, "seed": turn, "warm": True})
        found = asked("samplers_ours.py", "of arrays", {"path": str(run.folder / "adjudge.npz")})
        cold = asked("samplers_ours.py", "fit", {**settings, "seed": turn, "warm": False})
        fits.append({**warm, "hyper": found["hyper"], "process": cold["process"]})
        say(f"  adjudge, {turn + 1} of {run.repeats}: {warm['cpu']:.2f} s CPU")
    return {
        "side": "adjudge",
        **run.length,
        "cpu": min(fit["cpu"] for fit in fits),
        "wall": min(fit["wall"] for fit in fits),
        "total": min(fit["process"]["cpu"] for fit in fits),
        "peak": min(fit["process"]["peak"] for fit in fits),
        "sampling": min(fit["cpu"] for fit in fits) / run.sweeps,
        "hyper": averaged([fit["hyper"] for fit in fits]),
        "each": [[round(fit["cpu"], 3), round(fit["process"]["cpu"], 3)] for fit in fits],
    }


def averaged(hypers: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    """The mean of what several runs say of each hyper-parameter."""
    return {
        name: {
            figure: sum(hyper[name][figure] for hyper in hypers) / len(hypers)
            for figure in hypers[0][name]
        }
        for name in hypers[0]
    }


def jags(run: Run) -> dict[str, Any]:
    """JAGS, once; a run that was cut short is scaled up to the length of the others."""
    program = shutil.which("jags")
    if program is None:
        return {"side": "JAGS", "missing": "no jags on the PATH; on Debian: apt-get install jags"}
    full = run.warmup + run.draws
    made = run.jags_iterations or full
    length = {"warmup": made - made // 2, "draws": made // 2} if made < full else run.length
    shutil.copy(MODEL, run.folder)
    start = _jags(run, program, 0, 0)
    say(f"  JAGS has compiled: {start['cpu']:.1f} s CPU; now {made:,} iterations of each chain")
    taken = _jags(run, program, length["warmup"], length["draws"])
    say(f"  JAGS: {taken['cpu']:.1f} s CPU")
    found = asked("samplers_ours.py", "of jags", {"folder": str(run.folder), "chains": CHAINS})
    each = (taken["cpu"] - start["cpu"]) / (CHAINS * made)
    cpu = taken["cpu"] if made == full else start["cpu"] + each * run.sweeps
    version = re.search(r"JAGS (\S+) ", taken["printed"])
    return {
        "side": "JAGS",
        "chains": CHAINS,
        "warmup": length["warmup"],
        "draws": length["draws"],
        "cpu": cpu,
        "measured": taken["cpu"],
        "scaled": made < full,
        "compiling": start["cpu"],
        "wall": taken["wall"],
        "total": cpu,
        "peak": taken["peak"],
        "sampling": each,
        "hyper": found["hyper"],
        "versions": {"JAGS": version.group(1) if version else "?"},
    }


def _jags(run: Run, program: str, warmup: int, draws: int) -> dict[str, Any]:
    script = run.folder / "script.cmd"
    script.write_text(jags_files.script(MODEL.name, CHAINS, warmup, draws), encoding="ascii")
    taken: dict[str, Any] = measured([program, script.name], cwd=run.folder)
    return taken


def nutpie(run: Run) -> dict[str, Any]:
    """nutpie, once, on the model with the truths summed out."""
    try:
        python = environment(run.cache)
    except subprocess.CalledProcessError as error:
        ended = f"pip ended with {error.returncode}"
        return {"side": "nutpie", "missing": f"it could not be installed here: {ended}"}
    draws = run.nutpie_draws or run.draws
    length = {"chains": CHAINS, "warmup": run.warmup, "draws": draws}
    settings = {"folder": str(run.folder), **length, "seed": 1, "cores": run.threads}
    say(f"  nutpie: {CHAINS} chains of {run.warmup:,} + {draws:,} draws")
    fit = asked("samplers_nutpie.py", "fit", settings, python)
    say(f"  nutpie: {fit['cpu']:.1f} s CPU")
    found = asked("samplers_ours.py", "of arrays", {"path": str(run.folder / "nutpie.npz")})
    named = asked("samplers_nutpie.py", "versions", {}, python)
    return {
        "side": "nutpie",
        **length,
        "cpu": fit["cpu"],
        "compiling": fit["compiling"],
        "wall": fit["wall"],
        "total": fit["process"]["cpu"],
        "peak": fit["process"]["peak"],
        "sampling": fit["cpu"] / (CHAINS * (run.warmup + draws)),
        "steps": fit["steps"],
        "divergences": fit["divergences"],
        "hyper": found["hyper"],
        "versions": {name: text for name, text in named.items() if name != "process"},
    }


def environment(cache: Path) -> Path:
    """The Python that has nutpie; made, with the newest versions, if it is not there."""
    folder = cache / "nutpie"
    python, done = folder / "bin" / "python", folder / "installed"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "nutpie.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two runs at once would install over each other
        if not done.is_file():
            say(f"Setting up: installing {', '.join(PACKAGES)} (once) ...")
            venv.create(folder, with_pip=True, clear=True)
            install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([str(python), *install, *PACKAGES], check=True, stdout=sys.stderr)
            done.touch()
    return python


def say(text: str) -> None:
    """Report progress."""
    print(text, file=sys.stderr, flush=True)


SIDES = {"adjudge": ours, "JAGS": jags, "nutpie": nutpie}


def options() -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks/samplers.py", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--quick", action="store_true", help="a tiny crowd, and short")
    parser.add_argument("--repeats", type=int, default=5, help="runs of adjudge (5)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--jags-iterations", type=int, default=0, metavar="N")
    parser.add_argument("--nutpie-draws", type=int, default=0, metavar="N")
    parser.add_argument("--no-jags", action="store_true", help="without JAGS")
    parser.add_argument("--no-nutpie", action="store_true", help="without nutpie")
    parser.add_argument("--cache", type=Path, default=HERE / ".cache", help="where nutpie lives")
    parser.add_argument("-o", "--output", type=Path, help="folder of results")
    parser.add_argument("--also", type=Path, help="another folder that gets the results")
    return parser.parse_args()


def main() -> None:
    """Measure every side, print the tables, and write them down unless it was a quick look."""
    asked_for = options()
    quick = asked_for.quick
    data = Path(os.environ.get("ADJUDGE_DATA", HERE.parent.parent / "shared" / "data"))
    source = data / "trec-rf10" / "judgments.tsv"
    if not quick and not source.is_file():
        sys.exit("There are no real judgments here: set ADJUDGE_DATA to their folder, or --quick.")
    begin = datetime.datetime.now(datetime.UTC)
    result: dict[str, Any] = {
        "date": begin.isoformat(timespec="seconds"),
        "commit": commit(HERE.parent),
        "machine": machine(),
        "versions": versions(),
        "quick": quick,
    }
    with tempfile.TemporaryDirectory() as name:
        run = Run(
            folder=Path(name),
            cache=asked_for.cache,
            warmup=30 if quick else 1000,
            draws=30 if quick else 1000,
            repeats=1 if quick else asked_for.repeats,
            threads=asked_for.threads,
            jags_iterations=asked_for.jags_iterations,
            nutpie_draws=asked_for.nutpie_draws,
        )
        say("Preparing the judgments")
        settings = {"folder": name, "source": None if quick else str(source), "chains": CHAINS}
        result["crowd"] = asked("samplers_ours.py", "prepare", settings)
        del result["crowd"]["process"]
        left_out = {"JAGS": asked_for.no_jags, "nutpie": asked_for.no_nutpie}
        result |= {"threads": run.threads, "repeats": run.repeats, "sides": []}
        for side, measure in SIDES.items():
            if not left_out.get(side):
                say(side)
                result["sides"].append(attempted(side, measure, run))
    print(sampler_tables.markdown(result))
    output = asked_for.output or (None if quick else RESULTS)
    for folder in (output, asked_for.also):
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{begin:%Y-%m-%d-%H%M}.json"
            path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if output == RESULTS:
        sampler_tables.refresh(PAGE, result)


def attempted(side: str, measure: Callable[[Run], dict[str, Any]], run: Run) -> dict[str, Any]:
    """A side's figures, or why there are none: the others are still worth having."""
    try:
        return measure(run)
    except Failed as failure:
        if side == "adjudge":
            raise
        say(str(failure))
        return {"side": side, "missing": "it failed; what it said is on the screen"}


if __name__ == "__main__":
    main()
