"""Damaged files of every kind: a preview with errors or with items, never a fault.

Seeds are small files of each kind and, where they are there, real files of people and platforms.
What was once found is kept in ``seeds`` and tried again each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import adjudge.collect.importing as importing
from adjudge.collect.importing import Preview, Upload
from adjudge.data.formats import formats, read
from adjudge.data.scale import Scale
from adjudge.errors import AdjudgeError
from fuzzing import damaged, zipped
from memory import Memory
from sites import PASSWORD, Browser, served, small_project
from sizes import sized

SEEDS = sorted((Path(__file__).parent / "seeds").iterdir())
LARGEST = 60_000  # bytes of a real file that are taken, so that many can be tried
SPARE = 4_000_000  # bytes that reading takes for anything, however small

CSV = b"item,query,title,gold,reason: Bad\n" + b"".join(
    b'i%d,"lamps, %d",A lamp,%s,"Its own ""title"""\n' % (n, n // 3, b"Good" if n % 2 else b"Bad")
    for n in range(20)
)
JSONL = b"".join(
    b'{"item": "i%d", "query": "q", "title": "t", "gold": ["Good"], "reasons": {"Bad": "no"}}\n' % n
    for n in range(20)
)
BOOK = (
    b'{"name": "b", "query_doc_pairs": [{"query_text": "lamp", "doc_id": "d1", "document_fields":'
    b' "{\\"title\\": \\"A lamp\\"}", "judgements": [{"rating": 1.0}]}, {"query_text": "lamp",'
    b' "doc_id": "d2", "document_fields": {"title": "x", "url": "https://example.com", "n": [1]}}]}'
)
TOPICS = (
    b"<top>\n<num> Number: 1\n<title> lamps &amp; light\n<desc> Description:\nLight.\n</top>\n" * 3
)
XML = b'<topics><topic number="1"><query>lamps</query><description>x</description></topic></topics>'
DOCS = (
    b"<DOC><DOCNO>d1</DOCNO><TITLE>A lamp</TITLE><TEXT>It <b>shines</b>. &#233;</TEXT></DOC>\n" * 3
)
RUN = b"".join(b"1 Q0 d%d %d %d.5 run\n" % (n, n, 50 - n) for n in range(1, 20))
QUERIES, CORPUS = b'{"_id": "1", "text": "lamps"}\n', b'{"_id": "d1", "title": "A", "text": "x"}\n'
QRELS = b"query-id\tcorpus-id\tscore\n1\td1\t1\n"


BEIR = {"corpus_jsonl": CORPUS, "queries_jsonl": QUERIES, "qrels__test_tsv": QRELS}
KINDS: dict[str, tuple[str, list[bytes], list[Upload]]] = {  # the name, seeds, other files
    "csv": ("items.csv", [CSV, CSV.replace(b",", b"\t"), CSV.replace(b",", b";")], []),
    "jsonl": ("items.jsonl", [JSONL], []),
    "book": ("book.json", [BOOK], []),
    "topics": ("topics.txt", [TOPICS, XML], [Upload(name="run.txt", body=RUN)]),
    "queries": ("queries.tsv", [b"1\tlamps\n2\tx\n", b"1:lamps\n"],
                [Upload(name="run.txt", body=RUN)]),
    "documents": ("docs.trec", [DOCS, CORPUS, b"document\ttitle\nd1\tA lamp\n"],
                  [Upload(name="run.txt", body=RUN), Upload(name="topics.txt", body=TOPICS)]),
    "run": ("run.txt", [RUN], [Upload(name="docs", body=DOCS), Upload(name="topics", body=TOPICS)]),
    "beir": ("qrels/test.tsv", [QRELS], [Upload(name="corpus.jsonl", body=CORPUS),
                                         Upload(name="queries.jsonl", body=QUERIES)]),
    "corpus": ("corpus.jsonl", [CORPUS], [Upload(name="queries.jsonl", body=QUERIES),
                                          Upload(name="qrels/test.tsv", body=QRELS)]),
    "zip": ("all.zip", [zipped(method, **BEIR) for method in (0, 8)], []),
}  # fmt: skip
SCALE = Scale.parse("Good,Bad")


def preview(kind: str, body: bytes) -> Preview:
    name, _, others = KINDS[kind]
    return importing.read([Upload(name=name, body=body), *others], scale=SCALE)


def preview_within_memory(memory: Memory, kind: str, body: bytes) -> Preview:
    """What is read, in at most ten times the memory, or a kilobyte a row where rows are short."""
    with memory.peak() as peak:
        found = preview(kind, body)
    most = max(10 * len(body), 1_000 * body.count(b"\n")) + SPARE
    assert peak[0] <= most, f"{peak[0]:,} bytes for {len(body):,}"
    return found


@pytest.mark.parametrize("length", [1, pytest.param(30, marks=pytest.mark.full), 300])
def test_many_rows_are_read_within_memory(length: int, memory: Memory) -> None:
    words, count = b"x" * length, sized(2_000, full=20_000)
    rows = b"".join(b"i%d,q%d,%s\n" % (n, n, words) for n in range(count))
    assert len(preview_within_memory(memory, "csv", b"item,query,title\n" + rows).items) == count
    line = b'{"item": "i%d", "query": "q%d", "title": "%s"}\n'
    records = b"".join(line % (n, n, words) for n in range(count))
    assert len(preview_within_memory(memory, "jsonl", records).items) == count
    documents = b"".join(
        b"<DOC><DOCNO>%d</DOCNO><TEXT>%s</TEXT></DOC>\n" % (n, words) for n in range(count)
    )
    preview_within_memory(memory, "documents", documents)


@pytest.mark.parametrize("kind", KINDS)
def test_the_seeds_themselves_are_read(kind: str) -> None:
    for body in KINDS[kind][1]:
        assert not preview(kind, body).errors or kind in ("topics", "queries", "documents", "run")


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=sized(5, full=1000))
def test_a_damaged_file_is_refused_or_read_within_memory(
    kind: str, memory: Memory, data: st.DataObject
) -> None:
    body = data.draw(damaged(KINDS[kind][1]))
    found = preview_within_memory(memory, kind, body)
    for item in found.items:
        str(item).encode()  # can be stored


@pytest.mark.parametrize("seed", SEEDS, ids=[path.name for path in SEEDS])
def test_earlier_findings_are_still_reported(seed: Path) -> None:
    kind = seed.name.partition("-")[0]
    found = preview(kind, seed.read_bytes())
    assert found.errors, "every one of them is wrong"


# -- real files, and every format that is read


def real_files(folder: Path) -> list[Path]:
    return sorted(file for file in (folder / "files").rglob("*") if file.is_file())


@given(data=st.data())
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=sized(15, full=1000)
)
def test_damaged_real_files_are_refused_or_read(
    shared_data: Path, tmp_path: Path, data: st.DataObject
) -> None:
    """As judgments, by the format that the file has or by any other, and as an upload."""
    file = data.draw(st.sampled_from(real_files(shared_data)))
    body = data.draw(damaged([file.read_bytes()[:LARGEST]]))
    path = tmp_path / file.name
    path.write_bytes(body)
    readers = [name for name, entry in formats().items() if entry.read is not None]
    chosen = data.draw(st.one_of(st.none(), st.sampled_from(readers)))
    read_as = data.draw(st.sampled_from([None, "judgments", "gold", "labels"]))
    with suppress(AdjudgeError):
        read(path, format=chosen, kind=read_as)  # type: ignore[arg-type]
    found = importing.read([Upload(name=file.name, body=body)])
    assert found.errors or found.items or found.golds or not body.strip()


# -- over HTTP


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Browser, httpx.Client]]:
    """A requester's browser, and a client with their token."""
    with served(tmp_path_factory.mktemp("fuzz")) as site:
        browser = site.set_up()
        browser.get("/projects/new")
        acting = site.services.acting_for(site.services.accounts.log_in("ada", PASSWORD))
        acting.projects.create(small_project())
        token = acting.accounts.make_token("fuzz", scope="requester")[1]
        yield browser, site.browser(authorization=f"Bearer {token}").client


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(
    max_examples=sized(3, full=60), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_the_server_says_422_or_stores(
    door: tuple[Browser, httpx.Client], kind: str, data: st.DataObject
) -> None:
    """To a project that is there, by the API; and to the page that begins one with its files."""
    browser, client = door
    name, seeds, others = KINDS[kind]
    body = data.draw(damaged(seeds))
    files = [*(("files", (one.name, one.body)) for one in others), ("files", (name, body))]
    response = client.post("/api/v1/projects/lamps/import", files=files)
    assert response.status_code in (200, 422), response.text
    form = {"proof": browser.proof, "name": "Made of it"}
    response = browser.client.post("/projects/upload", data=form, files=files)
    assert response.status_code in (303, 422), response.text
    if response.status_code == 303:
        begun = browser.client.get(response.headers["location"])
        assert begun.status_code == 200, begun.text
