"""Short ids as keys, against Arrow's own dictionary encoding of the texts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.data._keys import encode_short
from adjudge.data.names import encode

LETTERS = st.text(alphabet="01aü\u3000", max_size=4)


def check_like_arrow(column: pa.ChunkedArray) -> None:
    """Same names, same codes, in order of first appearance, and free to be written to."""
    found = encode_short(column)
    assert found is not None
    codes, names = found
    expected = column.combine_chunks().dictionary_encode()
    assert names.type == pa.large_string()
    assert names.to_pylist() == expected.dictionary.to_pylist()
    assert codes.tolist() == expected.indices.to_pylist()
    assert codes.dtype == np.int32
    assert codes.flags.writeable


@given(
    start=st.sampled_from(["", "item-", "ünïcode/", "a-rather-long-beginning-"]),
    ends=st.lists(LETTERS, min_size=1, max_size=40),
    repeats=st.integers(1, 4),
    cuts=st.lists(st.integers(0, 160), max_size=4),
    large=st.booleans(),
)
def test_short_ids_are_coded_as_arrow_codes_them(
    start: str, ends: list[str], repeats: int, cuts: list[int], large: bool
) -> None:
    texts = [start + end for end in ends for _ in range(repeats)]
    whole = pa.array(["beyond", *texts, "beyond"], pa.large_string() if large else pa.string())
    edges = sorted({0, len(texts), *(cut for cut in cuts if cut < len(texts))})
    pieces = [whole.slice(1 + a, b - a) for a, b in pairwise(edges)]
    column = pa.chunked_array([*pieces, whole.slice(0, 0)])
    found = encode_short(column)
    if found is not None:
        check_like_arrow(column)
    else:  # an id too long, or one that is shorter than the common beginning of the longest
        lengths = [len(text.encode()) for text in texts]
        assert max(lengths) - 8 > min(*lengths, len(start.encode())) or max(lengths) < 2


@pytest.mark.parametrize(
    ("make", "rows"),
    [
        (lambda n: [f"item-{i:07d}" for i in range(n)], 20_000),
        (lambda n: [f"item-{i // 10:07d}" for i in range(n)], 20_000),
        (lambda n: [f"item-{i * 7919 % 5003:07d}" for i in range(n)], 20_000),
        (lambda n: [str(i * 7919 % 5003) for i in range(n)], 20_000),
        (lambda n: [str(i % 3) for i in range(n)], 20_000),
        (lambda n: ["same"] * n, 20_000),
    ],
    ids=["all distinct", "grouped", "shuffled", "numbers", "one letter", "one id"],
)
def test_columns_longer_than_a_slab(make, rows: int) -> None:
    texts = make(rows)
    check_like_arrow(pa.chunked_array([texts[:9_000], texts[9_000:]]))


@pytest.mark.parametrize(
    "texts",
    [
        ["a\0", "a"],
        ["beginning-1-and-9-more", "beginning-2-and-9-more"],
        ["one-beginning-1", "another-begin-2"],
        ["", ""],
        ["1", ""],
        ["x", None],
        [],
    ],
    ids=["NUL", "ends too long", "begins otherwise", "empty", "some empty", "missing", "no rows"],
)
def test_other_columns_are_left_to_arrow(texts: list[str | None]) -> None:
    assert encode_short(pa.chunked_array([pa.array(texts, pa.string())])) is None


def test_a_later_slab_that_does_not_fit_is_left_to_arrow() -> None:
    texts = [f"item-{i:07d}" for i in range(9_000)] + ["other-000001"]
    column = pa.chunked_array([texts])
    assert encode_short(column) is None
    codes, names = encode(column)
    assert names.to_pylist() == texts
    assert codes.tolist() == list(range(len(texts)))


def test_long_columns_take_the_way_of_keys_and_end_the_same() -> None:
    texts = pa.array([f"judge-{i * 31 % 997}" for i in range(120_000)])
    codes, names = encode(texts)
    assert names.take(pa.array(codes)).cast(pa.string()).equals(texts)
    assert codes[:3].tolist() == [0, 1, 2]


@given(
    start=st.sampled_from(["", "w", "item-", "a-rather-long-beginning-", "ü/"]),
    width=st.integers(1, 8),
    numbers=st.lists(st.integers(0, 10**8 - 1), min_size=1, max_size=60),
    odd=st.sampled_from([None, "x", "0x", ":", "/", " "]),
    seed=st.integers(0, 99),
)
def test_ids_that_end_in_numbers_are_coded_as_arrow_codes_them(
    start: str, width: int, numbers: list[int], odd: str | None, seed: int
) -> None:
    texts = [f"{start}{number % 10**width:0{width}d}" for number in numbers] * 3
    if odd is not None:  # something at the end of one id, that is no digit
        texts[0] = (texts[0] + odd)[len(odd) :] if width > len(odd) else texts[0]
    np.random.default_rng(seed).shuffle(texts)
    column = pa.chunked_array([pa.array(texts)])
    if encode_short(column) is not None:
        check_like_arrow(column)


def test_a_table_of_numbers_is_taken_where_it_pays() -> None:
    rng = np.random.default_rng(0)
    dense = [f"item-{n:05d}" for n in rng.integers(0, 30_000, 100_000)]
    sparse = [f"item-{n:08d}" for n in rng.integers(0, 10**8, 5_000)]
    for texts in (dense, sparse, [*dense[:9000], "item-00a00", *dense[:9000]]):
        check_like_arrow(pa.chunked_array([pa.array(texts)]))
