"""Taking a project out."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.collect.services import exports
from adjudge.collect.services.archive import read_archive
from adjudge.collect.services.judging import JudgingService
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.values.judging import Answer, Arrival
from adjudge.collect.values.project import Arm, GoldEntry, Item, Project
from adjudge.data.formats import formats, read
from adjudge.data.scale import Scale
from adjudge.errors import AdjudgeError, BadData, BadSetting, NotFound, UnknownName
from adjudge.models.majority_vote import MajorityVote
from sites import small_project
from stores import new_store


def written(services: RequesterServices, slug: str, name: str, **more: object) -> bytes:
    file = io.BytesIO()
    services.exports.write(slug, name, file, **more)  # type: ignore[arg-type]
    return file.getvalue()


def test_a_project_is_restored_from_its_archive(
    hostile: tuple[RequesterServices, str], tmp_path: Path
) -> None:
    services, slug = hostile
    path = tmp_path / "p.zip"
    path.write_bytes(written(services, slug, "archive"))
    again, own = read_archive(path), services.projects.read(slug)
    assert set(again.items) == set(own.items)
    assert {gold.item: gold for gold in again.golds} == {gold.item: gold for gold in own.golds}
    assert (again.scale, again.guidelines) == (own.scale, own.guidelines)
    made = services.projects.create(again)
    assert (made.items, made.golds) == (12, 6)
    with zipfile.ZipFile(path) as archive:
        log = archive.read("log.jsonl").decode().splitlines()
    assert json.loads(log[-1])["event"]


def test_bad_names_and_files(hostile: tuple[RequesterServices, str], tmp_path: Path) -> None:
    services, slug = hostile
    with pytest.raises(UnknownName, match="did you mean 'answers'"):
        written(services, slug, "answer")
    with pytest.raises(NotFound):
        written(services, "nothing", "answers")
    with pytest.raises(BadData, check=lambda fault: fault.code == "no-pairs"):
        written(services, slug, "comparisons")
    path = tmp_path / "p.zip"
    path.write_bytes(b"nonsense")
    with pytest.raises(BadData) as caught:
        read_archive(path)
    assert (caught.value.source, caught.value.code) == ("p.zip", "bad-archive")


def test_arms_go_with_the_archive(tmp_path: Path) -> None:
    store = new_store(tmp_path / "adjudge.db")
    services = RequesterServices(store)
    arms = (
        Arm(name="even", training_mix="uniform", feedback=False, pay_per_page="0.50"),
        Arm(name="own", screening_mix={"Good": 3, "Bad": 1}, guidelines="# Else"),
    )
    made = replace(small_project(judgments_by_arm=True), arms=arms)
    slug = services.projects.create(made).slug
    assert services.projects.read(slug).arms == services.arms.get_all(slug) == arms
    path = tmp_path / "p.zip"
    path.write_bytes(written(services, slug, "archive"))
    again = read_archive(path)
    assert (again.arms, again.policy["judgments_by_arm"]) == (arms, True)
    assert services.arms.get_all(services.projects.create(again).slug) == arms
    plain = services.projects.create(small_project()).slug
    assert services.projects.read(plain).arms == ()
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    about = json.loads(parts["project.json"])
    about["arms"][0]["training_mix"] = {"Ugly": 1}
    bad, old = tmp_path / "bad.zip", tmp_path / "old.zip"
    _pack(bad, {**parts, "project.json": json.dumps(about).encode()})
    with pytest.raises(BadSetting, match="training_mix of arm even = 'Ugly'"):
        read_archive(bad)
    del about["arms"]  # as archives were before
    _pack(old, {**parts, "project.json": json.dumps(about).encode()})
    assert read_archive(old).arms == ()


@pytest.mark.parametrize(
    ("part", "odd", "refused"),
    [
        ("name", "L\0am\x1bps \ud800", False),
        ("name", "L" * 201, True),
        ("labels", ["Good", "Ba\0d"], False),
        ("labels", ["Good", "B" * 1_001], True),
        ("grades", [0.0, float("inf")], True),
        ("colours", {"Good\x1b": "red"}, False),
        ("policy", {"training_mix": {"Good": 1e308, "Bad": 1e308}}, True),
        ("policy", {"consent": "\0\ud800"}, False),
        ("item", "i\0\x7f\ud800", False),
        ("item", "i" * 1_001, True),
        ("reason", "r\0\x1b\ud800", False),
        ("question", {"name": "why", "kind": "words", "text": "W\x1bhy\udc00"}, False),
        ("arm", {"name": "a\0\ud800"}, False),
    ],
)
def test_what_cannot_be_stored_is_left_out_of_an_archive_or_refused(
    tmp_path: Path, part: str, odd: Any, refused: bool
) -> None:
    """Two ways: a long name or an impossible number is refused, a control character is left out."""
    services = RequesterServices(new_store(tmp_path / "adjudge.db"))
    slug = services.projects.create(small_project()).slug
    with zipfile.ZipFile(io.BytesIO(written(services, slug, "archive"))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    about = json.loads(parts["project.json"])
    item, *items = map(json.loads, parts["items.jsonl"].decode().splitlines())
    gold, *golds = map(json.loads, parts["gold.jsonl"].decode().splitlines())
    if part in ("labels", "grades"):
        about["scale"] |= {part: odd, "truths": about["scale"]["labels"]}
    elif part in ("arm", "question"):
        about[f"{part}s"] = [odd]
    elif part == "item":
        item["name"] = odd
    elif part == "reason":
        gold["reason"] = odd
    else:
        about[part] = odd
    parts["project.json"] = json.dumps(about).encode()
    parts["items.jsonl"] = "\n".join(map(json.dumps, [item, *items])).encode()
    parts["gold.jsonl"] = "\n".join(map(json.dumps, [gold, *golds])).encode()
    _pack(tmp_path / "odd.zip", parts)
    if refused:
        with pytest.raises(AdjudgeError):
            services.projects.create(read_archive(tmp_path / "odd.zip"))
        return
    made = services.projects.create(read_archive(tmp_path / "odd.zip"))
    assert not re.search(r"[\0-\x08\x0b-\x1f\x7f\ud800-\udfff]", repr_of(services, made.slug))


def repr_of(services: RequesterServices, slug: str) -> str:
    project = services.projects.read(slug)
    texts = [project.name, str(project.scale), project.guidelines, str(project.colours)]
    texts += [item.name for item in project.items] + [gold.reason for gold in project.golds]
    texts += [one.text for one in project.questions] + [arm.name for arm in project.arms]
    return "".join(texts) + str(project.policy.get("consent", ""))


def _pack(path: Path, parts: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, body in parts.items():
            archive.writestr(name, body)


HOSTILE = ("=cmd|'/C'!A0", "=1+1", "@SUM(A1)", "+1+1", "-2+3", "'=1", "''@x", "＝1+1", "-")
COMMENTS = ("=1+1", "\t=1+1", "\r=1+1", "\n@SUM(A1)")  # what is no name, but may be said
NUMBER = re.compile(r"[+-]?[0-9]+([.][0-9]+)?")


def hostile_project() -> Project:
    """A project whose every name and text would run in a spreadsheet."""
    items = tuple(
        Item(name=f"{topic}/{word}", topic=topic, query=topic, document=word, title=word, text=word)
        for word in HOSTILE
        for topic in ("=topic", "@topic")
    )
    golds = tuple(GoldEntry(item=item.name, accepted=("1",), reason="=no") for item in items[:6])
    return Project(
        name="=1+1",
        scale=Scale.parse("0 < 1"),
        items=items,
        golds=golds,
        policy={"training": False, "judgments_per_item": 1, "screening_golds": 0},
    )


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[RequesterServices, str]:
    store = new_store(tmp_path_factory.mktemp("hostile") / "adjudge.db")
    services, judging = RequesterServices(store), JudgingService(store)
    slug = services.projects.create(hostile_project()).slug
    services.projects.set_state(slug, "open")
    judge = judging.arrive(Arrival(project=slug, channel="panel", key="=1+1")).judge
    judging.consent(judge)
    while (page := judging.page(judge)) is not None:
        answers = [
            Answer(row=row.row, label="1", comment=COMMENTS[row.row % len(COMMENTS)])
            for row in page.rows
        ]
        judging.submit(judge, page.page, page.key, answers)
    return services, slug


def sheets(name: str, extension: str, body: bytes) -> Iterator[tuple[str, str]]:
    """Whatever in an export a spreadsheet opens, with what is between its cells."""
    marks = {".csv": ",", ".tsv": "\t"}
    if extension in marks:
        yield marks[extension], body.decode()
    elif extension == ".zip":
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            for part in archive.namelist():
                yield from sheets(name, Path(part).suffix, archive.read(part))


@pytest.mark.parametrize(
    "name",
    [entry.name for entry in exports.list_exports() if entry.name != "comparisons"],  # no pairs
)
def test_no_cell_of_any_export_runs_and_all_come_back_equal(
    hostile: tuple[RequesterServices, str], name: str, tmp_path: Path
) -> None:
    services, slug = hostile
    entry = exports.find_export(name)
    judgments, gold = services.exports.get_judgments(slug), services.exports.get_gold(slug)
    assert judgments is not None
    assert gold is not None
    labels = MajorityVote().fit(judgments).labels
    body = written(services, slug, name, labels=labels)
    for mark, text in sheets(name, entry.extension, body):
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=mark))
        assert rows
        for cell in (cell for row in rows for cell in row):
            assert NUMBER.fullmatch(cell) or cell[:1] not in set("=+-@\t\r\n＝＋－＠"), cell
    chosen = name.partition("-")[2]
    if entry.kind not in ("judgments", "gold", "labels") or entry.extension == ".zip":
        return
    if formats()[chosen].read is None:
        return
    path = tmp_path / f"out{entry.extension}"
    path.write_bytes(body)
    back = read(path, format=chosen, kind=entry.kind)  # type: ignore[arg-type]
    if entry.kind == "judgments":
        assert back.judgments is not None
        assert set(back.judgments.items.to_pylist()) == set(judgments.items.to_pylist())
        if back.judgments.documents is not None:
            assert judgments.documents is not None
            assert set(back.judgments.documents.to_pylist()) == set(judgments.documents.to_pylist())
    elif entry.kind == "gold":
        assert back.gold is not None
        assert set(back.gold.to_table()["item"].to_pylist()) == set(
            gold.to_table()["item"].to_pylist()
        )
    else:
        table = back.labels if back.labels is not None else back.gold.to_table()
        assert set(table["item"].to_pylist()) == set(labels["item"].to_pylist())
