"""Models and formats of other packages: the example package, found by its entry points."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from commands import Ended

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "adjudge-example"
PIPES = "#pipes\nann|a|1\nbob|a|1\nann|b|0\nbob|b|0\ncid|b|1\n"


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


# Every command in turn: how it ends, and what it prints where.
RUN = """
import json, sys
from adjudge.cli import call

ended, streams = {}, (sys.stdout, sys.stderr)
for line in sys.argv[1:]:
    with open("out", "w+") as out, open("err", "w+") as err:
        sys.stdout, sys.stderr = out, err
        code = call(line.split())
        sys.stdout, sys.stderr = streams
        printed = [file.seek(0) or file.read() for file in (out, err)]
    ended[line.split()[0]] = (code, *printed)
print(json.dumps(ended))
"""


@pytest.fixture(scope="module")
def ended(installed: Path) -> dict[str, Ended]:
    """How commands ended in a process that finds the package."""
    (installed / "judgments.txt").write_text(PIPES)
    lines = (
        "models",
        "consensus judgments.txt --model one-step --json",
        "convert judgments.txt -o back.pipes --to pipes",
    )
    path = os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", RUN, *lines],
        capture_output=True, text=True, check=True, cwd=installed,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    return {name: Ended(*found) for name, found in json.loads(done.stdout).items()}


def test_a_model_and_a_format_are_found_by_name(installed: Path, ended: dict[str, Ended]) -> None:
    assert ended["consensus"].code == 0, ended["consensus"].err
    assert ended["consensus"].json["model"] == "one-step"
    assert ended["convert"].code == 0, ended["convert"].err
    back = (installed / "back.pipes").read_text()
    assert sorted(back.splitlines()) == sorted(PIPES.splitlines())


def test_a_broken_plugin_is_reported_and_left_out(ended: dict[str, Ended]) -> None:
    done = ended["models"]
    assert done.code == 0
    assert "one-step" in done.out
    assert "broken (no_such_module:Model, entry point adjudge.models) is left out" in done.err
    assert (
        "vote (adjudge_example:x, entry point adjudge.models) is left out: the name is taken"
        in done.err
    )
