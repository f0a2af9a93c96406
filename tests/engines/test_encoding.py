"""Files beyond memory: dealt out to buckets and grouped, the same judgments as read at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adjudge import BadData, DawidSkene, Judgments, Scale
from adjudge.data.formats import Content, read, write
from adjudge.data.formats.format import Options
from adjudge.engines.encoding import _Encoded, encode_files
from adjudge.kernels.keys import deal
from adjudge.simulation import demo


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The demo crowd with its gold, rows shuffled, so that no item's stand together."""
    made = demo(seed=3)
    path = tmp_path / "j.csv"
    write(Content(judgments=made.judgments, gold=made.truth), tmp_path / "k.csv", format="csv")
    header, *lines = (tmp_path / "k.csv").read_text().splitlines(keepends=True)
    np.random.default_rng(1).shuffle(lines)
    path.write_text("".join([header, *lines]))
    return path


def encoded(paths: list[Path], rows: int, options: Options | None = None) -> tuple[Path, _Encoded]:
    folder = paths[0].parent / f"{paths[0].stem}-{rows}.adjudge"
    folder.mkdir()
    return folder, encode_files(paths, folder, options or Options(), rows=rows)


def rows_of(table: Judgments) -> pa.Table:
    """The judgments as a set of rows."""
    plain = table.to_table().select(["item", "judge", "label"])
    return plain.sort_by([(name, "ascending") for name in plain.column_names])


@pytest.mark.parametrize(("rows", "buckets"), [(10_000, 1), (500, 5), (37, 66)])
def test_the_same_judgments_as_read_at_once(file: Path, rows: int, buckets: int) -> None:
    folder, about = encoded([file], rows)
    whole, content = Judgments.read(file), read(folder)
    table, gold = content.judgments, content.gold
    assert table is not None
    assert gold is not None
    assert about == _Encoded(len(whole), 400, 40, 20, buckets, ("time", "seconds"))
    assert rows_of(table).equals(rows_of(whole))
    assert table.judges.equals(whole.judges)  # in order of first appearance
    assert not (folder / "spilt").exists()
    if buckets == 1:
        assert table.items.equals(whole.items)
    one, two = DawidSkene().fit(whole), DawidSkene().fit(table)
    assert one.labels.sort_by("item").equals(two.labels.sort_by("item"))
    np.testing.assert_array_equal(one.confusion, two.confusion)


def test_rows_of_one_item_keep_their_order(file: Path) -> None:
    folder, _ = encoded([file], 100)
    whole, table = Judgments.read(file), read(folder).judgments
    assert table is not None
    where = {name: number for number, name in enumerate(table.items.to_pylist())}
    for number, name in enumerate(whole.items.to_pylist()):
        other = where[name]
        one = whole.judge[whole.offsets[number] : whole.offsets[number + 1]]
        two = table.judge[table.offsets[other] : table.offsets[other + 1]]
        np.testing.assert_array_equal(one, two)


def test_several_files_are_one(file: Path, tmp_path: Path) -> None:
    lines = file.read_text().splitlines(keepends=True)
    cuts = (1, 700, 1500, len(lines))
    paths = []
    for number in range(3):
        part = tmp_path / f"part-{number}.csv"
        part.write_text("".join([lines[0], *lines[cuts[number] : cuts[number + 1]]]))
        paths.append(part)
    folder, _ = encoded(paths, 300)
    alone, _ = encoded([file], 300)
    together, whole = read(folder).judgments, read(alone).judgments
    assert together is not None
    assert whole is not None
    assert together.to_table().equals(whole.to_table())


def test_parquet_with_numbers_for_ids(tmp_path: Path) -> None:
    table = pa.table({"item": [3, 3, 12, 12], "judge": [1, 2, 1, 2], "label": [0, 1, 1, 1]})
    pq.write_table(table, tmp_path / "n.parquet")
    folder, _ = encoded([tmp_path / "n.parquet"], 2)
    found = read(folder).judgments
    assert found is not None
    assert rows_of(found).equals(rows_of(Judgments.read(tmp_path / "n.parquet")))


@pytest.mark.parametrize("rows", [10_000, 50])
def test_a_bad_row_is_named_by_file_and_line(file: Path, rows: int, tmp_path: Path) -> None:
    lines = file.read_text().splitlines()
    header = lines[0].split(",")
    cells = lines[1234].split(",")
    cells[header.index("judge")] = ""
    lines[1234] = ",".join(cells)
    bad = tmp_path / "bad.csv"
    bad.write_text("\n".join(lines) + "\n")
    with pytest.raises(
        BadData, match=r"^bad\.csv, line 1235, column judge: the judge id is empty$"
    ):
        encoded([bad], rows)
    with pytest.raises(
        BadData, match=r"^bad\.csv, line 1235, column judge: the judge id is empty$"
    ):
        encoded([tmp_path / "j.csv", bad], rows + 1)


def test_a_label_off_the_scale(file: Path) -> None:
    options = Options(scale=Scale.parse("0<1"))
    with pytest.raises(BadData, match=r"^j\.csv, line \d+, column label: '2' is not on the scale"):
        encoded([file], 100, options)


def test_files_with_other_columns_and_without_rows(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("item,judge,label\na,x,1\n")
    with pytest.raises(
        BadData, match=r"^other\.csv: has the columns item, judge, label, and j\.csv"
    ):
        encoded([file, other], 100)
    empty = tmp_path / "empty.csv"
    empty.write_text("item,judge,label\n")
    with pytest.raises(
        BadData, match=r"^empty\.csv: there are no judgments: a header and no rows$"
    ):
        encoded([empty], 100)
    lacking = tmp_path / "lacking.csv"
    lacking.write_text("item,label\na,1\n")
    with pytest.raises(BadData, match=r"^lacking\.csv, column judge: no column 'judge'; "):
        encoded([lacking], 100)


def test_ids_are_dealt_out_evenly_and_always_alike() -> None:
    texts = [f"item-{number:07}".encode() for number in range(20_000)]
    ends = np.cumsum([0, *map(len, texts)])
    letters = np.frombuffer(b"".join(texts), dtype=np.uint8)
    out = np.empty(len(texts), dtype=np.uint16)
    deal(ends, letters, 10, out)
    assert np.bincount(out, minlength=10) == pytest.approx(2000, rel=0.1)
    again = np.empty(1, dtype=np.uint16)
    deal(ends[17:19], letters, 10, again)
    assert again[0] == out[17]
