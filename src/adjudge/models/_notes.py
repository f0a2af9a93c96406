"""Notes on a fit that several models make, each with what to do about it."""

from __future__ import annotations

from shlex import quote
from typing import Any, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from adjudge.data._reshaping import family_pattern
from adjudge.data.consensus import Families
from adjudge.data.judgments import Judgments
from adjudge.data.source import count_of
from adjudge.errors import Caution

_VOTED = 0.05  # share of the judgments from which a class is looked at
_EMPTY = 0.25  # of that share: a class with less among the items is nearly empty
_SHOWN, _NAMED = 3, 3  # families in notes, judges named of each


def describe_unconverged(iterations: int) -> str:
    """The note of a fit that ended at its limit of iterations."""
    return f"not converged after {count_of(iterations, 'iteration')}: raise iterations"


def describe_empty_classes(
    model: Any,
    judgments: Judgments,
    posterior: NDArray[np.float64],  # (item, truth)
) -> tuple[str, ...]:
    """A note per class that judges use and the fit hardly does: it may be merged with another."""
    if not len(judgments):
        return ()
    scale = judgments.scale
    counts = np.bincount(judgments.label, minlength=len(scale.labels))
    truth = np.array(scale.truth_of)
    votes = np.bincount(truth[truth >= 0], counts[truth >= 0], minlength=len(scale.truths))
    voted, found = votes / max(votes.sum(), 1), posterior.mean(axis=0)
    methods = get_args(get_type_hints(type(model)).get("method"))
    tries = [f"method={way}" for way in methods if way not in ("gibbs", model.method)]
    if model.prevalence is None:
        tries.append("prevalence= with known shares")
    return tuple(
        Caution(
            f"label {scale.truths[k]} is nearly empty: {voted[k]:.0%} of the judgments, "
            f"{found[k]:.1%} of the items. Try {' or '.join((*tries, 'more gold labels'))}"
        )
        for k in np.flatnonzero((voted >= _VOTED) & (found < _EMPTY * voted)).tolist()
    )


def describe_families(families: Families, judgments: Judgments) -> tuple[str, ...]:
    """Sentences on families and on groups that may be one, each without its full stop."""

    def named(judges: tuple[int, ...]) -> list[str]:
        return sorted(str(judgments.judges[judge].as_py()) for judge in judges)

    notes: list[str] = []
    for group in families.groups[:_SHOWN]:
        declared = families.declared[group[0]]
        how = "one family, as declared," if declared else "near-duplicates"
        note = f"{_list_names(named(group))} are {how} and count as one judge"
        notes.append(note if declared else Caution(note))
    if len(families.groups) > _SHOWN:
        notes.append(f"{len(families.groups) - _SHOWN:,} more families count as one judge each")
    for alike in families.suspected[:_SHOWN]:
        names = named(alike.judges)
        declare = f"declare it with --family {quote(family_pattern(names))}"
        if len(names) > _NAMED:
            declare = "'adjudge judges --show families -o FILE' has the pattern for --family"
        note = (
            f"{_list_names(names)} agree more than the other judges explain "
            f"({alike.excess:.2f} of the way to duplicates). If they are one source, {declare}"
        )
        notes.append(Caution(note))
    if len(families.suspected) > _SHOWN:
        more = count_of(len(families.suspected) - _SHOWN, "more group")
        note = f"{more} of judges may be one source each (adjudge judges --show families)"
        notes.append(Caution(note))
    return tuple(notes)


def _list_names(names: list[str]) -> str:
    """The first few names in a sentence."""
    more = len(names) - _NAMED
    last = f"{more:,} more" if more > 0 else names[-1]
    return f"{', '.join(names[:_NAMED] if more > 0 else names[:-1])} and {last}"
