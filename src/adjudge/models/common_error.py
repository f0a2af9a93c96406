"""How far the judges of an item err together, as far as judgments that are numbers show it.

    D = mean over pairs of judges of one item of (z_j^2 - E z_j^2) (z_k^2 - E z_k^2)

z are residuals in noises of their judges. D is 0 where every judge errs alone with the same noise
on every item, and more where items are what makes judges err: some are hard for all. An error that
is the same for all judges of an item is in its value and shows nowhere. But where items are hard
for all, judges err together too: on real judgments that have a truth, as far as each errs alone or
further. So where D is more than three times its standard error, values have that variance besides:

    share x mean noise^2,   share = d / (d + 0.02),   d = D - 3 se(D), or 0

Where judges err alone D is about 0, and nothing is added.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from adjudge.models.number_fitting import mean_of

_Floats = NDArray[np.float64]
_SURE = 3.0  # standard errors
_HALF = 0.02  # of D, beyond those: half of a judge's noise is taken to be common


def common_variance(
    together: _Floats,  # (item,) over its pairs of judges
    pairs: _Floats,  # (item,) twice how many it has
    noise: _Floats,  # (judge,) variance
    count: _Floats,  # (judge,) judgments
) -> float:
    """The variance of what the judges of an item get wrong together, in units of ``noise``."""
    all_pairs = math.fsum(pairs)
    if not all_pairs:
        return 0.0
    excess = mean_of(together) * len(together) / all_pairs
    apart = (together - excess * pairs) ** 2
    doubt = math.sqrt(mean_of(apart) * len(apart)) / all_pairs
    beyond = max(excess - _SURE * doubt, 0.0)
    share = beyond / (beyond + _HALF)
    return share * math.fsum(noise * count) / math.fsum(count)
