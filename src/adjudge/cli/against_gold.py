"""A consensus held against gold that its fit did not see, in a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.cli.console import say

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments


def tell_scores(consensus: Consensus, gold: Gold, judgments: Judgments) -> dict[str, Any]:
    """How labels and probabilities fare against gold that the fit did not see; it is told."""
    from adjudge.evaluation.against_gold import evaluate
    from adjudge.evaluation.honesty import beside_vote

    result = evaluate(consensus, gold)
    score = result["accuracy"]
    wanted = {"log loss": "log_loss", "calibration error": "corrected_calibration_error"}
    others = {words: result[key] for words, key in wanted.items() if result[key].defined}
    if score.defined:
        told = "".join(f", {words} {other.shown.value:.3f}" for words, other in others.items())
        say(
            f"  accuracy against the gold in the file: {score.value:.3f} "
            f"({score.low:.3f} to {score.high:.3f}){told}; the fit did not use it "
            "(--use-gold would)"
        )
    beside = beside_vote(result, judgments)
    if beside is not None and beside.warning is not None:
        say(f"  {beside.warning}")
    return {
        "accuracy": {
            "value": score.value,
            "low": score.low,
            "high": score.high,
            "items": result.scored,
        },
        **{wanted[words]: other.value for words, other in others.items()},
    }
