"""Labels to be scored, from a fit or from a file, on one scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.columns import as_text, need_columns, numbers, roles_of
from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.names import Names, as_names, encode, pair_names
from adjudge.data.scale import Scale, canonical
from adjudge.data.source import Source
from adjudge.errors import BadData, shown

_PREFIX = "p_"
_SLACK = 0.01  # rounding error of the sum of an item's probabilities


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labelled:
    """A label for each item, with probabilities if known, on the truths of a scale."""

    scale: Scale
    items: Names  # (item,)
    choice: NDArray[np.int16]  # (item,) -1 where there is no label
    posterior: NDArray[np.float64] | None = None  # (item, truth)
    judged: NDArray[np.bool_] | None = None  # (item,) has judgments
    in_fit: NDArray[np.bool_] | None = None  # (item,) its truth was given to the model
    fallback: NDArray[np.bool_] | None = None  # (item,)


def read_labels(
    labels: Any, scale: Scale | None, gold: Gold, *, source: str = "labels"
) -> Labelled:
    """Read a consensus, or a table of one, as labels on a scale.

    A scale with fewer truths than the labels have collapses them: probabilities add up, and a
    label counts as the truth it means. The default scale is that of the consensus, or for a table
    the one inferred from its labels, its ``p_<label>`` columns and the gold.
    """
    if isinstance(labels, Labelled):
        return labels
    if isinstance(labels, Consensus):
        return _of_consensus(labels, labels.scale if scale is None else scale)
    table = pa.table(labels)
    return _of_table(table, scale or _infer(table, gold, source), source)


def _of_consensus(consensus: Consensus, scale: Scale) -> Labelled:
    judgments = consensus.judgments
    choice, posterior = consensus.choice, consensus.posterior
    if scale != consensus.scale:
        truth_of = _truths_of(consensus.scale.truths, scale, "the consensus")
        choice = np.where(choice >= 0, truth_of[choice], -1).astype(np.int16)
        posterior = _regroup(posterior, truth_of, scale)
    return Labelled(
        scale=scale,
        items=judgments.items,
        choice=choice,
        posterior=posterior,
        judged=judgments.counts_per_item > 0,
        in_fit=None if consensus.known is None else consensus.known >= 0,
        fallback=consensus.fallback,
    )


def _infer(table: Any, gold: Gold, source: str) -> Scale:
    """Infer the scale from the labels of a table and the gold."""
    column = _columns(table, source)["label"]
    texts = {canonical(name[len(_PREFIX) :]) for name in _probability_columns(table)}
    for name in pc.unique(as_text(table[column])).to_pylist():
        if name is not None and name.strip():
            texts.add(canonical(name))
    return Scale.infer(texts | set(gold.values) or {"0", "1"})


def _of_table(table: Any, scale: Scale, source: str) -> Labelled:
    columns = _columns(table, source)
    if "item" in columns:
        items = as_names(as_text(table[columns["item"]]))
    else:
        items = pair_names(as_text(table[columns["topic"]]), as_text(table[columns["document"]]))
    _check_items(items, source)
    choice = _choice(table[columns["label"]], columns["label"], scale, source)
    posterior = _posterior(table, scale, choice >= 0, source)
    return Labelled(scale=scale, items=items, choice=choice, posterior=posterior)


def _columns(table: Any, source: str) -> dict[str, str]:
    """Return the columns of items and labels; an error names those that exist."""
    found = roles_of(table.column_names)
    need_columns(found, table.column_names, Source(source), ("item", "label"))
    return found


def _check_items(items: Names, source: str) -> None:
    codes, names = encode(items)
    if (codes < 0).any():
        raise BadData(
            "the item id is empty", source=source, row=int(np.argmax(codes < 0)) + 1, column="item"
        )
    if len(names) < len(items):
        again = np.ones(len(items), dtype=np.bool_)
        again[np.unique(codes, return_index=True)[1]] = False
        row = int(np.argmax(again))
        raise BadData(
            f"item {shown(items[row].as_py())} is labelled twice; expected one label per item",
            source=source,
            row=row + 1,
            column="item",
            value=items[row].as_py(),
        )


def _choice(column: Any, name: str, scale: Scale, source: str) -> NDArray[np.int16]:  # (item,)
    """Return the truth that each label means, -1 for none."""
    codes, names = encode(as_text(column))
    texts = names.to_pylist()
    table = np.array([scale.truth_code(text) for text in texts] + [-1], dtype=np.int16)
    blank = np.array([not text.strip() for text in texts] + [True])
    off = (table < 0) & ~blank
    if off.any():
        row = int(np.argmax(off[codes]))
        raise BadData(
            f"{shown(texts[codes[row]])} is not on the scale {scale}",
            source=source,
            row=row + 1,
            column=name,
            value=texts[codes[row]],
            expected=str(scale),
        )
    return table[codes]


def _probability_columns(table: Any) -> list[str]:
    return [name for name in table.column_names if name.startswith(_PREFIX)]


def _posterior(
    table: Any, scale: Scale, with_label: NDArray[np.bool_], source: str
) -> NDArray[np.float64] | None:  # (item, truth)
    """Return the probabilities of a table, if any; each labelled row must add up to 1."""
    columns = _probability_columns(table)
    if not columns:
        return None
    given = np.empty((table.num_rows, len(columns)))
    for place, name in enumerate(columns):
        given[:, place] = numbers(table[name], Source(source), name, strict=True)
    total = given.sum(axis=1)
    bad = with_label & ~((np.abs(total - 1) <= _SLACK) & (given >= 0).all(axis=1))
    if bad.any():
        row = int(np.argmax(bad))
        shares = ", ".join(f"{value:g}" for value in given[row])
        raise BadData(
            f"the probabilities {shares} do not add up to 1",
            source=source,
            row=row + 1,
            column=", ".join(columns),
            expected="probabilities that add up to 1",
        )
    names = tuple(name[len(_PREFIX) :] for name in columns)
    return _regroup(given, _truths_of(names, scale, source), scale)


def _truths_of(truths: tuple[str, ...], scale: Scale, source: str) -> NDArray[np.int16]:
    """Return the truth of the scale that each of other truths means."""
    found = np.array([scale.truth_code(truth) for truth in truths], dtype=np.int16)
    if (found < 0).any():
        strange = truths[int(np.argmax(found < 0))]
        raise BadData(
            f"it gives a probability to {shown(strange)}, which is not on the scale {scale}",
            source=source,
            value=strange,
            expected=str(scale),
        )
    return found


def _regroup(
    posterior: NDArray[np.float64], truth_of: NDArray[np.int16], scale: Scale
) -> NDArray[np.float64]:  # (item, truth)
    """Sum probabilities by the truth they mean."""
    grouped = np.zeros((len(posterior), len(scale.truths)))
    for place, truth in enumerate(truth_of):
        grouped[:, truth] += posterior[:, place]
    return grouped
