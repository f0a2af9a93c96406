"""Jung and Lease (2012), table 1: seven ways from judgments to labels, with and without gold.

Data: TREC 2011 crowdsourcing, task 2 (binary). The paper's split was not published: here 1,000 test
items, half of them relevant, are drawn from the gold for every seed, and the rest is for training.
RMSE is that of 0/1 labels, as the published figures show. Methods are compared over the items of
a split, as in the paper: splits share most of their items, so a test over splits would find any
difference significant.

PMF uses lambda = 0.1, as published, fitted to the minimum; also stopped early, and with lambda = 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import adjudge
from adjudge import AccuracyFilter, Feature, Gold, Judgments, Pmf, ThreadsEngine
from adjudge.evaluation.significance import rank_methods
from adjudge.evaluation.tuning import ALPHAS, Tuner
from adjudge.models.completion import Factors
from adjudge.models.model import pick
from adjudge.models.vote import choose_judges
from adjudge.models.weighting import ACCURACY, Product, measure_features
from papers.charts import curves, published_and_obtained
from papers.data import Split, describe, read_binary, split_gold
from papers.results import Figure, Finding, Options, Replication, Run, compare, read_published
from papers.stats import Interval, over_items

_COLUMNS = ("ACC", "ACC rank", "RMSE", "RMSE rank", "SPE", "SPE rank")
_PAPER = read_published("pmf")
PUBLISHED: dict[str, dict[str, float]] = {
    method: dict(zip(_COLUMNS, row, strict=True)) for method, row in _PAPER["table-1"].items()
}
ALPHA: dict[str, float] = _PAPER["alpha"]
# Page 2, "Parameters": the grid, and what cross-validation chose of it.
_RANKS, RIDGES = (10, 30, 50), (0.001, 0.01, 0.1, 0.5)
RANK, RIDGE = 30, 0.1
_BEYOND = (1.0, 2.0, 4.0)  # more values of lambda: the paper's grid ends too soon
# How PMF is fitted, by what follows the method's name: lambda, and most iterations.
FITS: dict[str, tuple[float, int]] = {
    "": (RIDGE, 500),
    ", stopped early": (RIDGE, 10),
    ", λ = 2": (2.0, 500),  # what the same cross-validation chooses from the longer grid
}
VARIANTS = {f"{name}{how}": name for name in ("3 PMF+MV", "7 PMF+WV+filter") for how in FITS if how}
# Which gold judges are measured on, and the label of an item whose judges were all dropped; these
# follow the names of methods 4 to 6, at the published alpha.
LEAKED = (": all gold, plain vote", ": all gold, not relevant", ": training gold, not relevant")
_RANK_COLUMNS = tuple(column for column in _COLUMNS if "rank" in column)
_APART = dict.fromkeys((*_RANK_COLUMNS, "α"), "ranks and thresholds follow the values")

Scores = dict[str, list[dict[str, float]]]  # method: split: column
Marks = dict[str, list[NDArray[np.bool_]]]  # method: split: (test,), not relevant items first


def score(
    split: Split, choice: NDArray[np.int16], fell: NDArray[np.bool_] | None = None
) -> dict[str, float]:
    """Scores of test labels; ``fell`` marks items whose judges were all dropped."""
    right = choice == split.truth
    found = {
        "ACC": float(right.mean()),
        "RMSE": math.sqrt(1.0 - right.mean()),
        "SPE": float(right[split.truth == 0].mean()),
        "SEN": float(right[split.truth == 1].mean()),
    }
    if fell is not None:
        found["coverage"] = float((~fell).mean())
        found["ACC, covered"] = float(right[~fell].mean()) if not fell.all() else math.nan
    return found


def mark(split: Split, choice: NDArray[np.int16]) -> NDArray[np.bool_]:
    """Right or wrong per test item, those that are not relevant first."""
    order = np.argsort(split.truth, kind="stable")
    return np.asarray((choice == split.truth)[order])


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Binary judgments and gold, and which readings of the paper to try."""

    judgments: Judgments
    gold: Gold
    fits: tuple[str, ...]
    leak: bool  # whether to show what letting the test gold be seen would give


@cache
def _factors(data: Source, how: str) -> Factors:
    ridge, steps = FITS[how]
    plan = Pmf(rank=RANK, regularisation=ridge, iterations=steps, tolerance=0.01)
    return plan.factors(data.judgments)


def _models(quick: bool) -> dict[str, Any]:
    few: dict[str, Any] = {"warmup": 50, "draws": 50} if quick else {}
    dense: dict[str, Any] = {**few, "thin": 1} if quick else {}
    return {
        "DawidSkene": adjudge.DawidSkene(),
        "HybridConfusion": adjudge.HybridConfusion(**dense),
        "HierarchicalRelevance": adjudge.HierarchicalRelevance(**few),
    }


def label_without_gold(data: Source, quick: bool) -> dict[str, NDArray[np.int16]]:
    """Methods 1 to 3 and the models without gold: a label per item."""
    judgments = data.judgments
    choices = {"1 MV": adjudge.MajorityVote().fit(judgments).choice}
    for how in data.fits:
        votes = _factors(data, how).votes()
        choices[f"3 PMF+MV{how}"] = pick(votes, judgments, ties="random", seed=0)[0]
    for name, model in _models(quick).items():
        choices["2 EM" if name == "DawidSkene" else name] = model.fit(judgments).choice
    return choices


_Votes = tuple[NDArray[np.int16], NDArray[np.bool_] | None]  # (test,) labels, all judges dropped


def label_with_gold(
    data: Source, split: Split, quick: bool
) -> tuple[dict[str, _Votes], dict[str, list[_Votes]], dict[str, float]]:
    """Methods 4 to 7 and the models with gold; 5 to 7 under every alpha; the alpha chosen."""
    judgments = data.judgments
    alpha = Tuner(judgments, split.train, flip=True).choose(
        lambda value: AccuracyFilter(alpha=value), ALPHAS, measure="binary", gentler="lower"
    )
    at = ALPHAS.index(alpha) + 1
    weighted = _vote(judgments, split, Feature(ACCURACY), split.train)
    filtered = _vote(judgments, split, None, split.train)
    votes = {"4 WV": (weighted[0][0], None), "5 filter": filtered[at], "6 WV+filter": weighted[at]}
    sweeps = {"5 filter": filtered[1:], "6 WV+filter": weighted[1:]}
    alphas = dict.fromkeys(sweeps, alpha)
    for how in data.fits:
        name = f"7 PMF+WV+filter{how}"
        completed, best = _complete(data, how).sweep(judgments, split)
        sweeps[name] = [(choice, np.zeros(len(choice), np.bool_)) for choice in completed]
        votes[name], alphas[name] = sweeps[name][best], ALPHAS[best]
    for name, model in _models(quick).items():
        votes[f"{name}, gold"] = model.fit(judgments, split.train).choice[split.test], None
    return votes | (_leak(judgments, split, data.gold) if data.leak else {}), sweeps, alphas


def _leak(judgments: Judgments, split: Split, gold: Gold) -> dict[str, _Votes]:
    """Methods 4 to 6 at the published alpha, with judges also measured on the test's gold.

    This is leakage, not a fair score: it shows what letting the test be seen would give.
    """
    found: dict[str, _Votes] = {}
    for name, weight in (("5 filter", None), ("6 WV+filter", Feature(ACCURACY))):
        for reading in LEAKED:
            known = gold if "all gold" in reading else split.train
            plain, (choice, fell) = _vote(judgments, split, weight, known, (ALPHA["5 filter"],))
            if reading.endswith("not relevant"):
                choice = np.where(fell, 0, choice).astype(np.int16)
            found[f"{name}{reading}"] = choice, fell
            if weight:
                found[f"4 WV{reading}"] = plain
    return found


def _vote(
    judgments: Judgments,
    split: Split,
    weight: Product | None,
    known: Gold,
    alphas: tuple[float, ...] = ALPHAS,
) -> list[Any]:  # of _Votes
    """The vote without a filter, then under every alpha, with judges measured on known gold."""
    held = np.zeros(judgments.item_count, dtype=np.bool_)
    held[split.test] = True
    part = judgments.select(items=held, keep_empty=True)
    features = measure_features(judgments, known, names=(ACCURACY,))
    loaded = ThreadsEngine().load(part, None)
    found = []
    for keep in (None, *(AccuracyFilter(alpha=alpha) for alpha in alphas)):
        chosen = choose_judges(part, features, weight, keep, flip=True)
        posterior, fell, _ = loaded.weigh(*chosen.units)
        found.append((pick(posterior, part, ties="random", seed=0)[0], fell))
    return found


@cache
def _complete(data: Source, how: str) -> _Completed:
    """The completed labels of the gold items."""
    known = data.gold.align(data.judgments)
    items = np.flatnonzero(known >= 0)
    fitted = _factors(data, how)
    return _Completed(items, fitted.cuts.label(fitted.complete(items)), known[items])


@dataclass(frozen=True, slots=True, eq=False)
class _Completed:
    """What every judge would have said of every gold item."""

    items: NDArray[np.int64]  # (gold,)
    labels: NDArray[np.int64]  # (gold, judge)
    truth: NDArray[np.int16]  # (gold,)

    def sweep(self, judgments: Judgments, split: Split) -> tuple[list[NDArray[np.int16]], int]:
        """Weighted, filtered votes under every alpha, and which the training items choose."""
        seen = split.train.align(judgments)[self.items] >= 0
        train, truth = self.labels[seen], self.truth[seen]
        fold = np.arange(seen.sum()) % 5
        correct = np.zeros(len(ALPHAS))
        for held in range(5):
            weight = _signed_accuracy(train[fold != held], truth[fold != held])
            for at, alpha in enumerate(ALPHAS):
                labels = _weighted_vote(train[fold == held], weight, alpha)
                correct[at] += (labels == truth[fold == held]).sum()
        weight = _signed_accuracy(train, truth)
        test = self.labels[np.searchsorted(self.items, split.test)]
        return [_weighted_vote(test, weight, alpha) for alpha in ALPHAS], int(np.argmax(correct))


def _signed_accuracy(
    labels: NDArray[np.int64], truth: NDArray[np.int16]
) -> NDArray[np.float64]:  # (judge,)
    """The accuracy of each judge's completed labels; below .5, minus that of the opposite."""
    accuracy = (labels == truth[:, None]).mean(axis=0)
    return np.asarray(np.where(accuracy < 0.5, accuracy - 1.0, accuracy))


def _weighted_vote(
    labels: NDArray[np.int64], weight: NDArray[np.float64], alpha: float
) -> NDArray[np.int16]:  # (item,)
    """The weighted vote of the judges at or above alpha; of all where there is none."""
    kept = np.abs(weight) >= alpha
    used = np.where(kept, weight, 0.0) if kept.any() else weight
    return ((2.0 * labels - 1.0) @ used > 0).astype(np.int16)


def try_ranks(data: Source, quick: bool) -> Sequence[Any]:
    """Held-out error by rank and lambda: cross-validation over all labels."""
    return Pmf(tolerance=1e-5).try_ranks(
        data.judgments,
        ranks=(10, 30) if quick else _RANKS,
        regularisations=(0.1, 0.5, 2.0) if quick else (*RIDGES, *_BEYOND),
        folds=2 if quick else 3,
    )[1]


def replicate(options: Options) -> Replication:
    """Table 1, its variants, other models, the choice of D and lambda, and the claims."""
    own = options.judgments is not None
    data = Source(*read_binary(options), ("",) if own else tuple(FITS), leak=not own)
    seeds = range(options.count(full=10, quick=4))
    splits = [split_gold(data.judgments, data.gold, seed) for seed in seeds]
    choices = label_without_gold(data, options.quick)
    labelled = [label_with_gold(data, split, options.quick) for split in splits]
    if own:
        scores, _ = _score(splits, choices, labelled)
        sweep = _sweep_alphas(splits, [sweeps for _, sweeps, _ in labelled])
        table = _table(scores, {}, scores, ("ACC", "RMSE", "SPE", "SEN", "α", "coverage"))
        return Replication(
            tables={"table-1": table},
            figures={"alpha": Figure(sweep, _draw_alphas(sweep))},
            findings={},
            values={"splits": len(splits)},
            about=describe(options, data.judgments, data.gold),
        )
    return gather(splits, choices, labelled, try_ranks(data, options.quick))


def _score(
    splits: Sequence[Split], choices: Mapping[str, NDArray[np.int16]], labelled: Sequence[Any]
) -> tuple[Scores, Marks]:
    """Scores, and right or wrong test items, of every method on every split."""
    scores: Scores = {}
    marks: Marks = {}
    for split, (votes, _, alphas) in zip(splits, labelled, strict=True):
        alone = {name: (choice[split.test], None) for name, choice in choices.items()}
        for name, vote in {**alone, **votes}.items():
            alpha = {"α": alphas[name]} if name in alphas else {}
            scores.setdefault(name, []).append(score(split, *vote) | alpha)
            marks.setdefault(name, []).append(mark(split, vote[0]))
    return scores, marks


def gather(
    splits: Sequence[Split],
    choices: Mapping[str, NDArray[np.int16]],
    labelled: Sequence[Any],
    tried: Sequence[Any],
) -> Replication:
    """Tables, figures and claims from the labels of all splits."""
    scores, marks = _score(splits, choices, labelled)
    models = [name for name in scores if name[0].isalpha()]
    for place in (_ranks(marks, list(PUBLISHED)), _ranks(marks, [*PUBLISHED, *models])):
        for name, ranks in place.items():
            scores[name] = [ranks | row for row in scores[name]]
    published = {name: row | {"α": ALPHA.get(name, math.nan)} for name, row in PUBLISHED.items()}
    published |= {f"{name}{how}": published[name] for name in PUBLISHED for how in (*FITS, *LEAKED)}
    # Without a filter no item is lost: the second reading of WV is the first.
    leaked = sorted(n for n in scores if ": " in n and n != f"4 WV{LEAKED[1]}")
    table = partial(_table, scores, published)
    table_1 = table(PUBLISHED, (*_COLUMNS, "SEN", "α", "coverage", "ACC, covered"))
    fits, seen = table(VARIANTS, ("ACC", "RMSE", "SPE", "α")), table(leaked, ("ACC", "SPE", "SEN"))
    grid: dict[str, dict[str, float]] = {}
    for one in sorted(tried, key=lambda entry: entry.regularisation):
        grid.setdefault(f"λ = {one.regularisation:g}", {})[f"D = {one.rank}"] = one.rmse
    plotted = table_1[table_1.column.isin(["ACC", "SPE"])]
    sweep = _sweep_alphas(splits, [sweeps for _, sweeps, _ in labelled])
    covered = sweep[sweep.method == "5 filter, accuracy"].set_index("alpha")["mean"]
    return Replication(
        tables={
            "table-1": table_1,
            "fits": fits.assign(apart="another reading"),
            "leaked": seen.assign(apart="another reading"),
            "models": table(models, ("ACC", "ACC rank", "RMSE", "SPE", "SPE rank")),
            "rank-and-lambda": compare([grid], decimals=4),
        },
        figures={
            "table-1-plot": Figure(plotted, published_and_obtained(plotted, axis="share")),
            "alpha": Figure(sweep, _draw_alphas(sweep)),
        },
        findings=findings(marks) | {"grid": grid_finding(tried)} | _beyond(scores, marks, models),
        values={
            "splits": len(splits),
            "alphas": {n: np.median([row["α"] for row in scores[n]]) for n in ALPHA},
            "sensitivity": np.mean([row["SEN"] for row in scores["4 WV"]]),
            "covered": (covered.max(), covered.idxmax()),
            "leaked": _mean(scores, f"5 filter{LEAKED[1]}"),
        },
    )


def _table(scores: Scores, published: Run, methods: Iterable[str], columns: Sequence[str]) -> Any:
    """Some columns of some methods, where they have them."""
    found = {
        (method, column): [row[column] for row in scores[method]]
        for method in methods
        for column in columns
        if column in scores[method][0]
    }
    return compare(found, published, apart=_APART)


def _ranks(marks: Marks, methods: Sequence[str]) -> dict[str, dict[str, float]]:
    """Ranks by paired tests over the items of the first split; for SPE, those not relevant."""
    right = {name: marks[name][0].astype(float) for name in methods}
    half = {name: values[: len(values) // 2] for name, values in right.items()}
    found: dict[str, dict[str, float]] = {name: {} for name in methods}
    for column, values in zip(_RANK_COLUMNS, (right, right, half), strict=True):
        for place in rank_methods(values):
            found[place.method][column] = place.rank
    return found


def _sweep_alphas(splits: Sequence[Split], swept: Sequence[Mapping[str, list[_Votes]]]) -> Any:
    """Accuracy on the test items under every alpha, and of method 5 on those it covers."""
    rows = []
    for name, (at, alpha) in product(PUBLISHED, enumerate(ALPHAS)):
        if name not in swept[0]:
            continue
        pairs = zip(splits, swept, strict=True)
        runs = pd.DataFrame([score(split, *sweeps[name][at]) for split, sweeps in pairs])
        mean, sd = runs.mean(), runs.std()
        rows.append(("all test items", name, alpha, mean.ACC, sd.ACC))
        if name == "5 filter":
            share = mean["ACC, covered"], sd["ACC, covered"]
            rows.append(("items with a judge left", f"{name}, accuracy", alpha, *share))
            share = mean.coverage, sd.coverage
            rows.append(("items with a judge left", f"{name}, share of items", alpha, *share))
    return pd.DataFrame(rows, columns=["panel", "method", "alpha", "mean", "spread"])


def _draw_alphas(data: Any) -> Any:
    scale = alt.Scale(zero=False, nice=False)
    x = alt.X("alpha:Q", title="α: accuracy below which judges are dropped", scale=scale)
    legend = alt.Legend(labelLimit=300, symbolOpacity=1)
    colour = alt.Color("method:N", title=None, sort=None, legend=legend)
    return curves(data, x, colour, y="share", panel="panel", band=True)


def _gap(marks: Marks, first: str, second: str) -> Interval:
    """How far the first method is ahead of the second, over the items of a split."""
    return over_items(marks[first], marks[second])


def _above(marks: Marks, pairs: Sequence[tuple[str, str]]) -> Finding:
    """Whether the first method of each pair is ahead of the second."""
    names = {pair: f"({pair[0][0]} less {pair[1][0]})" for pair in pairs}
    published = {name: PUBLISHED[a]["ACC"] - PUBLISHED[b]["ACC"] for (a, b), name in names.items()}
    gaps = {name: _gap(marks, *pair) for pair, name in names.items()}
    return Finding.above(gaps, published=published)


def _equal(marks: Marks, pairs: Sequence[tuple[str, str]]) -> Finding:
    """Whether no pair of methods differs by more than its interval."""
    gaps = {pair: _gap(marks, *pair) for pair in pairs}
    one, other = most = max(gaps, key=lambda pair: max(gaps[pair].low, -gaps[pair].high))
    names = f"({one[0]} less {other[0]})"
    return Finding(
        all(gap.above() is None for gap in gaps.values()),
        f"{gaps[most].mean:+.3f} {names}",
        gaps[most].show(),
        f"{PUBLISHED[one]['ACC'] - PUBLISHED[other]['ACC']:+.3f} {names}",
        all(PUBLISHED[a]["ACC rank"] == PUBLISHED[b]["ACC rank"] for a, b in pairs),
    )


def findings(marks: Marks) -> dict[str, Finding]:
    """What the paper says of its methods."""
    one, two, three, four, five, six, seven = PUBLISHED
    best = [(name, other) for name in (five, six) for other in (one, two, three, four, seven)]
    return {
        "pmf-beats-vote": _above(marks, [(three, one)]),
        "pmf-as-em": _equal(marks, [(three, two)]),
        "no-gold-as-weights": _equal(marks, [(two, four), (three, four)]),
        "supervised": _dominate(marks, (five, six, seven), (one, two, three)),
        "filter-beats-none": _above(marks, [(five, one), (six, four)]),
        "filters-best": _above(marks, best),
        "weights-add-nothing": _equal(marks, [(five, six)]),
        "filter-without-pmf": _above(marks, [(six, seven)]),
        "pmf-filter-beats-weights": _above(marks, [(seven, four)]),
    }


def _dominate(marks: Marks, ones: Sequence[str], others: Sequence[str]) -> Finding:
    """Whether most pairs of the two groups differ for the first, and none for the second."""
    gaps = [_gap(marks, a, b) for a in ones for b in others]
    ranks = [PUBLISHED[a]["ACC rank"] - PUBLISHED[b]["ACC rank"] for a in ones for b in others]

    def decide(above: int, below: int) -> bool:
        return 2 * above > len(gaps) and not below

    ours = [gap.above() for gap in gaps]
    above, ahead = ours.count(True), sum(rank < 0 for rank in ranks)
    return Finding(
        decide(above, ours.count(False)),
        f"{above} of {len(gaps)} pairs above, {ours.count(False)} below",
        "",
        f"{ahead} of {len(gaps)} above",
        decide(ahead, sum(rank > 0 for rank in ranks)),
    )


def grid_finding(tried: Sequence[Any]) -> Finding:
    """What cross-validation chooses, from the paper's grid and from a longer one."""
    inside = [one for one in tried if one.regularisation in RIDGES]
    best, every = (min(entries, key=lambda one: one.rmse) for entries in (inside, tried))
    words = [
        f"D = {one.rank}, λ = {one.regularisation:g} ({one.rmse:.4f})" for one in (best, every)
    ]
    return Finding(
        (best.rank, best.regularisation) == (RANK, RIDGE),
        words[0],
        published=f"D = {RANK}, λ = {RIDGE:g}",
        readings=f"from a longer grid: {words[1]}",
    )


def _beyond(scores: Scores, marks: Marks, models: Sequence[str]) -> dict[str, Finding]:
    """The best model against the best of the seven, without gold and with it."""
    found = {}
    for key, theirs in (("without gold", list(PUBLISHED)[:3]), ("with gold", list(PUBLISHED)[3:])):
        ours = [n for n in models if n.endswith(", gold") == (key == "with gold")]
        ours = [n for n in ours if "Dawid" not in n]
        best, other = (max(names, key=partial(_mean, scores)) for names in (ours, theirs))
        found[f"model@{key}"] = Finding.above({f"({best} less {other})": _gap(marks, best, other)})
    return found


def _mean(scores: Scores, name: str) -> float:
    return float(np.mean([row["ACC"] for row in scores[name]]))
