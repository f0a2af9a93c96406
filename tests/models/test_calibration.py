"""Calibration by gold: probabilities learnt from gold that the fit did not use."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from adjudge import DawidSkene, Gold, ItemTypes, Judgments, MajorityVote
from adjudge.evaluation.against_gold import evaluate
from adjudge.models.calibrated import fit_calibrated


def crowd(items: int = 900, seed: int = 0) -> tuple[Judgments, np.ndarray]:
    """Judges who share their slips: what they agree on is right in seven of ten only."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, items)
    seen = np.where(rng.random(items) < 0.3, 1 - truth, truth)
    rows: dict[str, list[object]] = {"item": [], "judge": [], "label": []}
    for judge in range(6):
        own = np.where(rng.random(items) < 0.15, 1 - seen, seen)
        rows["item"] += [f"i{n:04}" for n in range(items)]
        rows["judge"] += [f"j{judge}"] * items
        rows["label"] += own.tolist()
    return Judgments.from_table(rows), truth


def independent(items: int = 300, seed: int = 3) -> tuple[Judgments, np.ndarray]:
    """Judges who err independently, on three labels."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, items)
    rows: dict[str, list[object]] = {"item": [], "judge": [], "label": []}
    for judge in range(12):
        own = np.where(rng.random(items) < 0.5, rng.integers(0, 3, items), truth)
        rows["item"] += [f"i{n:04}" for n in range(items)]
        rows["judge"] += [f"j{judge:02}"] * items
        rows["label"] += own.tolist()
    return Judgments.from_table(rows), truth


def gold_of(truth: np.ndarray, items: range) -> Gold:
    return Gold.of({f"i{n:04}": int(truth[n]) for n in items})


@pytest.mark.parametrize("model", [DawidSkene(), ItemTypes()], ids=lambda model: model.name)
def test_a_model_that_is_too_sure_learns_how_right_it_is(model) -> None:
    table, truth = crowd()
    known, rest = gold_of(truth, range(150)), gold_of(truth, range(150, 900))
    alone = evaluate(model.fit(table), rest)
    calibrated = evaluate(fit_calibrated(model, table, known), rest)
    assert calibrated["log_loss"].value < alone["log_loss"].value
    assert calibrated["log_loss"].value == pytest.approx(0.62, abs=0.05)  # H(.3) and a little
    assert calibrated["accuracy"].value >= alone["accuracy"].value - 0.02


def test_gold_in_the_fit_does_not_count_as_being_right() -> None:
    """All gold is in the fit: were it scored by that fit, nothing would need calibrating."""
    table, truth = crowd()
    known = gold_of(truth, range(300))
    consensus = fit_calibrated(DawidSkene(), table, known)
    unknown = np.array([int(name[1:]) >= 300 for name in consensus.judgments.items.to_pylist()])
    assert consensus.probability[unknown].mean() < 0.85
    assert np.all(consensus.probability[~unknown] == 1)
    assert "300 gold items calibrate the probabilities" in consensus.notes[-1]


def test_threads_of_linear_algebra_change_no_bit() -> None:
    table, truth = crowd(items=300)
    known = gold_of(truth, range(100))
    with threadpool_limits(1, "blas"):
        one = ItemTypes().fit(table, known)
    with threadpool_limits(2, "blas"):
        two = ItemTypes().fit(table, known)
    np.testing.assert_array_equal(one.posterior, two.posterior)


def test_a_few_labels_do_no_harm_on_average() -> None:
    """Judges whose probabilities are right already: labels by chance must not undo that."""
    table, truth = independent()
    plain = ItemTypes().fit(table)
    order = np.array([int(name[1:]) for name in table.items.to_pylist()])
    gains, costs = [], []
    for draw in range(12):
        chosen = np.random.default_rng(draw).choice(len(truth), 10 + 10 * (draw % 2), replace=False)
        with_gold = ItemTypes().fit(table, Gold.of({f"i{n:04}": int(truth[n]) for n in chosen}))
        rest = ~np.isin(order, chosen)
        rows, right = np.flatnonzero(rest), truth[order[rest]]
        before, after = plain.posterior[rows, right], with_gold.posterior[rows, right]
        gains.append(np.log(after).mean() - np.log(before).mean())
        costs.append(
            (plain.choice[rows] == right).mean() - (with_gold.choice[rows] == right).mean()
        )
    assert np.mean(gains) > -0.005
    assert np.mean(costs) <= 0.002


def test_a_few_labels_change_many_where_they_show_them_wrong() -> None:
    """Judges whose labels are one too high: folds of 25 gold items show it."""
    table, truth = independent()
    shifted = replace(table, label=((table.label + 1) % 3).astype(table.label.dtype))
    order = np.array([int(name[1:]) for name in table.items.to_pylist()])
    right = ItemTypes().fit(shifted, gold_of(truth, range(25))).choice == truth[order]
    assert (ItemTypes().fit(shifted).choice == truth[order]).mean() < 0.1
    assert right[order >= 25].mean() > 0.9


def test_little_gold_changes_little() -> None:
    table, truth = crowd()
    plain = ItemTypes().fit(table)
    with_gold = ItemTypes().fit(table, gold_of(truth, range(2)))
    rest = np.array([int(name[1:]) >= 2 for name in plain.judgments.items.to_pylist()])
    assert np.abs(with_gold.posterior[rest] - plain.posterior[rest]).mean() < 0.1


def topics(seed: int = 0) -> tuple[Judgments, dict[str, int]]:
    """Judges who see that some items are better, but not that some topics are poor in them."""
    rng = np.random.default_rng(seed)
    truth: dict[str, int] = {}
    rows: dict[str, list[object]] = {"item": [], "judge": [], "label": []}
    for topic in range(20):
        rate = 0.05 if topic % 2 else 0.6
        for number in range(40):
            item = f"q{topic}_d{number}"
            truth[item] = int(rng.random() < rate)
            looks = truth[item] if rng.random() < 0.8 else int(rng.random() < 0.5)
            for judge in range(6):
                rows["item"].append(item)
                rows["judge"].append(f"j{judge}")
                rows["label"].append(looks if rng.random() < 0.85 else 1 - looks)
    return Judgments.from_table(rows), truth


def test_topics_get_their_own_offset() -> None:
    table, truth = topics()
    rng = np.random.default_rng(1)
    chosen = set(rng.choice(list(truth), 200, replace=False).tolist())
    gold = Gold.of({item: truth[item] for item in sorted(chosen)})
    rest = Gold.of({item: truth[item] for item in truth if item not in chosen})
    consensus = ItemTypes().fit(table, gold)
    assert "20 topics" in consensus.notes[-1]
    plain = Judgments.from_table(
        table.to_table().set_column(0, "item", [[name.as_py().replace("_", "-")
                                                 for name in table.to_table()["item"]]])
    )  # fmt: skip
    other = ItemTypes().fit(plain, Gold.of({i.replace("_", "-"): truth[i] for i in sorted(chosen)}))
    assert "topics" not in other.notes[-1]
    hidden = Gold.of({i.replace("_", "-"): truth[i] for i in truth if i not in chosen})
    better, worse = evaluate(consensus, rest), evaluate(other, hidden)
    assert better["log_loss"].value < worse["log_loss"].value - 0.03
    assert better["accuracy"].value >= worse["accuracy"].value


def test_neither_names_nor_order_of_topics_change_a_bit() -> None:
    table, truth = topics()
    chosen = sorted(truth)[::5]
    first = ItemTypes().fit(table, Gold.of({item: truth[item] for item in chosen}))
    rows = table.to_table().to_pylist()
    rng = np.random.default_rng(2)
    new = {f"q{old}": f"t{to}" for old, to in enumerate(rng.permutation(20))}

    def renamed(item: str) -> str:
        topic, rest = item.split("_")
        return f"{new[topic]}_{rest}"

    shuffled = [rows[n] for n in rng.permutation(len(rows))]
    again = Judgments.from_table(
        {
            "item": [renamed(row["item"]) for row in shuffled],
            "judge": [row["judge"] for row in shuffled],
            "label": [row["label"] for row in shuffled],
        }
    )
    order = rng.permutation(len(chosen))
    second = ItemTypes().fit(again, Gold.of({renamed(chosen[n]): truth[chosen[n]] for n in order}))
    place = {name: n for n, name in enumerate(second.judgments.items.to_pylist())}
    matched = [place[renamed(name)] for name in first.judgments.items.to_pylist()]
    np.testing.assert_array_equal(first.posterior, second.posterior[matched])


def test_other_items_of_the_topics_get_their_offset() -> None:
    table, truth = topics()
    chosen = sorted(truth)[::5]
    consensus = ItemTypes().fit(table, Gold.of({item: truth[item] for item in chosen}))
    again = consensus.predict(table)
    unknown = np.array([name not in set(chosen) for name in table.items.to_pylist()])
    np.testing.assert_allclose(again.posterior[unknown], consensus.posterior[unknown], atol=1e-12)


def test_gold_without_judgments_changes_no_calibrated_probability() -> None:
    table, truth = crowd(items=200)
    known = {f"i{n:04}": int(truth[n]) for n in range(60)}
    unjudged = {f"not judged {n}": n % 2 for n in range(40)}
    one = fit_calibrated(MajorityVote(), table, Gold.of(known))
    two = fit_calibrated(MajorityVote(), table, Gold.of(known | unjudged))
    np.testing.assert_array_equal(one.posterior, two.posterior[: len(one.posterior)])
    assert two.labels["label"].to_pylist()[-40:] == [n % 2 for n in range(40)]


def test_the_number_of_labels_that_change_is_that_of_the_labels_given() -> None:
    """Of tied votes a coin decides before calibration, and the calibration after it."""
    table, truth = independent()
    few = table.select(judgments=table.judge < 4)
    before = MajorityVote().fit(few, gold_of(truth, range(0, 300, 3)))
    after = fit_calibrated(MajorityVote(), few, gold_of(truth, range(0, 300, 3)))
    said = re.search(r"([\d,]+) of 200 labels change", after.notes[-1])
    assert said is not None
    assert int(said[1]) == int((before.choice != after.choice).sum()) > 0


def test_the_default_counts_labels_that_change_among_items_without_gold() -> None:
    table, truth = crowd()
    known = gold_of(truth, range(300))
    before, after = ItemTypes().fit(table), ItemTypes().fit(table, known)
    other = known.align(after.judgments) < 0
    said = re.search(
        r"([\d,]+) of 600 labels change, mean probability ([\d.]+) -> ([\d.]+)", after.notes[-1]
    )
    assert said is not None, after.notes[-1]
    assert int(said[1]) == int((before.choice != after.choice)[other].sum()) > 0
    assert float(said[2]) == pytest.approx(before.probability[other].mean(), abs=6e-3)
    assert float(said[3]) == pytest.approx(after.probability[other].mean(), abs=6e-3)


def test_no_change_is_reported_where_every_item_has_gold() -> None:
    table, truth = crowd(items=100)
    note = ItemTypes().fit(table, gold_of(truth, range(100))).notes[-1]
    assert note == "100 gold items calibrate the probabilities"


def test_one_gold_item_calibrates_by_a_fit_without_it() -> None:
    """The fit with gold is sure of it; the fit without was sure, and wrong."""
    table, truth = crowd(items=100)
    labels = DawidSkene().fit(table)
    wrong = np.flatnonzero(labels.choice != truth)
    worst = int(wrong[labels.probability[wrong].argmax()])
    known = gold_of(truth, range(worst, worst + 1))
    rest = np.arange(100) != worst
    before = DawidSkene().fit(table, known).probability[rest]
    assert fit_calibrated(DawidSkene(), table, known).probability[rest].mean() < before.mean()
