"""Scans a store for its items, instances and field values. ``oracle.py`` computes expected results from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from keyplan.dynamodb import values
from keyplan.dynamodb.limits import ITEM_BYTES_MAX
from keyplan.errors import InvalidItemError
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.declared.entity import Entity
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.session.design import Design
from keyplan.session.stores import Store

Item = dict[str, dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Row:
    """One stored item of an entity."""

    entity: CompiledEntity
    instance: Entity
    item: Item

    @cached_property
    def values(self) -> dict[str, Any]:
        return self.entity.field_values(self.instance)

    @cached_property
    def as_read(self) -> Item:
        """The item with defaults for its missing fields."""
        return {**self.item, **self.entity.encode_fields(self.values)}


@dataclass(frozen=True)
class World:
    """The rows of a store, its claims, and the items of other programs."""

    rows: tuple[Row, ...]
    claims: tuple[Item, ...]
    foreign: tuple[Item, ...]

    def of(self, *classes: type[Entity]) -> list[Row]:
        return [row for row in self.rows if type(row.instance) in classes]

    @property
    def size(self) -> int:
        return len(self.rows) + len(self.claims) + len(self.foreign)


class Recorder:
    """A transport that records its requests."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.requests: list[tuple[str, dict[str, Any]]] = []

    def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self.requests.append((operation, parameters))
        return self.inner.call(operation, parameters)  # type: ignore[no-any-return]

    def call_all(self, requests: list[Any]) -> list[dict[str, Any]]:
        self.requests.extend((request.operation, request.parameters) for request in requests)
        return self.inner.call_all(requests)  # type: ignore[no-any-return]


def record(store: Store) -> Recorder:
    recorder = Recorder(store.transport)
    store.transport = recorder
    return recorder


def items_of(store: Store) -> Iterator[Item]:
    request: dict[str, Any] = {"TableName": store.table_name, "ConsistentRead": True}
    while True:
        response = store.transport.call("Scan", request)
        yield from response["Items"]
        last = response.get("LastEvaluatedKey")
        if last is None:
            return
        request = {**request, "ExclusiveStartKey": last}


def scan(design: Design) -> World:
    """The content of the store. Raises AssertionError for an item that its entity can't read."""
    rows: list[Row] = []
    claims: list[Item] = []
    foreign: list[Item] = []
    for item in items_of(design.store):
        owners = belongs_to(design.compiled, item)
        if len(owners) > 1:
            raise AssertionError(f"the item {item} matches several entities: {', '.join(owners)}")
        if not owners:
            foreign.append(item)
        elif owners == ["claim"]:
            claims.append(item)
        else:
            entity = design.compiled.by_name[owners[0]]
            rows.append(Row(entity, read_back(entity, item), item))
    return World(tuple(rows), tuple(claims), tuple(foreign))


def belongs_to(design: CompiledDesign, item: Item) -> list[str]:
    """The names of the entities whose key templates match an item, and "claim" for a claim."""
    entities = design.entities.values()
    claimed = "claim_of" in item and any(claim.matches(item) for entity in entities for claim in entity.claims)
    return [entity.name for entity in entities if entity.matches(item)] + ["claim"] * claimed


def read_back(entity: CompiledEntity, item: Item) -> Entity:
    """The instance of a stored item. Raises AssertionError if the item is invalid."""
    try:
        return entity.from_item(item)
    except InvalidItemError as error:
        raise AssertionError(f"a write stored an item that can't be read back: {error}\nitem: {item}") from error


def identity_of(entity: CompiledEntity, values: Mapping[str, Any]) -> tuple[Any, ...]:
    """The values that identify an item: instances with the same identity are the same item."""
    variables = {
        variable.field: variable for _, template in entity.primary.attributes for variable in template.variables
    }
    named = ((variables[name], values[name]) for name in entity.key_fields)
    return (entity.name, *(variable.folded(value) if variable.folds else value for variable, value in named))


def check_invariants(world: World) -> None:
    """Raises AssertionError for the first item with wrong keys, claims or size."""
    for row in world.rows:
        _check_keys(row)
        size = values.item_size(row.item)
        if size > ITEM_BYTES_MAX:
            raise AssertionError(f"an item has {size} bytes, more than {ITEM_BYTES_MAX}: {row.instance!r}")
    _check_claims(world)


def _check_keys(row: Row) -> None:
    """Key attributes must match the fields, and be absent if the item isn't in a sparse index."""
    entity, item = row.entity, row.item
    own = {field.attribute for field in entity.fields.values()}
    members = [entity.primary, *(key for key in entity.index_keys if key.member(row.values))]
    wanted: dict[str, Mapping[str, str]] = {}
    for key in members:
        wanted.update(key.item_key(row.values))
    for key in entity.keys:
        for attribute, _ in key.attributes:
            held, expected = item.get(attribute.name), wanted.get(attribute.name)
            if attribute.name in own and attribute.name not in wanted:
                continue
            if not _same(held, expected):
                raise AssertionError(
                    f"the key {key.name} of {row.instance!r} is stale: its attribute {attribute.name} contains "
                    f"{_shown(held)}, but its fields require {_shown(expected)}"
                )


def _same(held: Any, expected: Any) -> bool:
    if held is None or expected is None:
        return held is expected
    if held.keys() == expected.keys() == {"N"}:
        return Decimal(held["N"]) == Decimal(expected["N"])
    return bool(held == expected)


def _shown(value: Any) -> str:
    return "nothing" if value is None else repr(next(iter(value.values())))


def _check_claims(world: World) -> None:
    """Each unique value must have a claim, and each claim an owner."""
    held = {_key_text(item): item for item in world.claims}
    for row in world.rows:
        primary = row.entity.item_key(row.entity.primary, row.values)
        for claim in row.entity.claims:
            if not claim.member(row.values):
                continue
            key = row.entity.item_key(claim, row.values)
            item = held.pop(_key_text(key), None)
            if item is None:
                raise AssertionError(f"{row.instance!r} has no claim at {key}")
            if item["claim_of"] != {"M": primary}:
                raise AssertionError(f"the claim of {row.instance!r} at {key} belongs to {item['claim_of']}")
    for item in held.values():
        raise AssertionError(f"no item owns the claim: {item}")


def _key_text(item: Mapping[str, Mapping[str, Any]]) -> str:
    return repr(sorted((name, value) for name, value in item.items() if name != "claim_of"))
