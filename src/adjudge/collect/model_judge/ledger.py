"""What a model has answered already, on disk: nobody pays for an answer twice."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from adjudge.collect.model_judge._question import Reply
from adjudge.errors import BadData


@dataclass(slots=True)
class AnswerLedger:
    """Answers by what was asked: model, prompt, labels, pair, sample. A line of JSON each.

    A line is on disk before the answer is used, so a crash loses at most the requests under way; a
    last line that was cut short is left out.
    """

    path: Path
    answers: dict[str, Reply] = field(default_factory=dict)
    _file: IO[str] | None = None

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Iterator[AnswerLedger]:
        """The ledger in a file, which is made if it is not there."""
        made = cls(path)
        whole = made._read() if path.exists() else ""
        if path.exists() and whole and not whole.endswith("\n"):
            kept = whole[: whole.rfind("\n") + 1]
            part = path.with_name(f".{path.name}.part")
            part.write_text(kept, "utf-8")
            part.replace(path)
        try:
            with path.open("a", encoding="utf-8") as file:
                made._file = file
                yield made
        except OSError as fault:
            raise BadData(f"cannot be written ({fault.strerror})", source=str(path)) from None

    def _read(self) -> str:
        text = self.path.read_text("utf-8", errors="replace")
        lines = text.split("\n")
        for number, line in enumerate(lines[:-1], start=1):
            try:
                record = json.loads(line)
                self.answers[record["key"]] = _reply(record)
            except (ValueError, KeyError, TypeError):
                raise BadData(
                    "is no line of a ledger of answers", source=self.path.name, line=number
                ) from None
        return text

    def get(self, key: str) -> Reply | None:
        """The answer to what was asked, if it was."""
        return self.answers.get(key)

    def put(self, key: str, reply: Reply) -> None:
        """Keep an answer."""
        self.answers[key] = reply
        if self._file is not None:
            self._file.write(json.dumps({"key": key, **asdict(reply)}, ensure_ascii=False) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())


def _reply(record: dict[str, Any]) -> Reply:
    """The answer of a line; what stands beside an answer is missing in older ledgers."""
    logprob = record.get("logprob")
    return Reply(
        label=record["label"],
        reason=record["reason"],
        logprob=None if logprob is None else float(logprob),
        version=str(record.get("version", "")),
        tokens=int(record.get("tokens", 0)),
        cost=float(record.get("cost", 0.0)),
    )
