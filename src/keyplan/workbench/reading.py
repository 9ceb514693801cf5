"""The file of a Workbench model, read and checked: every fault is told with its place in the file.

The format isn't documented by AWS. What isn't known here is passed over; what is needed must be there and be right.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from keyplan import values
from keyplan.design.entity import faults_of
from keyplan.errors import Fault, RequestError

__all__ = ["Attribute", "Facet", "Index", "Item", "Model", "TableModel", "read_model"]

Item = dict[str, dict[str, Any]]
"""A sample item in DynamoDB's JSON."""


class Part(BaseModel):
    """A part of the file; members that aren't known are passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Attribute(Part):
    """An attribute and its type."""

    name: str = Field(alias="AttributeName", min_length=1)
    type: str = Field(alias="AttributeType")


class KeyAttribute(Part):
    """An attribute of a key."""

    name: str = Field(alias="AttributeName", min_length=1, max_length=255)
    type: Literal["S", "N", "B"] = Field(alias="AttributeType")


class KeyAttributes(Part):
    """A table's or an index's key."""

    partition: KeyAttribute = Field(alias="PartitionKey")
    sort: KeyAttribute | None = Field(default=None, alias="SortKey")


class Projection(Part):
    """What an index holds."""

    type: Literal["ALL", "KEYS_ONLY", "INCLUDE"] = Field(default="ALL", alias="ProjectionType")
    included: list[str] = Field(default_factory=list, alias="NonKeyAttributes")


class Index(Part):
    """A global index."""

    name: str = Field(alias="IndexName", pattern=r"^[A-Za-z0-9_.-]{3,255}$")
    key: KeyAttributes = Field(alias="KeyAttributes")
    projection: Projection = Field(default_factory=Projection, alias="Projection")


class Aliases(Part):
    """What a facet calls the table's key attributes."""

    partition: str = Field(default="", alias="PartitionKeyAlias")
    sort: str = Field(default="", alias="SortKeyAlias")


class Facet(Part):
    """A kind of items: the nearest thing to an entity."""

    name: str = Field(alias="FacetName", min_length=1)
    aliases: Aliases = Field(default_factory=Aliases, alias="KeyAttributeAlias")
    items: list[dict[str, Any]] = Field(default_factory=list, alias="TableData")
    attributes: list[str] = Field(default_factory=list, alias="NonKeyAttributes")


class TableModel(Part):
    """One table."""

    name: str = Field(alias="TableName", pattern=r"^[A-Za-z0-9_.-]{3,255}$")
    key: KeyAttributes = Field(alias="KeyAttributes")
    attributes: list[Attribute] = Field(default_factory=list, alias="NonKeyAttributes")
    facets: list[Facet] = Field(default_factory=list, alias="TableFacets")
    indexes: list[Index] = Field(default_factory=list, alias="GlobalSecondaryIndexes")
    items: list[dict[str, Any]] = Field(default_factory=list, alias="TableData")


class Metadata(Part):
    """What the model says of itself."""

    description: str = Field(default="", alias="Description")


class Model(Part):
    """A model: its name, and its tables."""

    name: str = Field(default="", alias="ModelName")
    metadata: Metadata = Field(default_factory=Metadata, alias="ModelMetadata")
    tables: list[TableModel] = Field(alias="DataModel", min_length=1)


def read_model(text: str, where: str) -> Model:
    """The model in a file's text. Raises RequestError with every fault and its place."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"{where}:{error.lineno}:{error.colno}"
        raise RequestError(f"this isn't JSON: {error.msg}", place=place, hint="export the model anew") from None
    except RecursionError:
        raise RequestError("it is nested too deeply", place=where) from None
    if not isinstance(data, dict):
        raise RequestError("a model is a JSON object", place=where, hint="export it from NoSQL Workbench")
    try:
        model = Model.model_validate(data)
    except ValidationError as error:
        raise _wrong(where, faults_of(error, "")) from None
    faults = [fault for number, table in enumerate(model.tables) for fault in _faults(table, f"DataModel[{number}]")]
    if faults:
        raise _wrong(where, faults)
    return model


def _wrong(where: str, faults: list[Fault]) -> RequestError:
    what = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    hint = "mend these places; the format is the JSON that NoSQL Workbench exports"
    return RequestError(f"this is no model of NoSQL Workbench: {what}", place=where, faults=faults, hint=hint)


def _faults(table: TableModel, place: str) -> Iterator[Fault]:
    """What the single members don't show: names given twice, types that disagree, items without their key."""
    yield from _twice([one.name for one in table.facets], f"{place}.TableFacets", "FacetName")
    yield from _twice([one.name for one in table.indexes], f"{place}.GlobalSecondaryIndexes", "IndexName")
    types: dict[str, str] = {}
    keys = [("KeyAttributes", table.key)]
    keys += [(f"GlobalSecondaryIndexes[{number}].KeyAttributes", one.key) for number, one in enumerate(table.indexes)]
    for path, key in keys:
        for name, one in (("PartitionKey", key.partition), ("SortKey", key.sort)):
            if one is not None and types.setdefault(one.name, one.type) != one.type:
                yield Fault(
                    f"{place}.{path}.{name}", f"{one.name} is of type {one.type} here, and {types[one.name]} before"
                )
    for number, facet in enumerate(table.facets):
        yield from _item_faults(facet.items, f"{place}.TableFacets[{number}].TableData", table, types)
    yield from _item_faults(table.items, f"{place}.TableData", table, types)


def _twice(names: list[str], place: str, member: str) -> Iterator[Fault]:
    for number, name in enumerate(names):
        if name in names[:number]:
            yield Fault(f"{place}[{number}].{member}", f"{name!r} is there already")


def _item_faults(items: list[dict[str, Any]], place: str, table: TableModel, types: dict[str, str]) -> Iterator[Fault]:
    needed = {table.key.partition.name} | ({table.key.sort.name} if table.key.sort else set())
    for number, item in enumerate(items):
        for name in sorted(needed - item.keys()):
            yield Fault(f"{place}[{number}]", f"it has no {name}, which is of the table's key")
        for name, value in item.items():
            path = f"{place}[{number}].{name}"
            fault = _value_fault(value)
            if fault is not None:
                yield Fault(path, fault)
            elif name in types and value == {types[name]: ""}:
                yield Fault(path, "it is empty, and a key can't hold an empty value")
            elif name in types and next(iter(value)) != types[name]:
                yield Fault(path, f"it is of type {next(iter(value))}, and the key attribute of type {types[name]}")


def _value_fault(value: Any) -> str | None:
    try:
        values.check_value(value)
    except (values.ValueFault, values.NumberError) as error:
        return str(error)
    except (TypeError, ValueError, AttributeError):
        return "isn't a value in DynamoDB's JSON"
    return None
