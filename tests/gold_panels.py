"""A made panel with topics and its truth, small enough to be fitted in a moment."""

from __future__ import annotations

import numpy as np

from adjudge import Gold, Judgments, Scale
from adjudge.simulation import Crowd, Population

TOPICS = 12


def simulate_panel(items: int = 600, seed: int = 1) -> tuple[Judgments, Gold]:
    """Judgments on grades 0 < 1 < 2 by judges who err, in twelve topics, and the truth of all."""
    crowd = Crowd(
        items=items,
        population=Population.parse("skilled(6,4):12,spammer:3"),
        scale=Scale.parse("0<1<2"),
        per_item=4,
        topics=TOPICS,
    )
    made = crowd.make(seed)
    return made.judgments, made.truth


def drawn(gold: Gold, count: int, seed: int) -> Gold:
    """So many gold items at random."""
    mask = np.zeros(len(gold), dtype=np.bool_)
    mask[np.random.default_rng(seed).choice(len(gold), count, replace=False)] = True
    return gold.select(mask)
