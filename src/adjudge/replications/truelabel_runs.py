"""The experiments of Liu and Wang (2012): data made or thinned out run by run, models, outcomes.

Every function gives plain JSON: for each model the values of all runs, in order of their seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.errors import BadData
from adjudge.models.model import Progress
from adjudge.replications.spectrum import DAWID_SKENE, HYBRID, MODELS, Spectrum
from adjudge.replications.stacking import stacked
from adjudge.simulation.panels import monitoring_panel, three_judges

Truth = NDArray[np.integer[Any]]  # (item,), -1 where it is not known
Source = Callable[[int], tuple[Judgments, Truth]]  # the data of a run
MEMORY, MEMORYLESS = "memory", "memoryless"
TRAIN = 2 / 3  # the share of items that memory is learnt from


def synthetic(
    items: int, diagonal: float, runs: int, spectrum: Spectrum, progress: Progress | None
) -> dict[str, dict[str, Any]]:
    """Section 3: three judges on so many items; accuracy, prevalence, error of each matrix."""
    made = [three_judges(items, seed) for seed in range(1, runs + 1)]
    stack = stacked([run.judgments for run in made])
    truth = np.stack([run.truth.value for run in made])  # (run, item)
    rates = made[0].confusion  # (judge, truth, label), the same in every run
    found: dict[str, dict[str, Any]] = {}
    for model in MODELS:
        fit = spectrum.fit(model, stack, diagonal=diagonal, progress=progress)
        right = fit.choice.reshape(truth.shape) == truth
        error = np.abs(fit.confusion(len(rates)) - rates).mean(axis=(2, 3))  # (run, judge)
        found[model] = {
            "accuracy": right.mean(axis=1).tolist(),
            "prevalence": fit.prevalence.tolist(),
            "error": error.tolist(),
        }
    return found


def panel_source(accuracy: float, kappa: float) -> Source:
    """Section 4's panel in shape, made anew for each run, so that no one panel's luck counts."""

    def source(seed: int) -> tuple[Judgments, Truth]:
        made = monitoring_panel(seed, accuracy=accuracy, kappa=kappa)
        return made.judgments, made.truth.value

    return source


def file_source(judgments: Judgments | None, known: Truth | None) -> Source:
    """The same judgments for every run."""
    if judgments is None or known is None:
        raise BadData("memory and memoryless curves need judgments and gold")
    return lambda seed: (judgments, known)  # noqa: ARG005 - a run differs by what is drawn of it


def remembered(
    source: Source,
    ratings: int,
    runs: int,
    spectrum: Spectrum,
    progress: Progress | None,
    *,
    matrices: bool = False,
) -> dict[str, Any]:
    """Section 4: accuracy on the test items with and without memory of the training items.

    A run draws ``ratings`` judgments of each item and splits the items 2:1. With ``matrices``,
    also the mean and sd over judges and runs of the matrices learnt.
    """
    train, test, truths = [], [], []
    for seed in range(1, runs + 1):
        judgments, truth = source(seed)
        rng = np.random.default_rng([seed, ratings])
        kept = thinned(judgments, ratings, rng)
        chosen = np.zeros(judgments.item_count, dtype=np.bool_)
        chosen[rng.permutation(len(chosen))[: round(TRAIN * len(chosen))]] = True
        # Every judge stays in the training set, so that one without judgments gets the prior mean.
        train.append(judgments.select(judgments=kept, items=chosen, keep_empty=True))
        test.append(judgments.select(judgments=kept, items=~chosen, keep_empty=True))
        truths.append(truth[~chosen])
    seen, new = stacked(train), stacked(test)
    found: dict[str, Any] = {MEMORY: {}, MEMORYLESS: {}}
    for model in MODELS:
        fit = spectrum.fit(model, seen, progress=progress)
        found[MEMORY][model] = _accuracies(fit.recall(new), truths)
        if matrices and model in (HYBRID, DAWID_SKENE):
            each = fit.consensus.confusion  # (run * judge, truth, label)
            found.setdefault("mean", {})[model] = each.mean(axis=0).tolist()
            found.setdefault("sd", {})[model] = each.std(axis=0, ddof=1).tolist()
        fit = spectrum.fit(model, _without_idle(new), progress=progress)
        found[MEMORYLESS][model] = _accuracies(fit.choice, truths)
    return found


def thinned(
    judgments: Judgments, ratings: int, rng: np.random.Generator
) -> NDArray[np.bool_]:  # (judgment,)
    """Which judgments stay: at random so many of each item, or all it has."""
    item = judgments.item
    order = np.lexsort((rng.random(len(item)), item))
    place = np.empty(len(item), dtype=np.int64)
    place[order] = np.arange(len(item)) - judgments.offsets[item]
    return np.asarray(place < ratings)


def _without_idle(stack: Judgments) -> Judgments:
    """The same items, without the judges who judged none of them: there is less to draw."""
    kept = stack.select()
    return kept if kept.item_count == stack.item_count else stack


def _accuracies(choice: NDArray[np.int16], truths: list[Truth]) -> list[float]:  # (run,)
    """The share of known items that is right, in each run."""
    ends = np.cumsum([len(truth) for truth in truths])[:-1]
    return [
        float((part == truth)[truth >= 0].mean())
        for part, truth in zip(np.split(choice, ends), truths, strict=True)
    ]
