"""Talking to people: nothing in a file is taken for markup, nobody waits without a word."""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass

import pytest

from adjudge.cli import _console as console
from adjudge.cli._results import page, shorten, show_rows
from adjudge.data.progress import progress_bar
from adjudge.models.model import Step
from waiting import wait_until


@dataclass(frozen=True)
class Errors:
    """Standard error as a terminal, and what came to it so far."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def open(self) -> None:
        """In the test itself: pytest sets its streams afresh before each test."""
        self.monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        self.monkeypatch.setenv("TERM", "xterm")
        self.monkeypatch.setenv("COLUMNS", "100")
        console.be_quiet(False)

    def read(self) -> str:
        return self.capsys.readouterr().err

    def wait_for(self, text: str) -> None:
        """Read until a text has come."""
        parts: list[str] = []

        def has_come() -> bool:
            parts.append(self.read())
            return text in "".join(parts)

        wait_until(has_come, 300, f"{text!r} is reported")


@pytest.fixture
def errors(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Errors:
    return Errors(monkeypatch, capsys)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("two\nlines", "two\\nlines"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("é ü 漢", "é ü 漢"),
        ("a" * 40, "a" * 40),
        ("a" * 5000 + "z" * 5000, "a" * 18 + "..." + "z" * 18),
    ],
)
def test_a_name_is_one_short_line(text: str, expected: str) -> None:
    assert shorten(text) == expected


def test_what_is_said_is_no_markup(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    console.be_quiet(False)
    console.say("[/] [red]:smile:", (" [b]bold[/b]", "bold"))
    assert capsys.readouterr() == ("", "[/] [red]:smile: [b]bold[/b]\n")
    console.be_quiet(True)
    console.say("nothing")
    assert capsys.readouterr() == ("", "")


def test_progress_appears_without_a_step_and_goes_away(errors: Errors) -> None:
    errors.open()
    with console.progress("reading big.csv", patience=0.01):
        errors.wait_for("reading big.csv")
    assert errors.read().endswith("\x1b[?25h\r\x1b[1A\x1b[2K")  # cursor shown, line cleared


def test_progress_reports_steps(errors: Errors) -> None:
    errors.open()
    with console.progress("fitting", patience=0.01) as on_step:
        assert on_step is not None
        on_step(Step("fitting", 12, 1000, "log-likelihood -5.0"))
        errors.wait_for("12/1,000 log-likelihood -5.0")


@pytest.mark.parametrize("quiet", [True, False])
def test_no_progress_without_a_terminal(
    quiet: bool, errors: Errors, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors.open()
    if quiet:
        console.be_quiet(True)
    else:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    with console.progress("fitting", patience=0) as on_step:
        assert on_step is None
    assert errors.read() == ""
    console.be_quiet(False)


def test_a_fit_shows_a_bar_of_its_own_but_not_inside_another_nor_in_a_thread(
    errors: Errors,
) -> None:
    errors.open()
    found: list[bool] = []

    def ask() -> None:
        with progress_bar("fitting", patience=60) as on_step:
            found.append(on_step is not None)

    ask()
    with console.progress("comparing", patience=60):
        ask()
    thread = threading.Thread(target=ask)  # as fits of a server are
    thread.start()
    thread.join()
    console.be_quiet(True)
    ask()
    console.be_quiet(False)
    assert found == [True, False, False, False]


@pytest.mark.parametrize("width", [200, 80, 60])
def test_a_table_fits_the_terminal_and_no_number_is_cut(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    why = "over-rates by 0.17 grades on these items, and hardly ever uses the lowest"
    row = {"verdict": "ready", "accuracy": 0.123, "kappa": 0.456, "bias": -0.789, "why": why}
    rows = [{"judge": f"a-judge-of-a-long-name-{n}", **row} for n in range(2)]
    page().print(
        show_rows("Judges", rows, "judge", "verdict", *("accuracy", "kappa", "bias"), "why:s")
    )
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    cells = [line.split() for line in lines]
    assert sum({"ready", "0.123", "0.456", "-0.789"} <= set(line) for line in cells) == 2
    assert why in " ".join(" ".join(lines).split())
    assert len(lines) < 12
