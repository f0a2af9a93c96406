"""Holes in the judgments: judged@k, and unjudged documents filled in by their places."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge import Judgments, Run
from adjudge.evaluation._pool import build_pool, judged_at
from adjudge.evaluation.ranking._truths import lift_by_place
from adjudge.evaluation.ranking.rank import rank_systems
from adjudge.models.majority_vote import MajorityVote

TOPICS, DEPTH = 6, 30


def panel(judged: float, seed: int = 1) -> tuple[Judgments, Run]:
    """Documents of which the upper half is relevant, some of them judged, all of them returned."""
    random = np.random.default_rng(seed)
    rows: dict[str, list[object]] = {"topic": [], "document": [], "judge": [], "label": []}
    run: dict[str, list[object]] = {"topic": [], "document": [], "score": []}
    for t in range(TOPICS):
        for d in range(DEPTH):
            run["topic"].append(f"q{t}")
            run["document"].append(f"d{d}")
            run["score"].append(float(-d))
            if random.random() < judged or d in (0, DEPTH - 1):
                for judge in "xyz":
                    rows["topic"].append(f"q{t}")
                    rows["document"].append(f"d{d}")
                    rows["judge"].append(judge)
                    rows["label"].append(int(d < DEPTH // 2))
    return Judgments.from_table(rows), Run.from_table(run, name="r")


def test_judged_at_k_by_hand() -> None:
    table = {"topic": ["q"] * 2, "document": ["a", "c"], "judge": ["x"] * 2, "label": [1, 0]}
    judgments = Judgments.from_table(table)
    rows = {"topic": ["q"] * 4, "document": ["a", "b", "c", "d"], "score": [4.0, 3.0, 2.0, 1.0]}
    run = Run.from_table(rows, name="r")
    everything = np.ones(2, dtype=np.bool_)
    shares = [judged_at(judgments, everything, [run], k)[0] for k in (1, 2, 3, 4, 100)]
    assert shares == [1.0, 0.5, pytest.approx(2 / 3), 0.5, 0.5]


def test_documents_are_filled_in_by_what_stands_in_such_places() -> None:
    judgments, run = panel(judged=0.5)
    consensus = MajorityVote().fit(judgments)
    pool = build_pool(judgments, judgments.counts_per_item > 0, [run], "filled")
    lift = lift_by_place(pool, consensus.posterior)
    extra = np.flatnonzero(pool.item < 0)
    height = pool.fused()[extra]
    assert len(lift) == len(extra) > 0
    top, bottom = height > np.quantile(height, 0.7), height < np.quantile(height, 0.3)
    assert (lift[top, 1] > 1.4).all()
    assert (lift[bottom, 1] < 0.6).all()


def test_filled_lists_come_nearest_to_the_whole_truth() -> None:
    whole, run = panel(judged=1.0)
    complete = MajorityVote().fit(whole)
    true = rank_systems(complete, [run], ["P@10", "nDCG@20"], draws=20, next_items=0)
    sparse, run = panel(judged=0.4)
    consensus = MajorityVote().fit(sparse)
    for measure in ("P@10", "nDCG@20"):
        wanted = true.by_label[measure][0]
        apart = {}
        for way in ("not-relevant", "prevalence", "filled"):
            found = rank_systems(
                consensus,
                [run],
                [measure],
                draws=200,
                next_items=0,
                unjudged=way,  # type: ignore[arg-type]
            )
            apart[way] = abs(found.by_label[measure][0] - wanted)
        assert apart["filled"] < min(apart["prevalence"], apart["not-relevant"])


def test_the_table_and_the_notes_say_so() -> None:
    judgments, run = panel(judged=0.4)
    found = rank_systems(
        MajorityVote().fit(judgments), [run], ["P@10"], draws=20, next_items=0, unjudged="filled"
    )
    judged = judged_at(judgments, judgments.counts_per_item > 0, [run], 10)[0]
    assert found.systems["judged"].to_pylist() == [judged]
    assert 0 < judged < 1
    assert any("filled in: as relevant as judged documents" in note for note in found.notes)


def test_without_judged_documents_in_the_runs_nothing_is_lifted() -> None:
    table = {"topic": ["q"] * 2, "document": ["a", "b"], "judge": ["x"] * 2, "label": [1, 0]}
    judgments = Judgments.from_table(table)
    run = Run.from_table({"topic": ["q"] * 2, "document": ["a", "z"], "score": [2.0, 1.0]})
    pool = build_pool(judgments, np.ones(2, dtype=np.bool_), [run], "filled")
    consensus = MajorityVote().fit(judgments)
    assert lift_by_place(pool, consensus.posterior).tolist() == [[1.0, 1.0]]
