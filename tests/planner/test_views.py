# mypy: disable-error-code="empty-body"
"""Questions that want less than whole items: views, counts, whether there is any, all of a sparse index; and indexes
that hold no more than these ask for, where that is cheaper.
"""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import pytest

from keyplan import (
    Cursor,
    Design,
    Entity,
    Field,
    Id,
    Index,
    Page,
    Put,
    Table,
    Update,
    View,
    Writes,
    now,
    planner,
    read,
    write,
)
from keyplan.analysis.traffic.traffic_file import Traffic, traffic_from
from keyplan.cli.designs import find
from keyplan.errors import DesignError
from keyplan.model.deferral import deferred
from keyplan.planner import Plan, applied, plan
from keyplan.planner.module import rewritten
from keyplan.planner.planning import provisional_design
from keyplan.testing import verify
from tests.cli.support import run

ESCALATED = Index("ESCALATED", "escalated_pk", "escalated_sk")


class Order(Entity):
    order_id: Id[str]
    customer: str
    courier: str
    state: Literal["open", "packed", "sent"] = "open"
    placed_at: datetime = Field(default_factory=now)
    escalated_to: str | None = None
    notes: str = ""


class OrderRow(View[Order]):
    order_id: str
    state: str


with deferred():

    class Orders(Design):
        table = Table("orders")

        @read("O1")
        def orders(self, customer: str, limit: int = 10, cursor: Cursor | None = None) -> Page[OrderRow]: ...

        @read("O2", entity=Order)
        def how_many(self, customer: str) -> int: ...

        @read("O3", entity=Order)
        def is_there(self, order_id: str) -> bool: ...

        @write("O4")
        def note(self, order: Order, notes: str) -> Writes:
            yield Update(order, notes=notes)

    class Whole(Orders):
        @read("O5")
        def whole(self, courier: str) -> list[Order]: ...

        @read("O6", complete=True)
        def whole_of(self, customer: str) -> list[Order]: ...

    class Escalations(Design):
        table = Table("escalations")

        @read("E1", scan_index=ESCALATED)
        def escalated(self) -> list[Order]: ...

        @read("E2", order_by="-placed_at")
        def escalated_to(self, escalated_to: str) -> list[Order]: ...

        @read("E3")
        def of_courier(self, courier: str) -> list[Order]: ...

    class Open(Design):
        table = Table("open")

        @read("P1", where={"state": "open"})
        def waiting(self, limit: int = 20, cursor: Cursor | None = None) -> Page[Order]: ...

        @read("P2", where={"state": "open"})
        def waiting_for(self, courier: str) -> list[Order]: ...

        @write("P3")
        def place(self, order: Order) -> Writes:
            yield Put(order)


def projections(made: Plan) -> dict[str, Any]:
    return {index.name: index.projection for index in made.indexes}


def keys(made: Plan) -> dict[str, tuple[str, str]]:
    return {key.name: (key.templates[0][0], key.where) for key in made.keys}


def loaded(design: type[Any], patterns: dict[str, Any], item_bytes: int) -> Traffic:
    named = {"patterns": patterns, "entities": {"Order": {"count": 100_000, "item_bytes": item_bytes}}}
    return traffic_from(named, provisional_design(design), source="traffic.toml")


def test_views_counts_and_whether_need_no_more_than_their_keys() -> None:
    best = plan(Orders, loaded(Orders, {"note": {"per_second": 50}, "orders": {"per_second": 5}}, 3000))[0]
    assert keys(best) == {
        "primary": ("ORDER#{order_id}", "the table"),
        "by_customer": ("CUSTOMER#{customer}", "GSI1"),
    }
    assert projections(best) == {"GSI1": ("state",)}
    with applied(best) as planned:
        assert verify(planned, stores=6).unanswered == ()


FLEET = """from keyplan import Design, Entity, Id, Table, View, read


class Van(Entity):
    van_id: Id[str]
    depot: str
    notes: str = ""
    {fields}


class VanRow(View[Van]):
    van_id: str
    {fields}


class Fleet(Design):
    table = Table("fleet")

    @read("F1")
    def vans(self, depot: str) -> list[VanRow]: ...
"""


@pytest.mark.parametrize(("number", "projection"), [(20, tuple(f"f{place}" for place in range(20))), (21, "ALL")])
def test_an_index_names_no_more_attributes_than_dynamodb_takes(number: int, projection: Any) -> None:
    """Twenty; for a view of more the index holds whole items."""
    module = ModuleType(f"fleet_of_{number}")
    sys.modules[module.__name__] = module
    fields = "\n    ".join(f'f{place}: str = ""' for place in range(number))
    with deferred():
        exec(compile(FLEET.format(fields=fields), "<fleet>", "exec"), vars(module))
    named = {"patterns": {"vans": {"per_second": 5}}, "entities": {"Van": {"count": 100_000, "item_bytes": 9000}}}
    traffic = traffic_from(named, provisional_design(module.Fleet), source="traffic.toml")
    assert projections(plan(module.Fleet, traffic)[0]) == {"GSI1": projection}


def test_an_index_holds_all_where_less_saves_nothing() -> None:
    small = loaded(Orders, {"orders": {"per_second": 5}}, 200)
    assert projections(plan(Orders)[0]) == {"GSI1": ("state",)}  # an update of notes needn't write it
    saved = plan(Orders, small)[0].weight.usd
    assert projections(plan(Orders, small)[0]) == {"GSI1": ("state",)}, saved  # a little storage
    whole = plan(Whole)[0]
    assert projections(whole)["GSI2"] == "ALL"


def test_what_is_completed_stands_in_an_index_that_lacks_something() -> None:
    best = plan(Whole)[0]
    assert projections(best) == {"GSI1": ("state",), "GSI2": "ALL"}
    with applied(best) as planned:
        verify(planned, stores=6)


def test_all_of_an_index_is_what_has_the_optional_field_of_its_key() -> None:
    best = plan(Escalations)[0]
    assert [index.name for index in best.indexes] == ["GSI1", "ESCALATED"]
    assert keys(best)["by_escalated_to"] == ("ESCALATED_TO#{escalated_to}", "ESCALATED")
    with applied(best) as planned:
        assert verify(planned, stores=6).unanswered == ()


def test_all_of_an_index_that_nothing_describes_is_refused() -> None:
    def everything(self: Any) -> list[Order]: ...

    with deferred():
        design: Any = type(
            "Bare", (Design,), {"table": Table("bare"), "all": read("B", scan_index=ESCALATED)(everything)}
        )
    with pytest.raises(DesignError, match="without keys nothing says which items stand in it") as caught:
        plan(design)
    assert 'where={"status": "open"}' in str(caught.value)


def test_all_of_a_sparse_index_is_proposed_where_constants_alone_are_known() -> None:
    first, *others = plan(Open)
    swept = next(element for element in (first, *others) if element.scan_index)
    assert swept.scan_index == {"Open.waiting": "GSI1"}
    assert keys(swept)["open_by_courier"] == ("COURIER#{courier}", "GSI1")
    with applied(swept) as planned:
        assert verify(planned, stores=8).unanswered == ()


MODULE = """
from keyplan import Design, Entity, Id, Table, View, read


class Order(Entity):
    order_id: Id[str]
    customer: str
    state: str = "open"
    notes: str = ""


class OrderRow(View[Order]):
    order_id: str
    state: str


class Orders(Design):
    table = Table("orders")

    @read("O1")
    def orders(self, customer: str) -> list[OrderRow]: ...

    @read("O2", where={"state": "open"}, scan_index=OPEN_ORDERS)
    def waiting(self) -> list[Order]: ...
"""


def test_projections_and_indexes_that_are_read_whole_are_written(tmp_path: Path) -> None:
    path = tmp_path / "orders.py"
    path.write_text(MODULE.replace("import Design,", "import Design, Index,").replace("\n\n\nclass Order(", OPEN, 1))
    result = run("plan", f"{path}:Orders", "--write", "--traffic", str(traffic_file(tmp_path)))
    assert result.exit_code == 0, result.output
    text = path.read_text()
    assert 'GSI1 = Index("GSI1", "gsi1pk", "gsi1sk", projection=["state"])' in text
    assert 'OPEN_ORDERS = Index("OPEN", "openpk", "opensk")' in text
    assert "GSI1 holds the keys and state" in result.output
    again = run("plan", f"{path}:Orders", "--write")
    assert again.exit_code == 0, again.output
    assert path.read_text() == text


OPEN = """

OPEN_ORDERS = Index("OPEN", "open_key", "open_since")


class Order("""


def traffic_file(folder: Path) -> Path:
    path = folder / "traffic.toml"
    path.write_text("[patterns.orders]\nper_second = 1\n[entities.Order]\ncount = 100_000\nitem_bytes = 3000\n")
    return path


@pytest.mark.parametrize(
    ("front", "given", "written"),
    [
        ("", 'table = Table("orders")', 'table = Table("orders", indexes=[GSI1, GSI2])'),
        ("", 'table: ClassVar[Table] = Table("orders")', 'ClassVar[Table] = Table("orders", indexes=[GSI1, GSI2])'),
        ("", 'table = Table("orders", partition="PK")', 'Table("orders", indexes=[GSI1, GSI2], partition="PK")'),
        (
            'TABLE = Table("orders", sort="SK")\n\n\n',
            "table = TABLE",
            'Table("orders", indexes=[GSI1, GSI2], sort="SK")',
        ),
    ],
)
def test_indexes_are_written_where_the_table_is_made(front: str, given: str, written: str, tmp_path: Path) -> None:
    path = tmp_path / "orders.py"
    text = MODULE.replace(", scan_index=OPEN_ORDERS", "").replace('table = Table("orders")', given)
    path.write_text(
        text.replace("class Order(", f"{front}class Order(", 1).replace(
            "\nfrom", "\nfrom typing import ClassVar\nfrom", 1
        )
    )
    result = run("plan", f"{path}:Orders", "--write")
    assert result.exit_code == 0, result.output
    assert written in path.read_text()
    assert find(f"{path}:Orders").design.table.indexes


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ('@read("O2", where={"state": "open"})', '@read("O2", where={"state": "open"}, scan_index=GSI2)'),
        (
            '@read(\n        "O2",\n        where={"state": "open"},\n    )',
            '@read(\n        "O2",\n        where={"state": "open"},\n        scan_index=GSI2,\n    )',
        ),
        (
            '@read(\n        "O2", where={"state": "open"},\n    )',
            '@read(\n        "O2", where={"state": "open"},\n        scan_index=GSI2,\n    )',
        ),
        ('@read("O2", where={"state": "open"},)', '@read("O2", where={"state": "open"}, scan_index=GSI2)'),
        (
            '@read(\n        "O2", where={"state": "open"})',
            '@read(\n        "O2", where={"state": "open"}, scan_index=GSI2)',
        ),
    ],
)
def test_a_question_that_reads_all_of_an_index_is_reworded(given: str, written: str, tmp_path: Path) -> None:
    """However its decorator is laid out."""
    path = tmp_path / "orders.py"
    path.write_text(MODULE.replace('@read("O2", where={"state": "open"}, scan_index=OPEN_ORDERS)', given))
    with deferred():
        design = find(f"{path}:Orders").design
    swept = next(element for element in planner.plan(design) if element.scan_index)
    assert f"    {written}\n    def waiting(" in rewritten(swept).after
