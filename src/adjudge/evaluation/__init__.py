"""How good a consensus is, how far judges agree, and whether one method is better than another.

- ``evaluate`` scores a consensus, or a table of one, against gold: an ``Evaluation``.
- ``measure_agreement`` gives percent agreement, Cohen, Fleiss and Krippendorff: an ``Agreement``;
  ``cohen_kappa`` is of two judges.
- ``cross_validate`` scores a model on held-out gold, fold by fold: a ``CrossValidation``.
- ``diagnose`` advises for each judge whether to keep, train or drop them and why, and estimates the
  gain of one more judgment per item: a ``Diagnosis``, under ``Limits``; ``suggest_judges`` says by
  whom.
- ``compare_models`` puts models side by side, by gold or, with ``held_out_score``, by judgments
  held out, and recommends one: a ``Comparison``; ``entrants`` are the models that take part.
- ``rank_systems`` ranks search systems under the judges' noise: a ``Ranking``.
- ``may_replace`` tests whether models may replace people: a ``Replacement``.
- ``audit`` gives a verdict on every LLM judge: an ``Audit``; ``Card`` binds it, and ``gate`` checks
  new judgments against it: a ``Gate``. ``soft_judgments`` makes shares of several samples.
- ``compare_with_vote`` compares a model's probabilities with those of the plain vote.
- ``paired_t_test``, ``sign_test`` and ``rank_methods`` compare methods.

``MEASURES`` lists the scores by name. Depends on models, engines and data only; nothing is imported
before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.lazy import export

if TYPE_CHECKING:
    from adjudge.evaluation.against_gold import Evaluation as Evaluation
    from adjudge.evaluation.against_gold import VoteComparison as VoteComparison
    from adjudge.evaluation.against_gold import compare_with_vote as compare_with_vote
    from adjudge.evaluation.against_gold import evaluate as evaluate
    from adjudge.evaluation.agreement import Agreement as Agreement
    from adjudge.evaluation.agreement import cohen_kappa as cohen_kappa
    from adjudge.evaluation.agreement import measure_agreement as measure_agreement
    from adjudge.evaluation.comparison import Comparison as Comparison
    from adjudge.evaluation.comparison import Entrant as Entrant
    from adjudge.evaluation.comparison import compare_models as compare_models
    from adjudge.evaluation.comparison import entrants as entrants
    from adjudge.evaluation.crossvalidation import CrossValidation as CrossValidation
    from adjudge.evaluation.crossvalidation import HeldOut as HeldOut
    from adjudge.evaluation.crossvalidation import cross_validate as cross_validate
    from adjudge.evaluation.crossvalidation import held_out_score as held_out_score
    from adjudge.evaluation.diagnosis.advice import Limits as Limits
    from adjudge.evaluation.diagnosis.diagnose import Diagnosis as Diagnosis
    from adjudge.evaluation.diagnosis.diagnose import diagnose as diagnose
    from adjudge.evaluation.diagnosis.next_judges import suggest_judges as suggest_judges
    from adjudge.evaluation.measures import MEASURES as MEASURES
    from adjudge.evaluation.measures import Measure as Measure
    from adjudge.evaluation.model_judges.audit import Audit as Audit
    from adjudge.evaluation.model_judges.audit import audit as audit
    from adjudge.evaluation.model_judges.card import Card as Card
    from adjudge.evaluation.model_judges.gate import Gate as Gate
    from adjudge.evaluation.model_judges.gate import gate as gate
    from adjudge.evaluation.model_judges.replacement import Replacement as Replacement
    from adjudge.evaluation.model_judges.replacement import may_replace as may_replace
    from adjudge.evaluation.model_judges.soft_judgments import SoftJudgments as SoftJudgments
    from adjudge.evaluation.model_judges.soft_judgments import soft_judgments as soft_judgments
    from adjudge.evaluation.ranking.rank import Ranking as Ranking
    from adjudge.evaluation.ranking.rank import rank_systems as rank_systems
    from adjudge.evaluation.replay import Replay as Replay
    from adjudge.evaluation.replay import replays as replays
    from adjudge.evaluation.scores import Score as Score
    from adjudge.evaluation.significance import Difference as Difference
    from adjudge.evaluation.significance import Ranked as Ranked
    from adjudge.evaluation.significance import correct_by_item as correct_by_item
    from adjudge.evaluation.significance import paired_t_test as paired_t_test
    from adjudge.evaluation.significance import rank_methods as rank_methods
    from adjudge.evaluation.significance import sign_test as sign_test
    from adjudge.evaluation.stopping import Stopping as Stopping

__getattr__, __dir__ = export(__name__, __file__)
