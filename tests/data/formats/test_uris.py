"""Files named by URIs: of this machine, and of a small server that speaks enough of S3."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adjudge.data.formats.uris import _shown_uri, expand_patterns, fetch_file, name_of, open_uri
from adjudge.errors import BadData
from servers import Quiet, serving

DATE = "Mon, 16 Nov 2026 00:00:00 GMT"


class S3(Quiet):
    """A folder of buckets over HTTP, to read: objects, parts of them, and lists. No signatures."""

    root: Path
    asked: list[str]

    def do_GET(self) -> None:  # noqa: N802
        place, query = urlsplit(self.path), parse_qs(urlsplit(self.path).query)
        self.asked.append(f"{self.command} {place.path}")
        bucket, _, key = unquote(place.path).lstrip("/").partition("/")
        if "list-type" in query:
            self._list(bucket, query.get("prefix", [""])[0], "delimiter" in query)
            return
        file = self.root / bucket / key
        if key and not file.is_file():
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
            return
        data = file.read_bytes() if key else b""
        if "Range" in self.headers:
            first, last = self.headers["Range"].removeprefix("bytes=").split("-")
            self._answer(206, data[int(first) : int(last) + 1])
        else:
            self._answer(200, data)

    def do_HEAD(self) -> None:  # noqa: N802
        self.do_GET()

    def _list(self, bucket: str, prefix: str, flat: bool) -> None:
        files = sorted(path for path in (self.root / bucket).rglob("*") if path.is_file())
        keys = [path.relative_to(self.root / bucket).as_posix() for path in files]
        lines, folders = [], set()
        for key, path in zip(keys, files, strict=True):
            rest = key.removeprefix(prefix)
            if not key.startswith(prefix):
                continue
            if flat and "/" in rest:
                folders.add(prefix + rest.partition("/")[0] + "/")
                continue
            lines.append(
                f"<Contents><Key>{escape(key)}</Key><Size>{path.stat().st_size}</Size>"
                "<LastModified>2026-11-16T00:00:00.000Z</LastModified></Contents>"
            )
        lines += [f"<CommonPrefixes><Prefix>{name}</Prefix></CommonPrefixes>" for name in folders]
        text = f"<ListBucketResult><Name>{bucket}</Name><KeyCount>{len(lines)}</KeyCount>"
        text += "<IsTruncated>false</IsTruncated>" + "".join(lines) + "</ListBucketResult>"
        self._answer(200, f'<?xml version="1.0" encoding="UTF-8"?>{text}'.encode())

    def _answer(self, status: int, data: bytes) -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Length", str(len(data))),
            ("Last-Modified", DATE),
            ("ETag", '"1"'),
            ("Content-Type", "application/octet-stream"),
        ):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


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


@pytest.fixture
def s3(buckets: Path) -> Iterator[tuple[str, list[str]]]:
    """What to put after a URI to be led to a server of the buckets, and what it was asked."""
    asked: list[str] = []
    handler = type("Handler", (S3,), {"root": buckets, "asked": asked})
    with serving(handler) as address:
        place = address.removeprefix("http://")
        yield f"?region=us-east-1&scheme=http&endpoint_override={place}", asked


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


def test_files_of_an_s3_server(s3: tuple[str, list[str]], buckets: Path) -> None:
    options, asked = s3
    found = expand_patterns([f"s3://key:secret@crowd/parts/*.parquet{options}"])
    assert [_shown_uri(uri) for uri in found] == [
        "s3://crowd/parts/a%201.parquet",
        "s3://crowd/parts/b.parquet",
    ]
    for uri in found:
        with open_uri(uri) as file:
            assert pq.read_table(file).num_rows == 2
    with fetch_file(found[0]) as path:
        assert path.read_bytes() == (buckets / "crowd" / "parts" / "a 1.parquet").read_bytes()
    assert any(line.startswith("GET /crowd/parts/a") for line in asked)


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
