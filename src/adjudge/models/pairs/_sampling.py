"""The posterior of a model of comparisons by Gibbs sampling, chain by chain."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.comparisons import Comparisons
from adjudge.data.draws import PairDraws
from adjudge.kernels import pair_gibbs as kernels
from adjudge.models.model import Progress, Step
from adjudge.models.pairs._strengths import Rules, Strengths
from adjudge.models.pairs.cells import PairCells

_Floats = NDArray[np.float64]
_TIED_SD = 1.0  # of the log weight of ties, a priori, about 0


@dataclass(slots=True, kw_only=True, eq=False)
class _PairChain:
    """Where a chain is."""

    theta: _Floats  # (item,)
    delta: _Floats  # (node,)
    lean: _Floats  # (judge,)
    right: _Floats  # (judge,)
    centre: float
    tied: float
    spread: float  # variance of delta
    turned: _Floats  # (cell, 3)
    form: _Floats  # (cell, 4)
    step: float = 0.1
    taken: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class _Graph:
    """The cells of each item, and of each item within a topic."""

    node_a: NDArray[np.int64]
    node_b: NDArray[np.int64]
    nodes: int
    starts: NDArray[np.int64]
    entries: NDArray[np.int64]
    node_starts: NDArray[np.int64]
    node_entries: NDArray[np.int64]


def sample_strengths(
    cells: PairCells,
    rules: Rules,
    model: Any,
    comparisons: Comparisons,
    start: Strengths,
    *,
    topics: bool = False,
    progress: Progress | None = None,
) -> PairDraws:
    """Draws of everything, each chain from the point that ``start`` is, put a little off."""
    graph = _graph_of(cells, comparisons.topic_count if topics else 0)
    done = np.zeros(model.chains, dtype=np.int64)
    stop = threading.Event()
    total = model.warmup + model.draws
    with ThreadPoolExecutor(model.chains) as pool:
        tasks = [
            pool.submit(_run, cells, rules, model, graph, start, n, done, stop)
            for n in range(model.chains)
        ]
        try:
            for task in tasks:
                while not task.done():
                    try:
                        task.result(timeout=0.2)
                    except TimeoutError:
                        if progress is not None:
                            at = int(done.sum())
                            progress(Step("sampling", at, model.chains * total))
        finally:
            stop.set()
        kept = [task.result() for task in tasks]
    score, right, lean, hyper = (np.stack([one[n] for one in kept]) for n in range(4))
    judge = {"right": right} if rules.agree is not None else {}
    judge |= {"lean": lean} if rules.position and cells.judges > 1 else {}
    names = {"tied": rules.davidson, "position": rules.position, "topics": topics}
    return PairDraws(
        score=score,
        judge=judge,
        hyper={
            name: hyper[:, :, place].astype(np.float64)
            for place, (name, sampled) in enumerate(names.items())
            if sampled
        },
        items=comparisons.items,
        judges=comparisons.judges,
    )


def _graph_of(cells: PairCells, topics: int) -> _Graph:
    none = np.full(len(cells.a), -1, dtype=np.int64)
    node_a, node_b, nodes = none, none, 0
    if topics:
        pairs = np.concatenate([cells.a, cells.b]) * topics + np.tile(cells.topic, 2)
        known, place = np.unique(pairs, return_inverse=True)
        node_a, node_b, nodes = place[: len(cells.a)], place[len(cells.a) :], len(known)
    starts, entries = _adjacent(cells.a, cells.b, cells.items)
    node_starts, node_entries = starts, entries
    if topics:
        node_starts, node_entries = _adjacent(node_a, node_b, nodes)
    return _Graph(node_a, node_b, nodes, starts, entries, node_starts, node_entries)


def _adjacent(a: Any, b: Any, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cells of each end: entries are cell * 2 + (it is the second)."""
    ends = np.concatenate([a, b])
    cell = np.arange(len(a), dtype=np.int64) * 2
    entries = np.concatenate([cell, cell + 1])[np.argsort(ends, kind="stable")]
    starts = np.append(0, np.cumsum(np.bincount(ends, minlength=size)))
    return starts.astype(np.int64), entries


def _run(
    cells: PairCells,
    rules: Rules,
    model: Any,
    graph: _Graph,
    start: Strengths,
    chain: int,
    done: NDArray[np.int64],
    stop: threading.Event,
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], _Floats]:
    """One chain: scores, judges' shares and leans, and (tied, position, sd of topics)."""
    rng = np.random.default_rng([model.seed, chain])
    state = _PairChain(
        theta=np.log(start.strength) + 0.3 * rng.standard_normal(cells.items),
        delta=np.zeros(graph.nodes),
        lean=start.lean.copy(),
        right=start.right.copy(),
        centre=start.position,
        tied=start.tied,
        spread=0.1,
        turned=np.zeros((len(cells.a), 3)),
        form=np.zeros((len(cells.a), 4)),
    )
    score = np.empty((model.draws, cells.items), dtype=np.float32)
    judges = cells.judges
    right = np.empty((model.draws, judges if rules.agree is not None else 0), dtype=np.float32)
    lean = np.empty((model.draws, judges if rules.position else 0), dtype=np.float32)
    hyper = np.empty((model.draws, 3))
    for sweep in range(model.warmup + model.draws):
        if stop.is_set():
            break
        _advance(cells, rules, graph, state, rng)
        if sweep < model.warmup and sweep % 25 == 24:  # a step that is taken about every other time
            state.step *= 1.5 if state.taken > 11 else 0.7
            state.taken = 0
        at = sweep - model.warmup
        if at >= 0:
            score[at] = state.theta - state.theta.mean()
            right[at] = state.right[: right.shape[1]]
            lean[at] = state.lean[: lean.shape[1]]
            centre = state.centre if judges > 1 else state.lean[0]
            hyper[at] = state.tied, centre, np.sqrt(state.spread)
        done[chain] = sweep + 1
    return score, right, lean, hyper


def _advance(cells: PairCells, rules: Rules, graph: _Graph, state: _PairChain, rng: Any) -> None:
    """One sweep: judges and ties without the precisions, then precisions, then all the rest."""
    ends = (cells.a, cells.b, cells.judge, cells.side)
    nodes = (graph.node_a, graph.node_b, state.theta, state.delta, state.lean)
    if rules.agree is not None:
        kernels.turn(*ends, cells.wins, *nodes, state.tied, state.right, state.turned, rng)
        kernels.draw_right(cells.judge, cells.wins, state.turned, *rules.agree, state.right, rng)
    if rules.davidson:
        _move_tied(cells, ends, nodes, state, rng)
    kernels.augment(*ends, cells.wins, state.turned, *nodes, state.tied, state.form, rng)
    kernels.draw_theta(graph.starts, graph.entries, *ends, *nodes, state.form, rules.prior, rng)
    if graph.nodes:
        state.spread = kernels.draw_delta(
            graph.node_starts, graph.node_entries, *ends, *nodes, state.form, state.spread, rng
        )
    if rules.position:
        alone = cells.judges == 1
        spread = 1.0 if alone else rules.lean_spread
        centre = 0.0 if alone else state.centre
        state.centre = kernels.draw_lean(*ends, *nodes, state.form, centre, spread, rng)


def _move_tied(cells: PairCells, ends: Any, nodes: Any, state: _PairChain, rng: Any) -> None:
    """A random step of the log weight of ties."""
    proposed = state.tied * float(np.exp(state.step * rng.standard_normal()))
    given = (*ends, cells.wins, state.turned, *nodes)
    ahead = kernels.log_tied(*given, proposed) - kernels.log_tied(*given, state.tied)
    ahead += 0.5 * (np.log(state.tied) ** 2 - np.log(proposed) ** 2) / _TIED_SD**2
    if np.log(rng.random()) < ahead:
        state.tied = proposed
        state.taken += 1
