"""Items drawn for people to label: chances, rounds, and estimates that stay valid."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge
from adjudge import Gold, Judgments, Run
from adjudge.data.names import look_up
from adjudge.errors import BadSetting, ReadingWarning
from adjudge.evaluation.estimation._sampling import sample_of
from adjudge.evaluation.estimation.choosing import (
    _at_random,
    _draw,
    _share_out,
    choose_items,
    draw_gold,
)
from adjudge.evaluation.estimation.estimate import Plan, estimate_from
from adjudge.models.cross_calibration import CrossFit
from gold_panels import drawn, simulate_panel
from rankings import system
from sizes import sized

Panel = tuple[Judgments, Gold, CrossFit, list[Run]]


@pytest.fixture(scope="module")
def panel() -> Panel:
    judgments, gold = simulate_panel()
    rng = np.random.default_rng(2)
    truth = gold.align(judgments)
    runs = [system(judgments, truth, q, rng, name=n) for n, q in (("a", 2.0), ("b", 1.0))]
    return judgments, gold, CrossFit.of(adjudge.fit(judgments)), runs


def labelled(table: Any, judgments: Judgments, gold: Gold) -> Gold:
    """What people would fill in."""
    at = look_up(table["item"], judgments.items)
    truth = [judgments.scale.truths[k] for k in gold.align(judgments)[at]]
    return Gold.from_table(
        table.set_column(table.column_names.index("gold"), "gold", pa.array(truth))
    )


@given(st.lists(st.floats(0, 50), min_size=3, max_size=60), st.integers(1, 20))
def test_chances_add_up_to_the_budget(sizes: list[float], budget: int) -> None:
    size = np.array(sizes)
    if (size > 1e-9).sum() < budget:
        return
    size[size <= 1e-9] = 0
    chance = _share_out(size, budget)
    assert chance.sum() == pytest.approx(budget)
    assert (chance <= 1 + 1e-12).all()
    assert ((chance > 0) == (size > 0)).all()
    open_ = chance < 1 - 1e-9
    if open_.any() and size[open_].sum() > 0:
        assert chance[open_] == pytest.approx(
            size[open_] * (chance[open_].sum() / size[open_].sum())
        )


def test_the_same_places_of_all_topics_are_not_drawn_together() -> None:
    """Forty topics of twenty in the same order: even steps would give totals of 0 or of 800."""
    row = np.stack([np.repeat(np.arange(40.0), 20), np.tile(np.arange(20.0), 40)])
    first = row[1] == 0
    totals, seen = [], []
    for seed in range(300):
        taken, part = _draw(np.full(800, 0.05), seed, row)
        assert len(taken) == 40
        totals.append(20.0 * first[taken].sum())
        apart = [first[taken[part == one]].astype(float) for one in range(1, 21)]
        seen.append(sum(400 * 0.95 * len(x) * x.var(ddof=1) for x in apart))
    assert np.mean(totals) == pytest.approx(40, abs=6)
    assert np.var(totals) < 1.3 * np.mean(seen)


@pytest.mark.parametrize(
    ("spread", "budget"),
    [
        (0.0, 90),
        (0.7, 210),
        pytest.param(0.0, 210, marks=pytest.mark.full),
        pytest.param(0.7, 90, marks=pytest.mark.full),
    ],
)
def test_pairs_in_a_row_show_the_variance_there_is(spread: float, budget: int) -> None:
    """Of a known population, over thousands of draws; chances go with what items may add.

    A variance is known to four standard errors, which are 2 / draws of it under the root.
    """
    rng = np.random.default_rng(4)
    size = np.exp(spread * rng.normal(size=300))
    adds = size * rng.normal(size=300)
    chance = _share_out(size, budget)
    row = np.stack([np.repeat(np.arange(5), 60), np.tile(np.linspace(0, 1, 60), 5)])
    totals, variances, draws = [], [], sized(1000, full=4000)
    for seed in range(draws):
        item, part = _draw(chance, seed, row)
        nothing = np.zeros(len(item), dtype=np.int16)
        sample = sample_of(item, nothing, 300, chance[item], None, "draw", part)
        totals.append(float((adds[item] / chance[item]).sum()))
        variances.append(float(sample.spread(adds[item], adds[item]).sum()))
    assert np.mean(totals) == pytest.approx(adds.sum(), abs=4 * np.std(totals) / np.sqrt(draws))
    assert np.mean(variances) == pytest.approx(np.var(totals), rel=4 * np.sqrt(2 / draws))


def test_the_worth_of_a_draw_is_reported_beforehand() -> None:
    """Items of one kind: as many as there are; of two kinds: as Neyman has it."""
    alike = np.full(1000, 0.1)
    assert _at_random(alike, np.full(1000, 3.0)) == 100
    size = np.repeat([1.0, 9.0], [900, 100])
    chance = _share_out(size, 36)
    ratio = size.mean() ** 2 / (size**2).mean()  # of variances, were there no end of items
    assert _at_random(chance, size**2) == pytest.approx(36 / ratio, rel=0.1)
    assert _at_random(chance, np.zeros(1000)) == 36


def test_a_batch_and_another(panel: Panel) -> None:
    judgments, gold, fit, _ = panel
    first = choose_items(fit, "share:2", 40, plan=Plan(seed=1))
    assert len(first) == 40
    assert first["gold"].null_count == 40
    known = labelled(first, judgments, gold)
    second = choose_items(fit, "share:2", 30, gold=known, plan=Plan(seed=2))
    assert len(second) == 70
    assert second["sampling_round"].to_pylist() == [1] * 40 + [2] * 30
    assert second["gold"].null_count == 30
    assert len(set(second["item"].to_pylist())) == 70
    chances = dict(zip(known.items.to_pylist(), known.sampling, strict=True))
    for row in second.to_pylist()[:40]:
        assert row["sampling_probability"] == chances[row["item"]]
    without_chances = drawn(gold, 60, 1)  # a random draw
    table = choose_items(fit, "mean-grade", 20, gold=without_chances)
    assert table["sampling_probability"].to_pylist()[:60] == [0.1] * 60


def test_strata_of_two_go_through_files(panel: Panel) -> None:
    judgments, gold, fit, runs = panel
    table = choose_items(fit, "mean-grade", 41, plan=Plan(seed=3))
    sizes = np.bincount(table["sampling_stratum"].to_numpy())[1:]
    assert sorted(sizes.tolist()) == [2] * 19 + [3]
    known = labelled(table, judgments, gold)
    again = Gold.from_table(known.to_table())
    assert again.stratum is not None
    assert again.stratum.tolist() == table["sampling_stratum"].to_pylist()
    assert set(known.select(known.stratum == 2).stratum.tolist()) == {2}  # type: ignore[union-attr]
    more = choose_items(fit, "mean-grade", 10, gold=again, plan=Plan(seed=4))
    strata = dict(zip(*(table[n].to_pylist() for n in ("item", "sampling_stratum")), strict=True))
    assert all(row["sampling_stratum"] == strata[row["item"]] for row in more.to_pylist()[:41])
    of_runs = choose_items(fit, "nDCG@5", 20, runs=runs)
    assert set(of_runs["sampling_stratum"].to_pylist()) == {1}


def test_documents_in_no_place_that_counts_have_a_fifth_of_the_chances(panel: Panel) -> None:
    """Over many draws, a fifth of them or more: what the ideal consists of."""
    judgments, _, fit, runs = panel
    target = Plan().target("nDCG@5", fit.consensus, runs)
    outside = set(target.item[target.strata() == 0].tolist())  # type: ignore[index]
    counts = []
    for seed in range(20):
        table = choose_items(fit, "nDCG@5", 30, runs=runs, plan=Plan(seed=seed))
        at = look_up(table["item"], judgments.items)
        counts.append(sum(place in outside for place in at.tolist()))
    assert np.mean(counts) >= 0.18 * 30


@pytest.mark.parametrize("target", ["nDCG@5", "share:2"])
def test_estimates_from_chosen_items_hold_and_are_narrower(panel: Panel, target: str) -> None:
    """Replays: as many labels at random, or a few at random and the others by choice."""
    judgments, gold, fit, runs = panel
    chosen = runs if "@" in target else []
    true = estimate_from(fit, gold, target, chosen, Plan()).estimate
    held, widths, rounds = 0, [], sized(15, full=40)
    for seed in range(rounds):
        pilot = drawn(gold, 40, seed)
        table = choose_items(fit, target, 60, gold=pilot, runs=chosen, plan=Plan(seed=seed))
        found = estimate_from(fit, labelled(table, judgments, gold), target, chosen, Plan())
        held += found.low <= true <= found.high
        plain = estimate_from(fit, drawn(gold, 100, seed), target, chosen, Plan())
        widths.append((found.high - found.low, plain.high - plain.low))
    assert held >= 0.85 * rounds
    own, random = np.mean(widths, axis=0)
    assert own < (0.6 if chosen else 1.0) * random


@pytest.mark.parametrize("stratified", [False, True])
def test_gold_is_drawn_with_the_probabilities_it_names(panel: Panel, stratified: bool) -> None:
    """Each item as often as its row says; totals by Horvitz and Thompson are right on average."""
    judgments, gold, fit, _ = panel
    worth = (gold.align(judgments) == 2).astype(float)  # a known total
    by_doubt = fit if stratified else None
    counts, chance = np.zeros(len(worth)), np.full(len(worth), np.nan)
    totals, firsts, draws = [], [], sized(400, full=2000)
    for seed in range(draws):
        table = draw_gold(judgments, 50, by_doubt=by_doubt, seed=seed)
        at = look_up(table["item"], judgments.items)
        assert len(set(at.tolist())) == 50
        own = table["sampling_probability"].to_numpy()
        chance[at] = own
        counts[at] += 1
        totals.append(float((worth[at] / own).sum()))
        firsts.append(float((worth[at] / own)[:20].sum() * 50 / 20))
    assert not np.isnan(chance).any()
    assert chance.sum() == pytest.approx(50)
    error = np.sqrt(chance * (1 - chance) / draws)
    assert (np.abs(counts / draws - chance) <= 4.5 * error).all()
    for found in (totals, firsts):  # rows filled in from the top are a random sample too
        close = 4 * np.std(found) / np.sqrt(draws)
        assert np.mean(found) == pytest.approx(worth.sum(), abs=close)
    doubt = fit.consensus.probability * (1 - fit.consensus.probability)
    size = np.sqrt(doubt + 0.4**2) if stratified else np.ones(len(worth))
    assert chance == pytest.approx(50 * size / size.sum())


def test_a_file_to_fill_has_no_labels_of_judges_and_models(panel: Panel) -> None:
    judgments, gold, fit, _ = panel
    texts = pa.table(
        {
            "query": [f"what is {name}" for name in judgments.items.to_pylist()],
            "label": ["1"] * judgments.item_count,  # would be read as a label
        }
    )
    with_texts = replace(judgments, fields=texts)
    table = draw_gold(with_texts, 20, by_doubt=fit, seed=3)
    assert table.column_names == [
        *("item", "topic", "document", "query", "gold"),
        *("sampling_probability", "sampling_round", "sampling_stratum"),
    ]
    assert table["query"].to_pylist() == [f"what is {name}" for name in table["item"].to_pylist()]
    assert table["gold"].null_count == 20
    assert table.equals(draw_gold(with_texts, 20, by_doubt=fit, seed=3))
    assert not table.equals(draw_gold(with_texts, 20, by_doubt=fit, seed=4))
    known = labelled(table, judgments, gold)
    assert set(known.items.to_pylist()) == set(table["item"].to_pylist())


def test_gold_is_drawn_among_items_without_it(panel: Panel) -> None:
    judgments, gold, _, _ = panel
    first = labelled(draw_gold(judgments, 30, seed=1), judgments, gold)
    table = draw_gold(judgments, 20, gold=first, seed=2)
    assert table["sampling_round"].to_pylist() == [1] * 30 + [2] * 20
    assert len(set(table["item"].to_pylist())) == 50
    assert table["sampling_probability"].to_pylist()[30:] == pytest.approx([20 / 570] * 20)
    with pytest.raises(BadSetting) as caught:
        draw_gold(judgments, 571, gold=first)
    assert (caught.value.setting, caught.value.value) == ("count", 571)


def test_a_sample_filled_in_part_counts_as_a_smaller_sample(panel: Panel) -> None:
    """Probabilities are scaled round by round, so that estimates stay valid."""
    judgments, gold, fit, _ = panel
    first = labelled(draw_gold(judgments, 40, seed=1), judgments, gold)
    asked = draw_gold(judgments, 50, gold=first, seed=2).to_pylist()
    truth = dict(zip(gold.items.to_pylist(), gold.texts(), strict=True))
    for row in asked[:60]:
        row["gold"] = truth[row["item"]]
    with pytest.warns(ReadingWarning, match="30 of 90 rows"):
        known = Gold.from_table(pa.Table.from_pylist(asked))
    assert len(known) == 60
    assert known.sampling is not None
    assert known.sampling[:40] == pytest.approx([40 / 600] * 40)
    assert known.sampling[40:] == pytest.approx([50 / 560 * 20 / 50] * 20)
    found = estimate_from(fit, known, "share:2", [], Plan(estimator="classical"))
    assert found.gold == 60
    assert found.low < float((gold.align(judgments) == 2).mean()) < found.high
