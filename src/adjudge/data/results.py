"""What every result offers: dataframes, a summary, a chart and a view in notebooks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

SURE = 0.9  # a label of this probability is called sure
DOUBT = 0.6  # and one below this is in doubt


def inferred_probability(consensus: Any) -> NDArray[np.float64]:  # (label,)
    """Return the probabilities of labels that were inferred: gold that a fit used is certain."""
    probability: NDArray[np.float64] = consensus.probability
    inferred = None if consensus.known is None else consensus.known < 0
    return probability if inferred is None or not inferred.any() else probability[inferred]
