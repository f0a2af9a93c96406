"""Whether models may replace people: against a plain reference, by hand, and by properties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from scipy.stats import false_discovery_control, ttest_1samp

from adjudge import may_replace
from adjudge.data.judgments import Judgments
from adjudge.errors import BadData

Labels = dict[str, dict[str, Any]]


def table_of(people: Labels, models: Labels) -> pa.Table:
    """Judgments by people and models, separated by a column kind."""
    rows = [
        (item, judge, label, kind)
        for by_judge, kind in ((people, "person"), (models, "model"))
        for judge, own in by_judge.items()
        for item, label in own.items()
    ]
    names = ("item", "judge", "label", "kind")
    return pa.table(dict(zip(names, zip(*rows, strict=True), strict=True)))


def judgments(people: Labels, models: Labels) -> Judgments:
    return Judgments.from_table(table_of(people, models))


def simulate(
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
    """Follow the paper item by item and person by person."""
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
    people, models = simulate(seed, skill=0.6 + 0.04 * seed, model=0.75)
    found = may_replace(judgments(people, models), score=score, epsilon=0.15)["m"]
    rate, advantage = plainly(people, models["m"], score, 0.15)
    assert found.winning_rate == rate
    assert found.advantage_probability == pytest.approx(advantage, abs=1e-12)
    assert found.verdict == ("passed" if rate >= 0.5 else "failed")


def test_by_hand() -> None:
    """Three people agree on all; the model errs on 6 of 40 items, so it is as near on 34 of 40."""
    people = {f"p{n}": {f"i{k}": 1 for k in range(40)} for n in range(3)}
    model = {f"i{k}": int(k >= 6) for k in range(40)}
    verdict = may_replace(judgments(people, {"m": model}), epsilon=0.2)["m"]
    assert verdict.advantage_probability == pytest.approx(34 / 40)
    gap = np.array([1.0] * 6 + [0.0] * 34)
    assert verdict.people[0].p == pytest.approx(ttest_1samp(gap, 0.2, alternative="less").pvalue)
    assert verdict.people[0].p_adjusted == pytest.approx(verdict.people[0].p * (1 + 1 / 2 + 1 / 3))
    assert verdict.verdict == "failed"  # p = .19, not below .05


def test_a_perfect_model_passes_and_a_random_one_fails() -> None:
    people, _ = simulate(1, skill=0.8)
    truth = simulate(1, skill=1.0)[0]["p0"]
    rng = np.random.default_rng(0)
    noise = {item: int(rng.integers(0, 3)) for item in truth}
    found = may_replace(judgments(people, {"good": truth, "noise": noise}))
    assert [found[name].verdict for name in ("good", "noise")] == ["passed", "failed"]


def test_the_commonest_of_several_samples_counts() -> None:
    people, models = simulate(2)
    table = table_of(people, models)
    own = table.filter(pc.equal(table["judge"], "m"))
    wrong = [(label + 1) % 3 for label in own["label"].to_pylist()]
    samples = [table, own, own.set_column(2, "label", pa.array(wrong))]
    found = may_replace(Judgments.from_table(pa.concat_tables(samples)))
    assert found["m"] == may_replace(judgments(people, models))["m"]


def test_people_are_known_by_kind_by_family_or_by_name() -> None:
    table = table_of(*simulate(3))
    expected = may_replace(Judgments.from_table(table))["m"]
    plain = table.drop_columns(["kind"])
    names = table["judge"].to_pylist()
    families = plain.append_column("family", [["maker" if name == "m" else "" for name in names]])
    assert may_replace(Judgments.from_table(families))["m"] == expected
    assert may_replace(plain, people="^p")["m"] == expected


FORTY = {f"i{k}": k % 2 for k in range(40)}


@pytest.mark.parametrize(
    ("people", "model", "expected"),
    [
        ({"ann": FORTY}, FORTY, "two people"),
        ({"ann": {"a": 1}, "bob": {"b": 1}}, FORTY, "items that two people judged"),
        ({"ann": FORTY, "bob": FORTY}, {"z": 1}, "30 items per person"),
        ({"ann": {"a": 1, "b": 0}, "bob": {"a": 1}}, {"a": 1}, "30 items per person"),
    ],
)
def test_what_cannot_be_compared(people: Labels, model: dict[str, int], expected: str) -> None:
    with pytest.raises(BadData) as caught:
        may_replace(judgments(people, {"m": model}))
    assert caught.value.expected == expected


def test_words_are_no_grades() -> None:
    words = {i: ("bad", "good")[v] for i, v in FORTY.items()}
    with pytest.raises(BadData) as caught:
        may_replace(judgments({"ann": words, "bob": words}, {"m": words}), score="neg-rmse")
    assert caught.value.code == "no-grades"
