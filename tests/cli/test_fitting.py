"""Models from options: settings by name, each of its own type."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from adjudge import (
    BadSetting,
    DawidSkene,
    HierarchicalConfusion,
    HierarchicalRelevance,
    HybridConfusion,
    MajorityVote,
    Pmf,
)
from adjudge.cli._fitting import build_model, make_engine
from adjudge.cli._options import Fitting
from adjudge.cli._settings import _parse_value
from adjudge.models.item_types import ItemTypes


def test_defaults_are_the_models_own() -> None:
    assert build_model(Fitting(model="dawid-skene")) == DawidSkene()
    assert build_model(Fitting(model="majority-vote")) == MajorityVote()


def test_set_comes_after_the_flags() -> None:
    fitting = Fitting(
        model="dawid-skene",
        seed=3,
        ties="lower",
        iterations=9,
        settings=["iterations=7", "diagonal=2"],
    )
    assert build_model(fitting) == DawidSkene(seed=3, ties="lower", iterations=7, diagonal=2.0)


@pytest.mark.parametrize(
    ("text", "hint", "wanted"),
    [
        ("7", int, 7),
        ("0.5", float, 0.5),
        ("1e-9", float | None, 1e-9),
        ("TRUE", bool, True),
        ("false", bool, False),
        ("lower", Literal["lower", "higher"], "lower"),
        ("a=b", str, "a=b"),
        ("[[3,1],[1,3]]", tuple[tuple[float, ...], ...] | None, ((3, 1), (1, 3))),
    ],
)
def test_values_have_the_type_of_the_setting(text: str, hint: Any, wanted: object) -> None:
    found = _parse_value(f"x={text}", text, hint)
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize(
    ("text", "hint", "wanted"),
    [
        ("1.5", int, "a whole number"),
        ("much", float | None, "a number"),
        ("yes", bool, "true or false"),
        ("3,1", tuple[float, ...], "numbers such as [3,1]"),
    ],
)
def test_values_that_do_not_fit(text: str, hint: Any, wanted: str) -> None:
    with pytest.raises(BadSetting) as caught:
        _parse_value(f"x={text}", text, hint)
    assert str(caught.value) == f"--set = 'x={text}': wanted {wanted}"


def test_threads() -> None:
    assert make_engine(3).threads == 3
    assert make_engine(None).threads >= 1


def test_without_a_name_the_default_runs() -> None:
    assert build_model(Fitting()) == ItemTypes()
    assert build_model(Fitting(model="hybrid-confusion")) == HybridConfusion()
    sampled = Fitting(model="hierarchical-relevance", chains=2, warmup=5, draws=7, thin=3, seed=4)
    assert build_model(sampled) == HierarchicalRelevance(
        chains=2, warmup=5, draws=7, thin=3, seed=4
    )
    with pytest.raises(BadSetting, match=r"--chains = 3: wanted a model that has it; item-types"):
        build_model(Fitting(chains=3))
    with pytest.raises(BadSetting, match=r"--draws = 3: wanted a model that has it; dawid-skene"):
        build_model(Fitting(model="dawid-skene", draws=3))
    fast = Fitting(model="hierarchical-confusion", method="variational")
    assert build_model(fast) == HierarchicalConfusion(method="variational")


def test_a_setting_takes_a_number_or_its_word() -> None:
    made = build_model(Fitting(model="pmf", settings=["rank=auto", "regularisation=0.5"]))
    assert made == Pmf(rank="auto", regularisation=0.5)
    with pytest.raises(BadSetting) as caught:
        build_model(Fitting(model="pmf", settings=["rank=all"]))
    assert str(caught.value) == "--set = 'rank=all': wanted a whole number"
