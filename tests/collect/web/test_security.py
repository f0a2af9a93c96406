"""One test for each promise of the list of safety."""

from __future__ import annotations

import io
import json
import logging
import re
import time
from pathlib import Path

import pytest

from adjudge.collect.web._middleware import POLICY
from collecting import refused
from sites import PASSWORD, Browser, Site, page_routes, served


def test_cookies_are_secure_behind_https(site: Site) -> None:
    response = site.browser(**{"X-Forwarded-Proto": "https"}).get("/login")
    assert "Secure" in response.headers["set-cookie"]
    assert response.headers["strict-transport-security"].startswith("max-age=")


def test_a_new_password_ends_other_sessions(site: Site) -> None:
    here, there = site.set_up(), site.log_in("ada")
    here.get("/account")
    new = "another good password"
    here.post("/account/password", old=PASSWORD, password=new, again=new)
    here.get("/account")
    there.get("/projects", expect=303)
    site.log_in("ada", expect=401)
    site.log_in("ada", new)


def routes_that_change(site: Site) -> list[str]:
    """The path of every form, with something in place of what it names."""
    return [
        re.sub(r"\{(\w+)\}", lambda m: _EXAMPLE.get(m[1], "x"), route.path)
        for route in page_routes()
        if "POST" in route.methods
    ]


_EXAMPLE = {"row": "1", "contest": "1"}


def test_every_form_is_refused_without_its_proof(site: Site) -> None:
    ada = site.set_up()
    _EXAMPLE["project"] = site.open_project()
    paths = routes_that_change(site)
    assert len(paths) > 25
    for path in paths:
        for proof in ("", "f" * 40):
            response = ada.client.post(path, data={"proof": proof})
            assert response.status_code == 403, path
            assert "did not come from a page of your present session" in response.text


def test_the_proof_of_another_session_is_refused(site: Site) -> None:
    ada, other = site.set_up(), site.browser()
    other.get("/login")
    ada.post("/logout", proof=other.proof, expect=403)


def at(site: Site, address: str) -> Browser:
    """A browser at an address, as a proxy on this machine names it."""
    return site.browser(**{"X-Forwarded-For": address})


def guess(site: Site, browser: Browser, *, name: str = "ada", password: str = "wrong") -> int:
    browser.get("/login")
    form = {"proof": browser.proof, "name": name, "password": password}
    return browser.client.post("/login", data=form).status_code


def test_wrong_tries_of_others_do_not_lock_an_account(tmp_path: Path) -> None:
    with served(tmp_path, login_attempts=3) as site:
        here = site.set_up()
        here.get("/projects")
        here.post("/logout")
        for place in ("198.51.100.1", "127.0.0.1", "198.51.100.3"):
            assert [guess(site, at(site, place)) for _ in range(4)] == [401, 401, 401, 429]
        begun = time.monotonic()
        assert guess(site, at(site, "198.51.100.4"), password=PASSWORD) == 303
        assert time.monotonic() - begun > 1, "it is held back"
        begun = time.monotonic()
        assert guess(site, here, password=PASSWORD) == 303, "a browser that was logged in before"
        assert time.monotonic() - begun < 1


def test_logging_in_allows_no_more_guesses_at_other_accounts(tmp_path: Path) -> None:
    with served(tmp_path, login_attempts=3) as site:
        site.set_up()
        site.services.accounts.add("eve", PASSWORD)
        statuses = []
        for _ in range(5):
            statuses.append(guess(site, at(site, "2001:db8::1")))
            guess(site, at(site, "2001:db8::2"), name="eve", password=PASSWORD)
        assert statuses == [401, 401, 401, 429, 429]


def test_a_disabled_account_is_out_at_once(site: Site) -> None:
    ada = site.set_up()
    otto = site.services.accounts.add("otto", PASSWORD)
    browser = site.log_in("otto")
    secret = site.services.acting_for(otto).accounts.make_token("t", scope="requester")[1]
    site.services.accounts.set_disabled(otto.requester, True)
    browser.get("/projects", expect=303)
    site.log_in("otto", expect=401)
    with refused("bad-token"):
        site.services.accounts.check_token(secret)
    ada.get("/projects")


def test_a_wrong_name_and_a_wrong_password_look_the_same(site: Site) -> None:
    site.set_up()
    answers = {
        site.log_in(name, "wrong", expect=401).words.replace(name, "") for name in ("ada", "eve")
    }
    assert len(answers) == 1


def test_login_leads_nowhere_else(site: Site) -> None:
    site.set_up()
    for target in ("https://evil.example", "//evil.example", "/\\evil.example", "javascript:x"):
        browser = site.browser()
        browser.get("/login")
        response = browser.post("/login", name="ada", password=PASSWORD, next=target)
        assert response.headers["location"] == "/projects"


def test_every_page_has_a_policy_without_inline_script_and_style(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project()
    judge = site.browser().join(slug)
    pages = ["/projects", "/projects/new", "/account", f"/projects/{slug}"]
    pages += [f"/projects/{slug}/{tab}" for tab in _TABS]
    for browser, path in [(ada, page) for page in pages] + [(judge, f"/j/{slug}")]:
        response = browser.get(path)
        assert response.headers["content-security-policy"] == POLICY
        assert "unsafe" not in POLICY
        assert not re.search(r"<script(?![^>]* src=)", response.text)
        assert not re.search(r"<style|\sstyle=|\son\w+=", response.text)
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["x-frame-options"] == "DENY"
        assert response.headers["referrer-policy"] == "same-origin"
        assert response.headers["cache-control"] == "no-store"


_TABS = (
    *("judges", "results/disagreements", "settings/gold", "results", "results/export"),
    *("settings/log", "settings"),
)


def test_links_of_invitations_cannot_be_guessed_and_expire(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = site.set_up()
    slug = site.open_project(channels=["invite"])
    ada.get(f"/projects/{slug}/settings")
    ada.post(f"/projects/{slug}/judges/invites", notes="Grace\nAlan", days="3")
    ada.get(f"/projects/{slug}/judges")
    links = re.findall(r">(http[^<]+/i/[^<]+)</code>", ada.text)
    assert len(links) == 2
    path = links[0].removeprefix(site.url)
    site.browser().get(path)
    assert [row.channel for row in site.services.judges.get_all(slug)] == ["invite"]
    forged = site.browser()
    forged.get(path[:-3] + "abc", expect=403)
    assert "This invitation is not known" in forged.words
    assert len(path.rpartition("/")[2]) == 16, "96 random bits"
    later = 4 * 86_400
    from adjudge.collect.web import _joining

    real = _joining.time.time
    monkeypatch.setattr(_joining.time, "time", lambda: real() + later)
    late = site.browser()
    late.get(path, expect=410)
    assert "has expired" in late.words


def test_a_project_for_invited_judges_refuses_the_open_link(site: Site) -> None:
    """Nor does it show that it is there, by its name or its guidelines."""
    slug = site.open_project(channels=["invite"])
    stranger = site.browser()
    stranger.get("/login")
    seen = []
    for path in (f"/j/{slug}", f"/j/{slug}/guidelines", f"/j/{slug}?participant=p1"):
        stranger.get(path, expect=404)
        seen.append(stranger.words)
        assert "if you were sent a link, please open that one again" in stranger.words
        assert "Say Good of a good lamp" not in stranger.words
    stranger.post(f"/j/{slug}/begin", expect=404)
    stranger.get("/j/nothing", expect=404)
    answers = {
        words.replace(slug, "nothing").rpartition(" ")[0] for words in (*seen, stranger.words)
    }
    assert len(answers) == 1, "only the number of the request differs from a missing project"
    assert not site.services.judges.get_all(slug)


def test_who_came_from_a_panel_comes_back_when_the_panel_is_closed(site: Site) -> None:
    slug = site.open_project(channels=["panel"])
    site.browser().get(f"/j/{slug}", expect=404)
    site.browser().get(f"/j/{slug}?participant=p1")
    site.services.projects.set_policy(slug, {"channels": ["invite"]})
    again = site.browser()
    again.get(f"/j/{slug}?participant=p1")
    assert "Before you begin" in again.words
    again.get(f"/j/{slug}/guidelines")
    assert "Say Good of a good lamp" in again.words
    site.browser().get(f"/j/{slug}?participant=p2", expect=404)


def test_nothing_about_gold_reaches_the_browser_before_it_is_answered(site: Site) -> None:
    slug = site.open_project(screening_golds=2)
    judge = site.browser().join(slug).train(slug)
    names = [item.name for item in site.services.projects.read(slug).items]
    text = judge.text.lower()
    for word in ("gold", "honeypot", "screening", "accepted", "reason"):
        assert word not in re.sub(r"<a href[^>]*>guidelines</a>", "", text), word
    for name in names:
        assert f'"{name}"' not in text, "an item's own id stays on the server"
    row = judge.text.split('class="card result"')
    shapes = {
        re.sub(r"\d+|q\d+ d\d+|g\d+|good|bad", "#", part.split("</li>")[0]) for part in row[1:]
    }
    assert len(shapes) == 1, "rows differ in nothing but their words"


def test_uploads_are_limited_in_size(tmp_path: Path) -> None:
    with served(tmp_path, upload_bytes=100_000) as site:
        ada = site.set_up()
        ada.get("/projects/new")
        big = io.BytesIO(b"item,query,title\n" + b"a,b,c\n" * 200_000)
        ada.post(
            "/projects/upload", name="x", labels="a,b", files={"files": ("x.csv", big)}, expect=413
        )
        assert "Too large" in ada.words
        assert not site.services.projects.get_all()


def test_uploads_are_limited_in_rows(tmp_path: Path) -> None:
    with served(tmp_path, upload_rows=10) as site:
        ada = site.set_up()
        ada.get("/projects/new")
        rows = b"item,query,title\n" + b"".join(b"i%d,q,t\n" % n for n in range(20))
        ada.post(
            "/projects/upload", name="x", labels="a,b", files={"files": ("x.csv", rows)}, expect=422
        )
        assert "there are more than 10 items" in ada.words
        assert not site.services.projects.get_all()


def test_the_setup_link_works_once(site: Site) -> None:
    assert not site.services.projects.get_all()
    token = site.services.accounts.make_setup_token()
    stranger = site.browser()
    stranger.get("/setup/guess")
    stranger.post("/setup/guess", name="eve", password=PASSWORD, again=PASSWORD, expect=422)
    first = site.browser()
    first.get(f"/setup/{token}")
    first.post(f"/setup/{token}", name="ada", password="short", again="short", expect=422)
    first.post(f"/setup/{token}", name="ada", password=PASSWORD, again="other", expect=422)
    first.post(f"/setup/{token}", name="ada", password=PASSWORD, again=PASSWORD)
    second = site.browser()
    second.get(f"/setup/{token}", expect=409)
    second.get("/login")
    second.post(f"/setup/{token}", name="eve", password=PASSWORD, again=PASSWORD, expect=409)


def test_the_log_has_no_names_addresses_or_keys(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="adjudge.serve")
    site.set_up("ada.lovelace")
    slug = site.open_project()
    judge = site.browser()
    judge.get(f"/j/{slug}?PROLIFIC_PID=participant-77")
    judge.post(f"/j/{slug}/begin")
    token = site.parts.keys.sign("join", {"p": slug, "i": "x", "e": 1})
    judge.get(f"/join/{token}", expect=410)
    lines = [json.dumps({**vars(record), "msg": record.getMessage()}, default=str)
             for record in caplog.records if record.name == "adjudge.serve"]  # fmt: skip
    assert len(lines) > 5
    text = "\n".join(lines)
    for secret in ("ada.lovelace", "participant-77", token, "127.0.0.1", PASSWORD):
        assert secret not in text
