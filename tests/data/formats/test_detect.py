"""Which format a file is taken for, and what is said of one that fits none."""

from __future__ import annotations

import gzip
import importlib
import io
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from adjudge.data.formats import SIGNATURES, Content, detect, formats, named, read, write
from adjudge.errors import AdjudgeError, BadData, UnknownName


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


def test_names_are_unique_and_plain_comes_last() -> None:
    assert list(formats())[-5:] == ["csv", "tsv", "jsonl", "parquet", "headerless"]
    for entry in formats().values():
        assert named(entry.name) is entry
        assert entry.read is not None or entry.write is not None
        assert bool(entry.reads) == (entry.read is not None)
        assert bool(entry.writes) == (entry.write is not None or entry.write_folder is not None)


def test_every_signature_leads_to_its_format_and_every_format_has_one() -> None:
    for name, (home, *_) in SIGNATURES.items():
        module = importlib.import_module(f"adjudge.data.formats.{home}")
        assert name in {entry.name for entry in module.FORMATS}
    # The others are named, never found: kinds of file of a format that is.
    kinds = {"tsv", "jsonl", "parquet", "consensus-jsonl", "consensus-parquet"}
    kinds |= {"evalica", "crowd-kit-pairs", "arena"}
    assert {name for name, entry in formats().items() if entry.read} - SIGNATURES.keys() == kinds


def test_a_plain_file_loads_no_other_format(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("item,judge,label\na,w,1\n")
    code = (
        "import sys; from adjudge.data.formats import read; read(sys.argv[1]); "
        "print(*(name for name in sys.modules if name.startswith('adjudge.data.formats.')))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "data.csv")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = {name.rpartition(".")[2] for name in ran.stdout.split()}
    others = {module for module, *_ in SIGNATURES.values()} - {"plain"}
    assert not loaded & others


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a,b\n1,2\n",
            "data, line 1: no known format fits a file that begins 'a,b'; wanted a header such as "
            "'item,judge,label' (or topic and document); its columns are a, b",
        ),
        ("\n \n", "data: there is nothing in the file"),
        ("", "data: the file is empty (0 bytes)"),
        (
            "PK\x03\x04\x00\x00",
            "data: is a zip archive that is cut short",
        ),
        (
            "\x01\x00\x02",
            "data: there are NUL bytes in the file; wanted text",
        ),
    ],
)
def test_a_file_that_fits_none(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "data").write_bytes(text.encode())
    with pytest.raises(BadData) as raised:
        detect(tmp_path / "data")
    assert raised.value.sentence == message


def test_a_folder_that_fits_none(tmp_path: Path) -> None:
    folder = tmp_path / "judgments"
    folder.mkdir()
    with pytest.raises(BadData) as raised:
        detect(folder)
    assert raised.value.sentence == (
        "judgments: is a folder that no known format fits; "
        "wanted a file, or a BEIR folder (qrels/*.tsv, corpus.jsonl, queries.jsonl)"
    )


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadData) as raised:
        read(tmp_path / "none")
    assert raised.value.sentence == f"{tmp_path}/none: there is no such file"


def test_an_encoding_that_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("item,judge,label\na,w,1\n")
    with pytest.raises(UnknownName) as raised:
        read(tmp_path / "data", encoding="klingon")
    assert raised.value.sentence == (
        "there is no encoding 'klingon'. Known: utf-8, latin-1, utf-16, cp1252"
    )


def test_a_format_that_is_not_known() -> None:
    with pytest.raises(UnknownName) as raised:
        named("crowdkit")
    assert raised.value.nearest == ("crowd-kit",)
    assert raised.value.sentence.startswith(
        "there is no format 'crowdkit'; did you mean 'crowd-kit'?"
    )


def test_the_named_format_wins(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("task,worker,label\na,w,1\n")
    assert read(tmp_path / "data").format == "crowd-kit"
    assert read(tmp_path / "data", format="csv").format == "csv"


def test_a_format_that_is_only_read_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(BadData) as raised:
        write(Content(), tmp_path / "out", format="trec-rf10")
    assert raised.value.sentence == "trec-rf10 is read, not written"


def test_every_format_refuses_to_write_nothing(tmp_path: Path) -> None:
    for entry in formats().values():
        if entry.writes:
            with pytest.raises(AdjudgeError):
                write(Content(), tmp_path / f"out{entry.extension}", format=entry.name)
    assert not list(tmp_path.iterdir())
