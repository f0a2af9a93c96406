"""A fit that is cut off goes on from its checkpoint and ends with the same bits."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from adjudge import (
    BadData,
    BadSetting,
    Checkpoint,
    DawidSkene,
    HierarchicalConfusion,
    HybridConfusion,
    ItemTypes,
    Judgments,
    Model,
    ThreadsEngine,
)
from adjudge.engines.threads import ThreadsSampler
from adjudge.models.model import Step
from adjudge.simulation import demo


class CutOffError(Exception):
    """The machine went away."""


@pytest.fixture(scope="module")
def table() -> Judgments:
    return demo(seed=3).judgments


def engine(folder: Path, *, resume: bool = False) -> ThreadsEngine:
    return ThreadsEngine(checkpoint=Checkpoint(folder=folder, every=7, resume=resume))


def stop_at(last: int) -> object:
    def progress(step: Step) -> None:
        if step.stage.startswith("fitting") and step.done >= last:
            raise CutOffError

    return progress


@pytest.mark.parametrize(
    "model",
    [
        DawidSkene(tolerance=1e-9),
        HybridConfusion(method="em", tolerance=1e-9),
        HierarchicalConfusion(method="variational"),
        ItemTypes(tolerance=0.0),
    ],
    ids=lambda model: model.name,
)
def test_points_go_on(model: Model, table: Judgments, tmp_path: Path) -> None:
    with pytest.raises(CutOffError):
        model.fit(table, engine=engine(tmp_path), progress=stop_at(13))
    steps: list[int] = []
    again = model.fit(
        table, engine=engine(tmp_path, resume=True), progress=lambda step: steps.append(step.done)
    )
    full = model.fit(table)
    assert steps[0] == 8
    assert again.trace == full.trace
    np.testing.assert_array_equal(again.posterior, full.posterior)
    np.testing.assert_array_equal(again.confusion, full.confusion)


@pytest.mark.parametrize(
    "model",
    [
        HybridConfusion(chains=2, warmup=20, draws=40, thin=2),
        HierarchicalConfusion(chains=2, warmup=20, draws=40, thin=1),
    ],
    ids=lambda model: model.name,
)
def test_chains_go_on(
    model: Model, table: Judgments, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = ThreadsSampler.draw
    with monkeypatch.context() as patch:

        def draw(self: ThreadsSampler, chain: int, iteration: int, *rest: object) -> object:
            if iteration == 43 - 5 * chain:
                raise CutOffError
            return drawn(self, chain, iteration, *rest)

        patch.setattr(ThreadsSampler, "draw", draw)
        with pytest.raises(CutOffError):
            model.fit(table, engine=engine(tmp_path))
    again = model.fit(table, engine=engine(tmp_path, resume=True))
    full = model.fit(table)
    np.testing.assert_array_equal(again.posterior, full.posterior)
    np.testing.assert_array_equal(again.counts, full.counts)
    assert again.draws is not None
    assert full.draws is not None
    np.testing.assert_array_equal(again.draws.confusion, full.draws.confusion)
    for name, values in full.draws.hyper.items():
        np.testing.assert_array_equal(again.draws.hyper[name], values)


def test_another_fit_is_refused_with_what_differs(table: Judgments, tmp_path: Path) -> None:
    with pytest.raises(CutOffError):
        DawidSkene(tolerance=0.0).fit(table, engine=engine(tmp_path), progress=stop_at(9))
    resumed = engine(tmp_path, resume=True)
    start = f"{tmp_path}: is of another fit: "
    for model, given, why in (
        (DawidSkene(tolerance=0.1), table, "setting tolerance was 0.0, and is 0.1"),
        (HybridConfusion(method="em"), table, "model was dawid-skene, and is hybrid-confusion"),
        (DawidSkene(tolerance=0.0), demo(seed=4).judgments, "judgments was "),
    ):
        with pytest.raises(BadData) as caught:
            model.fit(given, engine=resumed)
        assert str(caught.value).startswith(start + why)


def test_a_checkpoint_of_an_earlier_layout_is_refused(table: Judgments, tmp_path: Path) -> None:
    DawidSkene(iterations=7).fit(table, engine=engine(tmp_path))
    about = tmp_path / "about.json"
    earlier = {
        key: value for key, value in json.loads(about.read_text()).items() if key != "layout"
    }
    about.write_text(json.dumps(earlier))
    with pytest.raises(BadData) as refused:
        DawidSkene(iterations=7).fit(table, engine=engine(tmp_path, resume=True))
    assert refused.value.source == str(tmp_path)


def test_without_resume_a_fit_starts_from_the_beginning(table: Judgments, tmp_path: Path) -> None:
    with pytest.raises(CutOffError):
        DawidSkene(tolerance=0.0).fit(table, engine=engine(tmp_path), progress=stop_at(9))
    steps: list[int] = []
    DawidSkene().fit(table, engine=engine(tmp_path), progress=lambda s: steps.append(s.done))
    assert steps[0] == 1


def test_a_checkpoint_that_is_cut_short(table: Judgments, tmp_path: Path) -> None:
    model = DawidSkene(tolerance=0.0, iterations=8)
    model.fit(table, engine=engine(tmp_path))
    full = (tmp_path / "em.npz").read_bytes()
    (tmp_path / "em.npz").write_bytes(full[: len(full) // 2])
    with pytest.raises(BadData, match=r"em\.npz: is cut short, or no checkpoint \(BadZipFile\)$"):
        model.fit(table, engine=engine(tmp_path, resume=True))


def test_every_is_at_least_one() -> None:
    with pytest.raises(BadSetting, match=r"^every = 0: expected at least 1 sweep$"):
        Checkpoint(folder=Path("x"), every=0)
