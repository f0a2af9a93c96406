"""Groups of options: spelt out for Typer, put together for the command."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from adjudge.cli import _spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Colour:
    red: Annotated[int, typer.Option("--red", help="How red.")] = 1
    blue: Annotated[list[str] | None, typer.Option("--blue")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shade(Colour):
    dark: Annotated[bool, typer.Option("--dark")] = False


def test_options_of_a_group_stand_where_the_group_stands() -> None:
    def command(
        name: str, *, first: Annotated[int, typer.Option()] = 0, shade: Shade, last: int = 9
    ) -> None:
        """What it does."""

    seen = _spread(command)
    parameters = signature(seen).parameters
    assert list(parameters) == ["name", "first", "red", "blue", "dark", "last"]
    assert {name: parameters[name].default for name in ("red", "blue", "dark", "last")} == {
        "red": 1,
        "blue": None,
        "dark": False,
        "last": 9,
    }
    assert parameters["name"].default is parameters["name"].empty
    assert (seen.__doc__, seen.__name__) == ("What it does.", "command")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["x"], ("x", Shade(), 9)),
        (
            ["x", "--red", "3", "--dark", "--blue", "a", "--blue", "b", "--last", "2"],
            ("x", Shade(red=3, dark=True, blue=["a", "b"]), 2),
        ),
    ],
)
def test_the_command_gets_the_group(arguments: list[str], wanted: Any) -> None:
    got: list[Any] = []
    app = typer.Typer()

    def command(name: str, *, shade: Shade, last: int = 9) -> None:
        got.append((name, shade, last))

    app.command()(_spread(command))
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert got == [wanted]


def test_help_shows_the_options_of_a_group() -> None:
    app = typer.Typer()

    def command(*, colour: Colour) -> None:
        """Paint."""

    app.command()(_spread(command))
    output = CliRunner().invoke(app, ["--help"]).output
    assert "How red." in output
    assert "colour" not in output


def test_one_name_in_two_groups_is_refused() -> None:
    def command(*, colour: Colour, shade: Shade) -> None:
        pass

    with pytest.raises(ValueError, match="duplicate parameter name: 'red'"):
        _spread(command)
