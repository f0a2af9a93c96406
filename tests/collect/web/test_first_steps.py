"""What somebody new meets: no dead ends, no ids for names, no figure without its reach."""

from __future__ import annotations

import io
import re
import zipfile

import pyarrow as pa
from pyarrow import csv
from sqlalchemy import update

from adjudge import Judgments
from adjudge.collect.consensus import refit
from adjudge.collect.store.schema import judges
from adjudge.collect.values.project import Arm
from adjudge.evaluation.estimation.choosing import draw_gold
from adjudge.models.registry import MODELS
from sites import REASON, Site, small_project

REASON_IN_JSON = f'"reason": "{REASON}"'.encode()


def test_a_project_by_invitation_tells_of_no_link(site: Site) -> None:
    ada = site.set_up()
    slug = site.services.projects.create(small_project(channels=["invite", "api"])).slug
    ada.get(f"/projects/{slug}/begin")
    ended = ada.post(f"/projects/{slug}/begin", do="open")
    ada.get(ended.headers["location"].removeprefix(site.url))
    assert "The project is open to those whom you invite." in ada.words
    assert "Invite people by name : each gets a link of their own" in ada.words
    assert f'href="/projects/{slug}/judges#invites"' in ada.text
    for page in ("", "/judges"):
        ada.get(f"/projects/{slug}{page}")
        assert not re.search("(?i)link (below|above|on the overview)", ada.words), page
    assert "Invite people one by one below" in ada.words
    site.services.projects.set_policy(slug, {"channels": ["open", "invite"]})
    ada.get(f"/projects/{slug}/judges")
    assert "Send judges the link on the overview , or invite people one by one below" in ada.words


def test_who_is_invited_is_told_that_their_name_stands_beside_their_answers(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project()
    ada.get(f"/projects/{slug}/judges")
    ada.post(f"/projects/{slug}/judges/invites", notes="Grace Hopper", days="3")
    ada.get(f"/projects/{slug}/judges")
    (link,) = re.findall(r'data-copy="(http[^"]+/i/[^"]+)"', ada.text)
    grace, other = site.browser(), site.browser()
    grace.get(link.removeprefix(site.url))
    other.get(f"/j/{slug}")
    words = "beside the name or id that they know you by"
    assert words in grace.words
    assert words not in other.words
    assert "You are asked for no name and no address." in other.words


def test_the_way_of_a_model_stands_on_the_page_of_judges(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project()
    ada.get(f"/projects/{slug}/judges/models")
    assert f"adjudge judge-with-model {slug} --server {site.url} " in ada.words
    ada.get(f"/account?project={slug}")
    assert re.search(f'<option value="{slug}" selected>', ada.text)
    # What was typed stays when something is missing.
    ada.post("/account/tokens", name="a model", scope="judge", project="", days="7", expect=422)
    assert "a token to judge with belongs to one project: choose it" in ada.words.casefold()
    assert 'value="a model"' in ada.text
    assert 'value="7"' in ada.text
    ada.post("/account/tokens", name="a model", scope="judge", project=slug, days="7", expect=200)
    assert re.search(r"judge Lamps \d{4}", ada.words), "by the name of its project"
    token = re.search(r'id="secret">([^<]+)', ada.text)[1]  # type: ignore[index]
    came = site.browser(authorization=f"Bearer {token}").client.post(
        f"/api/v1/projects/{slug}/arrivals", json={"key": "llama3:8b", "kind": "model"}
    )
    assert came.status_code in (200, 201), came.text
    ada.get(f"/projects/{slug}/judges")
    assert re.search(r"llama3:8b LLM", ada.words)
    assert not re.search(r"\S:llama3:8b", ada.words)
    site.services.projects.set_policy(slug, {"channels": ["open"]})
    ada.get(f"/projects/{slug}/judges/models")
    assert "Scripts and models may not judge here" in ada.words


def test_an_accuracy_on_gold_has_its_interval_and_its_golds_their_titles(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project(queries=8, training=False, least_golds=50)
    ada.get(f"/projects/{slug}/items")
    assert "open 0 of 2" in ada.words
    ada.get(f"/projects/{slug}/settings/gold")
    assert "0%" not in ada.words, "nobody answered: there is no doubt to speak of"
    judge = site.browser().join(slug)
    for _ in range(2):
        judge.answer(slug).go_on(slug)
    told = site.services.projects.get_progress(slug)
    assert told.gold_right == told.gold_seen > 2
    n, z = told.gold_seen, 1.645
    low = f"{n / (n + z * z):.0%} to 100%"  # Wilson's, where all are right
    ada.get(f"/projects/{slug}")
    assert f"100% {low}; {n} of {n} answers" in ada.words
    ada.get(f"/projects/{slug}/judges")
    assert f"100% {low} {n} of {n}" in ada.words
    (row,) = site.services.judges.get_all(slug)
    ada.get(f"/projects/{slug}/judges/{row.judge}")
    assert f"100% {low}; {n} of {n}" in ada.words
    answer = site.services.judges.get(slug, row.judge).golds[0]
    assert f"{answer.query} {answer.title}" in ada.words


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


def test_files_that_are_no_tables_of_items_say_what_is_wanted(site: Site) -> None:
    ada = site.set_up()
    book = io.BytesIO()
    with zipfile.ZipFile(book, "w") as made:
        made.writestr("[Content_Types].xml", "<Types/>")
        made.writestr("xl/workbook.xml", "<workbook/>")
    for name, body, words in (
        ("header.csv", b"query,title\n", "header.csv, line 1: there is no row below the header"),
        ("sides.csv", b"query,left,right\n", "sides.csv, line 1: there is no row below the header"),
        ("odd.csv", b"foo,bar\n1,2\n", "odd.csv, line 1: the columns are foo, bar; expected "
         "'query' and one of title, text, url, image; or, of gold alone, 'item' and 'gold'"),
        ("book.xlsx", book.getvalue(), "book.xlsx: is a spreadsheet or a document of an office; "
         "expected it saved as CSV UTF-8"),
        ("old.xls", b"\xd0\xcf\x11\xe0\0\0", "old.xls: is no text in UTF-8"),
        ("latin.csv", "query,title\ncafé,x\n".encode("latin-1"), "latin.csv, line 2: byte 0xe9 is "
         "not UTF-8"),
    ):  # fmt: skip
        ada.get("/projects/new")
        ada.post("/projects/upload", files={"files": (name, body)}, expect=422)
        assert words in ada.words, (name, ada.words)
        assert ("Your files are kept" in ada.words) == (name in ("odd.csv", "header.csv",
                                                                "sides.csv")), name  # fmt: skip
    assert not site.services.projects.get_all()


def test_the_list_before_opening_says_what_judges_would_miss(site: Site) -> None:
    """Labels of the usual words have their order; guidelines to fill in, gold that is told away."""
    ada = site.set_up()
    ada.get("/projects/new")
    labels = ("Not relevant", "Partly relevant", "Relevant")
    rows = "".join(f"lamp {n},Lamp {n},{labels[n % 3] if n else ''}\n" for n in range(13))
    ada.post("/projects/upload", files={"files": ("g.csv", f"query,title,gold\n{rows}".encode())})
    scale = site.services.projects.get_scale("g")
    assert (scale.labels, scale.ordinal, scale.grades) == (labels, True, (0, 1, 2))
    ada.get("/projects/g/begin")
    assert "ok 1 item to judge" in ada.words
    assert "ok 3 judgments, about 1 minute of judging in all" in ada.words
    assert "look the guidelines do not say yet when each label is right Write them" in ada.words
    assert "look 12 gold items, but the training shows the labels of all that" in ada.words
    site.services.projects.set_policy("g", {"training_pairs": 6})
    ada.post("/projects/g/begin", do="guidelines", guidelines="**Relevant**: a lamp.")
    ada.get("/projects/g/begin")
    assert "ok guidelines are written" in ada.words
    assert "ok 12 gold items" in ada.words


def test_gold_of_words_with_an_order_begins_a_project_with_it(site: Site) -> None:
    """The order that words suggest stands in the form, to be seen and changed."""
    ada = site.set_up()
    ada.get("/projects/new")
    labels = ("bad", "fair", "good", "excellent", "perfect")
    rows = "".join(f"lamp {n},Lamp {n},{labels[n % 5]}\n" for n in range(10))
    ada.post("/projects/upload", files={"files": ("g.csv", f"query,title,gold\n{rows}".encode())})
    scale = site.services.projects.get_scale("g")
    assert (scale.labels, scale.ordinal, scale.grades) == (labels, True, (0, 1, 2, 3, 4))
    ada.get("/projects/g/begin")
    assert "They have an order: that of their grades" in ada.words


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


def test_the_consensus_says_how_good_it_is_and_knows_models_from_people(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project(
        small_project(queries=8, judgments_per_item=3, training=False, least_golds=50)
    )
    for number in range(3):
        judge = site.browser().join(slug)
        for _ in range(6):
            if judge.is_judging:
                judge.answer(slug, wrong=number == 2).go_on(slug)
    change = update(judges).where(judges.c.id == 1).values(kind="model", name="a model")
    site.services.judges.caller.database.write(lambda on: on.execute(change))
    ada.get(f"/projects/{slug}/results")
    offered = re.findall(r'<option value="([\w-]+)"[^>]*>\1: [^<]+</option>', ada.text)
    assert tuple(offered) == tuple(MODELS), "each with a word on what it is"
    refit._fit_one(site.services, slug, refit.DEFAULT, with_report=True)
    report = refit.read_report(site.services, slug, refit.DEFAULT)
    assert report is not None
    assert not report.problem
    assert "no judge is known as a model" not in report.html
    ada.get(f"/projects/{slug}/results")
    assert "How sure?" in ada.words, report.sure
    more = report.more_gold
    assert more is not None
    assert (more["have"], more["margin"] < more["margin_now"]) == (
        8,
        True,
    )  # of 16, those that were judged
    assert f"to ±{more['margin']:.2f}, now ±{more['margin_now']:.2f} (95% interval" in ada.words
    assert f"adjudge next judgments.csv --gold {more['labels']} " in ada.words
    assert re.search(r"Against 16 gold items, [\d.]+% \([\d.]+% to [\d.]+%\) of the", ada.words)
    assert re.search(r"Log loss \d\.\d+, Brier \d\.\d+, calibration error -?\d\.\d+", ada.words)
    shown = re.search(r"a model (\d+) (\d+)% (\d+)% to (\d+)% (\d+)% (\d+)% to 100%;", ada.words)
    assert shown
    assert int(shown[3]) <= int(shown[2]) <= int(shown[4])
    assert shown[5] == "100"


def test_a_mistake_in_a_form_leads_back_to_what_was_typed(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project()
    here = f"/projects/{slug}"
    ada.get(f"{here}/settings")
    typed = {"judgments_per_item": "many", "training_pairs": "7", "currency": "EUR", "images": "on"}
    ada.post(f"{here}/settings/policy", expect=422, channels=["invite"], **typed)
    assert "“Trusted judgments per item” = 'many': expected a whole number" in ada.words
    for name in ("judgments_per_item", "training_pairs", "currency"):
        assert re.search(f'name="{name}"[^>]* value="{typed[name]}"', ada.text), name
    boxes = re.findall(r'<input[^>]*name="channels"[^>]*>', ada.text)
    assert [("checked" in box) for box in boxes] == [False, True, False, False]
    ada.post(f"{here}/delete", name="Lamp", expect=422)
    assert "The name of the project is “Lamps”; it was not deleted." in ada.words
    ada.post(f"{here}/state", state="ajar", expect=422)
    assert f'href="{here}">Back to the project' in ada.text
    led = site.browser().get(f"{here}/items?filter=disputed&sort=unsure", expect=303)
    assert led.headers["location"].endswith("items%3Ffilter%3Ddisputed%26sort%3Dunsure")


def test_judges_of_pairs_are_told_of_pairs(site: Site) -> None:
    ada = site.set_up()
    ada.get("/projects/new")
    rows = "".join(f"lamp {n},A,one {n},B,two {n},{'left' if n % 2 else ''}\n" for n in range(20))
    body = f"query,left,left_text,right,right_text,gold\n{rows}".encode()
    ada.post("/projects/upload", files={"files": ("sides.csv", body)})
    ada.get("/projects")
    assert "Left is better, As good as each other, Right is better" in ada.words
    site.services.projects.set_state("sides", "open")
    judge = site.browser()
    judge.get("/j/sides")
    assert "You will see two results beside each other" in judge.words
    assert "pages of up to 10 pairs of results." in judge.words
    assert "how well each result fits" not in judge.words
