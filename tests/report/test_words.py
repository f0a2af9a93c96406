from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from adjudge import Judgments, MajorityVote
from adjudge.evaluation import VoteComparison
from adjudge.report import Results, gather
from adjudge.report.words import certainty, missing, percent

TABLE = pa.table(
    {
        "item": ["a", "a", "a", "b", "b", "c"],
        "judge": ["x", "y", "z", "x", "y", "y"],
        "label": ["1", "1", "0", "1", "1", "0"],
    }
)


@pytest.fixture(scope="module")
def voted() -> Results:
    return gather(MajorityVote().fit(Judgments.from_table(TABLE)))


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.0, "0%"), (0.004, "under 1%"), (0.5, "50%"), (0.999, "over 99%"), (1.0, "100%")],
)
def test_shares_in_words(share: float, said: str) -> None:
    assert percent(share) == said


def test_no_error_is_less_than_none(sampled: Results) -> None:
    found = sampled.evaluation
    assert found is not None
    assert found.calibration is not None
    lucky = replace(found, calibration=replace(found.calibration, corrected=-0.013))
    said = certainty(replace(sampled, evaluation=lucky))[2]
    assert said.endswith("calibration error 0.000 (bias corrected).")


def test_probabilities_worse_than_the_votes_are_not_to_be_believed(sampled: Results) -> None:
    better = replace(sampled, vote_comparison=VoteComparison(items=80, model=0.3, vote=0.5))
    worse = replace(sampled, vote_comparison=VoteComparison(items=80, model=0.9, vote=0.5))
    said = (
        "Its probabilities are worse than the plain vote's: log loss 0.900 on 80 gold items, where "
        "the vote share (half a judgment added to each label) has 0.500."
    )
    assert said not in certainty(better)
    assert said in certainty(worse)
    assert not any("can rely on" in sentence for sentence in certainty(worse))


def test_what_is_missing_says_what_would_add_it(voted: Results, sampled: Results) -> None:
    shown = missing(voted)
    assert any(line.startswith("no gold:") for line in shown)
    assert any(line.startswith("no topics:") for line in shown)
    assert any(line.startswith("no draws:") for line in shown)
    assert any(line.startswith("no times:") for line in shown)
    assert not any(
        line.startswith(("no gold", "no draws", "no topics")) for line in missing(sampled)
    )
