"""Options: groups of them, those with several values, and models built from them."""

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
from adjudge.cli import _repeat_options
from adjudge.cli._fitting import _parse_value, build_model
from adjudge.cli._options import Fitting
from adjudge.cli.rank_pairs import build_pair_model
from adjudge.errors import UnknownName
from adjudge.models.item_types import ItemTypes
from commands import Run


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("--runs a b -o x", "--runs a --runs b -o x"),
        ("--runs a --runs b c", "--runs a --runs b --runs c"),
        ("--runs=a b", "--runs=a --runs b"),
        ("-o x --runs a", "-o x --runs a"),
        ("--runs - b", "--runs - --runs b"),
        ("--measures AP nDCG@10 --runs a", "--measures AP --measures nDCG@10 --runs a"),
        ("--runs a -- b c", "--runs a -- b c"),
        ("x y", "x y"),
    ],
)
def test_an_option_is_named_again_before_each_value(given: str, expected: str) -> None:
    assert _repeat_options(given.split(), ("--runs", "--measures")) == expected.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({}, ItemTypes()),
        ({"model": "majority-vote"}, MajorityVote()),
        ({"model": "hybrid-confusion"}, HybridConfusion()),
        (
            {"model": "dawid-skene", "seed": 3, "settings": ["ties=lower", "diagonal=2"]},
            DawidSkene(seed=3, ties="lower", diagonal=2.0),
        ),
        (
            {"model": "hierarchical-confusion", "settings": ["method=variational"]},
            HierarchicalConfusion(method="variational"),
        ),
        (
            {"model": "pmf", "settings": ["rank=auto", "regularisation=0.5"]},
            Pmf(rank="auto", regularisation=0.5),
        ),
        ({"model": "vote", "settings": ["keep=accuracy:0.7"], "by_topic": True}, None),
        (
            {"model": "hierarchical-relevance", "settings": ["item_columns=length+score"]},
            HierarchicalRelevance(item_columns=("length", "score")),
        ),
    ],
)
def test_a_model_is_built_from_its_settings(words: dict[str, Any], expected: object) -> None:
    made = build_model(Fitting(**words))
    assert expected is None or made == expected


def test_a_setting_that_a_model_does_not_have_is_refused() -> None:
    with pytest.raises(UnknownName) as caught:
        build_model(Fitting(model="dawid-skene", settings=["chains=3"]))
    assert caught.value.value == "chains"
    with pytest.raises(BadSetting) as refused:
        build_pair_model(Fitting(model="elo", by_topic=True))
    assert refused.value.setting == "--by-topic"


@pytest.mark.parametrize(
    ("text", "hint", "expected"),
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
def test_values_have_the_type_of_the_setting(text: str, hint: Any, expected: object) -> None:
    found = _parse_value(f"x={text}", text, hint)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("given", "now"),
    [
        ("tune j.csv", "adjudge compare --filter"),
        ("plot j.csv", "adjudge report --figure"),
        ("crowd http://x", "adjudge simulate --server"),
        ("encode j.csv", "--engine dask"),
        ("replicate zscore", "./scripts/replicate"),
    ],
)
def test_an_old_name_gives_one_line_with_the_new(given: str, now: str, adjudge: Run) -> None:
    ended = adjudge(*given.split())
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert now in ended.err
