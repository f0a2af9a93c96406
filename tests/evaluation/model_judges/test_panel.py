"""People and models of one panel, side by side: by hand, and against other parts of the library."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from adjudge import Gold, Judgments, MajorityVote, may_replace
from adjudge.evaluation.against_gold import evaluate
from adjudge.evaluation.model_judges.panel import PanelSummary, summarise_panel


def summary(judgments: Judgments, gold: Gold | None = None) -> PanelSummary | None:
    consensus = MajorityVote().fit(judgments)
    before = None if gold is None else evaluate(consensus, gold)
    return summarise_panel(consensus, gold, before)


def test_who_agrees_with_whom_by_hand() -> None:
    """Ann and bob say 1 1; m's two prompts 1 0 and 1 1; n 0 0."""
    judges = {"ann": "11", "bob": "11", "m-a": "10", "m-b": "11", "n": "00"}
    rows = [(i, j, int(said[i == "y"])) for i in "xy" for j, said in judges.items()]
    judgments = Judgments.from_table(
        pa.table(
            {
                "item": [i for i, _, _ in rows],
                "judge": [j for _, j, _ in rows],
                "label": [v for _, _, v in rows],
                "kind": ["person" if j in ("ann", "bob") else "model" for _, j, _ in rows],
                "family": ["m" if j.startswith("m") else "" for _, j, _ in rows],
            }
        )
    )
    found = summary(judgments)
    assert found is not None
    assert (found.people, found.models) == (2, 3)
    company = {row.who: row for row in found.company}
    assert company["people with people"].same == 1.0
    assert company["people with models"].pairs == 12
    assert company["people with models"].same == pytest.approx(6 / 12)
    assert company["models of one family"].pairs == 2
    assert company["models of one family"].same == pytest.approx(1 / 2)
    assert company["models with other models"].same == pytest.approx(1 / 4)
    # People always say 1: whatever models say, chance would agree as often.
    assert company["people with models"].kappa == pytest.approx(0.0)
    assert found.replacement is None
    assert found.untested.startswith("no person has 30 items")


def made() -> tuple[Judgments, Gold]:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 120)
    rows = []
    for judge, right in {"ann": 0.85, "bob": 0.8, "cy": 0.8, "good": 0.95, "dice": 0.5}.items():
        said = np.where(rng.random(120) < right, truth, 1 - truth)
        kind = "model" if judge in ("good", "dice") else "person"
        rows += [(f"i{n}", judge, int(said[n]), kind) for n in range(120)]
    columns = dict(zip(("item", "judge", "label", "kind"), zip(*rows, strict=True), strict=True))
    gold = Gold.of({f"i{n}": int(truth[n]) for n in range(60)})
    return Judgments.from_table(pa.table(columns)), gold


def test_copies_that_were_found_are_a_family_too() -> None:
    judgments, _ = made()
    rows = judgments.to_table().select(["item", "judge", "label"]).to_pylist()
    rows += [{**row, "judge": "good-2"} for row in rows if row["judge"] == "good"]
    models = ("good", "good-2", "dice")
    kinds = [{**row, "kind": "model" if row["judge"] in models else "person"} for row in rows]
    found = summary(Judgments.from_table(kinds))
    assert found is not None
    company = {row.who: row for row in found.company}
    assert (company["models of one family"].pairs, company["models of one family"].same) == (120, 1)


def test_error_rates_verdicts_and_what_gold_bought() -> None:
    judgments, gold = made()
    found = summary(judgments, gold)
    assert found is not None
    rates = {row.who: row for row in found.errors}
    assert set(rates) == {"all 3 people", "good", "dice"}
    assert rates["all 3 people"].gold == 180
    assert rates["dice"].accuracy < rates["all 3 people"].accuracy < rates["good"].accuracy
    assert all(row.low < row.accuracy < row.high for row in found.errors)
    assert found.replacement is not None
    assert found.replacement["good"].verdict == may_replace(judgments)["good"].verdict == "passed"
    assert found.replacement["dice"].verdict == "failed"
    assert found.bought is not None
    assert found.bought.gold == 60
    before = evaluate(MajorityVote().fit(judgments), gold)
    assert found.bought.log_loss[0] == pytest.approx(float(before["log_loss"]))


def test_people_alone_or_nobody_told_apart_have_no_such_summary() -> None:
    judgments, gold = made()
    table = judgments.to_table()
    assert summary(Judgments.from_table(table), gold) is None
    people = judgments.select(judgments=np.asarray(judgments.judge < 3))
    assert summary(people, gold) is None


def test_models_alone_have_no_verdict_but_the_rest() -> None:
    judgments, gold = made()
    found = summary(judgments.select(judgments=np.asarray(judgments.judge >= 3)), gold)
    assert found is not None
    assert (found.people, found.replacement) == (0, None)
    assert {row.who for row in found.errors} == {"good", "dice"}
