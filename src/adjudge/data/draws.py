"""Draws from a posterior: chains of a model of labels, or of one of comparisons."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.names import Names
from adjudge.data.scale import Scale
from adjudge.lazy import load

HIGHEST = 1.01  # R-hat above this is worth a warning
_TAILS = (0.05, 0.95)  # quantiles behind the tail effective sample size


class _Posterior:
    """Draws that can be handed to ArviZ and written to a file."""

    __slots__ = ()

    def to_dataset(self) -> Any:
        """The draws as an xarray data set with chain and draw as its first dimensions."""
        raise NotImplementedError

    def _groups(self) -> dict[str, Any]:
        """The groups of inference data."""
        return {"posterior": self.to_dataset()}

    def to_arviz(self) -> Any:
        """The draws as ArviZ takes them: inference data with the group posterior.

        Where not all draws of prevalence and confusion were kept, the group ``posterior_hyper`` has
        the hyper-parameters of all.
        """
        groups = self._groups()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of ArviZ itself, and of a group of our own
            arviz = load("arviz")
            if hasattr(arviz, "InferenceData"):
                return arviz.InferenceData(**groups)
        return load("xarray").DataTree.from_dict(groups)

    def save(self, path: str | Path) -> None:
        """The draws as a NetCDF file that ArviZ opens, complete or not at all."""
        load("h5netcdf")
        place = Path(path)
        part = place.with_name(f".{place.name}.part")
        try:
            for mode, (group, data) in zip("wa", self._groups().items(), strict=False):
                data.to_netcdf(part, mode=mode, group=group, engine="h5netcdf")
            part.replace(place)
        finally:
            part.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Draws(_Posterior):
    """What a sampler kept, chain by chain.

    ``hyper`` has every draw of every hyper-parameter. Prevalence and confusion are large: of them
    every ``stride``-th draw is kept, so that memory stays bounded.
    """

    hyper: dict[str, NDArray[np.float64]]  # (chain, draw) or (chain, draw, ...)
    prevalence: NDArray[np.float32]  # (chain, draw, topic, truth)
    confusion: NDArray[np.float32]  # (chain, draw, judge, truth, label)
    scale: Scale
    judges: Names  # (judge,)
    topics: Names | None  # (topic,), None where topics share one prevalence
    warmup: int
    thin: int
    stride: int
    relabelled: int = 0  # draws whose truths had been exchanged, and were put back

    @property
    def chains(self) -> int:
        """How many chains there are."""
        return len(self.prevalence)

    @property
    def draws(self) -> int:
        """How many draws each chain kept."""
        kept: NDArray[Any] = next(iter(self.hyper.values()), self.prevalence)
        return int(kept.shape[1])

    def prevalence_interval(
        self, truth: int, level: float = 0.9
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # (topic,), (topic,)
        """The interval of a truth's prevalence in each topic."""
        values = self.prevalence[..., truth].reshape(-1, self.prevalence.shape[2])
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return low.astype(np.float64), high.astype(np.float64)

    def diagnostics(self) -> list[dict[str, Any]]:
        """R-hat and effective draws of each hyper-parameter, or of prevalence if there are none.

        Rank-normalised split R-hat, bulk and tail effective sample sizes, as ArviZ computes them.
        """
        return [_diagnosed(name, values) for name, values in self._parameters()]

    def _parameters(self) -> Iterator[tuple[str, NDArray[Any]]]:  # (chain, draw, entry)
        """The hyper-parameters, one by one; without any, all of prevalence."""
        for name, values in self.hyper.items():
            flat = _flat(values)
            for entry in range(flat.shape[2]):
                place = np.unravel_index(entry, values.shape[2:]) if values.ndim > 2 else ()
                label = name if not place else f"{name}[{', '.join(str(int(p)) for p in place)}]"
                yield label, flat[:, :, entry : entry + 1]
        if not self.hyper:
            yield "prevalence", _flat(self.prevalence)

    def warnings(self) -> tuple[str, ...]:
        """A sentence that names the hyper-parameters on which the chains do not agree, if any.

        Every fit asks for it, so it does without ArviZ, which takes a second to import and 40 MB.
        """
        return _disagreement(_r_hats(self._parameters()))

    def to_dataset(self) -> Any:
        """The draws as an xarray data set: every variable by chain and draw.

        Its draws are those of which prevalence and confusion were kept, every ``stride``-th; the
        hyper-parameters of all draws are in ``hyper``, and next to these in what ``save`` writes.
        """
        variables = self._hyper_variables(self.stride)
        variables["prevalence"] = (("chain", "draw", "topic", "truth"), self.prevalence)
        variables["confusion"] = (("chain", "draw", "judge", "truth", "label"), self.confusion)
        return self._dataset(variables, self.stride)

    def _groups(self) -> dict[str, Any]:
        """The groups of inference data: the posterior, and where it is thinned all of hyper."""
        groups = _Posterior._groups(self)
        if self.stride > 1 and self.hyper:
            groups["posterior_hyper"] = self._dataset(self._hyper_variables(1), 1)
        return groups

    def _hyper_variables(self, stride: int) -> dict[str, Any]:
        """The hyper-parameters of every so many draws, each with the names of its dimensions."""
        variables: dict[str, Any] = {}
        for name, values in self.hyper.items():
            extra = ("truth", "label")[-(values.ndim - 2) :] if values.ndim > 2 else ()
            if values.ndim == 3 and values.shape[2] == len(self.scale.truths):
                extra = ("truth",)
            variables[name] = (("chain", "draw", *extra), values[:, ::stride])
        return variables

    def _dataset(self, variables: dict[str, Any], stride: int) -> Any:
        coords = {
            "chain": np.arange(self.chains),
            "draw": np.arange(0, self.draws, stride),
            "topic": ["all"] if self.topics is None else self.topics.to_pylist(),
            "truth": list(self.scale.truths),
            "label": list(self.scale.labels),
            "judge": self.judges.to_pylist(),
        }
        about = {"warmup": self.warmup, "thin": self.thin, "stride": stride}
        return _make_dataset(variables, coords, about)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairDraws(_Posterior):
    """What the sampler kept: scores of items, and what else the model has, by name."""

    score: NDArray[np.float32]  # (chain, draw, item) of mean 0
    judge: dict[str, NDArray[np.float32]]  # (chain, draw, judge): right, lean
    hyper: dict[str, NDArray[np.float64]]  # (chain, draw): tied, position, topics
    items: Names
    judges: Names

    def r_hat(self) -> dict[str, float]:
        """Rank-normalised split R-hat: the worst item, and every other parameter."""
        hyper = {name: _flat(values) for name, values in self.hyper.items()}
        return _r_hats(({"score": self.score} | self.judge | hyper).items())

    def warnings(self) -> tuple[str, ...]:
        """A sentence that names the parameters on which the chains do not agree, if any."""
        return _disagreement(self.r_hat())

    def to_dataset(self) -> Any:
        """The draws as an xarray data set with chain and draw as its first dimensions."""
        judge = {name: (("chain", "draw", "judge"), values) for name, values in self.judge.items()}
        hyper = {name: (("chain", "draw"), values) for name, values in self.hyper.items()}
        coords = {
            "chain": np.arange(self.score.shape[0]),
            "draw": np.arange(self.score.shape[1]),
            "item": self.items.to_pylist(),
            "judge": self.judges.to_pylist(),
        }
        return _make_dataset(
            {"score": (("chain", "draw", "item"), self.score), **judge, **hyper}, coords, {}
        )


def _make_dataset(
    variables: dict[str, Any], coords: Mapping[str, Any], about: dict[str, Any]
) -> Any:
    """An xarray data set of variables, with the names of all that their dimensions number."""
    used = {name for dimensions, _ in variables.values() for name in dimensions}
    named = {name: values for name, values in coords.items() if name in used}
    return load("xarray").Dataset(variables, coords=named, attrs=about)


def _r_hats(parameters: Iterable[tuple[str, NDArray[Any]]]) -> dict[str, float]:
    """The worst R-hat of each parameter for which it is defined."""
    found = {name: _worst(values) for name, values in parameters}
    return {name: r_hat for name, r_hat in found.items() if r_hat is not None}


def _disagreement(r_hats: Mapping[str, float]) -> tuple[str, ...]:
    """A sentence that names the parameters on which the chains do not agree, if any."""
    high = sorted((-r_hat, name) for name, r_hat in r_hats.items() if r_hat > HIGHEST)
    if not high:
        return ()
    named = ", ".join(f"{name} {-r_hat:.3f}" for r_hat, name in high[:4])
    more = f" and {len(high) - 4} more" if len(high) > 4 else ""
    return (
        f"R-hat above {HIGHEST} for {named}{more}: the chains do not agree yet; "
        "draw more, or let them warm up longer",
    )


def _flat(values: NDArray[Any]) -> NDArray[Any]:  # (chain, draw, entry)
    return values.reshape(*values.shape[:2], -1)


def _moving(values: NDArray[Any]) -> NDArray[np.float64] | None:  # (chain, draw, entry)
    """The entries that vary; None where there are none, or too few draws to judge by."""
    chains, draws, _ = values.shape
    moving = values[:, :, values.std(axis=(0, 1)) > 1e-12].astype(np.float64)
    return None if chains * draws < 8 or draws < 4 or moving.shape[2] == 0 else moving


def _worst(values: NDArray[Any]) -> float | None:
    """The worst R-hat over the last axis; None where undefined, as with one chain alone."""
    moving = _moving(values)
    if moving is None or len(moving) < 2:
        return None
    return max(rank_r_hat(moving[:, :, entry]) for entry in range(moving.shape[2]))


def rank_r_hat(values: NDArray[np.float64]) -> float:  # (chain, draw)
    """Rank-normalised split R-hat of A. Vehtari et al. (2021, doi:10.1214/20-BA1221).

    The larger of two: of the draws, and of their distance from the median.
    """
    half = values.shape[1] // 2
    parts = np.concatenate([values[:, :half], values[:, -half:]])
    return max(_r_hat(_scores(parts)), _r_hat(_scores(np.abs(parts - np.median(parts)))))


def _scores(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each value's rank, ties sharing theirs, as the normal quantile of that rank."""
    from scipy.special import ndtri

    _, place, many = np.unique(values, return_inverse=True, return_counts=True)
    rank = (np.cumsum(many) - (many - 1) / 2)[place].reshape(values.shape)
    return np.asarray(ndtri((rank - 0.375) / (values.size + 0.25)))


def _r_hat(values: NDArray[np.float64]) -> float:  # (chain, draw)
    draws = values.shape[1]
    within = values.var(axis=1, ddof=1).mean()
    between = values.mean(axis=1).var(ddof=1)
    if within == 0:
        return float("inf") if between > 0 else 1.0
    return float(np.sqrt((draws - 1) / draws + between / within))


def _diagnosed(name: str, values: NDArray[Any]) -> dict[str, Any]:
    """The worst R-hat and the fewest effective draws over the last axis; None where undefined."""
    stats: Any = import_module("arviz_stats.base").array_stats
    row: dict[str, Any] = {
        "name": name,
        "mean": float(values.mean()),
        "sd": float(values.std(axis=(0, 1)).mean()),
        "r_hat": None,
        "ess_bulk": None,
        "ess_tail": None,
    }
    moving = _moving(values)
    if moving is None:
        return row
    row["r_hat"] = _worst(values)
    with np.errstate(all="ignore"):
        bulk = stats.ess(moving, method="bulk", chain_axis=0, draw_axis=1)
        tail = stats.ess(moving, method="tail", prob=_TAILS, chain_axis=0, draw_axis=1)
        row["ess_bulk"], row["ess_tail"] = float(np.nanmin(bulk)), float(np.nanmin(tail))
    return row
