"""Names of a package that are written down once, and imported when they are first used."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

PACKAGE = """
from typing import TYPE_CHECKING
from adjudge.lazy import export

if TYPE_CHECKING:
    from made_lazily.below import one as one
    from made_lazily.below import Two as Two

__version__ = "3"
__getattr__, __dir__ = export(__name__, __file__)
"""


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "made_lazily"
    folder.mkdir()
    (folder / "__init__.py").write_text(PACKAGE)
    (folder / "below.py").write_text("one = 1\nclass Two: pass\nthree = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    import made_lazily  # type: ignore[import-not-found]

    yield made_lazily
    for name in [name for name in sys.modules if name.partition(".")[0] == "made_lazily"]:
        del sys.modules[name]


def test_nothing_is_imported_before_it_is_used(made) -> None:
    assert "made_lazily.below" not in sys.modules
    assert {"one", "Two", "__version__"} <= set(dir(made))
    assert not {"TYPE_CHECKING", "export", "three"} & set(dir(made))
    assert made.__all__ == ["Two", "one"]
    assert "made_lazily.below" not in sys.modules
    assert (made.one, made.Two.__name__) == (1, "Two")
    assert "made_lazily.below" in sys.modules


@pytest.mark.parametrize("name", ["three", "nothing", "_one"])
def test_what_is_not_written_down_is_not_there(made, name: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'made_lazily' has no attribute '{name}'"):
        getattr(made, name)
