"""What the papers say, on their own data, in a small form: orderings, not digits."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adjudge import ReadingWarning
from adjudge.models._factorisation import Tried
from adjudge.models.weighting import JudgeFeatures
from papers import hierarchical, pmf, training, truelabel, zscore
from papers.__main__ import main
from papers.data import Split, find_file, read_binary, split_gold
from papers.results import Options, Replication, count_cells
from papers.training import server
from sizes import FULL, sized

pytestmark = pytest.mark.slow

Check = Callable[[str, Replication], str]


def obtained(result: Replication, table: str) -> dict[tuple[str, str], float]:
    cells = result.tables[table]
    return dict(zip(zip(cells.row, cells.column, strict=True), cells.obtained, strict=True))


def published(result: Replication, table: str) -> dict[tuple[str, str], float]:
    cells = result.tables[table]
    return dict(zip(zip(cells.row, cells.column, strict=True), cells.published, strict=True))


def holds(result: Replication) -> dict[str, bool | None]:
    return {key: found.holds for key, found in result.findings.items()}


def test_zscore(shared_data: Path, check_page: Check) -> None:
    """One seed of figure 1 and the baselines; what takes longer is filled in."""
    path = find_file("trec-rf10", shared_data)
    if FULL:
        result = zscore.replicate(Options(quick=True, data=shared_data))
    else:
        data = zscore.paper_data(path)
        one = zscore.tune_figure_1(data, 1, zscore.GAMMAS[::8], zscore.BOTH, zscore.ROWS)
        seeds = zscore.Seeds(*([part] * 2 for part in one))
        line = [part.loc[["Baseline"] * len(zscore.OTHERS)] for part in one]
        others = zscore.Seeds(*([part.set_axis(list(zscore.OTHERS))] for part in line))
        models = [{name: {"GA": 0.6, "BA": 0.6} for name in ("HybridConfusion", "Other")}]
        base = [zscore.label_by_em_and_vote(path, seed) for seed in (1, 2)]
        readings = dict.fromkeys((zscore.LOW, zscore.WRITTEN), seeds)
        result = zscore.gather(seeds, readings, others, base, models)
    check_page("zscore", result)
    assert holds(result)["filter-sm"]
    assert holds(result)["em"]
    found = obtained(result, "figure-1")
    assert len(found) == 72
    assert published(result, "figure-1")["GACG+AHNP", "GA+SWM"] == 0.5194
    for head in zscore.SM:  # plain, then weighted by one feature
        plain = found["Baseline", head]
        assert plain < found["Baseline", head.replace("SM", "SWM")]
        assert plain < found["GACG+AHNP", head]
    assert 0.44 < found["Baseline", "GA+SM"] < 0.48


def test_the_filter_as_written_drops_the_best_by_accuracy_and_the_worst_by_distance() -> None:
    values = np.array([0.1, 0.5, 0.5, 0.5, 0.9])
    features = dict.fromkeys(("graded-accuracy-gold", "graded-distance-gold"), values)
    count = dict.fromkeys(features, np.ones(5))
    written = zscore.AsWritten(*features, gamma=1.0)
    dropped = written.drop(JudgeFeatures(features, count)).by
    assert dropped["graded-accuracy-gold"].tolist() == [False] * 4 + [True]
    assert dropped["graded-distance-gold"].tolist() == [True] + [False] * 4


def test_the_data_and_sets_of_zscore(shared_data: Path) -> None:
    judgments, gold = zscore.paper_data(find_file("trec-rf10", shared_data))
    assert (judgments.item_count, int(gold.honeypot.sum())) == (4460, 1183)
    items = gold.select(~gold.honeypot).align(judgments) >= 0
    assert int(items.sum()) == 3_277  # the paper's; it has 19,232 labels
    assert int(items[judgments.item].sum()) == 19_273
    pairs = set(zip(judgments.item.tolist(), judgments.judge.tolist(), strict=True))
    assert len(pairs) == len(judgments)
    assert list(zscore.PUBLISHED.index) == list(zscore.ROWS)
    assert set(zscore.GAMMA.index) == set(zscore.ROWS) - {"Baseline"}
    assert len(zscore.OTHERS) == 21 - 3 + 7  # pairs of seven, less those shown; all but one
    assert not set(zscore.OTHERS) & set(zscore.ROWS)
    assert zscore.OTHERS["ALL-AHNP"] == tuple(zscore.NAMES)[:-1]


def test_hierarchical(shared_data: Path, check_page: Check) -> None:
    result = hierarchical.replicate(
        Options(quick=True, data=shared_data, seeds=sized(2, full=None))
    )
    check_page("hierarchical", result)
    held = holds(result)
    for key in ("extreme", "kappa", "spread", "certainty", "drop-busiest"):
        assert held[key], key
    found = obtained(result, "runs")
    one, two, three = tuple(hierarchical.RUNS)[:3]
    assert found[one, "accuracy"] == pytest.approx(0.69, abs=0.03)
    assert found[two, "AP"] == found[three, "AP"]
    assert found[three, "log loss"] < found[two, "log loss"]
    cells = obtained(result, "confusion")
    for run in hierarchical.RUNS:
        assert sum(cells[run, name] for name in hierarchical.CELLS) == pytest.approx(1000)
        assert cells[run, "TP"] / 500 == pytest.approx(found[run, "recall"])
    assert published(result, "simulation")["quantised", "recall"] == 0.75
    assert 0.05 < obtained(result, "cost")["unsupervised", "memory, GB"] < 2.5
    assert not held["one-label"]  # the two busiest give ones alone


def test_section_9_3_is_what_arithmetic_says() -> None:
    # E[max(p, 1 - p)] = 3/4, and E[p^2] / E[p] = 2/3.
    found = hierarchical.simulate(0, 800_000)
    for name, expected in (("quantised", 0.75), ("fractional", 2 / 3)):
        assert list(found[name].values()) == pytest.approx([expected] * 2, abs=0.003)


def test_the_statistic_of_1992() -> None:
    # Chains 0 2 and 1 3: variances 2 and 2, means 1 and 2: sqrt((1/2 * 2 + 1/2) / 2).
    values = np.array([[0.0, 2.0], [1.0, 3.0]])
    assert hierarchical.gelman_rubin(values) == pytest.approx(np.sqrt(0.75))
    same = np.random.default_rng(1).normal(size=(3, 4000))
    assert hierarchical.gelman_rubin(same) == pytest.approx(1.0, abs=0.002)
    assert hierarchical.gelman_rubin(same + np.array([[0.0], [1.0], [2.0]])) > 1.3


def test_topics_are_ranked_by_hand() -> None:
    split = Split(None, np.arange(6), np.array([1, 0, 1, 0, 1, 1], dtype=np.int16))
    score = np.array([0.9, 0.8, 0.1, 0.7, 0.6, 0.5])
    found = hierarchical.rank_topics(split, list("abcdef"), list("111223"), score)
    # Topic 1: relevant at places 1 and 3; topic 2: at place 2; topic 3 has one class alone.
    assert list(found.index) == ["1", "2"]
    assert found.AP.tolist() == pytest.approx([(1 + 2 / 3) / 2, 1 / 2])
    assert found.nDCG["2"] == pytest.approx(1 / np.log2(3))


def test_pmf(small_data: Path, check_page: Check) -> None:
    """The quick run; unless all is asked for, with fewer splits, and without the grid."""
    if FULL:
        result = pmf.replicate(Options(quick=True, data=small_data))
    else:
        data = pmf.Source(*read_binary(Options(data=small_data)), tuple(pmf.FITS), leak=True)
        splits = [split_gold(data.judgments, data.gold, seed) for seed in range(2)]
        labelled = [pmf.label_with_gold(data, split, True) for split in splits]
        tried = [
            Tried(rank=rank, regularisation=ridge, rmse=1 / (1 + ridge))
            for rank in (10, 30)
            for ridge in (0.1, 0.5, 2.0)
        ]
        result = pmf.gather(splits, pmf.label_without_gold(data, True), labelled, tried)
    check_page("pmf", result)
    held = holds(result)
    assert held["pmf-beats-vote"]
    assert not held["filter-without-pmf"]  # published otherwise, and the page says so
    found, stated = obtained(result, "table-1"), published(result, "table-1")
    assert found["1 MV", "ACC"] == pytest.approx(0.62, abs=0.02)
    assert found["2 EM", "ACC"] > found["1 MV", "ACC"] + 0.03
    assert found["5 filter", "coverage"] < 1
    assert found["5 filter", "ACC, covered"] > found["5 filter", "ACC"]
    assert stated["7 PMF+WV+filter", "α"] == 0.70
    for name in pmf.PUBLISHED:
        assert found[name, "RMSE"] == pytest.approx(math.sqrt(1 - found[name, "ACC"]), abs=0.002)
        assert found[name, "RMSE rank"] == found[name, "ACC rank"]
        assert stated[name, "RMSE"] == pytest.approx(math.sqrt(1 - stated[name, "ACC"]), abs=0.002)
    # A fit that is stopped early is nearer the published .643 than one at its minimum.
    short, ahead = obtained(result, "fits"), sized(0.0, full=0.02)
    assert {row for row, _ in short} == set(pmf.VARIANTS)
    assert short["3 PMF+MV, stopped early", "ACC"] + ahead < found["3 PMF+MV", "ACC"]
    seen = obtained(result, "leaked")
    assert seen["5 filter: all gold, not relevant", "ACC"] == pytest.approx(0.752, abs=0.02)
    assert seen["5 filter: training gold, not relevant", "ACC"] < 0.70
    ranked = obtained(result, "models")
    assert ranked["HierarchicalRelevance, gold", "ACC"] > ranked["HierarchicalRelevance", "ACC"]
    errors = obtained(result, "rank-and-lambda")
    assert errors["λ = 2", "D = 30"] < errors["λ = 0.1", "D = 30"]
    assert len(result.figures["alpha"].data) == 40 * (3 + 2)


def test_pmf_scores_by_hand() -> None:
    split = Split(None, np.arange(4), np.array([0, 0, 1, 1], dtype=np.int16))
    choice = np.array([0, 1, 1, 1], dtype=np.int16)
    found = pmf.score(split, choice, np.array([False, True, False, False]))
    expected = {"ACC": 0.75, "RMSE": 0.5, "SPE": 0.5, "SEN": 1.0, "coverage": 0.75}
    assert found == {**expected, "ACC, covered": 1.0}
    assert pmf.mark(split, choice).tolist() == [True, False, True, True]  # not relevant first
    assert math.isnan(pmf.score(split, choice, np.ones(4, dtype=np.bool_))["ACC, covered"])


@pytest.fixture(scope="module")
def spectrum(small_data: Path) -> Replication:
    """The quick run of Liu and Wang; unless all is asked for, one prior is used for both."""
    if FULL:
        return truelabel.replicate(Options(quick=True, data=small_data))
    with pytest.MonkeyPatch.context() as patch:
        fit = truelabel.fit_synthetic
        known: dict[int, Any] = {}

        def once(items: int, diagonal: float, runs: int, sampler: Any) -> Any:
            return (
                known.setdefault(items, None)
                or known.__setitem__(items, fit(items, diagonal, runs, sampler))
                or known[items]
            )

        patch.setattr(truelabel, "fit_synthetic", once)
        return truelabel.replicate(Options(quick=True, data=small_data))


HELD = ("vote-falls", "memory-best", "hybrid-leads", "matrices-diverge", "single-error")
DENIED = (
    "memory-best@web-relevance",
    *("single-weakest", "falls-off", "error-decays"),
)


def test_truelabel(spectrum: Replication, check_page: Check) -> None:
    check_page("truelabel", spectrum)
    held = holds(spectrum)
    assert {key for key in HELD if held[key] is not True} == set()
    assert {key for key in DENIED if held[key] is not False} == set()
    vote = ("MajorityVote, label 1", "N = 3000")
    assert published(spectrum, "figure-4")[vote] == 0.1
    assert obtained(spectrum, "figure-4")[vote] == pytest.approx(0.1, abs=0.01)
    for _, cells in spectrum.tables["figure-3"].groupby("beta"):
        found = cells[cells.column == "N = 3000"].set_index("row").obtained
        assert found["MajorityVote"] < found["SingleConfusion"] < found["DawidSkene"]


def test_training(check_page: Check) -> None:
    """Two experiments; unless all is asked for, one crowd replaces those outside the tables."""
    chosen = tuple(training.CROWDS) if FULL else (training.MAIN, training.CONTROL)
    runs: dict[str, Any] = {}
    for name in chosen:
        runs[name] = [training.run_arms(training.CROWDS[name], seed) for seed in (1, 2)]
    every = {name: runs.get(name, runs[training.MAIN]) for name in training.CROWDS}
    for arm in training.ARMS:
        runs[training.MAIN][0][arm]["judgments"] = 6400
    result = training.gather(every, runs[training.MAIN][:1])
    check_page("training", result)
    found = obtained(result, "table-4")
    accuracy = [found[training.ACCURACY, f"arm {arm}"] for arm in training.ARMS]
    uniform = accuracy[training.ARMS.index(training.UNIFORM)]
    assert uniform > max(accuracy[0], accuracy[1], accuracy[4])  # arms 3 and 4 do not differ
    assert holds(result)["no-anchoring"] is not False  # too few to say that nothing differs
    assert published(result, "table-2")["Came to the task", "arm 4"] == 87
    stated = published(result, "table-3")
    assert stated[training.ACCURACY, "arm 1"] == 0.690
    alarms = [stated[training.FALSE_ALARM, f"arm {arm}"] for arm in training.ARMS]
    assert alarms == [0.336, 0.400, 0.278, 0.345, 0.367]
    assert published(result, "table-4")[training.ACCURACY, "arm 3"] == 0.8767
    for name in ("table-1", "table-2"):  # settings were chosen to meet them
        assert count_cells([result.tables[name]]) == (0, 0)


SMALL = replace(training.CROWDS[training.CONTROL], at_once=1, leaving=0.0)
SHORT = training.POLICY.changed(  # one right lets in, or half of those who come would do so in vain
    {"training_pairs": 4, "training_pass": sized(0.25, full=training.POLICY.training_pass)}
)


def test_the_server_reports_every_arm() -> None:
    queries = sized(2, full=4)  # with five results each
    found = server.run_experiment(SMALL, queries, 1, policy=SHORT)
    if FULL:
        assert server.run_experiment(SMALL, queries, 1, policy=SHORT) == found
    arms = found["arms"]
    assert tuple(arms) == training.ARMS
    for arm in arms.values():
        assert arm["judgments"] == 5 * 5 * queries  # five per item, no more and no less
        assert arm["funnel"]["Came to the task"] >= arm["funnel"]["Passed training"] >= 5
        assert all(0 <= value <= 1 for value in arm[training.VOTE].values())
    came = [arm["funnel"]["Came to the task"] for arm in arms.values()]
    assert max(came) - min(came) <= 2  # assigned in blocks
    assert found["judgments"] > 5 * 5 * 5 * queries


@pytest.mark.parametrize("data", ["web-relevance/judgments.csv", "sets/crowds/nyt3.csv.gz"])
@pytest.mark.parametrize("paper", ["zscore", "pmf", "hierarchical", "truelabel"])
def test_other_data(
    paper: str, data: str, shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A paper's methods run on other judgments: computed description, figures, no verdicts."""
    file = shared_data / data
    given = ["--judgments", str(file), "--gold", str(file)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)  # some judged an item twice
        assert main([paper, "--quick", "--seeds", "2", "-o", str(tmp_path), *given]) == 0
    page = (tmp_path / f"{paper}.md").read_text(encoding="utf-8")
    counts = {"web-relevance/judgments.csv": "15,567 judgments of 2,665 items by 177 judges"}
    assert counts.get(data, "3,490 judgments of 120 items by 117 judges") in page
    assert "TREC" not in page.partition("**Data.**")[2].partition("**Method.**")[0]
    assert "## Claims" not in page
    assert not (tmp_path / paper / "claims.csv").exists()
    table = next((tmp_path / paper).glob("*.csv"))
    assert "published" not in table.read_text() or pd.read_csv(table).published.isna().all()


@pytest.mark.parametrize("paper", ["zscore", "pmf", "hierarchical", "truelabel"])
def test_too_little_gold_is_one_sentence(
    paper: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"i{n},j{k},{(n + k) % 2},{n % 2 if n < 12 else ''}" for n in range(40) for k in (0, 1)]
    file = tmp_path / "few.csv"
    file.write_text("\n".join(["item,judge,label,gold", *rows]))
    assert main([paper, "--quick", "--judgments", str(file)]) == 2
    said = capsys.readouterr().err.splitlines()
    assert [line for line in said if line.startswith("error")] == said[1:]
    assert "12 of the judged items" in said[1]
