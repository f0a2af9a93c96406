"""Notices that are sent: signed, tried again, by a real mail server, never twice."""

from __future__ import annotations

import hmac
import json
import re
import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller

from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store.database import utc_now
from adjudge.collect.web._background import Messenger, find_address
from adjudge.collect.web.settings import Settings
from adjudge.errors import BadSetting, Refused
from collecting import refused
from sites import Site, served, small_project


class Hook:
    """A webhook that remembers what it got, and fails as often as it is asked to."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.fail = 0
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if hook.fail:
                    hook.fail -= 1
                    self.send_response(500)
                else:
                    hook.got.append((dict(self.headers), body))
                    self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/hook?x=1"

    @property
    def events(self) -> list[str]:
        return [json.loads(body)["event"] for _, body in self.got]


@pytest.fixture
def hook() -> Iterator[Hook]:
    made = Hook()
    yield made
    made.server.shutdown()
    made.server.server_close()


class Box:
    """The mail that arrived."""

    def __init__(self) -> None:
        self.letters: list[Any] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.letters.append(envelope)
        return "250 OK"


@pytest.fixture
def post() -> Iterator[tuple[Box, str]]:
    box = Box()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    controller = Controller(box, hostname="127.0.0.1", port=port)
    controller.start()
    yield box, f"smtp://127.0.0.1:{port}"
    controller.stop()


@pytest.fixture
def sender(tmp_path: Path, post: tuple[Box, str]) -> Iterator[Site]:
    """A server that sends only when the test says so."""
    settings = {"notify_seconds": 0.0, "private_webhooks": True, "smtp": post[1]}
    with served(tmp_path, **settings, mail_from="adjudge@example.com") as site:
        yield site


def send_all(site: Site) -> None:
    Messenger(site.settings, site.services).look()


def test_a_webhook_gets_each_event_once_and_signed(sender: Site, hook: Hook) -> None:
    ada = sender.set_up()
    slug = sender.open_project(judgments_per_item=1, screening_golds=2, least_golds=50)
    ada.get(f"/projects/{slug}/settings/notifications")
    events = ["done", "judge-blocked", "contest"]
    ada.post(f"/projects/{slug}/settings/notifications", webhook=hook.url, event=events)
    judge = sender.browser().join(slug).train(slug)
    page = judge.page
    judge.answer(slug, wrong=True)
    row = re.findall(r'name="row" value="(\d+)"', judge.text)[0]
    judge.post(f"/j/{slug}/pages/{page}/contest", row=row, text="No.")
    send_all(sender)
    assert hook.events == ["contest"]
    headers, body = hook.got[0]
    secret = sender.services.notices.get(slug).secret
    text = headers["X-Adjudge-Timestamp"].encode() + b"." + body
    expected = hmac.new(secret.encode(), text, "sha256").hexdigest()
    assert headers["X-Adjudge-Signature"] == f"sha256={expected}"
    said = json.loads(body)
    assert said["id"] == headers["X-Adjudge-Delivery"]
    assert said["address"] == f"{sender.url}/projects/{slug}"
    other = sender.browser().join(slug).train(slug)
    while other.is_judging:
        other.answer(slug).go_on(slug)
    judge.go_on(slug)
    while judge.is_judging:
        judge.answer(slug).go_on(slug)
    name = said["judge"]
    if sender.services.judges.get(slug, name).row.stage != "blocked":
        sender.services.judges.block(slug, name)
    while (page := sender.services.projects.get_progress(slug)).open:
        third = sender.browser().join(slug).train(slug)
        while third.is_judging:
            third.answer(slug).go_on(slug)
        assert sender.services.projects.get_progress(slug).open < page.open
    send_all(sender)
    assert sorted(hook.events) == ["contest", "done", "judge-blocked"]
    send_all(sender)
    assert len(hook.got) == 3, "nothing is sent twice"
    ada.get(f"/projects/{slug}")
    assert "Everything is judged" in ada.words
    assert ada.words.index("Everything is judged") < ada.words.index("Dry run"), "before all else"
    assert "Judgments over time" in ada.words


def test_what_fails_is_tried_again_and_outlives_the_process(sender: Site, hook: Hook) -> None:
    ada = sender.set_up()
    slug = sender.open_project()
    ada.get(f"/projects/{slug}/settings/notifications")
    ada.post(f"/projects/{slug}/settings/notifications", webhook=hook.url, event=["done"])
    ada.post(f"/projects/{slug}/settings/notifications/test")
    hook.fail = 1
    send_all(sender)
    (delivery,) = sender.services.notices.get_deliveries(slug)
    assert (delivery.state, delivery.tries) == ("waiting", 1)
    assert delivery.problem == "the webhook answered 500"
    send_all(sender)
    assert not hook.got, "not before its time"

    later = RequesterServices(sender.parts.database, clock=lambda: utc_now() + timedelta(hours=1))
    Messenger(sender.settings, later).look()
    assert hook.events == ["test"]
    assert json.loads(hook.got[0][1])["id"] == delivery.delivery, "the same message"
    ada.get(f"/projects/{slug}/settings/notifications")
    assert "sent" in ada.words


def test_what_others_wrote_is_one_line_of_a_letter(sender: Site, post: tuple[Box, str]) -> None:
    """A participant's id is the participant's word: it writes no letters to the requester."""
    project = small_project(name="Lamps\r\nBcc: c@example.com")
    slug = sender.open_project(project, channels=["panel"])
    sender.services.notices.set(
        slug, webhook="", emails=["b@example.com"], events=("judge-blocked",), server=""
    )
    sender.confirm_mail(slug)
    send_all(sender)
    (asked,) = post[0].letters
    post[0].letters.clear()
    assert b"Lamps" not in asked.content
    key = "p\r\n.\r\nRSET\nYour password has expired: https://evil.example/"
    judge = sender.browser()
    judge.client.get(f"/j/{slug}", params={"participant": key})
    (who,) = sender.services.judges.get_all(slug)
    sender.services.judges.block(slug, who.judge, "to see")
    send_all(sender)
    (letter,) = post[0].letters
    assert letter.rcpt_tos == ["b@example.com"]
    said = message_from_bytes(letter.content, policy=policy.default)
    assert said["Bcc"] is None
    assert said["Subject"] == "Lamps Bcc: c@example.com: A judge was blocked"
    assert said.get_content().split("\r\n") == [
        "A judge was blocked, in the project Lamps Bcc: c@example.com.",
        "Judge: p . RSET Your password has expired: https://evil.example/",
        "",
    ]


def test_a_recipient_is_asked_once_and_gets_nothing_before(
    sender: Site, post: tuple[Box, str]
) -> None:
    sender.set_up()
    slug = sender.open_project()
    notices = sender.services.notices
    sent: dict[str, Any] = {"webhook": "", "events": ["done"], "server": sender.url}
    for _ in range(2):
        notices.set(slug, emails=["a@example.com"], **sent)
    send_all(sender)
    (letter,) = post[0].letters
    link = re.search(rf"{sender.url}(/mail/{slug}/\S+)", text_of(letter))
    assert link
    with refused("bad-form"):
        sender.services.notices.test(slug)
    stranger = sender.browser()
    stranger.get(link[1])
    assert sender.services.notices.get(slug).states == {"a@example.com": "asked"}, (
        "by a click alone"
    )
    stranger.post(link[1], do="confirmed")
    sender.services.notices.test(slug)
    send_all(sender)
    assert link[1] in text_of(post[0].letters[1])
    stranger.post(link[1], do="stopped")
    for emails in ([], ["a@example.com"]):  # who wants none is not asked again
        notices.set(slug, emails=emails, **sent)
    send_all(sender)
    assert len(post[0].letters) == 2
    stranger.get(f"/mail/{slug}/another", expect=404)


def test_earlier_recipients_get_mail_until_an_owner_decides(
    sender: Site, post: tuple[Box, str]
) -> None:
    ada = sender.set_up()
    slug = sender.open_project()
    (name,) = notify_names(sender, slug)
    old = {"webhook": "", "secret": "s", "emails": ["a@example.com"], "events": ["done"]}
    sender.services.settings.keep(name, {**old, "base": "Buy now\nhttps://evil.example"})
    chosen = sender.services.notices.get(slug)
    assert (chosen.states, chosen.base) == ({"a@example.com": "earlier"}, "")
    sender.services.notices.test(slug)
    send_all(sender)
    assert b"evil" not in post[0].letters[0].content
    ada.get(f"/projects/{slug}/settings/notifications")
    assert "not confirmed, gets mail" in ada.words
    ada.post(f"/projects/{slug}/settings/notifications/ask", email="a@example.com")
    with refused("bad-form"):
        sender.services.notices.test(slug)


def test_each_outcome_has_one_sentence() -> None:
    page = files("adjudge.collect.web") / "templates" / "requester" / "done.html"
    names = re.findall(r'^"([\w-]+)":', page.read_text(), re.MULTILINE)
    assert "recipient-asked" in names
    assert len(names) == len(set(names))


def notify_names(site: Site, slug: str) -> list[str]:
    site.services.notices.set(slug, webhook="", emails=(), events=())
    return list(site.services.settings.find("notify:"))


def text_of(letter: Any) -> str:
    said: str = message_from_bytes(letter.content, policy=policy.default).get_content()
    return said


def test_the_server_is_not_led_to_itself_or_its_neighbours(site: Site, hook: Hook) -> None:
    for host in ("127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "::1", "fd00::1",
                 "::ffff:127.0.0.1", "0.0.0.0", "localhost", "224.0.0.1"):  # fmt: skip
        with pytest.raises(Refused, match="not a public address"):
            find_address(host, private=False)
    assert find_address("93.184.216.34", private=False) == "93.184.216.34"
    slug = site.open_project()
    site.services.notices.set(slug, webhook=hook.url, emails=(), events=("done",), server="")
    site.services.notices.test(slug)
    send_all(site)
    (delivery,) = site.services.notices.get_deliveries(slug)
    assert "not a public address" in delivery.problem
    assert not hook.got


def test_impossible_notices_are_refused_with_a_reason(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project()
    ada.get(f"/projects/{slug}/settings/notifications")
    for form, said in (
        ({"webhook": "ftp://example.com"}, "expected an address such as"),
        ({"webhook": "https://me:secret@example.com/"}, "expected an address such as"),
        ({"emails": "nobody"}, "is not a mail address"),
        ({"event": "weather"}, "expected done"),
    ):
        ada.post(f"/projects/{slug}/settings/notifications", expect=422, **form)
        assert said in ada.words
    ada.post(f"/projects/{slug}/settings/notifications/test", expect=422)
    assert "nobody to send a message to" in ada.words
    with pytest.raises(BadSetting, match="mail_from"):
        Settings(smtp="smtp://host", mail_from="")
    with pytest.raises(BadSetting) as caught:
        Settings(smtp="host:secret", mail_from="a@b")
    assert "secret" not in str(caught.value)


def test_a_project_that_is_deleted_takes_its_messages_along(site: Site) -> None:
    slug = site.open_project()
    site.services.notices.set(
        slug, webhook="https://example.com/x", emails=(), events=("done",), server=""
    )
    site.services.notices.test(slug)
    site.services.projects.set_state(slug, "closed")
    site.services.projects.delete(slug)
    assert site.services.notices.find_with_recipients() == []
    assert site.services.notices.claim() == []
