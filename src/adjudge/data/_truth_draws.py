"""Truths of items drawn from a posterior: beside rates that chains kept, those of some draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import BadSetting
from adjudge.lazy import load

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus
    from adjudge.data.draws import Draws
    from adjudge.data.judgments import Judgments

_SMALLEST = 1e-300


def truths_for_arviz(consensus: Consensus, draws: Draws, truths: int, seed: int) -> Any:
    """So many draws a chain of the truth of every item, evenly over those kept, for ArviZ."""
    have = draws.prevalence.shape[1]
    if not 0 < truths <= have:
        raise BadSetting("truths", truths, f"a number from 1 to {have:,}, the draws kept")
    kept = np.arange(truths) * have // truths
    drawn = _draw_truths(consensus, draws, kept, seed)
    return load("xarray").Dataset(
        {"truth": (("chain", "draw", "item"), drawn)},
        coords={
            "chain": np.arange(len(drawn)),
            "draw": kept * draws.stride,
            "item": consensus.judgments.items.to_pylist(),
        },
        attrs={"truths": list(consensus.scale.truths)},
    )


def _repeats(judgments: Judgments) -> bool:
    """Whether a judge judged an item twice."""
    pairs = judgments.item.astype(np.int64) * judgments.judge_count + judgments.judge
    return len(np.unique(pairs)) < len(pairs)


def _draw_truths(
    consensus: Consensus, draws: Draws, kept: NDArray[np.int64], seed: int
) -> NDArray[np.int16]:  # (chain, kept draw, item)
    """The truth of every item in each of the draws ``kept``, of those of which there are rates.

    Given a draw of prevalence and confusion the truths of items are independent, and drawn from
    what their judgments say; gold is as it is known.
    """
    judgments = consensus.judgments
    if consensus.families is not None and (consensus.families.any or _repeats(judgments)):
        raise BadSetting(
            "truths",
            len(kept),
            "a fit in which every judgment counts whole (weigh_copies=False): here copies or "
            "repeats have one voice between them",
        )
    rng = np.random.default_rng(seed)
    item = judgments.item
    topic = np.zeros(judgments.item_count, dtype=np.int64)
    if draws.topics is not None and judgments.topic is not None:
        topic = judgments.topic.astype(np.int64)
    out = np.empty((draws.chains, len(kept), judgments.item_count), dtype=np.int16)
    for chain in range(draws.chains):
        for at, draw in enumerate(kept.tolist()):
            base = np.log(np.maximum(draws.prevalence[chain, draw].astype(np.float64), _SMALLEST))
            rates = np.log(np.maximum(draws.confusion[chain, draw].astype(np.float64), _SMALLEST))
            told = rates[judgments.judge, :, judgments.label]  # (judgment, truth)
            score = np.stack(
                [
                    base[topic, truth]
                    + np.bincount(item, told[:, truth], minlength=judgments.item_count)
                    for truth in range(base.shape[1])
                ],
                axis=1,
            )
            # The largest of scores with Gumbel noise is a draw in proportion to their exponentials.
            out[chain, at] = np.argmax(score + rng.gumbel(size=score.shape), axis=1)
    if consensus.known is not None:
        gold = consensus.known >= 0
        out[:, :, gold] = consensus.known[gold]
    return out
