"""What a model is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

NO_ANSWER = "can't judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideQuestion:
    """The right one of two results."""

    title: str = ""
    text: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query and its result to judge, or two of which the better is asked for."""

    query: str
    need: str = ""
    category: str = ""
    title: str = ""
    text: str = ""
    url: str = ""
    beside: BesideQuestion | None = None

    @property
    def mirrored(self) -> Question:
        """The question with the sides of its two results changed."""
        if self.beside is None:
            return self
        own = BesideQuestion(title=self.title, text=self.text, url=self.url)
        other = self.beside
        return replace(self, title=other.title, text=other.text, url=other.url, beside=own)

    def words(self) -> str:
        """The question as text, each part under its name; parts that are empty are left out."""
        parts = {
            "Query": self.query,
            "What the person needs": self.need,
            "Category searched": self.category,
        }
        sides: list[tuple[str, Question | BesideQuestion]] = [("Result", self)]
        if self.beside is not None:
            sides = [("Left result", self), ("Right result", self.beside)]
        for name, side in sides:
            parts |= {
                f"{name} title": side.title,
                f"{name} text": side.text,
                f"{name} address": side.url,
            }
        return "\n".join(f"{name}: {value}" for name, value in parts.items() if value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered: a label of the scale, or that it cannot judge, and why."""

    label: str
    reason: str = ""
    # What stands beside an answer, and does not make it another one.
    logprob: float | None = field(default=None, compare=False)  # of the label
    version: str = field(default="", compare=False)  # of the model, as the endpoint named it
    tokens: int = field(default=0, compare=False)  # of question and answer
    cost: float = field(default=0.0, compare=False)
