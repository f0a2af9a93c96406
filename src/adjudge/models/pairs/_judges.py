"""The table of judges of comparisons: skill, position bias, agreement with the ranking, verdict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import ndtri

from adjudge.data.comparisons import Comparisons
from adjudge.data.draws import PairDraws
from adjudge.data.judges import LEVEL
from adjudge.kernels import pairs as kernels
from adjudge.models.pairs._skill import HeldOutSkill

_Floats = NDArray[np.float64]
_TAIL = (1.0 - LEVEL) / 2
_FEW = 10  # comparisons below which nothing is said of a judge


def pair_judge_table(
    comparisons: Comparisons,
    score: _Floats,  # (item,)
    *,
    skill: HeldOutSkill | None = None,
    lean: _Floats | None = None,  # (judge,)
    lean_sd: _Floats | None = None,  # (judge,)
    samples: PairDraws | None = None,
) -> Any:
    """One row per judge: comparisons, agreement with the ranking, skill, position, ties, verdict.

    ``skill`` is how often a judge answers with the order that the other judges give rather than
    against it: .5 is a coin flip, 0 is the reverse order. It is null, and the verdict "unknown",
    where the other judges do not order the items that the judge compared. ``agreement`` is with the
    final ranking, to which the judge contributed. ``position`` is in log odds for what is shown
    first.
    """
    count, judge = comparisons.judge_count, comparisons.judge
    sums = np.zeros((count, 6), dtype=np.int64)
    answers = (comparisons.left, comparisons.right, comparisons.outcome, comparisons.shown_first)
    kernels.count_answers(*answers, judge, score, sums)
    total, decided, with_it, ties, known, chosen = sums.T
    with np.errstate(invalid="ignore"):
        agreed, even, share = with_it / decided, ties / total, chosen / known
    columns: dict[str, Any] = {
        "judge": comparisons.judges,
        "comparisons": total,
        "agreement": _nullable(agreed),
    }
    if skill is not None:
        named = {"skill": skill.value, "skill_low": skill.low, "skill_high": skill.high}
        columns |= {name: _nullable(values) for name, values in named.items()}
    if lean is not None:
        low, high = lean, lean
        if samples is not None and "lean" in samples.judge:
            flat = samples.judge["lean"].reshape(-1, count)
            low, high = np.quantile(flat, [_TAIL, 1.0 - _TAIL], axis=0)
        elif lean_sd is not None:
            low, high = lean + ndtri(_TAIL) * lean_sd, lean - ndtri(_TAIL) * lean_sd
        columns |= {"position": lean, "position_low": low, "position_high": high}
    columns |= {"first_chosen": _nullable(share), "tie_share": _nullable(even)}
    if skill is not None:
        columns["verdict"] = pa.array(_verdicts(total, skill), pa.large_string())
    return pa.table(columns)


def _verdicts(total: NDArray[np.int64], skill: HeldOutSkill) -> Any:
    """What the interval of each judge's skill says about them."""
    cases = {
        "too few": total < _FEW,
        "unknown": np.isnan(skill.value),
        "informative": skill.low > 0.5,
        "reversed": skill.high < 0.5,
    }
    return np.select(list(cases.values()), list(cases), "uninformative")


def _nullable(values: _Floats) -> Any:
    return pa.array(values, mask=np.isnan(values))
