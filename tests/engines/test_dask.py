"""The cluster gives the bits of the threads: every model, any number of processes, real ones."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adjudge import (
    BadSetting,
    Consensus,
    Continuous,
    DaskEngine,
    DawidSkene,
    Gold,
    HierarchicalConfusion,
    HierarchicalRelevance,
    HybridConfusion,
    ItemTypes,
    Judgments,
    MajorityVote,
    Model,
    SingleConfusion,
    Vote,
)
from adjudge.data.formats import Content, read, write
from adjudge.engines import _cluster, _parquet, dask
from adjudge.errors import BadData, ClusterLost
from adjudge.models.model import Step
from adjudge.models.weighting import available, measure_features
from adjudge.simulation import Crowd, Population, Simulated, demo
from sizes import FULL, sized

slow = pytest.mark.slow


USUAL = 2  # processes


@pytest.fixture(scope="module")
def engine() -> Iterator[DaskEngine]:
    with DaskEngine(processes=USUAL) as made:
        yield made


@pytest.fixture(scope="module")
def crowd() -> Simulated:
    return demo(seed=3)


def assert_same(one: Consensus, two: Consensus) -> None:
    """Every array of two consensuses, bit by bit."""
    for name in ("posterior", "choice", "prevalence", "confusion", "counts"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    np.testing.assert_array_equal(one.trace, two.trace)
    assert one.notes == two.notes
    if one.draws is not None:
        assert two.draws is not None
        np.testing.assert_array_equal(one.draws.confusion, two.draws.confusion)
        np.testing.assert_array_equal(one.draws.prevalence, two.draws.prevalence)
        for name, values in one.draws.hyper.items():
            np.testing.assert_array_equal(values, two.draws.hyper[name])


PROCESSES = [USUAL, *(pytest.param(many, marks=pytest.mark.full) for many in (1, 3, 4))]
SWEEPS = {} if FULL else {"iterations": 2}  # as many as show it, or until nothing moves
SHORT = {"chains": 2, "warmup": sized(1, full=5), "draws": sized(2, full=8), "thin": 1}
MODELS: list[Model] = [
    ItemTypes(**SWEEPS),
    ItemTypes(by_topic=True, **SWEEPS),
    MajorityVote(),
    DawidSkene(**SWEEPS),
    DawidSkene(by_topic=True, **SWEEPS),
    SingleConfusion(**SWEEPS),
    HybridConfusion(method="em", **SWEEPS),
    HybridConfusion(**SHORT),
    HierarchicalConfusion(method="variational", **SWEEPS),
    HierarchicalConfusion(**SHORT, by_topic=True),
    Vote(weight="graded-accuracy-gold*label-typicality", keep="zscore:graded-accuracy-majority:1"),
]


# Of each way to sweep one, but those that a million judgments show; all in every run with gold.
ALONE = (0, 10)


@slow
@pytest.mark.parametrize(
    ("model", "with_gold"),
    [
        pytest.param(
            model,
            gold,
            id=f"{'gold' if gold else 'alone'}-{model.name}-{number}",
            marks=[] if gold or number in ALONE else pytest.mark.full,
        )
        for gold in (False, True)
        for number, model in enumerate(MODELS)
    ],
)
def test_every_model_has_the_bits_of_the_threads(
    model: Model, with_gold: bool, crowd: Simulated, engine: DaskEngine
) -> None:
    if isinstance(model, Vote) and not with_gold:
        model = Vote(weight="label-typicality")
    gold = crowd.truth.select(np.arange(len(crowd.truth)) % 7 == 0) if with_gold else None
    threads = model.fit(crowd.judgments, gold)
    assert_same(threads, model.fit(crowd.judgments, gold, engine=engine))


@slow
def test_hierarchical_relevance_on_a_binary_crowd(crowd: Simulated, engine: DaskEngine) -> None:
    model = HierarchicalRelevance(**SHORT)
    table = crowd.judgments.collapse()
    assert_same(model.fit(table), model.fit(table, engine=engine))


@slow
def test_numbers_are_those_of_the_threads(engine: DaskEngine) -> None:
    random = np.random.default_rng(5)
    item, judge = np.repeat(np.arange(600), 4), random.integers(0, 20, 2400)
    label = np.round(item % 90 + judge + random.normal(0, 5, 2400), 1)
    table = Judgments.from_table({"item": item, "judge": judge, "label": label})
    gold = Gold.of({str(i): float(i % 90) for i in range(30)})
    model = Continuous(iterations=sized(3, full=15))
    for known in (None, gold):
        here, there = model.fit(table, known), model.fit(table, known, engine=engine)
        for name in ("value", "error", "shift", "scale", "noise"):
            np.testing.assert_array_equal(getattr(here, name), getattr(there, name))
        assert (here.notes, here.iterations) == (there.notes, there.iterations)
    np.testing.assert_array_equal(
        here.predict(table).value, here.predict(table, engine=engine).value
    )


@slow
def test_features_are_those_of_the_threads(crowd: Simulated, engine: DaskEngine) -> None:
    gold = crowd.truth
    names = available(crowd.judgments, gold)
    here = measure_features(crowd.judgments, gold, names=names)
    there = measure_features(crowd.judgments, gold, names=names, engine=engine)
    for name in names:
        np.testing.assert_array_equal(here[name], there[name], err_msg=name)


@slow
def test_other_judgments_are_predicted_on_the_cluster(crowd: Simulated, engine: DaskEngine) -> None:
    half = np.arange(crowd.judgments.item_count) % 2 == 0
    one, two = (crowd.judgments.select(items=part) for part in (half, ~half))
    model = DawidSkene(**SWEEPS)
    here = model.fit(one).predict(two)
    there = model.fit(one, engine=engine).predict(two)
    assert_same(here, there)


@slow
def test_more_means_than_are_remembered(crowd: Simulated, engine: DaskEngine) -> None:
    model = HybridConfusion(chains=1, warmup=2, draws=70, thin=1)  # over 64 kept draws
    assert_same(model.fit(crowd.judgments), model.fit(crowd.judgments, engine=engine))


@slow
def test_tiny_and_empty_tables(engine: DaskEngine) -> None:
    table = Judgments.from_table({"item": ["a"], "judge": ["x"], "label": ["1"]})
    gold = Gold.of({"b": "1"})
    for model in (DawidSkene(), SingleConfusion(), MajorityVote()):
        assert_same(model.fit(table, gold), model.fit(table, gold, engine=engine))


@pytest.fixture(scope="module", params=PROCESSES, ids=lambda many: f"{many} processes")
def cluster(request: pytest.FixtureRequest, engine: DaskEngine) -> Iterator[DaskEngine]:
    """A cluster of so many processes."""
    if request.param == USUAL:
        yield engine
        return
    with DaskEngine(processes=request.param) as made:
        yield made


@slow
def test_a_million_judgments_with_any_number_of_processes(cluster: DaskEngine) -> None:
    population = Population.parse("skilled(6,4):80,spammer:10,lazy:10", judges=1000)
    made = Crowd(items=100_000, population=population, per_item=10).make(1)
    models: list[Model] = [
        DawidSkene(**SWEEPS),
        HybridConfusion(chains=1, warmup=2, draws=3, thin=1),
    ]
    for model in models:
        threads = model.fit(made.judgments)
        assert_same(threads, model.fit(made.judgments, engine=cluster))


@slow
def test_settings_that_cannot_be() -> None:
    with pytest.raises(BadSetting, match=r"^processes = 0: expected at least one process$"):
        DaskEngine(processes=0)
    with pytest.raises(BadSetting, match="expected one of client, scheduler and processes"):
        DaskEngine(scheduler="tcp://localhost:1", processes=2)


@slow
def test_a_scheduler_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask, "_REACHED", 0.5)
    with pytest.raises(ClusterLost, match=r"^the cluster at tcp://127.0.0.1:9 is gone \("):
        DaskEngine(scheduler="tcp://127.0.0.1:9")


@slow
def test_topics_are_needed_by_topic(engine: DaskEngine) -> None:
    table = Judgments.from_table({"item": ["a"], "judge": ["x"], "label": ["1"]})
    with pytest.raises(BadSetting, match="judgments with topics: these have none"):
        DawidSkene(by_topic=True).fit(table, engine=engine)


@pytest.mark.parametrize("fan", [2, 8])
def test_sums_in_a_tree_change_no_bit(
    crowd: Simulated, engine: DaskEngine, fan: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_cluster, "_FAN", fan)
    monkeypatch.setattr(_cluster, "_MOST", len(crowd.judgments) // 9)
    model = DawidSkene(iterations=3)
    assert len(engine.load(crowd.judgments).parts.futures) >= 9
    assert_same(model.fit(crowd.judgments), model.fit(crowd.judgments, engine=engine))


def test_a_process_that_is_killed_is_replaced_and_changes_no_bit(
    crowd: Simulated, engine: DaskEngine
) -> None:
    table = crowd.judgments
    model = DawidSkene(tolerance=0.0, iterations=sized(10, full=25))
    victim = next(iter(engine.client.run(os.getpid).values()))
    killed: list[int] = []

    def progress(step: Step) -> None:
        if step.done == 5 and not killed:
            killed.append(victim)
            os.kill(victim, signal.SIGKILL)

    there = model.fit(table, engine=engine, progress=progress)
    assert killed == [victim]
    assert_same(model.fit(table), there)


@pytest.fixture(scope="module")
def files(crowd: Simulated, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The demo crowd with its gold in two Parquet files, rows shuffled, in several row groups."""
    folder = tmp_path_factory.mktemp("parquet")
    content = Content(judgments=crowd.judgments, gold=crowd.truth)
    write(content, folder / "full.parquet", format="parquet")
    table = pq.read_table(folder / "full.parquet")
    rows = np.random.default_rng(1).permutation(len(table))
    table = table.take(pa.array(rows))
    pq.write_table(table, folder / "full.parquet")
    pq.write_table(table.slice(0, 700), folder / "a.parquet", row_group_size=300)
    pq.write_table(table.slice(700), folder / "b.parquet", row_group_size=500)
    return [str(folder / "a.parquet"), f"file://{folder}/b.parquet"]


@pytest.mark.parametrize("drop", [(), ("item",), ("topic", "document", "gold")])
def test_parquet_is_read_by_the_workers_as_by_threads(
    files: list[str], drop: tuple[str, ...], engine: DaskEngine, tmp_path: Path
) -> None:
    places = []
    for place in (*files, str(Path(files[0]).with_name("full.parquet"))):
        table = pq.read_table(place.removeprefix("file://")).drop_columns(list(drop))
        places.append(str(tmp_path / Path(place).name))
        pq.write_table(table, places[-1], row_group_size=400)
    found = engine.read_parquet([places[0], f"file://{places[1]}"])
    content = read(Path(places[2]))
    here, there = content.judgments, found.judgments
    assert here is not None
    assert there is not None
    for name in ("offsets", "judge", "label", "topic"):
        np.testing.assert_array_equal(getattr(here, name), getattr(there, name), err_msg=name)
    for name in ("items", "judges", "topics", "documents", "scale"):
        assert getattr(here, name) == getattr(there, name), name
    if content.gold is None:
        assert found.gold is None
    else:
        assert found.gold is not None
        assert content.gold.to_table().equals(found.gold.to_table())
    assert found.notes == ("not read on a cluster: time, seconds",)


def test_spellings_and_the_scale_are_those_of_all_files(
    engine: DaskEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_parquet, "_ROWS", 2)  # several parts, some of them empty
    full = pa.table(
        {
            "item": ["b", "b", "a", "a", "a"],
            "judge": ["x", "y", "x", "y", "x"],
            "label": ["relevant", "Relevant", "not", "relevant", "not"],
        }
    )
    pq.write_table(full, tmp_path / "full.parquet")
    pq.write_table(full.slice(0, 2), tmp_path / "1.parquet")
    pq.write_table(full.slice(2), tmp_path / "2.parquet")
    found = engine.read_parquet([str(tmp_path / "1.parquet"), str(tmp_path / "2.parquet")])
    here = read(tmp_path / "full.parquet", repeats=True).judgments
    assert here is not None
    assert found.judgments is not None
    assert found.judgments.to_table().equals(here.to_table())
    assert any("differ only in case" in note for note in found.notes)


@pytest.mark.parametrize(
    ("columns", "place"),
    [
        ({"item": ["a", "b", ""], "judge": ["x"] * 3, "label": [0, 1, 0]}, "2.parquet, row 1"),
        ({"item": ["a", "b", "c"], "judge": ["x"] * 3}, "1.parquet"),
        ({"item": ["a", "b", "a "], "judge": ["x"] * 3, "label": [0, 1, 0]}, ""),
    ],
    ids=["no id", "no label", "blanks"],
)
def test_what_is_wrong_in_parquet_is_named(
    columns: dict[str, list[object]], place: str, engine: DaskEngine, tmp_path: Path
) -> None:
    table = pa.table(columns)
    pq.write_table(table.slice(0, 2), tmp_path / "1.parquet")
    pq.write_table(table.slice(2), tmp_path / "2.parquet")
    with pytest.raises(BadData) as raised:
        engine.read_parquet([str(tmp_path / "1.parquet"), str(tmp_path / "2.parquet")])
    assert place in str(raised.value)


def test_a_file_that_workers_cannot_read_is_named(engine: DaskEngine, tmp_path: Path) -> None:
    (tmp_path / "no.parquet").write_text("item,judge,label\n")
    for name in ("no.parquet", "gone.parquet"):
        with pytest.raises(BadData) as raised:
            engine.read_parquet([str(tmp_path / name)])
        assert raised.value.source == name
