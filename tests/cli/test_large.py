"""Fits of several files, on a cluster, with checkpoints, and labels in folders."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from commands import Run


def test_an_output_without_extension_is_a_folder_of_parquet(adjudge: Run, crowd: Path) -> None:
    assert adjudge("consensus", "judgments.csv", "-o", "labels").code == 0
    assert [path.name for path in (crowd / "labels").iterdir()] == ["part-00000.parquet"]
    table = pq.read_table(crowd / "labels")
    rows = adjudge("consensus", "judgments.csv", "-q").rows
    assert table["item"].to_pylist() == [row["item"] for row in rows]
    assert [str(p) for p in table["p_1"].to_pylist()] == [row["p_1"] for row in rows]
    assert "rank" not in table.column_names
    assert adjudge("consensus", "judgments.csv", "-o", "labels").code == 0  # its own, replaced


@pytest.mark.parametrize(
    ("words", "setting"),
    [
        (["--engine", "spark"], "engine"),
        (["--workers", 2], "--workers"),
        (["--scheduler", "tcp://x:1"], "--scheduler"),
        (["--engine", "dask", "--threads", 2], "--threads"),
        (["--engine", "dask", "--workers", 2, "--scheduler", "tcp://x:1"], "--workers"),
        (["--resume"], "--resume"),
    ],
)
def test_options_that_do_not_go_together(
    words: list[object], setting: str, adjudge: Run, crowd: Path
) -> None:
    ended = adjudge("consensus", "judgments.csv", *words)
    assert (ended.code, ended.error.setting) == (2, setting)


def test_files_that_cannot_be_taken_together(adjudge: Run, crowd: Path) -> None:
    adjudge("convert", "judgments.csv", "--to", "crowd-kit", "-o", "k.csv")
    ended = adjudge("consensus", "judgments.csv", "k.csv")
    assert (ended.code, "csv (1), crowd-kit (1)" in ended.err) == (2, True)
    ended = adjudge("consensus", "judgments.csv", "judgments.csv", "--skip-bad-rows")
    assert ended.code == 0
    assert "2 files of format csv are taken together" in ended.err


def test_a_checkpoint_is_written_and_taken_up(adjudge: Run, crowd: Path) -> None:
    words = ["consensus", "judgments.csv", "-m", "dawid-skene", "-q"]
    kept = ["--checkpoint", "kept", "--every", 1]
    first = adjudge(*words, *kept)
    assert first.code == 0
    assert (crowd / "kept" / "em.npz").is_file()
    assert adjudge(*words, *kept, "--resume").out == first.out
    ended = adjudge(*words, *kept, "--resume", "--seed", 5)
    assert ended.err == "error: kept: is of another fit: setting seed was 0, and is 5\n"


def test_a_cluster_of_processes_gives_the_same_labels(adjudge: Run, crowd: Path) -> None:
    header, *lines = (crowd / "judgments.csv").read_text().splitlines(keepends=True)
    (crowd / "parts").mkdir()
    for name, rows in (("a", lines[:6]), ("b", lines[6:])):
        (crowd / f"{name}.csv").write_text(header + "".join(rows))
        adjudge("convert", f"{name}.csv", "-o", f"parts/{name}.parquet", "-q")
    fit = ("consensus", "--model", "dawid-skene", "-q")  # whose kernels are few to load
    here = adjudge(*fit, "judgments.csv", "-o", "here")
    there = adjudge(
        *fit, f"file://{crowd}/parts/*.parquet", "-o", "there", "--engine", "dask", "--workers", 1
    )
    assert (here.code, there.code, there.err) == (0, 0, "")
    assert pq.read_table(crowd / "there").equals(pq.read_table(crowd / "here"))
