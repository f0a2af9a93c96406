"""Numbers from an LLM judge's labels, corrected by gold, and where that correction is not valid.

Each target (a share, the mean grade, a measure of runs) is given three times: naive, from the
judge's labels as they are; from gold alone; and corrected, by prediction-powered inference (see
``estimation``). What the judge's labels are worth is learnt from gold across folds, per label:

    P(truth = k | label = l) = (gold items with k and l + prior) / (gold items with l + 1)

Before a correction counts for a slice of the items (a system, a topic), the transport check asks
whether the judge errs there as elsewhere. Within each true class the mean error of its labels is
compared between the slice and all other items; the squares add up to a chi-squared statistic, and
the false discovery rate is controlled over slices. A slice is refused where errors differ beyond
chance, and where it has too little gold to see, with probability 0.95, a shift of 0.15 in the error
of any class that makes up a quarter of the gold. Items to label are then drawn at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2

from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.runs import Run
from adjudge.data.scale import Scale
from adjudge.data.source import count_of
from adjudge.errors import BadData
from adjudge.evaluation.estimation._targets import PLAIN
from adjudge.evaluation.estimation.estimate import Plan, estimate_from
from adjudge.evaluation.model_judges.answers import Groups
from adjudge.evaluation.scores import tabulate
from adjudge.evaluation.significance import adjust
from adjudge.models.cross_calibration import CrossFit
from adjudge.models.majority_vote import MajorityVote

LEAST_GOLD = 50  # for a corrected number of all items
NOT_RANDOM = "gold-not-random"  # code of the error
SHIFT = 0.15  # of the error in a class, which the transport check has to see
_MATERIAL = 0.25  # share of gold from which a class matters to a corrected number
_POWER, _LEVEL = 0.95, 0.95
_MOST_NEEDED = 2000
_FEWEST = 5  # gold items of a class, in the slice and elsewhere, that can be compared
_NAN = float("nan")
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """A target from one judge's labels on all items or on a slice: naive, corrected, gold alone."""

    judge: str
    slice: str  # empty: all items
    target: str
    naive: float
    estimate: float = _NAN
    low: float = _NAN
    high: float = _NAN
    gold_only: float = _NAN
    gold_low: float = _NAN
    gold_high: float = _NAN
    gold: int = 0
    items: int = 0
    refused: str = ""  # why the corrected number is not valid
    code: str = ""  # of the error behind that

    @property
    def valid(self) -> bool:
        """Whether the corrected number may be used."""
        return not self.refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Transport:
    """Whether a judge errs on a slice as on all other items."""

    judge: str
    slice: str
    items: int
    gold: int
    needs: int  # gold items
    p_adjusted: float  # that errors differ by chance; NaN where nothing can be compared
    to_label: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether errors differ beyond chance."""
        return self.p_adjusted <= 1 - _LEVEL

    @property
    def refused(self) -> str:
        """Why a correction is not valid here, and what to do; empty if it is valid."""
        reasons = []
        if self.differs:
            reasons.append(f"errors differ from those elsewhere (adjusted p {self.p_adjusted:.2g})")
        if self.gold < self.needs:
            reasons.append(
                f"label {count_of(self.needs - self.gold, 'item')} of slice {self.slice}"
            )
        elif self.differs:
            reasons.append(f"audit slice {self.slice} on its own")
        return "; ".join(reasons)


def is_plain(target: str) -> bool:
    """Whether a target needs no runs."""
    return target.partition(":")[0] in PLAIN


def default_targets(scale: Scale, *, runs: bool = False) -> tuple[str, ...]:
    """Return the usual targets for a scale, and for runs."""
    found = ["share"] if scale.truth_relevant is not None else []
    if not found and len(scale.truths) > 1 and not scale.ordinal:
        found = [f"share:{truth}" for truth in scale.truths]
    found += ["mean-grade"] if scale.ordinal and len(scale.truths) > 2 else []
    return (*found, "nDCG@10") if runs else tuple(found)


def correct_targets(
    judgments: Judgments,  # of one judge
    gold: Gold,
    targets: Sequence[str],
    runs: Sequence[Run] = (),
    *,
    slice: str = "",
    beliefs: _Floats | None = None,
    seed: int = 0,
) -> list[Corrected]:
    """Estimate targets from the labels of one judge: naive, corrected and from gold alone.

    ``beliefs`` (item, truth) are what its labels are worth, where other items show that too.
    """
    consensus = MajorityVote(seed=seed).fit(judgments)
    fit, plan = CrossFit.of(consensus), Plan(seed=seed)
    known = gold.align(judgments)
    if beliefs is None:
        beliefs = learn_beliefs(consensus.judgments, known, seed=seed)
    found = []
    for name in targets:
        judge = str(judgments.judges[0].as_py())
        target = plan.target(name, consensus, runs)
        naive = target.expand(np.asarray(consensus.posterior)[target.item], None).value
        common: dict[str, Any] = {"judge": judge, "slice": slice, "target": target.name}
        common |= {"naive": naive, "gold": int((known >= 0).sum()), "items": len(known)}
        try:
            one = estimate_from(fit, gold, name, runs, plan, beliefs)
        except BadData as fault:
            found.append(Corrected(**common, refused=fault.sentence, code=fault.code))
            continue
        found.append(
            Corrected(
                **common,
                estimate=one.estimate,
                low=one.low,
                high=one.high,
                gold_only=one.classical,
                gold_low=one.classical_low,
                gold_high=one.classical_high,
            )
        )
    return found


def learn_beliefs(
    judgments: Judgments, known: NDArray[np.int16], *, folds: int = 5, seed: int = 0
) -> _Floats:  # (item, truth)
    """Return the probabilities of each item's truth by one judge's labels, without its own gold."""
    labels, truths = len(judgments.scale.labels), len(judgments.scale.truths)
    item, label = judgments.item.astype(np.int64), judgments.label.astype(np.int64)
    gold = np.flatnonzero(known >= 0)
    fold = np.full(len(known), -1, dtype=np.int64)
    fold[gold] = np.random.default_rng([seed, len(gold)]).permutation(len(gold)) % folds
    has = known[item] >= 0
    share = 1.0 / judgments.counts_per_item[item]
    codes = fold[item[has]], label[has], known[item[has]]
    counts = tabulate((folds, labels, truths), *codes, weights=share[has])
    total = counts.sum(axis=0)
    tables = np.concatenate([total - counts, total[None]])  # the last for items without gold
    overall = tables.sum(axis=1, keepdims=True) + 0.5
    prior = overall / overall.sum(axis=2, keepdims=True)
    worth = (tables + prior) / (tables.sum(axis=2, keepdims=True) + 1.0)
    each = worth[fold[item], label] * share[:, None]
    columns = [np.bincount(item, weights=part, minlength=len(known)) for part in each.T]
    return np.column_stack(columns)


def check_transport(
    judgments: Judgments,  # of one judge
    known: NDArray[np.int16],  # (item,)
    slices: Groups,
    *,
    seed: int = 0,
) -> list[Transport]:
    """Check for every slice whether the judge errs there as on all other items.

    A slice whose errors differ is left out of the items that the next slices are compared with.
    """
    names, code = slices
    error, truths = _errors(judgments, known), len(judgments.scale.truths)
    gold = np.flatnonzero(known >= 0)
    error, truth, where = error[gold], known[gold].astype(np.int64), code[gold]
    left = np.unique(code[code >= 0]).tolist()
    many = len(left) if len(left) > 2 else 1  # two slices have one difference
    found: dict[int, tuple[float, int]] = {}
    while left:
        kept = np.isin(where, left) | (where < 0)
        rows = [_compare(error[kept], truth[kept], where[kept] == at, truths, many) for at in left]
        p = adjust(np.array([1.0 if np.isnan(row[0]) else row[0] for row in rows]))
        worst = int(p.argmin())
        done = [worst] if p[worst] <= 1 - _LEVEL and len(left) > 2 else range(len(left))
        for at in done:
            found[left[at]] = _NAN if np.isnan(rows[at][0]) else float(p[at]), rows[at][1]
        left = [at for at in left if at not in found]
    random = np.random.default_rng([seed, 29])
    checked = []
    for at in sorted(found):
        inside, have = code == at, int((where == at).sum())
        items = int(inside.sum())
        needs = min(found[at][1], items)
        open_ = random.permutation(np.flatnonzero(inside & (known < 0)))
        drawn = np.sort(open_[: max(needs - have, 0)])
        checked.append(
            Transport(
                judge=str(judgments.judges[0].as_py()),
                slice=names[at],
                items=items,
                gold=have,
                needs=needs,
                p_adjusted=found[at][0],
                to_label=tuple(judgments.items.take(pa.array(drawn)).to_pylist()),
            )
        )
    return checked


def _errors(judgments: Judgments, known: NDArray[np.int16]) -> _Floats:  # (item,)
    """Return by how much labels are above gold, as a share of the range; of classes, whether off.

    NaN where there is no gold.
    """
    scale, item = judgments.scale, judgments.item
    truth = np.maximum(known[item], 0)
    if scale.ordinal or len(scale.labels) == 2:
        reach = max(float(np.ptp(scale.values)), 1e-9)
        off = (scale.values[judgments.label] - scale.truth_values[truth]) / reach
    else:
        off = (~scale.stands[truth, judgments.label]).astype(np.float64)
    mean = np.bincount(item, weights=off, minlength=len(known))
    return np.where(known >= 0, mean / np.maximum(judgments.counts_per_item, 1), np.nan)


def _compare(
    error: _Floats, truth: NDArray[np.int64], here: NDArray[np.bool_], truths: int, slices: int
) -> tuple[float, int]:
    """Return the p-value that errors are alike here and elsewhere, and how much gold it needs."""
    total, classes = 0.0, 0
    for at in range(truths):
        own = truth == at
        inside, outside = error[own & here], error[own & ~here]
        spread = float(error[own].var()) if own.any() else 0.0
        if min(len(inside), len(outside)) < _FEWEST or not spread > 0:
            continue
        variance = spread * (1 / len(inside) + 1 / len(outside))
        total += float(inside.mean() - outside.mean()) ** 2 / variance
        classes += 1
    freedom = max(classes, min(truths, 2))
    shares = np.bincount(truth, minlength=truths) / len(truth)
    needs = 0
    for at in np.flatnonzero(shares >= min(_MATERIAL, shares.max())).tolist():
        outside = error[(truth == at) & ~here]
        rate = round(float(np.abs(outside).mean()), 3) if len(outside) else 0.0
        needed = _count_needed(rate, len(outside), freedom, slices)
        needs = max(needs, int(np.ceil(needed / shares[at])))
    return float(chi2.sf(total, classes)) if classes else _NAN, needs


@cache
def _count_needed(rate: float, outside: int, freedom: int, slices: int) -> int:
    """Return the items of a class that show a shift of its error rate, given those elsewhere."""
    inside = np.arange(_FEWEST, _MOST_NEEDED)
    others = np.maximum(outside, inside)  # where there are fewer, others are labelled too
    moved = min(rate + SHIFT, 0.5)
    parts = inside * moved * (1 - moved) + others * rate * (1 - rate)
    variance = parts / (inside + others) * (1 / inside + 1 / others)
    enough = SHIFT**2 / variance >= _noncentrality(freedom, slices)
    return int(inside[enough.argmax()]) if enough.any() else _MOST_NEEDED


@cache
def _noncentrality(freedom: int, slices: int) -> float:
    """Return how far a chi-squared statistic has to be off to be found with the power asked for.

    The level is shared among the slices, since one of them alone may differ.
    """
    cut = chi2.isf((1 - _LEVEL) / slices, freedom)
    return float(brentq(lambda away: ncx2.sf(cut, freedom, away) - _POWER, 0.1, 200))
