"""From fitted types to a consensus: what types mean, the truths of items, how good judges are."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus, Dependence
from adjudge.data.judgments import Judgments
from adjudge.engines.engine import Parameters
from adjudge.engines.item_types import AgreementBeyond, CountLeftOut, ReadTypes
from adjudge.kernels.fixed import LIKELIHOOD, SHARE
from adjudge.models._families import key_judges, share_of_items
from adjudge.models._type_judges import (
    MANY,
    FittedTypes,
    Judges,
    Trust,
    exact_sum,
    normalise,
    read_truths,
    refer,
    sharpen,
    trust,
    weights_of,
    whole_cells,
)
from adjudge.models.dependence import measure_dependence
from adjudge.models.model import Prepared, conclude

if TYPE_CHECKING:
    from adjudge.models._calibration import Calibration
    from adjudge.models._type_memory import TypesMemory
    from adjudge.models.item_types import ItemTypes

_Floats = NDArray[np.float64]
_LeftOut = list[tuple[NDArray[np.int64], NDArray[np.int64]]]  # all, and on gold, by structure
_PAIRS, _PAIRS_OF_ITEM = 3e5, 300.0  # looked at for agreement beyond types
_DRAWN = 2.0  # pseudo-judgments that draw a row where agreement is measured
_BLOCK = 10_000  # items added up at a time
_SAY = {"habit": 0.24, "slant": 0.36, "line": 0.4}  # of those that are fitted
_LITTLE = 0.1  # judgments of each label, as everybody gives it
_TOPIC = 10.0  # items' worth of all truths in the prevalence of a topic


@dataclass(frozen=True, slots=True, eq=False)
class Meanings:
    """What the types of every structure mean, and how that was judged."""

    readings: tuple[_Floats, ...]  # (type, truth) of each structure
    trust: Trust
    alone: bool = False  # all judgments are of one source, so that nobody says what they mean


def conclude_types(model: ItemTypes, prepared: Prepared, fitted: list[FittedTypes]) -> Consensus:
    """Types read as truths, judges measured without their own judgments, gold put to use."""
    left_out = count_left_out(prepared, [each.parameters for each in fitted])
    meanings = _mean(model, prepared, fitted, left_out)
    said = count_said(prepared, fitted, left_out, meanings)
    # Where judges are many these tables are as large as the answer: they go before it comes.
    del left_out
    fitted[:] = [replace(each, counts=np.empty(0), believed=np.empty(0)) for each in fitted]
    _give_back_freed()
    parameters = [each.parameters for each in fitted]
    posterior = read_items(prepared, parameters, meanings, say_of(fitted))
    prevalence = prevalence_of(prepared.judgments, posterior, by_topic=model.by_topic)
    fill_empty(prepared.judgments, posterior, prevalence)
    return _finish(model, prepared, fitted, meanings, posterior, prevalence, said)


def _give_back_freed() -> None:
    """Give the system what was freed in small pieces: the answer would come on top of it."""
    with suppress(OSError, AttributeError):  # where the C library can
        ctypes.CDLL(None).malloc_trim(0)


def count_left_out(prepared: Prepared, parameters: list[Parameters]) -> _LeftOut:
    """Counts of judgments under the types that the others give: all, and those on gold.

    Of very many judgments, those of the first structure measure judges, so that they are counted
    whole; what the others are needed for, the meaning of types, a sample of items tells.
    """
    voices = prepared.voices
    source = prepared.families.family[voices.judge_of]
    key = key_judges(whole_cells(prepared))[voices.judge_of]
    counts: _LeftOut = []
    for number, given in enumerate(parameters):
        share = 1.0 if number == 0 else min(1.0, MANY / max(len(prepared.judgments), 1))
        tables, types = prepared.sweeps.tables(given), given.confusion.shape[1]
        task = CountLeftOut(tables, types, source, voices.weight < 1, key, share)
        whole, on_gold = prepared.sweeps.ask(task)
        counts.append((whole, on_gold))
    return counts


def _by_judge(
    prepared: Prepared, counts: NDArray[np.int64], fitted: FittedTypes, *, weighted: bool
) -> _Floats:  # (judge, type, label)
    """Counts in shares, flat by voice, as numbers of each judge."""
    labels = len(prepared.judgments.scale.labels)
    table = counts.reshape(-1, labels, fitted.rates.shape[1]).transpose(0, 2, 1) / SHARE
    return prepared.voices.fold(table, weighted=weighted)


def _mean(
    model: ItemTypes, prepared: Prepared, fitted: list[FittedTypes], left_out: _LeftOut
) -> Meanings:
    """What types mean: through the reference judge, trusted as far as the signs allow."""
    judges = Judges(prepared.voices.items.astype(np.float64), weights_of(prepared))
    trusted = Trust(1.0, 0.0, 0.0, 0.0)
    first = next((each for each in fitted if each.kinds), None)
    if first is not None and len(prepared.judgments):
        fit = refer(first.overall, first.rates, judges)
        beyond = _correlation(prepared, first)
        trusted = trust(first.overall, fit, first.kinds, beyond, judges)
    scale = prepared.judgments.scale
    readings = []
    for each, (counts, _) in zip(fitted, left_out, strict=True):
        rows = model.strength * judges.weight[:, None, None] * each.believed
        rows += _by_judge(prepared, counts, each, weighted=True)
        rows /= rows.sum(axis=-1, keepdims=True)
        same = trusted.same
        meaning = (1.0 - same) * refer(each.overall, rows, judges, same)
        if same > 0:
            meaning = meaning + same * refer(each.overall, each.rates, judges, same)
        own = np.repeat(np.arange(len(scale.labels)), each.kinds or 1)
        if not each.kinds:  # on a line: the grade that the type is most often given
            own = meaning.argmax(axis=1)
        meaning = sharpen(meaning, own, trusted.sharpen)
        readings.append(read_truths(meaning, scale.truth_of, len(scale.truths)))
    judged = prepared.families.family[prepared.judgments.counts_per_judge > 0]
    return Meanings(tuple(readings), trusted, len(np.unique(judged)) == 1)


def _correlation(prepared: Prepared, fitted: FittedTypes) -> float:
    """How far judges of an item agree beyond what its types explain, 0 to 1."""
    judgments, voices = prepared.judgments, prepared.voices
    # Rows that are drawn to the typical one explain less agreement than there is, so that judges
    # who err independently would seem not to: here they are drawn as little as may be.
    rates = _DRAWN * weights_of(prepared)[:, None, None] * fitted.believed
    rates += fitted.counts
    rates /= rates.sum(axis=-1, keepdims=True)
    task = AgreementBeyond(
        prepared.sweeps.tables(replace(fitted.parameters, confusion=rates)),
        voices.units,
        key_judges(whole_cells(prepared))[voices.judge_of],
        voices.judge_of,
        prepared.families.family[voices.judge_of],
        rates,
        share_of_items(judgments, _PAIRS, _PAIRS_OF_ITEM),
        _PAIRS_OF_ITEM,
    )
    (sums,) = prepared.sweeps.ask(task)
    seen, expected, every = (float(value) / LIKELIHOOD for value in sums)
    return (seen - expected) / max(every - expected, 1e-9)


def say_of(fitted: Sequence[FittedTypes]) -> _Floats:  # (structure,)
    """How much each structure has to say."""
    return normalise(np.array([_SAY[each.name] for each in fitted]))


def read_items(
    prepared: Prepared, parameters: list[Parameters], meanings: Meanings, say: _Floats
) -> _Floats:  # (item, truth)
    """The truths of every item: the mean of what the structures read, each with its say."""
    tables = tuple(prepared.sweeps.tables(given) for given in parameters)
    task = ReadTypes(tables, meanings.readings, say)
    return prepared.sweeps.rows(task, len(prepared.judgments.scale.truths))


def prevalence_of(judgments: Judgments, posterior: _Floats, *, by_topic: bool) -> _Floats:
    """The share of each truth among judged items, of a topic drawn to that of all."""
    judged = judgments.counts_per_item > 0
    truths = posterior.shape[1]
    whole = np.zeros(truths)
    for begin in range(0, len(posterior), _BLOCK):
        block = slice(begin, begin + _BLOCK)
        whole += exact_sum(posterior[block][judged[block]])
    overall = normalise(whole) if whole.sum() > 0 else np.full(truths, 1.0 / truths)
    if not by_topic or judgments.topic is None:
        return overall[None]
    units = np.rint(posterior * SHARE).astype(np.int64) * judged[:, None]
    sums = np.zeros((judgments.topic_count, truths), dtype=np.int64)
    np.add.at(sums, judgments.topic, units)
    return normalise(sums / SHARE + _TOPIC * overall)


def fill_empty(judgments: Judgments, posterior: _Floats, prevalence: _Floats) -> None:
    """Give items that nobody judged the prevalence of their topic, or of all."""
    empty = np.flatnonzero(judgments.counts_per_item == 0)
    if len(prevalence) > 1 and judgments.topic is not None:
        prevalence = prevalence[judgments.topic[empty]]
    posterior[empty] = prevalence


@dataclass(frozen=True, slots=True, eq=False)
class _JudgeCounts:
    """What each judge said of each truth, (judge, truth, label), by three measures."""

    alone: _Floats  # as the other judges have it
    told: _Floats  # the same, with gold where it is known: what may be multiplied with others'
    measured: _Floats  # with gold, and own judgments as far as they may tell: how good they are


def count_said(
    prepared: Prepared, fitted: list[FittedTypes], left_out: _LeftOut, meanings: Meanings
) -> _JudgeCounts:
    """Judgments of every judge, counted by the truth of their items."""
    alone = elsewhere = measured = np.zeros(())
    say, same = say_of(fitted), meanings.trust.same
    if len(prepared.judgments) > MANY:  # the others are of a sample
        say = np.eye(len(fitted))[0]
    for each, part, (counts, on_gold), reading in zip(
        fitted, say, left_out, meanings.readings, strict=True
    ):
        if not part:
            continue
        table = _by_judge(prepared, counts, each, weighted=False)
        alone = alone + part * said_of_truths(table, reading, same)
        if len(on_gold):
            table = _by_judge(prepared, counts - on_gold, each, weighted=False)
            elsewhere = elsewhere + part * said_of_truths(table, reading, same)
        measured = measured + part * said_of_truths(_own_too(table, each, same), reading, same)
    cells = whole_cells(prepared).astype(np.float64)
    alone = _for_cells(alone, cells)
    if prepared.known is None:
        return _JudgeCounts(alone, alone, _for_cells(measured, cells))
    gold = prepared.sweeps.against(prepared.known, len(prepared.judgments.scale.truths))
    rest = cells - gold.sum(axis=1)
    return _JudgeCounts(
        alone, _for_cells(elsewhere, rest) + gold, _for_cells(measured, rest) + gold
    )


def _own_too(left_out: _Floats, fitted: FittedTypes, same: float) -> _Floats:
    """What judges said of types, their own judgments telling the type as far as may be.

    Where judges err independently, a judge's own label tells of an item's type as the others' do:
    measured by the others' alone, everybody is worse than they are. So as far as types may be
    trusted, by ``same``, judgments are counted as the fit counts them.
    """
    if same <= 0 or not fitted.counts.size:
        return left_out
    told, whole = left_out.sum(axis=(1, 2)), fitted.counts.sum(axis=(1, 2))
    share = told / np.where(whole > 0, whole, 1.0)
    return np.asarray((1.0 - same) * left_out + same * share[:, None, None] * fitted.counts)


def said_of_truths(counts: _Floats, reading: _Floats, same: float) -> _Floats:
    """What judges said of truths (judge, truth, label), given what they said of types.

    A type means several truths, and where judges err independently a judge's label tells which of
    them it is: counted under the others' types alone, they would seem worse than they are. So as
    far as types may be trusted, by ``same``, truths are weighed by their own rates once.
    """
    found = np.asarray(reading.T @ counts)
    if same <= 0:
        return found
    rates = normalise(found + normalise(exact_sum(found) + 1e-3))
    each = counts / (reading @ rates)  # (judge, type, label)
    return np.asarray((1.0 - same) * found + same * rates * (reading.T @ each))


def _for_cells(counts: _Floats, cells: _Floats) -> _Floats:  # (judge, truth, label)
    """Counts for as many judgments of each label as there are, ``cells`` (judge, label).

    Judgments were counted as far as the others tell of their items. Of a judge's label of which
    they tell little, it is believed what all judges mean by it.
    """
    everybody = exact_sum(counts) + 1e-9
    drawn = counts + _LITTLE * everybody / everybody.sum(axis=0)
    return np.asarray(drawn * (cells / drawn.sum(axis=1))[:, None, :])


def _finish(
    model: ItemTypes,
    prepared: Prepared,
    fitted: list[FittedTypes],
    meanings: Meanings,
    posterior: _Floats,
    prevalence: _Floats,
    said: _JudgeCounts,
) -> Consensus:
    """The consensus, calibrated by gold where there is some, with its memory."""
    from adjudge.models._calibration import calibrate_by
    from adjudge.models._type_memory import TypesMemory

    population = normalise(exact_sum(said.told) + 1e-3)
    confusion = normalise(said.told + population)
    calibration: Calibration | None = None
    notes = [_outcome(model, fitted)]
    if meanings.alone:
        notes.append(
            "all judgments are of one source, and nothing tells how often it errs: labels are "
            "its own, their probabilities a guess; gold, or a second judge, would tell"
        )
    if prepared.known is not None and model.calibrate:
        plain = normalise(said.alone + normalise(exact_sum(said.alone) + 1e-3))
        calibration = calibrate_by(
            prepared.known, prepared.spoken, prepared.voices, posterior, plain, score=True
        )
    if calibration is not None:
        calibration = calibration.apply(prepared.spoken, prepared.voices, posterior)
        notes.append(calibration.told)
        prevalence = prevalence_of(prepared.judgments, posterior, by_topic=model.by_topic)
    if prepared.known is not None:
        known = prepared.known >= 0
        posterior[known] = np.eye(posterior.shape[1])[prepared.known[known]]
    found = conclude(
        model,
        prepared,
        Parameters(prevalence=prevalence, confusion=confusion),
        posterior=posterior,
        counts=said.measured,
        trace=fitted[0].trace,
        converged=all(each.converged for each in fitted),
        notes=tuple(notes),
    )
    dependence = measure_dependence(prepared.judgments, prepared.known, prepared.families)
    consensus = with_voices(found, prepared, dependence, None)
    memory = TypesMemory(model, consensus, prepared.engine, tuple(fitted), meanings, calibration)
    return replace(consensus, predictor=memory)


def _outcome(model: ItemTypes, fitted: list[FittedTypes]) -> str:
    """A sentence on how the fit ended."""
    sweeps = ", ".join(f"{each.name} {len(each.trace)}" for each in fitted)
    slow = [each.name for each in fitted if not each.converged]
    if not slow:
        return f"converged (sweeps: {sweeps}; gain below {model.tolerance:g} nats an item)"
    return f"stopped at the limit of {model.iterations} iterations, not converged"


def with_voices(
    consensus: Consensus,
    prepared: Prepared,
    dependence: Dependence | None,
    predictor: TypesMemory | None,
) -> Consensus:
    """The consensus with the effective number of judgments of each item."""
    voices, rho = prepared.voices_per_item(), 0.0 if dependence is None else dependence.correlation
    for begin in range(0, len(voices), _BLOCK):
        block = voices[begin : begin + _BLOCK]
        block /= 1.0 + np.maximum(block - 1.0, 0.0) * rho
    return replace(consensus, dependence=dependence, effective=voices, predictor=predictor)
