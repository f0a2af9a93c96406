from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from adjudge.evaluation.significance import adjust


def test_by_hand() -> None:
    # Four tests: 0.01 * 4 / 1, 0.02 * 4 / 2, 0.03 * 4 / 3, 0.5; the first two are as good as 0.04.
    found = adjust(np.array([0.03, 0.5, 0.01, 0.02]))
    assert found.tolist() == pytest.approx([0.04, 0.5, 0.04, 0.04])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
@settings(deadline=None)
def test_scipy_agrees(p: list[float]) -> None:
    assert adjust(np.array(p)) == pytest.approx(false_discovery_control(p), abs=1e-12)


def test_of_no_tests() -> None:
    assert not len(adjust(np.empty(0)))
