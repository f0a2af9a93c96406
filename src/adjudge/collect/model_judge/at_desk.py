"""Work on the server's own machine: straight from its database."""

from __future__ import annotations

from adjudge.collect.services.desk import Desk
from adjudge.collect.values.judging import Answer, Arrival, JudgeView, Outcome, Page, ProjectView


class AtDesk:
    """A model that judges at the desk itself. ``key`` names it: the same key is the same judge."""

    def __init__(self, desk: Desk, slug: str, key: str) -> None:
        self._desk, self._slug, self._key = desk, slug, key
        self._judge = ""

    def project(self) -> ProjectView:
        """Guidelines and labels."""
        return self._desk.project(self._slug)

    def arrive(self) -> JudgeView:
        """Come in as a model, and consent."""
        arrival = Arrival(project=self._slug, channel="api", key=self._key, kind="model")
        view = self._desk.arrive(arrival)
        self._judge = view.judge
        return self._desk.consent(view.judge) if view.stage == "consent" else view

    def page(self) -> Page | None:
        """The next page, None where there is none."""
        return self._desk.page(self._judge)

    def submit(self, page: Page, answers: list[Answer]) -> Outcome:
        """Leave the answers."""
        return self._desk.submit(self._judge, page.page, page.key, answers)

    def state(self) -> JudgeView:
        """Where the judge stands."""
        return self._desk.state(self._judge)
