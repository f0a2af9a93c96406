"""Random judgments for hypothesis: any shape that the data classes allow, however odd."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from adjudge import Gold, Judgments, Scale


@st.composite
def judgments(
    draw: st.DrawFn,
    *,
    labels: int | None = None,
    topics: bool | None = None,
    fewer_truths: bool = False,
    most: int = 40,
) -> Judgments:
    """Judgments with empty items, repeats, silent judges, few or many labels, topics or none."""
    count = labels if labels is not None else draw(st.integers(1, 5))
    items = draw(st.integers(1, 8))
    judges = draw(st.integers(1, 6))
    # A row is one number, which takes a third of the time that three would.
    rows = draw(st.lists(st.integers(0, items * judges * count - 1), min_size=1, max_size=most))
    item, place = np.divmod(np.array(rows), judges * count)
    order = np.argsort(item, kind="stable")
    judge, label = np.divmod(place[order], count)
    names = tuple(str(label) for label in range(count))
    scale = Scale(labels=names, ordinal=True, relevant=names[1:])
    if fewer_truths and count >= 3:
        scale = Scale(
            labels=names,
            ordinal=True,
            truths=("0", "1"),
            truth_of=(0, 1, -1, *(1,) * (count - 3)),
            relevant=names[1:],
        )
    has_topics = topics if topics is not None else draw(st.booleans())
    topic = None
    if has_topics:
        topic = np.array(
            draw(st.lists(st.integers(0, 1), min_size=items, max_size=items)), dtype=np.int32
        )
    return Judgments(
        scale=scale,
        items=pa.array([f"item {i}" for i in range(items)], pa.large_string()),
        judges=pa.array([f"judge {j}" for j in range(judges)], pa.large_string()),
        offsets=np.searchsorted(item[order], np.arange(items + 1)).astype(np.int64),
        judge=judge.astype(np.int32),
        label=label.astype(np.int8),
        topics=pa.array(["north", "south"], pa.large_string()) if has_topics else None,
        topic=topic,
    )


@st.composite
def gold_for(draw: st.DrawFn, given: Judgments) -> Gold | None:
    """Gold for some of the items, or none."""
    chosen = draw(st.lists(st.integers(0, given.item_count - 1), unique=True, max_size=4))
    if not chosen:
        return None
    truths = given.scale.truths
    return Gold.of({given.items[i].as_py(): draw(st.sampled_from(truths)) for i in chosen})


def shuffled(given: Judgments, seed: int) -> tuple[Judgments, np.ndarray]:
    """The same judgments with items, judges and rows renumbered; where each old item went."""
    rng = np.random.default_rng(seed)
    items, judges = rng.permutation(given.item_count), rng.permutation(given.judge_count)
    rows = rng.permutation(len(given))
    item, judge = items[given.item][rows], judges[given.judge][rows]
    order = np.argsort(item, kind="stable")
    back_items, back_judges = np.argsort(items), np.argsort(judges)
    moved = Judgments(
        scale=given.scale,
        items=given.items.take(pa.array(back_items)),
        judges=given.judges.take(pa.array(back_judges)),
        offsets=np.searchsorted(item[order], np.arange(given.item_count + 1)).astype(np.int64),
        judge=judge[order].astype(np.int32),
        label=given.label[rows][order],
        topics=given.topics,
        topic=None if given.topic is None else given.topic[back_items],
    )
    return moved, items
