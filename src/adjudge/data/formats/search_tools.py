"""Ratings of search results: OpenSearch, ``_rank_eval``, Quepid's cases in JSON, Kaggle.

A judgment list of OpenSearch's search relevance workbench, or the requests of a ranking evaluation
(``_rank_eval``) of Elasticsearch or OpenSearch, has one rating for each query and document. Read,
it is gold, or where judgments are asked for those of one judge, the list. A case of Quepid in JSON
names for each rating the person who gave it last, if known: then its ratings are judgments.
Kaggle's CrowdFlower search relevance has the median of a crowd's ratings, which serves as gold.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data._gold_table import gold_from_table
from adjudge.data.columns import letters_of
from adjudge.data.formats.delimited import read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.ratings import graded, need_pairs, queries, ratings
from adjudge.data.formats.recognition import fields, header, letters
from adjudge.data.formats.records import FILE, Level, Records, as_list, as_object, read_json
from adjudge.data.names import as_names


def _find_judgment_lists(file: File) -> list[Any]:
    """Return the judgment lists of a file: one to import, or the hits of a search for them."""
    found = read_json(file)
    hits = as_list(as_object(as_object(found).get("hits")).get("hits"))
    if hits:
        found = [as_object(hit).get("_source") for hit in hits]
    return found if isinstance(found, list) else [found]


_OPENSEARCH = Records(
    levels=(Level(""), Level("query", "judgmentRatings"), Level("rating", "ratings")),
    roles={
        "topic": ("query",),
        "document": ("docId",),
        "judge": ("name",),
        "label": ("rating",),
    },
    judge=FILE,
    load=_find_judgment_lists,
    rated=True,
    gold_of="*",
)
_RANK_EVAL = Records(
    levels=(Level("request", "requests"), Level("rating", "ratings")),
    roles={"topic": ("id",), "document": ("_id",), "label": ("rating",)},
    judge=FILE,
    rated=True,
    gold_of="*",
)
_QUEPID_CASE = Records(
    levels=(Level("query", "queries"), Level("rating", "ratings", by="doc_id", value="rating")),
    roles={
        "topic": ("query_text",),
        "document": ("doc_id", "docid"),
        "judge": ("user_email", "user_name"),
        "label": ("rating",),
    },
    judge="Unknown",
    unlabelled="no value",
    rated=True,
    gold_of="Unknown",
)


def _write_opensearch(content: Content, file: IO[bytes]) -> None:
    """Write the label of each pair of query and document as a rating such as ``"3.000"``."""
    labels = content.need("labels", "opensearch")
    need_pairs(labels.column_names, "opensearch")
    rated = ratings(labels["label"], content.known_scale, "opensearch").to_pylist()
    topics = queries(labels["topic"], content.texts).to_pylist()
    found: dict[str, list[dict[str, str]]] = {}
    for query, document, rating in zip(topics, labels["document"].to_pylist(), rated, strict=True):
        found.setdefault(query, []).append({"docId": document, "rating": f"{rating:.3f}"})
    _write_json(
        {
            "name": "adjudge",
            "description": "Labels that adjudge made of judgments",
            "type": "IMPORT_JUDGMENT",
            "judgmentRatings": [{"query": q, "ratings": entries} for q, entries in found.items()],
        },
        file,
    )


def _write_rank_eval(content: Content, file: IO[bytes]) -> None:
    """Write a request for each query, with the ratings of its documents in an index to name."""
    found: dict[str, dict[str, Any]] = {}
    rated = graded(content, "rank-eval")
    texts = queries(rated["topic"], content.texts).to_pylist()
    for row, text in zip(rated.to_pylist(), texts, strict=True):
        topic = row["topic"]
        request = {"query": {"simple_query_string": {"query": text}}}
        one = found.setdefault(topic, {"id": topic, "request": request, "ratings": []})
        one["ratings"].append({"_index": "INDEX", "_id": row["document"], "rating": row["grade"]})
    metric = {"dcg": {"k": 10, "normalize": True}}
    _write_json({"requests": list(found.values()), "metric": metric}, file)


def _write_json(content: Any, file: IO[bytes]) -> None:
    file.write((json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode())


def _read_static(file: File, options: Options) -> Content:
    """Read the static file of a snapshot: the documents found for each query, as a run."""
    table, source = read_delimited(file, options)
    names = {letters_of(name): name for name in table.column_names}
    position = pc.utf8_trim_whitespace(table[names["docposition"]])
    try:
        rank = np.asarray(position.cast(pa.int64()), dtype=np.int64)
    except pa.ArrowInvalid:
        problem, column = "a position is not a whole number", names["docposition"]
        raise source.error(None, problem, column=column, code="not-a-whole-number") from None
    source.remark("documents as they were found, without ratings: nobody judged them yet")
    columns = {
        "topic": as_names(table[names["querytext"]]),
        "document": as_names(table[names["docid"]]),
        "rank": pa.array(rank),
        "score": pa.array(-rank.astype(np.float64)),
        "tag": pa.array(["quepid"] * len(rank), pa.large_string()),
        "line": pa.array([source.error(row, "").line or 0 for row in range(len(rank))]),
    }
    return Content(run=pa.table(columns), bad=source.skipped)


_KAGGLE_GOLD = "median_relevance"
_KAGGLE_TEXTS = {"query": "query", "product_title": "title", "product_description": "text"}


def _read_kaggle(file: File, options: Options) -> Content:
    """Read the median ratings as gold, and the words of queries and products."""
    table, source = read_delimited(file, options, spelt=str.lower)
    table = table.append_column("document", table["id"])
    texts = {"topic": table["query"], "document": table["document"]}
    texts |= {new: table[name] for name, new in _KAGGLE_TEXTS.items() if name in table.column_names}
    content = Content(texts=pa.table(texts), bad=source.skipped)
    if _KAGGLE_GOLD not in table.column_names:
        return content
    roles = {"item": "id", "topic": "query", "document": "document", "gold": _KAGGLE_GOLD}
    return replace(content, gold=gold_from_table(table, source=source, roles=roles))


FORMATS = (
    Format(
        name="quepid-case-json",
        title="Quepid case in JSON: queries with the ratings of their documents, and by whom",
        reads=("judgments", "gold"),
        extension=".json",
        fits=fields("queries", "ratings", "query_text"),
        read=_QUEPID_CASE.read,
    ),
    Format(
        name="quepid-static",
        title="Quepid static file: Query Text, Doc ID, Doc Position, as they were found",
        reads=("run",),
        fits=letters("querytext", "docid", "docposition", lacks="rating"),
        read=_read_static,
    ),
    Format(
        name="opensearch",
        title="OpenSearch search relevance workbench: judgments to import, in JSON",
        reads=("gold", "judgments"),
        writes=("labels",),
        extension=".json",
        fits=fields("judgmentRatings"),
        read=_OPENSEARCH.read,
        write=_write_opensearch,
    ),
    Format(
        name="rank-eval",
        title="Elasticsearch and OpenSearch _rank_eval: one request per query, with its ratings",
        reads=("gold", "judgments"),
        writes=("labels",),
        extension=".json",
        fits=fields("requests", "ratings", "_id"),
        read=_RANK_EVAL.read,
        write=_write_rank_eval,
    ),
    Format(
        name="kaggle",
        title="Kaggle CrowdFlower search relevance: id, query, product_title, median_relevance",
        reads=("gold",),
        fits=header("id", "query", "product_title"),
        read=_read_kaggle,
    ),
)
