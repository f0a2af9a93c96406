from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.report import Results
from adjudge.report.plots.judges import _chosen_judges, _rates_drawn, judge_clouds
from charts import spec_with_data


def test_judges_go_from_few_to_many_judgments_and_have_the_two_busiest() -> None:
    counts = np.array([5, 1000, 1, 0, 80, 900, 7, 2], dtype=np.int64)
    chosen = _chosen_judges(counts, wanted=4)
    assert counts[chosen].tolist() == [1, 7, 900, 1000]
    assert _chosen_judges(counts, wanted=16).tolist() == [2, 7, 0, 6, 4, 5, 1]


@settings(deadline=None)
@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=60), st.integers(3, 20))
def test_as_many_as_wanted_each_once_in_order(counts: list[int], wanted: int) -> None:
    given_counts = np.array(counts, dtype=np.int64)
    chosen = _chosen_judges(given_counts, wanted)
    assert len(chosen) == min(wanted, int((given_counts > 0).sum()))
    assert len(set(chosen.tolist())) == len(chosen)
    shown = given_counts[chosen].tolist()
    assert shown == sorted(shown)
    assert shown[-2:] == sorted(count for count in counts if count)[-2:]


def test_points_are_draws_of_both_rates(sampled: Results) -> None:
    draws = sampled.consensus.draws
    assert draws is not None
    specificity, sensitivity = _rates_drawn(draws, 4, samples=10_000)
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
    chosen = _chosen_judges(counts)
    told = [panel["title"]["text"].partition("N = ")[2] for panel in panels]
    assert told == [f"{counts[judge]:,}" for judge in chosen]
    assert all(len(panel["layer"][0]["data"]["values"]) == 20 for panel in panels)
