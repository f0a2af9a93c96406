"""The fixed-point units in which kernels add up.

Whole-number addition is exact, so any split of the work gives the same sum. The units are chosen
so that rounding stays far below what statistics can see, and so that sums cannot overflow:

- a probability in units of 2^-32: up to 2^31 judgments in one cell of counts;
- a log-probability ratio in units of 2^-40: up to 200,000 judgments of one item at the extreme;
- a log-likelihood in units of 2^-28: up to 3 * 10^10 nats;
- what a judgment weighs in units of 2^-20.
"""

from __future__ import annotations

SHARE = 2.0**32  # units in a probability of 1
LOG = 2.0**40  # units in a log ratio of 1
LIKELIHOOD = 2.0**28  # units in a log-likelihood of 1
WEIGHT = 2.0**20  # units in a weight of 1

# A rate below 2^-40 is taken as 2^-40: no data set can show the difference, and logs stay finite.
SMALLEST = 2.0**-40
