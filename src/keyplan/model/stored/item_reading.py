"""Fast reading of items: an entity's pydantic schema, applied directly to DynamoDB JSON.

pydantic's core looks up each field by attribute and type (``title`` → ``S``), so that no Python code runs per field;
the instance is then created as by pydantic's ``model_construct``. Other cases (a type other than the field's, fields
only in the key, models with before-validators) use the slow path in ``stored_entity``, which also creates error
messages. Entities whose schema has an unexpected form also use the slow path, because pydantic doesn't guarantee the
form (decision 0012).
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args, get_origin
from uuid import UUID

from pydantic_core import SchemaError, SchemaValidator, ValidationError

from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import TTL, element_kinds, kind_of, marks_of
from keyplan.model.stored.pydantic_values import Form, aliased_models, holds
from keyplan.model.stored.stored_fields import StoredField

_TAGS: dict[Any, str] = {
    str: "S",
    datetime: "S",
    date: "S",
    UUID: "S",
    int: "N",
    float: "N",
    Decimal: "N",
    bool: "BOOL",
}
_BEFORE = {"function-before", "function-wrap", "function-plain"}
_DECODED = "decoded"
"""The type of values that are decoded in Python before validation."""

Reader = Callable[[Mapping[str, Mapping[str, Any]]], "Entity"]


def reader_of(
    cls: type[Entity],
    fields: Sequence[StoredField],
    in_keys: frozenset[str],
    slowly: Reader,
    in_index_keys: Sequence[tuple[str, str]] = (),
) -> Reader:
    """A function that reads items of ``cls``. ``in_keys`` are attributes whose value can be only in the key. ``slowly``
    reads the items that this function can't read. ``in_index_keys`` are attributes whose value can be only in an index
    key, each with the attribute of that key.
    """
    paths = {field.name: (field.attribute, _tag_of(field) or _DECODED) for field in fields}
    by_python = (
        cls.model_config.get("extra") == "allow"
        or cls.model_config.get("strict")  # strict validation rejects datetimes as strings
        or any(aliased_models(field.annotation) or holds(field.annotation, _is_strict) for field in fields)
    )
    validate = None if by_python else _validator(cls, paths)  # finds nested fields by alias and by name
    if validate is None:
        return slowly
    make, set_attribute = cls.__new__, object.__setattr__
    attributes = frozenset(field.attribute for field in fields)
    count = len(attributes)
    decoders = [(field.attribute, field.decode) for field in fields if paths[field.name][1] == _DECODED]

    def read(item: Mapping[str, Mapping[str, Any]]) -> Entity:
        try:
            fields, _, fields_set = validate(_decoded(item, decoders) if decoders else item)
        except (ValidationError, ValueError, ArithmeticError):
            return slowly(item)
        # The validator ignores an attribute whose type isn't the field's, so check that every attribute was read.
        if len(fields_set) != count:
            there = attributes & item.keys()
            if len(fields_set) != len(there) or not in_keys <= there:
                return slowly(item)
            for attribute, index_attribute in in_index_keys:
                if attribute not in there and index_attribute in item:
                    return slowly(item)
        instance = make(cls)
        set_attribute(instance, "__dict__", fields)
        set_attribute(instance, "__pydantic_fields_set__", fields_set)
        set_attribute(instance, "__pydantic_extra__", None)
        set_attribute(instance, "__pydantic_private__", None)
        return instance

    return read


def _is_strict(annotation: Any) -> bool:
    config = getattr(annotation, "model_config", None) or getattr(annotation, "__pydantic_config__", None) or {}
    if isinstance(config, dict) and config.get("strict"):
        return True
    return get_origin(annotation) is Annotated and any(
        getattr(value, "strict", None) is True for value in get_args(annotation)[1:]
    )


def _decoded(item: Mapping[str, Mapping[str, Any]], decoders: Sequence[tuple[str, Any]]) -> Mapping[str, Any]:
    copy: dict[str, Any] = {**item}
    for attribute, decode in decoders:
        if attribute in copy:
            for tag, value in copy[attribute].items():
                copy[attribute] = {_DECODED: decode(tag, value)}
    return copy


def _tag_of(field: StoredField) -> str | None:
    """DynamoDB's type for a field that pydantic reads directly; not a TTL, whose large numbers it misreads."""
    if field.form is not Form.OURS or TTL.name in marks_of(field.annotation):
        return None
    return _tag(field.annotation)


def _tag(annotation: Any) -> str | None:
    kind = kind_of(annotation)
    if _has_literal(annotation) and kind is not str:
        return None
    if kind in {set, frozenset}:
        return "SS" if element_kinds(annotation) == {str} else None
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return "S" if all(isinstance(member.value, str) for member in kind) else None
    return _TAGS.get(kind)


def _has_literal(annotation: Any) -> bool:
    return get_origin(annotation) is Literal or any(_has_literal(part) for part in get_args(annotation))


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
    if isinstance(schema, dict | list | tuple):
        for part in schema.values() if isinstance(schema, dict) else schema:
            yield from _parts(part)


def _needs_python(schema: Mapping[str, Any]) -> bool:
    """Whether a field's schema runs code before validation, or looks up nested fields by alias."""
    kind = schema.get("type")
    if not isinstance(kind, str):  # a mapping of fields, one of which is named type
        return False
    return kind in _BEFORE or (
        kind == "model-fields" and any("validation_alias" in field for field in schema["fields"].values())
    )


def _validator(cls: type[Entity], paths: Mapping[str, tuple[str, str]]) -> Callable[[Any], Any] | None:
    try:
        result = _fields_schema(cls, paths)
        return None if result is None else SchemaValidator(*result).validate_python
    except (AttributeError, KeyError, SchemaError, TypeError):
        return None


def _fields_schema(cls: type[Entity], paths: Mapping[str, tuple[str, str]]) -> tuple[Any, Any] | None:
    """The fields' schema, by path, and its configuration; None if the model does more than validate fields."""
    schema: Any = cls.__pydantic_core_schema__
    if not isinstance(schema, dict) or schema.get("type") != "model":
        return None
    if schema.get("post_init") or schema.get("custom_init") or cls.__private_attributes__:
        return None
    inner: Any = schema["schema"]
    if inner["type"] != "model-fields" or inner["fields"].keys() != paths.keys():
        return None
    if any(_needs_python(part) for part in _parts(inner["fields"])):
        return None
    fields = {name: {**value, "validation_alias": [list(paths[name])]} for name, value in inner["fields"].items()}
    config = {**schema.get("config", {}), "extra_fields_behavior": "ignore", "validate_by_name": False}
    return {**inner, "fields": fields, "extra_behavior": "ignore"}, config
