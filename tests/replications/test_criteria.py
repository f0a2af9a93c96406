"""Every claim's criterion, held against the paper's own figures, and against their opposite.

Where a paper has tables, its claims are made of these, as if every seed had come to them. Where it
speaks in words only, they are made of figures that are as the words say, which must satisfy all
criteria at once. In either case figures that say the opposite must fail every one: a criterion
that nothing can fail says nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from adjudge.replications import hierarchical, pmf, training, truelabel, zscore
from adjudge.replications.hierarchical._result import _claims as hierarchical_claims
from adjudge.replications.pmf._claims import claims as pmf_claims
from adjudge.replications.pmf._claims import grid_claim
from adjudge.replications.replication import Claim
from adjudge.replications.training._claims import CONTRADICTED
from adjudge.replications.training._claims import claims as training_claims
from adjudge.replications.truelabel import DAWID_SKENE, HYBRID, MODELS, SINGLE, VOTE
from adjudge.replications.truelabel._claims import claims as truelabel_claims
from adjudge.replications.zscore._result import _claims as zscore_claims


def check(
    claims: Sequence[Claim], *, in_words: Collection[str] = (), contradicted: Collection[str] = ()
) -> None:
    """Every claim has a criterion, and the paper's own figures pass it.

    Named apart: those of which the paper has no figures, and those that its figures contradict.
    """
    said = [claim for claim in claims if not claim.beyond]
    assert {claim.text for claim in said if claim.passes is None} == set(in_words)
    assert {claim.text for claim in said if claim.passes is False} == set(contradicted)
    for claim in claims:
        assert claim.criterion or claim.beyond, claim.text
        assert claim.passes is None or claim.published, claim.text
        assert claim.holds or claim.passes is False, f"{claim.text} {claim.evidence}"


def none_holds(claims: Sequence[Claim]) -> None:
    assert [claim.text for claim in claims if claim.holds] == []


def test_zscore() -> None:
    def seed(shift: float) -> dict[str, list[list[float]]]:
        rows = {}
        for row, values in zscore.PUBLISHED.items():
            gammas = zscore.GAMMA.get(row, (1.0,) * 6)
            pairs = zip(values, gammas, strict=True)
            rows[row] = [[value + shift, gamma] for value, gamma in pairs]
        return rows

    runs = [seed(0.0), seed(0.001)]
    others = [{row: [[0.1, 1.0]] * 6 for row in zscore.OTHERS}]
    base = {"EM": [zscore.EM], "SM": [zscore.SM]}
    check(
        zscore_claims(runs, runs, others, base),
        in_words=["The most effective feature sets are those that the paper shows."],
    )


def test_zscore_on_its_head() -> None:
    # Wrong for right, and a gamma that drops nobody.
    turned = {row: [[1 - v, 3.0] for v in values] for row, values in zscore.PUBLISHED.items()}
    others = [{row: [[0.9, 1.0]] * 6 for row in zscore.OTHERS}]
    base = {"EM": [zscore.SM], "SM": [zscore.EM]}
    none_holds(zscore_claims([turned, turned], [turned], others, base))


def marks_of(accuracy: dict[str, float]) -> tuple[Any, dict[str, list[str]]]:
    """Outcomes and marks of 1,000 items, nested, on five splits."""
    right = {name: round(1000 * value) for name, value in accuracy.items()}
    marks = {name: ["1" * many + "0" * (1000 - many)] * 5 for name, many in right.items()}
    return {name: [{"ACC": value}] * 5 for name, value in accuracy.items()}, marks


def test_pmf() -> None:
    # .752 and .750, .644 and .642: two items are no difference, thirty are.
    published = {name: row[0] for name, row in pmf.PUBLISHED.items()}
    published |= {name: published[plain] for name, plain in pmf.VARIANTS.items()}
    grid = grid_claim([[30, 0.1, 0.40], [30, 0.5, 0.41], [50, 0.1, 0.42]])
    check([*pmf_claims(*marks_of(published)), grid], in_words=[grid.text])


def test_pmf_on_its_head() -> None:
    turned = dict(zip(pmf.PUBLISHED, (0.75, 0.55, 0.70, 0.64, 0.60, 0.65, 0.62), strict=True))
    turned |= {name: turned[plain] for name, plain in pmf.VARIANTS.items()}
    found = pmf_claims(*marks_of(turned))
    assert [claim.text for claim in found if claim.holds] == [
        "Filtering does better without PMF than with it (methods 6 and 7)."
    ]
    turned |= dict.fromkeys(("7 PMF+WV+filter", *pmf.VARIANTS), 0.70)
    assert not pmf_claims(*marks_of(turned))[6].holds
    none_holds([grid_claim([[30, 0.1, 0.42], [50, 0.1, 0.40]])])


def as_coded(*, opposite: bool) -> tuple[Any, Any, Any]:
    """Fits as Carpenter's paper describes its own, or the opposite."""
    sign = -1.0 if opposite else 1.0
    rng = np.random.default_rng(1)
    count = np.arange(100, 0, -1) * 30
    spread = rng.uniform(-0.3, 0.3, 100)
    wide, narrow = (0.1 * spread, spread) if opposite else (spread, 0.1 * spread)
    specificity, sensitivity = 0.6 + wide, 0.9 + 0.3 * narrow
    ones = np.full(100, 0.6)
    if not opposite:
        ones[:2], specificity[:5], sensitivity[:5] = (0.001, 0.999), 0.5, 0.5
        specificity[:2], sensitivity[:2] = (0.999, 0.001), (0.001, 0.999)
    sd = 1.0 / count if not opposite else 1.0 * count
    low, high = rng.uniform(2, 3, 200).tolist(), rng.uniform(8, 9, 200).tolist()
    half = [0.5 - sign * 0.2] * 200
    alone = {
        "r_hat": {"phi": 1.0 if not opposite else 1.5},
        "gelman_rubin": {"phi": 1.0 if not opposite else 1.5},
        "judges": {
            "judgments": count, "ones": ones, "specificity": specificity,
            "sensitivity": sensitivity, "specificity_sd": sd, "sensitivity_sd": sd,
        },
        "hyper": {
            "kappa_0": high if opposite else low, "kappa_1": low if opposite else high,
            "kappa_pi": low if opposite else high, "phi_0": half, "phi_1": half,
            "phi_pi": [0.5 + sign * 0.2] * 200,
        },
    }  # fmt: skip
    steps = [0.3, 0.2, 0.4, 0.6, 0.8, 0.7]
    told = {
        **alone,
        "extreme": [0.3, 0.3 + sign * 0.1],
        "voted": [
            {"voted": at / 5, "items": 100, "estimated": 0.5 + sign * (value - 0.5)}
            for at, value in enumerate(steps)
        ],
    }
    order = {"vote": 0.60, "unsupervised": 0.65, "semi-supervised": 0.70}
    runs = {}
    for name, (model, whole) in hierarchical.RUNS.items():
        good = order[model] if not opposite else 1.3 - order[model]
        share = (0.0 if whole else 0.1) * sign
        runs[name] = [
            {
                "accuracy": good, "AP": good, "precision": good - share, "recall": good - share,
                "RMSE": (1 - good) ** 0.5 - share,
            }
        ]  # fmt: skip
    return alone, told, runs


def test_hierarchical() -> None:
    claims = hierarchical_claims(*as_coded(opposite=False))
    assert len(claims) == 13
    numbered = "Counting fractions in part costs precision and recall, as section 9.3 warns."
    words = [claim.text for claim in claims if not claim.beyond and claim.text != numbered]
    check(claims, in_words=words)
    none_holds(hierarchical_claims(*as_coded(opposite=True)))


def cell(value: float, runs: int = 40) -> list[float]:
    """Runs around a value that differ a little."""
    return (value + 0.002 * np.random.default_rng(round(1e6 * value)).normal(size=runs)).tolist()


def as_rated(order: Sequence[str], *, opposite: bool = False) -> tuple[Any, Any]:
    """Synthetic data and a panel as Liu and Wang describe theirs; models in another's places."""
    place = dict(zip(MODELS, order, strict=True))
    small = {HYBRID: 0.92, DAWID_SKENE: 0.80, SINGLE: 0.86, VOTE: 0.86}
    large = {HYBRID: 0.935, DAWID_SKENE: 0.94, SINGLE: 0.85, VOTE: 0.87}
    wrong = {HYBRID: (0.05, 0.04), DAWID_SKENE: (0.2, 0.03), SINGLE: (0.2, 0.15), VOTE: (0.1, 0.05)}
    shares = {HYBRID: truelabel.TRUE_PREVALENCE, DAWID_SKENE: truelabel.TRUE_PREVALENCE,
              SINGLE: (0.15, 0.15, 0.7), VOTE: truelabel.VOTED}  # fmt: skip
    synthetic: dict[int, Any] = {}
    for items in truelabel._SIZES:
        level = large if items > 1000 else small
        at = 0 if items == truelabel._SIZES[0] else 1
        synthetic[items] = {
            model: {
                "accuracy": cell(level[as_] - (0.05 if opposite and items == 50 else 0.0)),
                "prevalence": [shares[as_]] * 40,
                "error": cell(wrong[as_][at]),
                "seconds": truelabel.FASTER if as_ == HYBRID else 1.0,
                "switched": 0,
            }
            for model, as_ in place.items()
        }
    bare = {5: {HYBRID: 0.84, DAWID_SKENE: 0.60, SINGLE: 0.75, VOTE: 0.83},
            30: {HYBRID: 0.86, DAWID_SKENE: 0.80, SINGLE: 0.80, VOTE: 0.85},
            110: {HYBRID: 0.88, DAWID_SKENE: 0.86, SINGLE: 0.82, VOTE: 0.87}}  # fmt: skip
    gain = {HYBRID: 0.03, DAWID_SKENE: 0.0, SINGLE: 0.0, VOTE: -0.1}
    panel: dict[int, Any] = {}
    for ratings, level in bare.items():
        panel[ratings] = {
            truelabel.MEMORYLESS: {m: cell(level[as_]) for m, as_ in place.items()},
            truelabel.MEMORY: {m: cell(level[as_] + gain[as_]) for m, as_ in place.items()},
        }
    near = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    matrix = 0.5 / 2.0**near if not opposite else np.full((5, 5), 0.2)
    spread = {HYBRID: 0.05, DAWID_SKENE: 0.2}
    panel[5] |= {
        "mean": {HYBRID: matrix.tolist()},
        "sd": {m: np.full((5, 5), spread.get(place[m], 0.01)).tolist() for m in spread},
    }
    return dict.fromkeys(truelabel.DIAGONALS, synthetic), panel


def test_truelabel() -> None:
    claims = truelabel_claims(*as_rated(MODELS), {}, {})
    figures = {
        "The vote's prevalence is consistently around (0.1, 0.15, 0.75), however many items.",
        "DawidSkene is about 4 times faster than HybridConfusion.",
        "Without memory HybridConfusion beats the vote by a small margin from 30 judgments an "
        "item on.",
    }
    check(claims, in_words={claim.text for claim in claims} - figures)
    assert len(claims) == 25


def test_truelabel_with_models_in_the_places_of_others() -> None:
    # No one order of the models denies all sentences; of three, each is denied by one.
    held: list[set[str]] = []
    for order in (
        (SINGLE, VOTE, HYBRID, DAWID_SKENE),
        (DAWID_SKENE, HYBRID, VOTE, SINGLE),
        (VOTE, SINGLE, DAWID_SKENE, HYBRID),
    ):
        claims = truelabel_claims(*as_rated(order, opposite=True), {}, {})
        held.append({claim.text for claim in claims if claim.holds})
    assert set.intersection(*held) <= {
        "Without memory all models deteriorate as fewer ratings are available.",
    }


def as_trained(*, opposite: bool) -> tuple[Any, Any]:
    """Experiments that come to tables 3 and 4 and figure 2, or to these turned round."""
    drawn = {"1": 0.84, "2": 0.85, "3": 0.8767, "4": 0.86, "5": 0.85}  # figure 2's text: 3 and 5
    assert all(drawn[arm] == value for arm, value in training.FIGURE_2.items())

    def side(table: dict[str, tuple[float, ...]], measure: str) -> tuple[float, ...]:
        return tuple(1 - value for value in table[measure]) if opposite else table[measure]

    judges = {measure: side(training.TABLE_3, measure) for measure in training.TABLE_3}
    vote = {measure: side(training.TABLE_4, measure) for measure in training.TABLE_4}
    vote[training.ACCURACY] = tuple((1 - v if opposite else v) for v in drawn.values())
    run = {
        arm: {
            "judges": {measure: values[at] for measure, values in judges.items()},
            training.VOTE: {measure: values[at] for measure, values in vote.items()},
        }
        for at, arm in enumerate(training.ARMS)
    }
    accuracy = 0.9 if not opposite else None
    flat = {
        arm: {training.VOTE: {training.ACCURACY: accuracy or 0.8 + at / 20}}
        for at, arm in enumerate(training.ARMS)
    }
    return [run, run], [flat, flat]


def test_training() -> None:
    main, control = as_trained(opposite=False)
    check(
        training_claims(main, main, control),
        in_words=["It is also better than arm 4, the next most uniform."],
        contradicted=CONTRADICTED,
    )
    assert all(CONTRADICTED.values())
    main, control = as_trained(opposite=True)
    none_holds(training_claims(main, main, control))
