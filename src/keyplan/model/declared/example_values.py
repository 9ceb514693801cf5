"""Typical values of a type, generated from the type and the name of its field.

The type can determine the length of a value (a timestamp, a UUID); otherwise, the field's name determines the length.
Typical items are in ``analysis/traffic/typical_items.py``; unusual values are in ``testing/samples.py``.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from typing_extensions import TypeAliasType

from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.fields import TTL, VERSION, is_optional, kind_of, layers, marks_of, now

M = TypeVar("M", bound=BaseModel)

TYPE = "its type"
CHOICE = "one of the type's values"
ASSUMED = "assumed"

ELEMENTS = 3
NUMBER = 1234
ELEMENT_NUMBER = 2
"""A number among others: how many of a thing, where ``NUMBER`` counts or prices all."""
TEXT_BYTES = 24
TEXT_BYTES_BY_NAME = {
    "body": 4000, "content": 4000, "markdown": 4000, "html": 4000, "text": 600, "message": 600, "bio": 200,
    "description": 300, "summary": 300, "abstract": 1200, "excerpt": 200, "title": 60, "url": 60, "slug": 40,
}  # fmt: skip
"""Assumed bytes of strings with these names; other strings have ``TEXT_BYTES``."""
_MOMENT = datetime(2026, 1, 2, 9, 42, 0, 123_456, tzinfo=UTC)
FORMED_TEXTS = (
    "someone@example.com", "https://example.com/some/page", "some-slug", "en", "US", "EUR", "2026-11-21", "2026-11",
    "+41441234567", "#a1b2c3", "10.1000/xyz123", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "a1", "A", "1",
    "00000000-0000-0000-0000-000000000001", "a@example.com", "b@example.com", "https://example.com/a", "a-b", "de",
    "USD", "2026-02-01T00:00:00Z", "a.b", "A1", "2601.00001", "correct horse battery staple",
)  # fmt: skip
"""Strings that types with a pattern or a validator often accept."""


class TypicalValue(NamedTuple):
    """A typical value, its source, and whether every value of its type has this size."""

    value: Any
    source: str
    exact: bool = False


def typical_value(annotation: Any, name: str, serial: int = 0) -> Any:
    """A typical value of a type, for a field or a parameter with this name. The value varies with ``serial``."""
    return typical(annotation, name, serial).value


def accepted_value(annotation: Any) -> Any:
    """A common value that the validators of a type accept. Raises Problem if no such value is known."""
    adapter: TypeAdapter[Any] = TypeAdapter(annotation)
    for candidate in _candidates(annotation):
        try:
            return adapter.validate_python(candidate)
        except ValidationError:
            continue
    raise Problem(f"no example value is known for {annotation}")


class _RecursiveModelError(Exception):
    """A model that contains itself: the recursive field stays empty."""


def typical(annotation: Any, name: str, serial: int, within: tuple[Any, ...] = ()) -> TypicalValue:
    """A typical value of a type, for a field with this name. ``within``: the models that contain the field."""
    marks = marks_of(annotation)
    if TTL.name in marks:
        return TypicalValue(_expiry(serial), TYPE, exact=True)
    if VERSION.name in marks:
        return TypicalValue(2, ASSUMED)
    kind = kind_of(annotation)
    choices = choices_of(annotation)
    if choices:
        exact = of_one_length(annotation)
        return TypicalValue(choices[0], TYPE if exact else CHOICE, exact=exact)
    if kind is str:
        length = _within(limits(annotation, "length"), TEXT_BYTES_BY_NAME.get(name, TEXT_BYTES))
        return TypicalValue(text_of(length, serial, name), ASSUMED)
    if kind in {int, float, Decimal}:
        return _number(kind, annotation, name, serial)
    if kind is bytes:
        length = _within(limits(annotation, "length"), TEXT_BYTES)
        return TypicalValue(text_of(length, serial, name).encode(), ASSUMED)
    fixed = _FIXED.get(kind)
    if fixed is not None:
        return TypicalValue(fixed(serial), TYPE, exact=True)
    return TypicalValue(_compound(annotation, name, serial, within), ASSUMED)


_HOURS, _DAYS, _SECONDS = 99_991, 9_973, 999_999_937
"""Maximum hours, days and seconds to add: a serial number of millions stays within the calendar."""


def _expiry(serial: int) -> datetime:
    """A time in the future, a second past an hour: stored numbers lose trailing zeros, and sizes must not vary."""
    return now().replace(minute=0, second=1, microsecond=0) + timedelta(days=30, hours=serial % _HOURS)


_FIXED: dict[Any, Any] = {
    bool: lambda _serial: True,
    datetime: lambda serial: _MOMENT + timedelta(seconds=serial % _SECONDS),
    date: lambda serial: _MOMENT.date() + timedelta(days=serial % _DAYS),
    time: lambda serial: (_MOMENT + timedelta(seconds=serial % _SECONDS)).time(),
    UUID: lambda serial: UUID(int=(0xA11CE << 100) + serial),
    type(None): lambda _serial: None,
}


def _number(kind: Any, annotation: Any, name: str, serial: int) -> TypicalValue:
    low, high = limits(annotation, "value")
    value = (NUMBER if name else ELEMENT_NUMBER) + serial
    if high is not None and value > high:
        value = high - serial if low is None or high - serial >= low else high
    if low is not None and value < low:
        value = low + serial
    return TypicalValue(int(value) if kind is int else kind(str(value)) if kind is Decimal else float(value), ASSUMED)


def _compound(annotation: Any, name: str, serial: int, within: tuple[Any, ...]) -> Any:
    """A list, set, tuple, dict or model of typical values; a string for an unknown type."""
    inner = _inner(annotation)
    origin, arguments = get_origin(inner) or inner, get_args(inner)

    def element(part: Any, name: str, serial: int) -> Any:
        return typical(part, name, serial, within).value

    if isinstance(origin, type) and issubclass(origin, BaseModel):
        return _model(origin, serial, within)
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        return tuple(element(part, name, serial) for part in arguments)
    count = _within(limits(annotation, "length"), ELEMENTS)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key, value = arguments or (str, Any)
        return {element(key, "", serial + at): element(value, "", serial + at) for at in range(count)}
    if origin in {list, set, frozenset, tuple} or (isinstance(origin, type) and issubclass(origin, Iterable)):
        part = arguments[0] if arguments else str
        result = [element(part, "", serial + at) for at in range(count)]
        return origin(result) if origin in {set, frozenset, tuple} else result
    if get_origin(inner) in {Union, types.UnionType}:
        return element(next(argument for argument in arguments if argument is not type(None)), name, serial)
    return text_of(TEXT_BYTES, serial)


def _inner(annotation: Any) -> Any:
    if isinstance(annotation, TypeAliasType):
        return _inner(annotation.__value__)
    origin = get_origin(annotation)
    if origin is Annotated:
        return _inner(get_args(annotation)[0])
    if origin in {Union, types.UnionType}:
        parts = [value for value in get_args(annotation) if value is not type(None)]
        return _inner(parts[0]) if len(parts) == 1 else annotation
    return getattr(annotation, "__supertype__", annotation)


def annotated(info: FieldInfo) -> Any:
    """A pydantic field's type with its constraints."""
    annotation: Any = info.annotation
    for mark in info.metadata:
        annotation = Annotated[annotation, mark]
    return annotation


def _model(model: type[BaseModel], serial: int, within: tuple[Any, ...]) -> BaseModel:
    if model in within:
        raise _RecursiveModelError
    chosen = {name: _of_field(info, name, serial, (*within, model)) for name, info in model.model_fields.items()}
    try:
        return valid_instance(model, chosen)
    except (Problem, ValidationError):
        return model.model_construct(**chosen)


def _of_field(info: FieldInfo, name: str, serial: int, within: tuple[Any, ...]) -> Any:
    if info.examples:
        return info.examples[serial % len(info.examples)]
    try:
        return typical(annotated(info), name, serial, within).value
    except _RecursiveModelError:
        if not info.is_required():
            return info.get_default(call_default_factory=True)
        if is_optional(info.annotation):
            return None
        kind = kind_of(info.annotation)
        if kind in {list, dict, set, frozenset, tuple}:
            return kind()
        raise


def valid_instance(model: type[M], chosen: dict[str, Any], given: Mapping[str, Any] | None = None) -> M:
    """An instance with ``given`` values, and ``chosen`` values if valid. Raises ValidationError, Problem."""
    given, replaced = given or {}, set[str]()
    while True:
        try:
            return model.model_validate({**chosen, **given}, by_name=True)
        except ValidationError as error:
            places = {str(detail["loc"][0]) if detail["loc"] else "" for detail in error.errors(include_url=False)}
            names = [name for name in chosen if places & {name, model.model_fields[name].alias, ""}]
            wrong = {name for name in names if name not in given} - replaced
            if not wrong:
                raise
            for name in wrong:
                info = model.model_fields[name]
                if not info.is_required():
                    chosen[name] = info.get_default(call_default_factory=True)
                    continue
                try:
                    chosen[name] = accepted_value(annotated(info))
                except Problem:
                    raise Problem(f"the type of {name} rejects every value that Keyplan tried") from None
            replaced |= wrong


def choices_of(annotation: Any) -> Sequence[Any]:
    """The values of a Literal or an Enum; empty for any other type."""
    inner = _inner(annotation)
    if get_origin(inner) is Literal:
        return get_args(inner)
    if isinstance(inner, type) and issubclass(inner, enum.Enum):
        return tuple(inner)
    return ()


def of_one_length(annotation: Any) -> bool:
    """Whether all values of a Literal or an Enum have the same length."""
    lengths = {len(str(value.value if isinstance(value, enum.Enum) else value)) for value in choices_of(annotation)}
    return len(lengths) == 1


def limits(annotation: Any, what: Literal["length", "value"]) -> tuple[Any, Any]:
    """The minimum and maximum that a type's constraints allow for a value or its length; None: no bound."""
    low: Any = None
    high: Any = None
    names = ("min_length", "max_length") if what == "length" else ("ge", "le")
    strict = () if what == "length" else ("gt", "lt")
    for layer in layers(annotation):
        if isinstance(layer, type) or get_origin(layer) is not None:
            continue  # the attributes of a class aren't constraints
        for mark in (layer, *getattr(layer, "metadata", ())):
            least, most = (getattr(mark, name, None) for name in names)
            if strict:
                above, below = (getattr(mark, name, None) for name in strict)
                least = least if above is None else _beside(above, 1)
                most = most if below is None else _beside(below, -1)
            low = least if low is None else low if least is None else max(low, least)
            high = most if high is None else high if most is None else min(high, most)
    return low, high


def _beside(bound: Any, steps: int) -> Any:
    """The value this many steps from an exclusive bound: whole numbers, days, microseconds."""
    if isinstance(bound, int | float | Decimal):
        return bound + steps
    return bound + steps * bound.resolution if isinstance(bound, date | timedelta) else bound


def _within(limits: tuple[Any, Any], length: int) -> int:
    low, high = limits
    if high is not None:
        length = min(length, high)
    return length if low is None else max(length, low)


def text_of(length: int, serial: int, name: str = "") -> str:
    """A string of ``length`` lowercase letters and digits, which depends on ``serial`` and the field's name."""
    number = str(serial) if serial else ""
    letters = "".join(letter for letter in name.lower() if "a" <= letter <= "z")
    room = max(length - len(number), 0)
    return f"{letters[:room]:x<{room}}{number[max(len(number) - length, 0) :]}"


def varied(text: str, serial: int) -> str:
    """A different string of the same kind for each ``serial``, such as 1.1 for 1.0."""
    if not serial:
        return text
    return f"{text[:-1]}{int(text[-1]) + serial}" if text[-1] in "0123456789" else f"{text}{serial}"


def _candidates(annotation: Any) -> Iterable[Any]:
    """Values to try for a type that rejects its typical value."""
    low, high = limits(annotation, "value")
    yield from (value for value in (low, high) if value is not None)
    if all(isinstance(bound, int | float | Decimal) for bound in (low, high)):
        # If the bounds are exclusive, the midpoint of the range or the midpoint ± 0.5 can be valid
        yield from ((Decimal(str(low)) + Decimal(str(high)) + apart) / 2 for apart in (0, -1, 1))
    yield from FORMED_TEXTS
    yield from (1, 0, 10, 100, -1, (), [], {}, set())
    yield from (["a"], ("a",), {"a"}, {"a": "a"}, {"a": 1})
