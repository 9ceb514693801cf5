"""Schemathesis sends valid and invalid requests for the OpenAPI documents of blog and CMS. No request causes a server
error, and all responses match the document.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from keyplan.systems import system
from keyplan.web import app
from keyplan_systems.blog.sample import DEMO_USERS, sample_user
from keyplan_systems.cms.site.people import CmsPeople
from tests.seeds import examples
from tests.systems.sites.support import OPTIONS
from tests.systems.support import silent

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis isn't installed: it reads the API's document")

EXAMPLES_MAX = examples(1, 6)
"""Requests for each pattern and each way of making them."""
USERS: dict[str, Callable[[Any, str], Any]] = {
    "blog": lambda blog, name: sample_user([demo for demo, *_ in DEMO_USERS].index(name)),
    "cms": lambda cms, name: CmsPeople(cms).known(f"{name}@example.com"),
}


@pytest.mark.parametrize(
    ("name", "caller"),
    [
        ("cms", "editor"),
        *(
            pytest.param(*case, marks=pytest.mark.nightly)
            for case in (
                ("cms", "anonymous"),
                ("cms", "author"),
                ("blog", "anonymous"),
                ("blog", "author"),
                ("blog", "moderator"),
            )
        ),
    ],
)
def test_responses_to_random_requests_match_the_openapi_document(name: str, caller: str) -> None:
    from schemathesis.checks import not_a_server_error  # noqa: PLC0415
    from schemathesis.specs.openapi import checks as openapi  # noqa: PLC0415

    brought = system(name)
    assert brought.site is not None
    opened: Any
    with brought.design.open(":memory:", secret="s") as opened:
        brought.sample(opened, 5, silent)
        site = brought.site(opened, OPTIONS)
        sessions = site.application.state.site.visitors.sessions
        token = "" if caller == "anonymous" else sessions.open(USERS[name](opened, caller))
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        schema = schemathesis.openapi.from_asgi("/openapi.json", app(opened, hosts=("testserver",), policy=site.policy))
        checks = [
            not_a_server_error,
            openapi.status_code_conformance,
            openapi.content_type_conformance,
            openapi.response_schema_conformance,
            openapi.unsupported_method,
        ]
        operations = [result.ok() for result in schema.get_all_operations()]
        for operation in operations:
            for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
                send(operation, mode, headers, checks)
        assert len(operations) == len(site.policy.patterns)


def send(operation: Any, mode: Any, headers: dict[str, str], checks: list[Any]) -> None:
    @settings(max_examples=EXAMPLES_MAX, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def run(case: Any) -> None:
        case.call_and_validate(headers=headers, checks=checks)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a generator that finds no invalid request for a pattern without input
        run()
