"""The models by their published names: the only list of them, read by every front end.

Importing this module imports no model: a class is imported when it is looked up. To add a model:
one file, one line here, one card in the docs. Other packages add theirs by the entry point
``adjudge.models`` (``adjudge.plugins``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cached_property
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from adjudge.errors import BadSetting, UnknownName
from adjudge.plugins import plugins

if TYPE_CHECKING:
    from adjudge.data.comparisons import Comparisons
    from adjudge.data.preferences import Preferences
    from adjudge.models.model import Model, Progress

DEFAULT = "item-types"  # fitted when no model is named
DEFAULT_PAIRS = "crowd-bradley-terry"

TITLES = {
    "item-types": "the default: judges differ in accuracy, and may err together",
    "majority-vote": "every judgment counts the same: the baseline",
    "vote": "votes weighted by accuracy on gold",
    "dawid-skene": "a confusion matrix per judge",
    "single-confusion": "one confusion matrix for all: few judgments per judge",
    "hybrid-confusion": "a confusion matrix per judge, shrunk towards a perfect one",
    "hierarchical-relevance": "two labels, full posteriors",
    "hierarchical-confusion": "any labels, full posteriors",
    "pmf": "factors of judges and items: many judges with few items each",
}
"""What each model is, in a few words for readers who do not know its name."""


class Registry(Mapping[str, type[Any]]):
    """Classes by name, imported when they are looked up."""

    def __init__(self, places: Mapping[str, str], group: str = "") -> None:
        self._places = places  # name: "module:Class"
        self._group = group  # of entry points by which other packages add theirs

    @cached_property
    def _brought(self) -> dict[str, type[Any]]:
        return plugins(self._group, taken=self._places) if self._group else {}

    def __getitem__(self, name: str) -> type[Any]:
        kind: type[Any]
        kind = resolve_name(self._places[name]) if name in self._places else self._brought[name]
        return kind

    def __iter__(self) -> Iterator[str]:
        return iter((*self._places, *self._brought))

    def __len__(self) -> int:
        return len(self._places) + len(self._brought)


MODELS = Registry(
    {
        "item-types": "adjudge.models.item_types:ItemTypes",
        "majority-vote": "adjudge.models.majority_vote:MajorityVote",
        "vote": "adjudge.models.vote:Vote",
        "dawid-skene": "adjudge.models.dawid_skene:DawidSkene",
        "single-confusion": "adjudge.models.dawid_skene:SingleConfusion",
        "hybrid-confusion": "adjudge.models.hybrid_confusion:HybridConfusion",
        "hierarchical-relevance": "adjudge.models.hierarchical_relevance:HierarchicalRelevance",
        "hierarchical-confusion": "adjudge.models.hierarchical_confusion:HierarchicalConfusion",
        "pmf": "adjudge.models.pmf:Pmf",
    },
    group="adjudge.models",
)

NUMBERS = Registry({"continuous": "adjudge.models.continuous:Continuous"})

PAIR_MODELS = Registry(
    {
        "crowd-bradley-terry": "adjudge.models.pairs.bradley_terry:CrowdBradleyTerry",
        "bradley-terry": "adjudge.models.pairs.bradley_terry:BradleyTerry",
        "graded-bradley-terry": "adjudge.models.pairs.graded_bradley_terry:GradedBradleyTerry",
        "win-rate": "adjudge.models.pairs.baselines:WinRate",
        "elo": "adjudge.models.pairs.baselines:Elo",
    }
)


@runtime_checkable
class PairModel(Protocol):
    """Settings, checked when made, and one method that turns comparisons into preferences."""

    name: ClassVar[str]

    def fit(self, comparisons: Comparisons, *, progress: Progress | None = None) -> Preferences:
        """Items by score, and judges by skill where the model knows them."""


def model(name: str = DEFAULT, **settings: object) -> Model:
    """The model of that name with these settings; a misspelt name gets the nearest suggested."""
    if name not in MODELS and name not in NUMBERS:
        raise UnknownName("model", name, [*MODELS, *NUMBERS])
    kind = (NUMBERS if name in NUMBERS else MODELS)[name]
    known = [entry.name for entry in fields(kind)]
    for setting in settings:
        if setting not in known:
            raise UnknownName(f"setting of {name}", setting, known)
    try:
        built: Model = kind(**settings)
    except TypeError as fault:  # a word where a number is expected
        given = ", ".join(f"{setting}={value!r}" for setting, value in settings.items())
        raise BadSetting(
            f"settings of {name}", given, f"numbers and texts as 'adjudge models' lists ({fault})"
        ) from None
    return built
