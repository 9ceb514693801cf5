"""Describes and creates a design's table, adds missing indexes, and finds differences from the design."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from keyplan.client.conversations import Conversation, Pause, Request
from keyplan.errors import DynamoDBError, ErrorDetail, StoreError

READY_SECONDS_MAX = 600
POLL_SECONDS = 0.5
_MISSING = "nothing"
_NEW_TABLE = "create another table: a local index can't be added to a table"


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between a table and its design. ``serious``: whether calls fail or return wrong results."""

    place: str
    design: str
    table: str
    hint: str
    serious: bool = True

    @property
    def fault(self) -> ErrorDetail:
        return ErrorDetail(self.place, f"the design has {self.design}, but the table has {self.table}", self.hint)


def describe_table(name: str) -> Conversation[dict[str, Any] | None]:
    """The table's description; None if the table doesn't exist. Raises StoreError, DynamoDBError."""
    try:
        answer = yield Request("DescribeTable", {"TableName": name})
    except DynamoDBError as error:
        if error.type != "ResourceNotFoundException":
            raise
        return None
    result: Any = answer.get("Table")
    if not isinstance(result, dict) or not result.keys() >= {"AttributeDefinitions", "KeySchema", "TableStatus"}:
        raise StoreError("DescribeTable returned an incomplete description")
    return cast("dict[str, Any]", result)


def create_table(request: Mapping[str, Any], ttl_attribute: str | None) -> Conversation[dict[str, Any]]:
    """Create the table, or wait for another process that is creating it. Raises StoreError, DynamoDBError."""
    made: dict[str, Any] | None = None
    try:
        made = (yield Request("CreateTable", dict(request)))["TableDescription"]
    except DynamoDBError as error:
        if error.type != "ResourceInUseException":
            raise
    description = yield from until_ready(request["TableName"], made)
    if ttl_attribute is not None:
        yield from expire_items(request["TableName"], ttl_attribute)
    return description


def until_ready(name: str, result: dict[str, Any] | None = None) -> Conversation[dict[str, Any]]:
    """Wait until the table and its indexes are active and backfilled. Returns the description. ``result`` is a recent
    description, if available. Raises StoreError.
    """
    patience = time.monotonic() + READY_SECONDS_MAX
    while time.monotonic() < patience:
        result = result or (yield from describe_table(name))
        if result is not None:
            states = {
                result["TableStatus"],
                *(value.get("IndexStatus", "ACTIVE") for value in result.get("GlobalSecondaryIndexes", ())),
            }
            if states == {"ACTIVE"}:
                return result
            if "DELETING" in states:
                raise StoreError(f"the table {name} or one of its indexes is being deleted", hint="retry later")
        yield Pause(POLL_SECONDS)
        result = None
    raise StoreError(
        f"the table {name} isn't ready after {READY_SECONDS_MAX} s",
        hint="creation continues; run keyplan create again later",
    )


def add_indexes(wanted: Mapping[str, Any], result: Mapping[str, Any]) -> Conversation[list[str]]:
    """Add missing global secondary indexes one at a time, as DynamoDB requires. Returns the names of added indexes."""
    added: list[str] = []
    known = {value["IndexName"] for value in result.get("GlobalSecondaryIndexes", ())}
    for index in wanted.get("GlobalSecondaryIndexes", ()):
        if index["IndexName"] in known:
            continue
        names = {value["AttributeName"] for value in index["KeySchema"]}
        types = [definition for definition in wanted["AttributeDefinitions"] if definition["AttributeName"] in names]
        created = dict(index)
        throughput = result.get("ProvisionedThroughput", {})
        if throughput.get("WriteCapacityUnits"):  # an index of a provisioned table is provisioned like the table
            created["ProvisionedThroughput"] = {
                name: throughput[name] for name in ("ReadCapacityUnits", "WriteCapacityUnits")
            }
        request = {"AttributeDefinitions": types, "GlobalSecondaryIndexUpdates": [{"Create": created}]}
        yield Request("UpdateTable", {"TableName": wanted["TableName"], **request})
        yield from until_ready(wanted["TableName"])
        added.append(index["IndexName"])
    return added


def expire_items(name: str, attribute: str) -> Conversation[bool]:
    """Enable TTL on an attribute. Returns whether TTL was disabled before."""
    if (yield from _expires_by(name)) == attribute:
        return False
    setting = {"AttributeName": attribute, "Enabled": True}
    yield Request("UpdateTimeToLive", {"TableName": name, "TimeToLiveSpecification": setting})
    return True


def differences(wanted: Mapping[str, Any], result: Mapping[str, Any]) -> Iterator[Difference]:
    """The differences between a described table and the design's CreateTable request."""
    types = {definition["AttributeName"]: definition["AttributeType"] for definition in result["AttributeDefinitions"]}
    for definition in wanted["AttributeDefinitions"]:
        name, kind = definition["AttributeName"], definition["AttributeType"]
        if types.get(name, kind) != kind:
            yield Difference(f"attribute {name}", f"type {kind}", f"type {types[name]}", "create another table")
    if wanted["KeySchema"] != result["KeySchema"]:
        own, other = _schema_text(wanted["KeySchema"]), _schema_text(result["KeySchema"])
        yield Difference("key", own, other, "create another table, and copy the items")
    own_indexes, others = _indexes(wanted), _indexes(result)
    for name in {**own_indexes, **others}:
        yield from _of_index(name, own_indexes.get(name), others.get(name))


def _indexes(described: Mapping[str, Any]) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """The kind and description of each index by name, global indexes first. Names are unique among both kinds."""
    return {
        index["IndexName"]: (kind, index)
        for kind, member in (("global", "GlobalSecondaryIndexes"), ("local", "LocalSecondaryIndexes"))
        for index in described.get(member, ())
    }


def unmended(wanted: Mapping[str, Any], result: Mapping[str, Any]) -> list[Difference]:
    """The serious differences that remain after adding missing global secondary indexes."""
    known = _indexes(result)
    there = [value for value in wanted.get("GlobalSecondaryIndexes", ()) if value["IndexName"] in known]
    return [
        difference
        for difference in differences({**wanted, "GlobalSecondaryIndexes": there}, result)
        if difference.serious
    ]


def mismatch(wrong: Iterable[Difference], where: str, name: str, place: str | None = None) -> StoreError:
    """The error for a table that doesn't match its design."""
    return StoreError(
        f"the table {name} in {where} doesn't match the design",
        place=place,
        errors=[difference.fault for difference in wrong],
        hint="keyplan drift lists all differences",
    )


def drift(
    wanted: Mapping[str, Any], result: Mapping[str, Any], ttl_attribute: str | None
) -> Conversation[list[Difference]]:
    """All differences between a described table and the design, including TTL, with serious differences first."""
    expires_by = yield from _expires_by(wanted["TableName"])
    listed = [*differences(wanted, result), *_of_expiry(expires_by, ttl_attribute)]
    return sorted(listed, key=lambda difference: not difference.serious)


def _of_expiry(text: str | None, attribute: str | None) -> Iterator[Difference]:
    if text == attribute:
        return
    design = "no expiry" if attribute is None else f"expiry by {attribute}"
    table = "none" if text is None else f"expiry by {text}"
    hint = "run keyplan create to enable TTL"
    if text is not None:
        hint = "disable this TTL with UpdateTimeToLive" + ("" if attribute is None else f"; then {hint}")
    yield Difference("expiry", design, table, hint, serious=text is not None)


def _of_index(
    name: str, own_index: tuple[str, Mapping[str, Any]] | None, other_index: tuple[str, Mapping[str, Any]] | None
) -> Iterator[Difference]:
    place = f"index {name}"
    own_text, other_text = _index_text(own_index), _index_text(other_index)
    if own_index is None:
        hint = "no access pattern reads this index, which adds write costs: remove it unless other programs read it"
        yield Difference(place, own_text, other_text, hint, serious=False)
        return
    if other_index is None:
        added = "run keyplan create" if own_index[0] == "global" else _NEW_TABLE
        yield Difference(place, own_text, other_text, added)
        return
    if own_index[0] != other_index[0]:
        hint = "a local index can't be removed: rename the design's index" if own_index[0] == "global" else _NEW_TABLE
        yield Difference(place, own_text, other_text, hint)
        return
    ours, theirs = own_index[1], other_index[1]
    recreate = "delete the index, then run keyplan create; until the index is ACTIVE, reads of it fail"
    if ours["KeySchema"] != theirs["KeySchema"]:
        yield Difference(place, _schema_text(ours["KeySchema"]), _schema_text(theirs["KeySchema"]), recreate)
    own, other = ours.get("Projection", {}), theirs.get("Projection", {})
    needed, projected = _projected(own), _projected(other)
    if needed != projected:
        wider = projected is None or (needed is not None and needed < projected)
        yield Difference(place, _projection_text(own), _projection_text(other), recreate, serious=not wider)
    if theirs.get("IndexStatus", "ACTIVE") != "ACTIVE":
        hint = "wait until the index is ACTIVE; until then, reads of it fail"
        yield Difference(place, "an ACTIVE index", f"an index with status {theirs['IndexStatus']}", hint, serious=False)


def _projected(projection: Mapping[str, Any]) -> frozenset[str] | None:
    """The projected non-key attributes; None if the index projects all attributes."""
    if projection.get("ProjectionType", "ALL") == "ALL":
        return None
    return frozenset(projection.get("NonKeyAttributes", ()))


def _projection_text(projection: Mapping[str, Any]) -> str:
    if projection.get("ProjectionType") == "INCLUDE":
        return f"projection of {', '.join(sorted(projection.get('NonKeyAttributes', ())))}"
    return f"projection {projection.get('ProjectionType', 'ALL')}"


def _index_text(index: tuple[str, Mapping[str, Any]] | None) -> str:
    return _MISSING if index is None else f"a {index[0]} index on {_schema_text(index[1]['KeySchema'])}"


def _schema_text(schema: Iterable[Mapping[str, str]]) -> str:
    return ", ".join(f"{element['AttributeName']} ({element['KeyType']})" for element in schema)


def _expires_by(name: str) -> Conversation[str | None]:
    state = (yield Request("DescribeTimeToLive", {"TableName": name}))["TimeToLiveDescription"]
    on = state.get("TimeToLiveStatus") in {"ENABLED", "ENABLING"}
    return str(state.get("AttributeName")) if on else None
