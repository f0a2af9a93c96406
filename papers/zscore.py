"""Jung and Lease (2011), figure 1: Z-score filters by feature, three kinds of vote, two accuracies.

Data: TREC 2010 Relevance Feedback, items with gold 0, 1 or 2, the first label of each judge and
item, and the planted broken links as honeypots: 19,273 labels of 3,277 items, where the paper has
19,232 of 3,277. The paper's folds were not published: gamma is tuned here by nested 5-fold
cross-validation, mean and sd are over seeds.

The filter has two readings. As written, z > gamma drops the best judges by accuracy and the worst
by distance. ``BOTH`` reads it as |z| > gamma with distances as they are, also in the weights;
``LOW`` as judges who are too low, with 1 - distance. ``BOTH`` is closer to figure 1.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import adjudge
from adjudge import Gold, Judgments
from adjudge.data.formats.trec_rf10 import BROKEN, gold_subset
from adjudge.data.names import look_up
from adjudge.evaluation.against_gold import evaluate
from adjudge.evaluation.crossvalidation import cross_validate
from adjudge.evaluation.tuning import GAMMAS, Measure, Tuner
from adjudge.models.weighting import PAPER, Filter, Product, Sides
from papers.charts import published_and_obtained
from papers.data import both, find_file, read_content
from papers.results import Figure, Finding, Options, Replication, check, compare, read_published

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
BOTH, LOW = "|z| > γ", "z too low"
_SIDES: dict[str, Sides] = {BOTH: "both", LOW: "low"}
_ALL_FEATURES = {
    BOTH: tuple(f"1-{name}" if "distance" in name else name for name in PAPER),
    LOW: tuple(PAPER),
}
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
    pd.DataFrame.from_dict(_PAPER[name], orient="index", columns=HEADS)
    for name in ("figure-1", "gamma")
)
EM_AND_SM: dict[str, float] = _PAPER["em"]
MODEL_HEADS = ("GA, no gold", "BA, no gold", "GA, 5 folds", "BA, 5 folds")


class Seeds(NamedTuple):
    """Figure 1 by seed: DataFrames of rows by columns."""

    accuracy: list[Any]
    gamma: list[Any]

    @property
    def mean(self) -> Any:
        """The mean accuracy of each cell."""
        return sum(self.accuracy) / len(self.accuracy)

    @property
    def median_gamma(self) -> Any:
        """The median gamma of each cell with a filter."""
        return pd.concat(self.gamma).groupby(level=0, sort=False).median()


def paper_data(path: Path) -> tuple[Judgments, Gold]:
    """The judgments of gold items and honeypots; a broken link stands for no grade."""
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
    path: Path, seed: int, gammas: tuple[float, ...], reading: str, rows: dict[str, tuple[str, ...]]
) -> tuple[Any, Any]:
    """One seed of figure 1: accuracy and median gamma of each cell."""
    tuner = Tuner(*paper_data(path), seed=seed)
    weights = {"SM": None, "SWM": Product((NAMES["GACG"],)), "MWM": Product(_ALL_FEATURES[reading])}
    tuned = pd.DataFrame(index=list(rows), columns=HEADS, dtype=object)
    for row, codes in rows.items():
        features = tuple(NAMES[code] for code in codes)
        make = partial(_filter, features, _SIDES[reading]) if features else None
        for head, (measure, vote) in _COLUMNS.items():
            thresholds = gammas if make else ()
            tuned.loc[row, head] = tuner.tune(make, thresholds, weights[vote], measure=measure)
    return tuned.map(lambda cell: cell.mean), tuned.map(lambda cell: cell.threshold)


def _filter(features: tuple[str, ...], sides: Sides, gamma: float) -> Filter:
    return adjudge.ZScore(*features, gamma=gamma, sides=sides)


def weigh_by_each(path: Path, seed: int) -> dict[str, dict[str, float]]:
    """SWM without a filter, weighted by each feature: the paper does not say which it took."""
    tuner = Tuner(*paper_data(path), seed=seed)
    return {
        code: {
            head: tuner.tune(None, (), Product((name,)), measure=_COLUMNS[head][0]).mean
            for head in SWM
        }
        for code, name in NAMES.items()
    }


def graded_data(path: Path) -> tuple[Judgments, Gold]:
    """The graded judgments of gold items without broken links, for models without a filter."""
    judgments, gold = both(gold_subset(read_content(path)))
    return _first_labels(judgments), gold


def score_em_and_vote(path: Path, seed: int) -> dict[str, dict[str, float]]:
    """Binary accuracy of EM and SM without gold."""
    judgments, gold = graded_data(path)
    binary, known = judgments.collapse(), gold.collapse(judgments.scale)
    vote, em = adjudge.MajorityVote(seed=seed), adjudge.DawidSkene(seed=seed)
    fits = {"SM": vote.fit(binary), "EM": em.fit(binary)}
    return {name: {"BA": float(evaluate(fit, known)["accuracy"])} for name, fit in fits.items()}


def score_models(path: Path, seed: int, quick: bool) -> dict[str, dict[str, float]]:
    """Graded and binary accuracy of models, without gold and over five folds."""
    judgments, gold = graded_data(path)
    every, traps = both(read_content(path))
    every = _first_labels(every.select(items=~traps.honeypots(every)).without_labels(BROKEN))
    few: dict[str, Any] = {"warmup": 50, "draws": 50} if quick else {}
    dense: dict[str, Any] = {**few, "thin": 1} if quick else {}
    fast: dict[str, Any] = {
        "HybridConfusion, EM": adjudge.HybridConfusion(method="em", seed=seed),
        "HierarchicalConfusion, variational": adjudge.HierarchicalConfusion(
            method="variational", seed=seed
        ),
    }
    models: dict[str, tuple[Any, Judgments]] = {
        "DawidSkene": (adjudge.DawidSkene(seed=seed), judgments),
        **{name: (model, judgments) for name, model in fast.items()},
        "HybridConfusion": (adjudge.HybridConfusion(seed=seed, **dense), judgments),
        "HierarchicalConfusion": (adjudge.HierarchicalConfusion(seed=seed, **few), judgments),
        **{f"{name}, all items": (model, every) for name, model in fast.items()},
    }
    found = {}
    for name, (model, data) in models.items():
        alone = evaluate(model.fit(data), gold)
        told = cross_validate(model, data, gold, folds=5, seed=seed).pooled
        scores = [s[k] for s in (alone, told) for k in ("graded_accuracy", "binary_accuracy")]
        found[name] = dict(zip(MODEL_HEADS, map(float, scores), strict=True))
    return found


def replicate(options: Options) -> Replication:
    """Figure 1 under both readings, the sets not shown, EM, other models, and the claims."""
    path, quick = find_file("trec-rf10", options.data), options.quick
    seeds = range(1, options.count(full=10, quick=2) + 1)
    few = seeds[: 1 if quick else 3]
    gammas = GAMMAS[::5] if quick else GAMMAS

    def tuned(over: range, reading: str, rows: dict[str, tuple[str, ...]]) -> Seeds:
        found = [tune_figure_1(path, seed, gammas, reading, rows) for seed in over]
        return Seeds([accuracy for accuracy, _ in found], [gamma for _, gamma in found])

    return gather(
        tuned(seeds, BOTH, ROWS),
        tuned(few, LOW, ROWS),
        tuned(few, BOTH, OTHERS),
        base=[score_em_and_vote(path, seed) for seed in seeds],
        weights=[weigh_by_each(path, seed) for seed in seeds],
        models=[score_models(path, seed, quick) for seed in few],
    )


def gather(
    runs: Seeds, low: Seeds, others: Seeds, base: list[Any], weights: list[Any], models: list[Any]
) -> Replication:
    """Tables, the figure and the claims from the results of all seeds."""
    figure = _figure_1(runs)
    published = {name: {"BA": value} for name, value in EM_AND_SM.items()}
    return Replication(
        tables={
            "figure-1": figure,
            "figure-1-low": _figure_1(low),
            "others": compare([seed.to_dict("index") for seed in others.accuracy]),
            "weights": compare(weights),
            "em": compare(base, published),
            "models": pd.concat([_votes(runs, base), compare(models)]),
        },
        figures={"figure-1-plot": Figure(figure, published_and_obtained(figure))},
        findings=findings(runs, low, others.mean, base) | _beyond(runs.mean, models),
        values={
            "seeds": len(runs.accuracy),
            "few": len(low.accuracy),
            "rms": _rms(runs),
            "rms_low": _rms(low),
            "swm": PUBLISHED.loc["Baseline", SWM].to_dict(),
        },
    )


def _figure_1(runs: Seeds) -> Any:
    gamma = runs.median_gamma
    notes = {
        (row, head): f"γ {gamma.loc[row, head]:g} ({GAMMA.loc[row, head]:g})"
        for row in FILTERS
        for head in HEADS
    }
    accuracy = [seed.to_dict("index") for seed in runs.accuracy]
    return compare(accuracy, PUBLISHED.to_dict("index"), notes=notes)


def _votes(runs: Seeds, base: list[Any]) -> Any:
    """The vote, EM and the best cell of figure 1, in the columns of the models."""
    found, notes = [], {}
    for seed, scores in zip(runs.accuracy, base, strict=True):
        rows: dict[str, dict[str, float]] = {
            "SM, no filter": dict(zip(MODEL_HEADS, seed.loc["Baseline", SM], strict=False)),
            "EM on binary labels": {MODEL_HEADS[1]: scores["EM"]["BA"]},
            "best of figure 1": {},
        }
        for head, columns in zip(MODEL_HEADS[2:], (HEADS[::2], HEADS[1::2]), strict=True):
            row, column = runs.mean[columns].stack().idxmax()
            rows["best of figure 1"][head] = seed.loc[row, column]
            notes["best of figure 1", head] = f"{row}, {column}"
        found.append(rows)
    return compare(found, notes=notes)


def _gains(table: Any) -> Any:  # by column
    """The gain of the best filter over none."""
    return table.loc[FILTERS].max() - table.loc["Baseline"]


def _relative(table: Any) -> Any:
    """The gain of the best filter under MWM, as a share of the accuracy without."""
    return (_gains(table) / table.loc["Baseline"])[MWM]


def _by_column(values: Any) -> str:
    return ", ".join(f"{head} {value}" for head, value in values.items())


def findings(runs: Seeds, low: Seeds, others: Any, base: list[Any]) -> dict[str, Finding]:
    """The claims of the paper; each criterion is applied to the paper's figure too."""
    table = runs.mean
    figures: dict[str, Any] = {"published": PUBLISHED, "readings": {LOW: low.mean}}
    singles, three = list(NAMES), ["GACG", "GDSG", "AHNP"]
    ahead = others.max() - table.loc[FILTERS].max()
    em = {name: float(np.mean([run[name]["BA"] for run in base])) for name in EM_AND_SM}
    return {
        **{
            f"filter-{heads[0][3:].lower()}": _filtering(runs, heads, low)
            for heads in (SM, SWM, MWM)
        },
        "singles": check(
            lambda t: bool((t.loc[three] >= t.loc[singles].max() - 0.001).any(axis=1).all()),
            lambda t: _by_column(t.loc[singles].idxmax()),
            table,
            **figures,
        ),
        "mwm": check(
            lambda t: bool(t[MWM].mean().mean() > t[SWM].mean().mean()),
            lambda t: f"MWM {t[MWM].mean().mean():.4f}, SWM {t[SWM].mean().mean():.4f}",
            table,
            **figures,
        ),
        "gain": check(
            lambda t: bool((_relative(t) >= _relative(PUBLISHED) / 2).all()),
            lambda t: " and ".join(f"{gain:.2%}" for gain in _relative(t)),
            table,
            **figures,
        ),
        "best-rows": check(
            lambda t: set(t.loc[FILTERS].idxmax()) <= {"GACG+AHNP", "GDSG+AHNP"},
            lambda t: _by_column(t.loc[FILTERS].idxmax()),
            table,
            **figures,
        ),
        "gamma": check(
            lambda g: _typical(g) >= 0.75,
            lambda g: f"{_typical(g):.0%} of the cells, median {np.median(g):g}",
            runs.median_gamma.loc[FILTERS],
            published=GAMMA,
            readings={LOW: low.median_gamma.loc[FILTERS]},
        ),
        "shown-sets": Finding(
            bool(ahead.max() <= 0.005),
            f"Best of {len(others)} other sets less the best shown: "
            + ", ".join(f"{head} {others[head].idxmax()} {ahead[head]:+.4f}" for head in HEADS),
        ),
        "em": check(
            lambda a: a["EM"] - a["SM"] >= 0.01,
            lambda a: f"EM {a['EM']:.3f}, SM {a['SM']:.3f}",
            em,
            published=EM_AND_SM,
        ),
    }


def _typical(gamma: Any) -> float:
    """The share of cells with gamma between 0.5 and 2."""
    return float(((gamma >= 0.5) & (gamma <= 2)).to_numpy().mean())


def _filtering(runs: Seeds, heads: list[str], low: Seeds) -> Finding:
    """Whether the best filter beats the same vote without one, graded and binary, by two sd."""
    best, above = (
        runs.mean.loc[FILTERS].idxmax(),
        runs.mean.loc[FILTERS] > runs.mean.loc["Baseline"],
    )
    gains = pd.DataFrame(
        {
            h: [seed.loc[best[h], h] - seed.loc["Baseline", h] for seed in runs.accuracy]
            for h in heads
        }
    )
    mean, sd = gains.mean(), gains.std()

    def shown(gain: Any) -> str:
        return ", ".join(f"{head} {value:+.4f}" for head, value in gain[heads].items())

    return Finding(
        bool((mean > 2 * sd).all()),
        "; ".join(
            f"{head} {mean[head]:+.4f} ± {sd[head]:.4f} by {best[head]}, {above[head].sum()} of "
            f"{len(FILTERS)} filters gain"
            for head in heads
        ),
        shown(_gains(PUBLISHED)),
        bool((_gains(PUBLISHED)[heads] > 2 * sd).all()),
        f"{LOW}: {shown(_gains(low.mean))}",
    )


def _beyond(table: Any, models: list[Any]) -> dict[str, Finding]:
    """Two models with the same gold against the best cell of figure 1."""
    best = [float(table[heads].max().max()) for heads in (HEADS[::2], HEADS[1::2])]
    found = {}
    for name in ("HybridConfusion", "HierarchicalConfusion"):
        ours = [float(np.mean([run[name][head] for run in models])) for head in MODEL_HEADS[2:]]
        pairs = (f"{mine:.4f} against {other:.4f}" for mine, other in zip(ours, best, strict=True))
        words = f"Graded and binary: {', '.join(pairs)}"
        found[f"model@{name}"] = Finding(ours[0] > best[0] and ours[1] > best[1], words)
    return found


def _rms(runs: Seeds) -> float:
    """The root mean square difference from the cells of figure 1."""
    return float(np.sqrt(((runs.mean - PUBLISHED) ** 2).to_numpy().mean()))
