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
