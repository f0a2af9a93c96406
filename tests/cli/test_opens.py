"""How often a command opens the file it reads."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

# Python's own opens are events of the interpreter; Arrow's are not, so its readers are watched.
COUNTING = """
import json, sys
import pyarrow.csv, pyarrow.json, pyarrow.parquet
opened = []
reading_now = ""
def note(event, arguments):
    if event == "open" and str(arguments[0]) == reading_now:
        opened.append("python")
sys.addaudithook(note)
def watched(module, name):
    read = getattr(module, name)
    def reading(source, *rest, **more):
        if isinstance(source, str):
            opened.append("arrow")
        return read(source, *rest, **more)
    setattr(module, name, reading)
watched(pyarrow.csv, "read_csv")
watched(pyarrow.json, "read_json")
from adjudge.cli import call
found = {}
for reading_now in sys.argv[2:]:
    opened.clear()
    code = call(["consensus", reading_now, "-m", "majority-vote", "-q", "-o", sys.argv[1]])
    found[reading_now] = [code, list(opened)]
print(json.dumps(found))
"""


def rows(count: int) -> str:
    return "".join(f"i{n // 3},j{n % 5},{n % 2}\n" for n in range(count))


def jsonl(count: int) -> str:
    line = '{{"item": "i{}", "judge": "j{}", "label": {}}}\n'
    return "".join(line.format(n // 3, n % 5, n % 2) for n in range(count))


HEADER = "item,judge,label\n"
FILES = {
    "small.csv": (HEADER + rows(30)).encode(),
    "large.csv": (HEADER + rows(30_000)).encode(),
    "quoted.csv": (HEADER + rows(30_000) + '"i1","j9",1\n').encode(),
    "large.csv.gz": gzip.compress((HEADER + rows(30_000)).encode()),
    "small.jsonl": jsonl(30).encode(),
    "large.jsonl": jsonl(30_000).encode(),
}


@pytest.fixture(scope="module")
def opens(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, list[str]]]:
    """What each file came to, all read in one process: to start one costs more than to read."""
    folder = tmp_path_factory.mktemp("opens")
    for name, body in FILES.items():
        (folder / name).write_bytes(body)
    arguments = [folder / "labels.csv", *(folder / name for name in FILES)]
    ran = subprocess.run(
        [sys.executable, "-c", COUNTING, *map(str, arguments)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {Path(path).name: found for path, found in json.loads(ran.stdout).items()}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_opened_three_times_at_most(
    opens: dict[str, tuple[int, list[str]]], name: str
) -> None:
    code, opened = opens[name]
    assert code == 0
    assert len(opened) <= (1 if name.startswith("small") else 3), opened
    assert opened, "the file was read"
