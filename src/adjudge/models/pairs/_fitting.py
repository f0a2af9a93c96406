"""What models of comparisons of Bradley and Terry's kind share, before and after their fit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.comparisons import CANNOT_SAY, Comparisons
from adjudge.data.draws import PairDraws
from adjudge.data.judges import LEVEL
from adjudge.data.preferences import Preferences
from adjudge.errors import BadData, BadSetting
from adjudge.kernels import pair_gibbs as kernels
from adjudge.models._notes import describe_unconverged
from adjudge.models.model import Progress, Step, settings_of
from adjudge.models.pairs._grading import BothKinds, fit_levels
from adjudge.models.pairs._judges import HeldOutSkill, Reference, measure_skill, pair_judge_table
from adjudge.models.pairs._strengths import Rules, Strengths, fit_strengths
from adjudge.models.pairs._uncertainty import cell_information, prior_information, spread_of
from adjudge.models.pairs.cells import Copies, PairCells, check_connected, count_cells, weigh_copies
from adjudge.models.settings import check_settings

_Floats = NDArray[np.float64]
_KEPT = 4_000  # draws of scores kept for probabilities
_ROUGH = 1e-2  # tolerance of the fits that leave judges out


def check_pair_settings(model: Any) -> None:
    """Refuse settings that cannot be used."""
    check_settings(model)
    if not 0 <= model.regularisation < np.inf:
        raise BadSetting("regularisation", model.regularisation, "0 or more")
    if getattr(model, "method", "") == "gibbs" and model.regularisation == 0:
        raise BadSetting("regularisation", 0, "more than 0, or there is no posterior to draw from")
    agree = getattr(model, "agree", (1.0, 1.0))
    if len(agree) != 2 or min(agree) <= 0:
        raise BadSetting("agree", agree, "two numbers above 0, such as (8, 2)")


def check_answers(comparisons: Comparisons) -> None:
    """Refuse comparisons of which nobody could say anything."""
    if not (comparisons.outcome != CANNOT_SAY).any():
        raise BadData('all comparisons were answered with "can\'t say"', expected="comparisons")


def fit_pairs(
    model: Any,
    comparisons: Comparisons,
    rules: Rules,
    *,
    judges: bool,
    progress: Progress | None = None,
) -> Preferences:
    """Preferences by a model of Bradley and Terry's kind: a point with its spread, or draws.

    Without a prior of judges' skill strengths come by Newman's iteration, with it by L-BFGS.
    """
    check_answers(comparisons)
    copies = weigh_copies(comparisons) if model.copies else Copies.none(comparisons)
    notes = copies.notes
    position = rules.position and bool((comparisons.shown_first >= 0).any())
    if rules.position and not position:
        notes = (*notes, "who was shown first is not known, so no position bias is fitted")
    has_ties = bool((comparisons.outcome == 2).any())
    rules = replace(rules, position=position, davidson=rules.davidson and has_ties)
    cells = count_cells(comparisons, judges=judges, sides=position, weight=copies.weight)
    notes = (*notes, *check_connected(cells, comparisons, rules.prior))
    biased, skill = None, None
    if rules.agree is None:
        found = fit_strengths(cells, rules, progress)
    else:
        given = BothKinds(cells=cells, rules=rules)
        found = fit_levels(given, progress).strengths(rules)
        skill = measure_held_out(given, found.lean, copies.family, progress)
    if has_ties and not rules.davidson and cells.wins[:, :2].any():
        # A tie as half a win draws strengths together, however many comparisons there are. Scores
        # stay what the setting says; their uncertainty is that of Davidson's model.
        rules, biased = replace(rules, davidson=True), found
        found = fit_strengths(cells, rules, progress)
    samples = None
    if model.method == "gibbs":
        samples = sample_strengths(cells, rules, model, comparisons, found, progress)
        notes = (*notes, *samples.warnings())
    elif not found.converged or (biased is not None and not biased.converged):
        notes = (*notes, describe_unconverged(found.sweeps))
    answer = conclude_pairs(model, comparisons, cells, rules, found, skill, samples=samples)
    answer = replace(answer, weight=copies.weight, notes=notes)
    return answer if biased is None else _with_biased_scores(answer, biased)


def measure_held_out(
    given: BothKinds,
    lean: _Floats,  # (judge,)
    family: NDArray[np.int64],  # (judge,)
    progress: Progress | None,
) -> HeldOutSkill:
    """Skill by fits without the comparisons and grades of the judges who are measured."""
    rules = replace(
        given.rules,
        prior=given.rules.prior or 1.0,
        tolerance=max(given.rules.tolerance, _ROUGH),
    )

    def fit_without(left_out: NDArray[np.bool_]) -> Reference:
        others = replace(given.without(left_out), rules=rules)
        fitted = fit_levels(others, progress)
        variance = 1.0 / others.strength_information(fitted)
        tied = fitted.strengths(rules).tied
        return Reference(score=fitted.theta, variance=variance, tied=tied)

    return measure_skill(given.cells, lean, family, fit_without)


def _with_biased_scores(answer: Preferences, biased: Strengths) -> Preferences:
    """The scores of another fit, with the uncertainty of this one."""
    score = np.log(biased.strength)
    score = score - score.mean()
    parameters = {name: value for name, value in answer.parameters.items() if name != "tied"}
    if "position" in parameters:
        value, low, high = biased.position, *parameters["position"][1:]
        parameters["position"] = (value, min(value, low), max(value, high))
    found = replace(
        answer,
        score=score,
        centre=answer.score,
        parameters=parameters,
        judges=pair_judge_table(answer.comparisons, score),
        tied=0.0,
        lean=biased.lean,
        converged=answer.converged and biased.converged,
    )
    note = (
        "counting a tie as half a win shrinks the differences between scores to about "
        f"{found.shrinkage:.0%} of those with ties='davidson'; intervals include both"
    )
    return replace(found, notes=(*found.notes, note))


def conclude_pairs(
    model: Any,
    comparisons: Comparisons,
    cells: PairCells,
    rules: Rules,
    found: Strengths,
    skill: HeldOutSkill | None,
    *,
    samples: PairDraws | None = None,
    graded: _Floats | float = 0.0,  # (item,) information from grades
    less: Callable[[], _Floats] | None = None,  # (item, item) confounded information
) -> Preferences:
    """Preferences from strengths: covariance or draws, parameters, the table of judges."""
    score, covariance, draws = np.log(found.strength), None, None
    right, lean, tied = found.right, found.lean, found.tied
    parameters: dict[str, tuple[float, float, float]] = {}
    info = cell_information(cells, found.strength, lean, tied, right)
    curve = np.asarray(np.bincount(cells.judge, info[3], cells.judges), dtype=np.float64)
    if samples is None:
        own = prior_information(found.strength, rules.prior) + graded
        covariance, off = spread_of(
            cells, info, right, own, model.seed, agree=rules.agree, less=less
        )
        score = score - score.mean()
        if off is not None:
            draws = (score + off).astype(np.float32)
        if rules.davidson:
            parameters["tied"] = (tied, np.nan, np.nan)
        if rules.position:
            parameters["position"] = _position_interval(curve, found.position)
    else:
        flat = samples.score.reshape(-1, cells.items)
        score = flat.mean(axis=0, dtype=np.float64)
        draws = flat[:: max(1, len(flat) // _KEPT)]
        tail = (1.0 - LEVEL) / 2
        for name, values in samples.hyper.items():
            low, high = np.quantile(values, [tail, 1.0 - tail])
            parameters[name] = (float(values.mean()), float(low), float(high))
        tied = parameters["tied"][0] if "tied" in parameters else tied
        right = _mean(samples, "right", right)
        lean = _mean(samples, "lean", np.full(cells.judges, parameters.get("position", (0.0,))[0]))
    apart = skill is not None
    table = pair_judge_table(
        comparisons,
        score,
        skill=skill,
        lean=lean if apart and rules.position else None,
        lean_sd=1.0 / np.sqrt(curve + rules.lean_spread**-2) if apart and rules.position else None,
        samples=samples,
    )
    return Preferences(
        comparisons=comparisons,
        model=model.name,
        settings=settings_of(model),
        score=score,
        covariance=covariance,
        draws=draws,
        parameters=parameters,
        judges=table,
        tied=tied,
        lean=lean,
        right=right,
        samples=samples,
        converged=found.converged,
    )


def _mean(samples: PairDraws, name: str, other: _Floats) -> _Floats:
    if name not in samples.judge:
        return other
    return np.asarray(samples.judge[name].mean(axis=(0, 1), dtype=np.float64))


def _position_interval(curve: _Floats, position: float) -> tuple[float, float, float]:
    """The common lean to what is shown first, with its interval."""
    if len(curve) > 1:  # between judges, and within each
        curve = 1.0 / (1.0 / np.maximum(curve, 1e-12) + 0.25)
    half = 1.6449 / np.sqrt(max(float(curve.sum()), 1e-12))
    return position, position - half, position + half


_TIED_SD = 1.0  # of the log weight of ties, a priori, about 0


_Graph = tuple[NDArray[np.int64], NDArray[np.int64]]  # (item + 1,) starts, (end,) entries


@dataclass(slots=True, kw_only=True, eq=False)
class _PairChain:
    """Where a chain is."""

    theta: _Floats  # (item,)
    lean: _Floats  # (judge,)
    right: _Floats  # (judge,)
    centre: float
    tied: float
    turned: _Floats  # (cell, 3)
    form: _Floats  # (cell, 4)
    step: float = 0.1
    taken: int = 0


def sample_strengths(
    cells: PairCells,
    rules: Rules,
    model: Any,
    comparisons: Comparisons,
    start: Strengths,
    progress: Progress | None = None,
) -> PairDraws:
    """Draws of everything, each chain from the point that ``start`` is, put a little off."""
    graph = _list_adjacent(cells)
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
    names = {"tied": rules.davidson, "position": rules.position}
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


def _list_adjacent(cells: PairCells) -> _Graph:
    """The cells of each item: where they start, and entries of cell * 2 + (it is the second)."""
    ends = np.concatenate([cells.a, cells.b])
    cell = np.arange(len(cells.a), dtype=np.int64) * 2
    entries = np.concatenate([cell, cell + 1])[np.argsort(ends, kind="stable")]
    starts = np.append(0, np.cumsum(np.bincount(ends, minlength=cells.items)))
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
    """One chain: scores, judges' shares and leans, and (tied, position)."""
    rng = np.random.default_rng([model.seed, chain])
    state = _PairChain(
        theta=np.log(start.strength) + 0.3 * rng.standard_normal(cells.items),
        lean=start.lean.copy(),
        right=start.right.copy(),
        centre=start.position,
        tied=start.tied,
        turned=np.zeros((len(cells.a), 3)),
        form=np.zeros((len(cells.a), 4)),
    )
    score = np.empty((model.draws, cells.items), dtype=np.float32)
    judges = cells.judges
    right = np.empty((model.draws, judges if rules.agree is not None else 0), dtype=np.float32)
    lean = np.empty((model.draws, judges if rules.position else 0), dtype=np.float32)
    hyper = np.empty((model.draws, 2))
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
            hyper[at] = state.tied, centre
        done[chain] = sweep + 1
    return score, right, lean, hyper


def _advance(cells: PairCells, rules: Rules, graph: _Graph, state: _PairChain, rng: Any) -> None:
    """One sweep: judges and ties without the precisions, then precisions, then all the rest."""
    ends = (cells.a, cells.b, cells.judge, cells.side)
    nodes = (state.theta, state.lean)
    if rules.agree is not None:
        kernels.turn(*ends, cells.wins, *nodes, state.tied, state.right, state.turned, rng)
        kernels.draw_right(cells.judge, cells.wins, state.turned, *rules.agree, state.right, rng)
    if rules.davidson:
        _move_tied(cells, ends, nodes, state, rng)
    kernels.augment(*ends, cells.wins, state.turned, *nodes, state.tied, state.form, rng)
    kernels.draw_theta(*graph, *ends, *nodes, state.form, rules.prior, rng)
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
