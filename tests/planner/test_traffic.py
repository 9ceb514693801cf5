"""Plans that consider traffic: keys above a partition's throughput limit, comparisons of plans, and projections."""

from __future__ import annotations

import json
from typing import Any

import pytest

from keyplan.planner import Plan, applied, comparison, plan
from keyplan.testing import verify
from tests.planner.support import design, keys_of, traffic_of

JOBS = """
class Job(Entity):
    job_id: Id[str] = Field(default_factory=ulid)
    owner: str
    ticket: str
    state: Literal["queued", "running", "done"] = "queued"
    queued_at: datetime = Field(default_factory=now)

class Zoo(Design):
    table = Table("jobs")

    @read("J1", where={"state": "queued"}, order_by="queued_at")
    def queued(self, limit: int = 10, cursor: Cursor | None = None) -> Page[Job]: ...
    @read("J2")
    def of_owner(self, owner: str) -> list[Job]: ...
    @read("J3")
    def by_ticket(self, ticket: str) -> Job | None: ...
    @write("J4")
    def add(self, owner: str, ticket: str) -> Writes:
        yield Create(Job(owner=owner, ticket=ticket))
"""


def jobs(a_second: float) -> list[Plan]:
    made = design(JOBS)
    patterns = {"add": {"per_second": a_second, "hottest": 0.01}, "queued": {"per_second": 5}}
    return plan(made, traffic_of(made, patterns))


def shards_of(made: Plan) -> dict[str, int]:
    return {key.name: key.shards for key in made.keys}


def test_a_plan_with_one_fewer_index_and_one_more_claim_is_explained() -> None:
    first, *others = plan(design(JOBS))
    assert (first.weight.indexes, first.weight.copies, first.why) == (3, 0, "")
    claimed = next(made for made in others if made.weight.copies)
    assert (claimed.weight.indexes, claimed.best) == (2, True)
    assert "1 fewer index, but 1 more claim for unique values" in claimed.why


def test_a_key_above_the_throughput_limit_is_sharded() -> None:
    first, *others = jobs(2500)
    assert shards_of(first) == {"primary": 1, "by_owner": 1, "by_ticket": 1, "queued": 4}
    assert first.weight.over == 0
    plain = next(made for made in others if shards_of(made) == {**shards_of(first), "queued": 1})
    assert "throttled: Job.queued: 2,500 of 1,000 write units per second" in plain.why
    with applied(first) as planned:
        verify(planned, stores=3)
    assert set(shards_of(jobs(900)[0]).values()) == {1}


TENANTS = """
class Tenant(Entity):
    tenant_id: Id[str]
    tasks: int = 0

class Task(Entity):
    tenant_id: Id[str]
    task_id: Id[str]

class Zoo(Design):
    table = Table("tenants", entities=[Tenant])

    @read("T1")
    def task(self, tenant_id: str, task_id: str) -> Task | None: ...
    @write("T2")
    def add(self, tenant_id: str, task_id: str) -> Writes:
        yield Create(Task(tenant_id=tenant_id, task_id=task_id))
        yield Update(Tenant, tenant_id=tenant_id).set(tasks=Add(1))
"""


def test_a_key_whose_partition_exceeds_the_throughput_limit_is_avoided() -> None:
    """The load of a second entity in the same write is included."""
    made = design(TENANTS)
    best = plan(made, traffic_of(made, {"add": {"per_second": 800, "hottest": 0.5}}))[0]
    assert keys_of(best)["Task.primary"].startswith("TASK#{task_id} | ")
    assert best.weight.excess == 0


def test_the_comparison_of_plans_can_be_converted_to_json() -> None:
    plans = jobs(10)
    shown = comparison(plans)
    assert json.loads(json.dumps(shown)) == shown
    assert [made["why_not_first"] == "" for made in shown["plans"]] == [True, *[False] * (len(plans) - 1)]
    assert shown["plans"][0]["weight"]["usd_a_month"] > 0
    row = next(row for row in shown["rows"] if row["place"] == "Job.by_ticket")
    assert row["in_plans"][0] == "TICKET#{ticket} | #JOB in GSI2"
    assert None in next(row for row in shown["rows"] if row["place"] == "Job.ticket_claim")["in_plans"]


# Sizes and projections

ORDERS = """
class Order(Entity):
    order_id: Id[str]
    customer: str
    courier: str
    state: Literal["open", "packed", "sent"] = "open"
    placed_at: datetime = Field(default_factory=now)
    escalated_to: str | None = None
    notes: str = ""
    FIELDS

class OrderRow(View[Order]):
    order_id: str
    state: str
    FIELDS

class Zoo(Design):
    table = Table("orders")

    @read("O1")
    def orders(self, customer: str, limit: int = 10, cursor: Cursor | None = None) -> Page[OrderRow]: ...
    @read("O2", entity=Order)
    def how_many(self, customer: str) -> int: ...
    @read("O3", where={"state": "open"}, order_by="placed_at")
    def waiting(self, courier: str) -> list[OrderRow]: ...
    @write("O4")
    def note(self, order: Order, notes: str) -> Writes:
        yield Update(order, notes=notes)
    WHOLE
"""
WHOLE = '@read("O5")\n    def whole(self, courier: str) -> list[Order]: ...'


def orders(*, whole: bool = False, fields: int = 0) -> Any:
    more = "\n    ".join(f'f{number}: str = ""' for number in range(fields))
    return design(ORDERS.replace("FIELDS", more).replace("WHOLE", WHOLE if whole else ""))


@pytest.mark.parametrize(
    "entity",
    [
        {"item_bytes": 8000},
        {"item_bytes": 390_000},
        {"item_bytes": 10},
        {"filled": {"state": 0.1}},
        {"filled": {"state": 0.0, "escalated_to": 0.5}, "item_bytes": 8000},
        {"fields": {"notes": 5000, "customer": 500}},
    ],
)
@pytest.mark.parametrize("patterns", [{}, {"orders": {"per_second": 5}, "note": {"per_second": 50}}])
def test_plans_support_any_item_size_and_share_of_set_fields(entity: dict[str, Any], patterns: dict[str, Any]) -> None:
    made = orders()
    best = plan(made, traffic_of(made, patterns, Order={"count": 1000, **entity}))[0]
    assert len(best.indexes) == 2
    assert best.weight.usd > 0


def test_an_index_projects_only_the_attributes_that_are_read() -> None:
    made = orders()
    best = plan(made, traffic_of(made, {"note": {"per_second": 50}}, Order={"count": 1000, "item_bytes": 3000}))[0]
    assert {index.name: index.projection for index in best.indexes} == {"GSI1": ("state",), "GSI2": "KEYS_ONLY"} or {
        index.projection for index in best.indexes
    } == {("state",)}
    with applied(best) as planned:
        assert verify(planned, stores=4).unanswered == ()


@pytest.mark.parametrize(("fields", "least"), [(19, "projected"), (20, "ALL")])
def test_indexes_project_all_attributes_if_more_than_20_are_read(fields: int, least: str) -> None:
    made = orders(fields=fields)
    best = plan(made, traffic_of(made, {"orders": {"per_second": 5}}, Order={"count": 100_000, "item_bytes": 9000}))[0]
    assert ("ALL" in {index.projection for index in best.indexes}) == (least == "ALL")


def test_an_index_that_returns_whole_items_projects_all_attributes() -> None:
    projections = [index.projection for index in plan(orders(whole=True))[0].indexes]
    assert "ALL" in projections


ALL_OF = """
ESCALATED = Index("ESCALATED", "escalated_pk", "escalated_sk")

class Order(Entity):
    order_id: Id[str]
    courier: str
    state: Literal["open", "sent"] = "open"
    placed_at: datetime
    escalated_to: str | None = None

class Zoo(Design):
    table = Table("orders")

    @read("E1", scan_index=ESCALATED{option})
    def whole(self) -> list[Order]: ...
    @read("E3")
    def of_courier(self, courier: str) -> list[Order]: ...
"""


def test_an_index_for_scans_contains_only_the_scanned_items() -> None:
    by_field = (
        '\n    @read("E2", order_by="-placed_at")\n    def escalated(self, escalated_to: str) -> list[Order]: ...'
    )
    for text in (ALL_OF.format(option="") + by_field, ALL_OF.format(option=', where={"state": "open"}')):
        best = plan(design(text))[0]
        assert len(best.indexes) == 2
        assert len([key for key in best.keys if key.where == "ESCALATED"]) == 1
        with applied(best) as planned:
            assert verify(planned, stores=4).unanswered == ()
