"""Labels in blocks, and posteriors on disk: the same tables as at once."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adjudge import Consensus, DawidSkene, ThreadsEngine
from adjudge.data.formats.writing import write_csv, write_table
from adjudge.data.mapped import map_of, releaser
from adjudge.data.stored import open_stored, store
from adjudge.engines import _part, output
from adjudge.engines.encoding import here
from adjudge.simulation import demo


@pytest.fixture
def mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Consensus:
    """A consensus whose judgments and posteriors are on disk, and blocks of 150 items."""
    folder = tmp_path / "t.adjudge"
    folder.mkdir()
    store(demo(seed=3).judgments, folder)
    monkeypatch.setattr(_part, "_LARGE", 1)
    monkeypatch.setattr(output, "_ROWS", 150)
    return DawidSkene().fit(open_stored(folder)[0])


def test_posteriors_of_judgments_on_disk_are_on_disk_and_the_same(mapped: Consensus) -> None:
    plain = DawidSkene().fit(demo(seed=3).judgments)
    assert map_of(mapped.posterior) is not None
    assert map_of(plain.posterior) is None
    np.testing.assert_array_equal(mapped.posterior, plain.posterior)
    np.testing.assert_array_equal(mapped.choice, plain.choice)


def test_blocks_are_the_table_without_ranks(mapped: Consensus) -> None:
    blocks = list(output.label_blocks(mapped))
    assert [len(block) for block in blocks] == [150, 150, 100]
    whole = DawidSkene().fit(demo(seed=3).judgments).labels.drop_columns(["rank"])
    assert pa.concat_tables(blocks).combine_chunks().equals(whole.combine_chunks())


@pytest.mark.parametrize("kind", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_blocks_are_written_as_the_table_is(kind: str, mapped: Consensus) -> None:
    table = mapped.labels.drop_columns(["rank"])
    found, wanted = io.BytesIO(), io.BytesIO()
    write_table(output.label_blocks(mapped), found, kind, guard=True)
    if kind == ".parquet":
        assert pq.read_table(io.BytesIO(found.getvalue())).equals(table)
        return
    if kind == ".jsonl":
        write_table(table, wanted, ".jsonl")
    else:
        write_csv(table, wanted, delimiter="\t" if kind == ".tsv" else ",", guard=True)
    assert found.getvalue() == wanted.getvalue()


def test_parts_hold_every_label_once(mapped: Consensus, tmp_path: Path) -> None:
    plain = DawidSkene().fit(demo(seed=3).judgments)
    for name, consensus in (("mapped", mapped), ("plain", plain)):
        folder = tmp_path / name
        folder.mkdir()
        assert output.write_parts(consensus, folder, here) == 3
        assert len(list(folder.glob("part-*.parquet"))) == 3
        assert pq.read_table(folder).equals(plain.labels.drop_columns(["rank"]))


def test_what_was_given_back_can_be_read_again(tmp_path: Path) -> None:
    folder = tmp_path / "t.adjudge"
    folder.mkdir()
    table = demo(seed=3).judgments
    store(table, folder)
    judgments, _ = open_stored(folder)
    release = releaser(judgments.judge, None)
    assert release is not None
    release((0, len(judgments)), (0, 0))
    np.testing.assert_array_equal(judgments.judge, table.judge)
    assert releaser(table.judge, None) is None


def test_a_sweep_of_many_threads_over_a_map(mapped: Consensus) -> None:
    table = mapped.judgments
    one = DawidSkene().fit(table, engine=ThreadsEngine(threads=1))
    np.testing.assert_array_equal(one.posterior, mapped.posterior)
