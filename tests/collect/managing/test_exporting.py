"""Taking a project out."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from adjudge.collect.services import exporting
from adjudge.collect.services.desk import Desk
from adjudge.collect.services.office import Office
from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import Answer, Arrival
from adjudge.collect.values.project import Arm
from adjudge.data.formats import read
from adjudge.errors import BadData, BadSetting, NotFound, UnknownName
from adjudge.models.majority_vote import MajorityVote
from sites import small_project


@pytest.fixture
def judged(tmp_path: Path) -> tuple[Office, str]:
    """A project that two judges have judged whole, one of whom comments in formulas."""
    store = Database(tmp_path / "adjudge.db")
    office, desk = Office(store), Desk(store)
    slug = office.create_project(small_project(training=False)).slug
    office.set_state(slug, "open")
    for key in ("a", "b"):
        judge = desk.arrive(Arrival(project=slug, channel="api", key=key)).judge
        desk.consent(judge)
        while (page := desk.page(judge)) is not None:
            answers = [
                Answer(
                    row=row.row,
                    label="Good" if "A good lamp" in row.title else "Bad",
                    comment="=SUM(A1:A9)",
                )
                for row in page.rows
            ]
            desk.submit(judge, page.page, page.key, answers)
    return office, slug


def written(office: Office, slug: str, name: str, **more: object) -> bytes:
    file = io.BytesIO()
    exporting.write(office, slug, name, file, **more)  # type: ignore[arg-type]
    return file.getvalue()


def test_every_export_is_written_or_says_what_it_wants(judged: tuple[Office, str]) -> None:
    office, slug = judged
    own = office.judgments(slug)
    assert own is not None
    labels = MajorityVote().fit(own).labels
    faults: dict[str, str] = {}
    for entry in exporting.formats():
        try:
            assert written(office, slug, entry.name, labels=labels), entry.name
        except BadData as fault:
            faults[entry.name] = str(fault)
    wanted = ("quepid", "opensearch", "qrels", "beir", "trec-2011")  # Good and Bad have no order
    assert all(any(word in name for word in wanted) for name in faults), faults
    assert all("number" in fault or "order" in fault for fault in faults.values()), faults
    assert "Good" in written(office, slug, "gold-csv").decode()


def test_formulas_are_disarmed_in_csv(judged: tuple[Office, str]) -> None:
    text = written(*judged, "answers").decode()
    assert "'=SUM(A1:A9)" in text
    assert ",=SUM" not in text
    assert ',"=SUM' not in text


def test_judgments_come_back_as_they_were(judged: tuple[Office, str], tmp_path: Path) -> None:
    office, slug = judged
    path = tmp_path / "j.csv"
    path.write_bytes(written(office, slug, "judgments-csv"))
    back, own = read(path).judgments, office.judgments(slug)
    assert back is not None
    assert own is not None
    assert (len(back), back.item_count, back.judge_count) == (24, 12, 2)
    assert set(back.items.to_pylist()) == set(own.items.to_pylist())


def test_labels_want_a_consensus(judged: tuple[Office, str]) -> None:
    office, slug = judged
    with pytest.raises(BadData, match="a consensus has to be fitted first"):
        written(office, slug, "labels-consensus")
    own = office.judgments(slug)
    assert own is not None
    labels = MajorityVote().fit(own).labels
    text = written(office, slug, "labels-consensus", labels=labels).decode()
    assert len(text.splitlines()) == 13


def test_an_archive_makes_the_project_anew(judged: tuple[Office, str], tmp_path: Path) -> None:
    office, slug = judged
    path = tmp_path / "p.zip"
    path.write_bytes(written(office, slug, "archive"))
    again, own = exporting.read_archive(path), office.value(slug)
    assert set(again.items) == set(own.items)
    assert {gold.item: gold for gold in again.golds} == {gold.item: gold for gold in own.golds}
    assert (again.scale, again.guidelines) == (own.scale, own.guidelines)
    made = office.create_project(again)
    assert (made.items, made.golds) == (12, 16)
    with zipfile.ZipFile(path) as archive:
        log = archive.read("log.jsonl").decode().splitlines()
    assert json.loads(log[-1])["event"]


def test_bad_names_and_files(judged: tuple[Office, str], tmp_path: Path) -> None:
    office, slug = judged
    with pytest.raises(UnknownName, match="did you mean 'answers'"):
        written(office, slug, "answer")
    with pytest.raises(NotFound):
        written(office, "nothing", "answers")
    path = tmp_path / "p.zip"
    path.write_bytes(b"nonsense")
    with pytest.raises(BadData, match=r"p\.zip: is no archive of a project"):
        exporting.read_archive(path)


def test_arms_go_with_the_archive(tmp_path: Path) -> None:
    store = Database(tmp_path / "adjudge.db")
    office = Office(store)
    arms = (
        Arm(name="even", training_mix="uniform", feedback=False, pay_per_page="0.50"),
        Arm(name="own", screening_mix={"Good": 3, "Bad": 1}, guidelines="# Else"),
    )
    made = replace(small_project(judgments_by_arm=True), arms=arms)
    slug = office.create_project(made).slug
    assert office.value(slug).arms == office.arms(slug) == arms
    path = tmp_path / "p.zip"
    path.write_bytes(written(office, slug, "archive"))
    again = exporting.read_archive(path)
    assert (again.arms, again.policy["judgments_by_arm"]) == (arms, True)
    assert office.arms(office.create_project(again).slug) == arms
    plain = office.create_project(small_project()).slug
    assert office.value(plain).arms == ()
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    about = json.loads(parts["project.json"])
    about["arms"][0]["training_mix"] = {"Ugly": 1}
    bad, old = tmp_path / "bad.zip", tmp_path / "old.zip"
    _pack(bad, {**parts, "project.json": json.dumps(about).encode()})
    with pytest.raises(BadSetting, match="training_mix of arm even = 'Ugly'"):
        exporting.read_archive(bad)
    del about["arms"]  # as archives were before
    _pack(old, {**parts, "project.json": json.dumps(about).encode()})
    assert exporting.read_archive(old).arms == ()


def _pack(path: Path, parts: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, body in parts.items():
            archive.writestr(name, body)
