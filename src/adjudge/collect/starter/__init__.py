"""The starter project: product search, four labels, invented items whose right answers are known.

The labels and guidelines follow Le, Edmonds, Hester and Biewald (SIGIR 2010 workshop on
crowdsourcing), section 4.2. Work has the label mix of their test set, gold has every label equally
often. Three gold items in ten train, under queries of their own; the others screen, under queries
that are judged.
"""

from __future__ import annotations

from importlib import resources

from adjudge.collect.importing import ImportLimits, Upload, read
from adjudge.collect.values.project import Project
from adjudge.data.scale import Scale

_SCALE = Scale(
    labels=("Matching", "Not Matching", "Off Topic", "Spam"),
    relevant=("Matching",),
    grades=(1.0, 0.0, 0.0, 0.0),
)


def make_starter() -> Project:
    """Return a project to try everything with: 200 items to judge and 100 with gold."""
    files = resources.files(__package__)
    items = Upload(name="items.csv", body=files.joinpath("items.csv").read_bytes())
    found = read([items], scale=_SCALE, limits=ImportLimits()).check()
    return Project(
        name="Product search",
        scale=_SCALE,
        guidelines=files.joinpath("guidelines.md").read_text("utf-8"),
        items=found.items,
        golds=found.golds,
    )
