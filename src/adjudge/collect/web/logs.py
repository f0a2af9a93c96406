"""What the server writes to its log: one line an event, no names, addresses or keys of people."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable
from typing import Any

from adjudge.errors import AdjudgeError

LOG = logging.getLogger("adjudge.serve")
_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


def event(name: str, level: int = logging.INFO, **fields: object) -> None:
    """Write one event with its figures."""
    LOG.log(level, name, extra=fields)


def run_noting(name: str, work: Callable[[], None]) -> None:
    """Do a piece of work; what goes wrong is an event, and keeps nothing else from being done."""
    try:
        work()
    except AdjudgeError as fault:
        event(name, logging.ERROR, why=type(fault).__name__)
    except Exception:
        LOG.exception(name)


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    return {key: value for key, value in vars(record).items() if key not in _PLAIN}


def _moment(record: logging.LogRecord) -> str:
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{moment}.{int(record.msecs):03d}Z"


class _JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        line = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class _TextLines(logging.Formatter):
    """One line for people: time, level, event, figures."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        figures = " ".join(f"{key}={value}" for key, value in _fields(record).items())
        line = f"{_moment(record)} {record.levelname.lower()} {record.getMessage()} {figures}"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line.rstrip()


def configure(log_format: str) -> None:
    """Send the log to standard error in one of the two formats."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines() if log_format == "json" else _TextLines())
    for name in ("adjudge.serve", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(logging.INFO)
        logger.propagate = False
    # The access log of uvicorn holds addresses and join links; ours holds neither.
    logging.getLogger("uvicorn.access").disabled = True
