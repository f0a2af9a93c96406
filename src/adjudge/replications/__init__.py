"""A folder a paper: its published values beside those obtained here; nothing is tuned to agree.

The papers that can be replicated, by the names they have on the command line.
"""

from __future__ import annotations

from importlib import import_module
from typing import cast

from adjudge.errors import UnknownName
from adjudge.replications.replication import Replication

# A paper's name is that of its folder, which is imported when the paper is asked for.
PAPERS: dict[str, str] = {
    "zscore": "Improving Consensus Accuracy via Z-score and Weighted Voting (2011)",
    "pmf": "Inferring Missing Relevance Judgments via Matrix Factorization (2012)",
    "hierarchical": "A Hierarchical Bayesian Model of Crowdsourced Relevance Coding (2011)",
    "truelabel": "TrueLabel + Confusion: A Spectrum of Probabilistic Models (2012)",
    "training": "Ensuring Quality: The Effects of Training Question Distribution (2010)",
}


def find_paper(name: str, *, through_server: bool = False) -> Replication:
    """The replication of a paper, or an error that suggests the nearest name.

    ``training`` can also be replicated through the real server.
    """
    if name not in PAPERS:
        raise UnknownName("paper", name, (*PAPERS, "all"))
    module = f"adjudge.replications.{name}{'._through' if through_server else ''}"
    return cast(Replication, import_module(module).REPLICATION)
