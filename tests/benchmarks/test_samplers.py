"""The comparison of samplers: what JAGS is given and gives back, and a quick run of our side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def jags_files(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import jags_files

    return jags_files


def test_coda_files_are_read_by_their_index(jags_files: Any, tmp_path: Path) -> None:
    names = [name.replace("_", ".") for name in reversed(jags_files.HYPER)]
    index = [f"{name} {2 * n + 1} {2 * n + 2}" for n, name in enumerate(names)]
    (tmp_path / "drawsindex.txt").write_text("\n".join(index))
    for chain in (1, 2):
        rows = [f"{11 + n % 2}  {chain}.{n:02}" for n in range(12)]
        (tmp_path / f"drawschain{chain}.txt").write_text("\n".join(rows))
    found = jags_files.read_coda(tmp_path, 2)
    assert list(found) == list(jags_files.HYPER)
    assert found["kappa_1"].tolist() == [[1.00, 1.01], [2.00, 2.01]]
    assert found["phi_pi"].tolist() == [[1.10, 1.11], [2.10, 2.11]]
