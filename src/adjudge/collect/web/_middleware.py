"""What happens around every request: size limits, headers, session cookie, log line, metrics."""

from __future__ import annotations

import logging
import secrets
import time
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adjudge.collect.web._health import Metrics
from adjudge.collect.web._security import Sessions
from adjudge.collect.web.logs import LOG
from adjudge.collect.web.settings import Settings

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' http: https:",  # results to judge may show pictures from anywhere
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
_SECURITY_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=()",
}
_HEADERS = [
    (name.lower().encode(), value.encode())
    for name, value in {**_SECURITY_HEADERS, "Cache-Control": "no-store"}.items()
]
_UPLOADS = ("/upload", "/import")
_QUIET = ("/healthz", "/readyz", "/metrics", "/static")


class RequestMiddleware:
    """The outermost layer of the app."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: Settings,
        sessions: Sessions,
        metrics: Metrics,
        on_fault: Any,
    ) -> None:
        self._app = app
        self._settings = settings
        self._sessions = sessions
        self._metrics = metrics
        self._on_fault = on_fault

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.perf_counter()
        scope["root_path"] = self._settings.prefix  # whether the proxy leaves it in the path or not
        scope["path"] = scope["path"].replace("\0", "\ufffd")  # which no store takes
        scope["query_string"] = scope["query_string"].replace(b"%00", b"%EF%BF%BD")
        state = scope.setdefault("state", {})
        state["request_id"] = secrets.token_hex(6)
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._dress(scope, message)
            await send(message)

        limited = _Limited(receive, self._limit(scope["path"]))
        try:
            await self._app(scope, limited.receive, sending)
        except ClientDisconnect:  # half a request, and nobody to answer
            self._metrics.count("disconnected")
        except Exception as fault:
            self._metrics.count("fault")
            LOG.error("fault", exc_info=True, extra={"request": state["request_id"]})
            if status:
                raise
            response = await self._on_fault(Request(scope), fault)
            await response(scope, limited.receive, sending)
        finally:
            self._note(scope, status, time.perf_counter() - begun)

    def _limit(self, path: str) -> int:
        if path.endswith(_UPLOADS):
            return self._settings.upload_bytes + 100_000  # the form around the file
        return self._settings.form_bytes

    def _dress(self, scope: Scope, message: Message) -> None:
        """Put our headers on a response, except those that it has already."""
        headers: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
        held = {name for name, _ in headers}
        headers += [header for header in _HEADERS if header[0] not in held]
        secure = scope.get("scheme") == "https"
        if secure:
            headers.append((b"strict-transport-security", b"max-age=31536000"))
        headers.append((b"x-request-id", scope["state"]["request_id"].encode()))
        session = scope["state"].get("session")
        if session is not None and session.changed:
            line = self._sessions.cookie(session, secure=secure)
            headers.append((b"set-cookie", line.encode("latin-1")))
        message["headers"] = headers

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        """Count the request, and write its line: the route, never the path, which may hold keys."""
        route = getattr(scope.get("route"), "path", None) or "unknown"
        self._metrics.request(scope["method"], route, status, seconds)
        quiet = route.startswith(_QUIET) or scope["path"].startswith(_QUIET)
        level = logging.ERROR if status >= 500 else logging.DEBUG if quiet else logging.INFO
        if LOG.isEnabledFor(level):
            LOG.log(
                level,
                "request",
                extra={
                    "method": scope["method"],
                    "route": route,
                    "status": status,
                    "ms": round(seconds * 1000, 1),
                    "request": scope["state"]["request_id"],
                },
            )


class _Limited:
    """A request body of at most so many bytes.

    What is over the limit is read and thrown away, up to a point: a client that is still sending
    would otherwise see a broken connection instead of our answer.
    """

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive = receive
        self._most = most
        self._got = 0

    async def receive(self) -> Message:
        message = await self._receive()
        self._got += len(message.get("body", b""))
        if self._got <= self._most:
            return message
        while message.get("more_body") and self._got < 8 * self._most:
            message = await self._receive()
            self._got += len(message.get("body", b""))
        raise HTTPException(413, f"what was sent is larger than {self._most:,} bytes")
