"""HTTP as uvicorn reads it, with limits on requests that are not whole yet."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_HEAD = 65_536  # bytes of a request's first line and headers


class _LimitedProtocol(HttpToolsProtocol):
    """One connection. Whoever sends no request, or half of one, is not waited for for ever."""

    head_seconds = 20.0  # for the first line and the headers
    idle_seconds = 30.0  # without a byte of the body
    body_seconds = 900.0  # for all of the body

    _timer: asyncio.TimerHandle | None = None
    _received = 0  # bytes of the request, while its headers come
    _heading = True
    _begun = 0.0  # when the body began
    _heard = 0.0  # when a byte came last
    _refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client came: it has to say what it wants."""
        super().connection_made(transport)
        self._wait(self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A part of a request."""
        if self._refused:
            return  # what is still under way is thrown away, so that our answer is read
        self._heard = self.loop.time()
        if self._heading:
            self._received += len(data)
        super().data_received(data)
        if self._heading and self._received > _HEAD:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._heading = True
        self._wait(self.head_seconds)

    def on_headers_complete(self) -> None:
        """The headers are there."""
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > _HEAD:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        self._heading, self._received, self._begun = False, 0, self.loop.time()
        self._wait(self.idle_seconds)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is whole."""
        self._stop_waiting()
        if not self._refused:
            super().on_message_complete()

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(seconds, self._look)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        """See whether a request that is not whole yet has had its time."""
        now = self.loop.time()
        if self._heading and not self._received:
            # Browsers connect ahead of what they will ask, and would take an answer to nothing
            # for the answer to their next request.
            self.transport.close()
        elif self._heading:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)
        elif now - self._begun > self.body_seconds:
            self.transport.close()
        elif self.flow.read_paused:  # it is we who do not listen
            self._wait(self.idle_seconds)
        elif now - self._heard >= self.idle_seconds:
            self.transport.close()
        else:
            self._wait(self.idle_seconds - (now - self._heard))

    def _refuse(self, status: HTTPStatus) -> None:
        """Say what is wrong, and hang up a moment later."""
        self._stop_waiting()
        self._refused = True
        head = f"HTTP/1.1 {status.value} {status.phrase}\r\nconnection: close\r\n"
        body = f"{status.phrase.lower()}\n"
        head += f"content-type: text/plain; charset=utf-8\r\ncontent-length: {len(body)}\r\n\r\n"
        self.transport.write((head + body).encode())
        self._timer = self.loop.call_later(1.0, self.transport.close)


# How the server is run, whoever runs it.
OPTIONS: dict[str, Any] = {
    "http": _LimitedProtocol,
    "log_config": None,
    "access_log": False,
    "server_header": False,
    "timeout_keep_alive": 30,
}
