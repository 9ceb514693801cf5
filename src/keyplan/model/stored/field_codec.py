"""Conversion of a field's values to attribute values and back. The compiler of an entity chooses the encoder.

``keyplan.dynamodb.values`` encodes plain Python values; this module adds types of fields: datetimes, dates, enums,
UUIDs, nested models, and a TTL's epoch seconds. pydantic validates values, not this module.
"""

from __future__ import annotations

import base64
import enum
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from pydantic import BaseModel, RootModel

from keyplan.dynamodb import values
from keyplan.model.declared.fields import TTL, element_kinds, kind_of, marks_of
from keyplan.model.stored.key_formats import as_utc, iso_text

Encoder = Callable[[Any], dict[str, Any]]
Decoder = Callable[[str, Any], Any]


def _text(value: str) -> dict[str, Any]:
    if not value.isascii():
        value.encode()  # raises UnicodeEncodeError for an unpaired surrogate
    return {"S": value}


def _integer(value: int) -> dict[str, Any]:
    text = str(int(value))
    return {"N": text if len(text) < 39 else values.canonical(text)}


def _moment(value: datetime) -> dict[str, Any]:
    return {"S": iso_text(value)}


def _epoch_seconds(value: datetime) -> dict[str, Any]:
    # Fractions are truncated first, because timestamp() would round the last microsecond of year 9999 up.
    return {"N": str(int(as_utc(value).replace(microsecond=0).timestamp()))}


def _day(value: date) -> dict[str, Any]:
    return {"S": value.isoformat()}


def encode_value(value: Any) -> dict[str, Any]:
    return values.encode(plain(value))


def plain(value: Any) -> Any:
    match value:
        case None | bool() | bytes() | Decimal() | float():
            return value
        case enum.Enum():
            return plain(value.value)
        case str() | int():
            return value
        case datetime():
            return iso_text(value)
        case date():
            return value.isoformat()
        case UUID():
            return str(value)
        case RootModel():
            return plain(value.root)
        case BaseModel():
            return _model_fields(value)
        case Mapping():
            return {str(plain(name)): plain(element) for name, element in value.items()}
        case set() | frozenset():
            parts = {plain(element) for element in value}
            return parts or []
        case list() | tuple():
            return [plain(element) for element in value]
        case _:
            return value


def _model_fields(model: BaseModel) -> dict[str, Any]:
    """A nested model's fields by alias. None is omitted only if an absent member is read as None."""
    result: dict[str, Any] = {}
    for name, info in type(model).model_fields.items():
        value = getattr(model, name)
        if value is not None or info.is_required() or info.default is not None or info.default_factory is not None:
            result[info.serialization_alias or info.alias or name] = plain(value)
    for name, value in (model.model_extra or {}).items():
        result[name] = plain(value)
    return result


_ENCODERS: dict[Any, Encoder] = {str: _text, int: _integer, datetime: _moment, date: _day}


def encoder_of(annotation: Any) -> Encoder:
    if TTL.name in marks_of(annotation):
        return _epoch_seconds
    return _ENCODERS.get(kind_of(annotation), encode_value)


def _decode(tag: str, value: Any) -> Any:
    return values.decode({tag: value})


def _decode_text(tag: str, value: Any) -> Any:
    return value if tag == "S" else _decode(tag, value)


def _decode_integer(tag: str, value: Any) -> Any:
    if tag != "N":
        return _decode(tag, value)
    try:
        return int(value)
    except ValueError:
        return Decimal(value)


def _decode_binary(tag: str, value: Any) -> Any:
    return base64.b64decode(value) if tag == "B" else _decode(tag, value)


def _decode_strings(tag: str, value: Any) -> Any:
    return set(value) if tag == "SS" else _decode(tag, value)


def _decode_texts(tag: str, value: Any) -> Any:
    try:
        return [element["S"] for element in value] if tag == "L" else _decode(tag, value)
    except KeyError:
        return _decode(tag, value)


def _decode_epoch(tag: str, value: Any) -> Any:
    return datetime.fromtimestamp(int(value), UTC) if tag == "N" else _decode(tag, value)


_DECODERS: dict[Any, Decoder] = {
    str: _decode_text,
    int: _decode_integer,
    datetime: _decode_text,
    date: _decode_text,
    bytes: _decode_binary,
    set: _decode_strings,
    frozenset: _decode_strings,
}


def decoder_of(annotation: Any) -> Decoder:
    """The function that converts an attribute value (its type and its content) to a value that pydantic validates."""
    if TTL.name in marks_of(annotation):
        return _decode_epoch
    kind = kind_of(annotation)
    if kind in {list, tuple} and element_kinds(annotation) == {str}:
        return _decode_texts
    return _DECODERS.get(kind, _decode)
