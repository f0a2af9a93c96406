"""Measure how often the intervals and probabilities of ``adjudge rank`` are right.

Simulated systems rank documents by their true grade plus noise, so that the true value of each
measure is known. The systems run over simulated crowds and over real LLM judges (LLMJudge).

    python benchmarks/rankings.py [--crowds 40] [--panels 10]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from estimates import panel
from numpy.typing import NDArray

import adjudge
from adjudge import HierarchicalConfusion, Judgments, Run
from adjudge.data.consensus import Consensus
from adjudge.evaluation._pool import build_pool
from adjudge.evaluation._retrieval import parse_measures
from adjudge.evaluation.ranking.rank import rank_systems
from adjudge.simulation import Crowd, Population, demo

MEASURES = ("nDCG@10", "AP")
INDEPENDENT = Crowd(
    items=300,
    population=Population.parse("dirichlet:100", judges=15),
    prevalence=(0.6, 0.4),
    topics=10,
    concentration=5,
    per_item=3,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A fitted crowd with its truth, and systems over it."""

    consensus: Consensus
    truth: NDArray[np.int16]  # (item,)
    runs: list[Run]


def make_run(made: Judgments, truth: NDArray[np.int16], quality: float, seed: list[int]) -> Run:
    """A system that scores documents by quality times truth plus noise; it returns 100."""
    score = quality * truth + np.random.default_rng(seed).normal(size=len(truth))
    order = np.lexsort((-score, made.topic))
    first = np.searchsorted(made.topic[order], made.topic[order])
    rows = order[np.arange(order.size) - first < 100]
    table = {
        "topic": made.topics.take(pa.array(made.topic[rows])),
        "document": made.documents.take(pa.array(rows)),
        "score": score[rows],
    }
    return Run.from_table(table, name="-".join(map(str, seed)))


def make_crowds(count: int, *, sampled: bool, like_demo: bool) -> Iterator[Case]:
    """Simulated crowds, each with four systems."""
    for seed in range(count):
        made = demo(seed=seed) if like_demo else INDEPENDENT.make(seed=seed)
        truth = made.truth.codes(made.judgments.scale)
        qualities = np.random.default_rng([seed, 1]).normal(0.6, 0.15, 4)
        runs = [make_run(made.judgments, truth, q, [seed, n]) for n, q in enumerate(qualities)]
        model = HierarchicalConfusion(chains=2, warmup=100, draws=100, seed=seed)
        consensus = (model.fit if sampled else adjudge.fit)(made.judgments)
        yield Case(consensus=consensus, truth=truth, runs=runs)


def make_panels(count: int) -> Iterator[Case]:
    """The 33 LLM judges of LLMJudge, each time with 20 systems that hardly differ."""
    held = panel("llmjudge")
    consensus = adjudge.fit(held.judgments)
    for seed in range(count):
        qualities = np.random.default_rng([seed, 7]).normal(0.6, 0.05, 20)
        runs = [make_run(held.judgments, held.truth, q, [seed, n]) for n, q in enumerate(qualities)]
        yield Case(consensus=consensus, truth=held.truth, runs=runs)


def score(cases: Iterator[Case]) -> str:
    """The columns of the table for one set of cases."""
    off, inside, gaps, given, right = [], [], [], [], []
    for case in cases:
        judgments = case.consensus.judgments
        pool = build_pool(judgments, np.ones(len(case.truth), dtype=np.bool_), case.runs)
        truths = case.truth[pool.item][None].astype(np.int16)
        ranking = rank_systems(case.consensus, case.runs, MEASURES, draws=300, next_items=0)
        real = {
            measure.name: dict(
                zip(ranking.names, measure.values(pool, truths)[0].mean(axis=1), strict=True)
            )
            for measure in parse_measures(MEASURES, judgments.scale)
        }
        for row in ranking.systems.to_pylist():
            true = real[row["measure"]][row["system"]]
            off.append(row["value"] - true)
            inside.append(row["low"] <= true <= row["high"])
        for row in ranking.pairs.to_pylist():
            gap = real[row["measure"]][row["first"]] - real[row["measure"]][row["second"]]
            gaps.append(row["low"] <= gap <= row["high"])
            given.append(row["p_better"] + row["p_tied"] / 2)
            right.append(gap > 0)
    near = (np.array(given) >= 0.75) & (np.array(given) < 0.85)
    return (
        f"{np.mean(off):+.3f} | {np.mean(inside):.0%} of {len(inside)} | {np.mean(gaps):.0%} of "
        f"{len(gaps)} | {np.mean(np.array(right)[near]):.0%} of {near.sum()} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crowds", type=int, default=40)
    parser.add_argument("--panels", type=int, default=10)
    asked = parser.parse_args()
    print("| judgments | model | value - truth | value in interval | difference in interval | "
          "right where given 80% |\n| --- | --- | --- | --- | --- | --- |")  # fmt: skip
    for like_demo, what in ((True, "the demo's crowd"), (False, "15 independent judges")):
        for sampled, model in ((False, "default"), (True, "hierarchical-confusion")):
            found = score(make_crowds(asked.crowds, sampled=sampled, like_demo=like_demo))
            print(f"| {what}, {asked.crowds} times | {model} | {found}", flush=True)
    print(f"| 33 LLM judges, 20 systems {asked.panels} times | default | "
          f"{score(make_panels(asked.panels))}")  # fmt: skip


if __name__ == "__main__":
    main()
