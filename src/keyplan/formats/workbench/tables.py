"""Converts other table descriptions to Workbench's layout: CloudFormation templates, CreateTable requests,
DescribeTable responses, models of AWS's MCP server, and OneTable schemas with data.

They lack entities, attributes and mostly a sample; ``reading.py`` notes its assumptions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

_RESOURCES = ("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable")
_SIDES = {"HASH": "PartitionKey", "RANGE": "SortKey"}
_WITHIN = ("Table", "TableDescription", "CreateTable")
"""Members that contain the table, in responses and in Keyplan's exports."""


def as_workbench(data: Json) -> Json:
    """The content in Workbench's layout; unchanged if it is none of these."""
    if "DataModel" in data:
        return data
    if "KeyAttributes" in data:
        return {"ModelName": data.get("TableName", ""), "DataModel": [data]}
    tables = [*_tables(data)]
    if tables:
        name = data.get("ModelName") or data.get("name") or (tables[0]["TableName"] if len(tables) == 1 else "")
        return {"ModelName": name, "DataModel": tables, "ModelMetadata": {"Description": data.get("Description")}}
    primary = _object(_object(data.get("indexes")).get("primary"))
    return _onetable(data, primary) if primary else data


def _tables(data: Json) -> Iterator[Json]:
    for name, resource in _object(data.get("Resources")).items():
        if _object(resource).get("Type") in _RESOURCES:
            yield _table(_object(resource.get("Properties")), str(name), [])
    for member in _WITHIN:
        if "KeySchema" in _object(data.get(member)):
            yield _table(data[member], "", [])
    if "KeySchema" in data:
        yield _table(data, "", data.get("Items"))
    items = _object(data.get("items"))
    listed = data.get("tables")
    for table in listed if isinstance(listed, list) else ():
        if "KeySchema" in _object(table):
            name = table.get("TableName")
            yield _table(table, "", items.get(name) if isinstance(name, str) else [])


def _table(data: Json, otherwise: str, items: Any) -> Json:
    """A CreateTable request's table. ``otherwise``: the name to use if it is computed by a function."""
    types = {
        str(attribute["AttributeName"]): attribute.get("AttributeType")
        for attribute in map(_object, _list(data.get("AttributeDefinitions")))
        if "AttributeName" in attribute
    }
    name = data.get("TableName")
    return {
        "TableName": name if isinstance(name, str) else otherwise,
        "KeyAttributes": _key(data, types),
        "NonKeyAttributes": [{"AttributeName": attribute, "AttributeType": kind} for attribute, kind in types.items()],
        **{
            member: [{**index, "KeyAttributes": _key(index, types)} for index in map(_object, _list(data.get(member)))]
            for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")
        },
        "TableData": [_put(item) for item in _list(items)],
    }


def _key(data: Json, types: Json) -> Json:
    """A key schema as Workbench's key attributes, with one attribute per part."""
    result: Json = {}
    for element in map(_object, _list(data.get("KeySchema"))):
        name, side = element.get("AttributeName"), _SIDES.get(str(element.get("KeyType")).upper())
        if isinstance(name, str) and side is not None:
            attribute = {"AttributeName": name, "AttributeType": types.get(name, "S")}
            result[side if side not in result else f"Further{side}"] = attribute
    return result


def _put(item: Any) -> Any:
    return _object(_object(item).get("PutRequest")).get("Item", item)


def _onetable(data: Json, primary: Json) -> Json:
    table = {
        "TableName": data.get("name") or "data",
        "KeyAttributes": _onetable_key(primary),
        "GlobalSecondaryIndexes": [
            {
                "IndexName": name,
                "KeyAttributes": _onetable_key(_object(value)),
                "Projection": {"ProjectionType": "ALL"},
            }
            for name, value in _object(data.get("indexes")).items()
            if name != "primary"
        ],
        "TableData": data.get("data"),
        "ModelSchema": data,
    }
    return {"ModelName": data.get("name") or "OneTable", "DataModel": [table]}


def _onetable_key(index: Json) -> Json:
    names = {"PartitionKey": index.get("hash"), "SortKey": index.get("sort")}
    return {side: {"AttributeName": name, "AttributeType": "S"} for side, name in names.items() if name}


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
