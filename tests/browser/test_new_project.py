"""From a file to labels, as somebody new would go: few clicks, judges, exports, a report."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Page, expect

from adjudge.collect.consensus import refit
from adjudge.data.formats import read
from sites import PASSWORD, Site
from visitors import Visitors, check, follow, open_row, picture, send

pytestmark = pytest.mark.slow

LABELS = ("Not relevant", "Partly relevant", "Relevant")
CLICKS: list[str] = []  # where the requester clicked since they logged in
PAIRS = "query,title,url,snippet\n" + "".join(
    f"reading lamp {n // 6},Lamp {n % 3} number {n},https://shop.example/{n},It shines.\n"
    for n in range(60)
)


def judge_all(site: Site, slug: str) -> None:
    """Five judges who take turns until nothing is left; the title says the label, one errs."""
    crowd = [site.browser().join(slug) for _ in range(5)]
    while any(judge.is_judging for judge in crowd):
        for number, judge in enumerate(crowd):
            judge.go_on(slug)
            if not judge.is_judging:
                continue
            parts = re.split(r'data-row="(\d+)"', judge.text)[1:]
            given = {"key": re.search(r'name="key" value="([^"]+)"', judge.text)[1]}  # type: ignore[index]
            for row, text in zip(parts[::2], parts[1::2], strict=True):
                right = int(re.search(r"Lamp (\d) number", text)[1])  # type: ignore[index]
                given[f"label-{row}"] = LABELS[2 - right if number == 1 else right]
            judge.post(f"/j/{slug}/pages/{judge.page}", **given)
            judge.go_on(slug)
    for judge in crowd:
        assert "Thank you: you are done" in judge.go_on(slug).words
    assert all(row.judged for row in site.services.judges.get_all(slug))


def logged_in(site: Site, visitors: Visitors, **settings: Any) -> Page:
    token = site.services.accounts.make_setup_token()
    page = visitors.come(accept_downloads=True, **settings)
    page.expose_function("clicked", lambda: CLICKS.append(page.url))
    page.add_init_script("addEventListener('click', one => one.isTrusted && clicked(), true)")
    page.goto(f"{site.url}/setup/{token}")
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password", exact=False).first.fill(PASSWORD)
    page.get_by_label("again", exact=False).fill(PASSWORD)
    page.get_by_role("button").last.click()
    page.wait_for_url("**/projects")
    CLICKS.clear()
    return page


def test_from_a_file_to_labels(site: Site, visitors: Visitors, tmp_path: Path) -> None:
    ada = logged_in(site, visitors)
    file = tmp_path / "lamps.csv"
    file.write_text(PAIRS)
    follow(ada.get_by_role("link", name="Make one from files"))
    picture(ada, "first-new")
    ada.get_by_label("What is to be judged").set_input_files(file)  # a click, that opens a dialog
    ada.get_by_role("button", name="Read the files").click()
    ada.wait_for_url("**/begin?done=read")
    picture(ada, "first-begin")
    ada.get_by_label("Label", exact=True).first.fill("Off topic")
    expect(ada.locator("#shown-labels")).to_contain_text("Off topic")
    ada.get_by_label("Label", exact=True).first.fill("Not relevant")
    follow(ada.get_by_role("button", name="Open to judges"))
    expect(ada.get_by_text("The project is open")).to_be_visible()
    assert len(CLICKS) + 1 <= 8, CLICKS
    check(ada, "first-open")
    picture(ada, "first-open")
    slug = site.services.projects.get_all()[0].slug
    judge_all(site, slug)
    assert site.services.projects.get_progress(slug).open == 0
    refit._fit_one(site.services, slug, refit.DEFAULT, with_report=True)

    here = f"{site.url}/projects/{slug}"
    ada.goto(f"{here}/items?filter=disputed&sort=unsure")
    open_row(ada)
    picture(ada, "first-item")
    item = site.services.items.get_all(slug, which="disputed", sort="unsure")[0][0].item
    ada.locator("#decide ~ form label", has_text="Partly relevant").click()
    follow(ada.get_by_role("button", name="Adjudicate"))
    expect(ada.get_by_text("the fit takes it for gold")).to_be_visible()
    refit._fit_one(site.services, slug, refit.DEFAULT, with_report=True)
    ada.goto(f"{here}/item?item={item}")
    expect(ada.locator(".figures")).to_contain_text("Partly relevant")
    ada.goto(f"{here}/results")
    follow(ada.get_by_role("link", name="Open the report", exact=True))
    expect(ada.locator("body")).to_contain_text("Lamps")
    picture(ada, "first-report")

    ada.goto(f"{here}/results/export")
    picture(ada, "first-export")
    labels = refit.read_table(site.services, slug, refit.DEFAULT)
    known = {row["document"]: LABELS.index(row["label"]) for row in labels.to_pylist()}
    assert len(known) == 60
    ada.locator("#more summary").click()
    files = ".offers a[href*='/export/'], td a[href*='/export/']"
    names = ada.eval_on_selector_all(files, "all => all.map(one => one.getAttribute('href'))")
    assert len(names) > 20
    for number, name in enumerate(names):
        path = download(ada, name, tmp_path, by_hand=number % 8 == 0)
        assert path.stat().st_size
        if "/export/labels-" in name and "submission" not in name:
            assert back(path) == known, name
        if "/export/judgments-" in name:
            assert count_judgments(path) == 180, name


def download(page: Page, link: str, folder: Path, *, by_hand: bool) -> Path:
    """The file that a link leads to, by a click or as the browser would ask for it."""
    if by_hand:
        with page.expect_download() as given:
            page.locator(f'a[href="{link}"]').first.click()
        path = folder / given.value.suggested_filename
        given.value.save_as(path)
        return path
    answer = page.request.get(urljoin(page.url, link))
    assert answer.ok, link
    named = re.search(r'filename="([^"]+)"', answer.headers["content-disposition"])
    assert named, link
    path = folder / named[1]
    path.write_bytes(answer.body())
    return path


def count_judgments(path: Path) -> int:
    found = read(unzipped(path)).judgments
    assert found is not None
    return len(found)


def unzipped(path: Path) -> Path:
    """The folder that a zip holds, or the file as it is."""
    if path.suffix != ".zip":
        return path
    with zipfile.ZipFile(path) as archive:
        archive.extractall(path.with_suffix(""))
    return path.with_suffix("")


def back(path: Path) -> dict[str, int]:
    """The grade of each document, as adjudge reads a file of labels."""
    found = read(unzipped(path))
    table = found.labels if found.gold is None else found.gold.to_table()
    column = "label" if found.gold is None else "gold"
    grades = {}
    for row in table.to_pylist():
        document = row.get("document") or row["item"].partition("/")[2]
        text = row[column]
        grades[document] = LABELS.index(text) if text in LABELS else int(float(text))
    return grades


def test_a_file_that_is_too_large_is_reported_before_it_is_sent(
    site: Site, visitors: Visitors, tmp_path: Path
) -> None:
    ada = logged_in(site, visitors)
    ada.goto(f"{site.url}/projects/new")
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(site.settings.upload_bytes + 1)
    ada.get_by_label("Name").fill("Mine")
    ada.get_by_label("What is to be judged").set_input_files(large)
    expect(ada.get_by_role("alert")).to_contain_text("Nothing was sent")
    ada.get_by_role("button", name="Read the files").click()
    expect(ada.get_by_label("Name")).to_have_value("Mine")
    assert ada.url.endswith("/projects/new")


def press(page: Page, words: str, address: str = "**") -> None:
    """Press Enter on what is called so, and wait for the page it leads to."""
    tab_to(page, words)
    send(page)
    page.wait_for_url(address)


def tab_to(page: Page, words: str, typed: str = "") -> None:
    """Press Tab until what has the focus is called so, as somebody without a mouse does."""
    for _ in range(120):
        page.keyboard.press("Tab")
        named = page.evaluate(
            """() => {
                const one = document.activeElement;
                const label = one.labels && one.labels.length ? one.labels[0].innerText : "";
                const own = ["A", "BUTTON", "SUMMARY"].includes(one.tagName) ? one.innerText : "";
                return `${label} ${own || ""} ${one.getAttribute("aria-label") || ""}`;
            }"""
        )
        if words in named:
            page.wait_for_function(  # the browser brings it into sight
                "() => { const box = document.activeElement.getBoundingClientRect();"
                " return box.width > 0 && box.bottom > 0 && box.top < innerHeight; }"
            )
            page.keyboard.type(typed)
            return
    raise AssertionError(f"no Tab leads to {words!r}")


def test_the_requesters_path_by_keys_alone(site: Site, visitors: Visitors, tmp_path: Path) -> None:
    """No click anywhere: a file, a label with a colour, open, invite, adjudicate, export."""
    ada = logged_in(site, visitors)
    file = tmp_path / "lamps.csv"
    file.write_text(PAIRS)
    press(ada, "Make one from files", "**/projects/new")
    tab_to(ada, "What is to be judged")
    ada.locator("input[type=file]:focus").set_input_files(file)  # the dialog is the system's
    press(ada, "Read the files", "**/begin?done=read")
    tab_to(ada, "Colour")
    ada.keyboard.press("r")  # red
    expect(ada.locator("#shown-labels label").first).to_have_class("c-red")
    tab_to(ada, "Add a label")
    ada.keyboard.press("Enter")
    ada.keyboard.type("Spam")  # the new row has the focus
    ada.keyboard.press("Tab")
    ada.keyboard.type("-1")
    expect(ada.locator("#shown-labels label").first).to_contain_text("Spam")
    press(ada, "Save the labels", "**/begin?done=saved")
    slug = site.services.projects.get_all()[0].slug
    assert site.services.projects.get_scale(slug).labels[0] == "Spam"
    assert site.services.projects.read(slug).colours == {"Not relevant": "red"}
    press(ada, "Open to judges")
    expect(ada.get_by_text("The project is open")).to_be_visible()
    judge_all(site, slug)
    refit._fit_one(site.services, slug, "majority-vote")

    press(ada, "Items", "**/items")
    tab_to(ada, "Choose")  # the row; its link comes next
    ada.keyboard.press("Tab")
    ada.keyboard.press("Enter")  # in the drawer, where the link to the page has the focus
    expect(ada.get_by_role("link", name="Open as a page")).to_be_focused()
    send(ada)
    ada.wait_for_url("**/item?item=*")
    tab_to(ada, "Spam")
    ada.keyboard.press("ArrowRight")
    tab_to(ada, "Why", "Seen by hand")
    press(ada, "Adjudicate")
    expect(ada.get_by_text("the fit takes it for gold")).to_be_visible()
    ((final),) = site.services.items.get_final(slug).values()
    assert final.reason == "Seen by hand"
    press(ada, "Settings")
    press(ada, "Members", "**/members")
    tab_to(ada, "Whom it is for", "Grace")
    press(ada, "Make a link")
    expect(ada.get_by_text("send it to one person")).to_be_visible()
    press(ada, "Results")
    press(ada, "Export", "**/export")
    tab_to(ada, "in format labels-consensus")
    with ada.expect_download() as download:
        ada.keyboard.press("Enter")
    download.value.save_as(tmp_path / "labels.csv")
    assert (tmp_path / "labels.csv").read_text().count("\n") > 60
    assert not visitors.said
