"""Biases of LLM judges: position, length, and outputs of the judge's own family.

Each judge's labels, as a share of the range of grades, are regressed on what the items deserve (the
gold grade, or the mean label of the other judges where there is no gold) and on three things that
should not matter:

    label ~ deserved + position + length + own family

A judge with enough gold is measured on gold alone. Position runs from 0 (first) to 1 (last), length
counts in standard deviations, own family is 1 for outputs of a system of the judge's own family.
Standard errors are robust and clustered by item (HC3: MacKinnon and White 1985,
doi:10.1016/0304-4076(85)90158-7). The false discovery rate is controlled over all judges and kinds
of bias, so that an audit of unbiased judges finds nothing 95 times of 100.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from adjudge.data.model_answers import ModelAnswers
from adjudge.data.scale import as_number
from adjudge.data.source import count_of
from adjudge.evaluation.significance import adjust

LEAST_JUDGMENTS = 100  # with gold or judged by others too
_LEVEL = 0.95
_WORDS = {
    ("position", True): "rates what comes last higher than what comes first",
    ("position", False): "rates what comes first higher than what comes last",
    ("length", True): "rates long texts too high",
    ("length", False): "rates long texts too low",
    ("own family", True): "favours outputs of its own family",
    ("own family", False): "disfavours outputs of its own family",
}
_PER = {"position": "", "length": " per standard deviation", "own family": ""}
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bias:
    """What one thing adds to a judge's labels beyond what the items deserve."""

    judge: str
    what: str  # position, length or own family
    judgments: int
    effect: float  # share of the range of grades
    low: float
    high: float
    p: float
    p_adjusted: float = float("nan")

    @property
    def found(self) -> bool:
        """Whether it is there beyond chance."""
        return self.p_adjusted <= 1 - _LEVEL

    @property
    def sentence(self) -> str:
        """The bias in words."""
        return (
            f"{self.judge} {_WORDS[self.what, self.effect > 0]}: {self.effect:+.2f} of the range "
            f"of grades{_PER[self.what]} ({self.low:+.2f} to {self.high:+.2f}), over "
            f"{count_of(self.judgments, 'judgment')}."
        )


def find_biases(
    answers: ModelAnswers,
    known: NDArray[np.int16],  # (item,)
    judged: NDArray[np.bool_],  # (judge,) the judges in question
) -> tuple[tuple[Bias, ...], tuple[str, ...]]:
    """Measure every bias of every judge, and name the causes that the answers have columns for."""
    scale = answers.judgments.scale
    graded = scale.ordinal or len(scale.labels) == 2
    if not graded and any(as_number(label) is None for label in scale.labels):
        return (), ()
    causes = dict(_causes(answers))
    found: list[Bias] = []
    value, deserved = _deserved(answers, known)
    for judge in np.flatnonzero(judged):
        own = np.flatnonzero(answers.judgments.judge == judge)
        found += _biases_of(answers, int(judge), own, value[own], deserved[own], causes)
    p = adjust(np.array([one.p for one in found]))
    corrected = [replace(one, p_adjusted=float(q)) for one, q in zip(found, p, strict=True)]
    return tuple(corrected), tuple(causes)


def _causes(answers: ModelAnswers) -> Iterator[tuple[str, _Floats]]:  # (judgment,)
    """Yield what should not matter, for each judgment; NaN where it is not known."""
    judgments = answers.judgments
    if answers.position is not None:
        place = answers.position - np.nanmin(answers.position)
        yield "position", place / max(float(np.nanmax(place)), 1.0)
    if answers.length is not None:
        spread = float(np.nanstd(answers.length))
        yield "length", answers.length[judgments.item] / (spread if spread > 0 else 1.0)
    if answers.system is not None:
        families = {family_of(name): code for code, name in enumerate(answers.system_names)}
        code = {name: families[family_of(name)] for name in answers.system_names}
        of_system = np.array([code[name] for name in answers.system_names] + [-1])[answers.system]
        own = [families.get(name, -2) for name in families_of_judges(answers)]
        mine = of_system[judgments.item] == np.array(own)[judgments.judge]
        if mine.any():
            yield "own family", np.where(of_system[judgments.item] < 0, np.nan, mine)


def families_of_judges(answers: ModelAnswers) -> list[str]:  # (judge,)
    """Name each judge's family: the declared one, or the first word of its model or name."""
    table = answers.judgments
    names = table.judges.to_pylist()
    declared: list[str] = ["" for _ in names]
    if table.families is not None and table.family is not None:
        families = [*table.families.to_pylist(), ""]
        declared = [families[code] for code in table.family.tolist()]
    known = zip(declared, answers.model, names, strict=True)
    return [family_of(family or model or name) for family, model, name in known]


def family_of(name: str) -> str:
    """Return the first word of a model's name without its provider: gpt of openai/gpt-4o."""
    word = re.search(r"[a-z]+", name.lower().rpartition("/")[2] or name.lower())
    return name.lower() if word is None else word[0]


def _deserved(answers: ModelAnswers, known: NDArray[np.int16]) -> tuple[_Floats, _Floats]:
    """Return each label's grade, and what explains it: truth classes, or the others' mean.

    The columns of the second: one per truth, then the others' mean and whether it is used.
    """
    judgments = answers.judgments
    scale = judgments.scale
    values = scale.values
    reach = max(float(np.ptp(values)), 1e-9)
    value = (values / reach)[judgments.label]
    item, judge = judgments.item, judgments.judge.astype(np.int64)
    key = item.astype(np.int64) * judgments.judge_count + judge
    pair = np.unique(key, return_inverse=True)[1]
    sums = np.bincount(item, weights=value, minlength=judgments.item_count)[item]
    own_sum, own_count = np.bincount(pair, weights=value)[pair], np.bincount(pair)[pair]
    others = judgments.counts_per_item[item] - own_count
    mean = np.where(others > 0, (sums - own_sum) / np.maximum(others, 1), np.nan)
    truth = known[item]
    has = truth >= 0
    columns = np.zeros((len(value), len(scale.truths) + 2))
    columns[has, truth[has]] = 1.0
    columns[~has, -2], columns[~has, -1] = mean[~has], 1.0
    return value, columns


def _biases_of(
    answers: ModelAnswers,
    judge: int,
    own: NDArray[np.int64],
    value: _Floats,
    deserved: _Floats,
    causes: dict[str, _Floats],
) -> Iterator[Bias]:
    """Yield the biases of one judge, from one regression."""
    given = {what: cause[own] for what, cause in causes.items()}
    kept = {what: cause for what, cause in given.items() if not np.isnan(cause).all()}
    x = np.column_stack([*kept.values(), deserved])
    usable = ~np.isnan(x).any(axis=1)
    golden = usable & (deserved[:, -1] == 0)
    if int(golden.sum()) >= LEAST_JUDGMENTS:  # others may share the bias, or be judged next to it
        usable = golden
    names = [what for what, cause in kept.items() if len(np.unique(cause[usable])) > 1]
    if int(usable.sum()) < LEAST_JUDGMENTS or not names:
        return
    x = np.column_stack([*(kept[what] for what in names), deserved])[usable]
    x = x[:, (x != 0).any(axis=0)]
    y, item = value[usable], answers.judgments.item[own][usable]
    inverse = np.linalg.pinv(x.T @ x)
    slope = inverse @ x.T @ y
    leverage = np.einsum("ij,jk,ik->i", x, inverse, x)
    left = (y - x @ slope) / np.maximum(1 - leverage, 1e-6)
    _, group = np.unique(item, return_inverse=True)
    scores = np.column_stack([np.bincount(group, weights=column * left) for column in x.T])
    covariance = inverse @ (scores.T @ scores) @ inverse
    freedom = max(len(scores) - x.shape[1], 1)
    reach = float(student.ppf(0.5 + _LEVEL / 2, freedom))
    name = answers.judgments.judges[judge].as_py()
    for at, what in enumerate(names):
        error = float(np.sqrt(covariance[at, at]))
        if not error > 0:
            continue
        effect = float(slope[at])
        yield Bias(
            judge=name,
            what=what,
            judgments=len(y),
            effect=effect,
            low=effect - reach * error,
            high=effect + reach * error,
            p=2 * float(student.sf(abs(effect) / error, freedom)),
        )
