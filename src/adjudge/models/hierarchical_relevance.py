"""HierarchicalRelevance: binary relevance, judges with sensitivity and specificity, topics.

    phi_pi, phi_0, phi_1 ~ Beta(1, 1);  kappa_pi, kappa_0, kappa_1 ~ Pareto(1, 1.5)
    pi_t     ~ Beta(kappa_pi phi_pi, kappa_pi (1 - phi_pi))       prevalence of topic t
    theta0_j ~ Beta(kappa_0 phi_0, kappa_0 (1 - phi_0))           specificity of judge j
    theta1_j ~ Beta(kappa_1 phi_1, kappa_1 (1 - phi_1))           sensitivity of judge j
    z_i ~ Bernoulli(pi_t(i));  y ~ Bernoulli(z theta1_j + (1 - z)(1 - theta0_j))

B. Carpenter (2011), "A Hierarchical Bayesian Model of Crowdsourced Relevance Coding", TREC. His run
had 3 chains of 2,000 sweeps in JAGS, the first 1,000 dropped. Departures: phi and kappa are drawn
with the rates integrated out, and an item's relevance averages its posteriors, not its draws.

Relevance with covariates: what is known of items and of judges beside the judgments.

    logit P(z_i = 1)     =  alpha_t(i) + x_i . b               alpha_t ~ Normal(mu, tau^2)
    theta_j              ~  Beta(kappa phi_j, kappa (1 - phi_j)),   logit phi_j = g_0 + w_j . g

for sensitivity and specificity each, x and w standardised columns of the items (document length,
rank, a retrieval score) and of the judges (training, language). B. Carpenter (2011), section 10,
names such predictors as what the epidemiology literature has and crowdsourcing lacks: Qu, Tan and
Kutner (1996), Tu, Kowalski and Jia (1999). With no columns this is ``hierarchical_relevance`` with
a normal in place of the beta on prevalence.

Fitted by variational EM: the truths and the judges' rates have posteriors, coefficients and kappa
are at their maximum, under Normal(0, 2.5^2) for each coefficient and Pareto(1, 1.5) for kappa.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import betaln, digamma, expit

from adjudge.data.consensus import Consensus
from adjudge.data.draws import Draws
from adjudge.data.judgments import Judgments
from adjudge.data.names import Names, look_up
from adjudge.engines.engine import Parameters
from adjudge.errors import BadData, BadSetting
from adjudge.models._posterior import learnt_prior, sample_model
from adjudge.models.loop import Loop, State
from adjudge.models.model import Progress, Ties, conclude, prepare
from adjudge.models.settings import Fitted, Given, Shares, check_settings

_Floats = NDArray[np.float64]
_WIDE = 2.5  # sd of the prior of every coefficient, on standardised columns
_SHAPE = 1.5  # of the Pareto on kappa
_ITERATIONS = 300
_TOLERANCE = 1e-4  # of any item's probability
_EVERY = 4  # iterations between two fits of the judges' priors


@dataclass(frozen=True, slots=True, eq=False)
class _Design:
    """Standardised columns: a row an item or a judge, 0 (the mean) where a value is missing."""

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
                    f"column {title!r} of the {key}s is the same for all that were judged, or "
                    "missing for all: it tells nothing",
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
    texts = [None if text is None else str(text) for text in column.to_pylist()]
    counts = sorted({text: texts.count(text) for text in set(texts) if text}.items())
    rest = [text for text, _ in sorted(counts, key=lambda pair: -pair[1])[1:]]
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
    items = design(
        model.item_table if model.item_table is not None else _fields(table),
        model.item_columns,
        "item",
        table.items,
    )
    judges = design(model.judge_table, model.judge_columns, "judge", table.judges)
    fitted = _CovariateFit(table, prepared.known, items, judges, by_topic)
    converged = fitted.run(given.progress)
    confusion = np.stack(
        [fitted.rates[0][:, ::-1], fitted.rates[1]], axis=1
    )  # (judge, truth, label)
    return conclude(
        model,
        prepared,
        Parameters(prevalence=fitted.prevalence(), confusion=confusion),
        posterior=np.stack([1.0 - fitted.chance, fitted.chance], axis=1),
        counts=np.stack([fitted.counts[0][:, ::-1], fitted.counts[1]], axis=1),
        converged=converged,
        population=fitted.population(),
        notes=fitted.notes(converged),
    )


def _fields(table: Judgments) -> Any:
    """What was read beside the judgments, a row an item; None where nothing was."""
    if table.fields is None:
        return None
    return table.fields.append_column("item", table.items)


class _CovariateFit:
    """Where a fit stands. ``rates`` and ``counts`` are of (wrong, right) labels, truth by truth."""

    def __init__(
        self,
        table: Judgments,
        known: NDArray[np.int16] | None,
        items: _Design,
        judges: _Design,
        by_topic: bool,
    ) -> None:
        self.table, self.known, self.items, self.judges = table, known, items, judges
        count = table.item_count
        self.item, self.judge = table.item, table.judge
        self.says = np.array(table.scale.truth_of)[table.label].astype(np.float64)  # 1: relevant
        self.topic = np.zeros(count, dtype=np.int64)
        if by_topic and table.topic is not None:
            self.topic = table.topic.astype(np.int64)
        self.topics = table.topic_count if by_topic else 1
        ones = np.bincount(self.item, self.says, minlength=count)
        self.chance = self._told((ones + 0.5) / (table.counts_per_item + 1.0))
        self.level = np.zeros(self.topics)  # alpha
        self.mu, self.tau = 0.0, 1.0
        self.slopes = np.zeros(items.values.shape[1])  # b
        size = judges.values.shape[1]
        start = np.concatenate([[1.0], np.zeros(size), [np.log(3.0)]])
        self.priors = [start.copy(), start.copy()]  # of each truth: g_0, g, log kappa
        self.errors = np.zeros_like(self.slopes)
        self.counts: list[_Floats] = []
        self.rates: list[_Floats] = []

    def _told(self, chance: _Floats) -> _Floats:
        """Probabilities with gold in its place."""
        if self.known is None:
            return chance
        return np.where(self.known >= 0, self.known.astype(np.float64), chance)

    def run(self, progress: Progress | None) -> bool:
        """Iterate until no item's probability moves; whether that was reached."""

        def step(now: State, done: int) -> tuple[State, float]:
            before = self.chance
            self._judge_rates(learn=done % _EVERY == 0)
            self._item_levels()
            self.chance = self._told(expit(self._prior() + self._evidence()))
            return now, float(np.abs(self.chance - before).max(initial=0.0))

        def settled(trace: Sequence[float]) -> bool:
            return len(trace) > _EVERY + 1 and trace[-1] < _TOLERANCE

        loop = Loop(most=_ITERATIONS, progress=progress, note="moved by {:.2g}")
        return loop.run("columns", {}, step, settled)[2]

    def _judge_rates(self, *, learn: bool) -> None:
        """Expected counts, the priors of the rates by columns, and the rates' posteriors."""
        size = self.table.judge_count
        self.counts, self.rates, self.logs = [], [], []
        for truth in (0, 1):
            weight = self.chance if truth else 1.0 - self.chance
            right = self.says if truth else 1.0 - self.says
            mass = weight[self.item]
            hits = np.bincount(self.judge, mass * right, minlength=size).astype(np.float64)
            misses = np.bincount(self.judge, mass, minlength=size).astype(np.float64) - hits
            if learn:
                self.priors[truth] = _learn(self.priors[truth], self.judges.values, hits, misses)
            mean, kappa = _mean(self.priors[truth], self.judges.values)
            a, b = kappa * mean + hits, kappa * (1.0 - mean) + misses
            self.counts.append(np.stack([misses, hits], axis=1))
            self.rates.append(np.stack([b, a], axis=1) / (a + b)[:, None])
            self.logs.append((digamma(b) - digamma(a + b), digamma(a) - digamma(a + b)))

    def _evidence(self) -> _Floats:  # (item,)
        """What the judgments of each item say, as log odds."""
        (wrong0, right0), (wrong1, right1) = self.logs
        yes, no = right1 - wrong0, wrong1 - right0  # (judge,)
        each = np.where(self.says > 0, yes[self.judge], no[self.judge])
        sums = np.bincount(self.item, each, minlength=self.table.item_count)
        return np.asarray(sums, dtype=np.float64)

    def _prior(self) -> _Floats:  # (item,)
        return np.asarray(self.level[self.topic] + self.items.values @ self.slopes)

    def _item_levels(self) -> None:
        """One Newton step of the topics' levels, one of the coefficients, and the spread."""
        p = expit(self._prior())
        pull = np.bincount(self.topic, self.chance - p, minlength=self.topics)
        stiff = np.bincount(self.topic, p * (1.0 - p), minlength=self.topics) + self.tau**-2
        self.level = self.level + (pull - (self.level - self.mu) / self.tau**2) / stiff
        if self.topics > 1:
            self.mu = float(self.level.mean())
            spread = float(np.mean((self.level - self.mu) ** 2 + 1 / stiff))
            self.tau = max(spread, 0.01) ** 0.5
        else:
            self.mu, self.tau = 0.0, _WIDE
        if self.slopes.size:
            x = self.items.values
            p = expit(self._prior())
            curve = (x * (p * (1.0 - p))[:, None]).T @ x + np.eye(x.shape[1]) / _WIDE**2
            self.slopes = self.slopes + np.linalg.solve(
                curve, x.T @ (self.chance - p) - self.slopes / _WIDE**2
            )
            self.errors = np.sqrt(np.diag(np.linalg.inv(curve)))

    def prevalence(self) -> _Floats:  # (topic, truth)
        """The mean probability of each topic's items."""
        sums = np.bincount(self.topic, self.chance, minlength=self.topics)
        size = np.bincount(self.topic, minlength=self.topics)
        share = np.where(size > 0, sums / np.maximum(size, 1), expit(self.mu))
        return np.stack([1.0 - share, share], axis=1)

    def population(self) -> _Floats:  # (truth, label)
        """The matrix of a judge of whom nothing is known: columns at their mean."""
        low, high = (expit(prior[0]) for prior in self.priors)
        return np.array([[low, 1.0 - low], [1.0 - high, high]])

    def notes(self, converged: bool) -> tuple[str, ...]:
        """What the columns do, in words."""
        stopped = f"not converged after {_ITERATIONS} iterations: name fewer columns"
        said = ["converged" if converged else stopped]
        said += [
            f"relevance by {name}: {slope:+.2f} ± {error:.2f} in log odds for each sd"
            for name, slope, error in zip(self.items.names, self.slopes, self.errors, strict=True)
        ]
        for truth, what in ((1, "sensitivity"), (0, "specificity")):
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
        whole = digamma(a + b) - digamma(a + b + hits + misses)
        by_a = digamma(a + hits) - digamma(a) + whole
        by_b = digamma(b + misses) - digamma(b) + whole
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


@dataclass(frozen=True, slots=True, kw_only=True)
class HierarchicalRelevance(Fitted):
    """Sensitivity and specificity for each judge under learnt priors, by Gibbs sampling.

    The labels must be two; truth is the second. Topics have a prevalence each where they are known.

    ``item_columns`` and ``judge_columns`` name what is known of items and judges beside: a logistic
    prior on an item's relevance and on a judge's rates, fitted by
    variational EM and not sampled. They are columns of ``item_table`` and ``judge_table``, tables
    or files with a column item or judge; without ``item_table``, of what was read with the items.
    ``prevalence`` are known shares of the two labels, the same in all topics.
    """

    name: ClassVar[str] = "hierarchical-relevance"

    chains: int = 3
    warmup: int = 1000
    draws: int = 1000
    thin: int = 1
    by_topic: bool = True
    prevalence: Shares | None = None
    item_columns: tuple[str, ...] | str = ()
    judge_columns: tuple[str, ...] | str = ()
    item_table: Any = None
    judge_table: Any = None
    weigh_copies: bool = True
    ties: Ties = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        check_settings(self)
        for name in ("item_columns", "judge_columns"):
            value = getattr(self, name)
            if isinstance(value, str):
                names = tuple(part.strip() for part in value.split("+") if part.strip())
                object.__setattr__(self, name, names)

    def _fit(self, given: Given) -> Consensus:
        scale = given.judgments.scale
        if len(scale.labels) != 2 or len(scale.truths) != 2:
            raise BadData(
                f"{self.name} takes two labels, and these are {len(scale.labels)}: {scale}; "
                "collapse them (--binary), or take hierarchical-confusion, its form for any number",
                value=scale.labels,
                expected="two labels",
            )
        if self.item_columns or self.judge_columns:
            if self.prevalence is not None:
                raise BadSetting("prevalence", self.prevalence, "no columns beside it")
            return fit_with_columns(self, given)
        consensus = sample_model(self, given, learnt_prior(given))
        return replace(consensus, draws=consensus.draws and _as_published(consensus.draws))


def _as_published(draws: Draws) -> Draws:
    """The draws with hyper-parameters named as in the paper."""
    hyper = draws.hyper
    named = {
        "phi_0": hyper["phi"][:, :, 0, 0],
        "phi_1": hyper["phi"][:, :, 1, 1],
        "kappa_0": hyper["kappa"][:, :, 0],
        "kappa_1": hyper["kappa"][:, :, 1],
    }
    if "phi_prevalence" in hyper:  # not where the prevalence is known
        named["phi_pi"] = hyper["phi_prevalence"][:, :, 1]
        named["kappa_pi"] = hyper["kappa_prevalence"]
    order = ("phi_pi", "phi_0", "phi_1", "kappa_pi", "kappa_0", "kappa_1")
    return replace(draws, hyper={name: named[name] for name in order if name in named})
