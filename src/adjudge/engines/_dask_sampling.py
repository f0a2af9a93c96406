"""Gibbs sampling on a Dask cluster: every worker draws the truths of its own items.

Given the rates, items are independent, so that drawing them in parts is exact. The random number of
an item depends on (seed, chain, iteration, item) alone, and a draw on nothing else but the rates:
what a worker that died had drawn is drawn again, with the same bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.engines import _remote as remote
from adjudge.engines._cluster import Parts
from adjudge.engines._remote import Draw
from adjudge.engines.engine import Tally

_REMEMBERED = 64  # draws after which the mean so far is fetched, and they are forgotten


class _Chain:
    """What is needed to compute the mean of a chain again in a part that was lost."""

    def __init__(self) -> None:
        self.added = 0  # draws in the mean
        self.mean: NDArray[np.float64] | None = None  # (item, truth), when last fetched
        self.draws: list[Draw] = []  # added since then


class DaskSampler:
    """Judgments in parts on a cluster, shared by the chains."""

    def __init__(self, parts: Parts, judgments: Judgments, chains: int) -> None:
        self.parts, self.judgments = parts, judgments
        self.chains = [_Chain() for _ in range(chains)]

    def start(self, chain: int, choice: NDArray[np.int16]) -> Tally:
        """Counts under a given truth of each item."""
        return _tally(self.parts.add_up(remote.start, chain, own=choice))

    def draw(
        self,
        chain: int,
        iteration: int,
        prior: NDArray[np.int64],
        ratio: NDArray[np.int64],
        keep: float,
    ) -> Tally:
        """Draw every truth, and count under it."""
        state = self.chains[chain]
        # The caller goes on to use these arrays, and the draw may have to be made again.
        draw = Draw(chain, iteration, prior.copy(), ratio.copy(), keep, state.added)
        tally = _tally(self.parts.add_up(remote.draw, draw))
        if keep:
            state.added += 1
            state.draws.append(draw)
            if len(state.draws) >= _REMEMBERED:
                state.mean = self.mean(chain)
                state.draws = []
        return tally

    def restore(self, chain: int, mean: NDArray[np.float64]) -> None:
        """Go on from a mean of earlier: workers are behind it, and are sent it when it is asked."""
        state = self.chains[chain]
        state.mean, state.draws = mean, []
        state.added += 1

    def mean(self, chain: int) -> NDArray[np.float64]:
        """The posteriors that a chain added up."""
        state, scale = self.chains[chain], self.judgments.scale
        mean = np.empty((self.judgments.item_count, len(scale.truths)))
        given = (chain, state.draws, state.added)
        self.parts.collect(remote.mean, *given, into=(mean,), own=state.mean)
        return mean


def _tally(sums: tuple[NDArray[np.int64], ...]) -> Tally:
    counts, classes, switch = sums
    return Tally(counts=counts, classes=classes, switch=switch)
