"""Jung and Lease (2011), figure 1: Z-score filters by feature, three kinds of vote, two accuracies.

Data: TREC 2010 Relevance Feedback, items with gold 0, 1 or 2, the first label of each judge and
item, and the planted broken links as honeypots: 19,273 labels of 3,277 items, where the paper has
19,232 of 3,277. The paper's folds were not published: gamma is tuned here by nested 5-fold
cross-validation, mean and sd are over seeds.

The filter has three readings. ``WRITTEN`` is the paper's formula, z > gamma: it drops the best
judges by accuracy and the worst by distance. ``BOTH`` is |z| > gamma with distances as they are,
also in the weights; ``LOW`` drops judges who are too low, with 1 - distance.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import adjudge
from adjudge import Gold, Judgments
from adjudge.data.formats.trec_rf10 import BROKEN, gold_subset
from adjudge.data.names import look_up
from adjudge.evaluation.crossvalidation import cross_validate
from adjudge.evaluation.tuning import GAMMAS, Measure, Tuner
from adjudge.models.weighting import PAPER, Dropped, JudgeFeatures, Product, Sides, available
from papers.charts import published_and_obtained
from papers.data import both, describe, find_file, read_content, read_own
from papers.results import Figure, Finding, Options, Replication, compare, read_published
from papers.stats import Interval, listed, over_items

NAMES = {code: name for name, code in PAPER.items()}  # the paper's code of a feature: ours
ROWS: dict[str, tuple[str, ...]] = {
    "Baseline": (),
    **{code: (code,) for code in NAMES},
    "GACG+AHNP": ("GACG", "AHNP"),
    "GACG+GDSG": ("GACG", "GDSG"),
    "GDSG+AHNP": ("GDSG", "AHNP"),
    "ALL": tuple(NAMES),
}
# "We evaluate individual features, feature pairs, ablation configurations (all but one feature),
# and the entire feature set. The most effective feature sets are shown": the others.
OTHERS: dict[str, tuple[str, ...]] = {
    **{f"{a}+{b}": (a, b) for a, b in combinations(NAMES, 2) if f"{a}+{b}" not in ROWS},
    **{f"ALL-{code}": tuple(other for other in NAMES if other != code) for code in NAMES},
}
FILTERS = [row for row in ROWS if row != "Baseline"]
BOTH, LOW, WRITTEN = "two-sided", "one-sided", "z > γ"
_SIDES: dict[str, Sides] = {BOTH: "both", LOW: "low", WRITTEN: "low"}
_MEASURES: dict[str, Measure] = {"GA": "graded", "BA": "binary"}
_COLUMNS = {
    f"{short}+{vote}": (measure, vote)
    for vote in ("SM", "SWM", "MWM")
    for short, measure in _MEASURES.items()
}
HEADS = list(_COLUMNS)
SM, SWM, MWM = HEADS[:2], HEADS[2:4], HEADS[4:]


_PAPER = read_published("zscore")
PUBLISHED, GAMMA = (
    pd.DataFrame.from_dict(_PAPER[name], orient="index", columns=HEADS).astype(float)
    for name in ("figure-1", "gamma")
)
EM_AND_SM: dict[str, float] = _PAPER["em"]


@dataclass(frozen=True, slots=True)
class Seeds:
    """Figure 1 by seed: DataFrames of rows by columns."""

    accuracy: list[Any]
    gamma: list[Any]
    correct: list[Any]  # cells are flags: (gold item,)

    @property
    def mean(self) -> Any:
        """The mean accuracy of each cell."""
        return sum(self.accuracy) / len(self.accuracy)

    @property
    def median_gamma(self) -> Any:
        """The median gamma of each cell with a filter."""
        return pd.concat(self.gamma).groupby(level=0, sort=False).median()

    def gap(self, row: str, head: str, other: Seeds, other_row: str) -> Interval:
        """How far a cell is ahead of a cell of the same column, over the gold items."""
        ours = [seed.loc[row, head] for seed in self.correct]
        return over_items(ours, [seed.loc[other_row, head] for seed in other.correct[: len(ours)]])


class AsWritten(adjudge.ZScore):
    """The filter as the paper writes it: drop a judge if z > gamma, for distances as they are."""

    def drop(self, features: JudgeFeatures) -> Dropped:
        """Turn the accuracies round, so that the one-sided filter drops the greatest."""
        turned = {
            name: values if "distance" in name else 1 - values
            for name, values in features.values.items()
        }
        return super().drop(JudgeFeatures(turned, features.counts))


def paper_data(path: Path) -> tuple[Judgments, Gold]:
    """The judgments of gold items and honeypots; a broken link has no grade."""
    judgments, gold = both(read_content(path))
    kept = np.zeros(judgments.item_count, dtype=np.bool_)
    kept[look_up(gold.items, judgments.items)] = True
    grades, labels = ("0", "1", "2"), judgments.scale.labels
    scale = adjudge.Scale(
        labels=labels,
        ordinal=True,
        truths=grades,
        truth_of=tuple(grades.index(name) if name != BROKEN else -1 for name in labels),
        relevant=("1", "2"),
    )
    return _first_labels(judgments.select(items=kept)).with_scale(scale), gold


def _first_labels(judgments: Judgments) -> Judgments:
    """The first label that each judge gave each item."""
    pair = judgments.item.astype(np.int64) * judgments.judge_count + judgments.judge
    kept = np.zeros(len(judgments), dtype=np.bool_)
    kept[np.unique(pair, return_index=True)[1]] = True
    return judgments.select(judgments=kept)


def tune_figure_1(
    data: tuple[Judgments, Gold],
    seed: int,
    gammas: tuple[float, ...],
    reading: str,
    rows: Mapping[str, tuple[str, ...]],
) -> tuple[Any, Any, Any]:
    """One seed of figure 1: accuracy, median gamma and right labels of each cell.

    Features that the data lack are left out of the weights, and columns without a collapse of the
    labels to relevant or not are left out of the figure.
    """
    known = [name for name in PAPER if name in available(*data)]
    turn = reading != LOW
    every = tuple(f"1-{name}" if turn and "distance" in name else name for name in known)
    weights = {"SM": None, "SWM": Product((NAMES["GACG"],)), "MWM": Product(every)}
    heads = [head for head in HEADS if head[0] == "G" or data[0].scale.relevant]
    tuner = Tuner(*data, seed=seed)
    tuned = pd.DataFrame(index=list(rows), columns=heads, dtype=object)
    for row, codes in rows.items():
        features = tuple(NAMES[code] for code in codes)
        make: Any = partial(_make_filter, features, reading) if features else None
        for head in heads:
            measure, vote = _COLUMNS[head]
            thresholds = gammas if make else ()
            tuned.loc[row, head] = tuner.tune(make, thresholds, weights[vote], measure=measure)
    return (
        tuned.map(lambda cell: cell.mean),
        tuned.map(lambda cell: cell.threshold),
        tuned.map(lambda cell: cell.correct),
    )


def _make_filter(features: tuple[str, ...], reading: str, gamma: float) -> Any:
    kind = AsWritten if reading == WRITTEN else adjudge.ZScore
    return kind(*features, gamma=gamma, sides=_SIDES[reading])


def _tune_seeds(
    data: tuple[Judgments, Gold],
    seeds: Iterable[int],
    gammas: tuple[float, ...],
    reading: str,
    rows: Mapping[str, tuple[str, ...]],
) -> Seeds:
    found = []
    for seed in seeds:
        found.append(tune_figure_1(data, seed, gammas, reading, rows))
        gc.collect()  # a tuner's caches refer to it, so that it is not freed at once
    return Seeds(*(list(part) for part in zip(*found, strict=True)))


def graded_data(path: Path) -> tuple[Judgments, Gold]:
    """The graded judgments of gold items without broken links, for models without a filter."""
    judgments, gold = both(gold_subset(read_content(path)))
    return _first_labels(judgments), gold


def label_by_em_and_vote(path: Path, seed: int) -> dict[str, Any]:
    """Which gold items EM and SM label right without gold, binary."""
    judgments, gold = graded_data(path)
    binary, known = judgments.collapse(), gold.collapse(judgments.scale)
    vote, em = adjudge.MajorityVote(seed=seed), adjudge.DawidSkene(seed=seed)
    truth = known.align(binary)
    fits = {"SM": vote.fit(binary), "EM": em.fit(binary)}
    return {name: (fit.choice == truth)[truth >= 0] for name, fit in fits.items()}


def score_models(path: Path, seed: int) -> dict[str, dict[str, float]]:
    """Graded and binary accuracy of models with the same gold, over five folds."""
    data = graded_data(path)
    models: dict[str, Any] = {
        "HybridConfusion, EM": adjudge.HybridConfusion(method="em", seed=seed),
        "HierarchicalConfusion, variational": adjudge.HierarchicalConfusion(
            method="variational", seed=seed
        ),
    }
    scores = {n: cross_validate(m, *data, folds=5, seed=seed).pooled for n, m in models.items()}
    return {
        name: {short: float(own[f"{full}_accuracy"]) for short, full in _MEASURES.items()}
        for name, own in scores.items()
    }


def replicate(options: Options) -> Replication:
    """Figure 1 under three readings, the sets not shown, EM, other models, and the claims."""
    quick = options.quick
    seeds = range(1, options.count(full=10, quick=2) + 1)
    gammas = GAMMAS[::5] if quick else GAMMAS
    if options.judgments:
        return _replicate_own(options, seeds, gammas)
    path = find_file("trec-rf10", options.data)
    data = paper_data(path)
    few = seeds[: 1 if quick else 3]
    return gather(
        _tune_seeds(data, seeds, gammas, BOTH, ROWS),
        {reading: _tune_seeds(data, few, gammas, reading, ROWS) for reading in (LOW, WRITTEN)},
        _tune_seeds(data, few, gammas, BOTH, OTHERS),
        base=[label_by_em_and_vote(path, seed) for seed in seeds],
        models=[score_models(path, seed) for seed in few],
    )


def _replicate_own(options: Options, seeds: range, gammas: tuple[float, ...]) -> Replication:
    """Figure 1 with the features that other data allow, one-sided: low judges are dropped."""
    data = read_own(options)
    known = [code for code, name in NAMES.items() if name in available(*data)]
    rows = {row: codes for row, codes in ROWS.items() if row != "ALL" and set(codes) <= {*known}}
    runs = _tune_seeds(data, seeds, gammas, LOW, {**rows, "ALL": tuple(known)})
    table = _figure_1(runs, published=False)
    return Replication(
        tables={"figure-1": table},
        figures={"figure-1-plot": Figure(table, published_and_obtained(table))},
        findings={},
        values={"seeds": len(seeds), "few": 0},
        about=describe(options, *data),
    )


def gather(
    runs: Seeds,
    readings: Mapping[str, Seeds],
    others: Seeds,
    base: list[Any],
    models: list[Any],
) -> Replication:
    """Tables, the figure and the claims from the results of all seeds."""
    figure = _figure_1(runs)
    published = {name: {"BA": value} for name, value in EM_AND_SM.items()}
    em = [{name: {"BA": float(right.mean())} for name, right in run.items()} for run in base]
    low, written = (_figure_1(readings[key]).assign(apart="reading") for key in (LOW, WRITTEN))
    return Replication(
        tables={
            "figure-1": figure,
            "figure-1-low": low,
            "figure-1-as-written": written,
            "others": compare([seed.to_dict("index") for seed in others.accuracy], decimals=4),
            "em": compare(em, published),
            "models": compare(models, decimals=4),
        },
        figures={"figure-1-plot": Figure(figure, published_and_obtained(figure))},
        findings=findings(runs, readings, others, base) | _beyond(runs.mean, models),
        values={
            "seeds": len(runs.accuracy),
            "few": len(others.accuracy),
        },
    )


def _figure_1(runs: Seeds, *, published: bool = True) -> Any:
    gamma = runs.median_gamma
    notes = {
        (row, head): f"γ {gamma.loc[row, head]:g}"
        + (f" ({GAMMA.loc[row, head]:g})" if published else "")
        for row in gamma.index
        for head in gamma.columns
        if row != "Baseline"
    }
    accuracy = [seed.to_dict("index") for seed in runs.accuracy]
    stated = PUBLISHED.to_dict("index") if published else None
    return compare(accuracy, stated, notes=notes, decimals=4)


def findings(
    runs: Seeds, readings: Mapping[str, Seeds], others: Seeds, base: list[Any]
) -> dict[str, Finding]:
    """The claims of the paper; each criterion is applied to the paper's figure too."""
    own = runs.median_gamma.loc[FILTERS]
    em = over_items(*([run[name] for run in base] for name in ("EM", "SM")))
    rms = {BOTH: _rms(runs), **{name: _rms(seeds) for name, seeds in readings.items()}}
    written = readings[WRITTEN]
    return {
        **{f"filter-{h[0][3:].lower()}": _filtering(runs, h, readings) for h in (SM, SWM, MWM)},
        "gain": _same_gain(runs),
        "as-written": Finding(
            min(rms, key=lambda name: rms[name]) == WRITTEN,
            listed(rms, ".4f"),
            readings="Gains of the best row as written: "
            + listed({k: gap.mean for k, gap in _best_gains(written, HEADS).items()}, "+.4f"),
        ),
        "singles": _best_among(runs, ["GACG", "GDSG", "AHNP"], list(NAMES)),
        "best-rows": _best_among(runs, ["GACG+AHNP", "GDSG+AHNP"], FILTERS),
        "mwm": Finding.above(
            {"": _between_votes(runs)},
            published={"": float(PUBLISHED[MWM].mean().mean() - PUBLISHED[SWM].mean().mean())},
            form="+.4f",
        ),
        "gamma": Finding(
            _typical_share(own) >= 0.75,
            f"{_typical_share(own):.0%}",
            "",
            f"{_typical_share(GAMMA):.0%}",
            _typical_share(GAMMA) >= 0.75,
        ),
        "shown-sets": _best_among(runs, FILTERS, list(OTHERS), others),
        "em": Finding.above({"": em}, published={"": EM_AND_SM["EM"] - EM_AND_SM["SM"]}),
    }


def _typical_share(gamma: Any) -> float:
    """The share of cells with gamma between 0.5 and 2."""
    return float(((gamma >= 0.5) & (gamma <= 2)).to_numpy().mean())


def _best_gains(runs: Seeds, heads: list[str]) -> dict[str, Interval]:
    """The gain of the best filter over none, by column."""
    best = runs.mean.loc[FILTERS].idxmax()
    return {f"{head}, {best[head]}": runs.gap(best[head], head, runs, "Baseline") for head in heads}


def _filtering(runs: Seeds, heads: list[str], readings: Mapping[str, Seeds]) -> Finding:
    """Whether the best filter beats the same vote without one, graded and binary."""
    stated = PUBLISHED.loc[FILTERS].max() - PUBLISHED.loc["Baseline"]
    return Finding.above(
        _best_gains(runs, heads),
        published=stated[heads].to_dict(),
        readings={name: _best_gains(own, heads) for name, own in readings.items()},
        form="+.4f",
    )


def _same_gain(runs: Seeds) -> Finding:
    """Whether the gain under MWM is at least as large as the published."""
    stated = (PUBLISHED.loc[FILTERS].max() - PUBLISHED.loc["Baseline"])[MWM]
    gains = _best_gains(runs, MWM)
    return Finding(
        all(gain.high >= stated[head[:6]] for head, gain in gains.items()),
        ", ".join(f"{gain.mean:+.4f}" for gain in gains.values()),
        "; ".join(gain.show("+.4f") for gain in gains.values()),
        ", ".join(f"{value:+.4f}" for value in stated),
        True,
    )


def _best_among(
    runs: Seeds, chosen: list[str], rows: list[str], rivals: Seeds | None = None
) -> Finding:
    """Whether no rival is clearly ahead of the best of the chosen rows, in any column.

    Rivals are the other rows, or those of other results.
    """
    gaps, stated = {}, {}
    others = rivals or runs
    rest = [row for row in rows if row not in chosen]
    for head in HEADS:
        best = runs.mean.loc[chosen, head].idxmax()
        rival = others.mean.loc[rest, head].idxmax()
        gaps[f"{head}, {rival} less {best}"] = others.gap(rival, head, runs, best)
        if rivals is None:
            stated[head] = PUBLISHED.loc[rest, head].max() - PUBLISHED.loc[chosen, head].max()
    most = max(gaps, key=lambda name: gaps[name].low)
    half = max((gap.high - gap.low) / 2 for gap in gaps.values())
    ahead = max(stated, key=lambda head: stated[head], default="")
    return Finding(
        gaps[most].low <= 0,
        f"{gaps[most].mean:+.4f} {most}",
        gaps[most].show("+.4f"),
        f"{stated[ahead]:+.4f} {ahead}" if stated else "",
        stated[ahead] <= half if stated else None,
    )


def _between_votes(runs: Seeds) -> Interval:
    """MWM less SWM over the gold items, mean over all rows and both accuracies."""
    return over_items(
        *([np.mean(seed[heads].stack().tolist(), axis=0) for seed in runs.correct]
          for heads in (MWM, SWM))
    )  # fmt: skip


def _beyond(table: Any, models: list[Any]) -> dict[str, Finding]:
    """Two models with the same gold against the best cell of figure 1."""
    best = {"GA": table[HEADS[::2]].max().max(), "BA": table[HEADS[1::2]].max().max()}
    found = {}
    for name in models[0]:
        ours = {head: float(np.mean([run[name][head] for run in models])) for head in best}
        pairs = (f"{ours[head]:.4f} against {other:.4f}" for head, other in best.items())
        holds = all(ours[head] > other for head, other in best.items())
        found[f"model@{name}"] = Finding(holds, ", ".join(pairs))
    return found


def _rms(runs: Seeds) -> float:
    """The root mean square difference from the cells of figure 1."""
    return float(np.sqrt(((runs.mean - PUBLISHED) ** 2).to_numpy().mean()))
