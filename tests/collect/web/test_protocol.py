"""Requests that are too long or never whole: told, and not waited for."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from adjudge.collect.web.protocol import _LimitedProtocol
from sites import Site


@contextmanager
def connected(site: Site) -> Iterator[socket.socket]:
    place = urlsplit(site.url)
    assert place.hostname
    assert place.port
    with socket.create_connection((place.hostname, place.port), timeout=300) as line:
        yield line


def until_closed(line: socket.socket) -> bytes:
    """All that the server says until it hangs up; a server that never does ends the test."""
    said = b""
    try:
        while part := line.recv(65_536):
            said += part
    except ConnectionResetError:
        pass
    return said


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_LimitedProtocol, "head_seconds", 0.3)
    monkeypatch.setattr(_LimitedProtocol, "idle_seconds", 0.3)


def test_headers_over_64_kilobytes_are_too_large(site: Site) -> None:
    client = site.browser().client
    assert client.get("/healthz", headers={"x-long": "a" * 60_000}).status_code == 200
    for size in (70_000, 1_000_000):
        with connected(site) as line:
            line.sendall(
                b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-long: " + b"a" * size + b"\r\n\r\n"
            )
            assert until_closed(line).startswith(
                b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
            )
    with connected(site) as line:  # many, and no end of them
        line.sendall(b"GET /healthz HTTP/1.1\r\n" + b"x-more: yes\r\n" * 8_000)
        assert until_closed(line).startswith(b"HTTP/1.1 431 ")
    with connected(site) as line:
        line.sendall(b"GET /" + b"a" * 80_000)
        assert until_closed(line).startswith(b"HTTP/1.1 431 ")
    assert client.get("/healthz").status_code == 200


def test_a_connection_that_says_nothing_is_closed_without_a_word(site: Site, hasty: None) -> None:
    """A browser that connects ahead would take a 408 for the answer to what it asks next."""
    with connected(site) as line:
        assert until_closed(line) == b""


@pytest.mark.parametrize("sent", [b"GET /heal", b"GET /healthz HTTP/1.1\r\nhost: x\r\n"])
def test_half_a_request_is_not_waited_for(site: Site, hasty: None, sent: bytes) -> None:
    with connected(site) as line:
        line.sendall(sent)
        assert until_closed(line).startswith(b"HTTP/1.1 408 Request Timeout\r\n")


def test_half_a_body_is_not_waited_for(
    site: Site, hasty: None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    head = "POST /login HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n"
    head += "content-type: application/x-www-form-urlencoded\r\n\r\nname=ada"
    with connected(site) as line:
        line.sendall(head.encode())
        until_closed(line)
    assert site.browser().client.get("/healthz").status_code == 200
    assert not [record for record in caplog.records if record.getMessage() == "fault"]


def test_a_slow_body_that_goes_on_is_waited_for(site: Site, hasty: None) -> None:
    body = b"name=ada&password=x"
    head = f"POST /login HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n"
    head += "content-type: application/x-www-form-urlencoded\r\nconnection: close\r\n\r\n"
    with connected(site) as line:
        line.sendall(head.encode())
        for at in range(len(body)):
            line.sendall(body[at : at + 1])
            time.sleep(0.05)  # slower as a whole than half a request may be
        assert until_closed(line).startswith(b"HTTP/1.1 403 ")  # whole, and without its proof
