"""adjudge models: what the registry holds."""

from __future__ import annotations

from adjudge import MODELS
from commands import Run


def test_json_has_every_model(adjudge: Run) -> None:
    found = adjudge("models", "--json").json
    assert [entry["name"] for entry in found] == list(MODELS)
    vote = next(entry for entry in found if entry["name"] == "majority-vote")
    assert vote == {
        "name": "majority-vote",
        "class": "MajorityVote",
        "about": "The commonest label of each item; ties at random under the seed, or to one side.",
        "settings": {"weigh_copies": True, "by_topic": False, "ties": "random", "seed": 0},
    }


def test_the_page_names_every_model_and_fits(adjudge: Run) -> None:
    page = adjudge("models").out
    assert max(map(len, page.splitlines())) <= 80
    firsts = {line.split()[0] for line in page.splitlines() if line.strip()}
    assert set(MODELS) <= firsts
