"""Damaged files of every format: read or refused, without a crash or much memory.

A format that is added without a sample fails the first test; with one, it is tried like the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.data.formats import formats, read
from adjudge.errors import AdjudgeError
from format_samples import SAMPLES
from fuzzing import damaged
from memory import Memory
from sizes import FULL, sized

SPARE = 12_000_000  # bytes that reading takes for anything, however small: blocks of tables
KINDS_TO_READ = [None, "judgments", "gold", "labels"]
quickly = settings(  # of each format
    max_examples=settings.default.max_examples // sized(10, full=5),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)


def test_every_format_that_is_read_has_a_sample_that_is_read(tmp_path: Path) -> None:
    assert {name for name, entry in formats().items() if entry.read} == set(SAMPLES)
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


# What somebody may hand over by mistake, or a program write when it has nothing to say.
SMALL = [
    *(b"", b" ", b"\n", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b",", b",\n,\n", b"a", b"a b c d\n"),
    *(b"11\n", b"1\n2\n", b"1.5", b"-0", b"1e999", b"NaN", b"null", b"true", b'"x"', b"[]", b"{}"),
    *(b"[1]", b"[null]", b'["a"]', b"[[]]", b"[{}]", b"[NaN]", b'{"a": null}', b'{"a": []}'),
    *(b'{"a": {}}', b'[{"a": [{}]}]', b"{}\n{}\n", b'{"a": 1}\n1\n', b"a,b\n1,2\n"),
]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_of_another_kind_is_refused_or_read(name: str, tmp_path: Path) -> None:
    """Whatever it is taken for: the sample of every other format, and next to nothing.

    Read as judgments or as anything. In every run a format takes every second file, its neighbour
    the others, and reads as the one or the other in turn.
    """
    first = list(SAMPLES).index(name)
    for place, body in enumerate((*SMALL, *(body for _, body in SAMPLES.values())), first):
        if place % 2 and not FULL:
            continue
        path = tmp_path / SAMPLES[name][0]
        path.write_bytes(body)
        for read_as in KINDS_TO_READ[:2] if FULL else [KINDS_TO_READ[place // 2 % 2]]:
            with suppress(AdjudgeError):
                read(path, format=name, kind=read_as)  # type: ignore[arg-type]


ODD = [None, 1, True, "", "x", [], {}, [1], [{}], {"a": None}, {"a": {"b": 1}}, float("nan")]


def changed(value: object) -> Iterator[object]:
    """Some JSON with each value in turn, of lists the first two, taken out or of another type."""
    yield from ODD
    places = range(min(2, len(value))) if isinstance(value, list) else ()
    for place in (*value,) if isinstance(value, dict) else places:
        for other in changed(value[place]):  # type: ignore[index]
            copy = value.copy()  # type: ignore[attr-defined]
            copy[place] = other
            yield copy
        if isinstance(value, dict):
            yield {key: one for key, one in value.items() if key != place}


def json_of(body: bytes) -> list[object] | dict[str, object] | None:
    """The JSON of a file, or of its lines; None where it is something else."""
    for text in (body, b"[" + b",".join(body.splitlines()) + b"]"):
        with suppress(ValueError):
            found = json.loads(text)
            return found if isinstance(found, list | dict) else None
    return None


JSON = {name: (file, json_of(body)) for name, (file, body) in SAMPLES.items() if json_of(body)}


def test_formats_of_json_are_found_by_their_samples() -> None:
    assert {"inspect", "potato", "promptfoo", "label-studio", "jsonl", "nested"} <= set(JSON)


@pytest.mark.parametrize("name", JSON)
def test_a_value_of_another_type_is_refused_or_read(name: str, tmp_path: Path) -> None:
    """Each place of a sample in turn, every 29th in every run."""
    file, entire = JSON[name]
    path, lines = tmp_path / file, SAMPLES[name][1].count(b"\n{") > 0
    for value in islice(changed(entire), 0, None, sized(29, full=1)):
        parts = value if lines and isinstance(value, list) else [value]
        path.write_text("\n".join(json.dumps(part) for part in parts))
        with suppress(AdjudgeError):
            read(path, format=name)


# At the end: from the first test that counts memory to the last of its module all are slowed by it.
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
def test_a_damaged_file_is_refused_or_read_within_memory(
    name: str, tmp_path: Path, arrow: pa.MemoryPool, memory: Memory, data: st.DataObject
) -> None:
    """As what it is, as what it is found to be, or as any other: the user may be wrong too."""
    file, body = SAMPLES[name]
    body = data.draw(damaged([body]))
    path = tmp_path / file
    path.write_bytes(body)
    other = data.draw(st.sampled_from([name, name, None, *SAMPLES]))
    read_as = data.draw(st.sampled_from(KINDS_TO_READ))
    with suppress(AdjudgeError):
        read(path, format=other, kind=read_as)  # type: ignore[arg-type]
    before = arrow.max_memory()
    with memory.peak() as peak, suppress(AdjudgeError):
        read(path, format=other, kind=read_as)  # type: ignore[arg-type]
    most = max(10 * len(body), 1_000 * body.count(b"\n")) + SPARE
    assert peak[0] <= most, f"{peak[0]:,} bytes for {len(body):,}"
    assert arrow.max_memory() - before <= most
