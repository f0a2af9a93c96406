"""Known shares of the classes, pseudo-counts per class, and classes that a fit leaves empty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import adjudge
from adjudge import (
    BadSetting,
    DawidSkene,
    HierarchicalConfusion,
    HierarchicalRelevance,
    HybridConfusion,
    Judgments,
    SingleConfusion,
)
from adjudge.simulation import demo

SHORT: dict[str, Any] = {"chains": 2, "warmup": 20, "draws": 20, "thin": 1}
MODELS = {
    "dawid-skene": (DawidSkene, {}),
    "single-confusion": (SingleConfusion, {}),
    "hybrid-confusion em": (HybridConfusion, {"method": "em"}),
    "hybrid-confusion gibbs": (HybridConfusion, SHORT),
    "hierarchical-confusion variational": (HierarchicalConfusion, {"method": "variational"}),
    "hierarchical-confusion gibbs": (HierarchicalConfusion, SHORT),
    "hierarchical-relevance": (HierarchicalRelevance, SHORT),
}
every = pytest.mark.parametrize("name", MODELS)


def crowd() -> Judgments:
    """The demo crowd in two classes, with one item that nobody judged."""
    table = demo(seed=3).judgments.collapse()
    return table.with_items(
        pa.array(["t/new"]), topics=pa.array(["t"]), documents=pa.array(["new"])
    )


@every
@pytest.mark.parametrize("by_topic", [False, True])
def test_known_shares_are_not_estimated(name: str, by_topic: bool) -> None:
    kind, more = MODELS[name]
    table = crowd()
    fitted = kind(prevalence=(0.9, 0.1), by_topic=by_topic, **more).fit(table)
    rows = table.topic_count if by_topic else 1
    np.testing.assert_array_equal(fitted.prevalence, np.tile([0.9, 0.1], (rows, 1)))
    assert fitted.posterior[-1] == pytest.approx([0.9, 0.1], abs=1e-6)  # nobody judged it
    assert not any("R-hat" in note and "prevalence" in note for note in fitted.notes)
    other = kind(prevalence=(0.1, 0.9), by_topic=by_topic, **more).fit(table)
    assert fitted.posterior[:, 1].mean() < other.posterior[:, 1].mean()


@every
def test_shares_by_label_are_those_in_order(name: str) -> None:
    kind, more = MODELS[name]
    one = kind(prevalence=(0.7, 0.3), **more).fit(crowd())
    two = kind(prevalence={"1": 0.3, "0": 0.7}, **more).fit(crowd())
    np.testing.assert_array_equal(one.posterior, two.posterior)
    saved = kind(prevalence=(0.69, 0.30), **more).fit(crowd())  # rounded: their sum is made 1
    assert saved.prevalence.sum(axis=1) == pytest.approx(1, abs=1e-12)


@every
@pytest.mark.parametrize("wrong", [(0.5, 0.6), (1.0, 0.0), (1.2, -0.2), ("a", "b"), {"0": 0.5}, ()])
def test_what_are_no_shares_is_refused(name: str, wrong: Any) -> None:
    with pytest.raises(BadSetting) as refused:
        MODELS[name][0](prevalence=wrong)
    assert refused.value.setting == "prevalence"


@every
@pytest.mark.parametrize("wrong", [(0.5, 0.3, 0.2), (1.0,), {"0": 0.5, "x": 0.5}, {"1": 1.0}])
def test_shares_of_other_labels_are_refused(name: str, wrong: Any) -> None:
    kind, more = MODELS[name]
    with pytest.raises(BadSetting) as refused:
        kind(prevalence=wrong, **more).fit(crowd())
    assert refused.value.setting == "prevalence"


@pytest.mark.parametrize("more", [{"method": "em"}, SHORT])
def test_pseudo_counts_of_each_class(more: dict[str, Any]) -> None:
    table = demo(seed=3).judgments
    one = HybridConfusion(concentration=2.0, **more).fit(table)
    three = HybridConfusion(concentration=(2.0, 2.0, 2.0), **more).fit(table)
    np.testing.assert_array_equal(one.posterior, three.posterior)
    drawn = HybridConfusion(concentration=(1.0, 1.0, 1e9), **more).fit(table)
    assert drawn.prevalence[0, 2] == pytest.approx(1, abs=1e-5)
    with pytest.raises(BadSetting) as refused:
        HybridConfusion(concentration=(1.0, 1.0), **more).fit(table)
    assert refused.value.setting == "concentration"
    with pytest.raises(BadSetting):
        HybridConfusion(concentration=(1.0, 0.0, 1.0))


def test_shares_are_saved_with_the_settings(tmp_path: Path) -> None:
    fitted = adjudge.fit(crowd(), model="dawid-skene", prevalence={"0": 0.6, "1": 0.4})
    fitted.save(tmp_path / "fit.adjudge")
    again = adjudge.Consensus.load(tmp_path / "fit.adjudge")
    assert again.settings["prevalence"] == {"0": 0.6, "1": 0.4}
    np.testing.assert_array_equal(again.predict(crowd()).posterior, fitted.posterior)


def test_a_class_that_a_fit_leaves_nearly_empty_is_named(shared_data: Path) -> None:
    """Grade 2 has 18% of the judgments and 26% of the gold; these chains give it none."""
    table = Judgments.read(shared_data / "web-relevance" / "judgments.csv")
    short = {"chains": 1, "warmup": 150, "draws": 50, "thin": 1, "decay": 1.0}

    def empty(model: HybridConfusion) -> list[str]:
        consensus = model.fit(table)
        found = [note for note in consensus.notes if "nearly empty" in note]
        assert bool(found) == (consensus.overall_prevalence[2] < 0.18 / 4)
        return found

    (note,) = empty(HybridConfusion(**short))
    assert note.startswith("label 2 ")
    assert "method=em" in note
    assert "prevalence=" in note
    assert empty(HybridConfusion(method="em", decay=1.0)) == []
    known = (0.124, 0.181, 0.26, 0.201, 0.234)
    assert empty(HybridConfusion(**short, prevalence=known)) == []
