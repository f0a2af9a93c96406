"""Known shares of the classes: the setting ``prevalence``, fixed rather than estimated."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from adjudge.data.scale import Scale, canonical
from adjudge.errors import BadSetting

Shares = Mapping[str, float] | tuple[float, ...]
_SUM = 0.02  # that rounded shares may differ from a sum of 1


def check_prevalence(prevalence: Shares | None) -> None:
    """Refuse shares that are not above 0 or do not sum to 1."""
    if prevalence is None:
        return
    shares = prevalence.values() if isinstance(prevalence, Mapping) else prevalence
    try:
        good = all(share > 0 for share in shares) and abs(math.fsum(shares) - 1) <= _SUM
    except TypeError:
        good = False
    if not good:
        wanted = "shares above 0 that sum to 1, by label or in the order of the labels"
        raise BadSetting("prevalence", prevalence, wanted)


def fixed_prevalence(
    prevalence: Shares | None, scale: Scale
) -> NDArray[np.float64] | None:  # (truth,)
    """The known shares of the classes of a scale; None where they are to be estimated."""
    if prevalence is None:
        return None
    shares = list(prevalence.values() if isinstance(prevalence, Mapping) else prevalence)
    if isinstance(prevalence, Mapping):
        named = {canonical(label): share for label, share in prevalence.items()}
        shares = [named.pop(truth, 0.0) for truth in scale.truths] + list(named.values())
    if len(shares) != len(scale.truths) or not all(shares):
        raise BadSetting(
            "prevalence", prevalence, f"one share per label: {', '.join(scale.truths)}"
        )
    known = np.array(shares, dtype=np.float64)
    return np.asarray(known / known.sum())
