"""The table of judges: bias by hand and against simulation, gold, honeypots, what is lacking."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from adjudge import Gold, HybridConfusion, Judgments, Scale
from adjudge.evaluation.diagnosis._confusions import find_commonest, measure_confusions
from adjudge.evaluation.diagnosis._evidence import Skill
from adjudge.evaluation.diagnosis.advice import ADVICE, Limits
from adjudge.evaluation.diagnosis.judge_tables import (
    _advise,
    _Evidence,
    _measure_bias,
    feature_table,
    list_judges,
)
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
    # Graded labels under a binary truth: only a label of the other truth is a shift, and a
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
    simulated = crowd.make(2)
    _, low, high = _measure_bias(EM.fit(simulated.judgments, simulated.gold))
    shift = np.arange(3)[None, :] - np.arange(3)[:, None]
    truth = np.bincount(simulated.truth.value, minlength=3) / 3000
    real = np.einsum("k,jkl,kl->j", truth, simulated.confusion, shift)
    assert ((low <= real) & (real <= high)).mean() == pytest.approx(0.9, abs=0.07)


def test_the_table_has_what_was_promised() -> None:
    simulated = demo()
    consensus = EM.fit(simulated.judgments)
    table, notes = list_judges(
        *(consensus, simulated.gold, measure_confusions(consensus)),
        *(find_commonest(consensus.counts, consensus.scale), Limits(), {}),
    )
    before = consensus.judges.to_table()
    assert table.select(before.column_names).equals(before)
    assert table.column_names[len(before.column_names) :] == [
        *("p_chance", "skill", "skill_low", "skill_high", "bias_low", "bias_high"),
        *("mistake_truth", "mistake_label", "mistake_rate", "mistake_low", "mistake_high"),
        *("seconds", "gold_judgments", "gold_accuracy", "gold_low", "gold_high"),
        *("honeypot_judgments", "honeypot_accuracy", "honeypot_low", "honeypot_high"),
        *("advice", "why"),
    ]
    known = dict(zip(simulated.gold.items.to_pylist(), simulated.gold.texts(), strict=True))
    traps = set(simulated.gold.select(simulated.gold.honeypot).items.to_pylist())
    rows = simulated.judgments.to_table().to_pylist()
    mine = [row for row in rows if row["judge"] == "judge-0003" and row["item"] in known]
    (card,) = [row for row in table.to_pylist() if row["judge"] == "judge-0003"]
    graded = [row for row in mine if row["item"] not in traps]
    assert card["gold_judgments"] == len(graded)
    hits = [row["label"] == known[row["item"]] for row in graded]
    assert card["gold_accuracy"] == pytest.approx(np.mean(hits))
    assert card["gold_low"] < card["gold_accuracy"] < card["gold_high"]
    assert card["honeypot_judgments"] == len(mine) - len(graded)
    assert [note.split(":")[0] for note in notes] == ["no draws"]


def test_intervals_hold_their_share_and_medians_are_medians() -> None:
    simulated = demo()
    table = feature_table(simulated.judgments, simulated.gold).to_pylist()
    for row in table:
        if row["graded-accuracy-gold"] is not None and 0 < row["graded-accuracy-gold"] < 1:
            low, high = row["graded-accuracy-gold_low"], row["graded-accuracy-gold_high"]
            assert low < row["graded-accuracy-gold"] < high
    rows = {"item": ["a", "b"], "judge": ["x", "y"], "label": [0, 1]}
    row = feature_table(Judgments.from_table(rows), Gold.of({"a": 0})).to_pylist()[1]
    assert row["graded-accuracy-gold"] is row["graded-accuracy-gold_low"] is None
    assert row["graded-accuracy-gold_count"] == 0


GOOD: dict[str, Any] = {
    "gold": 0,
    "gold_right": (0.0, 0.0, 1.0),
    "judgments": 40,
    "accuracy": (0.86, 0.81, 0.91),
    "bits": 0.75,
    "skill": (0.72, 0.65, 0.79),
    "p_chance": 0.0,
    "p_useless": 0.0,
    "bias": (0.05, -0.05, 0.15),
    "mistake": (0.12, 0.06, 0.2),
    "usual": 0.1,
    "favoured": 0.4,
    "deserved": 0.4,
}


def advice_on(limits: Limits, **changed: Any) -> tuple[str, str]:
    """The advice on a good judge of whom something is changed."""
    case = {"shared": changed.get("judgments", 40), **GOOD, **changed}
    column = {name: np.array(value, dtype=np.float64)[..., None] for name, value in case.items()}
    value, low, high = column.pop("skill")
    chances = {name: column.pop(name) for name in ("p_chance", "p_useless")}
    found = _Evidence(
        skill=Skill(value=value, low=low, high=high, **chances),
        confused=[("Fair", "Good")],
        favourite=["Good"],
        **column,
    )
    (advice,), (why,) = _advise(found, limits)
    assert advice in ADVICE
    return advice, why


NEAR = {"skill": (0.15, -0.02, 0.3), "p_useless": 0.4, "p_chance": 0.1}
SPAM = {"skill": (-0.001, -0.1, 0.1), "p_useless": 0.9, "p_chance": 0.5}
LAZY = {"skill": (0.12, 0.0, 0.2), "p_useless": 0.4, "p_chance": 0.01, "favoured": 0.95}
REVERSE = {"skill": (-0.5, -0.6, -0.4), "p_useless": 1.0, "p_chance": 1.0}
OFTEN = {"mistake": (0.31, 0.22, 0.4)}
WEAK = {"skill": (0.12, 0.02, 0.22), "p_useless": 0.4}
FEW = {"gold": 163, "gold_right": (0.17, 0.13, 0.23), "shared": 0}
MOST = {"gold": 31, "gold_right": (0.94, 0.84, 0.98), "shared": 0}


@pytest.mark.parametrize(
    ("limits", "changed", "advice", "why"),
    [
        ({}, {}, "keep", "86% (81% to 91%)"),
        ({}, {"judgments": 1}, "watch", "1 judgment"),
        ({}, {"judgments": 9}, "watch", "9 judgments"),
        ({}, {"judgments": 200, "shared": 9}, "watch", "200 judgments, 9 of them"),
        ({}, {"judgments": 10}, "keep", ""),
        ({}, NEAR, "watch", "skill 0.15 (-0.02 to 0.30)"),
        ({}, SPAM, "drop", "skill 0.00 (-0.10 to 0.10)"),
        ({}, {**SPAM, "favoured": 0.97}, "drop", "gave Good in 97% of judgments"),
        ({}, REVERSE, "drop", "worse than chance: skill -0.50"),
        ({}, LAZY, "drop", ""),
        # 38 of 40 by an average judge who gives it in 85%: nothing out of the way.
        ({}, {**LAZY, "deserved": 0.85}, "watch", ""),
        ({"single": 0.96}, LAZY, "watch", ""),
        ({}, {"favoured": 0.95}, "keep", ""),  # clearly useful, all the same
        ({}, OFTEN, "train", "Fair as Good in 31% (22% to 40%)"),
        ({}, {**OFTEN, "usual": 0.15}, "keep", ""),  # all do: a matter for the guidelines
        ({}, {"mistake": (0.24, 0.22, 0.26)}, "keep", ""),
        ({}, {"bias": (-0.4, -0.5, -0.3)}, "train", "0.40 (0.30 to 0.50) grades too low"),
        ({}, {"bias": (0.4, -0.1, 0.9)}, "keep", ""),
        ({}, {"bias": (np.nan,) * 3, "mistake": (np.nan,) * 3}, "keep", ""),
        # Near chance, but surely above it, and the mistake is plain: they can be taught.
        ({}, {**OFTEN, **WEAK, "p_chance": 0.02}, "train", ""),
        ({}, {**OFTEN, **WEAK, "p_chance": 0.06}, "watch", ""),
        ({}, {**SPAM, **FEW}, "drop", "right on 17% (13% to 23%) of 163 gold items;"),
        ({}, MOST, "keep", "right on 94% (84% to 98%) of 31 gold items;"),
        # Right on most gold by giving the commonest label only: not a reason to drop.
        ({}, {**SPAM, **MOST}, "watch", ""),
        ({}, {**LAZY, **MOST, "p_chance": 0.1}, "watch", ""),
        ({"least": 32}, MOST, "watch", ""),  # too few gold judgments to decide
        ({"least": 50}, {}, "watch", ""),
        ({"mistake": 0.1, "excess": 0.0}, {"usual": 0.05}, "train", ""),
        ({"drop": 0.3}, {"p_useless": 0.3}, "drop", ""),
        ({"bias": 0.05}, {"bias": (0.05, 0.01, 0.09)}, "train", ""),
    ],
)
def test_advice(limits: dict[str, Any], changed: dict[str, Any], advice: str, why: str) -> None:
    found = advice_on(Limits(**limits), **changed)
    assert found[0] == advice
    assert why in found[1]


@pytest.mark.parametrize("advice", ADVICE)
def test_who_is_flagged_is_watched_at_best(advice: str) -> None:
    worst = "drop" if advice == "drop" else "watch"
    assert Limits.heed_flags(advice, "why", ("fast",)) == (worst, "fast; why")
    assert Limits.heed_flags(advice, "why", ()) == (advice, "why")
