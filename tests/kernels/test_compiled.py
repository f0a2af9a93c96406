"""Every kernel is compiled before tests run in several processes, which would each compile it."""

from __future__ import annotations

import importlib.util
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
