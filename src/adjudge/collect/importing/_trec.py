"""TREC: topics, a run, and the documents it ranks; the top of the run becomes items."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from adjudge.collect.importing._documents import Document, read_blocks, read_documents
from adjudge.collect.importing._preview import Gathering
from adjudge.collect.importing._upload import Upload
from adjudge.data.formats.opening import File
from adjudge.data.formats.trec import is_run_row
from adjudge.errors import BadData, shown

# A run of each kind of character is taken whole, and no two runs can share one.
_ATTRIBUTE = re.compile(r"""(?<![A-Za-z])([A-Za-z]++)\s*+=\s*+(["'])([^"']*+)\2""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A query and what the person behind it wants."""

    query: str
    need: str = ""
    category: str = ""


def is_run(upload: Upload) -> bool:
    """Whether it begins with a line of a run."""
    return is_run_row(File.of(upload.name, upload.body[:2_000]).first.split())


def _is_topics(upload: Upload) -> bool:
    """Tagged topics."""
    head = upload.body[:2_000].decode("utf-8", "replace").lower()
    return "<top>" in head or "<topic" in head


def read(
    uploads: list[Upload], gathering: Gathering, *, depth: int, queries: dict[str, Topic] | None
) -> None:
    """The first ``depth`` results of every topic of the runs, with the words of both."""
    topics = dict(queries or {})
    documents: dict[str, Document] = {}
    runs = []
    for upload in uploads:
        if is_run(upload):
            runs.append(upload)
            continue
        try:
            if _is_topics(upload):
                topics |= _tagged_topics(upload)
            elif _is_queries(upload):
                topics |= _listed_topics(upload)
            else:
                documents |= read_documents(upload, gathering.limits)
        except BadData as fault:
            gathering.add_fault(fault)
    for upload in runs:
        _take(upload, gathering, topics, documents, depth)


def _is_queries(upload: Upload) -> bool:
    """A list of queries: named so, or two fields a line."""
    if re.search(r"(?i)quer|topic", upload.base):
        return True
    first = upload.body[:2_000].decode("utf-8", "replace").split("\n", 1)[0]
    return first.count("\t") == 1 and upload.suffix in (".tsv", ".txt", "")


def _tagged_topics(upload: Upload) -> dict[str, Topic]:
    """Topics in TREC's tags, closed or not, or as XML."""
    text = upload.text()
    found: dict[str, Topic] = {}
    for block in read_blocks(text, "top", ("num", "title", "desc"), upload.name):
        name = _number(block.after("num"))
        if not name:
            raise BadData("there is no <num> in a topic", source=upload.name)
        need = block.after("desc").removeprefix("Description:").lstrip()
        found[name] = Topic(query=block.after("title"), need=need)
    wanted = ("num", "query", "title", "description", "desc")
    for block in read_blocks(text, "topic", wanted, upload.name):
        name = _number_in(block.attributes) or block.element("num")
        if not name:
            raise BadData("there is no number in a topic", source=upload.name)
        found[name] = Topic(
            query=block.element("query") or block.element("title"),
            need=block.element("description") or block.element("desc"),
        )
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


def _listed_topics(upload: Upload) -> dict[str, Topic]:
    """Topics one a line: id, tab or colon, query."""
    found: dict[str, Topic] = {}
    for line, given in upload.file().lines():
        row = given.rstrip("\r\n")
        name, mark, query = row.partition("\t") if "\t" in row else row.partition(":")
        if not mark or not query.strip():
            raise BadData(
                f"{shown(row)} is no topic; wanted an id, a tab and a query",
                source=upload.name,
                line=line,
            )
        found[name.strip()] = Topic(query=" ".join(query.split()))
    return found


def _take(
    upload: Upload,
    gathering: Gathering,
    topics: dict[str, Topic],
    documents: dict[str, Document],
    depth: int,
) -> None:
    """The best results of each topic, as items, unless another run brought them."""
    ranked: dict[str, list[tuple[float, int, int, str]]] = defaultdict(list)
    for line, row in upload.file().lines():
        cells = row.split()
        if not is_run_row(cells):
            gathering.add_fault(
                f"{shown(row.rstrip())} is no line of a run; "
                "wanted topic Q0 document rank score tag",
                source=upload.name,
                line=line,
            )
            continue
        ranked[cells[0]].append((-float(cells[4]), int(cells[3]), line, cells[2]))
    for topic, results in ranked.items():
        if topic not in topics:
            line = min(result[2] for result in results)
            gathering.add_fault(
                f"topic {shown(topic)} is not among the topics", source=upload.name, line=line
            )
            continue
        for _, _, line, name in sorted(results)[:depth]:
            item = f"{topic}/{name}"
            if item in gathering.items:
                continue
            if name not in documents:
                gathering.add_fault(
                    f"document {shown(name)} is not among the documents",
                    source=upload.name, line=line, value=name,
                )  # fmt: skip
                continue
            about = topics[topic]
            cells_of = {
                "name": item, "topic": topic, "document": name, "query": about.query,
                "need": about.need, "category": about.category, **documents[name].cells(),
            }  # fmt: skip
            gathering.add(cells_of, source=upload.name, line=line)
