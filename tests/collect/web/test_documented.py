"""Every option, health route and error code of the server is in the docs."""

from __future__ import annotations

from inspect import Parameter, signature
from pathlib import Path

import pytest

from adjudge.cli.serve import run
from adjudge.collect.web import (
    _health as health,
)
from adjudge.collect.web._errors import _STATUS

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES = {
    name: (DOCS / "collect" / f"{name}.md").read_text("utf-8")
    for name in ("serve", "api", "safety")
}


@pytest.mark.parametrize("route", [route.path for route in health.router.routes])  # type: ignore[attr-defined]
def test_every_route_of_health_is_documented(route: str) -> None:
    assert f"`{route}`" in PAGES["serve"]


@pytest.mark.parametrize("option", signature(run.run).parameters.values(), ids=lambda one: one.name)
def test_every_option_of_serve_is_documented(option: Parameter) -> None:
    assert f"`{option.default.metadata['names'][0]}`" in PAGES["serve"]


def test_every_code_of_the_api_is_documented() -> None:
    of_pages = {"form-forged", "not-joined", "link-forged", "link-expired", "bad-login", "too-many"}
    of_pages |= {"crowded"}
    for code in set(_STATUS) - of_pages:
        assert f"`{code}`" in PAGES["api"], code
