"""Files named by URIs: those of this machine, by Arrow's file systems."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adjudge.data.formats.uris import expand_patterns, fetch_file, name_of, open_uri
from adjudge.errors import BadData


@pytest.fixture
def buckets(tmp_path: Path) -> Path:
    """Three Parquet files and a CSV file, one of them a folder deeper."""
    for number, name in enumerate(("a 1.parquet", "b.parquet", "deep/c.parquet")):
        path = tmp_path / "crowd" / "parts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = {"item": ["x", "y"], "judge": [f"j{number}"] * 2, "label": ["1", "0"]}
        pq.write_table(pa.table(rows), path)
    (tmp_path / "crowd" / "parts" / "d.csv").write_text("item,judge,label\nx,k,1\ny,k,1\n")
    return tmp_path


def test_a_pattern_is_the_files_that_fit_it(buckets: Path) -> None:
    base = f"file://{buckets}/crowd/parts"
    names = [name_of(place) for place in expand_patterns([f"{base}/*.parquet"])]
    assert names == ["a 1.parquet", "b.parquet"]
    assert expand_patterns([f"{base}/**/*.parquet"]) == [
        f"{base}/a%201.parquet",
        f"{base}/b.parquet",
        f"{base}/deep/c.parquet",
    ]
    assert expand_patterns([f"{base}/*/c.*", "-"]) == [f"{base}/deep/c.parquet", "-"]
    folder = buckets / "crowd" / "parts"
    assert expand_patterns([f"{folder}/[ab]*.parquet"]) == [
        f"{folder}/a 1.parquet",
        f"{folder}/b.parquet",
    ]


def test_a_file_is_fetched_and_goes_again(buckets: Path) -> None:
    (uri,) = expand_patterns([f"file://{buckets}/crowd/parts/a*"])
    with fetch_file(uri) as path:
        assert path.name == "a 1.parquet"
        assert path.read_bytes() == (buckets / "crowd" / "parts" / "a 1.parquet").read_bytes()
    assert not path.exists()
    with open_uri(uri) as file:
        assert pq.read_table(file).num_rows == 2
    with fetch_file(str(buckets)) as same:
        assert same == buckets


@pytest.mark.parametrize(
    ("place", "complaint"),
    [
        ("file://{0}/crowd/none/*.csv", r"^file://{0}/crowd/none/\*\.csv: cannot be read \("),
        ("file://{0}/crowd/parts/*.tsv", r"^file://{0}/crowd/parts/\*\.tsv: no file fits this"),
        ("{0}/*.tsv", r"^{0}/\*\.tsv: no file fits this pattern$"),
        ("ftp://u:secret@host/*.csv", r"^ftp://host/\*\.csv: cannot be read \("),
    ],
)
def test_what_is_not_there_is_named_without_its_key(
    place: str, complaint: str, tmp_path: Path
) -> None:
    (tmp_path / "crowd" / "parts").mkdir(parents=True)
    with pytest.raises(BadData, match=complaint.format(tmp_path)) as refused:
        expand_patterns([place.format(tmp_path)])
    assert "secret" not in refused.value.sentence


def test_a_file_that_cannot_be_fetched_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(BadData, match=r"/gone\.csv: cannot be read \("),
        fetch_file(f"file://{tmp_path}/gone.csv"),
    ):
        pass
