"""LLM judges audited: every version against gold and other versions, and what is wrong.

A version is a judge: a model under one prompt and one version of itself. Its samples of an item
become one soft judgment. Each is measured on gold (accuracy, kappa, how honest its confidence is,
before and after gold recalibrated it) and by its cost; versions of one model are compared on the
items they share. Findings say what should not be trusted: gold that is stale, texts that speak to
the judge, leanings to position and length, samples that do not repeat.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.gold import Gold
from adjudge.data.model_answers import ModelAnswers
from adjudge.errors import BadData
from adjudge.evaluation._resampling import check_resampling
from adjudge.evaluation.agreement import kappa_of_labels
from adjudge.evaluation.model_judges._findings import (
    Injected,
    Leaning,
    Remark,
    find_injections,
    find_leanings,
    stale_mix,
    stale_versions,
)
from adjudge.evaluation.model_judges.soft_judgments import (
    Honesty,
    SoftJudgments,
    honesty,
    recalibrated,
    soft_judgments,
)
from adjudge.evaluation.scores import Score, columns_of, interval_columns, jeffreys, reals
from adjudge.evaluation.significance import sign_test
from adjudge.models.model import prepare

_Floats = NDArray[np.float64]
_LEVEL = 0.95
_NAN = float("nan")
_UNRELIABLE = 0.6  # alpha of a judge with themselves, below which one answer says little
_HELD = ("control tokens", "hidden characters")  # what texts have; other kinds they do
_MOST_PAIRS = 500  # pairs of versions that are compared


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
    accuracy: Score
    kappa: Score
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
    """Measures of every version, comparisons of versions, and remarks on what is wrong."""

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
        """One row per version."""
        rows = self.versions
        columns = columns_of(
            rows,
            text=("judge", "model", "prompt", "version"),
            whole=("judgments", "items", "gold"),
            real=("samples", "agreement", "alpha", "reliability"),
        )
        for name in ("accuracy", "kappa"):
            scores = [getattr(one, name) for one in rows]
            parts = [[getattr(one, end) for one in scores] for end in ("value", "low", "high")]
            columns |= interval_columns(name, parts)
        for when, suffix in (("before", ""), ("after", "_after_gold")):
            for name in ("log_loss", "brier", "calibration_error"):
                values = [getattr(getattr(one, when), name, None) for one in rows]
                columns[f"{name}{suffix}"] = reals(values)
        return pa.table(columns | columns_of(rows, real=("cost", "cost_per_item", "tokens")))

    def remarks_table(self) -> Any:
        """One row per remark: kind, subject, sentence."""
        return pa.table(columns_of(self.remarks, text=("kind", "subject", "sentence")))

    def pairs_table(self) -> Any:
        """One row per pair of versions of one model."""
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
    """Measure LLM judges: a file or table of their answers, with gold if there is some.

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
                expected="gold of judged items",
            )
    soft = soft_judgments(judgments)
    confidence = _row_confidence(given, soft)
    measured = _VersionMeasures(
        given, soft, known, confidence, *soft.reliability(), resamples, seed
    )
    versions = tuple(measured.version(code) for code in range(judgments.judge_count))
    injections = find_injections(judgments.items, given.texts)
    leanings = find_leanings(given, known)
    stale: list[Remark] = []
    if truth is not None:
        stale = [*stale_versions(given, soft, known), *stale_mix(given, soft, known)]
    kin = prepare(judgments, None, None).notes  # one source, declared or as near copies, or maybe
    remarks = [
        *_sample_remarks(versions),
        *(Remark("family", "", f"{text}.") for text in kin),
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
        """Measure one version on its own."""
        soft, answers = self.soft, self.answers
        own = np.flatnonzero(soft.judge == judge)
        mine = answers.judgments.judge == judge
        scored = own[self.known[soft.item[own]] >= 0]
        truth, said = self.known[soft.item[scored]], self._truths_of(scored)
        right = said == truth
        alpha = float(self.alpha[judge])
        samples = float(soft.samples[own].mean()) if len(own) else _NAN
        sure = self.confidence[scored]
        stated = ~np.isnan(sure)
        sure, honest = sure[stated], right[stated]
        later = recalibrated(sure, honest, self.seed)
        accuracy = Score.undefined("accuracy", "no gold item was judged")
        if len(right):
            low, high = jeffreys(right.sum(), len(right), _LEVEL)
            accuracy = Score(
                name="accuracy", value=float(right.mean()), low=float(low), high=float(high)
            )
        labels = len(answers.judgments.scale.truths) + 1  # one more for no truth
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
            reliability=_compounded(alpha, samples) if np.isfinite(alpha) else _NAN,
            gold=len(scored),
            accuracy=accuracy,
            kappa=kappa_of_labels(
                said + 1, truth + 1, labels, resamples=self.resamples, level=_LEVEL, seed=self.seed
            ),
            before=honesty(sure, honest) if stated.any() else None,
            after=None if later is None else honesty(later, honest),
            cost=_total(answers.cost, mine),
            tokens=_total(answers.tokens, mine),
        )

    def _truths_of(self, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the truth that each row's label stands for, -1 for none."""
        stands = np.array(self.answers.judgments.scale.truth_of)
        return np.asarray(stands[self.soft.label[rows]], dtype=np.int64)

    def pairs(self) -> list[_VersionPair]:
        """Compare every two versions of one model."""
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
        left, right = rows[0][a], rows[1][b]
        truth = self.known[item]
        scored = truth >= 0
        hits = [self._truths_of(side)[scored] == truth[scored] for side in (right, left)]
        test = sign_test(*(hit.astype(np.float64) for hit in hits))
        names = self.answers.judgments.judges
        return _VersionPair(
            model=model,
            first=names[first].as_py(),
            second=names[second].as_py(),
            items=len(item),
            same=float((soft.label[left] == soft.label[right]).mean()) if len(item) else _NAN,
            kappa=kappa_of_labels(soft.label[left], soft.label[right], soft.shares.shape[1]).value,
            gold=int(scored.sum()),
            difference=test.mean,
            p=test.p if scored.any() else _NAN,
        )


def _total(values: _Floats | None, mine: NDArray[np.bool_]) -> float:
    """The sum over a judge's judgments; NaN where nothing is known."""
    if values is None or np.isnan(values[mine]).all():
        return _NAN
    return float(np.nansum(values[mine]))


def _sample_remarks(versions: tuple[_Version, ...]) -> Iterator[Remark]:
    """Say who was asked several times, and whether the answers repeat."""
    for one in versions:
        if not one.samples > 1:
            continue
        alike = f"two of its samples agree on {one.agreement:.0%} of the items"
        if np.isfinite(one.alpha):
            alike += f" (alpha {one.alpha:.2f}; all together {one.reliability:.2f})"
        yield Remark(
            "samples",
            one.judge,
            f"{one.judge} was asked {one.samples:.1f} times per item: {alike}. Its samples count "
            "as one judgment, and their shares as a soft judgment.",
        )
        if one.alpha < _UNRELIABLE:
            yield Remark(
                "unreliable",
                one.judge,
                f"{one.judge} hardly repeats itself (alpha {one.alpha:.2f}): a single sample says "
                "little; ask more often, or at a lower temperature.",
            )


def _other_remarks(
    injections: tuple[Injected, ...], leanings: tuple[Leaning, ...]
) -> Iterator[Remark]:
    """Describe texts that speak to the judge, and leanings."""
    for one in injections:
        has = "has " if one.kind in _HELD else ""
        sentence = f"The {one.field} of item {one.item} {has}{one.kind}: {one.excerpt!r}."
        yield Remark("injection", one.item, sentence)
    for leaning in leanings:
        if leaning.found:
            yield Remark(leaning.what, leaning.judge, leaning.sentence)


def _compounded(alpha: float, samples: float) -> float:
    """The reliability of the mean of so many samples, by Spearman and Brown."""
    return samples * alpha / (1 + (samples - 1) * alpha) if alpha > 0 else max(alpha, 0.0)
