"""Schemathesis sends valid and invalid requests from the CMS's API document: none fails with a server error, and
responses match the document. The callers are anonymous, an author and an editor.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from keyplan.web import app
from keyplan_systems.cms import Cms
from keyplan_systems.cms.sample import sample
from keyplan_systems.cms.site.making import make_site
from keyplan_systems.cms.site.people import CmsPeople
from tests.seeds import examples
from tests.systems.sites.support import OPTIONS
from tests.systems.support import silent

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis isn't installed: it reads the API's document")

EXAMPLES_MAX = examples(1, 4)
"""Requests for each pattern and each way of making them."""
WHO = {"author": "author@example.com", "editor": "editor@example.com"}


@pytest.fixture
def cms() -> Iterator[Cms]:
    with Cms.open(":memory:", secret="s") as opened:
        sample(opened, 5, silent)
        yield opened


@pytest.mark.parametrize("who", ["nobody", *WHO])
def test_responses_match_the_document(cms: Cms, who: str) -> None:
    from schemathesis.checks import not_a_server_error  # noqa: PLC0415
    from schemathesis.specs.openapi import checks as openapi  # noqa: PLC0415

    policy = make_site(cms, OPTIONS).policy
    people = CmsPeople(cms)
    person = people.known(WHO[who]) if who in WHO else None
    token = "" if person is None else policy.site.visitors.sessions.open(person)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    schema = schemathesis.openapi.from_asgi("/openapi.json", app(cms, hosts=("testserver",), policy=policy))
    checks = [
        not_a_server_error,
        openapi.status_code_conformance,
        openapi.content_type_conformance,
        openapi.response_schema_conformance,
    ]
    asked = 0
    for result in schema.get_all_operations():
        operation = result.ok()
        asked += 1
        for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
            _ask(operation, mode, headers, checks)
    assert asked == len(policy.patterns)


def _ask(operation: Any, mode: Any, headers: dict[str, str], checks: list[Any]) -> None:
    from hypothesis import given  # noqa: PLC0415

    @settings(max_examples=EXAMPLES_MAX, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        case.call_and_validate(headers=headers, checks=checks)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a generator that finds no invalid request for a pattern without input
        ask()
