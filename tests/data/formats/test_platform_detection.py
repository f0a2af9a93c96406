"""Every platform's export is known by its beginning, and none takes another's."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from adjudge.data.formats import detect, formats, read
from adjudge.data.formats.opening import File

TASK = {"id": 1, "data": {"text": "x"}, "annotations": [{"result": [], "completed_by": 1}]}
SAMPLES = {
    "mturk": '"HITId","HITTypeId","AssignmentId","WorkerId","Input.query","Answer.label"\n'
    '"H","T","A","W","q","1"\n',
    "appen": "_unit_id,_created_at,_id,_tainted,_worker_id,query,label,label_gold\n"
    "u,1/2/2020 03:04:05,1,false,w,q,1,\n",
    "toloka": "INPUT:query\tOUTPUT:label\tGOLDEN:label\tASSIGNMENT:worker_id\nq\t1\t\tw\n",
    "label-studio": json.dumps([TASK]),
    "argilla": json.dumps(
        [{"id": 1, "text": "x", "label.responses": ["1"], "label.responses.users": ["u"]}]
    ),
    "quepid-case": "query,docid,rating\nq,d,1\n",
    "quepid-book": "query,docid,Ann,Bob Gold\nq,d,1,\n",
    "quepid-book-json": json.dumps({"name": "b", "query_doc_pairs": []}),
    "kaggle": "id,query,product_title,product_description,median_relevance,relevance_variance\n"
    "1,q,t,d,4,0\n",
}
OTHERS = [
    "item,judge,label\ni,j,1\n",
    "topic,document,judge,label\nt,d,j,1\n",
    "query,docid,worker,answer\nq,d,w,1\n",
    "query,docid,judge,rating\nq,d,w,1\n",
    "query,docid,gold\nq,d,1\n",
    "query,docid,gold,honeypot\nq,d,1,0\n",
    "query,docid,label\nq,d,1\n",
    "query,docid,title,text\nq,d,A title,A text\n",
    "task,worker,label\nt,w,1\n",
    "task,true_label\nt,1\n",
    "topicID\tworkerID\tdocID\tgold\tlabel\n1\t2\t3\t1\t1\n",
    "TOPIC\tHIT_ID\tWORKER_ID\tDOC_ID\tTRUTH\tLABEL\n1\t2\t3\t4\t1\t1\n",
    "401 0 doc-1 2\n401 0 doc-2 0\n",
    "401 Q0 doc-1 1 12.5 run\n",
    "query-id\tcorpus-id\tscore\nq\td\t1\n",
    "item,topic,document,label,probability,p_0,p_1,judgments,entropy,rank,fallback\n",
    '{"item": "i", "judge": "j", "label": "1"}\n',
    '{"_id": "d1", "title": "t", "text": "x"}\n',
    "_unit_id,_golden,_unit_state,_trusted_judgments,label,label:confidence\nu,false,x,3,1,0.5\n",
]


def takers(text: str) -> set[str]:
    """The formats, but for the general one, that would take a file for their own."""
    file = File.of("sample", text.encode())
    every = formats().values()
    return {one.name for one in every if one.name != "csv" and one.fits and one.fits(file)}


@pytest.mark.parametrize("name", SAMPLES)
def test_each_is_detected_as_itself(tmp_path: Path, name: str) -> None:
    path = tmp_path / "file"
    path.write_text(SAMPLES[name])
    assert detect(path).name == name
    path.write_bytes(b"\xef\xbb\xbf" + SAMPLES[name].replace("\n", "\r\n").encode())
    assert detect(path).name == name


@pytest.mark.parametrize("name", SAMPLES)
def test_none_takes_anothers(name: str) -> None:
    assert takers(SAMPLES[name]) == {name}


@pytest.mark.parametrize("text", OTHERS)
def test_none_takes_a_plain_file(text: str) -> None:
    assert not takers(text) & set(SAMPLES)


def test_compressed_exports_are_read(tmp_path: Path) -> None:
    for name in ("toloka", "appen", "argilla", "quepid-case"):
        path = tmp_path / f"{name}.gz"
        path.write_bytes(gzip.compress(SAMPLES[name].encode()))
        assert read(path).format == name
