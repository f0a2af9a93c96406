"""Figures and pages made from results; nothing is estimated here.

- ``gather`` collects what there is to show of a consensus: ``Results``.
- ``FIGURES`` are the figures by name; ``draw`` makes one, ``save`` writes it as PNG, SVG or HTML.
- ``write_report`` makes the page: one file, which asks no network for anything.

Nothing is imported before it is used: Altair, Jinja2 and the drawing engine are heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjudge.report.figures import FIGURES, Figure, draw
    from adjudge.report.page import report_html, write_report
    from adjudge.report.results import Provenance, Results, gather
    from adjudge.report.saving import save

__all__ = [
    "FIGURES",
    "Figure",
    "Provenance",
    "Results",
    "draw",
    "gather",
    "report_html",
    "save",
    "write_report",
]

_HOMES = {
    "FIGURES": "figures",
    "Figure": "figures",
    "Results": "results",
    "Provenance": "results",
    "draw": "figures",
    "gather": "results",
    "report_html": "page",
    "save": "saving",
    "write_report": "page",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
