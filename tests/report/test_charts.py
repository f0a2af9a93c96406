"""Every result has dataframes, a summary, a chart and a view in notebooks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjudge
from adjudge import BradleyTerry, Consensus, DawidSkene, ItemTypes, Judgments, MajorityVote, Run
from adjudge.data.results import Result
from adjudge.errors import BadSetting, MissingExtra, UnknownName
from adjudge.evaluation import compare_models, cross_validate, evaluate, measure_agreement
from adjudge.evaluation.comparison import entrants
from adjudge.evaluation.diagnosis.diagnose import diagnose
from adjudge.evaluation.ranking.rank import rank_systems
from adjudge.simulation import Simulated, demo
from simulated_pairs import make_comparisons


@pytest.fixture(scope="module")
def made() -> Simulated:
    return demo(7)


@pytest.fixture(scope="module")
def consensus(made: Simulated) -> Consensus:
    return MajorityVote().fit(made.judgments)


def compare(made: Simulated, _: Consensus) -> Result:
    chosen = entrants(gold=True, names=["majority-vote", "dawid-skene"])
    return compare_models(made.judgments, made.gold, models=chosen)


def rank(made: Simulated, consensus: Consensus) -> Result:
    judged: Any = made.judgments
    names = judged.documents.to_pylist()
    topics = judged.topics.take(judged.topic).to_pylist()
    rows = {"topic": topics, "document": names, "score": np.arange(len(names), dtype=float)}
    run = Run.from_table(rows, name="by-number")
    return rank_systems(consensus, [run], draws=20)


def audit(made: Simulated, _: Consensus) -> Result:
    return adjudge.audit(made.judgments.with_kind_rule("^llm", "model"), made.gold, resamples=20)


MAKERS: dict[str, Callable[[Simulated, Consensus], Result]] = {
    "consensus": lambda _, consensus: consensus,
    "item": lambda _, consensus: consensus["item-0000004"],
    "judges": lambda _, consensus: consensus.judges,
    "judges of numbers": lambda made, _: adjudge.fit(made.judgments, model="continuous").judges,
    "diagnosis": lambda _, consensus: diagnose(consensus, pairs=False),
    "evaluation": lambda made, consensus: evaluate(consensus, made.gold),
    "agreement": lambda made, _: measure_agreement(made.judgments, resamples=20),
    "estimate": lambda made, consensus: adjudge.estimate(consensus, made.gold, target="share:2"),
    "ranking": rank,
    "comparison": compare,
    "audit": audit,
    "folds": lambda made, _: cross_validate(DawidSkene(), made.judgments, made.gold, folds=2),
    "preferences": lambda *_: BradleyTerry().fit(
        make_comparisons(np.linspace(-1, 1, 5), 200, right=np.ones(2)).comparisons
    ),
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_result_has_frames_a_summary_a_chart_and_a_view(
    name: str, made: Simulated, consensus: Consensus
) -> None:
    found = MAKERS[name](made, consensus)
    table = found.to_table()
    assert list(found.to_pandas().columns) == table.column_names
    assert found.to_polars().height == len(table) > 0
    assert found.summary().splitlines()[0] == f"{type(found).__name__}: {found.facts}"
    assert found.plot().to_dict()["title"]["text"]
    assert "<table>" in found._repr_html_()


def test_a_consensus_draws_any_figure_and_shows_one_item(
    made: Simulated, consensus: Consensus
) -> None:
    assert "Calibration" in consensus.plot("calibration", gold=made.gold).to_json()
    with pytest.raises(UnknownName):
        consensus.plot("calibrations")
    with pytest.raises(BadSetting):
        evaluate(consensus, made.gold).plot("confusion")
    one = consensus["item-0000004"]
    given: Judgments = made.judgments
    at = given.items.to_pylist().index("item-0000004")
    assert len(one.judgments) == given.counts_per_item[at]
    assert sum(one.probabilities.values()) == pytest.approx(1.0)
    assert one.label == consensus.labels["label"][at].as_py()
    with pytest.raises(UnknownName, match="did you mean"):
        consensus["item-000004"]


@pytest.mark.parametrize(
    ("library", "extra", "call"),
    [
        ("altair", "report", lambda found: found.plot()),
        ("polars", "frames", lambda found: found.to_polars()),
    ],
)
def test_a_missing_library_is_named_with_its_extra(
    library: str, extra: str, call: Any, consensus: Consensus, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith(("adjudge.report", library))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra) as caught:
        call(consensus)
    assert (caught.value.library, caught.value.extra) == (library, extra)


def test_fit_predict_returns_the_labels(made: Simulated, consensus: Consensus) -> None:
    assert MajorityVote().fit_predict(made.judgments).equals(consensus.labels)


@pytest.mark.parametrize("given", [True, False, "function"])
def test_progress_is_true_false_or_a_function(given: Any, made: Simulated) -> None:
    steps: list[Any] = []
    asked = steps.append if given == "function" else given
    adjudge.fit(made.judgments, progress=asked)
    ItemTypes().fit(made.judgments, progress=asked)
    assert bool(steps) == (given == "function")
