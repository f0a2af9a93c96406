"""What a requester, or a judge behind them, could do to the server and to others by newer pages."""

from __future__ import annotations

import inspect
import os
import re
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from fastapi.routing import APIRoute
from sqlalchemy.engine import make_url

from adjudge.collect.consensus import refit
from adjudge.collect.importing import ImportLimits, Upload, process
from adjudge.collect.services.notices import _claim
from adjudge.collect.store.schema import outbox, uploads
from adjudge.collect.web import _background, _uploading
from adjudge.collect.web._background import Messenger, find_address
from adjudge.errors import Refused
from sites import PASSWORD, Browser, Site, page_routes, served, small_project
from sizes import sized
from waiting import wait_until

# -- parameters of addresses that no store takes


@pytest.fixture(params=["sqlite", "postgresql"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    """A server, on each kind of database."""
    settings = {"secret_file": str(tmp_path / "secret")}
    if request.param == "postgresql":
        url = make_url(request.getfixturevalue("postgres"))
        engine = sa.create_engine(
            url.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT"
        )
        with engine.connect() as on:
            on.execute(sa.text("CREATE DATABASE hostile"))
        engine.dispose()
        settings["database"] = url.set(database="hostile").render_as_string(hide_password=False)
    with served(tmp_path, **settings) as site:
        yield site


def parameters_of(route: APIRoute) -> set[str]:
    """The names that the module of a route asks an address or a form for."""
    text = inspect.getsource(sys.modules[route.endpoint.__module__])
    return set(re.findall(r'\.(?:get|text|need|number)\(\s*"([\w-]+)"', text))


ODD = ["%00", "a%00b", "%ED%A0%80", "%0d%0aSet-Cookie:%20x=1", "%E2%80%AE", "9" * 400, "%3Cb%3E"]
# On PostgreSQL what a store may refuse, and all of it in full: to SQLite all of it always goes.
STORED = sized(["a%00b", "%ED%A0%80", "9" * 400], full=ODD)


def test_no_parameter_of_a_page_is_a_fault(both: Site) -> None:
    """Every page, with every parameter it knows: text that no header, database or number is."""
    ada = both.set_up()
    slug = both.open_project(channels=["open", "panel", "invite", "api"])
    on_postgres = both.parts.database.url.get_backend_name() == "postgresql"
    tried = 0
    for route in page_routes():
        if "GET" not in route.methods:
            continue
        names = parameters_of(route) | {"item", "participant", "search", "page"}
        for odd in STORED if on_postgres else ODD:
            parts = {"project": slug, "row": "1", "contest": "1"}
            path = re.sub(r"\{(\w+)(?::\w+)?\}", lambda m: parts.get(m[1], odd), route.path)  # noqa: B023
            address = path + "?" + "&".join(f"{name}={odd}" for name in sorted(names))
            response = ada.client.get(address)
            assert response.status_code < 500, (address, response.text[-500:])
            assert "x=1" not in response.headers.get("set-cookie", "")
            tried += 1
    assert tried > 20 * len(STORED if on_postgres else ODD)


# -- script in what others see

SCRIPT = "<script>alert('x')</script>"
BROKEN = "\"'><img src=x onerror=alert(1)>"


def hostile_project() -> object:
    """Every text of a project that somebody may have made up."""
    project = small_project(name=f"N{BROKEN}", consent=SCRIPT + BROKEN, currency="<b>")
    items = tuple(
        replace(
            item, query=item.query + SCRIPT + BROKEN, need=BROKEN, category=BROKEN,
            text=f"<em>{BROKEN}</em>{SCRIPT}", title=item.title + SCRIPT + BROKEN,
            document=BROKEN + item.name, topic=item.topic + BROKEN, name=item.name + BROKEN,
            url='https://example.com/"onmouseover=alert(1)//',
        )
        for item in project.items
    )  # fmt: skip
    golds = tuple(
        replace(gold, item=gold.item + BROKEN, reason=SCRIPT + BROKEN) for gold in project.golds
    )
    text = f"# G\n\n{SCRIPT}{BROKEN}\n\n[x](javascript:alert(1)) ![x](javascript:alert(1))"
    return replace(project, items=items, golds=golds, guidelines=text)


def check_harmless(page: str, where: str) -> None:
    assert "<script>alert" not in page, where
    assert "<img src=x" not in page, where
    assert not re.search(r"<[^>]*\son\w+=", re.sub(r'"[^"]*"', '""', page)), where
    assert not re.search(r'(?:href|src|action)="(?:javascript:|data:(?!,"))', page), where


def test_no_text_of_a_user_runs_on_any_page(site: Site) -> None:
    """Items, names, comments, contests, messages, reasons, webhooks: on every page there is."""
    ada = site.set_up()
    slug = site.open_project(hostile_project(), channels=["open", "panel", "invite", "api"])  # type: ignore[arg-type]
    services = site.services
    judge = site.browser()
    judge.client.get(f"/j/{slug}", params={"participant": BROKEN, "study": SCRIPT})
    judge.get(f"/j/{slug}")
    judge.post(f"/j/{slug}/begin")
    judge.get(f"/j/{slug}").raise_for_status()
    judge.train(slug)
    seen = [("judge", judge.text)]
    page, given = judge.page, judge.answers(wrong=True)
    given |= {f"comment-{row}": SCRIPT + BROKEN for row in judge.rows}
    judge.get(judge.post(f"/j/{slug}/pages/{page}", **given).headers["location"])
    seen.append(("feedback", judge.text))
    row = re.search(r'name="row" value="(\d+)"', judge.text)
    if row:
        judge.post(f"/j/{slug}/pages/{page}/contest", row=row[1], text=SCRIPT + BROKEN)
    (who,) = services.judges.get_all(slug)
    services.judges.invite(slug, [SCRIPT + BROKEN])
    services.judges.send_message(slug, [who.judge], SCRIPT + BROKEN)
    services.notices.set(
        slug, webhook='https://example.com/"><img/src=x>', emails=["a'b@example.com"],
        events=("done",), server="",
    )  # fmt: skip
    services.notices.test(slug)
    work = next(item.name for item in services.projects.read(slug).items if "q0" in item.name)
    services.items.adjudicate(slug, work, "Good", reason=SCRIPT + BROKEN)
    services.judges.rename(slug, who.judge, SCRIPT + BROKEN)
    judge.go_on(slug)
    seen.append(("message", judge.text))
    refit._fit_one(services, slug, "majority-vote", with_report=True)
    services.judges.block(slug, who.judge, SCRIPT + BROKEN)
    known = {"project": slug, "judge": who.judge, "page": page, "format": "answers"}
    for route in page_routes():
        names = re.findall(r"\{(\w+)", route.path)
        if "GET" in route.methods and set(names) <= set(known):
            path = re.sub(r"\{(\w+)(?::\w+)?\}", lambda m: known[m[1]], route.path)
            browser = judge if path.startswith("/j/") else ada
            given = {"item": work, "model": "majority-vote"}
            response = browser.client.get(path, params=given, follow_redirects=True)
            if "text/html" in response.headers.get("content-type", ""):
                seen.append((path, response.text))
    ada.get("/projects/new")
    table = f'item,query,title,"{SCRIPT}{BROKEN}"\n1,q,,"{SCRIPT}"\n'.replace('""', '"')
    ada.post("/projects/upload", expect=422, name=SCRIPT + BROKEN,
             files={"files": (f"{SCRIPT}.csv", table.encode())})  # fmt: skip
    seen.append(("new", ada.text))
    assert sum("&lt;script&gt;alert(" in text for _, text in seen) > 10
    assert any(path.endswith("/results/report") and len(text) > 50_000 for path, text in seen)
    for where, text in seen:
        check_harmless(text, where)


# -- webhooks and mail


def tell(site: Site) -> None:
    Messenger(site.settings, site.services).look()


@pytest.mark.parametrize(
    "address",
    [
        "64:ff9b::7f00:1", "2002:7f00:1::", "::7f00:1", "2001:0:0:0::1", "fe80::1", "ff02::1",
        "64:ff9b::a9fe:a9fe", "100.64.0.1", "198.18.0.1", "192.0.0.8", "240.0.0.1", "0177.0.0.1",
        "2130706433", "0x7f.1", "127.1",
    ],
)  # fmt: skip
def test_other_spellings_of_addresses_inside_are_no_way_in(address: str) -> None:
    """Translated, tunnelled and old addresses, and numbers as only a resolver reads them."""
    with pytest.raises(Refused, match="not a public address"):
        find_address(address, private=False)


def test_public_addresses_are_reached_by_either_version() -> None:
    for address in ("93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822"):
        assert find_address(address, private=False) == address


def test_invalid_addresses_are_refused_when_they_are_set(site: Site) -> None:
    slug = site.open_project()
    for webhook in (
        "https://example.com:99999/", "https://example.com:0/", "https://:x@example.com/",
        "https://example.com/a b", "https://example.com/\r\nX: y", "https://ex\u00e4mple.com/",
        "https:///x", "file:///etc/passwd", "gopher://example.com/", "http://[::1/",
    ):  # fmt: skip
        with pytest.raises(Refused, match="expected an address"):
            site.services.notices.set(slug, webhook=webhook, emails=(), events=(), server="")
    for mail in (
        "a@example.com\r\nBcc:b@example.com", "a@example.com,b@example.com", "x:a@example.com;",
        "a<b@example.com>", '"a"@example.com', "a@b@example.com", "a@localhost", "a b@example.com",
        "@example.com", "a" * 65 + "@example.com", "a@example.com>",
    ):  # fmt: skip
        with pytest.raises(Refused, match="is not a mail address"):
            site.services.notices.set(slug, webhook="", emails=[mail], events=(), server="")


class Dripping(socketserver.ThreadingTCPServer):
    """A webhook that answers by and by, and never to the end."""

    daemon_threads = True
    came = 0

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            assert isinstance(self.server, Dripping)
            self.server.came += 1
            self.request.recv(65_536)
            with suppress(OSError):
                while True:
                    self.request.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
                    time.sleep(0.05)

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), self.Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"


def test_a_webhook_that_never_ends_its_answer_is_hung_up_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And does not keep the messages of others, of which some are sent at a time."""
    monkeypatch.setattr(_background, "_TOTAL_SECONDS", 0.5)
    drip = Dripping()
    with served(tmp_path, notify_seconds=0.0, private_webhooks=True) as site:
        slug = site.open_project()
        site.services.notices.set(slug, webhook=drip.url, emails=(), events=(), server="")
        for _ in range(3):
            site.services.notices.test(slug)
        done = threading.Thread(target=tell, args=(site,), daemon=True)
        done.start()
        wait_until(lambda: drip.came == 3, 300, "all are on their way at once")
        wait_until(lambda: not done.is_alive(), 300, "nobody listens any more")
        states = [one.state for one in site.services.notices.get_deliveries(slug)]
        assert states == ["waiting"] * 3
        assert all(one.problem for one in site.services.notices.get_deliveries(slug))
    drip.shutdown()
    drip.server_close()


def test_one_project_does_not_fill_the_outbox_of_others(site: Site) -> None:
    loud, quiet = site.open_project(), site.open_project(small_project(name="Quiet"))
    emails = [f"a{n}@example.com" for n in range(20)]
    site.services.notices.set(loud, webhook="", emails=emails, events=(), server="")
    site.confirm_mail(loud)
    site.services.notices.test(loud)
    site.services.notices.set(quiet, webhook="", emails=["b@example.com"], events=(), server="")
    site.confirm_mail(quiet)
    site.services.notices.test(quiet)
    parcels = site.services.notices.claim()
    assert "b@example.com" in [parcel.target for parcel in parcels]
    with site.parts.database.read() as on:
        assert len(_claim(on, time.time(), most=100)) <= 5


def test_mail_is_limited_per_owner_and_recipient(site: Site) -> None:
    """Messages are counted over all projects of an owner, and all events, to whomever they go."""
    ada = site.set_up()
    acting = site.services.acting_for(site.services.accounts.log_in("ada", PASSWORD))
    slugs = [acting.projects.create(small_project(name=name)).slug for name in ("One", "Two")]
    emails = [f"a{n}@example.com" for n in range(20)]
    for slug in slugs:
        acting.projects.set_state(slug, "open")
        acting.notices.set(slug, webhook="", emails=emails, events=("judge-blocked",), server="")
        site.confirm_mail(slug)
    site.browser().join(slugs[0])
    (who,) = acting.judges.get_all(slugs[0])
    for _ in range(30):
        acting.judges.block(slugs[0], who.judge, "buy at https://evil.example")
        acting.judges.unblock(slugs[0], who.judge)
        acting.notices.gather(slugs[0])
    sent = [one for one in messages(site) if one.due is not None]
    assert len(sent) == 60
    assert sum(one.target == "a0@example.com" for one in sent) <= 12
    ada.get(f"/projects/{slugs[1]}/settings/notifications")
    ada.post(f"/projects/{slugs[1]}/settings/notifications/test", expect=429)
    assert "please wait an hour" in ada.words


def test_a_stranger_is_asked_twice_a_day_at_most(site: Site) -> None:
    for number in range(4):
        slug = site.open_project(small_project(name=f"P{number}"))
        site.services.notices.set(
            slug, webhook="", emails=["a@example.com"], events=(), server=site.url
        )
    assert sum(one.due is not None for one in messages(site)) == 2


def messages(site: Site) -> list[Any]:
    with site.parts.database.read() as on:
        return list(on.execute(sa.select(outbox)))


# -- files


def test_no_more_files_are_kept_than_somebody_works_on(site: Site) -> None:
    """Files that cannot be read are kept for another try: not every one, for ever."""
    ada = site.set_up()
    ada.get("/projects/new")
    for number in range(8):
        files = {"files": (f"{number}.csv", b"was\n%d\n" % number)}
        ada.post("/projects/upload", files=files, expect=422)
    with site.parts.database.read() as on:
        assert len(on.execute(sa.select(uploads.c.name)).all()) == 5
    kept = ada.text.partition('name="kept" value="')[2].partition('"')[0]
    ada.post("/projects/upload", kept=kept, column=["was"], part=["query"], expect=422)
    assert "There is no file" not in ada.words, "the newest are there"


def test_kept_files_of_another_are_not_there(site: Site) -> None:
    ada = site.set_up()
    ada.get("/projects/new")
    ada.post("/projects/upload", files={"files": ("a.csv", b"was\n1\n")}, expect=422)
    kept = ada.text.partition('name="kept" value="')[2].partition('"')[0]
    eve = site.log_in("eve")
    eve.post("/projects/upload", kept=kept, expect=422)
    assert "No file was sent" in eve.words


def test_a_reader_has_no_more_memory_than_reading_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process reports it like any other fault of a file."""
    program = (
        "import adjudge.collect.importing.process as b;"
        "b._MEMORY = 400_000_000;"
        "b.importing.read = lambda *a, **k: bytearray(2_000_000_000);"
        "b._main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        process.ask(child.stdin, [Upload(name="a", body=b"x")], {"limits": ImportLimits(bytes=1)})
        found = process.hear(child.stdout)
    assert [str(error) for error in found.errors] == [
        "what was sent: takes more memory to read than there is"
    ]


def test_uploads_that_wait_are_not_without_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_uploading, "_AT_ONCE", 0)
    monkeypatch.setattr(_uploading, "_MOST_WAITING", 0)
    monkeypatch.setattr(process, "_LARGE", 10)
    with served(tmp_path) as site:
        ada: Browser = site.set_up()
        ada.get("/projects/new")
        files = {"files": ("a.csv", b"item,query,title\n1,q,t\n")}
        response: httpx.Response = ada.post("/projects/upload", files=files, expect=503)
    assert "many files are being read" in ada.words.lower()
    assert response.headers["retry-after"] == "5"
