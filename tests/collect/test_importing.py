"""Reading a project's files: what is read, and how every fault is named."""

from __future__ import annotations

import json
import zipfile
from typing import Any

import pytest

from adjudge.collect.importing import ImportLimits, Upload, read
from adjudge.collect.values.project import GoldEntry, Item
from adjudge.data.scale import Scale
from adjudge.errors import BadData
from fuzzing import zipped

SCALE = Scale.parse("Matching,Not Matching,Spam")
ITEMS = """item,query,title,text,url,gold,reason,role,reason: Spam
a,desk lamp,Lamp,For a desk,https://shop.example/1,Matching,It is one,training,It sells a lamp
b,desk lamp,Bulb,,,,,,
"""


def upload(name: str, text: str | bytes) -> Upload:
    return Upload(name=name, body=text.encode() if isinstance(text, str) else text)


def faults(*files: Upload, **options: Any) -> list[tuple[str, str]]:
    """The place and the code of every error."""
    errors = read(files, **{"scale": SCALE, **options}).errors
    return [(error.place, error.code) for error in errors]


def test_items_with_gold_in_csv() -> None:
    preview = read([upload("items.csv", ITEMS)], scale=SCALE).check()
    assert preview.items == (
        Item(
            name="a", topic="desk-lamp", query="desk lamp", title="Lamp", text="For a desk",
            url="https://shop.example/1",
        ),
        Item(name="b", topic="desk-lamp", query="desk lamp", title="Bulb"),
    )  # fmt: skip
    assert preview.golds == (
        GoldEntry(
            item="a", accepted=("Matching",), reason="It is one", role="training",
            reasons={"Spam": "It sells a lamp"},
        ),
    )  # fmt: skip


def test_a_label_in_a_file_of_gold_is_the_gold() -> None:
    gold = upload("gold.csv", "item,label,reason\na,Spam,It is\n")
    preview = read([gold], scale=SCALE, known=frozenset({"a"})).check()
    assert preview.golds == (GoldEntry(item="a", accepted=("Spam",), reason="It is"),)
    judged = upload("items.csv", "item,query,title,label\na,q,A,Spam\n")
    assert read([judged], scale=SCALE).check().golds == (), "what is next to texts may be anything"


@pytest.mark.parametrize("scale", [SCALE, None])
def test_labels_that_differ_in_case_are_one_question(scale: Scale | None) -> None:
    cells = ("Matching", "Matching", *["matching"] * 4, "SPAM", "Spam", "Spam")
    rows = "".join(f"i{n},q,T,{label}\n" for n, label in enumerate(cells))
    preview = read([upload("items.csv", f"item,query,title,gold\n{rows}")], scale=scale).check()
    labels = [gold.accepted[0] for gold in preview.golds]
    usual = "Matching" if scale else "matching"
    assert labels == [usual] * 6 + ["Spam"] * 3
    assert len(preview.notes) == 1


def test_html_entities_are_decoded_once() -> None:
    cells = "a,salt &amp; pepper,Caf&eacute; &#x27;X&#39;,&amp;amp; &lt;b&gt; &c; AT&T a&b"
    preview = read([upload("items.csv", f"item,query,title,text\n{cells}\n")]).check()
    (item,) = preview.items
    assert (item.query, item.title) == ("salt & pepper", "Café 'X'")
    assert item.text == "&amp; <b> &c; AT&T a&b"
    assert len(preview.notes) == 1


def test_json_lines_and_gold_in_a_separate_file() -> None:
    items = "\n".join(
        json.dumps({"query_id": "7", "query": "sofa", "docid": d, "product_title": d.upper()})
        for d in ("x", "y")
    )
    gold = "topic\tdocument\taccepted\n7\tx\tMatching|Spam\n"
    preview = read([upload("i.jsonl", items), upload("g.tsv", gold)], scale=SCALE).check()
    assert [item.name for item in preview.items] == ["7/x", "7/y"]
    assert preview.items[0].document == "x"
    assert preview.golds == (GoldEntry(item="7/x", accepted=("Matching", "Spam")),)


def test_gold_drawn_by_the_command_line_and_filled_in_part() -> None:
    """Columns of the draw are left alone, rows without gold skipped and counted."""
    text = (
        "item,topic,document,gold,sampling_probability,sampling_round,sampling_stratum\n"
        "7/a,7,a,Spam,0.5,1,1\n7/b,7,b,,0.5,1,1\n7/c,7,c,,0.5,1,1\n"
    )
    preview = read([upload("g.csv", text)], scale=SCALE, known=frozenset({"7/a", "7/b", "7/c"}))
    assert preview.check().golds == (GoldEntry(item="7/a", accepted=("Spam",)),)
    assert preview.items == ()
    assert [note.split()[0] for note in preview.notes] == ["2"]


def test_gold_for_items_that_are_stored_already() -> None:
    gold = upload("g.csv", "item,gold\nold,Spam\n")
    assert read([gold], scale=SCALE, known=frozenset({"old"})).golds[0].item == "old"
    assert faults(gold) == [("g.csv, line 2", "unknown-item")]


def test_every_fault_is_named_and_reading_continues() -> None:
    text = (
        "item,query,title,url,gold,role\n"
        "a,q,T,,Matching,\n"
        "a,q,T,,,\n"
        "c,q,T,javascript:alert(1),,\n"
        "d,q,T,,Relevant,\n"
        "e,q,,,,\n"
        "f,q,T,,Spam,judge\n"
        ",q,T,,,\n"
        "g,q,T,,,\n"
    )
    assert faults(upload("items.csv", text)) == [
        ("items.csv, line 3", "repeated-item"),
        ("items.csv, line 4, column url", "bad-address"),
        ("items.csv, line 5, column gold", "label-off-scale"),
        ("items.csv, line 6", "bad-item"),
        ("items.csv, line 7, column role", "bad-role"),
        ("items.csv, line 8", "missing-id"),
    ]
    preview = read([upload("items.csv", text)], scale=SCALE)
    assert [error.value for error in preview.errors][:3] == ["a", "javascript:alert(1)", "Relevant"]
    assert [item.name for item in preview.items] == ["a", "d", "f", "g"]
    with pytest.raises(BadData, match="line 3"):
        preview.check()


@pytest.mark.parametrize(
    ("name", "text", "place", "code"),
    [
        ("a.csv", "", "a.csv", "empty-file"),
        ("a.csv", "item,query,title\n", "a.csv, line 1", "empty-file"),
        ("a.csv", "x,y\n1,2\n", "a.csv, line 1", "missing-column"),
        ("a.csv", "item,query\n1,2\n", "a.csv, line 1", "missing-column"),
        ("a.csv", "item,title\n1,2\n", "a.csv, line 1", "missing-column"),
        ("a.csv", "item,query,title\n1,2\n", "a.csv, line 2", "bad-row"),
        ("a.csv", "item,item,title\n1,2,3\n", "a.csv, line 1", "repeated-column"),
        ("a.csv", b"item,query,title\n1,2,\xff\n", "a.csv, line 2", "bad-encoding"),
        ("a.jsonl", '{"item": 1}\n[2]\n', "a.jsonl, line 2", "bad-json"),
        ("a.jsonl", '{"item": 1}\n{\n', "a.jsonl, line 2", "bad-json"),
        ("book.json", '{"query_doc_pairs": 3}', "book.json", "bad-book"),
        ("a.zip", b"PK\x03\x04nonsense", "a.zip", "bad-archive"),
        ("a.csv.gz", b"\x1f\x8b\x08nonsense", "a.csv.gz", "bad-archive"),
    ],
)
def test_files_that_cannot_be_read(name: str, text: str | bytes, place: str, code: str) -> None:
    assert faults(upload(name, text)) == [(place, code)]


def test_limits_of_rows_fields_and_errors() -> None:
    rows = "item,query,title\n" + "".join(f"{n},q,t\n" for n in range(10))
    large = [("a.csv", "too-large")]
    assert faults(upload("a.csv", rows), limits=ImportLimits(bytes=50)) == large
    assert faults(upload("a.csv", rows), limits=ImportLimits(rows=9)) == large
    long = upload("a.csv", "item,query,title\n1,q,long\n")
    assert faults(long, limits=ImportLimits(field=3)) == [
        ("a.csv, line 2, column title", "too-large")
    ]
    twice = "item,query,title\n" + "a,q,t\n" * 10
    preview = read([upload("a.csv", twice)], limits=ImportLimits(errors=4))
    assert (len(preview.errors), preview.more_errors) == (4, 5)


RUN = """1 Q0 d2 1 9.5 sys
1 Q0 d1 2 9.0 sys
1 Q0 d3 3 1.0 sys
2 Q0 d1 1 3.0 sys
"""
TOPICS = """<top>
<num> Number: 1
<title> desk lamp
<desc> Description:
A lamp to read by &amp; write.
<narr> Narrative:
More.
</top>
<top><num>2</num><title>sofa</title><desc>To sit</desc></top>
"""
DOCUMENTS = "".join(
    f"<DOC>\n<DOCNO>d{n}</DOCNO>\n<TITLE>Doc {n}</TITLE>\n"
    f"<TEXT>words <b>of</b> {n}</TEXT>\n</DOC>\n"
    for n in (1, 2, 3)
)


def test_trec_topics_run_and_documents() -> None:
    files = [upload("r.txt", RUN), upload("topics.txt", TOPICS), upload("docs.trec", DOCUMENTS)]
    preview = read(files, depth=2).check()
    assert preview.kind == "trec"
    assert [item.name for item in preview.items] == ["1/d2", "1/d1", "2/d1"]
    first = preview.items[0]
    assert (first.query, first.need) == ("desk lamp", "A lamp to read by & write.")
    assert (first.title, first.text) == ("Doc 2", "words of 2")


def test_trec_with_other_kinds_of_topics_and_documents() -> None:
    xml = (
        '<topics><topic number="1"><query>desk lamp</query><description>D</description></topic>'
        '<topic number="2"><query>sofa</query></topic></topics>'
    )
    lines = "\n".join(json.dumps({"id": f"d{n}", "contents": f"t{n}"}) for n in (1, 2, 3))
    tsv = "docid\ttitle\ttext\n" + "".join(f"d{n}\t\tt{n}\n" for n in (1, 2, 3))
    listed = "1\tdesk lamp\n2\tsofa\n"
    for topics in (upload("topics.xml", xml), upload("queries.tsv", listed)):
        for documents in (upload("docs.jsonl", lines), upload("docs.tsv", tsv)):
            preview = read([upload("r.txt", RUN), topics, documents]).check()
            assert [item.text for item in preview.items] == ["t2", "t1", "t3", "t1"]


def test_faults_of_a_run() -> None:
    run = RUN + "1 Q0 d9 4 0.5 sys\n9 Q0 d1 1 1 sys\n1 Q0 d1\n"
    files = [upload("r.txt", run), upload("topics.txt", TOPICS), upload("docs.trec", DOCUMENTS)]
    assert faults(*files) == [
        ("r.txt, line 7", "bad-run"),
        ("r.txt, line 5", "unknown-document"),
        ("r.txt, line 6", "unknown-topic"),
    ]


def test_beir_as_a_folder_in_an_archive() -> None:
    corpus = "\n".join(json.dumps({"_id": f"d{n}", "title": f"T{n}", "text": "w"}) for n in (1, 2))
    queries = json.dumps({"_id": "q1", "text": "sofa"})
    qrels = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n"

    def packed(qrels: str) -> Upload:
        files = {"corpus_jsonl": corpus, "queries_jsonl": queries, "qrels__test_tsv": qrels}
        body = {name: text.encode() for name, text in files.items()}
        return upload("all.zip", zipped(zipfile.ZIP_DEFLATED, **body))

    file = packed(qrels)
    preview = read([file]).check()
    assert [(i.name, i.query, i.title) for i in preview.items] == [
        ("q1/d1", "sofa", "T1"),
        ("q1/d2", "sofa", "T2"),
    ]
    assert preview.golds == ()
    assert len(preview.notes) == 1, "grades were left out"
    golds = read([file], qrels_as_gold=True, scale=Scale.parse("0<1")).check().golds
    assert [(gold.item, gold.accepted) for gold in golds] == [("q1/d1", ("1",)), ("q1/d2", ("0",))]
    bad = qrels + "q2\td1\t1\n"
    assert faults(packed(bad)) == [("qrels/test.tsv, line 4", "unknown-topic")]


def test_quepid_book() -> None:
    book = {
        "name": "Books",
        "query_doc_pairs": [
            {
                "query_text": "sofa",
                "doc_id": "7",
                "document_fields": json.dumps({"title": "Sofa", "price": 99, "image": "/x.png"}),
                "judgements": [{"rating": 1}, {"rating": 0}],
            },
            {"query_text": "sofa", "document_fields": {}},
        ],
    }
    preview = read([upload("book.json", json.dumps(book))])
    assert preview.items == (
        Item(name="sofa/7", topic="sofa", query="sofa", document="7", title="Sofa",
             text="price: 99"),
    )  # fmt: skip
    assert [(error.place, error.code) for error in preview.errors] == [
        ("book.json, pair 2", "missing-id")
    ]
    assert [note.split()[0] for note in preview.notes] == ["2"]
