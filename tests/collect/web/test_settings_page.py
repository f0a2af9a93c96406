"""The settings of a project: five that everybody sets, the rest advanced, with defaults."""

from __future__ import annotations

import re

from adjudge.collect.rules.policy import Policy
from adjudge.collect.web import _policy_form
from sites import Site


def test_five_first_and_every_other_once() -> None:
    first = [field.name for field in _policy_form.basics(Policy())]
    rest = [
        field.name for part in _policy_form.parts(Policy()) for field in (*part.flags, *part.fields)
    ]
    assert len(first) == 5
    assert sorted(first + rest) == sorted(Policy().to_dict())
    under = {field.name: part.title for part in _policy_form.parts(Policy())
             for field in (*part.flags, *part.fields)}  # fmt: skip
    assert (under["screening_mix"], under["images"]) == ("Hidden gold", "What judges see")


def test_sending_the_page_as_it_is_changes_nothing(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project()
    ada.get(f"/projects/{slug}/settings")
    before = site.services.projects.get_policy(slug)
    assert "Default: 5." in ada.words
    assert "Default: on." in ada.words
    form: dict[str, list[str]] = {}
    part = ada.text[ada.text.index('id="policy"') :]
    part = part[: part.index("</form>")]
    for tag in re.findall(r"<input[^>]*>", part):
        name = re.search(r'name="([^"]+)"', tag)
        value = re.search(r'value="([^"]*)"', tag)
        if name and value and ('type="checkbox"' not in tag or " checked" in tag):
            form.setdefault(name[1], []).append(value[1])
    select = re.compile(r'<select id="\w+" name="(\w+)">(.*?)</select>', re.DOTALL)
    for name, options in select.findall(part):
        form[name] = re.findall(r"<option selected>([^<]*)", options)
    form.pop("proof")
    ada.post(f"/projects/{slug}/settings/policy", **form)
    assert site.services.projects.get_policy(slug) == before
    ada.post(f"/projects/{slug}/settings/policy", **{**form, "judgments_per_item": "7"})
    assert site.services.projects.get_policy(slug)[0].judgments_per_item == 7


def test_the_tour_of_four_steps_can_be_left(site: Site) -> None:
    ada = site.set_up()
    ada.get("/projects")
    assert "From a file to labels in four steps" in ada.words
    assert ada.text.count("<li><strong>") == 4
    assert "No project yet" in ada.words
    ada.post("/projects/starter")  # as there is one from the first with "serve --demo"
    ada.get("/projects")
    assert "in four steps" in ada.words
    ada.post("/account/tour")
    ada.get("/projects")
    assert "in four steps" not in ada.words
