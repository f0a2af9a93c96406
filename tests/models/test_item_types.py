"""ItemTypes: what the contract of all models cannot know."""

from __future__ import annotations

import dataclasses
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

from adjudge import DawidSkene, Gold, ItemTypes, Judgments, MajorityVote, Scale
from adjudge.data.consensus import Consensus
from adjudge.evaluation.against_gold import evaluate
from adjudge.models.item_types import TypesMemory
from adjudge.simulation import Crowd, Population, demo
from memory import Memory
from sizes import sized
from strategies import judgments


def memory_of(consensus: Consensus) -> TypesMemory:
    assert isinstance(consensus.predictor, TypesMemory)
    return consensus.predictor


def with_copies(given: Judgments, judge: str, copies: int, *, renamed: str = "copy") -> Judgments:
    """The same judgments, and those of one judge once more under other names."""
    rows = given.to_table().select(["item", "judge", "label"]).to_pylist()
    own = [row for row in rows if row["judge"] == judge]
    more = [{**row, "judge": f"{renamed}-{n}"} for n in range(copies) for row in own]
    columns = {name: [row[name] for row in rows + more] for name in ("item", "judge", "label")}
    return Judgments.from_table(columns, scale=given.scale)


@settings(max_examples=sized(25, full=1000))
@given(table=judgments())
@pytest.mark.slow
def test_the_objective_never_falls_once_expected_rows_are_fixed(table: Judgments) -> None:
    fitted = memory_of(ItemTypes(iterations=25, tolerance=0.0).fit(table)).types
    steps = np.diff(fitted.trace[fitted.frozen - 1 :])
    assert np.all(steps >= -1e-5 * np.abs(fitted.trace[-1]) - 1e-4), steps


@pytest.mark.parametrize("copies", [1, 4])
def test_copies_of_a_model_change_no_label_of_the_demo(copies: int) -> None:
    made = demo(seed=3)
    alone = ItemTypes().fit(made.judgments)
    more = ItemTypes().fit(with_copies(made.judgments, "llm-judge-8b", copies))
    where = dict(zip(more.judgments.items.to_pylist(), more.posterior, strict=True))
    same = np.array([where[item] for item in alone.judgments.items.to_pylist()])
    assert same == pytest.approx(alone.posterior, abs=1e-3)
    assert more.families is not None
    assert len(more.families.groups) == 1
    assert len(more.families.groups[0]) == copies + 1
    naive = DawidSkene(weigh_copies=False).fit(with_copies(made.judgments, "llm-judge-8b", copies))
    gap = (
        evaluate(more, made.truth)["accuracy"].value - evaluate(naive, made.truth)["accuracy"].value
    )
    assert gap > 0.1  # copies that always agree look perfect to it


def test_a_declared_family_counts_as_one_judge_whatever_the_noise() -> None:
    made = demo(seed=3)
    rng = np.random.default_rng(1)
    noisy = with_copies(made.judgments, "llm-judge-8b", 4, renamed="llm-judge-8b-run")
    label = noisy.label.copy()
    for judge in range(noisy.judge_count):
        if "-run" in noisy.judges[judge].as_py():
            own = np.flatnonzero(noisy.judge == judge)
            rerolled = own[rng.random(own.size) < 0.2]
            label[rerolled] = rng.integers(0, 3, rerolled.size)
    noisy = dataclasses.replace(noisy, label=label)
    alone = evaluate(ItemTypes().fit(made.judgments), made.truth)["accuracy"].value
    declared = ItemTypes().fit(noisy.with_family_rule("llm-judge-8b"))
    assert declared.families is not None
    assert [len(group) for group in declared.families.groups] == [5]
    assert declared.families.share[declared.families.groups[0][0]] == 1.0
    assert evaluate(declared, made.truth)["accuracy"].value == pytest.approx(alone, abs=0.02)


def test_it_is_not_surer_than_two_judges_can_make_it() -> None:
    """Few judges cannot show that they are independent: no type is taken for its label."""
    rng = np.random.default_rng(4)
    items, truth = 600, rng.integers(0, 3, 600)
    slip = np.where(rng.random(items) < 0.4, rng.integers(0, 3, items), truth)  # shared by both
    rows: dict[str, list[object]] = {"item": [], "judge": [], "label": []}
    for judge in ("a", "b"):
        own = np.where(rng.random(items) < 0.1, rng.integers(0, 3, items), slip)
        rows["item"] += [f"i{n}" for n in range(items)]
        rows["judge"] += [judge] * items
        rows["label"] += own.tolist()
    table = Judgments.from_table(rows)
    gold = Gold.of({f"i{n}": int(truth[n]) for n in range(items)})
    ours = evaluate(ItemTypes().fit(table), gold)
    vote = evaluate(MajorityVote().fit(table), gold)
    skene = evaluate(DawidSkene(weigh_copies=False).fit(table), gold)
    assert ours["log_loss"].value < vote["log_loss"].value
    assert ours["log_loss"].value < skene["log_loss"].value
    assert ours["log_loss"].value < 1.0


def test_a_warm_start_continues_where_the_fit_ended() -> None:
    made = Crowd(items=600, population=Population.parse("two-coin:40")).make(2)
    first = ItemTypes().fit(made.judgments)
    again = ItemTypes().fit(made.judgments, start=first)
    assert len(again.trace) < 0.7 * len(first.trace)
    assert (again.choice == first.choice).mean() > 0.98


def test_gold_calibrates_and_keeps_its_own_items() -> None:
    """Judges who call every second relevant item irrelevant: gold shows it, labels cannot."""
    rng = np.random.default_rng(2)
    items = 800
    truth = rng.integers(0, 2, items)
    seen = np.where((truth == 1) & (rng.random(items) < 0.5), 0, truth)
    rows: dict[str, list[object]] = {"item": [], "judge": [], "label": []}
    for judge in range(8):
        own = np.where(rng.random(items) < 0.2, 1 - seen, seen)
        rows["item"] += [f"i{n}" for n in range(items)]
        rows["judge"] += [f"j{judge}"] * items
        rows["label"] += own.tolist()
    table = Judgments.from_table(rows)
    known = Gold.of({f"i{n}": int(truth[n]) for n in range(200)})
    rest = Gold.of({f"i{n}": int(truth[n]) for n in range(200, items)})
    alone = evaluate(ItemTypes().fit(table), rest)["log_loss"].value
    model = ItemTypes()
    consensus = model.fit(table, known)
    assert evaluate(consensus, rest)["log_loss"].value < min(alone - 0.04, 0.54)
    assert np.all(consensus.probability[consensus.known >= 0] == 1)
    assert any("200 gold items calibrate the probabilities" in note for note in consensus.notes)
    plain = ItemTypes(calibrate=False).fit(table, known)
    assert evaluate(plain, rest)["log_loss"].value == pytest.approx(alone, abs=1e-9)


@pytest.mark.parametrize(("others", "most"), [(1, 0.64), (4, 0.52)])
def test_coin_flippers_do_not_vouch_for_themselves(others: int, most: float) -> None:
    """With own labels alone, those with one other judge would seem right on 75% of their items."""
    found, covered = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows: dict[str, list[object]] = {"item": [], "judge": [], "label": []}
        for item in range(500):
            for judge in rng.choice(20, others + 1, replace=False):
                rows["item"].append(f"i{item}")
                rows["judge"].append(f"j{judge}")
                rows["label"].append(int(rng.integers(0, 2)))
        table = ItemTypes().fit(Judgments.from_table(rows)).judges
        found.append(table["accuracy"].to_numpy().mean())
        low, high = (table[f"accuracy_{end}"].to_numpy() for end in ("low", "high"))
        covered.append(((low <= 0.5) & (high >= 0.5)).mean())
    assert 0.42 < np.mean(found) < most
    assert max(found) < most + 0.02
    assert np.mean(covered) >= 0.85


def test_effective_judgments_are_no_more_than_effective_judges() -> None:
    consensus = ItemTypes().fit(with_copies(demo(seed=3).judgments, "llm-judge-8b", 3))
    effective = consensus.judgments.counts_per_item - 3  # four copies count as one judge
    assert consensus.effective is not None
    assert np.all(consensus.effective <= effective + 1e-3)
    assert consensus.labels["n_eff"].to_pylist() == consensus.effective.tolist()


@pytest.mark.slow
def test_many_labels_have_one_type_each() -> None:
    labels = [f"l{n:02}" for n in range(25)]
    rows = {
        "item": [f"i{n}" for n in range(50) for _ in range(3)],
        "judge": [f"j{j}" for _ in range(50) for j in range(3)],
        "label": [labels[n % 25] for n in range(50) for _ in range(3)],
    }
    consensus = ItemTypes().fit(Judgments.from_table(rows))
    assert memory_of(consensus).types.kinds == 1
    assert consensus.labels["label"].to_pylist() == [labels[n % 25] for n in range(50)]


def test_independent_judges_are_measured_cautiously_and_better_with_gold() -> None:
    """Without gold, judges are taken to err together as much as real ones do."""
    made = demo(1)
    table, truth = made.judgments, made.truth.align(made.judgments)
    many = table.counts_per_judge
    real = np.bincount(table.judge, weights=table.label == truth[table.item]) / many
    some = dict(list(zip(made.truth.items.to_pylist(), made.truth.texts(), strict=True))[:150])
    errors = []
    for gold in (None, Gold.of(some)):
        judges = ItemTypes().fit(table, gold).judges
        found, low, high = (
            judges[name].to_numpy() for name in ("accuracy", "accuracy_low", "accuracy_high")
        )
        assert ((low <= real) & (real <= high)).mean() >= 0.85
        errors.append(np.average(found - real, weights=many))
    assert -0.1 < errors[0] < 0.02
    assert abs(errors[1]) < 0.03


def test_the_only_judge_is_believed() -> None:
    """Labels are the judge's own, also rare ones; how often they are right cannot be known."""
    truth = [0] * 60 + [1] * 6 + [2] * 4
    table = {
        "item": [f"i{n:02}" for n in range(70)],
        "judge": ["ann"] * 70,
        "label": [str(grade) for grade in truth],
    }
    consensus = ItemTypes().fit(Judgments.from_table(table))
    assert consensus.labels["label"].to_pylist() == table["label"]
    assert min(consensus.labels["probability"].to_pylist()) > 0.4
    assert consensus.judges["accuracy"].to_pylist() == [None]
    assert any("one judge" in note for note in consensus.notes)
    new = {"item": ["a", "b"], "judge": ["ann", "ann"], "label": ["2", "0"]}
    assert consensus.predict(new).labels["label"].to_pylist() == ["2", "0"]
    several = ItemTypes().fit(demo().judgments)
    assert not any("one judge" in note for note in several.notes)


@pytest.mark.parametrize("both", sized([0, 3, 30], full=[0, 3, 10, 30, 100, 300]))
def test_a_second_judge_on_some_items_costs_no_labels(both: int) -> None:
    """However few items a second judge judged: labels are as right as one judge's alone, nearly."""
    right: list[float] = []
    plain: list[float] = []
    for seed in range(10):
        rng = np.random.default_rng([7, seed])
        truth = (rng.random(300) > 0.75).astype(np.int64)
        one, two = (np.where(rng.random(300) > 0.89, 1 - truth, truth) for _ in range(2))
        rows = {
            "item": [f"i{n:03}" for n in (*range(300), *range(both))],
            "judge": ["ann"] * 300 + ["ben"] * both,
            "label": [*one.tolist(), *two[:both].tolist()],
        }
        found = ItemTypes().fit(Judgments.from_table(rows))
        right.append(float((found.choice == truth).mean()))
        plain.append(float((one == truth).mean()))
    assert np.mean(right) > np.mean(plain) - 0.025


def test_items_of_one_effective_judge_do_not_change_estimates_of_judges() -> None:
    """They tell nothing of who errs: rows of judges are those that the other items give."""
    made = Crowd(items=300, population=Population.parse("skilled(8,2):30")).make(4)
    rng = np.random.default_rng(5)
    rows = made.judgments.to_table().select(["item", "judge", "label"]).to_pydict()
    names = made.judgments.judges.to_pylist()
    few = ItemTypes().fit(Judgments.from_table(rows))
    rows["item"] += [f"z{n:04}" for n in range(3000)]
    rows["judge"] += [names[n] for n in rng.integers(0, len(names), 3000)]
    rows["label"] += [rows["label"][n] for n in rng.integers(0, 600, 3000)]
    # the same label again by the same judge counts once as well
    for column in ("item", "judge", "label"):
        rows[column] += rows[column][-50:]
    more = ItemTypes().fit(Judgments.from_table(rows))
    one, other = memory_of(few).types, memory_of(more).types
    assert other.rates == pytest.approx(one.rates, abs=0.03)  # shares of labels move them a little
    assert len(more.posterior) == 3300
    cells = np.bincount(more.judgments.judge, minlength=len(names))
    np.testing.assert_allclose(more.counts.sum(axis=(1, 2)), cells)  # no judgment is lost


def test_a_judge_who_shares_no_item_has_no_accuracy_without_gold() -> None:
    made = Crowd(items=300, population=Population.parse("skilled(8,2):30")).make(4)
    rows = made.judgments.to_table().select(["item", "judge", "label"]).to_pydict()
    rows["item"] += [f"z{n}" for n in range(40)]
    rows["judge"] += ["stranger"] * 40
    rows["label"] += ["0", "1"] * 20
    table = Judgments.from_table(rows)
    columns = ["accuracy", "accuracy_low", "accuracy_high"]

    def measure(gold: Gold | None) -> dict[str, list[float | None]]:
        judges = ItemTypes().fit(table, gold).judges
        return {row["judge"]: [row[name] for name in columns] for row in judges.to_pylist()}

    without = measure(None)
    assert without.pop("stranger") == [None, None, None]
    assert all(None not in values for values in without.values())
    value, low, high = measure(Gold.of({f"z{n}": str(n % 2) for n in range(20)}))["stranger"]
    assert low is not None
    assert 0.7 < low < value < high


@pytest.mark.parametrize("seed", [0, 3, 4])
def test_rare_labels_are_distinguished_from_doubtful_items(seed: int) -> None:
    """One item in twenty is relevant: a type of doubtful items is not taken for these."""
    people = Population.parse("two-coin:60")
    made = Crowd(items=2000, population=people, prevalence=(0.95, 0.05)).make(seed)
    truth = made.truth.align(made.judgments)
    models = (ItemTypes(), DawidSkene(), MajorityVote())
    ours, skene, vote = ((model.fit(made.judgments).choice == truth).mean() for model in models)
    assert ours >= skene  # which fits this crowd exactly
    assert ours > vote + 0.02


# At the end: while memory is counted, all is slower.
@pytest.mark.slow
def test_it_needs_less_than_twice_the_memory_of_dawid_skene(memory: Memory) -> None:
    scale = Scale(labels=tuple("abcde"), ordinal=True)
    people = Population.parse("skilled:200")
    table = Crowd(items=20_000, per_item=10, population=people, scale=scale).make(0).judgments
    peaks = []
    for model in (DawidSkene(), ItemTypes()):
        model.fit(table)  # what is compiled and imported is no part of it
        with memory.peak() as found:
            model.fit(table)
        peaks += found
    assert peaks[1] < 2 * peaks[0]


def simulate_small(
    rng: np.random.Generator, accuracy: NDArray[np.float64], per_item: int
) -> tuple[Judgments, NDArray[np.int64]]:
    """A table as small as in the app: its judgments, and the votes (item, label)."""
    items, labels = int(rng.integers(4, 60)), int(rng.integers(2, 5))
    judge = np.stack([rng.permutation(len(accuracy))[:per_item] for _ in range(items)])
    truth = rng.integers(labels, size=(items, 1))
    wrong = (truth + rng.integers(1, labels, size=judge.shape)) % labels
    label = np.where(rng.random(judge.shape) < accuracy[judge], truth, wrong)
    columns = {
        "item": [f"i{i:03}" for i in range(items) for _ in range(per_item)],
        "judge": [f"j{j}" for j in judge.ravel()],
        "label": [str(code) for code in label.ravel()],
    }
    judgments = Judgments.from_table(columns)
    votes = np.stack([(label == int(name)).sum(axis=1) for name in judgments.scale.truths], axis=1)
    return judgments, votes


def test_a_unanimous_vote_is_at_least_as_sure_as_one_with_a_dissenter() -> None:
    """Judges are better than chance, and all judge everything."""
    compared = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        accuracy = rng.uniform(0.6, 0.95, int(rng.integers(3, 6)))
        judgments, votes = simulate_small(rng, accuracy, len(accuracy))
        posterior = ItemTypes().fit(judgments).posterior
        for chance, vote in zip(posterior.T, votes.T, strict=True):
            unanimous, disputed = chance[vote == len(accuracy)], chance[vote == len(accuracy) - 1]
            if len(unanimous) and len(disputed):
                compared += 1
                assert unanimous.min() >= disputed.max() - 1e-9
    assert compared > 80


def test_a_dissenter_never_makes_three_judges_surer() -> None:
    """Items have different judges; any three of them are compared on the same votes.

    Two good judges against a weak one may be surer than three weak ones: those are other judges.
    """
    for seed in range(30):
        rng = np.random.default_rng(seed)
        judgments, _ = simulate_small(rng, rng.uniform(0.6, 0.95, int(rng.integers(3, 12))), 3)
        names, labels = judgments.judges.to_pylist(), judgments.scale.labels
        threes = [rng.choice(names, 3, replace=False) for _ in range(10)]
        votes = np.array(list(product(range(len(labels)), repeat=3)))
        columns = {
            "item": np.repeat([f"i{i:05}" for i in range(len(threes) * len(votes))], 3),
            "judge": np.repeat(threes, len(votes), axis=0).ravel(),
            "label": np.array(labels)[np.tile(votes, (len(threes), 1)).ravel()],
        }
        others = Judgments.from_table(columns, scale=judgments.scale)
        read = ItemTypes().fit(judgments).predict(others).posterior
        chance = read.reshape(len(threes), len(votes), len(labels))
        for label in range(len(labels)):
            agree = (votes == label).sum(axis=1)
            unanimous, disputed = chance[:, agree == 3, label], chance[:, agree == 2, label]
            assert (unanimous >= disputed - 1e-9).all()
