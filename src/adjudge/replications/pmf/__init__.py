"""Jung and Lease (2012), table 1: seven ways from judgments to labels, with and without gold.

Data: TREC 2011 crowdsourcing, task 2 (binary). The paper's split was not published: here 1,000 test
items, half of them relevant, are drawn from the gold again for every seed, and the rest is for
training. RMSE is that of 0/1 labels, as the published figures show. Methods are compared by a
two-tailed paired t-test at 0.05 over the items of a split, as the paper can have done: splits share
most of their items, so that a test over splits would find anything.

PMF at lambda = 0.1, as published, with the fit at its minimum; cut short, and with lambda = 2,
beside it. What filters reach is also stated on the items that they cover: an item whose judges were
all dropped falls back to the plain vote here, and the paper does not say what became of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.formats.trec_rf10 import BROKEN
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.evaluation.tuning import ALPHAS, Tuner
from adjudge.models.completion import Factors
from adjudge.models.dawid_skene import DawidSkene
from adjudge.models.features import measure_features
from adjudge.models.hierarchical_confusion import HierarchicalConfusion
from adjudge.models.hierarchical_relevance import HierarchicalRelevance
from adjudge.models.hybrid_confusion import HybridConfusion
from adjudge.models.majority_vote import MajorityVote
from adjudge.models.model import Progress, Step, pick
from adjudge.models.pmf import Pmf
from adjudge.models.vote import choose_judges
from adjudge.models.weighting import ACCURACY, AccuracyFilter, Feature, Product
from adjudge.replications._data import (
    Split,
    contents,
    fingerprint,
    get_both,
    real_file,
    split_gold,
    trec_2011,
)
from adjudge.replications.replication import Replication, ReplicationPart, ReplicationResult, Setup

# Table 1, page 2: accuracy and its rank, RMSE and its rank, specificity and its rank.
PUBLISHED: dict[str, tuple[float, int, float, int, float, int]] = {
    "1 MV": (0.603, 4, 0.63, 4, 0.332, 6),
    "2 EM": (0.644, 3, 0.596, 3, 0.418, 4),
    "3 PMF+MV": (0.643, 3, 0.598, 3, 0.440, 5),
    "4 WV": (0.642, 3, 0.598, 3, 0.900, 1),
    "5 filter": (0.752, 1, 0.498, 1, 0.838, 2),
    "6 WV+filter": (0.750, 1, 0.500, 1, 0.848, 2),
    "7 PMF+WV+filter": (0.673, 2, 0.571, 2, 0.542, 3),
}
# The same table: alpha.
ALPHA = {"5 filter": 0.67, "6 WV+filter": 0.67, "7 PMF+WV+filter": 0.70}
# Page 2, "Parameters": the grid, and what cross-validation chose of it.
_RANKS, RIDGES = (10, 30, 50), (0.001, 0.01, 0.1, 0.5)
RANK, RIDGE = 30, 0.1
_BEYOND = (1.0, 2.0, 4.0)  # of lambda, where the grid ends too soon
_CHOSEN = 2.0  # of lambda, by the same cross-validation on a longer grid: the default of Pmf
_SHORT = 10  # steps of a fit that is cut short
# How PMF is fitted: what is said after a method's name, lambda, and steps (None: to the minimum).
FITS: dict[str, tuple[float, int | None]] = {
    "": (RIDGE, None),
    ", cut short": (RIDGE, _SHORT),
    ", λ = 2": (_CHOSEN, None),
}
VARIANTS = {f"{name}{how}": name for name in ("3 PMF+MV", "7 PMF+WV+filter") for how in FITS if how}
_TOLERANCE = 0.01  # of the gradient: labels no longer change below it
# Which gold judges are measured on, and what becomes of an item whose judges were all dropped.
LEAKED = ("all gold, plain vote", "all gold, not relevant", "training gold, not relevant")
LEAK = ", test gold seen"  # said after a method's name: the second of these
_SEEDS = 10


def _outcome(
    split: Split, choice: NDArray[np.int16], fell: NDArray[np.bool_] | None = None
) -> dict[str, float]:  # (test,), (test,)
    """Accuracy, specificity, sensitivity of labels of the test items; what the filter covers."""
    right = choice == split.truth
    kept = np.ones(len(right), dtype=np.bool_) if fell is None else ~fell
    return {
        "ACC": float(right.mean()),
        "SPE": float(right[split.truth == 0].mean()),
        "SEN": float(right[split.truth == 1].mean()),
        "coverage": float(kept.mean()),
        "covered": float(right[kept].mean()) if kept.any() else float("nan"),
    }


def _marks(split: Split, choice: NDArray[np.int16]) -> str:  # (test,)
    """Right (1) or wrong (0) for each test item, those that are not relevant first."""
    order = np.argsort(split.truth, kind="stable")
    return "".join(map(str, (choice == split.truth)[order].astype(int)))


@lru_cache(maxsize=1)
def _graded(path: Path) -> Judgments:
    """The same judgments with their grades kept, and truth relevant or not."""
    judgments, gold = get_both(contents(path))
    left = judgments.select(items=~gold.honeypots(judgments)).without_labels(BROKEN)
    return left.with_scale(left.scale.with_binary_truth())


@lru_cache(maxsize=len(FITS))
def _factors(path: Path, how: str) -> Factors:
    """The factors of all judgments, fitted once for all parts of a run."""
    ridge, steps = FITS[how]
    plan = Pmf(rank=RANK, regularisation=ridge, iterations=steps, tolerance=_TOLERANCE)
    return plan.factors(get_both(trec_2011(path))[0])


def _models(quick: bool) -> dict[str, tuple[Any, bool]]:
    """The Bayesian models by row, and whether each is given grades."""
    few: dict[str, Any] = {"warmup": 50, "draws": 50} if quick else {}
    dense: dict[str, Any] = {**few, "thin": 1} if quick else {}
    return {
        "DawidSkene": (DawidSkene(), False),
        "HybridConfusion": (HybridConfusion(**dense), False),
        "HierarchicalRelevance": (HierarchicalRelevance(**few), False),
        "HierarchicalConfusion, grades": (HierarchicalConfusion(**few), True),
    }


def _unsupervised(path: Path, seeds: int, quick: bool, progress: Progress | None) -> Any:
    """Methods 1 to 3 and the models without gold, on every split."""
    judgments, gold = get_both(trec_2011(path))
    choices = {"1 MV": MajorityVote().fit(judgments).choice}
    fitted = {}
    for how in FITS:
        factors = _factors(path, how)
        fitted[how] = [len(factors.objective), factors.objective[-1], float(factors.converged)]
        choices[f"3 PMF+MV{how}"] = pick(factors.votes(), judgments, ties="random", seed=0)[0]
    chosen_models = _models(quick)
    for done, (name, (model, grades)) in enumerate(chosen_models.items(), start=1):
        choices[name] = model.fit(_graded(path) if grades else judgments).choice
        if progress is not None:
            progress(Step("unsupervised", done, len(chosen_models), name))
    choices["2 EM"] = choices.pop("DawidSkene")
    splits = [split_gold(judgments, gold, seed) for seed in range(seeds)]
    return {
        "methods": {
            name: [_outcome(split, choice[split.test]) for split in splits]
            for name, choice in choices.items()
        },
        "marks": {
            name: [_marks(split, choice[split.test]) for split in splits]
            for name, choice in choices.items()
        },
        "fitted": fitted,
    }


def _supervised(path: Path, seed: int, quick: bool, progress: Progress | None) -> Any:
    """Methods 4 to 7 and the models with gold on one split, and the sweep over alpha."""
    judgments, gold = get_both(trec_2011(path))
    split = split_gold(judgments, gold, seed)
    alpha = Tuner(judgments, split.train, flip=True).choose(
        lambda value: AccuracyFilter(alpha=value), ALPHAS, measure="binary", gentler="lower"
    )
    at = ALPHAS.index(alpha)
    weighed = _sweep(judgments, split, Feature(ACCURACY), split.train)
    filtered = _sweep(judgments, split, None, split.train)
    chosen = {"4 WV": weighed[0], "5 filter": filtered[at + 1], "6 WV+filter": weighed[at + 1]}
    labels = {name: choice for name, (choice, _) in chosen.items()}
    found = {name: _outcome(split, *vote) for name, vote in chosen.items()}
    sweeps = {
        name: [_outcome(split, *vote) for vote in votes[1:]]
        for name, votes in (("5 filter", filtered), ("6 WV+filter", weighed))
    }
    alphas = dict.fromkeys(sweeps, alpha)
    for how in FITS:
        name = f"7 PMF+WV+filter{how}"
        votes, best = _Completed.of(path, how).sweep(judgments, split)
        labels[name], alphas[name] = votes[best], ALPHAS[best]
        sweeps[name] = [_outcome(split, choice) for choice in votes]
        found[name] = sweeps[name][best]
    for done, (name, (model, grades)) in enumerate(_models(quick).items(), start=1):
        fit = model.fit(_graded(path) if grades else judgments, split.train)
        labels[f"{name}, gold"] = fit.choice[split.test]
        found[f"{name}, gold"] = _outcome(split, fit.choice[split.test])
        if progress is not None:
            progress(Step("supervised", done, len(_models(quick)), name))
    return {
        "methods": found,
        "marks": {name: _marks(split, choice) for name, choice in labels.items()},
        "alpha": alphas,
        "sweep": sweeps,
        "leaked": _leaked(judgments, split, gold),
    }


def _leaked(judgments: Judgments, split: Split, gold: Gold) -> dict[str, dict[str, dict[str, Any]]]:
    """Methods 4 to 6 at the published alpha, by which gold is seen and what a lost item becomes.

    Judges who are measured on the gold of the test too is leakage, no fair score: it shows what one
    comes to that lets the test be seen.
    """
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for reading in LEAKED:
        known = gold if reading.startswith("all") else split.train
        for name, weight in (("5 filter", None), ("6 WV+filter", Feature(ACCURACY))):
            plain, (choice, fell) = _sweep(judgments, split, weight, known, (ALPHA["5 filter"],))
            if reading.endswith("not relevant"):
                choice = np.where(fell, 0, choice).astype(np.int16)
            told = {"4 WV": plain, name: (choice, fell)} if weight else {name: (choice, fell)}
            for method, vote in told.items():
                found.setdefault(reading, {})[method] = {
                    **_outcome(split, *vote), "marks": _marks(split, vote[0]),
                }  # fmt: skip
    return found


_Votes = tuple[
    NDArray[np.int16], NDArray[np.bool_]
]  # (test,) labels, and whose judges were dropped


def _sweep(
    judgments: Judgments,
    split: Split,
    weight: Product | None,
    known: Gold,
    alphas: tuple[float, ...] = ALPHAS,
) -> list[_Votes]:
    """The vote without a filter, and then under every alpha, judges measured on known gold."""
    from adjudge.engines.threads import ThreadsEngine

    held = np.zeros(judgments.item_count, dtype=np.bool_)
    held[split.test] = True
    part = judgments.select(items=held, keep_empty=True)
    features = measure_features(judgments, known, names=(ACCURACY,))
    sweeps = ThreadsEngine().load(part, None)
    found = []
    for keep in (None, *(AccuracyFilter(alpha=alpha) for alpha in alphas)):
        chosen = choose_judges(part, features, weight, keep, flip=True)
        posterior, fell, _ = sweeps.weigh(*chosen.units)
        choice, _ = pick(posterior, part, ties="random", seed=0)
        found.append((choice, fell))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Completed:
    """The completed labels of the gold items: small enough to be held whole."""

    items: NDArray[np.int64]  # (gold,)
    labels: NDArray[np.int8]  # (gold, judge)
    known: NDArray[np.int16]  # (item,)

    @staticmethod
    @lru_cache(maxsize=len(FITS))
    def of(path: Path, how: str) -> _Completed:
        """What every judge would have said of every gold item."""
        judgments, gold = get_both(trec_2011(path))
        known = gold.align(judgments)
        items = np.flatnonzero(known >= 0)
        fitted = _factors(path, how)
        labels = fitted.cuts.label(fitted.complete(items)).astype(np.int8)
        return _Completed(items, labels, known)

    def sweep(self, judgments: Judgments, split: Split) -> tuple[list[NDArray[np.int16]], int]:
        """Weighted, filtered votes under every alpha, and which the training items choose."""
        seen = split.train.align(judgments)[self.items] >= 0
        truth = self.known[self.items]
        fold = np.arange(seen.sum()) % 5
        train, right = self.labels[seen], truth[seen]
        score = np.zeros(len(ALPHAS))
        for held in range(5):
            accuracy, turned = _accuracy(train[fold != held], right[fold != held])
            sides = _sides(train[fold == held])
            for at, alpha in enumerate(ALPHAS):
                label = _weighted(sides, accuracy, turned, alpha)
                score[at] += (label == right[fold == held]).sum()
        accuracy, turned = _accuracy(train, right)
        test = _sides(self.labels[np.searchsorted(self.items, split.test)])
        found = [_weighted(test, accuracy, turned, alpha) for alpha in ALPHAS]
        return found, int(np.argmax(score))


def _accuracy(
    labels: NDArray[np.int8], truth: NDArray[np.int16]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:  # (judge,), (judge,)
    """Accuracy of each judge's completed labels, those below one half turned round."""
    accuracy = (labels == truth[:, None]).mean(axis=0)
    turned = accuracy < 0.5
    return np.where(turned, 1.0 - accuracy, accuracy), turned


def _sides(labels: NDArray[np.int8]) -> NDArray[np.float64]:  # (item, judge)
    """Labels as -1 and 1, once for the votes under every alpha."""
    return np.asarray(2.0 * labels - 1.0, dtype=np.float64)


def _weighted(
    sides: NDArray[np.float64],  # (item, judge)
    accuracy: NDArray[np.float64],
    turned: NDArray[np.bool_],
    alpha: float,
) -> NDArray[np.int16]:  # (item,)
    """The weighted vote of the judges at or above alpha; of all where there is none."""
    kept = accuracy >= alpha
    weight = np.where(kept, accuracy, 0.0) if kept.any() else accuracy
    signs = np.where(turned, -1.0, 1.0) * weight
    return (sides @ signs > 0).astype(np.int16)


def _rank_errors(
    path: Path, rank: int, ridges: tuple[float, ...], folds: int, progress: Progress | None
) -> Any:
    """The held-out error of a rank under every lambda, by cross-validation over all labels."""
    judgments = get_both(trec_2011(path))[0]
    _, tried = Pmf(tolerance=1e-5).try_ranks(
        judgments, ranks=(rank,), regularisations=ridges, folds=folds, progress=progress
    )
    return [[entry.rank, entry.regularisation, entry.rmse] for entry in tried]


def _parts(setup: Setup) -> list[ReplicationPart]:
    """The paper as parts: methods without gold, a split each with gold, a rank each."""
    path = real_file("trec-rf10", setup.data)
    quick = setup.quick
    data = {"data": fingerprint(path), "quick": quick}
    seeds = setup.count(full=_SEEDS, quick=4)
    ranks = (10, 30) if quick else _RANKS
    ridges = (0.1, 0.5, 2.0) if quick else (*RIDGES, *_BEYOND)
    folds = 2 if quick else 3
    return [
        ReplicationPart(
            name="unsupervised",
            settings={**data, "seeds": seeds},
            work=partial(_unsupervised, path, seeds, quick),
        ),
        *(
            ReplicationPart(
                name=f"split-{seed + 1:02d}",
                settings={**data, "seed": seed, "leaked": LEAKED},
                work=partial(_supervised, path, seed, quick),
            )
            for seed in range(seeds)
        ),
        *(
            ReplicationPart(
                name=f"rank-{rank}",
                settings={**data, "ridges": ridges, "folds": folds},
                work=partial(_rank_errors, path, rank, ridges, folds),
            )
            for rank in ranks
        ),
    ]


def _gather(setup: Setup, partials: Mapping[str, Any]) -> ReplicationResult:
    from adjudge.replications.pmf._result import gather

    return gather(setup, partials)


REPLICATION = Replication(
    name="pmf",
    title="Missing judgments by matrix factorisation",
    source=(
        'H. J. Jung and M. Lease (2012), "Inferring Missing Relevance Judgments from Crowd Workers '
        'via Probabilistic Matrix Factorization", SIGIR.'
    ),
    parts=_parts,
    gather=_gather,
)
