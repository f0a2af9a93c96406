"""Damaged files of every format: read, or told in words, never a fault, never much memory.

A format that is added without a sample fails the first test; with one, it is tried like the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.data.formats import Content, formats, read, write
from adjudge.data.judgments import Judgments
from adjudge.errors import AdjudgeError
from format_samples import SAMPLES
from fuzzing import damaged
from memory import Memory

SPARE = 12_000_000  # bytes that reading takes for anything, however small: blocks of tables
FOLDERS = {"encoded"}  # more than one file
WANTED = [None, "judgments", "gold", "labels"]
quickly = settings(  # of each format
    max_examples=settings.default.max_examples // 4,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)


def test_every_format_that_is_read_has_a_sample_that_is_read(tmp_path: Path) -> None:
    assert {name for name, entry in formats().items() if entry.read} == set(SAMPLES) | FOLDERS
    for name, (file, body) in SAMPLES.items():
        path = tmp_path / name / file
        path.parent.mkdir()
        path.write_bytes(body)
        content = read(path, format=name)
        assert any(
            part is not None
            for part in (content.judgments, content.gold, content.labels, content.comparisons,
                         content.run)
        ), name  # fmt: skip


_POOLS: list[pa.MemoryPool] = []  # arrays may outlive a test, and give back to the pool they are of


@pytest.fixture
def arrow() -> Iterator[pa.MemoryPool]:
    """What Arrow takes from now on, which Python's own count does not see."""
    before = pa.default_memory_pool()
    counting = pa.proxy_memory_pool(before)
    _POOLS.append(counting)
    pa.set_memory_pool(counting)
    yield counting
    pa.set_memory_pool(before)


@pytest.mark.parametrize("name", SAMPLES)
@given(data=st.data())
@quickly
def test_a_damaged_file_is_told_or_read_within_memory(
    name: str, tmp_path: Path, arrow: pa.MemoryPool, memory: Memory, data: st.DataObject
) -> None:
    """As what it is, as what it is found to be, or as any other: the user may be wrong too."""
    file, body = SAMPLES[name]
    body = data.draw(damaged([body]))
    path = tmp_path / file
    path.write_bytes(body)
    other = data.draw(st.sampled_from([name, name, None, *SAMPLES]))
    wanted = data.draw(st.sampled_from(WANTED))
    with suppress(AdjudgeError):
        read(path, format=other, wanted=wanted)  # type: ignore[arg-type]
    before = arrow.max_memory()
    with memory.peak() as peak, suppress(AdjudgeError):
        read(path, format=other, wanted=wanted)  # type: ignore[arg-type]
    most = max(10 * len(body), 1_000 * body.count(b"\n")) + SPARE
    assert peak[0] <= most, f"{peak[0]:,} bytes for {len(body):,}"
    assert arrow.max_memory() - before <= most


@given(data=st.data())
@quickly
def test_a_damaged_folder_is_told_or_read(tmp_path: Path, data: st.DataObject) -> None:
    """Encoded judgments are mapped into memory: a number in them must lead nowhere outside."""
    folder = tmp_path / "encoded"
    if not folder.exists():
        path = tmp_path / "a.csv"
        path.write_bytes(SAMPLES["csv"][1])
        write(Content(judgments=Judgments.read(path)), folder, format="encoded")
        for file in folder.rglob("*"):
            if file.is_file():
                (tmp_path / "whole" / file.relative_to(folder)).parent.mkdir(
                    parents=True, exist_ok=True
                )
                (tmp_path / "whole" / file.relative_to(folder)).write_bytes(file.read_bytes())
    whole = tmp_path / "whole"
    files = sorted(file.relative_to(whole) for file in whole.rglob("*") if file.is_file())
    for file in files:
        (folder / file).write_bytes((whole / file).read_bytes())
    chosen = data.draw(st.sampled_from(files))
    (folder / chosen).write_bytes(data.draw(damaged([(whole / chosen).read_bytes()])))
    with suppress(AdjudgeError):
        judgments = read(folder).judgments
        assert judgments is not None
        judgments.to_table()
