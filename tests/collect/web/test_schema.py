"""The API under requests made up from its own schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import requests
from fastapi import FastAPI
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, given, settings

from adjudge.collect.web import (
    api_analysis,
    api_items,
    api_judges,
    api_judging,
    api_projects,
)
from adjudge.collect.web.app import API
from sites import Site, served
from sizes import sized

pytestmark = pytest.mark.slow

EXAMPLES = sized(4, full=50)  # of each operation
# Where the parts of a request have to fit each other (gold on the scale, a file of items), which no
# schema can say: refusing it is no fault there.
MEANING = {
    ("/api/v1/projects", "post"),
    ("/api/v1/projects/{project}/import", "post"),
    ("/api/v1/projects/{project}/policy", "patch"),
    ("/api/v1/projects/{project}/golds", "patch"),
    ("/api/v1/projects/{project}/arms", "put"),
    ("/api/v1/projects/{project}/item/adjudicate", "post"),
    ("/api/v1/projects/{project}/questions", "put"),
    ("/api/v1/projects/{project}/consensus", "post"),
}


MODULES = (api_judging, api_projects, api_judges, api_items, api_analysis)
OPERATIONS = [
    (f"{API}{route.path}", method.lower())
    for module in MODULES
    for route in module.router.routes
    if isinstance(route, APIRoute) and route.include_in_schema
    for method in sorted(route.methods)
]


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    """The schema of the API, without a server behind it."""
    app = FastAPI()
    for module in MODULES:
        app.include_router(module.router, prefix=API)
    return app.openapi()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, described: dict[str, Any]) -> Iterator[Site]:
    warm_up(described)
    with served(tmp_path_factory.mktemp("schema")) as site:
        yield site


# What makes requests up is imported where it is used: who runs other tests is spared two seconds.


def warm_up(described: dict[str, Any]) -> None:
    """Have all imported that is imported late, before a server has threads.

    pytest rewrites what schemathesis imports, and CPython 3.11 may fail where two threads make
    syntax trees at once ("AST constructor recursion depth mismatch").
    """
    import schemathesis

    schema = schemathesis.openapi.from_dict(described)
    path, method = OPERATIONS[0]

    @given(case=schema[path][method].as_strategy())
    @settings(max_examples=2, database=None, suppress_health_check=list(HealthCheck))
    def draw(case: Any) -> None:
        # Nobody listens there, so it ends where the answer would be looked at.
        with pytest.raises(requests.ConnectionError):
            case.call_and_validate(base_url="http://127.0.0.1:9")

    draw()


@pytest.fixture(scope="module")
def schema(running: Site) -> Any:
    import schemathesis

    return schemathesis.openapi.from_url(f"{running.url}{API}/openapi.json")


@pytest.fixture(scope="module")
def token(running: Site) -> str:
    running.set_up()
    running.open_project()
    return running.make_token()


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_no_request_of_the_schema_finds_a_fault(
    schema: Any, token: str, path: str, method: str
) -> None:
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    excluded = [positive_data_acceptance] if (path, method) in MEANING else []
    headers = {"Authorization": f"Bearer {token}"}

    @given(case=schema[path][method].as_strategy())
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    def check(case: Any) -> None:
        # Some of what is made up is for a project that is there, so that it gets past the door.
        parameters = case.path_parameters or {}
        if len(str(parameters.get("project", "--"))) < 2 and method != "delete":
            parameters["project"] = "lamps"
        case.call_and_validate(headers=headers, excluded_checks=excluded)

    check()


def test_the_schema_that_is_served_is_the_one_that_is_tried(
    running: Site, described: dict[str, Any]
) -> None:
    assert len(OPERATIONS) > 30
    paths = running.browser().client.get(f"{API}/openapi.json").json()["paths"]
    assert paths == described["paths"]
    operations = [(path, method) for path, found in paths.items() for method in found]
    assert sorted(operations) == sorted(OPERATIONS)
