"""Collections: a TREC run with topics and documents, a BEIR folder, a Quepid book."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adjudge.collect.importing._documents import Cells, read_blocks, read_documents
from adjudge.collect.importing._preview import Gathering
from adjudge.collect.importing._upload import ImportLimits, Upload
from adjudge.collect.importing.tables import (
    SHOWN,
    find_roles,
    json_lines,
    read_json_text,
    read_table,
    refuse_columns,
    words,
)
from adjudge.data.formats.opening import File
from adjudge.data.formats.trec import is_run_row
from adjudge.data.source import count_of
from adjudge.errors import BadData, shown

# A run of each kind of character is taken at once, and no two runs can share one.
_ATTRIBUTE = re.compile(r"""(?<![A-Za-z])([A-Za-z]++)\s*+=\s*+(["'])([^"']*+)\2""")


@dataclass(frozen=True, slots=True)
class _Pool:
    """Topics and documents, of which pairs become items."""

    gathering: Gathering
    topics: Mapping[str, Cells]  # query and need
    documents: Mapping[str, Cells]

    def add(self, topic: str, document: str, source: str, line: int) -> None:
        """Add a document for a topic as an item, once; either may be missing."""
        name = f"{topic}/{document}"
        if name in self.gathering.items:
            return
        for kind, given, known in (
            ("topic", topic, self.topics),
            ("document", document, self.documents),
        ):
            if given not in known:
                problem = f"{kind} {shown(given)} is not among the {kind}s"
                code = f"unknown-{kind}"
                self.gathering.add_fault(problem, source=source, line=line, value=given, code=code)
                return
        cells = {"name": name, "topic": topic, "document": document}
        cells |= self.topics[topic] | self.documents[document]
        self.gathering.add(cells, source=source, line=line)


def is_run(upload: Upload) -> bool:
    """Whether it begins with a line of a run."""
    return is_run_row(File.of(upload.name, upload.body[:2_000]).first.split())


# -- TREC


def read_trec(uploads: list[Upload], gathering: Gathering, *, depth: int) -> None:
    """The first ``depth`` results of every topic of the runs, with the words of both."""
    topics: dict[str, Cells] = {}
    documents: dict[str, Cells] = {}
    for upload in uploads:
        try:
            if is_run(upload):
                continue
            if _is_topics(upload):
                topics |= _read_tagged_topics(upload)
            elif _is_queries(upload):
                topics |= _read_listed_topics(upload)
            else:
                documents |= read_documents(upload, gathering.limits)
        except BadData as fault:
            gathering.add_fault(fault)
    _take_runs(uploads, _Pool(gathering, topics, documents), depth)


def _is_topics(upload: Upload) -> bool:
    """Tagged topics."""
    head = upload.body[:2_000].decode("utf-8", "replace").lower()
    return "<top>" in head or "<topic" in head


def _is_queries(upload: Upload) -> bool:
    """A list of queries: named so, or two fields a line."""
    if re.search(r"(?i)quer|topic", upload.base):
        return True
    first = upload.body[:2_000].decode("utf-8", "replace").split("\n", 1)[0]
    return first.count("\t") == 1 and upload.suffix in (".tsv", ".txt", "")


def _read_tagged_topics(upload: Upload) -> dict[str, Cells]:
    """Topics in TREC's tags, closed or not, or as XML."""
    text = upload.text()
    found: dict[str, Cells] = {}
    for block in read_blocks(text, "top", ("num", "title", "desc"), upload.name):
        name = _number(block.after("num"))
        if not name:
            raise BadData("there is no <num> in a topic", source=upload.name)
        need = block.after("desc").removeprefix("Description:").lstrip()
        found[name] = {"query": block.after("title"), "need": need}
    names = ("num", "query", "title", "description", "desc")
    for block in read_blocks(text, "topic", names, upload.name):
        name = _number_in(block.attributes) or block.element("num")
        if not name:
            raise BadData("there is no number in a topic", source=upload.name)
        found[name] = {
            "query": block.element("query") or block.element("title"),
            "need": block.element("description") or block.element("desc"),
        }
    return found


def _number(text: str) -> str:
    """The number of a topic in ``Number: 301``, or in ``301``."""
    head, colon, rest = text.partition(":")
    words = (rest if colon and head.lower() == "number" else text).split(None, 1)
    return words[0] if words else ""


def _number_in(attributes: str) -> str:
    """The number among the attributes of a tag, by whichever of its names."""
    for part in _ATTRIBUTE.finditer(attributes):
        if part[1].lower() in ("number", "id", "num"):
            return part[3].strip()
    return ""


def _read_listed_topics(upload: Upload) -> dict[str, Cells]:
    """Topics, one per line: id, tab or colon, query."""
    found: dict[str, Cells] = {}
    for line, given in upload.file().lines():
        row = given.rstrip("\r\n")
        name, mark, query = row.partition("\t") if "\t" in row else row.partition(":")
        if not mark or not query.strip():
            problem = f"{shown(row)} is not a topic; expected an id, a tab and a query"
            raise BadData(problem, source=upload.name, line=line, code="bad-topic")
        found[name.strip()] = {"query": " ".join(query.split())}
    return found


def _take_runs(uploads: list[Upload], pool: _Pool, depth: int) -> None:
    """The best results of each topic, as items, unless another run brought them."""
    for upload in filter(is_run, uploads):
        ranked: dict[str, list[tuple[float, int, int, str]]] = defaultdict(list)
        for line, row in upload.file().lines():
            cells = row.split()
            if is_run_row(cells):
                ranked[cells[0]].append((-float(cells[4]), int(cells[3]), line, cells[2]))
            else:
                expected = "topic Q0 document rank score tag"
                problem = f"{shown(row.rstrip())} is not a line of a run; expected {expected}"
                pool.gathering.add_fault(problem, source=upload.name, line=line, code="bad-run")
        for topic, results in ranked.items():
            # A topic that is not there is reported once, not for every result.
            best = sorted(results)[:depth] if topic in pool.topics else results[:1]
            for _, _, line, document in best:
                pool.add(topic, document, upload.name, line)


# -- BEIR


def read_beir(uploads: list[Upload], gathering: Gathering, *, depth: int, gold: bool) -> None:
    """The pairs of a run, or of the qrels; with ``gold`` the grades of the qrels are gold."""
    held = {upload.base: upload for upload in uploads}
    topics = {}
    for line, record in json_lines(held["queries.jsonl"]):
        if record.get("_id") is None:
            source = held["queries.jsonl"].name
            gathering.add_fault("there is no _id", source=source, line=line, code="missing-id")
            continue
        about = record.get("metadata")
        need = words(about.get("narrative")) if isinstance(about, dict) else ""
        topics[words(record["_id"])] = {"query": words(record.get("text")), "need": need}
    runs = any(map(is_run, uploads))
    qrels = [upload for upload in uploads if upload.suffix == ".tsv" and not is_run(upload)]
    if not runs and not qrels:
        problem = "there is neither a run nor qrels/*.tsv to take pairs from"
        gathering.add_fault(problem, source=held["corpus.jsonl"].name, code="no-pairs")
        return
    pool = _Pool(gathering, topics, read_documents(held["corpus.jsonl"], gathering.limits))
    _take_runs(uploads, pool, depth)
    for upload in qrels:
        for line, query, name, grade in _read_qrels(upload, gathering.limits):
            if not runs:
                pool.add(query, name, upload.name, line)
            item = f"{query}/{name}"
            if gold and item in gathering.items:
                gathering.add_gold(item, grade, source=upload.name, line=line, column="score")
    if qrels and not gold:
        gathering.notes.append(
            "The grades of the qrels were left out: ask for them as gold if they are."
        )


def _read_qrels(upload: Upload, limits: ImportLimits) -> list[tuple[int, str, str, str]]:
    columns, rows = read_table(upload, limits)
    document = find_roles(columns).get("document")
    query = next((c for c in columns if c.casefold() in ("query-id", "query_id", "qid")), None)
    grade = next((c for c in columns if c.casefold() in ("score", "grade", "rel")), None)
    if query is None or grade is None or document is None:
        raise refuse_columns(upload, columns, "query-id, corpus-id, score")
    return [(line, cells[query], cells[document], cells[grade]) for line, cells in rows]


# -- Quepid


def is_quepid_book(upload: Upload) -> bool:
    """Whether a file is an object with pairs of query and document."""
    text = File.of(upload.name, upload.body).text
    return text.lstrip().startswith("{") and '"query_doc_pairs"' in text


def read_quepid(upload: Upload, gathering: Gathering) -> None:
    """Every pair of the book as an item; the judgments in it are left out, and counted."""
    pairs = read_json_text(upload.text(), upload.name).get("query_doc_pairs")
    if not isinstance(pairs, list):
        raise BadData("query_doc_pairs is not a list", source=upload.name, code="bad-book")
    judged = 0
    for at, pair in enumerate(pairs, start=1):
        place = f"{upload.name}, pair {at}"
        if not isinstance(pair, dict):
            gathering.add_fault("is not an object", source=place, code="bad-book")
            continue
        query, document = words(pair.get("query_text")), words(pair.get("doc_id"))
        if not query or not document:
            problem = "expected query_text and doc_id"
            gathering.add_fault(problem, source=place, code="missing-id")
            continue
        topic = gathering.topic_of(query)
        given = pair.get("judgements")
        judged += len(given) if isinstance(given, list) else 0
        cells = {"name": f"{topic}/{document}", "topic": topic, "query": query}
        cells["document"] = document
        cells["need"] = words(pair.get("information_need") or pair.get("notes"))
        gathering.add(cells | _shown(pair.get("document_fields")), source=place, line=None)
    if judged:
        gathering.notes.append(
            f"{count_of(judged, 'judgment')} in the book not imported: items come without "
            "judgments. adjudge.read reads them."
        )


def _shown(fields: Any) -> dict[str, str]:
    """The fields of a document that a judge can be shown; others become lines of the text."""
    if isinstance(fields, str):
        try:
            fields = read_json_text(fields)
        except BadData:
            return {"text": fields}
    if not isinstance(fields, dict):
        return {}
    found = find_roles(list(fields))
    parts: dict[str, str] = {p: words(fields[found[p]]) for p in SHOWN if p in found}
    used = {found[part] for part in parts}
    rest = [f"{name}: {words(v)}" for name, v in fields.items() if name not in used and v]
    if rest:
        parts["text"] = "\n".join([*filter(None, [parts.get("text")]), *rest])
    for part in ("url", "image"):  # Quepid often holds a path or an id there
        if not parts.get(part, "").lower().startswith(("http://", "https://")):
            parts.pop(part, None)
    return parts
