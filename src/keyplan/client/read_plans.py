"""Readers, which execute read plans as conversations. Each kind of read plan has a class.

A reader returns chunks: some entries, and the position of the next chunk. ``results`` builds pages, lists and iterators
from chunks; ``merged_partitions`` merges partitions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from keyplan.client.batches import batch_get
from keyplan.client.conversations import Conversation, Request, Target
from keyplan.client.cursors import Position
from keyplan.client.key_conditions import AnswerFilter, answer_filter_of, key_condition, partition_texts
from keyplan.dynamodb.limits import IN_OPTIONS_MAX
from keyplan.dynamodb.values import NumberError, ValueFault
from keyplan.errors import ArgumentError, InvalidItemError, KeyFieldError, shown
from keyplan.model.compiled.item_sizes import projected
from keyplan.model.compiled.plans import Filter, FilterValue, KeyMatch, QueryPlan, ScanPlan
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.indexes import Index, KeyAttribute
from keyplan.model.declared.parameters import InvalidItem
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import Matcher

FILTERED_PAGE = 100
"""Minimum number of items that a filtered query reads for each missing entry."""

Item = dict[str, dict[str, Any]]


class Entry(NamedTuple):
    """An instance, and the item that determines its position in the result."""

    instance: Entity
    item: Item


class Chunk(NamedTuple):
    """Some entries of a result, in order. ``position`` is the start of the next chunk, or None at the end."""

    entries: list[Entry]
    position: Position | None


def gather_entries(
    part: Callable[[int | None, Position | None], Conversation[tuple[list[Entry], Position | None]]],
    size: int | None,
    position: Position | None,
    position_of: Callable[[Item], Position],
) -> Conversation[Chunk]:
    """Entries of several parts, up to ``size``. ``part`` returns the next part's entries without skipped ones, and the
    next position. Reads one additional entry, because a next position doesn't prove that another entry follows.
    """
    entries: list[Entry] = []
    while True:
        found, position = yield from part(None if size is None else size + 1 - len(entries), position)
        entries += found
        if position is None or (size is not None and len(entries) > size):
            break
    if size is None or len(entries) <= size:
        return Chunk(entries, None)
    return Chunk(entries[:size], position_of(entries[size - 1].item))


class ChunkReader(Protocol):
    """Returns a result in chunks."""

    def chunk(self, values: Mapping[str, Any], size: int | None, position: Position | None) -> Conversation[Chunk]:
        """At most ``size`` entries (None: all) from ``position`` on."""
        ...


def base_request(target: Target, index: Index | None = None, *, consistent: bool) -> dict[str, Any]:
    """The members of every read request. Reads of global secondary indexes can't be strongly consistent."""
    request: dict[str, Any] = {"TableName": target.name}
    if (consistent or target.consistent) and (index is None or index.local):
        request["ConsistentRead"] = True
    if index is not None:
        request["IndexName"] = index.name
    return request


def projection_of(attributes: Iterable[str]) -> dict[str, Any]:
    """The request members that select attributes, without duplicates."""
    names = {f"#a{number}": name for number, name in enumerate(dict.fromkeys(attributes))}
    return {"ProjectionExpression": ", ".join(names), "ExpressionAttributeNames": names}


def asked_of_table(target: Target, entities: Iterable[CompiledEntity]) -> dict[str, Any]:
    """The projection for reading the table: none for whole items; for views, their attributes and the keys."""
    known = list(entities)
    if any(entity.asked is None for entity in known):
        return {}
    keys = target.table.key_names
    return projection_of((*keys, *(name for entity in known for name in (*entity.labels, *(entity.asked or ())))))


def get_item(
    target: Target, entity: CompiledEntity, key: Item, *, consistent: bool, values: Mapping[str, Any] | None = None
) -> Conversation[Entity | None]:
    """Read an item by its primary key, which was built from ``values``."""
    request = base_request(target, consistent=consistent)
    request["Key"] = key
    if entity.asked is not None:
        request |= asked_of_table(target, (entity,))
    response = yield Request("GetItem", request)
    item = response.get("Item")
    if item is None or (entity.labels and not entity.is_labelled(item)):
        return None
    if values is not None and entity.primary.is_raw and not is_own(entity, item, values):
        return None
    instance: Entity = read_leniently(entity, item) if target.lenient else entity.from_item(item)
    return instance


def is_own(entity: CompiledEntity, item: Item, values: Mapping[str, Any]) -> bool:
    """Whether the item under a key has the values from which the key was built."""
    return entity.holds(item, entity.distinguishing_fields(entity.primary, values))


def read_claimed(
    target: Target, entity: CompiledEntity, claim: Item, *, consistent: bool
) -> Conversation[Entity | None]:
    """The owner of a claim. Reads the claim by its key, then the owner by the key that the claim contains."""
    request = base_request(target, consistent=consistent)
    response = yield Request("GetItem", {**request, "Key": claim})
    claiming = response.get("Item")
    if claiming is None:
        return None
    owner = (claiming.get("claim_of") or {}).get("M")
    if not isinstance(owner, dict):
        fault = f"the item at {claim} isn't a claim: it has no map claim_of with the owner's key"
        raise InvalidItemError(fault, place=entity.name, hint="another program wrote the item: fix or delete the item")
    return (yield from get_item(target, entity, owner, consistent=consistent))


def filter_members(condition: Filter | None, values: Mapping[str, Any]) -> dict[str, Any]:
    if condition is None:
        return {}
    text, names = condition.text, condition.names
    encoded: dict[str, Any] = dict(condition.constants)
    for placeholder, filter_value in condition.parameters.items():
        value = values[filter_value.parameter]
        if filter_value.many:
            options = _options(placeholder, filter_value, value) or _never(placeholder, filter_value)
            encoded |= options
            text = re.sub(rf"{placeholder}\b", ", ".join(options), text)
        else:
            encoded[placeholder] = _encoded(filter_value, value)
    if condition.defaulted or len(encoded) > IN_OPTIONS_MAX:
        # Only designs with filters import the expression grammar.
        from keyplan.dynamodb.expressions import ExpressionFault  # noqa: PLC0415
        from keyplan.model.compiled.absent_attributes import as_read  # noqa: PLC0415

        try:
            names = dict(names)
            text = as_read(text, names, encoded, condition.defaulted, held=condition.held)
        except ExpressionFault as fault:
            named = ", ".join(value.parameter for value in condition.parameters.values())
            raise ArgumentError(f"the filter can't be sent with these values: {fault}", place=named) from None
    return {"text": text, "names": names, "values": encoded}


def _options(placeholder: str, filter_value: FilterValue, given: Iterable[Any]) -> dict[str, Any]:
    options = [_encoded(filter_value, value) for value in dict.fromkeys(given)]
    return {f"{placeholder}_{number}": option for number, option in enumerate(options)}


def _never(placeholder: str, value: FilterValue) -> dict[str, Any]:
    """An operand whose type differs from all values, so that it matches none. IN requires at least one operand."""
    return {f"{placeholder}_0": {"B": "AA=="} if value.tag != "B" else {"BOOL": False}}


def _encoded(filter_value: FilterValue, value: Any) -> dict[str, Any]:
    """A filter's value. Raises ArgumentError for a value that DynamoDB can't represent."""
    try:
        return filter_value.encode(value)
    except UnicodeEncodeError:
        raise ArgumentError(f"{value!r} isn't valid Unicode", place=filter_value.parameter) from None
    except KeyFieldError as error:
        raise ArgumentError(error.message, place=filter_value.parameter, hint=error.hint) from None
    except (ValueFault, NumberError, TypeError) as error:
        raise ArgumentError(str(error), place=filter_value.parameter) from None
    except (AttributeError, ValueError, ArithmeticError, LookupError):  # an invalid value for a parameter of type Any
        raise ArgumentError(
            f"{shown(value)} can't be compared with the stored values", place=filter_value.parameter
        ) from None


def asked_of_place(target: Target, index: Index | None, entities: Sequence[CompiledEntity]) -> dict[str, Any]:
    """The projection for reading the table or an index. An index's keys provide fields that aren't projected."""
    asked = asked_of_table(target, entities)
    if index is None or not asked:
        return asked
    names = (
        *asked["ExpressionAttributeNames"].values(),
        *(attribute.name for attribute in (*index.partition, *index.sort)),
    )
    held = projected(target.table, index)
    return projection_of(name for name in names if held is None or name in held)


def own_item(entity: CompiledEntity, item: Item, target: Target) -> Any:
    """The instance of an item whose key matches the entity; None if another program wrote an item with a similar key.
    An unreadable item is returned as InvalidItem if the target is lenient; otherwise, it raises an error.
    """
    try:
        return entity.from_item(item)
    except InvalidItemError as error:
        if entity.primary.values(item) is None:
            return None
        if target.lenient:
            return unreadable(entity, item, error)
        raise


def _matches_in(entity: CompiledEntity, index: Index | None) -> Matcher:
    """Matches an entity's items in the table or an index. If an index has no labels, only keys are compared."""
    if index is None or all(index.holds(label) for label in entity.labels):
        return entity.matches
    return entity.primary.matches


def unreadable(entity: CompiledEntity, item: Item, error: InvalidItemError) -> InvalidItem:
    key = {attribute.name: str(item[attribute.name][attribute.type]) for attribute, _ in entity.primary.attributes}
    return InvalidItem(entity=entity.name, key=key, message=error.message, errors=tuple(map(str, error.errors)))


def read_leniently(entity: CompiledEntity, item: Item) -> Any:
    """The instance of an item that was read by key; InvalidItem if the item is unreadable."""
    try:
        return entity.from_item(item)
    except InvalidItemError as error:
        return unreadable(entity, item, error)


def _matcher(plan: QueryPlan, match: KeyMatch) -> Matcher:
    """Matches an entity's items in a query's result, by the matched key if the entity has several keys on the index."""
    entity, in_index = match.entity, match.key.matches
    if plan.index is None:
        return entity.matches_sort
    matches = _matches_in(entity, plan.index)
    return (lambda item: in_index(item) and matches(item)) if match.key in entity.siblings else matches


class QueryReader:
    """Queries one partition of the table or an index."""

    def __init__(self, plan: QueryPlan, target: Target) -> None:
        self.plan = plan
        self.target = target
        keys = () if plan.index is None else plan.index.sort
        table = target.table
        base = (table.partition,) if table.sort is None else (table.partition, table.sort)
        self.position_attributes: tuple[KeyAttribute, ...] = (*keys, *base) if plan.index else base[1:]
        # A query of the table sets the partition key, so the sort key alone identifies the entity.
        self._readers = [(_matcher(plan, match), match.entity) for match in plan.matches]

        self._base = self._members_of_each()
        self._projection: dict[str, str] = self._base.pop("ExpressionAttributeNames", {})

    def _members_of_each(self) -> dict[str, Any]:
        request = base_request(self.target, self.plan.index, consistent=self.plan.consistent)
        if not self.plan.forward:
            request["ScanIndexForward"] = False
        return request | asked_of_place(self.target, self.plan.index, [match.entity for match in self.plan.matches])

    def chunk(
        self, values: Mapping[str, Any], size: int | None, position: Position | None, cut: str | None = None
    ) -> Conversation[Chunk]:
        """The next entries of the partition. With ``cut``, they start at this sort key."""
        partition = partition_texts(self.plan.matches[0], values)
        wanted = None if size is None else size + 1
        entries: list[Entry] = []
        request = self.request(values, partition, cut)
        if request is None:
            return Chunk([], None)
        if position is not None:
            request["ExclusiveStartKey"] = self.start_key(partition, position)
        answer_filter = answer_filter_of(self.plan, values)
        while True:
            if wanted is not None:
                request["Limit"] = self.page_size(request, wanted - len(entries))
            response = yield Request("Query", request)
            more = self._take(response["Items"], entries, size, answer_filter)
            last = response.get("LastEvaluatedKey")
            if last is None or more:
                break
            request["ExclusiveStartKey"] = last
        return Chunk(entries, self.position(entries[-1].item) if more else None)

    def first(self, values: Mapping[str, Any]) -> Conversation[Entity | None]:
        answer_filter = answer_filter_of(self.plan, values)
        request = self.request(values, partition_texts(self.plan.matches[0], values))
        while request is not None:
            request["Limit"] = self.page_size(request, 1)
            response = yield Request("Query", request)
            for item in response["Items"]:
                instance = self.instance(item)
                if instance is not None and (answer_filter is None or answer_filter.passes(instance, item)):
                    return instance
            last = response.get("LastEvaluatedKey")
            request = None if last is None else {**request, "ExclusiveStartKey": last}
        return None

    def _take(
        self, items: list[Item], entries: list[Entry], size: int | None, answer_filter: AnswerFilter | None
    ) -> bool:
        """Add entries up to ``size``. Returns whether at least one more entry follows."""
        left = -1 if size is None else size - len(entries)
        instance_of, append = self.instance, entries.append
        for item in items:
            if left == 0 and answer_filter is None:
                if any(matches(item) for matches, _ in self._readers):
                    return True
                continue
            instance = instance_of(item)
            if instance is None or (answer_filter is not None and not answer_filter.passes(instance, item)):
                continue
            if left == 0:
                return True
            append(Entry(instance, item))
            left -= 1
        return False

    def page_size(self, request: Mapping[str, Any], missing: int) -> int:
        """The Limit of the next request; for the first request, the number of missing entries. If the first request
        didn't return enough entries, the range contains other items, possibly many.
        """
        if self.plan.filter is None and "Limit" not in request:
            return missing
        return max(missing * 2, FILTERED_PAGE)

    def request(
        self, values: Mapping[str, Any], partition: list[str], cut: str | None = None, reach: str | None = None
    ) -> dict[str, Any] | None:
        """The Query request for these values, without a start key; None if nothing can match."""
        condition = key_condition(self.plan, values, partition, cut, reach)
        if condition is None:
            return None
        names = {**condition.names, **self._projection} if self._projection else condition.names
        request = {
            **self._base,
            "KeyConditionExpression": condition.text,
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": condition.values,
        }
        if self.plan.filter is not None:
            members = filter_members(self.plan.filter, values)
            request["FilterExpression"] = members["text"]
            request["ExpressionAttributeNames"] = {**names, **members["names"]}
            request["ExpressionAttributeValues"] = {**condition.values, **members["values"]}
        return request

    def instance(self, item: Item) -> Entity | None:
        for matches, entity in self._readers:
            if matches(item):
                return own_item(entity, item, self.target)  # type: ignore[no-any-return]
        return None

    def entity_of(self, item: Item) -> CompiledEntity | None:
        """The plan's entity to which an item belongs, according to the item's key and labels."""
        for matches, entity in self._readers:
            if matches(item):
                return entity
        return None

    def position(self, item: Item) -> Position:
        return [item[attribute.name][attribute.type] for attribute in self.position_attributes]

    def start_key(self, partition: list[str], position: Position) -> Item:
        attributes = [attribute for attribute, _ in self.plan.key.partition]
        start: Item = {
            attribute.name: {attribute.type: text} for attribute, text in zip(attributes, partition, strict=True)
        }
        start.update(
            {
                attribute.name: {attribute.type: text}
                for attribute, text in zip(self.position_attributes, position, strict=True)
            }
        )
        return start


class ScanReader:
    """Scans the table or an index, for patterns that declare a scan."""

    def __init__(self, plan: ScanPlan, target: Target) -> None:
        self.plan = plan
        self.target = target
        table, index = target.table, plan.index
        base = (table.partition,) if table.sort is None else (table.partition, table.sort)
        own = () if index is None else (*index.partition, *index.sort)
        self._keys = tuple(dict.fromkeys((*own, *base)))
        self._readers = [(_matches_in(entity, index), entity) for entity in plan.entities]

    def request(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The Scan request for these values, without a start key."""
        index = self.plan.index
        request = base_request(self.target, index, consistent=self.plan.consistent)
        request |= asked_of_place(self.target, index, self.plan.entities)
        if self.plan.filter is not None:
            members = filter_members(self.plan.filter, values)
            request["FilterExpression"] = members["text"]
            request["ExpressionAttributeNames"] = {**request.get("ExpressionAttributeNames", {}), **members["names"]}
            if members["values"]:
                request["ExpressionAttributeValues"] = members["values"]
        return request

    def instance(self, item: Item) -> Entity | None:
        entity = next((compiled_entity for matches, compiled_entity in self._readers if matches(item)), None)
        return None if entity is None else own_item(entity, item, self.target)

    def position(self, item: Item) -> Position:
        return [item[key.name][key.type] for key in self._keys]

    def key_of(self, item: Item) -> Item:
        return {key.name: item[key.name] for key in self._keys}

    def chunk(self, values: Mapping[str, Any], size: int | None, position: Position | None) -> Conversation[Chunk]:
        """The next entries in table order."""
        request = self.request(values)
        if position is not None:
            request["ExclusiveStartKey"] = {
                value.name: {value.type: text} for value, text in zip(self._keys, position, strict=True)
            }
        wanted = None if size is None else size + 1
        entries: list[Entry] = []
        while True:
            if wanted is not None:
                request["Limit"] = max(wanted - len(entries), FILTERED_PAGE)
            response = yield Request("Scan", request)
            for item in response["Items"]:
                instance = self.instance(item)
                if instance is not None:
                    entries.append(Entry(instance, item))
            last = response.get("LastEvaluatedKey")
            if last is None or (wanted is not None and len(entries) >= wanted):
                break
            request["ExclusiveStartKey"] = last
        if size is None or len(entries) <= size:
            return Chunk(entries, None)
        del entries[size:]
        return Chunk(entries, self.position(entries[-1].item))


def batch_entities(
    target: Target,
    entity: CompiledEntity,
    keys: list[Item],
    *,
    consistent: bool,
    values: Sequence[Mapping[str, Any]] | None = None,
) -> Conversation[list[Entity | None]]:
    """The instances with these primary keys, which were built from ``values``, in order; None for each missing item."""
    asked = {} if entity.asked is None else asked_of_table(target, (entity,))
    items = yield from batch_get(target.name, keys, consistent=consistent or target.consistent, projection=asked)
    if entity.labels:
        items = [item if item is not None and entity.is_labelled(item) else None for item in items]
    if values is not None and entity.primary.is_raw:
        pairs = zip(items, values, strict=True)
        items = [item if item is not None and is_own(entity, item, made_of) else None for item, made_of in pairs]
    whole = partial(read_leniently, entity) if target.lenient else entity.from_item
    return [None if item is None else whole(item) for item in items]
