"""The table of judge features: one row a judge, with what each rests on and how sure it is.

The features themselves stand in ``adjudge.models.features``, below the votes that use them; here
they get intervals, and company: how a judge spreads their labels, how far they agree with the
majority beyond chance, how long they take, how much a judgment of theirs tells.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import betaincinv

from adjudge.data.gold import Gold
from adjudge.data.judges import information
from adjudge.data.judgments import Judgments
from adjudge.engines.threads import ThreadsEngine
from adjudge.evaluation.diagnosis._card import median_seconds
from adjudge.models.features import available, measure_features
from adjudge.models.hybrid_confusion import HybridConfusion
from adjudge.models.model import pick

_LEVEL = 0.9


def feature_table(
    judgments: Judgments,
    gold: Gold | None = None,
    *,
    names: tuple[str, ...] | None = None,
    priors: tuple[float, ...] | None = None,
    seed: int = 0,
) -> Any:
    """One row a judge: the features named (all that the data allow), and those beyond the paper.

    Shares have 90% intervals under Jeffreys' prior, in columns ``<feature>_low`` and ``_high``, and
    the judgments they rest on in ``<feature>_count``.
    """
    wanted = available(judgments, gold) if names is None else names
    found = measure_features(judgments, gold, names=wanted, priors=priors, seed=seed)
    columns: dict[str, Any] = {
        "judge": judgments.judges,
        "judgments": pa.array(judgments.counts_per_judge),
    }
    for name in wanted:
        value, count = found[name], found.counts[name]
        unknown = np.isnan(value)
        columns[name] = pa.array(value, mask=unknown)
        columns[f"{name}_count"] = pa.array(count.astype(np.int64))
        if "accuracy" in name:
            hits = np.where(unknown, 0.0, value * count)
            for suffix, at in (("low", (1 - _LEVEL) / 2), ("high", (1 + _LEVEL) / 2)):
                bound = betaincinv(hits + 0.5, count - hits + 0.5, at)
                columns[f"{name}_{suffix}"] = pa.array(bound, mask=unknown)
    columns |= _beyond(judgments, gold, seed)
    return pa.table(columns)


def _beyond(judgments: Judgments, gold: Gold | None, seed: int) -> dict[str, Any]:
    """What the paper does not have: kappa with the majority, bits, label shares, seconds."""
    against = _against_majority(judgments, seed)  # (judge, truth, label)
    columns: dict[str, Any] = {"kappa-majority": _kappa(judgments, against)}
    fit = HybridConfusion(method="em", seed=seed).fit(judgments, gold)
    kept = fit.counts[: judgments.judge_count]
    columns["bits"] = pa.array(information(kept, fit.overall_prevalence))
    total = judgments.counts_per_judge
    labels = against.sum(axis=1)  # (judge, label)
    for code, label in enumerate(judgments.scale.labels):
        shares = labels[:, code] / np.maximum(total, 1)
        columns[f"share_{label}"] = pa.array(shares, mask=total == 0)
    if judgments.seconds is not None:
        columns["median-seconds"] = median_seconds(judgments)
    return columns


def _against_majority(judgments: Judgments, seed: int) -> NDArray[np.float64]:
    """Counts of each judge's labels under the majority's truth."""
    sweeps = ThreadsEngine().load(judgments)
    votes, _ = sweeps.posterior(None, own=True)
    choice, _ = pick(votes, judgments, ties="random", seed=seed)
    return sweeps.against(choice, votes.shape[1]).astype(np.float64)


def _kappa(judgments: Judgments, counts: NDArray[np.float64]) -> Any:
    """Cohen's kappa of each judge with the majority; null where chance alone would agree."""
    truths = len(judgments.scale.truths)
    stands = np.array(judgments.scale.truth_of)
    own = np.zeros((len(counts), truths, truths))
    for label, truth in enumerate(stands):
        if truth >= 0:
            own[:, :, truth] += counts[:, :, label]
    total = own.sum(axis=(1, 2))
    safe = np.where(total > 0, total, 1.0)
    agree = np.einsum("jkk->j", own) / safe
    chance = (own.sum(axis=1) * own.sum(axis=2)).sum(axis=1) / safe**2
    unknown = (total == 0) | (chance >= 1 - 1e-12)
    kappa = (agree - chance) / np.where(unknown, 1.0, 1.0 - chance)
    return pa.array(kappa, mask=unknown)
