# mypy: disable-error-code="empty-body"
"""Signatures of access patterns compile to plans with the expected operation, key and direction."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.model.compiled.plans import BatchGetPlan, ClaimPlan, GetPlan, QueryPlan, ScanPlan, ThroughPlan
from keyplan_systems.cms import Cms
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
def test_reads_compile_to_the_expected_operation_and_index(pattern: str, operation: str, index: str | None) -> None:
    plan: Any = Everything.compiled.reads[pattern].plan
    assert plan.operation == operation
    assert (plan.index.name if isinstance(plan, QueryPlan) and plan.index else None) == index


KINDS = {GetPlan, ClaimPlan, QueryPlan, BatchGetPlan, ThroughPlan, ScanPlan}


def test_the_design_of_the_contract_tests_compiles_to_every_kind_of_plan() -> None:
    assert {type(pattern.plan) for pattern in Everything.compiled.reads.values()} == KINDS


@pytest.mark.parametrize(
    ("pattern", "forward"),
    [
        ("article_with_latest", True),  # reversed in the key, and read newest first
        ("article_versions", True),
        ("articles_by_author", False),
    ],
)
def test_each_read_of_the_cms_has_the_expected_direction(pattern: str, forward: bool) -> None:
    plan = Cms.compiled.reads[pattern].plan
    assert isinstance(plan, QueryPlan)
    assert plan.forward is forward
