"""Arrow columns from rows that are values of Python: a column for each field that is named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa


def columns_of(
    rows: Sequence[Any],
    *,
    text: Iterable[str] = (),
    whole: Iterable[str] = (),
    real: Iterable[str] = (),
) -> dict[str, Any]:
    """Fields of the rows as columns of text, of whole and of real numbers, in this order."""
    found = {
        name: pa.array([getattr(row, name) for row in rows], kind)
        for names, kind in ((text, pa.large_string()), (whole, pa.int64()))
        for name in names
    }
    return found | {name: reals([getattr(row, name) for row in rows]) for name in real}


def reals(values: Sequence[float | None]) -> Any:
    """A column of real numbers, null where there is none or NaN."""
    array = np.array(values, dtype=np.float64)
    return pa.array(array, mask=np.isnan(array))
