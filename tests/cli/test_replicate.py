from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commands import Run

QUICK = ("--quick", "--seeds", "2")


def test_a_paper_that_does_not_exist(adjudge: Run) -> None:
    ended = adjudge("replicate", "zscor")
    assert (ended.code, ended.err) == (
        2,
        "error: there is no paper 'zscor'; did you mean 'zscore'? Known: zscore, pmf, "
        "hierarchical, truelabel, training, all\n",
    )


def test_data_that_are_missing_are_asked_for_before_any_work(adjudge: Run, folder: Path) -> None:
    ended = adjudge("replicate", "pmf", "--data", "nowhere", "-o", "out")
    assert ended.code == 2
    assert ended.err.startswith("error: nowhere/trec-rf10/judgments.tsv: there is no such file; ")
    assert ended.err.endswith("by --data or ADJUDGE_DATA\n")
    assert not (folder / "out").exists()


def test_one_seed_is_too_few(adjudge: Run) -> None:
    ended = adjudge("replicate", "pmf", "--seeds", "1")
    assert ended.err == "error: --seeds = 1: wanted 2 or more, since sd is over seeds\n"


def test_only_one_paper_goes_through_the_server(adjudge: Run) -> None:
    ended = adjudge("replicate", "training", "pmf", "--through-server")
    assert (ended.code, ended.err) == (
        2,
        "error: --through-server = 'training pmf': wanted the paper training alone\n",
    )


def test_a_file_is_no_folder(adjudge: Run, folder: Path, shared_data: Path) -> None:
    (folder / "out").write_text("")
    ended = adjudge("replicate", "pmf", "--data", shared_data, "-o", "out")
    assert ended.err == "error: out: is a file; wanted a folder to write into\n"


@pytest.fixture(scope="module")
def data(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real judgments, of the items without gold those of one in twenty: gold is scored on."""
    head, *rows = (shared_data / "trec-rf10" / "judgments.tsv").read_text().splitlines(True)
    fields = [row.split("\t") for row in rows]
    known = {(topic, document) for topic, _, document, gold, _ in fields if gold != "-1"}
    others = sorted({(topic, document) for topic, _, document, _, _ in fields} - known)
    kept = known | set(others[::20])
    path = tmp_path_factory.mktemp("data") / "trec-rf10" / "judgments.tsv"
    path.parent.mkdir()
    few = [row for row, cells in zip(rows, fields, strict=True) if (cells[0], cells[2]) in kept]
    path.write_text("".join([head, *few]))
    return path.parents[1]


@pytest.fixture(scope="module")
def written(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The quick run of a paper, written and stopped once on the way."""
    out = tmp_path_factory.mktemp("replicated") / "out"
    line = [sys.executable, "-m", "adjudge", "replicate", "hierarchical", *QUICK, "-o", str(out)]
    process = subprocess.Popen(
        [*line, "--data", str(data)], stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    parts = out / ".parts" / "hierarchical"
    deadline = time.monotonic() + 600
    while not list(parts.glob("unsupervised-*.json")) and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert err.decode().endswith("stopped\n")
    assert not (out / "hierarchical.md").exists()
    return out


def test_a_run_that_was_stopped_goes_on(adjudge: Run, written: Path, data: Path) -> None:
    args = ("replicate", "hierarchical", *QUICK, "-o", written, "--data", data)
    ended = adjudge(*args)
    assert ended.code == 0, ended.err
    assert "hierarchical: unsupervised (kept from an earlier run)\n" in ended.err
    assert "hierarchical: split-02 (kept from an earlier run)\n" not in ended.err
    page = (written / "hierarchical.md").read_text(encoding="utf-8")
    assert ended.out == page + "\n"
    assert (written / "hierarchical" / "runs.csv").is_file()
    assert (written / "hierarchical" / "figure-1.png").is_file()
    found = adjudge(*args, "--json").json
    assert found[0]["paper"] == "hierarchical"
    assert found[0]["tables"][0]["cells"][0]["row"] == "1 unsupervised, 0/1"
    assert any("fractional, precision" in text for text in found[0]["tables"][2]["differences"])


def test_a_person_gets_tables(at_terminal: Run, written: Path, data: Path) -> None:
    args = ("replicate", "hierarchical", *QUICK, "-o", written, "--data", data)
    ended = at_terminal(*args)
    assert ended.code == 0, ended.err
    assert "A hierarchical model of relevance coding" in ended.out
    lines = [" ".join(line.split()) for line in ended.out.splitlines()]
    assert "published obtained sd" in lines
    assert any(line.startswith("fractional precision 0.660 0.66") for line in lines)
    assert any(line.startswith("- fractional, precision: obtained 0.66") for line in lines)
    assert "holds: Estimates are more extreme than votes." in " ".join(ended.out.split())
    assert max(map(len, ended.out.splitlines())) <= 80
