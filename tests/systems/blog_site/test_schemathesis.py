"""Schemathesis sends valid and invalid requests from the API's document: none fails with a server error, and
responses match the document. The callers are anonymous, an author and a moderator.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from starlette.types import ASGIApp

from keyplan.web import app
from keyplan_systems.blog.entities import Post, User
from keyplan_systems.blog.site.policy import BlogPolicy
from keyplan_systems.blog.site.site import Site
from tests.seeds import examples

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis isn't installed: it reads the API's document")

EXAMPLES_MAX = examples(2, 6)
"""Requests for each pattern and each way of making them."""


@pytest.fixture
def api(site: Site, post: Post, draft: Post) -> ASGIApp:
    """The API with the site's policy."""
    policy = BlogPolicy(site)
    return app(site.blog, hosts=("testserver",), policy=policy)


@pytest.fixture(params=["nobody", "author", "moderator"])
def headers(request: pytest.FixtureRequest, site: Site, ada: User, mona: User) -> Iterator[dict[str, str]]:
    who = {"nobody": None, "author": ada, "moderator": mona}[request.param]
    if who is None:
        yield {}
    else:
        yield {"Authorization": f"Bearer {site.visitors.sessions.open(who, kind='token')}"}


def test_responses_match_the_document(api: ASGIApp, headers: dict[str, str]) -> None:
    from schemathesis.checks import not_a_server_error  # noqa: PLC0415
    from schemathesis.specs.openapi import checks as openapi  # noqa: PLC0415

    schema = schemathesis.openapi.from_asgi("/openapi.json", api)
    checks = [
        not_a_server_error,
        openapi.status_code_conformance,
        openapi.content_type_conformance,
        openapi.response_schema_conformance,
        openapi.unsupported_method,
    ]
    asked = 0
    for result in schema.get_all_operations():
        operation = result.ok()
        asked += 1
        for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
            _ask(operation, mode, headers, checks)
    assert asked == len(BlogPolicy.patterns)


def _ask(operation: Any, mode: Any, headers: dict[str, str], checks: list[Any]) -> None:
    from hypothesis import given  # noqa: PLC0415

    strategy = operation.as_strategy(generation_mode=mode)

    @settings(max_examples=EXAMPLES_MAX, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(case=strategy)
    def ask(case: Any) -> None:
        case.call_and_validate(headers=headers, checks=checks)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a generator that finds no invalid request for a pattern without input
        ask()
