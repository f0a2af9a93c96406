"""The sweep of the Gibbs sampler: the expectation sweep with a draw instead of an expectation.

Each item's truth is drawn from its posterior under the current prevalence and confusion, and the
judgments of the item are counted under the truth drawn. Counts are whole numbers. The posterior
itself is added up too, so that an item's probability is an average of posteriors and not a count
of draws (Rao-Blackwell).

The random number of an item depends on (seed, chain, iteration, item) alone: the key holds the
first three, scrambled, and an item's number is the SplitMix64 stream of that key at the item. So
neither blocks nor threads nor engines change a draw.

Arguments are those of ``adjudge.kernels.confusion``, and:

counts                  (judge * step + label, truth) judgments under each truth, flat, added to
classes                 (topic, truth) items of each truth, flat, added to
key                     the 64-bit key of this chain and iteration
number                  (item,) the number of each item in the data, whatever the order here
pivot                   (item,) a reference labelling, to notice when labels have switched
switch                  (pivot, truth) how often each truth was drawn for each pivot, flat, added to
mean                    (item, truth) posteriors added up, where ``keep`` is not 0
keep                    what a posterior is multiplied with before it is added: 1, 0, or -1
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import njit

from adjudge.kernels.confusion import _FEW, _UNLOG, U, exponentials
from adjudge.kernels.fixed import LOG, SMALLEST
from adjudge.kernels.ties import mixed

_GOLDEN = 0x9E3779B97F4A7C15
_TO_UNIT = 2.0**-53


@njit(cache=True, nogil=True)
def key_of(seed, chain, iteration):
    """The key under which a sweep draws: seed, chain and iteration scrambled into 64 bits."""
    key = mixed(U(seed) + U(_GOLDEN))
    key = mixed(key ^ (U(chain) + U(1)) * U(_GOLDEN))
    return mixed(key ^ (U(iteration) + U(1)) * U(_GOLDEN))


@cache
def drawing(truths: int) -> Callable[..., Any]:
    """The drawing sweep for so many truths, a constant of the compiled loop."""
    others = truths - 1

    @njit(cache=True, nogil=True)
    def draw(
        offsets,
        judge,
        label,
        start,
        stop,
        topic,
        topic_step,
        known,
        known_step,
        prior,
        ratio,
        step,
        key,
        number,
        counts,
        classes,
        pivot,
        switch,
        mean,
        keep,
    ):
        total = np.empty(_FEW * others, dtype=np.int64)  # (item, truth - 1)
        x = np.empty(_FEW * truths, dtype=np.float64)  # (item, truth)
        p = np.empty(_FEW * truths, dtype=np.float64)  # (item, truth)
        bits = np.empty(_FEW * truths, dtype=np.int64)
        scale = bits.view(np.float64)
        uniform = np.empty(_FEW, dtype=np.float64)
        drawn = np.empty(_FEW, dtype=np.int64)
        for begin in range(start, stop, _FEW):
            few = min(_FEW, stop - begin)
            for b in range(few):
                i = U(begin + b)
                here = U(topic[i * U(topic_step)]) * U(others)
                base = U(b * others)
                for k in range(others):
                    total[base + U(k)] = prior[here + U(k)]
                for m in range(U(offsets[i]), U(offsets[i + U(1)])):
                    cell = (U(judge[m]) * U(step) + U(label[m])) * U(others)
                    for k in range(others):
                        total[base + U(k)] += ratio[cell + U(k)]
            for b in range(few):
                most = 0
                for k in range(others):
                    most = max(most, total[U(b * others + k)])
                x[U(b * truths)] = -most * _UNLOG
                for k in range(others):
                    x[U(b * truths + k + 1)] = (total[U(b * others + k)] - most) * _UNLOG
                counter = (U(number[begin + b]) + U(1)) * U(_GOLDEN)
                uniform[b] = (mixed(key + counter) >> U(11)) * _TO_UNIT
            exponentials(x, bits, scale, p, few * truths)
            for b in range(few):
                whole = 0.0
                for k in range(truths):
                    whole += p[U(b * truths + k)]
                left = uniform[b] * whole
                chosen = 0
                for k in range(others):
                    left -= p[U(b * truths + k)]
                    chosen += left >= 0.0
                drawn[b] = chosen
                if keep != 0:
                    share = keep / whole
                    for k in range(truths):
                        p[U(b * truths + k)] *= share
            if known_step:
                for b in range(few):
                    truth = known[begin + b]
                    if truth >= 0:
                        drawn[b] = truth
                        for k in range(truths):
                            p[U(b * truths + k)] = keep if k == truth else 0.0
            for b in range(few):
                i = U(begin + b)
                chosen = U(drawn[b])
                switch[U(pivot[i]) * U(truths) + chosen] += 1
                classes[U(topic[i * U(topic_step)]) * U(truths) + chosen] += 1
                for m in range(U(offsets[i]), U(offsets[i + U(1)])):
                    counts[(U(judge[m]) * U(step) + U(label[m])) * U(truths) + chosen] += 1
            if keep != 0:
                for b in range(few):
                    for k in range(truths):
                        mean[begin + b, k] += p[U(b * truths + k)]

    return draw


@njit(cache=True, nogil=True)
def count_hard(
    offsets, judge, label, start, stop, topic, topic_step, choice, truths, step, counts, classes
):
    """Counts of judgments under a given truth of each item, as ``draw`` counts them."""
    for i in range(start, stop):
        chosen = choice[i]
        classes[topic[i * topic_step] * truths + chosen] += 1
        for m in range(offsets[i], offsets[i + 1]):
            counts[(judge[m] * step + label[m]) * truths + chosen] += 1


@njit(cache=True, nogil=True)
def draw_confusion(rng, counts, alpha, theta, ratio, mean, keep):
    """Confusion rows given counts, theta_j[k] ~ Dirichlet(alpha_k + counts), and their log ratios.

    ``counts`` is (judge, label, truth), as the sweep leaves them, ``alpha`` (truth, label),
    ``theta`` (judge, truth, label); ``ratio`` is what the sweep takes. Where ``keep`` is true, the
    expectation of theta given the counts is added to ``mean``.
    """
    judges, truths, labels = theta.shape
    others = truths - 1
    logs = np.empty((truths, labels), dtype=np.float64)
    for j in range(judges):
        for k in range(truths):
            whole = 0.0
            weight = 0.0
            for y in range(labels):
                shape = alpha[k, y] + counts[j, y, k]
                theta[j, k, y] = rng.standard_gamma(shape)
                whole += theta[j, k, y]
                weight += shape
            if keep:
                for y in range(labels):
                    mean[j, k, y] += (alpha[k, y] + counts[j, y, k]) / weight
            for y in range(labels):
                theta[j, k, y] /= whole
                logs[k, y] = math.log(max(theta[j, k, y], SMALLEST))
        for y in range(labels):
            for k in range(others):
                at = (j * labels + y) * others + k
                ratio[at] = np.int64((logs[k + 1, y] - logs[0, y]) * LOG)


@njit(cache=True, nogil=True)
def draw_prevalence(rng, classes, alpha, prevalence, prior, mean, keep):
    """Prevalence of each topic given counts, pi_t ~ Dirichlet(alpha + counts), and its log ratios.

    ``classes`` is (topic, truth), as the sweep leaves them; the rest is as in ``draw_confusion``.
    """
    topics, truths = prevalence.shape
    others = truths - 1
    for t in range(topics):
        whole = 0.0
        weight = 0.0
        for k in range(truths):
            prevalence[t, k] = rng.standard_gamma(alpha[k] + classes[t, k])
            whole += prevalence[t, k]
            weight += alpha[k] + classes[t, k]
        if keep:
            for k in range(truths):
                mean[t, k] += (alpha[k] + classes[t, k]) / weight
        for k in range(truths):
            prevalence[t, k] /= whole
        base = math.log(max(prevalence[t, 0], SMALLEST))
        for k in range(others):
            log = math.log(max(prevalence[t, k + 1], SMALLEST))
            prior[t * others + k] = np.int64((log - base) * LOG)
