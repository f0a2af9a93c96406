"""Real content in a real browser: what is chosen moves nothing, frames are locked in."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from adjudge.collect.values.project import Item, Project
from adjudge.data.scale import Scale
from sites import Site
from visitors import Visitors, check, follow

pytestmark = pytest.mark.slow


def content(site: Site, **policy: object) -> str:
    item = Item(
        name="a", topic="t", query="מנורה אדומה", need="Light.", title="A <em>red</em> lamp",
        text="It <b>shines</b> & turns. " + "More of it. " * 90, url=f"{site.url}/login",
    )  # fmt: skip
    others = [Item(name=f"i{n}", topic="t", query="מנורה אדומה", title=f"Lamp {n}", text="A lamp.")
              for n in range(3)]  # fmt: skip
    scale = Scale(labels=("Very good", "Good", "So so", "Bad"), relevant=("Good",))
    return site.open_project(
        Project(name="Content", scale=scale, items=(item, *others), policy=policy)
    )


BOXES = """() => [...document.querySelectorAll('.choices label, .shown, .send *, .stand')]
    .map(one => { const box = one.getBoundingClientRect(), bar = one.closest('.send');
                  const top = bar ? bar.getBoundingClientRect().y : -scrollY;
                  return [box.x, box.y - top, box.width, box.height]; })"""


@pytest.mark.parametrize("width", [1200, 360])
def test_choosing_a_label_moves_nothing(site: Site, visitors: Visitors, width: int) -> None:
    slug = content(site)
    page = visitors.come(viewport={"width": width, "height": 850}, reduced_motion="reduce")
    page.goto(f"{site.url}/j/{slug}")
    follow(page.get_by_role("button", name="I agree, begin"))
    before = page.evaluate("document.querySelector('.choices').getBoundingClientRect().height")
    sent = page.evaluate(BOXES)
    page.locator(".result").nth(0).get_by_label("Very good").check()
    page.locator(".result").nth(1).get_by_label("Can't judge").check()
    expect(page.locator("#count")).to_have_text("2 of 4 answered")
    after = page.evaluate(BOXES)
    assert after == sent
    assert before == page.evaluate(
        "document.querySelector('.choices').getBoundingClientRect().height"
    )


def test_direction_marks_and_folds(site: Site, visitors: Visitors) -> None:
    slug = content(site)
    page = visitors.come(color_scheme="dark")
    page.goto(f"{site.url}/j/{slug}")
    follow(page.get_by_role("button", name="I agree, begin"))
    query = page.locator(".query h2 span[dir=auto]").first
    assert query.evaluate("one => getComputedStyle(one).direction") == "rtl"
    row = page.locator(".result").filter(has_text="lamp").filter(has=page.locator("mark")).first
    expect(row.locator("mark").first).to_have_text("red")
    expect(row.locator(".start")).to_be_visible()
    check(page, "content-folded")
    row.get_by_text("The entire text").click()
    expect(row.locator(".start")).to_be_hidden()
    expect(row.locator("details .text")).to_be_visible()
    check(page, "content-unfolded")


def test_a_preview_opens_next_to_the_work_and_reaches_nothing(
    site: Site, visitors: Visitors
) -> None:
    slug = content(site, previews=True)
    page = visitors.come(viewport={"width": 1500, "height": 900})
    page.route("https://lamps.example/**", lambda route: route.fulfill(
        content_type="text/html", body="<h1>A lamp shop</h1><script>"
        "try { parent.document.title = 'stolen'; } catch (e) { document.title = 'locked'; }"
        "document.body.append(' origin: ' + self.origin)</script>"))  # fmt: skip
    site.services.projects.add_items(
        slug, [Item(name="b", topic="t", query="מנורה אדומה", title="Shop",
                    url="https://lamps.example/b")],
    )  # fmt: skip
    page.goto(f"{site.url}/j/{slug}")
    follow(page.get_by_role("button", name="I agree, begin"))
    row = page.locator(".result").filter(has_text="Shop")
    row.get_by_text("show preview").click()
    frame = page.frame_locator("iframe[name=preview]")
    expect(frame.get_by_role("heading", name="A lamp shop")).to_be_visible()
    expect(frame.get_by_text("origin: null")).to_be_visible()
    assert page.title() == "Judging · adjudge"
    check(page, "content-pair")
