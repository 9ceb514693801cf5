"""Finds items for the Data view by item collection, entity and conditions. Conditions are part of the key condition if
possible, otherwise of the filter. A page ends after a maximum number of requests, even if it found no items.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from keyplan.client.batches import batch_get
from keyplan.client.conversations import converse
from keyplan.dynamodb.values import NumberError, canonical
from keyplan.errors import ErrorDetail, RequestError
from keyplan.formatting.results import plain
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.declared.indexes import Index, KeyAttribute
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.studio.collections import joined_by, key_by
from keyplan.studio.drawing import colour_of
from keyplan.studio.items import Item, fault_of, identity, instance_of, secrets_of
from keyplan.studio.subject import Subject

OPERATORS = ("=", "<>", "<", "<=", ">", ">=", "between", "begins with", "contains", "exists", "not exists")
_SORT_OPERATORS = {"=", "<", "<=", ">", ">=", "between", "begins with"}
PAGE = 50
PAGE_MAX = 500
REQUESTS = 12
REQUESTS_AWAY = 3
WHOLE_MAX = 2**53 - 1
ORPHANS = "orphans"
LOOK = 400
"""Maximum number of items that one request evaluates."""


_PATH = re.compile(r"([^.\[\]]+)(?:\[\d+\])*(?:\.[^.\[\]]+(?:\[\d+\])*)*")
"""An attribute name (group 1), or a document path that starts with an attribute name."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on an attribute, with strings as values."""

    name: str
    operator: str
    values: tuple[str, ...]


@dataclass
class _Expression:
    keys: list[str] = field(default_factory=list[str])
    filters: list[str] = field(default_factory=list[str])
    names: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, Any] = field(default_factory=dict[str, Any])

    def name(self, text: str) -> str:
        known = {name: token for token, name in self.names.items()}.get(text, f"#n{len(self.names)}")
        self.names[known] = text
        return known

    def places(self, text: str) -> list[str]:
        """Placeholders for an attribute name, and for a document path such as ``address.city`` or ``tags[0]``."""
        result = [self.name(text)]
        steps = _PATH.fullmatch(text)
        if steps is not None and steps[0] != steps[1]:
            parts = [re.fullmatch(r"([^\[]+)((?:\[\d+\])*)", part) for part in text.split(".")]
            result.append(".".join(f"{self.name(part[1])}{part[2]}" for part in parts if part is not None))
        return result

    def value(self, given: Mapping[str, Any]) -> str:
        token = f":v{len(self.values)}"
        self.values[token] = dict(given)
        return token

    def members(self) -> dict[str, Any]:
        members = {
            "KeyConditionExpression": " AND ".join(self.keys),
            "FilterExpression": " AND ".join(self.filters),
            "ExpressionAttributeNames": self.names,
            "ExpressionAttributeValues": self.values,
        }
        return {name: value for name, value in members.items() if value}


@dataclass
class Found:
    """A page of items, with its request, and the start key of the next page."""

    entity: CompiledEntity | None
    operation: str
    request: dict[str, Any]
    items: list[Item] = field(default_factory=list[Item])
    next: dict[str, Any] | None = None
    looked_at: int = 0
    units: float = 0.0
    reasons: dict[str, str] = field(default_factory=dict[str, str])
    """If the search is for orphans, the reasons why the items are orphans, by identity."""


def data_json(subject: Subject, given: Mapping[str, Any]) -> dict[str, Any]:
    made = found_items(subject, given, PAGE_MAX, REQUESTS if subject.local else REQUESTS_AWAY)
    reasons = made.reasons
    rows = [row_json(subject, item) for item in made.items]
    return {
        "rows": [{**row, "fault": row["fault"] or reasons.get(row["id"])} for row in rows],
        "items": {subject.identity_of(item): item for item in made.items},
        "next": made.next,
        "looked_at": made.looked_at,
        "units": made.units,
        "request": {"operation": made.operation, "parameters": made.request},
        "columns": _columns(subject, given.get("index"), made.entity, made.items),
        "names": _names(subject),
        "controls": {entity.name: controls(entity) for entity in _entities(subject)},
    }


def found_items(subject: Subject, given: Mapping[str, Any], most: int, requests: int) -> Found:
    """At most ``most`` items, found by at most ``requests`` requests. Raises RequestError with all errors."""
    index, partition, entity, conditions, limit = _checked(subject, given, most)
    made = Found(entity, *_request(subject, index, partition, entity, conditions))
    start = given.get("start")
    for _ in range(requests):
        page = {**made.request, "Limit": LOOK, "ReturnConsumedCapacity": "TOTAL"}
        answer = subject.transport.call(made.operation, page if not start else {**page, "ExclusiveStartKey": start})
        made.looked_at += answer["ScannedCount"]
        made.units += float((answer.get("ConsumedCapacity") or {}).get("CapacityUnits", 0))
        fitting = [item for item in answer["Items"] if entity is None or entity.matches(item)]
        if given.get("only") == ORPHANS:
            made.reasons |= orphans(subject, fitting)
            fitting = [value for value in fitting if subject.identity_of(value) in made.reasons]
        start = answer.get("LastEvaluatedKey")
        room = limit - len(made.items)
        made.items += fitting[:room]
        if len(fitting) > room:
            start = _start(subject, index, made.items[-1])
        if not start or len(made.items) == limit:
            break
    made.next = start
    return made


def row_json(subject: Subject, item: Item) -> dict[str, Any]:
    kind = subject.kind_of(item)
    return {
        "id": subject.identity_of(item),
        "key": subject.key_of(item),
        "kind": kind.label,
        "role": kind.role,
        "colour": colour_of(subject, kind),
        "fields": exact(fields_of(kind.entity, item)),
        "fault": fault_of(kind, item),
    }


def fields_of(entity: CompiledEntity | None, item: Item) -> dict[str, Any] | None:
    """The item's fields as JSON data; None if the item has no entity or is invalid."""
    instance = instance_of(entity, item)
    if entity is None or instance is None:
        return None
    return {name: plain(value) for name, value in entity.own_values(instance).items()}


def exact(value: Any) -> Any:
    """Convert integers above 2^53 to strings, because browsers would round them. Edits accept integers as strings."""
    match value:
        case dict():
            return {name: exact(element) for name, element in value.items()}
        case list():
            return [exact(element) for element in value]
        case int() if abs(value) > WHOLE_MAX:
            return str(value)
        case _:
            return value


def _columns(subject: Subject, index: Any, entity: CompiledEntity | None, items: Sequence[Item]) -> list[str]:
    partition, sort = subject.key_attributes(subject.index(index))
    keys = [attribute.name for attribute in (*partition, *sort)]
    own = [] if entity is None else [stored_field.attribute for stored_field in entity.fields.values()]
    return list(dict.fromkeys([*keys, *subject.table.key_names, *own, *(name for item in items for name in item)]))


def _entities(subject: Subject) -> Iterable[CompiledEntity]:
    return () if subject.compiled is None else subject.compiled.entities.values()


@cache
def controls(entity: CompiledEntity) -> dict[str, dict[str, Any]]:
    """The input control of each field (text, number, boolean, enum, date, json), and whether the field is optional."""
    return {
        stored_field.name: _control(TypeAdapter(stored_field.annotation).json_schema())
        for stored_field in entity.fields.values()
        if not stored_field.computed
    }


def _control(schema: Mapping[str, Any]) -> dict[str, Any]:
    options = [_resolved(option, schema) for option in schema.get("anyOf", [schema])]
    types = [option for option in options if option.get("type") != "null"]
    found: dict[str, Any] = {"optional": len(types) < len(options)}
    first = types[0] if types else {}
    values = [value for option in types for value in option.get("enum", [option["const"]] if "const" in option else [])]
    if values and all(isinstance(value, str) for value in values):
        return {**found, "kind": "enum", "values": values}
    names = {str(option.get("type")) for option in types}
    if names <= {"integer", "number"} or names == {"number", "string"}:  # the schema of a Decimal has both types
        return {**found, "kind": "number"}
    kind = {"boolean": "boolean", "string": "date" if first.get("format") == "date" else "text"}
    return {**found, "kind": kind.get(str(first.get("type")), "json") if len(names) == 1 else "json"}


def _resolved(option: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    name = str(option.get("$ref", "")).rpartition("/")[2]
    found: Mapping[str, Any] = schema["$defs"][name] if name else option
    return found


def _names(subject: Subject) -> dict[str, dict[str, str]]:
    return {
        entity.name: {
            stored_field.attribute: stored_field.name
            for stored_field in entity.fields.values()
            if not stored_field.computed and stored_field.name not in secrets_of(entity)
        }
        for entity in _entities(subject)
    }


def _start(subject: Subject, index: Index | None, item: Item) -> dict[str, Any]:
    partition, sort = subject.key_attributes(index)
    return {
        **subject.key_of(item),
        **{attribute.name: item[attribute.name] for attribute in (*partition, *sort)},
    }


# Validation of the search parameters that the browser sends


def _checked(
    subject: Subject, given: Mapping[str, Any], most: int
) -> tuple[Index | None, list[dict[str, Any]] | None, CompiledEntity | None, list[Condition], int]:
    faults: list[ErrorDetail] = []
    index = None
    if given.get("index"):
        index = subject.index(given["index"])
        if index is None:
            faults.append(ErrorDetail("index", "isn't an index of the table"))
    entity = None
    if given.get("entity"):
        entity = None if subject.compiled is None else subject.compiled.by_name.get(str(given["entity"]))
        if entity is None:
            faults.append(ErrorDetail("entity", "isn't an entity of the design"))
    attributes, _ = subject.key_attributes(index)
    partition = _partition(given.get("partition"), attributes, faults)
    listed = given.get("conditions") or []
    checked = [_condition(at, each, faults) for at, each in enumerate(listed if isinstance(listed, list) else [listed])]
    conditions = [condition for condition in checked if condition]
    if given.get("only") not in (None, ORPHANS):
        faults.append(ErrorDetail("only", f"must be {ORPHANS!r}"))
    elif given.get("only") and index is not None and index.projection != "ALL":
        faults.append(ErrorDetail("only", "requires a search of the table or an index that projects all attributes"))
    limit = given.get("limit", PAGE)
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= most:
        faults.append(ErrorDetail("limit", f"isn't a whole number from 1 to {most}"))
    start = given.get("start")
    if start is not None and not isinstance(start, dict):
        faults.append(ErrorDetail("start", "isn't the start key of a page"))
    if faults:
        raise RequestError("invalid query", errors=faults)
    return index, partition, entity, conditions, limit


def _partition(
    given: Any, attributes: Sequence[KeyAttribute], faults: list[ErrorDetail]
) -> list[dict[str, Any]] | None:
    """The values of a partition key, each of which is given as a string or in DynamoDB JSON."""
    if given is None:
        return None
    values = given if isinstance(given, list) else [given]
    if len(values) != len(attributes):
        names = " and ".join(key_attribute.name for key_attribute in attributes)
        faults.append(ErrorDetail("partition", f"requires a value for {names}"))
        return None
    result: list[dict[str, Any]] = []
    for attribute, value in zip(attributes, values, strict=True):
        if isinstance(value, str):
            result.append({attribute.type: value})
        elif isinstance(value, dict) and len(value) == 1 and isinstance(next(iter(value.values())), str):
            result.append(value)
        else:
            faults.append(ErrorDetail("partition", 'isn\'t a key value such as "ARTICLE#1", or {"S": "ARTICLE#1"}'))
            return None
    return result


def _condition(at: int, given: Any, faults: list[ErrorDetail]) -> Condition | None:
    place = f"conditions[{at}]"
    if not isinstance(given, dict) or not isinstance(given.get("name"), str) or not given["name"]:
        faults.append(ErrorDetail(place, "doesn't name an attribute"))
        return None
    if given.get("operator") not in OPERATORS:
        faults.append(ErrorDetail(place, f"unknown operator; the operators are {', '.join(OPERATORS)}"))
        return None
    operator = str(given["operator"])
    values = given.get("values") or []
    wanted = {"between": 2, "exists": 0, "not exists": 0}.get(operator, 1)
    if not isinstance(values, list) or len(values) < wanted or not all(isinstance(value, str) for value in values):
        faults.append(ErrorDetail(place, f"requires {wanted} value{'' if wanted == 1 else 's'}"))
        return None
    if operator == "between" and values[0] > values[1] and not all(_number(value) for value in values[:2]):
        faults.append(ErrorDetail(place, "the lower bound must come first"))
        return None
    return Condition(given["name"], operator, tuple(values[:wanted]))


# The request


def _request(
    subject: Subject,
    index: Index | None,
    partition: Sequence[Mapping[str, Any]] | None,
    entity: CompiledEntity | None,
    conditions: Sequence[Condition],
) -> tuple[str, dict[str, Any]]:
    made = _Expression()
    attributes, sort = subject.key_attributes(index)
    for attribute, value in zip(attributes, partition or (), strict=False):
        made.keys.append(f"{made.name(attribute.name)} = {made.value(value)}")
    used: Condition | None = None
    if partition is not None and sort:
        on_sort = (each for each in conditions if each.name == sort[0].name and each.operator in _SORT_OPERATORS)
        used = next(on_sort, None)
        if used is not None:
            values: list[dict[str, Any]] = [{sort[0].type: text} for text in used.values]
            made.keys.append(_compared(made, made.name(sort[0].name), used.operator, values))
    keys = {key_attribute.name for key_attribute in (*attributes, *sort)}
    for condition in conditions:
        if condition is used:
            continue
        if partition is not None and condition.name in keys:
            raise RequestError(
                f"DynamoDB can't filter a query by a key attribute: {condition.name} {condition.operator}",
                hint="use one condition on the sort key, or search the whole table",
            )
        made.filters.append(_filter(subject, made, condition))
    if entity is not None and partition is None:
        attribute, template = entity.primary.partition[0]
        start = str(template).partition("{")[0] if attribute.type == "S" else ""
        if start:
            made.filters.append(f"begins_with({made.name(attribute.name)}, {made.value({'S': start})})")
    base = {"TableName": subject.table_name, **({} if index is None else {"IndexName": index.name})}
    return "Scan" if partition is None else "Query", {**base, **made.members()}


def _filter(subject: Subject, made: _Expression, condition: Condition) -> str:
    """The filter for a condition. If the type is unknown, it compares strings, and numbers or Booleans if possible."""
    known = subject.table.attribute_types.get(condition.name)
    places = [made.name(condition.name)] if known is not None else made.places(condition.name)
    if condition.operator == "exists":
        return _any(f"attribute_exists({place})" for place in places)
    if condition.operator == "not exists":
        return " AND ".join(f"attribute_not_exists({place})" for place in places)
    forms = _forms([known] if known is not None else ["S", "N", "BOOL"], condition)
    if not forms:
        raise RequestError(f"{condition.name} can't be compared with this value: {', '.join(condition.values)}")
    texts = [_compared(made, place, condition.operator, values) for place in places for values in forms]
    return _any(texts) if condition.operator != "<>" else " AND ".join(texts)


def _any(given: Iterable[str]) -> str:
    texts = list(given)
    return f"({' OR '.join(texts)})" if len(texts) > 1 else texts[0]


def _forms(tags: Sequence[str], condition: Condition) -> list[list[dict[str, Any]]]:
    result: list[list[dict[str, Any]]] = []
    for tag in tags:
        if tag == "BOOL":
            if condition.operator in {"=", "<>", "contains"} and condition.values[0] in {"true", "false"}:
                result.append([{"BOOL": condition.values[0] == "true"}])
        elif tag == "N":
            numbers = condition.operator != "begins with" and all(_number(text) for text in condition.values)
            if numbers and _in_order(condition, Decimal):
                result.append([{"N": text.strip()} for text in condition.values])
        elif _in_order(condition, str):
            result.append([{tag: text} for text in condition.values])
    return result


def _in_order(condition: Condition, kind: Callable[[str], Any]) -> bool:
    """Whether the lower bound comes first, as BETWEEN requires: 9 and 70 are in order as numbers, not as strings."""
    if condition.operator != "between":
        return True
    lower, upper = map(kind, condition.values)
    return bool(lower <= upper)


def _number(text: str) -> bool:
    try:
        canonical(text.strip())
    except NumberError:
        return False
    return True


def _compared(made: _Expression, name: str, operator: str, values: Sequence[Mapping[str, Any]]) -> str:
    tokens = [made.value(value) for value in values]
    match operator:
        case "between":
            return f"{name} BETWEEN {tokens[0]} AND {tokens[1]}"
        case "begins with":
            return f"begins_with({name}, {tokens[0]})"
        case "contains":
            return f"contains({name}, {tokens[0]})"
        case _:
            return f"{name} {operator} {tokens[0]}"


def orphans(subject: Subject, items: Sequence[Item]) -> dict[str, str]:
    """The reasons why items are orphans (refer to missing items), by identity. Raises DynamoDBError, StoreError."""
    design = subject.compiled
    if design is None:
        return {}
    result: dict[str, str] = {}
    wanted: dict[str, list[list[tuple[str, str]]]] = {}
    keys: dict[str, dict[str, Any]] = {}
    for item in items:
        name = subject.identity_of(item)
        kind = subject.kind_of(item)
        if kind.role == "none":
            result[name] = "the item's key matches no entity"
        elif kind.entity is not None:
            for group in _owners(design, kind.entity, item):
                keys |= {identity(key): key for _, key in group}
                wanted.setdefault(name, []).append([(owner, identity(key)) for owner, key in group])
    there = {subject.identity_of(element) for element in items}
    there |= _there(subject, [key for name, key in keys.items() if name not in there])
    for name, groups in wanted.items():
        lacking = [group for group in groups if not any(key in there for _, key in group)]
        if lacking:
            result[name] = "; ".join(f"the {' or '.join(owner for owner, _ in group)} is missing" for group in lacking)
    return result


def _owners(design: CompiledDesign, entity: CompiledEntity, item: Item) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    """The keys of the items that an item refers to. In each group, one key must exist."""
    instance = instance_of(entity, item)
    if instance is None:
        return
    values = entity.field_values(instance)
    partition = entity.primary.partition[0][0].name
    joined = joined_by(design).get(entity.name, [])
    for group in _identified(design, entity):
        keys = [(owner, key_by(owner, values)) for owner in group]
        own = [
            (owner.name, key)
            for owner, key in keys
            if key is not None and (owner in joined or key[partition] == item[partition])
        ]
        if own:
            yield own


def _identified(design: CompiledDesign, entity: CompiledEntity) -> list[list[CompiledEntity]]:
    """The entities that some of an entity's key fields identify, grouped by these fields."""
    own = frozenset(entity.key_fields)
    groups: dict[frozenset[str], list[CompiledEntity]] = {}
    for other in design.entities.values():
        fields = frozenset(other.key_fields)
        if fields and fields < own and other is not entity:
            groups.setdefault(fields, []).append(other)
    # Omit fields by which an index identifies an entity outside the group, because that entity can be the owner
    known = {fields: group for fields, group in groups.items() if not _is_by_index(design, fields, group)}
    # Omit owners of owners, because they are checked for the owner's own item
    return [group for fields, group in known.items() if not any(fields < other for other in known)]


def _is_by_index(design: CompiledDesign, fields: frozenset[str], group: Sequence[CompiledEntity]) -> bool:
    """Whether an index partition with only these fields identifies an entity outside the group."""
    return any(
        fields == key.fields == frozenset(key.partition[0][1].fields)
        for other in design.entities.values()
        if other not in group
        for key in other.index_keys
    )


def _there(subject: Subject, keys: Sequence[Mapping[str, Any]]) -> set[str]:
    names = {f"#k{at}": name for at, name in enumerate(subject.table.key_names)}
    projection = {"ProjectionExpression": ", ".join(names), "ExpressionAttributeNames": names}
    reading = batch_get(subject.table_name, list(map(dict, keys)), consistent=False, projection=projection)
    return {subject.identity_of(item) for item in converse(reading, subject.transport) if item is not None}
