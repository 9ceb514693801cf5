# mypy: disable-error-code="empty-body"
"""Plans serve every question, in no more indexes than people needed, and are right."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import pytest
from pydantic_core import SchemaError

from keyplan import Cursor, Design, Entity, Field, Id, Index, Key, Page, Range, Table, now, read
from keyplan.errors import DesignError
from keyplan.model.deferral import deferred
from keyplan.planner import applied, plan, spare_indexes
from keyplan.planner.module import rewritten
from keyplan.testing import verify
from keyplan.testing.verifying import looked_at
from keyplan_systems.blog.design import Blog
from keyplan_systems.cms.design import Cms
from keyplan_systems.papers.design import Papers
from keyplan_systems.shop.design import Shop
from keyplan_systems.social.design import Social
from tests.cli.support import run
from tests.designs.settled import settled
from tests.designs.source import source_of
from tests.seeds import NEW, examples
from tests.systems.blog.strategies import STRATEGIES as BLOG
from tests.systems.shop.strategies import STRATEGIES as SHOP_STRATEGIES
from tests.systems.social.support import STRATEGIES as SOCIAL

SHOP = Path(__file__).parent / "shop.py"
LARGE = pytest.mark.skipif(not NEW, reason="make nightly plans the largest designs")


def imported(path: Path) -> ModuleType:
    name = f"planned_{path.stem}_{abs(hash(str(path)))}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def keys_of(design: type[Any], **options: Any) -> dict[str, tuple[str, ...]]:
    """The best plan's keys by place, each as its templates and where it stands."""
    return {
        key.place: (*("|".join(part) for part in key.templates), key.where) for key in plan(design, **options)[0].keys
    }


def test_a_shop_without_keys_is_planned() -> None:
    with deferred():
        module = imported(SHOP)
    assert keys_of(module.Store) == {
        "Customer.primary": ("CUSTOMER#{customer_id}", "#CUSTOMER", "the table"),
        "Customer.by_email": ("EMAIL#{email}", "#CUSTOMER", "GSI1"),
        "Order.primary": ("ORDER#{order_id}", "#ORDER", "the table"),
        "Order.by_customer": ("CUSTOMER#{customer_id}", "ORDER#{order_id}", "GSI1"),
        "Order.pending": ("ORDER#PENDING", "ORDER#{created_at}#{order_id}", "GSI2"),
        "Line.primary": ("ORDER#{order_id}", "LINE#{number:010d}", "the table"),
        "Line.by_product": ("PRODUCT#{product_id}", "LINE#{order_id}#{number:010d}", "GSI1"),
    }


def test_without_keys_a_design_is_refused_and_says_what_to_do() -> None:
    with pytest.raises(DesignError, match="keyplan plan"):
        imported(SHOP)


def test_the_declarations_are_written_into_the_module(tmp_path: Path) -> None:
    path = tmp_path / "shop.py"
    shutil.copy(SHOP, path)
    result = run("plan", f"{path}:Store", "--write")
    assert result.exit_code == 0, result.output
    assert '+    by_email = Key("EMAIL#{email}", "#CUSTOMER", index=GSI1)' in result.output
    assert "name: str  # as on the invoice" in path.read_text()
    written = path.read_text()
    module = imported(path)
    assert verify(module.Store, stores=10).unanswered == ()
    again = run("plan", f"{path}:Store", "--write")
    assert again.exit_code == 0, again.output
    assert path.read_text() == written


HARBOUR = """from keyplan import Design, Entity, Id, Table, read


class Berth(Entity):
    berth_id: Id[str]
    boat_id: str

    \"\"\"The boat that lies there.

    Or none.
    \"\"\"
# KEY Berth

    def label(self) -> str:
        \"\"\"What is painted on it.\"\"\"
        return self.berth_id


class Pier(Entity):
    pier_id: Id[str]
    "The pier's number."
# KEY Pier


class Harbour(Design):
    table = Table("harbour")

    @read("H1")
    def berth(self, berth_id: str) -> Berth | None: ...

    @read("H2")
    def pier(self, pier_id: str) -> Pier | None: ...

    @read("H3")
    def boat(self, boat_id: str) -> "Boat | None": ...


class Boat(Entity):
    boat_id: Id[str]
    \'\'\'The boat's number.\'\'\'
# KEY Boat"""


def test_keys_are_written_behind_the_last_fields_docstring(tmp_path: Path) -> None:
    """However it is quoted, and at the end of the module; a method's own docstring is none of a field's."""
    path = tmp_path / "harbour.py"
    path.write_text(re.sub(r"# KEY \w+\n", "", f"{HARBOUR}\n"), encoding="utf-8")
    with deferred():
        module = imported(path)
    wanted = re.sub(
        r"# KEY (\w+)",
        lambda name: f'\n    primary = Key("{name[1].upper()}#{{{name[1].lower()}_id}}", "#{name[1].upper()}")',
        HARBOUR.replace("Id, Table", "Id, Key, Table"),
    )
    assert rewritten(plan(module.Harbour)[0]).after == f"{wanted}\n"


def stop_at_first(what: str, done: int, whole: int) -> None:
    """Weighing the plans of a system takes long, and the first is among those with the fewest indexes."""
    if what == "weighing plans":
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("design", "indexes", "strategies", "thorough"),
    [
        pytest.param(Cms, 1, None, True, id="cms"),
        pytest.param(Papers, 2, None, False, id="papers"),
        pytest.param(Shop, 2, SHOP_STRATEGIES, True, id="shop"),
        pytest.param(Social, 1, SOCIAL, True, id="social", marks=LARGE),
        pytest.param(Blog, 3, BLOG, True, id="blog", marks=LARGE),
    ],
)
def test_the_systems_need_as_few_indexes_as_people_found_or_fewer(
    design: type[Design], indexes: int, strategies: Any, thorough: bool
) -> None:
    best = plan(design, anew=True, progress=stop_at_first)[0]
    assert len(best.indexes) == indexes <= len(design.table.indexes)
    kept = design.compiled
    with applied(best) as planned:
        if thorough and not NEW:  # writes that need many stores, in a nightly run: all reads here
            assert not design.compiled.reads.keys() & looked_at(planned, stores=6).unanswered
            return
        stores = 20 if thorough else 8
        report = verify(planned, stores=stores, strategies=strategies)
        assert report.stores >= stores
    assert design.compiled is kept


@pytest.mark.parametrize("first", range(0, examples(10, 100), 10))
def test_generated_designs_need_no_more_indexes_than_they_were_made_with(first: int) -> None:
    """The keys that a question was made from are one answer; the planner finds one as good, without seeing them."""
    for number in range(first, first + 10):
        design = settled(number)
        try:
            best = plan(design.cls, anew=True)[0]
        except DesignError as error:
            if "order_by=" in str(error) or "is a fraction" in str(error) or "turns the order" in str(error):
                continue
            raise AssertionError(source_of(design.spec)) from error
        optional = any(
            field.optional
            for entity in design.spec.entities
            for key in entity.keys[1:]
            for field in entity.fields.values()
            if field.name in (*key.partition_fields, *(variable.name for variable in key.sort_variables))
        )
        # Keys of optional fields hold some items only: what was asked of them isn't asked of all.
        if not optional:
            assert len(best.indexes) <= len(design.cls.table.indexes), source_of(design.spec)


def test_keys_that_exclude_each_other_share_an_index() -> None:
    """Constants, and parameters that take some of a field's values: what one key holds, another never does."""

    class Parcel(Entity):
        parcel_id: Id[str]
        depot: str
        state: Literal["new", "moving", "lost", "there"] = "new"
        seen_at: datetime
        weight: int

    def new(self: Any, depot: str) -> list[Parcel]: ...
    def lost(self: Any, depot: str) -> list[Parcel]: ...
    def on_its_way(self: Any, depot: str, state: Literal["moving", "there"]) -> list[Parcel]: ...

    patterns = {
        "new": read("P1", where={"state": "new"}, order_by="seen_at")(new),
        "lost": read("P2", where={"state": "lost"}, order_by="weight")(lost),
        "on_its_way": read("P3", order_by="-seen_at")(on_its_way),
    }
    with deferred():
        design: Any = type("Parcels", (Design,), {"table": Table("parcels"), **patterns})
    design.uncompiled = {**globals(), "Parcel": Parcel}
    best = plan(design)[0]
    assert len(best.indexes) == 1
    whens = [key.key.when for key in best.keys if isinstance(key.key, Key) and key.key.when]
    assert len(whens) >= 2
    with applied(best) as planned:
        assert verify(planned, stores=8).unanswered == ()


# What can't be planned


class Meter(Entity):
    meter_id: Id[str]
    site: str
    reading: Decimal
    read_at: datetime = Field(default_factory=now)
    installed_at: datetime = Field(default_factory=now)


class Thing(Entity):
    name: str


def refused(**patterns: Any) -> str:
    with deferred():
        design = type("Meters", (Design,), {"table": Table("meters"), **patterns})
    with pytest.raises(DesignError) as caught:
        plan(design)
    return str(caught.value)


def test_what_cannot_be_served_is_told_together() -> None:
    def strong(self: Any, site: str) -> list[Meter]: ...
    def two_ranges(self: Any, site: str, read_at: Range[datetime], installed_at: Range[datetime]) -> list[Meter]: ...
    def misnamed(self: Any, place: str) -> list[Meter]: ...

    text = refused(two=read("M2")(two_ranges), three=read("M3")(misnamed))
    assert "read_at and installed_at are ranges, and a key answers one" in text
    assert "Meter has no field 'place'" in text
    text = refused(one=read("M1", consistent=True)(strong))
    assert "Meters.one: Meter by site: it is strongly consistent, and only the table answers that" in text


def test_an_order_that_could_be_two_is_asked_for() -> None:
    def latest(self: Any, site: str) -> list[Meter]: ...

    text = refused(latest=read("M1", newest_first=True)(latest))
    assert "newest_first could mean read_at or installed_at" in text
    with deferred():
        design = type("Meters", (Design,), {"table": Table("meters"), "m": read("M1", order_by="-reading")(latest)})
    best = plan(design)[0]
    assert [[attribute.type for attribute in index.sort] for index in best.indexes] == [["N"]]
    with applied(best) as planned:
        verify(planned, stores=6)


class Review(Entity):
    shop_id: Id[str]
    guest: Id[str]
    written_at: datetime = Field(default_factory=now)


def test_newest_first_is_by_the_moment_where_the_tables_key_has_another_order() -> None:
    def reviews(self: Any, shop_id: str, limit: int = 20) -> Page[Review]: ...
    def review(self: Any, shop_id: str, guest: str) -> Review | None: ...

    patterns = {"reviews": read("R1", newest_first=True)(reviews), "review": read("R2")(review)}
    with deferred():
        design: Any = type("Reviews", (Design,), {"table": Table("reviews"), **patterns})
    design.uncompiled = globals()
    best = plan(design)[0]
    with applied(best) as planned, planned.open(":memory:") as opened:
        for day, guest in ((1, "c"), (2, "a"), (3, "b")):
            opened.put(Review(shop_id="s", guest=guest, written_at=datetime(2026, 1, day, tzinfo=UTC)))
        assert [each.guest for each in opened.reviews("s")] == ["b", "a", "c"]
    assert all(key.serves or key.where == "the table" for key in best.keys)


def test_what_identifies_an_item_must_be_said() -> None:
    def things(self: Any, name: str) -> list[Thing]: ...

    text = refused(things=read("T1")(things))
    assert (
        "Thing: nothing says what identifies an item (mark the fields that do: order_id: Id[str], for instance)" in text
    )


# What is deployed stays

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Ticket(Entity):
    ticket_id: Id[str]
    project: str
    assignee: str
    opened_at: datetime = Field(default_factory=now)

    primary = Key("TICKET#{ticket_id}", "HEAD")
    by_project = Key("PROJECT#{project}", "{opened_at}#{ticket_id}", index=GSI1)


class Comment(Entity):
    ticket_id: Id[str]
    number: Id[int]
    author: str

    primary = Key("TICKET#{ticket_id}", "COMMENT#{number:06d}")


def test_a_further_question_gets_a_key_beside_those_that_are_deployed() -> None:
    class Desk(Design):
        table = Table("desk", indexes=[GSI1])

        @read("T1", newest_first=True)
        def tickets(self, project: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Ticket]: ...

    assert spare_indexes(Desk) == []
    with deferred():

        class Grown(Desk):
            table = Table("desk", indexes=[GSI1])

            @read("T2", newest_first=True)
            def mine(self, assignee: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Ticket]: ...

            @read("T3")
            def comments_of(self, author: str) -> list[Comment]: ...

    best = plan(Grown)[0]
    new = {key.place: (key.templates, key.where) for key in best.keys if key.new}
    assert new == {
        "Ticket.by_assignee": ((("ASSIGNEE#{assignee}",), ("TICKET#{opened_at}#{ticket_id}",)), "GSI2"),
        "Comment.by_author": ((("AUTHOR#{author}",), ("COMMENT#{ticket_id}#{number:010d}",)), "GSI1"),
    }
    assert [index.name for index in best.indexes] == ["GSI1", "GSI2"]


def test_an_index_that_nothing_needs_is_named() -> None:
    class Idle(Design):
        table = Table("idle", indexes=[GSI1])

        @read("T1")
        def ticket(self, ticket_id: str) -> Ticket | None: ...

    assert spare_indexes(Idle) == ["GSI1"]


def test_ctrl_c_while_plans_are_priced_gives_the_best_so_far() -> None:
    plans: list[int] = []

    def stop(what: str, done: int, whole: int) -> None:
        if what == "weighing plans" and done == 2 < whole:
            plans.append(whole)
            raise SchemaError('Error building "model" validator:\n  KeyboardInterrupt: ')  # as pydantic's core has it

    assert 1 <= len(plan(Blog, anew=True, progress=stop)) <= 2
    assert plans
