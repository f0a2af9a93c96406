"""OpenSearch search relevance workbench: a judgment list to import, written from labels."""

from __future__ import annotations

import json
from typing import IO, Any

from adjudge.data.formats.format import Content, Format, need
from adjudge.data.formats.ratings import need_pairs, queries, ratings


def _write(content: Content, file: IO[bytes]) -> None:
    """The label of each pair of query and document as a rating such as ``"3.000"``."""
    labels = need(content, "labels", "opensearch")
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


FORMATS = (
    Format(
        name="opensearch",
        title="OpenSearch search relevance workbench: judgments to import, in JSON",
        writes=("labels",),
        extension=".json",
        write=_write,
    ),
)
