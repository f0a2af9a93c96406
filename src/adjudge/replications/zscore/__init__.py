"""Jung and Lease (2011), figure 1: Z-score filters by feature, three kinds of vote, two accuracies.

Data: TREC 2010 Relevance Feedback, items with gold 0, 1 or 2, one label for each judge and item
(the first), "broken link" among them, and the planted broken links as honeypots: 19,273 labels of
3,277 items, where the paper has 19,232 of 3,277. The paper's folds were not published: gamma is
tuned here by nested 5-fold cross-validation, the mean and sd are over seeds. SWM weighs by graded
accuracy against gold, MWM by the product of all seven features; the paper does not say which it
took.

Two readings of its filter. As it is written, z > gamma drops the best judges by accuracy and the
worst by distance. ``BOTH`` takes it for |z| > gamma, distances as they are, in the weights too;
``LOW`` for judges who lie too low, distances turned round. The first is nearer to figure 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from adjudge.data.formats import Content
from adjudge.data.formats.trec_rf10 import BROKEN, gold_subset
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import look_up
from adjudge.data.scale import Scale
from adjudge.evaluation.tuning import GAMMAS, Measure, Tuner
from adjudge.models.features import PAPER
from adjudge.models.model import Progress, Step
from adjudge.models.weighting import Filter, Product, Sides, ZScore
from adjudge.replications._data import contents, fingerprint, get_both, real_file
from adjudge.replications.replication import Replication, ReplicationPart, ReplicationResult, Setup

NAMES = {code: name for name, code in PAPER.items()}
ROWS: dict[str, tuple[str, ...]] = {
    "Baseline": (),
    **{code: (code,) for code in NAMES},
    "GACG+AHNP": ("GACG", "AHNP"),
    "GACG+GDSG": ("GACG", "GDSG"),
    "GDSG+AHNP": ("GDSG", "AHNP"),
    "ALL": tuple(NAMES),
}
# "We evaluate individual features, feature pairs, ablation configurations (all but one feature),
# and the entire feature set. The most effective feature sets are shown": those that are not.
OTHERS: dict[str, tuple[str, ...]] = {
    **{f"{a}+{b}": (a, b) for a, b in combinations(NAMES, 2) if f"{a}+{b}" not in ROWS},
    **{f"ALL-{code}": tuple(other for other in NAMES if other != code) for code in NAMES},
}
BOTH, LOW = "|z| > γ", "z too low"
_SIDES: dict[str, Sides] = {BOTH: "both", LOW: "low"}
_EVERY = {
    BOTH: tuple(f"1-{name}" if "distance" in name else name for name in PAPER),
    LOW: tuple(PAPER),
}
_COLUMNS: tuple[tuple[Measure, str], ...] = (
    ("graded", "SM"),
    ("binary", "SM"),
    ("graded", "SWM"),
    ("binary", "SWM"),
    ("graded", "MWM"),
    ("binary", "MWM"),
)
HEADS = tuple(f"{'GA' if measure == 'graded' else 'BA'}+{vote}" for measure, vote in _COLUMNS)

# Figure 1, page 2: graded and binary accuracy under SM, SWM and MWM.
PUBLISHED: dict[str, tuple[float, ...]] = {
    "Baseline": (0.4751, 0.6549, 0.4822, 0.6402, 0.4883, 0.6488),
    "GACG": (0.4867, 0.6597, 0.5041, 0.6747, 0.5072, 0.6811),
    "BACG": (0.4944, 0.6692, 0.4965, 0.6769, 0.5038, 0.6781),
    "GACM": (0.4751, 0.6546, 0.4940, 0.6674, 0.5066, 0.6704),
    "BACM": (0.4751, 0.6561, 0.4901, 0.6689, 0.5050, 0.6750),
    "GDSG": (0.4883, 0.6622, 0.4995, 0.6744, 0.5072, 0.6805),
    "GDSM": (0.4764, 0.6549, 0.4986, 0.6704, 0.5063, 0.6708),
    "AHNP": (0.5035, 0.6823, 0.4974, 0.6457, 0.4999, 0.6515),
    "GACG+AHNP": (0.5176, 0.6860, 0.5194, 0.6790, 0.5191, 0.6833),
    "GACG+GDSG": (0.5075, 0.6619, 0.5011, 0.6744, 0.5069, 0.6805),
    "GDSG+AHNP": (0.5151, 0.6875, 0.5172, 0.6793, 0.5191, 0.6827),
    "ALL": (0.5044, 0.6830, 0.5154, 0.6781, 0.5179, 0.6811),
}
# The same cells: gamma.
GAMMA: dict[str, tuple[float, ...]] = {
    "GACG": (0.5, 0.4, 0.7, 1.5, 1.5, 1.5),
    "BACG": (0.5, 0.5, 0.5, 1.0, 1.0, 1.0),
    "GACM": (2.0, 2.0, 0.6, 0.7, 1.0, 1.0),
    "BACM": (3.0, 1.8, 0.8, 0.8, 0.8, 0.8),
    "GDSG": (0.6, 0.6, 1.3, 1.3, 1.3, 1.3),
    "GDSM": (1.6, 2.2, 0.9, 1.0, 1.1, 1.1),
    "AHNP": (1.6, 1.7, 1.7, 1.7, 1.6, 1.7),
    "GACG+AHNP": (0.6, 0.7, 0.6, 1.3, 1.5, 1.5),
    "GACG+GDSG": (0.3, 0.6, 0.4, 1.3, 1.5, 1.5),
    "GDSG+AHNP": (0.6, 1.1, 1.1, 1.2, 1.2, 1.3),
    "ALL": (1.8, 2.0, 1.1, 1.5, 1.3, 1.9),
}
# Page 2, "Results": binary accuracy on all but 200 of the labels.
EM, SM = 0.666, 0.639
_SEEDS = 10  # of figure 1
_FEW_SEEDS = 3  # of the other reading, of the sets that the paper does not show, and of models


def _paper_data(content: Content) -> tuple[Judgments, Gold]:
    """The judgments of gold items and honeypots, grades 0 to 2 as truths, a broken link as none."""
    judgments, gold = get_both(content, "Z-score", "trec-rf10")
    kept = np.zeros(judgments.item_count, dtype=np.bool_)
    kept[look_up(gold.items, judgments.items)] = True
    scale = Scale(
        labels=judgments.scale.labels,
        ordinal=True,
        truths=("0", "1", "2"),
        truth_of=tuple(
            ("0", "1", "2").index(name) if name != BROKEN else -1 for name in judgments.scale.labels
        ),
        relevant=("1", "2"),
    )
    return _first_of_each(judgments.select(items=kept)).with_scale(scale), gold


def _first_of_each(judgments: Judgments) -> Judgments:
    """The first label that each judge gave each item."""
    pair = judgments.item.astype(np.int64) * judgments.judge_count + judgments.judge
    kept = np.zeros(len(judgments), dtype=np.bool_)
    kept[np.unique(pair, return_index=True)[1]] = True
    return judgments.select(judgments=kept)


def _figure_1(
    path: Path,
    seed: int,
    gammas: tuple[float, ...],
    reading: str,
    rows: Mapping[str, tuple[str, ...]],
    progress: Progress | None,
) -> Any:
    """One seed of figure 1 by one reading: accuracy and median gamma of each cell, by row."""
    tuner = Tuner(*_paper_data(contents(path)), seed=seed)
    weights = {"SM": None, "SWM": Product((NAMES["GACG"],)), "MWM": Product(_EVERY[reading])}
    found: dict[str, list[list[float]]] = {}
    for done, (row, codes) in enumerate(rows.items(), start=1):
        features = tuple(NAMES[code] for code in codes)
        make: Callable[[float], Filter] | None = None
        if features:
            make = partial(_zscore, features, _SIDES[reading])
        runs = [
            tuner.tune(make, gammas if make else (), weights[vote], measure=measure)
            for measure, vote in _COLUMNS
        ]
        found[row] = [[run.mean, run.threshold] for run in runs]
        if progress is not None:
            progress(Step("figure 1", done, len(rows), row))
    if "Baseline" in rows:
        for code, name in NAMES.items():  # the paper does not say which feature SWM weighs by
            alone = [tuner.tune(None, (), Product((name,)), measure=m) for m, _ in _COLUMNS[:2]]
            found[f"weight {code}"] = [[run.mean, run.threshold] for run in alone]
    return found


def _zscore(features: tuple[str, ...], sides: Sides, gamma: float) -> Filter:
    return ZScore(*features, gamma=gamma, sides=sides)


def _baselines(path: Path, seeds: int) -> Any:
    """Binary accuracy of EM and SM on the binary judgments of gold items, a tie-break a seed."""
    from adjudge.evaluation.against_gold import evaluate
    from adjudge.models.dawid_skene import DawidSkene
    from adjudge.models.majority_vote import MajorityVote

    judgments, gold = _one_each(path)
    binary, known = judgments.collapse(), gold.collapse(judgments.scale)
    found: dict[str, list[float]] = {"EM": [], "SM": []}
    for seed in range(1, seeds + 1):
        for name, model in (("EM", DawidSkene(seed=seed)), ("SM", MajorityVote(seed=seed))):
            scored = evaluate(model.fit(binary), known)
            found[name].append(float(scored["accuracy"]))
    return found


def _score_models(path: Path, seed: int, quick: bool, progress: Progress | None) -> Any:
    """One seed of the extension: graded and binary accuracy without gold and over five folds."""
    from adjudge.evaluation.against_gold import evaluate
    from adjudge.evaluation.crossvalidation import cross_validate

    judgments, gold = _one_each(path)
    every = _graded(contents(path))
    chosen = _models(seed, quick)
    found = {}
    for done, (row, (model, all_items)) in enumerate(chosen.items(), start=1):
        data = every if all_items else judgments
        alone = evaluate(model.fit(data), gold)
        told = cross_validate(model, data, gold, folds=5, seed=seed).pooled
        found[row] = [
            float(scored[score])
            for scored in (alone, told)
            for score in ("graded_accuracy", "binary_accuracy")
        ]
        if progress is not None:
            progress(Step("models", done, len(chosen), row))
    return found


def _models(seed: int, quick: bool) -> dict[str, tuple[Any, bool]]:
    """Models by row, and whether each is given the judgments of items without gold too."""
    from adjudge.models.dawid_skene import DawidSkene
    from adjudge.models.hierarchical_confusion import HierarchicalConfusion
    from adjudge.models.hybrid_confusion import HybridConfusion

    fast = {
        "HybridConfusion, EM": HybridConfusion(method="em", seed=seed),
        "HierarchicalConfusion, variational": HierarchicalConfusion(
            method="variational", seed=seed
        ),
    }
    sampled = {
        "HybridConfusion": HybridConfusion(seed=seed),
        "HierarchicalConfusion": HierarchicalConfusion(seed=seed),
    }
    if quick:
        sampled = {
            "HybridConfusion": HybridConfusion(warmup=50, draws=50, thin=1, seed=seed),
            "HierarchicalConfusion": HierarchicalConfusion(warmup=50, draws=50, seed=seed),
        }
    same = {"DawidSkene": DawidSkene(seed=seed), **fast, **sampled}
    return {
        **{name: (model, False) for name, model in same.items()},
        **{f"{name}, all items": (model, True) for name, model in fast.items()},
    }


def _one_each(path: Path) -> tuple[Judgments, Gold]:
    """The graded judgments of gold items, the first of each judge and item, broken links left out.

    Models take every label for a sign of a grade.
    """
    judgments, gold = get_both(gold_subset(contents(path)), "Z-score", "trec-rf10")
    return _first_of_each(judgments), gold


def _graded(content: Content) -> Judgments:
    """The judgments of every item but honeypots, broken links left out: TREC 2011's, graded."""
    judgments, gold = get_both(content, "Z-score", "trec-rf10")
    left = judgments.select(items=~gold.honeypots(judgments)).without_labels(BROKEN)
    return _first_of_each(left)


def _parts(setup: Setup) -> list[ReplicationPart]:
    """The paper as parts: a seed of figure 1 each, the baselines, a seed of the models each."""
    path = real_file("trec-rf10", setup.data)
    data = {"data": fingerprint(path)}
    seeds = setup.count(full=_SEEDS, quick=2)
    few = min(seeds, 1 if setup.quick else _FEW_SEEDS)
    gammas = GAMMAS[::5] if setup.quick else GAMMAS
    middle = ReplicationPart(
        name="baselines",
        settings={**data, "seeds": seeds},
        work=lambda _: _baselines(path, seeds),
    )
    last = [
        ReplicationPart(
            name=f"models-seed-{seed:02d}",
            settings={**data, "seed": seed, "quick": setup.quick},
            work=partial(_score_models, path, seed, setup.quick),
        )
        for seed in range(1, few + 1)
    ]
    return [
        *_seeds_of("figure-1", path, range(1, seeds + 1), gammas, BOTH, ROWS),
        *_seeds_of("low", path, range(1, few + 1), gammas, LOW, ROWS),
        *_seeds_of("others", path, range(1, few + 1), gammas, BOTH, OTHERS),
        middle,
        *last,
    ]


def _seeds_of(
    name: str,
    path: Path,
    seeds: Sequence[int],
    gammas: tuple[float, ...],
    reading: str,
    rows: Mapping[str, tuple[str, ...]],
) -> list[ReplicationPart]:
    """The seeds of a table, a part each."""
    held = {"data": fingerprint(path), "gammas": gammas, "reading": reading, "rows": list(rows)}
    return [
        ReplicationPart(
            name=f"{name}-seed-{seed:02d}",
            settings={**held, "seed": seed},
            work=partial(_figure_1, path, seed, gammas, reading, rows),
        )
        for seed in seeds
    ]


def _gather(setup: Setup, partials: Mapping[str, Any]) -> ReplicationResult:
    from adjudge.replications.zscore._result import gather

    return gather(setup, partials)


REPLICATION = Replication(
    name="zscore",
    title="Z-score filters and weighted votes",
    source=(
        'H. J. Jung and M. Lease (2011), "Improving Consensus Accuracy via Z-score and Weighted '
        'Voting", AAAI Workshop on Human Computation.'
    ),
    parts=_parts,
    gather=_gather,
)
