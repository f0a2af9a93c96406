"""Figures and pages made from results; nothing is estimated here.

- ``gather`` collects what there is to show of a consensus: ``Results``.
- ``FIGURES`` are the figures by name; ``draw`` makes one, ``save`` writes it as PNG, SVG or HTML.
- ``write_report`` makes the page: one file, which asks no network for anything.

Nothing is imported before it is used: Altair, Jinja2 and the drawing engine are heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.lazy import export

if TYPE_CHECKING:
    from adjudge.report.page import report_html as report_html
    from adjudge.report.page import write_report as write_report
    from adjudge.report.plots.figures import FIGURES as FIGURES
    from adjudge.report.plots.figures import Figure as Figure
    from adjudge.report.plots.figures import draw as draw
    from adjudge.report.results import Provenance as Provenance
    from adjudge.report.results import Results as Results
    from adjudge.report.results import gather as gather
    from adjudge.report.saving import save as save

__getattr__, __dir__ = export(__name__, __file__)
