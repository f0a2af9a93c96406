"""Options that take several values at once."""

from __future__ import annotations

import pytest

from adjudge.cli._options import _repeat_options


@pytest.mark.parametrize(
    ("given", "wanted"),
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
def test_the_option_is_named_again_before_each_value(given: str, wanted: str) -> None:
    assert _repeat_options(given.split(), ("--runs", "--measures")) == wanted.split()
