"""Flags: known answers, the same figures by a plain loop, and made crowds with their rates."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.collect.rules.flagging import JudgeFacts, WorkAnswers, _measure_agreement, flag_judges
from adjudge.collect.rules.policy import Policy

LABELS = ("a", "b", "c", "d")


def work_of(rows: list[tuple[int, int, int]]) -> WorkAnswers:
    judge, item, label = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return WorkAnswers(judge=judge, item=item, label=label)


def facts_of(judges: int, *, pace: float = 8.0, seen: int = 0, right: int = 0) -> JudgeFacts:
    return JudgeFacts(
        pace=np.full(judges, pace),
        pages=np.full(judges, 3),
        gold_seen=np.full(judges, seen),
        gold_right=np.full(judges, right),
    )


def test_too_fast_to_have_read() -> None:
    facts = facts_of(4)
    facts.pace[:] = [0.1, 0.6, np.nan, 0.49]
    found = flag_judges(work_of([]), facts, [Policy()] * 4, LABELS)
    assert [[flag.rule for flag in flags] for flags in found] == [["speed"], [], [], ["speed"]]
    assert found[0][0].reason.startswith("0.1 seconds per item (median of 3 pages), below 0.5")
    off = flag_judges(work_of([]), facts, [Policy(flag_seconds=0.0)] * 4, LABELS)
    assert off == [()] * 4


def test_one_label_where_others_differ_and_not_where_they_do_not() -> None:
    rows = []
    for item in range(60):
        truth = item % 2
        rows += [(0, item, 0), (1, item, truth), (2, item, truth)]
        rows += [(3, 100 + item, 0), (4, 100 + item, 0), (5, 100 + item, int(item == 7))]
    found = flag_judges(work_of(rows), facts_of(6), [Policy()] * 6, ("a", "b"))
    rules = [{flag.rule for flag in flags} for flags in found]
    assert "one-label" in rules[0]
    assert not any("one-label" in rule for rule in rules[1:])
    assert found[0][0].reason == "a on 100% of 60 results; others gave it on 50% of the same"
    few = [Policy(flag_least=61)] * 6
    assert flag_judges(work_of(rows), facts_of(6), few, ("a", "b")) == [()] * 6


answers = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 7), st.integers(0, 2)),
    unique_by=lambda row: row[:2],
    max_size=40,
)


@given(answers)
def test_agreement_is_that_of_a_plain_loop(rows: list[tuple[int, int, int]]) -> None:
    separate = _measure_agreement(work_of(rows), 5, 3)
    by_item: dict[int, dict[int, int]] = {}
    for judge, item, label in rows:
        by_item.setdefault(item, {})[judge] = label
    alike = [a == b for given in by_item.values() for a, b in combinations(given.values(), 2)]
    usual = float(np.mean(alike)) if alike else 0.0
    for judge in range(5):
        agrees, others = [], []
        for given_labels in by_item.values():
            rest = [label for who, label in given_labels.items() if who != judge]
            if judge not in given_labels or not rest:
                continue
            agrees.append(np.mean([label == given_labels[judge] for label in rest]))
            pairs = [one == two for one, two in combinations(rest, 2)]
            others.append(np.mean(pairs) if pairs else usual)
        assert separate.answers[judge] == len(agrees)
        if agrees:
            assert separate.agrees[judge] == pytest.approx(np.mean(agrees))
            assert separate.others[judge] == pytest.approx(np.mean(others))
            assert separate.error[judge] == pytest.approx(np.std(agrees) / len(agrees) ** 0.5)
            assert separate.given[judge].sum() == pytest.approx(1)
            assert separate.around[judge].sum() == pytest.approx(1)


def crowd(kind: str, share: float, *, prior: tuple[float, ...], answers: int, seed: int) -> tuple:  # type: ignore[type-arg]
    """A crowd of 100, five judgments an item, a fifth of the items hard; who is of which kind.

    Honest judges are right on 65% to 95% of gold. The others have 93% to 100% of gold right and
    answer work at random (``random``), by the mix of labels (``mix``) or with the first label.
    """
    rng = np.random.default_rng(seed)
    labels, judges, each = len(prior), 100, 5
    items = judges * answers // each
    truth, hard = rng.choice(labels, items, p=prior), rng.random(items) < 0.2
    judge = np.repeat(np.arange(judges), answers)
    item = np.concatenate([rng.permutation(items) for _ in range(each)])[: len(judge)]
    _, once = np.unique(judge * items + item, return_index=True)
    judge, item = judge[once], item[once]
    bad = rng.random(judges) < share
    skill = np.where(bad, rng.uniform(0.93, 1, judges), rng.uniform(0.65, 0.95, judges))
    right = 1 / labels + (skill[judge] - 1 / labels) * np.where(hard[item], 0.5, 1.0)
    wrong = (truth[item] + rng.integers(1, labels, len(item))) % labels
    label = np.where(rng.random(len(item)) < right, truth[item], wrong)
    made = {
        "random": rng.integers(0, labels, len(item)),
        "mix": rng.choice(labels, len(item), p=prior),
        "one label": np.zeros(len(item), dtype=np.int64),
    }[kind]
    label = np.where(bad[judge], made, label)
    seen = np.full(judges, answers // 4)
    facts = JudgeFacts(
        pace=rng.uniform(0.8, 20, judges),  # fast, but as people can be
        pages=np.full(judges, answers // 20),
        gold_seen=seen,
        gold_right=rng.binomial(seen, skill),
    )
    return WorkAnswers(judge=judge, item=item, label=label), facts, bad


PRIORS = {"two": (0.5, 0.5), "two, skewed": (0.85, 0.15), "four": (0.25,) * 4,
          "four, skewed": (0.7, 0.2, 0.05, 0.05)}  # fmt: skip


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize(
    ("kind", "share", "answers", "least"),
    [("random", 0.1, 120, 0.9), ("random", 0.3, 240, 0.9), ("one label", 0.1, 60, 0.99)],
    ids=["random", "many random", "one label"],
)
def test_in_simulated_crowds_careless_judges_are_flagged_and_careful_ones_rarely(
    kind: str, share: float, answers: int, least: float, prior: tuple[float, ...]
) -> None:
    caught, wrongly = [], []
    for seed in range(8):
        work, facts, bad = crowd(kind, share, prior=prior, answers=answers, seed=seed)
        found = flag_judges(work, facts, [Policy()] * 100, LABELS[: len(prior)])
        flagged = np.array([bool(flags) for flags in found])
        caught += flagged[bad].tolist()
        wrongly += flagged[~bad].tolist()
    print(f"\n{kind}, {answers} answers: {np.mean(caught):.1%} caught of {len(caught)}, "
          f"{np.mean(wrongly):.2%} wrongly of {len(wrongly)}")  # fmt: skip
    assert np.mean(caught) >= least
    assert np.mean(wrongly) <= 0.02
