"""The entire diagnosis: kinds of judges recognised, odd data, names, real judgments, speed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import MODELS, HybridConfusion, Judgments, Scale
from adjudge.data.formats import read
from adjudge.data.formats.trec_rf10 import trec_2011_subset
from adjudge.evaluation import diagnose
from adjudge.evaluation.diagnosis.advice import ADVICE
from adjudge.simulation import Crowd, Population, demo
from strategies import gold_for, judgments

EM = HybridConfusion(method="em")


@pytest.mark.parametrize("labels", ["0<1", "0<1<2", "a,b,c,d"])
def test_kinds_of_judges_are_known_again(labels: str) -> None:
    crowd = Crowd(
        items=3000,
        population=Population.parse("skilled(16,4):30,spammer:6,lazy:4"),
        scale=Scale.parse(labels),
        per_item=6,
    )
    simulated = crowd.make(4)
    found = diagnose(EM.fit(simulated.judgments), pairs=False)
    counts = Counter(zip(simulated.kinds, found.judges["advice"].to_pylist(), strict=True))
    skilled = [counts["skilled(16,4)", advice] for advice in ADVICE]
    assert skilled[0] + skilled[1] >= 29  # kept or trained
    assert counts["spammer", "drop"] == 6
    assert counts["lazy", "drop"] == 4


def test_biased_judges_are_trained() -> None:
    crowd = Crowd(
        items=3000,
        population=Population.parse("skilled(18,2):30,biased(1,0.6,18,2):5,biased(-1,0.6,18,2):5"),
        scale=Scale.parse("0<1<2<3"),
        per_item=6,
    )
    simulated = crowd.make(5)
    rows = diagnose(EM.fit(simulated.judgments), pairs=False).judges.to_pylist()
    for kind, row in zip(simulated.kinds, rows, strict=True):
        if kind.startswith("biased"):
            assert row["advice"] == "train"
            up = not kind.startswith("biased(-1")
            assert (row["bias"] > 0) == up
            assert (row["mistake_label"] > row["mistake_truth"]) == up


@given(st.data())
def test_any_judgments_can_be_diagnosed(data: st.DataObject) -> None:
    given_ = data.draw(judgments(fewer_truths=data.draw(st.booleans())))
    name = data.draw(st.sampled_from(["majority-vote", "dawid-skene", "single-confusion"]))
    gold = data.draw(gold_for(given_))
    moments = np.arange(len(given_), dtype=np.float64) if data.draw(st.booleans()) else None
    consensus = MODELS[name]().fit(replace(given_, time=moments), gold)
    found = diagnose(consensus, gold=gold)
    assert found.judges["judge"].to_pylist() == consensus.judges["judge"].to_pylist()
    assert set(found.judges["advice"].to_pylist()) <= set(ADVICE)
    assert all(found.judges["why"].to_pylist())
    assert found.items["item"].to_pylist() == consensus.labels["item"].to_pylist()
    for cells in (found.confusion.mean, found.confusion.low, found.confusion.high):
        assert np.isfinite(cells).all()
    assert (found.confusion.low <= found.confusion.high).all()
    for column in ("p_chance", "skill", "skill_low", "skill_high"):
        assert np.isfinite(found.judges[column].to_numpy()).all()
    assert (found.drift is None) == (found.history is None) == (moments is None)
    assert found.pairs is not None


@pytest.mark.parametrize("name", MODELS)
def test_every_model_can_be_diagnosed(name: str) -> None:
    simulated = demo()
    binary = name == "hierarchical-relevance"
    given_ = simulated.judgments.collapse() if binary else simulated.judgments
    gold = simulated.gold.collapse(simulated.judgments.scale) if binary else simulated.gold
    few = {"chains": 2, "warmup": 50, "draws": 60}
    own = few if hasattr(MODELS[name](), "chains") else {}
    found = diagnose(MODELS[name](**own).fit(given_), gold=gold)
    advice = dict(zip(found.judges["judge"].to_pylist(), found.judges["advice"].to_pylist(),
                      strict=True))  # fmt: skip
    assert advice["judge-0003"] == "keep"
    assert advice["judge-0038"] == "drop"  # gives one label only
    assert found.drift is not None
    assert len(found.items) == 400


@pytest.fixture(scope="module")
def trec(shared_data: Path) -> Judgments:
    return trec_2011_subset(read(shared_data / "trec-rf10" / "judgments.tsv")).judgments


def test_the_busiest_of_a_real_crowd_give_one_label(trec: Judgments) -> None:
    consensus = EM.fit(trec)
    found = diagnose(consensus)
    rows = found.judges.sort_by([("judgments", "descending")]).slice(0, 5).to_pylist()
    assert {row["advice"] for row in rows} == {"drop"}
    lazy = ["in 100% of judgments" in row["why"] for row in rows]
    assert sum(lazy) == 4
    assert found.pairs is not None
    first = found.pairs.slice(0, 1).to_pylist()[0]
    # Hundreds of items in common, and far more agreements than independent judges would have.
    assert first["items"] > 800
    assert first["agreements"] > first["expected"] + 150
    assert len(found.pairs) <= 10
    assert found.drift is None
    assert found.items["differs"].to_numpy().sum() > 100
