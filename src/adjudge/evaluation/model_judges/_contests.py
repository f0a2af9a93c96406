"""A model against each person in turn: who is nearer to the other people, item by item.

For every judgment of a person on an item that others judged too, and that the model judged, the
model's label and the person's are scored against the labels of the others. All of it follows from
how often each item got each label.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import MODEL, PERSON, Judgments, take_judgments
from adjudge.data.names import look_up
from adjudge.data.scale import Scale, as_number
from adjudge.errors import BadData, BadSetting, Remedy, shown
from adjudge.evaluation.agreement import without_repeats

ScoreName = Literal["accuracy", "neg-rmse"]
_SCORES: tuple[ScoreName, ...] = ("accuracy", "neg-rmse")
_SLACK = 1e-9  # below which two scores are one, whatever the rounding
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contests:
    """Every contest of one model: a row each."""

    person: NDArray[np.int32]  # (contest,) in the judges of the people
    item: NDArray[np.int32]  # (contest,) in their items
    model_score: _Floats  # (contest,) against the others
    person_score: _Floats  # (contest,)

    def __len__(self) -> int:
        return len(self.person)

    @property
    def model_holds(self) -> NDArray[np.bool_]:  # (contest,)
        """Where the model is at least as near to the others as the person."""
        return np.asarray(self.model_score >= self.person_score - _SLACK)

    @property
    def person_holds(self) -> NDArray[np.bool_]:  # (contest,)
        """Where the person is at least as near to the others as the model."""
        return np.asarray(self.person_score >= self.model_score - _SLACK)

    def select(self, chosen: NDArray[np.bool_]) -> Contests:
        """The contests under a mask."""
        return Contests(**{field.name: getattr(self, field.name)[chosen] for field in fields(self)})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Panel:
    """People and models on one scale, ready to be compared: labels of one judgment an item each."""

    people: Judgments
    counts: _Floats  # (item, label) of the people
    others: NDArray[np.int64]  # (item,) people who judged it
    distance: _Floats  # (label, label)
    score: ScoreName
    models: tuple[str, ...]
    begins: NDArray[np.int64]  # (model + 1,) where the labels of each model begin
    judged: NDArray[np.int64]  # (label given,) its item
    given: NDArray[np.int16]  # (label given,)

    def labels_of(self, model: int) -> NDArray[np.int16]:  # (item,)
        """The label of a model for each item, -1 where it gave none."""
        own = slice(self.begins[model], self.begins[model + 1])
        labels = np.full(self.people.item_count, -1, dtype=np.int16)
        labels[self.judged[own]] = self.given[own]
        return labels

    def contests(self, model: int, *, least_people: int = 2) -> Contests:
        """The contests of a model with every person on every item that both and others judged."""
        item, person = self.people.item, self.people.judge
        own = self.people.label.astype(np.int64)
        given = self.labels_of(model)[item].astype(np.int64)
        kept = (given >= 0) & (self.others[item] >= least_people)
        item, person, own, given = item[kept], person[kept], own[kept], given[kept]
        rest = (self.others[item] - 1).astype(np.float64)
        cost = self.counts @ self.distance  # (item, label) distance to all people together
        far = np.maximum(cost[item, given] - self.distance[given, own], 0.0) / rest
        near = cost[item, own] / rest  # from oneself the distance is 0
        if self.score == "accuracy":
            return Contests(person=person, item=item, model_score=1 - far, person_score=1 - near)
        return Contests(
            person=person, item=item, model_score=-np.sqrt(far), person_score=-np.sqrt(near)
        )


def panel_of(people: Judgments, models: Judgments, score: ScoreName) -> Panel:
    """People and models brought to one scale and one list of items."""
    if score not in _SCORES:
        raise BadSetting("score", score, f"one of {', '.join(_SCORES)}")
    scale = _common_scale(people.scale, models.scale)
    people = without_repeats(people.with_scale(scale))
    models = models.with_scale(scale)
    _check_people(people)
    labels = len(scale.labels)
    begins, judged, given = _labels_of(models, people)
    cells = people.item.astype(np.int64) * labels + people.label
    counts = np.bincount(cells, minlength=people.item_count * labels).astype(np.float64)
    return Panel(
        people=people,
        counts=counts.reshape(people.item_count, labels),
        others=people.counts_per_item,
        distance=_distance(scale, score),
        score=score,
        models=tuple(models.judges.to_pylist()),
        begins=begins,
        judged=judged,
        given=given,
    )


def _check_people(people: Judgments) -> None:
    if people.judge_count < 2:
        raise BadData(
            f"there is one person ({shown(people.judges[0].as_py())}); wanted two people or more, "
            "of whom each is compared with the others",
            expected="two people",
        )
    if int(people.counts_per_item.max(initial=0)) < 2:
        raise BadData(
            "no item was judged by two people; wanted items that several people judged",
            expected="items that two people judged",
        )


def _common_scale(first: Scale, second: Scale) -> Scale:
    """A scale with the labels of both: the larger where it holds the other, else all of them."""
    if set(second.labels) <= set(first.labels):
        return first
    if set(first.labels) <= set(second.labels):
        return second
    try:
        return Scale.infer({*first.labels, *second.labels})
    except BadData:
        numbers, words = (
            (first, second) if as_number(first.labels[0]) is not None else (second, first)
        )
        raise BadData(
            f"people and models have labels of two kinds: {numbers} and {words}; wanted one scale",
            expected="one scale",
        ) from None


def _distance(scale: Scale, score: ScoreName) -> _Floats:  # (label, label)
    """How far labels are apart: 0 or 1, or the square of the difference of their numbers."""
    if score == "accuracy":
        return np.asarray(1.0 - np.eye(len(scale.labels)))
    words = [label for label in scale.labels if as_number(label) is None]
    if words and not scale.ordinal:
        raise BadData(
            f"neg-rmse needs labels that are numbers or in order, and {shown(words[0])} is "
            "neither; accuracy takes any labels",
            value=words[0],
            expected="grades",
            code="no-grades",
            remedies=(Remedy("labels", "<".join(scale.labels[:3])),),
        )
    values = scale.values
    return np.asarray((values[:, None] - values[None, :]) ** 2)


def _labels_of(
    models: Judgments, people: Judgments
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int16]]:
    """The label of each model for each item of the people; of several, the commonest.

    Where two are equally common it is the one that was given first. As where the labels of each
    model begin, and the item and the label of each, model by model.
    """
    item = look_up(models.items, people.items)[models.item].astype(np.int64)
    known = item >= 0
    if not known.any():
        raise BadData(
            f"the models judged none of the {people.item_count:,} items that people judged "
            f"(such as {shown(people.items[0].as_py())}); wanted judgments of the same items",
            expected="the same items",
        )
    item, judge = item[known], models.judge[known].astype(np.int64)
    label, width = models.label[known].astype(np.int64), len(models.scale.labels)
    key = (judge * people.item_count + item) * width + label
    cell, first, times = np.unique(key, return_index=True, return_counts=True)
    place = cell // width
    order = np.lexsort((first, -times, place))
    head = np.concatenate([[True], np.diff(place[order]) > 0])
    chosen = cell[order[head]]  # by model, then by item
    place, label = chosen // width, (chosen % width).astype(np.int16)
    model = place // people.item_count
    begins = np.searchsorted(model, np.arange(models.judge_count + 1)).astype(np.int64)
    return begins, place % people.item_count, label


def kinds_of(judgments: Judgments) -> NDArray[np.int8] | None:  # (judge,)
    """Whether each judge is a person or a model, as far as the judgments say; None if not at all.

    A column ``kind`` says it. Without one, judges who have a family are models, and those who have
    none are people: a family is one source of several judges, such as a model asked twice.
    """
    if judgments.kind is not None:
        return judgments.kind
    if judgments.family is None or not (judgments.family >= 0).any():
        return None
    return np.where(judgments.family >= 0, MODEL, PERSON).astype(np.int8)


def split_people(
    people: Judgments | str | Path | Any, models: Judgments | str | Path | Any = None
) -> tuple[Judgments, Judgments]:
    """The judgments of people and those of models, from one source that has both or from two.

    Where the first of two sources has models too, or the second people, they are left out.
    """
    first = take_judgments(people)
    second = first if models is None else take_judgments(models)
    kinds = kinds_of(first)
    if kinds is None and models is None:
        raise BadData(
            "it does not say which judges are people and which are models; wanted a second file "
            "of the models' judgments, or a column kind (person or model) or family (of models)",
            expected="people and models",
        )
    known = _of_kind(first, PERSON, "people")
    asked = _of_kind(second, MODEL, "models")
    return known, asked


def _of_kind(judgments: Judgments, kind: int, what: str) -> Judgments:
    """The judgments of one kind of judges; all of them where no column tells kinds apart.

    A file that a column says holds the other kind alone is in the wrong place.
    """
    declared = judgments.kind is not None
    kinds = kinds_of(judgments)
    if kinds is None or (not declared and (kinds == kinds[0]).all()):
        return judgments  # a file in which all have families, or none, is of one kind
    wanted = kinds == kind if (kinds == 1 - kind).any() else kinds != 1 - kind
    if not wanted.any():
        other = "models" if kind == PERSON else "people"
        raise BadData(
            f"all {judgments.judge_count:,} judges are {other} by its column kind; wanted {what}",
            expected=what,
        )
    return judgments.select(judgments=wanted[judgments.judge])
