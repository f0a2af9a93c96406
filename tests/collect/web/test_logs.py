from __future__ import annotations

import json
import logging
import sys

from adjudge.collect.web.logs import _JsonLines


def record(**extra: object) -> logging.LogRecord:
    return logging.makeLogRecord(
        {"msg": "request", "levelname": "INFO", "created": 0.25, "msecs": 250.0, **extra}
    )


def test_a_line_of_json_has_time_level_event_and_figures() -> None:
    line = json.loads(_JsonLines().format(record(route="/j/{project}", ms=1.5)))
    assert line == {
        "time": "1970-01-01T00:00:00.250Z",
        "level": "info",
        "event": "request",
        "route": "/j/{project}",
        "ms": 1.5,
    }


def test_a_fault_is_logged_with_its_trace_in_one_line_of_json() -> None:
    try:
        raise ValueError("boom")
    except ValueError:
        line = _JsonLines().format(record(exc_info=sys.exc_info()))
    assert "\n" not in line
    assert "ValueError: boom" in json.loads(line)["trace"]
