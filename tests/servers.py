"""Local servers: any handler, the files of a folder, and a chat completion endpoint."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class Quiet(BaseHTTPRequestHandler):
    """A handler that prints nothing, and answers in one go."""

    def log_message(self, *_: object) -> None:
        pass

    def reply(self, status: int, body: object, headers: dict[str, str] | None = None) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server with a handler, in a thread; yields its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def serving_files(folder: Path) -> AbstractContextManager[str]:
    """A server of the files of a folder; yields its address."""
    return serving(partial(_Files, directory=str(folder)))


Answer = Callable[[dict[str, Any]], str]


@dataclass
class Speaker:
    """The server: ``faults`` are acted out first, one a request; then ``answer`` is asked."""

    url: str = ""
    answer: Answer = lambda _: json.dumps({"reason": "so", "label": "A"})
    faults: list[str | tuple[int, dict[str, str]]] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    hosts: list[str | None] = field(default_factory=list)
    knows_schema: bool = True
    knows_logprobs: bool = True
    version: str = "m-2026-01"
    lock: threading.Lock = field(default_factory=threading.Lock)


def _handler(speaker: Speaker) -> type[Quiet]:
    class Handler(Quiet):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else a body waits 40 ms for its head to be acknowledged

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with speaker.lock:
                speaker.bodies.append(body)
                speaker.keys.append(self.headers.get("Authorization"))
                speaker.hosts.append(self.headers.get("Host"))
                fault = speaker.faults.pop(0) if speaker.faults else None
            if self.path != "/v1/chat/completions":
                self.reply(404, {"error": {"message": "no such page"}})
            elif fault == "cut":
                self.send_response(200)
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(b'{"choices": [{"mess')
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
            elif fault == "bad json":
                self.reply(200, b"<html>not yet</html>")
            elif isinstance(fault, tuple):
                self.reply(fault[0], {"error": {"message": "by request"}}, fault[1])
            elif "response_format" in body and not speaker.knows_schema:
                self.reply(400, {"error": {"message": "response_format is not known"}})
            elif "logprobs" in body and not speaker.knows_logprobs:
                self.reply(400, {"error": {"message": "logprobs are not known"}})
            else:
                message = {"role": "assistant", "content": speaker.answer(body)}
                usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                if body.get("logprobs"):
                    tokens = re.findall(r"\w+|\W", str(message["content"]))
                    logprobs = [{"token": text, "logprob": -0.25} for text in tokens]
                    choice["logprobs"] = {"content": logprobs}
                completion = {
                    "id": "1",
                    "model": speaker.version,
                    "choices": [choice],
                    "usage": usage,
                }
                self.reply(200, completion)

    return Handler


@contextmanager
def speaking(**settings: Any) -> Iterator[Speaker]:
    """An endpoint that speaks the chat completion protocol, with faults on request."""
    made = Speaker(**settings)
    with serving(_handler(made)) as address:
        made.url = f"{address}/v1"
        yield made
