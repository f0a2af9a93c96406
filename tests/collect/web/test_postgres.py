"""The pages and the API on PostgreSQL: the same way through."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import make_url

from sites import served


def test_judge_and_requester_on_postgresql(postgres: str, tmp_path: Path) -> None:
    engine = sa.create_engine(
        make_url(postgres).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT"
    )
    with engine.connect() as on:
        on.execute(sa.text("CREATE DATABASE site"))
    engine.dispose()
    url = make_url(postgres).set(database="site").render_as_string(hide_password=False)
    with served(tmp_path, database=url, secret_file=str(tmp_path / "secret")) as site:
        ada = site.set_up()
        slug = site.open_project(judgments_per_item=1)
        judge = site.browser().join(slug).train(slug)
        while judge.is_judging:
            judge.answer(slug).go_on(slug)
        assert "Thank you: you are done" in judge.words
        assert site.services.projects.get_progress(slug).closed == 12
        for tab in ("", "/judges", "/disagreements", "/gold", "/consensus", "/log", "/settings"):
            ada.get(f"/projects/{slug}{tab}")
        row = site.services.judges.get_all(slug)[0]
        ada.post(f"/projects/{slug}/judges/{row.judge}/block", sure="yes")
        assert site.services.projects.get_progress(slug).trusted == 0
        ada.post(f"/projects/{slug}/judges/{row.judge}/unblock")
        assert site.services.projects.get_progress(slug).trusted == 12
        assert len(ada.get(f"/projects/{slug}/results/export/answers").text.splitlines()) > 12
        assert ada.client.get("/readyz").status_code == 200
