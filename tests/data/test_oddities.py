"""Files as spreadsheets and surveys leave them: read correctly, reported, or refused."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from adjudge.data.formats import read
from adjudge.data.formats.format import Content
from adjudge.data.gold import Gold
from adjudge.data.scale import Scale
from adjudge.errors import BadData, ReadingWarning

HEADER = "item,judge,label\n"


def rows(label: Callable[[int], object]) -> str:
    return "".join(f"i{n // 4},j{n % 4},{label(n)}\n" for n in range(24))


def of(*labels: str) -> str:
    return HEADER + rows(lambda n: labels[n % len(labels)])


def content(folder: Path, text: str | bytes, name: str = "odd.csv", **options: object) -> Content:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(path, **options)


def scale_and_notes(folder: Path, text: str) -> tuple[Scale, str]:
    found = content(folder, text)
    assert found.judgments is not None
    return found.judgments.scale, "; ".join(found.notes)


@pytest.mark.parametrize(
    ("labels", "left", "message"),
    [
        (("10%", "0%", "3%"), ("0", "3", "10"), "percents are read as numbers: 10% is read as 10"),
        (("1 - not at all", "2", "3 - all"), ("1", "2", "3"), "1 - not at all is read as 1"),
        (("1 dog", "1 cat"), None, ""),
        (("1/2", "2/3"), None, ""),
        (("B2", "A1"), None, ""),
        (("3D", "2D model"), None, ""),
    ],
)
def test_labels_that_are_numbers_and_others(
    labels: tuple[str, ...], left: tuple[str, ...] | None, message: str, tmp_path: Path
) -> None:
    scale, notes = scale_and_notes(tmp_path, of(*labels))
    assert scale.ordinal == (left is not None)
    assert scale.labels == (left or tuple(sorted(labels)))
    assert message in notes if message else not notes


@pytest.mark.parametrize(
    ("labels", "ordered"),
    [
        (("5 - much", "1 - not at all", "10 - all"), ("1 - not at all", "5 - much", "10 - all")),
        (("2: fair", "1: bad"), ("1: bad", "2: fair")),
        (("very (3)", "hardly (1)"), ("hardly (1)", "very (3)")),
        (("5 stars", "1 star"), ("1 star", "5 stars")),
        (("10/10", "2/10"), ("2/10", "10/10")),
        (("★★★", "★☆☆", "★★☆"), ("★☆☆", "★★☆", "★★★")),
    ],
)  # fmt: skip
def test_labels_with_a_number_in_them_are_ordered_by_it(
    labels: tuple[str, ...], ordered: tuple[str, ...], tmp_path: Path
) -> None:
    scale, notes = scale_and_notes(tmp_path, of(*labels))
    assert (scale.ordinal, scale.labels) == (True, ordered)
    assert "labels are ordered by the numbers in them" in notes


def test_a_scale_that_is_named_is_kept(tmp_path: Path) -> None:
    named = Scale.parse("2: fair,1: bad")
    found = content(tmp_path, of("2: fair", "1: bad"), scale=named)
    assert found.judgments is not None
    assert (found.judgments.scale, found.notes) == (named, ())


@pytest.mark.parametrize(
    ("labels", "left", "message"),
    [
        (("yes", "yes\u200b", "no"), {"yes", "no"}, "invisible characters are left out"),
        (("geho\u0308rt", "gehört", "no"), {"gehört", "no"}, "invisible characters are left out"),
        (("'yes'", "yes", "no"), {"yes", "no"}, "quotes around labels are left out"),
        (('"=""1"""', '"=""2"""'), {"1", "2"}, '="1" is read as 1'),
        (("yes", "NA", "no"), {"yes", "NA", "no"}, "'NA' may mean a missing label"),
        (("yes", "y", "no"), {"yes", "y", "no"}, "'yes' and 'y' may mean the same"),
        (("oui", "yes", "no"), {"oui", "yes", "no"}, "'oui' and 'yes' may mean the same"),
        (("cat", "cat;dog", "dog"), {"cat", "cat;dog", "dog"}, "looks like several labels at once"),
    ],
)
def test_odd_labels_get_a_note(
    labels: tuple[str, ...], left: set[str], message: str, tmp_path: Path
) -> None:
    scale, notes = scale_and_notes(tmp_path, of(*labels))
    assert set(scale.labels) == left
    assert message in notes


@pytest.mark.parametrize(
    ("item", "count", "message"),
    [
        (lambda n: f"i{n // 4}" + " " * (n % 4 == 1), 6, "6 ids such as 'i0 ' differ from others"),
        (lambda n: f'"=""{n // 4:04}"""', 6, 'column item: ="0000" and the like are read without'),
        (lambda n: ("1", "01")[n // 4 % 2], 2, "'01' and '1' differ only in leading zeros"),
        (lambda _: "1.23457E+12", 1, "1.23457E+12 looks like a number that a spreadsheet cut"),
        (lambda n: f"{n // 4:04}", 6, ""),
        (lambda n: f" i{n // 4}", 6, ""),
        (lambda n: f"{-n // 4}", 7, ""),
        (lambda n: f'"say ""{n // 4}"""', 6, ""),
    ],
)
def test_odd_ids(item: Callable[[int], str], count: int, message: str, tmp_path: Path) -> None:
    text = HEADER + "".join(f"{item(n)},j{n % 4},{n % 2}\n" for n in range(24))
    found = content(tmp_path, text)
    assert found.judgments is not None
    assert found.judgments.item_count == count
    assert "=" not in found.judgments.items[0].as_py()
    notes = [note for note in found.notes if "repeat one judge" not in note]
    assert message in "; ".join(notes) if message else not notes


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (of("yes", "no") + of("yes", "no"), 26),
        (of("yes", "no") + "\ufeff" + of("yes", "no"), 26),
        (HEADER + "ID,Name,Answer\n" + rows(lambda n: "no" if n % 2 else "yes"), 2),
    ],
)
def test_a_header_again_is_refused(text: str, line: int, tmp_path: Path) -> None:
    with pytest.raises(BadData, match=f"line {line}: .* looks like a header again"):
        content(tmp_path, text)
    skipped = content(tmp_path, text, skip_bad=True, scale=Scale.parse("no,yes"))
    assert [bad.place for bad in skipped.bad] == [f"odd.csv, line {line}, column label"]


@pytest.mark.parametrize(
    ("name", "pack", "message"),
    [
        ("odd.csv.xz", lzma.compress, "packed with xz; unpack it first"),
        ("odd.csv", gzip.compress, "packed with gzip"),
        ("odd.zst", lambda t: pa.Codec("zstd").compress(t, asbytes=True), "packed with Zstandard"),
        ("odd.xls", lambda t: b"\xd0\xcf\x11\xe0\xa1\xb1" + bytes(len(t)), "save it as CSV"),
    ],
)
def test_what_is_packed_is_called_so(
    name: str, pack: Callable[[bytes], bytes], message: str, tmp_path: Path
) -> None:
    with pytest.raises(BadData, match=message):
        content(tmp_path, pack(of("yes", "no").encode()), name)


def test_objects_in_the_objects_of_lines_go_by_their_path(tmp_path: Path) -> None:
    lines = [
        {"item": {"id": f"i{n // 4}"}, "judge": {"id": n % 4, "name": "x"}, "label": n % 2}
        for n in range(24)
    ]
    found = content(tmp_path, "\n".join(map(json.dumps, lines)), "odd.jsonl").judgments
    assert found is not None
    assert (found.item_count, found.judges.to_pylist()) == (6, ["0", "1", "2", "3"])


@pytest.mark.slow
def test_no_real_file_gets_a_wrong_note(shared_data: Path) -> None:
    words = ("ordered by the numbers", "may mean", "is missing", "several labels", "looks like a")
    words += ("is taken for the label, not",)
    folders = ("more", "panels", "rte", "web-relevance", "trec-rf10", "pairs")
    files = [path for folder in folders for path in (shared_data / folder).iterdir()]
    files += [p for p in (shared_data / "files").iterdir() if p.suffix in (".csv", ".parquet")]
    for path in files:
        if path.name not in ("llmfao-golden.csv", "label-studio-export.csv"):
            notes = "; ".join(read(path).notes)
            assert not [word for word in words if word in notes], (path.name, notes)


LED = of("1 - not at all", "2", "3")
NAMED = of("bad (1)", "ok (2)", "good (3)")


@pytest.mark.parametrize(
    ("text", "gold", "label"),
    [
        (of("0%", "50%", "100%"), "50%", "50"),
        (of('"0,5"', '"1,5"'), "1,5", "1.5"),
        (LED, "1 - not at all", "1"),
        (LED, "3 - very", "3"),
        (NAMED, "2", "ok (2)"),
        (NAMED, "Good (3)", "good (3)"),
        (of("Relevant", "Not relevant"), "'relevant'", "Relevant"),
    ],
)
def test_gold_is_read_as_the_label_it_means(
    tmp_path: Path, text: str, gold: str, label: str
) -> None:
    """On the scale of the judgments, as commands read it; and by Python, which aligns it later."""
    judgments = content(tmp_path, text).judgments
    assert judgments is not None
    (tmp_path / "gold.csv").write_text(f'item,gold\ni0,"{gold}"\n')
    found = read(tmp_path / "gold.csv", kind="gold", truths=judgments.scale)
    assert found.gold is not None
    assert found.gold.values == (label,)
    assert found.notes == (f"column gold: gold {gold!r} is read as {label}",)
    with pytest.warns(ReadingWarning, match=r"column gold: gold .* is read as"):
        aligned = Gold.read(tmp_path / "gold.csv").align(judgments)
    assert judgments.scale.truths[aligned[0]] == label


@pytest.mark.parametrize("gold", ["7", "4 - very", "3/5", "fine"])
def test_gold_that_means_no_label_is_refused(tmp_path: Path, gold: str) -> None:
    judgments = content(tmp_path, LED).judgments
    assert judgments is not None
    (tmp_path / "gold.csv").write_text(f"item,gold\ni0,{gold}\n")
    with pytest.raises(BadData, match=f"'{gold}' is not on the scale 1 < 2 < 3"):
        read(tmp_path / "gold.csv", kind="gold", truths=judgments.scale)
    with pytest.raises(BadData, match=f"gold '{gold}' of item 'i0' is not on the scale 1 < 2 < 3"):
        Gold.read(tmp_path / "gold.csv").align(judgments)


def test_gold_with_labels_is_read_like_them(tmp_path: Path) -> None:
    text = "item,judge,label,gold\na,j,yes,yes\u200b\na,k,no,yes\u200b\nb,j,no,no\nb,k,no,no\n"
    found = content(tmp_path, text.encode(), "gold.csv")
    assert found.judgments is not None
    assert found.gold is not None
    assert set(found.judgments.scale.labels) == {"yes", "no"}
    assert set(found.gold.values) == {"yes", "no"}
    assert any("invisible characters" in note for note in found.notes)
