"""Measures of rankings, named as ``ir-measures`` names them: AP, nDCG@10, P(rel=2)@5, RBP(p=0.5).

The common ones run over thousands of draws of the truth in a kernel, with the values of
ir-measures: AP, nDCG, P, R, RR, Success and Rprec, with and without cutoff, Bpref and RBP. Every
other measure is computed by ir-measures itself, draw by draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.names import look_up
from adjudge.data.runs import Run
from adjudge.data.scale import Scale, as_number
from adjudge.errors import BadData, BadSetting, Remedy, UnknownName
from adjudge.evaluation._pool import Pool
from adjudge.kernels import retrieval as kernels
from adjudge.lazy import load

_BINARY = {
    "AP": kernels.AP,
    "P": kernels.P,
    "R": kernels.R,
    "RR": kernels.RR,
    "Success": kernels.SUCCESS,
    "Rprec": kernels.RPREC,
    "Bpref": kernels.BPREF,
}
_NO_CUTOFF = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RetrievalMeasure:
    """A measure of a ranking: by kernel where ``gain`` is known, else by ir-measures."""

    name: str
    of: Any  # the measure of ir-measures
    gain: NDArray[np.float64] | None  # (truth,)

    @property
    def quick(self) -> bool:
        """Whether a kernel computes it, so that thousands of draws are no burden."""
        return self.gain is not None

    def values(
        self,
        pool: Pool,
        truths: NDArray[np.int16],  # (draw, entry)
    ) -> NDArray[np.float64]:  # (draw, system, topic)
        """Return the value of every system in every topic under every draw, by the kernel."""
        out = np.empty((len(truths), len(pool.systems), len(pool.topics)))
        by, first, shared, places = self._arguments(pool, truths)
        run: Any = kernels.binary_values if by == "binary" else kernels.discounted_values
        run(*first, *shared, *places, out)
        return out

    def flips(
        self,
        pool: Pool,
        truths: NDArray[np.int16],  # (draw, entry)
        sign: NDArray[np.float64],  # (system,)
    ) -> NDArray[np.float64]:  # (entry, truth)
        """Return the signed sum of systems in an entry's topic for each truth it may have.

        It is the mean over the draws of the other entries.
        """
        by, first, shared, places = self._arguments(pool, truths)
        out = np.zeros((truths.shape[1], len(shared[-1])))
        run: Any = kernels.flip_binary if by == "binary" else kernels.flip_discounted
        run(*first, *shared, *places, sign, out)
        return out / max(len(truths), 1)

    def _arguments(
        self, pool: Pool, truths: NDArray[np.int16]
    ) -> tuple[str, tuple[int, ...], tuple[Any, ...], tuple[Any, ...]]:
        """Return the kind of kernel, and its arguments: measure and cutoff, pool, places."""
        if self.gain is None:
            raise BadSetting("measure", self.name, "one that a kernel computes")
        shared = (truths, pool.begins, pool.starts, pool.entry, pool.place, self.gain)
        if self.of.NAME in _BINARY:
            return "binary", (_BINARY[self.of.NAME], self.cutoff), shared, ()
        deepest = int(max(pool.place.max(initial=1), np.diff(pool.begins).max(initial=1)))
        place = np.arange(deepest, dtype=np.float64)
        order = np.argsort(-self.gain, kind="stable")  # truths from most gain to least
        worth = 1 / np.log2(place + 2)
        if self.of.NAME == "RBP":
            p = float(self.of["p"])
            order, worth = np.empty(0, dtype=np.int64), (1 - p) * p**place
        return "discounted", (min(self.cutoff, deepest),), shared, (order, worth)

    @property
    def cutoff(self) -> int:
        """The last place that counts."""
        given = self.of.params.get("cutoff")
        return _NO_CUTOFF if given is None else int(given)


def assign_grades(scale: Scale) -> NDArray[np.int64]:  # (truth,)
    """Return the grade of each truth as in qrels: a whole number, at least 0.

    Truths that are whole numbers are their own grades (those below 0, such as a broken link, count
    0); on an ordered scale of words the grade is the place; otherwise 1 if relevant, else 0.
    """
    values = scale.truth_values
    named = all(as_number(truth) is not None for truth in scale.truths)
    integers = bool((values == np.rint(values)).all())
    if (named and integers) or (not named and scale.ordinal):
        return np.maximum(values, 0).astype(np.int64)
    if named and scale.ordinal:
        return np.arange(len(values))
    relevant = scale.truth_relevant
    if relevant is None:
        raise BadData(
            f"the labels {scale} have no grades",
            expected="grades",
            code="no-grades",
            remedies=(
                Remedy("labels", "<".join(scale.labels[:3])),
                Remedy("relevant", scale.labels[-1]),
            ),
        )
    return relevant.astype(np.int64)


def parse_measures(names: Sequence[str], scale: Scale) -> list[RetrievalMeasure]:
    """Parse measures by name on a scale.

    A measure of relevance without ``rel`` uses the relevant labels of the scale; if the scale has
    none, grades of at least 1.
    """
    if not names:
        raise BadSetting("measures", None, "at least one, such as AP or nDCG@10")
    grades = assign_grades(scale)
    found: dict[str, RetrievalMeasure] = {}
    for name in names:
        measure = _parsed(name)
        gain = _gain(measure, grades, scale)
        if gain is None:
            measure = _with_relevance(measure, grades, scale)
            _check_provided(name, measure)
        found[name] = RetrievalMeasure(name=name, of=measure, gain=gain)
    return list(found.values())


def _parsed(name: str) -> Any:
    """Return the measure of ir-measures of that name."""
    ir_measures = load("ir_measures")

    try:
        measure: Any = ir_measures.parse_measure(name)
        measure.validate_params()
    except NameError as error:
        known = sorted(ir_measures.measures.registry)
        raise UnknownName("measure", name, known) from error
    except (AssertionError, KeyError, ValueError, SyntaxError) as error:
        expected = (
            "a name such as AP, nDCG@10, P@5 or RBP(p=0.8), with settings that it has and a "
            "cutoff where it needs one"
        )
        raise BadSetting("measure", name, expected) from error
    return measure


def _gain(
    measure: Any, grades: NDArray[np.int64], scale: Scale
) -> NDArray[np.float64] | None:  # (truth,)
    """Return the gain of each truth for a measure of the kernel; None for another measure."""
    known = {"nDCG": {"cutoff"}, "RBP": {"cutoff", "p", "rel"}}
    known |= {key: {"cutoff", "rel"} for key in _BINARY}
    if not measure.params.keys() <= known.get(measure.NAME, set()) or measure.NAME not in known:
        return None
    if measure.NAME == "nDCG":
        return grades.astype(np.float64)
    return _mark_relevant(measure, grades, scale)


def _mark_relevant(
    measure: Any, grades: NDArray[np.int64], scale: Scale
) -> NDArray[np.float64]:  # (truth,)
    """Return 1 for each truth that is relevant to a measure, else 0."""
    if "rel" in measure.params:
        return np.asarray(grades >= measure.params["rel"], dtype=np.float64)
    chosen = scale.truth_relevant
    if chosen is None:
        chosen = grades >= 1
    if chosen.all() or not chosen.any():
        which = "every" if chosen.all() else "no"
        raise BadSetting(
            "measure",
            str(measure),
            f"relevant labels, and {which} label of {scale} is relevant: name those that are, or "
            f"take {measure.NAME}(rel={grades.max()})",
        )
    return np.asarray(chosen, dtype=np.float64)


def _with_relevance(measure: Any, grades: NDArray[np.int64], scale: Scale) -> Any:
    """Return a measure of ir-measures with the least relevant grade, if it takes one."""
    taken = measure.SUPPORTED_PARAMS.get("rel")
    if taken is None or taken.default != 1 or "rel" in measure.params:
        return measure
    least = int(grades[_mark_relevant(measure, grades, scale) > 0].min())
    return measure if least == 1 else measure(rel=least)


def _check_provided(name: str, measure: Any) -> None:
    """Refuse a measure that ir-measures knows but cannot compute with what is installed."""
    ir_measures = load("ir_measures")

    able = any(
        provider.is_available() and provider.supports(measure)
        for provider in ir_measures.DefaultPipeline.providers
    )
    if not able:
        raise BadSetting("measure", name, "one that ir-measures computes with what is installed")


class SlowMeasures:
    """Measures computed by ir-measures, over the runs of a pool, one draw at a time.

    Topics and documents are passed as numbers, and places as scores, so that names and ties make
    no difference between providers.
    """

    def __init__(
        self, measures: Sequence[RetrievalMeasure], pool: Pool, runs: Sequence[Run], scale: Scale
    ) -> None:
        self.measures = measures
        self.grades = assign_grades(scale).tolist()
        self.begins: list[int] = pool.begins.tolist()
        self.documents = [str(entry) for entry in range(len(pool.item))]
        self.runs = [_as_run(run, pool, number) for number, run in enumerate(runs)]

    def values(
        self,
        truth: NDArray[np.int16],  # (entry,)
    ) -> NDArray[np.float64]:  # (measure, system, topic)
        """Return the value of every measure for every system in every topic."""
        ir_measures = load("ir_measures")

        out = np.zeros((len(self.measures), len(self.runs), len(self.begins) - 1))
        which = {measure.of: at for at, measure in enumerate(self.measures)}
        judge = ir_measures.evaluator(list(which), self._qrels(truth))
        for system, run in enumerate(self.runs):
            for found in judge.iter_calc(run):
                out[which[found.measure], system, int(found.query_id) - 1] = found.value
        return out

    def _qrels(self, truth: NDArray[np.int16]) -> dict[str, dict[str, int]]:
        graded = [self.grades[code] for code in truth.tolist()]
        ends = zip(self.begins[:-1], self.begins[1:], strict=True)
        return {
            str(topic): dict(zip(self.documents[first:last], graded[first:last], strict=True))
            for topic, (first, last) in enumerate(ends, start=1)
        }


def _as_run(run: Run, pool: Pool, system: int) -> dict[str, dict[str, float]]:
    """Return a run for ir-measures: its topics in the pool, condensed if the pool is."""
    sizes = np.append(np.diff(run.offsets), 0)[look_up(pool.topics, run.topics)]
    found: dict[str, dict[str, float]] = {}
    for topic, size in enumerate(sizes.tolist()):
        entry, place = pool.ranking(system, topic)
        depth = len(place) if pool.unjudged == "condensed" else size
        ranked = {at: f"unjudged-{at}" for at in range(1, depth + 1)}
        first = int(pool.begins[topic])
        ranked |= {p: str(first + e) for e, p in zip(entry.tolist(), place.tolist(), strict=True)}
        if ranked:
            found[str(topic + 1)] = {document: -float(at) for at, document in ranked.items()}
    return found
