"""Many tests at once: p-values adjusted so that few of what is found is chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def adjusted(p: NDArray[np.float64]) -> NDArray[np.float64]:  # (test,) -> (test,)
    """P-values adjusted by Benjamini and Hochberg (1995, doi:10.1111/j.2517-6161.1995.tb02031.x).

    Of the tests whose adjusted value is at most q, a share of q or less is expected to be chance.
    """
    many = len(p)
    if not many:
        return p.copy()
    order = np.argsort(-p, kind="stable")
    scaled = p[order] * many / np.arange(many, 0, -1)
    result = np.empty(many)
    result[order] = np.minimum(np.minimum.accumulate(scaled), 1.0)
    return result


def adjusted_under_dependence(p: NDArray[np.float64]) -> NDArray[np.float64]:  # (test,) -> (test,)
    """P-values adjusted by Benjamini and Yekutieli (2001, doi:10.1214/aos/1013699998).

    The same promise, whatever the dependence between the tests: Benjamini and Hochberg's values,
    times 1 + 1/2 + ... + 1/tests.
    """
    many = len(p)
    if not many:
        return p.copy()
    order = np.argsort(-p, kind="stable")
    scaled = p[order] * many * (1.0 / np.arange(1, many + 1)).sum() / np.arange(many, 0, -1)
    result = np.empty(many)
    result[order] = np.minimum(np.minimum.accumulate(scaled), 1.0)
    return result
