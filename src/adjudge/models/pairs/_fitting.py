"""What models of comparisons of Bradley and Terry's kind share, before and after their fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.comparisons import CANNOT_SAY, Comparisons
from adjudge.data.draws import PairDraws
from adjudge.data.judges import LEVEL
from adjudge.data.preferences import Preferences
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting
from adjudge.models._notes import describe_unconverged
from adjudge.models.model import Progress, settings_of
from adjudge.models.pairs._judges import HeldOutSkill, Reference, measure_skill, pair_judge_table
from adjudge.models.pairs._sampling import sample_strengths
from adjudge.models.pairs._strengths import Rules, Strengths, fit_strengths
from adjudge.models.pairs._uncertainty import cell_information, prior_information, spread_of
from adjudge.models.pairs.cells import Copies, PairCells, check_connected, count_cells, weigh_copies
from adjudge.models.settings import check_settings

_Floats = NDArray[np.float64]
_KEPT = 4_000  # draws of scores kept for probabilities
_ROUGH = 1e-3  # change of log strengths at which the fits that leave judges out end


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
        raise BadData("there is no comparison that anybody could answer", expected="comparisons")


def _tell_contradictions(comparisons: Comparisons, cells: PairCells) -> tuple[str, ...]:
    """Say how often a judge answered one comparison, shown alike, in two ways; both are kept."""
    told = bool((comparisons.outcome != CANNOT_SAY).all())
    whole = cells.has_order or not bool((comparisons.shown_first >= 0).any())
    whole = whole and (comparisons.topic is None or bool((cells.topic >= 0).all()))
    if told and whole and cells.judges == comparisons.judge_count:
        twice = int(np.count_nonzero((cells.wins > 0).sum(axis=1) > 1))
    else:
        twice = _count_contradictions(comparisons)
    if not twice:
        return ()
    return (
        f"{count_of(twice, 'comparison', 'was', 'were')} answered in more than one way by the same "
        "judge, shown alike: all answers are kept",
    )


def _count_contradictions(comparisons: Comparisons) -> int:
    """The same, where cells do not tell all apart."""
    low = np.minimum(comparisons.left, comparisons.right).astype(np.int64)
    high = np.maximum(comparisons.left, comparisons.right)
    turned = comparisons.left > comparisons.right
    outcome = np.where(
        turned & (comparisons.outcome < 2), 1 - comparisons.outcome, comparisons.outcome
    )
    key = (low * comparisons.item_count + high) * comparisons.judge_count + comparisons.judge
    if comparisons.topic is not None:
        key = key * comparisons.topic_count + comparisons.topic
    side = comparisons.shown_first ^ turned
    key = key * 4 + np.where(comparisons.shown_first < 0, 2, side)
    # By sorting: a table of that many distinct keys costs several times as much.
    answers = np.sort(key * 4 + outcome)
    answers = answers[np.append(True, answers[1:] != answers[:-1])] // 4
    same = answers[1:] == answers[:-1]
    return int(np.count_nonzero(same & ~np.append(False, same[:-1])))


def fit_pairs(
    model: Any,
    comparisons: Comparisons,
    rules: Rules,
    *,
    judges: bool,
    topics: bool = False,
    progress: Progress | None = None,
) -> Preferences:
    """Preferences by a model of Bradley and Terry's kind: a point with its spread, or draws."""
    check_answers(comparisons)
    copies = weigh_copies(comparisons) if model.copies else Copies.none(comparisons)
    notes = copies.notes
    position = rules.position and bool((comparisons.shown_first >= 0).any())
    if rules.position and not position:
        notes = (*notes, "who was shown first is not known, so no position bias is fitted")
    has_ties = bool((comparisons.outcome == 2).any())
    rules = replace(rules, position=position, davidson=rules.davidson and has_ties)
    cells = count_cells(
        comparisons, judges=judges, sides=position, topics=topics, weight=copies.weight
    )
    notes = (*notes, *check_connected(cells, comparisons, rules.prior))
    if comparisons.judge_count > 1:
        notes = (*notes, *_tell_contradictions(comparisons, cells))
    found = fit_strengths(cells, rules, progress)
    biased = None
    if has_ties and not rules.davidson and cells.wins[:, :2].any():
        # A tie as half a win draws strengths together, however many comparisons there are. Scores
        # stay what the setting says; their uncertainty is that of Davidson's model.
        rules, biased = replace(rules, davidson=True), found
        found = fit_strengths(cells, rules, progress)
    samples = None
    if model.method == "gibbs":
        samples = sample_strengths(
            cells, rules, model, comparisons, found, topics=topics, progress=progress
        )
        notes = (*notes, *samples.warnings())
    elif not found.converged or (biased is not None and not biased.converged):
        notes = (*notes, describe_unconverged(found.sweeps))
    skill = None
    if rules.agree is not None:
        skill = _measure_skill(cells, rules, found.lean, copies.family, progress)
    answer = _conclude(model, comparisons, cells, rules, found, samples, skill)
    answer = replace(answer, weight=copies.weight, notes=notes)
    return answer if biased is None else _with_biased_scores(answer, biased)


def _measure_skill(
    cells: PairCells,
    rules: Rules,
    lean: _Floats,  # (judge,)
    family: NDArray[np.int64],  # (judge,)
    progress: Progress | None,
) -> HeldOutSkill:
    """Skill by fits without the judges who are measured."""
    held = replace(rules, prior=rules.prior or 1.0, tolerance=max(rules.tolerance, _ROUGH))

    def fit_without(left_out: NDArray[np.bool_]) -> Reference:
        others = cells.select(~left_out[cells.judge])
        fitted = fit_strengths(others, held, progress)
        told = cell_information(others, fitted.strength, fitted.lean, fitted.tied, fitted.right)[0]
        known = prior_information(fitted.strength, held.prior)
        known += np.bincount(others.a, told, cells.items)
        known += np.bincount(others.b, told, cells.items)
        return Reference(score=np.log(fitted.strength), variance=1.0 / known, tied=fitted.tied)

    return measure_skill(cells, lean, family, fit_without)


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


def _conclude(
    model: Any,
    comparisons: Comparisons,
    cells: PairCells,
    rules: Rules,
    found: Strengths,
    samples: PairDraws | None,
    skill: HeldOutSkill | None,
) -> Preferences:
    score, covariance, draws = np.log(found.strength), None, None
    right, lean, tied = found.right, found.lean, found.tied
    parameters: dict[str, tuple[float, float, float]] = {}
    told = cell_information(cells, found.strength, lean, tied, right)
    curve = np.asarray(np.bincount(cells.judge, told[3], cells.judges), dtype=np.float64)
    if samples is None:
        own = prior_information(found.strength, rules.prior)
        covariance, off = spread_of(cells, told, right, own, model.seed, agree=rules.agree)
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
