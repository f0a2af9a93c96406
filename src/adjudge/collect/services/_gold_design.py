"""Designing gold: sets with a given label mix, and how much is needed.

Judges learn the mix of labels that training shows them and lean towards it (Le and others, 2010),
and a judge who meets a gold again knows the answer: so the mix should be even, and gold plenty.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from adjudge.collect.rules.decisions import training_length
from adjudge.collect.rules.golds import GoldCard, choose_training, quota
from adjudge.collect.rules.policy import Policy
from adjudge.collect.values.gold import GoldDesign, GoldForecast
from adjudge.collect.values.project import Mix
from adjudge.data.source import count_of
from adjudge.errors import BadSetting

_Key = TypeVar("_Key", bound=Hashable)

_SKEWED = 0.5  # a label with more than this share,
_AHEAD = 1.5  # and so many times the share of the next one, rules a mix


def design(
    candidates: Sequence[GoldCard[_Key]],
    *,
    training: int,
    training_mix: Mix = "uniform",
    screening_mix: Mix = "any",
    labels: Sequence[str] = (),
    seed: int = 0,
) -> GoldDesign[_Key]:
    """A training set of so many golds to its label mix, and a screening set: all the others.

    Where a label has too little gold the set is filled with others, and what is missing is
    reported. ``labels`` are those of the scale.
    """
    if training < 0:
        raise BadSetting("training", training, "0 golds or more")
    rng = np.random.default_rng(seed)
    named = list(labels) or sorted({card.label for card in candidates})
    label_of = {card.item: card.label for card in candidates}
    if len(label_of) < len(candidates):
        raise BadSetting("candidates", len(candidates), "each item once")
    first = choose_training(candidates, training, _order(training_mix, named), rng)
    taken = set(first)
    rest = [card for card in candidates if card.item not in taken]
    second = choose_training(rest, len(rest), _order(screening_mix, named), rng)
    missing, counts, warnings = {}, {}, []
    for what, chosen, size, mix in (
        ("training", first, training, training_mix),
        ("screening", second, len(rest), screening_mix),
    ):
        have = Counter(label_of[item] for item in chosen)
        counts[what] = {label: have[label] for label in named}
        missing[what] = count_missing(have, size, mix, named)
        warnings += _set_warnings(what, have, size, missing[what], named)
    return GoldDesign(
        training=tuple(first),
        screening=tuple(second),
        missing=missing,
        counts=counts,
        warnings=tuple(warnings),
    )


def _order(mix: Mix, labels: Sequence[str]) -> Mix:
    """A mix whose labels are in the order of the scale, by which ties of its quota are broken."""
    if isinstance(mix, str):
        return mix
    strange = [label for label in mix if label not in labels]
    if strange:
        raise BadSetting("mix", strange[0], f"labels of the scale: {', '.join(labels)}")
    return {label: mix.get(label, 0.0) for label in labels}


def _set_warnings(
    what: str,
    have: Mapping[str, int],
    size: int,
    missing: Mapping[str, int],
    labels: Sequence[str],
) -> list[str]:
    said = []
    if sum(have.values()) < size:
        said.append(f"The {what} set has {count_of(sum(have.values()), 'gold')} of {size} needed.")
    if missing:
        listed = ", ".join(f"{count} {label}" for label, count in missing.items())
        said.append(f"The {what} set lacks gold for its mix: {listed}.")
    return said + warn_of_skew(have, labels, what=what)


def forecast(
    policy: Policy,
    *,
    items: int,
    labels: Sequence[str],
    judges: int,
    training: Sequence[GoldCard[_Key]] = (),
    screening: Sequence[GoldCard[_Key]] = (),
) -> GoldForecast:
    """What gold a project needs, from its items, judgments per item, page layout and judges."""
    if items < 0 or judges < 1:
        name, value = ("items", items) if items < 0 else ("judges", judges)
        raise BadSetting(name, value, "at least 1 judge, and no fewer than 0 items")
    work = policy.work_per_page
    golds = policy.pairs_per_page - work
    total = items * policy.judgments_per_item
    pages = math.ceil(total / work - 1e-9)
    most = min(math.ceil(items / work - 1e-9), policy.max_pages or 10**9)
    each = min(pages / judges, float(most))
    # A try takes unseen gold while there is some.
    trained = policy.training_pairs * policy.training_tries if policy.training else 0
    screened = math.ceil(each * golds - 1e-9)
    have = len({card.item for card in (*training, *screening)})
    label_needs = _needs_by_label(policy, labels, trained, screened, (*training, *screening))
    made = GoldForecast(
        items=items,
        judgments=total,
        pages=pages,
        judges=judges,
        pages_a_judge=each,
        pages_at_most=most,
        training=trained,
        screening=screened,
        typical=trained + screened,
        busiest=trained + math.ceil(most * golds - 1e-9),
        have=have,
        by_label=label_needs,
        shown_each=judges * min(trained + screened, have) / have if have else 0.0,
        by_role={
            "training": dict(Counter(card.label for card in training)),
            "screening": dict(Counter(card.label for card in screening)),
        },
    )
    said = _forecast_warnings(made, policy, most * work * judges)
    shown = training_length(policy, len(training))
    mix = expect_mix(training, shown, policy.training_mix, labels)
    said += warn_of_skew(mix, labels)
    return replace(made, warnings=tuple(said))


def _needs_by_label(
    policy: Policy,
    labels: Sequence[str],
    trained: int,
    screened: int,
    cards: Sequence[GoldCard[_Key]],
) -> dict[str, tuple[int, ...]]:
    """How much gold of each label the mixes want, and how much there is."""
    label_of = {card.item: card.label for card in cards}
    have = Counter(label_of.values())
    needed: Counter[str] = Counter()
    own = {label: float(have[label]) for label in labels}
    for count, mix in ((trained, policy.training_mix), (screened, policy.screening_mix)):
        as_it_is = mix == "any" and sum(own.values()) > 0
        needed.update(quota(own if as_it_is else mix, labels, count))
    return {label: (needed[label], have[label]) for label in labels}


def _forecast_warnings(made: GoldForecast, policy: Policy, room: float) -> list[str]:
    """Gold that runs out, labels that do, and too few judges."""
    said = []
    ends = {"repeat": "gold repeats", "none": "screening stops", "finish": "they are finished"}
    if made.have < made.typical:
        said.append(
            f"A typical judge meets {count_of(made.typical, 'gold')} and there "
            f"{'is' if made.have == 1 else 'are'} {made.have}: then "
            f"{ends[policy.gold_runs_out]}. {made.typical - made.have} more "
            f"{'is' if made.typical - made.have == 1 else 'are'} needed."
        )
    elif made.have < made.busiest:
        said.append(
            f"Gold lasts a typical judge ({made.typical} of {made.have}), but not one who does all "
            f"they may ({made.busiest}): then {ends[policy.gold_runs_out]}."
        )
    short = [
        f"{needed - had} {label}" for label, (needed, had) in made.by_label.items() if had < needed
    ]
    if short and made.have >= made.typical:
        said.append(f"The label mix lacks gold: {', '.join(short)}.")
    if room < made.judgments:
        said.append(
            f"{count_of(made.judges, 'judge')} can give {room:,.0f} judgments at most, and "
            f"{made.judgments:,} "
            "are needed: nobody judges an item twice."
        )
    return said


# -- mixes


def count_missing(
    have: Mapping[str, float], size: int, mix: Mix, labels: Sequence[str]
) -> dict[str, int]:
    """By how much each label falls short of its quota."""
    if mix == "any":
        return {}
    lacking = {
        label: count - int(have.get(label, 0)) for label, count in quota(mix, labels, size).items()
    }
    return {label: count for label, count in lacking.items() if count > 0}


def find_ruling(mix: Mapping[str, float], labels: Sequence[str]) -> tuple[str, float] | None:
    """The label that rules a mix, and its share; None where the mix is even enough."""
    total = sum(mix.values())
    if not total or len(labels) < 2:
        return None
    shares = sorted(((mix.get(label, 0) / total, label) for label in labels), reverse=True)
    (most, label), (next_most, _) = shares[0], shares[1]
    skewed = most > _SKEWED and most >= _AHEAD * next_most - 1e-9
    return (label, most) if skewed else None


def find_absent(mix: Mapping[str, float], labels: Sequence[str]) -> list[str]:
    """The labels that a mix has nothing of; none for an empty mix."""
    return [label for label in labels if not mix.get(label, 0)] if sum(mix.values()) else []


def warn_of_skew(
    mix: Mapping[str, float], labels: Sequence[str], *, what: str = "training"
) -> list[str]:
    """What is wrong with a mix of labels, in sentences: one that rules, and those never shown."""
    said = []
    rules = find_ruling(mix, labels)
    if rules is not None:
        label, most = rules
        said.append(
            f"{most:.0%} of the {what} gold is {label}: judges learn to expect it and lean to it, "
            "and whoever always gives it looks good. An even mix gave the best labels in the "
            "experiment of Le and others (2010)."
        )
    none = find_absent(mix, labels)
    if none:
        said.append(f"No {what} gold is {' or '.join(none)}: judges never meet one there.")
    return said


def expect_mix(
    cards: Sequence[GoldCard[Any]], count: int, mix: Mix, labels: Sequence[str]
) -> dict[str, float]:
    """How many golds of each label a judge's set of so many has, on average, from these cards."""
    pool = Counter(card.label for card in cards)
    count = min(count, len(cards))
    if not count:
        return dict.fromkeys(labels, 0.0)
    if mix == "any":
        return {label: count * pool[label] / len(cards) for label in labels}
    quotas = quota(mix, labels, count)
    got = {label: min(quotas[label], pool[label]) for label in labels}
    spare = {label: pool[label] - got[label] for label in labels}
    left, room = count - sum(got.values()), sum(spare.values())
    return {label: got[label] + (left * spare[label] / room if room else 0.0) for label in labels}
