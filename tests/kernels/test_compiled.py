"""Every kernel is compiled before tests run in several processes, which would each compile it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "compile.py"


@pytest.fixture(scope="module")
def compiling() -> ModuleType:
    spec = importlib.util.spec_from_file_location("compiling", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_none_is_left_out(compiling: ModuleType) -> None:
    if not compiling.STAMP.is_file() or compiling.STAMP.read_text() != compiling.state():
        pytest.skip("scripts/compile.py was not run since the kernels changed")
    assert compiling.not_compiled() == []


def test_one_that_is_left_out_is_named(
    compiling: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of kernels that has nothing compiled beside it."""
    kernel = tmp_path / "lonely.py"
    kernel.write_text(
        "from numba import njit\n\n\n@njit(cache=True)\ndef alone(x):\n    return x\n\n\n"
        "@njit\ndef kept_nowhere(x):\n    return x\n"
    )
    spec = importlib.util.spec_from_file_location("adjudge.kernels.lonely", kernel)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "adjudge.kernels.lonely", module)
    monkeypatch.setattr(compiling, "KERNELS", tmp_path)
    assert compiling.not_compiled() == ["lonely.alone"]
    module.alone(1)
    assert compiling.not_compiled() == []
