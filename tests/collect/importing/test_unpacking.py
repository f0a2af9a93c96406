"""Archives are counted while they unpack: bytes, members and ratio, by every method."""

from __future__ import annotations

import bz2
import gzip
import io
import zipfile
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge.collect.importing as importing
from adjudge.collect.importing import ImportLimits, Upload, unpack_all
from adjudge.errors import BadData
from memory import Memory

METHODS = {
    "stored": zipfile.ZIP_STORED,
    "deflate": zipfile.ZIP_DEFLATED,
    "bzip2": zipfile.ZIP_BZIP2,
    "lzma": zipfile.ZIP_LZMA,
}
CSV = b"item,query,title\n" + b"".join(b"i%d,q,title %d\n" % (n, n) for n in range(500))


def zipped(method: str, **files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", METHODS[method]) as archive:
        for name, body in files.items():
            archive.writestr(name.replace("_", "."), body)
    return out.getvalue()


PACKED: dict[str, Callable[[bytes], tuple[str, bytes]]] = {
    **{
        f"zip by {method}": lambda body, method=method: ("x.zip", zipped(method, x_csv=body))  # type: ignore[misc]
        for method in METHODS
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
        pytest.raises(BadData, match="unpacks to more than 4,000,000 bytes; wanted less"),
    ):
        unpack_all([bomb], limits)
    assert peak[0] < 14_000_000, f"{peak[0]:,} bytes at once"


@pytest.mark.parametrize("how", SQUEEZED)
def test_a_ratio_beyond_all_reason_stops_early(how: str) -> None:
    bomb = packed(how, b"\0" * 4_000_000)
    with pytest.raises(BadData, match="bytes, too many times its size; wanted less"):
        unpack_all([bomb], ImportLimits(ratio=20))


@pytest.mark.parametrize("how", PACKED)
def test_members_share_the_room(how: str) -> None:
    limits = ImportLimits(bytes=2 * len(CSV) + 10)
    one = packed(how, CSV)
    assert len(unpack_all([one, one], limits)) == 2
    with pytest.raises(BadData, match=r"wanted less|larger than the limit"):
        unpack_all([one, one, one], limits)


def test_members_are_counted_before_the_contents_are_read() -> None:
    many = zipped("stored", **{f"f{n}_csv": b"" for n in range(3_000)})
    with pytest.raises(BadData, match="there are 3,000 files in the archive; wanted at most 1,000"):
        unpack_all([Upload(name="x.zip", body=many)], ImportLimits())
    parts = gzip.compress(b"x") * 1_001
    with pytest.raises(BadData, match="has more than 1,000 parts"):
        unpack_all([Upload(name="x.gz", body=parts)], ImportLimits())


def test_an_lzma_dictionary_of_gigabytes_is_not_made() -> None:
    body = bytearray(zipped("lzma", x_csv=CSV))
    at = body.index(b"\x05\x00\x5d") + 3  # after the size and the first of the properties
    body[at : at + 4] = b"\xff\xff\xff\xff"
    (found,) = unpack_all([Upload(name="x.zip", body=bytes(body))], ImportLimits())
    assert found.body == CSV


@pytest.mark.parametrize("how", PACKED)
@given(data=st.data())
def test_damage_is_told_and_never_a_fault(how: str, data: st.DataObject) -> None:
    body = bytearray(packed(how, CSV).body)
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.one_of(st.just(len(body)), st.integers(0, len(body))))
    upload = Upload(name="x.zip", body=bytes(body[:cut]))
    preview = importing.read([upload])
    assert preview.errors or preview.items


def test_a_locked_archive_is_told() -> None:
    body = bytearray(zipped("deflate", x_csv=CSV))
    body[6] |= 1
    body[body.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(BadData, match="is locked by a password; wanted an open archive"):
        unpack_all([Upload(name="x.zip", body=bytes(body))], ImportLimits())
