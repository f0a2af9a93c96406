"""The Gibbs sampler, written once for every Bayesian model of the family.

Each iteration draws, in turn:

    phi, kappa | z         by slices, with the rates integrated out (learnt priors only)
    theta, pi  | z         Dirichlet, given the counts of the truths drawn
    z          | theta, pi each item from its posterior, one sweep over the judgments

A chain starts from votes, coin flips for ties. Rates come first, given that start: a sampler that
first overwrote z from arbitrary rates could land in the mirrored mode and stay there.

A draw depends on the rates and on the random numbers of (seed, chain, iteration, item) alone, so a
checkpoint need not keep the truths: rates, counts, sums and the state of the generator do.
"""

from __future__ import annotations

import threading
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.engines.checkpoint import Checkpoint
from adjudge.engines.engine import Sampler, Tally
from adjudge.kernels.confusion import log_units
from adjudge.kernels.rates import draw_rates, workspace
from adjudge.models.model import Progress, Step

_CERTAIN = 1e12  # pseudo-counts of a known prevalence
_LOOK = 0.2  # seconds between looks at how far the chains are
_BUDGET = 64 * 2**20  # bytes for draws of prevalence and confusion, all chains together
_COUNTERS = ("iteration", "done", "swept", "relabelled")
_HYPER = ("phi", "kappa", "phi_prevalence", "kappa_prevalence")
_RATES = ("confusion", "prevalence")


def count_iterations(model: Any) -> int:
    """Sweeps of a chain, warm-up included."""
    sweeps: int = model.warmup + model.draws * model.thin
    return sweeps


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prior:
    """What is believed before: fixed pseudo-counts, or pseudo-counts that are learnt.

    ``exchangeable`` says that truths may trade places without the prior noticing, so that a chain
    whose truths have switched may be put back. ``fixed`` says that the prevalence is known.
    """

    confusion: NDArray[np.float64]  # (truth, label), where a learnt prior starts
    prevalence: NDArray[np.float64]  # (truth,)
    learnt: bool = False
    exchangeable: bool = False
    fixed: bool = False

    def with_prevalence(self, known: NDArray[np.float64] | None) -> Prior:  # (truth,)
        """The prior with a known prevalence: that many pseudo-counts that no data moves it."""
        if known is None:
            return self
        return replace(self, prevalence=_CERTAIN * known, exchangeable=False, fixed=True)


class _Learnt:
    """Dirichlet priors kappa phi that a chain learns: eta, kappa, phi, and room to work in."""

    def __init__(self, start: NDArray[np.float64], rows: int, rng: np.random.Generator) -> None:
        priors, columns = start.shape
        self.eta = np.log(start[:, :-1] / start[:, -1:]) + rng.normal(0, 0.5, start[:, 1:].shape)
        self.kappa = np.maximum(start.sum(axis=1), 1.0) + rng.exponential(size=priors)
        self.phi = np.empty_like(start)  # (prior, column), the means
        width = np.full_like(start, 0.7)
        _, *buffers = workspace(rows, columns)
        self.parts = (self.eta, self.kappa, width, self.phi, *buffers)

    @property
    def state(self) -> tuple[NDArray[np.float64], ...]:
        """Everything but the room to work in, to be kept or put back in place."""
        return self.parts[:4]

    def reorder(self, order: NDArray[np.intp]) -> None:
        """Put the priors into another order."""
        for part in (self.eta, self.kappa, self.phi):
            part[:] = part[order]

    def reorder_columns(self, order: NDArray[np.intp]) -> None:
        """Put the columns of every prior into another order."""
        self.phi[:] = self.phi[:, order]
        self.eta[:] = np.log(self.phi[:, :-1] / self.phi[:, -1:])


class _Rates:
    """Rates that a chain draws: pseudo-counts, rates, log ratios, and sums of expectations."""

    def __init__(self, prior: NDArray[np.float64], shape: tuple[int, ...], ratios: int) -> None:
        self.rates = np.empty(shape)
        self.ratio = np.empty(ratios, dtype=np.int64)
        self.sum = np.zeros(shape)
        self.parts = (prior.copy(), self.rates, self.ratio, self.sum)


@dataclass(slots=True, eq=False)
class Chain:
    """What one chain leaves behind."""

    iteration: int = 0  # sweeps made
    done: int = 0  # draws kept
    swept: int = 0  # sweeps kept: thin times the draws, all of them averaged
    relabelled: int = 0
    phi: Any = None  # (draw, truth, label), as far as done, like the next five
    kappa: Any = None  # (draw, truth)
    phi_prevalence: Any = None  # (draw, truth)
    kappa_prevalence: Any = None  # (draw,)
    confusion: Any = None  # (draw, judge, truth, label) of every stride-th draw
    prevalence: Any = None  # (draw, topic, truth) of every stride-th draw
    confusion_sum: Any = None  # (judge, truth, label) of expectations
    prevalence_sum: Any = None  # (topic, truth)
    counts_sum: Any = None  # (judge, label, truth)


@dataclass(frozen=True, slots=True, eq=False)
class _ChainState:
    """What a running chain holds."""

    rng: np.random.Generator
    sampler: Sampler
    number: int
    rows: _Learnt | None
    common: _Learnt | None
    theta: _Rates
    pi: _Rates
    chain: Chain

    def store(self, stride: int) -> None:
        """Keep a draw of everything."""
        chain, rows, common = self.chain, self.rows, self.common
        at = chain.done
        if rows is not None:
            chain.phi[at], chain.kappa[at] = rows.phi, rows.kappa
        if common is not None:
            chain.phi_prevalence[at], chain.kappa_prevalence[at] = common.phi[0], common.kappa[0]
        if at % stride == 0:
            chain.confusion[at // stride] = self.theta.rates
            chain.prevalence[at // stride] = self.pi.rates
        chain.done = at + 1

    def reorder(self, tally: Tally, order: NDArray[np.intp]) -> Tally:
        """Put the truths of everything into another order, all but the tally in place."""
        theta, pi = self.theta, self.pi
        theta.rates[:] = theta.rates[:, order]
        pi.rates[:] = pi.rates[:, order]
        theta.ratio[:] = _log_ratios(theta.rates.transpose(0, 2, 1))
        pi.ratio[:] = _log_ratios(pi.rates)
        if self.rows is not None and self.common is not None:
            self.rows.reorder(order)
            self.common.reorder_columns(order)
        return Tally(
            counts=np.ascontiguousarray(tally.counts[:, :, order]),
            classes=np.ascontiguousarray(tally.classes[:, order]),
            switch=tally.switch[:, order],
        )

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that go from sweep to sweep, by a name for each."""
        groups = {
            "rows": () if self.rows is None else self.rows.state,
            "common": () if self.common is None else self.common.state,
            "theta": self.theta.parts,
            "pi": self.pi.parts,
            "sum": (self.chain.counts_sum,),
        }
        return {
            f"{name}_{place}": array
            for name, arrays in groups.items()
            for place, array in enumerate(arrays)
        }

    def _kept(self, stride: int) -> dict[str, NDArray[Any]]:
        """The draws that were kept so far, as views."""
        done = self.chain.done
        rows = -(-done // stride)
        views = {name: getattr(self.chain, name)[:done] for name in _HYPER}
        return views | {name: getattr(self.chain, name)[:rows] for name in _RATES}

    def save(self, checkpoint: Checkpoint, tally: Tally, stride: int) -> None:
        """Write the state of the chain."""
        arrays = self._arrays()
        arrays |= {f"kept_{name}": values for name, values in self._kept(stride).items()}
        arrays |= {"counts": tally.counts, "classes": tally.classes, "switch": tally.switch}
        arrays["mean"] = self.sampler.mean(self.number)
        state = {
            "rng": self.rng.bit_generator.state,
            **{name: getattr(self.chain, name) for name in _COUNTERS},
            "stride": stride,
        }
        checkpoint.save(f"chain-{self.number}", arrays, state)

    def resume(self, checkpoint: Checkpoint | None, tally: Tally) -> Tally:
        """The counts to go on from: those given, or, with everything put back, the checkpoint's."""
        found = None if checkpoint is None else checkpoint.load(f"chain-{self.number}")
        if found is None:
            return tally
        arrays, state = found
        self.rng.bit_generator.state = state["rng"]
        for name in _COUNTERS:
            setattr(self.chain, name, state[name])
        for name, array in self._arrays().items():
            array[...] = arrays[name]
        for name, view in self._kept(state["stride"]).items():
            view[...] = arrays[f"kept_{name}"]
        self.sampler.restore(self.number, arrays["mean"])
        return Tally(counts=arrays["counts"], classes=arrays["classes"], switch=arrays["switch"])


def stride_of(model: Any, judges: int, topics: int, truths: int, labels: int) -> int:
    """Every how many draws prevalence and confusion are kept, so that they fit the budget."""
    one = 4 * (judges * truths * labels + topics * truths)
    return max(1, -(-int(model.chains * model.draws) * one // _BUDGET))


def _run_chain(
    sampler: Sampler,
    number: int,
    choice: NDArray[np.int16],  # (item,)
    prior: Prior,
    model: Any,
    stride: int,
    stop: threading.Event,
    chain: Chain,
    checkpoint: Checkpoint | None = None,
) -> None:
    """Run one chain to its end, or until it is asked to stop; what it kept is in ``chain``."""
    rng = np.random.default_rng(np.random.SeedSequence([model.seed, number]))
    tally = sampler.start(number, choice)
    judges, labels, truths = tally.counts.shape
    topics = len(tally.classes)
    theta = _Rates(prior.confusion, (judges, truths, labels), judges * labels * (truths - 1))
    pi = _Rates(prior.prevalence, (topics, truths), topics * (truths - 1))
    rows = _Learnt(prior.confusion, judges, rng) if prior.learnt else None
    free = prior.learnt and not prior.fixed
    common = _Learnt(prior.prevalence[None], topics, rng) if free else None
    parts = (rows and rows.parts, common and common.parts, theta.parts, pi.parts)
    chain.confusion_sum, chain.prevalence_sum = theta.sum, pi.sum
    chain.counts_sum = np.zeros_like(tally.counts)
    if chain.confusion is None:
        make_room([chain], model, prior, stride, judges, topics)
    held = _ChainState(rng, sampler, number, rows, common, theta, pi, chain)
    tally = held.resume(checkpoint, tally)
    for iteration in range(chain.iteration, count_iterations(model)):
        if stop.is_set():
            return
        keep = iteration >= model.warmup
        draw_rates(rng, tally.counts, tally.classes, *parts, keep)
        tally = sampler.draw(number, iteration, pi.ratio, theta.ratio, float(keep))
        order = _find_switch(tally.switch) if prior.exchangeable else None
        if order is not None:
            chain.relabelled += 1
            if keep:
                sampler.draw(number, iteration, pi.ratio, theta.ratio, -1.0)
            tally = held.reorder(tally, order)
            if keep:
                sampler.draw(number, iteration, pi.ratio, theta.ratio, 1.0)
        chain.iteration = iteration + 1
        if keep:
            chain.swept += 1
            chain.counts_sum += tally.counts
            if (iteration - model.warmup) % model.thin == 0:
                held.store(stride)
        if checkpoint is not None and checkpoint.due(chain.iteration):
            held.save(checkpoint, tally, stride)


def make_room(
    chains: list[Chain], model: Any, prior: Prior, stride: int, judges: int, topics: int
) -> dict[str, NDArray[Any]]:
    """Room for the draws that chains will keep, (chain, draw, ...): each chain gets its part.

    One array for all, so that the draws need not be copied together at the end.
    """
    truths, labels = prior.confusion.shape
    learnt = model.draws if prior.learnt else 0
    kept = -(-model.draws // stride)
    shapes: dict[str, tuple[int, ...]] = {
        "phi": (learnt, truths, labels),
        "kappa": (learnt, truths),
        "phi_prevalence": (0 if prior.fixed else learnt, truths),
        "kappa_prevalence": (0 if prior.fixed else learnt,),
        "confusion": (kept, judges, truths, labels),
        "prevalence": (kept, topics, truths),
    }
    buffers: dict[str, NDArray[Any]] = {}
    for name, shape in shapes.items():
        kind = np.float32 if name in {"confusion", "prevalence"} else np.float64
        buffers[name] = np.empty((len(chains), *shape), dtype=kind)
        for chain, part in zip(chains, buffers[name], strict=True):
            setattr(chain, name, part)
    return buffers


def _find_switch(switch: NDArray[np.int64]) -> NDArray[np.intp] | None:
    """The truths in the order that agrees best with the pivot; None if that is how they are.

    The order minimises the Kullback-Leibler cost of M. Stephens (2000, doi:10.1111/1467-9868.00265)
    between the draw and a pivot labelling, here the votes: an assignment problem on the table of
    pivot against draw.
    """
    if np.array_equal(switch.argmax(axis=1), np.arange(len(switch))):
        return None
    from scipy.optimize import linear_sum_assignment

    _, order = linear_sum_assignment(switch, maximize=True)
    return None if np.array_equal(order, np.arange(len(order))) else order


def _log_ratios(rates: NDArray[np.float64]) -> NDArray[np.int64]:
    """Log rates relative to truth 0, the last axis, flat and in units, as sweeps take them."""
    logs = log_units(rates)
    return np.ascontiguousarray(logs[..., 1:] - logs[..., :1]).reshape(-1)


def run_chains(
    sampler: Sampler,
    choices: list[NDArray[np.int16]],  # of each chain: (item,)
    prior: Prior,
    model: Any,
    stride: int,
    chains: list[Chain],
    *,
    threads: int,
    progress: Progress | None,
    checkpoint: Checkpoint | None = None,
) -> bool:
    """Run all chains, as many at once as there are threads; whether Ctrl-C cut them short.

    On Ctrl-C every chain stops after its sweep, and what was drawn is kept, as many draws of each
    chain as the shortest has; with no draw from every chain there is nothing to keep.
    """
    stop = threading.Event()
    cut = False
    with ThreadPoolExecutor(min(threads, len(chains))) as pool:
        tasks = [
            pool.submit(
                _run_chain,
                sampler,
                n,
                choices[n],
                prior,
                model,
                stride,
                stop,
                chains[n],
                checkpoint,
            )
            for n in range(len(chains))
        ]
        try:
            while wait(tasks, timeout=_LOOK, return_when=FIRST_EXCEPTION).not_done:
                if any(task.done() and task.exception() for task in tasks):
                    break
                _report(chains, model, progress)
        except KeyboardInterrupt:
            cut = True
        finally:
            if cut or any(task.done() and task.exception() for task in tasks):
                stop.set()
        for task in tasks:
            task.result()
    if cut and min(chain.done for chain in chains) == 0:
        raise KeyboardInterrupt
    return cut


def _report(chains: list[Chain], model: Any, progress: Progress | None) -> None:
    """Report how far the chains have come."""
    if progress is not None:
        done = sum(chain.iteration for chain in chains)
        least = min(chain.done for chain in chains)
        note = f"{least:,} draws per chain" if least else "warming up"
        progress(Step("sampling", done, model.chains * count_iterations(model), note))
