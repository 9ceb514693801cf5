# mypy: disable-error-code="empty-body"
"""Writes keep keys, unique values, versions and types correct, even with concurrent writers."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge, Interval, Le
from pydantic import Field, computed_field
from typing_extensions import TypeAliasType

from keyplan import (
    Add,
    Append,
    Check,
    Create,
    Delete,
    Design,
    Entity,
    Index,
    Key,
    Put,
    Remove,
    SetAdd,
    SetRemove,
    Table,
    Unique,
    Update,
    Version,
    Writes,
    read,
    write,
)
from keyplan.errors import (
    ArgumentError,
    ConditionFailed,
    ItemExists,
    KeyplanError,
    RequestError,
    TransactionFailed,
    UniqueValueTaken,
    UpdateRejected,
    WriteFailed,
)
from keyplan.testing.stored_world import check_invariants, scan
from tests.client.support import record

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
GSI2 = Index("GSI2", "gsi2pk", "gsi2sk")


class Account(Entity):
    """An account with a version and unique values."""

    account_id: str
    email: str
    phone: str | None = None
    city: str | None = None
    version: Version = 0

    primary = Key("ACCOUNT#{account_id}", "META")
    by_city = Key("CITY#{city}", "{account_id}", index=GSI1)
    one_email = Unique("EMAIL#{email}")
    one_phone = Unique("PHONE#{phone}")


class Note(Entity):
    """A note that can be put, because it has a version but no unique values."""

    note_id: str
    text: str = ""
    version: Version = 0

    primary = Key("NOTE#{note_id}", "META")


class Product(Entity):
    """A product with keys of several fields, one of them computed, and with bounded fields."""

    product_id: str
    brand: str
    rank: int = 0
    status: Literal["new", "old"] = "new"
    names: list[str] = Field(default_factory=list)
    tags: set[str] = Field(default_factory=set)
    stock: int = Field(default=10, ge=0, le=100)
    price: Decimal = Decimal(1)
    note: str | None = None
    at: datetime | None = None

    primary = Key("PRODUCT#{product_id}", "META")
    by_brand = Key("BRAND#{brand}#{status}", "{rank:04d}#{product_id}", index=GSI1)
    by_label = Key("LABEL#{label}", "{product_id}", index=GSI2, when={"status": ("new",)})

    @computed_field  # type: ignore[prop-decorator]
    @property
    def label(self) -> str:
        return f"{self.brand}-{len(self.tags)}"


class Shop(Design):
    table = Table("shop", indexes=[GSI1, GSI2], entities=[Account, Note, Product])

    @read("R1")
    def of_brand(self, brand: str, status: Literal["new", "old"]) -> list[Product]: ...

    @read("R2", where={"status": "new"})
    def labelled(self, label: str) -> list[Product]: ...

    @read("R3")
    def in_city(self, city: str) -> list[Account]: ...

    @write("W1", attempts=5)
    def count(self, note_id: str) -> Writes[int]:
        """Read an item, and write a value that depends on the item."""
        note = yield from self.note.read(note_id)
        number = len(note.text) + 1
        yield Update(note, text="x" * number)
        return number

    @read("R4")
    def note(self, note_id: str) -> Note: ...

    @write("W2")
    def keep(self, note_id: str, limit: int, cursor: str) -> Writes:
        yield Update(Note, note_id=note_id).set(text=cursor * limit)


@pytest.fixture
def shop() -> Any:
    with Shop.open(":memory:") as design:
        yield design
        check_invariants(scan(design))


def product(**more: Any) -> Product:
    return Product(**{"product_id": "p", "brand": "acme", **more})


def raw(shop: Shop, partition: str) -> Any:
    key = {"pk": {"S": partition}, "sk": {"S": "META"}}
    return shop.store.transport.call("GetItem", {"TableName": "shop", "Key": key})["Item"]


# Locks


def test_every_crud_method_rejects_an_outdated_version(shop: Shop) -> None:
    old = shop.create(Note(note_id="n"))
    new = shop.put(old)
    assert (old.version, new.version) == (1, 2)
    stale: list[Any] = [Put(old), Update(old, text="t"), Delete(old), Put(Note(note_id="n"))]
    for action in stale:
        with pytest.raises(ConditionFailed, match="version is 2, expected"):
            shop.transact([action])
        with pytest.raises(WriteFailed):
            shop.transact([action, Create(Note(note_id="other"))])
    with pytest.raises(ConditionFailed):
        shop.put(old)
    with pytest.raises(ConditionFailed):
        shop.update(old, text="t")
    with pytest.raises(ConditionFailed):
        shop.delete(old)
    assert shop.get(Note, note_id="n") == new
    assert shop.get(Note, note_id="other") is None
    shop.transact([Update(new, text="t"), Create(Note(note_id="other"))])
    assert shop.note("n").version == 3


def test_an_update_by_class_increments_the_version(shop: Shop) -> None:
    shop.create(Note(note_id="n"))
    shop.transact([Update(Note, note_id="n").set(text="t")])
    assert shop.note("n") == Note(note_id="n", text="t", version=2)


def test_an_update_that_sets_the_version_field_is_rejected(shop: Shop) -> None:
    note = shop.create(Note(note_id="n"))
    with pytest.raises(UpdateRejected, match="the version field can't be set: it is updated automatically"):
        shop.update(note, version=7)


def test_a_write_with_the_attempts_option_is_retried_after_concurrent_writes(shop: Shop) -> None:
    note = shop.create(Note(note_id="n"))
    recorder = record(shop)
    raced: list[Any] = []

    def before(operation: str, parameters: dict[str, Any]) -> None:
        if operation == "UpdateItem" and len(raced) < 2:
            raced.append(parameters)
            current = raw(shop, "NOTE#n")
            version = int(current["version"]["N"]) + 1
            recorder.inner.call(
                "PutItem",
                {
                    "TableName": "shop",
                    "Item": {**current, "text": {"S": "y" * version}, "version": {"N": str(version)}},
                },
            )

    recorder.before = before
    assert shop.count("n") == 4
    assert note.version == 1
    assert shop.note("n").text == "xxxx"


def test_a_parameter_of_a_write_named_limit_is_a_value_like_others(shop: Shop) -> None:
    shop.put(Note(note_id="n"))
    shop.keep("n", 1200, "x")
    shop.call("keep", {"note_id": "n", "limit": "0", "cursor": ""})
    assert not shop.note("n").text


# Claims


def test_unique_values_are_claimed_changed_released_and_reused(shop: Shop) -> None:
    ada = shop.create(Account(account_id="a", email="x@y", phone="1"))
    with pytest.raises(UniqueValueTaken, match="email 'x@y' belongs to another Account"):
        shop.create(Account(account_id="b", email="x@y"))
    with pytest.raises(ItemExists, match="already exists"):
        shop.create(Account(account_id="a", email="x@y", phone="1"))
    ada = shop.update(ada, email="new@y", phone=None)
    eve = shop.create(Account(account_id="b", email="x@y", phone="1"))
    with pytest.raises(UniqueValueTaken, match="email 'new@y'"):
        shop.update(eve, email="new@y", city="Bern")
    assert shop.in_city("Bern") == []
    shop.delete(ada)
    eve = shop.update(eve, email="new@y", city="Bern")
    assert shop.in_city("Bern") == [eve]


def test_concurrent_changes_keep_claimed_values_unique(shop: Shop) -> None:
    stale = shop.create(Account(account_id="a", email="one@y"))
    shop.update(stale, email="two@y")
    with pytest.raises(WriteFailed):
        shop.update(stale, email="three@y")
    with pytest.raises(WriteFailed):
        shop.delete(stale)
    assert len(scan(shop).claims) == 1


def test_writes_that_would_leave_stale_claims_are_rejected(shop: Shop) -> None:
    ada = shop.create(Account(account_id="a", email="x@y"))
    refused: list[tuple[Any, str]] = [
        (lambda: shop.put(ada), "Put can't release the unique values"),
        (lambda: shop.delete(Account, account_id="a"), "requires the instance"),
        (lambda: shop.batch([Delete(ada)]), "has claims, a version"),
        (lambda: shop.transact([Update(Account, account_id="a").set(email="z")]), "part of the key one_email"),
    ]
    for call, message in refused:
        with pytest.raises(RequestError, match=message):
            call()


# Keys


def test_keys_are_recomputed_when_their_fields_change(shop: Shop) -> None:
    element = shop.create(product())
    two = shop.update(element, rank=7)
    three = shop.update(two, brand="bolt")
    assert shop.of_brand("bolt", "new") == [three]
    assert shop.of_brand("acme", "new") == []
    four = shop.update(three, rank=Add(5))
    assert four.rank == 12
    assert raw(shop, "PRODUCT#p")["gsi1sk"] == {"S": "0012#p"}
    five = shop.update(four, tags=SetAdd({"a", "b"}))
    assert shop.labelled("bolt-2") == [five]
    assert raw(shop, "PRODUCT#p")["label"] == {"S": "bolt-2"}
    six = shop.update(five, status="old")
    assert shop.labelled("bolt-2") == []
    assert shop.of_brand("bolt", "old") == [six]
    assert "gsi2pk" not in raw(shop, "PRODUCT#p")


def test_a_key_is_not_recomputed_from_stale_field_values(shop: Shop) -> None:
    stale = shop.create(product())
    shop.update(stale, brand="bolt")
    for changes in ({"rank": 3}, {"status": "old"}, {"rank": Add(1)}, {"tags": {"x"}}):
        with pytest.raises(ConditionFailed, match="brand is 'bolt', expected 'acme'"):
            shop.update(stale, **changes)
    assert shop.update(stale, note="free").note == "free"
    with pytest.raises(ConditionFailed):
        shop.transact([Update(stale, rank=3), Check(Note, note_id="none")])


class Pair(Entity):
    """A pair of names, whose partition key contains the first letter of the name that sorts first."""

    pair_id: str
    left: str
    right: str
    tags: frozenset[str] = frozenset()

    primary = Key("PAIRS#{initial}", "{pair_id}")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def initial(self) -> str:
        """Return the first letter of the name that sorts first."""
        return min(self.left, self.right)[:1]


class Pairs(Design):
    table = Table("pairs", entities=[Pair])


FewByField = TypeAliasType("FewByField", Annotated[int, Field(ge=0, le=9)])
FewByMarks = TypeAliasType("FewByMarks", Annotated[int, Ge(0), Le(9)])


class Bounded(Entity):
    """An entity whose fields have the same bounds, declared in different ways."""

    bounded_id: str
    own: int = Field(default=5, ge=0, le=9)
    within: Annotated[int, Field(ge=0, le=9)] = 5
    optional: Annotated[int, Field(ge=0, le=9)] | None = 5
    by_field: FewByField = 5
    by_marks: FewByMarks = 5
    optional_by_field: FewByField | None = 5
    nested: Annotated[FewByField, "a mark"] = 5
    interval: Annotated[int, Interval(ge=0, le=9)] = 5

    primary = Key("BOUNDED#{bounded_id}", "HEAD")


class Unbounded(Entity):
    """An entity with a union type: the bounds of one member don't apply to values of the others."""

    unbounded_id: str
    number: FewByField | int = 5

    primary = Key("UNBOUNDED#{unbounded_id}", "HEAD")


class BoundedDesign(Design):
    table = Table("bounded", entities=[Bounded, Unbounded])


@pytest.mark.parametrize("name", [name for name in Bounded.model_fields if name != "bounded_id"])
@pytest.mark.parametrize("amount", [3, -3])
def test_concurrent_additions_keep_a_number_within_its_bounds(name: str, amount: int) -> None:
    with BoundedDesign.open(":memory:") as design:
        stale = design.create(Bounded(bounded_id="b"))
        design.update(stale, **{name: Add(amount)})
        with pytest.raises(ConditionFailed):
            design.update(stale, **{name: Add(amount)})
        read = design.get(Bounded, bounded_id="b")
        assert getattr(read, name) == 5 + amount
        assert design.update(design.create(Unbounded(unbounded_id="u")), number=Add(50)).number == 55


def test_an_update_that_would_change_a_computed_primary_key_fails() -> None:
    with Pairs.open(":memory:") as pairs:
        stale = pairs.create(Pair(pair_id="p", left="Ada", right="Abel"))
        pairs.update(stale, left="Zoe")
        with pytest.raises(ConditionFailed, match="left is 'Zoe', expected 'Ada'"):
            pairs.update(stale, right="Yan")


def test_error_messages_show_set_elements_in_sorted_order() -> None:
    with Pairs.open(":memory:") as pairs:
        stale = pairs.create(Pair(pair_id="p", left="Ada", right="Abel", tags=frozenset("hgfedcba")))
        text = re.escape("tags is {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}, expected {'a', 'b', 'c', 'd', 'y', 'z'}")
        with pytest.raises(ConditionFailed, match=text):
            pairs.update(Update(stale, tags=frozenset("x")).only_if(tags=frozenset("zydcba")))


@pytest.mark.parametrize("changes", [{"brand": "b"}, {"rank": 1}, {"status": "old"}, {"tags": {"a"}}, {"rank": Add(1)}])
def test_an_update_by_class_rejects_changes_of_index_key_fields(shop: Shop, changes: dict[str, Any]) -> None:
    shop.create(product())
    with pytest.raises(UpdateRejected, match=r"the field is part of the key by_(brand|label)"):
        shop.transact([Update(Product, product_id="p").set(**changes)])


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"product_id": "q"}, UpdateRejected, "a primary key can't be changed"),
        ({"label": "x"}, UpdateRejected, "a computed field can't be updated"),
        ({"colour": "x"}, RequestError, "Product has no field 'colour'"),
        ({"rank": -1}, KeyplanError, "is negative"),
        ({"status": "odd"}, ArgumentError, r"input should be 'new' or 'old'"),
        ({"brand": ""}, KeyplanError, "is empty"),
        ({}, UpdateRejected, "the update changes nothing"),
    ],
)
def test_invalid_updates_are_rejected(shop: Shop, changes: Any, error: type[Exception], message: str) -> None:
    element = shop.create(product())
    with pytest.raises(error) as caught:
        shop.update(element, **changes)
    assert message in str(caught.value)
    assert shop.get(Product, product_id="p") == element


# Changes


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"names": Append([1])}, "names[0]"),
        ({"names": "ab"}, "names"),
        ({"stock": Add("x")}, "Product.stock"),
        ({"stock": Add(Decimal("1.5"))}, "stock"),
        ({"brand": Remove()}, "a required field can't be removed"),
        ({"note": 1}, "note"),
        ({"stock": 101}, "less than or equal to 100"),
        ({"at": datetime(2026, 3, 1)}, "has no time zone"),  # noqa: DTZ001 - that is the case
    ],
)
def test_invalid_values_are_never_written(shop: Shop, changes: Any, said: str) -> None:
    element = shop.create(product())
    by_class = Update(Product, product_id="p").set(**changes)
    for call in (lambda: shop.update(element, **changes), lambda: shop.transact([by_class])):
        with pytest.raises(RequestError) as caught:
            call()
        assert said in str(caught.value) or "the field is part of the key" in str(caught.value)
    assert shop.get(Product, product_id="p") == element


def test_an_update_by_class_sets_adds_appends_and_removes_field_values(shop: Shop) -> None:
    shop.create(product())
    shop.transact([Update(Product, product_id="p").set(stock=Add(-3), names=Append(["a"]), note="n", price=Add(2))])
    shop.transact([Update(Product, product_id="p").set(names=Append(["b"]), note=None)])
    result = shop.get(Product, product_id="p")
    assert result == product(stock=7, names=["a", "b"], price=Decimal(3))
    assert "note" not in raw(shop, "PRODUCT#p")
    shop.transact([Update(Product, product_id="p").set(names=Remove(), stock=Remove())])
    assert shop.get(Product, product_id="p") == product(price=Decimal(3)), "a default is read again"


def test_updates_keep_numbers_within_their_bounds(shop: Shop) -> None:
    stale = shop.create(product(stock=3))
    shop.update(stale, stock=1)
    with pytest.raises(ConditionFailed):
        shop.update(stale, stock=Add(-2))
    with pytest.raises(ConditionFailed):
        shop.transact([Update(Product, product_id="p").set(stock=Add(100))])
    shop.transact([Update(Product, product_id="p").set(stock=Add(-1))])
    result = shop.get(Product, product_id="p")
    assert result is not None
    assert result.stock == 0


def test_empty_sets_and_none_values_are_not_stored(shop: Shop) -> None:
    element = shop.create(product(tags={"a"}, note="n", at=datetime(2026, 3, 1, tzinfo=UTC)))
    two = shop.update(element, tags=SetRemove({"a"}), note=None, at=None)
    stored = raw(shop, "PRODUCT#p")
    assert not {"tags", "note", "at"} & stored.keys()
    assert shop.get(Product, product_id="p") == two == product()
    three = shop.update(two, tags=SetAdd({"b"}))
    assert three.tags == {"b"}
    assert shop.update(three, tags=set()).tags == set()


def test_computed_fields_do_not_depend_on_the_local_time_zone() -> None:
    class Event(Entity):
        event_id: str
        at: datetime

        primary = Key("EVENTS#{day}", "{event_id}")

        @computed_field  # type: ignore[prop-decorator]
        @property
        def day(self) -> date:
            return self.at.date()

    class Calendar(Design):
        table = Table("calendar", entities=[Event])

    late = datetime(2026, 3, 2, 0, 30, tzinfo=timezone(timedelta(hours=1)))
    with Calendar.open(":memory:") as calendar:
        calendar.create(Event(event_id="e", at=late))
        world = scan(calendar)
        check_invariants(world)
        calendar.delete(world.rows[0].instance)
        assert scan(calendar).size == 0


# Conditions


def test_conditions_can_be_field_values_or_dynamodb_expressions(shop: Shop) -> None:
    element = shop.create(product(stock=5, tags={"a"}))
    shop.transact([Update(element, note="1").only_if(stock=5, status="new", at=None)])
    shop.transact(
        [
            Update(element, note="2").only_if(
                "stock BETWEEN :low AND :high AND contains(tags, :tag)", low=1, high=5, tag="a"
            )
        ]
    )
    shop.transact([Update(element, note="3").only_if("attribute_not_exists(at)").only_if("size(tags) = :n", n=1)])
    failing: list[Any] = [
        Update(element, note="x").only_if(stock=6),
        Update(element, note="x").only_if(note=None),
        Update(element, note="x").only_if("stock > :n", n=5),
        Put(product(stock=0)).only_if(stock=6),
        Delete(element).only_if(stock=6),
        Check(element).only_if(stock=6),
        Create(product(product_id="q")).only_if("attribute_exists(stock)"),
    ]
    for action in failing:
        with pytest.raises(WriteFailed):
            shop.transact([action])
    result = shop.get(Product, product_id="p")
    assert result is not None
    assert result.note == "3"
    shop.transact([Delete(element).only_if(stock=5)])
    assert shop.get(Product, product_id="p") is None


@pytest.mark.parametrize(
    ("condition", "values", "message"),
    [
        ("stokc > :n", {"n": 1}, "unknown field 'stokc'"),
        ("stock > > :n", {"n": 1}, "can't be parsed"),
        ("stock > :n", {}, r"requires values for \['n'\], not \[\]"),
        ("stock > :n", {"n": 1, "m": 2}, r"not \['m', 'n'\]"),
    ],
)
def test_invalid_conditions_are_rejected(shop: Shop, condition: str, values: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        shop.transact([Update(product(), note="x").only_if(condition, **values)])


# Transactions


def test_errors_of_failed_writes_name_the_action_and_the_reason(shop: Shop) -> None:
    element = shop.create(product(stock=5))
    shop.create(Account(account_id="a", email="x@y"))
    with pytest.raises(TransactionFailed) as caught:
        shop.transact(
            [
                Create(Note(note_id="n")),
                Update(element, note="x").only_if(stock=6),
                Create(Account(account_id="b", email="x@y")),
                Check(Note, note_id="none"),
            ]
        )
    error = caught.value
    assert [type(reason) for reason in error.reasons] == [
        type(None), ConditionFailed, type(None), UniqueValueTaken, ConditionFailed,
    ]  # fmt: skip
    texts = [str(fault) for fault in error.errors]
    assert "stock is 5, expected 6" in texts[0]
    assert "email 'x@y' belongs to another Account" in texts[1]
    assert "Note(pk=NOTE#none, sk=META) doesn't exist" in texts[2]
    assert scan(shop).size == 3


def test_two_actions_on_one_item_are_rejected(shop: Shop) -> None:
    with pytest.raises(RequestError, match="a transaction has two actions on the same item"):
        shop.transact([Create(Note(note_id="n")), Delete(Note, note_id="n")])
    with pytest.raises(RequestError, match="a batch has two actions on the same item"):
        shop.batch([Put(product()), Delete(Product, product_id="p")])


def test_a_transaction_has_at_most_100_operations(shop: Shop) -> None:
    with pytest.raises(RequestError, match="the transaction has 101 operations; DynamoDB allows at most 100"):
        shop.transact([Create(Note(note_id=str(number))) for number in range(101)])
    shop.transact([Create(Note(note_id=str(number))) for number in range(100)])
    assert scan(shop).size == 100


def test_writes_of_entities_of_other_designs_are_rejected(shop: Shop) -> None:
    class Stranger(Entity):
        name: str
        primary = Key("S#{name}", "M")

    with pytest.raises(RequestError, match="Stranger isn't an entity of this design"):
        shop.put(Stranger(name="x"))
    with pytest.raises(RequestError, match="a write yields actions, not str"):
        shop.transact(["put"])  # type: ignore[list-item]
    with pytest.raises(
        ArgumentError, match="the key of Note has the fields note_id; missing: note_id; not in the key: id"
    ):
        shop.get(Note, id="n")


def test_instances_that_skipped_validation_are_validated_on_write(shop: Shop) -> None:
    with pytest.raises(ArgumentError, match="invalid Product"):
        shop.put(product().model_copy(update={"stock": "many"}))
    with pytest.raises(ArgumentError, match="invalid Product"):
        shop.create(Product.model_construct(product_id="p"))


def test_an_item_created_with_a_version_keeps_that_version(shop: Shop) -> None:
    """An item copied from another table has such a version. The next write increments the version."""
    note = shop.create(Note(note_id="n", version=7))
    assert note.version == 7
    assert shop.note("n").version == 7
    assert shop.put(note).version == 8


def test_the_repr_of_updates_and_deletes_names_the_entity_and_the_key() -> None:
    note = Note(note_id="1")
    assert repr(Update(note, text="a")) == f"Update({note!r})"
    assert repr(Delete(note)) == f"Delete({note!r})"
    assert repr(Update(Note, note_id="1")) == "Update(Note, note_id='1')"
    assert repr(Delete(Note, note_id="1")) == "Delete(Note, note_id='1')"
