"""A consensus as a scikit-learn estimator: a table of items by judges in, labels out.

    import numpy as np
    from adjudge.sklearn import ConsensusEstimator

    X = np.array([[1, 1, 0], [0, np.nan, 0], [1, 1, 1]])  # items by judges, NaN: did not judge
    ConsensusEstimator().fit_predict(X)

For judgments that are many and sparse use ``adjudge.fit``, which never makes such a table.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import as_names
from adjudge.data.scale import Scale, canonical
from adjudge.fitting import fit
from adjudge.lazy import load

_base: Any = load("sklearn.base")
_validation: Any = load("sklearn.utils.validation")


class ConsensusEstimator(_base.BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The consensus of the columns of a table, each a judge, by a model of adjudge.

    ``model`` is a name of the registry, None the default; ``settings`` are its settings. The order
    of numeric labels is taken as the order of grades. After ``fit``: ``consensus_`` is the
    ``Consensus``, ``classes_`` the labels, ``labels_`` the label and ``probabilities_`` the
    probabilities of each row.
    """

    def __init__(self, model: str | None = None, settings: dict[str, Any] | None = None) -> None:
        self.model = model
        self.settings = settings

    def fit(self, X: Any, y: Any = None) -> ConsensusEstimator:  # noqa: N803 - scikit-learn's name
        """Learn from a table of items by judges; NaN is no judgment. ``y``: gold, NaN unknown."""
        table = _validation.validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        truth = _truth(y, len(table))
        known = np.flatnonzero(~np.isnan(truth))
        labels = np.unique(np.concatenate([table[~np.isnan(table)], truth[known]]))
        if np.isnan(table).all():
            raise ValueError("X has no judgment; wanted at least one number that is not NaN")
        judged = _judgments(table, Scale.infer([canonical(label) for label in labels]))
        gold = Gold.of({str(row): truth[row] for row in known}) if known.size else None
        self.consensus_ = fit(judged, gold, model=self.model, **(self.settings or {}))
        self.classes_ = np.array([float(label) for label in self.consensus_.scale.labels])
        self.labels_ = self.classes_[self.consensus_.choice]
        self.probabilities_ = self.consensus_.posterior
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The label of each row, by what was learnt of the judges; equal rows get equal labels.

        A row has no name, so ``predict`` does not know which rows had gold: ``labels_`` does.
        """
        consensus, row = self._predicted(X)
        return np.asarray(self.classes_[consensus.choice[row]])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803  # (row, class)
        """The probability of each class for each row."""
        consensus, row = self._predicted(X)
        return np.asarray(consensus.posterior[row])

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.float64]:  # noqa: N803
        """The label of each row of the table that is learnt from: ``fit(X, y).predict(X)``."""
        return self.fit(X, y).predict(X)

    def _predicted(self, X: Any) -> tuple[Consensus, NDArray[np.intp]]:  # noqa: N803
        """The consensus of the different rows, each named by its labels, and where each row is."""
        _validation.check_is_fitted(self)
        table = _validation.validate_data(
            self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False
        )
        known = table[~np.isnan(table)]
        strange = known[~np.isin(known, self.classes_)]
        if strange.size:
            raise ValueError(f"{strange[0]} is no label that was seen in fit")
        filled = np.where(np.isnan(table), np.inf, table)  # NaN is not equal to itself
        rows, place = np.unique(filled, axis=0, return_inverse=True)
        given = _judgments(np.where(np.isinf(rows), np.nan, rows), self.consensus_.scale)
        names = as_names([f"row {' '.join(map(str, row))}" for row in rows.tolist()])
        return self.consensus_.predict(replace(given, items=names)), place.reshape(-1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _judgments(table: NDArray[np.floating[Any]], scale: Scale) -> Judgments:
    """The judgments in a table of items by judges: numbers of rows and columns are the names."""
    item, judge = np.nonzero(~np.isnan(table))
    names = [np.arange(size).astype(str) for size in table.shape]
    code = {label: place for place, label in enumerate(scale.labels)}
    values, place = np.unique(table[item, judge], return_inverse=True)
    codes = np.array([code[canonical(value)] for value in values], dtype=scale.label_dtype)
    counts = np.bincount(item, minlength=len(table))
    return Judgments(
        scale=scale,
        items=as_names(names[0]),
        judges=as_names(names[1]),
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        judge=judge.astype(np.int32),
        label=codes[place] if len(codes) else np.empty(0, dtype=scale.label_dtype),
    )


def _truth(y: Any, rows: int) -> NDArray[np.float64]:  # (row,)
    """The truth of each row, NaN where it is not known."""
    if y is None:
        return np.full(rows, np.nan)
    given = np.asarray(y, dtype=np.float64)
    if given.shape != (rows,):
        raise ValueError(f"y has the shape {given.shape}; wanted one truth or NaN for each row")
    return given
