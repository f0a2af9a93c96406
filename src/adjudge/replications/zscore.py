"""Jung and Lease (2011), figure 1: Z-score filters by feature, three kinds of vote, two accuracies.

Data: TREC 2010 Relevance Feedback, items with gold 0, 1 or 2, and the planted broken links as
honeypots. The paper's folds were not published: gamma is tuned here by nested 5-fold
cross-validation, the mean and sd are over seeds. SWM weighs by graded accuracy against gold, MWM by
the product of all seven features; the paper does not say which it took.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from adjudge.data.formats import Content
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import look_up
from adjudge.data.scale import Scale
from adjudge.errors import BadData
from adjudge.evaluation.tuning import GAMMAS, Measure, Tuner
from adjudge.models.features import PAPER
from adjudge.models.model import Progress, Step
from adjudge.models.weighting import Filter, Product, ZScore
from adjudge.replications.cells import Cell

NAMES = {code: name for name, code in PAPER.items()}
ROWS: dict[str, tuple[str, ...]] = {
    "Baseline": (),
    **{code: (code,) for code in NAMES},
    "GACG+AHNP": ("GACG", "AHNP"),
    "GACG+GDSG": ("GACG", "GDSG"),
    "GDSG+AHNP": ("GDSG", "AHNP"),
    "ALL": tuple(NAMES),
}
WEIGHTS: dict[str, Product | None] = {
    "SM": None,
    "SWM": Product((NAMES["GACG"],)),
    "MWM": Product(tuple(PAPER)),
}
COLUMNS: tuple[tuple[Measure, str], ...] = (
    ("graded", "SM"),
    ("binary", "SM"),
    ("graded", "SWM"),
    ("binary", "SWM"),
    ("graded", "MWM"),
    ("binary", "MWM"),
)

# Figure 1, page 2: graded and binary accuracy under SM, SWM and MWM.
PUBLISHED: dict[str, tuple[float, ...]] = {
    "Baseline": (0.4751, 0.6549, 0.4822, 0.6402, 0.4883, 0.6488),
    "GACG": (0.4867, 0.6597, 0.5041, 0.6747, 0.5072, 0.6811),
    "BACG": (0.4944, 0.6692, 0.4965, 0.6769, 0.5038, 0.6781),
    "GACM": (0.4751, 0.6546, 0.4940, 0.6674, 0.5066, 0.6704),
    "BACM": (0.4751, 0.6561, 0.4901, 0.6689, 0.5050, 0.6750),
    "GDSG": (0.4883, 0.6622, 0.4995, 0.6744, 0.5072, 0.6805),
    "GDSM": (0.4764, 0.6549, 0.4986, 0.6704, 0.5063, 0.6708),
    "AHNP": (0.5035, 0.6823, 0.4974, 0.6457, 0.4999, 0.6515),
    "GACG+AHNP": (0.5176, 0.6860, 0.5194, 0.6790, 0.5191, 0.6833),
    "GACG+GDSG": (0.5075, 0.6619, 0.5011, 0.6744, 0.5069, 0.6805),
    "GDSG+AHNP": (0.5151, 0.6875, 0.5172, 0.6793, 0.5191, 0.6827),
    "ALL": (0.5044, 0.6830, 0.5154, 0.6781, 0.5179, 0.6811),
}


def paper_data(content: Content) -> tuple[Judgments, Gold]:
    """The judgments of gold items and honeypots, grades 0 to 2 as truths, a broken link as none."""
    if content.judgments is None or content.gold is None:
        raise BadData("the Z-score paper needs judgments and gold", wanted="trec-rf10")
    judgments, gold = content.judgments, content.gold
    kept = np.zeros(judgments.item_count, dtype=np.bool_)
    kept[look_up(gold.items, judgments.items)] = True
    scale = Scale(
        labels=judgments.scale.labels,
        ordinal=True,
        truths=("0", "1", "2"),
        truth_of=tuple(("0", "1", "2").index(name) if name != "-2" else -1
                       for name in judgments.scale.labels),
        relevant=("1", "2"),
    )  # fmt: skip
    return judgments.select(items=kept).with_scale(scale), gold


def figure_1(
    content: Content, *, seeds: int = 3, progress: Progress | None = None
) -> list[tuple[Cell, float]]:
    """Every cell of figure 1, published and obtained, with the median of the tuned gammas."""
    judgments, gold = paper_data(content)
    tuners = [Tuner(judgments, gold, seed=seed) for seed in range(1, seeds + 1)]
    cells = []
    for done, (row, codes) in enumerate(ROWS.items(), start=1):
        features = tuple(NAMES[code] for code in codes)
        make: Callable[[float], Filter] | None = partial(_zscore, features) if features else None
        for at, (measure, vote) in enumerate(COLUMNS):
            runs = [
                tuner.tune(make, GAMMAS if make else (), WEIGHTS[vote], measure=measure)
                for tuner in tuners
            ]
            means = [run.mean for run in runs]
            cell = Cell(
                row=row,
                column=f"{'GA' if measure == 'graded' else 'BA'}+{vote}",
                published=PUBLISHED[row][at],
                obtained=float(np.mean(means)),
                sd=float(np.std(means, ddof=1))
                if seeds > 1
                else float(np.mean([r.sd for r in runs])),
            )
            gamma = float(np.median([run.threshold for run in runs])) if make else float("nan")
            cells.append((cell, gamma))
        if progress is not None:
            progress(Step("figure 1", done, len(ROWS), row))
    return cells


def _zscore(features: tuple[str, ...], gamma: float) -> Filter:
    return ZScore(*features, gamma=gamma)
