"""Covariates: columns of items and judges in addition to the judgments.

    P(z_i = k) / P(z_i = k - 1)  =  exp(alpha_t(i),k + x_i . b)    alpha_tk ~ Normal(mu_k, tau_k^2)
    theta_j[k, :]  ~  Dirichlet(kappa_k (phi_jk on right labels, 1 - phi_jk on wrong ones))
    logit phi_jk   =  g_k0 + w_j . g_k

x and w are standardised columns of the items (document length, rank, a retrieval score) and of the
judges (training, language). With two labels the first line is logistic regression, and phi are
sensitivity and specificity. Within right and wrong, labels have the shares of the population. B.
Carpenter (2011), section 10, names such predictors as what the epidemiology literature has and
crowdsourcing lacks: Qu, Tan and Kutner (1996), Tu, Kowalski and Jia (1999).

Fitted by variational EM: the truths and the judges' rates have posteriors, coefficients and kappa
are at their maximum, under Normal(0, 2.5^2) for each coefficient and Pareto(1, 1.5) for kappa.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import betaln, digamma, expit, softmax

from adjudge.data.consensus import Consensus
from adjudge.data.judgments import Judgments
from adjudge.data.names import Names, look_up
from adjudge.engines.engine import Parameters
from adjudge.errors import BadData, BadSetting
from adjudge.models.loop import Loop, State
from adjudge.models.model import Progress, conclude, prepare, put_gold
from adjudge.models.settings import Fitted, Given, Shares, check_settings

_Floats = NDArray[np.float64]
_WIDE = 2.5  # sd of the prior of every coefficient, on standardised columns
_SHAPE = 1.5  # of the Pareto on kappa
_ITERATIONS = 300
_TOLERANCE = 1e-4  # of any item's probability
_EVERY = 4  # iterations between two fits of the judges' priors


@dataclass(frozen=True, slots=True, kw_only=True)
class WithColumns(Fitted):
    """A model that may take columns of items and judges; it is then fitted by variational EM.

    ``item_columns`` and ``judge_columns`` name columns of ``item_table`` and ``judge_table``,
    tables or files with a column item or judge; without ``item_table``, of what was read with the
    items.
    """

    item_columns: tuple[str, ...] | str = ()
    judge_columns: tuple[str, ...] | str = ()
    item_table: Any = None
    judge_table: Any = None
    prevalence: Shares | None = None

    def __post_init__(self) -> None:
        check_settings(self)
        for name in ("item_columns", "judge_columns"):
            value = getattr(self, name)
            if isinstance(value, str):
                names = tuple(part.strip() for part in value.split("+") if part.strip())
                object.__setattr__(self, name, names)
        if self.has_columns and self.prevalence is not None:
            raise BadSetting("prevalence", self.prevalence, "no item_columns or judge_columns")

    @property
    def has_columns(self) -> bool:
        """Whether columns are named."""
        return bool(self.item_columns or self.judge_columns)


@dataclass(frozen=True, slots=True, eq=False)
class _Design:
    """Standardised columns: one row per item or judge, 0 (the mean) where a value is missing."""

    names: tuple[str, ...]  # (column,)
    values: _Floats  # (row, column)
    missing: int


def design(table: Any, columns: Sequence[str], key: str, rows: Names) -> _Design:
    """The columns of a table, in the order of ``rows``; texts become a column for each but one."""
    if not columns:
        return _Design((), np.zeros((len(rows), 0)), 0)
    held = _table(table, key)
    for name in (key, *columns):
        if name not in held.column_names:
            raise BadData(
                f"there is no column {name!r} in the table of {key}s; it has "
                f"{', '.join(held.column_names)}",
                value=name,
                expected=f"the columns {', '.join((key, *columns))}",
            )
    named = held[key].cast(pa.large_string()).combine_chunks()
    where = look_up(rows, named)  # (row,) its place in the table, -1 where it has none
    made, titles, missing = [], [], 0
    for name in columns:
        for title, column in _numbers(held[name], name):
            value = np.where(where >= 0, column[where], np.nan)
            known = ~np.isnan(value)
            missing += int((~known).sum())
            spread = value[known].std() if known.any() else 0.0
            if spread == 0:
                raise BadData(
                    f"column {title!r} of the {key}s has one value, or none, for all that were "
                    "judged",
                    value=title,
                    expected="a column with different values",
                )
            made.append(np.where(known, (value - value[known].mean()) / spread, 0.0))
            titles.append(title)
    return _Design(tuple(titles), np.stack(made, axis=1), missing)


def _table(table: Any, key: str) -> Any:
    """An Arrow table from a table of any kind or from a file of it."""
    if table is None:
        raise BadSetting(f"{key}_table", None, f"a table with a column {key}, or its file")
    if isinstance(table, str | Path):
        from pyarrow import csv, parquet

        place = Path(table)
        if not place.is_file():
            raise BadSetting(f"{key}_table", str(table), "a .csv, .tsv or .parquet file")
        if place.suffix == ".parquet":
            return parquet.read_table(place)
        tabs = csv.ParseOptions(delimiter="\t" if place.suffix == ".tsv" else ",")
        return csv.read_csv(place, parse_options=tabs)
    return table if isinstance(table, pa.Table) else pa.table(table)


def _numbers(column: Any, name: str) -> list[tuple[str, _Floats]]:
    """A column as numbers; of texts, whether it is each but the commonest."""
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return [(name, column.cast(pa.float64()).to_numpy(zero_copy_only=False))]
    texts = [str(text) if text not in (None, "") else None for text in column.to_pylist()]
    counts = Counter(sorted(text for text in texts if text is not None))
    rest = [text for text, _ in counts.most_common()[1:]]
    if len(rest) > 50:
        raise BadData(f"column {name!r} has more than 50 different texts", value=name)
    return [
        (f"{name} {text}", np.array([np.nan if t is None else float(t == text) for t in texts]))
        for text in rest
    ]


def fit_with_columns(model: Any, given: Given) -> Consensus:
    """The consensus of a model with covariates."""
    by_topic = model.by_topic and given.judgments.topics is not None
    prepared = prepare(*given[:3], by_topic=by_topic, copies=False)
    table = prepared.judgments
    scale = table.scale
    if model.item_columns and len(scale.truths) > 2 and not scale.ordinal:
        raise BadData(
            f"item_columns need grades in order, and {scale} has no order",
            value=scale.labels,
            expected="an ordinal scale, or two labels",
        )
    items = design(
        model.item_table if model.item_table is not None else _fields(table),
        model.item_columns,
        "item",
        table.items,
    )
    judges = design(model.judge_table, model.judge_columns, "judge", table.judges)
    fitted = _CovariateFit(table, prepared.known, items, judges, by_topic)
    converged = fitted.run(given.progress)
    return conclude(
        model,
        prepared,
        Parameters(prevalence=fitted.prevalence(), confusion=fitted.rates),
        posterior=fitted.chance,
        counts=fitted.counts,
        converged=converged,
        population=fitted.population(),
        notes=fitted.notes(converged),
    )


def _fields(table: Judgments) -> Any:
    """What was read next to the judgments, a row per item; None where nothing was."""
    if table.fields is None:
        return None
    return table.fields.append_column("item", table.items)


class _CovariateFit:
    """The state of a fit."""

    def __init__(
        self,
        table: Judgments,
        known: NDArray[np.int16] | None,
        items: _Design,
        judges: _Design,
        by_topic: bool,
    ) -> None:
        self.table, self.known, self.items, self.judges = table, known, items, judges
        count, truths, labels = table.item_count, len(table.scale.truths), len(table.scale.labels)
        self.item, self.judge = table.item, table.judge
        truth_of = np.array(table.scale.truth_of)
        self.right = np.arange(truths)[:, None] == truth_of  # (truth, label)
        self.grade = np.arange(truths, dtype=np.float64)
        self.topic = np.zeros(count, dtype=np.int64)
        if by_topic and table.topic is not None:
            self.topic = table.topic.astype(np.int64)
        self.topics = table.topic_count if by_topic else 1
        votes = np.zeros((count, truths))
        np.add.at(votes, self.item, self.right.T[table.label])
        self.chance = (votes + 0.5) / (votes.sum(axis=1) + truths / 2)[:, None]
        put_gold(self.chance, known)
        self.level = np.zeros((self.topics, truths))  # alpha, summed up to each truth; the first 0
        self.mu, self.tau = np.zeros(truths), np.ones(truths)
        self.slopes = np.zeros(items.values.shape[1])  # b
        self.errors = np.zeros_like(self.slopes)
        start = [1.0, *np.zeros(judges.values.shape[1]), np.log(3.0)]
        self.priors = [np.array(start) for _ in range(truths)]  # of each truth: g_0, g, log kappa
        self.shares = np.full((truths, labels), 1.0 / labels)  # within right, and within wrong
        self.counts = np.zeros((table.judge_count, truths, labels))
        self.rates, self.logs = np.zeros_like(self.counts), np.zeros_like(self.counts)

    def run(self, progress: Progress | None) -> bool:
        """Iterate until no item's probability moves; whether that was reached."""

        def step(now: State, done: int) -> tuple[State, float]:
            before = self.chance
            self._judge_rates(learn=done % _EVERY == 0)
            self._item_levels()
            self.chance = softmax(self._prior() + self._evidence(), axis=1)
            put_gold(self.chance, self.known)
            return now, float(np.abs(self.chance - before).max(initial=0.0))

        def settled(trace: Sequence[float]) -> bool:
            return len(trace) > _EVERY + 1 and trace[-1] < _TOLERANCE

        loop = Loop(most=_ITERATIONS, progress=progress, note="moved by {:.2g}")
        return loop.run("columns", {}, step, settled)[2]

    def _judge_rates(self, *, learn: bool) -> None:
        """Expected counts, the priors of the rates by columns, and the rates' posteriors."""
        judges, truths, labels = self.counts.shape
        cell = self.judge.astype(np.int64) * labels + self.table.label
        for truth in range(truths):
            mass = np.bincount(cell, self.chance[self.item, truth], minlength=judges * labels)
            counts = mass.reshape(judges, labels)
            right = self.right[truth]
            hits = counts[:, right].sum(axis=1)
            if learn:
                self.priors[truth] = _learn(
                    self.priors[truth], self.judges.values, hits, counts.sum(axis=1) - hits
                )
            total = counts.sum(axis=0) + 0.5
            group_total = np.where(right, total[right].sum(), total[~right].sum())
            self.shares[truth] = total / group_total
            mean, kappa = _mean(self.priors[truth], self.judges.values)
            posterior = counts + kappa * self._row(truth, mean)
            size = posterior.sum(axis=1, keepdims=True)
            self.counts[:, truth], self.rates[:, truth] = counts, posterior / size
            self.logs[:, truth] = digamma(posterior) - digamma(size)

    def _row(self, truth: int, mean: _Floats) -> _Floats:  # (judge, label)
        """The prior mean of each judge's labels, from that of being right."""
        each = np.where(self.right[truth], mean[:, None], 1.0 - mean[:, None])
        return np.asarray(each * self.shares[truth])

    def _evidence(self) -> _Floats:  # (item, truth)
        """What the judgments of each item say, as logs."""
        each = self.logs[self.judge, :, self.table.label]  # (judgment, truth)
        sums = [np.bincount(self.item, one, minlength=self.table.item_count) for one in each.T]
        return np.stack(sums, axis=1)

    def _prior(self) -> _Floats:  # (item, truth)
        lean = self.items.values @ self.slopes
        return np.asarray(self.level[self.topic] + lean[:, None] * self.grade)

    def _by_topic(self, values: _Floats) -> _Floats:  # (topic, truth)
        sums = [np.bincount(self.topic, one, minlength=self.topics) for one in values.T]
        return np.stack(sums, axis=1)

    def _item_levels(self) -> None:
        """One Newton step of the topics' levels, one of the coefficients, and the spread."""
        p = softmax(self._prior(), axis=1)
        stiff = self._by_topic(p * (1.0 - p)) + self.tau**-2
        pull = self._by_topic(self.chance - p) - (self.level - self.mu) / self.tau**2
        self.level[:, 1:] += (pull / stiff)[:, 1:]
        if self.topics > 1:
            self.mu = self.level.mean(axis=0)
            spread = np.mean((self.level - self.mu) ** 2 + 1 / stiff, axis=0)
            self.tau = np.sqrt(np.maximum(spread, 0.01))
        else:
            self.mu, self.tau = np.zeros_like(self.mu), np.full_like(self.tau, _WIDE)
        if self.slopes.size:
            x = self.items.values
            p = softmax(self._prior(), axis=1)
            spread = p @ self.grade**2 - (p @ self.grade) ** 2
            curve = (x * spread[:, None]).T @ x + np.eye(x.shape[1]) / _WIDE**2
            more = x.T @ ((self.chance - p) @ self.grade) - self.slopes / _WIDE**2
            self.slopes = self.slopes + np.linalg.solve(curve, more)
            self.errors = np.sqrt(np.diag(np.linalg.inv(curve)))

    def prevalence(self) -> _Floats:  # (topic, truth)
        """The mean probability of each topic's items."""
        size = np.bincount(self.topic, minlength=self.topics)[:, None]
        share = self._by_topic(self.chance) / np.maximum(size, 1)
        return np.where(size > 0, share, softmax(self.mu))

    def population(self) -> _Floats:  # (truth, label)
        """The matrix of a judge about whom nothing is known: columns at their mean."""
        means = [np.array([expit(prior[0])]) for prior in self.priors]
        return np.concatenate([self._row(truth, mean) for truth, mean in enumerate(means)])

    def notes(self, converged: bool) -> tuple[str, ...]:
        """What the columns do, in words."""
        stopped = f"not converged after {_ITERATIONS} iterations: name fewer columns"
        said = ["converged" if converged else stopped]
        truths = self.table.scale.truths
        step = "" if len(truths) == 2 else " and grade"
        said += [
            f"relevance by {name}: {slope:+.2f} ± {error:.2f} in log odds for each sd{step}"
            for name, slope, error in zip(self.items.names, self.slopes, self.errors, strict=True)
        ]
        rates = {k: f"accuracy on {truth}" for k, truth in enumerate(truths)}
        if len(truths) == 2:
            rates = {1: "sensitivity", 0: "specificity"}
        for truth, what in rates.items():
            said += [
                f"{what} by {name}: {slope:+.2f} in log odds for each sd"
                for name, slope in zip(self.judges.names, self.priors[truth][1:-1], strict=True)
            ]
        lost = self.items.missing + self.judges.missing
        if lost:
            said.append(f"{lost:,} values of the columns are missing: taken for the mean")
        return tuple(said)


def _mean(prior: _Floats, columns: _Floats) -> tuple[_Floats, float]:  # (judge,)
    """The prior mean of each judge's rate, and kappa."""
    return expit(prior[0] + columns @ prior[1:-1]), float(np.exp(prior[-1]))


def _learn(start: _Floats, columns: _Floats, hits: _Floats, misses: _Floats) -> _Floats:
    """Coefficients and log kappa that make the counts most probable, rates integrated out."""

    def loss(point: _Floats) -> tuple[float, _Floats]:
        mean, kappa = _mean(point, columns)
        mean = np.clip(mean, 1e-6, 1 - 1e-6)
        a, b = kappa * mean, kappa * (1.0 - mean)
        value = np.sum(betaln(a + hits, b + misses) - betaln(a, b))
        common = digamma(a + b) - digamma(a + b + hits + misses)
        by_a = digamma(a + hits) - digamma(a) + common
        by_b = digamma(b + misses) - digamma(b) + common
        by_eta = kappa * mean * (1.0 - mean) * (by_a - by_b)
        slope = np.concatenate(
            [[by_eta.sum()], columns.T @ by_eta, [np.sum(a * by_a + b * by_b) - _SHAPE]]
        )
        value -= 0.5 * np.sum(point[:-1] ** 2) / _WIDE**2 + _SHAPE * point[-1]
        slope[:-1] -= point[:-1] / _WIDE**2
        return -float(value), -slope

    from scipy.optimize import minimize

    bounds = [(None, None)] * (len(start) - 1) + [(0.0, 12.0)]  # kappa of 1 and more
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(found.x)
