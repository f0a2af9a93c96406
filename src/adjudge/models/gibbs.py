"""The Gibbs sampler, written once for every Bayesian model of the family.

Each iteration draws, in turn:

    phi, kappa | z         by slices, with the rates integrated out (learnt priors only)
    theta, pi  | z         Dirichlet, given the counts of the truths drawn
    z          | theta, pi each item from its posterior, one sweep over the judgments

A chain starts from votes, coin flips for ties. Rates come first, given that start: a sampler that
first overwrote z from arbitrary rates could land in the mirrored mode and stay there.
"""

from __future__ import annotations

import threading
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from adjudge.engines.engine import Sampler, Tally
from adjudge.errors import BadSetting
from adjudge.kernels import gibbs as kernels
from adjudge.kernels import hyper as slices
from adjudge.kernels.fixed import log_units
from adjudge.models.model import Progress, Step

_LOOK = 0.2  # seconds between looks at how far the chains are
_BUDGET = 64 * 2**20  # bytes for draws of prevalence and confusion, all chains together


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How long to sample."""

    chains: int
    warmup: int
    draws: int
    thin: int
    seed: int

    @property
    def iterations(self) -> int:
        """Sweeps of a chain, warm-up included."""
        return self.warmup + self.draws * self.thin


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prior:
    """What is believed before: fixed pseudo-counts, or pseudo-counts that are learnt.

    ``exchangeable`` says that truths may trade places without the prior noticing, so that a chain
    whose truths have switched may be put back.
    """

    confusion: NDArray[np.float64]  # (truth, label), where a learnt prior starts
    prevalence: NDArray[np.float64]  # (truth,)
    learnt: bool = False
    exchangeable: bool = False


class _Learnt:
    """One Dirichlet prior kappa phi that a chain learns: eta and kappa, and room to work in."""

    def __init__(self, start: NDArray[np.float64], rows: int, rng: np.random.Generator) -> None:
        self.columns = len(start)
        self.eta = np.log(start[:-1] / start[-1]) + rng.normal(0, 0.5, self.columns - 1)
        self.kappa = np.array([max(start.sum(), 1.0) + rng.exponential()])
        self.width = np.full(self.columns, 0.7)
        self.room = slices.workspace(rows, self.columns)

    def update(self, rng: np.random.Generator, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Draw phi and kappa given counts (row, column); the pseudo-counts kappa phi."""
        slices.update(
            rng, np.ascontiguousarray(counts), self.eta, self.kappa, self.width, *self.room
        )
        return np.asarray(self.kappa[0] * self.room[0])

    @property
    def phi(self) -> NDArray[np.float64]:
        """The mean of the prior."""
        return self.room[0]


@dataclass(slots=True, eq=False)
class Chain:
    """What one chain leaves behind."""

    iteration: int = 0  # sweeps made
    done: int = 0  # draws kept
    swept: int = 0  # sweeps kept: thin times the draws, all of them averaged
    relabelled: int = 0
    phi: list[NDArray[np.float64]] = field(default_factory=list)  # of draws: (truth, label)
    kappa: list[NDArray[np.float64]] = field(default_factory=list)  # of draws: (truth,)
    phi_prevalence: list[NDArray[np.float64]] = field(default_factory=list)  # of draws: (truth,)
    kappa_prevalence: list[float] = field(default_factory=list)
    confusion: list[NDArray[np.float32]] = field(default_factory=list)  # of every stride-th draw
    prevalence: list[NDArray[np.float32]] = field(default_factory=list)
    confusion_sum: Any = None  # (judge, truth, label) of expectations
    prevalence_sum: Any = None  # (topic, truth)
    counts_sum: Any = None  # (judge, label, truth)


def stride_of(plan: Plan, judges: int, topics: int, truths: int, labels: int) -> int:
    """Every how many draws prevalence and confusion are kept, so that they fit the budget."""
    one = 4 * (judges * truths * labels + topics * truths)
    return max(1, -(-plan.chains * plan.draws * one // _BUDGET))


def check_plan(plan: Plan) -> None:
    """Complain of a run that cannot be."""
    for name, least in (("chains", 1), ("draws", 1), ("warmup", 0), ("thin", 1)):
        if getattr(plan, name) < least:
            raise BadSetting(name, getattr(plan, name), f"at least {least}")


def run_chain(
    sampler: Sampler,
    number: int,
    choice: NDArray[np.int16],  # (item,)
    prior: Prior,
    plan: Plan,
    stride: int,
    stop: threading.Event,
    chain: Chain,
) -> None:
    """Run one chain to its end, or until it is told to stop; what it kept is in ``chain``."""
    rng = np.random.default_rng(np.random.SeedSequence([plan.seed, number]))
    tally = sampler.start(number, choice)
    judges, labels, truths = tally.counts.shape
    theta = np.empty((judges, truths, labels))
    topics = len(tally.classes)
    pi = np.empty((topics, truths))
    ratio = np.empty(judges * labels * (truths - 1), dtype=np.int64)
    prevalence_ratio = np.empty(topics * (truths - 1), dtype=np.int64)
    chain.confusion_sum, chain.prevalence_sum = np.zeros_like(theta), np.zeros_like(pi)
    chain.counts_sum = np.zeros_like(tally.counts)
    rows = [_Learnt(prior.confusion[k], judges, rng) for k in range(truths) if prior.learnt]
    common = _Learnt(prior.prevalence, topics, rng) if prior.learnt else None
    alpha, beta = prior.confusion.copy(), prior.prevalence
    for iteration in range(plan.iterations):
        if stop.is_set():
            return
        if common is not None:
            for k, row in enumerate(rows):
                alpha[k] = row.update(rng, tally.counts[:, :, k])
            beta = common.update(rng, tally.classes)
        keep = iteration >= plan.warmup
        kernels.draw_confusion(rng, tally.counts, alpha, theta, ratio, chain.confusion_sum, keep)
        kernels.draw_prevalence(
            rng, tally.classes, beta, pi, prevalence_ratio, chain.prevalence_sum, keep
        )
        tally = sampler.draw(number, iteration, prevalence_ratio, ratio, float(keep))
        order = switched(tally.switch) if prior.exchangeable else None
        if order is not None:
            chain.relabelled += 1
            if keep:
                sampler.draw(number, iteration, prevalence_ratio, ratio, -1.0)
            tally, rows = _put_back(tally, rows, common, theta, pi, order)
            ratio, prevalence_ratio = log_ratios(theta.transpose(0, 2, 1)), log_ratios(pi)
            if keep:
                sampler.draw(number, iteration, prevalence_ratio, ratio, 1.0)
        chain.iteration = iteration + 1
        if keep:
            chain.swept += 1
            chain.counts_sum += tally.counts
            if (iteration - plan.warmup) % plan.thin == 0:
                _store(chain, rows, common, theta, pi, stride)


def _store(
    chain: Chain,
    rows: list[_Learnt],
    common: _Learnt | None,
    theta: NDArray[np.float64],
    pi: NDArray[np.float64],
    stride: int,
) -> None:
    """Keep a draw of everything."""
    if common is not None:
        chain.phi.append(np.stack([row.phi for row in rows]))
        chain.kappa.append(np.array([row.kappa[0] for row in rows]))
        chain.phi_prevalence.append(common.phi.copy())
        chain.kappa_prevalence.append(float(common.kappa[0]))
    if chain.done % stride == 0:
        chain.confusion.append(theta.astype(np.float32))
        chain.prevalence.append(pi.astype(np.float32))
    chain.done += 1


def switched(switch: NDArray[np.int64]) -> NDArray[np.intp] | None:
    """The truths in the order that agrees best with the pivot; None if that is how they are.

    The order minimises the Kullback-Leibler cost of M. Stephens (2000, doi:10.1111/1467-9868.00265)
    between the draw and a pivot labelling, here the votes: an assignment problem on the table of
    pivot against draw.
    """
    if np.array_equal(switch.argmax(axis=1), np.arange(len(switch))):
        return None
    _, order = linear_sum_assignment(switch, maximize=True)
    return None if np.array_equal(order, np.arange(len(order))) else order


def _put_back(
    tally: Tally,
    rows: list[_Learnt],
    common: _Learnt | None,
    theta: NDArray[np.float64],
    pi: NDArray[np.float64],
    order: NDArray[np.intp],
) -> tuple[Tally, list[_Learnt]]:
    """Everything a chain holds, with its truths in another order; rates change in place."""
    theta[:] = theta[:, order]
    pi[:] = pi[:, order]
    if common is not None:
        phi = common.phi[order]
        common.eta[:] = np.log(phi[:-1] / phi[-1])
        common.phi[:] = phi
    tally = Tally(
        counts=np.ascontiguousarray(tally.counts[:, :, order]),
        classes=np.ascontiguousarray(tally.classes[:, order]),
        switch=tally.switch[:, order],
    )
    return tally, [rows[k] for k in order] if rows else rows


def log_ratios(rates: NDArray[np.float64]) -> NDArray[np.int64]:
    """Log rates relative to truth 0, the last axis, flat and in units, as sweeps take them."""
    logs = log_units(rates)
    return np.ascontiguousarray(logs[..., 1:] - logs[..., :1]).reshape(-1)


def run_chains(
    sampler: Sampler,
    choices: list[NDArray[np.int16]],  # of each chain: (item,)
    prior: Prior,
    plan: Plan,
    stride: int,
    *,
    threads: int,
    progress: Progress | None,
) -> tuple[list[Chain], bool]:
    """Run all chains, as many at once as there are threads; whether Ctrl-C cut them short.

    On Ctrl-C every chain stops after its sweep, and what was drawn is kept, as many draws of each
    chain as the shortest has; with no draw from every chain there is nothing to keep.
    """
    chains = [Chain() for _ in range(plan.chains)]
    stop = threading.Event()
    cut = False
    with ThreadPoolExecutor(min(threads, plan.chains)) as pool:
        tasks = [
            pool.submit(run_chain, sampler, n, choices[n], prior, plan, stride, stop, chains[n])
            for n in range(plan.chains)
        ]
        try:
            while wait(tasks, timeout=_LOOK, return_when=FIRST_EXCEPTION).not_done:
                if any(task.done() and task.exception() for task in tasks):
                    break
                _tell(chains, plan, progress)
        except KeyboardInterrupt:
            cut = True
        finally:
            if cut or any(task.done() and task.exception() for task in tasks):
                stop.set()
        for task in tasks:
            task.result()
    if cut and min(chain.done for chain in chains) == 0:
        raise KeyboardInterrupt
    return chains, cut


def _tell(chains: list[Chain], plan: Plan, progress: Progress | None) -> None:
    """Say how far the chains have come, and their R-hat so far."""
    if progress is None:
        return
    done = sum(chain.iteration for chain in chains)
    least = min(chain.done for chain in chains)
    note = "warming up"
    if least >= 20 and chains[0].kappa:
        values = np.array([[k.max() for k in chain.kappa[:least]] for chain in chains])
        note = f"R-hat so far {split_r_hat(values):.3f}"
    elif least:
        note = f"{least:,} draws a chain"
    progress(Step("sampling", done, plan.chains * plan.iterations, note))


def split_r_hat(values: NDArray[np.float64]) -> float:  # (chain, draw)
    """Split R-hat, plain: enough for a progress bar; the report takes ArviZ's."""
    half = values.shape[1] // 2
    parts = np.concatenate([values[:, :half], values[:, -half:]])
    within = parts.var(axis=1, ddof=1).mean()
    between = parts.mean(axis=1).var(ddof=1)
    return float(np.sqrt((half - 1) / half + between / within)) if within > 0 else float("nan")
