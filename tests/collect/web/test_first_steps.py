"""What somebody new meets: no dead ends, no ids for names, no figure without its reach."""

from __future__ import annotations

import io
import re
import zipfile

import pyarrow as pa
from pyarrow import csv

from adjudge import Judgments
from adjudge.collect.values.project import Arm
from adjudge.evaluation.estimation.choosing import draw_gold
from sites import REASON, Site, small_project

REASON_IN_JSON = f'"reason": "{REASON}"'.encode()


def test_who_is_invited_reads_that_their_name_is_with_their_answers(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project()
    ada.get(f"/projects/{slug}/judges")
    ada.post(f"/projects/{slug}/judges/invites", notes="Grace Hopper", days="3")
    ada.get(f"/projects/{slug}/judges")
    (link,) = re.findall(r'data-copy="(http[^"]+/i/[^"]+)"', ada.text)
    grace, other = site.browser(), site.browser()
    grace.get(link.removeprefix(site.url))
    other.get(f"/j/{slug}")
    words = "know you by a name or an id. They see your answers with it."
    assert words in grace.words
    assert words not in other.words
    assert "You are not asked for a name or an address." in other.words


def test_the_archive_of_a_project_makes_it_again(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project(judgments_per_item=4)
    site.services.arms.set_all(slug, [Arm(name="one"), Arm(name="two", feedback=False)])
    archive = ada.client.get(f"/projects/{slug}/results/export/archive").content
    ada.get("/projects/new")
    made = ada.post(
        "/projects/upload", name="Lamps again", files={"files": ("lamps.zip", archive)}
    ).headers["location"]
    ada.get(made.removeprefix(site.url))
    assert "restored from its archive" in ada.words
    again = site.services.projects.read("lamps-again")
    own = site.services.projects.read(slug)
    assert (again.items, again.golds, again.arms) == (own.items, own.golds, own.arms)
    assert again.policy["judgments_per_item"] == 4
    # One that was tampered with is refused, and nothing is stored.
    bad = archive_with(archive, b"https://example.com/lamp", b"javascript:alert(1)     ")
    ada.get("/projects/new")
    ada.post("/projects/upload", files={"files": ("bad.zip", bad)}, expect=422)
    assert "'javascript:alert(1)" in ada.words
    assert "is not a web address" in ada.words
    ada.get("/projects/new")
    half = archive_with(archive, b'"accepted"', b'"excepted"')
    ada.post("/projects/upload", files={"files": ("half.zip", half)}, expect=422)
    assert "half.zip: is not an archive of a project" in ada.words
    for old, new, words in (
        (b'"name": "Lamps"', b'"name": 5', "is not an archive of a project (name: "),
        (REASON_IN_JSON, b'"reason": [1]', "is not an archive of a project (reason: "),
        (
            b'"accepted": ["Good"]',
            b'"accepted": [7]',
            "is not an archive of a project (accepted.0: ",
        ),
    ):
        ada.get("/projects/new")
        odd = archive_with(archive, old, new)
        ada.post("/projects/upload", files={"files": ("odd.zip", odd)}, expect=422)
        assert words in ada.words, (words, ada.words)
    assert len(site.services.projects.get_all()) == 2


def archive_with(archive: bytes, old: bytes, new: bytes) -> bytes:
    """The archive with something else in its place."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as given, zipfile.ZipFile(out, "w") as made:
        for name in given.namelist():
            made.writestr(name, given.read(name).replace(old, new))
    return out.getvalue()


def test_gold_of_words_with_an_order_begins_a_project_with_it(site: Site) -> None:
    """The order that words suggest is in the form, to be seen and changed."""
    ada = site.set_up()
    ada.get("/projects/new")
    labels = ("bad", "fair", "good", "excellent", "perfect")
    rows = "".join(f"lamp {n},Lamp {n},{labels[n % 5]}\n" for n in range(10))
    ada.post("/projects/upload", files={"files": ("g.csv", f"query,title,gold\n{rows}".encode())})
    scale = site.services.projects.get_scale("g")
    assert (scale.labels, scale.ordinal, scale.grades) == (labels, True, (0, 1, 2, 3, 4))
    ada.get("/projects/g/begin")
    assert "The labels have an order, given by their grades" in ada.words


def test_gold_drawn_from_exported_judgments_comes_back_as_gold(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project(small_project(queries=8, judgments_per_item=2, training=False))
    judge = site.browser().join(slug)
    for _ in range(3):
        judge.answer(slug).go_on(slug)
    exported = ada.get(f"/projects/{slug}/results/export/judgments-csv").text
    judgments = Judgments.from_table(csv.read_csv(io.BytesIO(exported.encode())))
    table = draw_gold(judgments, 3)
    column = pa.array(["Good", "Bad", None])
    filled = table.set_column(table.column_names.index("gold"), "gold", column)
    body = io.BytesIO()
    csv.write_csv(filled, body)
    before = {gold.item: gold.accepted for gold in site.services.gold.get_all(slug)}
    ada.get(f"/projects/{slug}")
    ada.post(f"/projects/{slug}/upload", files={"files": ("g.csv", body.getvalue())})
    after = {gold.item: gold.accepted for gold in site.services.gold.get_all(slug)}
    first, second, _ = table["item"].to_pylist()
    assert after == before | {first: ("Good",), second: ("Bad",)}
