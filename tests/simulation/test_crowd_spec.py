"""Who comes to judge: how many of which kind, what they see, and how visits end."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from adjudge.errors import BadSetting, Refused
from adjudge.simulation.behaviours import (
    Clicker,
    LabelSpammer,
    Sheet,
    SheetOutcome,
    SimulatedJudge,
    Stage,
)
from adjudge.simulation.crowd_spec import (
    CrowdSpec,
    _Colluder,
    _Dropout,
    _DroppedOut,
    _SimulatedTruths,
    make_truths,
    send_crowd,
)

LABELS = ("good", "bad", "ugly")


class OneRowDesk:
    """A client that gives each judge so many sheets of one row, and then no more."""

    def __init__(self, sheets: int = 3) -> None:
        self.left = sheets
        self.given: dict[str, list[str]] = {}
        self.threads: set[int] = set()

    def arrive(self, key: str) -> Stage:
        if key.endswith("-1"):
            raise Refused("not-open", "not open")
        self.given[key] = []
        return "working"

    def stage(self, key: str) -> Stage:
        return "finished" if len(self.given[key]) == self.left else "working"

    def sheet(self, key: str) -> Sheet:
        self.threads.add(threading.get_ident())
        return Sheet("work", (f"q\ntitle {len(self.given[key])}\ntext",), LABELS)

    def submit(self, key: str, sheet: Sheet, labels: list[str]) -> SheetOutcome:
        self.given[key] += labels
        return SheetOutcome(self.stage(key))

    def leave(self, key: str) -> None:
        pass


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("ethical(2):1", "ethical accuracy"),
        ("spamer:1", "kind of judge"),
    ],
)
def test_a_bad_population_is_refused(text: str, setting: str) -> None:
    with pytest.raises(BadSetting) as refused:
        CrowdSpec.parse(text)
    assert refused.value.setting == setting


def test_actors_are_of_their_kind_and_the_seed_makes_them_the_same() -> None:
    spec = CrowdSpec.parse("ethical(1):1,spammer:1,random:1,colluder:2,dropout:1")
    truths = _SimulatedTruths(3, {}, 0)
    sheet = Sheet("work", tuple(f"q\nt{place}\nx" for place in range(50)), LABELS)
    once, again = (spec.make_judges(truths, 3, np.random.default_rng(4)) for _ in range(2))
    kinds = [type(actor.behaviour) for actor in once]
    assert kinds[1:] == [LabelSpammer, Clicker, _Colluder, _Colluder, _Dropout]
    assert once[0].behaviour.answer(sheet) == [LABELS[truths[row]] for row in sheet.rows]
    for one, other in zip(once[:5], again[:5], strict=True):
        assert one.behaviour.answer(sheet) == other.behaviour.answer(sheet)
    assert once[3].behaviour.answer(sheet) == once[4].behaviour.answer(sheet)  # of one ring


def test_sight_knows_gold_and_makes_up_the_rest_for_everyone_alike() -> None:
    truths = make_truths(LABELS, {"q\nknown": "ugly", "q\nodd": "unheard of"}, seed=3)
    assert truths["q\nknown\nany text"] == 2
    texts = [f"q\ntitle {place}\ntext" for place in range(3000)]
    other = make_truths(LABELS, {}, seed=3)
    assert [truths[text] for text in texts] == [other[text] for text in texts]
    share = np.bincount([truths[text] for text in texts]) / 3000
    assert np.allclose(share, 1 / 3, atol=4 * (2 / 9 / 3000) ** 0.5)
    assert [make_truths(LABELS, {}, seed=4)[text] for text in texts] != [truths[t] for t in texts]


def test_a_dropout_leaves_with_an_open_sheet() -> None:
    client = OneRowDesk(sheets=9)
    leaves = SimulatedJudge(_Dropout(Clicker(np.random.default_rng(0)), 4))
    (ended,) = send_crowd(client, [leaves], ["dropout"], at_once=1)
    assert (ended.stage, ended.sheets, ended.gone) == ("working", 4, True)
    assert len(client.given["judge-0"]) == 4
    with pytest.raises(_DroppedOut):
        leaves.behaviour.answer(Sheet("work", ("x",), LABELS))


def test_visits_end_in_order_however_each_ends() -> None:
    client = OneRowDesk()
    judges = [SimulatedJudge(Clicker(np.random.default_rng(seed))) for seed in range(4)]
    reported: list[str] = []
    ended = send_crowd(
        client, judges, ["random"] * 4, at_once=4, on_end=lambda one: reported.append(one.key)
    )
    assert [one.key for one in ended] == [f"judge-{place}" for place in range(4)]
    assert [one.stage for one in ended] == ["finished", "not let in", "finished", "finished"]
    assert ended[1].problem == "not open"
    assert [one.sheets for one in ended] == [3, 0, 3, 3]
    assert sorted(reported) == [one.key for one in ended]
