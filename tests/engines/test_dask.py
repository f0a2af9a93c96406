"""The cluster gives the bits of the threads: every model, any number of processes, real ones."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
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
from adjudge.data.formats.trec_rf10 import trec_2011_subset
from adjudge.data.mapped import map_of
from adjudge.engines import _part, dask
from adjudge.engines import _pieces as pieces
from adjudge.engines._pieces import folder_of
from adjudge.engines._shared import machine
from adjudge.engines._sources import Lent, Stored
from adjudge.errors import ClusterLost
from adjudge.models.features import available, measure_features
from adjudge.models.model import Step
from adjudge.simulation import Crowd, Made, Population, demo
from sizes import FULL, sized

slow = pytest.mark.slow


USUAL = 2  # processes


@pytest.fixture(scope="module")
def engine() -> Iterator[DaskEngine]:
    with DaskEngine(processes=USUAL) as made:
        yield made


@pytest.fixture(scope="module")
def crowd() -> Made:
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
    model: Model, with_gold: bool, crowd: Made, engine: DaskEngine
) -> None:
    if isinstance(model, Vote) and not with_gold:
        model = Vote(weight="label-typicality")
    gold = crowd.truth.select(np.arange(len(crowd.truth)) % 7 == 0) if with_gold else None
    threads = model.fit(crowd.judgments, gold)
    assert_same(threads, model.fit(crowd.judgments, gold, engine=engine))


@slow
def test_hierarchical_relevance_on_a_binary_crowd(crowd: Made, engine: DaskEngine) -> None:
    model = HierarchicalRelevance(**SHORT)
    table = crowd.judgments.collapse()
    assert_same(model.fit(table), model.fit(table, engine=engine))


@slow
def test_numbers_are_those_of_the_threads(engine: DaskEngine, tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    item, judge = np.repeat(np.arange(600), 4), random.integers(0, 20, 2400)
    label = np.round(item % 90 + judge + random.normal(0, 5, 2400), 1)
    table = Judgments.from_table({"item": item, "judge": judge, "label": label})
    gold = Gold.of({str(i): float(i % 90) for i in range(30)})
    write(Content(judgments=table), tmp_path / "numbers.adjudge", format="encoded")
    stored = read(tmp_path / "numbers.adjudge").judgments
    model = Continuous(iterations=sized(3, full=15))
    either, both = ((None, (table,)), (gold, (stored,))), (table, stored)
    for known, tables in sized(either, full=((None, both), (gold, both))):
        here = model.fit(table, known)
        for given in tables:
            there = model.fit(given, known, engine=engine)
            for name in ("value", "error", "shift", "scale", "noise"):
                np.testing.assert_array_equal(getattr(here, name), getattr(there, name))
            assert (here.notes, here.iterations) == (there.notes, there.iterations)
    np.testing.assert_array_equal(
        here.predict(table).value, here.predict(table, engine=engine).value
    )


@slow
def test_features_are_those_of_the_threads(crowd: Made, engine: DaskEngine) -> None:
    gold = crowd.truth
    names = available(crowd.judgments, gold)
    here = measure_features(crowd.judgments, gold, names=names)
    there = measure_features(crowd.judgments, gold, names=names, engine=engine)
    for name in names:
        np.testing.assert_array_equal(here[name], there[name], err_msg=name)


@slow
def test_judgments_on_disk_are_read_by_the_processes(
    crowd: Made, engine: DaskEngine, tmp_path: Path
) -> None:
    folder = tmp_path / "crowd.adjudge"
    write(Content(judgments=crowd.judgments), folder, format="encoded")
    stored = read(folder).judgments
    assert stored is not None
    assert folder_of(stored) == folder
    assert folder_of(stored.collapse()) is None  # labels of its own: to be sent
    model = DawidSkene(**SWEEPS)
    for one in (model, HybridConfusion(**SHORT)):
        assert_same(one.fit(crowd.judgments), one.fit(stored, engine=engine))
    folded = model.fit(stored.collapse(), engine=engine)
    assert_same(model.fit(crowd.judgments.collapse()), folded)


@slow
def test_other_judgments_are_predicted_on_the_cluster(crowd: Made, engine: DaskEngine) -> None:
    half = np.arange(crowd.judgments.item_count) % 2 == 0
    one, two = (crowd.judgments.select(items=part) for part in (half, ~half))
    model = DawidSkene(**SWEEPS)
    here = model.fit(one).predict(two)
    there = model.fit(one, engine=engine).predict(two)
    assert_same(here, there)


@slow
def test_more_means_than_are_remembered(crowd: Made, engine: DaskEngine) -> None:
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
def test_a_million_judgments_whatever_the_number_of_processes(cluster: DaskEngine) -> None:
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
@pytest.mark.data
def test_real_judgments_whatever_the_number_of_processes(
    cluster: DaskEngine, shared_data: Path
) -> None:
    content = trec_2011_subset(read(shared_data / "trec-rf10" / "judgments.tsv"))
    assert content.judgments is not None
    models: list[Model] = [
        DawidSkene(**SWEEPS),
        HierarchicalRelevance(chains=1, warmup=sized(1, full=5), draws=sized(3, full=5), thin=1),
    ]
    for model in models:
        threads = model.fit(content.judgments)
        assert_same(threads, model.fit(content.judgments, engine=cluster))


@slow
def test_settings_that_cannot_be() -> None:
    with pytest.raises(BadSetting, match=r"^processes = 0: wanted at least one process$"):
        DaskEngine(processes=0)
    with pytest.raises(BadSetting, match="wanted one of client, scheduler and processes"):
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


LINUX = pytest.mark.skipif(machine() is None, reason="arrays are shared on Linux only")
SHARED: list[Model] = [
    SingleConfusion(**SWEEPS),  # in the full run alone
    DawidSkene(by_topic=True, **SWEEPS),
    HybridConfusion(**SHORT),
]


@pytest.fixture
def everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Share whatever the size, and lay posteriors of judgments on disk into a file."""
    monkeypatch.setattr(pieces, "_WORTH", 0)
    monkeypatch.setattr(dask, "_WORTH", 0)
    monkeypatch.setattr(_part, "_LARGE", 0)


@LINUX
@pytest.mark.usefixtures("everything")
@pytest.mark.parametrize("model", sized(SHARED[1:], full=SHARED), ids=lambda model: model.name)
def test_shared_judgments_and_posteriors_have_the_bits_of_the_threads(
    model: Model, crowd: Made, engine: DaskEngine, tmp_path: Path
) -> None:
    assert engine.connection.shares
    table = crowd.judgments
    write(Content(judgments=table), tmp_path / "t.adjudge", format="encoded")
    stored = read(tmp_path / "t.adjudge").judgments
    assert stored is not None
    threads = model.fit(table)
    for given, source in ((table, Lent), (stored, Stored)):
        sweeps = engine.load(given)
        assert isinstance(sweeps.cuts.piece(0).source, source)
        there = model.fit(given, engine=engine)
        for name in ("posterior", "choice", "prevalence", "confusion", "counts"):
            np.testing.assert_array_equal(getattr(threads, name), getattr(there, name), name)
        if not isinstance(model, HybridConfusion):
            assert (map_of(there.posterior) is not None) == (source is Stored)


@LINUX
@pytest.mark.usefixtures("everything")
def test_a_process_that_is_killed_is_replaced_and_changes_no_bit(
    crowd: Made, engine: DaskEngine
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
    threads = model.fit(table)
    np.testing.assert_array_equal(threads.posterior, there.posterior)
    assert threads.trace == there.trace
