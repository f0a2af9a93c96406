"""Measures of rankings: the values of ir-measures, to the last digits."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adjudge.data.judgments import Judgments
from adjudge.data.runs import Run
from adjudge.data.scale import Scale
from adjudge.errors import BadData, BadSetting, UnknownName
from adjudge.evaluation._pool import Pool, build_pool
from adjudge.evaluation._retrieval import SlowMeasures, assign_grades, parse_measures
from rankings import as_dicts

GRADED = Scale.parse("0<1<2<3")
QUICK = [
    *("AP", "AP@5", "AP(rel=2)", "nDCG", "nDCG@3", "nDCG@10", "P@1", "P@5", "P(rel=3)@4"),
    *("R@5", "R@1000", "RR", "RR@2", "RR(rel=2)", "Success@3", "Rprec", "Bpref", "Bpref(rel=2)"),
]

Rows = list[tuple[str, str, int]]


def judgments_of(rows: Rows, scale: Scale = GRADED) -> tuple[Judgments, np.ndarray]:
    """One judgment of each document, and the truth, which is its label."""
    topic, document, label = zip(*rows, strict=True)
    table = {"topic": topic, "document": document, "judge": ["x"] * len(rows), "label": label}
    table = {name: list(values) for name, values in table.items()}
    simulated = Judgments.from_table(table, scale=scale)
    return simulated, simulated.label.astype(np.int16)


def pooled(rows: Rows, runs: list[Run], scale: Scale = GRADED, **more: object) -> tuple[Pool, ...]:
    simulated, truth = judgments_of(rows, scale)
    pool = build_pool(simulated, np.ones(len(truth), dtype=np.bool_), runs, **more)  # type: ignore[arg-type]
    return pool, truth[pool.item][None]  # type: ignore[return-value]


def a_run(rows: list[tuple[str, str, float]], name: str = "a") -> Run:
    topic, document, score = (list(column) for column in zip(*rows, strict=True))
    return Run.from_table({"topic": topic, "document": document, "score": score}, name=name)


documents = st.sampled_from([f"d{n}" for n in range(12)])
topics = st.sampled_from(["7", "8", "9"])
qrels = st.dictionaries(st.tuples(topics, documents), st.integers(0, 3), min_size=1)
scores = st.one_of(st.integers(-2, 2).map(float), st.floats(-1e3, 1e3))
returned = st.dictionaries(st.tuples(topics, documents), scores, min_size=1)


@given(known=qrels, first=returned, second=returned)
@example(
    known={("7", "d0"): 0, ("8", "d0"): 1},
    first={("7", "d0"): 0.0},
    second={("8", "d0"): 0.0, ("8", "d1"): 0.0},
)
def test_every_value_is_that_of_ir_measures(
    known: dict[tuple[str, str], int],
    first: dict[tuple[str, str], float],
    second: dict[tuple[str, str], float],
) -> None:
    rows = [(topic, document, grade) for (topic, document), grade in known.items()]
    runs = [
        a_run([(*pair, score) for pair, score in found.items()], name)
        for name, found in (("a", first), ("b", second))
    ]
    try:
        pool, truths = pooled(rows, runs)
    except BadData:  # a run without any judged document
        return
    names = pool.topics.to_pylist()
    judged: dict[str, dict[str, int]] = {topic: {} for topic in names}
    for topic, document, grade in rows:
        if topic in judged:
            judged[topic][document] = grade
    measures = parse_measures(QUICK, GRADED)
    asked = [measure.of for measure in measures]
    for number, run in enumerate(runs):
        right = {
            (str(found.measure), found.query_id): found.value
            for found in ir_measures.iter_calc(asked, judged, as_dicts(run))
        }
        for topic in names:  # with a cutoff, ir-measures does not break ties as trec_eval does
            rank = right["RR", topic]
            right["RR@2", topic] = rank if rank >= 0.5 else 0.0
        for measure in measures:
            value = measure.values(pool, truths)[0, number]
            expected = [right[str(measure.of), topic] for topic in names]
            assert value == pytest.approx(expected, rel=1e-13, abs=1e-15), measure.name


def test_rank_biased_precision_by_hand() -> None:
    """Relevant at places 1 and 3: (1 - p)(1 + p^2); from cwl_eval's formula, p = .8 by default."""
    run = a_run([("7", "a", 3.0), ("7", "x", 2.0), ("7", "b", 1.0)])
    pool, truths = pooled([("7", "a", 1), ("7", "b", 2), ("7", "c", 3)], [run])
    for name, expected in (
        ("RBP", 0.2 * (1 + 0.8**2)),
        ("RBP(p=0.5)", 0.5 * 1.25),
        ("RBP(p=0.5)@2", 0.5),
        ("RBP(p=0.5,rel=2)", 0.125),
    ):
        (measure,) = parse_measures([name], GRADED)
        assert measure.values(pool, truths)[0, 0, 0] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("unjudged", ["not-relevant", "condensed"])
def test_other_measures_go_through_ir_measures(unjudged: str) -> None:
    rng = np.random.default_rng(5)
    rows = [(str(t), f"d{n}", int(rng.integers(4))) for t in (1, 2) for n in range(20)]
    found = [(t, d, float(rng.normal())) for t, d, _ in rows[::2]]
    found += [(t, f"u{n}", float(rng.normal())) for t in ("1", "2") for n in range(5)]
    run = a_run(found)
    pool, truths = pooled(rows, [run], unjudged=unjudged)
    measures = parse_measures(["infAP", "ERR@10", "Judged@5", "SetP"], GRADED)
    assert not any(measure.quick for measure in measures)
    values = SlowMeasures(measures, pool, [run], GRADED).values(truths[0])
    judged: dict[str, dict[str, int]] = {"1": {}, "2": {}}
    for topic, document, grade in rows:
        judged[topic][document] = grade
    kept = as_dicts(run)
    if unjudged == "condensed":
        kept = {t: {d: s for d, s in docs.items() if d in judged[t]} for t, docs in kept.items()}
    expected = ir_measures.iter_calc([measure.of for measure in measures], judged, kept)
    for one in expected:
        at = [measure.of for measure in measures].index(one.measure)
        assert values[at, 0, int(one.query_id) - 1] == pytest.approx(one.value, rel=1e-12)
    assert values[:4].sum() > 0


@pytest.mark.parametrize(
    ("scale", "grades"),
    [
        (Scale.parse("-2<0<1<2"), [0, 0, 1, 2]),
        (Scale.parse("1<2<3<4<5"), [1, 2, 3, 4, 5]),
        (Scale.parse("0<0.5<1"), [0, 1, 2]),
        (Scale.parse("poor<fair<good"), [0, 1, 2]),
        (Scale.parse("dog,cat", relevant=["cat"]), [0, 1]),
        (GRADED.with_binary_truth(), [0, 1]),
    ],
)
def test_grades(scale: Scale, grades: list[int]) -> None:
    assert assign_grades(scale).tolist() == grades


def test_labels_without_order_are_no_grades() -> None:
    with pytest.raises(BadData) as raised:
        assign_grades(Scale.parse("cat,dog,bird"))
    assert raised.value.code == "no-grades"
    assert [one.setting for one in raised.value.remedies] == ["labels", "relevant"]


def test_what_is_relevant_is_what_the_scale_says_unless_the_measure_does() -> None:
    scale = Scale.parse("1<2<3<4<5", relevant=["4", "5"])
    plain, explicit = parse_measures(["AP", "AP(rel=2)"], scale)
    assert plain.gain is not None
    assert plain.gain.tolist() == [0, 0, 0, 1, 1]
    assert explicit.gain is not None
    assert explicit.gain.tolist() == [0, 1, 1, 1, 1]
    (slow,) = parse_measures(["infAP"], scale)
    assert str(slow.of) == "infAP(rel=4)"


@pytest.mark.parametrize("name", ["nDGC@10", "P", "AP(colour=2)", "AP@@", "", "INST(max_rel=3)"])
def test_a_measure_that_cannot_be(name: str) -> None:
    with pytest.raises(BadSetting) as raised:
        parse_measures([name], GRADED)
    assert (raised.value.setting, raised.value.value) == ("measure", name)
    if isinstance(raised.value, UnknownName):
        assert raised.value.nearest == ("nDCG",)


def test_a_scale_on_which_everything_is_relevant() -> None:
    with pytest.raises(BadSetting) as raised:
        parse_measures(["AP"], Scale.parse("1<2<3"))
    assert raised.value.setting == "measure"
