"""Files damaged on purpose: real ones and small ones of every kind, changed step by step."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence

from hypothesis import strategies as st

# What readers trip over: ends and beginnings of things, numbers, names of columns and of tags.
TOKENS = [
    *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b'"', b'""', b"'", b",", b";", b"\t"),
    *(b"\n", b"\r", b"\r\n", b"\n\n\n", b" " * 50, b"{", b"}", b"[", b"]", b":", b"\\", b"|", b"="),
    *(b"<", b">", b"</", b"<top>", b"</top>", b"<DOC>", b"<DOCNO>", b"&#", b"&amp", b"<num>", b"-"),
    *(b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"0x", b"9" * 30, b"9" * 5_000, b"\\ud800"),
    *(b"item", b"query", b"title", b"gold", b"judge", b"label", b"[" * 600, b'{"a":' * 600, b"@"),
    *(b"PK\x03\x04", b"PK\x01\x02", b"\x1f\x8b", b"BZh9", b"PAR1", b"a" * 2_000, b"-1", b"1.5"),
    "\U0001f600é\u2028".encode(),
]  # fmt: skip
Change = Callable[[bytes], bytes]


@st.composite
def _changes(draw: st.DrawFn) -> Change:
    """One change, at places that are shares of the length."""
    kind = draw(st.sampled_from(["put", "put", "over", "drop", "double", "repeat", "cut", "flip"]))
    at, length = draw(st.floats(0, 1)), draw(st.integers(1, 400))
    token = draw(st.sampled_from(TOKENS))
    times, byte = draw(st.integers(2, 200)), draw(st.integers(0, 255))

    def change(body: bytes) -> bytes:
        start = int(at * len(body))
        head, part, tail = body[:start], body[start : start + length], body[start + length :]
        return {
            "put": head + token + part + tail,
            "over": head + token + tail,
            "drop": head + tail,
            "double": head + part + part + tail,
            "repeat": head + part * times + tail,
            "cut": head,
            "flip": head + bytes([byte]) + body[start + 1 :],
        }[kind]

    return change


def zipped(method: int, **files: bytes) -> bytes:
    """An archive of files: ``qrels__test_tsv`` is ``qrels/test.tsv``."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, body in files.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), body)
    return out.getvalue()


def damaged(bodies: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """One of some files after one to five changes."""

    def apply(body: bytes, changes: list[Change]) -> bytes:
        for change in changes:
            body = change(body)
        return body

    changes = st.lists(_changes(), min_size=1, max_size=5)
    return st.builds(apply, st.sampled_from(list(bodies)), changes)
