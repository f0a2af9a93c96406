"""Files are checked before reading, and appear complete or not at all."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from adjudge.data.formats.opening import (
    File,
    _opened,
    not_text,
    reading,
)
from adjudge.data.formats.writing import written_folder, written_whole
from adjudge.errors import BadData
from faults import fault_of


def test_a_compressed_file_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"item,judge\n" * 100)[:-12])
    with pytest.raises(BadData) as raised, reading(path), _opened(path) as file:
        file.read()
    assert fault_of(raised.value) == "a.gz: unreadable-file"


def test_a_file_that_may_not_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadData) as raised, reading(tmp_path / "a.csv"):
        raise PermissionError(13, "Permission denied")
    assert fault_of(raised.value) == "a.csv: unreadable-file"


def test_bytes_in_another_encoding_are_named_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("one\ntwo\ncafé\n".encode("latin-1"))
    error = not_text(File.at(path, "utf-8"))
    assert (error.line, error.value) == (3, 0xE9)
    assert fault_of(error) == "a.csv, line 3: bad-encoding"
    assert fault_of(not_text(File.at(path, "ascii"))) == "a.csv, line 3: bad-encoding"
    assert fault_of(not_text(File.at(path, "utf-16"))) == "a.csv: bad-encoding"


def test_a_written_file_takes_its_name_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("before")
    with written_whole(path) as file:
        file.write(b"after")
        assert path.read_text() == "before"
    assert path.read_text() == "after"
    assert os.listdir(tmp_path) == ["labels.csv"]


def test_a_crash_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("before")

    def crash() -> None:
        with written_whole(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        crash()
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["labels.csv"]


def test_a_device_is_written_in_place(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with written_whole(pipe) as file:
            file.write(b"through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with written_whole(Path("-")) as file:
        file.write(b"to the screen")
    assert capfdbinary.readouterr().out == b"to the screen"


def test_a_folder_appears_complete(tmp_path: Path) -> None:
    path = tmp_path / "beir"
    with written_folder(path) as folder:
        (folder / "a").write_text("1")
        assert not path.exists()
    assert (path / "a").read_text() == "1"
    assert os.listdir(tmp_path) == ["beir"]


def _crash_in_folder(path: Path, replaces: frozenset[str]) -> None:
    with written_folder(path, replaces=replaces) as folder:
        (folder / "new").write_text("1")
        raise KeyboardInterrupt


def test_a_crash_leaves_no_folder_where_none_was(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        _crash_in_folder(tmp_path / "beir", frozenset())
    assert os.listdir(tmp_path) == []


def test_a_folder_of_an_earlier_run_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "beir"
    path.mkdir()
    (path / "old").write_text("0")
    with written_folder(path, replaces=frozenset({"old", "new"})) as folder:
        (folder / "new").write_text("1")
    assert os.listdir(path) == ["new"]
    assert os.listdir(tmp_path) == ["beir"]


def test_a_crash_leaves_the_folder_of_an_earlier_run(tmp_path: Path) -> None:
    path = tmp_path / "beir"
    path.mkdir()
    (path / "old").write_text("0")
    with pytest.raises(KeyboardInterrupt):
        _crash_in_folder(path, frozenset({"old"}))
    assert os.listdir(path) == ["old"]
    assert os.listdir(tmp_path) == ["beir"]


def test_a_folder_with_anything_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(BadData) as raised, written_folder(tmp_path, replaces=frozenset({"old"})):
        pass
    assert fault_of(raised.value) == (f"{tmp_path}: folder-not-empty")
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_a_folder_is_not_written_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(BadData) as raised, written_folder(tmp_path / "a"):
        pass
    assert fault_of(raised.value) == f"{tmp_path}/a: not-a-folder"
