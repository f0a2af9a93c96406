"""Kinds of judges draw the matrices that their formulae state."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.data.scale import Scale
from adjudge.errors import BadSetting
from adjudge.simulation._judges import (
    KINDS,
    Adversary,
    Biased,
    Dirichlet,
    Given,
    Lazy,
    Skilled,
    Spammer,
    TwoCoin,
    World,
)

BINARY = Scale.parse("0<1")
THREE = Scale.parse("0<1<2")
NOMINAL = Scale.parse("cat,dog,cow")
# Binary truth from TREC's labels: -2 is a broken link, and is not a truth.
BROKEN = Scale.parse("-2<0<1<2", relevant=("1", "2")).with_binary_truth()


def world(scale: Scale, prevalence: tuple[float, ...] = (), seed: int = 1) -> World:
    share = prevalence or (1 / len(scale.truths),) * len(scale.truths)
    return World(scale, np.array(share), np.random.default_rng(seed))


def test_skilled_errors_fall_off_on_an_ordinal_scale() -> None:
    drawn = Skilled(8, 2).draw(4000, world(THREE))
    accuracy = drawn[:, 0, 0]
    np.testing.assert_allclose(drawn[:, 1, 1], accuracy)
    np.testing.assert_allclose(drawn[:, 2, 2], accuracy)
    # Beta(8, 2): mean .8, variance 16 / (100 * 11).
    assert accuracy.mean() == pytest.approx(0.8, abs=0.01)
    assert accuracy.var() == pytest.approx(16 / 1100, rel=0.1)
    np.testing.assert_allclose(drawn[:, 0, 1], (1 - accuracy) * 1 / 1.4)
    np.testing.assert_allclose(drawn[:, 0, 2], (1 - accuracy) * 0.4 / 1.4)
    np.testing.assert_allclose(drawn[:, 1, 0], (1 - accuracy) / 2)


@pytest.mark.parametrize(
    ("scale", "decay", "far"), [(NOMINAL, None, 0.5), (THREE, 1, 0.5), (THREE, 0, 0.0)]
)
def test_decay_says_how_far_errors_fall(scale: Scale, decay: float | None, far: float) -> None:
    drawn = Skilled(8, 2, decay).draw(5, world(scale))
    np.testing.assert_allclose(drawn[:, 0, 2], far * (1 - drawn[:, 0, 0]))
    np.testing.assert_allclose(drawn[:, 0, 1], (1 - far) * (1 - drawn[:, 0, 0]))


def test_fewer_truths_than_labels() -> None:
    drawn = Skilled(8, 2, 0.5).draw(5, world(BROKEN))
    right = 2 * drawn[:, 1, 2]  # labels 1 and 2 share the mass of truth 1
    np.testing.assert_allclose(drawn[:, 1, 3], right / 2)
    np.testing.assert_allclose(drawn[:, 0, 1], right)
    # From truth 1, label 0 is one grade off and -2 three (one beyond the two of the scale).
    np.testing.assert_allclose(drawn[:, 1, 1], (1 - right) * 1 / 1.25)
    np.testing.assert_allclose(drawn[:, 1, 0], (1 - right) * 0.25 / 1.25)
    # From truth 0: label 1 one off, 2 two off, -2 three off.
    np.testing.assert_allclose(
        drawn[:, 0, [2, 3, 0]], (1 - right)[:, None] * np.array([1, 0.5, 0.25]) / 1.75
    )


def test_two_coins_have_their_own_means() -> None:
    drawn = TwoCoin(9, 1, 3, 2).draw(4000, world(BINARY))
    assert drawn[:, 1, 1].mean() == pytest.approx(0.9, abs=0.01)
    assert drawn[:, 0, 0].mean() == pytest.approx(0.6, abs=0.015)
    assert abs(np.corrcoef(drawn[:, 1, 1], drawn[:, 0, 0])[0, 1]) < 0.05


def test_dirichlet_rows_have_mean_phi_and_spread_by_kappa() -> None:
    phi = np.array([[0.7, 0.3, 0.0], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    kappa = (5.0, 20.0, 80.0)
    kind = Dirichlet(kappa, phi=tuple(tuple(row) for row in phi))
    drawn = kind.draw(20_000, world(THREE))
    np.testing.assert_allclose(drawn.mean(axis=0), phi, atol=0.01)
    assert (drawn[:, 0, 2] == 0).all()
    variance = phi * (1 - phi) / (np.array(kappa)[:, None] + 1)
    np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=0.06, atol=1e-12)


def test_dirichlet_without_phi_has_the_stated_accuracy() -> None:
    mean = Dirichlet(10, 0.6).draw(20_000, world(THREE)).mean(axis=0)
    np.testing.assert_allclose(np.diag(mean), [0.6] * 3, atol=0.01)
    np.testing.assert_allclose(mean[0, 1:], [0.4 / 1.4, 0.16 / 1.4], atol=0.01)


def test_spammers_give_the_same_for_any_truth() -> None:
    uniform = Spammer().draw(2, world(THREE, (0.7, 0.2, 0.1)))
    np.testing.assert_allclose(uniform, np.full((2, 3, 3), 1 / 3))
    by_prevalence = Spammer("prevalence").draw(2, world(THREE, (0.7, 0.2, 0.1)))
    np.testing.assert_allclose(by_prevalence, np.tile([0.7, 0.2, 0.1], (2, 3, 1)))
    graded = Spammer("prevalence").draw(1, world(BROKEN, (0.6, 0.4)))
    np.testing.assert_allclose(graded[0], [[0, 0.6, 0.2, 0.2]] * 2)


def test_lazy_judges_give_one_label() -> None:
    always = Lazy("2").draw(3, world(THREE))
    np.testing.assert_array_equal(always, np.tile([0, 0, 1], (3, 3, 1)))
    picked = Lazy().draw(3000, world(THREE))
    assert set(np.unique(picked)) == {0, 1}
    np.testing.assert_array_equal(picked[:, 0], picked[:, 2])
    np.testing.assert_allclose(picked[:, 0].mean(axis=0), [1 / 3] * 3, atol=0.03)


def test_adversaries_flip() -> None:
    drawn = Adversary(9, 1).draw(4000, world(BINARY))
    assert drawn[:, 0, 1].mean() == pytest.approx(0.9, abs=0.01)
    np.testing.assert_allclose(drawn[:, 1, 0], drawn[:, 0, 1])
    three = Adversary(9, 1).draw(10, world(THREE))
    np.testing.assert_allclose(three[:, 0, 1], three[:, 0, 2])


@pytest.mark.parametrize(
    ("shift", "expected"),
    [
        # Half of the time as a skilled judge s, half of the time one grade up or down.
        (1, lambda s: (s[0] / 2, (s[1] + s[0]) / 2, (s[2] + s[1] + s[2]) / 2)),
        (-1, lambda s: ((s[0] + s[0] + s[1]) / 2, (s[1] + s[2]) / 2, s[2] / 2)),
    ],
)
def test_biased_judges_shift(shift: int, expected: object) -> None:
    skilled = Skilled(8, 2).draw(4, world(THREE))
    biased = Biased(shift).draw(4, world(THREE))
    for row in range(3):
        shifted = np.stack(expected(skilled[:, row].T), axis=1)  # type: ignore[operator]
        np.testing.assert_allclose(biased[:, row], shifted)


SCALES = st.sampled_from(
    [BINARY, THREE, NOMINAL, BROKEN, Scale.parse("a<b<c<d<e"), Scale(labels=("x",), ordinal=True)]
)


@given(
    scale=SCALES, name=st.sampled_from(sorted(KINDS)), count=st.integers(0, 5), seed=st.integers(0)
)
def test_every_kind_draws_rows_of_shares(scale: Scale, name: str, count: int, seed: int) -> None:
    if (name == "two-coin" and len(scale.truths) != 2) or (name == "biased" and not scale.ordinal):
        return
    drawn = KINDS[name]().draw(count, world(scale, seed=seed))
    assert drawn.shape == (count, len(scale.truths), len(scale.labels))
    assert (drawn >= 0).all()
    np.testing.assert_allclose(drawn.sum(axis=2), 1)


@pytest.mark.parametrize(
    ("make", "setting"),
    [
        (lambda: Skilled(0, 2), "skilled a"),
        (lambda: Skilled(1, 1, 1.5), "skilled decay"),
        (lambda: Dirichlet((1.0, 0.0)), "dirichlet kappa"),
        (lambda: Dirichlet(1, 1.1), "dirichlet accuracy"),
        (lambda: Given(((1.5, -0.5), (0.5, 0.5))), "given confusion"),
        (lambda: Biased(0), "biased shift"),
        (lambda: TwoCoin().draw(1, world(THREE)), "truths"),
        (lambda: Biased().draw(1, world(NOMINAL)), "scale"),
        (lambda: Lazy("9").draw(1, world(THREE)), "lazy label"),
        (lambda: Given(((0.5, 0.5), (0.5, 0.5))).draw(1, world(THREE)), "given confusion"),
        (
            lambda: Skilled().draw(
                1, world(Scale(labels=("a", "b"), truths=("a", "c"), truth_of=(0, 0)))
            ),
            "truth",
        ),
    ],
)
def test_bad_settings_say_what_is_wrong(make: object, setting: str) -> None:
    with pytest.raises(BadSetting) as caught:
        make()  # type: ignore[operator]
    assert caught.value.setting == setting
