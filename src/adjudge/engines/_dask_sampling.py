"""Gibbs sweeps on a Dask cluster: every process draws the truths of its own items.

Given the rates, items are independent, so that drawing them in parts is exact. The random number of
an item depends on (seed, chain, iteration, item) alone, and a draw on nothing else but the rates:
what a process that died had drawn can be drawn again, bit by bit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.engines._cluster import Connection, Placed
from adjudge.engines._pieces import Cuts
from adjudge.engines._remote import ChainMean, Draw, Past, Piece, Sampling, Start
from adjudge.engines.engine import Tally

_REMEMBERED = 64  # kept draws after which the sums so far are fetched, and draws forgotten


class _Story:
    """What is needed to bring a chain back in a part that was lost."""

    def __init__(self) -> None:
        self.sequence = -1
        self.choice: NDArray[np.int16] | None = None  # (item,)
        self.mean: NDArray[np.float64] | None = None  # (item, truth) as of the last fetch
        self.draws: list[Draw] = []  # kept since then


class DaskSampler:
    """Judgments in parts on a cluster, shared by the chains."""

    def __init__(
        self,
        connection: Connection,
        cuts: Cuts,
        *,
        seed: int,
        chains: int,
        pivot: NDArray[np.int16],  # (item,)
    ) -> None:
        self.cuts = cuts
        self.sampling = Sampling(seed, chains, pivot)
        self.stories = [_Story() for _ in range(chains)]
        self.placed = Placed(connection, len(cuts), self._piece, self._past)

    def _piece(self, number: int) -> Piece:
        pivot = self.sampling.pivot[self.cuts.items(number)]
        return self.cuts.piece(number, replace(self.sampling, pivot=pivot))

    def _past(self, number: int, chain: int) -> Past | None:
        """What the chain did in a part before the job that is asked now."""
        story, where = self.stories[chain], self.cuts.items(number)
        if story.choice is None or story.sequence < 0:
            return None
        return Past(
            chain,
            story.sequence,
            story.choice[where],
            None if story.mean is None else story.mean[where],
            tuple(story.draws),
        )

    def start(self, chain: int, choice: NDArray[np.int16]) -> Tally:
        """Counts under a given truth of each item."""
        story = self.stories[chain]
        story.choice = choice

        def own(number: int) -> NDArray[np.int16]:
            return choice[self.cuts.items(number)]

        sums = self.placed.ask(Start(chain), own=own, chain=chain)
        story.sequence = 0
        return _tally(sums)

    def draw(
        self,
        chain: int,
        iteration: int,
        prior: NDArray[np.int64],
        ratio: NDArray[np.int64],
        keep: float,
    ) -> Tally:
        """Draw every truth, and count under it."""
        story = self.stories[chain]
        # The caller works on in the same arrays, and this draw may have to be sent again.
        draw = Draw(chain, story.sequence + 1, iteration, prior.copy(), ratio.copy(), keep)
        sums = self.placed.ask(draw, chain=chain)
        story.sequence += 1
        if keep:
            story.draws.append(draw)
            if len(story.draws) >= _REMEMBERED:
                story.mean = self.mean(chain)
                story.draws.clear()
        return _tally(sums)

    def restore(self, chain: int, mean: NDArray[np.float64]) -> None:
        """Go on from posteriors that a chain added up before.

        The processes notice that they are behind at the next draw, and are then sent it.
        """
        story = self.stories[chain]
        story.mean = mean
        story.draws.clear()
        story.sequence += 1

    def mean(self, chain: int) -> NDArray[np.float64]:
        """The posteriors that a chain added up."""
        judgments = self.cuts.judgments
        whole = np.empty((judgments.item_count, len(judgments.scale.truths)))

        def take(number: int, rows: tuple[Any, ...]) -> None:
            whole[self.cuts.items(number)] = rows[0]

        self.placed.ask(ChainMean(chain, self.stories[chain].sequence), chain=chain, take=take)
        return whole


def _tally(sums: tuple[Any, ...]) -> Tally:
    # What came in a message is read-only, and the compiled loops know only one kind of array.
    counts, classes, switch = (np.require(part, requirements="W") for part in sums)
    return Tally(counts=counts, classes=classes, switch=switch)
