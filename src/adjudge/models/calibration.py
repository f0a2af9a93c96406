"""Gold calibrates: what a model's probabilities turn out to mean, where the truth is known.

A conditional logit over truths, score(i, c) = X_ic . b with b ~ N(mean, 1/lambda), is fitted to
the gold items and applied to all. Its features, with mean and lambda: the log of the model's
probability (1, 3); the log of the smoothed share of votes (0, 10); an intercept for each truth
(0, 6); the log probabilities of the other truths (0, 10); on ordered scales the mean grade against
the truth's place (0, 10); and, of judges on at least half the items, how likely each truth makes
the label given (0, 30). It is fitted freely and timidly, and both are averaged with "no change" by
their evidence (Laplace's approximation), so that little gold changes little.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.families import Families
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import Names, look_up
from adjudge.engines.engine import Engine
from adjudge.engines.voices import Voices, voices_of
from adjudge.kernels.hashing import deal
from adjudge.models.model import Progress, pick
from adjudge.models.type_rows import exact_sum, normalise

Floats = NDArray[np.float64]
_PRECISION = {"slope": 3.0, "vote": 10.0, "truth": 6.0, "map": 10.0, "order": 10.0, "judge": 30.0}
_PLAIN = ("slope", "vote", "truth")
_SCALES = ((1.0, 1.0), (8.0, 30.0))  # of the precision of plain features, and of the others
_CLOSE = 2e-3  # added to probabilities before logs are taken
_JUDGES = (2, 100)  # at least and at most, to have features of their own
_MAPPED = 20  # truths above which there is no feature for every pair of them
_BLOCK = 100_000  # items calibrated at a time
_MOST = 50_000  # gold items fitted to
_UNIT = 2.0**32  # of logs that are added up


@dataclass(frozen=True, slots=True, eq=False)
class _Scheme:
    """What features are made from, beside an item's own probabilities and judgments."""

    votes: Floats  # (truth,) pseudo-votes
    spread: float  # of log probabilities
    ordered: bool
    grade: tuple[float, float]  # mean and standard deviation of mean grades
    judges: NDArray[np.int32]  # (judge,) the number of each judge's feature, -1 for none
    told: Floats  # (feature, truth, label) log-probabilities, centred over truths

    @property
    def groups(self) -> list[str]:
        """The group of each feature."""
        truths = len(self.votes)
        groups = ["slope", "vote", *["truth"] * truths]
        groups += ["map"] * (truths * truths if truths <= _MAPPED else 0)
        groups += ["order"] * (3 if self.ordered else 0)
        return [*groups, *["judge"] * len(self.told)]


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Coefficients for every scale, and how much each is believed."""

    scheme: _Scheme
    coefficients: tuple[Floats, ...]
    weights: Floats  # (no change, a scale each)
    gold: int
    told: str = ""

    def for_judges(self, code: NDArray[np.int32]) -> Calibration:  # (judge,)
        """The same for other judgments, whose judges are these of the fit's; -1 is a new one."""
        number = np.concatenate([self.scheme.judges, [-1]]).astype(np.int32)
        return replace(self, scheme=replace(self.scheme, judges=number[code]))

    def apply(self, spoken: Judgments, voices: Voices, posterior: Floats) -> Calibration:
        """Calibrate probabilities in place; returns itself, with a word on what changed."""
        changed, before, after = 0, 0.0, 0.0
        for begin in range(0, len(posterior), _BLOCK):
            items = np.arange(begin, min(begin + _BLOCK, len(posterior)))
            old = np.array(posterior[items])
            scored = _features(self.scheme, spoken, voices, items, old)
            new = self.weights[0] * old
            for weight, b in zip(self.weights[1:], self.coefficients, strict=True):
                new += weight * _softmax(scored @ b)
            posterior[items] = new
            changed += int((new.argmax(axis=1) != old.argmax(axis=1)).sum())
            before += float(old.max(axis=1).sum())
            after += float(new.max(axis=1).sum())
        items_all = max(len(posterior), 1)
        told = (
            f"{self.gold:,} gold items calibrate the answer: {changed:,} of {len(posterior):,} "
            f"labels change, mean probability {before / items_all:.2f} -> {after / items_all:.2f}"
        )
        return replace(self, told=told)


def calibrate_by(
    known: NDArray[np.int16],  # (item,) truths, -1 where not known
    spoken: Judgments,  # by voices
    voices: Voices,
    posterior: Floats,  # (item, truth), fitted without that gold
    confusion: Floats,  # (judge, truth, label)
) -> Calibration | None:
    """The calibration that gold asks for; None where there is nothing to learn from."""
    items = np.flatnonzero((known >= 0) & (spoken.counts_per_item > 0))
    truths = posterior.shape[1]
    if not items.size or truths < 2:
        return None
    scheme = _scheme(spoken, voices, posterior, confusion)
    if items.size > _MOST:
        items = items[np.linspace(0, items.size - 1, _MOST).astype(np.int64)]
    own = np.array(posterior[items])
    features = _features(scheme, spoken, voices, items, own)
    truth = known[items].astype(np.int64)
    order = np.lexsort((*features.reshape(len(items), -1).T, truth))  # whatever order they came in
    features, truth, own = features[order], truth[order], own[order]
    groups = scheme.groups
    mean = np.array([1.0 if group == "slope" else 0.0 for group in groups])
    evidence = [float(np.log(np.maximum(own[np.arange(len(truth)), truth], 1e-6)).sum())]
    found = []
    for plain, other in _SCALES:
        precision = np.array(
            [_PRECISION[group] * (plain if group in _PLAIN else other) for group in groups]
        )
        b, likely = _most_probable(features, truth, mean, precision)
        found.append(b)
        evidence.append(likely)
    weights = np.exp(np.array(evidence) - max(evidence))
    return Calibration(scheme, tuple(found), weights / weights.sum(), len(items))


def _scheme(spoken: Judgments, voices: Voices, posterior: Floats, confusion: Floats) -> _Scheme:
    """What features need to know of all items together."""
    scale, truths = spoken.scale, posterior.shape[1]
    votes, squares = np.zeros(truths), 0.0
    grades = np.zeros(3)
    for begin in range(0, len(posterior), _BLOCK):
        items = np.arange(begin, min(begin + _BLOCK, len(posterior)))
        cast = _votes(spoken, voices, items, truths)
        votes += exact_sum(cast)
        squares += float(exact_sum(exact_sum(_logs(posterior[items]) ** 2)))
        mean = _mean_grade(cast)
        grades += (len(mean), float(exact_sum(mean)), float(exact_sum(mean**2)))
    items_all = max(len(posterior), 1)
    middle = grades[1] / max(grades[0], 1.0)
    spread = np.sqrt(max(grades[2] / max(grades[0], 1.0) - middle**2, 0.0)) + 1e-9
    counts = voices.fold(
        np.bincount(spoken.judge, minlength=len(voices.judge_of))[:, None], weighted=False
    )[:, 0]
    regular = np.flatnonzero(counts >= 0.5 * len(posterior))
    if not _JUDGES[0] <= len(regular) <= _JUDGES[1]:
        regular = regular[:0]
    if regular.size:  # in an order that neither names nor places decide
        regular = regular[np.lexsort(confusion[regular].reshape(len(regular), -1).T)]
    number = np.full(len(counts), -1, dtype=np.int32)
    number[regular] = np.arange(len(regular), dtype=np.int32)
    told = np.log(np.maximum(confusion[regular], 1e-9))
    return _Scheme(
        votes=0.5 * truths * normalise(votes / items_all + 0.01),
        spread=float(np.sqrt(squares / (items_all * truths))) + 1e-9,
        ordered=scale.ordinal and truths > 2,
        grade=(middle, float(spread)),
        judges=number,
        told=told - told.mean(axis=1, keepdims=True),
    )


def _votes(spoken: Judgments, voices: Voices, items: NDArray[np.int64], truths: int) -> Floats:
    """Weighted votes (item, truth) of some items."""
    row, place = _rows(spoken, items)
    truth = np.array(spoken.scale.truth_of)[spoken.label[row]]
    voted = truth >= 0
    units = voices.units[spoken.judge[row[voted]]]
    cell = place[voted] * truths + truth[voted]
    sums = np.bincount(cell, weights=units, minlength=len(items) * truths)
    return np.asarray(sums.reshape(len(items), truths) / 2.0**20)


def _rows(
    spoken: Judgments, items: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The judgments of some items, and the place of each one's item among them."""
    begin = spoken.offsets[items]
    count = spoken.offsets[items + 1] - begin
    place = np.repeat(np.arange(len(items)), count)
    first = np.repeat(begin - np.concatenate([[0], np.cumsum(count)[:-1]]), count)
    return first + np.arange(len(place)), place


def _mean_grade(votes: Floats) -> Floats:  # (item,)
    """The mean place of the votes of each item; of an item without votes, the middle."""
    whole = votes.sum(axis=1)
    middle = 0.5 * (votes.shape[1] - 1)
    mean = votes @ np.arange(votes.shape[1]) / np.where(whole > 0, whole, 1.0)
    return np.asarray(np.where(whole > 0, mean, middle))


def _logs(probabilities: Floats) -> Floats:
    """Logs of probabilities, centred over truths."""
    logs = np.log(normalise(probabilities + _CLOSE))
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))


def _features(
    scheme: _Scheme,
    spoken: Judgments,
    voices: Voices,
    items: NDArray[np.int64],
    probabilities: Floats,
) -> Floats:  # (item, truth, feature)
    """The features of some items."""
    count, truths = probabilities.shape
    own = _logs(probabilities)
    votes = _votes(spoken, voices, items, truths)
    unit = np.eye(truths)
    parts = [
        own[:, :, None],
        _logs(normalise(votes + scheme.votes))[:, :, None],
        np.broadcast_to(unit, (count, truths, truths)),
    ]
    if truths <= _MAPPED:
        every = np.einsum("ij,kc->ikcj", own / scheme.spread, unit)
        parts.append(every.reshape(count, truths, truths * truths))
    if scheme.ordered:
        z = (_mean_grade(votes) - scheme.grade[0]) / scheme.grade[1]
        place = np.arange(truths) - 0.5 * (truths - 1)
        bend = place**2 - (place**2).mean()
        parts.append(
            np.stack([np.outer(z, place), np.outer(z, bend), np.outer(z**2 - 1, place)], axis=2)
        )
    if len(scheme.told):
        row, item = _rows(spoken, items)
        number = scheme.judges[voices.judge_of[spoken.judge[row]]]
        chosen = number >= 0
        units = np.rint(scheme.told * _UNIT).astype(np.int64)
        said = np.zeros((count, len(scheme.told), truths), dtype=np.int64)
        np.add.at(
            said,
            (item[chosen], number[chosen]),
            units[number[chosen], :, spoken.label[row[chosen]]],
        )
        parts.append(said.transpose(0, 2, 1) / _UNIT)
    return np.concatenate(parts, axis=2)


def _softmax(score: Floats) -> Floats:
    shifted = np.exp(score - score.max(axis=1, keepdims=True))
    return normalise(shifted)


def _most_probable(
    features: Floats,  # (item, truth, feature)
    truth: NDArray[np.int64],  # (item,)
    mean: Floats,
    precision: Floats,
) -> tuple[Floats, float]:
    """The most probable coefficients by Newton's method, and the log evidence around them."""
    rows = np.arange(len(truth))

    def value(b: Floats) -> tuple[float, Floats]:
        score = features @ b
        score -= score.max(axis=1, keepdims=True)
        weight = np.exp(score)
        whole = weight.sum(axis=1)
        likely = float((score[rows, truth] - np.log(whole)).sum())
        return likely - 0.5 * float((precision * (b - mean) ** 2).sum()), weight / whole[:, None]

    b = mean.copy()
    best, p = value(b)
    bend = np.diag(precision)
    for _ in range(25):
        average = np.einsum("ik,ikf->if", p, features)
        gradient = (features[rows, truth] - average).sum(axis=0) - precision * (b - mean)
        scaled = (features * np.sqrt(p)[:, :, None]).reshape(-1, features.shape[2])
        bend = scaled.T @ scaled - average.T @ average + np.diag(precision)
        step = np.linalg.solve(bend, gradient)
        length = 1.0
        while True:
            reached, tried = value(b + length * step)
            if reached >= best - 1e-9 or length < 1e-3:
                break
            length *= 0.5
        b = b + length * step
        gained, best, p = reached - best, reached, tried
        if gained < 1e-6 * len(truth):
            break
    evidence = best + 0.5 * float(np.log(precision).sum()) - 0.5 * float(np.linalg.slogdet(bend)[1])
    return b, evidence


def fit_calibrated(
    model: Any,
    judgments: Judgments,
    gold: Gold,
    *,
    engine: Engine | None = None,
    progress: Progress | None = None,
    folds: int = 5,
) -> Consensus:
    """The consensus of any model, its probabilities calibrated by gold across folds.

    A model that learns from gold is sure of it, so what its probabilities mean is learnt from fits
    that were not told: each fold's gold items as the fit with the other folds has them.
    """
    consensus: Consensus = model.fit(judgments, gold, engine=engine, progress=progress)
    if getattr(model, "calibrate", False):
        return consensus  # it calibrates itself
    table = consensus.judgments
    fold = np.empty(len(gold.items), dtype=np.int64)
    _deal(gold.items, folds, fold)
    posterior = np.array(consensus.posterior)
    for number in range(folds):
        if not (fold == number).any() or (fold == number).all():
            continue
        told = model.fit(judgments, gold.select(fold != number), engine=engine)
        hidden = gold.items.filter(pa.array(fold == number))
        here, there = look_up(hidden, table.items), look_up(hidden, told.judgments.items)
        posterior[here] = told.posterior[there]
    families = consensus.families or Families.none(table.judge_count)
    spoken, voices = voices_of(table, families, repeats=False)
    confusion = np.broadcast_to(
        consensus.confusion, (table.judge_count, *consensus.confusion.shape[1:])
    )
    known = gold.align(table)
    calibration = calibrate_by(known, spoken, voices, posterior, confusion)
    if calibration is None:
        return consensus
    final = np.array(consensus.posterior)
    calibration = calibration.apply(spoken, voices, final)
    final[known >= 0] = np.eye(final.shape[1])[known[known >= 0]]
    choice, _ = pick(final, table, ties=model.ties, seed=model.seed)
    notes = (*consensus.notes, calibration.told)
    return replace(consensus, posterior=final, choice=choice, notes=notes)


def _deal(names: Names, folds: int, out: NDArray[np.int64]) -> None:
    """Deal items out into folds by their names, whatever their order."""
    _, starts, letters = names.buffers()
    ends = np.frombuffer(starts, dtype=np.int64)[names.offset : names.offset + len(names) + 1]
    data = np.frombuffer(letters, dtype=np.uint8) if letters else np.zeros(1, dtype=np.uint8)
    deal(ends, data, folds, out)
