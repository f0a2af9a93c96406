"""Arms and the report by arm over the API."""

from __future__ import annotations

import httpx
import pytest
from pydantic import TypeAdapter

from adjudge.collect.values.arms import ArmReport
from sites import LABELS, Api, Site


@pytest.fixture
def api(site: Site) -> httpx.Client:
    site.set_up()
    return Api(site, site.make_token()).client


def judge_all(api: httpx.Client, slug: str, key: str) -> None:
    """One who gives every result its right label but those of query 0."""
    sent = {"key": key, "kind": "person", "consent": True}
    ticket = api.post(f"/projects/{slug}/arrivals", json=sent).json()["ticket"]
    while (page := api.post(f"/judges/{ticket}/page").json()["page"]) is not None:
        answers = [
            {"row": row["row"], "label": label_of(group["query"], row["title"])}
            for group in page["groups"]
            for row in group["rows"]
        ]
        sent = {"key": page["key"], "answers": answers}
        assert api.post(f"/judges/{ticket}/pages/{page['page']}", json=sent).status_code == 200


def label_of(query: str, title: str) -> str:
    right = "good" in title
    return LABELS[0 if right != (query == "lamp number 0") else 1]


def test_arms_are_set_read_and_reported(site: Site, api: httpx.Client) -> None:
    slug = site.open_project(queries=4, judgments_per_item=1, judgments_by_arm=True)
    assert api.get(f"/projects/{slug}/arms").json() == {"arms": [{"name": "all"}], "warnings": []}
    expected = [
        {"name": "even", "training_mix": "uniform"},
        {"name": "as it is", "training_mix": "population", "feedback": False},
    ]
    set_to = api.put(f"/projects/{slug}/arms", json={"arms": expected}).json()["arms"]
    assert set_to == [expected[0], {**expected[1], "training_mix": {"Good": 8, "Bad": 8}}]
    for number in range(4):  # a block: both arms twice
        judge_all(api, slug, f"judge {number}")
    assert site.services.projects.get_progress(slug).closed == 12
    report = api.get(f"/projects/{slug}/arms/report", params={"resamples": 0}).json()
    assert (report["arms"], report["against"]) == (["even", "as it is"], "the project's gold")
    assert report["differences"] == []
    assert [row["came"] for row in report["funnel"]] == [2, 2]
    kinds = {type(value) for part in ("funnel", "measures") for row in report[part]
             for name, value in row.items() if name not in ("arm", "what", "measure")}  # fmt: skip
    assert kinds <= {int, float, type(None)}, "figures are numbers"
    assert TypeAdapter(ArmReport).validate_python(report).arms == ("even", "as it is")
    late = api.put(f"/projects/{slug}/arms", json={"preset": "feedback-or-none"})
    assert (late.status_code, late.json()["error"]["code"]) == (409, "arms-fixed")
