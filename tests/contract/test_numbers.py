"""What the model of numbers must keep, as every model does: the same bits, gold kept, memory."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjudge
from adjudge import Checkpoint, Continuous, ContinuousConsensus, Gold, Judgments, ThreadsEngine
from adjudge.errors import BadSetting
from adjudge.models.model import Step
from sizes import sized
from strategies import gold_for, judgments, shuffled

few = settings(max_examples=sized(12, full=1000), deadline=None)
biases = pytest.mark.parametrize("bias", ["shift", "scale", "both"])


def assert_same(one: ContinuousConsensus, two: ContinuousConsensus) -> None:
    """Every number of two fits, bit by bit."""
    for name in ("value", "error", "shift", "scale", "noise"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    assert (one.iterations, one.converged, one.widened) == (
        two.iterations,
        two.converged,
        two.widened,
    )
    assert one.notes == two.notes


def crowd(items: int = 400, seed: int = 0) -> Judgments:
    random = np.random.default_rng(seed)
    truth, shift = random.normal(50, 20, items), random.normal(0, 8, 30)
    item = np.repeat(np.arange(items), 5)
    judge = random.integers(0, 30, len(item))
    label = np.round(truth[item] + shift[judge] + random.normal(0, 2 + judge % 5 * 3)).astype(int)
    return Judgments.from_table(
        {"item": [f"i{i}" for i in item], "judge": [f"j{j}" for j in judge], "label": label}
    )


@biases
@few
@given(data=st.data())
def test_order_and_names_change_not_one_bit(bias: str, data: st.DataObject) -> None:
    table = data.draw(judgments())
    gold = data.draw(gold_for(table))
    model = Continuous(bias=bias, iterations=40)  # type: ignore[arg-type]
    one = model.fit(table, gold)
    moved, where = shuffled(table, data.draw(st.integers(0, 999)))
    other = model.fit(moved, gold)
    np.testing.assert_array_equal(one.value, other.value[where])
    np.testing.assert_array_equal(one.error, other.error[where])
    assert one.iterations == other.iterations
    back = [moved.judges.to_pylist().index(name) for name in table.judges.to_pylist()]
    for name in ("shift", "scale", "noise"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name)[back])
    renamed = dataclasses.replace(
        table,
        items=pa.array([f"other {i}" for i in range(table.item_count)], pa.large_string()),
        judges=pa.array([f"x{j}" for j in range(table.judge_count)], pa.large_string()),
    )
    alone = model.fit(table)
    np.testing.assert_array_equal(alone.value, model.fit(renamed).value)
    assert np.isfinite(one.value).all()
    assert (one.error >= 0).all()
    if gold is not None:
        at = [table.items.to_pylist().index(name) for name in gold.items.to_pylist()]
        np.testing.assert_array_equal(one.value[at], [float(text) for text in gold.texts()])
        assert not one.error[at].any()


def test_threads_and_blocks_change_no_bit() -> None:
    table = crowd(21_000)  # enough for several threads to be used
    gold = Gold.of({f"i{i}": 50 + i % 7 for i in range(40)})
    model = Continuous(iterations=20)
    threads = sized((1, 3), full=(1, 2, 3, 8))
    fits = [model.fit(table, gold, engine=ThreadsEngine(threads=n)) for n in threads]
    for other in fits[1:]:
        assert_same(fits[0], other)


def test_a_fit_resumed_from_a_checkpoint_is_the_same_bit_for_bit(tmp_path: Path) -> None:
    table = crowd()
    gold = Gold.of({f"i{i}": 50 + i % 7 for i in range(40)})
    full = Continuous().fit(table, gold)

    def broken(step: Step) -> None:
        if step.done == 9:
            raise KeyboardInterrupt

    place = Checkpoint(folder=tmp_path, every=4)
    with pytest.raises(KeyboardInterrupt):
        Continuous().fit(table, gold, engine=ThreadsEngine(checkpoint=place), progress=broken)
    steps: list[int] = []
    again = ThreadsEngine(checkpoint=dataclasses.replace(place, resume=True))
    found = Continuous().fit(
        table, gold, engine=again, progress=lambda step: steps.append(step.done)
    )
    assert steps[0] == 9
    assert_same(full, found)


def test_another_unit_gives_the_same_values_in_that_unit() -> None:
    table = crowd()
    moved = Judgments.from_table(
        {
            "item": [table.items[i].as_py() for i in table.item],
            "judge": [table.judges[j].as_py() for j in table.judge],
            "label": table.scale.values[table.label] * 9 / 5 + 32,
        }
    )
    one, two = Continuous(bias="both").fit(table), Continuous(bias="both").fit(moved)
    np.testing.assert_allclose(two.value, one.value * 9 / 5 + 32, rtol=1e-7)
    np.testing.assert_allclose(two.error, one.error * 9 / 5, rtol=1e-7)
    np.testing.assert_allclose(two.noise, one.noise * 9 / 5, rtol=1e-6)


def test_fit_reads_many_numbers_as_the_command_line_does() -> None:
    table = crowd()
    assert_same(Continuous().fit(table), adjudge.fit(table))  # type: ignore[arg-type]
    shifted = adjudge.fit(table, model="continuous", bias="shift")
    assert shifted.settings["bias"] == "shift"
    with pytest.raises(BadSetting, match=r"no setting of continuous 'ties'"):
        adjudge.fit(table, model="continuous", ties="lower")
    with pytest.raises(BadSetting, match="expected an earlier fit of numbers"):
        adjudge.fit(table, start=adjudge.fit({"item": ["a"], "judge": ["x"], "label": ["1"]}))


def test_a_fit_continues_from_an_earlier_one() -> None:
    table = crowd()
    names = np.array(table.items.to_pylist())
    begun = Continuous().fit(table.select(items=np.isin(names, names[:360])))
    cold, warm = Continuous().fit(table), Continuous().fit(table, start=begun)
    assert warm.iterations < cold.iterations
    np.testing.assert_allclose(warm.value, cold.value, atol=1e-3)
    again = Continuous().fit(table, start=cold)
    assert again.iterations <= 2
    np.testing.assert_allclose(again.value, cold.value, atol=1e-4)


def test_memory_values_new_items_and_strangers(tmp_path: Path) -> None:
    table = crowd()
    fitted = Continuous().fit(table)
    np.testing.assert_allclose(fitted.predict(table).value, fitted.value, atol=1e-9)
    new = {"item": ["n", "n", "m"], "judge": ["j1", "j2", "stranger"], "label": [70, 75, 70]}
    found = fitted.predict(new)
    assert found.notes[-1] == "1 of 3 judges is new: like the others"
    n, m = found.labels.to_pylist()
    assert 50 < n["label"] < 90
    assert m["error"] > n["error"]
    fitted.save(tmp_path / "numbers.adjudge")
    kept = ContinuousConsensus.load(tmp_path / "numbers.adjudge")
    assert kept.labels.equals(fitted.labels)
    np.testing.assert_array_equal(kept.predict(new).value, found.value)


def test_gold_without_judgments_is_kept_and_reported() -> None:
    table = Judgments.from_table({"item": ["a", "b"], "judge": ["x", "y"], "label": [10, 30]})
    found = Continuous().fit(table, {"b": 25, "c": 4.5})
    assert found.notes[0] == (
        "1 of 2 gold items has no judgments (first: 'c'); their labels are their gold"
    )
    rows = {row["item"]: row for row in found.labels.to_pylist()}
    assert (rows["b"]["label"], rows["c"]["label"], rows["c"]["judgments"]) == (25.0, 4.5, 0)


def test_what_a_notebook_shows() -> None:
    found = Continuous().fit(crowd())
    assert repr(found).startswith("ContinuousConsensus(2,000 judgments, 400 items, 30 judges, num")
    assert "<meter" in found._repr_html_()
