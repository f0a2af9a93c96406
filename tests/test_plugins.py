"""Models and formats of other packages: the example package, found by its entry points."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "adjudge-example"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as an installer leaves it: the package, and what it says of itself."""
    folder = tmp_path_factory.mktemp("site")
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    known = folder / "adjudge_example-1.0.dist-info"
    known.mkdir()
    (known / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 1.0\n"
    )
    points = project["entry-points"] | {"broken": {}}
    points["adjudge.models"] |= {"broken": "no_such_module:Model", "vote": "adjudge_example:x"}
    del points["broken"]
    lines = [
        line
        for group, entries in points.items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()))
    ]
    (known / "entry_points.txt").write_text("\n".join(lines))
    (folder / "adjudge_example").symlink_to(EXAMPLE / "src" / "adjudge_example")
    return folder


def command(installed: Path, *words: object) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")])
    given = [sys.executable, "-m", "adjudge", *map(str, words)]
    return subprocess.run(
        given, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path}
    )


def test_a_model_and_a_format_are_found_by_name(installed: Path, tmp_path: Path) -> None:
    file = tmp_path / "judgments.txt"
    file.write_text("#pipes\nann|a|1\nbob|a|1\nann|b|0\nbob|b|0\ncid|b|1\n")
    done = command(installed, "consensus", file, "--model", "one-step", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["model"] == "one-step"
    back = tmp_path / "back.pipes"
    assert command(installed, "convert", file, "-o", back, "--to", "pipes").returncode == 0
    assert sorted(back.read_text().splitlines()) == sorted(file.read_text().splitlines())


def test_a_broken_one_is_told_and_left_out(installed: Path) -> None:
    done = command(installed, "models")
    assert done.returncode == 0
    assert "one-step" in done.stdout
    assert "broken (no_such_module:Model, entry point adjudge.models) is left out" in done.stderr
    assert (
        "vote (adjudge_example:x, entry point adjudge.models) is left out: the name is taken"
        in (done.stderr)
    )


def test_contributing_shows_the_model_of_the_example() -> None:
    code = (EXAMPLE / "src" / "adjudge_example" / "one_step.py").read_text()
    assert code.strip() in (ROOT / "CONTRIBUTING.md").read_text()
