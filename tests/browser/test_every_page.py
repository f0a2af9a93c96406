"""Every page there is, as everybody may see it: wide and narrow, in light and in dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import Page, expect

from adjudge.collect.consensus import planner, refit
from adjudge.collect.consensus.planner import PlanRow, ProjectPlan
from adjudge.collect.values.judging import Answer, Arrival
from adjudge.collect.values.project import Arm
from adjudge.collect.values.questions import FurtherQuestion
from adjudge.collect.values.requesting import MemberRole
from compared import better, paired_project
from sites import PASSWORD, Browser, Site, page_routes, served, small_project
from sizes import FULL
from visitors import Visitors, as_logged_in, check, log_in

pytestmark = pytest.mark.slow

LONG = "https://shop.example/" + "a-very-long-address-without-a-space/" * 4
QUESTIONS = (
    FurtherQuestion(name="freshness", text="How fresh is it?", labels="Stale < Fresh"),
    FurtherQuestion(name="why", kind="words", text="Why?", required=False),
)


@dataclass(frozen=True)
class Made:
    """A server with a project of each kind, in which much has happened."""

    site: Site
    slug: str  # judges, gold, a consensus, a plan, members, arms
    pairs: str
    draft: str
    empty: str
    item: str
    judge: str
    link: str
    mail: str  # the key of a recipient


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    with served(tmp_path_factory.mktemp("every")) as site:
        yield build(site)


@pytest.fixture(scope="module")
def own(made: Made, browser: Chromium) -> Iterator[tuple[Visitors, Page]]:
    visitors = Visitors(browser)
    yield visitors, as_logged_in(visitors, made.site)
    for context in visitors.contexts:
        context.close()


@pytest.fixture
def ada(own: tuple[Visitors, Page]) -> Iterator[Page]:
    """The page of a requester who is logged in: one that all tests go on with."""
    visitors, page = own
    yield page
    said = list(visitors.said)
    visitors.said.clear()
    assert not said


def build(site: Site) -> Made:
    site.set_up()
    later = datetime.now(UTC) + timedelta(days=1)
    given = small_project(queries=6, golds=16, judgments_per_item=3, warn_below=0.9)
    hard = replace(
        given.items[0],
        title="مصباح للقراءة <b>lamp</b> " + "wordwithoutend" * 8,
        text="A <em>good lamp</em>. " * 80,
        url=LONG,
    )
    given = replace(given, items=(hard, *given.items[1:]), questions=QUESTIONS)
    slug = site.services.projects.create(replace(given, seed=7)).slug
    arms = (Arm(name="plain"), Arm(name="coached", training_mix="uniform"))
    site.services.arms.set_all(slug, arms)
    site.services.projects.set_state(slug, "open")
    invites = site.services.judges.invite(
        slug, ["Grace Hopper", "Alan Turing", "Somebody"], expires=later
    )
    for invite, against in zip(invites[:2], ("nothing", "lamp, q1 d"), strict=True):
        judge = come(site, slug, f"/i/{invite.invite}")
        answer_all(judge, slug, pages=30, against=against)
    for _ in range(2):
        answer_all(come(site, slug, f"/j/{slug}"), slug, pages=8, wrong=True)
    come(site, slug, f"/j/{slug}")  # has a page in hand
    judge_as_model(site, slug)
    refit._fit_one(site.services, slug, refit.DEFAULT, with_report=True)
    refit._fit_one(site.services, slug, "majority-vote@freshness", with_report=True)
    item = site.services.items.get_all(slug, which="disputed")[0][0].item
    site.services.items.adjudicate(slug, item, "Good", reason="Seen by hand.")
    site.services.items.reopen(slug, item)
    first = site.services.judges.get_all(slug)[0].judge
    site.services.judges.send_message(slug, [first], "Thank you.\nA second line.")
    site.services.notices.set(
        slug, webhook=LONG, emails=["ada@example.com"], events=["done"], server=site.url
    )
    site.services.notices.test(slug)
    for note in ("Grace", ""):
        link = site.services.members.invite(slug, "reviewer", note=note, expires=later)
    plan(site, slug)
    pairs = site.open_project(paired_project())
    for _ in range(2):
        compare_all(come(site, pairs, f"/j/{pairs}"), pairs)
    refit._fit_one(site.services, pairs, refit.DEFAULT)
    draft = site.services.projects.create(replace(given, name="Draft", seed=8)).slug
    empty = site.services.projects.create(replace(given, name="Empty", items=(), golds=())).slug
    mail = next(iter(next(iter(site.services.settings.find("mail-keys:").values()))))
    return Made(site, slug, pairs, draft, empty, item, first, link.link, mail)


def come(site: Site, slug: str, address: str) -> Browser:
    judge = site.browser()
    judge.get(address)
    if "I agree, begin" in judge.text:
        judge.post(f"/j/{slug}/begin")
    judge.get(f"/j/{slug}")
    return judge


def answer_all(
    judge: Browser, slug: str, *, pages: int, wrong: bool = False, against: str = "nothing"
) -> None:
    """Judge so many pages, the training right; misses are contested.

    ``against``: titles with it get the other label.
    """
    for _ in range(pages):
        if not judge.is_judging:
            return
        training = 'data-kind="training"' in judge.text
        given = judge.answers(wrong=wrong and not training)
        parts = re.split(r'data-row="(\d+)"', judge.text)[1:]
        for row, text in zip(parts[::2], parts[1::2], strict=True):
            if against in text:
                given[f"label-{row}"] = {"Good": "Bad", "Bad": "Good"}[given[f"label-{row}"]]
            given |= {f"answer-{row}-freshness": "Fresh", f"comment-{row}": "Seen, and wondered."}
        sent = judge.post(f"/j/{slug}/pages/{judge.page}", **given)
        feedback = sent.headers["location"].removeprefix(str(judge.client.base_url))
        judge.get(feedback)
        missed = re.search(r'id="why-(\d+)"', judge.text)
        if missed and not training:
            judge.post(f"{feedback}/contest", row=missed[1], text="It shines.")
        judge.go_on(slug)


def judge_as_model(site: Site, slug: str) -> None:
    """Let an LLM judge answer two pages of work, for the audit."""
    judging = site.parts.judging
    model = judging.arrive(Arrival(project=slug, channel="api", kind="model", key="m")).judge
    while judging.state(model).pages < 2 and (page := judging.page(model)):
        answers = [
            Answer(
                row=row.row,
                label="Good" if "good" in row.title else "Bad",
                answers={"freshness": "Fresh"} if "freshness" in row.asked else {},
            )
            for row in page.rows
        ]
        judging.submit(model, page.page, page.key, answers)


def compare_all(judge: Browser, slug: str) -> None:
    while judge.is_judging:
        given = {"key": re.search(r'name="key" value="([^"]+)"', judge.text)[1]}  # type: ignore[index]
        parts = re.split(r'data-row="(\d+)"', judge.text)[1:]
        for row, text in zip(parts[::2], parts[1::2], strict=True):
            left, right = re.findall(r"Worth \d of 4", text)[:2]
            given[f"label-{row}"] = better(left, right)
        judge.post(f"/j/{slug}/pages/{judge.page}", **given)
        judge.go_on(slug)


def plan(site: Site, slug: str) -> None:
    """A plan as if it had been made in the background."""
    ada = log_in(site)
    ada.get(f"/projects/{slug}/results/plan")
    ada.post(
        f"/projects/{slug}/results/plan", accuracy="0.8", pay_per_page="0.25", gold_share="0.25"
    )
    asked = planner.read_asked(site.services, slug)
    assert asked is not None
    rows = tuple(
        PlanRow(per_item=n, accuracy=0.6 + 0.08 * n, low=0.58 + 0.08 * n, high=0.62 + 0.08 * n,
                judgments=10 * n, golds=2 * n, pages=n, cost=f"{0.2 * n:.2f}")
        for n in range(1, 5)
    )  # fmt: skip
    kept = ProjectPlan(
        wish=asked.wish, made="2026-01-02 03:04", items=24, currency="USD", per_item=3, rows=rows,
        golds_a_judge=7, pass_mark=0.8, typical=0.9, guessing=0.5, golds_needed=12, golds_there=16,
    )  # fmt: skip
    planner._keep(site.services, asked, kept)


PROJECT = "/projects/{project}"
# Pages of requesters whose address needs more than a project, and what is no page of its own.
SPECIAL: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("/", "/healthz", "/readyz", "/metrics"), ()),
    "/setup/{token}": (),  # refused once set up; seen before it
    **dict.fromkeys((f"{PROJECT}/progress", f"{PROJECT}/results/fits"), ()),
    **dict.fromkeys((f"{PROJECT}/judges/table", f"{PROJECT}/judges/links.csv"), ()),
    f"{PROJECT}/results/export/{{format}}": (),
    "/login": ("/login?next=/projects",),
    "/member/{link}": ("/member/{link}",),
    "/mail/{project}/{key}": ("/mail/{slug}/{mail}",),
    PROJECT: ("/projects/{slug}", "/projects/{empty}", "/projects/{pairs}"),
    f"{PROJECT}/begin": ("/projects/{draft}/begin", "/projects/{empty}/begin"),
    f"{PROJECT}/item": ("/projects/{slug}/item?item={item}",),
    f"{PROJECT}/judges/{{judge}}": ("/projects/{slug}/judges/{judge}",),
    f"{PROJECT}/settings/gold/edit": ("/projects/{slug}/settings/gold/edit?item=g0",),
    f"{PROJECT}/results": (
        "/projects/{slug}/results",
        "/projects/{slug}/results?question=freshness&model=majority-vote",
        "/projects/{empty}/results",
    ),
    f"{PROJECT}/results/report": (
        "/projects/{slug}/results/report?model=" + refit.DEFAULT,
        "/projects/{empty}/results/report?model=" + refit.DEFAULT,
    ),
    f"{PROJECT}/results/ranking": ("/projects/{pairs}/results/ranking",),
    f"{PROJECT}/results/ranking/report": ("/projects/{pairs}/results/ranking/report",),
}
MISSING = "/projects/missing"  # the page of an error


def list_addresses() -> list[str]:
    """Every page of requesters, of a project in which much happened and of an empty one."""
    routes = {route.path for route in page_routes() if "GET" in route.methods}
    assert routes >= SPECIAL.keys()
    found = [MISSING]
    for route in sorted(routes):
        if not route.startswith(("/j/", "/i/", "/join/")):
            both = (route.replace("{project}", kind) for kind in ("{slug}", "{empty}"))
            found += SPECIAL.get(route) or (dict.fromkeys(both) if route not in SPECIAL else ())
    return found


ADDRESSES = list_addresses()


def name_of(address: str) -> str:
    return re.sub(r"\W+", "-", address.partition("&")[0].replace("{", "").replace("}", "")).strip(
        "-"
    )


def fill_in(made: Made, address: str) -> str:
    names = {part: getattr(made, part) for part in Made.__dataclass_fields__ if part != "site"}
    names["item"] = quote(made.item, safe="")
    return made.site.url + address.format(**names)


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")


@pytest.mark.parametrize("address", ADDRESSES, ids=name_of)
def test_a_page_of_requesters(made: Made, ada: Page, visitors: Visitors, address: str) -> None:
    alone = address.startswith(("/login", "/member"))
    page = visitors.come() if alone else ada
    answer = page.goto(fill_in(made, address))
    assert answer is not None
    assert answer.status == (404 if address == MISSING else 200)
    unfold(page)
    check(page, name_of(address))


# What can be seen of forms that change something, and fields that belong to no form at all.
OFFERED = """() => {
    const seen = one => one.checkVisibility() && !one.matches(":disabled");
    const forms = [...document.querySelectorAll("form[method=post]")];
    const some = "input:not([type=hidden]), select, textarea, button";
    const offered = forms.filter(form => [...form.querySelectorAll(some)].some(seen))
        .map(form => [new URL(form.action).pathname, (form.elements.do || {}).value || ""]);
    const strays = [...document.querySelectorAll(some)].filter(
        one => seen(one) && !one.form && !one.dataset.copy
            && !one.closest(".result, .toolbar, thead"));
    const hollow = [...document.querySelectorAll("main .card, main details, main .pair")].filter(
        one => one.checkVisibility() && one.innerText.replace(
            (one.querySelector("summary, h2") || {innerText: ""}).innerText, "").trim() === "");
    return {offered, strays: strays.map(one => one.outerHTML.slice(0, 150)),
            hollow: hollow.map(one => one.outerHTML.slice(0, 150)),
            edits: [...document.querySelectorAll("a[href*='/gold/edit'], a[href$='/begin']")]
                .filter(seen).map(one => one.href)};
}"""
VIEWERS = {("/logout", ""), ("/dismiss", ""), ("/settings/members/x/remove", "")}
REVIEWERS = {
    *VIEWERS,
    ("/item", "adjudicate"),
    ("/item", "reopen"),
    ("/items/adjudicate", "adjudicate"),
    ("/settings/gold/contests/x", ""),
    ("/results", ""),
    ("/settings/gold/suggestions/fit", ""),
    ("/results/plan", ""),
    ("/results/systems/upload", ""),
    ("/dry-run", ""),
}


@pytest.mark.parametrize(("role", "allowed"), [("viewer", VIEWERS), ("reviewer", REVIEWERS)])
def test_a_role_is_offered_what_it_may_do_and_nothing_else(
    made: Made, visitors: Visitors, role: MemberRole, allowed: set[tuple[str, str]]
) -> None:
    services = made.site.services
    later = datetime.now(UTC) + timedelta(days=1)
    for project in (made.slug, made.pairs, made.draft, made.empty):
        link = services.members.invite(project, role, note="", expires=later)
        if project == made.slug:
            services.members.join_new(link.link, role, PASSWORD)
        else:
            guest = services.acting_for(services.accounts.log_in(role, PASSWORD))
            guest.members.join(link.link)
    page = as_logged_in(visitors, made.site, role)
    seen: set[tuple[str, str]] = set()
    own = ("/account", "/login", "/member", "/mail", "/projects/new", MISSING)
    for address in ADDRESSES:
        if address.startswith(own) or "notifications" in address or "/report" in address:
            continue  # their own account, or refused entirely
        if "{empty}" in address and role == "reviewer" and not FULL:
            continue  # as a viewer, who is offered less, sees them
        page.goto(fill_in(made, address))
        unfold(page)
        found = page.evaluate(OFFERED)
        offered = set()
        for path, what in found["offered"]:
            short = re.sub(r"^/projects/[^/]+(?=/)", "", path)
            offered.add((re.sub(r"(?<=/members/)[^/]+|(?<=contests/)[^/]+", "x", short), what))
        assert offered <= allowed, address
        assert not found["strays"] + found["hollow"] + found["edits"], (address, found)
        seen |= offered
    assert allowed - seen <= {("/item", "reopen")}, "and all of it is offered somewhere"


def as_judge(visitors: Visitors, judge: Browser, url: str) -> Page:
    """The browser of a judge who has come already."""
    page = visitors.come()
    session = judge.client.cookies["adjudge_session"]
    page.context.add_cookies([{"name": "adjudge_session", "value": session, "url": url}])
    return page


def test_pages_of_judges_that_few_see(made: Made, visitors: Visitors) -> None:
    """Those of the usual way are looked at where it is gone: test_collect, test_panels."""
    site = made.site
    stranger = visitors.come()
    for address, words in (
        (f"/j/{made.draft}", "takes no new judges"),
        (f"/j/{made.pairs}", "Everything in this project is judged"),
        (f"/j/{made.slug}/guidelines", "Guidelines"),
    ):
        stranger.goto(site.url + address)
        expect(stranger.locator("main")).to_contain_text(words)
        check(stranger, name_of("judge " + words))
    small = site.open_project(
        small_project(name="Small", queries=1, judgments_per_item=1, training_pass=1.0)
    )
    failed = come(site, small, f"/j/{small}")
    while 'data-kind="training"' in failed.text:
        failed.answer(small, wrong=True).go_on(small)
    first = come(site, small, f"/j/{small}").train(small)
    public = {row.stage: row.judge for row in site.services.judges.get_all(small)}
    site.services.judges.send_message(small, [public["working"]], "Take your time.\nThank you.")
    for _ in range(2):  # a first page has one of the three items
        come(site, small, f"/j/{small}").train(small)
    last = come(site, small, f"/j/{small}").train(small)
    (invite,) = site.services.judges.invite(small, ["Grace"])
    for judge, address, words in (
        (failed, f"/j/{small}", "training was not passed"),
        (first, f"/j/{small}", "Take your time."),
        (first, f"/i/{invite.invite}", "Go on as another judge?"),
        (last, f"/j/{small}", "Nothing to judge at the moment"),
    ):
        page = as_judge(visitors, judge, site.url)
        page.goto(site.url + address)
        expect(page.locator("main")).to_contain_text(words)
        check(page, name_of("judge " + words))
