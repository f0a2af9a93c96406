"""The requester's pages, in a browser without scripts."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from adjudge.collect.consensus import refit
from adjudge.collect.services import exports
from adjudge.collect.values.requesting import MemberRole
from adjudge.models.registry import MODELS
from sites import PASSWORD, Browser, Site, small_project


@pytest.fixture
def ada(site: Site) -> Browser:
    return site.set_up()


@pytest.fixture
def slug(site: Site, ada: Browser) -> str:
    """A project with one judge who worked well and one who was blocked."""
    name = site.open_project(queries=8, screening_golds=2)
    good = site.browser().join(name).train(name)
    good.answer(name).go_on(name)
    bad = site.browser().join(name).train(name)
    for _ in range(2):
        bad.answer(name, wrong=True).go_on(name)
    assert "Your work here has ended" in bad.words
    return name


def test_a_project_is_created_from_files_in_the_page(site: Site, ada: Browser) -> None:
    ada.get("/projects")
    assert "No project yet" in ada.words
    assert "Make one from files" in ada.words
    ada.get("/projects/new")
    rows = b"item,query,title,gold,reason\ni1,q,t1,yes,It is.\ni2,q,t2,,\n"
    form = {"name": "Mine", "labels": "no<yes", "guidelines": "# Do it"}
    made = ada.post("/projects/upload", **form, files={"files": ("a.csv", rows)})
    assert made.headers["location"] == "/projects/mine/begin?done=read"
    ada.get("/projects/mine/begin?done=read")
    assert "The files are read, and their items stored." in ada.words
    assert [item.name for item in site.services.projects.read("mine").items] == ["i1", "i2"]
    ada.post("/projects/mine/state", state="open")
    assert site.services.projects.get("mine").state == "open"
    more = b"item,query,title\ni3,q,t3\n"
    ada.post("/projects/mine/upload", do="create", files={"files": ("b.csv", more)})
    assert len(site.services.projects.read("mine").items) == 3
    bad = b"item,query,title\ni3,q,t3\ni3,q,t3\n"
    ada.post("/projects/mine/upload", do="create", files={"files": ("c.csv", bad)}, expect=422)
    assert "c.csv, line 3" in ada.words


def test_files_that_were_checked_are_imported_without_being_sent_again(
    site: Site, ada: Browser
) -> None:
    ada.get("/projects/new")
    rows = b"item,query,title\ni1,q,t1\n"
    ada.post("/projects/upload", name="Mine", files={"files": ("a.csv", rows)})
    ada.get("/projects/mine")
    more = {"files": ("b.csv", b"item,query,title\ni2,q,t2\n")}
    ada.post("/projects/mine/upload", do="check", files=more, expect=200)
    assert "The files can be read: 1 item" in ada.words
    assert len(site.services.projects.read("mine").items) == 1
    kept = re.search(r'name="kept" value="([^"]+)"', ada.text)
    assert kept
    done = ada.post("/projects/mine/upload", do="create", kept=kept[1])
    assert done.headers["location"] == "/projects/mine?done=imported"
    assert [item.name for item in site.services.projects.read("mine").items] == ["i1", "i2"]
    ada.get("/projects/mine")
    ada.post("/projects/mine/upload", do="create", kept=kept[1], expect=422)  # and no second time
    assert "Choose a file first." in ada.words


def join_as(site: Site, name: str, slug: str, role: MemberRole) -> Browser:
    """A browser of a member of a project."""
    browser = site.log_in(name)
    later = datetime.now(UTC) + timedelta(days=1)
    link = site.services.members.invite(slug, role, expires=later).link
    services = site.services
    services.acting_for(services.accounts.log_in(name, PASSWORD)).members.join(link)
    return browser


def test_a_dismissed_warning_comes_back_when_its_cause_changes(site: Site, ada: Browser) -> None:
    slug = site.open_project(training_pairs=20, screening_golds=5)
    grace = join_as(site, "grace", slug, "viewer")

    def see(browser: Browser) -> list[str]:
        browser.get(f"/projects/{slug}")
        return [one for one in re.findall(r'name="warning" value="(\w*)"', browser.text) if one]

    training, *others = see(ada)
    assert others
    ada.post(f"/projects/{slug}/dismiss", warning=training)
    assert see(ada) == others
    assert see(grace) == [training, *others], "each dismisses for themselves"
    site.services.projects.set_policy(slug, {"judgments_per_item": 3})
    assert training not in see(ada), "its cause is as it was"
    site.services.projects.set_policy(slug, {"training_pairs": 21})
    changed = [one for one in see(ada) if one not in (training, *others)]
    assert changed
    for one in see(ada):
        ada.post(f"/projects/{slug}/dismiss", warning=one)
    assert see(ada) == []
    ada.post(f"/projects/{slug}/dismiss", warning="")
    assert set(see(ada)) > set(changed), "all are shown again"


def test_a_judge_s_other_projects_are_those_that_one_may_see(site: Site, ada: Browser) -> None:
    owners = {"a": site.log_in("olga"), "b": site.log_in("olga"), "c": site.log_in("bob")}
    ids = {}
    for slug, owner in (("a", "olga"), ("b", "olga"), ("c", "bob")):
        theirs = site.services.acting_for(site.services.accounts.log_in(owner, PASSWORD)).projects
        theirs.create(small_project(name=slug, training=False))
        theirs.set_state(slug, "open")
        one = site.browser()
        one.get(f"/j/{slug}?participant=P-77")
        one.post(f"/j/{slug}/begin")
        (ids[slug],) = [row.judge for row in site.services.judges.get_all(slug)]
    site.browser().join("b")  # somebody else

    def linked(browser: Browser, slug: str) -> set[str]:
        browser.get(f"/projects/{slug}/judges/{ids[slug]}")
        found = re.findall(r"/projects/([\w-]+)/judges/([\w-]{12,})\"", browser.text)
        assert all(ids[other] == judge for other, judge in found)
        return {other for other, _ in found} - {slug}

    assert {slug: linked(owner, slug) for slug, owner in owners.items()} == {
        "a": {"b"},
        "b": {"a"},
        "c": set(),
    }
    assert linked(ada, "a") == {"b", "c"}, "an admin has rights on all"
    grace = join_as(site, "grace", "a", "manager")
    assert linked(grace, "a") == set()
    join_as(site, "grace", "b", "viewer")
    assert linked(grace, "a") == {"b"}


def test_the_list_of_projects_shows_accuracy_cost_and_activity(ada: Browser, slug: str) -> None:
    ada.get("/projects")
    assert re.search(r"open \d+ of \d+ \d+% \d+% to \d+% 0.60 USD \d+ \d+ 20\d\d-", ada.words)


def test_a_judge_is_seen_with_confusion_and_history_blocked_and_unblocked(
    site: Site, ada: Browser, slug: str
) -> None:
    ada.get(f"/projects/{slug}/judges")
    blocked = next(row for row in site.services.judges.get_all(slug) if row.stage == "blocked")
    assert blocked.judge in ada.words
    ada.get(f"/projects/{slug}/judges/{blocked.judge}")
    for words in ("Confusion against gold", "Answers to gold", "History", "warned", "blocked"):
        assert words in ada.words
    before = site.services.projects.get_progress(slug).trusted
    ada.post(f"/projects/{slug}/judges/{blocked.judge}/unblock")
    ada.get(f"/projects/{slug}/judges/{blocked.judge}?done=unblocked")
    assert "The judge is unblocked" in ada.words
    assert site.services.judges.get(slug, blocked.judge).row.stage == "working"
    assert site.services.projects.get_progress(slug).trusted > before
    ada.post(f"/projects/{slug}/judges/{blocked.judge}/block", reason="a test", sure="yes")
    assert site.services.judges.get(slug, blocked.judge).row.by_hand


def test_a_confirmation_on_a_page_cannot_be_forged(ada: Browser, slug: str) -> None:
    ada.get(f"/projects/{slug}?done=Call+this+number")
    assert "Call this number" not in ada.words


def test_disagreements_are_listed_by_query(site: Site, ada: Browser) -> None:
    slug = site.open_project(queries=2, warn_below=0.0, block_below=0.0)
    for wrong in (False, True):
        ada.get(f"/projects/{slug}/results/disagreements")
        assert "No disagreement" in ada.words
        judge = site.browser().join(slug).train(slug)
        while judge.is_judging:
            noted = {f"comment-{row}": "Too <dim>." for row in range(1, 9)} if wrong else {}
            given = judge.answers(wrong=wrong)
            judge.post(f"/j/{slug}/pages/{judge.page}", **given, **noted)
            judge.go_on(slug)
    ada.get(f"/projects/{slug}/results/disagreements")
    assert "lamp number 0 disagreement 1.00" in ada.words
    right, wrong = sorted(site.services.judges.get_all(slug), key=lambda row: -(row.accuracy or 0))
    for title, good, bad in (("good", right, wrong), ("bad", wrong, right)):
        said = rf"A {title} lamp, q\d d\d Good 1, Bad 1 Good : {good.judge} Bad : {bad.judge} 1\.00"
        assert len(re.findall(said, ada.words)) == 3, title
    assert ada.words.count(f"{wrong.judge} : Too <dim>.") == 6, "each comment with whose it is"
    ada.get(f"/projects/{slug}/results/disagreements?search=nothing-like-it")
    assert "lamp number" not in ada.words


def test_policy_and_guidelines_are_changed_in_the_page(site: Site, ada: Browser, slug: str) -> None:
    ada.get(f"/projects/{slug}/settings")
    form = dict(re.findall(r'<input id="(\w+)" name="\1" value="([^"]*)"', ada.text))
    form |= {"trust": "beta", "gold_runs_out": "repeat", "consent": "Agree?"}
    form |= dict.fromkeys(("training", "screening", "feedback", "pay_blocked"), "yes")
    form |= {"channels": ["open", "api"], "require_consent": "yes", "judgments_per_item": "3"}
    ada.post(f"/projects/{slug}/settings/policy", **form)
    policy, version = site.services.projects.get_policy(slug)
    assert (policy.judgments_per_item, policy.trust, policy.channels) == (
        3,
        "beta",
        ("open", "api"),
    )
    assert version == 2
    ada.post(f"/projects/{slug}/settings/policy", **(form | {"warn_below": "7"}), expect=422)
    assert "“Warn below” = 7: expected a number from 0 to 1" in ada.words
    ada.post(f"/projects/{slug}/settings/guidelines", guidelines="# Anew")
    assert site.services.projects.read(slug).guidelines == "# Anew"


def test_a_project_is_deleted_once_its_name_is_typed(site: Site, ada: Browser, slug: str) -> None:
    ada.get(f"/projects/{slug}/settings")
    site.services.projects.set_state(slug, "closed")
    ada.post(f"/projects/{slug}/delete", name="wrong", expect=422)
    ada.post(f"/projects/{slug}/delete", name="Lamps")
    assert not site.services.projects.get_all()


def test_tokens_are_shown_once_and_made_void(site: Site, ada: Browser, slug: str) -> None:
    ada.get("/account")
    ada.post("/account/tokens", name="model", scope="judge", project=slug, days="30", expect=200)
    secret = re.search(r'id="secret">([^<]+)<', ada.text)[1]  # type: ignore[index]
    token, _ = site.services.accounts.check_token(secret)
    ada.get("/account")
    assert secret not in ada.text
    ada.post(f"/account/tokens/{token.token}/revoke")
    first = site.services.accounts.get_all()[0]
    assert site.services.acting_for(first).accounts.get_tokens()[0].revoked
    ada.post("/account/tokens", name="model", scope="everything", expect=422)


def test_only_an_admin_adds_a_requester(site: Site, ada: Browser) -> None:
    ada.get("/account")
    ada.post("/account/requesters", name="eve", password=PASSWORD, again=PASSWORD)
    eve = site.log_in("eve")
    eve.get("/account")
    assert "Add a requester" not in eve.words
    eve.post("/account/requesters", name="mal", password=PASSWORD, again=PASSWORD, expect=403)


def test_who_is_not_logged_in_is_led_to_the_login_and_back(site: Site, ada: Browser) -> None:
    slug = site.services.projects.create(small_project()).slug
    stranger = site.browser()
    led = stranger.get(f"/projects/{slug}/judges", expect=303)
    assert led.headers["location"] == f"/login?next=/projects/{slug}/judges"
    stranger.get(led.headers["location"])
    back = stranger.post(
        "/login", name="ada", password=PASSWORD, next=f"/projects/{slug}/judges", expect=303
    )
    assert back.headers["location"] == f"/projects/{slug}/judges"


def test_a_consensus_is_asked_for_fitted_shown_and_exported(
    site: Site, ada: Browser, slug: str
) -> None:
    ada.get(f"/projects/{slug}/results")
    for name in MODELS:
        assert re.search(f'<option value="{name}"( selected)?>{name}: ', ada.text), name
    ada.post(f"/projects/{slug}/results", model="majority-vote")
    ada.get(f"/projects/{slug}/results")
    assert "majority-vote waiting" in ada.words
    assert (slug, "majority-vote") in refit.find_due(site.services)
    refit._fit_one(site.services, slug, "majority-vote")
    assert (slug, "majority-vote") not in refit.find_due(site.services)
    ada.get(f"/projects/{slug}/results")
    assert "majority-vote ready" in ada.words
    assert "Labels by majority-vote" in ada.words
    assert re.search(r"A \w+ lamp, q\d d\d lamp number \d (Good|Bad) 1.000", ada.words)
    path = f"/projects/{slug}/results/export/labels-consensus?model=majority-vote"
    text = ada.client.get(path).text.replace('"', "")
    assert text.startswith("item,topic,document,label,probability,p_Good,p_Bad,judgments,")
    for entry in exports.list_exports():
        if entry.kind == "labels":
            path = f"/projects/{slug}/results/export/{entry.name}?model=majority-vote"
            assert ada.client.get(path).status_code in (200, 422), entry.name
    fragment = ada.client.get(f"/projects/{slug}/results/fits").text
    assert "<html" not in fragment


def test_health_and_metrics(site: Site, ada: Browser, slug: str) -> None:
    assert ada.client.get("/healthz").json() == {"status": "ok"}
    assert ada.client.get("/readyz").json() == {"status": "ready"}
    text = site.metrics()
    assert re.search(
        r'adjudge_requests_total\{method="GET",route="/j/\{project\}",status="200"\} \d', text
    )
    assert re.search(r'adjudge_events_total\{event="judgments"\} \d', text)
    assert "adjudge_database_up 1" in text
    assert re.search(r"adjudge_stored_judgments \d+", text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("consensus?model=pmf", "results?model=pmf"),
        ("consensus/report", "results/report"),
        ("ranking/report", "results/ranking/report"),
        ("disagreements", "results/disagreements"),
        ("plan", "results/plan"),
        ("export/labels-qrels", "results/export/labels-qrels"),
        ("gold/edit?item=a%2Fb", "settings/gold/edit?item=a%2Fb"),
        ("arms", "settings/experiments"),
        ("members", "settings/members"),
        ("notices", "settings/notifications"),
        ("log?before=9", "settings/log?before=9"),
    ],
)
def test_old_addresses_lead_on(site: Site, old: str, new: str) -> None:
    for send in (site.browser().client.get, site.browser().client.post):
        answer = send(f"/projects/lamps/{old}")
        assert (answer.status_code, answer.headers["location"]) == (308, f"/projects/lamps/{new}")
