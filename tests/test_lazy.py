"""Names that are imported when they are first used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import adjudge

SCRIPT = """
import sys
import adjudge
assert {"fit", "Judgments"} <= set(dir(adjudge))
assert "fit" in adjudge.__all__ and "export" not in adjudge.__all__
assert not {"numpy", "pyarrow", "adjudge.fitting"} & set(sys.modules)
adjudge.fit
assert "adjudge.fitting" in sys.modules
"""


def test_nothing_is_imported_before_it_is_used() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)


@pytest.mark.parametrize("name", ["three", "_one", "TYPE_CHECKING_"])
def test_what_is_not_written_down_is_not_there(name: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'adjudge' has no attribute '{name}'"):
        getattr(adjudge, name)
