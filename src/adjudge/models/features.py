"""The features of judges: seven of the Z-score paper, and those beyond it.

H. J. Jung and M. Lease (2011), "Improving Consensus Accuracy via Z-score and Weighted Voting".
Each is in 0..1, larger is better: accuracies, and distances turned round, against gold or against
the simple majority, on grades or after the binary collapse; and accuracy on honeypots. Beyond the
paper, without gold: how like the label distribution of a judge is to what is known or to the
population's. Votes take their weights and filters from here, so features stand below votes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import look_up
from adjudge.engines.engine import Engine, Sweeps
from adjudge.engines.threads import ThreadsEngine
from adjudge.errors import BadData, UnknownName
from adjudge.models.model import pick

PAPER: dict[str, str] = {  # name: as the paper calls it
    "graded-accuracy-gold": "GACG",
    "binary-accuracy-gold": "BACG",
    "graded-accuracy-majority": "GACM",
    "binary-accuracy-majority": "BACM",
    "graded-distance-gold": "GDSG",
    "graded-distance-majority": "GDSM",
    "honeypot-accuracy": "AHNP",
}
TYPICAL = "label-typicality"
FEATURES = (*PAPER, TYPICAL)


@dataclass(frozen=True, slots=True, eq=False)
class JudgeFeatures:
    """Features by name: a value a judge, NaN where nothing speaks for or against them.

    ``counts`` are the judgments that each value rests on.
    """

    values: dict[str, NDArray[np.float64]]  # (judge,)
    counts: dict[str, NDArray[np.float64]]  # (judge,)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        return self.values[name]

    def filled(self, name: str, shrink: float = 0.0) -> NDArray[np.float64]:  # (judge,)
        """A feature with the mean of the known judges where a judge has none.

        With ``shrink``, every judge is drawn to that mean by so many pseudo-judgments: one who was
        right the one time they were tested is not yet better than one who was right 19 times of 20.
        """
        values, count = self.values[name], self.counts[name]
        known = ~np.isnan(values)
        mean = values[known].mean() if known.any() else 1.0
        drawn = (np.where(known, values, 0.0) * count + shrink * mean) / (count + shrink + 1e-300)
        return np.where(known, drawn if shrink else values, mean)


def measure_features(
    judgments: Judgments,
    gold: Gold | None = None,
    *,
    names: tuple[str, ...] = FEATURES,
    priors: tuple[float, ...] | None = None,  # (label,) known shares of labels
    seed: int = 0,
    engine: Engine | None = None,
) -> JudgeFeatures:
    """The features named, each reference swept once; what the data lack is named in an error."""
    for name in names:
        if name not in FEATURES:
            raise UnknownName("feature", name, FEATURES)
    if not names:
        return JudgeFeatures({}, {})
    sweeps = (engine if engine is not None else ThreadsEngine()).load(judgments)
    values: dict[str, NDArray[np.float64]] = {}
    counts: dict[str, NDArray[np.float64]] = {}
    against = {
        "gold": [name for name in names if name.endswith("-gold")],
        "majority": [name for name in names if name.endswith("-majority")],
    }
    for which, wanted in against.items():
        if wanted:
            reference = (
                _gold(judgments, gold, wanted)
                if which == "gold"
                else _majority(judgments, sweeps, gold, seed)
            )
            _compare(judgments, sweeps, reference, wanted, values, counts)
    if "honeypot-accuracy" in names:
        totals = _honeypots(judgments, sweeps, gold)
        counts["honeypot-accuracy"] = totals[:, 0]
        values["honeypot-accuracy"] = _share(totals[:, 1], totals[:, 0])
    if TYPICAL in names:
        values[TYPICAL], counts[TYPICAL] = _typicality(judgments, sweeps, priors)
    return JudgeFeatures({name: values[name] for name in names}, counts)


def available(judgments: Judgments, gold: Gold | None) -> tuple[str, ...]:
    """The features that these judgments and this gold can have."""
    scale = judgments.scale
    has_gold = gold is not None and bool((_plain(gold).align(judgments) >= 0).any())
    has_traps = gold is not None and gold.honeypot is not None and bool(gold.honeypot.any())
    kept = []
    for name in FEATURES:
        lacking = (
            (name.endswith("-gold") and not has_gold)
            or (name == "honeypot-accuracy" and not has_traps)
            or (name.startswith("binary") and not scale.relevant)
            or ("distance" in name and not scale.ordinal)
        )
        if not lacking:
            kept.append(name)
    return tuple(kept)


def _plain(gold: Gold) -> Gold:
    """Gold without its honeypots: they test judges, and are no grades."""
    return gold if gold.honeypot is None else gold.select(~gold.honeypot)


def _gold(judgments: Judgments, gold: Gold | None, wanted: list[str]) -> NDArray[np.int16]:
    known = None if gold is None else _plain(gold).align(judgments)
    if known is None or not (known >= 0).any():
        raise BadData(
            f"feature {wanted[0]} needs gold, and no judged item has any", expected="gold"
        )
    return known


def _majority(
    judgments: Judgments, sweeps: Sweeps, gold: Gold | None, seed: int
) -> NDArray[np.int16]:
    """The simple majority of each item, but of no honeypot: the paper has one feature on those."""
    votes, _ = sweeps.posterior(None, own=True)
    choice, _ = pick(votes, judgments, ties="random", seed=seed)
    counted = judgments.counts_per_item > 0
    if gold is not None:
        counted &= ~gold.honeypots(judgments)
    return np.where(counted, choice, -1).astype(np.int16)


def _compare(
    judgments: Judgments,
    sweeps: Sweeps,
    reference: NDArray[np.int16],
    wanted: list[str],
    values: dict[str, NDArray[np.float64]],
    counts: dict[str, NDArray[np.float64]],
) -> None:
    """Accuracies and distance against one reference, in one pass."""
    scale = judgments.scale
    if any(name.startswith("binary") for name in wanted):
        scale.need_relevant()
    distant = [name for name in wanted if "distance" in name]
    if distant and not scale.ordinal:
        raise BadData(
            f"feature {distant[0]} needs an ordinal scale, and {scale} has no order",
            expected="an ordinal scale",
        )
    number, stands = scale.truth_values, np.array(scale.truth_of)
    collapse = scale.truth_relevant
    relevant = np.zeros(len(number), dtype=np.bool_) if collapse is None else collapse
    table = sweeps.against(reference, len(number)) * (stands >= 0)  # (judge, truth, label)
    alike = np.arange(len(number))[:, None] == stands
    apart = np.abs(number[:, None] - number[stands])
    total, same, near, distance = (
        (table * weight).sum(axis=(1, 2))
        for weight in (1.0, alike, relevant[:, None] == relevant[stands], apart)
    )
    span = float(np.ptp(number)) or 1.0
    found = {
        "graded-accuracy": _share(same, total),
        "binary-accuracy": _share(near, total),
        "graded-distance": 1.0 - _share(distance / span, total),
    }
    for name in wanted:
        values[name] = found[name.rpartition("-")[0]]
        counts[name] = total


def _honeypots(
    judgments: Judgments, sweeps: Sweeps, gold: Gold | None
) -> NDArray[np.float64]:  # (judge, 2)
    """Judgments of honeypots, and how many gave the label that was wanted."""
    if gold is None or gold.honeypot is None or not gold.honeypot.any():
        raise BadData(
            "feature honeypot-accuracy needs honeypots, and no gold item is marked as one",
            expected="honeypots",
        )
    traps = gold.select(gold.honeypot)
    wanted = np.full(judgments.item_count, -1, dtype=np.int16)
    codes = np.array([judgments.scale.label_code(value) for value in traps.values])
    where = look_up(traps.items, judgments.items)
    wanted[where[where >= 0]] = codes[traps.value][where >= 0]
    table = sweeps.against(wanted, len(judgments.scale.labels))  # (judge, label wanted, label)
    return np.stack([table.sum(axis=(1, 2)), np.einsum("jkk->j", table)], axis=1).astype(np.float64)


def _typicality(
    judgments: Judgments, sweeps: Sweeps, priors: tuple[float, ...] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # (judge,), (judge,)
    """1 minus half the distance between a judge's label shares and the expected ones.

    The idea at the end of Jung and Lease's PMF paper: an accurate judge's labels are distributed as
    the classes are. Expected are the shares given, or the mean over judges. Their own shares are
    first drawn to the expected ones by as many pseudo-judgments as there are labels, so that a
    judge of two judgments is no outlier.
    """
    labels = len(judgments.scale.labels)
    cells = sweeps.cells()
    total = cells.sum(axis=1)
    if priors is None:
        seen = total > 0
        expected = (cells[seen] / total[seen, None]).mean(axis=0)
    else:
        expected = np.array(priors, dtype=np.float64)
        if len(expected) != labels or abs(expected.sum() - 1) > 1e-6:
            raise BadData(f"known shares {priors}: wanted {labels} that sum to 1", value=priors)
    own = (cells + labels * expected) / (total + labels)[:, None]
    score = 1.0 - np.abs(own - expected).sum(axis=1) / 2
    return np.where(total > 0, score, np.nan), total.astype(np.float64)


def _share(hits: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.where(total > 0, hits / np.where(total > 0, total, 1.0), np.nan))
