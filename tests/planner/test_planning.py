"""The keys that the planner chooses for the access patterns of a design, their format, and existing keys."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic_core import SchemaError

from keyplan import Design
from keyplan.errors import DesignError
from keyplan.model.deferral import deferred
from keyplan.planner import applied, plan, spare_indexes
from keyplan.testing import verify
from keyplan.testing.verifying import looked_at
from keyplan_systems.blog.design import Blog
from keyplan_systems.cms.design import Cms
from keyplan_systems.papers.design import Papers
from keyplan_systems.shop.design import Shop
from keyplan_systems.social.design import Social
from tests.cli.support import run
from tests.planner import strangers
from tests.planner.support import design, keys_of
from tests.seeds import NEW
from tests.systems.blog.strategies import STRATEGIES as BLOG
from tests.systems.shop.strategies import STRATEGIES as SHOP_STRATEGIES
from tests.systems.social.support import STRATEGIES as SOCIAL

SHOP = Path(__file__).parent / "shop.py"


def imported(path: Path) -> ModuleType:
    name = f"planned_{path.stem}_{abs(hash(str(path)))}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_keys_are_planned_for_a_shop_without_keys() -> None:
    with deferred():
        module = imported(SHOP)
    assert keys_of(plan(module.Store)[0]) == {
        "Customer.primary": "CUSTOMER#{customer_id} | #CUSTOMER in the table",
        "Customer.by_email": "EMAIL#{email} | #CUSTOMER in GSI1",
        "Order.primary": "ORDER#{order_id} | #ORDER in the table",
        "Order.by_customer": "CUSTOMER#{customer_id} | ORDER#{order_id} in GSI1",
        "Order.pending": "ORDER#PENDING | ORDER#{created_at}#{order_id} in GSI2, when {'status': 'pending'}",
        "Line.primary": "ORDER#{order_id} | LINE#{number:010d} in the table",
        "Line.by_product": "PRODUCT#{product_id} | LINE#{order_id}#{number:010d} in GSI1",
    }


def test_a_design_without_keys_is_rejected_with_a_hint() -> None:
    with pytest.raises(DesignError, match="keyplan plan"):
        imported(SHOP)


def test_the_plan_command_writes_the_keys_into_the_module(tmp_path: Path) -> None:
    path = tmp_path / "shop.py"
    shutil.copy(SHOP, path)
    result = run("plan", f"{path}:Store", "--write")
    assert result.exit_code == 0, result.output
    assert '+    by_email = Key("EMAIL#{email}", "#CUSTOMER", index=GSI1)' in result.output
    written = path.read_text()
    assert "name: str  # as printed on the invoice" in written
    assert verify(imported(path).Store, stores=10).unanswered == ()
    again = run("plan", f"{path}:Store", "--write")
    assert again.exit_code == 0, again.output
    assert path.read_text() == written


def stop_at_first(step: str, done: int, whole: int) -> None:
    """Interrupt the comparison of plans, so that the first plan with the fewest indexes is returned."""
    if step == "weighing plans":
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("made", "indexes", "strategies"),
    [
        # The CMS has one: it keeps published articles in a constant partition of the table, not of an index.
        pytest.param(Cms, 2, None, id="cms"),
        pytest.param(Papers, 3, None, id="papers"),
        pytest.param(Shop, 2, SHOP_STRATEGIES, id="shop", marks=pytest.mark.nightly),
        pytest.param(Social, 2, SOCIAL, id="social", marks=pytest.mark.nightly),
        pytest.param(Blog, 3, BLOG, id="blog", marks=pytest.mark.nightly),
    ],
)
def test_plans_of_the_systems_have_the_fewest_indexes(made: type[Design], indexes: int, strategies: Any) -> None:
    best = plan(made, ignore_existing=True, progress=stop_at_first)[0]
    assert len(best.indexes) == indexes
    if NEW:
        with applied(best) as planned:
            assert verify(planned, stores=20, strategies=strategies).stores >= 20


def test_ctrl_c_during_comparison_returns_the_best_plan_so_far() -> None:
    def stop(step: str, done: int, whole: int) -> None:
        if step == "weighing plans" and done == 2:
            # as raised by pydantic's core
            raise SchemaError('Error building "model" validator:\n  KeyboardInterrupt: ')

    plans = plan(Cms, ignore_existing=True, progress=stop)
    assert 1 <= len(plans) <= 2
    assert all(made.stopped for made in plans)


# Which keys are chosen

PARCEL = """
class Parcel(Entity):
    parcel_id: Id[str]
    depot: str
    carrier: str
    state: Literal["new", "moving", "lost", "there"] = "new"
    seen_at: datetime
    grams: int = 0
    price: Decimal = Decimal(0)
    closed_at: datetime | None = None

class Zoo(Design):
    table = Table("parcels")
"""
CHOICES: dict[str, tuple[str, int, dict[str, str]]] = {
    "states share an index": (
        """
    @read("P1", where={"state": "new"}, order_by="seen_at")
    def new(self, depot: str) -> list[Parcel]: ...
    @read("P2", where={"state": "lost"}, order_by="grams")
    def lost(self, carrier: str) -> list[Parcel]: ...
    @read("P3", order_by="-seen_at")
    def on_its_way(self, depot: str, state: Literal["moving", "there"]) -> list[Parcel]: ...
""",
        1,
        {},
    ),
    "a decimal orders as a number": (
        """
    @read("P1", order_by="-price")
    def dearest(self, depot: str) -> list[Parcel]: ...
""",
        1,
        {"Parcel.by_depot": "DEPOT#{depot} | {price} in GSI1"},
    ),
    "a sparse key, not a filter over the whole history": (
        """
    @read("P1", order_by="seen_at")
    def history(self, depot: str, limit: int = 10) -> list[Parcel]: ...
    @read("P2", where={"state": "new"}, order_by="seen_at")
    def waiting(self, depot: str, limit: int = 10) -> list[Parcel]: ...
""",
        2,
        {"Parcel.new_by_depot": "DEPOT#{depot} | PARCEL#{seen_at}#{parcel_id} in GSI2, when {'state': 'new'}"},
    ),
    "what identifies an item needs no index for more": (
        """
    @read("P1")
    def of_depot(self, depot: str, parcel_id: str) -> Parcel | None: ...
""",
        0,
        {"Parcel.primary": "PARCEL#{parcel_id} | #PARCEL in the table"},
    ),
    "many values are partitions": (
        """
    @read("P1")
    def of_depots(self, depot: Each[str], state: Literal["new", "lost"]) -> list[Parcel]: ...
""",
        1,
        {},
    ),
}


@pytest.mark.parametrize("name", CHOICES)
def test_the_planner_chooses_the_expected_keys(name: str) -> None:
    patterns, indexes, keys = CHOICES[name]
    best = plan(design(PARCEL + patterns))[0]
    assert len(best.indexes) == indexes
    assert keys_of(best).items() >= keys.items()
    assert best.weight.filtered == 0
    with applied(best) as planned:
        assert not looked_at(planned, stores=5).unanswered


def test_keys_without_templates_need_an_index_per_attribute() -> None:
    text = PARCEL + CHOICES["states share an index"][0]
    made = plan(design(text), attributes=True)[0]
    assert len(made.indexes) == 2
    assert ("PARCEL#CARRIER#{carrier}",) in {key.templates[0] for key in made.keys}


def test_entities_share_partitions_for_any_order_of_their_fields() -> None:
    made = design("""
class Ride(Entity):
    ride_id: Id[str]
    city: str
    day: str

class Fare(Entity):
    day: str
    city: str
    fare_id: Id[str]

class Zoo(Design):
    table = Table("rides")

    @read("R1")
    def of_day(self, day: str, city: str) -> list[Ride | Fare]: ...
""")
    best = plan(made)[0]
    assert {key.templates[0] for key in best.keys if key.where == "GSI1"} == {("DAY#{day}#CITY#{city}",)}


def test_newest_first_reads_sort_by_timestamp_if_primary_keys_have_no_time_order() -> None:
    made = design("""
class Review(Entity):
    shop_id: Id[str]
    guest: Id[str]
    written_at: datetime = Field(default_factory=now)

class Zoo(Design):
    table = Table("reviews")

    @read("R1", newest_first=True)
    def reviews(self, shop_id: str, limit: int = 20) -> Page[Review]: ...
    @read("R2")
    def review(self, shop_id: str, guest: str) -> Review | None: ...
""")
    best = plan(made)[0]
    assert any("newest_first is assumed to order by written_at" in note for note in best.notes)
    with applied(best) as planned, planned.open(":memory:") as opened:
        review = made.uncompiled["Review"]
        for day, guest in ((1, "c"), (2, "a"), (3, "b")):
            opened.put(review(shop_id="s", guest=guest, written_at=datetime(2026, 1, day, tzinfo=UTC)))
        assert [each.guest for each in opened.reviews("s")] == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("pattern", "note"),
    [
        (
            "def all_new(self) -> list[Parcel]: ...",
            "Parcel.new: all items of this key are in one partition, which supports 1,000",
        ),
        ("def in_state(self, state: str) -> list[Parcel]: ...", "this key has only 4 partitions, by state"),
        ("def closed(self, depot: str) -> list[Parcel]: ...", "items without closed_at are omitted, because this"),
    ],
)
def test_the_plan_reports_keys_with_few_partitions_and_optional_sort_fields(pattern: str, note: str) -> None:
    options = {"all_new": ', where={"state": "new"}', "closed": ', order_by="closed_at"'}
    option = options.get(pattern.partition("(")[0].removeprefix("def "), "")
    kind = 'Literal["new", "moving", "lost", "there"]'
    made = design(f'{PARCEL}    @read("P1"{option})\n    {pattern.replace("state: str", f"state: {kind}")}\n')
    assert any(note in text for text in plan(made)[0].notes)


def test_the_plan_names_a_key_for_a_read_that_several_keys_support() -> None:
    made = plan(strangers.Feed)[0]
    assert set(made.named) == {"Feed.dear"}
    assert made.reworded["Feed.dear"] == f"key={made.named['Feed.dear']}"


# Existing keys stay

DESK = """
GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")

class Ticket(Entity):
    ticket_id: Id[str]
    project: str
    assignee: str
    opened_at: datetime

    primary = Key("TICKET#{ticket_id}", "HEAD")
    by_project = Key("PROJECT#{project}", "{opened_at}#{ticket_id}", index=GSI1)

class Comment(Entity):
    ticket_id: Id[str]
    number: Id[int]
    author: str

    primary = Key("TICKET#{ticket_id}", "COMMENT#{number:06d}")

class Zoo(Design):
    table = Table("desk", indexes=[GSI1])

    @read("T1", newest_first=True)
    def tickets(self, project: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Ticket]: ...
"""


def test_a_key_for_a_new_access_pattern_is_added_to_the_existing_keys() -> None:
    grown = design(f"""{DESK}
    @read("T2", newest_first=True)
    def mine(self, assignee: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Ticket]: ...
    @read("T3")
    def comments_of(self, author: str) -> list[Comment]: ...
""")
    best = plan(grown)[0]
    assert keys_of(best, new=True) == {
        "Ticket.by_assignee": "ASSIGNEE#{assignee} | TICKET#{opened_at}#{ticket_id} in GSI2",
        "Comment.by_author": "AUTHOR#{author} | COMMENT#{ticket_id}#{number:010d} in GSI1",
    }
    assert [index.name for index in best.indexes] == ["GSI1", "GSI2"]


def test_the_plan_lists_unused_indexes() -> None:
    read_by_key = (
        DESK.partition('    @read("T1"')[0]
        + '    @read("T")\n    def one(self, ticket_id: str) -> Ticket | None: ...\n'
    )
    assert spare_indexes(design(DESK)) == []
    assert spare_indexes(design(read_by_key)) == ["GSI1"]


def test_a_read_that_names_its_key_keeps_this_key() -> None:
    made = design("""
GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")

class Step(Entity):
    job_id: str
    number: Annotated[int, Field(ge=0, le=99)]
    primary = Key("STEPS#{job_id}", "{number:02d}")
    once_more = Key("STEPS#{job_id}", "{number:02d}", index=GSI1)

class Zoo(Design):
    table = Table("steps", indexes=[GSI1])

    @read("S1", key=Step.once_more)
    def by_the_index(self, job_id: str) -> list[Step]: ...
    @read("S2", order_by="number")
    def by_the_table(self, job_id: str) -> list[Step]: ...
""")
    shown = {answer.pattern: answer.key for answer in plan(made)[0].answers}
    assert shown == {"by_the_index": "Step.once_more", "by_the_table": "Step.primary"}
