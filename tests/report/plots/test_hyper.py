from __future__ import annotations

import numpy as np

from adjudge import HierarchicalConfusion
from adjudge.report import Results
from adjudge.report.plots.sampling import hyper_priors, learnt_priors
from adjudge.simulation import demo
from charts import spec_with_data


def test_the_published_three(sampled: Results) -> None:
    draws = sampled.consensus.draws
    assert draws is not None
    priors = learnt_priors(draws, samples=10_000)
    assert [prior.name for prior in priors] == [
        "specificity of judges",
        "sensitivity of judges",
        "prevalence in topics",
    ]
    for prior, name in zip(priors, ("0", "1", "pi"), strict=True):
        np.testing.assert_allclose(prior.phi, draws.hyper[f"phi_{name}"].reshape(-1))
        np.testing.assert_allclose(prior.kappa, draws.hyper[f"kappa_{name}"].reshape(-1))
    panels = spec_with_data(hyper_priors(draws))["concat"]
    assert [len(panel["data"]["values"]) for panel in panels] == [120, 120, 120]


def test_any_number_of_truths() -> None:
    consensus = HierarchicalConfusion(chains=1, warmup=20, draws=30).fit(demo(3).judgments)
    assert consensus.draws is not None
    priors = learnt_priors(consensus.draws, samples=30)
    names = [prior.name for prior in priors]
    assert names[:3] == ["right on 0", "right on 1", "right on 2"]
    np.testing.assert_allclose(priors[1].phi, consensus.draws.hyper["phi"][0, :, 1, 1])
