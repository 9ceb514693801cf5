"""Every pattern has its audience, and what nobody may read carries no secret."""

from __future__ import annotations

from keyplan_systems.blog.access import WHO
from keyplan_systems.blog.design import Blog


def test_each_pattern_is_named_and_nothing_else() -> None:
    assert set(WHO) == set(Blog.compiled.patterns)


def test_nobody_writes_without_a_role() -> None:
    assert {name for name in Blog.compiled.writes if WHO[name] == "anyone"} == set()


def test_what_leads_to_a_secret_is_nobodys() -> None:
    for name, pattern in Blog.compiled.patterns.items():
        shown = f"{pattern.signature.result} {[parameter.annotation for parameter in pattern.signature.parameters]}"
        if "Session" in shown or "Credential" in shown or "Account" in shown:
            assert WHO[name] == "internal", name
