"""Model judges looked over: every version against gold and against its kin, and what is amiss.

A version is a judge: a model under one prompt and one version of itself. Its samples of an item
become one soft judgment. Each is measured on gold (accuracy, kappa, how honest its confidence is,
before and after gold recalibrated it) and by its cost; versions of one model are compared on the
items they share. Findings say what should not be trusted: gold that is stale, texts that speak to
the judge, leanings to position and length, samples that do not repeat.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import betaincinv

from adjudge.data.gold import Gold
from adjudge.data.model_answers import ModelAnswers
from adjudge.errors import BadData
from adjudge.evaluation._judge_pairs import kappa_of_cells
from adjudge.evaluation._resampling import check_resampling, pattern_weights, percentile_interval
from adjudge.evaluation.model_judges._injection import Injected, find_injections
from adjudge.evaluation.model_judges._leanings import Leaning, find_leanings
from adjudge.evaluation.model_judges._recalibration import Honesty, honesty, recalibrated
from adjudge.evaluation.model_judges._staleness import Remark, stale_mix, stale_versions
from adjudge.evaluation.model_judges.soft_judgments import SoftJudgments, soft_judgments
from adjudge.evaluation.scores import columns_of, reals
from adjudge.evaluation.significance import sign_test
from adjudge.models.model import prepare

_Floats = NDArray[np.float64]
_LEVEL = 0.95
_UNRELIABLE = 0.6  # alpha of a judge with themselves, below which one answer says little
_HELD = ("control tokens", "hidden characters")  # what texts have; other kinds they do
_MOST_PAIRS = 500  # pairs of versions that are compared


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bounded:
    """A value with its interval; NaN where there is nothing to go by."""

    value: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version:
    """One version of a model as a judge."""

    judge: str
    model: str
    prompt: str
    version: str
    judgments: int
    items: int
    samples: float  # of an item, on average
    agreement: float  # of two samples of one item; NaN where there is one each
    alpha: float
    reliability: float  # of all samples of an item together
    gold: int  # items with gold
    accuracy: _Bounded
    kappa: _Bounded
    before: Honesty | None  # of its confidence
    after: Honesty | None  # the same, recalibrated by gold, cross-fitted
    cost: float
    tokens: float

    @property
    def cost_per_item(self) -> float:
        """What an item costs."""
        return self.cost / self.items if self.items else float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class _VersionPair:
    """Two versions of one model, on the items they share."""

    model: str
    first: str
    second: str
    items: int
    same: float  # share of items with the same label
    kappa: float
    gold: int  # items of these with gold
    difference: float  # of accuracy, second minus first
    p: float  # of a sign test


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Alignment:
    """Every version measured, versions compared, and what was found amiss."""

    versions: tuple[_Version, ...]
    pairs: tuple[_VersionPair, ...]
    remarks: tuple[Remark, ...]
    injections: tuple[Injected, ...]
    leanings: tuple[Leaning, ...]
    soft: SoftJudgments
    gold: int  # items with gold that somebody judged

    def __getitem__(self, judge: str) -> _Version:
        for one in self.versions:
            if one.judge == judge:
                return one
        raise BadData(f"there is no judge {judge!r}", value=judge)

    def of_kind(self, kind: str) -> tuple[Remark, ...]:
        """The remarks of one kind."""
        return tuple(one for one in self.remarks if one.kind == kind)

    def to_table(self) -> Any:
        """One row a version."""
        rows = self.versions
        columns = columns_of(
            rows,
            text=("judge", "model", "prompt", "version"),
            whole=("judgments", "items", "gold"),
            real=("samples", "agreement", "alpha", "reliability"),
        )
        for name in ("accuracy", "kappa"):
            found = columns_of([getattr(one, name) for one in rows], real=("value", "low", "high"))
            columns[name] = found["value"]
            columns |= {f"{name}_{end}": found[end] for end in ("low", "high")}
        for when, suffix in (("before", ""), ("after", "_after_gold")):
            told = [getattr(one, when) for one in rows]
            for name in ("log_loss", "brier", "calibration_error"):
                values = [None if one is None else getattr(one, name) for one in told]
                columns[f"{name}{suffix}"] = reals(values)
        return pa.table(columns | columns_of(rows, real=("cost", "cost_per_item", "tokens")))

    def remarks_table(self) -> Any:
        """One row a remark: kind, subject, sentence."""
        return pa.table(columns_of(self.remarks, text=("kind", "subject", "sentence")))

    def pairs_table(self) -> Any:
        """One row a pair of versions of one model."""
        return pa.table(
            columns_of(
                self.pairs,
                text=("model", "first", "second"),
                whole=("items", "gold"),
                real=("same", "kappa", "difference", "p"),
            )
        )


def align(
    answers: ModelAnswers | str | Path | Any,
    gold: Gold | str | Path | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Alignment:
    """Look model judges over: a file or table of their answers, with gold if there is some.

    Gold that stands in the answers' own table is used where no other is given.
    """
    check_resampling(resamples, _LEVEL)
    given = answers
    if isinstance(given, str | Path):
        given = ModelAnswers.read(given)
    elif not isinstance(given, ModelAnswers):
        given = ModelAnswers.from_table(given)
    truth = Gold.read(gold) if isinstance(gold, str | Path) else gold
    truth = given.gold if truth is None else truth
    judgments = given.judgments
    known = np.full(judgments.item_count, -1, dtype=np.int16)
    if truth is not None:
        known = truth.align(judgments)
        if not (known >= 0).any():
            raise BadData(
                f"none of the {len(truth):,} gold items was judged; wanted gold of items that "
                "the models judged",
                source=truth.source,
                wanted="gold of judged items",
            )
    soft = soft_judgments(judgments)
    confidence = _row_confidence(given, soft)
    measured = _VersionMeasures(
        given, soft, known, confidence, *soft.reliability(), resamples, seed
    )
    versions = tuple(measured.version(code) for code in range(judgments.judge_count))
    injections = find_injections(judgments.items, given.texts)
    leanings = find_leanings(given, known)
    stale = []
    if truth is not None:
        stale = [*stale_versions(given, soft, known), *stale_mix(given, soft, known)]
    kin = prepare(judgments, None, None).notes  # one source, declared or as near copies, or maybe
    remarks = [
        *_sample_remarks(versions),
        *(Remark(kind="family", subject="", sentence=f"{text}.") for text in kin),
        *stale,
        *_other_remarks(injections, leanings),
    ]
    return Alignment(
        versions=versions,
        pairs=tuple(measured.pairs()),
        remarks=tuple(remarks),
        injections=injections,
        leanings=leanings,
        soft=soft,
        gold=int((known >= 0).sum()),
    )


def _row_confidence(answers: ModelAnswers, soft: SoftJudgments) -> _Floats:  # (row,)
    """How sure each soft judgment is of its label; NaN where nothing tells.

    What the model said of itself, over its samples; without that the share of the samples, each
    label having had half a sample before.
    """
    labels = soft.shares.shape[1]
    if answers.confidence is None:
        smoothed = (soft.confidence * soft.samples + 0.5) / (soft.samples + 0.5 * labels)
        return np.asarray(np.where(soft.samples > 1, smoothed, np.nan))
    chosen = answers.judgments.label == soft.label[soft.row]
    told = np.where(chosen, answers.confidence, 0.0)
    total = np.bincount(soft.row, weights=np.nan_to_num(told), minlength=len(soft))
    heard = np.bincount(soft.row, weights=~np.isnan(answers.confidence), minlength=len(soft))
    return np.asarray(np.where(heard > 0, total / np.maximum(heard, 1), np.nan))


@dataclass(frozen=True, slots=True, eq=False)
class _VersionMeasures:
    """What is measured of each version."""

    answers: ModelAnswers
    soft: SoftJudgments
    known: NDArray[np.int16]  # (item,)
    confidence: _Floats  # (row,)
    agreement: _Floats  # (judge,) of two samples
    alpha: _Floats  # (judge,)
    resamples: int
    seed: int

    def version(self, judge: int) -> _Version:
        """One version, on its own."""
        soft, answers = self.soft, self.answers
        own = np.flatnonzero(soft.judge == judge)
        mine = answers.judgments.judge == judge
        truth = self.known[soft.item[own]]
        scored = own[truth >= 0]
        truth = truth[truth >= 0]
        stands = np.array(answers.judgments.scale.truth_of)
        said = stands[soft.label[scored]]
        right = said == truth
        alpha = float(self.alpha[judge])
        samples = float(soft.samples[own].mean()) if len(own) else float("nan")
        before, after = self._honesty(scored, right)
        return _Version(
            judge=answers.judgments.judges[judge].as_py(),
            model=answers.model[judge],
            prompt=answers.prompt[judge],
            version=answers.version[judge],
            judgments=int(mine.sum()),
            items=len(own),
            samples=samples,
            agreement=float(self.agreement[judge]),
            alpha=alpha,
            reliability=_compounded(alpha, samples) if np.isfinite(alpha) else float("nan"),
            gold=len(scored),
            accuracy=_share(int(right.sum()), len(right)),
            kappa=self._kappa(said, truth),
            before=before,
            after=after,
            cost=_total(answers.cost, mine),
            tokens=_total(answers.tokens, mine),
        )

    def _honesty(
        self, rows: NDArray[np.intp], right: NDArray[np.bool_]
    ) -> tuple[Honesty | None, Honesty | None]:
        """How honest its confidence is, as it is and after gold."""
        sure = self.confidence[rows]
        told = ~np.isnan(sure)
        if not told.any():
            return None, None
        sure, right = sure[told], right[told]
        later = recalibrated(sure, right, self.seed)
        return honesty(sure, right), None if later is None else honesty(later, right)

    def _kappa(self, said: NDArray[Any], truth: NDArray[np.int16]) -> _Bounded:
        """Cohen's kappa with the gold, with its bootstrap over items."""
        if not len(said):
            return _Bounded()
        labels = len(self.answers.judgments.scale.truths) + 1
        key = (said.astype(np.int64) + 1) * labels + truth + 1
        cell, times = np.unique(key, return_counts=True)
        value = float(kappa_of_cells(cell, labels, times.astype(np.float64)[None, :])[0])
        weights = pattern_weights(times.astype(np.int64), self.resamples, self.seed)
        drawn = [kappa_of_cells(cell, labels, weight) for weight in weights]
        low, high = percentile_interval(np.concatenate(drawn), _LEVEL) if drawn else (None, None)
        nan = float("nan")
        return _Bounded(
            value=value, low=nan if low is None else low, high=nan if high is None else high
        )

    def pairs(self) -> list[_VersionPair]:
        """Versions of one model, two and two."""
        kin: dict[str, list[int]] = {}
        for judge, model in enumerate(self.answers.model):
            if model:
                kin.setdefault(model, []).append(judge)
        chosen = [(m, *pair) for m, judges in kin.items() for pair in combinations(judges, 2)]
        return [self._pair(*one) for one in chosen[:_MOST_PAIRS]]

    def _pair(self, model: str, first: int, second: int) -> _VersionPair:
        soft = self.soft
        rows = [np.flatnonzero(soft.judge == judge) for judge in (first, second)]
        seen = [soft.item[own] for own in rows]
        item, a, b = np.intersect1d(seen[0], seen[1], return_indices=True)
        left, right = soft.label[rows[0][a]], soft.label[rows[1][b]]
        truth = self.known[item]
        stands = np.array(self.answers.judgments.scale.truth_of)
        scored = truth >= 0
        better = stands[right[scored]] == truth[scored]
        worse = stands[left[scored]] == truth[scored]
        test = sign_test(better.astype(np.float64), worse.astype(np.float64))
        labels = soft.shares.shape[1]
        cell, times = np.unique(left * labels + right, return_counts=True)
        nan = float("nan")
        kappa = (
            kappa_of_cells(cell, labels, times.astype(np.float64)[None, :]) if len(item) else nan
        )
        names = self.answers.judgments.judges
        return _VersionPair(
            model=model,
            first=names[first].as_py(),
            second=names[second].as_py(),
            items=len(item),
            same=float((left == right).mean()) if len(item) else nan,
            kappa=float(np.asarray(kappa).ravel()[0]),
            gold=int(scored.sum()),
            difference=test.mean,
            p=test.p if scored.any() else nan,
        )


def _share(hits: int, total: int) -> _Bounded:
    """A share with Jeffreys' interval."""
    if not total:
        return _Bounded()
    tail = (1 - _LEVEL) / 2
    low, high = betaincinv(hits + 0.5, total - hits + 0.5, [tail, 1 - tail])
    return _Bounded(value=hits / total, low=float(low), high=float(high))


def _total(values: _Floats | None, mine: NDArray[np.bool_]) -> float:
    """The sum over a judge's judgments; NaN where nothing is known."""
    if values is None or np.isnan(values[mine]).all():
        return float("nan")
    return float(np.nansum(values[mine]))


def _sample_remarks(versions: tuple[_Version, ...]) -> list[Remark]:
    """Who was asked several times, and whether the answers repeat."""
    told = []
    for one in versions:
        if not one.samples > 1:
            continue
        alike = f"two of its samples agree on {one.agreement:.0%} of the items"
        if np.isfinite(one.alpha):
            alike += f" (alpha {one.alpha:.2f}; all together {one.reliability:.2f})"
        told.append(
            Remark(
                kind="samples",
                subject=one.judge,
                sentence=f"{one.judge} was asked {one.samples:.1f} times an item: {alike}. They "
                "are one voice, and their shares a soft judgment.",
            )
        )
        if one.alpha < _UNRELIABLE:
            told.append(
                Remark(
                    kind="unreliable",
                    subject=one.judge,
                    sentence=f"{one.judge} hardly repeats itself (alpha {one.alpha:.2f}): a single "
                    "sample of it says little; ask more often, or at a lower temperature.",
                )
            )
    return told


def _other_remarks(injections: tuple[Injected, ...], leanings: tuple[Leaning, ...]) -> list[Remark]:
    """Texts that speak to the judge, and leanings."""
    told = [
        Remark(
            kind="injection",
            subject=one.item,
            sentence=f"The {one.field} of item {one.item} "
            f"{'has ' if one.kind in _HELD else ''}{one.kind}: {one.excerpt!r}.",
        )
        for one in injections
    ]
    told += [
        Remark(kind=leaning.what, subject=leaning.judge, sentence=leaning.sentence)
        for leaning in leanings
        if leaning.found
    ]
    return told


def _compounded(alpha: float, samples: float) -> float:
    """The reliability of the mean of so many samples, by Spearman and Brown."""
    return samples * alpha / (1 + (samples - 1) * alpha) if alpha > 0 else max(alpha, 0.0)
