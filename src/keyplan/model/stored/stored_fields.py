"""The stored fields of an entity: attribute names, codecs, defaults."""

from __future__ import annotations

import enum
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

from pydantic import AliasChoices, BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from keyplan.errors import KeyFieldError
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.fields import bounds_of, is_optional, kind_of, marks_of
from keyplan.model.stored.field_codec import Decoder, Encoder, decoder_of, encode_value, encoder_of
from keyplan.model.stored.key_formats import NumberFormat, TextFormat, format_for
from keyplan.model.stored.key_templates import Variable
from keyplan.model.stored.pydantic_values import (
    Form,
    aliased_models,
    annotated,
    dumper_of,
    field_at,
    form_of_field,
    json_of,
    stored_name,
    takes_nothing,
)
from keyplan.model.stored.stored_forms import FieldForm, form_of_mark, is_marked_within, mark_of

_SETS = (set, frozenset)
_CONSTANT = (None, list, dict, tuple, *_SETS)
"""Default factories with constant results."""


@dataclass(frozen=True, slots=True)
class StoredField:
    """One field of an entity as it is stored."""

    name: str
    attribute: str
    annotation: Any
    encode: Encoder
    decode: Decoder
    computed: bool
    optional: bool
    keeps_null: bool
    """Whether None must be stored, because an absent attribute is read as another value."""
    required: bool = True
    default: Any = None
    """The value of an absent attribute; None for a factory with varying results."""
    made_anew: bool = False
    """Whether a factory computes the default for each read: an item without the attribute has no fixed value."""
    form: Form = Form.OURS
    """What defines the stored form of its values."""
    key_type: str | None = None
    """The key attribute's type (S, N or B) of a field stored in its key's format."""
    bounds: tuple[tuple[str, Any], ...] = ()
    """Operators and values that limit a number."""
    codec: FieldForm | None = None
    """Its stored form, if ``StoredAs(...)`` defines it."""
    problem: Problem | None = None
    """Why it can't be stored."""


def stored_fields(cls: type[BaseModel]) -> list[StoredField]:
    fields: list[StoredField] = []
    for name, info in cls.model_fields.items():
        annotation: Any = info.annotation
        for mark in info.metadata:
            annotation = Annotated[annotation, mark]
        keeps_null = not info.is_required() and _reads_otherwise(info, annotation)
        attribute = info.serialization_alias or info.alias or name
        stored = _stored(name, attribute, annotation, computed=False, keeps_null=keeps_null)
        form = Form.OURS if marks_of(annotation) else form_of_field(cls, name, annotation)
        if mark_of(annotation) is not None or is_marked_within(annotation):
            stored = _marked(stored, annotation)
        elif form is not Form.OURS:
            stored = replace(
                stored,
                form=form,
                encode=dumper_of(cls, name, annotation),
                decode=_decode_dumped,
                optional=stored.optional or takes_nothing(annotation),
            )
        if not info.is_required() and info.default_factory in _CONSTANT:
            stored = replace(stored, required=False, default=_default(cls, info))
        elif not info.is_required():
            stored = replace(stored, made_anew=True)
        problem = stored.problem or _alias_problem(annotation)
        fields.append(replace(stored, bounds=tuple(bounds_of(annotation)), problem=problem))
    for name, computed in cls.model_computed_fields.items():
        fields.append(_stored(name, computed.alias or name, computed.return_type, computed=True, keeps_null=False))
    return fields


def _default(cls: type[BaseModel], info: FieldInfo) -> Any:
    default = info.get_default(call_default_factory=True)
    if info.validate_default or (info.validate_default is None and cls.model_config.get("validate_default")):
        with suppress(ValidationError):  # an invalid default must not make items without the attribute unreadable
            return TypeAdapter[Any](annotated(info)).validate_python(default)
    return default


def nested_default(cls: type[BaseModel], name: str) -> dict[str, Any] | None:
    """The stored form of a nested field's default; None if the default is missing, None or an empty set."""
    found = field_at(cls, name)
    if found is None or found[1].is_required() or found[1].default_factory not in _CONSTANT:
        return None
    return stored_default(_default(cls, found[1]), encode_value)


def _alias_problem(annotation: Any) -> Problem | None:
    """Why fields of nested models can't be stored under their aliases: they couldn't be read."""
    for model in aliased_models(annotation):
        for name, info in model.model_fields.items():
            stored, given = stored_name(name, info), info.validation_alias or info.alias
            read = given.choices if isinstance(given, AliasChoices) else [given]
            if stored != name and (stored not in read or stored in model.model_fields):
                return Problem(
                    f"{model.__name__}.{name} would be stored as {stored}, but not read from that attribute",
                    "give the field one alias, Field(alias=...), that no other field uses",
                )
    return None


def stored_default(default: Any, encode: Encoder) -> dict[str, Any] | None:
    """The stored form of a default; None if the default isn't stored or can't be stored."""
    if default is None or (isinstance(default, _SETS) and not default):
        return None
    try:
        return encode(default)
    except (KeyFieldError, ValueError, TypeError, AttributeError, ArithmeticError, LookupError, RecursionError):
        return None  # a default of another type, which pydantic doesn't validate


def _marked(stored: StoredField, annotation: Any) -> StoredField:
    mark = mark_of(annotation)
    if mark is None or is_marked_within(annotation):
        problem = Problem(
            "the type contains StoredAs(...), which is only for whole fields of an entity",
            "give the inner type a PlainSerializer, or the whole field a StoredAs(...)",
        )
        return replace(stored, problem=problem)
    if marks_of(annotation):
        problem = Problem("Id, Version, Ttl and IdempotencyTokens don't support StoredAs(...)", "remove StoredAs(...)")
        return replace(stored, problem=problem)
    try:
        codec = form_of_mark(mark, annotation)
    except Problem as problem:
        return replace(stored, problem=problem)
    return replace(stored, form=Form.STORED, codec=codec, encode=codec.encode, decode=codec.decode)


_AS_THEY_ARE: dict[str, set[Any]] = {"S": {str, datetime, date, UUID}, "N": {int, float, Decimal}, "B": {bytes}}
"""The kinds whose stored form equals the form in a key attribute of a type."""


def held_in_key(field: StoredField, variable: Variable, kind: str) -> StoredField:
    """The field, stored in the format of the key, because its attribute is a key attribute of type ``kind``."""
    plain = kind_of(field.annotation)
    if (
        isinstance(plain, type)
        and issubclass(plain, enum.Enum)
        and isinstance(variable.format, TextFormat | NumberFormat)
    ):
        plain = {type(member.value) for member in plain}.pop()
    if field.form is Form.OURS and variable.bare and plain in _AS_THEY_ARE[kind] and _is_plain(variable, plain, kind):
        return field

    def encode(value: Any) -> dict[str, Any]:
        return {kind: variable.text(value)}

    def decode(tag: str, value: Any) -> Any:
        if tag != kind:
            return json_of({tag: value})
        return value == "true" if plain is bool else variable.value(value)

    return replace(field, form=Form.KEYED, encode=encode, decode=decode, key_type=kind)


def _is_plain(variable: Variable, plain: Any, kind: str) -> bool:
    """Whether a key contains a value in its normal stored form: no custom layout, no rank, not reversed."""
    usual = format_for(plain, "", attribute_type=kind, sorts=False)
    return isinstance(variable.format, TextFormat) or variable.format == usual


def _decode_dumped(tag: str, value: Any) -> Any:
    return json_of({tag: value})


def _reads_otherwise(info: FieldInfo, annotation: Any) -> bool:
    """Whether the field's default differs from the value of an absent attribute: None, 0 or an empty set."""
    if info.default_factory is not None:
        return info.default_factory not in _SETS
    if is_optional(annotation) and kind_of(annotation) not in _SETS:
        return info.default is not None
    return info.default is not PydanticUndefined and bool(info.default)


def _stored(name: str, attribute: str, annotation: Any, *, computed: bool, keeps_null: bool) -> StoredField:
    encode, decode = encoder_of(annotation), decoder_of(annotation)
    return StoredField(name, attribute, annotation, encode, decode, computed, is_optional(annotation), keeps_null)
