"""What the server does between requests: expire pages, block flagged judges, refit, plan, notify.

The messenger has a thread of its own, since the background may wait half an hour for a fit. Every
process has one; a message is claimed before it is sent, and events are read under a lock of the
project.

The address of a webhook is chosen by a requester, so the server must not be led to itself or its
neighbours: every address of the name has to be public, and the connection is made to
the very address that was checked. Redirections are not followed, and a slow answer is cut off.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import json
import os
import smtplib
import socket
import ssl
import subprocess
import sys
import threading
import time
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from pathlib import Path
from queue import Empty, SimpleQueue
from types import ModuleType
from typing import IO, Any
from urllib.parse import unquote, urlsplit

import httpx

from adjudge.collect.consensus import planner, refit, systems
from adjudge.collect.services.judging import JudgingService
from adjudge.collect.services.notices import Parcel
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.web._health import Metrics
from adjudge.collect.web.logs import event, run_noting
from adjudge.collect.web.settings import Settings
from adjudge.errors import Refused

_LONGEST = 1_800.0  # seconds of one fit
_TICK = 0.5
_KEPT = (0, 3)  # exit codes of a process that has stored its result, good or bad
_FAILED = "messenger-failed"
_SECONDS = 10.0  # for each step of a sending
_TOTAL_SECONDS = 20.0  # for a webhook to take a message and answer
_GLOBAL_6 = ipaddress.IPv6Network("2000::/3")  # what is given out to the Internet
_OF_PROTOCOLS = ipaddress.IPv4Network("192.0.0.0/24")  # which Python takes for public in part
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")  # addresses of version 4, behind a translator
_AT_ONCE = 8  # messages on their way: one that is slow does not keep the others


def _send(parcel: Parcel, settings: Settings) -> str:
    """Send a message; what went wrong, or nothing."""
    try:
        if parcel.way == "webhook":
            return _post(parcel, settings)
        _mail(parcel, settings)
    except Refused as refusal:
        return str(refusal)
    except (OSError, httpx.HTTPError, smtplib.SMTPException, ValueError) as fault:
        return f"{type(fault).__name__}: {fault}"
    return ""


def _sign(secret: str, moment: str, body: bytes) -> str:
    """The signature of a body at a moment: HMAC-SHA256 of both, with a point between."""
    return hmac.new(secret.encode(), moment.encode() + b"." + body, hashlib.sha256).hexdigest()


def _post(parcel: Parcel, settings: Settings) -> str:
    url = httpx.URL(parcel.target)
    body = json.dumps({"id": parcel.delivery, **parcel.body}, ensure_ascii=False).encode()
    moment = str(int(time.time()))
    headers = {
        "Host": url.netloc.decode(),
        "Content-Type": "application/json",
        "User-Agent": "adjudge",
        "X-Adjudge-Event": str(parcel.body.get("event", "")),
        "X-Adjudge-Delivery": parcel.delivery,
        "X-Adjudge-Timestamp": moment,
        "X-Adjudge-Signature": f"sha256={_sign(parcel.secret, moment, body)}",
    }
    at = find_address(url.host, private=settings.private_webhooks)
    status = asyncio.run(_ask(url, at, body, headers))
    return "" if 200 <= status < 300 else f"the webhook answered {status}"


async def _ask(url: httpx.URL, at: str, body: bytes, headers: dict[str, str]) -> int:
    """Post to an address that was checked, and return the status; the answer is not read."""
    context = ssl.create_default_context()
    async with (
        asyncio.timeout(_TOTAL_SECONDS),
        httpx.AsyncClient(timeout=_SECONDS, verify=context, trust_env=False) as client,
        client.stream(
            "POST",
            url.copy_with(host=at),
            content=body,
            headers=headers,
            extensions={"sni_hostname": url.host},
        ) as answer,
    ):
        return answer.status_code


def _is_public(text: str) -> bool:
    """Whether an address is one of the Internet, and leads to no other inside of it."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        elif address in _TRANSLATED:
            address = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        elif address.sixtofour or address.teredo or address not in _GLOBAL_6:
            return False
    return address.is_global and not address.is_multicast and address not in _OF_PROTOCOLS


def find_address(host: str, *, private: bool) -> str:
    """The address of a host, if every address of it may be sent to. Refused: ``bad-target``."""
    found = {str(one[4][0]) for one in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    for text in sorted(found):
        if not private and not _is_public(text):
            raise Refused(
                "bad-target",
                f"{host} is {text}, which is not a public address; the server was not started "
                "with --private-webhooks",
            )
    return min(found, key=lambda text: (":" in text, text))


def _mail(parcel: Parcel, settings: Settings) -> None:
    if not settings.smtp:
        raise Refused("bad-target", "the server was started without --smtp, so it sends no mail")
    said = parcel.body
    message = EmailMessage()
    asks = said["event"] == "confirm"
    subject = "Confirm your notifications" if asks else _line(f"{said['name']}: {said['title']}")
    message["Subject"] = subject
    message["From"] = settings.mail_from
    message["To"] = parcel.target
    message["Date"] = formatdate(localtime=False)
    message["Message-ID"] = make_msgid(parcel.delivery, domain="adjudge.invalid")
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(_confirmation(said) if asks else _notification(said))
    with _connect(settings.smtp) as server:
        server.send_message(message)


def _notification(said: dict[str, Any]) -> str:
    """The text of a message about a project."""
    lines = [f"{said['title']}, in the project {_line(said['name'])}."]
    if said.get("judge_name"):
        lines.append(f"Judge: {_line(str(said['judge_name']))}")
    lines += ["", said["address"]] if said.get("address") else []
    lines += ["", "To get no more of these:", said["stop"]] if said.get("stop") else []
    return "\n".join(lines) + "\n"


def _confirmation(said: dict[str, Any]) -> str:
    """The text that asks a recipient; it repeats nothing that anybody wrote."""
    return (
        "Somebody asks to send notifications about a project in adjudge to this address.\n"
        "You get none unless you confirm at\n\n"
        f"{said['stop']}\n\n"
        "If you do not know what this is about, ignore this message.\n"
    )


def _line(text: str) -> str:
    """A text as a header takes it: one line."""
    return " ".join(text.split())[:200]


def _connect(address: str) -> smtplib.SMTP:
    """A connection to the mail server: smtps by TLS from the start, smtp by STARTTLS if offered."""
    parts = urlsplit(address)
    host, secure = parts.hostname or "localhost", parts.scheme == "smtps"
    context = ssl.create_default_context()
    server: smtplib.SMTP
    if secure:
        server = smtplib.SMTP_SSL(host, parts.port or 465, timeout=_SECONDS, context=context)
    else:
        server = smtplib.SMTP(host, parts.port or 587, timeout=_SECONDS)
        server.ehlo()
        if server.has_extn("starttls"):
            server.starttls(context=context)
            server.ehlo()
    if parts.username:
        server.login(unquote(parts.username), unquote(parts.password or ""))
    return server


class _Worker:
    """A thread that can be stopped."""

    def __init__(self, name: str) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def _run(self) -> None:
        raise NotImplementedError

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; what is not done yet is done after the next start."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5.0)


class Background(_Worker):
    """One thread of one process; of several on one machine, only the first does the work."""

    def __init__(
        self,
        settings: Settings,
        judging: JudgingService,
        services: RequesterServices,
        metrics: Metrics,
    ) -> None:
        super().__init__("background")
        self._settings = settings
        self._judging = judging
        self._services = services
        self._metrics = metrics
        self._child: subprocess.Popen[bytes] | None = None
        self._lock: IO[bytes] | None = None
        self._flagged: dict[str, int] = {}  # judgments of a project when it was last looked at

    def stop(self) -> None:
        """End, and end a fit that is under way: it is made again after the next start."""
        self._stop.set()
        child = self._child
        if child is not None and child.poll() is None:
            child.terminate()
        super().stop()
        if self._lock is not None:
            self._lock.close()

    def _run(self) -> None:
        swept = looked = 0.0
        while not self._stop.wait(_TICK):
            if not self._leads():
                continue
            now = time.monotonic()
            if now - swept >= self._settings.sweep_seconds:
                swept = now
                run_noting("background-failed", self._sweep)
                run_noting("background-failed", self._flag)
            if self._settings.refit_seconds and now - looked >= self._settings.refit_seconds:
                looked = now
                run_noting("background-failed", self._plan)
                run_noting("background-failed", self._refit)

    def _leads(self) -> bool:
        """Whether this process holds the lock; it is tried again in case its holder has gone."""
        if self._lock is not None:
            return True
        if sys.platform == "win32":
            return True
        import fcntl

        path = Path(f"{self._settings.secret_path}.lock")
        file = path.open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            self._stop.wait(5.0)
            return False
        self._lock = file
        return True

    def _sweep(self) -> None:
        given_back = self._judging.sweep()
        if given_back:
            self._metrics.count("pages-expired", given_back)
            event("pages-expired", pages=given_back)

    def _flag(self) -> None:
        """Block who is flagged, in projects that want it and have new judgments."""
        for project in self._services.projects.get_all():
            if project.judgments == self._flagged.get(project.slug, 0):
                continue
            self._flagged[project.slug] = project.judgments
            if self._services.projects.get_policy(project.slug)[0].flags_block:
                blocked = self._services.judges.block_flagged(project.slug)
                if blocked:
                    event("flagged-blocked", judges=len(blocked))

    def _refit(self) -> None:
        for project, model in refit.find_due(self._services):
            self._fit(refit, project, model)

    def _plan(self) -> None:
        for module in (planner, systems):
            for project in module.find_due(self._services):
                self._fit(module, project)

    def _fit(self, module: ModuleType, *of: str) -> None:
        """Run a module as a process for a project (and a model), and note where it failed."""
        if self._stop.is_set():
            return
        code = self._run_process(module, **dict(zip(("project", "model"), of, strict=False)))
        if self._stop.is_set():
            return
        if code not in _KEPT:
            module.note_failure(self._services, *of, code)
        self._metrics.count("refits" if module is refit else "plans")

    def _run_process(self, module: ModuleType, **given: str) -> int:
        """Run a module as a process of its own, and wait for it; its code."""
        sent = json.dumps({"database": self._settings.database, **given})
        began = time.monotonic()
        self._child = subprocess.Popen(
            [sys.executable, "-m", module.__name__],
            env={**os.environ, module.ENVIRONMENT: sent},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if self._stop.is_set():  # it may have been set before there was a child to end
            self._child.terminate()
        try:
            code = self._child.wait(timeout=_LONGEST)
        except subprocess.TimeoutExpired:
            self._child.kill()
            code = self._child.wait()
        self._child = None
        what, model = module.__name__.rpartition(".")[2], given.get("model", "")
        event(what, model=model, code=code, seconds=round(time.monotonic() - began, 1))
        return code


class Messenger(_Worker):
    """One thread that notifies of events."""

    def __init__(self, settings: Settings, services: RequesterServices) -> None:
        super().__init__("messenger")
        self._settings = settings
        self._services = services

    def start(self) -> None:
        """Begin."""
        if self._settings.notify_seconds:
            super().start()

    def _run(self) -> None:
        while not self._stop.wait(self._settings.notify_seconds):
            run_noting(_FAILED, self.look)

    def look(self) -> None:
        """Put what has happened into the outbox, and send what is due."""
        for project in self._services.notices.find_with_recipients():
            self._services.notices.gather(project)
        waiting: SimpleQueue[Parcel] = SimpleQueue()
        for parcel in self._services.notices.claim():
            waiting.put(parcel)
        senders = [
            # Daemons: a server that ends does not wait for a webhook that is slow.
            threading.Thread(
                target=run_noting, args=(_FAILED, lambda: self._send_all(waiting)), daemon=True
            )
            for _ in range(min(_AT_ONCE, waiting.qsize()))
        ]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()

    def _send_all(self, waiting: SimpleQueue[Parcel]) -> None:
        while not self._stop.is_set():  # what is left is due again in a while
            try:
                parcel = waiting.get_nowait()
            except Empty:
                return
            problem = _send(parcel, self._settings)
            self._services.notices.settle(parcel, problem)
            event("message", way=parcel.way, sent=not problem, tries=parcel.tries)
