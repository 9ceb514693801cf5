"""Reading items that other programs wrote, and items of models with validators or private attributes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from typing import Annotated, Any

import pytest
from pydantic import BeforeValidator, PrivateAttr, field_validator, model_validator

from keyplan import Design, Entity, Key, Table
from keyplan.errors import InvalidItemError
from keyplan.model.stored.item_reading import reader_of
from tests.design.items import GSI1, compiled, is_quick, round_trip, slowly
from tests.design.test_items import CAMEL, NestedByAlias, Nothing

# Items that other programs wrote


class Order(Entity):
    order_id: str
    number: int
    day: date
    at: datetime
    path: tuple[str, ...] = ()
    status: str = "new"
    amount: int = 1

    primary = Key("ORDER#{order_id}", "{number:04d:desc}#{at}")
    by_day = Key("DAY#{day}#{status}", "{path}", index=GSI1)


ORDER = Order(
    order_id="a#1",
    number=12,
    day=date(2026, 1, 2),
    at=datetime(2026, 1, 2, 3, tzinfo=UTC),
    path=("x", "y#z"),
    status="paid",
)


def test_fields_stored_only_in_keys_are_read() -> None:
    entity = compiled(Order, GSI1)
    item = entity.to_item(ORDER)
    keys = {name: value for name, value in item.items() if name in {"pk", "sk", "gsi1pk", "gsi1sk"}}
    assert entity.from_item(keys) == ORDER
    assert slowly(entity, keys) == ORDER
    for name in ("order_id", "number", "day", "at", "path", "status"):
        assert entity.from_item({text: value for text, value in item.items() if text != name}) == ORDER


@pytest.mark.parametrize(
    ("attribute", "value", "place"),
    [
        ("number", {"S": "many"}, "Order.number"),
        ("number", {"N": "1.5"}, "Order.number"),
        ("amount", {"L": []}, "Order.amount"),
        ("order_id", {"N": "5"}, "Order.order_id"),
        ("at", {"S": "yesterday"}, "Order.at"),
        ("at", {"M": {}}, "Order.at"),
        ("day", {"BOOL": True}, "Order.day"),
        ("path", {"L": [{"S": "a"}, {"N": "1"}]}, "Order.path[1]"),
        ("path", {"S": "a"}, "Order.path"),
        ("status", {"SS": ["a"]}, "Order.status"),
    ],
)
def test_an_attribute_of_a_wrong_type_makes_an_item_invalid(attribute: str, value: dict[str, Any], place: str) -> None:
    entity = compiled(Order, GSI1)
    item = {**entity.to_item(ORDER), attribute: value}
    with pytest.raises(InvalidItemError) as caught:
        entity.from_item(item)
    assert [fault.place for fault in caught.value.errors] == [place]
    assert caught.value.place == "Order(pk=ORDER#a$c1, sk=9987#2026-01-02T03:00:00.000000Z)"
    assert "another program wrote the item, or the entity changed" in (caught.value.hint or "")


def test_every_invalid_attribute_of_an_item_is_reported() -> None:
    entity = compiled(Order, GSI1)
    item = {**entity.to_item(ORDER), "number": {"S": "x"}, "at": {"S": "y"}, "amount": {"S": "z"}}
    with pytest.raises(InvalidItemError) as caught:
        entity.from_item(item)
    assert [fault.place for fault in caught.value.errors] == ["Order.number", "Order.at", "Order.amount"]


def test_unknown_attributes_of_stored_items_are_ignored() -> None:
    entity = compiled(Order, GSI1)
    assert entity.from_item({**entity.to_item(ORDER), "theirs": {"M": {"a": {"N": "1"}}}}) == ORDER


# Models with validators and private attributes


class Before(Entity):
    name: str
    size: int = 0
    primary = Key("B#{name}", "HEAD")

    @model_validator(mode="before")
    @classmethod
    def from_text(cls, data: Any) -> Any:
        return {**data, "size": len(data["name"])}


class After(Entity):
    name: str
    size: int = 0
    primary = Key("A#{name}", "HEAD")

    @model_validator(mode="after")
    def small(self) -> After:
        if self.size > 10:
            raise ValueError("too large")
        return self


class Private(Entity):
    name: str
    _seen: list[str] = PrivateAttr(default_factory=lambda: ["fresh"])
    primary = Key("P#{name}", "HEAD")


class Initialised(Entity):
    name: str
    _loud: str = PrivateAttr()
    primary = Key("I#{name}", "HEAD")

    def model_post_init(self, context: Any, /) -> None:
        self._loud = self.name.upper()


class Rounded(Entity):
    name: str
    size: Annotated[int, BeforeValidator(lambda value: round(value))]  # noqa: PLW0108 - round takes two
    primary = Key("R#{name}", "HEAD")


class Prefixed(Entity):
    name: str
    size: int = 0
    primary = Key("P#{name}", "HEAD")

    @field_validator("size", mode="before")
    @classmethod
    def number_only(cls, value: Any) -> Any:
        if not isinstance(value, int):
            raise TypeError(value)
        return value


class Checked(Entity):
    name: str
    size: int = 0
    primary = Key("C#{name}", "HEAD")

    @field_validator("size")
    @classmethod
    def even(cls, value: int) -> int:
        return value - value % 2


@pytest.mark.parametrize(
    ("instance", "quick"),
    [
        (Before(name="abc"), False),
        (After(name="abc", size=3), False),
        (Private(name="abc"), False),
        (Initialised(name="abc"), False),
        (Rounded(name="abc", size=3), False),
        (Prefixed(name="abc", size=3), False),
        (NestedByAlias(name="a", inner=CAMEL), False),
        (Checked(name="abc", size=5), True),
        (ORDER, True),
        (Nothing(name="a", required="x", required_set=set()), True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_models_with_validators_or_private_attributes_use_the_slow_read_path(instance: Entity, quick: bool) -> None:
    assert is_quick(compiled(type(instance), GSI1)) is quick
    round_trip(instance)


def test_the_slow_read_path_runs_the_validators_of_the_model() -> None:
    private = compiled(Private)
    entity = private.from_item(private.to_item(Private(name="a")))
    assert isinstance(entity, Private)
    assert entity._seen == ["fresh"]
    initialised = compiled(Initialised)
    started = initialised.from_item(initialised.to_item(Initialised(name="a")))
    assert isinstance(started, Initialised)
    assert started._loud == "A"
    after = compiled(After)
    with pytest.raises(InvalidItemError, match="too large"):
        after.from_item({**after.to_item(After(name="a")), "size": {"N": "11"}})


class Cached(Entity):
    name: str
    size: int = 0
    primary = Key("C#{name}", "HEAD")

    @functools.cached_property
    def loud(self) -> str:
        return self.name.upper()


@pytest.fixture
def store() -> Iterator[Design]:
    class Plan(Design):
        table = Table("plan", entities=[Cached])

    with Plan.open(":memory:") as opened:
        yield opened


def test_a_cached_property_is_not_stored(store: Design) -> None:
    instance = Cached(name="a")
    assert instance.loud == "A"
    assert store.put(instance) == Cached(name="a")
    assert store.update(instance, size=2) == Cached(name="a", size=2)
    assert store.get(Cached, name="a") == Cached(name="a", size=2)


def test_errors_of_invalid_items_are_reported_by_the_slow_read_path() -> None:
    """The fast reader reports no errors itself: it delegates every invalid item to the slow reader."""
    entity = compiled(Order, GSI1)
    fields = [field for field in entity.fields.values() if not field.computed]
    seen: list[Any] = []

    def note(item: Any) -> Entity:
        seen.append(item)
        return ORDER

    read = reader_of(Order, fields, frozenset(), note)
    item = entity.to_item(ORDER)
    assert read(item) == ORDER
    assert seen == []
    read({**item, "number": {"S": "x"}})
    read({name: value for name, value in item.items() if name != "number"})
    assert len(seen) == 2


def known(schema: Any) -> Any:
    return schema


def inner(change: Callable[[dict[str, Any]], Any]) -> Callable[[Any], Any]:
    """Return a function that copies a pydantic schema and applies ``change`` to the model's schema."""
    return lambda schema: {**schema, "schema": change(schema["schema"])}


def fields_of(change: Callable[[dict[str, Any]], Any]) -> Callable[[Any], Any]:
    """Return a function that copies a pydantic schema and applies ``change`` to the schema of each field."""
    return inner(lambda part: {**part, "fields": {name: change(field) for name, field in part["fields"].items()}})


@pytest.mark.parametrize(
    ("change", "quick"),
    [
        (known, True),
        (lambda schema: None, False),
        (lambda schema: [schema], False),
        (lambda schema: {**schema, "type": "model-of-tomorrow"}, False),
        (lambda schema: {"type": "model", "cls": schema["cls"]}, False),
        (inner(lambda part: {**part, "type": "fields-of-tomorrow"}), False),
        (inner(lambda part: {"type": "model-fields"}), False),
        (inner(lambda part: {**part, "fields": list(part["fields"].items())}), False),
        (inner(lambda part: {**part, "fields": {f"_{name}": field for name, field in part["fields"].items()}}), False),
        (fields_of(lambda field: field["schema"]), False),
        (fields_of(lambda field: (field["type"], field["schema"])), False),
        (fields_of(lambda field: {**field, "schema": {"type": "type-of-tomorrow"}}), False),
    ],
)
def test_models_with_unknown_pydantic_schemas_use_the_slow_read_path(
    change: Callable[[Any], Any], quick: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pydantic's internal schemas may change, so the fast reader doesn't interpret unknown ones."""
    item = compiled(Order, GSI1).to_item(ORDER)
    monkeypatch.setattr(Order, "__pydantic_core_schema__", change(Order.__pydantic_core_schema__))
    entity = compiled(Order, GSI1)
    assert is_quick(entity) is quick
    assert entity.from_item(item) == ORDER
