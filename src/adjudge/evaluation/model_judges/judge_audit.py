"""The audit of one LLM judge: every check that it allows, and a verdict.

A judge is a model under one prompt and one version. Its samples of an item become one soft
judgment. Error rates by class, kappa and over-rating are measured against gold, calibration of its
confidences too. A check with less gold than it needs is left out, and says how much it needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adjudge.data.model_answers import ModelAnswers
from adjudge.data.source import count_of
from adjudge.evaluation.model_judges._checks import LEAST_JUDGMENTS, Bias
from adjudge.evaluation.model_judges.corrected import NOT_RANDOM, Corrected, Transport
from adjudge.evaluation.model_judges.panel import Company
from adjudge.evaluation.model_judges.rates import Rates, tell_need
from adjudge.evaluation.model_judges.replacement import Replacement
from adjudge.evaluation.model_judges.soft_judgments import (
    Calibration,
    SoftJudgments,
    measure_calibration,
    soft_judgments,
)
from adjudge.evaluation.scores import Score

_NAN = float("nan")
_LEAST_CALIBRATED = 50  # gold items with a confidence
_LEAST_REPEATED = 30  # items with several samples
UNRELIABLE = 0.6  # alpha of a judge's samples, below which one answer says little
_GOOD, _POOR = 0.6, 0.2  # kappa with gold: ready, and of no use
_LEAST = 0.1  # plain kappa, and the share of gold that labels save, of labels worth correcting
_NAMED = 3  # slices in a reason
_TRIFLE = 0.05  # over-rating, as a share of the range of grades, that may stay uncorrected
_Floats = NDArray[np.float64]

READY, WITH_CORRECTION, NOT_READY, NO_GOLD = (
    "ready",
    "ready with correction",
    "not ready",
    "not enough gold",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeAudit:
    """Everything that is known of one LLM judge."""

    judge: str
    model: str
    prompt: str
    version: str
    judgments: int
    items: int
    rates: Rates
    scores: Mapping[str, Score]  # accuracy, kappa or weighted-kappa, over-rating, tpr, tnr
    calibration: Calibration | None  # of its confidence
    samples: float  # per item, on average
    agreement: float  # of two samples of one item; NaN where there is one each
    alpha: float
    company: tuple[Company, ...]
    biases: tuple[Bias, ...]
    alternative: str  # verdict of the alternative annotator test; empty if not made
    winning_rate: float
    advantage: float
    cost: float
    tokens: float
    left_out: tuple[str, ...]  # checks with too little gold, and how much they need
    verdict: str = NO_GOLD
    reason: str = ""

    @property
    def kappa(self) -> Score:
        """Kappa with gold, with squared distances of grades where there are more than two."""
        return self.scores.get("weighted-kappa") or self.scores["kappa"]

    @property
    def saved(self) -> Score:
        """The share of gold that its labels save in corrected numbers."""
        return self.rates.measure("gold-saved")

    @property
    def reliability(self) -> float:
        """The alpha of all samples of an item together, by Spearman and Brown."""
        if not self.alpha > 0:
            return max(self.alpha, 0.0) if self.alpha == self.alpha else _NAN
        return self.samples * self.alpha / (1 + (self.samples - 1) * self.alpha)

    @property
    def cost_per_item(self) -> float:
        """The cost per item."""
        return self.cost / self.items if self.items else _NAN

    @property
    def gold(self) -> int:
        """Items with gold."""
        return self.rates.gold

    @property
    def order(self) -> tuple[int, float, str]:
        """Its place among judges: by verdict from best to worst, then by kappa."""
        place = (READY, WITH_CORRECTION, NOT_READY, NO_GOLD).index(self.verdict)
        return place, -self.kappa.value if self.kappa.defined else 0.0, self.judge


class JudgeAuditor:
    """What the audits of the judges of one table share."""

    def __init__(
        self,
        answers: ModelAnswers,
        known: NDArray[np.int16],  # (item,)
        *,
        resamples: int,
        seed: int,
    ) -> None:
        self.answers, self.known = answers, known
        self.resamples, self.seed = resamples, seed
        self.soft = soft_judgments(answers.judgments)
        self.confidence = _row_confidence(answers, self.soft)
        self.agreement, self.alpha = self.soft.reliability()

    def audit(
        self,
        judge: int,
        company: Sequence[Company],
        biases: Sequence[Bias],
        causes: Sequence[str],  # of biases that the answers have columns for
        replacement: Replacement | None,
        people_kappa: float,
    ) -> JudgeAudit:
        """Make the checks of one judge, and decide on it."""
        soft, answers, scale = self.soft, self.answers, self.answers.judgments.scale
        name = answers.judgments.judges[judge].as_py()
        own = np.flatnonzero(soft.judge == judge)
        mine = answers.judgments.judge == judge
        scored = own[self.known[soft.item[own]] >= 0]
        truth = self.known[soft.item[scored]]
        settings = {"resamples": self.resamples, "seed": self.seed}
        rates = Rates.count(scale, truth, soft.label[scored], **settings)
        graded = scale.ordinal and len(scale.labels) > 2
        names = ["accuracy", "weighted-kappa" if graded else "kappa", "over-rating"]
        names += [] if scale.truth_relevant is None else ["tpr", "tnr"]
        scores = {one: rates.measure(one) for one in names}
        missing = [f"{one.name}: {one.reason}" for one in scores.values() if not one.defined]
        calibration = self._calibration(scored, missing)
        repeated = int((soft.samples[own] > 1).sum())
        if repeated < _LEAST_REPEATED:
            need = tell_need(
                "repeatability", _LEAST_REPEATED, repeated, "items with several samples"
            )
            missing.append(need)
        enough = repeated >= _LEAST_REPEATED
        alpha = float(self.alpha[judge]) if enough else _NAN
        samples = float(soft.samples[own].mean()) if len(own) else _NAN
        of_judge = tuple(one for one in biases if one.judge == name)
        if not causes:
            missing.append("biases: need a column position or length, or systems of its family")
        elif not of_judge:
            unit = "judgments with gold or next to other judges"
            missing.append(tell_need("biases", LEAST_JUDGMENTS, int(mine.sum()), unit))
        tested = None if replacement is None else replacement[name]
        found = JudgeAudit(
            judge=name,
            model=answers.model[judge],
            prompt=answers.prompt[judge],
            version=answers.version[judge],
            judgments=int(mine.sum()),
            items=len(own),
            rates=rates,
            scores=scores,
            calibration=calibration,
            samples=samples,
            agreement=float(self.agreement[judge]) if enough else _NAN,
            alpha=alpha,
            company=tuple(one for one in company if one.judge == name),
            biases=of_judge,
            alternative="" if tested is None else tested.verdict,
            winning_rate=_NAN if tested is None else tested.winning_rate,
            advantage=_NAN if tested is None else tested.advantage_probability,
            cost=_total(answers.cost, mine),
            tokens=_total(answers.tokens, mine),
            left_out=tuple(missing),
        )
        verdict, reason = decide(found, people_kappa)
        return replace(found, verdict=verdict, reason=reason)

    def _calibration(self, scored: NDArray[np.intp], missing: list[str]) -> Calibration | None:
        """The calibration of stated confidences."""
        sure = self.confidence[scored]
        stated = ~np.isnan(sure)
        if int(stated.sum()) < _LEAST_CALIBRATED:
            unit = "gold items with a confidence"
            missing.append(tell_need("calibration", _LEAST_CALIBRATED, int(stated.sum()), unit))
            return None
        right = (self._truths_of(scored) == self.known[self.soft.item[scored]])[stated]
        return measure_calibration(sure[stated], right)

    def _truths_of(self, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the truth that each row's label means, -1 for none."""
        truth_of = np.array(self.answers.judgments.scale.truth_of)
        return np.asarray(truth_of[self.soft.label[rows]], dtype=np.int64)


def decide(one: JudgeAudit, people_kappa: float) -> tuple[str, str]:
    """Return the verdict on a judge, and its reason in one line.

    Not ready: kappa with gold may be 0.2 or less, samples do not repeat, or a bias was found. Ready
    with correction: labels over-rate, or agree with gold less than 0.6 and do not pass the
    alternative annotator test; but see ``check_correction``. Ready: all others.
    """
    if not one.kappa.defined:
        return NO_GOLD, str(one.kappa.reason)
    kappa, low = one.kappa.value, one.kappa.low if one.kappa.low is not None else one.kappa.value
    name, known = one.kappa.name.replace("-", " "), one.kappa.low is not None
    if low <= _POOR:
        bound = f", and may be as low as {low:.2f}" if known else ""
        return NOT_READY, f"{name} with gold is {kappa:.2f}{bound}"
    shown = f"{name} {kappa:.2f}" + (f" (at least {low:.2f})" if known else "")
    biases = [bias for bias in one.biases if bias.found]
    if biases:
        worst = max(biases, key=lambda bias: abs(bias.effect))
        return NOT_READY, worst.sentence.removeprefix(f"{one.judge} ")
    if one.alpha < UNRELIABLE:
        return NOT_READY, f"its samples hardly repeat (alpha {one.alpha:.2f})"
    over = one.scores["over-rating"]
    reach = float(np.ptp(one.rates.scale.values)) or 1.0
    if (
        over.defined
        and abs(over.value) > _TRIFLE * reach
        and (over.low or 0) * (over.high or 0) > 0
    ):
        verb = "over-rates" if over.value > 0 else "under-rates"
        size = f"{abs(over.value):.2f} grades ({over.low:+.2f} to {over.high:+.2f})"
        return WITH_CORRECTION, f"{verb} by {size}"
    if one.alternative == "passed":
        return READY, f"{shown}; passes the alternative annotator test"
    if kappa >= _GOOD:
        return READY, f"{shown}; no bias found" if one.biases else shown
    if kappa >= people_kappa:
        return READY, f"{shown}; people among themselves {people_kappa:.2f}"
    return WITH_CORRECTION, f"{shown} is below {_GOOD}"


def check_correction(
    one: JudgeAudit, corrected: Sequence[Corrected], transport: Sequence[Transport]
) -> JudgeAudit:
    """Change the verdict if correcting the labels is worth little, or is refused.

    Labels are worth correcting if their accuracy is above chance, plain kappa above 0.1, and if
    they save more than a tenth of the gold; both by the entire interval. The correction must not be
    refused for all items, and must carry over to every slice.
    """
    refused = [row for row in transport if row.judge == one.judge and row.refused]
    differ = _name_slices([row.slice for row in refused if row.differs])
    if one.verdict == READY and differ:
        return replace(one, reason=f"{one.reason}; errors differ in {differ}")
    if one.verdict != WITH_CORRECTION:
        return one
    kappa, saved = one.rates.measure("kappa"), one.saved
    if kappa.defined and (kappa.value if kappa.low is None else kappa.low) <= _LEAST:
        reason = f"accuracy is hardly above chance: kappa {kappa.value:.2f}"
        if kappa.low is not None:
            reason += f", and may be as low as {kappa.low:.2f}"
        return replace(one, verdict=NOT_READY, reason=reason)
    if saved.low is not None and saved.low <= _LEAST:
        reason = f"correcting its labels saves {saved.value:.0%} of the gold"
        reason += f", and may save only {max(saved.low, 0):.0%}"
        return replace(one, verdict=NOT_READY, reason=reason)
    of_all = [row for row in corrected if row.judge == one.judge and not row.slice]
    if of_all and not any(row.valid for row in of_all):
        why = "gold was not drawn at random" if of_all[0].code == NOT_RANDOM else of_all[0].refused
        return replace(one, verdict=NOT_READY, reason=f"its correction is refused: {why}")
    if differ:
        reason = f"no correction holds for all slices: errors differ in {differ}"
        return replace(one, verdict=NOT_READY, reason=reason)
    if refused:
        needed = count_of(sum(max(row.needs - row.gold, 0) for row in refused), "item")
        reason = f"{one.reason}; to correct {_name_slices([row.slice for row in refused])}, "
        return replace(one, verdict=NO_GOLD, reason=f"{reason}label {needed}")
    return one


def _name_slices(slices: Sequence[str]) -> str:
    more = len(slices) - _NAMED
    return ", ".join(slices[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _row_confidence(answers: ModelAnswers, soft: SoftJudgments) -> _Floats:  # (row,)
    """Return how sure each soft judgment is of its label; NaN where it is not known.

    That is the stated confidence, over samples; without it the share of the samples, with half a
    sample added to each label.
    """
    labels = soft.shares.shape[1]
    if answers.confidence is None:
        smoothed = (soft.confidence * soft.samples + 0.5) / (soft.samples + 0.5 * labels)
        return np.asarray(np.where(soft.samples > 1, smoothed, np.nan))
    chosen = answers.judgments.label == soft.label[soft.row]
    stated = np.where(chosen, answers.confidence, 0.0)
    total = np.bincount(soft.row, weights=np.nan_to_num(stated), minlength=len(soft))
    times = np.bincount(soft.row, weights=~np.isnan(answers.confidence), minlength=len(soft))
    return np.asarray(np.where(times > 0, total / np.maximum(times, 1), np.nan))


def _total(values: _Floats | None, mine: NDArray[np.bool_]) -> float:
    """Sum over a judge's judgments; NaN where nothing is known."""
    if values is None or np.isnan(values[mine]).all():
        return _NAN
    return float(np.nansum(values[mine]))
