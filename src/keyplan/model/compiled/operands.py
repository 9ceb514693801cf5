"""Operands of conditions: the stored type of a path, whether a value can be compared with it, and the value's stored
form.

DynamoDB compares stored values: a datetime string differs from a Ttl's seconds, and a string never equals a number.
This module rejects comparisons that are always false.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel, RootModel, TypeAdapter, ValidationError

from keyplan.dynamodb import values
from keyplan.errors import ArgumentError, KeyFieldError
from keyplan.model.compiled.signatures import type_name
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.fields import TTL, kind_of, layers, marks_of, unbounded
from keyplan.model.stored.field_codec import Encoder, encode_value
from keyplan.model.stored.key_formats import as_utc
from keyplan.model.stored.pydantic_values import Form
from keyplan.model.stored.stored_entity import CompiledEntity, error_details_of
from keyplan.model.stored.stored_forms import FieldForm

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBERS = (int, float, Decimal)
_TAGS: Mapping[Any, str] = {
    str: "S",
    datetime: "S",
    date: "S",
    UUID: "S",
    int: "N",
    float: "N",
    Decimal: "N",
    bool: "BOOL",
    bytes: "B",
    list: "L",
    tuple: "L",
    dict: "M",
    set: "a set",
    frozenset: "a set",
}
_ORDERED = frozenset({"S", "N", "B"})
_SIZED = frozenset({"S", "B", "L", "M", "a set"})
_UNORDERED_TEXT = "the stored form doesn't sort like the values"


@dataclass(frozen=True, slots=True)
class StoredOperand:
    """A stored value's plain type (``object`` if unknown) and DynamoDB's type (None if unknown)."""

    name: str
    kind: Any
    annotation: Any
    tag: str | None
    encode: Encoder
    epoch: bool = False
    """Whether it is a time stored as seconds since 1970."""
    keeps_null: bool = False
    codec: FieldForm | None = None
    """Its stored form, if ``StoredAs(...)`` defines it."""

    @property
    def form(self) -> tuple[Any, ...]:
        """Operands with equal forms store the same Python value in the same way."""
        if self.codec is not None:
            return (self.kind, self.codec.mark)
        return ("N",) if self.tag == "N" and not self.epoch else (self.kind, self.epoch)

    def comparable(self, other: StoredOperand) -> bool:
        if self.epoch is not other.epoch or self.codec is not other.codec:
            same = self.codec is not None and other.codec is not None and self.codec.mark == other.codec.mark
            return same or object in {self.kind, other.kind}
        return self.why_not(other.annotation) is None

    def why_unordered(self) -> str | None:
        """The reason why ``<`` and similar operators don't support the operand; None if they do."""
        if self.codec is not None:
            return None if self.codec.sorts else _UNORDERED_TEXT
        if self.kind is object:
            return None
        if self.tag is None:
            return _UNORDERED_TEXT
        return None if self.tag in _ORDERED else f"DynamoDB doesn't order values of type {type_name(self.annotation)}"

    def why_unsized(self) -> str | None:
        if self.tag is None or self.tag in _SIZED:
            return None
        return f"DynamoDB has no size for values of type {type_name(self.annotation)}"

    def element(self) -> StoredOperand | None:
        """The second operand of ``contains()``, an element or a substring; None if the type is unknown."""
        if self.tag == "S":
            return TEXT
        if self.tag == "B":
            return StoredOperand(self.name, bytes, bytes, "B", encode_value)
        if self.tag in {"L", "a set"}:
            parts = [value for value in get_args(_inner(self.annotation)) if value is not Ellipsis]
            return _nested(f"an element of {self.name}", parts[0]) if len(set(map(str, parts))) == 1 else None
        if self.codec is None and (self.kind is object or self.tag is None):
            return None
        raise Problem(
            f"contains() supports strings, lists and sets, but {self.name} is of type {type_name(self.annotation)}",
            "compare the field with =",
        )

    def beginning(self) -> StoredOperand:
        if self.tag not in {"S", "B", None} or self.epoch or (self.codec is not None and self.tag != "S"):
            raise Problem(
                f"begins_with() supports strings, but {self.name} is of type {type_name(self.annotation)}"
                f"{', stored as a number of seconds' if self.epoch else ''}",
                "compare the field with < and >=, or BETWEEN",
            )
        return TEXT if self.tag == "S" else self

    def why_not(self, annotation: Any) -> str | None:
        """The reason why a value of this type can't be compared with the operand; None if it can."""
        given, wanted = _plain_kind(annotation), _plain_kind(self.annotation)
        if object in {given, wanted} or given is wanted:
            return None
        if self.tag == "N" and not self.epoch and given in _NUMBERS and self.codec is None:
            return None
        how = ", stored as seconds since 1970" if self.epoch else ""
        return f"{self.name} is of type {type_name(self.annotation)}{how}; the value is of type {type_name(annotation)}"

    def encoder(self, annotation: Any) -> Encoder:
        if self.codec is not None:
            return self.codec.compare
        if self.epoch and kind_of(annotation) is datetime:
            return _seconds
        return self.encode if kind_of(annotation) is self.kind and self.tag != "N" else encode_value

    def encoded(self, value: Any) -> dict[str, Any]:
        """The stored form of a compared value. Raises ArgumentError for a value of another type."""
        if value is None:
            if self.keeps_null:
                return {"NULL": True}
            raise ArgumentError(
                f"{self.name} isn't stored if it is None, so it can't be compared with None",
                hint="use attribute_not_exists(field) or only_if(field=None)",
            )
        try:
            if self.codec is not None:
                return self.codec.compare(self._validated(value))
            if self.tag == "N" and not self.epoch and self.kind is not object:
                return encode_value(self._number(value))
            return _seconds(self._validated(value)) if self.epoch else self.encode(self._validated(value))
        except UnicodeEncodeError:
            raise ArgumentError(f"{value!r} isn't valid Unicode", place=self.name) from None
        except (values.ValueFault, values.NumberError, KeyFieldError, TypeError) as error:
            text = error.message if isinstance(error, KeyFieldError) else str(error)
            raise ArgumentError(text, place=self.name) from None

    def _number(self, value: Any) -> Any:
        plain = value.value if isinstance(value, enum.Enum) else value
        if isinstance(plain, bool) or not isinstance(plain, _NUMBERS):
            raise ArgumentError(f"{self.name} is a number ({type_name(self.annotation)}), but the value is {value!r}")
        return plain

    def _validated(self, value: Any) -> Any:
        if self.kind is object:
            return value
        by_value = isinstance(self.kind, type) and issubclass(self.kind, enum.Enum)
        try:
            adapter: TypeAdapter[Any] = TypeAdapter(self.annotation)
            return adapter.validate_python(value, strict=not by_value)
        except ValidationError as error:
            raise ArgumentError(
                f"{self.name} is of type {type_name(self.annotation)}, so it can't be compared with {value!r}",
                errors=error_details_of(error, self.name),
            ) from None


TEXT = StoredOperand("a string operand", str, str, "S", encode_value)
NUMBER = StoredOperand("the result of size()", int, int, "N", encode_value)
UNKNOWN = StoredOperand("the value", object, object, None, encode_value)


def _seconds(value: Any) -> dict[str, Any]:
    """A time as seconds since 1970, with microseconds: only stored values are rounded."""
    microseconds = (as_utc(value) - _EPOCH) // timedelta(microseconds=1)
    return encode_value(Decimal(microseconds).scaleb(-6))


def stored_field(entity: CompiledEntity, name: str) -> StoredOperand:
    field = entity.fields[name]
    annotation = unbounded(field.annotation)
    result = _stored(f"{entity.name}.{name}", annotation, field.encode, keeps_null=field.keeps_null)
    if TTL.name in marks_of(field.annotation):
        return StoredOperand(
            result.name, datetime, annotation, "N", field.encode, epoch=True, keeps_null=result.keeps_null
        )
    if field.codec is not None:
        return replace(result, tag=field.codec.tag, encode=field.codec.compare, codec=field.codec)
    if field.form is Form.KEYED:  # the key's format sorts like the values
        return replace(result, tag=field.key_type)
    if field.form is not Form.OURS:
        return replace(result, tag=None)
    return result


def part_of(whole: StoredOperand, step: str | int) -> StoredOperand:
    """The element of a stored list, or the member of a stored map. Raises Problem if no such part can exist."""
    name = f"{whole.name}[{step}]" if isinstance(step, int) else f"{whole.name}.{step}"
    form = None if whole.codec is None else whole.codec.mark.form
    if form is not None and form != "list":
        raise Problem(f"{whole.name} is stored as {form}, without nested fields", "compare the whole field")
    inner = _inner(whole.annotation)
    kind = kind_of(inner)
    if isinstance(kind, type) and issubclass(kind, RootModel):
        return part_of(_nested(whole.name, kind.model_fields["root"].annotation), step)
    if isinstance(kind, type) and issubclass(kind, BaseModel) and isinstance(step, str):
        return _nested(name, _field_annotation(kind, whole, step))
    arguments = get_args(inner)
    if isinstance(step, str) and isinstance(kind, type) and issubclass(kind, Mapping):
        return _nested(name, arguments[1] if len(arguments) > 1 else object)
    if isinstance(step, int) and isinstance(kind, type) and issubclass(kind, Sequence) and kind not in {str, bytes}:
        return _nested(name, _element(arguments, step))
    if whole.tag is None:
        return _nested(name, object)
    what = f"isn't a list, so [{step}] is invalid" if isinstance(step, int) else "has no nested fields"
    raise Problem(f"{whole.name} is of type {type_name(whole.annotation)}, which {what}")


def _field_annotation(model: type[BaseModel], owner: StoredOperand, step: str) -> Any:
    own = model.model_fields.get(step)
    if own is not None:
        return own.annotation
    if model.model_config.get("extra") == "allow":
        return object
    named = [name for name, info in model.model_fields.items() if step in {info.alias, info.serialization_alias}]
    if owner.tag is None and (named or step in model.model_computed_fields):  # a serializer may store this name
        return object
    if named:
        raise Problem(
            f"{step!r} is the alias of {owner.name}.{named[0]}", f"use the field name {named[0]} in conditions"
        )
    if step in model.model_computed_fields:
        raise Problem(f"{owner.name}.{step} is computed, not stored", f"compare the fields that {step} depends on")
    raise Problem(f"{owner.name} has no field {step!r}", f"the fields are {', '.join(model.model_fields)}")


def _element(arguments: tuple[Any, ...], step: int) -> Any:
    parts = [argument for argument in arguments if argument is not Ellipsis]
    if len(parts) == 1:
        return parts[0]
    return parts[step] if step < len(parts) else object


def _inner(annotation: Any) -> Any:
    return next(
        (layer for layer in layers(annotation) if get_origin(layer) and kind_of(layer) is get_origin(layer)), annotation
    )


def _nested(name: str, annotation: Any) -> StoredOperand:
    return _stored(name, unbounded(annotation), encode_value)


def _stored(name: str, annotation: Any, encode: Encoder, *, keeps_null: bool = False) -> StoredOperand:
    kind = kind_of(annotation)
    if kind is Any:
        kind = object
    return StoredOperand(name, kind, annotation, stored_tag(annotation), encode, keeps_null=keeps_null)


def stored_tag(annotation: Any) -> str | None:
    kind = _plain_kind(annotation)
    if kind in _TAGS:
        return _TAGS[kind]
    return "M" if isinstance(kind, type) and issubclass(kind, BaseModel) and not issubclass(kind, RootModel) else None


def _plain_kind(annotation: Any) -> Any:
    """The plain type; for an Enum, that of its values, which are stored."""
    kind = kind_of(annotation)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        kinds = {type(member.value) for member in kind}
        return kinds.pop() if len(kinds) == 1 else object
    return object if kind is Any else kind
