from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from adjudge import HybridConfusion, Judgments
from adjudge.report import Results, gather
from adjudge.report import _embedding as embedding
from adjudge.report._embedding import _SHARES, embed_results, pack
from unpacking import unpacked


def test_the_page_holds_what_was_found(sampled: Results) -> None:
    texts, arrays = unpacked(pack(*embed_results(sampled)))
    consensus, judgments = sampled.consensus, sampled.consensus.judgments
    np.testing.assert_array_equal(arrays["choice"], consensus.choice)
    np.testing.assert_allclose(
        arrays["posterior"].reshape(-1, 2) / _SHARES, consensus.posterior, atol=0.5 / _SHARES
    )
    np.testing.assert_array_equal(arrays["judge"], judgments.judge)
    np.testing.assert_array_equal(arrays["label"], judgments.label)
    np.testing.assert_array_equal(arrays["offsets"], judgments.offsets)
    np.testing.assert_array_equal(arrays["rank"], consensus.rank)
    assert texts["judges"] == judgments.judges.to_pylist()
    names = [
        f"{texts['topics'][topic]}/{document}"
        for topic, document in zip(arrays["topic"], texts["documents"], strict=True)
    ] if "documents" in texts else texts["items"]  # fmt: skip
    assert names == judgments.items.to_pylist()
    advice = [texts["advice"][code] for code in arrays["judgeAdvice"]]
    assert advice == sampled.diagnosis.judges["advice"].to_pylist()
    np.testing.assert_allclose(
        arrays["confusion_mean"].reshape(sampled.diagnosis.confusion.mean.shape) / _SHARES,
        sampled.diagnosis.confusion.mean,
        atol=0.5 / _SHARES,
    )


def test_of_too_many_items_the_most_doubtful_are_kept(
    sampled: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "MOST_ITEMS", 10)
    texts, arrays = embed_results(sampled)
    entropy = sampled.consensus.entropy
    assert texts["itemsInAll"] == len(entropy)
    assert len(arrays["choice"]) == 10
    kept = arrays["entropy"] / _SHARES
    assert kept.min() >= np.sort(entropy)[-10] - 1 / _SHARES
    judgments = sampled.consensus.judgments
    chosen = embedding._chosen_items(sampled)
    for place, item in enumerate(chosen):
        ours = arrays["judge"][arrays["offsets"][place] : arrays["offsets"][place + 1]]
        theirs = judgments.judge[judgments.offsets[item] : judgments.offsets[item + 1]]
        np.testing.assert_array_equal(ours, theirs)


def test_of_too_many_judgments_only_the_votes_are_kept(
    sampled: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_MOST_JUDGMENTS", 10)
    texts, arrays = embed_results(sampled)
    assert texts["hasJudgments"] is False
    assert "judge" not in arrays
    np.testing.assert_array_equal(arrays["votes"], sampled.diagnosis.votes.reshape(-1))


def test_times_make_histories() -> None:
    rows = [
        {"item": f"i{n}", "judge": judge, "label": str(n % 2), "time": 1_700_000_000 + 60 * n}
        for n in range(40)
        for judge in ("ann", "bob", "cy")
    ]
    consensus = HybridConfusion(method="em").fit(Judgments.from_table(pa.Table.from_pylist(rows)))
    _, arrays = embed_results(gather(consensus))
    assert set(arrays["historyJudge"].tolist()) == {0, 1, 2}
    assert arrays["historyCount"].sum() == 120
    assert arrays["history_begin"].min() == 1_700_000_000
    assert arrays["history_end"].max() == 1_700_000_000 + 60 * 39
