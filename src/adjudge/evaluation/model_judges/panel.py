"""What a panel of judges is worth: who agrees with whom, how many count, and which few suffice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Families
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.evaluation.agreement import pairs_of_judgments
from adjudge.evaluation.diagnosis.families import FamilySummary
from adjudge.evaluation.diagnosis.next_judges import FewJudges, find_few_judges
from adjudge.evaluation.estimation._sampling import align_judged
from adjudge.evaluation.scores import Score, jeffreys, tabulate
from adjudge.models.cross_calibration import CrossFit
from adjudge.models.dependence import measure_dependence
from adjudge.models.registry import DEFAULT
from adjudge.models.registry import model as build_model

LEAST_GOLD = 50
_MOST_PAIRS = 20_000_000  # of judgments that are compared: about 1 GB
_LEVEL = 0.95
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """How far a judge, or all people, agree with others on the items that both judged."""

    judge: str  # empty: people
    others: str  # people, own family or other judges
    pairs: int  # of judgments
    same: float  # share of pairs with one label
    kappa: float  # the same with chance taken off


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelWorth:
    """What several judges together are worth."""

    judges: int
    effective: float  # number of independent judges
    effective_low: float
    effective_high: float
    best: str  # the most accurate judge
    best_accuracy: Score
    panel_accuracy: Score  # of the labels that all judges together give, without gold
    corrected_accuracy: Score  # the same calibrated by gold, across folds
    few: FewJudges | None  # judges that do as well as all, where half of them or fewer do


def measure_company(
    judgments: Judgments,
    people: NDArray[np.bool_],  # (judge,)
    family: NDArray[np.int64],  # (judge,)
) -> tuple[Company, ...]:
    """Measure every LLM judge's agreement with people, its own family and other judges."""
    size = judgments.counts_per_item
    if int((size * (size - 1) // 2).sum()) > _MOST_PAIRS:
        return ()
    left, right = pairs_of_judgments(size, judgments.offsets)
    known = judgments.judge[left] != judgments.judge[right]  # samples of one judge are no company
    left, right = left[known], right[known]
    judges = judgments.judge_count
    first, second = np.concatenate([left, right]), np.concatenate([right, left])
    a, b = judgments.judge[first], judgments.judge[second]
    kin = np.where(people[b], 0, np.where(family[a] == family[b], 1, 2))
    row = np.where(people[a], judges, a).astype(np.int64) * 3 + kin
    names = ["" if at == judges else judgments.judges[at].as_py() for at in range(judges + 1)]
    shape = ((judges + 1) * 3, len(judgments.scale.labels))
    margins = [
        tabulate(shape, row, judgments.label[side]).astype(np.float64) for side in (first, second)
    ]
    pairs = np.bincount(row, minlength=shape[0]).astype(np.float64)
    alike = np.bincount(
        row, weights=judgments.label[first] == judgments.label[second], minlength=shape[0]
    )
    found = []
    for at in np.flatnonzero(pairs).tolist():
        judge, other = divmod(at, 3)
        if judge == judges and other:  # people and LLM judges are counted from the judges' side
            continue
        many = float(pairs[at])
        same, chance = float(alike[at]) / many, float(margins[0][at] @ margins[1][at]) / many**2
        found.append(
            Company(
                judge=names[judge],
                others=("people", "own family", "other judges")[other],
                pairs=int(many) // (2 if judge == judges else 1),
                same=same,
                kappa=(same - chance) / (1 - chance) if chance < 1 else float("nan"),
            )
        )
    return tuple(found)


def measure_worth(judgments: Judgments, gold: Gold | None, *, seed: int = 0) -> PanelWorth | None:
    """Measure what the judges of one panel are worth together; None without gold."""
    known = align_judged(gold, judgments)
    if gold is None or int((known >= 0).sum()) < LEAST_GOLD or judgments.judge_count < 2:
        return None
    consensus = build_model(DEFAULT, seed=seed).fit(judgments)
    families = consensus.families or Families.none(judgments.judge_count)
    dependence = measure_dependence(judgments, known, families)
    effective = FamilySummary(consensus)
    many = float(families.effective_judges()) if effective.judgments > 1 else 1.0
    ends = [many] * 3
    if dependence is not None:
        rates = dependence.correlation, dependence.high, dependence.low
        ends = [many / (1 + (many - 1) * rate) for rate in rates]
    scored = np.flatnonzero(known >= 0)
    beliefs = CrossFit.of(consensus).beliefs(known, folds=5, seed=seed)
    has = known[judgments.item] >= 0
    judge = judgments.judge[has]
    right = judgments.scale.stands[known[judgments.item[has]], judgments.label[has]]
    times = np.bincount(judge, minlength=judgments.judge_count)
    hits = np.bincount(judge, weights=right, minlength=judgments.judge_count)
    best = int(np.argmax((hits + 1) / (times + 2)))  # few gold items count as little
    return PanelWorth(
        judges=judgments.judge_count,
        effective=ends[0],
        effective_low=ends[1],
        effective_high=ends[2],
        best=judgments.judges[best].as_py(),
        best_accuracy=_accuracy(right[judge == best]),
        panel_accuracy=_accuracy(consensus.choice[scored] == known[scored]),
        corrected_accuracy=_accuracy(beliefs[scored].argmax(axis=1) == known[scored]),
        few=find_few_judges(judgments, known, seed=seed),
    )


def _accuracy(right: NDArray[np.bool_]) -> Score:
    low, high = jeffreys(right.sum(), len(right), _LEVEL)
    value = float(right.mean()) if len(right) else float("nan")
    return Score(name="accuracy", value=value, low=float(low), high=float(high))
