"""Exports a design as a NoSQL Workbench model, version 3.0: the table, a facet per entity with sample items, and global
indexes. Declarations that Workbench can't represent, such as templates of index keys, are written to the model's
description, one per line, and read back by ``keyplan.formats.workbench``.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticUserError

from keyplan.formats.deployment_options import Deployment
from keyplan.formats.workbench.description import CLAIM_ATTRIBUTE, claim_facet, description_of, is_shown
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.declared.fields import TTL, element_kinds, kind_of, marks_of
from keyplan.model.declared.indexes import KeyAttribute
from keyplan.model.stored.pydantic_values import Form
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_fields import StoredField
from keyplan.model.stored.stored_keys import CompiledKey

VERSION = "3.0"
Item = Mapping[str, Mapping[str, Any]]

_NUMBERS = {int, float, Decimal}
_TAGS = {bool: "BOOL", bytes: "B", list: "L", tuple: "L", dict: "M", **dict.fromkeys(_NUMBERS, "N")}
_SET_TAGS = {str: "SS", bytes: "BS", **dict.fromkeys(_NUMBERS, "NS")}
_DUMPED_TAGS = {"string": "S", "integer": "N", "number": "N", "boolean": "BOOL", "array": "L", "object": "M"}
_FORM_TAGS = {"base64": "S", "text": "S", "json": "S", "zlib": "B", "gzip": "B"}
_ISO_FORMS = {"iso s", "iso ms", "isoformat"}


def model(design: CompiledDesign, deployment: Deployment, items: Iterable[Item], made_at: datetime) -> dict[str, Any]:
    """The model as JSON data. Items of no entity or claim are omitted, because no facet has their key."""
    day = made_at.strftime("%b %d, %Y, %I:%M %p")
    return {
        "ModelName": design.name,
        "ModelMetadata": {
            "Author": "",
            "DateCreated": day,
            "DateLastModified": day,
            "Description": description_of(design),
            "AWSService": "Amazon DynamoDB",
            "Version": VERSION,
        },
        "DataModel": [_table(design, deployment, items)],
    }


def model_notes(design: CompiledDesign) -> list[str]:
    hidden = [index for index in design.table.indexes if not is_shown(index)]
    kinds = ["a local index" if index.local else "a multi-attribute key" for index in hidden]
    return [
        f"{index.name} is omitted: Workbench doesn't support {kind}." for index, kind in zip(hidden, kinds, strict=True)
    ]


def _table(design: CompiledDesign, deployment: Deployment, items: Iterable[Item]) -> dict[str, Any]:
    members = deployment.members(design)
    keys = {definition["AttributeName"]: definition["AttributeType"] for definition in members["AttributeDefinitions"]}
    own = [(design.table.partition,), (design.table.sort,) if design.table.sort else ()]
    by_facet = _by_facet(design, items)
    facets = list(_facets(design, by_facet))
    types = {**keys, **_field_types(design), **_seen_types(by_facet)}
    left = set(design.table.key_names)
    projections = {value["IndexName"]: value["Projection"] for value in members.get("GlobalSecondaryIndexes", ())}
    result: dict[str, Any] = {
        "TableName": members["TableName"],
        "KeyAttributes": _key_attributes(*own),
        "NonKeyAttributes": [
            {"AttributeName": name, "AttributeType": kind} for name, kind in types.items() if name not in left
        ],
        "TableFacets": facets,
        "GlobalSecondaryIndexes": [
            {
                "IndexName": index.name,
                "KeyAttributes": _key_attributes(index.partition, index.sort),
                "Projection": projections[index.name],
            }
            for index in design.table.indexes
            if is_shown(index)
        ],
        "TableData": [],
        "DataAccess": {"MySql": {}},
        "SampleDataFormats": _formats(design),
        "BillingMode": members["BillingMode"],
    }
    if deployment.billing == "provisioned":
        result["ProvisionedCapacitySettings"] = {"ProvisionedThroughput": members["ProvisionedThroughput"]}
    return result


def _key_attributes(partition: tuple[KeyAttribute, ...], sort: tuple[KeyAttribute, ...]) -> dict[str, Any]:
    return {
        name: {"AttributeName": attribute.name, "AttributeType": attribute.type}
        for name, attributes in (("PartitionKey", partition), ("SortKey", sort))
        for attribute in attributes
    }


# Facets


def _by_facet(design: CompiledDesign, items: Iterable[Item]) -> dict[str, list[Item]]:
    result: dict[str, list[Item]] = {}
    claims = [(entity, claim) for entity in design.entities.values() for claim in entity.claims]
    for item in items:
        entity = design.entity_of(item)
        if entity is not None:
            result.setdefault(entity.name, []).append(item)
            continue
        for owner, claim in claims:
            if claim.matches(item):
                result.setdefault(claim_facet(owner.name, claim.name), []).append(item)
                break
    return result


def _facets(design: CompiledDesign, by_facet: Mapping[str, list[Item]]) -> Iterator[dict[str, Any]]:
    left = set(design.table.key_names)
    for entity in design.entities.values():
        names = [field.attribute for field in entity.fields.values()]
        names += entity.labels
        names += [attribute.name for key in entity.index_keys for attribute, _ in key.attributes]
        attributes = [name for name in dict.fromkeys(names) if name not in left]
        yield _facet(entity.name, entity.primary, attributes, by_facet.get(entity.name, ()))
        for claim in entity.claims:
            name = claim_facet(entity.name, claim.name)
            yield _facet(name, claim, [CLAIM_ATTRIBUTE], by_facet.get(name, ()))


def _facet(name: str, key: CompiledKey, attributes: list[str], items: Iterable[Item]) -> dict[str, Any]:
    aliases = {"PartitionKeyAlias": str(key.partition[0][1])}
    if key.sort:
        aliases["SortKeyAlias"] = str(key.sort[0][1])
    return {
        "FacetName": name,
        "KeyAttributeAlias": aliases,
        # Workbench doesn't support NULL attributes
        "TableData": [{name: value for name, value in item.items() if "NULL" not in value} for item in items],
        "NonKeyAttributes": attributes,
        "DataAccess": {"MySql": {}},
    }


# Attributes


def attribute_type(entity: CompiledEntity, field: StoredField) -> str | None:
    if field.codec is not None:
        mark = field.codec.mark
        return field.codec.tag or _FORM_TAGS.get(mark.form or "") or ("S" if mark.layout is not None else None)
    if field.form is Form.KEYED:
        return field.key_type
    if field.form in {Form.DUMPED, Form.CUSTOM}:
        return _dumped_tag(entity, field)
    kind = kind_of(field.annotation)
    if TTL.name in marks_of(field.annotation):
        return "N"
    if kind in {set, frozenset}:
        kinds = element_kinds(field.annotation)
        return _SET_TAGS.get(kinds.pop(), "SS") if len(kinds) == 1 else None
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        kinds = {type(member.value) for member in kind}
        return _TAGS.get(kinds.pop(), "S") if len(kinds) == 1 else None
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return "M"
    return None if kind in {object, Any} else _TAGS.get(kind, "S")


def _dumped_tag(entity: CompiledEntity, field: StoredField) -> str | None:
    """DynamoDB's type of the dumped value, by its JSON schema; None if there are several."""
    with suppress(PydanticUserError, TypeError, ValueError, KeyError):
        if field.form is Form.CUSTOM:
            schema = entity.cls.model_json_schema(mode="serialization")["properties"][field.attribute]
        else:
            schema = TypeAdapter(field.annotation).json_schema(mode="serialization")
        kinds = {option["type"] for option in schema.get("anyOf", [schema])} - {"null"}
        return _DUMPED_TAGS.get(kinds.pop()) if len(kinds) == 1 else None
    return None


def _field_types(design: CompiledDesign) -> dict[str, str]:
    result: dict[str, str] = {}
    for entity in design.entities.values():
        for field in entity.fields.values():
            kind = attribute_type(entity, field)
            if kind is not None:
                result.setdefault(field.attribute, kind)
        result |= {label: "S" for label in entity.labels if label not in result}
        if entity.claims:
            result.setdefault(CLAIM_ATTRIBUTE, "M")
    return result


def _seen_types(by_facet: Mapping[str, list[Item]]) -> dict[str, str]:
    result: dict[str, str] = {}
    for item in (item for items in by_facet.values() for item in items):
        for name, value in item.items():
            if "NULL" not in value:
                result.setdefault(name, next(iter(value)))
    return result


def _formats(design: CompiledDesign) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for entity in design.entities.values():
        for field in entity.fields.values():
            form = "isoformat" if field.codec is None else field.codec.mark.form
            plain = TTL.name not in marks_of(field.annotation) and field.form in {Form.OURS, Form.STORED}
            if kind_of(field.annotation) is datetime and plain and form in _ISO_FORMS:
                result[field.attribute] = ["date", "ISO 8601 date and time"]
    return result
