"""Crowds: simulated judgments whose truth, judges and prevalence are known.

Draws that crowds and panels consist of: streams of a seed, judges, labels, times.

The design says which judges judge which item. No judge judges an item twice, however unequal the
judges' activity. The judges of an item are those of successive sampling (Plackett-Luce): draw
judges one after another by their activity and pass over whoever was drawn before, until there are
enough. That is what happens here, for a block of items at once: draw as many as are needed with
replacement, keep the first of each, draw again as many as are missing, and so on. Since never more
are drawn than are missing, the rounds are the same stream of draws cut in pieces, and nothing is
approximate. Where few draws would be new (a judge with most of the activity, or most judges
needed), the rest comes from exponential keys instead: of all judges not yet kept, those with the
smallest ``Exp(1) / activity``, which is the same distribution.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import Codes, Names
from adjudge.data.scale import Scale
from adjudge.errors import BadSetting, UnknownName
from adjudge.simulation._population import Population

ACTIVITIES = ("even", "zipf", "lognormal")
_ROUNDS = 24  # of drawing again, before the keys
_KEYS = 1 << 22  # (item, judge) keys held at a time
_START = 1_767_225_600.0  # the first judge comes after 2026-01-01 00:00 UTC

_WEEK = 7 * 86_400.0


def streams_of(seed: int, count: int) -> list[np.random.SeedSequence]:
    """Independent streams of one seed."""
    if seed < 0:
        raise BadSetting("seed", seed, "a whole number, 0 or more")
    return np.random.SeedSequence(seed).spawn(count)


def rng_of(stream: np.random.SeedSequence) -> np.random.Generator:
    """The generator of one stream."""
    return np.random.Generator(np.random.PCG64(stream))


def as_seen(
    truth: Codes,  # (judgment,)
    difficulty: NDArray[np.float64],  # (judgment,)
    prevalence: NDArray[np.float64],  # (topic, truth)
    topic: Codes | None,  # (judgment,)
    rng: np.random.Generator,
) -> Codes:  # (judgment,)
    """The truth as a judge sees it: drawn again with a chance of the item's difficulty."""
    lost = np.flatnonzero(rng.random(len(truth)) < difficulty)
    seen = truth.copy()
    seen[lost] = pick(rng.random(len(lost)), prevalence, None if topic is None else topic[lost])
    return seen


def labels_of(
    confusion: NDArray[np.float64],  # (judge, truth, label)
    judge: Codes,  # (judgment,)
    truth: Codes,  # (judgment,)
    rng: np.random.Generator,
) -> NDArray[np.int16]:  # (judgment,)
    """The label of each judgment: ``y ~ Cat(theta_judge[truth, :])``."""
    judges, truths, labels = confusion.shape
    rows = confusion.reshape(judges * truths, labels)
    return pick(rng.random(len(judge)), rows, judge * np.int32(truths) + truth)


def pick(
    uniform: NDArray[np.float64],  # (draw,)
    shares: NDArray[np.float64],  # (row, category)
    row: Codes | None,  # (draw,), the first row for all if None
) -> NDArray[np.int16]:  # (draw,)
    """The category that each uniform number falls into, by the shares of its row."""
    edges = np.cumsum(shares, axis=1)
    edges /= edges[:, -1:]  # the last is 1 exactly, so that a share of 0 is never picked
    chosen = np.zeros(len(uniform), dtype=np.int16)
    for edge in np.ascontiguousarray(edges[:, :-1].T):
        chosen += uniform >= (edge[0] if row is None else edge[row])
    return chosen


def work(
    judge: Codes,  # (judgment,)
    paces: NDArray[np.float64],  # (judge,)
    rng: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # (judgment,)
    """When each judgment was given and the seconds it took, judge after judge without a break."""
    arrival = _START + _WEEK * rng.random(len(paces))
    pace = paces * np.exp(0.3 * rng.standard_normal(len(paces)))
    seconds = pace[judge] * np.exp(0.5 * rng.standard_normal(len(judge)))
    seconds = np.maximum(np.round(seconds, 1), 0.1)
    order = np.argsort(judge, kind="stable")
    running = np.cumsum(seconds[order])
    counts = np.bincount(judge, minlength=len(paces))
    before = np.append(0.0, running)[np.cumsum(counts) - counts]  # (judge,)
    time = np.empty(len(judge), dtype=np.float64)
    time[order] = running + np.repeat(arrival - before, counts)
    return np.round(time, 3), seconds


def truth_of(
    judgments: Judgments,
    truth: Codes,  # (item,)
    honeypot: NDArray[np.bool_] | None = None,  # (item,)
) -> Gold:
    """The truth of every item, as gold."""
    return Gold(
        items=judgments.items,
        value=truth,
        values=judgments.scale.truths,
        topics=judgments.item_columns.get("topic"),
        honeypot=honeypot,
        source="truth",
    )


def activity_of(
    name: str, steepness: float, judges: int, rng: np.random.Generator
) -> NDArray[np.float64]:  # (judge,)
    """Each judge's share of the activity; they sum to 1.

    ``even``: all alike. ``zipf``: the judge of rank r has ``r ** -steepness``, the ranks dealt at
    random. ``lognormal``: ``exp(steepness N(0, 1))``.
    """
    if name == "zipf":
        weight = (1.0 + rng.permutation(judges)) ** -steepness
    elif name == "lognormal":
        weight = np.exp(steepness * rng.standard_normal(judges))
    else:
        weight = np.ones(judges)
    return np.asarray(weight / weight.sum())


def assign(
    counts: NDArray[np.int64],  # (item,)
    activity: NDArray[np.float64],  # (judge,)
    rng: np.random.Generator,
    *,
    repeats: bool = False,
) -> Codes:  # (judgment,)
    """The judges of each item, grouped by item: ``counts`` of them, distinct unless ``repeats``."""
    wide = int(counts.max(initial=0))
    cumulative = _cumulative(activity)
    if repeats:
        return _draw(cumulative, int(counts.sum()), rng)
    if 2 * wide > len(activity):
        judge = np.full((wide, len(counts)), -1, dtype=np.int32)
        _by_keys(judge, activity, rng)
    else:
        judge = _by_rounds(counts, wide, activity, cumulative, rng)
    asked = np.arange(wide) < counts[:, None]  # (item, place)
    return np.ascontiguousarray(judge.T)[asked]


def _by_rounds(
    counts: NDArray[np.int64],  # (item,)
    wide: int,
    activity: NDArray[np.float64],  # (judge,)
    cumulative: NDArray[np.float64] | int,
    rng: np.random.Generator,
) -> Codes:  # (place, item)
    """Distinct judges by drawing with replacement and drawing the duplicates again."""
    # Places beyond an item's count hold codes that no judge has, so that they never look alike.
    nobody = (np.arange(wide, dtype=np.int32) + np.int32(len(activity)))[:, None]
    asked = np.arange(wide)[:, None] < counts
    judge = np.where(asked, _draw(cumulative, asked.size, rng).reshape(asked.shape), nobody)
    left = np.arange(len(counts))
    part = judge
    for _ in range(_ROUNDS):
        again = _find_repeats(part)
        wrong = again.any(axis=0)
        if not wrong.any():
            return judge
        left, part, again = left[wrong], part[:, wrong], again[:, wrong]
        part[again] = _draw(cumulative, int(np.count_nonzero(again)), rng)
        judge[:, left] = part
    part[_find_repeats(part)] = -1
    _by_keys(part, activity, rng)
    judge[:, left] = part
    return judge


def _find_repeats(judge: Codes) -> NDArray[np.bool_]:  # (place, item)
    """Which places hold a judge whom an earlier place of the same item holds."""
    again = np.zeros(judge.shape, dtype=np.bool_)
    for place in range(1, len(judge)):
        np.any(judge[:place] == judge[place], axis=0, out=again[place])
    return again


def _by_keys(
    judge: Codes,  # (place, item), changed: every -1 gets a judge
    activity: NDArray[np.float64],  # (judge,)
    rng: np.random.Generator,
) -> None:
    """Fill the open places of each item with distinct judges by exponential keys."""
    wide, judges = len(judge), len(activity)
    step = max(1, _KEYS // judges)
    for start in range(0, judge.shape[1], step):
        part = judge[:, start : start + step].T  # (item, place)
        keys = rng.standard_exponential((len(part), judges)) / activity
        item, place = np.nonzero((part >= 0) & (part < judges))
        keys[item, part[item, place]] = np.inf  # kept already
        chosen = np.argpartition(keys, wide - 1, axis=1)[:, :wide]
        best = np.argsort(np.take_along_axis(keys, chosen, axis=1), axis=1)
        chosen = np.take_along_axis(chosen, best, axis=1).astype(np.int32)
        missing = part < 0
        rank = np.cumsum(missing, axis=1) - 1  # the first open place gets the smallest key
        part[missing] = np.take_along_axis(chosen, np.maximum(rank, 0), axis=1)[missing]


def _cumulative(activity: NDArray[np.float64]) -> NDArray[np.float64] | int:
    """The running sum of the activity, or only the number of judges where all are alike."""
    if np.all(activity == activity[0]):
        return len(activity)
    total = np.cumsum(activity)
    return np.asarray(total / total[-1])


def _draw(
    cumulative: NDArray[np.float64] | int, count: int, rng: np.random.Generator
) -> Codes:  # (count,)
    """Judges drawn by their activity, with replacement."""
    if isinstance(cumulative, int):
        return rng.integers(cumulative, size=count, dtype=np.int32)
    return np.searchsorted(cumulative, rng.random(count), side="right").astype(np.int32)


_BINARY = Scale(labels=("0", "1"), ordinal=True, relevant=("1",))
_BLOCK = (
    1 << 19
)  # judgments simulated at a time: each block has its own seed, and fits in the caches
PARTS = (
    *("judges", "prevalence", "truth", "activity", "counts"),
    *("gold", "difficulty", "labels", "time"),
)

_STEEPEST = 10  # beyond this the least active judges have no chance that a float can hold


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulated:
    """Simulated judgments, and everything about them that real judgments hide.

    ``truth`` has every item, ``gold`` the items whose truth is revealed. ``confusion`` is what a
    judge does with an item that is not difficult; ``kinds`` says what kind of judge each is.
    """

    judgments: Judgments
    truth: Gold
    gold: Gold
    confusion: NDArray[np.float64]  # (judge, truth, label)
    prevalence: NDArray[np.float64]  # (topic, truth), one row where there are no topics
    kinds: tuple[str, ...]  # (judge,)
    difficulty: NDArray[np.float64] | None = None  # (item,)

    def __repr__(self) -> str:
        return f"Simulated({self.judgments!r}, {len(self.gold):,} gold)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """A stated crowd at work: items, topics, judges, and who judges what; ``make`` draws it.

    - Topics get ``prevalence_t ~ Dirichlet(concentration * prevalence)``, all alike if the
      concentration is infinite; items are dealt to topics in runs of nearly equal length.
    - An item's truth is ``z_i ~ Cat(prevalence_t(i))``, its label by judge j
      ``y ~ Cat(theta_j[z_i, :])``.
    - ``per_item`` judgments per item: that many, or from low to high, each number as likely. The
      judges come by their ``activity`` (see ``design``): even, or with a long tail, longer as
      ``steepness`` is higher. ``repeats`` lets a judge judge an item again.
    - With ``difficulty = (a, b)``, item i has ``d_i ~ Beta(a, b)``: with chance d_i a judge is
      unsure and judges as if the truth were drawn again, so that their matrix for the item is
      ``(1 - d_i) theta_j[k, l] + d_i sum_m prevalence_t[m] theta_j[m, l]``. Honeypots are easy:
      their difficulty is 0.
    - ``gold`` is the share of items whose truth is revealed, ``honeypots`` the share of items
      planted to test judges, all of them gold. Both are exact counts, rounded.
    - ``timed`` adds the seconds each judgment took, lognormal about the judge's own pace, and the
      time it was given: a judge arrives within a week and works through the items without a break.
    """

    items: int
    population: Population
    scale: Scale = _BINARY
    prevalence: tuple[float, ...] = ()  # (truth,), even if it is left out
    topics: int = 0
    concentration: float = math.inf
    per_item: int | tuple[int, int] = 5
    activity: str = "even"
    steepness: float = 1.0
    repeats: bool = False
    difficulty: tuple[float, float] | None = None
    gold: float = 0.0
    honeypots: float = 0.0
    timed: bool = False

    def __post_init__(self) -> None:
        low, high = self._range
        judges, truths = len(self.population), len(self.scale.truths)
        given = self.prevalence
        shares = len(given) in (0, truths) and all(share >= 0 for share in given)
        for fits, setting, expected in (
            (self.items >= 1, "items", "1 or more"),
            (0 <= self.topics <= self.items, "topics", f"from 0 to the {self.items} items"),
            (
                shares and (not given or abs(sum(given) - 1) <= 1e-6),
                "prevalence",
                f"{truths} shares that sum to 1",
            ),
            (self.concentration > 0, "concentration", "a number above 0"),
            (self.topics or math.isinf(self.concentration), "concentration", "topics too"),
            (0 <= low <= high and high >= 1, "per_item", "1 or more, or a range (low, high)"),
            (
                high <= judges or self.repeats,
                "per_item",
                f"no more than the {judges} judges, or repeats",
            ),
            (0 < self.steepness <= _STEEPEST, "steepness", f"above 0, up to {_STEEPEST}"),
            (
                self.difficulty is None or all(0 < x < math.inf for x in self.difficulty),
                "difficulty",
                "two numbers above 0: a and b of a Beta",
            ),
            (0 <= self.gold <= 1, "gold", "a share of the items, from 0 to 1"),
            (0 <= self.honeypots <= self.gold, "honeypots", f"from 0 to the gold's {self.gold}"),
        ):
            if not fits:
                raise BadSetting(setting, getattr(self, setting), expected)
        if self.activity not in ACTIVITIES:
            raise UnknownName("activity", self.activity, ACTIVITIES)

    @property
    def _range(self) -> tuple[int, int]:
        if isinstance(self.per_item, int):
            return self.per_item, self.per_item
        return self.per_item

    def make(self, seed: int = 0) -> Simulated:
        """The crowd's judgments: the same seed gives the same, to the bit.

        Every part draws from its own stream of the seed, so that asking for gold or times, say,
        leaves the judgments as they were.
        """
        streams = dict(zip(PARTS, streams_of(seed, len(PARTS)), strict=True))
        rng = {part: rng_of(stream) for part, stream in streams.items()}
        truths = len(self.scale.truths)
        overall = np.array(self.prevalence or (1 / truths,) * truths)
        confusion = self.population.draw(self.scale, overall / overall.sum(), rng["judges"])
        topic = None  # of each item: runs that differ by one item at most
        if self.topics:
            topic = (np.arange(self.items) * self.topics // self.items).astype(np.int32)
        prevalence = self._prevalences(overall / overall.sum(), rng["prevalence"])
        truth = pick(rng["truth"].random(self.items), prevalence, topic).astype(np.int32)
        counts = rng["counts"].integers(*self._range, size=self.items, endpoint=True)
        offsets = np.append(0, np.cumsum(counts))
        marks = self._marks(rng["gold"])
        difficulty = None
        if self.difficulty is not None:
            drawn = rng["difficulty"].beta(*self.difficulty, self.items)
            difficulty = np.where(marks == 2, 0.0, drawn)
        judge, label = self._judge(
            streams["labels"],
            offsets=offsets,
            activity=activity_of(self.activity, self.steepness, len(confusion), rng["activity"]),
            confusion=confusion,
            prevalence=prevalence,
            truth=truth,
            topic=topic,
            difficulty=difficulty,
        )
        time, seconds = None, None
        if self.timed:
            time, seconds = work(judge, self.population.paces, rng["time"])
        judgments = Judgments(
            scale=self.scale,
            items=number_names("item", self.items, 7),
            judges=number_names("judge", len(confusion), 4),
            offsets=offsets,
            judge=judge,
            label=label,
            topics=number_names("topic", self.topics, 3) if self.topics else None,
            topic=topic,
            documents=number_names("document", self.items, 7) if self.topics else None,
            time=time,
            seconds=seconds,
        )
        known = truth_of(judgments, truth, marks == 2 if self.honeypots else None)
        return Simulated(
            judgments=judgments,
            truth=known,
            gold=replace(known.select(marks > 0), source="gold"),
            confusion=confusion,
            prevalence=prevalence,
            kinds=self.population.kinds,
            difficulty=difficulty,
        )

    def _prevalences(
        self, overall: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.float64]:  # (topic, truth)
        """The prevalence of each topic, or one row for all items."""
        if math.isinf(self.concentration):
            return np.tile(overall, (max(self.topics, 1), 1))
        return rng.dirichlet(self.concentration * overall, self.topics)

    def _marks(self, rng: np.random.Generator) -> NDArray[np.int8]:  # (item,)
        """Which items are gold (1) and which of them honeypots (2)."""
        marks = np.zeros(self.items, dtype=np.int8)
        known = round(self.gold * self.items)
        if known:
            chosen = rng.permutation(self.items)[:known]
            marks[chosen] = 1
            marks[chosen[: round(self.honeypots * self.items)]] = 2
        return marks

    def _judge(
        self,
        stream: np.random.SeedSequence,
        *,
        offsets: NDArray[np.int64],
        activity: NDArray[np.float64],
        confusion: NDArray[np.float64],
        prevalence: NDArray[np.float64],
        truth: Codes,
        topic: Codes | None,
        difficulty: NDArray[np.float64] | None,
    ) -> tuple[Codes, NDArray[np.signedinteger[Any]]]:
        """Who judges each item and the labels given, drawn in blocks of items, in threads.

        The blocks depend on the settings only, and each has its own seed: the result does not
        depend on how many threads there are.
        """
        judge = np.empty(offsets[-1], dtype=np.int32)
        label = np.empty(offsets[-1], dtype=self.scale.label_dtype)
        step = max(1, _BLOCK // self._range[1])
        starts = range(0, self.items, step)

        def fill(start: int, seed: np.random.SeedSequence) -> None:
            rng = rng_of(seed)
            stop = min(start + step, self.items)
            counts = np.diff(offsets[start : stop + 1])
            part = slice(offsets[start], offsets[stop])
            judge[part] = assign(counts, activity, rng, repeats=self.repeats)
            item = np.repeat(np.arange(start, stop), counts)
            seen = truth[item]
            if difficulty is not None:
                row = None if topic is None else topic[item]
                seen = as_seen(seen, difficulty[item], prevalence, row, rng)
            label[part] = labels_of(confusion, judge[part], seen, rng)

        with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
            list(pool.map(fill, starts, stream.spawn(len(starts))))
        return judge, label


def number_names(word: str, count: int, digits: int) -> Names:
    """The names ``word-0001``, ``word-0002``, ..., as wide as the last one needs."""
    digits = max(digits, len(str(count)))
    numbers = pa.array(np.arange(1, count + 1)).cast(pa.large_string())
    padded = pc.utf8_lpad(numbers, width=digits, padding="0")
    before = pa.scalar(f"{word}-", pa.large_string())
    return pc.binary_join_element_wise(before, padded, pa.scalar("", pa.large_string()))
