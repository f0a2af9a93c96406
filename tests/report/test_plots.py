"""Figures: what each draws, from small results whose figures are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge import Gold, Judgments, MajorityVote, Scale
from adjudge.evaluation.against_gold import _calibration
from adjudge.report import Results
from adjudge.report.plots.chains import hyper_priors, learnt_priors, parameters_of, trace_plot
from adjudge.report.plots.judges import (
    _choose_judges,
    _draw_rates,
    confusion_map,
    judge_clouds,
    sensitivity_specificity,
)
from adjudge.report.plots.labels import (
    _mean_estimate,
    accuracy_by_ratings,
    calibration_plot,
    estimate_both,
    judge_item_matrix,
    voted_relevance,
)
from charts import spec_with_data


def test_a_point_for_each_bin_that_holds_items() -> None:
    confidence = np.array([0.55, 0.55, 0.95, 0.95, 0.95, 0.95])
    right = np.array([True, False, True, True, True, False])
    spec = spec_with_data(calibration_plot(_calibration(confidence, right)))
    rows = spec["layer"][2]["data"]["values"]
    points = [{name: row[name] for name in ("confidence", "share", "items")} for row in rows]
    assert points == [
        {"confidence": 0.55, "share": 0.5, "items": 2},
        {"confidence": 0.95, "share": 0.75, "items": 4},
    ]
    reach = spec["layer"][1]
    assert (reach["mark"]["type"], reach["encoding"]["y2"]["field"]) == ("rule", "share_high")
    assert [row["share_low"] for row in rows] == pytest.approx([0.0945, 0.3006], abs=1e-4)
    assert [row["share_high"] for row in rows] == pytest.approx([0.9055, 0.9544], abs=1e-4)
    # S = .1 and .8, V = .495 and .19, z = .142 and 1.835: .1 x .113 - 1.407 x .395 = -.544 and
    # .8 x .934 - .872 x .074 = .682, over 6 items: luck explains the first and not the second.
    assert "calibration error 0.023, bias corrected" in spec["title"]["subtitle"][0]


def test_the_curve_of_accuracy() -> None:
    curve = pa.table(
        {
            "method": ["vote", "vote", "em", "em"],
            "ratings": [1, 3, 1, 3],
            "accuracy": [0.5, 0.6, 0.55, 0.75],
            "low": [0.4, 0.5, 0.45, 0.65],
            "high": [0.6, 0.7, 0.65, 0.85],
        }
    )
    spec = spec_with_data(accuracy_by_ratings(curve))
    assert spec["layer"][0]["encoding"]["x"]["axis"]["values"] == [1, 3]
    assert spec["data"]["values"][3] == {
        "method": "em", "ratings": 3, "accuracy": 0.75, "low": 0.65, "high": 0.85
    }  # fmt: skip


def judged(labels: dict[str, str], scale: str) -> Judgments:
    """Items with a letter for each label they got, each from another judge."""
    rows = [
        {"item": item, "judge": f"j{place}", "label": label}
        for item, given in labels.items()
        for place, label in enumerate(given)
    ]
    return Judgments.from_table(pa.Table.from_pylist(rows), scale=Scale.parse(scale))


@pytest.mark.parametrize(
    ("labels", "scale", "voted", "values", "what"),
    [
        ({"a": "110", "b": "0", "c": "1111"}, "0<1", [2 / 3, 0, 1], [0, 1], "relevance"),
        ({"a": "013", "b": "33"}, "0<1<3", [4 / 3, 3], [0, 1, 3], "grade"),
    ],
)
def test_votes_and_estimates_are_means_on_the_scale(
    labels: dict[str, str], scale: str, voted: list[float], values: list[float], what: str
) -> None:
    consensus = MajorityVote().fit(judged(labels, scale))
    both = estimate_both(consensus)
    np.testing.assert_allclose(both.voted, voted)
    np.testing.assert_allclose(both.estimated, consensus.posterior @ values)
    assert (both.low, both.high, both.what) == (0.0, values[-1], what)


def test_of_labels_without_order_it_is_the_share_of_the_chosen_one() -> None:
    consensus = MajorityVote(ties="lower").fit(judged({"a": "xxy", "b": "zz"}, "x,y,z"))
    both = estimate_both(consensus)
    np.testing.assert_allclose(both.voted, [2 / 3, 1.0])
    np.testing.assert_array_equal(both.estimated, consensus.probability)


def test_items_whose_truth_was_given_are_left_out() -> None:
    judgments = judged({"a": "110", "b": "0"}, "0<1")
    both = estimate_both(MajorityVote().fit(judgments, Gold.of({"a": 0})))
    np.testing.assert_array_equal(both.voted, [0.0])


def test_the_line_has_the_mean_of_each_part() -> None:
    labels = {"a": "0001", "b": "0011", "c": "0111", "d": "1111"}
    consensus = MajorityVote().fit(judged(labels, "0<1"))
    both = estimate_both(consensus)
    along, mean = _mean_estimate(both, parts=2)  # below one half, and from one half on
    np.testing.assert_allclose(along, [0.25, 0.75])
    np.testing.assert_allclose(mean, [both.estimated[0], both.estimated[1:].mean()])


def test_cells_hold_every_item_once() -> None:
    consensus = MajorityVote().fit(judged({"a": "110", "b": "110", "c": "0"}, "0<1"))
    spec = spec_with_data(voted_relevance(consensus))
    cells = next(layer for layer in spec["layer"] if layer.get("name") == "cells")
    rows = cells["data"]["values"]
    assert sum(row["items"] for row in rows) == 3
    assert sorted(row["items"] for row in rows) == [1, 2]
    middle = next(row for row in rows if row["items"] == 2)
    assert middle["voted"] == pytest.approx(2 / 3, abs=0.034)


TABLE = pa.table(
    {
        "item": ["a", "a", "a", "b", "b", "c", "d"],
        "judge": ["x", "y", "z", "x", "y", "x", "w"],
        "label": ["2", "1", "0", "0", "0", "1", "2"],
    }
)


@pytest.mark.parametrize(
    ("most", "judges", "items", "cells"),
    [
        # means 0, 0.5, 1, 2 of judges, and 0, 1, 1, 2 of items
        ({}, ["z", "y", "x", "w"], ["b", "a", "c", "d"], 7),
        ({"judges": 2, "items": 1}, ["y", "x"], ["a"], 2),
    ],
)
def test_the_busiest_judges_and_items_by_their_means(
    most: dict[str, int], judges: list[str], items: list[str], cells: int
) -> None:
    spec = spec_with_data(judge_item_matrix(Judgments.from_table(TABLE), **most))
    rows = spec["data"]["values"]
    assert len(rows) == cells
    for row in rows:
        assert judges[row["column"]] == row["judge"]
        assert items[row["row"]] == row["item"]
    assert {("a", "x", "2"), ("a", "y", "1")} <= {(r["item"], r["judge"], r["label"]) for r in rows}


MEAN = np.array([[0.75, 0.25, 0.0], [0.125, 0.875, np.nan]])
SD = np.array([[0.1, 0.05, 0.0], [0.25, 0.5, np.nan]])


def test_cells_have_mean_and_sd_in_words() -> None:
    scale = Scale(labels=("0", "1", "broken"), truths=("no", "yes"), truth_of=(0, 1, -1))
    spec = spec_with_data(confusion_map(MEAN, SD, scale, "all"))
    rows = spec["data"]["values"]
    assert [(row["truth"], row["label"], row["words"], row["under"]) for row in rows] == [
        ("no", "0", "0.75", "(0.10)"),
        ("no", "1", "0.25", "(0.05)"),
        ("no", "broken", "0.00", "(0.00)"),
        ("yes", "0", "0.12", "(0.25)"),
        ("yes", "1", "0.88", "(0.50)"),
        ("yes", "broken", "–", ""),
    ]
    assert rows[5]["mean"] is None


JUDGES = pa.table(
    {
        "judge": ["few", "many", "none", "unknown"],
        "judgments": [3, 90, 0, 40],
        "specificity": [0.5, 0.25, 0.5, None],
        "sensitivity": [0.75, 1.0, 0.5, 0.5],
        "advice": ["watch", "drop", "watch", "keep"],
    }
)


def layers(chart: Any) -> dict[str, Any]:
    spec = spec_with_data(chart)
    parts = spec.get("layer", [spec])
    return {layer.get("name", str(place)): layer for place, layer in enumerate(parts)}


def test_points_are_drawn_at_the_rates_and_the_line_where_they_sum_to_one() -> None:
    found = layers(sensitivity_specificity(JUDGES))
    points = found["judges"]["data"]["values"]
    assert points == [
        {
            "judge": "many",
            "judgments": 90,
            "specificity": 0.25,
            "sensitivity": 1.0,
            "advice": "drop",
        },
        {
            "judge": "few",
            "judgments": 3,
            "specificity": 0.5,
            "sensitivity": 0.75,
            "advice": "watch",
        },
    ]
    ends = next(layer for layer in found.values() if layer["mark"]["type"] == "line")
    assert all(row["specificity"] + row["sensitivity"] == 1 for row in ends["data"]["values"])
    assert found["judges"]["encoding"]["size"]["field"] == "judgments"
    assert found["judges"]["encoding"]["color"]["scale"]["domain"] == ["watch", "drop"]


def test_judges_go_from_few_to_many_judgments_and_have_the_two_busiest() -> None:
    counts = np.array([5, 1000, 1, 0, 80, 900, 7, 2], dtype=np.int64)
    chosen = _choose_judges(counts, panels=4)
    assert counts[chosen].tolist() == [1, 7, 900, 1000]
    assert _choose_judges(counts, panels=16).tolist() == [2, 7, 0, 6, 4, 5, 1]


@settings(deadline=None)
@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=60), st.integers(3, 20))
def test_the_requested_number_of_judges_each_once_in_order(counts: list[int], number: int) -> None:
    given_counts = np.array(counts, dtype=np.int64)
    chosen = _choose_judges(given_counts, number)
    assert len(chosen) == min(number, int((given_counts > 0).sum()))
    assert len(set(chosen.tolist())) == len(chosen)
    shown = given_counts[chosen].tolist()
    assert shown == sorted(shown)
    assert shown[-2:] == sorted(count for count in counts if count)[-2:]


def test_points_are_draws_of_both_rates(sampled: Results) -> None:
    draws = sampled.consensus.draws
    assert draws is not None
    specificity, sensitivity = _draw_rates(draws, 4, samples=10_000)
    every = draws.confusion[:, :, 4].reshape(-1, 2, 2)
    np.testing.assert_allclose(specificity, every[:, 0, 0])
    np.testing.assert_allclose(sensitivity, every[:, 1, 1])


def test_sixteen_panels_with_the_number_of_judgments(sampled: Results) -> None:
    draws = sampled.consensus.draws
    assert draws is not None
    spec = spec_with_data(judge_clouds(sampled.consensus, draws, samples=20))
    panels = spec["concat"]
    assert len(panels) == 16
    counts = sampled.consensus.judgments.counts_per_judge
    chosen = _choose_judges(counts)
    numbers = [panel["title"]["text"].partition("N = ")[2] for panel in panels]
    assert numbers == [f"{counts[judge]:,}" for judge in chosen]
    assert all(len(panel["layer"][0]["data"]["values"]) == 20 for panel in panels)


def test_the_hyper_parameters_are_looked_at(sampled: Results) -> None:
    draws = sampled.consensus.draws
    assert draws is not None
    names = ["phi_pi", "phi_0", "phi_1", "kappa_pi", "kappa_0", "kappa_1"]
    assert list(parameters_of(draws)) == names
    panels = spec_with_data(trace_plot(draws))["concat"]
    assert [panel["title"]["text"] for panel in panels] == names
    rows = panels[1]["data"]["values"]
    second = [row["value"] for row in rows if row["chain"] == 2]
    np.testing.assert_allclose(second, draws.hyper["phi_0"][1], atol=1e-4)


def test_the_published_three(sampled: Results) -> None:
    draws = sampled.consensus.draws
    assert draws is not None
    priors = learnt_priors(draws, samples=10_000)
    assert [prior.name for prior in priors] == [
        "specificity of judges",
        "sensitivity of judges",
        "prevalence in topics",
    ]
    for prior, name in zip(priors, ("0", "1", "pi"), strict=True):
        np.testing.assert_allclose(prior.phi, draws.hyper[f"phi_{name}"].reshape(-1))
        np.testing.assert_allclose(prior.kappa, draws.hyper[f"kappa_{name}"].reshape(-1))
    panels = spec_with_data(hyper_priors(draws))["concat"]
    assert [len(panel["data"]["values"]) for panel in panels] == [120, 120, 120]
