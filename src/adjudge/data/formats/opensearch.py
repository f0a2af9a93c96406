"""OpenSearch search relevance workbench: judgment lists, and the ``_rank_eval`` of both engines.

A judgment list has a rating for each query and document. Read, it is gold, or where judgments are
wanted those of one judge, the list; a rating that is repeated counts once. So are the requests of a
ranking evaluation (``_rank_eval``) of Elasticsearch or OpenSearch. Both are written too.
"""

from __future__ import annotations

import json
from typing import IO, Any

from adjudge.data.formats._ratings import judge_name, need_pairs, queries, rated_content, ratings
from adjudge.data.formats._records import RecordRows, read_json
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.errors import BadData, shown


def _write(content: Content, file: IO[bytes]) -> None:
    """The label of each pair of query and document as a rating such as ``"3.000"``."""
    labels = content.need("labels", "opensearch")
    need_pairs(labels.column_names, "opensearch")
    rated = ratings(labels["label"], content.known_scale, "opensearch").to_pylist()
    documents = labels["document"].to_pylist()
    found: dict[str, list[dict[str, str]]] = {}
    for query, document, rating in zip(
        queries(labels["topic"], content.texts).to_pylist(), documents, rated, strict=True
    ):
        found.setdefault(query, []).append({"docId": document, "rating": f"{rating:.3f}"})
    whole: dict[str, Any] = {
        "name": "adjudge",
        "description": "Labels that adjudge made of judgments",
        "type": "IMPORT_JUDGMENT",
        "judgmentRatings": [{"query": q, "ratings": entries} for q, entries in found.items()],
    }
    file.write((json.dumps(whole, ensure_ascii=False, indent=2) + "\n").encode())


def _read(file: File, options: Options) -> Content:
    """The ratings of every list in the file."""
    found = read_json(file)
    rows = RecordRows(file, options)
    for name, ratings_of in _lists(found, judge_name(file.name)):
        for number, entry in enumerate(ratings_of, start=1):
            query = entry.get("query") if isinstance(entry, dict) else None
            rated = entry.get("ratings") if isinstance(entry, dict) else None
            for place, rating in enumerate(rated if isinstance(rated, list) else [], start=1):
                known = {"query": query, "judge": name}
                _add(rows, f"query {number}, rating {place}", known, rating, "docId")
    if not len(rows):
        raise BadData("there is no rating in this file", source=file.name)
    return rated_content(rows, options, ("query", "docId", "judge", "rating"))


def _add(rows: RecordRows, place: str, known: dict[str, Any], rating: Any, document: str) -> None:
    """Add a rating; one without a document or a grade is a fault."""
    if not isinstance(rating, dict) or rating.get(document) is None or rating.get("rating") is None:
        rows.fault(place, f"{shown(rating)} is no rating; wanted {document} and rating")
        return
    rows.add(place, {**known, document: rating[document], "rating": rating["rating"]})


def _lists(found: Any, name: str) -> list[tuple[str, list[Any]]]:
    """The judgment lists of a file: one to import, or the hits of a search for them."""
    if isinstance(found, dict) and isinstance(found.get("hits"), dict):
        hits = found["hits"].get("hits")
        sources = [hit.get("_source") for hit in hits or [] if isinstance(hit, dict)]
        return [entry for source in sources for entry in _lists(source, name)]
    if isinstance(found, list):
        return [entry for part in found for entry in _lists(part, name)]
    given = found.get("judgmentRatings") if isinstance(found, dict) else None
    if not isinstance(given, list):
        return []
    return [(str(found.get("name") or name), given)]


def _write_rank_eval(content: Content, file: IO[bytes]) -> None:
    """A request for each query, with the ratings of its documents; the index is for the reader."""
    labels = content.need("labels", "rank-eval")
    need_pairs(labels.column_names, "rank-eval")
    rated = ratings(labels["label"], content.known_scale, "rank-eval").to_pylist()
    topics = labels["topic"].to_pylist()
    texts = queries(labels["topic"], content.texts).to_pylist()
    found: dict[str, dict[str, Any]] = {}
    for topic, text, document, rating in zip(
        topics, texts, labels["document"].to_pylist(), rated, strict=True
    ):
        if rating != int(rating):
            raise BadData(f"rank-eval rates with whole numbers, and {rating} is none")
        one = found.setdefault(
            topic,
            {
                "id": topic,
                "request": {"query": {"simple_query_string": {"query": text}}},
                "ratings": [],
            },
        )
        one["ratings"].append({"_index": "INDEX", "_id": document, "rating": int(rating)})
    whole = {"requests": list(found.values()), "metric": {"dcg": {"k": 10, "normalize": True}}}
    file.write((json.dumps(whole, ensure_ascii=False, indent=2) + "\n").encode())


def _read_rank_eval(file: File, options: Options) -> Content:
    """The ratings of every request; its id is the topic."""
    found = read_json(file)
    listed = found.get("requests") if isinstance(found, dict) else None
    rows = RecordRows(file, options)
    for number, entry in enumerate(listed if isinstance(listed, list) else [], start=1):
        rated = entry.get("ratings") if isinstance(entry, dict) else None
        for place, rating in enumerate(rated if isinstance(rated, list) else [], start=1):
            known = {"id": entry.get("id"), "judge": judge_name(file.name)}
            _add(rows, f"request {number}, rating {place}", known, rating, "_id")
    if not len(rows):
        raise BadData("there is no rating in this file", source=file.name)
    return rated_content(rows, options, ("id", "_id", "judge", "rating"))


FORMATS = (
    Format(
        name="rank-eval",
        title="Elasticsearch and OpenSearch _rank_eval: a request a query, with its ratings",
        reads=("gold", "judgments"),
        writes=("labels",),
        extension=".json",
        read=_read_rank_eval,
        write=_write_rank_eval,
    ),
    Format(
        name="opensearch",
        title="OpenSearch search relevance workbench: judgments to import, in JSON",
        reads=("gold", "judgments"),
        writes=("labels",),
        extension=".json",
        read=_read,
        write=_write,
    ),
)
