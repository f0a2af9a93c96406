"""Which model should run when nobody names one: accuracy, log loss and time on many crowds.

    python benchmarks/choose_default.py [--data FOLDER] [--seeds N] [-o table.md]

Real crowds are scored against their gold, unsupervised; made crowds against their truth, over
several seeds. Prints a Markdown table, and for each model the mean rank and the worst loss against
the best model of a crowd.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from adjudge import (
    DawidSkene,
    Gold,
    HierarchicalConfusion,
    HybridConfusion,
    Judgments,
    MajorityVote,
    Scale,
    SingleConfusion,
)
from adjudge.data.formats import read
from adjudge.data.formats.trec_rf10 import trec_2011_subset
from adjudge.evaluation.against_gold import evaluate
from adjudge.simulation import Crowd, Population

MODELS = {
    "majority-vote": MajorityVote(),
    "dawid-skene": DawidSkene(),
    "single-confusion": SingleConfusion(),
    "hybrid-confusion": HybridConfusion(),
    "hybrid, em": HybridConfusion(method="em"),
    "hierarchical-confusion": HierarchicalConfusion(),
    "hierarchical, variational": HierarchicalConfusion(method="variational"),
}

MIXED = "skilled(8,2):70,spammer:15,lazy:5,adversary:5,biased(1):5"
MADE = {
    "binary, 5 an item": Crowd(items=1000, population=Population.parse("two-coin:60")),
    "binary, 2 an item": Crowd(items=1000, population=Population.parse("two-coin:60"), per_item=2),
    "binary, 20 an item": Crowd(items=500, population=Population.parse("two-coin:60"), per_item=20),
    "binary, long tail": Crowd(
        items=1000, population=Population.parse("two-coin:300"), per_item=4, activity="zipf"
    ),
    "binary, a third spammers": Crowd(
        items=1000, population=Population.parse("skilled(8,2):40,spammer:20")
    ),
    "binary, 1 in 20 relevant": Crowd(
        items=2000, population=Population.parse("two-coin:60"), prevalence=(0.95, 0.05)
    ),
    "binary, 20 topics": Crowd(
        items=2000, population=Population.parse("two-coin:60"), topics=20, concentration=3.0
    ),
    "binary, hard and easy items": Crowd(
        items=1000, population=Population.parse("skilled(8,2):60"), difficulty=(1.0, 2.0)
    ),
    "5 grades": Crowd(
        items=1000, population=Population.parse(MIXED, judges=60), scale=Scale.parse("0<1<2<3<4")
    ),
    "5 grades, 150 items": Crowd(
        items=150, population=Population.parse(MIXED, judges=60), scale=Scale.parse("0<1<2<3<4")
    ),
    "5 grades, skewed": Crowd(
        items=1000,
        population=Population.parse(MIXED, judges=60),
        scale=Scale.parse("0<1<2<3<4"),
        prevalence=(0.6, 0.2, 0.1, 0.07, 0.03),
    ),
    "12 classes": Crowd(
        items=1500,
        population=Population.parse("skilled(7,3):60,spammer:10"),
        scale=Scale.parse(",".join("abcdefghijkl")),
    ),
    "50 items, 10 judges": Crowd(
        items=50, population=Population.parse("skilled(8,2):8,spammer:2"), per_item=4
    ),
    "3 grades, a few good judges": Crowd(
        items=800,
        population=Population.parse("skilled(20,2):6,skilled(3,3):54"),
        scale=Scale.parse("0<1<2"),
    ),
}


def real(folder: Path) -> Iterator[tuple[str, Judgments, Gold]]:
    """The real crowds, and the graded form of the first."""
    whole = read(folder / "trec-rf10" / "judgments.tsv")
    binary = trec_2011_subset(whole)
    yield "trec-rf10, binary", binary.judgments, binary.gold
    grades = whole.gold.select(np.array(whole.gold.texts()) != "-2")
    yield "trec-rf10, 3 grades", whole.judgments.without_labels(-2), grades
    yield "trec-rf10, with broken links", whole.judgments, whole.gold
    for name in ("web-relevance", "rte"):
        content = read(folder / name / "judgments.csv")
        yield name, content.judgments, content.gold


def measure(judgments: Judgments, gold: Gold) -> dict[str, tuple[float, float, float]]:
    """Accuracy (ties in expectation), log loss and CPU seconds of every model."""
    found = {}
    for name, model in MODELS.items():
        began = time.process_time()
        result = evaluate(model.fit(judgments), gold)
        spent = time.process_time() - began
        found[name] = (
            result["expected_accuracy"].value,
            result["log_loss"].value,
            spent,
        )
    return found


def main() -> None:
    """Measure everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("ADJUDGE_DATA", beside)))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    rows: dict[str, dict[str, np.ndarray]] = {}
    for model in MODELS.values():  # compile before anything is timed
        model.fit(MADE["50 items, 10 judges"].make(0).judgments)
    if (given.data / "rte").is_dir():
        for name, judgments, gold in real(given.data):
            rows[name] = {k: np.array(v) for k, v in measure(judgments, gold).items()}
            sys.stderr.write(f"{name}\n")
    for name, crowd in MADE.items():
        runs = []
        for seed in range(given.seeds):
            made = crowd.make(seed)
            runs.append(measure(made.judgments, made.truth))
        rows[name] = {k: np.mean([run[k] for run in runs], axis=0) for k in MODELS}
        sys.stderr.write(f"{name}\n")
    text = table(rows)
    if given.output:
        given.output.write_text(text)
    sys.stdout.write(text)


def table(rows: dict[str, dict[str, np.ndarray]]) -> str:
    """Accuracy and log loss of every model on every crowd, and a summary."""
    names = list(MODELS)
    lines = [
        "| crowd | " + " | ".join(names) + " |",
        "| --- |" + " --- |" * len(names),
    ]
    for crowd, found in rows.items():
        best = max(found[name][0] for name in names)
        cells = []
        for name in names:
            accuracy, loss, _ = found[name]
            mark = "**" if accuracy >= best - 5e-4 else ""
            cells.append(f"{mark}{accuracy:.3f}{mark} / {loss:.2f}")
        lines.append(f"| {crowd} | " + " | ".join(cells) + " |")
    accuracy = np.array([[found[name][0] for name in names] for found in rows.values()])
    loss = np.array([[found[name][1] for name in names] for found in rows.values()])
    spent = np.array([[found[name][2] for name in names] for found in rows.values()])
    summary = {
        "mean accuracy": accuracy.mean(axis=0),
        "mean log loss": loss.mean(axis=0),
        "most accuracy lost to the best": (accuracy.max(axis=1, keepdims=True) - accuracy).max(
            axis=0
        ),
        "CPU seconds, mean": spent.mean(axis=0),
    }
    for name, values in summary.items():
        lines.append(f"| *{name}* | " + " | ".join(f"{value:.3f}" for value in values) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
