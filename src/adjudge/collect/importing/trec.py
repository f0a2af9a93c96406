"""TREC: topics, a run, and the documents it ranks; the top of the run becomes items."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from dataclasses import dataclass

from adjudge.collect.importing.documents import Document, read_documents, tag
from adjudge.collect.importing.preview import Gathering
from adjudge.collect.importing.upload import Upload
from adjudge.data.formats.opening import File
from adjudge.data.formats.signatures import is_run_row
from adjudge.errors import BadData, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A query and what the person behind it wants."""

    query: str
    need: str = ""
    category: str = ""


def is_run(upload: Upload) -> bool:
    """Whether it begins with a line of a run."""
    return is_run_row(File.of(upload.name, upload.body[:2_000]).first.split())


def is_topics(upload: Upload) -> bool:
    """Tagged topics."""
    head = upload.body[:2_000].decode("utf-8", "replace").lower()
    return "<top>" in head or "<topic" in head


def read(
    uploads: list[Upload], gathering: Gathering, *, depth: int, queries: dict[str, Topic] | None
) -> None:
    """The first ``depth`` results of every topic of the runs, with the words of both."""
    topics = dict(queries or {})
    documents: dict[str, Document] = {}
    runs = [upload for upload in uploads if is_run(upload)]
    for upload in uploads:
        if upload in runs:
            continue
        try:
            if is_topics(upload):
                topics |= tagged_topics(upload)
            elif _is_queries(upload):
                topics |= listed_topics(upload)
            else:
                documents |= read_documents(upload)
        except BadData as fault:
            gathering.complain(fault)
    for upload in runs:
        _take(upload, gathering, topics, documents, depth)


def _is_queries(upload: Upload) -> bool:
    """A list of queries: named so, or two fields a line."""
    if re.search(r"(?i)quer|topic", upload.base):
        return True
    first = upload.body[:2_000].decode("utf-8", "replace").split("\n", 1)[0]
    return first.count("\t") == 1 and upload.suffix in (".tsv", ".txt", "")


def tagged_topics(upload: Upload) -> dict[str, Topic]:
    """Topics in TREC's tags, closed or not, or as XML."""
    text = upload.text()
    found: dict[str, Topic] = {}
    blocks = re.findall(r"(?is)<top>(.*?)</top>", text)
    for block in blocks:
        number = re.search(r"(?is)<num>\s*(?:Number:)?\s*([^\s<]+)", block)
        if number is None:
            raise BadData("there is no <num> in a topic", source=upload.name)
        found[number.group(1)] = Topic(
            query=_open_tag(block, "title"), need=_open_tag(block, "desc", "Description:")
        )
    for match in re.finditer(r"(?is)<topic\b([^>]*)>(.*?)</topic>", text):
        number = re.search(r"""(?:number|id|num)\s*=\s*["']([^"']+)["']""", match.group(1))
        name = number.group(1) if number else tag(match.group(2), "num")
        if not name:
            raise BadData("there is no number in a topic", source=upload.name)
        body = match.group(2)
        found[name] = Topic(
            query=tag(body, "query") or tag(body, "title"),
            need=tag(body, "description") or tag(body, "desc"),
        )
    return found


def _open_tag(block: str, name: str, *drop: str) -> str:
    """The text after a tag up to the next one, since old topics do not close theirs."""
    match = re.search(rf"(?is)<{name}>(.*?)(?=<|\Z)", block)
    text = html.unescape(match.group(1)) if match else ""
    for word in drop:
        text = text.replace(word, "", 1)
    return " ".join(text.split())


def listed_topics(upload: Upload) -> dict[str, Topic]:
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
            gathering.complain(
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
            gathering.complain(
                f"topic {shown(topic)} is not among the topics", source=upload.name, line=line
            )
            continue
        for _, _, line, name in sorted(results)[:depth]:
            item = f"{topic}/{name}"
            if item in gathering.items:
                continue
            if name not in documents:
                gathering.complain(
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
