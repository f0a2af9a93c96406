"""Whether models may replace people: against a plain reference, by hand, and by properties."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, ttest_1samp

from adjudge import may_replace
from adjudge.data.judgments import Judgments
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation.significance import one_sided_p

Labels = dict[str, dict[str, int]]


def judgments(by_judge: Labels, **more: list[str]) -> Judgments:
    rows = [(i, j, label) for j, own in by_judge.items() for i, label in own.items()]
    columns: dict[str, object] = {
        "item": [i for i, _, _ in rows],
        "judge": [j for _, j, _ in rows],
        "label": [label for _, _, label in rows],
    }
    return Judgments.from_table(pa.table(columns | more))


def made(
    seed: int, people: int = 4, items: int = 60, skill: float = 0.8, model: float = 0.8
) -> tuple[Labels, Labels]:
    """People and one model who are right so often about three labels; some items are skipped."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, items)

    def labels(right: float, share: float) -> dict[str, int]:
        said = np.where(rng.random(items) < right, truth, rng.integers(0, 3, items))
        kept = rng.random(items) < share
        return {f"i{n}": int(said[n]) for n in range(items) if kept[n]}

    crowd = {f"p{n}": labels(skill, 0.9) for n in range(people)}
    return crowd, {"m": labels(model, 0.95)}


def plainly(people: Labels, model: dict[str, int], score: str, epsilon: float) -> tuple[float, ...]:
    """The procedure as the paper writes it: item by item, person by person."""
    p_values, advantage = [], []
    for person, own in people.items():
        holds, held = [], []
        for item, label in own.items():
            others = [o[item] for name, o in people.items() if name != person and item in o]
            if item not in model or not others:
                continue

            def scored(given: int, others: list[int] = others) -> float:
                if score == "accuracy":
                    return float(np.mean([given == other for other in others]))
                return float(-np.sqrt(np.mean([(given - other) ** 2 for other in others])))

            holds.append(float(scored(model[item]) >= scored(label)))
            held.append(float(scored(label) >= scored(model[item])))
        if len(holds) >= 30:
            gap = np.array(held) - np.array(holds)
            p_values.append(float(ttest_1samp(gap, epsilon, alternative="less").pvalue))
            advantage.append(float(np.mean(holds)))
    rejected = false_discovery_control(p_values, method="by") <= 0.05
    return float(np.mean(rejected)), float(np.mean(advantage))


@pytest.mark.parametrize("score", ["accuracy", "neg-rmse"])
@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_procedure_of_the_paper(score: str, seed: int) -> None:
    people, models = made(seed, skill=0.6 + 0.04 * seed, model=0.75)
    found = may_replace(judgments(people), judgments(models), score=score, epsilon=0.15)["m"]
    rate, advantage = plainly(people, models["m"], score, 0.15)
    assert found.winning_rate == rate
    assert found.advantage_probability == pytest.approx(advantage, abs=1e-12)
    assert found.verdict == ("passed" if rate >= 0.5 else "failed")


def test_by_hand() -> None:
    """Three people agree on all; the model errs on 6 of 40 items: it holds on 34 of 40."""
    people = {f"p{n}": {f"i{k}": 1 for k in range(40)} for n in range(3)}
    model = {f"i{k}": int(k >= 6) for k in range(40)}
    found = may_replace(judgments(people), judgments({"m": model}), epsilon=0.2)
    verdict = found["m"]
    assert verdict.advantage_probability == pytest.approx(34 / 40)
    gap = np.array([1.0] * 6 + [0.0] * 34)
    assert verdict.people[0].p == pytest.approx(ttest_1samp(gap, 0.2, alternative="less").pvalue)
    assert verdict.people[0].p_adjusted == pytest.approx(verdict.people[0].p * (1 + 1 / 2 + 1 / 3))
    assert verdict.verdict == "failed"  # p = .19, not below .05


def test_a_perfect_model_passes_and_a_random_one_fails() -> None:
    people, _ = made(1, skill=0.8)
    truth = made(1, skill=1.0)[0]["p0"]
    rng = np.random.default_rng(0)
    noise = {item: int(rng.integers(0, 3)) for item in truth}
    found = may_replace(judgments(people), judgments({"good": truth, "noise": noise}))
    assert [found[name].verdict for name in ("good", "noise")] == ["passed", "failed"]


def test_of_several_samples_the_commonest_counts() -> None:
    people, models = made(2)
    thrice = [(item, "m", label) for item, label in models["m"].items() for label in (label,) * 2]
    thrice += [(item, "m", (label + 1) % 3) for item, label in models["m"].items()]
    table = pa.table(dict(zip(("item", "judge", "label"), zip(*thrice, strict=True), strict=True)))
    once = may_replace(judgments(people), judgments(models))["m"]
    again = may_replace(judgments(people), Judgments.from_table(table))["m"]
    assert again == once


@pytest.mark.parametrize("column", ["kind", "family"])
def test_one_file_with_a_column_that_tells_people_from_models(column: str) -> None:
    people, models = made(3)
    apart = may_replace(judgments(people), judgments(models))["m"]
    words = {"kind": ("human", "llm"), "family": ("", "maker")}[column]
    many = sum(map(len, people.values())), sum(map(len, models.values()))
    told = [words[0]] * many[0] + [words[1]] * many[1]
    both = judgments(people | models, **{column: told})
    assert may_replace(both)["m"] == apart
    assert may_replace(both, both)["m"] == apart


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=2, max_size=80), st.floats(0, 0.9))
@settings(deadline=None)
def test_the_p_value_is_that_of_scipy(gap: list[float], epsilon: float) -> None:
    values = np.array(gap)
    found = one_sided_p(
        np.array(len(gap) * 1.0), values.sum(keepdims=True)[0], (values**2).sum(), epsilon
    )
    if values.std() == 0:
        assert found == (0.0 if values[0] < epsilon else 1.0)
    else:
        assert found == pytest.approx(ttest_1samp(values, epsilon, alternative="less").pvalue)


def test_neither_names_nor_order_matter() -> None:
    people, models = made(10)
    renamed = {f"x{name}": dict(reversed(own.items())) for name, own in reversed(people.items())}
    first = may_replace(judgments(people), judgments(models))["m"]
    second = may_replace(judgments(renamed), judgments(models))["m"]
    assert first.winning_rate == second.winning_rate
    assert first.advantage_probability == pytest.approx(second.advantage_probability)


FORTY = {f"i{k}": k % 2 for k in range(40)}


@pytest.mark.parametrize(
    ("people", "models", "expected"),
    [
        ({"ann": FORTY}, {"m": FORTY}, "two people"),
        ({"ann": {"a": 1}, "bob": {"b": 1}}, {"m": FORTY}, "items that two people judged"),
        ({"ann": FORTY, "bob": FORTY}, {"m": {"z": 1}}, "the same items"),
        ({"ann": {"a": 1, "b": 0}, "bob": {"a": 1}}, {"m": {"a": 1}}, "30 items a person"),
    ],
)
def test_what_cannot_be_compared(people: Labels, models: Labels, expected: str) -> None:
    with pytest.raises(BadData) as caught:
        may_replace(judgments(people), judgments(models))
    assert caught.value.expected == expected


def test_words_are_no_grades_unless_they_have_an_order() -> None:
    words = {name: {i: ("bad", "good")[v] for i, v in FORTY.items()} for name in ("ann", "bob")}
    rows = [(i, j, v) for j, own in words.items() for i, v in own.items()]
    table = pa.table(dict(zip(("item", "judge", "label"), zip(*rows, strict=True), strict=True)))
    crowd = Judgments.from_table(table)
    with pytest.raises(BadData, match="neg-rmse needs labels that are numbers or in order"):
        may_replace(crowd, crowd, score="neg-rmse")
    with pytest.raises(BadData, match="people and models have labels of two kinds: 0 < 1 and bad"):
        may_replace(crowd, judgments({"m": FORTY}))


def test_people_who_cannot_be_told_from_models() -> None:
    with pytest.raises(BadData, match="it does not say which judges are people"):
        may_replace(judgments({"ann": FORTY, "bob": FORTY}))
    models = judgments({"m": FORTY, "n": FORTY}, kind=["model"] * 80)
    with pytest.raises(BadData, match="all 2 judges are models by its column kind; wanted people"):
        may_replace(models, models)


@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon": 1.0},
        {"q": 0.0},
        {"least_items": 1},
        {"score": "f1"},
    ],
)
def test_settings_that_cannot_be(settings: dict[str, object]) -> None:
    people, models = made(0)
    with pytest.raises(BadSetting) as caught:
        may_replace(judgments(people), judgments(models), **settings)
    assert {caught.value.setting: caught.value.value} == settings


def test_few_people_are_warned_of() -> None:
    crowd = judgments({"ann": FORTY, "bob": FORTY})
    assert len(may_replace(crowd, judgments({"m": FORTY})).warnings) == 2
