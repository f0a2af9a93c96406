"""Names and codes: ids stay text, everything else works on integers.

A column of ids becomes the array of its distinct names, in order of first appearance, and one
integer code per row. Both come from Arrow's own hash tables, so nothing here loops over rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Names = Any  # pa.LargeStringArray, one chunk: pyarrow ships no types
Codes = NDArray[np.int32]
Coded = dict[str, tuple[Codes, Names]]  # role: code of each row, names


class Named:
    """What holds the names of items, judges and perhaps topics, so that they can be counted."""

    __slots__ = ()
    items: Names
    judges: Names
    topics: Names | None

    @property
    def item_count(self) -> int:
        """How many items there are, judged or not."""
        return len(self.items)

    @property
    def judge_count(self) -> int:
        """How many judges there are."""
        return len(self.judges)

    @property
    def topic_count(self) -> int:
        """How many topics there are; 0 where topics are not known."""
        return 0 if self.topics is None else len(self.topics)


def as_names(values: Any) -> Names:
    """Any sequence of texts as one large-string array, without chunks."""
    array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
    return array.cast(pa.large_string())


def encode(column: Any) -> tuple[Codes, Names]:
    """Codes (-1 for null) and the distinct names of a column, in order of first appearance."""
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    if not pa.types.is_dictionary(chunked.type):
        chunked = chunked.dictionary_encode()
    elif any(
        not chunk.dictionary.equals(chunked.chunk(0).dictionary) for chunk in chunked.chunks[1:]
    ):
        chunked = chunked.unify_dictionaries()
    if chunked.num_chunks == 0:
        return np.empty(0, dtype=np.int32), as_names(pa.array([], pa.string()))
    codes = np.empty(len(chunked), dtype=np.int32)
    start = 0
    for chunk in chunked.chunks:
        part = chunk.indices
        if part.null_count:
            part = pc.fill_null(part.cast(pa.int32()), -1)
        codes[start : start + len(chunk)] = part.to_numpy(zero_copy_only=False)
        start += len(chunk)
    return codes, as_names(chunked.chunk(0).dictionary)


def restore(names: Any, kind: str | None) -> Any:
    """Return names in the type that their column had, as text where they do not fit it."""
    if kind is None:
        return names
    try:
        return names.cast(pa.type_for_alias(kind))
    except pa.ArrowInvalid:
        return names


def look_up(requested: Any, names: Names) -> Codes:
    """The code of each requested name in ``names``, -1 where it is unknown."""
    found = pc.index_in(as_names(requested), value_set=names)
    return np.asarray(pc.fill_null(found, -1), dtype=np.int32)


def pair_names(topic: Names, document: Names) -> Names:
    """The item ids of (topic, document) pairs: ``topic/document``."""
    slash = pa.scalar("/", pa.large_string())
    return pc.binary_join_element_wise(as_names(topic), as_names(document), slash)


def keep_rows(values: Any, mask: NDArray[np.bool_]) -> Any:
    """The rows under a mask of a NumPy array or an Arrow array or table; None stays None."""
    if values is None or isinstance(values, np.ndarray):
        return values if values is None else values[mask]
    return values.filter(pa.array(mask))
