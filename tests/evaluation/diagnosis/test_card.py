"""The table of judges: bias by hand and against simulation, gold, honeypots, what is lacking."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from adjudge import Gold, HybridConfusion, Judgments, MajorityVote, Scale
from adjudge.evaluation.diagnosis._confusions import find_commonest, measure_confusions
from adjudge.evaluation.diagnosis.advice import Limits
from adjudge.evaluation.diagnosis.judge_tables import _measure_bias, list_judges
from adjudge.simulation import Crowd, Population, demo

EM = HybridConfusion(method="em")


def of_labels(scale: Scale, truth: list[str], **judges: list[str]) -> tuple[Judgments, Gold]:
    rows = [(f"i{n}", j, label) for j, labels in judges.items() for n, label in enumerate(labels)]
    items, names, labels_ = zip(*rows, strict=True)
    table = pa.table({"item": list(items), "judge": list(names), "label": list(labels_)})
    known = Gold.of({f"i{n}": value for n, value in enumerate(truth)})
    return Judgments.from_table(table, scale=scale), known


def test_bias_by_hand() -> None:
    judgments, gold = of_labels(
        Scale.parse("0<1<2"),
        list("0112"),
        kind=list("1212"),
        strict=list("0001"),
        fair=list("0112"),
    )
    value, low, high = _measure_bias(EM.fit(judgments, gold))
    assert value == pytest.approx([2 / 4, -3 / 4, 0.0], abs=1e-6)
    assert (low < value).all()
    assert (value < high).all()
    # Of four judgments, with half a one more to each side: sqrt(((2 + 1) / 5 - 1 / 4) / 6).
    assert high[0] - value[0] == pytest.approx(1.6449 * np.sqrt((3 / 5 - 1 / 4) / 6), rel=1e-3)


def test_bias_of_two_truths_and_of_none() -> None:
    binary = Scale.parse("0<1")
    judgments, gold = of_labels(binary, list("0011"), x=list("0111"))
    assert _measure_bias(EM.fit(judgments, gold))[0] == pytest.approx([0.25], abs=1e-6)
    plain = Scale.parse("cat,cow,dog")
    judgments, gold = of_labels(plain, ["cat", "dog"], x=["cat", "cow"])
    assert np.isnan(_measure_bias(EM.fit(judgments, gold))).all()
    # Graded labels under a binary truth: only what stands for the other truth is a shift, and a
    # label that is no grade (-2) is left out.
    graded = Scale.infer(["-2", "0", "1", "2"]).with_binary_truth()
    judgments, gold = of_labels(graded, list("0011"), x=["-2", "2", "1", "2"])
    assert _measure_bias(EM.fit(judgments, gold))[0] == pytest.approx([1 / 3], abs=1e-6)


def test_bias_intervals_cover() -> None:
    crowd = Crowd(
        items=3000,
        population=Population.parse("biased(1):40,biased(-1):40,skilled:40"),
        scale=Scale.parse("0<1<2"),
        per_item=4,
        gold=1.0,
    )
    made = crowd.make(2)
    _, low, high = _measure_bias(EM.fit(made.judgments, made.gold))
    shift = np.arange(3)[None, :] - np.arange(3)[:, None]
    truth = np.bincount(made.truth.value, minlength=3) / 3000
    real = np.einsum("k,jkl,kl->j", truth, made.confusion, shift)
    assert ((low <= real) & (real <= high)).mean() == pytest.approx(0.9, abs=0.07)


def test_bias_from_draws_and_from_counts() -> None:
    judgments = demo().judgments
    sampled = HybridConfusion(chains=2, warmup=100, draws=200, thin=1, seed=3).fit(judgments)
    drawn, counted = _measure_bias(sampled), _measure_bias(EM.fit(judgments))
    much = judgments.counts_per_judge >= 100
    assert drawn[:, much] == pytest.approx(counted[:, much], abs=0.12)
    assert drawn[0] == pytest.approx(sampled.judges["bias"].to_numpy(), abs=0.02)


def test_the_table_has_what_was_promised() -> None:
    made = demo()
    consensus = EM.fit(made.judgments)
    table, notes = list_judges(
        *(consensus, made.gold, measure_confusions(consensus)),
        *(find_commonest(consensus.counts, consensus.scale), Limits(), {}),
    )
    before = consensus.judges
    assert table.select(before.column_names).equals(before)
    assert table.column_names[len(before.column_names) :] == [
        *("p_chance", "skill", "skill_low", "skill_high", "bias_low", "bias_high"),
        *("mistake_truth", "mistake_label", "mistake_rate", "mistake_low", "mistake_high"),
        *("seconds", "gold_judgments", "gold_accuracy", "gold_low", "gold_high"),
        *("honeypot_judgments", "honeypot_accuracy", "honeypot_low", "honeypot_high"),
        *("advice", "why"),
    ]
    known = dict(zip(made.gold.items.to_pylist(), made.gold.texts(), strict=True))
    traps = set(made.gold.select(made.gold.honeypot).items.to_pylist())
    rows = made.judgments.to_table().to_pylist()
    mine = [row for row in rows if row["judge"] == "judge-0003" and row["item"] in known]
    (card,) = [row for row in table.to_pylist() if row["judge"] == "judge-0003"]
    graded = [row for row in mine if row["item"] not in traps]
    assert card["gold_judgments"] == len(graded)
    hits = [row["label"] == known[row["item"]] for row in graded]
    assert card["gold_accuracy"] == pytest.approx(np.mean(hits))
    assert card["gold_low"] < card["gold_accuracy"] < card["gold_high"]
    assert card["honeypot_judgments"] == len(mine) - len(graded)
    assert [note.split(":")[0] for note in notes] == ["no draws"]


def test_what_is_lacking_is_told() -> None:
    judgments, _ = of_labels(Scale.parse("0<1"), list("01"), x=list("01"), y=list("01"))
    consensus = MajorityVote().fit(judgments)
    table, notes = list_judges(
        *(consensus, None, measure_confusions(consensus)),
        *(find_commonest(consensus.counts, consensus.scale), Limits(), {}),
    )
    assert not {"seconds", "gold_accuracy"} & set(table.column_names)
    assert table["mistake_truth"].to_pylist() == [None, None]
    assert table["mistake_rate"].to_pylist() == [None, None]
    assert notes == (
        "no seconds: how long judges take is not known; a column 'seconds' adds it",
        "no gold: how judges do on items of known truth is not known; gold adds it",
        "no draws: intervals know how few judgments there are, not how unsure the truth is; "
        "a sampled model such as hierarchical-confusion adds that",
        "in majority-vote a judge's own judgment counts towards what is held for true, which "
        "flatters judges; a model of confusion such as item-types does not",
    )
