"""Every health route and error code of the server is in the docs; docs/cli.md is generated."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def test_every_code_of_the_api_is_documented() -> None:
    of_pages = {"form-forged", "not-joined", "link-forged", "link-expired", "bad-login", "too-many"}
    of_pages |= {"crowded"}
    for code in set(_STATUS) - of_pages:
        assert f"`{code}`" in PAGES["api"], code
