"""Alternating least squares beside implicit's, on one real matrix of judges and items.

    .venv/bin/python benchmarks/als.py [--data FOLDER] [--rank 30] [--iterations 20] [--turns 5]

Both sides factorise the judgments of the TREC 2010 relevance feedback track, one thread each,
taking turns, each turn in a process of its own; the least CPU time of each counts. implicit gets an
environment of its own in benchmarks/.cache and is no dependency of adjudge.

What is comparable: the same matrix, rank and number of iterations, and in each iteration a D x D
system a row on either side. What is not: implicit solves the implicit-feedback problem, in which
every missing pair counts as a weak zero, through one D x D product of the other side more an
iteration; adjudge looks at observed pairs alone, so it may solve a short row through its values.
implicit's default approximates each system by three steps of conjugate gradients on floats of 32
bits; ``exact`` solves it by Cholesky, as adjudge does with 64 bits.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CACHE = HERE / ".cache"
PACKAGES = ("implicit", "scipy", "numpy")
RIDGE = 0.1
KINDS = ("adjudge", "implicit, default", "implicit, exact")


def peers() -> Path:
    """The Python that has implicit; makes it, once."""
    folder = CACHE / "peers-als"
    python, done = folder / "bin" / "python", folder / "installed"
    if not done.is_file():
        print(f"Setting up: installing {', '.join(PACKAGES)} (once) ...", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([str(python), *install, *PACKAGES], check=True)
        done.touch()
    return python


def write_matrix(data: Path) -> Path:
    """The matrix, as both sides read it."""
    import numpy as np

    from adjudge.data.formats import read
    from adjudge.data.formats.trec_rf10 import trec_2011_subset
    from adjudge.models._sparse import sparse_of

    judgments = trec_2011_subset(read(data / "trec-rf10" / "judgments.tsv")).judgments
    if judgments is None:
        raise SystemExit(f"no judgments in {data}")
    matrix = sparse_of(judgments)
    CACHE.mkdir(exist_ok=True)
    path = CACHE / "als.npz"
    rows = matrix.by_item
    np.savez(
        path,
        offsets=rows.offsets,
        column=rows.column,
        value=rows.value,
        mean=matrix.mean,
        shape=matrix.shape,
    )
    return path


def ours(path: str, rank: int, iterations: int) -> dict[str, Any]:
    """One factorisation by adjudge, compiled beforehand."""
    import numpy as np
    from meter import Meter

    from adjudge.models._factorisation import FitPlan, factorise
    from adjudge.models._sparse import Sparse, SparseRows

    held = np.load(path)
    items, judges = held["shape"].tolist()
    row = np.repeat(np.arange(items), np.diff(held["offsets"]))
    column, value = held["column"].astype(np.int64), held["value"]
    matrix = Sparse(
        SparseRows.of(row, column, value, items),
        SparseRows.of(column, row, value, judges),
        float(held["mean"]),
        np.arange(items),
        np.arange(judges),
    )
    factorise(matrix, FitPlan(rank=rank, regularisation=RIDGE, iterations=1))
    with Meter() as meter:
        fit = factorise(matrix, FitPlan(rank=rank, regularisation=RIDGE, iterations=iterations))
    return {**meter.reading, "iterations": len(fit.objective)}


def theirs(path: str, rank: int, iterations: int, exact: bool) -> dict[str, Any]:
    """One factorisation by implicit, which wants confidences above 0: labels plus 1."""
    import numpy as np
    from implicit.cpu.als import AlternatingLeastSquares
    from meter import Meter
    from scipy.sparse import csr_matrix

    held = np.load(path)
    value = (held["value"] + held["mean"] + 1.0).astype(np.float32)
    matrix = csr_matrix((value, held["column"], held["offsets"]), shape=held["shape"].tolist())
    model = AlternatingLeastSquares(
        factors=rank,
        regularization=RIDGE,
        iterations=iterations,
        use_cg=not exact,
        num_threads=1,
        random_state=0,
    )
    with Meter() as meter:
        model.fit(matrix, show_progress=False)
    return {**meter.reading, "iterations": iterations}


def turn(kind: str, path: Path, rank: int, iterations: int) -> dict[str, Any]:
    """One measurement, in a process of its own."""
    python = sys.executable if kind == "adjudge" else str(peers())
    settings = {"path": str(path), "rank": rank, "iterations": iterations}
    one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    ended = subprocess.run(
        [python, __file__, "--turn", kind, json.dumps(settings)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | one_thread,
    )
    reading: dict[str, Any] = json.loads(ended.stdout.strip().splitlines()[-1])
    return reading


def main() -> None:
    """Take turns and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("ADJUDGE_DATA"))
    parser.add_argument("--rank", type=int, default=30)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--turns", type=int, default=5)
    chosen = parser.parse_args()
    path = write_matrix(chosen.data or HERE.parent.parent / "shared" / "data")
    least = dict.fromkeys(KINDS, float("inf"))
    for _ in range(chosen.turns):
        for kind in KINDS:
            reading = turn(kind, path, chosen.rank, chosen.iterations)
            least[kind] = min(least[kind], reading["cpu"])
    print(f"rank {chosen.rank}, {chosen.iterations} iterations, least of {chosen.turns} turns\n")
    print("| | CPU seconds | adjudge takes |\n| --- | --- | --- |")
    for kind, seconds in least.items():
        print(f"| {kind} | {seconds:.2f} | {least['adjudge'] / seconds:.0%} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--turn"]:
        wanted, given = sys.argv[2], json.loads(sys.argv[3])
        if wanted == "adjudge":
            print(json.dumps(ours(**given)))
        else:
            print(json.dumps(theirs(**given, exact=wanted.endswith("exact"))))
    else:
        main()
