"""What a prediction keeps of its fit: gold labels, and answers for the same judgments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.judgments import Judgments
from adjudge.data.names import look_up


def keep_fitted(fitted: Consensus, predicted: Consensus) -> Consensus:
    """Give items of the fit their gold label, or the fit's answer where judgments are the same."""
    code = look_up(predicted.judgments.items, fitted.judgments.items)
    known = np.full(len(code), -1, dtype=np.int16)
    if fitted.known is not None:
        known[code >= 0] = fitted.known[code[code >= 0]]
    kept = (known >= 0) | _have_same_judgments(predicted.judgments, fitted.judgments, code)
    if not kept.any():
        return predicted
    posterior, choice = np.array(predicted.posterior), np.array(predicted.choice)
    posterior[kept], choice[kept] = fitted.posterior[code[kept]], fitted.choice[code[kept]]
    fallback = predicted.fallback
    if fitted.fallback is not None:
        fallback = np.zeros(len(code), dtype=np.bool_) if fallback is None else np.array(fallback)
        fallback[kept] = fitted.fallback[code[kept]]
    gold = known if (known >= 0).any() else None
    return replace(predicted, posterior=posterior, choice=choice, fallback=fallback, known=gold)


def _have_same_judgments(
    judgments: Judgments,
    fitted: Judgments,
    code: NDArray[np.int32],  # (item,) of the fit, -1 for a new item
) -> NDArray[np.bool_]:  # (item,)
    """Which items have the same labels from the same judges in the fit, in any order."""
    same = (code >= 0) & (np.append(fitted.counts_per_item, -1)[code] == judgments.counts_per_item)
    chosen = np.zeros(fitted.item_count, dtype=np.bool_)
    chosen[code[same]] = True
    judge = look_up(judgments.judges, fitted.judges)
    tables = []
    for table, rows, item, judges in (
        (judgments, same[judgments.item], code[judgments.item], judge[judgments.judge]),
        (fitted, chosen[fitted.item], fitted.item, fitted.judge),
    ):
        key = judges[rows].astype(np.int64) * len(fitted.scale.labels) + table.label[rows]
        order = np.lexsort((key, item[rows]))
        tables.append((item[rows][order], key[order]))
    (_, given), (items, wanted) = tables  # as many of each item in both
    chosen[items[given != wanted]] = False
    return np.asarray(same & np.append(chosen, False)[code])
