"""Every route, option and code of the server stands on its pages."""

from __future__ import annotations

import re
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from adjudge.cli.serve import run
from adjudge.collect.web import (
    _health as health,
)
from adjudge.collect.web import (
    api_analysis,
    api_items,
    api_judges,
    api_judging,
    api_projects,
)
from adjudge.collect.web._errors import _STATUS
from adjudge.collect.web.app import API

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES = {
    name: (DOCS / "collect" / f"{name}.md").read_text("utf-8")
    for name in ("serve", "api", "safety")
}


def described() -> dict[str, Any]:
    app = FastAPI()
    for module in (api_judging, api_projects, api_judges, api_items, api_analysis):
        app.include_router(module.router, prefix=API)
    return app.openapi()


def operations() -> dict[tuple[str, str], str]:
    return {
        (method.upper(), path): operation["description"].splitlines()[0].replace("``", "`")
        for path, found in described()["paths"].items()
        for method, operation in found.items()
    }


def test_no_name_in_the_schema_is_private() -> None:
    schema = described()
    names = [*schema["components"]["schemas"]]
    names += [one["operationId"] for path in schema["paths"].values() for one in path.values()]
    assert [name for name in names if name.startswith("_")] == []


def test_every_route_of_the_api_is_told_as_it_is() -> None:
    told = re.findall(r"^\| `([A-Z]+)` \| `([^`]+)` \| (.*) \|$", PAGES["api"], re.MULTILINE)
    assert {(method, path): words for method, path, words in told} == operations()


@pytest.mark.parametrize("route", [route.path for route in health.router.routes])  # type: ignore[attr-defined]
def test_every_route_of_health_is_told(route: str) -> None:
    assert f"`{route}`" in PAGES["serve"]


@pytest.mark.parametrize("option", signature(run.run).parameters.values(), ids=lambda one: one.name)
def test_every_option_of_serve_is_told(option: Parameter) -> None:
    assert f"`{option.default.metadata['names'][0]}`" in PAGES["serve"]


def test_every_code_of_the_api_is_told() -> None:
    of_pages = {"form-forged", "not-joined", "link-forged", "link-expired", "bad-login", "too-many"}
    of_pages |= {"crowded"}
    for code in set(_STATUS) - of_pages:
        assert f"`{code}`" in PAGES["api"], code


def test_every_page_is_in_the_navigation() -> None:
    nav = (DOCS.parent / "mkdocs.yml").read_text("utf-8")
    for name in PAGES:
        assert f"collect/{name}.md" in nav


TESTS = Path(__file__).resolve().parents[1]
TABLES_OF_FIGURES = (
    "judges with 93% to 100% of gold right who",
    "answer work at random, a tenth of the crowd, 120 answers each",
    "answer work at random, a third of the crowd, 240 answers each",
    "give one label to all work, a tenth of the crowd, 60 answers each",
)


def test_the_threat_model_names_tests_that_are_there() -> None:
    model = PAGES["safety"].split("## Threat model")[1].split("\n## ")[0]
    named = set(re.findall(r"`([\w/]*test_\w+\.py)`", model))
    assert len(named) > 15
    assert [name for name in sorted(named) if not (TESTS / name).is_file()] == []


def test_every_line_of_safety_names_tests_that_are_there() -> None:
    """Files and functions: one that is renamed has to be renamed on the page."""
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \| ([^|]+) \|$", PAGES["safety"], re.MULTILINE)
    promises = {row[0]: row[1] for row in rows if "test_" in row[1]}
    others = {row[0] for row in rows} - set(promises)
    assert others <= {"danger", "rule", "---", *TABLES_OF_FIGURES}, "a line without its test"
    assert len(promises) > 50
    for danger, held in promises.items():
        for file, names in re.findall(r"`([\w./]+\.py)`: ((?:`\w+`(?:, )?)+)", held):
            text = (TESTS / file).read_text("utf-8")
            for name in re.findall(r"`(\w+)`", names):
                assert f"\ndef {name}(" in text, (danger, file, name)
