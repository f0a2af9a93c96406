"""Figures of the first page: confidence, votes, agreement of judges, disagreement by topic."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from adjudge.data.consensus import Consensus, list_groups
from adjudge.data.results import DOUBT, SURE, inferred_probability
from adjudge.data.source import count_of
from adjudge.report.plots import layout
from adjudge.report.plots.layout import add_title, shorten, tooltip
from adjudge.report.theme import LIGHT
from adjudge.report.words import percent

_BINS = 20
_COLUMNS = 80  # of the stacked votes
_JUDGES = 40  # to a side of the heatmap
_ITEMS = 20_000  # sampled for the agreement of two judges
_TOPICS = 16
_LABELS = 12  # colours that can still be distinguished
_LEAST = 5  # items that two judges have in common, or a topic has


def confidence_histogram(consensus: Consensus) -> Any:
    """Draw how many labels there are of each probability."""
    probability = inferred_probability(consensus)
    count, edges = np.histogram(probability, bins=_BINS, range=(0.0, 1.0))
    low, high = edges[:-1], edges[1:]
    kinds = np.where(low >= SURE - 1e-9, "sure", np.where(high <= DOUBT + 1e-9, "in doubt", ""))
    names = [f"at least {SURE:.0%} sure", "between", f"less than {DOUBT:.0%} sure"]
    kind = np.select([kinds == "sure", kinds == ""], names[:2], names[2])
    data = layout.table(low=low, high=high, labels=count, kind=kind)
    colours = alt.Scale(domain=names, range=[LIGHT.green, LIGHT.sky, LIGHT.orange])
    legend = alt.Legend(orient="top", title=None, columnPadding=24)
    chart = (
        alt.Chart(data)
        .mark_rect(aria=False, stroke=LIGHT.paper)
        .encode(
            x=alt.X("low:Q", title="probability of the label", scale=alt.Scale(domain=[0, 1])),
            x2="high:Q",
            y=alt.Y("labels:Q", title="labels"),
            y2=alt.datum(0),
            color=alt.Color("kind:N", scale=colours, legend=legend),
            tooltip=tooltip({"kind": "kind", "labels": "labels"}, {"labels": ","}),
        )
    )
    sure, doubt = float((probability >= SURE).mean()), float((probability < DOUBT).mean())
    return add_title(
        chart.properties(width=400, height=220),
        "How sure the labels are",
        f"{percent(sure)} of {count_of(len(probability), 'label')} are at least {SURE:.0%} sure, "
        f"{percent(doubt)} less than {DOUBT:.0%}",
    )


def stacked_votes(consensus: Consensus, votes: NDArray[np.int64]) -> Any:  # (item, label)
    """Draw the votes of items as stacked bars, ordered by label and by how united the votes are.

    Of more items than there is room for, each bar is the mean of neighbours in that order.
    """
    scale, choice = consensus.scale, consensus.choice
    judged = votes.sum(axis=1) > 0
    share = votes[judged] / votes[judged].sum(axis=1, keepdims=True)
    for_label = _share_for(share, np.array(scale.truth_of), choice[judged])
    order = np.lexsort((-for_label, choice[judged]))
    parts = np.array_split(order, min(_COLUMNS, max(len(order), 1)))
    mean = np.array([share[part].mean(axis=0) for part in parts])  # (column, label)
    labels = scale.labels
    ends = np.cumsum(mean, axis=1)
    truths = [scale.truths[int(np.median(choice[judged][part]))] for part in parts]
    data = layout.table(
        column=np.repeat(np.arange(len(parts)), len(labels)),
        after=np.repeat(np.arange(len(parts)) + 1.03, len(labels)),
        low=(ends - mean).reshape(-1),
        high=ends.reshape(-1),
        share=mean.reshape(-1),
        label=list(labels) * len(parts),
        given=np.repeat(truths, len(labels)).tolist(),
    )
    colours: dict[str, Any] = {"domain": list(labels)}
    if scale.ordinal:
        colours["scheme"] = "viridis"
    end: dict[str, Any] = {
        "axis": alt.Axis(labels=False, ticks=False),
        "scale": alt.Scale(nice=False),
    }
    chart = (
        alt.Chart(data)
        .mark_rect(aria=False)
        .encode(
            x=alt.X("column:Q", title="items, by label and by how united the votes are", **end),
            x2="after:Q",
            y=alt.Y("low:Q", title="share of votes", axis=alt.Axis(format="%", tickCount=5)),
            y2="high:Q",
            color=alt.Color("label:N", title="vote", scale=alt.Scale(**colours)),
            tooltip=tooltip(
                {"given": "label", "label": "vote", "share": "share"}, {"share": ".0%"}
            ),
        )
    )
    united = float((share.max(axis=1) == 1).mean()) if len(share) else 0.0
    each = round(len(order) / len(parts))
    more = f"; each bar is the mean of {count_of(each, 'item')}" if each > 1 else ""
    return add_title(
        chart.properties(width=400, height=220),
        "Votes per item",
        f"all judges agree on {united:.0%} of {count_of(len(order), 'item')}{more}",
    )


def _share_for(
    share: NDArray[np.float64],  # (item, label)
    truth_of: NDArray[np.int64],  # (label,)
    choice: NDArray[np.int16],  # (item,)
) -> NDArray[np.float64]:  # (item,)
    """Return the share of votes for the label that each item got."""
    return np.asarray((share * (truth_of[None, :] == choice[:, None])).sum(axis=1))


def agreement_heatmap(consensus: Consensus) -> Any:
    """Draw how often every two judges agree on items they share, similar judges side by side."""
    judgments = consensus.judgments
    busiest = np.argsort(-judgments.counts_per_judge, kind="stable")[:_JUDGES]
    share, common = measure_pairs(consensus, busiest)
    order = _order_by_similarity(share)
    names = [shorten(judgments.judges[int(busiest[at])].as_py(), 22) for at in order]
    row, column = np.nonzero(common[np.ix_(order, order)] >= _LEAST)
    apart = row != column
    row, column = row[apart], column[apart]
    value = share[order[row], order[column]]
    data = layout.table(
        row=row,
        column=column,
        share=value,
        first=[names[at] for at in row],
        second=[names[at] for at in column],
        items=common[order[row], order[column]],
    )
    side = max(8, min(22, 360 // max(len(order), 1)))
    places = alt.Scale(domain=list(range(len(order))))
    label: dict[str, Any] = {"labelLimit": 130, "labelFontSize": min(11, side)}
    axis = alt.Axis(labelExpr=layout.pick_label(names), ticks=False, **label)
    chart = (
        alt.Chart(data)
        .mark_rect(aria=False, color=LIGHT.blue)
        .encode(
            x=alt.X("column:O", title=None, axis=alt.Axis(labels=False, ticks=False), scale=places),
            y=alt.Y("row:O", title=None, axis=axis, scale=places),
            fillOpacity=alt.FillOpacity(
                "share:Q",
                scale=alt.Scale(zero=False, range=[0.04, 1.0]),
                legend=None,
            ),
            tooltip=tooltip(
                {"first": "judge", "second": "judge", "share": "agree", "items": "items"},
                {"share": ".0%", "items": ","},
            ),
        )
        .properties(width=side * len(order), height=side * len(order))
    )
    grouped = 0 if consensus.families is None else len(list_groups(consensus.families.family))
    families = f"; {count_of(grouped, 'group')} of near-duplicates found" if grouped else ""
    which = "" if len(order) == judgments.judge_count else f" (the {len(order)} busiest)"
    said = "no two judges share enough items"
    if len(value):
        ends = f"{value.min():.0%} (pale) to {value.max():.0%} (dark)"
        said = f"two judges agree on {np.median(value):.0%} of items (median), from {ends}"
    return add_title(
        chart,
        "Who agrees with whom",
        f"{count_of(len(order), 'judge')}{which}, similar ones side by side; {said}{families}",
    )


def measure_pairs(
    consensus: Consensus, chosen: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:  # (judge, judge), (judge, judge)
    """Return how often two of the chosen judges agree, and on how many items they can."""
    judgments = consensus.judgments
    place = np.full(judgments.judge_count, -1)
    place[chosen] = np.arange(len(chosen))
    kept = place[judgments.judge] >= 0
    item, _ = np.unique(judgments.item[kept], return_index=True)
    item = item[layout.spread_places(len(item), _ITEMS)] if len(item) else item
    row = np.searchsorted(item, judgments.item)
    kept &= (row < len(item)) & (item[np.minimum(row, len(item) - 1)] == judgments.item)
    given = np.full((len(item), len(chosen)), -1, dtype=np.int16)
    given[row[kept], place[judgments.judge[kept]]] = judgments.label[kept]
    both = (given >= 0).astype(np.float32)
    common = both.T @ both
    same = np.zeros_like(common)
    for label in range(len(judgments.scale.labels)):
        those = (given == label).astype(np.float32)
        same += those.T @ those
    return np.asarray(same / np.maximum(common, 1), dtype=np.float64), common.astype(np.int64)


def _order_by_similarity(share: NDArray[np.float64]) -> NDArray[np.int64]:  # (judge,)
    """Return the judges so that those who agree most stand side by side."""
    if len(share) < 3:
        return np.arange(len(share))
    apart = 1.0 - (share + share.T) / 2
    np.fill_diagonal(apart, 0.0)
    tree = linkage(squareform(apart, checks=False), "average", optimal_ordering=True)
    return np.asarray(leaves_list(tree), dtype=np.int64)


def topic_disagreement(consensus: Consensus, items: pa.Table) -> Any:
    """Draw the mean disagreement of the topics whose judges disagree most."""
    judgments: Any = consensus.judgments
    value = items["disagreement"].to_numpy().astype(np.float64)
    known = np.isfinite(value)
    topic = judgments.topic[known]
    count = np.bincount(topic, minlength=judgments.topic_count)
    mean = np.bincount(topic, value[known], judgments.topic_count) / np.maximum(count, 1)
    able = np.flatnonzero(count >= min(_LEAST, count.max(initial=0)))
    order = able[np.argsort(-mean[able], kind="stable")]
    shown = order[:_TOPICS]
    names = [shorten(judgments.topics[int(code)].as_py(), 28) for code in shown]
    data = layout.table(place=range(len(shown)), topic=names, mean=mean[shown], items=count[shown])
    axis = alt.Axis(labelExpr=layout.pick_label(names), ticks=False, minExtent=60, labelLimit=160)
    bars = (
        alt.Chart(data)
        .mark_bar(color=LIGHT.blue, aria=False, size=9)
        .encode(
            x=alt.X("mean:Q", title="chance that two judgments differ", axis=alt.Axis(format="%")),
            y=alt.Y("place:O", title=None, axis=axis),
            tooltip=tooltip(
                {"topic": "topic", "mean": "differ", "items": "items"},
                {"mean": ".0%", "items": ","},
            ),
        )
    )
    overall = float(value[known].mean()) if known.any() else 0.0
    line = alt.Chart(layout.table(mean=[overall])).mark_rule(
        color=LIGHT.ink, strokeDash=[4, 4], aria=False
    )
    which = "worst first"
    if len(shown) < len(order):
        which = f"the {len(shown)} of {count_of(len(order), 'topic')} with most disagreement"
    return add_title(
        (bars + line.encode(x="mean:Q")).properties(width=340, height=max(60, 15 * len(shown))),
        "Disagreement by topic",
        f"{which}; dashes are the mean ({overall:.0%})",
    )
