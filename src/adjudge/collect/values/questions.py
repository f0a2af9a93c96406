"""Further questions of a project: all but the first, whose labels are the project's own."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from adjudge.data.scale import Scale
from adjudge.errors import BadSetting

_Kind = Literal["labels", "words", "confidence"]
_KINDS: tuple[_Kind, ...] = ("labels", "words", "confidence")
_CONFIDENCE = "Guessing < Fairly sure < Sure"
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_MOST = 8
_SIDES = ("left", "right", "left is better", "right is better")
_TAKEN = ("item", "topic", "judge", "label", "comment")


@dataclass(frozen=True, slots=True, kw_only=True)
class FurtherQuestion:
    """A further question about each item.

    ``kind``: ``labels`` on a scale of its own, ``words``, or ``confidence``. ``share``: of how many
    of the items it is asked; the same items for every judge, gold and work alike.
    """

    __pydantic_config__: ClassVar = ConfigDict(
        extra="forbid", strict=True
    )  # of those read from JSON

    name: str  # for files and addresses, such as freshness
    text: str = ""  # what judges read; the name where there is none
    kind: _Kind = "labels"
    labels: str = ""  # such as Stale < Fresh, or Text, Video
    required: bool = True
    share: float = 1.0

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or len(self.name) > 40 or self.name in _TAKEN:
            raise BadSetting("question", self.name, "a name such as freshness or main-topic")
        if self.kind not in _KINDS:
            raise BadSetting(f"kind of {self.name}", self.kind, " or ".join(_KINDS))
        if not 0 < self.share <= 1:
            raise BadSetting(f"share of {self.name}", self.share, "more than 0, at most 1")
        if not self.text.strip():
            object.__setattr__(self, "text", self.name.replace("-", " ").capitalize())
        if self.kind == "confidence" and not self.labels:
            object.__setattr__(self, "labels", _CONFIDENCE)
        if self.kind == "words" and self.labels:
            raise BadSetting(f"labels of {self.name}", self.labels, "none: it is asked in words")
        if self.kind != "words" and len(self.choices) < 2:
            raise BadSetting(f"labels of {self.name}", self.labels, "two labels at least")

    @property
    def scale(self) -> Scale:
        """The labels it is answered with."""
        return Scale.parse(self.labels)

    @property
    def choices(self) -> tuple[str, ...]:
        """The labels it is answered with; none for words."""
        return () if self.kind == "words" else self.scale.labels

    @property
    def fitted(self) -> bool:
        """Whether a consensus of the answers makes sense."""
        return self.kind == "labels"

    def is_asked(self, seed: int, item: int) -> bool:
        """Whether it is asked about an item, by its id inside."""
        if self.share >= 1:
            return True
        mark = hashlib.blake2s(f"{seed}:{self.name}:{item}".encode(), digest_size=8).digest()
        return int.from_bytes(mark) < self.share * 2**64

    def to_dict(self) -> dict[str, Any]:
        """The question as JSON has it."""
        return asdict(self)


_QUESTIONS = TypeAdapter(list[FurtherQuestion])


def read_questions(given: object) -> tuple[FurtherQuestion, ...]:
    """Questions from JSON: each an object with a name, and what differs from the default."""
    try:
        made = _QUESTIONS.validate_json(json.dumps(given))  # strict, but for lists and objects
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        number, *parts = (*fault["loc"], "")
        where = f"{parts[0]} of question {int(number) + 1}" if parts else "questions"
        raise BadSetting(where, fault["input"], fault["msg"]) from None
    return check_questions(made)


def check_questions(
    questions: Sequence[FurtherQuestion], *, of_pairs: bool = False
) -> tuple[FurtherQuestion, ...]:
    """Questions with names of their own, and not too many of them.

    ``of_pairs``: two results are next to each other, by a coin; only the first question's answers
    are mirrored with them, so that no other may be answered with a side.
    """
    names = [question.name for question in questions]
    for name in names:
        if names.count(name) > 1:
            raise BadSetting("question", name, "a name that no other question has")
    for one in questions if of_pairs else ():
        sides = [label for label in one.choices if label.strip().lower() in _SIDES]
        if sides:
            expected = "labels that name no side: each judge sees the two by a coin of their own"
            raise BadSetting(f"labels of {one.name}", one.labels, expected)
    if len(names) > _MOST:
        raise BadSetting("questions", len(names), f"at most {_MOST} in addition to the first")
    return tuple(questions)
