"""Every platform's export is known by its beginning, and none takes another's."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from adjudge.data.formats import detect, formats, read
from adjudge.data.formats.opening import File
from format_samples import SAMPLES

NAMED = {"csv", "headerless"}  # their samples are read as others
KINDS = [name for name, entry in formats().items() if entry.fits and name not in NAMED]
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


PLATFORMS = {
    *("mturk", "appen", "toloka", "label-studio", "argilla", "kaggle"),
    *("quepid-case", "quepid-book", "quepid-book-json"),
}


def takers(file: File) -> set[str]:
    """Return the formats, but for the general ones, that would take a file for their own."""
    general = {"csv", "json", "wide", "nested", "matrix", "headerless"}
    every = [one for one in formats().values() if one.name not in general]
    return {one.name for one in every if one.fits is not None and one.fits(file)}


@pytest.mark.parametrize("name", KINDS)
def test_each_is_detected_as_itself(tmp_path: Path, name: str) -> None:
    file, body = SAMPLES[name]
    path = tmp_path / file
    path.write_bytes(body)
    assert detect(path).name == name
    if not file.endswith(".parquet"):
        path.write_bytes(b"\xef\xbb\xbf" + body.replace(b"\n", b"\r\n"))
        assert detect(path).name == name


@pytest.mark.parametrize("name", sorted(PLATFORMS))
def test_none_takes_anothers(name: str) -> None:
    assert takers(File.of(*SAMPLES[name])) == {name}


@pytest.mark.parametrize("text", OTHERS)
def test_none_takes_a_plain_file(text: str) -> None:
    assert not takers(File.of("sample", text.encode())) & PLATFORMS


def test_compressed_exports_are_read(tmp_path: Path) -> None:
    for name in ("toloka", "appen", "argilla", "quepid-case"):
        path = tmp_path / f"{name}.gz"
        path.write_bytes(gzip.compress(SAMPLES[name][1]))
        assert read(path).format == name
