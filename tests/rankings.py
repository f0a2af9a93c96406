"""Made runs for tests: systems of a known quality over judgments whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.data.runs import Run


def system(
    judgments: Judgments,
    truth: Sequence[int] | NDArray[np.int16],  # (item,)
    quality: float,
    rng: np.random.Generator,
    *,
    depth: int = 20,
    name: str = "system",
) -> Run:
    """A run that scores documents by quality times truth plus noise, and returns the best."""
    score = quality * np.asarray(truth) + rng.normal(size=judgments.item_count)
    topic = judgments.topic
    assert topic is not None
    assert judgments.topics is not None
    assert judgments.documents is not None
    order = np.lexsort((-score, topic))
    first = np.searchsorted(topic[order], topic[order])
    rows = order[np.arange(order.size) - first < depth]
    return Run.from_table(
        {
            "topic": judgments.topics.take(pa.array(topic[rows])),
            "document": judgments.documents.take(pa.array(rows)),
            "score": score[rows],
        },
        name=name,
        source=f"{name}.run",
    )


def as_dicts(run: Run) -> dict[str, dict[str, float]]:
    """A run as ir-measures takes it."""
    ends = zip(run.topics.to_pylist(), run.offsets[:-1], run.offsets[1:], strict=True)
    return {
        topic: dict(
            zip(run.documents[a : int(b)].to_pylist(), run.score[a:b].tolist(), strict=True)
        )
        for topic, a, b in ends
    }
