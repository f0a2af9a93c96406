"""Work on the server's own machine: straight from its database."""

from __future__ import annotations

from adjudge.collect.services.judging import JudgingService
from adjudge.collect.values.judging import Answer, Arrival, JudgeView, Outcome, Page, ProjectView


class InProcessWork:
    """A model that judges on the server. ``key`` names it: the same key is the same judge."""

    def __init__(self, judging: JudgingService, slug: str, key: str) -> None:
        self._judging, self._slug, self._key = judging, slug, key
        self._judge = ""

    def project(self) -> ProjectView:
        """Guidelines and labels."""
        return self._judging.project(self._slug)

    def arrive(self) -> JudgeView:
        """Come in as a model, and consent."""
        arrival = Arrival(project=self._slug, channel="api", key=self._key, kind="model")
        view = self._judging.arrive(arrival)
        self._judge = view.judge
        return self._judging.consent(view.judge) if view.stage == "consent" else view

    def page(self) -> Page | None:
        """The next page, None where there is none."""
        return self._judging.page(self._judge)

    def submit(self, page: Page, answers: list[Answer]) -> Outcome:
        """Leave the answers."""
        return self._judging.submit(self._judge, page.page, page.key, answers)

    def state(self) -> JudgeView:
        """Where the judge stands."""
        return self._judging.state(self._judge)
