"""What the page's tables and cards are made of: columns of items, judgments and judges.

Large data are cut to what a page can hold, and the page says so: the most doubtful items first.
``pack`` makes one block of them: four bytes that say how long the header is, the header (JSON:
the place of each array, and texts), and the arrays, each from a multiple of eight bytes on.
Compressed and in base64 it holds no character that ends a script: names in it can do no harm.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.names import look_up
from adjudge.evaluation.diagnosis.advice import ADVICE
from adjudge.report.plots.figures import FIGURES
from adjudge.report.plots.judges import NEEDED, drawn_rows
from adjudge.report.results import Results

_TYPES = {"uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "uint32": 4, "int32": 4, "float32": 4}
_TYPES["float64"] = 8
_ALIGNED = 8


def pack(texts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Texts and other plain values, and arrays by name, as one line of base64."""
    places: dict[str, tuple[str, int, int]] = {}
    parts: list[bytes] = []
    at = 0
    for name, array in arrays.items():
        flat = np.ascontiguousarray(array).reshape(-1)
        if flat.dtype.name not in _TYPES:
            raise TypeError(f"{name} is {flat.dtype.name}, which no page can read")
        data = flat.astype(flat.dtype.newbyteorder("<"), copy=False).tobytes()
        places[name] = (flat.dtype.name, at, len(flat))
        padding = -len(data) % _ALIGNED
        parts += [data, b"\0" * padding]
        at += len(data) + padding
    header = json.dumps(
        {"arrays": places, **texts}, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    ).encode("utf-8", "replace")
    header += b" " * (-(4 + len(header)) % _ALIGNED)
    block = len(header).to_bytes(4, "little") + header + b"".join(parts)
    return base64.b64encode(gzip.compress(block, 6, mtime=0)).decode("ascii")


def _smallest(values: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in the smallest type that holds them."""
    if not len(values):
        return values.astype(np.uint8)
    low, high = int(values.min()), int(values.max())
    kinds = ("int8", "int16", "int32") if low < 0 else ("uint8", "uint16", "uint32")
    for kind in kinds:
        bounds = np.iinfo(kind)
        if bounds.min <= low and high <= bounds.max:
            return values.astype(kind)
    return values.astype(np.float64)


_SHARES = 10_000  # a share of 1 as an integer


def _shares(values: NDArray[Any]) -> NDArray[np.uint16]:
    """Shares from 0 to 1 in two bytes each; what is unknown is the largest number there is."""
    known = np.isfinite(values)
    scaled = np.rint(np.clip(np.where(known, values, 0.0), 0.0, 6.0) * _SHARES)
    return np.where(known, scaled, 65_535).astype(np.uint16)


MOST_ITEMS = 200_000
_MOST_JUDGMENTS = 1_000_000
_MOST_CELLS = 1_000_000  # of all judges' confusion matrices
_FIELDS = 1_500_000  # letters of the texts of items
_Texts = dict[str, Any]
_Arrays = dict[str, NDArray[Any]]
# Columns of judges, each as a number with what is unknown as NaN.
_NUMBERS = ("accuracy", "bits", "skill", "bias", "sensitivity", "specificity", "gold")
_SINGLE = ("p_chance", "seconds", "gold_accuracy", "gold_judgments", "mistake_rate")


def embed_results(results: Results) -> tuple[_Texts, _Arrays]:
    """Texts and arrays of the page."""
    scale = results.consensus.scale
    texts: _Texts = {
        "truths": scale.truths,
        "labels": scale.labels,
        "truthOf": scale.truth_of,
        "ordinal": scale.ordinal,
        "advice": ADVICE,
    }
    arrays: _Arrays = {}
    chosen = _chosen_items(results)
    _items(results, chosen, texts, arrays)
    _judgments(results, chosen, texts, arrays)
    _judges(results, texts, arrays)
    _confusion(results, arrays)
    _histories(results, texts, arrays)
    _topics(results, texts, arrays)
    return texts, arrays


def _chosen_items(results: Results) -> NDArray[np.int64]:  # (shown,)
    """The items that the page holds: all, or of too many those of most doubt, in their order."""
    entropy = results.consensus.entropy
    if len(entropy) <= MOST_ITEMS:
        return np.arange(len(entropy))
    return np.sort(np.argsort(-entropy, kind="stable")[:MOST_ITEMS])


def _items(results: Results, chosen: NDArray[np.int64], texts: _Texts, arrays: _Arrays) -> None:
    consensus, judgments = results.consensus, results.consensus.judgments
    found = results.diagnosis.items.take(chosen)
    names = judgments.items.take(pa.array(chosen))
    texts["itemsInAll"] = judgments.item_count
    documents = judgments.documents
    if documents is not None and judgments.topics is not None and judgments.topic is not None:
        documents = documents.take(pa.array(chosen))
        topic = judgments.topics.take(pa.array(judgments.topic[chosen]))
        joined = pc.binary_join_element_wise(topic, documents, pa.scalar("/", pa.large_string()))
        if joined.equals(names):
            texts["documents"] = documents.to_pylist()
    if "documents" not in texts:
        texts["items"] = names.to_pylist()
    if judgments.topics is not None and judgments.topic is not None:
        texts["topics"] = judgments.topics.to_pylist()
        arrays["topic"] = _smallest(judgments.topic[chosen])
    arrays["choice"] = _smallest(consensus.choice[chosen])
    arrays["posterior"] = _shares(consensus.posterior[chosen])
    arrays["entropy"] = _shares(consensus.entropy[chosen])
    arrays["rank"] = _smallest(consensus.rank[chosen])
    arrays["disagreement"] = _shares(_numbers(found["disagreement"]))
    arrays["gain"] = _numbers(found["gain"]).astype(np.float32)
    truths = pa.array(consensus.scale.truths, pa.large_string())
    arrays["vote"] = _smallest(look_up(found["vote"], truths))
    if results.gold is not None:
        arrays["gold"] = _smallest(results.gold.align(judgments)[chosen])
    _fields(results, chosen, texts)


def _fields(results: Results, chosen: NDArray[np.int64], texts: _Texts) -> None:
    """What else the file says of items, such as the query, within the space for texts."""
    fields = results.consensus.judgments.fields
    if fields is None:
        return
    room, kept = _FIELDS, {}
    for name in fields.column_names:
        column = fields[name].take(pa.array(chosen)).cast(pa.large_string())
        size = int(pc.sum(pc.utf8_length(pc.fill_null(column, ""))).as_py() or 0)
        if size <= room:
            kept[name] = column.to_pylist()
            room -= size
    if kept:
        texts["fields"] = kept


def _judgments(results: Results, chosen: NDArray[np.int64], texts: _Texts, arrays: _Arrays) -> None:
    """Who said what of the items shown; of too many only how many said it."""
    judgments = results.consensus.judgments
    counts = judgments.counts_per_item[chosen]
    arrays["offsets"] = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32)
    arrays["votes"] = _smallest(results.diagnosis.votes[chosen].reshape(-1))
    texts["hasJudgments"] = bool(counts.sum() <= _MOST_JUDGMENTS)
    if not texts["hasJudgments"]:
        return
    begin = judgments.offsets[:-1][chosen]
    place = np.arange(counts.sum()) - np.repeat(arrays["offsets"][:-1].astype(np.int64), counts)
    place += np.repeat(begin, counts)
    arrays["judge"] = _smallest(judgments.judge[place])
    arrays["label"] = _smallest(judgments.label[place])


def _judges(results: Results, texts: _Texts, arrays: _Arrays) -> None:
    judges = results.diagnosis.judges
    texts["judges"] = judges["judge"].to_pylist()
    texts["why"] = judges["why"].to_pylist()
    arrays["judgeCount"] = _smallest(judges["judgments"].to_numpy())
    given = judges["advice"].to_pylist()
    arrays["judgeAdvice"] = np.array([ADVICE.index(name) for name in given], dtype=np.uint8)
    for name in _NUMBERS:
        for column in (name, f"{name}_low", f"{name}_high"):
            if column in judges.column_names:
                arrays[f"judge_{column}"] = _numbers(judges[column]).astype(np.float32)
    for name in _SINGLE:
        if name in judges.column_names:
            arrays[f"judge_{name}"] = _numbers(judges[name]).astype(np.float32)
    if FIGURES["sensitivity-specificity"].lacks(results) is None:
        arrays["drawnRates"] = _smallest(drawn_rows(judges, *NEEDED))


def _confusion(results: Results, arrays: _Arrays) -> None:
    """Each judge's matrix with its interval, and how many judgments stand behind each row."""
    confusion = results.diagnosis.confusion
    if confusion.mean.size > _MOST_CELLS:
        return
    judges = results.consensus.judgments.judge_count
    shape = (judges, *confusion.mean.shape[1:])
    for name in ("mean", "low", "high"):
        arrays[f"confusion_{name}"] = _shares(np.broadcast_to(getattr(confusion, name), shape))
    arrays["confusionRows"] = results.consensus.counts.sum(axis=2).astype(np.float32)
    arrays["population"] = _shares(results.diagnosis.population.mean)


def _histories(results: Results, texts: _Texts, arrays: _Arrays) -> None:
    """How each judge did over time, who changed, and who agree too well."""
    diagnosis, names = results.diagnosis, results.consensus.judgments.judges
    if diagnosis.history is not None and len(diagnosis.history):
        rows = diagnosis.history
        arrays["historyJudge"] = _smallest(look_up(rows["judge"], names))
        arrays["historyCount"] = _smallest(rows["judgments"].to_numpy())
        for name in ("accuracy", "low", "high"):
            arrays[f"history_{name}"] = _shares(_numbers(rows[name]))
        for name in ("begin", "end"):
            arrays[f"history_{name}"] = _seconds(rows[name])
    texts["changed"] = []
    if diagnosis.drift is not None:
        rows = diagnosis.drift.filter(diagnosis.drift["changed"])
        places = look_up(rows["judge"], names).tolist()
        texts["changed"] = list(zip(places, rows["sentence"].to_pylist(), strict=True))
    texts["pairs"] = []
    if diagnosis.pairs is not None:
        both = [look_up(diagnosis.pairs[side], names).tolist() for side in ("judge_a", "judge_b")]
        texts["pairs"] = list(zip(*both, diagnosis.pairs["sentence"].to_pylist(), strict=True))


def _topics(results: Results, texts: _Texts, arrays: _Arrays) -> None:
    """The prevalence of each truth in each topic, where topics have their own."""
    table = results.consensus.topics
    if "topics" not in texts or len(table) != len(texts["topics"]):
        return
    truths = results.consensus.scale.truths
    for suffix in ("", "_low", "_high"):
        columns = [f"p_{truth}{suffix}" for truth in truths]
        if columns[0] in table.column_names:
            values = np.stack([_numbers(table[name]) for name in columns], axis=1)
            arrays[f"prevalence{suffix}"] = _shares(values)


def _numbers(column: Any) -> NDArray[np.float64]:
    """A column as numbers, NaN where there is none."""
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _seconds(column: Any) -> NDArray[np.float64]:
    """A column of moments as seconds since 1970, which a page can hold."""
    if pa.types.is_timestamp(column.type):
        column = pc.cast(pc.cast(column, pa.timestamp("us", tz="UTC")), pa.int64())
        return np.asarray(column.to_numpy(), dtype=np.float64) / 1e6
    return _numbers(column)
