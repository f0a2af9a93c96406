"""Simulated judgments from stated populations of judges, with their known truth.

>>> from adjudge.data.scale import Scale
>>> from adjudge.simulation import Crowd, Population
>>> people = Population.parse("skilled(8,2):80,spammer:10,lazy:5,adversary:5", judges=40)
>>> crowd = Crowd(items=1000, population=people, scale=Scale.parse("0<1<2"), topics=20, gold=0.1)
>>> simulated = crowd.make(seed=7)
>>> simulated.judgments
Judgments(5,000 judgments, 1,000 items, 40 judges, 20 topics, scale 0 < 1 < 2)
>>> simulated.kinds.count("spammer"), len(simulated.truth), len(simulated.gold)
(4, 1000, 100)

``panels`` has the ready-made data of the demonstration. ``behaviours`` has simulated
judges who act and learn, sheet by sheet, wherever judgments are collected; ``http_client`` lets
them judge at a server, and ``crowd_spec`` says how many of which kind.
"""

from adjudge.simulation._crowd import Crowd, Simulated, number_names
from adjudge.simulation._judges import (
    KINDS,
    Adversary,
    Biased,
    Dirichlet,
    Given,
    Kind,
    Lazy,
    Matrix,
    Skilled,
    Spammer,
    TwoCoin,
)
from adjudge.simulation._population import Population
from adjudge.simulation.panels import (
    MODEL_NAME,
    copy_judge,
    demo,
)

__all__ = [
    "KINDS",
    "MODEL_NAME",
    "Adversary",
    "Biased",
    "Crowd",
    "Dirichlet",
    "Given",
    "Kind",
    "Lazy",
    "Matrix",
    "Population",
    "Simulated",
    "Skilled",
    "Spammer",
    "TwoCoin",
    "copy_judge",
    "demo",
    "number_names",
]
