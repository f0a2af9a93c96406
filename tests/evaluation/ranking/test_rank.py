"""Rankings with error bars: known answers, and what is said about them."""

from __future__ import annotations

from itertools import product

import ir_measures
import numpy as np
import pytest
import pytrec_eval

from adjudge import HierarchicalConfusion, HybridConfusion, ItemTypes, MajorityVote
from adjudge.data.consensus import Consensus
from adjudge.data.judgments import Judgments
from adjudge.data.runs import Run
from adjudge.evaluation import rank_systems
from adjudge.simulation import Crowd, Population
from rankings import as_dicts, system

PEOPLE = Population.parse("skilled:100", judges=8)
SIMULATED = Crowd(items=200, population=PEOPLE, topics=5, per_item=3).make(seed=3)
TRUTH = SIMULATED.truth.codes(SIMULATED.judgments.scale)


def three_systems() -> list[Run]:
    rng = np.random.default_rng(8)
    return [
        system(SIMULATED.judgments, TRUTH, quality, rng, name=name)
        for quality, name in ((0.2, "low"), (0.8, "middle"), (0.9, "high"))
    ]


def known(posterior: list[float], documents: str = "abcd") -> Consensus:
    """A consensus of two judges on one topic, with these probabilities of relevance."""
    size = len(posterior)
    simulated = Judgments.from_table(
        {
            "topic": ["7"] * size * 2,
            "document": list(documents) * 2,
            "judge": ["x"] * size + ["y"] * size,
            "label": [int(p > 0.5) for p in posterior] * 2,
        }
    )
    p = np.array(posterior)
    return Consensus(
        model="given",
        settings={},
        judgments=simulated,
        posterior=np.stack([1 - p, p], axis=1),
        choice=(p > 0.5).astype(np.int16),
        prevalence=np.array([[0.5, 0.5]]),
        confusion=np.array([[[0.8, 0.2], [0.2, 0.8]]] * 2),
        counts=np.array([[[8.0, 2.0], [2.0, 8.0]]] * 2),
    )


def run_of(documents: str, name: str) -> Run:
    rows = len(documents)
    table = {"topic": ["7"] * rows, "document": list(documents), "score": np.arange(rows, 0.0, -1)}
    return Run.from_table(table, name=name, source=f"{name}.run")


def test_the_distribution_is_that_of_all_sixteen_truths() -> None:
    chances = [0.9, 0.4, 0.7, 0.2]
    runs = [run_of("abcd", "first"), run_of("cbad", "second")]
    ranking = rank_systems(known(chances), runs, ["AP", "P@1"], draws=20_000, seed=1)
    asked = [ir_measures.AP, ir_measures.P @ 1]

    def measure(truth: tuple[int, ...]) -> list[list[float]]:  # (measure, run)
        qrels = {"7": dict(zip("abcd", truth, strict=True))}
        found = [ir_measures.calc_aggregate(asked, qrels, as_dicts(run)) for run in runs]
        return [[values[name] for values in found] for name in asked]

    truths = list(product((0, 1), repeat=4))
    chance = np.array(
        [np.prod(np.where(truth, chances, 1 - np.array(chances))) for truth in truths]
    )
    values, labels = np.array([measure(truth) for truth in truths]), np.array(measure((1, 0, 1, 0)))
    slack = 4 * np.sqrt(0.25 / 20_000)
    for number, name in enumerate(("AP", "P@1")):
        mean = chance @ values[:, number]
        assert ranking.values[name].mean(axis=0) == pytest.approx(mean, abs=slack)
        assert ranking.by_label[name] == pytest.approx(labels[number], abs=1e-12)
        gap, point = -np.diff(values[:, number])[:, 0], -np.diff(labels[number])[0]
        row = next(row for row in ranking.pairs.to_pylist() if row["measure"] == name)
        assert (row["first"], row["second"]) == ("first", "second")
        assert row["difference"] == pytest.approx(point, abs=1e-12)
        better, tied = chance[gap > 1e-12].sum(), chance[np.abs(gap) <= 1e-12].sum()
        assert (row["p_better"], row["p_tied"]) == pytest.approx((better, tied), abs=slack)
        half = better + tied / 2
        assert ranking.better(name, "first", "second") == pytest.approx(half, abs=slack)
        assert ranking.better(name, "second", "first") == pytest.approx(1 - half, abs=slack)


def trec_eval(qrels: dict[str, dict[str, int]], run: Run, measure: str) -> float:
    """The mean over topics by trec_eval itself."""
    found = pytrec_eval.RelevanceEvaluator(qrels, {measure}).evaluate(as_dicts(run))
    return float(np.mean([values[measure] for values in found.values()]))


def grades_and_runs() -> tuple[dict[str, dict[str, int]], list[Run]]:
    """Skewed grades of 12 topics, one of them without a relevant document, and runs with holes."""
    rng = np.random.default_rng(5)
    names = [f"d{n}" for n in range(40)]
    qrels = {
        f"q{t}": dict(zip(names[:30], rng.choice(4, 30, p=(0.7, 0.15, 0.1, 0.05)), strict=True))
        for t in range(12)
    }
    qrels = {topic: {name: int(g) for name, g in row.items()} for topic, row in qrels.items()}
    qrels["q3"] = dict.fromkeys(qrels["q3"], 0)
    runs = []
    for quality, name in ((0.2, "low"), (0.5, "high")):
        rows = [(t, d, quality * qrels[t].get(d, 0) + rng.normal()) for t in qrels for d in names]
        table = dict(zip(("topic", "document", "score"), zip(*rows, strict=True), strict=True))
        runs.append(Run.from_table({k: list(v) for k, v in table.items()}, name=name))
    return qrels, runs


NAMES = {
    "nDCG@10": "ndcg_cut_10",
    "AP": "map",
    "P@5": "P_5",
    "RR": "recip_rank",
    "Rprec": "Rprec",
    "Bpref": "bpref",
}


@pytest.mark.parametrize("judges", ["x", "xyz"])
@pytest.mark.parametrize("model", [ItemTypes(), HybridConfusion(draws=20, warmup=50)])
def test_one_source_or_unanimous_judges_give_the_values_of_trec_eval(
    judges: str, model: ItemTypes | HybridConfusion
) -> None:
    qrels, runs = grades_and_runs()
    rows = [(t, d, j, g) for j in judges for t, row in qrels.items() for d, g in row.items()]
    table = dict(zip(("topic", "document", "judge", "label"), zip(*rows, strict=True), strict=True))
    simulated = Judgments.from_table({name: list(column) for name, column in table.items()})
    ranking = rank_systems(model.fit(simulated), runs, list(NAMES), draws=20, next_items=0)
    for row in ranking.systems.to_pylist():
        run = runs[ranking.names.index(row["system"])]
        expected = trec_eval(qrels, run, NAMES[row["measure"]])
        assert row["value"] == pytest.approx(expected, abs=1e-9), row
        if judges == "x":
            assert {row[name] for name in ("low", "high", "sd", "p_best")} == {None}
        else:
            assert row["low"] <= row["value"] <= row["high"]
    assert ranking.covers == (() if judges == "x" else ("judgments",))


def test_with_one_source_only_topics_and_unjudged_documents_vary() -> None:
    qrels, runs = grades_and_runs()
    rows = [(t, d, "x", g) for t, row in qrels.items() for d, g in row.items()]
    table = dict(zip(("topic", "document", "judge", "label"), zip(*rows, strict=True), strict=True))
    consensus = MajorityVote().fit(Judgments.from_table({k: list(v) for k, v in table.items()}))
    plain = rank_systems(consensus, runs, ["AP"], draws=50)
    assert plain.values["AP"] == pytest.approx(plain.by_label["AP"][None])
    assert np.isnan(plain.better("AP", "high", "low"))
    (pair,) = plain.pairs.to_pylist()
    assert pair["difference"] == pytest.approx(np.ptp(plain.by_label["AP"]))
    assert {pair[name] for name in ("low", "high", "p_better", "p_tied", "p_worse")} == {None}
    assert len(plain.next_items) == 0
    topics = rank_systems(consensus, runs, ["AP"], draws=400, over="topics")
    assert topics.covers == ("topics",)
    assert topics.by_label["AP"] == pytest.approx(plain.by_label["AP"])
    each = pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(as_dicts(runs[1]))
    spread = np.std([row["map"] for row in each.values()]) / np.sqrt(len(each))
    assert topics.values["AP"][:, 1].std() == pytest.approx(spread, rel=0.15)
    filled = rank_systems(consensus, runs, ["AP"], draws=50, unjudged="filled")
    assert filled.covers == ("unjudged",)
    for row in filled.systems.to_pylist():
        assert row["low"] < row["value"] < row["high"]


def test_draws_that_contradict_the_labels_count_as_a_tie() -> None:
    """By labels a beats b; by probabilities b, c and d beat a."""
    runs = [run_of("ab", "first"), run_of("bcd", "second")]
    ranking = rank_systems(known([0.51, 0.49, 0.49, 0.49]), runs, ["P@4"], draws=2000)
    assert ranking.by_label["P@4"] == pytest.approx([0.25, 0.0])
    assert ranking.values["P@4"].mean(axis=0) == pytest.approx([0.25, 0.3675], abs=0.02)
    (row,) = ranking.pairs.to_pylist()
    gap = ranking.values["P@4"] @ [1, -1]
    assert (gap > 0).mean() < (gap < 0).mean()
    assert row["p_better"] == pytest.approx((gap != 0).mean() / 2)
    assert row["p_worse"] == row["p_better"]
    assert ranking.better("P@4", "first", "second") == pytest.approx(0.5)
    assert ranking.better("P@4", "second", "first") == pytest.approx(0.5)
    assert [one["p_best"] for one in ranking.systems.to_pylist()] == pytest.approx([0.5, 0.5])
    assert row["low"] <= row["difference"] <= row["high"]


def test_tables_are_sorted_from_best_to_worst() -> None:
    consensus = HierarchicalConfusion(chains=2, warmup=50, draws=50).fit(SIMULATED.judgments)
    ranking = rank_systems(consensus, three_systems(), ["AP", "P@5"], draws=100, level=0.8)
    table = ranking.systems
    assert table.column_names == [
        *("measure", "system", "value", "low", "high", "sd", "p_best", "judged")
    ]
    assert table["measure"].to_pylist() == ["AP"] * 3 + ["P@5"] * 3
    for measure in ("AP", "P@5"):
        rows = [row for row in table.to_pylist() if row["measure"] == measure]
        assert [row["value"] for row in rows] == sorted((r["value"] for r in rows), reverse=True)
        assert sum(row["p_best"] for row in rows) == pytest.approx(1)
        assert all(0 <= row["low"] <= row["value"] <= row["high"] <= 1 for row in rows)
    assert table["system"][2].as_py() == "low"  # by AP
    pairs = ranking.pairs.to_pylist()
    assert len(pairs) == 6
    assert all(row["difference"] >= 0 for row in pairs)
    for row in pairs:
        assert row["p_better"] + row["p_tied"] + row["p_worse"] == pytest.approx(1)
    assert repr(ranking) == "Ranking(3 systems by AP, P@5)"


def test_one_system_has_an_interval_and_no_pair() -> None:
    ranking = rank_systems(known([0.9, 0.4, 0.7, 0.2]), [run_of("abcd", "only")], draws=50)
    assert len(ranking.systems) == 2
    assert len(ranking.pairs) == 0
    assert len(ranking.next_items) == 0
