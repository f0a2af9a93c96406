"""The model that runs when nobody names one, and why it is that one.

Chosen by measurement, on real and made crowds of many kinds: the table is in the docs, and
``benchmarks/choose_default.py`` makes it anew.
"""

from __future__ import annotations

DEFAULT = "hybrid-confusion"
SETTINGS: dict[str, object] = {"method": "em"}
REASON = (
    "the default: over 19 real and made crowds its labels were the most accurate on average, "
    "in milliseconds"
)
