"""The panels of a published study, simulated: three judges of three labels, and 148 of five grades.

The study is Liu and Wang, "TrueLabel + Confusions: a spectrum of probabilistic models in analyzing
multiple ratings", ICML 2012. Its own data are private, and the matrices of its second figure are
known to us only by what the text says of them; what is chosen here in their place is stated here.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from adjudge.data.judgments import Judgments
from adjudge.data.names import Codes
from adjudge.data.scale import Scale
from adjudge.simulation import Crowd, Dirichlet, Given, Matrix, Population, Simulated, number_names
from adjudge.simulation._crowd import labels_of, pick, rng_of, streams_of, truth_of

PREVALENCE = (0.05, 0.15, 0.8)
THREE: tuple[Matrix, Matrix, Matrix] = (
    ((0.6, 0.4, 0.0), (0.1, 0.8, 0.1), (0.05, 0.05, 0.9)),
    ((0.8, 0.1, 0.1), (0.25, 0.55, 0.2), (0.45, 0.05, 0.5)),
    ((0.65, 0.3, 0.05), (0.1, 0.8, 0.1), (0.05, 0.05, 0.9)),
)

GRADES = ("Bad", "Fair", "Good", "Excellent", "Perfect")
_GRADE_PREVALENCE = (0.2, 0.25, 0.25, 0.2, 0.1)


def three_judges(items: int, seed: int = 0) -> Simulated:
    """Section 3 of the study: 3 judges, 3 labels, every judge on every item.

    Prevalence (.05, .15, .8) is published. The matrices are ours. They agree with the text:
    the first has a cell of 0, the three differ so much that one matrix for all fits badly (the
    second takes nearly half of the 3s for 1s), the majority vote finds a prevalence near
    (.1, .15, .75) (here .101, .154, .745), and more than .9 of the items can be identified (.953 by
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


def monitoring_panel(seed: int = 0, *, accuracy: float = 0.65, kappa: float = 20.0) -> Simulated:
    """Section 4 of the study in shape: 148 judges, 48 items, 5 grades, 6,008 judgments.

    The counts are published, and that some judges, the new ones, judged only a few items. Ours:
    118 judges judged all 48 items, and 30 new ones from 1 to 22. Rows of the matrices are
    Dirichlet and fall off from the diagonal: old judges with this accuracy and kappa (the lower,
    the more they differ), new ones .15 less accurate and with half the kappa, since the items were
    picked to be hard. All truths are gold, the super-judge's.
    """
    items, old, new, total = 48, 118, 30, 6008
    draws = [rng_of(stream) for stream in streams_of(seed, 4)]
    skills = (Dirichlet(kappa, accuracy), Dirichlet(kappa / 2, accuracy - 0.15))
    population = Population(tuple(zip(skills, (old, new), strict=True)))
    scale = Scale(labels=GRADES, ordinal=True)
    prevalence = np.array([_GRADE_PREVALENCE])
    confusion = population.draw(scale, prevalence[0], draws[0])
    truth = pick(draws[1].random(items), prevalence, None).astype(np.int32)
    # New judges differ as quadratic steps do; each has one item at least, and the sum is exact.
    steps = np.round((total - old * items - new) * np.linspace(0, 1, new + 1) ** 2)
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
    return Simulated(
        judgments=judgments,
        truth=known,
        gold=replace(known, source="gold"),
        confusion=confusion,
        prevalence=prevalence,
        kinds=population.kinds,
    )
