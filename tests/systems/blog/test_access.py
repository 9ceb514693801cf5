"""Every write pattern of the blog's API requires a role, and patterns that return secrets aren't public."""

from __future__ import annotations

from keyplan_systems.blog.access import WHO
from keyplan_systems.blog.design import Blog


def test_the_access_policy_lists_only_patterns_of_the_design() -> None:
    assert set(WHO) <= set(Blog.compiled.patterns)


def test_every_write_pattern_of_the_api_requires_a_role() -> None:
    assert {name for name in Blog.compiled.writes if WHO.get(name) == "anyone"} == set()


def test_patterns_that_return_secrets_are_not_public() -> None:
    for name, pattern in Blog.compiled.patterns.items():
        shown = f"{pattern.signature.result} {[parameter.annotation for parameter in pattern.signature.parameters]}"
        if "Session" in shown or "Credential" in shown or "Account" in shown:
            assert name not in WHO, name
