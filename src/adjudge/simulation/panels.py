"""Ready-made simulated data: the demonstration, and the panels of a published study.

The study is Liu and Wang, "TrueLabel + Confusions: a spectrum of probabilistic models in analyzing
multiple ratings", ICML 2012. Its own data are private, and the matrices of its second figure are
known to us only by what the text says of them; what is chosen here in their place is stated here.
"""

from __future__ import annotations

from dataclasses import replace
from string import ascii_lowercase

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.data.names import Codes
from adjudge.data.scale import Scale
from adjudge.errors import BadSetting, UnknownName
from adjudge.simulation._crowd import PARTS, Crowd, Made, number_names
from adjudge.simulation._draws import as_seen, labels_of, pick, rng_of, streams_of, truth_of, work
from adjudge.simulation._judges import Dirichlet, Given, Matrix
from adjudge.simulation._population import Population

MODEL_NAME = "llm-judge-8b"

MODEL: Matrix = ((0.72, 0.2, 0.08), (0.08, 0.67, 0.25), (0.02, 0.1, 0.88))  # too kind to 0 and 1


def demo(seed: int = 7) -> Made:
    """A small crowd with something of everything: 400 items in 20 topics, 40 judges, 3 grades.

    39 people with a long tail of activity, 4 to 6 on each item: most are skilled, some strict or
    kind, six are spammers, one is lazy and one an adversary. A language model judged every item,
    at a second each, and is too kind. A fifth of the items are gold, 20 of them honeypots.
    """
    crowd = Crowd(
        items=400,
        population=Population.parse(
            "skilled:27,biased(-1):2,biased(1):2,spammer:4,spammer(prevalence):2,"
            "lazy(0):1,adversary:1"
        ),
        scale=Scale.parse("0<1<2"),
        prevalence=(0.55, 0.3, 0.15),
        topics=20,
        concentration=8.0,
        per_item=(4, 6),
        activity="zipf",
        steepness=0.7,
        difficulty=(1.0, 5.0),
        gold=0.2,
        honeypots=0.05,
        timed=True,
    )
    return _with_model(crowd.make(seed), np.array([MODEL]), seed)


def copy_judge(made: Made, name: str, copies: int = 1) -> Made:
    """The same judgments, with copies of a judge, who say the same: NAME-b, NAME-c, ..."""
    old = made.judgments
    names = old.judges.to_pylist()
    if name not in names:
        raise UnknownName("judge", name, names)
    if not 0 <= copies <= len(ascii_lowercase) - 1:
        raise BadSetting("copies", copies, f"0 to {len(ascii_lowercase) - 1}")
    code = names.index(name)
    own = np.flatnonzero(old.judge == code)
    row = np.sort(np.concatenate([np.arange(len(old)), np.repeat(own, copies)]), kind="stable")
    again = row == np.concatenate([[-1], row[:-1]])
    place = np.arange(len(row)) - np.flatnonzero(~again)[row]  # 0 for the judgment itself
    added = np.bincount(old.item[own], minlength=old.item_count) * copies
    letters = pa.array([f"{name}-{letter}" for letter in ascii_lowercase[1 : copies + 1]])
    judgments = replace(
        old,
        judges=pa.concat_arrays([old.judges, letters.cast(pa.large_string())]),
        offsets=old.offsets + np.concatenate([[0], np.cumsum(added)]),
        judge=np.where(place > 0, old.judge_count + place - 1, old.judge[row]).astype(np.int32),
        label=old.label[row],
        time=None if old.time is None else old.time[row],
        seconds=None if old.seconds is None else old.seconds[row],
        families=None,
        family=None,
    )
    return replace(
        made,
        judgments=judgments,
        confusion=np.concatenate([made.confusion, np.repeat(made.confusion[[code]], copies, 0)]),
        kinds=(*made.kinds, *["copy"] * copies),
    )


def _with_model(made: Made, confusion: NDArray[np.float64], seed: int) -> Made:
    """The same judgments and one more judge, who judged every item, last of its judgments."""
    rng = rng_of(streams_of(seed, len(PARTS) + 1)[-1])  # a stream that the crowd does not use
    old = made.judgments
    alone = np.zeros(old.item_count, dtype=np.int32)
    seen = made.truth.value
    if made.difficulty is not None:
        seen = as_seen(seen, made.difficulty, made.prevalence, old.topic, rng)
    label = labels_of(confusion, alone, seen, rng)
    time, seconds = work(alone, np.array([1.0]), rng)
    ends = old.offsets[1:]
    judgments = replace(
        old,
        judges=pa.concat_arrays([old.judges, pa.array([MODEL_NAME], pa.large_string())]),
        offsets=old.offsets + np.arange(old.item_count + 1),
        judge=np.insert(old.judge, ends, old.judge_count),
        label=np.insert(old.label, ends, label),
        time=None if old.time is None else np.insert(old.time, ends, time),
        seconds=None if old.seconds is None else np.insert(old.seconds, ends, seconds),
    )
    return replace(
        made,
        judgments=judgments,
        confusion=np.concatenate([made.confusion, confusion]),
        kinds=(*made.kinds, "model"),
    )


PREVALENCE = (0.05, 0.15, 0.8)
THREE: tuple[Matrix, Matrix, Matrix] = (
    ((0.6, 0.4, 0.0), (0.1, 0.8, 0.1), (0.05, 0.05, 0.9)),
    ((0.8, 0.1, 0.1), (0.25, 0.55, 0.2), (0.45, 0.05, 0.5)),
    ((0.65, 0.3, 0.05), (0.1, 0.8, 0.1), (0.05, 0.05, 0.9)),
)

GRADES = ("Bad", "Fair", "Good", "Excellent", "Perfect")
_GRADE_PREVALENCE = (0.2, 0.25, 0.25, 0.2, 0.1)


def three_judges(items: int, seed: int = 0) -> Made:
    """Section 3 of the study: 3 judges, 3 labels, every judge on every item.

    Prevalence (.05, .15, .8) is published. The matrices are ours. They hold to what the text tells:
    the first has a cell of 0, the three differ so much that one matrix for all fits badly (the
    second takes nearly half of the 3s for 1s), the majority vote finds a prevalence near
    (.1, .15, .75) (here .101, .154, .745), and more than .9 of the items can be told (.953 by
    Bayes' rule with everything known; .899 by the vote; .807 by the best single matrix).
    """
    population = Population(tuple((Given(matrix), 1) for matrix in THREE))
    return Crowd(
        items=items,
        population=population,
        scale=Scale(labels=("1", "2", "3"), ordinal=True),
        prevalence=PREVALENCE,
        per_item=3,
    ).make(seed)


def monitoring_panel(seed: int = 0, *, accuracy: float = 0.65, kappa: float = 20.0) -> Made:
    """Section 4 of the study in shape: 148 judges, 48 items, 5 grades, 6,008 judgments.

    The counts are published, and that some judges, the new ones, judged only a few items. Ours:
    118 judges judged all 48 items, and 30 new ones from 1 to 22. Rows of the matrices are
    Dirichlet and fall off from the diagonal: old judges with this accuracy and kappa (the lower,
    the more they differ), new ones .15 less accurate and with half the kappa, since the items were
    picked to be hard. All truths are gold, the super-judge's.
    """
    items, old, new, wanted = 48, 118, 30, 6008
    draws = [rng_of(stream) for stream in streams_of(seed, 4)]
    skills = (Dirichlet(kappa, accuracy), Dirichlet(kappa / 2, accuracy - 0.15))
    population = Population(tuple(zip(skills, (old, new), strict=True)))
    scale = Scale(labels=GRADES, ordinal=True)
    prevalence = np.array([_GRADE_PREVALENCE])
    confusion = population.draw(scale, prevalence[0], draws[0])
    truth = pick(draws[1].random(items), prevalence, None).astype(np.int32)
    # New judges differ as quadratic steps do; each has one item at least, and the sum is exact.
    steps = np.round((wanted - old * items - new) * np.linspace(0, 1, new + 1) ** 2)
    load = np.append(np.full(old, items), 1 + np.diff(steps).astype(np.int64))  # (judge,)
    place = np.argsort(draws[2].random((items, len(load))), axis=0).argsort(axis=0)
    judged = place < load  # (item, judge)
    item, chosen = np.nonzero(judged)
    judge: Codes = chosen.astype(np.int32)
    label = labels_of(confusion, judge, truth[item], draws[3]).astype(scale.label_dtype)
    judgments = Judgments(
        scale=scale,
        items=number_names("item", items, 7),
        judges=number_names("judge", len(load), 4),
        offsets=np.append(0, np.cumsum(judged.sum(axis=1))).astype(np.int64),
        judge=judge,
        label=label,
    )
    known = truth_of(judgments, truth)
    return Made(
        judgments=judgments,
        truth=known,
        gold=replace(known, source="gold"),
        confusion=confusion,
        prevalence=prevalence,
        kinds=population.kinds,
    )
