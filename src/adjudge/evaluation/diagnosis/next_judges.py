"""Which judges to choose: for an item next, and the few who do as well as an entire panel.

For the few, the probability of a label is the product of what judges' labels say, by their rates on
gold, damped for errors that judges share:

    log p(t) ~ log prevalence(t) + n_eff(v) / v * sum_j log theta_j[t, y_j]

Judges are added one at a time, each time the one with whom the log loss is lowest. A number of them
is enough if log loss and accuracy, on gold items that had no part in choosing judges nor in their
rates, are worse than those of all judges by at most one standard error of the difference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from adjudge.data.consensus import Consensus, Families
from adjudge.data.judgments import Judgments
from adjudge.errors import BadSetting
from adjudge.evaluation.stopping import entropy_of
from adjudge.models.dependence import LEAST_GOLD, count_effective, count_further, measure_dependence

_BLOCK = 4_000_000  # numbers worked on at a time: 32 MB
_Floats = NDArray[np.float64]


def suggest_judges(
    consensus: Consensus,
    items: NDArray[np.integer[Any]],  # codes of the items
    *,
    among: NDArray[np.bool_] | None = None,  # (judge,)
    count: int = 3,
) -> tuple[NDArray[np.int64], _Floats]:  # (item, place), (item, place)
    """Suggest judges for each of the items, by the expected information of their judgment in bits.

    Best first, only ``among`` some judges, and without those who have judged the item already, in
    person or through their family: -1, and NaN bits, where there are fewer than ``count``. Bits are
    scaled by the weight of one more judgment. An item with known truth has nothing to gain.
    """
    if count < 1:
        raise BadSetting("count", count, "at least 1")
    judgments = consensus.judgments
    confusion = np.broadcast_to(
        consensus.confusion, (judgments.judge_count, *consensus.confusion.shape[1:])
    )
    judges = np.arange(len(confusion)) if among is None else np.flatnonzero(among)
    inner = entropy_of(confusion[judges])  # (judge, truth)
    further = count_further(judgments.counts_per_item, consensus.correlation or 0.0)
    found = np.full((len(items), count), -1, dtype=np.int64)
    bits = np.full((len(items), count), np.nan)
    step = max(1, _BLOCK // max(1, len(judges) * confusion.shape[2]))
    for start in range(0, len(items), step):
        part = np.asarray(items[start : start + step])
        posterior = consensus.posterior[part]
        mixed = np.einsum("ik,jkl->ijl", posterior, confusion[judges])
        gain = entropy_of(mixed) - posterior @ inner.T  # (item, judge)
        gain *= further[part][:, None]
        gain[_has_judged(consensus, part)[:, judges]] = -np.inf
        order = np.argsort(-gain, axis=1, kind="stable")[:, :count]
        best = np.take_along_axis(gain, order, axis=1)
        free = best > -np.inf
        rows = slice(start, start + len(part))
        wide = order.shape[1]
        found[rows, :wide] = np.where(free, judges[order], -1)
        bits[rows, :wide] = np.where(free, np.maximum(best, 0.0), np.nan)
    return found, bits


def _has_judged(consensus: Consensus, items: NDArray[Any]) -> NDArray[np.bool_]:  # (item, judge)
    """Return which judges have judged which items, in person or by another of their family."""
    judgments = consensus.judgments
    rows, item = judgments.rows_of(items)
    every = np.arange(judgments.judge_count)
    family = every if consensus.families is None else consensus.families.family
    taken = np.zeros((len(items), len(every)), dtype=np.bool_)
    taken[item, family[judgments.judge[rows]]] = True
    return np.asarray(taken[:, family])


_FOLDS = 5
_MOST_ITEMS = 1_000  # gold items that are used
_MOST_CELLS = 10_000_000  # rates of all judges
_LEAST_JUDGES, _MOST_CHOSEN = 4, 10
_PANEL = 0.5  # of the gold items an average judge labels: fewer make a crowd
_DRAWN = 5.0  # judgments' worth of the rates of all judges in those of each
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class FewJudges:
    """Judges who do as well as all; accuracies and log losses (nats) are cross-validated."""

    judges: tuple[str, ...]  # in the order in which they were chosen
    of: int
    items: int  # gold items
    accuracy: float
    accuracy_all: float
    log_loss: float
    log_loss_all: float

    def __str__(self) -> str:
        many = len(self.judges)
        who = "1 of" if many == 1 else f"These {many} of"
        return (
            f"{who} {self.of:,} judges {'does' if many == 1 else 'do'} as well as all: "
            f"{', '.join(self.judges)} (on {self.items:,} gold items, cross-validated: "
            f"accuracy {self.accuracy:.2f}, all judges {self.accuracy_all:.2f}; "
            f"log loss {self.log_loss:.2f}, all judges {self.log_loss_all:.2f})."
        )


@dataclass(frozen=True, slots=True, eq=False)
class _GoldPanel:
    """Labels of gold items by all judges: a panel fills most of this array."""

    label: _Ints  # (item, judge) -1 where there is none
    truth: _Ints  # (item,)
    labels: int
    truths: int
    correlation: float

    def take(self, items: NDArray[np.bool_]) -> _GoldPanel:
        """The panel on some of its items."""
        return replace(self, label=self.label[items], truth=self.truth[items])


def find_few_judges(
    judgments: Judgments, known: NDArray[np.int16] | None, *, seed: int = 0
) -> FewJudges | None:
    """The few judges that carry a panel; None without enough gold, or where half do not suffice.

    ``known`` has the gold label of each item, -1 where there is none. Crowds, in which an average
    judge labels less than half of the gold items, are left out.
    """
    rng = np.random.default_rng(seed)
    panel = None if known is None else _read_panel(judgments, known, rng)
    if panel is None:
        return None
    items, judges = panel.label.shape
    most = min(judges // 2, _MOST_CHOSEN)
    fold = rng.permutation(items) % _FOLDS
    few, everybody = np.empty((items, most, panel.truths)), np.empty((items, panel.truths))
    for out in (fold == number for number in range(_FOLDS)):
        rates, held = _GoldRates(panel.take(~out)), panel.take(out)
        few[out] = rates.read(held, rates.choose(most))
        everybody[out] = rates.read(held, list(range(judges)))[:, -1]
    here = np.arange(items)
    loss, loss_all = -few[here, :, panel.truth], -everybody[here, panel.truth]
    right = few.argmax(axis=2) == panel.truth[:, None]
    right_all = everybody.argmax(axis=1) == panel.truth
    enough = _is_close(loss - loss_all[:, None]) & _is_close(right_all[:, None] - 1.0 * right)
    if not enough.any():
        return None
    last = int(np.argmax(enough))
    return FewJudges(
        judges=tuple(str(judgments.judges[j].as_py()) for j in _GoldRates(panel).choose(last + 1)),
        of=judges,
        items=items,
        accuracy=float(right[:, last].mean()),
        accuracy_all=float(right_all.mean()),
        log_loss=float(loss[:, last].mean()),
        log_loss_all=float(loss_all.mean()),
    )


def _is_close(worse: _Floats) -> NDArray[np.bool_]:  # (first judges,)
    """Whether a loss (item, first judges) is within a standard error of none."""
    return np.asarray(worse.mean(axis=0) <= worse.std(axis=0, ddof=1) / np.sqrt(len(worse)))


def _read_panel(
    judgments: Judgments, known: NDArray[np.int16], rng: np.random.Generator
) -> _GoldPanel | None:
    """The labels of gold items; None where they are too few, or of a crowd."""
    judges, scale = judgments.judge_count, judgments.scale
    cells = judges * len(scale.truths) * len(scale.labels)
    gold = np.flatnonzero((known >= 0) & (judgments.counts_per_item > 1))
    gold = np.sort(rng.permutation(gold)[:_MOST_ITEMS])
    rows, item = judgments.rows_of(gold)
    if (
        judges < _LEAST_JUDGES
        or cells > _MOST_CELLS
        or len(gold) < LEAST_GOLD
        or len(rows) < _PANEL * len(gold) * judges
    ):
        return None
    label = np.full((len(gold), judges), -1)
    label[item, judgments.judge[rows]] = judgments.label[rows]
    found = measure_dependence(judgments, known, Families.none(judges))
    correlation = 0.0 if found is None else found.correlation
    truth = known[gold].astype(np.int64)
    return _GoldPanel(label, truth, len(scale.labels), len(scale.truths), correlation)


class _GoldRates:
    """Judges' rates on gold items, and what they make of labels."""

    def __init__(self, panel: _GoldPanel) -> None:
        self.panel = panel
        shape = (panel.label.shape[1], panel.truths, panel.labels)
        item, judge = np.nonzero(panel.label >= 0)
        self.counts = np.zeros(shape)
        np.add.at(self.counts, (judge, panel.truth[item], panel.label[item, judge]), 1.0)
        typical = self.counts.sum(axis=0) + 0.5
        self.counts += _DRAWN * typical / typical.sum(axis=1, keepdims=True)
        shares = np.bincount(panel.truth, minlength=panel.truths) + 0.5
        self.prior = np.log(shares / shares.sum())

    def choose(self, most: int) -> list[int]:
        """So many judges, each the one with whom the log loss of these items is lowest."""
        logs = self._logs(self.panel, own=True)
        given = (self.panel.label >= 0).astype(np.int64)  # (item, judge)
        sums, counts = np.zeros((len(logs), 1, self.panel.truths)), np.zeros((len(logs), 1))
        here, chosen = np.arange(len(logs)), list[int]()
        for _ in range(most):
            tried = self._damp(sums + logs, counts + given)
            loss = -tried[here, :, self.panel.truth].mean(axis=0)
            loss[chosen] = np.inf
            chosen.append(int(np.argmin(loss)))
            sums, counts = sums + logs[:, chosen[-1:]], counts + given[:, chosen[-1:]]
        return chosen

    def read(self, panel: _GoldPanel, judges: list[int]) -> _Floats:  # (item, first judges, truth)
        """Log probabilities of the truths by the first judge, the first two and so on."""
        sums = np.cumsum(self._logs(panel, own=False)[:, judges], axis=1)
        return self._damp(sums, np.cumsum(panel.label[:, judges] >= 0, axis=1))

    def _damp(self, sums: _Floats, counts: NDArray[Any]) -> _Floats:
        power = count_effective(counts, self.panel.correlation) / np.maximum(counts, 1)
        return np.asarray(log_softmax(self.prior + power[..., None] * sums, axis=-1))

    def _logs(self, panel: _GoldPanel, *, own: bool) -> _Floats:  # (item, judge, truth)
        """Log rates of the labels given; ``own``: without the item's own share in them."""
        label = np.maximum(panel.label, 0)
        hits = self.counts[np.arange(label.shape[1]), :, label]
        every = np.broadcast_to(self.counts.sum(axis=2), hits.shape).copy()
        if own:
            here = np.arange(len(label))
            hits[here, :, panel.truth] -= panel.label >= 0
            every[here, :, panel.truth] -= panel.label >= 0
        return np.asarray(np.where(panel.label[..., None] >= 0, np.log(hits / every), 0.0))
