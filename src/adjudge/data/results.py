"""What every result offers: dataframes, a summary, a chart and a view in notebooks."""

from __future__ import annotations

SURE = 0.9  # a label of this probability is called sure
DOUBT = 0.6  # and one below this is in doubt
