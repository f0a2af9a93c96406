"""The panels of a published study, simulated: three judges of three labels, and 148 of five grades.

The study is Liu and Wang, "TrueLabel + Confusions: a spectrum of probabilistic models in analyzing
multiple ratings", ICML 2012. Its own data are private, and the matrices of its second figure are
known to us only by what the text says of them; what is chosen here in their place is stated here.
"""

from __future__ import annotations

import numpy as np

from adjudge import Gold, Judgments, Scale
from adjudge.simulation import Crowd, Dirichlet, Given, Matrix, Population, Simulated

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


def monitoring_panel(
    seed: int = 0, *, accuracy: float = 0.65, kappa: float = 20.0
) -> tuple[Judgments, Gold]:
    """Section 4 of the study in shape: 148 judges, 48 items, 5 grades, 6,008 judgments, all gold.

    The counts are published, and that some judges, the new ones, judged only a few items. Ours:
    118 judges judged all 48 items, and 30 new ones from 1 to 22. Rows of the matrices are
    Dirichlet and fall off from the diagonal: old judges with this accuracy and kappa (the lower,
    the more they differ), new ones .15 less accurate and with half the kappa, since the items were
    picked to be hard.
    """
    items, old, new, total = 48, 118, 30, 6008
    skills = (Dirichlet(kappa, accuracy), Dirichlet(kappa / 2, accuracy - 0.15))
    made = Crowd(
        items=items,
        population=Population(tuple(zip(skills, (old, new), strict=True))),
        scale=Scale(labels=GRADES, ordinal=True),
        prevalence=_GRADE_PREVALENCE,
        per_item=old + new,
    ).make(seed)
    # New judges differ as quadratic steps do; each has one item at least, and the sum is exact.
    steps = np.round((total - old * items - new) * np.linspace(0, 1, new + 1) ** 2)
    load = np.append(np.full(old, items), 1 + np.diff(steps).astype(np.int64))  # (judge,)
    order = np.argsort(np.random.default_rng(seed).random((len(load), items)), axis=1)
    place = order.argsort(axis=1)  # (judge, item)
    judgments = made.judgments
    kept = (place < load[:, None])[judgments.judge, judgments.item]
    return judgments.select(judgments=kept, keep_empty=True), made.truth
