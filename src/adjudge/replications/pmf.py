"""Jung and Lease (2012), table 1: seven ways from judgments to labels, with and without gold.

Data: TREC 2011 crowdsourcing, task 2 (binary). The paper's split was not published: here 1,000 test
items, half of them relevant, are drawn from the gold anew for every seed, and the rest is for
training. RMSE is that of 0/1 labels, as the published figures show. Ranks: methods whose accuracies
over the splits do not differ by a two-tailed paired t-test at 0.05 share one.

What filters reach is also stated on the items that they cover: an item whose judges were all
dropped falls back to the plain vote here, and the paper does not say what became of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.data.formats import Content
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.errors import BadData
from adjudge.evaluation.significance import rank_methods
from adjudge.evaluation.tuning import ALPHAS, Tuner
from adjudge.models.dawid_skene import DawidSkene
from adjudge.models.majority_vote import MajorityVote
from adjudge.models.model import Progress, Step
from adjudge.models.pmf import Pmf
from adjudge.models.vote import Vote
from adjudge.models.weighting import ACCURACY, AccuracyFilter, Feature
from adjudge.replications.cells import Cell

# Table 1, page 2: accuracy and its rank, RMSE, specificity.
PUBLISHED: dict[str, tuple[float, int, float, float]] = {
    "1 MV": (0.603, 4, 0.63, 0.332),
    "2 EM": (0.644, 3, 0.596, 0.418),
    "3 PMF+MV": (0.643, 3, 0.598, 0.440),
    "4 WV": (0.642, 3, 0.598, 0.900),
    "5 filter": (0.752, 1, 0.498, 0.838),
    "6 WV+filter": (0.750, 1, 0.500, 0.848),
    "7 PMF+WV+filter": (0.673, 2, 0.571, 0.542),
}
TEST = 1000


@dataclass(frozen=True, slots=True)
class Outcome:
    """Accuracy, specificity and coverage of one method on one split."""

    accuracy: float
    specificity: float
    coverage: float  # test items with a kept judge
    covered: float  # accuracy on those


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Gold items for training, and the items and truth of the test."""

    train: Gold
    test: NDArray[np.int64]  # (test,) items
    truth: NDArray[np.int16]  # (test,)


def splits(judgments: Judgments, gold: Gold, count: int) -> list[Split]:
    """Seeded splits: a test set balanced between the classes, the rest for training."""
    known = gold.align(judgments)
    made = []
    for seed in range(count):
        rng = np.random.default_rng([2012, seed])
        test = np.concatenate(
            [rng.choice(np.flatnonzero(known == k), TEST // 2, replace=False) for k in (0, 1)]
        )
        held = np.zeros(judgments.item_count, dtype=np.bool_)
        held[test] = True
        names = set(judgments.items.take(test).to_pylist())
        mask = np.array([name not in names for name in gold.items.to_pylist()], dtype=np.bool_)
        made.append(Split(gold.select(mask), np.sort(test), known[np.sort(test)]))
    return made


def table_1(
    content: Content, *, seeds: int = 20, progress: Progress | None = None
) -> tuple[list[Cell], dict[str, list[Outcome]]]:
    """Every cell of table 1, published and obtained, and the outcomes behind them."""
    judgments, gold = content.judgments, content.gold
    if judgments is None or gold is None:
        raise BadData("the PMF paper needs judgments and gold", wanted="TREC 2011 task 2")
    plain = {
        "1 MV": MajorityVote().fit(judgments).choice,
        "2 EM": DawidSkene().fit(judgments).choice,
        "3 PMF+MV": Pmf().fit(judgments).choice,
    }
    completed = _completed(judgments, gold)
    outcomes: dict[str, list[Outcome]] = {name: [] for name in PUBLISHED}
    for done, split in enumerate(splits(judgments, gold, seeds), start=1):
        for name, choice in plain.items():
            outcomes[name].append(_outcome(split, choice))
        alpha = Tuner(judgments, split.train, flip=True).choose(
            lambda value: AccuracyFilter(alpha=value), ALPHAS, measure="binary", gentler="lower"
        )
        weight, keep = Feature(ACCURACY), AccuracyFilter(alpha=alpha)
        votes = {
            "4 WV": Vote(weight=weight, flip=True),
            "5 filter": Vote(keep=keep, flip=True),
            "6 WV+filter": Vote(weight=weight, keep=keep, flip=True),
        }
        for name, model in votes.items():
            fit = model.fit(judgments, split.train)
            outcomes[name].append(_outcome(split, fit.choice, fit.fallback))
        outcomes["7 PMF+WV+filter"].append(_outcome(split, completed.vote(judgments, split)))
        if progress is not None:
            progress(Step("table 1", done, seeds))
    return _cells(outcomes), outcomes


def _outcome(
    split: Split, choice: NDArray[np.int16], fallback: NDArray[np.bool_] | None = None
) -> Outcome:
    right = choice[split.test] == split.truth
    kept = np.ones(len(right), dtype=np.bool_) if fallback is None else ~fallback[split.test]
    return Outcome(
        accuracy=float(right.mean()),
        specificity=float(right[split.truth == 0].mean()),
        coverage=float(kept.mean()),
        covered=float(right[kept].mean()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Completed:
    """The completed labels of the gold items: small enough to be held whole."""

    items: NDArray[np.int64]  # (gold,)
    labels: NDArray[np.int8]  # (gold, judge)
    known: NDArray[np.int16]  # (item,)

    def vote(self, judgments: Judgments, split: Split) -> NDArray[np.int16]:  # (item,)
        """Weighted, filtered votes of completed labels; alpha chosen on the training items."""
        seen = split.train.align(judgments)[self.items] >= 0
        truth = self.known[self.items]
        fold = np.arange(seen.sum()) % 5
        train, right = self.labels[seen], truth[seen]
        score = np.zeros(len(ALPHAS))
        for held in range(5):
            accuracy, turned = _accuracy(train[fold != held], right[fold != held])
            for at, alpha in enumerate(ALPHAS):
                label = _weighted(train[fold == held], accuracy, turned, alpha)
                score[at] += (label == right[fold == held]).sum()
        accuracy, turned = _accuracy(train, right)
        choice = np.zeros(judgments.item_count, dtype=np.int16)
        choice[self.items] = _weighted(self.labels, accuracy, turned, ALPHAS[int(np.argmax(score))])
        return choice


def _completed(judgments: Judgments, gold: Gold) -> _Completed:
    known = gold.align(judgments)
    items = np.flatnonzero(known >= 0)
    factors = Pmf().factors(judgments)
    labels = factors.cuts.label(factors.complete(items)).astype(np.int8)
    return _Completed(items, labels, known)


def _accuracy(
    labels: NDArray[np.int8], truth: NDArray[np.int16]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:  # (judge,), (judge,)
    """Accuracy of each judge's completed labels, those below one half turned round."""
    accuracy = (labels == truth[:, None]).mean(axis=0)
    turned = accuracy < 0.5
    return np.where(turned, 1.0 - accuracy, accuracy), turned


def _weighted(
    labels: NDArray[np.int8],
    accuracy: NDArray[np.float64],
    turned: NDArray[np.bool_],
    alpha: float,
) -> NDArray[np.int16]:  # (item,)
    """The weighted vote of the judges at or above alpha; of all where there is none."""
    kept = accuracy >= alpha
    weight = np.where(kept, accuracy, 0.0) if kept.any() else accuracy
    signs = np.where(turned, -1.0, 1.0) * weight
    return ((2.0 * labels - 1.0) @ signs > 0).astype(np.int16)


def _cells(outcomes: dict[str, list[Outcome]]) -> list[Cell]:
    """Mean and sd over splits beside the published values, ranks by paired tests."""
    accuracy = {name: [run.accuracy for run in runs] for name, runs in outcomes.items()}
    ranks = {place.method: place.rank for place in rank_methods(accuracy)}
    cells = []
    for name, runs in outcomes.items():
        published = PUBLISHED[name]
        found = {
            "ACC": (published[0], accuracy[name]),
            "ACC rank": (float(published[1]), [float(ranks[name])] * len(runs)),
            "RMSE": (published[2], [float(np.sqrt(1.0 - run.accuracy)) for run in runs]),
            "SPE": (published[3], [run.specificity for run in runs]),
            "coverage": (float("nan"), [run.coverage for run in runs]),
            "ACC, covered": (float("nan"), [run.covered for run in runs]),
        }
        cells += [
            Cell(
                row=name,
                column=column,
                published=value,
                obtained=float(np.mean(values)),
                sd=float(np.std(values, ddof=1)) if len(values) > 1 else float("nan"),
            )
            for column, (value, values) in found.items()
        ]
    return cells
