"""The simulated crowd of the training paper, and how one arm is collected."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from adjudge.collect.rules.golds import GoldCard, choose_training
from adjudge.simulation.behaviours import Clicker, Ethical, LabelSpammer, Sheet, visit
from papers.training import (
    ACCURACY,
    ARMS,
    FALSE_ALARM,
    GOLDS,
    MIX,
    POLICY,
    PRECISION,
    RECALL,
    TABLE_1,
    TABLE_2,
    measure,
    server,
    trusted_judgments,
)
from papers.training.crowd import (
    LABELS,
    ArmCollection,
    Assumptions,
    Material,
    Shown,
    arrivals,
    make_material,
    run_experiment,
)

pytestmark = pytest.mark.slow


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_the_golds_meet_table_1() -> None:
    for arm, counts in GOLDS.items():
        assert sum(counts) in (150, 151)
        assert [100 * count / 150 for count in counts] == pytest.approx(TABLE_1[arm], abs=0.05)
    did, passed, failed = (TABLE_2[name] for name in list(TABLE_2)[1:4])
    assert [a - b for a, b in zip(did, passed, strict=True)] == failed


def test_the_pool_of_the_server_is_enough_for_every_arm() -> None:
    assert tuple(max(GOLDS[arm][place] for arm in ARMS) for place in range(4)) == server.POOL
    cards = [
        GoldCard((label, number), number, label)
        for label, count in zip(LABELS, server.POOL, strict=True)
        for number in range(count)
    ]
    for shares in TABLE_1.values():
        mix = dict(zip(LABELS, shares, strict=True))
        chosen = choose_training(cards, 20, mix, rng())
        for label, share in mix.items():
            count = sum(name == label for name, _ in chosen)
            assert abs(count - 20 * share / sum(shares)) < 1


def test_the_material_has_the_mix_exactly() -> None:
    made = make_material(256, MIX, GOLDS, rng())
    counts = dict(zip(LABELS, (186, 1058, 32, 4), strict=True))
    assert Counter(item.truth for item in made.items) == counts
    assert len({item.query for item in made.items}) == 256
    assert Counter(gold.truth for gold in made.golds["5"])["Not Matching"] == 126


def test_those_who_come_are_as_assumed() -> None:
    comers = arrivals(Assumptions(anchoring=(0.2, 0.4)), {}, rng(1))
    came = [next(comers) for _ in range(2000)]
    kinds = Counter(type(actor.behaviour) for actor in came)
    for kind, share in ((Ethical, 0.8), (LabelSpammer, 0.1), (Clicker, 0.1)):
        assert kinds[kind] / 2000 == pytest.approx(share, abs=0.03)
    ethical = [actor.behaviour for actor in came if isinstance(actor.behaviour, Ethical)]
    strengths = [judge.anchoring for judge in ethical]
    assert 0.2 <= min(strengths) < 0.22 < 0.38 < max(strengths) <= 0.4
    mean = np.mean([judge.confusion for judge in ethical], axis=0)
    np.testing.assert_allclose(mean, Assumptions().confusion, atol=0.02)
    assert np.mean([actor.patience.training == 0 for actor in came]) == pytest.approx(0.4, abs=0.04)
    assert np.mean([actor.patience.pages for actor in came]) == pytest.approx(15, abs=1.2)


def test_an_experiment_ends_with_five_trusted_judgments_per_item() -> None:
    golds = {arm: GOLDS[arm] for arm in ("1", "5")}
    made, arms = run_experiment(POLICY, Assumptions(), golds, queries=20, mix=MIX, seed=3)
    _, again = run_experiment(POLICY, Assumptions(), golds, queries=20, mix=MIX, seed=3)
    assert len(made.items) == 100
    for arm, collection in arms.items():
        judgments = trusted_judgments(collection)
        np.testing.assert_array_equal(judgments.counts_per_item, np.full(100, 5))
        assert trusted_judgments(again[arm]).to_table().equals(judgments.to_table())
        pairs = judgments.item * judgments.judge_count + judgments.judge
        assert len(np.unique(pairs)) == len(judgments)  # nobody judges an item twice
        for judge in collection.judges.values():
            if judge.items and judge.stage == "blocked":
                assert judge.record.right < POLICY.block_below * judge.record.seen


GOLD = {f"gold {n}": ("Not Matching" if n % 6 else "Matching") for n in range(150)}


@pytest.fixture
def collection() -> ArmCollection:
    items = tuple(Shown(f"item {n}", f"query {n // 5}", "Matching") for n in range(200))
    golds = tuple(Shown(text, f"for {text}", truth) for text, truth in GOLD.items())
    found = ArmCollection(Material(items, {"a": golds}), "a", POLICY, rng(5))
    assert found.arrive("j") == "training"
    return found


def trained(collection: ArmCollection) -> Sheet | None:
    """The first page of work, after a training without mistakes."""
    while (sheet := collection.sheet("j")) is not None and sheet.kind == "training":
        collection.submit("j", sheet, [GOLD[sheet.rows[0]]])
    return sheet


def test_training_goes_pair_by_pair_and_fails_those_below_the_threshold(
    collection: ArmCollection,
) -> None:
    for done in range(20):
        sheet = collection.sheet("j")
        assert sheet is not None
        assert (sheet.kind, len(sheet.rows)) == ("training", 1)
        right = GOLD[sheet.rows[0]]
        outcome = collection.submit("j", sheet, [right if done < 11 else "Spam"])
        assert [one.right for one in outcome.feedback] == [done < 11]
        assert outcome.feedback[0].accepted == (right,)
    assert outcome.stage == "failed"  # 11 of 20 is below .6
    assert collection.sheet("j") is None


def test_pages_have_five_golds_in_twenty_five_and_report_only_misses(
    collection: ArmCollection,
) -> None:
    sheet, seen = trained(collection), []
    for _ in range(4):
        assert sheet is not None
        golds = [row for row in sheet.rows if row in GOLD]
        assert (len(sheet.rows), len(golds)) == (25, 5)
        seen += golds
        labels = ["Spam" if row == golds[0] else GOLD.get(row, "Matching") for row in sheet.rows]
        outcome = collection.submit("j", sheet, labels)
        assert [sheet.rows[one.row] for one in outcome.feedback] == [golds[0]]
        assert outcome.stage == "working"  # 4 of 5 right
        sheet = collection.sheet("j")
    assert len(set(seen)) == 20  # no gold twice
    assert collection.trusted.sum() == 80


def test_a_blocked_judge_loses_their_judgments_and_items_reopen(collection: ArmCollection) -> None:
    sheet, stages = trained(collection), []
    while sheet is not None:
        stages.append(collection.submit("j", sheet, ["Spam"] * len(sheet.rows)).stage)
        sheet = collection.sheet("j")
    assert stages == ["warned", "blocked"]  # never without a warning
    assert collection.trusted.sum() == 0
    assert not collection.full


def test_spammers_pass_where_one_label_dominates_and_fail_where_none_does() -> None:
    passed = {}
    made = make_material(40, MIX, GOLDS, rng(1))
    spammers = Assumptions(spammers=1.0, clickers=0.0, leaving=0.0)
    for arm in ("3", "5"):
        collection = ArmCollection(made, arm, POLICY, rng(2))
        comers = arrivals(spammers, {}, rng(3))
        for number in range(40):
            steps = visit(next(comers), collection, f"j{number}")
            while next(steps, None) == "training":
                pass
        passed[arm] = np.mean([judge.stage != "failed" for judge in collection.judges.values()])
    assert passed["5"] > 0.9
    assert passed["3"] < 0.35


def test_measures_by_hand() -> None:
    found = measure(np.array([1, 1, 1, 0, 2]), np.array([1, 1, 0, 1, 2]))
    third = pytest.approx(2 / 3)
    assert found == {ACCURACY: 0.6, PRECISION: third, RECALL: third, FALSE_ALARM: 0.5}
    never = measure(np.array([0, 0]), np.array([1, 0]))
    assert np.isnan(never[PRECISION])
    assert never[RECALL] == never[FALSE_ALARM] == 0
    assert np.isnan(measure(np.array([1, 0]), np.array([1, 1]))[FALSE_ALARM])
