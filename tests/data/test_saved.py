"""A consensus saved and loaded: the same answers, predictions and later fits."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import adjudge
from adjudge import BadData, Consensus, HierarchicalConfusion
from adjudge.simulation import demo

MADE = demo()


def saved(consensus: Consensus, folder: Path) -> Consensus:
    consensus.save(folder / "fit.adjudge")
    return Consensus.load(folder / "fit.adjudge")


@pytest.mark.parametrize("name", ["item-types", "dawid-skene", "majority-vote", "pmf"])
def test_it_comes_back_as_it_was(name: str, tmp_path: Path) -> None:
    gold = MADE.gold if name == "item-types" else None
    before = adjudge.fit(MADE.judgments, gold, model=name)
    after = saved(before, tmp_path)
    assert after.labels.equals(before.labels)
    assert after.judges.equals(before.judges)
    assert after.judgments.to_table().equals(before.judgments.to_table())
    assert (after.model, after.settings, after.notes) == (
        before.model,
        before.settings,
        before.notes,
    )
    assert after.trace == before.trace
    if before.predictor is not None:
        more = MADE.judgments.select(items=np.arange(MADE.judgments.item_count) < 50)
        assert after.predict(more).labels.equals(before.predict(more).labels)


def test_draws_come_back(tmp_path: Path) -> None:
    before = HierarchicalConfusion(chains=2, warmup=4, draws=6).fit(MADE.judgments)
    after = saved(before, tmp_path)
    assert before.draws is not None
    assert after.draws is not None
    assert after.draws.to_dataset().equals(before.draws.to_dataset())


def test_a_fit_continues_from_what_was_saved(tmp_path: Path) -> None:
    first = adjudge.fit(MADE.judgments)
    again = adjudge.fit(MADE.judgments, start=saved(first, tmp_path))
    assert again.labels.equals(adjudge.fit(MADE.judgments, start=first).labels)
    assert len(again.trace) < len(first.trace)


def test_a_file_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    """Its labels and judges are; the default's predictor of that version is gone."""
    before = adjudge.fit(MADE.judgments, MADE.gold)
    new, old = tmp_path / "new", tmp_path / "old"
    before.save(new)
    with zipfile.ZipFile(new) as given, zipfile.ZipFile(old, "w") as made:
        for name in given.namelist():
            body = given.read(name)
            if name == "saved.json":
                mark = '"adjudge.data.consensus:Consensus", "fields": {'
                memory = '"adjudge.models.item_types:TypesMemory", "fields": {'
                values = body.decode()
                assert values.count(mark) == 2
                assert values.count(memory) == 1
                values = values.replace(mark, f'{mark}"correlation": 0.01, ')
                earlier = memory.replace("item_types", "type_memory") + '"trust": 1, '
                body = values.replace(memory, earlier).encode()
            made.writestr(name, body)
    found = Consensus.load(old)
    assert found.labels.equals(before.labels)
    assert found.judges.equals(before.judges)
    with pytest.raises(BadData):
        found.predict(MADE.judgments)


def stored(folder: Path, value: object, version: int = 1) -> Path:
    full = {"what": "adjudge saved consensus", "version": version, "value": value}
    with zipfile.ZipFile(folder / "stored", "w") as archive:
        archive.writestr("saved.json", json.dumps(full))
    return folder / "stored"


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    for body in (b"", b"item,label\na,1\n"):
        path.write_bytes(body)
        with pytest.raises(BadData, match=r"^labels.csv: is not a saved consensus"):
            Consensus.load(path)
    with pytest.raises(BadData, match=r"^none.adjudge: there is no such file"):
        Consensus.load(tmp_path / "none.adjudge")
    with pytest.raises(BadData, match="newer adjudge"):
        Consensus.load(stored(tmp_path, 0, version=9))


@pytest.mark.parametrize(
    "name", ["subprocess:Popen", "adjudge.data.saved:Saved", "adjudge.cli:call"]
)
def test_a_file_from_a_stranger_cannot_name_what_should_be_called(
    name: str, tmp_path: Path
) -> None:
    with pytest.raises(BadData, match="does not know"):
        Consensus.load(stored(tmp_path, {"object": name, "fields": {"args": "true"}}))
