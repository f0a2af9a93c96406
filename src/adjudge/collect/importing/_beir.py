"""BEIR: corpus.jsonl, queries.jsonl, and either a run or the pairs of the qrels to judge."""

from __future__ import annotations

from adjudge.collect.importing import _trec as trec
from adjudge.collect.importing._documents import read_documents
from adjudge.collect.importing._preview import Gathering
from adjudge.collect.importing._rows import find_roles, json_lines, list_columns, read_table, words
from adjudge.collect.importing._upload import ImportLimits, Upload
from adjudge.errors import BadData, shown


def read(uploads: list[Upload], gathering: Gathering, *, depth: int, gold: bool) -> None:
    """The pairs of a run, or of the qrels; with ``gold`` the grades of the qrels are gold."""
    held = {upload.base: upload for upload in uploads}
    queries = {}
    for line, record in json_lines(held["queries.jsonl"]):
        if record.get("_id") is None:
            gathering.add_fault("there is no _id", source=held["queries.jsonl"].name, line=line)
            continue
        need = words(record.get("metadata", {}).get("narrative", "")) if isinstance(
            record.get("metadata"), dict
        ) else ""  # fmt: skip
        queries[words(record["_id"])] = trec.Topic(query=words(record.get("text")), need=need)
    runs: list[Upload] = []
    others: list[Upload] = []
    for upload in uploads:
        (runs if trec.is_run(upload) else others).append(upload)
    if runs:
        trec.read([*runs, held["corpus.jsonl"]], gathering, depth=depth, queries=queries)
    qrels = [upload for upload in others if upload.suffix == ".tsv"]
    if not runs and not qrels:
        gathering.add_fault("there is neither a run nor qrels/*.tsv to take pairs from",
                           source=held["corpus.jsonl"].name)  # fmt: skip
    documents = read_documents(held["corpus.jsonl"], gathering.limits) if qrels and not runs else {}
    for upload in qrels:
        for line, query, name, grade in _pairs(upload, gathering.limits):
            item = f"{query}/{name}"
            if not runs and item not in gathering.items:
                if query not in queries or name not in documents:
                    strange = query if query not in queries else name
                    kind = "query" if query not in queries else "document"
                    gathering.add_fault(
                        f"{kind} {shown(strange)} is in no other file",
                        source=upload.name, line=line, value=strange,
                    )  # fmt: skip
                    continue
                cells = {"name": item, "topic": query, "document": name}
                cells |= {"query": queries[query].query, "need": queries[query].need}
                gathering.add(cells | documents[name].cells(), source=upload.name, line=line)
            if gold and item in gathering.items:
                gathering.add_gold(item, grade, source=upload.name, line=line, column="score")
    if qrels and not gold:
        gathering.notes.append(
            "The grades of the qrels were left out: ask for them as gold if they are."
        )


def _pairs(upload: Upload, limits: ImportLimits) -> list[tuple[int, str, str, str]]:
    columns, rows = read_table(upload, limits)
    found = find_roles(columns)
    query = next((c for c in columns if c.casefold() in ("query-id", "query_id", "qid")), None)
    grade = next((c for c in columns if c.casefold() in ("score", "grade", "rel")), None)
    if query is None or grade is None or "document" not in found:
        raise BadData(
            f"the columns are {list_columns(columns)}; wanted query-id, corpus-id, score",
            source=upload.name,
            line=1,
        )
    document = found["document"]
    return [(line, cells[query], cells[document], cells[grade]) for line, cells in rows]
