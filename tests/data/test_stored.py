"""Encoded judgments on disk: what is written is read back, and damage is found and named."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge import BadData, Judgments
from adjudge.data.mapped import even_cuts, map_of, path_of
from adjudge.data.stored import Writer, open_stored, read_manifest, store
from adjudge.simulation import demo
from strategies import gold_for, judgments


def fresh(folder: Path, name: str = "t.adjudge") -> Path:
    number = len(list(folder.iterdir()))
    made = folder / str(number) / name
    made.mkdir(parents=True)
    return made


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_what_is_stored_is_read_back(data: st.DataObject, tmp_path: Path) -> None:
    table = data.draw(judgments(fewer_truths=data.draw(st.booleans())))
    gold = data.draw(gold_for(table))
    folder = fresh(tmp_path)
    store(table, folder, gold)
    back, known = open_stored(folder)
    assert back.scale == table.scale
    assert back.to_table().equals(table.to_table())
    np.testing.assert_array_equal(back.offsets, table.offsets)
    assert back.judges.equals(table.judges)
    assert (known is None) == (gold is None)
    if gold is not None and known is not None:
        np.testing.assert_array_equal(known.align(back), gold.align(table))


def test_parts_are_appended_as_if_written_at_once(tmp_path: Path) -> None:
    table = demo(seed=1).judgments
    whole, parts = fresh(tmp_path), fresh(tmp_path)
    store(table, whole)
    ends = even_cuts(table.offsets, 7)
    assert len(ends) == 8
    with Writer(parts) as writer:
        for start, stop in pairwise(ends):
            writer.append(table.run(start, stop))
        writer.finish(table.scale, table.judges, table.topics)
    for file in sorted(path.name for path in whole.iterdir()):
        if file != "manifest.json":
            assert (whole / file).read_bytes() == (parts / file).read_bytes(), file
    manifest = read_manifest(parts)
    assert [part.items for part in manifest.parts] == list(pairwise(ends))
    assert open_stored(parts)[0].to_table().equals(open_stored(whole)[0].to_table())


def test_arrays_are_mapped_and_know_their_file(tmp_path: Path) -> None:
    folder = fresh(tmp_path)
    store(demo(seed=1).judgments, folder)
    table, _ = open_stored(folder)
    assert path_of(table.judge) == folder / "judge.i4"
    assert path_of(table.judge[1:]) is None  # a part is not the whole
    assert map_of(table.judge[1:]) is not None
    assert map_of(table.judge.copy()) is None
    with pytest.raises(ValueError, match="read-only"):
        table.judge[0] = 1


@pytest.mark.parametrize("file", ["judge.i4", "label.i1", "offsets.i8", "items.utf8", "topic.i4"])
def test_a_flipped_bit_names_its_part(file: str, tmp_path: Path) -> None:
    table = demo(seed=1).judgments
    folder = fresh(tmp_path)
    ends = even_cuts(table.offsets, 3)
    with Writer(folder) as writer:
        for start, stop in pairwise(ends):
            writer.append(table.run(start, stop))
        writer.finish(table.scale, table.judges, table.topics)
    part = read_manifest(folder).parts[1]
    data = bytearray((folder / file).read_bytes())
    data[part.spans[file][0] + 5] ^= 4
    (folder / file).write_bytes(data)
    with pytest.raises(BadData) as caught:
        open_stored(folder)
    wanted = (
        rf"t\.adjudge: part 1 of 3 \(items {ends[1]} to {ends[2]}\) is damaged: the checksum of "
        rf"{re.escape(file)} is [0-9a-f]{{8}}, and was {part.checksums[file]:08x}; "
        r"encode the judgments again, or bring the file back"
    )
    assert re.fullmatch(wanted, str(caught.value))


def test_names_of_judges_are_checked_too(tmp_path: Path) -> None:
    folder = fresh(tmp_path)
    store(demo(seed=1).judgments, folder)
    data = bytearray((folder / "judges.utf8").read_bytes())
    data[0] ^= 1
    (folder / "judges.utf8").write_bytes(data)
    with pytest.raises(
        BadData, match=r"^t\.adjudge/judges\.utf8: is damaged: its checksum differs$"
    ):
        open_stored(folder)


def test_a_file_that_is_cut_short_or_gone(tmp_path: Path) -> None:
    folder = fresh(tmp_path)
    table = Judgments.from_table({"item": ["a", "a"], "judge": ["x", "y"], "label": ["1", "0"]})
    store(table, folder)
    (folder / "judge.i4").write_bytes(b"1234")
    with pytest.raises(BadData, match=r"^t\.adjudge/judge\.i4: has 4 bytes; wanted 8$"):
        open_stored(folder)
    (folder / "judge.i4").unlink()
    with pytest.raises(BadData, match=r"^t\.adjudge/judge\.i4: is not there$"):
        open_stored(folder)


def test_a_manifest_that_is_none_or_of_a_later_version(tmp_path: Path) -> None:
    folder = fresh(tmp_path)
    store(demo(seed=1).judgments, folder)
    told = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**told, "version": 9}))
    with pytest.raises(
        BadData, match=r"manifest\.json: is 'adjudge encoded judgments', version 9; "
    ):
        open_stored(folder)
    (folder / "manifest.json").write_text("{")
    with pytest.raises(BadData, match=r"manifest\.json: is no manifest of encoded judgments"):
        open_stored(folder)


def test_even_cuts_by_hand() -> None:
    assert even_cuts(np.array([0, 1, 2, 3, 4]), 2) == [0, 2, 4]
    assert even_cuts(np.array([0, 10, 10, 20]), 2) == [0, 1, 3]
    assert even_cuts(np.array([0, 9]), 4) == [0, 1]
    assert even_cuts(np.array([0]), 3) == [0, 0]
