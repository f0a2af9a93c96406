"""Do intervals hold, and how narrow are they: adjudge next to ppi-python, on real model judges.

On a panel whose every item has gold, gold is drawn many times over, and the interval of each draw
is held against what all gold says. ppi-python gets the labels of one judge, the most accurate one
and, with hindsight, the one that serves it best; it runs in an environment of its own. Then people
choose what to label next: by ``adjudge next``'s chances, or at random. Last, holes are made in the
judgments, and systems are ranked in spite of them.

    python benchmarks/estimates.py [--draws 1000] [--seeds 20] [--only coverage]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import peers
from machine import commit, versions
from numpy.typing import NDArray
from scipy.stats import kendalltau

import adjudge
from adjudge import Gold, Judgments, Run
from adjudge.data.names import look_up
from adjudge.errors import BadData
from adjudge.evaluation.estimation.choosing import choose_items
from adjudge.evaluation.estimation.estimate import Plan, estimate_from
from adjudge.evaluation.ranking.rank import rank_systems
from adjudge.models.cross_calibration import CrossFit

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ADJUDGE_DATA", HERE.parent.parent / "shared" / "data"))
PPI = ("ppi-python==0.2.3",)
SIZES = (100, 200, 400)
TARGETS = ("mean-grade", "share:2,3", "nDCG@10")
ALONE = "nDCG@10 of A"  # one run's, which ppi-python is not asked for
RANDOM = Plan(sampled="random")  # gold is drawn so, whatever it looks like
Floats = NDArray[np.float64]


class Panel:
    """Judgments, the gold of all items, topics, and two made runs."""

    def __init__(self, name: str) -> None:
        table = pyarrow_table(DATA / "panels" / f"{name}.csv", name)
        self.judgments = Judgments.from_table(table.drop_columns("gold"))
        full = Gold.from_table(table.drop_columns(["judge", "label"]))
        place = look_up(self.judgments.items, full.items)
        if (place < 0).any():
            kept = np.flatnonzero(place >= 0)
            mask = np.zeros(len(place), dtype=np.bool_)
            mask[kept] = True
            self.judgments = self.judgments.select(items=mask)
        self.gold = full
        self.truth = full.align(self.judgments)
        self.fit = CrossFit.of(adjudge.fit(self.judgments))
        self.runs = [self.made_run("A", 1.0, 3), self.made_run("B", 1.6, 4)]

    def made_run(self, name: str, noise: float, seed: int) -> Run:
        """A run that ranks a topic's documents by gold and noise, the best hundred of them."""
        random = np.random.default_rng(seed)
        score = self.truth + noise * random.normal(size=len(self.truth))
        topic = self.judgments.topic
        order = np.lexsort((-score, topic))
        first = np.concatenate([[0], np.cumsum(np.bincount(topic))])
        rank = np.arange(len(order)) - first[topic[order]]
        order = order[rank < 100]
        rows = {
            "topic": [self.judgments.topics[int(t)].as_py() for t in topic[order]],
            "document": self.judgments.documents.take(order).to_pylist(),
            "score": score[order].tolist(),
        }
        return Run.from_table(rows, name=name)

    def choose(self, items: NDArray[np.intp], chance: Floats | None = None) -> Gold:
        """The gold of some items."""
        table = self.judgments
        columns = {
            "item": table.items.take(items),
            "gold": [table.scale.truths[k] for k in self.truth[items]],
        }
        if chance is not None:
            columns["sampling_probability"] = chance
        return Gold.from_table(columns)

    def asked(self, target: str) -> tuple[str, list[Run]]:
        """The name of a target, and its runs."""
        if target == ALONE:
            return target.split(maxsplit=1)[0], self.runs[:1]
        return target, self.runs if "@" in target else []

    def true(self, target: str) -> float:
        """The target by the gold of all items."""
        everything = np.arange(len(self.truth))
        plan = Plan(estimator="classical")
        return estimate_from(self.fit, self.choose(everything), *self.asked(target), plan).estimate


def pyarrow_table(path: Path, name: str) -> Any:
    """A panel's table with topic and document, which its items name."""
    import pyarrow as pa
    from pyarrow import csv

    table = csv.read_csv(path, convert_options=csv.ConvertOptions(strings_can_be_null=True))
    items = [str(item) for item in table["item"].to_pylist()]
    split = SPLIT[name]
    topic = [split(item) for item in items]
    table = table.append_column("topic", pa.array(topic))
    table = table.append_column("document", pa.array(items))
    return table.filter(pa.compute.is_valid(table["gold"]))


SHARE = {"llmjudge": "share:2,3", "summeval": "share:1,2"}
SPLIT = {
    "llmjudge": lambda item: item.split("_")[0],
    "summeval": lambda item: item.split("__")[0],
}


@lru_cache(maxsize=2)
def panel(name: str) -> Panel:
    """A panel, read and fitted once a process."""
    return Panel(name)


def cover(name: str, labels: int, first: int, last: int) -> list[dict[str, Any]]:
    """Our intervals for some of the draws."""
    held = panel(name)
    found = []
    for number in range(first, last):
        items = drawn(len(held.truth), labels, number)
        gold = held.choose(items)
        known = gold.align(held.judgments)
        beliefs = held.fit.beliefs(known, folds=5, seed=0)
        for target in (*TARGETS, ALONE):
            try:
                one = estimate_from(held.fit, gold, *held.asked(target), RANDOM, beliefs)
            except BadData:  # too few documents that count have gold
                continue
            figures = {key: getattr(one, key) for key in FIGURES}
            found.append({"target": target, "labels": labels, "draw": number, **figures})
    return found


FIGURES = ("estimate", "low", "high", "classical", "classical_low", "classical_high", "power")


def drawn(items: int, labels: int, number: int) -> NDArray[np.intp]:
    """The items of a draw: the same for every side."""
    random = np.random.default_rng([labels, number])
    return np.sort(random.choice(items, labels, replace=False))


def measure_peer(
    held: Panel, sizes: tuple[int, ...], draws: int, cache: Path
) -> list[dict[str, Any]]:
    """ppi-python's intervals for the same draws, by the labels of single judges."""
    python = peers.python_of(cache, "ppi", PPI)
    table = held.judgments
    labels = np.full((table.judge_count, table.item_count), -1, dtype=np.int64)
    labels[table.judge, table.item] = table.label
    labels = labels[(labels >= 0).all(axis=1)]
    gains = np.array([_discounts(held, run) for run in held.runs])  # (run, item)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "given.npz"
        np.savez(
            place,
            truth=held.truth,
            labels=labels,
            weight=gains[0] - gains[1],
            topic=table.topic,
            sizes=np.array(sizes),
            draws=draws,
            nudge=[held.true(target) for target in TARGETS],
        )
        done = subprocess.run(
            [str(python), str(HERE / "estimates_ppi.py"), str(place)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return list(json.loads(done.stdout.splitlines()[-1]))


def _discounts(held: Panel, run: Run) -> Floats:  # (item,)
    """What the place of each item in a run's first ten is worth."""
    at = look_up(run.documents, held.judgments.documents)
    rank = np.arange(len(run)) - run.offsets[run.topic]
    out = np.zeros(len(held.truth))
    high = rank < 10
    out[at[high]] = 1 / np.log2(rank[high] + 2)
    return out


def coverage(name: str, draws: int, cache: Path, sizes: tuple[int, ...] = SIZES) -> list[str]:
    """The tables: how many intervals hold what all gold says, and how wide they are."""
    held = panel(name)
    parts = [(labels, first) for labels in sizes for first in range(0, draws, 50)]
    with ProcessPoolExecutor(2) as pool:
        jobs = [
            pool.submit(cover, name, labels, first, min(first + 50, draws))
            for labels, first in parts
        ]
        rows = []
        for job in jobs:
            rows += job.result()
            print(f"{len(rows):,} intervals", file=sys.stderr, flush=True)
    return coverage_table(held, rows, measure_peer(held, sizes, draws, cache), draws, sizes)


def coverage_table(
    held: Panel,
    rows: list[dict[str, Any]],
    others: list[dict[str, Any]],
    draws: int,
    sizes: tuple[int, ...],
) -> list[str]:
    """Our intervals and the peer's, in lines."""
    lines = [
        "| target | gold | | holds | mean width | of gold alone | mean error |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for target in (*TARGETS, ALONE):
        true = held.true(target)
        for labels in sizes:
            own = [r for r in rows if r["target"] == target and r["labels"] == labels]
            alone = np.mean([r["classical_high"] - r["classical_low"] for r in own])
            for side, start in (("adjudge", ""), ("gold alone", "classical_")):
                low, high = (np.array([r[f"{start}{end}"] for r in own]) for end in ("low", "high"))
                value = np.array([r[start[:-1] or "estimate"] for r in own])
                lines.append(
                    _line(target, labels, side, (low <= true) & (true <= high), high - low, alone,
                          value - true)
                )  # fmt: skip
            lines += [
                f"| {target} | {labels} | ppi-python, {other['side']} | "
                f"{other['cover']:.3f} | {other['width']:.4f} | "
                f"{other['width'] / alone:.3f} | {other['error']:+.4f} |"
                for other in others
                if (other["target"], other["labels"]) == (_number(target), labels)
            ]
            if len(own) < draws:
                lines.append(
                    f"| {target} | {labels} | refused: too few documents that count have gold | "
                    f"{draws - len(own)} of {draws:,} | | | |"
                )
    return lines


def _number(target: str) -> int:
    return TARGETS.index(target) if target in TARGETS else -1


def _line(
    target: str, labels: int, side: str, holds: Any, width: Any, alone: Any, error: Any
) -> str:
    return (
        f"| {target} | {labels} | {side} | {holds.mean():.3f} | {width.mean():.4f} | "
        f"{width.mean() / alone:.3f} | {error.mean():+.4f} |"
    )


def choice(name: str, seeds: int) -> list[str]:
    """The table: labels that random choice needs for the width that chosen items give."""
    held = panel(name)
    items, lines = len(held.truth), []
    top = held.judgments.scale.truths[-1]
    for target, pilot, budget in (
        ("nDCG@10", 0, 200),
        ("nDCG@10", 60, 140),
        (ALONE, 0, 200),
        (f"P(rel={top})@10", 0, 200),
        (f"share:{top}", 0, 200),
        (f"share:{top}", 60, 140),
        (SHARE[name], 60, 140),
        ("mean-grade", 0, 200),
        ("mean-grade", 60, 140),
    ):
        asked, runs = held.asked(target)
        true = held.true(target)
        own = [_chosen(held, target, pilot, budget, seed) for seed in range(seeds)]
        labels = pilot + budget
        random = [
            estimate_from(held.fit, held.choose(drawn(items, labels, seed)), asked, runs, RANDOM)
            for seed in range(seeds)
        ]
        width, other = (
            float(np.mean([one.high - one.low for one in side])) for side in (own, random)
        )
        holds = [np.mean([one.low <= true <= one.high for one in side]) for side in (own, random)]
        needed = 1 / ((1 / labels - 1 / items) * (width / other) ** 2 + 1 / items)
        how = f"{pilot} at random, {budget} chosen" if pilot else f"{budget} chosen"
        what = f"{target}, A minus B" if len(runs) == 2 else target
        lines.append(
            f"| {name} | {what} | {how} | {width:.4f} | {other:.4f} | {needed:,.0f} | "
            f"{1 - labels / needed:.0%} | {holds[0]:.2f} | {holds[1]:.2f} |"
        )
        print(lines[-1], file=sys.stderr, flush=True)
    return lines


def _chosen(held: Panel, target: str, pilot: int, budget: int, seed: int) -> Any:
    """The estimate from a pilot at random and items chosen for the target."""
    import pyarrow as pa

    target, runs = held.asked(target)
    gold = held.choose(drawn(len(held.truth), pilot, 10_000 + seed)) if pilot else None
    asked = choose_items(held.fit, target, budget, gold=gold, runs=runs, plan=Plan(seed=seed))
    at = look_up(asked["item"], held.judgments.items)
    answers = pa.array([held.judgments.scale.truths[k] for k in held.truth[at]])
    kept = asked.drop_columns(["gold", "believed", "probability"])
    chosen = Gold.from_table(kept.append_column("gold", answers))
    return estimate_from(held.fit, chosen, target, runs, Plan())


def bound(name: str, draws: int = 4, labels: int = 200) -> list[str]:
    """The table: what the best chances could save, by the doubt that gold shows of each item."""
    held = panel(name)
    items, truths = len(held.truth), np.arange(len(held.judgments.scale.truths))
    every = held.fit.beliefs(held.truth.astype(np.int16), folds=5, seed=0)
    targets = {"mean-grade": truths * 1.0}
    for least in truths[1:]:
        label = ",".join(held.judgments.scale.truths[least:])
        targets[f"share:{label}"] = (truths >= least) * 1.0
    lines = []
    for target, worth in targets.items():
        saved = []
        for number in range(draws):
            chosen = drawn(items, labels, number)
            known = np.full(items, -1, dtype=np.int16)
            known[chosen] = held.truth[chosen]
            belief = held.fit.beliefs(known, folds=5, seed=0)
            x, f = worth[held.truth], belief @ worth
            residual = x - np.cov(x, f)[0, 1] / f.var(ddof=1) * f
            residual -= residual.mean()
            row = []
            for by in (belief, every):
                size = np.sqrt(np.maximum(by @ worth**2 - (by @ worth) ** 2, 1e-12))
                best = (residual**2 / size).sum() * size.sum() / items**2
                row.append(1 - best / residual.var())
            saved.append(row)
        by_some, by_all = np.mean(saved, axis=0)
        lines.append(f"| {name} | {target} | {by_some:.0%} | {by_all:.0%} |")
    return lines


def holes(name: str, seeds: int) -> list[str]:
    """The table: the rank correlation of systems with full gold, by what is done about holes."""
    held = panel(name)
    random = np.random.default_rng(9)
    runs = [
        held.made_run(f"s{n}", noise, 50 + n) for n, noise in enumerate(random.uniform(0.5, 4, 15))
    ]
    known = adjudge.fit(held.judgments, held.choose(np.arange(len(held.truth))))
    full = rank_systems(known, runs, ["nDCG@10"], draws=2, next_items=0)
    expected = full.by_label["nDCG@10"]
    ways = {
        "not relevant": ("nDCG@10", "not-relevant"),
        "condensed lists": ("nDCG@10", "condensed"),
        "as their topic": ("nDCG@10", "prevalence"),
        "filled in": ("nDCG@10", "filled"),
        "bpref": ("Bpref", "not-relevant"),
        "infAP": ("infAP", "not-relevant"),
    }
    lines = []
    for judged in ("a random third", "three runs' first ten"):
        found: dict[str, list[float]] = {way: [] for way in ways}
        apart: dict[str, list[float]] = {way: [] for way in ways}
        for seed in range(seeds):
            kept = _kept(held, runs, judged, seed)
            consensus = adjudge.fit(held.judgments.select(items=kept))
            for way, (measure, unjudged) in ways.items():
                ranked = rank_systems(
                    consensus, runs, [measure], draws=50, next_items=0, unjudged=unjudged, seed=seed
                )
                value = ranked.by_label[measure]
                found[way].append(float(kendalltau(value, expected).statistic))
                apart[way].append(float(np.abs(value - expected).mean()))
        lines += [
            f"| {judged} | {way} | {np.mean(taus):.3f} | "
            + (f"{np.mean(apart[way]):.3f} |" if ways[way][0] == "nDCG@10" else "|")
            for way, taus in found.items()
        ]
        print("\n".join(lines[-6:]), file=sys.stderr, flush=True)
    return lines


def _kept(held: Panel, runs: list[Run], judged: str, seed: int) -> NDArray[np.bool_]:  # (item,)
    """Which items are judged."""
    random = np.random.default_rng([seed, 5])
    if judged == "a random third":
        return random.random(len(held.truth)) < 1 / 3
    kept = np.zeros(len(held.truth), dtype=np.bool_)
    for run in random.choice(len(runs), 3, replace=False):
        kept |= _discounts(held, runs[run]) > 0
    return kept


HEADS = {
    "coverage": (
        "Do intervals hold, and how wide are they (llmjudge, {draws:,} draws of gold)",
        (),
    ),
    "choice": (
        "Items chosen for a target, next to random choice ({seeds} seeds)",
        (
            "| set | target | labels | width | at random | labels at random for that width | saved "
            "| holds | at random |",
            "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        ),
    ),
    "bound": (
        "What the best chances could save, by the doubt that 200 labels or all gold tell (4 draws)",
        ("| set | target | by 200 labels | by all gold |", "| --- | --- | --- | --- |"),
    ),
    "holes": (
        "Holes: 15 made systems, ranked in spite of them (llmjudge, 10 seeds, Kendall's tau)",
        (
            "| judged | the others are | tau with nDCG@10 by all gold | mean distance from it |",
            "| --- | --- | --- | --- |",
        ),
    ),
}


def main() -> None:
    """Measure, and write the page between its marks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", choices=HEADS, action="append")
    parser.add_argument("--page", type=Path, default=HERE / "estimates.md")
    parser.add_argument("--cache", type=Path, default=HERE / ".cache")
    options = parser.parse_args()
    made = {
        "coverage": lambda: coverage("llmjudge", options.draws, options.cache),
        "choice": lambda: choice("llmjudge", options.seeds) + choice("summeval", options.seeds),
        "bound": lambda: bound("llmjudge") + bound("summeval"),
        "holes": lambda: holes("llmjudge", min(options.seeds, 10)),
    }
    for part in options.only or HEADS:
        title, heads = HEADS[part]
        lines = [*heads, *made[part]()]
        about = ", ".join(f"{name} {number}" for name, number in versions().items())
        title = title.format(draws=options.draws, seeds=options.seeds)
        text = "\n".join(
            [f"### {title}", "", *lines, "", f"Commit {commit(HERE.parent)}; {about}."]
        )
        put(options.page, part, text)
        print(text)


def put(page: Path, part: str, text: str) -> None:
    """Text into its part of the page."""
    begin, end = f"<!-- {part} -->", f"<!-- end of {part} -->"
    full = page.read_text(encoding="utf-8")
    before, after = full.split(begin)[0], full.split(end)[1]
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
