"""The table of judges: what a judge's expected counts say about her."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import betaincinv

from adjudge.data.names import Names
from adjudge.data.scale import Scale

LEVEL = 0.9  # of every interval in the table


def judge_table(
    *,
    names: Names,
    scale: Scale,
    counts: NDArray[np.float64],  # (judge, truth, label)
    prevalence: NDArray[np.float64],  # (truth,)
) -> Any:
    """One row a judge: judgments, accuracy, bits a judgment, and rates, with 90% intervals.

    Intervals are those of a share under Jeffreys' prior, on expected counts: they know how few
    judgments there are, not how unsure the truth is. Rates of a binary truth are sensitivity and
    specificity; of an ordinal one, the bias: the mean of label minus truth, in grades.
    """
    right = _right(scale)
    total = counts.sum(axis=(1, 2))
    correct = np.einsum("jkl,kl->j", counts, right)
    columns: dict[str, Any] = {
        "judge": names,
        "judgments": pa.array(np.rint(total).astype(np.int64)),
    }
    _share(columns, "accuracy", correct, total)
    columns["bits"] = pa.array(information(counts, prevalence))
    if len(scale.truths) == 2:
        hits = np.einsum("jkl,kl->jk", counts, right)
        rows = counts.sum(axis=2)
        _share(columns, "sensitivity", hits[:, 1], rows[:, 1])
        _share(columns, "specificity", hits[:, 0], rows[:, 0])
    elif scale.ordinal and scale.truths == scale.labels:
        place = np.arange(len(scale.labels), dtype=np.float64)
        shift = np.einsum("jkl,kl->j", counts, place[None, :] - place[:, None])
        columns["bias"] = _or_null(shift / np.maximum(total, 1e-300), total > 0)
    return pa.table(columns)


def information(
    counts: NDArray[np.float64],  # (judge, truth, label)
    prevalence: NDArray[np.float64],  # (truth,)
) -> NDArray[np.float64]:  # (judge,)
    """Mutual information between truth and a judge's label, in bits a judgment.

    A judge whose rows are all alike tells nothing: 0 bits. Each row is first drawn towards the
    judge's own marginal by one pseudo-judgment, or a judge of three judgments would look certain.
    """
    total = counts.sum(axis=(1, 2), keepdims=True)
    labels = counts.shape[2]
    marginal = (counts.sum(axis=1, keepdims=True) + 1.0 / labels) / (total + 1.0)
    rows = counts.sum(axis=2, keepdims=True)
    theta = (counts + marginal) / (rows + 1.0)
    mixed = np.einsum("k,jkl->jl", prevalence, theta)[:, None, :]
    return np.asarray(
        np.maximum(np.einsum("k,jkl->j", prevalence, theta * np.log2(theta / mixed)), 0.0)
    )


def _right(scale: Scale) -> NDArray[np.float64]:  # (truth, label)
    """1 where a label stands for a truth."""
    stands = np.array(scale.truth_of)
    return np.asarray(np.arange(len(scale.truths))[:, None] == stands[None, :], dtype=np.float64)


def _share(
    columns: dict[str, Any], name: str, hits: NDArray[np.float64], total: NDArray[np.float64]
) -> None:
    """A share and its interval as three columns; null where there is nothing to share."""
    seen = total > 1e-9
    hits = np.clip(hits, 0.0, total)
    safe = np.where(seen, total, 1.0)
    columns[name] = _or_null(hits / safe, seen)
    tail = (1.0 - LEVEL) / 2
    for suffix, at in (("low", tail), ("high", 1.0 - tail)):
        bound = betaincinv(hits + 0.5, total - hits + 0.5, at)
        columns[f"{name}_{suffix}"] = _or_null(bound, seen)


def _or_null(values: NDArray[np.float64], known: NDArray[np.bool_]) -> Any:
    return pa.array(values, mask=~known)
