"""Draws from the posterior of a model of comparisons, chain by chain."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.draws import HIGHEST, rank_r_hat
from adjudge.data.names import Names


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairDraws:
    """What the sampler kept: scores of items, and what else the model has, by name."""

    score: NDArray[np.float32]  # (chain, draw, item) of mean 0
    judge: dict[str, NDArray[np.float32]]  # (chain, draw, judge): right, lean
    hyper: dict[str, NDArray[np.float64]]  # (chain, draw): tied, position, topics
    items: Names
    judges: Names

    def r_hat(self) -> dict[str, float]:
        """Rank-normalised split R-hat: the worst item, and every other parameter."""
        if len(self.score) < 2 or self.score.shape[1] < 4:
            return {}
        worst = {}
        for name, values in (("score", self.score), *self.judge.items()):
            flat = values.astype(np.float64)
            moving = np.flatnonzero(flat.std(axis=(0, 1)) > 1e-9)
            if moving.size:
                worst[name] = max(rank_r_hat(flat[:, :, n]) for n in moving)
        for name, one in self.hyper.items():
            if one.std() > 1e-12:
                worst[name] = rank_r_hat(one)
        return worst

    def warnings(self) -> tuple[str, ...]:
        """A sentence that names the parameters on which the chains do not agree, if any."""
        high = {name: value for name, value in self.r_hat().items() if value > HIGHEST}
        if not high:
            return ()
        named = ", ".join(f"{name} {value:.3f}" for name, value in high.items())
        return (
            f"R-hat above {HIGHEST} for {named}: the chains do not agree yet; draw more, or let "
            "them warm up longer",
        )

    def to_dataset(self) -> Any:
        """The draws as an xarray data set with chain and draw as its first dimensions."""
        import xarray

        variables: dict[str, Any] = {"score": (("chain", "draw", "item"), self.score)}
        for name, values in self.judge.items():
            variables[name] = (("chain", "draw", "judge"), values)
        for name, one in self.hyper.items():
            variables[name] = (("chain", "draw"), one)
        coords: dict[str, Any] = {
            "chain": np.arange(self.score.shape[0]),
            "draw": np.arange(self.score.shape[1]),
            "item": self.items.to_pylist(),
        }
        if self.judge:
            coords["judge"] = self.judges.to_pylist()
        return xarray.Dataset(variables, coords=coords)

    def to_arviz(self) -> Any:
        """The draws as ArviZ takes them: inference data with the group posterior."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import arviz
        data = self.to_dataset()
        if hasattr(arviz, "InferenceData"):
            return arviz.InferenceData(posterior=data)
        import xarray

        return xarray.DataTree.from_dict({"posterior": data})

    def save(self, path: str | Path) -> None:
        """The draws as a NetCDF file that ArviZ opens, whole or not at all."""
        place = Path(path)
        part = place.with_name(f".{place.name}.part")
        try:
            self.to_dataset().to_netcdf(part, group="posterior", engine="h5netcdf")
            part.replace(place)
        finally:
            part.unlink(missing_ok=True)
