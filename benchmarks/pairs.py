"""Comparisons side by side: adjudge, evalica and crowd-kit on the same made pairs, by CPU time.

    .venv/bin/python benchmarks/pairs.py [--size 1e6] [--items 1000] [--judges 100] [--noisy 2e4]

Every measurement has a process of its own; both sides are warmed up on a few rows first. The sides
get lists or frames as their makers have them; adjudge gets a table and codes it within its time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

_OURS = """
import json, sys, time
import pyarrow.parquet as pq
from adjudge import BradleyTerry, Comparisons, CrowdBradleyTerry
models = {"plain": BradleyTerry(copies=False), "crowd": CrowdBradleyTerry(copies=False)}
model = models[sys.argv[2]]
table = pq.read_table(sys.argv[1])
model.fit(Comparisons.from_table(table.slice(0, 2000)))
began = time.process_time()
found = model.fit(Comparisons.from_table(table))
print(json.dumps({"cpu": time.process_time() - began, "converged": found.converged}))
"""
_EVALICA = """
import json, sys, time
import evalica, pandas as pd
frame = pd.read_parquet(sys.argv[1])
known = {"left": evalica.Winner.X, "right": evalica.Winner.Y}
def fit(rows):
    winners = rows["label"].map(known).tolist()
    return evalica.bradley_terry(rows["left"].tolist(), rows["right"].tolist(), winners)
fit(frame.head(2000))
began = time.process_time()
fit(frame)
print(json.dumps({"cpu": time.process_time() - began}))
"""
_CROWD_KIT = """
import json, sys, time
import pandas as pd
from crowdkit.aggregation import NoisyBradleyTerry
frame = pd.read_parquet(sys.argv[1]).rename(columns={"judge": "worker"})
frame["label"] = frame["left"].where(frame["label"] == "left", frame["right"])
frame = frame[["worker", "left", "right", "label"]]
NoisyBradleyTerry(n_iter=2).fit_predict(frame.head(500))
began = time.process_time()
NoisyBradleyTerry(n_iter=100).fit_predict(frame)
print(json.dumps({"cpu": time.process_time() - began}))
"""


def make(path: Path, size: int, items: int, judges: int) -> None:
    import numpy as np
    import pyarrow.parquet as pq

    from adjudge.simulation.preferences import make_comparisons

    rng = np.random.default_rng(1)
    made = make_comparisons(rng.normal(0, 1, items), size, right=rng.beta(8, 2, judges), seed=1)
    pq.write_table(made.comparisons.to_table(), path)


def measure(python: str, code: str, *arguments: object) -> dict[str, float]:
    ran = subprocess.run(
        [python, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=True
    )
    return json.loads(ran.stdout)


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, value in (("size", 1e6), ("items", 1000), ("judges", 100), ("noisy", 2e4)):
        parser.add_argument(f"--{name}", type=float, default=value)
    parser.add_argument("--peers", help="a Python that has evalica and crowd-kit")
    given = parser.parse_args()
    peers = given.peers
    if peers is None:
        from peers import python_of

        peers = str(python_of(HERE / ".cache", "pairs", ("evalica", "crowd-kit", "pyarrow")))
    with tempfile.TemporaryDirectory() as folder:
        path, few = Path(folder) / "pairs.parquet", Path(folder) / "few.parquet"
        make(path, int(given.size), int(given.items), int(given.judges))
        print(f"{int(given.size):,} comparisons of {int(given.items):,} items, CPU seconds")
        print(
            "adjudge, bradley-terry with intervals", measure(sys.executable, _OURS, path, "plain")
        )
        print("evalica, bradley_terry", measure(peers, _EVALICA, path))
        print("adjudge, crowd-bradley-terry", measure(sys.executable, _OURS, path, "crowd"))
        if given.noisy:
            make(few, int(given.noisy), int(given.items), int(given.judges))
            print(f"{int(given.noisy):,} comparisons, judges and items as above")
            print("adjudge, crowd-bradley-terry", measure(sys.executable, _OURS, few, "crowd"))
            print("crowd-kit, NoisyBradleyTerry", measure(peers, _CROWD_KIT, few))


if __name__ == "__main__":
    main()
