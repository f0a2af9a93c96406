"""The advice: each rule and each sentence by hand, and settings that cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adjudge.errors import BadSetting
from adjudge.evaluation.diagnosis._evidence import Skill
from adjudge.evaluation.diagnosis.advice import ADVICE, Limits
from adjudge.evaluation.diagnosis.judge_tables import _advise, _Evidence

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


def advice_on(limits: Limits | None = None, **changed: Any) -> tuple[str, str]:
    """The advice on a good judge of whom something is changed."""
    case = {**GOOD, **changed}

    def column(name: str) -> np.ndarray:
        return np.array([case[name]], dtype=np.float64)

    def three(name: str) -> np.ndarray:
        return np.array(case[name], dtype=np.float64)[:, None]

    value, low, high = three("skill")
    found = _Evidence(
        gold=np.array([case["gold"]]),
        gold_right=three("gold_right"),
        judgments=np.array([case["judgments"]]),
        told=np.array([case.get("told", case["judgments"])]),
        accuracy=three("accuracy"),
        bits=column("bits"),
        skill=Skill(
            value=value,
            low=low,
            high=high,
            p_chance=column("p_chance"),
            p_useless=column("p_useless"),
        ),
        bias=three("bias"),
        mistake=three("mistake"),
        usual=column("usual"),
        confused=[("Fair", "Good")],
        favourite=["Good"],
        favoured=column("favoured"),
        deserved=column("deserved"),
    )
    (advice,), (why,) = _advise(found, limits or Limits())
    assert advice in ADVICE
    return advice, why


def test_keep() -> None:
    assert advice_on() == ("keep", "right in 86% (81% to 91%); 0.75 bits per judgment")


def test_watch() -> None:
    assert advice_on(judgments=1) == ("watch", "1 judgment: too few to say")
    assert advice_on(judgments=9)[0] == "watch"
    alone = "200 judgments, 9 of them on items that others judged: too few to say"
    assert advice_on(judgments=200, told=9) == ("watch", alone)
    assert advice_on(judgments=10)[0] == "keep"
    near = {"skill": (0.15, -0.02, 0.3), "p_useless": 0.4, "p_chance": 0.1}
    assert advice_on(**near) == (
        "watch",
        "too near to chance to say: skill 0.15 (-0.02 to 0.30), where 0 is chance and 1 perfect; "
        "40 judgments",
    )


def test_drop() -> None:
    spam = {"skill": (-0.001, -0.1, 0.1), "p_useless": 0.9, "p_chance": 0.5}
    assert advice_on(**spam) == (
        "drop",
        "hardly better than chance: skill 0.00 (-0.10 to 0.10), where 0 is chance and 1 perfect; "
        "40 judgments",
    )
    assert advice_on(**spam, favoured=0.97, judgments=1234)[1].endswith(
        "; gave Good in 97% of judgments; 1,234 judgments"
    )
    reverse = {"skill": (-0.5, -0.6, -0.4), "p_useless": 1.0, "p_chance": 1.0}
    assert advice_on(**reverse) == (
        "drop",
        "worse than chance: skill -0.50 (-0.60 to -0.40), where 0 is chance and 1 perfect; "
        "40 judgments; the scale may have been read the wrong way round: ask before you drop",
    )


def test_one_label_only() -> None:
    lazy = {"skill": (0.12, 0.0, 0.2), "p_useless": 0.4, "p_chance": 0.01, "favoured": 0.95}
    assert advice_on(**lazy)[0] == "drop"
    # 38 of 40 by an average judge who gives it in 85%: nothing out of the way.
    assert advice_on(**lazy, deserved=0.85)[0] == "watch"
    assert advice_on(Limits(single=0.96), **lazy)[0] == "watch"
    assert advice_on(favoured=0.95)[0] == "keep"  # clearly useful, all the same


def test_train() -> None:
    often = {"mistake": (0.31, 0.22, 0.4)}
    assert advice_on(**often) == (
        "train",
        "rates Fair as Good in 31% (22% to 40%) of cases; all judges together in 10%",
    )
    assert advice_on(**often, usual=0.15)[0] == "keep"  # all do: a matter for the guidelines
    assert advice_on(mistake=(0.24, 0.22, 0.26))[0] == "keep"
    assert advice_on(bias=(-0.4, -0.5, -0.3)) == (
        "train",
        "rates 0.40 (0.30 to 0.50) grades too low on average",
    )
    assert advice_on(bias=(0.4, -0.1, 0.9))[0] == "keep"
    assert advice_on(bias=(np.nan,) * 3, mistake=(np.nan,) * 3)[0] == "keep"
    # Near chance, but surely above it, and the mistake is plain: she can be taught.
    weak = {"skill": (0.12, 0.02, 0.22), "p_useless": 0.4}
    assert advice_on(**often, **weak, p_chance=0.02)[0] == "train"
    assert advice_on(**often, **weak, p_chance=0.06)[0] == "watch"


def test_gold_decides_with_enough_gold_judgments() -> None:
    useless = {"skill": (-0.001, -0.1, 0.1), "p_useless": 0.9, "p_chance": 0.5}
    few = {"gold": 163, "gold_right": (0.17, 0.13, 0.23), "told": 0}
    assert advice_on(**useless, **few)[0] == "drop"
    assert advice_on(**useless, **few)[1].startswith("right on 17% (13% to 23%) of 163 gold items;")
    most = {"gold": 31, "gold_right": (0.94, 0.84, 0.98), "told": 0}
    assert advice_on(**most)[0] == "keep"
    assert advice_on(**most)[1].startswith("right on 94% (84% to 98%) of 31 gold items;")
    # Right on most gold by giving the commonest label only: not a reason to drop.
    assert advice_on(**useless, **most)[0] == "watch"
    lazy = {"skill": (0.12, 0.0, 0.2), "p_useless": 0.4, "p_chance": 0.1, "favoured": 0.95}
    assert advice_on(**lazy, **most)[0] == "watch"
    assert advice_on(Limits(least=32), **most)[0] == "watch", "too few gold judgments to decide"


def test_who_is_flagged_is_watched_at_best() -> None:
    fast = ("0.2 seconds per item",)
    assert Limits.heed_flags("keep", "right", fast) == ("watch", "0.2 seconds per item; right")
    assert Limits.heed_flags("train", "leans", fast)[0] == "watch"
    assert Limits.heed_flags("watch", "few", fast)[0] == "watch"
    assert Limits.heed_flags("drop", "chance", fast)[0] == "drop"
    assert Limits.heed_flags("keep", "right", ()) == ("keep", "right")


def test_limits_move_the_advice() -> None:
    assert advice_on(Limits(least=50))[0] == "watch"
    assert advice_on(Limits(mistake=0.1, excess=0.0), usual=0.05)[0] == "train"
    assert advice_on(Limits(drop=0.3, doubt=0.1), p_useless=0.3)[0] == "drop"
    assert advice_on(Limits(bias=0.05), bias=(0.05, 0.01, 0.09))[0] == "train"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"least": -1}, "least = -1: wanted a number of judgments, 0 or more"),
        ({"useful": 1.5}, "useful = 1.5: wanted a share from 0 to 1"),
        ({"excess": -0.1}, "excess = -0.1: wanted a share from 0 to 1"),
        ({"single": 2}, "single = 2: wanted a share from 0 to 1"),
        ({"doubt": 0.8}, "doubt = 0.8: wanted no more than drop, 0.75"),
        ({"bias": float("nan")}, "bias = nan: wanted a number of grades, 0 or more"),
    ],
)
def test_limits_that_cannot_be(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(BadSetting) as error:
        Limits(**settings)
    assert str(error.value) == message
