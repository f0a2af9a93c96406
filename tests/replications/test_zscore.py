"""What the Z-score paper claims, on its own data, in a small form: orderings, not digits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from adjudge.data.formats import read
from adjudge.replications import zscore
from adjudge.replications.replication import Setup, Table

pytestmark = pytest.mark.slow

MODELS = (
    *("DawidSkene", "HybridConfusion, EM", "HierarchicalConfusion, variational"),
    *("HybridConfusion", "HierarchicalConfusion"),
    *("HybridConfusion, EM, all items", "HierarchicalConfusion, variational, all items"),
)


def test_the_data_are_the_papers(shared_data: Path) -> None:
    judgments, gold = zscore._paper_data(read(shared_data / "trec-rf10" / "judgments.tsv"))
    assert (judgments.item_count, int(gold.honeypot.sum())) == (4460, 1183)
    graded = gold.select(~gold.honeypot)
    items = graded.align(judgments) >= 0
    assert int(items.sum()) == 3_277  # the paper's; it has 19,232 labels
    assert int(items[judgments.item].sum()) == 19_273
    pairs = set(zip(judgments.item.tolist(), judgments.judge.tolist(), strict=True))
    assert len(pairs) == len(judgments)


def test_published_values_are_whole() -> None:
    assert set(zscore.PUBLISHED) == set(zscore.ROWS)
    assert set(zscore.GAMMA) == set(zscore.ROWS) - {"Baseline"}
    assert {len(row) for row in (*zscore.PUBLISHED.values(), *zscore.GAMMA.values())} == {6}


def test_the_sets_that_are_not_shown() -> None:
    assert len(zscore.OTHERS) == 21 - 3 + 7  # pairs of seven, less those shown; all but one
    assert not set(zscore.OTHERS) & set(zscore.ROWS)
    assert zscore.OTHERS["ALL-AHNP"] == tuple(zscore.NAMES)[:-1]


def filters_and_weights(table: Table) -> None:
    """What figure 1 says of filters and of weights, by the reading that meets it."""
    found = {(cell.row, cell.column): cell.obtained for cell in table.cells}
    for head in zscore.HEADS[:2]:  # plain, then weighed by one feature
        plain = found["Baseline", head]
        assert plain < found["Baseline", head.replace("SM", "SWM")]
        assert plain < found["GACG+AHNP", head]
    assert found["Baseline", "GA+SM"] == np.clip(found["Baseline", "GA+SM"], 0.44, 0.48)


def test_one_seed_of_figure_1(shared_data: Path) -> None:
    """The figure and its baselines; what would take longer is made up, to be gathered with them."""
    setup = Setup(quick=True, data=shared_data)
    parts = {part.name: part for part in zscore.REPLICATION.parts(setup)}
    figure, base = (parts[name].work(None) for name in ("figure-1-seed-01", "baselines"))
    models = {row: [0.5, 0.7, 0.6 + place / 100, 0.7] for place, row in enumerate(MODELS)}
    made = {
        "figure-1-seed-02": figure,
        "low-seed-01": figure,
        "others-seed-01": dict.fromkeys(zscore.OTHERS, figure["Baseline"]),
        "models-seed-01": models,
    }
    partials = {"figure-1-seed-01": figure, "baselines": base, **made}
    assert partials.keys() == parts.keys()
    result = zscore.REPLICATION.gather(setup, partials)
    holds = {claim.text: claim.holds for claim in result.claims}
    assert holds["Under SM, the best Z-score filter beats the vote without one."]
    assert holds["EM beats the simple majority."]
    table, low, others, weights, em, ranked = result.tables
    filters_and_weights(table)
    assert len(table.cells) == len(low.cells) == 72
    assert {cell.row for cell in others.cells} == set(zscore.OTHERS)
    assert {cell.row for cell in weights.cells} == {"published", *zscore.NAMES}
    assert em.cells[0].row == "SM"
    assert set(MODELS) <= {cell.row for cell in ranked.cells}


@pytest.mark.full
def test_orderings(quick) -> None:
    result, holds = quick("zscore")
    assert holds["Under SM, the best Z-score filter beats the vote without one."]
    assert holds["EM beats the simple majority."]
    assert holds["HierarchicalConfusion, told the same gold, lies above every cell of figure 1."]
    table, low, others, weights, em, models = result.tables
    assert len(table.cells) == len(low.cells) == 72
    assert {cell.row for cell in others.cells} == set(zscore.OTHERS)
    filters_and_weights(table)
    found = {(cell.row, cell.column): cell.obtained for cell in table.cells}
    one = {(cell.row, cell.column): cell.obtained for cell in low.cells}
    for head in zscore.HEADS[:2]:
        # Distances as they are make the weights of all features worse than turned round.
        both = head.replace("SM", "MWM")
        assert found["Baseline", both] < one["Baseline", both]
    assert {cell.row for cell in weights.cells} == {"published", *zscore.NAMES}
    by_row = {(cell.row, cell.column): cell.obtained for cell in models.cells}
    assert by_row["HybridConfusion", "GA, 5 folds"] > by_row["DawidSkene", "GA, 5 folds"]
    assert em.cells[0].row == "SM"
