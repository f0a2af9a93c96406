"""What every model must keep, whatever it does: run on all of the registry."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from functools import cache
from typing import get_args, get_type_hints

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjudge
from adjudge import (
    MODELS,
    BadData,
    BadSetting,
    Gold,
    Judgments,
    Model,
    ThreadsEngine,
    UnknownName,
    model,
)
from adjudge.data.names import as_names, look_up
from adjudge.models._notes import describe_unconverged
from adjudge.models.registry import PAIR_MODELS, TITLES
from adjudge.simulation import Simulated, demo
from sizes import FULL, sized
from strategies import gold_for, judgments, shuffled

names = pytest.mark.parametrize("name", sorted(MODELS))
# Sampled models draw by the number of an item and start from its name: not exact under renaming.
unsampled = [name for name in sorted(MODELS) if not hasattr(MODELS[name], "draws")]
exact = pytest.mark.parametrize("name", unsampled)
few = settings(max_examples=sized(12, full=1000), deadline=None)


def quick(name: str, *, sweeps: int = 30, **others: object) -> Model:
    """The model, sampled shortly if it is sampled."""
    short = {"chains": 2, "warmup": sweeps, "draws": sweeps, "thin": 1}
    return model(name, **(short if hasattr(MODELS[name], "draws") else {}), **others)


@cache
def binary_demo(name: str) -> Simulated:
    """The demo crowd, collapsed for a model that takes two labels."""
    made = demo(seed=3)
    if labels_for(name) is None:
        return made
    scale = made.judgments.scale
    return dataclasses.replace(
        made, judgments=made.judgments.collapse(), truth=made.truth.collapse(scale)
    )


def labels_for(name: str) -> int | None:
    """How many labels the model wants, None for any number."""
    return 2 if name == "hierarchical-relevance" else None


@names
def test_tables_of_any_library_are_taken(name: str) -> None:
    import pandas as pd
    import polars as pl

    made = binary_demo(name)
    table, gold = made.judgments.to_table(), made.truth.to_table().slice(0, 20)
    made_model = quick(name, sweeps=sized(8, full=30))
    expected = made_model.fit(Judgments.from_table(table), Gold.from_table(gold))
    for judged, known in ((table.to_pandas(), gold), (pl.from_arrow(table), gold.to_pandas())):
        assert isinstance(judged, pd.DataFrame | pl.DataFrame)
        assert made_model.fit(judged, gold=known).labels.equals(expected.labels)


@names
def test_a_model_is_a_frozen_keyword_only_dataclass_with_defaults(name: str) -> None:
    made = model(name)
    assert isinstance(made, Model)
    assert made.name == name
    assert dataclasses.is_dataclass(made)
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.seed = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        MODELS[name](1)
    assert not hasattr(made, "__dict__")
    assert made == model(name)


@names
def test_a_setting_that_does_not_exist_or_cannot_be_is_refused(name: str) -> None:
    with pytest.raises(BadSetting, match=f"no setting of {name} 'sed'; did you mean"):
        model(name, sed=3)
    with pytest.raises(BadSetting, match="ties = 'sideways': expected random, lower or higher"):
        model(name, ties="sideways")


def test_the_registry_imports_a_model_only_when_it_is_looked_up() -> None:
    code = (
        "import sys; from adjudge.models.registry import DEFAULT, MODELS, PAIR_MODELS, TITLES\n"
        "assert DEFAULT in TITLES\n"
        "assert not {'numpy', 'scipy', 'numba', 'pyarrow'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert list(TITLES) == list(MODELS)
    for published in (MODELS, PAIR_MODELS):
        assert [kind.name for kind in published.values()] == list(published)


def test_a_misspelt_model_gets_the_nearest_suggested() -> None:
    with pytest.raises(UnknownName) as caught:
        model("dawid-sken")
    assert caught.value.nearest == ("dawid-skene",)
    assert caught.value.known == (*MODELS, "continuous")


@names
@few
@given(data=st.data())
def test_posteriors_are_probabilities_and_gold_is_kept(name: str, data: st.DataObject) -> None:
    fewer = labels_for(name) is None and data.draw(st.booleans())
    table = data.draw(judgments(labels=labels_for(name), fewer_truths=fewer))
    gold = data.draw(gold_for(table))
    by_topic = table.topics is not None and data.draw(st.booleans())
    consensus = quick(name, by_topic=by_topic, sweeps=sized(8, full=30)).fit(table, gold)
    truths = len(table.scale.truths)
    assert consensus.posterior.shape == (table.item_count, truths)
    assert np.all(consensus.posterior >= 0)
    assert consensus.posterior.sum(axis=1) == pytest.approx(1)
    assert consensus.prevalence.sum(axis=-1) == pytest.approx(1)
    assert consensus.confusion.sum(axis=-1) == pytest.approx(1)
    assert consensus.counts.sum() == pytest.approx(len(table))
    assert consensus.counts.sum(axis=(1, 2)) == pytest.approx(table.counts_per_judge)
    if gold is not None:
        known = gold.align(table)
        fixed = known >= 0
        assert np.array_equal(consensus.choice[fixed], known[fixed])
        assert np.all(consensus.probability[fixed] == 1)
    top = consensus.posterior.max(axis=1)
    assert np.all(consensus.probability >= top - 1e-8)


@exact
@few
@given(data=st.data())
def test_order_of_items_judges_and_rows_changes_not_one_bit(name: str, data: st.DataObject) -> None:
    table = data.draw(judgments())
    gold = data.draw(gold_for(table))
    moved, where = shuffled(table, data.draw(st.integers(0, 999)))
    one = model(name, seed=3).fit(table, gold)
    other = model(name, seed=3).fit(moved, gold)
    assert np.array_equal(one.posterior, other.posterior[where])
    assert np.array_equal(one.choice, other.choice[where])
    assert one.trace == other.trace


@exact
@few
@given(data=st.data())
def test_renaming_changes_only_how_ties_are_broken(name: str, data: st.DataObject) -> None:
    table = data.draw(judgments())
    renamed = dataclasses.replace(
        table,
        items=pa.array([f"other {i}" for i in range(table.item_count)], pa.large_string()),
        judges=pa.array([f"x{j}" for j in range(table.judge_count)], pa.large_string()),
    )
    one = model(name, ties="lower").fit(table)
    other = model(name, ties="lower").fit(renamed)
    assert np.array_equal(one.posterior, other.posterior)
    assert np.array_equal(one.choice, other.choice)


@cache
def many(labels: int) -> Judgments:
    """More judgments than one thread takes alone."""
    rng = np.random.default_rng(5)
    items, each, judges = 30_000, 5, 200
    return Judgments.from_table(
        {
            "item": np.repeat(np.arange(items), each),
            "judge": rng.integers(0, judges, items * each),
            "label": rng.integers(0, labels, items * each),
        }
    )


@names
def test_threads_change_no_bit(name: str) -> None:
    """What one thread adds up otherwise than three shows in the first sweeps, or in none."""
    table = many(labels_for(name) or 3)
    shortly: dict[str, object] = {}
    if not FULL:
        usual = {"rank": 8, "iterations": 5}
        shortly = {key: value for key, value in usual.items() if hasattr(MODELS[name], key)}
    fits = [
        quick(name, sweeps=sized(4, full=30), **shortly).fit(table, engine=ThreadsEngine(threads=n))
        for n in sized((1, 3), full=(1, 2, 3, 8))
    ]
    for other in fits[1:]:
        assert np.array_equal(fits[0].posterior, other.posterior)
        assert np.array_equal(fits[0].confusion, other.confusion)
        assert np.array_equal(fits[0].choice, other.choice)
        assert fits[0].trace == other.trace
        if fits[0].draws is not None:
            assert np.array_equal(fits[0].draws.confusion, other.draws.confusion)
            assert fits[0].draws.hyper.keys() == other.draws.hyper.keys()
            for key, values in fits[0].draws.hyper.items():
                assert np.array_equal(values, other.draws.hyper[key])


@pytest.mark.parametrize(
    ("name", "method"),
    [
        (name, method)
        for name in sorted(MODELS)
        if hasattr(MODELS[name], "iterations")
        for method in (("em", "variational") if hasattr(MODELS[name], "draws") else (None,))
        if method in (None, *get_args(get_type_hints(MODELS[name]).get("method")))
    ],
)
def test_a_fit_that_has_not_converged_says_what_to_do(name: str, method: str | None) -> None:
    more = {} if method is None else {"method": method}
    made = model(name, iterations=1, **more)
    consensus = made.fit(demo(seed=3).judgments)
    assert consensus.converged is False
    assert any(note.endswith(describe_unconverged(1)) for note in consensus.notes)
    assert not any("not converged" in note for note in model(name, **more).fit(
        demo(seed=3).judgments).notes)  # fmt: skip


@exact
def test_ties_are_broken_by_the_rule(name: str) -> None:
    rows = [(f"i{n}", judge, label) for n in range(200) for judge, label in (("a", 0), ("b", 1))]
    table = Judgments.from_table(
        pa.table(dict(zip(("item", "judge", "label"), zip(*rows, strict=True), strict=True)))
    )
    if not np.allclose(model(name).fit(table).posterior, 0.5):
        pytest.fail("two judges who always disagree leave every item open")
    assert set(model(name, ties="lower").fit(table).choice) == {0}
    assert set(model(name, ties="higher").fit(table).choice) == {1}
    random = model(name, seed=1).fit(table).choice
    assert 60 < random.sum() < 140
    assert np.array_equal(random, model(name, seed=1).fit(table).choice)
    assert not np.array_equal(random, model(name, seed=2).fit(table).choice)


@names
def test_gold_without_judgments_is_kept_and_reported(name: str) -> None:
    table = Judgments.from_table({"item": ["a", "b"], "judge": ["x", "x"], "label": [0, 1]})
    consensus = quick(name).fit(table, Gold.of({"b": 0, "c": 1}))
    assert consensus.notes[0] == (
        "1 of 2 gold items has no judgments (first: 'c'); their labels are their gold"
    )
    assert consensus.labels["item"].to_pylist() == ["a", "b", "c"]
    assert consensus.labels["label"].to_pylist()[1:] == [0, 1]
    assert consensus.labels["judgments"].to_pylist() == [1, 1, 0]


@names
def test_memory_labels_new_items_with_what_was_learnt(name: str) -> None:
    made = binary_demo(name)
    half = np.arange(made.judgments.item_count) % 2 == 0
    train = made.judgments.select(items=half, keep_empty=True)
    test = made.judgments.select(items=~half)
    fitted = quick(name).fit(train)
    predicted = fitted.predict(test)
    assert predicted.posterior.shape == (test.item_count, len(test.scale.truths))
    known = made.truth.align(test)
    assert (predicted.choice == known).mean() > 0.7
    again = fitted.predict(train)
    assert (again.choice == fitted.choice).mean() > 0.85
    if name in ("dawid-skene", "single-confusion"):  # points: nothing is averaged
        assert again.posterior == pytest.approx(fitted.posterior, abs=1e-6)


@pytest.mark.parametrize("calibrate", [False, True])
@pytest.mark.parametrize("by_topic", [False, True])
@names
def test_predicting_the_judgments_of_a_fit_gives_its_answer(
    name: str, by_topic: bool, calibrate: bool
) -> None:
    made = binary_demo(name)
    table = made.judgments
    given = Gold.of(
        dict(zip(made.truth.items.to_pylist()[::9], made.truth.texts()[::9], strict=True))
        | {"topic-001/not judged": made.truth.texts()[0]}
    )
    shuffle, _ = shuffled(table, 3)
    for gold in (None, given):
        fitted = adjudge.fit(
            table, gold, model=quick(name, sweeps=8, by_topic=by_topic), calibrate=calibrate
        )
        for again in (fitted.predict(table), fitted.predict(shuffle)):
            where = look_up(again.judgments.items, fitted.judgments.items)
            assert np.array_equal(again.posterior, fitted.posterior[where])
            assert np.array_equal(again.choice, fitted.choice[where])


# Of these the parameters say all: nothing is averaged over draws, no item has factors of its own.
by_parameters = pytest.mark.parametrize(
    "name", ["majority-vote", "vote", "dawid-skene", "single-confusion", "item-types"]
)


@by_parameters
def test_other_items_with_the_same_judgments_get_the_same_calibrated_answer(name: str) -> None:
    made = demo(seed=3)
    plain = {"items": as_names([f"i{n}" for n in range(made.judgments.item_count)])}
    table = dataclasses.replace(made.judgments, **plain, topics=None, topic=None, documents=None)
    gold = Gold.of({f"i{n}": text for n, text in enumerate(made.truth.texts()) if n % 4 == 0})
    fitted = adjudge.fit(table, gold, model=name)
    renamed = as_names([f"new{n}" for n in range(table.item_count)])
    again = fitted.predict(dataclasses.replace(table, items=renamed))
    assert fitted.known is not None
    unknown = fitted.known < 0
    assert again.posterior[unknown] == pytest.approx(fitted.posterior[unknown], abs=1e-8)
    assert again.probability[~unknown].min() < 1  # gold belongs to an item, by its name


def test_gold_of_the_fit_stays_with_its_item_when_judgments_are_added() -> None:
    made = demo(seed=3)
    item, text = made.truth.items[0].as_py(), made.truth.texts()[0]
    other = next(label for label in made.judgments.scale.labels if label != text)
    fitted = model("dawid-skene").fit(made.judgments, Gold.of({item: text}))
    more = {"item": [item] * 3, "judge": ["a", "b", "c"], "label": [other] * 3}
    again = fitted.predict(Judgments.from_table(more, scale=made.judgments.scale))
    assert again.labels["label"].to_pylist() == [text]
    assert again.probability.tolist() == [1.0]


@names
def test_memory_gives_new_judges_and_topics_the_population(
    name: str,
) -> None:
    made = binary_demo(name)
    highest = len(made.judgments.scale.labels) - 1
    fitted = quick(name, by_topic=True).fit(made.judgments)
    table = Judgments.from_table(
        {"topic": ["never seen"], "document": ["d"], "judge": ["stranger"], "label": [highest]},
        scale=made.judgments.scale,
    )
    predicted = fitted.predict(table)
    assert predicted.posterior.sum() == pytest.approx(1)
    # A stranger's highest label makes the highest truth likelier than it was.
    assert predicted.posterior[0, highest] > fitted.overall_prevalence[highest]
    if name != "single-confusion":
        assert any(note.startswith("1 of 1 judges are new") for note in predicted.notes)
    silent = dataclasses.replace(table, offsets=np.array([0, 0]), judge=table.judge[:0],
                                 label=table.label[:0])  # fmt: skip
    votes = name in ("majority-vote", "vote")  # nobody votes: every truth alike, as in the fit
    expected = np.full(highest + 1, 1 / (highest + 1)) if votes else fitted.overall_prevalence
    assert fitted.predict(silent).posterior[0] == pytest.approx(expected)


@names
def test_one_item_one_judge_one_label(name: str) -> None:
    table = Judgments.from_table({"item": ["a"], "judge": ["x"], "label": ["good"]})
    if labels_for(name):
        with pytest.raises(BadData, match="takes two labels, and these are 1: good"):
            quick(name).fit(table)
        return
    consensus = quick(name).fit(table)
    assert consensus.labels["label"].to_pylist() == ["good"]
    assert consensus.labels["probability"].to_pylist() == [1.0]
    assert consensus.judges["judge"].to_pylist() == ["x"]
    assert consensus.judges["bits"].to_pylist() == [0.0]


@names
def test_topics_of_gold_alone_and_empty_items_get_the_prevalence(name: str) -> None:
    table = Judgments.from_table(
        {
            "topic": ["t", "t", "u", "u"],
            "document": ["a", "b", "c", "d"],
            "judge": ["x", "x", "y", "y"],
            "label": [1, 0, 1, 1],
        }
    )
    table = table.with_items(pa.array(["u/e"]), topics=pa.array(["u"]), documents=pa.array(["e"]))
    consensus = quick(name, by_topic=True).fit(table)
    assert consensus.prevalence.shape == (2, 2)
    assert consensus.labels["document"].to_pylist()[-1] == "e"
    if name in ("dawid-skene", "single-confusion"):
        assert consensus.posterior[-1] == pytest.approx(consensus.prevalence[1], abs=1e-3)


@cache
def long_scale() -> Judgments:
    """Twenty thousand judges on a scale of three thousand labels."""
    count = 20_000
    table = {
        "item": [f"i{n // 2}" for n in range(count)],
        "judge": [f"j{n}" for n in range(count)],
        "label": [f"l{n % 3_000}" for n in range(count)],
    }
    return Judgments.from_table(table)


# One confusion for all judges, or two labels at most: these fit.
@pytest.mark.parametrize(
    "name", sorted(set(MODELS) - {"single-confusion", "hierarchical-relevance"})
)
def test_rates_of_judges_that_no_memory_holds_are_refused_before_the_fit(name: str) -> None:
    with pytest.raises(BadData, match=r"^3,000 labels by 20,000 judges: .* GB are free; fewer"):
        quick(name).fit(long_scale())
