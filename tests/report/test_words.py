from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from adjudge import Judgments, MajorityVote
from adjudge.evaluation import VoteComparison
from adjudge.report import Results, gather
from adjudge.report.page import _describe_data
from adjudge.report.words import (
    _judges_found,
    _labels_found,
    _model_fits,
    _next_judgments,
    certainty,
    findings,
    join_names,
    missing,
    percent,
)

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


def test_lists_in_words() -> None:
    assert join_names([]) == ""
    assert join_names(["a"]) == "a"
    assert join_names(["a", "b", "c"]) == "a, b and c"
    assert join_names(["a", "b"], 1_002) == "a, b and 1,000 more"


def test_which_labels(voted: Results) -> None:
    assert _labels_found(voted).answer == (
        "3 items have a label: 1 for 2 (67%), 0 for 1 (33%).",
        "0 labels (0%) differ from the majority vote.",
    )


def test_how_sure_without_gold_only_counts(voted: Results) -> None:
    posterior = np.array([[0.05, 0.95], [0.45, 0.55], [0.7, 0.3]])
    consensus = replace(voted.consensus, posterior=posterior)
    assert certainty(replace(voted, consensus=consensus)).answer == (
        "1 label (33%) is at least 90% sure; 1 (33%) is less than 60% sure.",
    )


def test_how_sure_with_gold_says_whether_to_believe_it(sampled: Results) -> None:
    finding = certainty(sampled)
    score = sampled.evaluation["accuracy"] if sampled.evaluation else None
    assert score is not None
    assert score.low is not None
    assert finding.answer[1] == (
        f"Against {sampled.evaluation.scored} gold items, "  # type: ignore[union-attr]
        f"{score.value:.1%} ({score.low:.1%} to {score.high:.1%}) of the labels are right."
    )
    assert finding.tone in ("good", "warn")


def test_figures_of_calibration_are_next_to_accuracy(sampled: Results) -> None:
    found = sampled.evaluation
    assert found is not None
    assert found.calibration is not None
    assert certainty(sampled).answer[2] == (
        f"Log loss {found['log_loss'].value:.3f}, Brier {found['brier'].value:.3f}, calibration "
        f"error {found['corrected_calibration_error'].shown.value:.3f} (bias corrected)."
    )


def test_no_error_is_less_than_none(sampled: Results) -> None:
    found = sampled.evaluation
    assert found is not None
    assert found.calibration is not None
    lucky = replace(found, calibration=replace(found.calibration, corrected=-0.013))
    said = certainty(replace(sampled, evaluation=lucky)).answer[2]
    assert said.endswith("calibration error 0.000 (bias corrected).")


def test_probabilities_worse_than_the_votes_are_not_to_be_believed(sampled: Results) -> None:
    better = replace(sampled, vote_comparison=VoteComparison(items=80, model=0.3, vote=0.5))
    worse = replace(sampled, vote_comparison=VoteComparison(items=80, model=0.9, vote=0.5))
    said = (
        "Its probabilities are worse than the plain vote's: log loss 0.900 on 80 gold items, where "
        "the vote share (half a judgment added to each label) has 0.500."
    )
    assert said not in certainty(better).answer
    finding = certainty(worse)
    assert said in finding.answer
    assert finding.tone == "warn"
    assert not any("can be believed" in sentence for sentence in finding.answer)


def test_whom_to_keep_adds_up_to_all_judges(sampled: Results) -> None:
    first = _judges_found(sampled).answer[0]
    advice = sampled.diagnosis.judges["advice"].to_pylist()
    assert first.startswith(f"Of {len(advice)} judges, keep: {advice.count('keep')} (")
    for name in set(advice):
        assert f"{name}" in first


def test_what_next_names_the_items_with_most_to_gain(sampled: Results) -> None:
    finding = _next_judgments(sampled)
    assert finding is not None
    best = sampled.diagnosis.items.sort_by([("gain_rank", "ascending")])["item"][0].as_py()
    assert f"One more judgment adds most to {best}," in finding.answer[0]


def test_what_next_counts_items_with_one_judgment(voted: Results) -> None:
    few = _next_judgments(voted)
    assert few is not None
    assert few.answer[1:] == ("1 item has fewer than two judgments.",)


def test_failed_checks_are_said_with_their_numbers(sampled: Results) -> None:
    check = replace(sampled.checks[0], observed=0.9, low=0.5, high=0.6, p=0.0)
    finding = _model_fits(replace(sampled, checks=(check,), diagnostics=()))
    assert finding.tone == "warn"
    assert finding.answer == (
        "1 of 1 check fail: agreement of pairs is 0.900 where it expects 0.500 to 0.600. Items "
        "differ in ways this model does not know, so its probabilities are too sure.",
    )
    passed = replace(check, p=0.5)
    good = _model_fits(replace(sampled, checks=(passed,), diagnostics=({"r_hat": 1.004},)))
    assert good.tone == "good"
    assert good.answer[1] == "The chains agree (R-hat at most 1.004)."
    bad = _model_fits(replace(sampled, checks=(passed,), diagnostics=({"r_hat": 1.2},)))
    assert bad.tone == "warn"


def test_what_is_missing_says_what_would_add_it(voted: Results, sampled: Results) -> None:
    told = missing(voted)
    assert any(line.startswith("no gold:") for line in told)
    assert any(line.startswith("no topics:") for line in told)
    assert any(line.startswith("no draws:") for line in told)
    assert any(line.startswith("no times:") for line in told)
    assert not any(
        line.startswith(("no gold", "no draws", "no topics")) for line in missing(sampled)
    )


def test_five_questions_are_answered(sampled: Results) -> None:
    assert [finding.question for finding in findings(sampled)] == [
        "Which labels?",
        "How sure?",
        "Which judges?",
        "What to collect next?",
        "Does the model fit?",
    ]


def test_the_state_of_the_data(voted: Results) -> None:
    found = _describe_data(voted)
    assert found.sizes == "6 judgments, 3 items, 3 judges"
    assert found.remarks == (
        "An item has 2 judgments (median), from 1 to 3; a judge gave 2, from 1 to 3.",
        "The busiest 1 judge gave 50% of all judgments.",
        "1 item has only one, so no disagreement can show.",
    )
    assert found.labels == (("0", 2, 2 / 6), ("1", 4, 4 / 6))
