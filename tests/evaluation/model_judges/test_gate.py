"""Rates, corrected numbers, cards, shifts and gates: by hand, and on simulated changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score

from adjudge import Gold, Judgments, Run
from adjudge.data.scale import Scale
from adjudge.errors import BadData, BadSetting, UnknownName
from adjudge.evaluation import Audit, Card, audit, gate
from adjudge.evaluation.model_judges._shifts import Shifts
from adjudge.evaluation.model_judges.corrected import check_transport, correct_targets
from adjudge.evaluation.model_judges.gate import parse_requirements
from adjudge.evaluation.model_judges.panel import measure_company
from adjudge.evaluation.model_judges.rates import Rates
from adjudge.evaluation.scores import Score


def rates(table: list[list[int]], labels: str = "0<1") -> Rates:
    return Rates(scale=Scale.parse(labels), table=np.array(table))


def test_rates_by_hand() -> None:
    found = rates([[80, 20], [10, 90]])
    assert found.measure("accuracy").value == pytest.approx(0.85)
    assert (found.measure("tpr").value, found.measure("tnr").value) == (0.9, 0.8)
    assert found.measure("recall:0").value == 0.8
    assert found.measure("over-rating").value == pytest.approx(0.05)
    assert found.measure("kappa").value == pytest.approx(0.7)
    (none, some) = found.by_class
    assert (none.truth, none.gold, none.counts) == ("0", 100, (80, 20))
    assert none.low[1] < 0.2 < none.high[1]
    assert some.counts == (10, 90)


def test_kappas_are_those_of_scikit_learn() -> None:
    random = np.random.default_rng(0)
    truth, label = random.integers(0, 4, 300), random.integers(0, 4, 300)
    label[:150] = truth[:150]
    found = Rates.count(Scale.parse("0<1<2<3"), truth, label)
    plain, weighted = found.measure("kappa"), found.measure("weighted-kappa")
    assert plain.value == pytest.approx(cohen_kappa_score(truth, label))
    expected = cohen_kappa_score(truth, label, weights="quadratic")
    assert weighted.value == pytest.approx(expected)
    assert weighted.low < expected < weighted.high


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("accuracy", "needs 30 gold items, has 20"),
        ("kappa", "needs 50 gold items, has 20"),
        ("tpr", "needs 20 gold items of it, has 10"),
    ],
)
def test_a_measure_says_how_much_gold_it_needs(name: str, reason: str) -> None:
    assert rates([[8, 2], [1, 9]]).measure(name).reason == reason


def test_gold_saved_is_found_by_leaving_each_item_out() -> None:
    """Each truth is predicted from the others with its label, and one item of the usual mix."""
    random = np.random.default_rng(2)
    truth = random.integers(0, 3, 120)
    label = np.where(random.random(120) < 0.6, truth, random.integers(0, 3, 120))
    prior = np.array([(truth == k).sum() + 0.5 for k in range(3)]) / 121.5
    for labels, worth in (("a,b,c", np.eye(3)), ("0<1<2", np.arange(3.0)[:, None])):
        missed, spread = 0.0, 0.0
        for at in range(120):
            others = (label == label[at]) & (np.arange(120) != at)
            predicted = (worth[truth[others]].sum(axis=0) + prior @ worth) / (others.sum() + 1)
            missed += float(((worth[truth[at]] - predicted) ** 2).sum())
            spread += float(((worth[truth[at]] - worth[truth].mean(axis=0)) ** 2).sum())
        found = Rates.count(Scale.parse(labels), truth, label).measure("gold-saved")
        assert found.value == pytest.approx(1 - missed / spread)
        assert found.low < found.value < found.high
    assert rates([[100, 0], [0, 100]]).measure("gold-saved").value == pytest.approx(1, abs=0.001)
    assert rates([[50, 50], [50, 50]]).measure("gold-saved").value == pytest.approx(0, abs=0.03)


def test_who_agrees_with_whom_by_hand() -> None:
    """Ann and bob say 1 1; m's two prompts 1 0 and 1 1; n 0 0."""
    judges = {"ann": "11", "bob": "11", "m-a": "10", "m-b": "11", "n": "00"}
    rows = [(i, j, int(said[i == "y"])) for i in "xy" for j, said in judges.items()]
    columns = dict(zip(("item", "judge", "label"), zip(*rows, strict=True), strict=True))
    judgments = Judgments.from_table(pa.table(columns))
    names = judgments.judges.to_pylist()
    people = np.array([name in ("ann", "bob") for name in names])
    family = np.array([100 if name.startswith("m") else at for at, name in enumerate(names)])
    found = {(one.judge, one.others): one for one in measure_company(judgments, people, family)}
    assert (found["", "people"].same, found["", "people"].pairs) == (1.0, 2)
    assert (found["m-a", "people"].same, found["m-a", "people"].pairs) == (0.5, 4)
    assert found["m-a", "own family"].same == 0.5
    assert found["n", "other judges"].same == pytest.approx(1 / 4)
    # People always say 1: whatever a judge says, chance would agree as often.
    assert found["m-a", "people"].kappa == pytest.approx(0.0)


def simulate(
    seed: int,
    *,
    items: int = 1500,
    start: int = 0,
    share: float = 0.4,
    errors: tuple[float, float] = (0.1, 0.1),
    model: str = "gpt",
    **columns: Any,
) -> tuple[pa.Table, NDArray[np.int64]]:
    """One judge on items of two classes, with its error rates in each."""
    random = np.random.default_rng(seed)
    truth = (random.random(items) < share).astype(np.int64)
    wrong = random.random(items) < np.array(errors)[truth]
    table = {
        "item": [f"i{start + n}" for n in range(items)],
        "model": [model] * items,
        "label": np.where(wrong, 1 - truth, truth),
    }
    return pa.table(table | {name: [value] * items for name, value in columns.items()}), truth


def gold_of(table: pa.Table, truth: NDArray[np.int64], many: int) -> Gold:
    return Gold.of(dict(zip(table["item"].to_pylist()[:many], truth[:many].tolist(), strict=True)))


def audited(seed: int = 0, many: int = 400, **settings: Any) -> tuple[Audit, pa.Table]:
    table, truth = simulate(seed, **settings)
    return audit(table, gold_of(table, truth, many), resamples=200), table


def test_numbers_are_corrected() -> None:
    table, truth = simulate(1, errors=(0.3, 0.05))
    judgments = Judgments.from_table(table)
    (found,) = correct_targets(judgments, gold_of(table, truth, 300), ["share"])
    assert found.naive == pytest.approx(np.mean(table["label"].to_numpy()))
    assert found.low < truth.mean() < found.high < found.naive
    assert found.high - found.low < found.gold_high - found.gold_low
    assert found.valid


def test_gold_that_was_not_drawn_at_random_is_refused() -> None:
    table, truth = simulate(2)
    judgments, positive = Judgments.from_table(table), truth[:600] == 1
    chosen = dict(zip(np.array(table["item"])[:600], truth[:600], strict=True))
    kept = {item: int(value) for (item, value), yes in zip(chosen.items(), positive, strict=True)
            if yes or item.endswith("7")}  # fmt: skip
    (found,) = correct_targets(judgments, Gold.of(kept), ["share"])
    assert "not drawn at random" in found.refused


@pytest.mark.parametrize(
    ("shift", "gold", "refused"),
    [(0.0, 400, False), (0.3, 400, True), (0.0, 30, True)],
)
def test_slices_that_a_correction_does_not_carry_to(shift: float, gold: int, refused: bool) -> None:
    first, truth = simulate(3, items=1000)
    second, other = simulate(4, items=1000, start=1000, errors=(0.1 + shift, 0.1))
    table = pa.concat_tables([first, second])
    known = {**dict(zip(first["item"].to_pylist(), truth.tolist(), strict=True))}
    known |= dict(zip(second["item"].to_pylist()[:gold], other[:gold].tolist(), strict=True))
    judgments = Judgments.from_table(table)
    code = (np.arange(2000) >= 1000).astype(np.int32)
    found = check_transport(judgments, Gold.of(known).align(judgments), (("A", "B"), code))
    (one,) = (row for row in found if row.slice == "B")
    assert bool(one.refused) == refused
    assert one.differs == (shift > 0)
    if gold < 100:
        assert len(one.to_label) == one.needs - one.gold
        assert not set(one.to_label) & known.keys()
        assert all(int(item[1:]) >= 1000 for item in one.to_label)


def test_only_the_slice_whose_errors_differ_is_refused() -> None:
    """Four systems with 400 gold items each; the judge errs on the last one only."""
    parts = [
        simulate(20 + at, items=1000, start=1000 * at, errors=(0.4 if at == 3 else 0.1, 0.1))
        for at in range(4)
    ]
    judgments = Judgments.from_table(pa.concat_tables([table for table, _ in parts]))
    truth = np.concatenate([truth for _, truth in parts])
    given = {f"i{n}": int(truth[n]) for n in range(4000) if n % 1000 < 400}
    at = {f"i{n}": n // 1000 for n in range(4000)}
    code = np.array([at[item] for item in judgments.items.to_pylist()], dtype=np.int32)
    found = check_transport(judgments, Gold.of(given).align(judgments), (tuple("ABCD"), code))
    assert {one.slice: bool(one.refused) for one in found} == {
        "A": False, "B": False, "C": False, "D": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("errors", "verdict", "said"),
    [
        ((0.05, 0.05), "ready", "kappa"),
        ((0.2, 0.02), "ready with correction", "over-rates"),
        ((0.38, 0.1), "ready with correction", "over-rates"),
        ((0.33, 0.33), "not ready", "saves"),
        ((0.5, 0.5), "not ready", "kappa"),
    ],
)
def test_labels_worth_little_are_not_ready_with_correction(
    errors: tuple[float, float], verdict: str, said: str
) -> None:
    one = audited(6, 600, errors=errors, items=3000)[0]["gpt"]
    assert one.verdict == verdict
    assert said in one.reason


def test_labels_a_grade_too_low_are_not_ready_with_correction() -> None:
    """They rise with gold, as weighted kappa shows, but name the grade as seldom as chance."""
    random = np.random.default_rng(8)
    truth = random.integers(1, 6, 2000)
    label = np.clip(truth - random.choice(3, 2000, p=[0.15, 0.45, 0.4]), 1, 5)
    table = pa.table({"item": [f"i{n}" for n in range(2000)], "model": ["m"] * 2000,
                      "label": label})  # fmt: skip
    gold = Gold.of({f"i{n}": int(truth[n]) for n in range(500)})
    (one,) = audit(table, gold, resamples=200).judges
    assert one.kappa.low > 0.3
    assert one.verdict == "not ready"


@pytest.mark.parametrize(
    ("shift", "gold", "verdict", "named"),
    [
        (0.0, 600, "ready with correction", ""),
        (0.3, 600, "not ready", "A, B"),
        (0.0, 60, "not enough gold", "A, B"),
    ],
)
def test_a_correction_has_to_hold_in_every_slice(
    shift: float, gold: int, verdict: str, named: str
) -> None:
    parts = [simulate(9, system="A", errors=(0.25, 0.02)),
             simulate(10, start=1500, system="B", errors=(0.25 + shift, 0.02))]  # fmt: skip
    known = {
        item: int(value)
        for table, truth in parts
        for item, value in zip(table["item"].to_pylist()[:gold], truth[:gold], strict=True)
    }
    found = audit(pa.concat_tables([table for table, _ in parts]), Gold.of(known), resamples=200)
    assert found["gpt"].verdict == verdict
    assert named in found["gpt"].reason


def test_gold_that_one_judge_shows_not_to_be_random_corrects_no_judge() -> None:
    """A good judge shows it; of another, gold might be random as well as not."""
    table, truth = simulate(2, errors=(0.3, 0.02))
    other, _ = simulate(2, errors=(0.35, 0.05), model="llama")
    kept = {f"i{n}": int(truth[n]) for n in range(500) if truth[n] == 1 or n % 3 == 0}
    found = audit(pa.concat_tables([table, other]), Gold.of(kept), resamples=200)
    assert {row.code for row in found.corrected} == {"gold-not-random"}
    assert {one.verdict for one in found.judges} == {"not ready"}


def test_a_card_is_read_as_it_was_written(tmp_path: Path) -> None:
    found, _ = audited(prompt="grade", temperature="0")
    card = Card.of(found, rubric="Relevant or not.")
    card.write(tmp_path / "card.json")
    assert Card.read(tmp_path / "card.json") == card
    assert (card.judge, card.model, card.sampling) == ("gpt", "gpt", {"temperature": "0"})
    assert len(card.gold) == len(card.anchors) == 400
    assert card.measures["tnr"]["value"] == found["gpt"].scores["tnr"].value
    assert card.unbound == ("version",)
    (tmp_path / "old.json").write_text("{}")
    with pytest.raises(BadData) as caught:
        Card.read(tmp_path / "old.json")
    assert caught.value.code == "not-a-card"


@pytest.mark.parametrize(
    ("column", "value"),
    [("prompt", "grade again"), ("version", "2"), ("rubric", "new"), ("temperature", "1"),
     ("model", "llama")],
)  # fmt: skip
def test_a_stale_card_is_refused_by_name(column: str, value: str) -> None:
    bound = {"prompt": "grade", "version": "1", "rubric": "old", "temperature": "0"}
    found, table = audited(**bound)
    card = Card.of(found)
    at = table.column_names.index(column)
    changed = table.set_column(at, column, [[value] * len(table)])
    outcome = gate(changed, card, "kappa>=0.1")
    named = {"temperature": "sampling"}.get(column, column)
    assert [line.partition(":")[0] for line in outcome.stale] == [named]
    assert outcome.code == 3
    if column != "model":
        unknown = gate(table.drop_columns([column]), card, "kappa>=0.1")
        assert [line.partition(":")[0] for line in unknown.stale] == [named]
    assert gate(table, card, "kappa>=0.1").code == 0


def test_an_old_card_is_stale() -> None:
    found, table = audited()
    card, today = Card.of(found), date.today()
    assert gate(table, card, "kappa>=0.1", today=today + timedelta(days=200)).code == 3
    late = today + timedelta(days=200)
    assert gate(table, card, "kappa>=0.1", today=late, max_age=300).code == 0


@pytest.mark.parametrize(
    ("require", "code"),
    [
        ("kappa>=0.6,tnr>=0.8", 0),
        ("kappa>=0.6,tnr>=0.95", 1),
        ("kappa>=0.8", 3),
        ("recall:1>=0.8,over-rating<0.1", 0),
        ("share>0.5", 1),
        ("judge-shift<0.05,judge-shift>-0.05", 0),
    ],
)
def test_requirements_are_met_failed_or_open(require: str, code: int) -> None:
    found, table = audited(5)
    assert gate(table, Card.of(found), require, resamples=200).code == code


def test_without_new_items_the_system_is_not_measured() -> None:
    found, table = audited(5)
    outcome = gate(table.slice(0, 400), Card.of(found), "accuracy>=0.5,system-shift<0.2")
    assert [one.outcome for one in outcome.requirements] == ["passed", "cannot tell"]
    assert outcome.code == 3


def shifts_of(judge: tuple[float, float], system: tuple[float, float], attribution: str) -> Shifts:
    scores = [Score(name=f"{name}-shift", value=sum(ends) / 2, low=ends[0], high=ends[1])
              for name, ends in (("judge", judge), ("system", system))]  # fmt: skip
    return Shifts(anchors=100, judge=scores[0], by_class=(), system=scores[1], level=scores[1],
                  attribution=attribution)  # fmt: skip


@pytest.mark.parametrize(
    ("attribution", "possible"),
    [
        ("judge", ["system-shift"]),
        ("system", ["judge-shift"]),
        ("both", []),
        ("neither", ["judge-shift", "system-shift"]),
        ("", []),
    ],
)
def test_a_change_that_is_not_ruled_out_is_named_with_its_interval(
    attribution: str, possible: list[str]
) -> None:
    found = shifts_of((-0.011, 0.022), (-0.033, 0.044), attribution)
    assert [one.name for one in found.possible] == possible
    for name, ends in (("judge", "-0.011 to +0.022"), ("system", "-0.033 to +0.044")):
        assert (ends in found.sentence) == (f"{name}-shift" in possible)


def test_the_estimate_alone_decides_on_request() -> None:
    found, table = audited(5)
    outcome = gate(table, Card.of(found), "kappa>=0.79", by_estimate=True)
    assert outcome.code == (0 if found["gpt"].kappa.value >= 0.79 else 1)


def test_too_few_anchors_are_undecided() -> None:
    found, table = audited(5)
    fixed = Judgments.from_table(table.slice(0, 20))
    outcome = gate(table, Card.of(found), "judge-shift<0.5", anchors=fixed)
    assert outcome.code == 3
    assert outcome.requirements[0].reason == "needs 30 anchors, has 20"


@pytest.mark.parametrize("text", ["kappa", "kappa>=x", "", ">=1", "kappa==0.5"])
def test_requirements_that_cannot_be_read(text: str) -> None:
    with pytest.raises(BadSetting):
        parse_requirements(text)


@pytest.mark.parametrize("text", ["kapa>=0.5", "tnr>=0.5,f1>0.2"])
def test_a_measure_that_does_not_exist_is_refused_even_under_a_stale_card(text: str) -> None:
    found, table = audited(5)
    with pytest.raises(UnknownName):
        gate(table, Card.of(found), text, today=date.today() + timedelta(days=900))


def test_requirements_as_people_write_them() -> None:
    assert parse_requirements("kappa>=.6, nDCG@10(A-B) > 0,RBP(p=0.8)(A)<1") == [
        ("kappa", ">=", 0.6),
        ("nDCG@10(A-B)", ">", 0.0),
        ("RBP(p=0.8)(A)", "<", 1.0),
    ]


def test_a_difference_of_runs_is_required() -> None:
    random = np.random.default_rng(0)
    truth = (random.random((30, 20)) < 0.4).astype(int)
    wrong = random.random(truth.shape) < 0.1
    names = [(f"q{q}", f"d{d}") for q in range(30) for d in range(20)]
    table = pa.table(
        {
            "topic": [topic for topic, _ in names],
            "document": [document for _, document in names],
            "model": ["gpt"] * 600,
            "label": np.where(wrong, 1 - truth, truth).ravel(),
        }
    )
    gold = Gold.of({f"{q}/{d}": int(v) for (q, d), v in zip(names, truth.ravel(), strict=True)
                    if random.random() < 0.5})  # fmt: skip
    runs = []
    for name, noise in (("A", 0.3), ("B", 5.0)):
        score = (truth + noise * random.normal(size=truth.shape)).ravel()
        topics, documents = zip(*names, strict=True)
        columns = {"topic": topics, "document": documents, "score": score}
        runs.append(replace(Run.from_table(pa.table(columns)), name=name))
    card = Card.of(audit(table, gold, resamples=0))
    outcome = gate(table, card, "nDCG@10(A-B)>0,nDCG@10(B-A)>0,P@5(A)>0.5", runs=runs)
    assert [one.outcome for one in outcome.requirements] == ["passed", "failed", "passed"]
    with pytest.raises(UnknownName):
        gate(table, card, "nDCG@10(A-C)>0", runs=runs)
    with pytest.raises(BadSetting):
        gate(table, card, "nDCG@10(A-B)>0")
