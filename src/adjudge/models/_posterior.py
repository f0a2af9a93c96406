"""From chains to a consensus: what the Bayesian models share before and after they sample."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.draws import Draws
from adjudge.data.judgments import Judgments
from adjudge.data.source import count_of
from adjudge.engines.engine import Parameters, Sampler
from adjudge.errors import BadSetting
from adjudge.models._gibbs import Chain, Prior, make_room, run_chains, stride_of
from adjudge.models._notes import describe_empty_classes
from adjudge.models._relabelling import Separate, TruthOrder, describe_order, order_of, separate
from adjudge.models._weighted_sweeps import WeightedSampler
from adjudge.models.expectation import prior_counts
from adjudge.models.model import (
    Prepared,
    checkpoint_of,
    conclude,
    free_memory,
    pick,
    prepare,
)
from adjudge.models.settings import Given, fixed_prevalence


def learnt_prior(given: Given) -> Prior:
    """A prior to be learnt, started from judges who are right somewhat more often than not.

    Without gold nothing in it distinguishes truths, so switched truths may be put back.
    """
    scale = given.judgments.scale
    return Prior(
        confusion=prior_counts(scale, 3.0),
        prevalence=np.ones(len(scale.truths)),
        learnt=True,
        exchangeable=given.gold is None or len(given.gold) == 0,
    )


def sample_model(model: Any, given: Given, prior: Prior) -> Consensus:
    """Sample a model with that prior, and put the draws together."""
    by_topic = model.by_topic and given.judgments.topics is not None
    prepared = prepare(*given[:3], by_topic=by_topic, copies=model.weigh_copies)
    table = prepared.judgments
    scale = table.scale
    fixed = fixed_prevalence(model.prevalence, scale)
    prior = prior.with_prevalence(fixed)
    topics = table.topic_count if by_topic else 1
    stride = stride_of(model, table.judge_count, topics, len(scale.truths), len(scale.labels))
    _check_memory(model, prepared, topics, stride)
    votes, _ = prepared.sweeps.posterior(None, own=True)
    pivot, _ = pick(votes, table, ties="random", seed=model.seed)
    choices = [
        pick(votes, table, ties="random", seed=model.seed + 7919 * chain)[0]
        for chain in range(model.chains)
    ]
    sampler: Sampler = prepared.engine.sampler(
        prepared.split,
        prepared.known,
        by_topic=by_topic,
        seed=model.seed,
        chains=model.chains,
        pivot=pivot,
    )
    if prepared.weighted:
        sampler = WeightedSampler(sampler, prepared.effective)
    chains = [Chain() for _ in range(model.chains)]
    kept = make_room(chains, model, prior, stride, table.judge_count, topics)
    cut = run_chains(
        sampler,
        choices,
        prior,
        model,
        stride,
        chains,
        threads=prepared.engine.threads,
        progress=given.progress,
        checkpoint=checkpoint_of(prepared, model),
    )
    orders: list[TruthOrder | None] = [None] * model.chains
    alike = not np.ptp(prior.prevalence)  # else the prior distinguishes truths, as gold does
    if not prior.learnt and prepared.known is None and alike:  # learnt priors order each sweep
        parts = separate(table, by_topic=by_topic, topics=topics)
        orders = [_ordered(chain, kept, n, parts, table) for n, chain in enumerate(chains)]
    switched = describe_order(next((order for order in orders if order is not None), None), scale)
    if fixed is not None:
        kept["prevalence"][:] = fixed
    draws = _together(chains, kept, model, stride, prior, table, by_topic)
    swept = sum(chain.swept for chain in chains)
    means = (
        sampler.mean(n) if order is None else order.items(sampler.mean(n))
        for n, order in enumerate(orders)
    )
    posterior = np.asarray(sum(means) / swept)
    posterior /= posterior.sum(axis=1, keepdims=True)
    parameters = Parameters(
        prevalence=sum(chain.prevalence_sum for chain in chains) / swept,
        confusion=sum(chain.confusion_sum for chain in chains) / swept,
    )
    counts = sum(chain.counts_sum for chain in chains).transpose(0, 2, 1) / swept
    if prepared.weighted:  # judges are measured by all of their judgments alike
        sums = counts.sum(axis=(1, 2), keepdims=True)
        counts = counts * table.counts_per_judge[:, None, None] / np.maximum(sums, 1e-12)
    if fixed is not None:
        parameters = replace(parameters, prevalence=np.tile(fixed, (topics, 1)))
    warned = draws.warnings()
    empty = describe_empty_classes(model, table, posterior)
    notes = (_story(model, draws, cut), *switched, *warned, *empty)
    consensus = conclude(
        model,
        prepared,
        parameters,
        posterior=posterior,
        counts=np.ascontiguousarray(counts),
        population=_population(prior, draws, counts),
        notes=notes,
    )
    return replace(consensus, draws=draws, converged=not cut and not warned)


def _ordered(
    chain: Chain, kept: dict[str, NDArray[Any]], number: int, parts: Separate, table: Judgments
) -> TruthOrder | None:
    """Put the truths of a chain that ended with others in their places back; its order."""
    order = order_of(chain.counts_sum.transpose(0, 2, 1), table.scale, parts)
    if order is not None:
        chain.confusion_sum = order.judges(chain.confusion_sum)
        chain.prevalence_sum = order.topics(chain.prevalence_sum)
        chain.counts_sum = order.judges(chain.counts_sum.transpose(0, 2, 1)).transpose(0, 2, 1)
        kept["confusion"][number] = order.judges(kept["confusion"][number])
        kept["prevalence"][number] = order.topics(kept["prevalence"][number])
        chain.relabelled += chain.done
    return order


def _population(
    prior: Prior, draws: Draws, counts: NDArray[np.float64]
) -> NDArray[np.float64]:  # (truth, label)
    """The confusion of a judge nobody has seen: the learnt prior's mean, or all judges together."""
    if prior.learnt:
        mean = draws.hyper["phi"].mean(axis=(0, 1))
        return np.asarray(mean / mean.sum(axis=1, keepdims=True))
    total = counts.sum(axis=0) + prior.confusion
    return np.asarray(total / total.sum(axis=1, keepdims=True))


def _together(
    chains: list[Chain],
    kept: dict[str, NDArray[Any]],
    model: Any,
    stride: int,
    prior: Prior,
    table: Judgments,
    by_topic: bool,
) -> Draws:
    """The chains in parallel, each cut to the length of the shortest."""
    least = min(chain.done for chain in chains)
    rows = -(-least // stride)
    names = ("phi", "kappa") if prior.learnt else ()
    if prior.learnt and not prior.fixed:
        names = ("phi_prevalence", "kappa_prevalence", *names)
    return Draws(
        hyper={name: kept[name][:, :least] for name in names},
        prevalence=kept["prevalence"][:, :rows],
        confusion=kept["confusion"][:, :rows],
        scale=table.scale,
        judges=table.judges,
        topics=table.topics if by_topic else None,
        warmup=model.warmup,
        thin=model.thin,
        stride=stride,
        relabelled=sum(chain.relabelled for chain in chains),
    )


def _story(model: Any, draws: Draws, cut: bool) -> str:
    """A sentence on how the run went."""
    text = (
        f"{count_of(model.chains, 'chain')} of {count_of(draws.draws, 'draw')} after "
        f"{count_of(model.warmup, 'iteration')} of warm-up"
        f"{f', every {model.thin}th iteration' if model.thin > 1 else ''}"
    )
    if cut:
        text += f"; stopped by Ctrl-C before the {model.draws:,} asked for: what was drawn is kept"
    if draws.relabelled:
        text += f"; {count_of(draws.relabelled, 'draw')} relabelled (label switching)"
    return text


def _check_memory(model: Any, prepared: Prepared, topics: int, stride: int) -> None:
    """Refuse chains that would not fit into memory, before the first sweep."""
    table = prepared.judgments
    truths, labels = len(table.scale.truths), len(table.scale.labels)
    rates = table.judge_count * truths * labels + topics * truths
    each = table.item_count * truths * 8 + rates * (8 * 6 + 4 * -(-model.draws // stride))
    free = free_memory()
    if free is not None and model.chains * each > free:
        raise BadSetting(
            "chains",
            model.chains,
            f"at most {max(free // each, 0)}: each takes {each / 2**30:.1f} GB "
            f"and {free / 2**30:.1f} GB are free",
        )
