"""Which format a file is taken for, and what is said of one that fits none."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from adjudge.data.formats import Content, detect, formats, read, write
from adjudge.data.formats.opening import File
from format_samples import SAMPLES
from reading import complaint


def _parquet(**columns: list[object]) -> bytes:
    file = io.BytesIO()
    pa.parquet.write_table(pa.table(columns), file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("csv", "item,judge,label\na,w,1\n"),
        ("csv", "item\tjudge\tlabel\na\tw\t1\n"),
        ("csv", "item\tjudge\tseconds\tlabel\na\tw\t1\t1\nb\tw\t2\t1\n"),
        ("csv", '{"item": "a", "judge": "w", "label": 1}\n'),
        ("csv", _parquet(item=["a"], judge=["w"], label=[1])),
        ("csv", "task,worker,label,gold\na,w,1,1\n"),
        ("csv", "item,gold\na,1\n"),
        ("csv", gzip.compress(b"item,judge,label\na,w,1\n", mtime=0)),
        ("crowd-kit", "task,worker,label\na,w,1\n"),
        ("crowd-kit", "worker,task,label\nw,a,1\n"),
        ("crowd-kit", "task,true_label\na,1\n"),
        ("crowd-kit", "task\tlabel\na\t1\n"),
        ("trec-rf10", "topicID\tworkerID\tdocID\tgold\tlabel\n7\tw\td\t-1\t0\n"),
        ("trec-2011", "TOPIC\tHIT_ID\tWORKER_ID\tDOC_ID\tTRUTH\tLABEL\n7\th\tw\td\t-1\t0\n"),
        ("trec-2011-submission", "7\td1\t1\t0.9\n7\td2\t2\t0.1\n"),
        ("trec-2011-submission", "7 d1 1 1\n7 d2 na 0\n"),
        ("trec-2011-submission", "7 d1 na na\n"),
        ("qrels", "7 0 d1 2\n7 0 d2 0\n"),
        ("qrels", "7\tQ0\td1\t-2\r\n"),
        ("qrels", "7 1 clueweb09-en 2\n"),
        ("qrels", "1185869\t0\t0\t1\n1185868\t0\t16\t1\n"),
        ("run", "7 Q0 d1 1 12.5 bm25\n7 Q0 d2 2 -3e-2 bm25\n"),
        ("run", "\n7\tQ0\td1\t0\t1\tbm25\nbroken line\n7\tQ0\td2\t1\t1\tbm25\n"),
        ("beir", "query-id\tcorpus-id\tscore\nq\td\t1\n"),
        ("consensus", "item,label,probability,p_0,p_1\na,1,0.9,0.1,0.9\n"),
        ("consensus", '{"item": "a", "label": "1", "probability": 0.9}\n'),
        ("consensus", _parquet(item=["a"], label=["1"], probability=[0.9])),
    ],
)
def test_a_file_is_known_by_its_first_lines(tmp_path: Path, name: str, text: str | bytes) -> None:
    packed = isinstance(text, bytes) and text.startswith(b"\x1f\x8b")
    path = tmp_path / ("data.gz" if packed else "data")
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert detect(path).name == name


def test_a_folder_of_beir(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").touch()
    assert detect(tmp_path).name == "beir"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "data, line 1: unknown-format"),
        ("\n \n", "data: empty-file"),
        ("", "data: empty-file"),
        ("PK\x03\x04\x00\x00", "data: broken-file"),
        ("\x01\x00\x02", "data: bad-encoding"),
    ],
)
def test_a_file_that_fits_none(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "data").write_bytes(text.encode())
    assert complaint(detect, tmp_path / "data") == message


def test_the_named_format_wins(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("task,worker,label\na,w,1\n")
    assert read(tmp_path / "data").format == "crowd-kit"
    assert read(tmp_path / "data", format="csv").format == "csv"


def test_a_format_that_is_only_read_is_not_written(tmp_path: Path) -> None:
    assert complaint(write, Content(), tmp_path / "out", format="trec-rf10") == "read-only-format"


def test_every_format_refuses_to_write_nothing(tmp_path: Path) -> None:
    for entry in formats().values():
        if entry.writes:
            path = tmp_path / f"out{entry.extension}"
            assert complaint(write, Content(), path, format=entry.name) == "nothing-to-write"
    assert not list(tmp_path.iterdir())


NAMED = {"csv", "headerless"}  # their samples are read as others
KINDS = [name for name, entry in formats().items() if entry.fits and name not in NAMED]


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
    if not file.endswith((".parquet", ".zip")):
        path.write_bytes(b"\xef\xbb\xbf" + body.replace(b"\n", b"\r\n"))
        assert detect(path).name == name


@pytest.mark.parametrize("name", sorted(PLATFORMS))
def test_none_takes_anothers(name: str) -> None:
    assert takers(File.of(*SAMPLES[name])) == {name}


def test_compressed_exports_are_read(tmp_path: Path) -> None:
    for name in ("toloka", "appen", "argilla", "quepid-case"):
        path = tmp_path / f"{name}.gz"
        path.write_bytes(gzip.compress(SAMPLES[name][1]))
        assert read(path).format == name
