"""The measurements of the default model, on two small sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adjudge.models import _types as _type_answer

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import default_model

    return default_model


def make_table(items: int = 60, judges: int = 8) -> pd.DataFrame:
    """Judges of 90 to 55%; every item has a gold label."""
    random = np.random.default_rng(0)
    truth = random.integers(0, 2, items)
    wrong = random.random((items, judges)) < np.linspace(0.1, 0.45, judges)
    item, judge = np.meshgrid(np.arange(items), np.arange(judges), indexing="ij")
    columns = {
        "item": [f"i{k}" for k in item.ravel()],
        "judge": [f"j{k}" for k in judge.ravel()],
        "label": np.where(wrong, 1 - truth[:, None], truth[:, None]).ravel().astype(str),
        "gold": truth[item.ravel()].astype(str),
    }
    return pd.DataFrame(columns)


def test_thinned_versions_keep_what_their_names_say(script: Any) -> None:
    table = make_table()
    found = dict(script.make_versions(table))
    assert set(found) == {"complete", *script.THINNINGS}
    assert set(found["3 per item"].groupby("item").size()) == {3}
    assert set(found["2 per item"].groupby("item").size()) == {2}
    assert found["5 busiest judges"]["judge"].nunique() == 5
    sizes = found["second judge on 30%"].groupby("item").size()
    assert sizes.between(1, 2).all()
    assert 0.1 < (sizes == 2).mean() < 0.5
    assert not any(version.duplicated(["item", "judge"]).any() for version in found.values())


def test_scores_by_hand(script: Any) -> None:
    vote = np.array([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]])
    answer = np.array([[0.5, 0.5], [0.4, 0.6], [0.2, 0.8]])
    case = script.Case(
        group="crowds", name="", family="", how="complete", gold=np.array([0, 0, -1]),
        answers={script.VOTE: vote}, logs=np.empty(0), judges=np.empty((0, 3)),
    )  # fmt: skip
    accuracy, loss, below = script.score(case, answer)
    assert accuracy == pytest.approx(0.5 / 3)  # a tie, a wrong label, a label that no judge gave
    assert loss == pytest.approx(-(np.log(0.5) + np.log(0.4) + np.log(1e-6)) / 3)
    assert below == 1.0


def test_families_weigh_alike_and_so_do_kinds_of_thinning(script: Any) -> None:
    case = script.Case(
        group="crowds", name="", family="a", how="complete", gold=np.zeros(1, np.int64),
        answers={}, logs=np.empty(0), judges=np.empty((0, 3)),
    )  # fmt: skip
    of = [("a", "complete"), ("a", "2 per item"), ("a", "2 per item"), ("b", "complete")]
    cases = [script.replace(case, family=family, how=how) for family, how in of]
    assert script.weigh(cases) == pytest.approx([0.25, 0.125, 0.125, 0.5])


def test_powers_are_fitted_to_the_other_families(
    script: Any, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not (shared_data / "sets" / "sets.csv").is_file():
        pytest.skip("sets/sets.csv is missing from the data folder")
    monkeypatch.setattr(script, "THINNINGS", ("2 per item",))
    options = script.Options(data=shared_data)
    rows = script.list_rows(shared_data, "duck,rte")
    cases = [case for row in rows for case in script.measure_sets(row, options)]
    assert [case.how for case in cases] == ["complete", "2 per item", "2 per item"] * 2
    shipped = script.list_shipped()
    for case in cases:  # the fit's own parts, blended here
        assert case.blend(shipped) == pytest.approx(case.answers[script.DEFAULT], abs=1e-9)
    every, held_out = script.leave_out(cases)
    duck = [case for case in cases if case.family == "duck"]
    assert held_out["rte"] == pytest.approx(script.fit_powers(duck, every), abs=1e-3)

    def loss(some: list[Any], powers: Any) -> float:
        families = {case.family for case in some}
        return float(script.score_families(some, dict.fromkeys(families, powers)).mean())

    assert loss(cases, every) <= min(loss(cases, powers) for powers in held_out.values())
    assert loss(duck, held_out["rte"]) <= loss(duck, held_out["duck"])
    text = script.tabulate_scores(cases, each=True)
    assert "| crowds | 2 per item | 4 |" in text
    assert "| crowds | 2 | " in script.tabulate_coverage(cases)


def test_one_element_is_changed_at_a_time(script: Any) -> None:
    table = make_table()[["item", "judge", "label"]]
    default = script.fit(table, {}).predictor
    assert script.fit(table, {"kinds": 1}).predictor.types.kinds == 1
    even = script.fit(table, {"_EVEN": 0.0}).predictor
    assert (even.types.rates == default.types.rates).all()
    assert np.abs(even.reading - 0.5).min() > np.abs(default.reading - 0.5).min()
    assert _type_answer._EVEN == 1.0
