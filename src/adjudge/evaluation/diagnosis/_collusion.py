"""Judges who agree more than expected: copies, collusion, one person with two names.

Given the truth, judges should err independently of one another. For two judges a and b and an item
that both judged, let q be its truth as its *other* judgments have it, so that two copiers cannot
vouch for each other, and

    P(y, y') = sum_k q(k) theta_a[k, y] theta_b[k, y']

the chance of their two labels. If instead one took over the other's label with chance c, it is

    (1 + c s) P(y, y'),   s = (P_a(y) + P_b(y)) / (2 P(y, y)) - 1 if y = y', else -1,

whichever of the two copied, as likely the one as the other. To agree on what neither says often,
a mistake most of all, is evidence of copying; to differ is evidence against it. No single agreement
counts more than tenfold, since the frequency of a rare label is not known well. The likelihood
ratio of copying to independence, averaged over c, has a mean of at most 1 for independent judges:
by Markov's inequality it reaches R with a probability of at most 1 / R, and that is the p-value,
for any number of items.

Judges err together on hard items, which the effective number of judges (n_eff) accounts for. So the
question is which pairs agree more than pairs of these judges usually do. With 50 pairs or more, the
c that fits all pairs together takes the place of independence, and if pairs spread wider than they
should, ratios are tempered to the same extent (an empirical null, in the sense of B. Efron 2004,
doi:10.1198/016214504000000089). With fewer pairs, the correlation behind n_eff takes its place: in
that share of cases, a pair of equally good judges whose errors correlate so makes the same error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import logsumexp

from adjudge.data.consensus import Consensus
from adjudge.data.judgments import Judgments
from adjudge.data.source import count_of
from adjudge.evaluation.agreement import pairs_of_judgments, without_repeats
from adjudge.evaluation.significance import adjust
from adjudge.kernels.fixed import SMALLEST

_LEAST_COMMON = 10  # items in common: of fewer, even perfect agreement is hardly evidence
_LEVEL = 0.05  # false discovery rate among reported pairs
_MOST_COMPARED = 5_000_000  # pairs of judgments that are compared: seconds, and half a GB
_ENOUGH = 50  # pairs of judges that show what pairs usually do
COPIED = np.linspace(0.1, 0.9, 9)  # shares of labels taken over that are tried
_MOST_TELLING = 10.0  # limit of one agreement's likelihood ratio
_MOST_USUAL = 0.5  # dependence above this is not explained by hard items
_SAMPLE = 200_000  # pairs of judgments that show the usual dependence
_BLOCK = 50_000  # pairs of judgments worked on at a time
_MAD = 1.4826  # median absolute deviation to sd, of a normal distribution
_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Meetings:
    """Every two judgments of one item by two judges with enough items in common."""

    first: _Ints  # (pair,) of judges
    second: _Ints  # (pair,)
    common: _Ints  # (pair,)
    pair: _Ints  # (meeting,)
    alike: NDArray[np.bool_]  # (meeting,)
    chance: _Floats  # (meeting,) that they are alike
    score: _Floats  # (meeting,) s
    mean: _Floats  # (meeting,) of s for judges who are independent: 0, or less if it is capped
    spread: _Floats  # (meeting,) its variance

    def total(self, values: _Floats) -> _Floats:  # (meeting,) -> (pair,)
        """Sum over the items of each pair."""
        sums = np.bincount(self.pair, weights=values, minlength=len(self.common))
        return np.asarray(sums, dtype=np.float64)


def find_pairs(
    consensus: Consensus, *, least: int = _LEAST_COMMON, level: float = _LEVEL
) -> tuple[Any, tuple[str, ...]]:
    """Return one row per pair of judges who agree more than expected, and notes.

    ``judge_a``, ``judge_b``, ``items`` in common, ``agreements``, ``expected`` if they were
    independent, ``copied``: the share of labels that seems copied, ``z``: how far the evidence is
    from that of other pairs, ``p``, ``p_adjusted`` for all pairs compared, ``group`` of connected
    judges, ``sentence``. The most certain pair is first.
    """
    judgments = without_repeats(consensus.judgments)
    items, left_out = _affordable(judgments)
    met = _meetings(consensus, judgments, items, least)
    notes: list[str] = []
    if left_out:
        notes.append(
            f"the check for copying left out the {count_of(left_out, 'item')} with most judgments: "
            f"more than {_MOST_COMPARED:,} pairs of judgments are too many"
        )
    pairs = len(met.common)
    if not pairs:
        notes.append(f"no two judges have {least:,} items in common: copying cannot be checked")
    usual = _usual(met) if pairs >= _ENOUGH else min(consensus.correlation or 0.0, _MOST_USUAL)
    z = _distance(met, usual)
    scale = 1.0
    if pairs >= _ENOUGH:
        z -= np.median(z)
        scale = max(1.0, _MAD * float(np.median(np.abs(z))))
    copied, p = _test_copying(met, usual, scale)
    found = _table(consensus, met, copied, z / scale, p, level)
    if pairs:
        known = pairs >= _ENOUGH or consensus.correlation is not None
        notes.append(_story(pairs, len(found), least, usual=known))
    return found, tuple(notes)


def _story(pairs: int, found: int, least: int, *, usual: bool) -> str:
    """Describe what was compared, and with what."""
    expected = "pairs of these judges usually do" if usual else "independent judges would"
    return (
        f"{count_of(pairs, 'pair')} of judges with {count_of(least, 'item')} or more in common "
        f"{'was' if pairs == 1 else 'were'} compared: {found:,} "
        f"{'agrees' if found == 1 else 'agree'} more than {expected}"
    )


def _affordable(judgments: Judgments) -> tuple[NDArray[np.bool_], int]:
    """Choose the items to compare, those with fewest judgments first; count the others."""
    size = judgments.counts_per_item
    pairs = size * (size - 1) // 2
    if int(pairs.sum()) <= _MOST_COMPARED:
        return np.ones(len(size), dtype=np.bool_), 0
    order = np.argsort(pairs, kind="stable")
    kept = np.empty(len(size), dtype=np.bool_)
    kept[order] = np.cumsum(pairs[order]) <= _MOST_COMPARED
    return kept, int((~kept).sum())


def _meetings(
    consensus: Consensus, judgments: Judgments, items: NDArray[np.bool_], least: int
) -> _Meetings:
    """Pair the judgments of each item, of judges with enough items in common."""
    size = np.where(items, judgments.counts_per_item, 0)
    place = np.flatnonzero(items[judgments.item])  # of the judgments that are compared
    left, right = pairs_of_judgments(size, np.append(0, np.cumsum(size)))
    judge = judgments.judge[place].astype(np.int64)
    a, b = judge[left], judge[right]
    key = np.minimum(a, b) * judgments.judge_count + np.maximum(a, b)
    names, pair, common = np.unique(key, return_inverse=True, return_counts=True)
    enough = common >= least
    kept = np.flatnonzero(enough[pair])
    first, second = np.divmod(names[enough], max(judgments.judge_count, 1))
    one, two = place[left[kept]], place[right[kept]]
    alike = judgments.label[one] == judgments.label[two]
    scores = _scores(consensus, judgments, one, two)
    pair = (np.cumsum(enough) - 1)[pair[kept]]
    return _Meetings(first, second, common[enough], pair, alike, *scores)


def _scores(
    consensus: Consensus, judgments: Judgments, one: _Ints, two: _Ints
) -> tuple[_Floats, _Floats, _Floats, _Floats]:  # (meeting,) each
    """Return the probability that two judgments agree, their score s, its mean and variance."""
    theta = np.broadcast_to(
        consensus.confusion, (judgments.judge_count, *consensus.confusion.shape[1:])
    )
    theta = np.maximum(theta, SMALLEST)
    logs = np.log(theta)  # (judge, truth, label)
    evidence = _evidence_of(consensus, judgments, logs)
    item = judgments.item
    chance, score, mean, spread = (np.empty(len(one)) for _ in range(4))
    for start in range(0, len(one), _BLOCK):
        part = slice(start, start + _BLOCK)
        a, b = judgments.judge[one[part]], judgments.judge[two[part]]
        label, other = judgments.label[one[part]], judgments.label[two[part]]
        belief = evidence[item[one[part]]]
        belief -= logs[a, :, label]
        belief -= logs[b, :, other]
        belief -= belief.max(axis=1, keepdims=True)
        np.exp(belief, out=belief)
        belief /= belief.sum(axis=1, keepdims=True)
        if consensus.known is not None:
            known = consensus.known[item[one[part]]]
            belief[known >= 0] = np.eye(belief.shape[1])[known[known >= 0]]
        first, second = theta[a], theta[b]  # (meeting, truth, label)
        alone = 0.5 * np.einsum("pk,pkl->pl", belief, first + second)  # by one or the other
        both = np.einsum("pk,pkl,pkl->pl", belief, first, second)
        chance[part] = both.sum(axis=1)
        weight = np.minimum(alone / both, _MOST_TELLING)  # (meeting, label)
        here = weight[np.arange(len(label)), label]
        score[part] = np.where(label == other, here, 0.0) - 1.0
        expected = (both * weight).sum(axis=1)
        mean[part] = expected - 1.0
        spread[part] = (both * weight**2).sum(axis=1) - expected**2
    return chance, score, mean, spread


def _evidence_of(
    consensus: Consensus,
    judgments: Judgments,
    logs: _Floats,  # (judge, truth, label)
) -> _Floats:  # (item, truth)
    """Return the log-probability of each truth and the item's judgments together."""
    prevalence = np.log(np.maximum(consensus.prevalence, SMALLEST))
    row: Any = 0
    if len(prevalence) > 1 and judgments.topic is not None:
        row = judgments.topic
    evidence = np.empty((judgments.item_count, logs.shape[1]))
    evidence[:] = prevalence[row]
    item = judgments.item
    for truth in range(logs.shape[1]):
        weight = logs[judgments.judge, truth, judgments.label]
        evidence[:, truth] += np.bincount(item, weights=weight, minlength=len(evidence))
    return evidence


def _usual(met: _Meetings) -> float:
    """Return the share of copying with the highest likelihood over all pairs."""
    step = max(1, len(met.score) // _SAMPLE)
    score = met.score[::step]
    beyond = score - met.mean[::step]

    def slope(share: float) -> float:  # it falls: the likelihood is concave
        return float((beyond / (1.0 + share * score)).sum())

    if slope(0.0) <= 0 or slope(_MOST_USUAL) >= 0:
        return 0.0 if slope(0.0) <= 0 else _MOST_USUAL
    return float(brentq(slope, 0.0, _MOST_USUAL))


def _distance(met: _Meetings, usual: float) -> _Floats:  # (pair,)
    """Return how far the scores of each pair are from the usual, in standard deviations."""
    spread = met.total(met.spread)
    flat = spread < 1e-9
    gap = met.total(met.score - met.mean) - usual * spread
    return np.asarray(np.where(flat, 0.0, gap / np.sqrt(np.where(flat, 1.0, spread))))


def _test_copying(
    met: _Meetings, usual: float, scale: float
) -> tuple[_Floats, _Floats]:  # (pair,) each
    """Return the share that seems copied, and the p-value of no more copying than usual."""
    base = np.log1p(usual * met.score)
    tried = COPIED[usual < COPIED]
    ratios = np.stack([met.total(np.log1p(share * met.score) - base) for share in tried])
    total = logsumexp(ratios, axis=0)
    copied = np.einsum("c,cp->p", tried, np.exp(ratios - total))
    evidence = logsumexp(ratios / scale**2, axis=0) - np.log(len(tried))
    return copied, np.exp(-np.maximum(evidence, 0.0))


def _table(
    consensus: Consensus, met: _Meetings, copied: _Floats, z: _Floats, p: _Floats, level: float
) -> Any:
    """Return the pairs at or below the level, by p and then by z."""
    fair = adjust(p)
    chosen = np.flatnonzero(fair <= level)
    chosen = chosen[np.lexsort((-z[chosen], p[chosen]))]
    names = consensus.judgments.judges
    first, second, common = met.first[chosen], met.second[chosen], met.common[chosen]
    alike = met.total(met.alike.astype(np.float64))[chosen]
    expected = met.total(met.chance)[chosen]
    rows = zip(common.tolist(), alike.tolist(), expected.tolist(), strict=True)
    sentences = [
        f"they agree on {hits:,.0f} of {count_of(items, 'item')}, where {due:,.1f} were expected"
        for items, hits, due in rows
    ]
    return pa.table(
        {
            "judge_a": names.take(pa.array(first)),
            "judge_b": names.take(pa.array(second)),
            "items": pa.array(common),
            "agreements": pa.array(alike.astype(np.int64)),
            "expected": pa.array(expected),
            "copied": pa.array(copied[chosen]),
            "z": pa.array(z[chosen]),
            "p": pa.array(p[chosen]),
            "p_adjusted": pa.array(fair[chosen]),
            "group": pa.array(_groups(first, second)),
            "sentence": pa.array(sentences, pa.large_string()),
        }
    )


def _groups(first: _Ints, second: _Ints) -> _Ints:  # (pair,)
    """Number the group that each pair belongs to, by order of appearance, from 1."""
    if not len(first):
        return first
    judges, code = np.unique(np.concatenate([first, second]), return_inverse=True)
    one, two = code[: len(first)], code[len(first) :]
    edges = csr_array((np.ones(len(one)), (one, two)), shape=(len(judges),) * 2)
    _, part = connected_components(edges, directed=False)
    _, where, group = np.unique(part[one], return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(where))[group] + 1)
