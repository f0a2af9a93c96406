from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adjudge.report._embedding import _shares, _smallest, pack
from unpacking import unpacked

KINDS = st.sampled_from([np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32])


@settings(deadline=None)
@given(
    st.dictionaries(st.text(), st.text()).filter(lambda texts: "arrays" not in texts),
    st.dictionaries(st.text(), KINDS.flatmap(lambda kind: arrays(kind, st.integers(0, 20)))),
)
def test_what_goes_in_comes_out(texts: dict[str, str], given_arrays: dict[str, np.ndarray]) -> None:
    texts = {key: value.encode("utf-8", "replace").decode() for key, value in texts.items()}
    text, found = unpacked(pack(texts, given_arrays))
    assert text == texts
    assert set(found) == set(given_arrays)
    for name, array in given_arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_no_name_can_end_the_script() -> None:
    line = pack({"items": ["</script><script>alert(1)</script>"]}, {"x": np.arange(9.0)})
    assert set(line) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")


def test_arrays_begin_on_eight_bytes_so_that_a_page_reads_them_in_place() -> None:
    given_arrays = {"a": np.arange(3, dtype=np.uint8), "b": np.arange(2, dtype=np.float64)}
    text, found = unpacked(pack({"n": "x"}, given_arrays))
    assert text == {"n": "x"}
    assert found["b"].tolist() == [0.0, 1.0]
    with pytest.raises(TypeError, match="c is int64, which no page can read"):
        pack({}, {"c": np.arange(2)})


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 255], "uint8"),
        ([0, 256], "uint16"),
        ([-1, 127], "int8"),
        ([-1, 128], "int16"),
        ([70_000], "uint32"),
        ([], "uint8"),
    ],
)
def test_the_smallest_type(values: list[int], kind: str) -> None:
    found = _smallest(np.array(values, dtype=np.int64))
    assert found.dtype.name == kind
    assert found.tolist() == values


def test_shares_keep_four_digits_and_what_is_unknown() -> None:
    found = _shares(np.array([0.0, 0.12345, 1.0, np.nan, 2.5]))
    assert found.tolist() == [0, 1234, 10_000, 65_535, 25_000]
