"""Compile the kernels once, before tests run in several processes that would each compile them.

    .venv/bin/python scripts/compile.py

numba caches compiled kernels next to them (or in NUMBA_CACHE_DIR). Two processes run everything
with kernels on a few judgments, unless that was done since the kernels changed. In a new clone the
tests are also collected once, so that Python caches their bytecode. A kernel that is not used is an
error.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
KERNELS = ROOT / "src" / "adjudge" / "kernels"
TESTS = ROOT / "tests"
STAMP = KERNELS / "__pycache__" / "compiled"
LABELS = (2, 3, 4, 5)  # loops are compiled for a number of labels; these are the usual ones
SHORT = {"chains": 2, "warmup": 4, "draws": 4}


def state() -> str:
    """Return a hash of the kernels by name, time and size, and of the Python version."""
    files = [*sorted(KERNELS.glob("*.py")), Path(__file__)]
    parts = [f"{file.name} {file.stat().st_mtime_ns} {file.stat().st_size}" for file in files]
    return hashlib.sha256("\n".join([sys.version, *parts]).encode()).hexdigest()


def crowd(labels: int, *, judges: int = 7) -> tuple[Any, Any]:
    """A small crowd that uses so many labels, and gold for some of its items."""
    from adjudge import Gold, Judgments

    rows = range(16 * judges)
    table = {
        "topic": [f"t{row // (4 * judges)}" for row in rows],
        "document": [f"d{row // judges}" for row in rows],
        "judge": [f"j{row % judges}" for row in rows],
        "label": [str((row // judges + (row * row) % 3 // 2) % labels) for row in rows],
    }
    judgments = Judgments.from_table(table)
    names = judgments.items.to_pylist()
    return judgments, Gold.of({name: str(place % labels) for place, name in enumerate(names[:8])})


def points() -> None:
    """Models that sweep until nothing moves."""
    from adjudge import DawidSkene, HybridConfusion, ItemTypes, MajorityVote, Vote

    for labels in LABELS:
        judgments, gold = crowd(labels)
        for by_topic in (False, True):
            DawidSkene(by_topic=by_topic, iterations=3).fit(judgments, gold)
        MajorityVote().fit(judgments).predict(judgments)
    judgments, gold = crowd(3)
    Vote(weight="label-typicality").fit(judgments, gold).predict(judgments)
    HybridConfusion(method="em", iterations=3).fit(judgments)
    for by_topic in (False, True):
        ItemTypes(by_topic=by_topic).fit(judgments, gold)
    ItemTypes().fit(crowd(3, judges=12)[0])
    large(judgments)


def large(judgments: Any) -> None:
    """What is asked only of many items, or of judges some of whom are copies."""
    import numpy as np

    from adjudge import ThreadsEngine
    from adjudge.engines.tasks import ChooseItems, Prints

    sweeps = ThreadsEngine().load(judgments)
    key = np.arange(judgments.judge_count, dtype=np.uint64)
    sweeps.write_rows(ChooseItems(key, 0.5), 1)
    sweeps.run(Prints(key))
    sweeps.against(np.zeros(judgments.item_count, dtype=np.int16), 2)


def sampled() -> None:
    """Models that draw, what is drawn of their truths, and how runs are ranked by it."""
    from adjudge import HierarchicalConfusion, HierarchicalRelevance, HybridConfusion
    from adjudge.evaluation.predictive import predictive_checks

    for labels in LABELS:
        judgments, gold = crowd(labels)
        HybridConfusion(**SHORT).fit(judgments)
        HierarchicalConfusion(**SHORT, by_topic=True).fit(judgments, gold)
    HierarchicalConfusion(method="variational", iterations=3).fit(judgments)
    judgments, gold = crowd(2)
    consensus = HierarchicalRelevance(**SHORT).fit(judgments, gold)
    predictive_checks(consensus, replicates=2)
    for one in (consensus, HybridConfusion(method="em").fit(judgments)):
        ranked(one)


def ranked(consensus: Any) -> None:
    """Two runs under the doubt that a consensus leaves, and what single documents do to them."""
    import numpy as np

    from adjudge.data.runs import Run
    from adjudge.evaluation._pool import build_pool
    from adjudge.evaluation._retrieval import parse_measures
    from adjudge.evaluation.ranking.rank import rank_systems

    judgments = consensus.judgments
    topics = judgments.topics.take(judgments.topic).to_pylist()
    runs = [
        Run.from_table(
            {
                "topic": topics,
                "document": judgments.documents.to_pylist(),
                "score": [(place * turn) % 7 for place in range(len(topics))],
            },
            name=f"run {turn}",
        )
        for turn in (3, 5)
    ]
    names = ["nDCG@5", "AP"]
    rank_systems(consensus, runs, names, draws=4)
    pool = build_pool(judgments, np.ones(judgments.item_count, dtype=np.bool_), runs)
    truths = np.zeros((2, len(pool.item)), dtype=np.int16)
    for measure in parse_measures(names, consensus.scale):
        measure.flips(pool, truths, np.array([1.0, -1.0]))


def factored() -> None:
    """Factors of the matrix of judgments, chosen, weighed and filtered."""
    from adjudge import Pmf

    judgments, gold = crowd(3)
    Pmf(rank=2).fit(judgments).predict(judgments)
    Pmf(rank="auto").fit(judgments)
    Pmf(rank=7, weights=True, alpha=0.2, by_topic=True).fit(judgments, gold)


def paired() -> None:
    """Models of comparisons."""
    from adjudge import Judgments
    from adjudge.data.comparisons import Comparisons
    from adjudge.models.pairs.baselines import Elo
    from adjudge.models.pairs.bradley_terry import BradleyTerry, CrowdBradleyTerry
    from adjudge.models.pairs.graded_bradley_terry import GradedBradleyTerry

    rows = range(60)
    table = {
        "topic": [f"t{row % 2}" for row in rows],
        "left": [f"i{row % 3}" for row in rows],
        "right": [f"i{3 + row % 2}" for row in rows],
        "label": [("left", "right", "tie")[row % 3] for row in rows],
        "judge": [f"j{row % 4}" for row in rows],
    }
    comparisons = Comparisons.from_table(table)
    for model in (
        BradleyTerry(),
        BradleyTerry(ties="davidson", position=True),
        CrowdBradleyTerry(),
        CrowdBradleyTerry(method="gibbs", **SHORT),
        Elo(),
    ):
        model.fit(comparisons)
    grades = {
        "item": [f"i{row % 5}" for row in rows],
        "judge": [f"j{row % 4}" for row in rows],
        "label": [str((row % 5 + row % 4) % 3) for row in rows],
    }
    GradedBradleyTerry().fit(
        Comparisons.from_table({name: table[name] for name in ("left", "right", "label", "judge")}),
        Judgments.from_table(grades),
    )


def numbers() -> None:
    """Judgments taken as numbers."""
    from adjudge import Continuous

    judgments, gold = crowd(4)
    Continuous().fit(judgments, gold)


def dealt() -> None:
    """Names dealt out by their letters, into folds."""
    from adjudge import MajorityVote
    from adjudge.models.calibrated import fit_calibrated

    fit_calibrated(MajorityVote(), *crowd(2))


HALVES: tuple[tuple[Callable[[], None], ...], ...] = (
    (points, paired, dealt),
    (factored, sampled, numbers),
)


def not_compiled() -> list[str]:
    """The kernels of which numba has kept nothing, but those that only tests call."""
    from numba.core.dispatcher import Dispatcher

    found = []
    for file in sorted(KERNELS.glob("*[a-z].py")):
        for name, kernel in vars(import_module(f"adjudge.kernels.{file.stem}")).items():
            own = isinstance(kernel, Dispatcher) and kernel.py_func.__code__.co_filename == str(
                file
            )
            if not own or kernel.stats.cache_path is None:
                continue
            line = kernel.py_func.__code__.co_firstlineno
            if not list(Path(kernel.stats.cache_path).glob(f"{file.stem}.{name}-{line}.*.nbi")):
                found.append(f"{file.stem}.{name}")
    return found


def main() -> None:
    """Compile in two processes, unless nothing has changed."""
    if sys.argv[1:]:
        for work in HALVES[int(sys.argv[1])]:
            work()
        return
    now = state()
    if STAMP.is_file() and STAMP.read_text() == now:
        return
    begun = time.monotonic()
    print("Setting up: compiling the kernels (once) ...", file=sys.stderr)
    command = [sys.executable, __file__]
    running = [subprocess.Popen([*command, str(half)]) for half in range(len(HALVES))]
    if not (TESTS / "__pycache__").is_dir():
        collect = [
            sys.executable,
            *["-m", "pytest", "-p", "no:schemathesis", "--collect-only", "-qq"],
        ]
        subprocess.run(collect, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
    codes = [process.wait() for process in running]
    if any(codes):
        raise SystemExit("the kernels could not be compiled")
    if left := not_compiled():
        raise SystemExit(f"scripts/compile.py compiles everything but {', '.join(left)}: add it")
    STAMP.parent.mkdir(exist_ok=True)
    STAMP.write_text(now)
    print(f"  in {time.monotonic() - begun:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
