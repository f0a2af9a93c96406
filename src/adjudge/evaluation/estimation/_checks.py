"""What can be wrong with gold: none, too little, of one class, or not drawn at random."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adjudge.data.gold import Gold
from adjudge.data.source import count_of
from adjudge.errors import BadData
from adjudge.evaluation.estimation._sampling import Sample
from adjudge.evaluation.estimation._targets import Target

_Floats = NDArray[np.float64]
_FEWEST = 10  # gold items below which there is no estimate
_FEW = 50  # below which a warning is given
_RARE = 5  # gold items of a kind below which a warning is given
_ODD, _STRANGE = 3.0, 4.5  # standard errors from a random draw: a warning, a refusal


def check_size(target: Target, sample: Sample, source: str) -> list[str]:
    """Complain of too little gold for a target; warn where it is just enough."""
    if len(sample) < _FEWEST:
        raise BadData(
            f"{count_of(len(sample), 'gold label', 'is', 'are')} too few for an interval on "
            f"{target.name}; wanted at "
            f"least {_FEWEST}, better {_FEW}",
            source=source,
        )
    said = []
    of_one = target.bounds[0] >= 0
    if target.is_normalised and of_one and not sample.drawn and len(sample) < len(target.item):
        said.append(
            f"{target.name} is divided by what the best ranking could have, which is believed more "
            "than seen: the interval may be too narrow, and that of a difference of two runs, or "
            "of items drawn for this target, is better"
        )
    if len(sample) < _FEW:
        said.append(f"{len(sample)} gold labels are few: the interval holds only roughly")
    kinds = target.strata()
    if kinds is not None and not sample.drawn:
        counted = int(kinds[sample.item].sum())
        places = f"of the {int(kinds.sum()):,} documents in places that count"
        if counted < 3:
            raise BadData(
                f"{counted} {places} {'has' if counted == 1 else 'have'} gold; wanted at "
                f"least 3, better 30: label some of them, drawn for "
                "this target",
                source=source,
            )
        if counted < 20:
            said.append(f"only {counted} {places} have gold: the interval rests on these")
    return said


def check_rarity(adds: _Floats, sample: Sample) -> list[str]:  # (member, truth)
    """A warning where nearly all gold items add the same to a share."""
    values = adds[sample.item, sample.truth]
    if len(np.unique(adds)) > 2:
        return []
    common = int(np.unique(values, return_counts=True)[1].max())
    if len(values) - common >= _RARE:
        return []
    return [
        f"all gold labels but {len(values) - common} are of one kind: the interval holds only "
        "roughly, and is likely too narrow"
    ]


def check_random(
    posterior: _Floats,  # (member, truth) made without gold
    adds: _Floats,  # (member, truth)
    sample: Sample,
    gold: Gold,
    *,
    assured: bool,
) -> list[str]:
    """Whether gold looks like the draw that it is taken for, by what judges say of its items.

    Drawn at random, gold items are believed to be what all items are, but for chance. Drawn with
    chances that differ, what they are believed to add stands for what all are believed to.
    """
    said = []
    if gold.honeypot is not None and gold.honeypot.any():
        said.append("gold has honeypots, which were chosen and not drawn: leave them out")
    if sample.drawn:
        worst = _apart(np.einsum("ik,ik->i", posterior, adds), sample)
        if worst >= _ODD:
            said.append(
                f"gold does not look drawn with the chances it names ({worst:.1f} standard errors "
                "from what they promise): the interval holds only if that is chance"
            )
        return said
    each = [_unlike(posterior[:, k], sample) for k in range(posterior.shape[1])]
    truth, worst = int(np.argmax(each)), max(each)
    if worst < _ODD:
        return said
    drawn = float(posterior[sample.item, truth].mean())
    told = (
        f"gold was not drawn at random: judges expect truth {truth + 1} on the scale of "
        f"{drawn:.0%} of its items and of {posterior[:, truth].mean():.0%} of all "
        f"({worst:.1f} standard errors)"
    )
    if worst >= _STRANGE and not assured:
        raise BadData(
            f"{told}; wanted a random draw, or a column sampling_probability; the setting "
            "sampled = random takes it for one all the same",
            source=gold.source,
        )
    return [*said, f"{told}: the interval holds only if that is chance"]


def _unlike(values: _Floats, sample: Sample) -> float:  # (member,)
    """How far the mean of the sample is from that of all items, in standard errors.

    By the spread of all items, which is known: a few gold items of a stratum do not show it.
    """
    weight = 1.0 / sample.chance
    mean = float((weight * values[sample.item]).sum() / weight.sum())
    variance = float(values.var(ddof=1)) * (1 / len(sample) - 1 / len(values))
    return float(abs(mean - values.mean()) / np.sqrt(variance)) if variance > 1e-15 else 0.0


def _apart(values: _Floats, sample: Sample) -> float:  # (member,)
    """How far the total of the sample is from that of all items, in standard errors."""
    shares = np.full(sample.rounds, 1 / sample.rounds)
    variance, _ = sample.variance(values[sample.item], shares)
    apart = abs(float((sample.weights(shares) * values[sample.item]).sum() - values.sum()))
    least = 1e-12 * float((values**2).sum()) * len(values)
    return float(apart / np.sqrt(variance)) if variance > least else 0.0
