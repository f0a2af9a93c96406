"""crowd-kit's names, arguments and attributes for models that adjudge fits in the same way.

    from adjudge.crowdkit import DawidSkene  # instead of: from crowdkit.aggregation import ...

    DawidSkene(n_iter=100).fit_predict(frame)  # columns task, worker, label

Only classes with an equal model are here. For the others, the error names the model to use.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from adjudge.data.comparisons import Comparisons
from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import as_names
from adjudge.data.scale import Scale
from adjudge.errors import BadData, BadSetting
from adjudge.lazy import load
from adjudge.models import dawid_skene, majority_vote, vote
from adjudge.models.pairs import bradley_terry
from adjudge.models.weighting import Feature

_pd: Any = load("pandas")

_INSTEAD = {
    "OneCoinDawidSkene": "ItemTypes",
    "GLAD": "ItemTypes",
    "MACE": "HybridConfusion",
    "MMSR": "ItemTypes",
    "KOS": "DawidSkene",
    "ZeroBasedSkill": "Vote",
    "NoisyBradleyTerry": "CrowdBradleyTerry",
}


def __getattr__(name: str) -> Any:
    if name in _INSTEAD:
        raise AttributeError(f"{name} has no equal model here: use adjudge.{_INSTEAD[name]}")
    raise AttributeError(f"module 'adjudge.crowdkit' has no attribute {name!r}")


class _Frame:
    """A frame of task, worker and label as judgments, and how to name results again."""

    def __init__(self, data: Any, labels: Any = ()) -> None:
        missing = [name for name in ("task", "worker", "label") if name not in data.columns]
        if missing:
            raise BadData(f"no column {missing[0]!r}", expected="columns task, worker and label")
        task, self.tasks = _pd.factorize(data["task"], sort=True)
        worker, self.workers = _pd.factorize(data["worker"], sort=True)
        both = _pd.concat([data["label"], _pd.Series(labels, dtype=data["label"].dtype)])
        label, self.labels = _pd.factorize(both, sort=True)
        self.scale = Scale(labels=tuple(map(str, range(len(self.labels)))), ordinal=False)
        order = np.lexsort((worker, task))
        counts = np.bincount(task, minlength=len(self.tasks))
        self.judgments = Judgments(
            scale=self.scale,
            items=as_names(np.arange(len(self.tasks)).astype(str)),
            judges=as_names(np.arange(len(self.workers)).astype(str)),
            offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            judge=worker[order].astype(np.int32),
            label=label[: len(data)][order].astype(self.scale.label_dtype),
        )

    def gold(self, truth: Any) -> Gold | None:
        """Return known labels, a series by task, as gold."""
        if truth is None:
            return None
        at = _pd.Index(self.tasks).get_indexer(truth.index)
        label = _pd.Index(self.labels).get_indexer(truth.to_numpy())
        return Gold.of({str(t): str(k) for t, k in zip(at, label, strict=True) if t >= 0})


class _Classification:
    """A model of labels with crowd-kit's methods and attributes."""

    labels_: Any  # series by task
    probas_: Any  # frame by task, a column per label

    def _model(self) -> Any:
        raise NotImplementedError

    def _fit(self, data: Any, true_labels: Any = None) -> tuple[_Frame, Consensus]:
        frame = _Frame(data, () if true_labels is None else true_labels.to_numpy())
        found: Consensus = self._model().fit(frame.judgments, frame.gold(true_labels))
        index = _pd.Index(frame.tasks, name="task")
        columns = _pd.Index(frame.labels, name="label")
        self.probas_ = _pd.DataFrame(found.posterior, index, columns)
        chosen = np.asarray(frame.labels)[found.choice]
        self.labels_ = _pd.Series(chosen, index, name="agg_label")
        return frame, found

    def fit(self, data: Any) -> Self:
        """Fit a frame of task, worker and label."""
        self._fit(data)
        return self

    def fit_predict(self, data: Any, *more: Any) -> Any:
        """Return the label of each task, a series."""
        return self.fit(data, *more).labels_

    def fit_predict_proba(self, data: Any, *more: Any) -> Any:
        """Return the probability of each label of each task, a frame."""
        return self.fit(data, *more).probas_


def _accuracy(frame: _Frame, choice: Any) -> Any:
    """Return the share of each worker's labels that equal the chosen ones, a series."""
    judgments = frame.judgments
    right = (judgments.label == choice[judgments.item]).astype(float)
    total = np.bincount(judgments.judge, right, len(frame.workers))
    index = _pd.Index(frame.workers, name="worker")
    return _pd.Series(total / judgments.counts_per_judge, index, name="skill")


class MajorityVote(_Classification):
    """The most common label of each task; ties at random under a fixed seed."""

    skills_: Any  # series by worker: agreement with the labels

    def __init__(self, default_skill: float | None = None, on_missing_skill: str = "error") -> None:
        if default_skill is not None or on_missing_skill != "error":
            raise BadSetting("default_skill", default_skill, "none; adjudge.Vote has weights")

    def _model(self) -> Any:
        return majority_vote.MajorityVote(weigh_copies=False)

    def fit(self, data: Any, skills: Any = None) -> Self:
        """Fit a frame of task, worker and label."""
        if skills is not None:
            raise BadSetting("skills", "a series", "none; adjudge.Vote has weights")
        frame, found = self._fit(data)
        self.skills_ = _accuracy(frame, found.choice)
        return self


class Wawa(_Classification):
    """A vote weighted by each worker's agreement with the majority."""

    skills_: Any  # series by worker: agreement with the majority

    def _model(self) -> Any:
        return vote.Vote(weight=Feature("graded-accuracy-majority"), weigh_copies=False)

    def fit(self, data: Any) -> Self:
        """Fit a frame of task, worker and label."""
        self._fit(data)
        self.skills_ = MajorityVote().fit(data).skills_
        return self


class DawidSkene(_Classification):
    """A confusion matrix per worker, by expectation maximisation."""

    priors_: Any  # series by label
    errors_: Any  # frame by worker and label given, a column per true label
    _kind: ClassVar[Any] = dawid_skene.DawidSkene

    def __init__(self, n_iter: int = 100, tol: float = 1e-5) -> None:
        self.n_iter = n_iter
        self.tol = tol

    def _model(self) -> Any:
        return self._kind(iterations=self.n_iter, tolerance=self.tol, weigh_copies=False)

    def fit(self, data: Any, true_labels: Any = None) -> Self:
        """Fit a frame of task, worker and label; ``true_labels`` is a series by task."""
        frame, found = self._fit(data, true_labels)
        labels = _pd.Index(frame.labels, name="label")
        self.priors_ = _pd.Series(found.prevalence[0], labels, name="prior")
        rows = _pd.MultiIndex.from_product([frame.workers, labels], names=["worker", "label"])
        errors = found.confusion.transpose(0, 2, 1).reshape(len(rows), -1)
        self.errors_ = _pd.DataFrame(errors, rows, labels)
        return self


class BradleyTerry:
    """Scores of items from comparisons of two; they add up to 1."""

    scores_: Any  # series by item

    def __init__(self, n_iter: int, tol: float = 1e-5) -> None:
        self.n_iter = n_iter
        self.tol = tol

    def fit(self, data: Any) -> Self:
        """Fit a frame of worker, left, right and label, which is the better of the two."""
        pairs = data[["left", "right", "label"]].astype(str)
        model = bradley_terry.BradleyTerry(
            regularisation=0.0, copies=False, iterations=self.n_iter, tolerance=self.tol
        )
        found = model.fit(Comparisons.from_table(pairs.assign(judge=data["worker"].astype(str))))
        strength = np.exp(found.score - found.score.max())
        names = {str(item): item for item in (*data["left"], *data["right"])}
        index = [names[item] for item in found.comparisons.items.to_pylist()]
        self.scores_ = _pd.Series(strength / strength.sum(), index).sort_index()
        return self

    def fit_predict(self, data: Any) -> Any:
        """Return the score of each item, a series."""
        return self.fit(data).scores_
