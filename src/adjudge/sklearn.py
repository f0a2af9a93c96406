"""A consensus as a scikit-learn classifier: a table of items by judges in, labels out.

    import numpy as np
    from adjudge.sklearn import ConsensusEstimator

    X = np.array([[1, 1, 0], [0, np.nan, 0], [1, 1, 1]])  # items by judges, NaN: did not judge
    ConsensusEstimator().fit_predict(X)

Where judgments are many and sparse, ``adjudge.fit`` needs much less memory.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import Names, as_names
from adjudge.data.scale import Scale, canonical
from adjudge.fitting import fit
from adjudge.lazy import load
from adjudge.models.registry import DEFAULT, MODELS

_base: Any = load("sklearn.base")
_utils: Any = load("sklearn.utils")
_validation: Any = load("sklearn.utils.validation")


class ConsensusEstimator(_base.ClassifierMixin, _base.BaseEstimator):  # type: ignore[misc]
    """The consensus of the columns of a table, each a judge, by a model of adjudge.

    Labels are numbers, whose order is that of grades, or text; NaN, None and empty text are no
    judgment. ``model`` is a name (None for the default) with its ``settings``, or an instance such
    as ``DawidSkene()``, whose settings are parameters such as ``model__iterations``.
    ``random_state`` is the seed of the model. After ``fit``: ``consensus_`` is the ``Consensus``,
    ``classes_`` the labels, ``labels_`` the label and ``probabilities_`` the probabilities of each
    row.
    """

    def __init__(
        self,
        model: Any = None,
        settings: dict[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.settings = settings
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; ``deep`` with the settings of a model instance."""
        found: dict[str, Any] = super().get_params(deep=False)
        if deep and is_dataclass(self.model):
            own = {entry.name: getattr(self.model, entry.name) for entry in fields(self.model)}
            found |= {f"model__{name}": value for name, value in own.items()}
        return found

    def set_params(self, **params: Any) -> ConsensusEstimator:
        """Set parameters, also those of a model instance and of ``settings`` by their names."""
        own = {name: value for name, value in params.items() if "__" not in name}
        super().set_params(**own)
        for name, value in params.items():
            outer, apart, inner = name.partition("__")
            if apart and outer == "model" and name in self.get_params():
                self.model = replace(self.model, **{inner: value})
            elif apart and outer == "settings":
                self.settings = {**(self.settings or {}), inner: value}
            elif apart:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}")
        return self

    def fit(self, X: Any, y: Any = None) -> ConsensusEstimator:  # noqa: N803 - scikit-learn's name
        """Learn from a table of items by judges. ``y`` is gold; NaN, None and "" are unknown."""
        table = self._table(X, reset=True)
        truth = _flat(_gold(y, len(table)))
        given = _flat(table)
        if given.null_count == len(given):
            raise ValueError("X has no judgment; expected at least one label")
        parts = [part.drop_null().to_numpy(zero_copy_only=False) for part in (given, truth)]
        if len({part.dtype.kind in "OUS" for part in parts if part.size}) > 1:
            raise ValueError("y and X have labels of different kinds; expected both as in X")
        self.classes_ = np.unique(np.concatenate([part for part in parts if part.size]))
        scale = Scale.infer([canonical(label) for label in self.classes_.tolist()])
        judged = _judgments(self._codes(table, scale), scale, self._judges(table))
        known = {str(row): t for row, t in enumerate(truth.to_pylist()) if t is not None}
        model = DEFAULT if self.model is None else self.model
        settings = {**self._choose_seed(model), **(self.settings or {})}
        self.consensus_ = fit(judged, Gold.of(known) if known else None, model=model, **settings)
        self.labels_ = self._labels(self.consensus_.choice)
        self.probabilities_ = self._in_order(self.consensus_.posterior)
        return self

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the label of each row, by what was learnt; equal rows get equal labels.

        A row has no name, so ``predict`` does not know which rows had gold: ``labels_`` does.
        """
        consensus, row = self._predict_rows(X)
        return self._labels(consensus.choice[row])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803  # (row, class)
        """Return the probability of each class for each row."""
        consensus, row = self._predict_rows(X)
        return self._in_order(consensus.posterior[row])

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[Any]:  # noqa: N803
        """Return the label of each row of the table that is learnt from."""
        return self.fit(X, y).predict(X)

    def _predict_rows(self, X: Any) -> tuple[Consensus, NDArray[np.intp]]:  # noqa: N803
        """Return the consensus of the different rows, and which of these each row is."""
        _validation.check_is_fitted(self)
        scale = self.consensus_.scale
        codes = self._codes(self._table(X, reset=False), scale)
        rows, place = np.unique(codes, axis=0, return_inverse=True)
        judged = _judgments(rows, scale, self.consensus_.judgments.judges)
        names = as_names([f"row {' '.join(map(str, row))}" for row in rows.tolist()])
        return self.consensus_.predict(replace(judged, items=names)), place.reshape(-1)

    def _table(self, X: Any, *, reset: bool) -> NDArray[Any]:  # noqa: N803
        found: NDArray[Any] = _validation.validate_data(
            self, X, dtype=None, ensure_all_finite="allow-nan", reset=reset
        )
        return found

    def _judges(self, table: NDArray[Any]) -> Names:
        """Return the names of the columns, or their numbers."""
        return as_names(getattr(self, "feature_names_in_", np.arange(table.shape[1]).astype(str)))

    def _codes(self, table: NDArray[Any], scale: Scale) -> NDArray[np.int64]:  # (item, judge)
        """Return the code of each label on the scale, -1 where there is none."""
        flat = _flat(table)
        classes = pa.array(self.classes_)
        known = pc.index_in(flat.cast(classes.type), value_set=classes)
        strange = pc.and_(pc.is_valid(flat), pc.is_null(known))
        if pc.any(strange).as_py():
            value = flat[pc.index(strange, value=True).as_py()].as_py()
            raise ValueError(f"{value!r} is not a label that was seen in fit")
        order = self._order(scale)
        codes = np.append(order, -1)[np.asarray(pc.fill_null(known, len(order)))]
        return np.asarray(codes.reshape(table.shape), dtype=np.int64)

    def _labels(self, choice: NDArray[np.int16]) -> NDArray[Any]:
        return np.asarray(self.classes_[np.argsort(self._order(self.consensus_.scale))][choice])

    def _in_order(self, posterior: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(posterior[:, self._order(self.consensus_.scale)])

    def _order(self, scale: Scale) -> list[int]:
        """Return the code of each class on the scale."""
        return [scale.label_code(label) for label in self.classes_.tolist()]

    def _choose_seed(self, model: Any) -> dict[str, int]:
        """Return the seed for a model by name, where it has one and it is given."""
        if self.random_state is None or not isinstance(model, str):
            return {}
        if "seed" not in {entry.name for entry in fields(MODELS[model])}:
            return {}
        if isinstance(self.random_state, int | np.integer):
            return {"seed": int(self.random_state)}
        return {"seed": int(_utils.check_random_state(self.random_state).randint(2**31 - 1))}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = False
        return tags


def _flat(table: NDArray[Any]) -> Any:
    """Return the cells of a table one after the other, null where there is no label."""
    try:
        plain = table + 0.0 if table.dtype.kind == "f" else table  # -0.0 is 0.0
        flat = pa.array(plain.ravel(), from_pandas=True)
    except pa.ArrowException:
        raise ValueError("expected labels of one kind, numbers or text") from None
    if pa.types.is_string(flat.type) or pa.types.is_large_string(flat.type):
        return pc.if_else(pc.equal(flat, ""), pa.scalar(None, flat.type), flat)
    return flat


def _judgments(codes: NDArray[np.int64], scale: Scale, judges: Names) -> Judgments:
    """Return the judgments in a table of codes, whose rows are called by their numbers."""
    item, judge = np.nonzero(codes >= 0)
    return Judgments(
        scale=scale,
        items=as_names(np.arange(len(codes)).astype(str)),
        judges=judges,
        offsets=np.append(0, np.cumsum(np.bincount(item, minlength=len(codes)))),
        judge=judge.astype(np.int32),
        label=codes[item, judge].astype(scale.label_dtype),
    )


def _gold(y: Any, rows: int) -> NDArray[Any]:  # (row,)
    """Return the gold of each row; NaN where it is unknown."""
    given = np.full(rows, np.nan) if y is None else _validation.column_or_1d(y, warn=True)
    _utils.assert_all_finite(given, allow_nan=True, input_name="y")
    if given.shape != (rows,):
        raise ValueError(f"expected one gold label or NaN for each row; y has shape {given.shape}")
    return given
