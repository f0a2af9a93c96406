"""What a project is made of, as plain values: guidelines, scale, items, gold, arms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from adjudge.collect.values.questions import FurtherQuestion
from adjudge.data.scale import Scale
from adjudge.errors import BadSetting

Mix = str | Mapping[str, float]  # "any", "uniform", or a share for each label
Role = Literal["training", "screening", "both"]
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "grey")
ROLES: tuple[Role, ...] = ("training", "screening", "both")


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherResult:
    """The second result of a pair: its id, and what a judge sees of it."""

    document: str
    title: str = ""
    text: str = ""
    url: str = ""
    image: str = ""

    def __post_init__(self) -> None:
        if not (self.title or self.text or self.url or self.image):
            raise BadSetting(
                "beside", self.document, expected="a title, text, url or image of the right result"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing to judge: a result for a query, as a judge sees it.

    ``name`` is the requester's own id of it; an item without a ``document`` is its own. Items of
    one ``topic`` are shown together, below their query and need. With another result, in
    `beside`, the item is a pair, of which the better is asked for; its own result is the left one.
    """

    name: str
    topic: str
    query: str
    document: str = ""
    need: str = ""
    category: str = ""
    title: str = ""
    text: str = ""
    url: str = ""
    image: str = ""
    beside: OtherResult | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise BadSetting("name", self.name, expected="a name for the item")
        if not (self.title or self.text or self.url or self.image):
            raise BadSetting("item", self.name, expected="a title, text, url or image to judge by")
        if not self.document:
            object.__setattr__(self, "document", self.name)
        if self.beside is not None and self.beside.document == self.document:
            raise BadSetting("item", self.name, expected="two different results")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldEntry:
    """The known answer to one item: the labels accepted, and why others are wrong.

    ``reasons`` maps a wrong label to what a judge is shown; ``reason`` is shown for any other.
    """

    item: str
    accepted: tuple[str, ...]
    reason: str = ""
    reasons: dict[str, str] = field(default_factory=dict)
    role: Role = "both"

    def __post_init__(self) -> None:
        if not self.accepted:
            raise BadSetting("accepted", self.item, expected="at least one accepted label")
        if self.role not in ROLES:
            raise BadSetting("role", self.role, expected=" or ".join(ROLES))


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One arm: its name, and what differs from the project; None is as the project has it.

    A mix is a share for each label, ``uniform``, or ``any`` (gold as it comes).
    """

    name: str
    training_mix: Mix | None = None
    screening_mix: Mix | None = None
    feedback: bool | None = None
    refresher_pairs: int | None = None
    pay_per_page: str | None = None
    pay_failed: str | None = None
    guidelines: str | None = None

    @property
    def policy(self) -> dict[str, Any]:
        """The settings of the policy that the arm changes, as JSON has them."""
        own = ("name", "guidelines")
        return {name: value for name, value in self.to_dict().items() if name not in own}

    def to_dict(self) -> dict[str, Any]:
        """The arm as JSON has it, without what is as in the project."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A collection project before it is stored: what is read from files or made by the starter."""

    name: str
    scale: Scale
    guidelines: str = ""  # Markdown
    items: tuple[Item, ...] = ()
    golds: tuple[GoldEntry, ...] = ()
    policy: dict[str, object] = field(default_factory=dict)  # settings that differ from the default
    arms: tuple[Arm, ...] = ()  # of an experiment; none is one arm for all
    seed: int | None = None  # of arms and pages; drawn where there is none
    questions: tuple[FurtherQuestion, ...] = ()  # besides the first, whose labels are the scale
    colours: dict[str, str] = field(default_factory=dict)  # of labels that have one
