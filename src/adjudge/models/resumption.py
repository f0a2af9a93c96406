"""A chain of the Gibbs sampler written to a checkpoint, and taken up again from it.

A draw depends on the rates and on the random numbers of (seed, chain, iteration, item) alone, so
the truths themselves need not be kept: rates, counts, sums and the state of the generator do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adjudge.engines.checkpoint import Checkpoint
from adjudge.engines.engine import Sampler, Tally

_COUNTERS = ("iteration", "done", "swept", "relabelled")
_HYPER = ("phi", "kappa", "phi_prevalence", "kappa_prevalence")
_RATES = ("confusion", "prevalence")


class _LearntState(Protocol):
    """Priors that a chain learns."""

    @property
    def state(self) -> tuple[NDArray[np.float64], ...]:
        """Arrays to be kept, or put back in place."""
        ...


class _RatesState(Protocol):
    """Rates that a chain draws."""

    @property
    def parts(self) -> tuple[NDArray[Any], ...]:
        """Arrays to be kept, or put back in place."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ChainState:
    """What a running chain holds."""

    rng: np.random.Generator
    sampler: Sampler
    number: int
    rows: _LearntState | None
    common: _LearntState | None
    theta: _RatesState
    pi: _RatesState
    chain: Any  # adjudge.models.gibbs.Chain

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that go from sweep to sweep, by a name for each."""
        groups = {
            "rows": () if self.rows is None else self.rows.state,
            "common": () if self.common is None else self.common.state,
            "theta": self.theta.parts,
            "pi": self.pi.parts,
            "sum": (self.chain.counts_sum,),
        }
        return {
            f"{name}_{place}": array
            for name, arrays in groups.items()
            for place, array in enumerate(arrays)
        }

    def kept(self, stride: int) -> dict[str, NDArray[Any]]:
        """The draws that were kept so far, as views."""
        done = self.chain.done
        rows = -(-done // stride)
        views = {name: getattr(self.chain, name)[:done] for name in _HYPER}
        return views | {name: getattr(self.chain, name)[:rows] for name in _RATES}


def keep_chain(checkpoint: Checkpoint, held: ChainState, tally: Tally, stride: int) -> None:
    """Write where a chain stands."""
    arrays = dict(held.arrays)
    arrays |= {f"kept_{name}": values for name, values in held.kept(stride).items()}
    arrays |= {"counts": tally.counts, "classes": tally.classes, "switch": tally.switch}
    arrays["mean"] = held.sampler.mean(held.number)
    state = {
        "rng": held.rng.bit_generator.state,
        **{name: getattr(held.chain, name) for name in _COUNTERS},
        "stride": stride,
    }
    checkpoint.save(f"chain-{held.number}", arrays, state)


def resumed(checkpoint: Checkpoint | None, held: ChainState, tally: Tally) -> Tally:
    """The counts to go on from: those given, or, with everything put back, the checkpoint's."""
    found = None if checkpoint is None else checkpoint.load(f"chain-{held.number}")
    if found is None:
        return tally
    arrays, state = found
    held.rng.bit_generator.state = state["rng"]
    for name in _COUNTERS:
        setattr(held.chain, name, state[name])
    for name, array in held.arrays.items():
        array[...] = arrays[name]
    for name, view in held.kept(state["stride"]).items():
        view[...] = arrays[f"kept_{name}"]
    held.sampler.restore(held.number, arrays["mean"])
    return Tally(counts=arrays["counts"], classes=arrays["classes"], switch=arrays["switch"])
