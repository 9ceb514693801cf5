"""Stored forms of fields in attributes that other programs also use.

``StoredAs(...)`` in a field's type selects a form. This module has the functions that write, read and compare values.
``field_codec`` has the default forms, ``pydantic_values`` the forms of pydantic, and ``key_formats`` the forms in keys.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from types import UnionType
from typing import Annotated, Any, Union, cast, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from keyplan.dynamodb import values
from keyplan.errors import shown
from keyplan.model.declared.declaration_errors import Problem, lowered
from keyplan.model.declared.fields import kind_of, layers
from keyplan.model.declared.stored_as import StoredAs, cut
from keyplan.model.stored.field_codec import encode_value
from keyplan.model.stored.key_formats import Format, NumberFormat, StoredFormat, as_utc, epoch_format, iso_text
from keyplan.model.stored.pydantic_values import holds, json_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {"s": timedelta(seconds=1), "ms": timedelta(milliseconds=1)}
_FITTING: dict[str, tuple[Any, ...]] = {
    "s": (datetime,),
    "ms": (datetime,),
    "s as text": (datetime,),
    "ms as text": (datetime,),
    "iso s": (datetime,),
    "iso ms": (datetime,),
    "isoformat": (datetime,),
    "text": (int, float, Decimal, bool),
    "number": (bool,),
    "list": (set, frozenset),
    "base64": (bytes,),
}
"""The types that a form supports; other forms support every type."""


@dataclass(frozen=True, slots=True)
class FieldForm:
    """The functions of a field's stored form.

    ``tag`` is the DynamoDB type, if operators support the form. ``sorts``: whether stored values sort like the field's
    values. ``compare`` encodes a value for a comparison; the value can be between two storable values. ``key`` is the
    format in a key attribute of type S.
    """

    mark: StoredAs
    encode: Callable[[Any], dict[str, Any]]
    decode: Callable[[str, Any], Any]
    compare: Callable[[Any], dict[str, Any]]
    tag: str | None = None
    sorts: bool = False
    key: Format | None = None
    number_key: Format | None = None
    """The format in a key attribute of type N."""


def mark_of(annotation: Any) -> StoredAs | None:
    return next((layer for layer in layers(annotation) if isinstance(layer, StoredAs)), None)


def is_marked_within(annotation: Any) -> bool:
    wholes = {Annotated, Union, UnionType}
    parts = (
        layer for layer in layers(annotation) if get_origin(layer) not in wholes and not isinstance(layer, StoredAs)
    )
    return any(holds(value, lambda part: isinstance(part, StoredAs)) for value in parts)


def form_of_mark(mark: StoredAs, annotation: Any) -> FieldForm:
    """The form of a StoredAs for a field's type. Raises Problem for an unsupported type."""
    kind = kind_of(annotation)
    given = [text is not None for text in (mark.form, mark.layout, mark.write or mark.read)]
    if sum(given) != 1 or (mark.write is None) is not (mark.read is None):
        raise Problem("StoredAs takes either a form, or layout=, or write= and read=", 'write StoredAs("ms")')
    if mark.write is not None and mark.read is not None:
        return _pair(mark, mark.write, mark.read)
    if mark.layout is not None:
        return _layout(mark, mark.layout, kind)
    name = mark.form or ""
    fitting = _FITTING.get(name)
    if fitting is None and name not in {"json", "zlib", "gzip"}:
        raise Problem(f"{name!r} isn't a stored form", f"use one of {[*_FITTING, 'json', 'zlib', 'gzip']}")
    if fitting is not None and kind not in fitting:
        what = " or ".join(value.__name__ for value in fitting)
        raise Problem(f"the stored form {name!r} is for {what}, not for {getattr(kind, '__name__', kind)}")
    if kind is datetime:
        return _moment(mark, name)
    if name in {"json", "zlib", "gzip"}:
        return _packed(mark, name, annotation)
    return _simple(mark, name, annotation)


def _guarded(decode: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    """Converts every exception of a decoder to ValueError, for readers to report."""

    def guarded(tag: str, value: Any) -> Any:
        try:
            return decode(tag, value)
        except Exception as error:  # noqa: BLE001 - a user-defined function may raise anything
            raise ValueError(f"{value!r} isn't in the stored form of the field: {error}") from None

    return guarded


def _form(
    mark: StoredAs, encode: Callable[[Any], dict[str, Any]], decode: Callable[[str, Any], Any], **more: Any
) -> FieldForm:
    more.setdefault("compare", encode)
    return FieldForm(mark, encode, _guarded(decode), **more)


# Datetimes


def _moment(mark: StoredAs, name: str) -> FieldForm:
    if name == "isoformat":
        encode = lambda value: {"S": as_utc(value).isoformat()}  # noqa: E731
        key = StoredFormat(lambda value: as_utc(value).isoformat(), datetime.fromisoformat, r"[0-9T:.+-]+")
        return _form(mark, encode, _iso_of, tag="S", sorts=True, key=key)
    if name.startswith("iso "):
        return _of_texts(mark, _js_texts(name.removeprefix("iso ")), datetime.fromisoformat, r"[0-9]{4}-[0-9T:.-]+Z")
    unit = name.removesuffix(" as text")
    scale = -6 if unit == "s" else -3

    def number(value: Any) -> dict[str, Any]:
        return {"N": str((as_utc(value) - _EPOCH) // _UNITS[unit])}

    def exactly(value: Any) -> dict[str, Any]:
        return encode_value(Decimal((as_utc(value) - _EPOCH) // timedelta(microseconds=1)).scaleb(scale))

    def read(tag: str, value: Any) -> Any:
        if tag not in {"N", "S"}:
            raise ValueError(tag)
        return _since(Decimal(value), unit)

    key = epoch_format(unit, whole=True)
    if name != unit:  # strings of times from 2001 to 2286 have a fixed width, so they sort
        return _form(
            mark,
            lambda value: {"S": key.write(value)},
            read,
            compare=lambda value: {"S": _bound(key, value, _UNITS[unit])},
            tag="S",
            sorts=True,
            key=key,
        )
    return _form(mark, number, read, compare=exactly, tag="N", sorts=True, key=key, number_key=NumberFormat(unit=unit))


def _since(amount: Decimal, unit: str) -> datetime:
    micros = amount.scaleb(6 if unit == "s" else 3)
    return _EPOCH + timedelta(microseconds=int(micros))


def _iso_of(tag: str, value: Any) -> Any:
    if tag != "S":
        raise ValueError(tag)
    moment = datetime.fromisoformat(value)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _js_texts(unit: str) -> Callable[[Any], str]:
    def write(value: Any) -> str:
        text = iso_text(value)
        return f"{text[:19]}Z" if unit == "s" else f"{text[:23]}Z"

    return write


def _of_texts(
    mark: StoredAs, write: Callable[[Any], str], read: Callable[[str], Any], pattern: str, *, sorts: bool = True
) -> FieldForm:
    unit = mark.unit
    key = StoredFormat(write, read, pattern, unit, sorts=sorts)

    def decode(tag: str, value: Any) -> Any:
        if tag != "S":
            raise ValueError(tag)
        return read(value)

    return _form(
        mark,
        lambda value: {"S": write(value)},
        decode,
        compare=lambda value: {"S": _bound(key, value, unit)},
        tag="S" if sorts else None,
        sorts=sorts,
        key=key,
    )


def _bound(key: StoredFormat, value: Any, unit: timedelta | None) -> str:
    """The string for comparison with a value. A value between two storable ones is between their strings."""
    whole = cut(as_utc(value), unit) if unit is not None and isinstance(value, datetime) else value
    if key.least is not None and whole < key.least:
        return "0"  # sorts before all storable values
    return key.write(whole) if whole == value else f"{key.write(whole)}\0"


def _layout(mark: StoredAs, layout: str, kind: Any) -> FieldForm:
    if kind not in {datetime, date}:
        raise Problem(f"layout= is for datetime and date, not for {getattr(kind, '__name__', kind)}")
    letters = re.findall(r"%(.)", layout)
    order = ["YmdHMSf".find(letter) for letter in letters if letter in "YmdHMSf"]
    fixed = set(letters) <= set("YmdHMSfjz%")
    needed = "YmdHMS" if kind is datetime else "Ymd"
    lacking = [f"%{word}" for word in needed if word not in letters and not (word in "md" and "j" in letters)]
    if lacking:
        raise Problem(f"the layout {layout!r} omits a part of the value: {', '.join(lacking)}")

    def write(value: Any) -> str:
        moment = as_utc(value) if kind is datetime else value
        return str(moment.strftime(layout.replace("%Y", f"{moment.year:04d}")))

    def read(text: str) -> Any:
        result = datetime.strptime(text, layout)  # noqa: DTZ007 - the next line adds the time zone
        moment = result.replace(tzinfo=UTC) if result.tzinfo is None else result
        return moment if kind is datetime else moment.date()

    return _of_texts(mark, write, read, ".+", sorts=fixed and order == sorted(order))


# Others


def _simple(mark: StoredAs, name: str, annotation: Any) -> FieldForm:
    kind = kind_of(annotation)
    if name == "list":
        return _form(mark, _listed, lambda tag, value: values.decode({tag: value}), tag="L")
    if name == "base64":
        return _form(
            mark,
            lambda value: {"S": base64.b64encode(value).decode("ascii")},
            lambda tag, value: base64.b64decode(value, validate=tag == "S"),
        )
    if name == "number":
        return _form(mark, lambda value: {"N": str(int(value))}, _truth, tag="N", sorts=True)
    if kind is bool:
        write: Callable[[Any], str] = lambda value: "true" if value else "false"  # noqa: E731
        return _form(
            mark,
            lambda value: {"S": write(value)},
            _truth,
            key=StoredFormat(write, lambda text: _truth("S", text), "true|false", sorts=False),
        )
    make: Any = int if kind is int else float if kind is float else Decimal
    write_number: Callable[[Any], str] = lambda value: str(make(value))  # noqa: E731

    def read_number(text: str) -> Any:
        return make(text)

    return _form(
        mark,
        lambda value: {"S": write_number(value)},
        lambda _, value: read_number(value),
        key=StoredFormat(write_number, read_number, r"-?[0-9.Ee+-]+", sorts=False),
    )


def _truth(tag: str, value: Any) -> bool:
    if tag == "BOOL":
        return bool(value)
    if tag == "N" and Decimal(value) in {0, 1}:
        return Decimal(value) == 1
    if tag == "S" and value in {"true", "false"}:
        return bool(value == "true")
    raise ValueError(tag)


def _listed(value: Any) -> dict[str, Any]:
    encoded = [encode_value(element) for element in value]
    return {"L": sorted(encoded, key=lambda value: json.dumps(value, sort_keys=True))}


def _packed(mark: StoredAs, name: str, annotation: Any) -> FieldForm:
    kind = kind_of(annotation)
    plain = kind if kind in {str, bytes} and name != "json" else None
    adapter: TypeAdapter[Any] = TypeAdapter(annotation)

    def content(value: Any) -> bytes:
        if plain is not None:
            return value if plain is bytes else cast("str", value).encode()
        try:
            return adapter.dump_json(value, by_alias=True, warnings="error")
        except PydanticSerializationError:
            return content_of_another(value)

    def content_of_another(value: Any) -> bytes:
        """The content for a value of another type, because a compared value can have any type."""
        try:
            return adapter.dump_json(adapter.validate_python(value), by_alias=True)
        except PydanticSerializationError as error:
            raise values.ValueFault(f"the value can't be serialized to JSON: {error}") from None
        except ValidationError as error:
            message = lowered(error.errors(include_url=False)[0]["msg"])
            raise values.ValueFault(f"{message}; given: {shown(value)}") from None

    def value_of(text: bytes) -> Any:
        if plain is not None:
            return text if plain is bytes else text.decode()
        return json.loads(text)

    if name == "json":
        return _form(
            mark, lambda value: {"S": content(value).decode()}, lambda tag, value: value_of(_text(tag, value).encode())
        )
    pack, unpack = _packing(name)
    return _form(
        mark,
        lambda value: {"B": base64.b64encode(pack(content(value))).decode("ascii")},
        lambda tag, value: value_of(unpack(base64.b64decode(_binary(tag, value)))),
    )


def _packing(name: str) -> tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]:
    if name == "zlib":
        return zlib.compress, zlib.decompress
    import gzip  # noqa: PLC0415 - only some designs store gzip data

    return partial(gzip.compress, mtime=0), gzip.decompress


def _text(tag: str, value: Any) -> str:
    if tag != "S":
        raise ValueError(tag)
    return str(value)


def _binary(tag: str, value: Any) -> Any:
    if tag != "B":
        raise ValueError(tag)
    return value


def _pair(mark: StoredAs, write: Callable[[Any], Any], read: Callable[[Any], Any]) -> FieldForm:
    def encode(value: Any) -> dict[str, Any]:
        try:
            return encode_value(write(value))
        except (values.ValueFault, values.NumberError, UnicodeEncodeError):
            raise
        except Exception as error:
            raise values.ValueFault(f"the write= function raised {type(error).__name__}: {error}") from error

    def decode(tag: str, value: Any) -> Any:
        stored = base64.b64decode(value) if tag == "B" else json_of({tag: value})
        return read(stored)

    def compare(value: Any) -> dict[str, Any]:
        result = encode(value)
        if encode(value) != result:
            raise values.ValueFault("write= returned different results for one value, so values can't be compared")
        return result

    return _form(mark, encode, decode, compare=compare)
