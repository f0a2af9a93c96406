"""The page of an experiment, in a browser without scripts."""

from __future__ import annotations

import re

from adjudge.collect.values.project import Arm
from sites import Site


def test_what_cannot_be_set_is_said_and_nothing_is_stored(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project()
    for form, words in (
        ({"preset": "five-mixes"}, "expected the labels Matching"),
        ({"preset": "nonsense"}, "there is no preset of arms"),
        ({}, "1 to"),
    ):
        ada.get(f"/projects/{slug}/settings/experiments")
        response = ada.client.post(
            f"/projects/{slug}/settings/experiments", data={"proof": ada.proof, **form}
        )
        assert 400 <= response.status_code < 500, (form, response.status_code)
        ada._see(response)
        assert words.casefold() in ada.words.casefold(), (words, ada.words)
    assert [arm.name for arm in site.services.arms.get_all(slug)] == ["all"]
    site.browser().join(slug)
    ada.get(f"/projects/{slug}/settings/experiments")
    other = re.sub(r'(?<=name="name" value=")all', "other", ada.text)
    ada.post(f"/projects/{slug}/settings/experiments", expect=409, **fields_of(other))
    assert "you can only add arms" in ada.words
    other = site.browser()
    other.get(f"/projects/{slug}/settings/experiments", expect=303)


def test_arms_are_set_by_a_form_and_what_was_typed_stays(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project(pay_per_page="0.20")
    here = f"/projects/{slug}/settings/experiments"
    ada.get(here)
    assert ada.words.count("as in the settings: yes") == 3, "one arm, and room for two more"
    assert 'placeholder="as in the settings: 0.20"' in ada.text
    form: dict[str, list[str]] = {
        "name": ["plain", "coached", ""],
        "training_mix": ["", "Good: 0.25, Bad: 0.75", ""],
        "screening_mix": ["", "uniform", ""],
        "feedback": ["", "no", ""],
        "refresher_pairs": ["", "3", ""],
        "pay_per_page": ["", "0.30", ""],
        "pay_failed": ["", "", ""],
        "guidelines": ["", "# Look twice", ""],
    }
    for name, wrong, words in (
        (
            "refresher_pairs",
            "three",
            "“Items in a refresher” of arm coached = 'three': expected a whole number",
        ),
        ("training_mix", "Good: much", "a share of at least 0 for each label"),
        ("training_mix", "Nice: 1", "expected labels of the scale: Good, Bad"),
        ("pay_per_page", "lots", "an amount from 0 to 1,000,000"),
        ("name", "plain", "a name that no other arm has"),
    ):
        sent = {**form, name: [form[name][0], wrong, ""]}
        ada.get(here)
        ada.post(here, expect=422, **sent)
        assert words in ada.words, (name, ada.words)
        assert "# Look twice</textarea>" in ada.text
        assert f'value="{wrong}"' in ada.text
    assert [arm.name for arm in site.services.arms.get_all(slug)] == ["all"]
    ada.post(here, **form)
    expected = Arm(
        name="coached", training_mix={"Good": 0.25, "Bad": 0.75}, screening_mix="uniform",
        feedback=False, refresher_pairs=3, pay_per_page="0.30", guidelines="# Look twice",
    )  # fmt: skip
    assert tuple(site.services.arms.get_all(slug)) == (Arm(name="plain"), expected)
    ada.get(here)
    assert 'value="Good: 0.25, Bad: 0.75"' in ada.text
    before = site.services.arms.get_all(slug)
    ada.post(here, **fields_of(ada.text))
    assert site.services.arms.get_all(slug) == before, "what the form shows is what it sends"


def fields_of(text: str) -> dict[str, list[str]]:
    """What a browser would send of the form of arms."""
    (form,) = re.findall(r'(<fieldset class="part">.*?)</form>', text, flags=re.DOTALL)
    sent: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input id="arm-[^"]*" name="(\w+)" value="([^"]*)"', form):
        sent.setdefault(name, []).append(value)
    for name, body in re.findall(
        r'<textarea [^>]*name="(\w+)"[^>]*>(.*?)</textarea>', form, re.DOTALL
    ):
        sent.setdefault(name, []).append(body)
    for name, body in re.findall(r'<select [^>]*name="(\w+)">(.*?)</select>', form, re.DOTALL):
        chosen = re.findall(r"<option selected>(\w+)", body)
        sent.setdefault(name, []).append(chosen[0] if chosen else "")
    return sent
