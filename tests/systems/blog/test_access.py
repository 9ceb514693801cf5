"""Every pattern has its audience, and what nobody may read carries no secret."""

from __future__ import annotations

from keyplan_systems.blog.access import OWN, WHO
from keyplan_systems.blog.design import Blog


def test_each_pattern_is_named_and_nothing_else() -> None:
    assert set(WHO) == set(Blog.compiled.patterns)
    assert set(OWN) <= set(WHO)


def test_nobody_writes_without_a_role() -> None:
    assert {name for name in Blog.compiled.writes if WHO[name] == "anyone"} == set()


def test_what_leads_to_a_secret_is_nobodys() -> None:
    for name, pattern in Blog.compiled.patterns.items():
        shown = f"{pattern.signature.result} {[parameter.annotation for parameter in pattern.signature.parameters]}"
        if "Session" in shown or "Credential" in shown or "Account" in shown:
            assert WHO[name] == "nobody", name


def test_who_acts_for_a_user_must_be_that_user() -> None:
    for name in Blog.compiled.writes:
        parameters = {parameter.name for parameter in Blog.compiled.writes[name].signature.parameters}
        if parameters & {"user_id", "edited_by"} and WHO[name] in {"reader", "author"}:
            assert name in OWN
