from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.errors import BadData
from adjudge.replications._data import fingerprint, real_file, trec_2011


def test_missing_data_are_asked_for(tmp_path: Path) -> None:
    with pytest.raises(BadData) as error:
        real_file("trec-rf10", tmp_path)
    assert str(error.value) == (
        f"{tmp_path}/trec-rf10/judgments.tsv: there is no such file; put there the crowd judgments "
        "of the TREC 2010 relevance feedback track, 'topicID workerID docID gold label', tab "
        "separated (98,453 judgments), or name the folder that holds trec-rf10/judgments.tsv by "
        "--data or ADJUDGE_DATA"
    )


def test_the_folder_may_be_named_by_the_environment(tmp_path: Path, monkeypatch) -> None:
    file = tmp_path / "rte" / "judgments.csv"
    file.parent.mkdir()
    file.write_text("a")
    monkeypatch.setenv("ADJUDGE_DATA", str(tmp_path))
    assert real_file("rte") == file
    before = fingerprint(file)
    file.write_text("b")
    assert fingerprint(file) != before


def test_the_papers_counts(shared_data: Path) -> None:
    content = trec_2011(real_file("trec-rf10", shared_data))
    judgments = content.judgments
    assert len(judgments) == 89_624
    assert (judgments.item_count, judgments.judge_count) == (19_033, 762)
    assert (judgments.topic_count, len(content.gold)) == (100, 3_275)
