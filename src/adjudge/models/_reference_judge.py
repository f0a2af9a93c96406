"""What a type of item means: what a good judge would say of it.

A type is never taken for the label that it started from. It is read through a reference judge, an
average over judges weighted by how much their labels tell of the types,

    Z_t = (1 - f) sum_j omega_j theta_jt + f / K,

with theta_jt what judge j says of items of type t as *the others* have them: each judgment counts
under the types that its item has without it. An item's truth is then sum_t P_it Z_t. Truth is
sharper than any judge, but only where judges err independently may a type be trusted for its label.
Two signs are looked at: whether the kinds of a label mean the same (h), and whether judges agree
beyond what types explain (rho); and a few judges can never show their independence. So

    Z_t <- (1 - kappa_t) Z_t + kappa_t [the type's own label],
    kappa = c (.5 + .45 a) + .15 a max(m^2 - c, 0),
    a = clip(1 - rho/.06, 0, 1),  m = M^2/(M^2 + 10^2),  c = m clip((.08 - h)/.05, 0, 1),

M being the number of voices, each counted as far as it judged. kappa_t is kappa where Z_t has the
type's own label .1 ahead of the others, and 0 where it is behind: a type that started from a rare
label and became one of doubtful items is none of that label. Where c is above 0, theta_jt is that
far the judge's fitted row instead, and the floor is lower: f = .05 (1 - c).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.models._type_rows import exact_sum, normalise

_Floats = NDArray[np.float64]
_FLOOR = 0.05
_EXPONENT, _MANY = 4.0, 50.0  # of information, where there are many judges
_SETTLED = 50.0  # judgments at which a judge has half their say
_SAME, _APART = 0.03, 0.08  # share of information within labels: one meaning, several
_LEAST, _MORE = 0.5, 0.45  # of kappa
_ANYWAY = 0.15  # of kappa, where kinds do not mean the same
_CORRELATED = 0.06
_FEW = 10.0  # voices
_LEAD = 0.1  # of a type's own label over others, from which it is sharpened in full


@dataclass(frozen=True, slots=True, eq=False)
class Judges:
    """What the reference judge has to know of each judge."""

    count: _Floats  # (judge,) items judged
    weight: _Floats  # (judge,) what they say of an item weighs, on average

    @property
    def voices(self) -> float:
        """How many voices there are, each counted as far as it judged."""
        return float(exact_sum(self.weight * np.minimum(1.0, self.count / 20.0)))


@dataclass(frozen=True, slots=True, eq=False)
class Trust:
    """How far types may be trusted for their labels, and the signs it is judged by."""

    within: float  # h: share of the information of types that lies within labels
    correlation: float  # rho: agreement beyond what types explain
    same: float  # c
    sharpen: float  # kappa


def _information(prevalence: _Floats, rows: _Floats) -> _Floats:  # (judge,)
    """How much each judge's label tells of the type, in nats; rows are (judge, type, label)."""
    mean = np.einsum("t,jtl->jl", prevalence, rows)
    ratio = np.log(np.maximum(rows, 1e-300) / np.maximum(mean[:, None, :], 1e-300))
    return np.asarray(np.einsum("t,jtl,jtl->j", prevalence, rows, ratio))


def refer(
    prevalence: _Floats, rows: _Floats, judges: Judges, same: float = 0.0
) -> _Floats:  # (type, label)
    """What the reference judge says of each type; ``same`` is how far kinds mean the same."""
    count, voices = judges.count, judges.voices
    exponent = _EXPONENT * voices**2 / (voices**2 + _MANY**2)
    told = np.maximum(_information(prevalence, rows) * count / (count + 10.0), 1e-6)
    say = judges.weight * count / (count + _SETTLED) * (told / told.max()) ** exponent
    if not say.max() > 0:  # nobody judged anything
        say = np.ones(len(say))
    labels = rows.shape[2]
    mean = normalise(exact_sum(say[:, None, None] / say.max() * rows, fine=True))
    floor = _FLOOR * (1.0 - same)
    return np.asarray((1.0 - floor) * mean + floor / labels)


def trust(
    prevalence: _Floats, meaning: _Floats, kinds: int, correlation: float, judges: Judges
) -> Trust:
    """How far types may be trusted, from the meaning (type, label) of kinds of labels."""
    labels = meaning.shape[1]
    whole = _mutual(prevalence, meaning)
    parts = [slice(k * kinds, (k + 1) * kinds) for k in range(labels)]
    within = sum(_mutual(prevalence[part], meaning[part]) for part in parts) / max(whole, 1e-12)
    many = judges.voices**2 / (judges.voices**2 + _FEW**2)
    same = many * float(np.clip((_APART - within) / (_APART - _SAME), 0.0, 1.0))
    alone = float(np.clip(1.0 - correlation / _CORRELATED, 0.0, 1.0))
    sharpen = same * (_LEAST + _MORE * alone) + _ANYWAY * alone * max(many**2 - same, 0.0)
    return Trust(within, correlation, same, sharpen)


def _mutual(prevalence: _Floats, rows: _Floats) -> float:
    """The information of types and labels, for types that need not be all; in nats."""
    mean = prevalence @ rows / prevalence.sum()
    return float((prevalence[:, None] * rows * np.log(rows / mean)).sum())


def sharpen(meaning: _Floats, own: NDArray[np.int64], kappa: float) -> _Floats:  # (type, label)
    """Meanings moved to the label of the type's own, where that is what most often is meant."""
    unit = np.eye(meaning.shape[1])[own]
    lead = (meaning * unit).max(axis=1) - (meaning * (1.0 - unit)).max(axis=1)
    part = kappa * np.clip(lead / _LEAD, 0.0, 1.0)[:, None]
    return np.asarray((1.0 - part) * meaning + part * unit)


def read_truths(
    meaning: _Floats, truth_of: tuple[int, ...], truths: int
) -> _Floats:  # (type, truth)
    """Meanings in labels as meanings in truths; labels that stand for none are left out."""
    if truth_of == tuple(range(truths)):
        return meaning
    stands = np.array(truth_of)[:, None] == np.arange(truths)
    return normalise(meaning @ stands.astype(np.float64) + 1e-9)
