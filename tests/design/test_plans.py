# mypy: disable-error-code="empty-body"
"""Signatures compile to these plans: which operation, which key, in which direction."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import computed_field

from keyplan.design.entity import Entity
from keyplan.design.keys import Key
from keyplan.design.plans import BatchGetPlan, ClaimPlan, GetPlan, QueryPlan, ScanPlan, ThroughPlan
from keyplan.design.stored import computed_inputs
from keyplan.systems.cms import Cms
from tests.contract.design import Everything

PLANS = [
    ("user", "GetItem", None),
    ("user_by_email", "GetItem, GetItem", None),
    ("post_by_id", "Query", "GSI1"),
    ("latest_post", "Query", None),
    ("posts", "Query", None),
    ("published", "Query", "GSI2"),
    ("category", "Query", "GSI5"),
    ("posts_published", "Query", None),
    ("tickets", "Query", "GSI3"),
    ("blobs", "Query", "GSI4"),
    ("lines_by_amount", "Query", "LSI1"),
    ("tickets_by_id", "BatchGetItem", None),
    ("order_details", "Query", None),
    ("followed", "Query, BatchGetItem", None),
    ("feed", "Query, Query", None),
    ("order_of_payment", "Query, GetItem", None),
    ("every_order", "Scan", None),
]


@pytest.mark.parametrize(("pattern", "operation", "index"), PLANS)
def test_a_pattern_is_served_by(pattern: str, operation: str, index: str | None) -> None:
    plan: Any = Everything.compiled.reads[pattern].plan
    assert plan.operation == operation
    assert (plan.index.name if isinstance(plan, QueryPlan) and plan.index else None) == index


KINDS = {GetPlan, ClaimPlan, QueryPlan, BatchGetPlan, ThroughPlan, ScanPlan}


def test_the_contract_design_has_every_kind_of_plan() -> None:
    assert {type(one.plan) for one in Everything.compiled.reads.values()} == KINDS


@pytest.mark.parametrize(
    ("pattern", "forward"),
    [
        ("article_with_latest", True),  # turned in the key, and read newest first
        ("article_versions", True),
        ("articles_by_author", False),
    ],
)
def test_the_cms_reads_in_this_direction(pattern: str, forward: bool) -> None:
    plan = Cms.compiled.reads[pattern].plan
    assert isinstance(plan, QueryPlan)
    assert plan.forward is forward


def helper(item: Any) -> str:
    return f"{item.a}{item.b}"


class Computed(Entity):
    """Computed fields that are made of others in every way."""

    a: str
    b: str
    c: str = ""

    primary = Key("A#{a}", "B#{b}")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def plain(self) -> str:
        return f"{self.a}-{self.b.upper()}"

    @computed_field  # type: ignore[prop-decorator]
    @property
    def by_method(self) -> str:
        return self.method()

    def method(self) -> str:
        return self.b

    @computed_field  # type: ignore[prop-decorator]
    @property
    def by_lambda(self) -> str:
        return "".join(self.a for _ in range(2))

    @computed_field  # type: ignore[prop-decorator]
    @property
    def by_helper(self) -> str:
        return helper(self)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def by_name(self) -> str:
        return str(getattr(self, "a"))  # noqa: B009 - that is the case

    @computed_field  # type: ignore[prop-decorator]
    @property
    def by_another_name(self) -> str:
        me = self
        return me.a


@pytest.mark.parametrize(
    ("field", "made_of"),
    [
        ("plain", "ab"),
        ("by_method", "b"),
        ("by_lambda", "a"),
        ("by_helper", "abc"),
        ("by_name", "abc"),
        ("by_another_name", "abc"),
    ],
)
def test_what_a_computed_field_is_made_of(field: str, made_of: str) -> None:
    assert computed_inputs(Computed, field) == set(made_of)
