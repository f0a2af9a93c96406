"""Archives are counted while they unpack: bytes, members and ratio, by every method."""

from __future__ import annotations

import bz2
import gzip
import zipfile
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge.collect.importing as importing
from adjudge.collect.importing import ImportLimits, Upload, unpack_all
from adjudge.errors import BadData
from fuzzing import zipped
from memory import Memory

METHODS = {
    "stored": zipfile.ZIP_STORED,
    "deflate": zipfile.ZIP_DEFLATED,
}
CSV = b"item,query,title\n" + b"".join(b"i%d,q,title %d\n" % (n, n) for n in range(500))


PACKED: dict[str, Callable[[bytes], tuple[str, bytes]]] = {
    **{
        f"zip by {name}": lambda body, method=method: ("x.zip", zipped(method, x_csv=body))  # type: ignore[misc]
        for name, method in METHODS.items()
    },
    "gzip": lambda body: ("x.csv.gz", gzip.compress(body)),
    "bzip2": lambda body: ("x.csv.bz2", bz2.compress(body)),
    "gzip in parts": lambda body: (
        "x.csv.gz", gzip.compress(body[:100]) + gzip.compress(body[100:])
    ),
    "bzip2 in parts": lambda body: (
        "x.csv.bz2", bz2.compress(body[:100]) + bz2.compress(body[100:])
    ),
}  # fmt: skip
SQUEEZED = [name for name in PACKED if name != "zip by stored"]


def refused(code: str) -> pytest.RaisesExc[BadData]:
    return pytest.raises(BadData, check=lambda error: error.code == code)


def packed(how: str, body: bytes) -> Upload:
    name, made = PACKED[how](body)
    return Upload(name=name, body=made)


@pytest.mark.parametrize("how", PACKED)
def test_what_was_packed_comes_out(how: str) -> None:
    (found,) = unpack_all([packed(how, CSV)], ImportLimits())
    assert found.body == CSV
    assert len(importing.read([packed(how, CSV)]).check().items) == 500


@pytest.mark.parametrize("how", SQUEEZED)
def test_a_bomb_stops_at_the_limit(how: str, memory: Memory) -> None:
    bomb = packed(how, b"\0" * 16_000_000)
    limits = ImportLimits(bytes=4_000_000, ratio=10**9)
    with (
        memory.peak() as peak,
        refused("too-large"),
    ):
        unpack_all([bomb], limits)
    assert peak[0] < 14_000_000, f"{peak[0]:,} bytes at once"


@pytest.mark.parametrize("how", SQUEEZED)
def test_a_ratio_beyond_all_reason_stops_early(how: str) -> None:
    bomb = packed(how, b"\0" * 4_000_000)
    with refused("too-large"):
        unpack_all([bomb], ImportLimits(ratio=20))


@pytest.mark.parametrize("how", PACKED)
def test_members_share_the_room(how: str) -> None:
    limits = ImportLimits(bytes=2 * len(CSV) + 10)
    one = packed(how, CSV)
    assert len(unpack_all([one, one], limits)) == 2
    with refused("too-large"):
        unpack_all([one, one, one], limits)


def test_members_are_counted_before_the_contents_are_read() -> None:
    many = zipped(zipfile.ZIP_STORED, **{f"f{n}_csv": b"" for n in range(3_000)})
    with refused("too-many-files"):
        unpack_all([Upload(name="x.zip", body=many)], ImportLimits())
    parts = gzip.compress(b"x") * 1_001
    with refused("too-many-files"):
        unpack_all([Upload(name="x.gz", body=parts)], ImportLimits())


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_python_unpacks_without_a_limit_are_refused(method: int) -> None:
    with refused("bad-archive"):
        unpack_all([Upload(name="x.zip", body=zipped(method, x_csv=CSV))], ImportLimits())


@pytest.mark.parametrize("how", PACKED)
@given(data=st.data())
def test_damage_is_reported_and_never_crashes(how: str, data: st.DataObject) -> None:
    body = bytearray(packed(how, CSV).body)
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.one_of(st.just(len(body)), st.integers(0, len(body))))
    upload = Upload(name="x.zip", body=bytes(body[:cut]))
    preview = importing.read([upload])
    assert preview.errors or preview.items


def test_a_locked_archive_is_reported() -> None:
    body = bytearray(zipped(zipfile.ZIP_DEFLATED, x_csv=CSV))
    body[6] |= 1
    body[body.index(b"PK\x01\x02") + 8] |= 1
    with refused("locked-archive"):
        unpack_all([Upload(name="x.zip", body=bytes(body))], ImportLimits())
