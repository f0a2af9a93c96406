"""The report in a real browser: it opens, answers, asks nobody, and everyone can read it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from adjudge import BradleyTerry, Gold, HierarchicalRelevance, HybridConfusion, ItemTypes, Judgments
from adjudge.data.formats import read
from adjudge.data.names import as_names
from adjudge.report import Provenance, gather, save, write_report
from adjudge.report.plots.judges import sensitivity_specificity
from adjudge.report.preferences import write_pair_report
from adjudge.report.results import Results
from adjudge.simulation import Crowd, Population, demo
from simulated_pairs import make_comparisons
from visitors import PATIENCE, Watched, check, picture

pytestmark = pytest.mark.slow

DESK: ViewportSize = {"width": 1280, "height": 900}

HOSTILE = (
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror='window.hacked=1'>",
    '"><svg onload=window.hacked=1>',
    "{{ 7 * 7 }}",
    "a & b < c > d",
    "\u202eevil\u202c ' \" `",
)


@pytest.fixture(scope="module")
def results() -> Results:
    """A made crowd on binary labels, sampled, with gold."""
    made = demo(3)
    gold = made.gold.collapse(made.judgments.scale)
    model = HierarchicalRelevance(chains=2, warmup=60, draws=60)
    consensus = model.fit(made.judgments.collapse())
    return gather(
        consensus,
        gold=gold,
        provenance=Provenance(title="A made crowd", command="adjudge report x"),
    )


@pytest.fixture(scope="module")
def report(results: Results, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of its report."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(results, path)
    return path.as_uri()


# What tests did to the tables, undone: the sorting they turn back themselves.
PUT_BACK = """() => {
    for (const one of document.querySelectorAll("dialog[open]")) one.close();
    for (const one of document.querySelectorAll(".choices button:first-child")) one.click();
    for (const one of document.querySelectorAll("input[type=search]")) {
        one.value = "";
        one.dispatchEvent(new Event("input"));
    }
}"""


# Every row but the first that has more to show, one after the other; how many there are.
OPEN_OTHERS = """() => {
    const all = () => document.querySelectorAll("button.open");
    for (let place = 1; place < all().length; place++) all()[place].click();
    return all().length;
}"""


@pytest.fixture(scope="module")
def shown(report: str, browser: Browser) -> Iterator[Watched]:
    """The report, opened once: to open it takes longer than what most tests do with it."""
    context = browser.new_context(viewport=DESK, color_scheme="light", service_workers="block")
    context.set_default_timeout(PATIENCE)
    watched = Watched(context.new_page())
    watched.page.goto(report)
    ready(watched.page)
    yield watched
    context.close()


@pytest.fixture
def page(shown: Watched) -> Iterator[Page]:
    """The report as if it had just been opened."""
    yield shown.page
    shown.page.emulate_media(media="screen", color_scheme="light")
    shown.page.set_viewport_size(DESK)
    shown.page.evaluate(PUT_BACK)
    said = list(shown.said)
    shown.said.clear()
    assert said == []


def ready(page: Page) -> Page:
    page.wait_for_selector("html[data-ready]", state="attached")
    return page


def test_it_opens_without_warnings_and_sends_no_request(report: str, shown: Watched) -> None:
    page = shown.page
    page.locator("#judges").scroll_into_view_if_needed()
    page.evaluate("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    assert shown.said == []
    assert shown.asked == [report]
    policy = page.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "http" not in policy


def test_search_narrows_the_consensus(page: Page, results: Results) -> None:
    table = page.locator("#consensus-table")
    items = results.consensus.judgments.item_count
    expect(table.locator(".said")).to_have_text(f"{items:,} items; 1 to 15 shown")
    sought = results.consensus.judgments.items[17].as_py()
    table.get_by_label("Search items").fill(sought.upper())
    expect(table.locator("tbody tr")).to_have_count(1)
    expect(table.locator("tbody tr")).to_contain_text(sought.rpartition("/")[2])
    table.get_by_label("Search items").fill("nothing like it")
    expect(table.locator(".said")).to_have_text("No item fits")


def test_sorting_goes_both_ways_over_all_rows(page: Page, results: Results) -> None:
    table = page.locator("#judge-table")
    counts = sorted(results.diagnosis.judges["judgments"].to_pylist(), reverse=True)
    shown = table.locator("tbody tr td:nth-child(3)")
    assert [int(text.replace(",", "")) for text in shown.all_inner_texts()] == counts[:15]
    button = table.get_by_role("button", name="judgments")
    button.click()
    expect(table.locator("th[aria-sort=ascending]")).to_contain_text("judgments")
    assert [int(text.replace(",", "")) for text in shown.all_inner_texts()] == counts[::-1][:15]
    button.click()
    expect(table.locator("th[aria-sort=descending]")).to_contain_text("judgments")


def test_an_item_shows_who_said_what(page: Page, results: Results) -> None:
    judgments = results.consensus.judgments
    item = int(np.argmax(judgments.counts_per_item))
    table = page.locator("#consensus-table")
    table.get_by_label("Search items").fill(judgments.items[item].as_py())
    table.locator("button.open").first.click()
    begin, end = judgments.offsets[item], judgments.offsets[item + 1]
    expect(table.locator("tr.detail .votes a")).to_have_count(int(end - begin))
    shown_judges = table.locator("tr.detail .votes a").all_inner_texts()
    names = [judgments.judges[int(judge)].as_py() for judge in judgments.judge[begin:end]]
    assert sorted(shown_judges) == sorted(names)


def test_the_card_of_a_judge(page: Page, results: Results) -> None:
    row = results.diagnosis.judges.sort_by([("judgments", "descending")]).to_pylist()[0]
    page.locator("#judge-table tbody a").first.click()
    card = page.get_by_role("dialog", name=row["judge"])
    expect(card).to_be_visible()
    expect(card.locator(".badge")).to_have_text(row["advice"])
    expect(card.locator(".why").first).to_contain_text(row["why"])
    place = results.consensus.judgments.judges.to_pylist().index(row["judge"])
    mean = results.diagnosis.confusion.mean[place]
    cells = card.locator(".confusion td.right").all_inner_texts()
    expected = [f"{round(mean[0, 0] * 100)}%", f"{round(mean[1, 1] * 100)}%"]
    assert [cell.split("\n")[0] for cell in cells] == expected
    expect(card.locator("#card-work .said")).to_contain_text(f"{row['judgments']:,} judgments")
    card.get_by_role("link", name="Next").click()
    second = results.diagnosis.judges.sort_by([("judgments", "descending")]).to_pylist()[1]
    expect(page.get_by_role("dialog")).to_contain_text(second["judge"])
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("#judge"))


def test_a_point_of_the_figure_opens_the_card(page: Page, results: Results) -> None:
    points = page.locator("#figure-sensitivity-specificity .judges_marks path")
    assert points.count() == results.consensus.judgments.judge_count
    last = results.diagnosis.judges["judge"].to_pylist()
    counts = np.array(results.diagnosis.judges["judgments"].to_pylist())
    point = points.last  # drawn last: the judge with fewest judgments, on top of all others
    point.dispatch_event("click")
    expect(
        page.get_by_role("dialog", name=last[np.argsort(-counts, kind="stable")[-1]])
    ).to_be_visible()


def test_everyone_can_read_it(report: str, opened: Any) -> None:
    """As it opens, and with a judge's card and an item's judgments."""
    page = ready(opened(report).page)
    check(page, "report")
    page.locator("#consensus-table button.open").first.click()
    page.evaluate("location.hash = 'judge-0'")
    expect(page.get_by_role("dialog")).to_be_visible()
    check(page, "report-card")


@pytest.mark.parametrize("name", ["trec-rf10/judgments.tsv", "panels/llmjudge.csv"])
def test_a_common_screen_shows_verdict_tiles_actions_and_a_picture(
    name: str, shared_data: Path, opened: Any, tmp_path: Path
) -> None:
    content = read(shared_data / name, kind="judgments")
    assert content.judgments is not None
    about = Provenance(title=Path(name).name, files=((Path(name).name, ""),))
    results = gather(ItemTypes().fit(content.judgments), gold=content.gold, provenance=about)
    write_report(results, tmp_path / "report.html")
    page = ready(opened((tmp_path / "report.html").as_uri(), width=1440).page)
    shown = {".verdict": 1, ".tiles li": 4, ".actions li": 3, "#figure-judge-intervals svg": 1}
    for selector, count in shown.items():
        assert page.locator(selector).count() == count
        box = page.locator(selector).last.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 900, selector
    if name.startswith("trec"):
        picture(page, "report-first", "images")
        picture(page.locator("#pictures"), "report-pictures", "images")
        page.emulate_media(color_scheme="dark")
        page.evaluate("location.hash = 'judge-0'")
        expect(page.get_by_role("dialog")).to_be_visible()
        picture(page, "report-card-dark", "images")


def test_dark_is_dark_and_print_is_light(page: Page) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(colour) == "rgb(20, 23, 27)"
    page.emulate_media(media="print")
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    assert not page.locator("nav.sections").is_visible()
    assert page.locator("#summary").is_visible()
    assert page.pdf(format="A4")[:5] == b"%PDF-"
    page.set_viewport_size({"width": 760, "height": 1000})
    assert page.evaluate("document.documentElement.scrollWidth") <= 760


def test_hostile_names_are_only_names(opened: Any, tmp_path: Path) -> None:
    rows = [
        {"item": f"{name} {copy}", "judge": judge, "label": label, "topic": name}
        for copy in range(3)
        for name in HOSTILE
        for judge, label in zip(HOSTILE, ("1", "0", "1", "1", "0", "1"), strict=True)
    ]
    judgments = Judgments.from_table(pa.Table.from_pylist(rows))
    gold = Gold.of({f"{HOSTILE[0]} 0": 1, f"{HOSTILE[1]} 0": 0})
    consensus = HierarchicalRelevance(chains=2, warmup=20, draws=20).fit(judgments, gold)
    provenance = Provenance(
        title=HOSTILE[0], command=HOSTILE[1], left_out=(HOSTILE[2],), files=((HOSTILE[1], "x"),)
    )
    path = tmp_path / "report.html"
    write_report(gather(consensus, gold=gold, blind=consensus, provenance=provenance), path)
    watched = opened(path.as_uri())
    page = ready(watched.page)
    expect(page.locator(".brand")).to_have_text(HOSTILE[0])
    for place in range(len(HOSTILE)):
        page.evaluate(f"location.hash = 'judge-{place}'")
        expect(page.get_by_role("dialog").locator("h2")).to_have_text(
            consensus.judgments.judges[place].as_py()
        )
    page.keyboard.press("Escape")
    page.locator("button.open").first.click()
    assert page.evaluate(OPEN_OTHERS) > len(HOSTILE)
    assert page.evaluate("window.hacked") is None
    assert watched.said == []
    assert watched.asked == [path.as_uri()]


def test_without_gold_topics_times_and_draws(opened: Any, tmp_path: Path) -> None:
    table = {"item": ["a", "a", "b", "b", "c"], "judge": list("xyxyx"), "label": list("01112")}
    consensus = HybridConfusion(method="em").fit(Judgments.from_table(pa.table(table)))
    path = tmp_path / "report.html"
    write_report(gather(consensus), path)
    watched = opened(path.as_uri())
    page = ready(watched.page)
    assert watched.said == []
    assert page.locator("#topics").count() == 0
    footer = page.locator("footer").inner_text()
    for part in ("no gold", "no topics", "no draws", "no times"):
        assert part in footer
    check(page, "report-of-little")


def test_twenty_thousand_items_and_eight_hundred_judges(opened: Any, tmp_path: Path) -> None:
    people = Population.parse("skilled(8,2):80,spammer:20", judges=800)
    made = Crowd(items=20_000, population=people, topics=100, gold=0.1).make(seed=1)
    path = tmp_path / "report.html"
    write_report(gather(HybridConfusion(method="em").fit(made.judgments), gold=made.gold), path)
    assert path.stat().st_size < 6_000_000
    page = ready(opened(path.as_uri()).page)
    for head in page.locator("#consensus-table th:has(button)").all():
        head.locator("button").click()
        expect(head).to_have_attribute("aria-sort", re.compile("ascending|descending"))


def test_a_ranking_of_pairs_fits_a_common_screen(opened: Any, tmp_path: Path) -> None:
    names = [f"Open-Assistant StableLM SFT-{number} (7B)" for number in range(8)]
    made = make_comparisons(np.linspace(-3, 3, 8), 20_000, right=np.ones(2), tied=0.5)
    compared = replace(made.comparisons, items=as_names(names))
    path = tmp_path / "pairs.html"
    write_pair_report(BradleyTerry().fit(compared), path, title="Pairs")
    page = opened(path.as_uri(), width=1200).page
    assert not page.evaluate(_CUT)
    check(page, "report-of-pairs")


_CUT = """() => {
    const held = document.querySelector("svg.interval").closest("table").parentElement;
    return held.scrollWidth > held.clientWidth + 1;
}"""


def test_an_interactive_chart_is_drawn_in_both_schemes(opened: Any, tmp_path: Path) -> None:
    rates = {"specificity": [0.5, 0.25], "sensitivity": [0.75, 1.0]}
    judges = pa.table({"judge": [HOSTILE[0], "ann"], "judgments": [90, 3], **rates})
    path = tmp_path / "chart.html"
    save(sensitivity_specificity(judges), path)
    watched = opened(path.as_uri())
    page, drawing = watched.page, watched.page.locator("#chart svg")
    for scheme, paper in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 23, 27)")):
        page.emulate_media(color_scheme=scheme)
        expect(drawing).to_have_css("background-color", paper)
        points = page.locator(".judges_marks path")
        expect(points).to_have_count(2)
        points.first.hover()
        expect(page.locator("#vg-tooltip-element")).to_contain_text(HOSTILE[0])
    assert page.evaluate("window.hacked") is None
    assert (watched.said, watched.asked) == ([], [path.as_uri()])
