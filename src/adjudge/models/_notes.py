"""Notes on a fit that several models make, each with what to do about it."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.data.source import count_of

_VOTED = 0.05  # share of the judgments from which a class is looked at
_EMPTY = 0.25  # of that share: a class with less among the items is nearly empty


def describe_unconverged(iterations: int) -> str:
    """The note of a fit that ended at its limit of iterations."""
    return f"not converged after {count_of(iterations, 'iteration')}: raise iterations"


def describe_empty_classes(
    model: Any,
    judgments: Judgments,
    posterior: NDArray[np.float64],  # (item, truth)
) -> tuple[str, ...]:
    """A note per class that judges use and the fit hardly does: it may be merged with another."""
    if not len(judgments):
        return ()
    scale = judgments.scale
    counts = np.bincount(judgments.label, minlength=len(scale.labels))
    truth = np.array(scale.truth_of)
    votes = np.bincount(truth[truth >= 0], counts[truth >= 0], minlength=len(scale.truths))
    voted, found = votes / max(votes.sum(), 1), posterior.mean(axis=0)
    methods = get_args(get_type_hints(type(model)).get("method"))
    tries = [f"method={way}" for way in methods if way not in ("gibbs", model.method)]
    if model.prevalence is None:
        tries.append("prevalence= with known shares")
    return tuple(
        f"label {scale.truths[k]} is nearly empty: {voted[k]:.0%} of the judgments, {found[k]:.1%} "
        f"of the items. Try {' or '.join((*tries, 'more gold labels'))}"
        for k in np.flatnonzero((voted >= _VOTED) & (found < _EMPTY * voted)).tolist()
    )
