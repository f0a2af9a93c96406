"""Families by name, found and declared, and the sentences on them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from adjudge import Judgments, MajorityVote
from adjudge.data.consensus import Consensus, Families, LookAlikes
from adjudge.evaluation.diagnosis.families import FamilySummary
from adjudge.models.item_types import ItemTypes
from adjudge.simulation import demo


def copied() -> Judgments:
    """The demo, with a judge who says whatever llm-judge-8b says."""
    table = demo().judgments.to_table().select(["item", "judge", "label"])
    rows = table.filter(pc.equal(table["judge"], "llm-judge-8b"))
    copy = rows.set_column(1, "judge", pa.array(["llm-copy"] * len(rows), pa.large_string()))
    return Judgments.from_table(pa.concat_tables([table, copy.cast(table.schema)]))


@pytest.fixture(scope="module")
def fit() -> Consensus:
    return ItemTypes().fit(copied())


def test_a_copy_and_its_original_are_one_family(fit: Consensus) -> None:
    found = FamilySummary(fit)
    (family,) = found.groups
    assert (family.kind, set(family.judges)) == ("found", {"llm-judge-8b", "llm-copy"})
    assert family.excess == pytest.approx(1.0)
    assert found.effective is not None
    assert found.effective < found.judgments
    assert f"about {found.effective:.1f} " in found.sentences[-1]
    data = found.to_json()
    assert data["effective_judges"] == pytest.approx(40.0, abs=0.1)
    assert data["families"][0]["kind"] == "found"
    assert data["correlation"] == fit.correlation
    low, high = data["correlation_range"]
    assert low < fit.correlation < high
    assert data["correlation_gold_items"] == 0
    judged = fit.judgments.counts_per_item > 0
    assert data["mean_n_eff"] == pytest.approx(fit.effective[judged].mean())
    assert found.table["members"].to_pylist()[0] == 2


def test_declared_and_suspected_groups() -> None:
    vote = MajorityVote().fit(demo().judgments)
    none = Families.none(40)
    family, declared = none.family.copy(), none.declared.copy()
    family[2] = 1
    declared[[1, 2]] = True
    alike = LookAlikes((5, 6, 7), 0.81, 33)
    given = replace(none, family=family, declared=declared, suspected=(alike,))
    found = FamilySummary(replace(vote, families=given))
    assert [group.kind for group in found.groups] == ["declared", "suspected"]
    names = vote.judgments.judges
    said = found.sentences
    assert len(said) == 3
    assert all(str(names[judge]) in said[0] for judge in (1, 2))
    assert all(str(names[judge]) in said[-2] for judge in (5, 6, 7))
    pattern = found.to_json()["suspected"][0]["pattern"]
    assert found.table["pattern"].to_pylist()[1] == pattern
    assert f"--family '{pattern}'" in said[-2]
    declared = vote.judgments.with_family_rule(pattern).family
    assert np.flatnonzero(declared == 0).tolist() == [5, 6, 7]
