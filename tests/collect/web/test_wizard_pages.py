"""A new project step by step, in a browser without scripts."""

from __future__ import annotations

import sqlalchemy as sa

from adjudge.collect.store.schema import uploads
from adjudge.data.scale import Scale
from sites import Site

PAIRS = "query,title,url,snippet\n" + "".join(
    f"lamp {n // 6},Lamp {n},https://shop.example/{n},It shines.\n" for n in range(60)
)


def test_a_plain_file_becomes_an_open_project(site: Site) -> None:
    ada = site.set_up()
    ada.get("/projects/new")
    ada.post("/projects/upload", files={"files": ("my_pairs.csv", PAIRS.encode())})
    (made,) = site.services.projects.get_all()
    assert (made.name, made.items, made.state) == ("My pairs", 60, "draft")
    ada.get(f"/projects/{made.slug}/begin")
    for words in ("60 items to judge", "As a judge will see it", "Partly relevant", "snippet"):
        assert words in ada.words
    assert '<a href="#gold">Pick them</a>' in ada.text  # and what is missing leads to its place
    assert 'id="gold"' in ada.text
    assert "judges come by the open link, by invitation" in ada.words
    step = f"/projects/{made.slug}/begin"
    ada.post(step, do="labels", label=["Good", "", "Bad"], grade=["1", "", "0"], ordered="yes")
    scale = site.services.projects.get_scale(made.slug)
    assert scale == Scale(labels=("Bad", "Good"), ordinal=True, relevant=("Good",), grades=(0, 1))
    items = [item.name for item in site.services.projects.read(made.slug).items[:2]]
    ada.post(step, do="gold", item=items, label=["Good", ""])
    assert [g.item for g in site.services.projects.read(made.slug).golds] == items[:1]
    ada.post(step, do="labels", label=["Yes", "No"], grade=["1", "0"], expect=422)
    assert "gold has that label" in ada.words
    ada.post(step, do="guidelines", guidelines="# Look")
    for preset in ("pilot", "prolific", "colleagues", "open"):
        ada.post(step, do="preset", preset=preset)
        ada.get(step)
        assert ("the panel requires pay" in ada.words) == (preset == "prolific"), preset
    policy = site.services.projects.get_policy(made.slug)[0]
    assert (policy.judgments_per_item, policy.training) == (3, True)
    assert "open" in policy.channels
    assert (policy.panel, policy.return_link, policy.code_finished) == ("none", "", "")
    opened = ada.post(step, do="open")
    assert opened.headers["location"] == f"/projects/{made.slug}?done=opened"
    assert site.services.projects.get(made.slug).state == "open"
    with site.parts.database.read() as on:
        assert on.execute(sa.select(uploads.c.name)).all() == []  # they are stored as items now
    ada.post(step, do="open", expect=409)


def test_files_that_cannot_be_read_are_kept_and_mapped_by_hand(site: Site) -> None:
    ada = site.set_up()
    ada.get("/projects/new")
    body = b"was gesucht,treffer\nlampe,Eine Lampe\nsofa,Ein Sofa\n"
    ada.post("/projects/upload", files={"files": ("odd.csv", body)}, expect=422)
    assert "Your files are kept" in ada.words
    kept = ada.text.partition('name="kept" value="')[2].partition('"')[0]
    columns = {"column": ["was gesucht", "treffer"], "part": ["query", "title"]}
    ada.post("/projects/upload", kept=kept, name="Odd", **columns)
    (made,) = site.services.projects.get_all()
    items = site.services.projects.read(made.slug).items
    assert [(i.query, i.title, i.document) for i in items] == [
        ("lampe", "Eine Lampe", "row-1"), ("sofa", "Ein Sofa", "row-2"),
    ]  # fmt: skip
    ada.get(f"/projects/{made.slug}/begin")
    columns["part"] = ["query", "text"]  # and otherwise, while nobody has judged
    ada.post(f"/projects/{made.slug}/begin", do="columns", **columns)
    items = site.services.projects.read(made.slug).items
    assert [(i.title, i.text) for i in items] == [("", "Eine Lampe"), ("", "Ein Sofa")]


def test_labels_follow_the_gold_of_the_file(site: Site) -> None:
    ada = site.set_up()
    ada.get("/projects/new")
    body = b"query,title,gold\nlamp,One,2\nlamp,Two,0\nlamp,Three,1\nlamp,Four,\n"
    ada.post("/projects/upload", files={"files": ("g.csv", body)})
    assert site.services.projects.get_scale("g").labels == ("0", "1", "2")
    ada.post("/projects/upload", name="nothing", expect=422)
    assert "No file was sent" in ada.words
