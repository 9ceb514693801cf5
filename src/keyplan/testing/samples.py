"""Field values for ``verify``, from small domains of valid values that collide and cover pitfalls of keys, such as
delimiters, characters beyond the BMP, and timestamps that differ only by their time zone. Typical values are in
``model/declared/example_values.py``.
"""

from __future__ import annotations

import enum
import itertools
import types
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic import BaseModel, TypeAdapter, ValidationError

from keyplan.model.declared.example_values import FORMED_TEXTS, annotated
from keyplan.model.declared.fields import TTL, is_alias, is_optional, kind_of, layers, marks_of

FAVOURED = 3
"""Number of first samples that are drawn half of the time, so that fields of different items are often equal."""

_TEXTS = (
    "a", "b", "c", "a#b", "b#a", "#", "$", "a$", "$c", "a#", "#a", "a b", " ", "a ", "A", "ab", "a\x00", "a\x01b",
    "a!", "é", "e\u0301", "\uffff", "\U0001f600", "\U0001f600a", "10", "9", "2", "0", "~", "_", "{a}", "1#b_2",
)  # fmt: skip
_NUMBERS = (1, 2, 10, 0, 9, 11, 99, 100, 101, 999, 1000, -1, -10, 10**15)
_DECIMALS = ("1", "2", "10", "0", "9.99", "10.5", "-1", "100", "0.10", "1E+3")
_MOMENT = datetime(2026, 3, 1, 9, 59, 59, 999_999, tzinfo=UTC)
_MOMENTS = (
    _MOMENT,
    _MOMENT + timedelta(microseconds=1),
    _MOMENT + timedelta(days=1),
    (_MOMENT + timedelta(milliseconds=1)).astimezone(timezone(timedelta(hours=5, minutes=30))),
    _MOMENT.astimezone(timezone(-timedelta(hours=8))),
    datetime(2026, 3, 2, 0, 30, tzinfo=timezone(timedelta(hours=1))),
    datetime(2026, 12, 31, 23, 59, 59, 500, tzinfo=UTC),
    datetime(2027, 1, 1, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC),
    datetime(987, 6, 5, 4, 3, 2, 1, tzinfo=UTC),
)
_EXPIRIES = (datetime(2126, 1, 1, tzinfo=UTC), datetime(2126, 1, 2, 3, 4, 5, tzinfo=UTC))
_DAYS = (date(2026, 3, 1), date(2026, 3, 2), date(2026, 12, 31), date(2027, 1, 1), date(987, 6, 5))
_BYTES = (b"a", b"b", b"ab", b"\x00", b"\xff", b"\x00\xff\x10")
_UUIDS = (UUID(int=1), UUID(int=2), UUID(int=10), UUID(int=0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFF))


def samples(annotation: Any, within: tuple[Any, ...] = ()) -> list[Any]:
    """A few valid values of a type, favored values first, if any is known. ``within``: the containing models."""
    inner = _plain_samples(annotation, within)
    valid = _valid(annotation, inner)
    if not valid and kind_of(annotation) is str:
        lengths = (word for text in _TEXTS for word in (text * 4, text * 8, text * 12, text * 20, text * 40))
        valid = _valid(annotation, lengths)
    if not valid and kind_of(annotation) in {int, float, Decimal}:
        valid = _valid(annotation, _near_bounds(annotation))
    return [*valid, None] if is_optional(annotation) and None not in valid else valid


def strategy_for(
    annotation: Any, own: Mapping[Any, SearchStrategy[Any]], constants: Iterable[Any] = ()
) -> SearchStrategy[Any]:
    """A strategy for values of a type. ``own``: the caller's strategies by type. ``constants``: values that are drawn
    half of the time, if the type accepts them and they aren't samples anyway.
    """
    kind = kind_of(annotation)
    strategy = next((own[key] for value in (annotation, kind) for key in own if key == value), None)
    if strategy is not None:
        return st.none() | strategy if is_optional(annotation) else strategy
    ready = samples(annotation)
    drawn = set(map(repr, ready))
    named = [value for value in _valid(annotation, constants) if repr(value) not in drawn]
    if named:
        return st.sampled_from(named) | strategy_for(annotation, own)
    if ready not in ([], [None]):
        return st.sampled_from(ready[:FAVOURED]) | st.sampled_from(ready)
    pattern = pattern_of(annotation)
    if pattern is not None:
        matching = st.from_regex(pattern, fullmatch=True).map(_validator(annotation)).filter(_is_valid)
        return st.none() | matching if ready else matching
    return st.from_type(annotation).map(_validator(annotation)).filter(_is_valid)


def pattern_of(annotation: Any) -> str | None:
    """The regular expression that a string must match, if its type has one."""
    for mark in _marks(annotation):
        pattern = getattr(mark, "pattern", None)
        if pattern is not None:
            return getattr(pattern, "pattern", pattern)  # type: ignore[no-any-return]
    return None


_INVALID = object()
"""Replaces a value that its type rejects."""


def _is_valid(value: Any) -> bool:
    return value is not _INVALID


def _validator(annotation: Any) -> Any:
    adapter: TypeAdapter[Any] = TypeAdapter(annotation)

    def validated(value: Any) -> Any:
        try:
            return adapter.validate_python(value)
        except ValidationError:
            return _INVALID

    return validated


def _valid(annotation: Any, candidates: Iterable[Any]) -> list[Any]:
    """The distinct validated candidates that the type accepts."""
    validated = _validator(annotation)
    result = {repr(value): value for value in map(validated, candidates) if value is not _INVALID}
    return list(result.values())


def _marks(annotation: Any) -> Iterable[Any]:
    return (mark for layer in layers(annotation) for mark in (layer, *getattr(layer, "metadata", ())))


def _near_bounds(annotation: Any) -> Iterable[Any]:
    for mark in _marks(annotation):
        for name in ("ge", "gt", "le", "lt", "multiple_of"):
            bound = getattr(mark, name, None)
            if bound is not None:
                yield from (bound, bound + 1, bound - 1, bound + 9, bound - 9, bound * 2)


def _plain_samples(annotation: Any, within: tuple[Any, ...]) -> list[Any]:
    """Candidates by the type without its constraints, not yet validated."""
    if is_alias(annotation):
        return _plain_samples(annotation.__value__, within)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if TTL.name in marks_of(annotation):
        return list(_EXPIRIES)
    if origin is Annotated:
        return _plain_samples(arguments[0], within)
    if origin is Literal:
        return list(arguments)
    if origin in {Union, types.UnionType}:
        return [sample for part in arguments if part is not type(None) for sample in samples(part, within)]
    supertype = getattr(annotation, "__supertype__", None)
    if supertype is not None:
        return samples(supertype, within)
    if origin is not None:
        return _container_samples(origin, [samples(part, within) for part in arguments if part is not ...], arguments)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return list(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [] if annotation in within else _model_samples(annotation, (*within, annotation))
    return list(_SCALARS.get(kind_of(annotation), ()))  # kind_of resolves AwareDatetime, PastDate and similar types


def _container_samples(origin: Any, parts: list[list[Any]], arguments: tuple[Any, ...]) -> list[Any]:
    if isinstance(origin, type) and issubclass(origin, Mapping):
        pairs = list(zip(*(part[:4] for part in parts), strict=False))
        return [{}, *({key: value} for key, value in pairs), dict(pairs)]
    if origin is tuple and ... not in arguments:
        return list(itertools.islice(itertools.product(*(part[:4] for part in parts)), 12))
    inner = parts[0]
    runs = [inner[:1], inner[:2], inner[1:2], [], inner[1:4], inner[3:4], inner[4:6], inner[:3], inner[2:8:2]]
    make = origin if origin in {set, frozenset, tuple} else list
    return [make(run) for run in runs]


def _model_samples(model: type[BaseModel], within: tuple[Any, ...]) -> list[Any]:
    parts = {name: samples(annotated(info), within) for name, info in model.model_fields.items()}
    longest = min(6, max((len(part) for part in parts.values()), default=0))
    rows = ({name: part[at % len(part)] for name, part in parts.items() if part} for at in range(longest))
    return [{model.model_fields[name].alias or name: value for name, value in row.items()} for row in rows]


_SCALARS: dict[Any, Sequence[Any]] = {
    str: (*_TEXTS, "", *FORMED_TEXTS),
    int: _NUMBERS,
    bool: (False, True),
    float: tuple(float(text) for text in _DECIMALS),
    Decimal: tuple(Decimal(text) for text in _DECIMALS),
    datetime: _MOMENTS,
    date: _DAYS,
    bytes: _BYTES,
    UUID: _UUIDS,
    list: ([], ["a"]),
    dict: ({}, {"a": 1}),
    set: ({"a"},),
    type(None): (None,),
    Any: ("a", 1, None, ["a", {"b": True}]),
    object: ("a", 1),
}
