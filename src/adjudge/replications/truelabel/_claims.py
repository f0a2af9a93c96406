"""What Liu and Wang (2012) say of their figures in words, held against what was obtained."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.replications._claims import error_of, hold_all, is_above, write_values
from adjudge.replications.replication import Claim
from adjudge.replications.truelabel import (
    DAWID_SKENE,
    FASTER,
    HYBRID,
    MEMORY,
    MEMORYLESS,
    MODELS,
    SIGN_TEST,
    SINGLE,
    TRUE_PREVALENCE,
    VOTE,
    VOTED,
)

_SCARCE = 1000  # items up to which data are scarce: the paper names 2,000 and 3,000 as abundant
_CLOSE = 0.01
_LEAST = 20  # runs that differ, for a sign test to tell
_NEAR = 0.02  # of a prevalence that is recovered
_STEP = 0.01  # a fall from one cell to the next that can be seen
_LEVEL = 0.05  # of the sign test
_MANY = 30  # judgments an item from which the paper sees HybridConfusion above the vote

_Synthetic = dict[int, dict[int, Any]]
_Modes = dict[int, Any]


def claims(
    synthetic: _Synthetic, panel: _Modes, others: dict[str, _Modes], web: _Modes
) -> list[Claim]:
    """Every claim of the paper's text, on the made data and on the real."""
    said = [
        *_accuracy_claims(synthetic[3], "figure 3(a)"),
        *_more_of_figure_3(synthetic[3]),
        *_same_with_a_stronger_prior(synthetic[10]),
        *_prevalence_claims(synthetic[3]),
        *_error_claims(synthetic[3]),
        *_memory_claims(panel, "made panel"),
        *_more_of_figure_6(panel),
        *_matrix_claims(panel[min(panel)]),
    ]
    for name, parts in others.items():
        said += _memory_claims(parts, f"panel {name}")[:2]
    if web:
        said += _memory_claims(web, "web-relevance")
    return said


def _mean(part: Any, model: str, what: str = "accuracy") -> float:
    return float(np.mean(part[model][what]))


def _curve(parts: dict[int, Any], model: str) -> dict[int, float]:
    return {items: _mean(part, model) for items, part in parts.items()}


def _told(curve: dict[int, float]) -> str:
    return ", ".join(f"{value:.3f} at {at:,}" for at, value in curve.items())


def _accuracy_claims(parts: dict[int, Any], figure: str) -> list[Claim]:
    curves = {model: _curve(parts, model) for model in MODELS}
    gap = {items: curves[HYBRID][items] - curves[DAWID_SKENE][items] for items in parts}
    errors = {
        items: error_of(np.subtract(part[HYBRID]["accuracy"], part[DAWID_SKENE]["accuracy"]))
        for items, part in parts.items()
    }
    scarce = {items: value for items, value in gap.items() if items <= _SCARCE}
    abundant = {items: value for items, value in gap.items() if items > _SCARCE}
    vote = {items: value for items, value in curves[VOTE].items() if items >= 20}
    large = max(parts)
    last = {model: curve[large] for model, curve in curves.items()}
    return [
        Claim(
            text="HybridConfusion is consistently above 0.9.",
            holds=min(curves[HYBRID].values()) > 0.9,
            evidence=f"Its accuracy is {_told(curves[HYBRID])} items.",
            criterion="if it is so for every number of items.",
            source=figure,
        ),
        Claim(
            text="HybridConfusion outperforms DawidSkene significantly when data are scarce.",
            holds=_all_above(scarce, errors),
            evidence=f"Hybrid less DawidSkene: {_signed(scarce)} items.",
            criterion=f"if it is ahead by two standard errors for every number up to {_SCARCE:,}; "
            "it cannot be told where it is ahead by less.",
            source=figure,
        ),
        Claim(
            text="When data are abundant the two are comparable.",
            holds=all(abs(value) <= _CLOSE for value in abundant.values()),
            evidence=f"Hybrid less DawidSkene: {_signed(abundant)} items.",
            criterion=f"if they lie within {_CLOSE:g} of each other.",
            source=figure,
        ),
        Claim(
            text="The vote is flat and saturates from about 20 items on.",
            holds=max(vote.values()) - min(vote.values()) < 0.03,
            evidence=f"Its accuracy is {_told(curves[VOTE])} items.",
            criterion="if from 20 items on it varies by less than 0.03.",
            source=figure,
        ),
        Claim(
            text="SingleConfusion is the weakest for many items.",
            holds=min(last, key=lambda model: last[model]) == SINGLE,
            evidence=f"At {large:,} items: {write_values(last)}. {_put_back(parts[large])}",
            criterion="if its accuracy is the least with most items.",
            source=figure,
        ),
    ]


def _all_above(gaps: dict[int, float], errors: dict[int, float]) -> bool | None:
    """Whether all differences are above 0; None where one is within two standard errors of it."""
    if min(gaps.values()) <= 0:
        return False
    return True if all(gap > 2 * errors[items] for items, gap in gaps.items()) else None


def _put_back(part: Any) -> str:
    """How often SingleConfusion, which trades truths most, was aligned to the votes."""
    single = part[SINGLE]
    return (
        f"Of SingleConfusion's {len(single['accuracy']):,} runs {single['switched']:,} had truths "
        "that traded places and were put back."
    )


def _more_of_figure_3(parts: dict[int, Any]) -> list[Claim]:
    """Sentences of section 3.1 on the vote, on the other end of the spectrum, and on speed."""
    curves = {model: _curve(parts, model) for model in MODELS}
    abundant = [items for items in parts if items > _SCARCE]
    few = {items: curves[SINGLE][items] - curves[VOTE][items] for items in parts if items <= 50}
    drawn = {items: np.array(part[VOTE]["prevalence"]) for items, part in sorted(parts.items())}
    shares = {items: runs.mean(axis=0) for items, runs in drawn.items()}
    chance = {items: np.apply_along_axis(error_of, 0, runs) for items, runs in drawn.items()}
    seconds = {model: sum(part[model]["seconds"] for part in parts.values()) for model in MODELS}
    ratio = seconds[HYBRID] / max(seconds[DAWID_SKENE], 1e-9)
    switched = {
        model: sum(part[model]["switched"] for part in parts.values())
        for model in (HYBRID, DAWID_SKENE, SINGLE)
    }
    every = sum(len(part[VOTE]["accuracy"]) for part in parts.values())
    return [
        Claim(
            text="With abundant data DawidSkene recovers labels best, HybridConfusion being "
            "slightly weaker (2,000 and 3,000 items).",
            holds=all(
                max(MODELS, key=lambda model: curves[model][items]) == DAWID_SKENE
                for items in abundant
            ),
            evidence="; ".join(
                f"at {items:,} {write_values({m: curves[m][items] for m in MODELS}, 4)}"
                for items in abundant
            )
            + f". Truths that had traded places were put back in "
            f"{', '.join(f'{count} ({model})' for model, count in switched.items())} of {every:,} "
            "runs of each model.",
            criterion="if its accuracy is the greatest for both.",
            source="figure 3(a)",
        ),
        Claim(
            text="SingleConfusion is twisted with the vote up to 50 items.",
            holds=min(few.values()) < 0 < max(few.values())
            or max(map(abs, few.values())) <= 2 * _CLOSE,
            evidence=f"Single less the vote: {_signed(few)} items.",
            criterion=f"if the curves cross, or lie within {2 * _CLOSE:g} of each other.",
            source="figure 3(a)",
        ),
        Claim(
            text="The vote's prevalence is consistently around (0.1, 0.15, 0.75), however many "
            "items.",
            holds=_as_voted(shares, chance),
            published=f"{_shares(np.array(VOTED), 2)}.",
            evidence="; ".join(f"{_shares(p)} at {items:,}" for items, p in shares.items()) + ".",
            criterion=f"if every share lies within {2 * _CLOSE:g} of these; it cannot be told "
            "where two standard errors more would make it so.",
            reading="the matrices were picked so that the vote comes to these shares.",
            source="section 3.1",
            passes=_as_voted({0: np.array(VOTED)}, {0: np.zeros(3)}),
        ),
        Claim(
            text="DawidSkene is about 4 times faster than HybridConfusion.",
            holds=_some_times(ratio),
            published=f"about {FASTER:g} times, HybridConfusion in BUGS.",
            evidence=f"{ratio:.1f} times over all sizes ({seconds[DAWID_SKENE]:.1f} s of work "
            f"against {seconds[HYBRID]:.1f} s).",
            criterion="from 2 to 8 times.",
            source="section 3.1",
            passes=_some_times(FASTER),
        ),
    ]


def _as_voted(
    shares: dict[int, NDArray[np.float64]], error: dict[int, NDArray[np.float64]]
) -> bool | None:
    """Whether the vote's prevalences are the paper's; None where chance may decide."""
    away = {items: np.abs(p - VOTED) for items, p in shares.items()}
    if any((away[items] - 2 * error[items] > 2 * _CLOSE).any() for items in away):
        return False
    return True if all((gap <= 2 * _CLOSE).all() for gap in away.values()) else None


def _some_times(ratio: float) -> bool:
    return 2 <= ratio <= 8


def _more_of_figure_6(parts: _Modes) -> list[Claim]:
    """Sentences of section 4 on the memoryless mode, of the made panel."""
    few, many = min(parts), max(parts)

    def accuracy(model: str, at: int) -> float:
        return float(np.mean(parts[at][MEMORYLESS][model]))

    falls = {model: accuracy(model, few) - accuracy(model, many) for model in MODELS}
    gap = {at: accuracy(HYBRID, at) - accuracy(VOTE, at) for at in parts}
    return [
        Claim(
            text="Without memory all models deteriorate as fewer ratings are available.",
            holds=max(falls.values()) < 0,
            evidence=f"From {many} judgments an item to {few}: "
            f"{', '.join(f'{model} {fall:+.3f}' for model, fall in falls.items())}.",
            criterion="if each is less accurate with fewest ratings than with most.",
            source="figure 6(b)",
        ),
        Claim(
            text="HybridConfusion does not deteriorate much even with 5 ratings an item.",
            holds=falls[HYBRID] >= -0.1,
            evidence=f"{accuracy(HYBRID, many):.3f} at {many}, {accuracy(HYBRID, few):.3f} at "
            f"{few}.",
            criterion="if it loses a tenth at most.",
            reading="a made panel of judges who are right half of the time.",
            source="figure 6(b)",
        ),
        Claim(
            text="Without memory the vote is very close to HybridConfusion.",
            holds=max(map(abs, gap.values())) <= 0.03,
            evidence=f"Hybrid less the vote: {_signed(gap)} judgments an item.",
            criterion="if they lie within 0.03 of each other.",
            source="figure 6(b)",
        ),
    ]


def _same_with_a_stronger_prior(parts: dict[int, Any]) -> list[Claim]:
    said = _accuracy_claims(parts, "figure 3(b)")
    kept = [said[1], said[2], said[4]]
    return [
        Claim(
            text="With beta = 10 the messages are the same: Hybrid above DawidSkene for scarce "
            "data, close for abundant, SingleConfusion weakest.",
            holds=hold_all([claim.holds for claim in kept]),
            evidence=f"HybridConfusion: {_told(_curve(parts, HYBRID))} items. "
            + " ".join(claim.evidence for claim in kept),
            criterion="if the three hold by the criteria above.",
            source="figure 3(b)",
        )
    ]


def _prevalence_claims(parts: dict[int, Any]) -> list[Claim]:
    large = max(parts)
    found = {model: np.mean(parts[large][model]["prevalence"], axis=0) for model in MODELS}
    away = {model: float(np.abs(p - TRUE_PREVALENCE).max()) for model, p in found.items()}
    return [
        Claim(
            text="With enough data HybridConfusion and DawidSkene recover the prevalence, and "
            "SingleConfusion misses it.",
            holds=max(away[HYBRID], away[DAWID_SKENE]) < _NEAR < away[SINGLE],
            evidence="At {:,} items, of (.05, .15, .8): {}.".format(
                large, "; ".join(f"{model} {_shares(p)}" for model, p in found.items())
            )
            + f" {_put_back(parts[large])}",
            criterion=f"if the shares of the first two lie within {_NEAR:g} of the true ones, and "
            "one of the third's does not.",
            source="figure 4",
        )
    ]


def _error_claims(parts: dict[int, Any]) -> list[Claim]:
    sizes = sorted(parts)
    small, large = sizes[0], sizes[-1]

    def error(model: str, items: int) -> float:
        return _mean(parts[items], model, "error")

    at_large = {model: error(model, large) for model in MODELS}
    at_small = {model: error(model, small) for model in MODELS}
    return [
        Claim(
            text="DawidSkene recovers the matrices best, but only with enough data; "
            "HybridConfusion is accurate throughout.",
            holds=at_large[DAWID_SKENE] == min(at_large.values())
            and min(at_small, key=lambda model: at_small[model]) == HYBRID,
            evidence=f"Mean absolute error at {small:,} items: {write_values(at_small, 4)}; at "
            f"{large:,}: {write_values(at_large, 4)}.",
            criterion="if DawidSkene's is least with most items and HybridConfusion's with fewest.",
            source="figure 5",
        ),
        Claim(
            text="HybridConfusion's error barely decays when there are fewer items.",
            holds=at_small[HYBRID] <= 2 * at_large[HYBRID],
            evidence=f"{at_large[HYBRID]:.3f} at {large:,} items, {at_small[HYBRID]:.3f} at "
            f"{small:,}.",
            criterion="if the second is at most twice the first.",
            source="figure 5",
        ),
        Claim(
            text="SingleConfusion has the largest error for many items; the vote is competitive.",
            holds=max(at_large, key=lambda model: at_large[model]) == SINGLE
            and at_large[VOTE] < (at_large[SINGLE] + at_large[DAWID_SKENE]) / 2,
            evidence=f"At {large:,} items: {write_values(at_large)}.",
            criterion="if so, and the vote's error is nearer DawidSkene's than SingleConfusion's.",
            source="figure 5",
        ),
    ]


def _memory_claims(parts: _Modes, data: str) -> list[Claim]:
    source = "figure 6" if data == "made panel" else f"{data}, beyond the paper"
    rise = _pooled(parts, (MEMORY, HYBRID), (MEMORYLESS, HYBRID))
    fall = _pooled(parts, (MEMORY, VOTE), (MEMORYLESS, VOTE))
    lead = _pooled(parts, (MEMORYLESS, HYBRID), (MEMORYLESS, DAWID_SKENE))
    few = min(parts)
    small = {model: float(np.mean(parts[few][MEMORYLESS][model])) for model in MODELS}
    best = {at: _best(part[MEMORY]) for at, part in parts.items()}
    leads = {m: _pooled(parts, (MEMORY, HYBRID), (MEMORY, m)) for m in MODELS if m != HYBRID}
    signs = [gap.above for gap in leads.values()]
    falls = {m: float(np.mean(parts[max(parts)][MEMORYLESS][m])) - small[m] for m in MODELS}
    said = [
        Claim(
            text=f"HybridConfusion with memory is better than without ({data}).",
            holds=rise.above,
            evidence=rise.write("Memory less memoryless"),
            criterion=_POOLED,
            source=source,
        ),
        Claim(
            text=f"The vote falls with memory ({data}).",
            holds=None if fall.above is None else not fall.above,
            evidence=fall.write("Memory less memoryless"),
            criterion=_POOLED,
            source=source,
        ),
        Claim(
            text=f"With memory HybridConfusion beats the other three ({data}).",
            holds=hold_all(signs),
            evidence="Ahead over all numbers of judgments, ± standard error: "
            + ", ".join(f"{gap.mean:+.4f} ± {gap.error:.4f} ({m})" for m, gap in leads.items())
            + f". Best: {', '.join(f'{name} at {at}' for at, name in best.items())}.",
            criterion=f"{_POOLED[:-1]}, of each of the three.",
            source=source,
        ),
        Claim(
            text=f"Without memory HybridConfusion is above DawidSkene ({data}).",
            holds=lead.above,
            evidence=lead.write("Hybrid less DawidSkene"),
            criterion=_POOLED,
            source=source,
        ),
        Claim(
            text=f"Without memory DawidSkene deteriorates the most ({data}).",
            holds=max(falls, key=lambda model: falls[model]) == DAWID_SKENE,
            evidence=f"From {max(parts)} judgments an item to {few} they lose: "
            f"{write_values(falls)}.",
            criterion="if it loses most.",
            source=source,
        ),
    ]
    rich = {at: part for at, part in parts.items() if at >= _MANY}
    if rich:
        said.append(_sign_test(rich, source))
    return said


def _sign_test(parts: _Modes, source: str) -> Claim:
    """Fisher's sign test of Hybrid above the vote, memoryless, as the paper's section 4 does."""
    from scipy.stats import binomtest

    gaps = np.concatenate(
        [np.subtract(part[MEMORYLESS][HYBRID], part[MEMORYLESS][VOTE]) for part in parts.values()]
    )
    up, down = int((gaps > 0).sum()), int((gaps < 0).sum())
    chance = binomtest(up, up + down, alternative="greater").pvalue if up + down else 1.0
    return Claim(
        text=f"Without memory HybridConfusion beats the vote by a small margin from {_MANY} "
        "judgments an item on.",
        holds=bool(chance < _LEVEL) if up + down >= _LEAST else None,
        published=f"p < {SIGN_TEST:g} by a one-sided sign test.",
        evidence=f"Above in {up} runs, below in {down}, mean {gaps.mean():+.4f}; p = {chance:.2g}.",
        criterion=f"if p is below {_LEVEL:g} by the same test, {_LEAST} runs or more differing.",
        passes=SIGN_TEST <= _LEVEL,
        source=source,
    )


def _matrix_claims(part: Any) -> list[Claim]:
    spread = {model: float(np.mean(part["sd"][model])) for model in (DAWID_SKENE, HYBRID)}
    mean = np.array(part["mean"][HYBRID])  # (truth, label)
    return [
        Claim(
            text="DawidSkene's matrices diverge more from each other than HybridConfusion's.",
            holds=spread[DAWID_SKENE] > spread[HYBRID],
            evidence=f"Mean sd of a cell over judges: {write_values(spread)}.",
            criterion="if their mean sd is greater.",
            source="figure 7",
        ),
        Claim(
            text="HybridConfusion's mean matrix falls off from its diagonal.",
            holds=_falls_off(mean),
            criterion="if each step away from the diagonal falls by a hundredth or more.",
            reading="the prior itself, with which few judgments leave a matrix, has equal cells "
            "beside its diagonal.",
            evidence=f"Its diagonal: {', '.join(f'{value:.2f}' for value in np.diag(mean))}; "
            f"next to it on average {_beside(mean, 1):.3f}, two away {_beside(mean, 2):.3f}, "
            f"further {_beside(mean, 3):.3f}.",
            source="figure 7",
        ),
    ]


def _beside(matrix: NDArray[np.float64], apart: int) -> float:
    """The mean of cells so far from the diagonal; of 3 and further, together."""
    place = np.arange(len(matrix))
    distance = np.minimum(np.abs(place[:, None] - place), 3)
    return float(matrix[distance == apart].mean())


def _falls_off(matrix: NDArray[np.float64]) -> bool:
    steps = [float(np.diag(matrix).mean()), *(_beside(matrix, apart) for apart in (1, 2, 3))]
    return all(one - other >= _STEP for one, other in pairwise(steps))


_POOLED = (
    "if the mean over all numbers of judgments is beyond two standard errors; within two it cannot "
    "be told."
)


class _Pooled:
    """Paired differences by number of judgments, and their mean over these numbers."""

    def __init__(self, gaps: dict[int, NDArray[np.float64]]) -> None:
        self.each = {at: float(gap.mean()) for at, gap in gaps.items()}
        self.mean = float(np.mean(list(self.each.values())))
        self.error = math.hypot(*(error_of(gap) for gap in gaps.values())) / len(gaps)

    @property
    def above(self) -> bool | None:
        """Whether the difference is above 0; None where it is within two standard errors of it."""
        return is_above(self.mean, self.error)

    def write(self, what: str) -> str:
        """The differences in words."""
        return (
            f"{what}: {_signed(self.each)} judgments an item; over all {self.mean:+.4f} ± "
            f"{self.error:.4f} (standard error)."
        )


def _pooled(parts: _Modes, one: tuple[str, str], other: tuple[str, str]) -> _Pooled:
    return _Pooled(
        {
            at: np.subtract(part[one[0]][one[1]], part[other[0]][other[1]])
            for at, part in parts.items()
        }
    )


def _best(accuracy: dict[str, Sequence[float]]) -> str:
    return max(MODELS, key=lambda model: float(np.mean(accuracy[model])))


def _signed(values: dict[int, float]) -> str:
    return ", ".join(f"{value:+.3f} at {at:,}" for at, value in values.items())


def _shares(values: NDArray[np.float64], digits: int = 3) -> str:
    return f"({', '.join(f'{value:.{digits}f}' for value in values)})"
