from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import BadData, BadSetting, Scale
from adjudge.data.scale import canonical

SPELLINGS = [(1, "1"), (1.0, "1"), ("1.0", "1"), (" 2 ", "2"), ("1.50", "1.5"), ("-2", "-2")]
KEPT = [(text, text) for text in ("1_0", "nan", "1e400")]


@pytest.mark.parametrize(("given", "text"), [*SPELLINGS, *KEPT, ("good ", "good"), (True, "True")])
def test_labels_have_one_spelling(given: object, text: str) -> None:
    assert canonical(given) == text


@given(st.one_of(st.integers(), st.floats(allow_nan=False), st.text()))
def test_canonical_is_settled_after_one_go(value: object) -> None:
    assert canonical(canonical(value)) == canonical(value)


def test_numbers_are_ordinal_and_above_zero_is_relevant() -> None:
    scale = Scale.infer(["10", "2", "0", "-2"])
    assert scale.labels == ("-2", "0", "2", "10")
    assert scale.ordinal
    assert scale.relevant == ("2", "10")
    assert str(scale) == "-2 < 0 < 2 < 10"
    assert scale.values.tolist() == [-2, 0, 2, 10]


def test_text_is_nominal_and_yes_comes_after_no() -> None:
    assert Scale.infer(["dog", "cat"]) == Scale(labels=("cat", "dog"))
    assert Scale.infer(["relevant", "not relevant"]).relevant == ("relevant",)
    assert Scale.infer(["matching", "not matching"]).labels == ("not matching", "matching")


def test_half_numbers_half_text_is_refused() -> None:
    with pytest.raises(BadData, match=r"'good' is text, but other labels are numbers \(1\)"):
        Scale.infer(["1", "good"])


def test_parse() -> None:
    assert Scale.parse("bad<fair<good").ordinal
    assert Scale.parse("bad < fair").labels == ("bad", "fair")
    assert not Scale.parse("cat,dog").ordinal
    assert Scale.parse("1<2<3", relevant=["3"]).relevant == ("3",)
    with pytest.raises(BadSetting, match="labels such as '0<1<2'"):
        Scale.parse("0<<2")
    with pytest.raises(BadSetting, match="each label once"):
        Scale.parse("1,1.0")


def test_a_one_to_five_scale_has_no_collapse_until_it_is_named() -> None:
    scale = Scale.infer("12345")
    assert scale.relevant == ()
    assert scale.truth_relevant is None
    with pytest.raises(BadData, match="count as relevant is not known"):
        scale.collapsed()
    binary, codes = scale.with_relevant([4, "5"]).collapsed()
    assert binary.labels == ("0", "1")
    assert codes.tolist() == [0, 0, 0, 1, 1]
    with pytest.raises(BadSetting, match="relevant = '9': expected labels of the scale 1 < 2"):
        scale.with_relevant(["9"])


def test_binary_truth_keeps_the_labels_and_leaves_broken_links_out() -> None:
    scale = Scale.infer(["-2", "0", "1", "2"]).with_binary_truth()
    assert scale.labels == ("-2", "0", "1", "2")
    assert scale.truths == ("0", "1")
    assert scale.truth_of == (-1, 0, 1, 1)
    assert scale.truth_code("2") == 1
    assert scale.truth_code("-2") == -1
    assert scale.truth_code("7") == -1
    assert np.array_equal(scale.truth_relevant, [False, True])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"labels": ()}, "at least one label"),
        ({"labels": ("a",), "truth_of": (0,)}, "truths next to it"),
        ({"labels": ("a", "b"), "truths": ("x",), "truth_of": (0,)}, "one truth for each"),
        ({"labels": ("a",), "truths": ("x",), "truth_of": (1,)}, "positions in truths"),
        ({"labels": tuple(map(str, range(32_001)))}, "at most 32,000 labels"),
    ],
)
def test_bad_scales(settings: dict, message: str) -> None:
    with pytest.raises(BadSetting, match=message):
        Scale(**settings)


def test_codes_fit_the_number_of_labels() -> None:
    assert Scale(labels=tuple(map(str, range(127)))).label_dtype == np.int8
    assert Scale(labels=tuple(map(str, range(128)))).label_dtype == np.int16


def test_grades_are_the_numbers_of_labels() -> None:
    ordered = Scale(labels=("bad", "fair", "good"), ordinal=True, grades=(0, 1, 5))
    assert ordered.values.tolist() == [0, 1, 5]
    assert ordered.truth_values.tolist() == [0, 1, 5]
    assert ordered.with_relevant(["good"]).values.tolist() == [0, 1, 5]
    assert ordered.with_relevant(["good"]).with_binary_truth().values.tolist() == [0, 1, 5]
    loose = Scale(labels=("match", "spam", "off"), grades=(1, 0, 0))
    assert loose.values.tolist() == [0, 1, 2]  # models tell labels of one grade apart
    for grades, right in (
        ((1.0,), "one grade for each of ('bad', 'good')"),
        ((1.0, float("nan")), "numbers"),
        ((2.0, 1.0), "grades that rise along bad < good"),
    ):
        with pytest.raises(BadSetting) as caught:
            Scale(labels=("bad", "good"), ordinal=True, grades=grades)
        assert caught.value.expected == right
