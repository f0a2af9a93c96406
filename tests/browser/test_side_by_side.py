"""From a file of pairs to a ranking: people who compare, a model judge, the ranking, the export."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from adjudge.collect.consensus import refit
from adjudge.collect.model_judge.endpoint import Endpoint
from adjudge.collect.model_judge.judging import HttpWork, ModelTally, judge
from adjudge.collect.model_judge.ledger import AnswerLedger
from adjudge.data.comparisons import Comparisons
from adjudge.models.pairs.bradley_terry import BradleyTerry
from compared import ENGINES, better, pairs_csv
from servers import speaking
from sites import Site
from visitors import Visitors, arrive, as_logged_in, check, follow, open_row, picture, send

pytestmark = pytest.mark.slow
_KEYS = {"left": "l", "right": "r"}


def compare(body: dict[str, Any]) -> str:
    """What a model says that compares what the texts say."""
    left, right = re.findall(r"(?:Left|Right) result text: (.*)", body["messages"][1]["content"])
    return json.dumps({"reason": "worth more", "label": better(left, right)})


@pytest.fixture
def model() -> Iterator[str]:
    with speaking(answer=compare) as made:
        yield made.url


def sides(page: Page) -> list[tuple[str, str]]:
    """The texts of both sides of each row without an answer."""
    found: list[tuple[str, str]] = page.evaluate(
        """() => [...document.querySelectorAll('.result')].filter(
             row => !row.querySelector('input:checked')).map(row =>
             [...row.querySelectorAll('.side')].map(side => side.innerText))"""
    )
    return found


def compare_all(page: Page) -> int:
    """Answer page after page by key, what is worth more; how many pages."""
    pages = 0
    while page.locator("#page").count():
        for left, right in sides(page):
            page.keyboard.press(_KEYS[better(left, right)])
        send(page)
        pages += 1
    return pages


def test_from_a_file_of_pairs_to_a_ranking(
    site: Site, visitors: Visitors, tmp_path: Path, model: str
) -> None:
    site.set_up()
    ada = as_logged_in(visitors, site)
    ada.goto(f"{site.url}/projects")
    file = tmp_path / "engines.csv"
    file.write_text(pairs_csv(queries=2, golds=10))
    follow(ada.get_by_role("link", name="Make one from files"))
    hint = ada.locator("#give code", has_text="left").inner_text()
    example = ada.locator("pre", has_text="left").text_content()
    assert example
    assert file.read_text().splitlines()[0] == example.splitlines()[0], "the suggested header"
    assert example.startswith(f"{hint},")
    ada.get_by_label("What is to be judged").set_input_files(file)
    ada.get_by_role("button", name="Read the files").click()
    ada.wait_for_url("**/begin?done=read")
    expect(ada.locator("#shown-labels")).to_contain_text("As good as each other")
    slug = site.services.projects.get_all()[0].slug
    settings = {"training": False, "judgments_per_item": 3}
    site.services.projects.set_policy(slug, settings)
    ada.get_by_role("button", name="Open to judges").click()
    expect(ada.get_by_text("The project is open")).to_be_visible()

    wide = visitors.come(color_scheme="light")
    wide.goto(f"{site.url}/j/{slug}")
    follow(wide.get_by_role("button").last)
    arrive(wide, "work")
    check(wide, "pairs-2-page")
    boxes = [wide.locator(".side").nth(n).bounding_box() for n in (0, 1)]
    assert boxes[0]["y"] == boxes[1]["y"]  # type: ignore[index]
    assert compare_all(wide) > 2

    phone = visitors.come(
        color_scheme="dark", viewport={"width": 390, "height": 800}, has_touch=True
    )
    phone.goto(f"{site.url}/j/{slug}")
    follow(phone.get_by_role("button").last)
    arrive(phone, "work")
    check(phone, "pairs-3-phone")
    boxes = [phone.locator(".side").nth(n).bounding_box() for n in (0, 1)]
    assert boxes[0]["x"] == boxes[1]["x"]  # type: ignore[index]
    assert boxes[0]["y"] < boxes[1]["y"]  # type: ignore[index]
    compare_all(phone)

    token = site.make_token(scope="judge", project=slug)
    tally = judge_with_model(site, slug, token, model, tmp_path)
    assert tally.sides.agreed == tally.sides.pairs > 0
    assert site.services.projects.get_progress(slug).open == 0

    refit._fit_one(site.services, slug, refit.DEFAULT)
    follow(ada.get_by_role("link", name="Results", exact=True))
    follow(ada.get_by_role("link", name="Ranking", exact=True))
    expect(ada.locator("h2", has_text="Ranking")).to_be_visible()
    names = ada.eval_on_selector_all("tbody td.wrap", "cells => cells.map(c => c.innerText)")
    assert names == [f"engine {n}" for n in reversed(range(ENGINES))]
    picture(ada, "ranking")
    expect(ada.locator(".tag", has_text="model")).to_be_visible()
    with ada.expect_download() as download:
        ada.get_by_role("link", name="the comparisons as CSV").click()
    path = tmp_path / "comparisons.csv"
    download.value.save_as(path)
    back = Comparisons.read(path)
    assert (len(back), back.judge_count) == (60, 3)
    assert BradleyTerry().fit(back).ranking["item"].to_pylist() == names
    follow(ada.get_by_role("link", name="Open the report"))
    expect(ada.locator("body")).to_contain_text("engine 4")
    # Which golds a judge meets is chance: one that somebody answered.
    met = next(gold for gold in site.services.gold.get_all(slug) if gold.answered)
    ada.goto(f"{site.url}/projects/{slug}/items?search={quote(met.query)}")
    check(ada, "pairs-5-items")
    answers = site.services.exports.get_table(slug).to_pylist()
    shown = next(row for row in answers if row["right"])  # nobody need have seen the first gold
    ada.goto(f"{site.url}/projects/{slug}/items?search={quote(shown['query'])}")
    open_row(ada)
    expect(ada.locator(".side")).to_have_count(2)
    expect(ada.locator("main")).to_contain_text("is better")  # "left" next to "right" misleads
    expect(ada.locator("tbody .tag", has_text="correct").first).to_be_visible()
    check(ada, "pairs-6-item")


def judge_with_model(site: Site, slug: str, token: str, model: str, folder: Path) -> ModelTally:
    work = HttpWork(site.url, slug, token, "m")

    async def run() -> ModelTally:
        with AnswerLedger.opened(folder / "answers.jsonl") as ledger:
            async with Endpoint(url=model, model="m") as endpoint:
                return await judge(work, endpoint, ledger)

    found: list[ModelTally] = []
    alone = threading.Thread(
        target=lambda: found.append(asyncio.run(run()))
    )  # next to Playwright's
    alone.start()
    alone.join()
    work.close()
    return found[0]
