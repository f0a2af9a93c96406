"""Rankings with error bars: known answers, and what is said about them."""

from __future__ import annotations

from itertools import product

import ir_measures
import numpy as np
import pytest

from adjudge import DawidSkene, HierarchicalConfusion, HybridConfusion
from adjudge.data.consensus import Consensus
from adjudge.data.judgments import Judgments
from adjudge.data.runs import Run
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation import Ranking, rank_systems
from adjudge.simulation import Crowd, Population
from rankings import as_dicts, system

PEOPLE = Population.parse("skilled:100", judges=8)
MADE = Crowd(items=200, population=PEOPLE, topics=5, per_item=3).make(seed=3)
TRUTH = MADE.truth.codes(MADE.judgments.scale)


def three_systems() -> list[Run]:
    rng = np.random.default_rng(8)
    return [
        system(MADE.judgments, TRUTH, quality, rng, name=name)
        for quality, name in ((0.2, "low"), (0.8, "middle"), (0.9, "high"))
    ]


def known(posterior: list[float], documents: str = "abcd") -> Consensus:
    """A consensus of one topic whose documents are relevant with these chances, each alone."""
    size = len(posterior)
    made = Judgments.from_table(
        {
            "topic": ["7"] * size,
            "document": list(documents),
            "judge": ["x"] * size,
            "label": [int(p > 0.5) for p in posterior],
        }
    )
    p = np.array(posterior)
    return Consensus(
        model="given",
        settings={},
        judgments=made,
        posterior=np.stack([1 - p, p], axis=1),
        choice=(p > 0.5).astype(np.int16),
        prevalence=np.array([[0.5, 0.5]]),
        confusion=np.array([[[0.8, 0.2], [0.2, 0.8]]]),
        counts=np.array([[[8.0, 2.0], [2.0, 8.0]]]),
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
    mean = {str(measure): np.zeros(2) for measure in asked}
    better = {str(measure): np.zeros(2) for measure in asked}  # of first: better, tied
    for truth in product((0, 1), repeat=4):
        chance = float(np.prod([p if z else 1 - p for p, z in zip(chances, truth, strict=True)]))
        qrels = {"7": dict(zip("abcd", truth, strict=True))}
        values = [ir_measures.calc_aggregate(asked, qrels, as_dicts(run)) for run in runs]
        for measure in asked:
            pair = np.array([found[measure] for found in values])
            mean[str(measure)] += chance * pair
            better[str(measure)] += chance * np.array([pair[0] > pair[1], pair[0] == pair[1]])
    slack = 4 * np.sqrt(0.25 / 20_000)
    for measure in ("AP", "P@1"):
        assert ranking.values[measure].mean(axis=0) == pytest.approx(mean[measure], abs=slack)
        row = next(row for row in ranking.pairs.to_pylist() if row["measure"] == measure)
        assert (row["first"], row["second"]) == ("first", "second")
        found = (row["p_better"], row["p_tied"])
        assert found == pytest.approx(better[measure], abs=slack)
        half = better[measure][0] + better[measure][1] / 2
        assert ranking.better(measure, "first", "second") == pytest.approx(half, abs=slack)
        assert ranking.better(measure, "second", "first") == pytest.approx(1 - half, abs=slack)


def test_values_under_the_labels_are_those_of_ir_measures_for_their_qrels() -> None:
    consensus = DawidSkene().fit(MADE.judgments)
    names = ["nDCG@10", "AP", "P@5", "infAP"]
    ranking = rank_systems(consensus, three_systems(), names, draws=4)
    labels = consensus.labels.to_pylist()
    qrels: dict[str, dict[str, int]] = {}
    for row in labels:
        qrels.setdefault(row["topic"], {})[row["document"]] = int(row["label"])
    for number, run in enumerate(three_systems()):
        wanted = ir_measures.calc_aggregate(
            [ir_measures.parse_measure(name) for name in names], qrels, as_dicts(run)
        )
        for name in names:
            expected = wanted[ir_measures.parse_measure(name)]
            assert ranking.by_label[name][number] == pytest.approx(expected, rel=1e-13)


def test_with_the_whole_truth_known_there_is_no_doubt() -> None:
    consensus = HybridConfusion(draws=20, warmup=50).fit(MADE.judgments, MADE.truth)
    ranking = rank_systems(consensus, three_systems(), draws=30)
    for measure in ("nDCG@10", "AP"):
        assert np.ptp(ranking.values[measure], axis=0) == pytest.approx(0)
        assert ranking.values[measure][0] == pytest.approx(ranking.by_label[measure])
    assert len(ranking.next_items) == 0
    assert {row["p_better"] for row in ranking.pairs.to_pylist()} <= {0.0, 1.0}


def test_the_same_seed_gives_the_same_and_another_does_not() -> None:
    consensus = HierarchicalConfusion(chains=2, warmup=50, draws=50).fit(MADE.judgments)

    def values(seed: int, draws: int = 100) -> np.ndarray:
        return rank_systems(consensus, three_systems(), draws=draws, seed=seed).values["AP"]

    assert np.array_equal(values(1), values(1))
    assert np.array_equal(values(1)[:70], values(1, draws=70))
    assert not np.array_equal(values(1), values(2))


def test_tables_are_sorted_from_best_to_worst() -> None:
    consensus = HierarchicalConfusion(chains=2, warmup=50, draws=50).fit(MADE.judgments)
    ranking = rank_systems(consensus, three_systems(), ["AP", "P@5"], draws=100, level=0.8)
    table = ranking.systems
    assert table.column_names == [
        *("measure", "system", "value", "low", "high", "sd", "p_best", "by_label", "judged")
    ]
    assert table["measure"].to_pylist() == ["AP"] * 3 + ["P@5"] * 3
    for measure in ("AP", "P@5"):
        rows = [row for row in table.to_pylist() if row["measure"] == measure]
        assert [row["value"] for row in rows] == sorted((r["value"] for r in rows), reverse=True)
        assert sum(row["p_best"] for row in rows) == pytest.approx(1)
        for row in rows:
            values = ranking.values[measure][:, ranking.names.index(row["system"])]
            assert (row["low"], row["high"]) == pytest.approx(
                tuple(np.quantile(values, (0.1, 0.9)))
            )
            assert row["sd"] == pytest.approx(values.std(ddof=1))
    assert rows[-1]["system"] == "low"
    pairs = ranking.pairs.to_pylist()
    assert len(pairs) == 6
    assert all(row["difference"] >= 0 for row in pairs)
    for row in pairs:
        assert row["p_better"] + row["p_tied"] + row["p_worse"] == pytest.approx(1)
    assert repr(ranking) == "Ranking(3 systems by AP, P@5)"


def test_other_topics_make_intervals_wider() -> None:
    consensus = HierarchicalConfusion(chains=2, warmup=50, draws=50).fit(MADE.judgments)
    width = {}
    for over in ("judgments", "topics"):
        ranking = rank_systems(consensus, three_systems(), ["AP"], draws=400, over=over)  # type: ignore[arg-type]
        width[over] = ranking.values["AP"].std(axis=0)
        assert ranking.over == over
    assert (width["topics"] > width["judgments"]).all()


def test_the_bootstrap_over_topics_is_that_of_the_topics() -> None:
    """With the truth known, all spread is that of a mean of resampled topics: sd / sqrt(n)."""
    consensus = DawidSkene().fit(MADE.judgments, MADE.truth)
    run = three_systems()[1]
    ranking = rank_systems(consensus, [run], ["AP"], draws=4000, over="topics")
    qrels: dict[str, dict[str, int]] = {}
    for row, truth in zip(consensus.labels.to_pylist(), TRUTH, strict=True):
        qrels.setdefault(row["topic"], {})[row["document"]] = int(truth)
    each = [found.value for found in ir_measures.iter_calc([ir_measures.AP], qrels, as_dicts(run))]
    wanted = np.std(each) / np.sqrt(len(each))
    assert ranking.values["AP"].std() == pytest.approx(wanted, rel=0.05)
    assert ranking.values["AP"].mean() == pytest.approx(np.mean(each), abs=4 * wanted / 60)


def test_one_system_has_an_interval_and_no_pair() -> None:
    ranking = rank_systems(known([0.9, 0.4, 0.7, 0.2]), [run_of("abcd", "only")], draws=50)
    assert len(ranking.systems) == 2
    assert len(ranking.pairs) == 0
    assert len(ranking.next_items) == 0


def test_what_is_said() -> None:
    runs = [run_of("abcd", "first"), run_of("cbau", "second")]
    ranking = rank_systems(
        known([0.9, 0.4, 0.7, 0.2]), runs, ["AP", "infAP"], draws=150, unjudged="condensed"
    )
    assert ranking.notes[:-1] == (
        "second.run: 1 of 4 documents is not judged, taken out of the runs (condensed lists) "
        "(first: line 4, document 'u' of topic '7')",
        "intervals are about the judges' noise on this topic; other topics would add to it",
        "values are for comparing systems: judgments alone do not know that systems rank relevant "
        "documents high, so true values are higher ('adjudge estimate' with gold finds them)",
        "given takes what it found of its judges for certain, so intervals are too narrow; "
        "a sampled model knows better",
        "infAP: 100 draws, since ir-measures takes them singly",
    )
    assert ranking.notes[-1].startswith("doubt about the ranking by AP: ")
    assert len(ranking.values["infAP"]) == 100
    assert len(ranking.values["AP"]) == 150
    assert isinstance(ranking, Ranking)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"over": "judges"}, "over = 'judges': wanted judgments or topics"),
        ({"draws": 1}, "draws = 1: wanted at least 2"),
        ({"level": 1.0}, "level = 1.0: wanted a number between 0 and 1, such as 0.95"),
    ],
)
def test_a_bad_setting(settings: dict[str, object], message: str) -> None:
    with pytest.raises(BadSetting) as raised:
        rank_systems(known([0.5] * 4), [run_of("a", "r")], **settings)  # type: ignore[arg-type]
    assert str(raised.value) == message


def test_no_run() -> None:
    with pytest.raises(BadData, match="there is no run"):
        rank_systems(known([0.5] * 4), [])
