"""What a computed field is made of: the fields that its code reads, recorded while it runs.

Code isn't looked into: a decorator, a cached property, a helper of another module hide nothing from a recording. What
can't be recorded (code that reads the whole instance, that gives another value the next time, or that takes none of
the values it is tried with) counts as made of every field. What follows for an update is decided in ``entity.py`` and
in the client.
"""

from __future__ import annotations

import enum
import functools
import inspect
import types
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import combinations, islice, product
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from keyplan.model.declared.fields import is_optional, kind_of

__all__ = ["Dependence"]

TRIALS_MAX = 400
"""Instances that one computed field is evaluated for, to learn what it reads."""
COMBINED_MAX = 3
"""Values of a field that are combined with those of another."""

_WHOLE = frozenset({"__dict__", "__fields_set__", "__pydantic_serializer__", "__reduce__", "__reduce_ex__"})
"""Attributes by which code gets at every field at once."""


class Dependence:
    """What the computed fields of one entity class read."""

    def __init__(self, cls: type[BaseModel], annotations: Mapping[str, Any]) -> None:
        self._cls = cls
        self._annotations = {name: annotations[name] for name in cls.model_fields}
        self._recorder: type[Any] | None = None
        self._known: dict[str, frozenset[str]] = {}

    def reads(self, name: str, values: Mapping[str, Any]) -> frozenset[str]:
        """The fields that a computed field reads of an instance with these values; every field where it can't be
        recorded, or gives another value than the instance itself.
        """
        read, value, failed = self._recorded(name, values)
        if failed or name not in values or not _same(value, values[name]):
            return frozenset(self._cls.model_fields)
        return read

    def inputs(self, name: str) -> frozenset[str]:
        """The fields that a computed field can be made of: what it reads of many instances that differ in all that it
        reads. Every field where it can be evaluated for none of them.
        """
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._learned(name)
        return known

    def _learned(self, name: str) -> frozenset[str]:
        everything = frozenset(self._cls.model_fields)
        evaluated = 0
        result: set[str] = set()
        for values in islice(self._instances(result), TRIALS_MAX):
            read, value, failed = self._recorded(name, values)
            result |= read
            if failed:
                continue
            again = self._recorded(name, values)[1]
            if not _same(value, again):
                return everything
            evaluated += 1
            if result >= everything:
                break
        return frozenset(result) if evaluated else everything

    def _instances(self, read: set[str]) -> Iterator[dict[str, Any]]:
        """Values of instances: usual ones, others of each field in ``read``, which grows meanwhile, and of two."""
        usual = self._usual()
        yield usual
        seen: set[str] = set()
        while read - seen:
            name = min(read - seen)
            seen.add(name)
            for value in _values(self._annotations[name]):
                yield {**usual, name: value}
        for pair in combinations(sorted(read), 2):
            several = (list(islice(_values(self._annotations[name]), COMBINED_MAX)) for name in pair)
            for chosen in product(*several):
                yield {**usual, **dict(zip(pair, chosen, strict=True))}

    def _usual(self) -> dict[str, Any]:
        """Valid values where they can be made."""
        raw = {name: _usual_value(info, self._annotations[name]) for name, info in self._cls.model_fields.items()}
        try:
            valid = self._cls.model_validate(raw, by_name=True)
        except (ValidationError, ValueError, TypeError, ArithmeticError):
            return raw
        return {name: valid.__dict__[name] for name in raw}

    # Recording

    def _recorded(self, name: str, values: Mapping[str, Any]) -> tuple[frozenset[str], Any, bool]:
        """The fields that are read, the value, and whether there is none."""
        if self._recorder is None:
            self._recorder = _recorder_of(self._cls)
        read: set[str] = set()
        instance = object.__new__(self._recorder)
        object.__setattr__(instance, _STATE, _State(self._cls, values, read))
        for slot in ("__pydantic_extra__", "__pydantic_private__"):
            object.__setattr__(instance, slot, None)
        object.__setattr__(instance, "__pydantic_fields_set__", set(self._cls.model_fields))
        try:
            value = getattr(instance, name)
        except Exception:  # noqa: BLE001 - it is its author's code, and values made up may not suit it
            return frozenset(read), None, True
        return frozenset(read), value, False


_STATE = "_keyplan_state"


class _State:
    """The values of a recorded instance, and the fields read of it so far."""

    def __init__(self, cls: type[BaseModel], values: Mapping[str, Any], read: set[str]) -> None:
        self.cls = cls
        self.values = {name: values[name] for name in cls.model_fields}
        self.read = read

    def get(self, instance: Any, name: str) -> Any:
        """An attribute of the instance."""
        if name in self.values:
            self.read.add(name)
            return self.values[name]
        if name in _WHOLE or name.startswith("model_"):
            self.read.update(self.values)
        if name == "__dict__":
            return dict(self.values)
        static = inspect.getattr_static(self.cls, name, None)
        if isinstance(static, functools.cached_property):
            return static.func(instance)  # made anew, since what it keeps would hide what it reads
        return _MISSING


_MISSING = object()


def _recorder_of(cls: type[BaseModel]) -> type[Any]:
    """A subclass whose instances record what is read of them. Made without pydantic's metaclass at work, which would
    build a model.
    """

    def read(self: Any, name: str) -> Any:
        state: _State = object.__getattribute__(self, _STATE)
        result = state.get(self, name)
        return super(recorder, self).__getattribute__(name) if result is _MISSING else result

    members = {"__getattribute__": read, "__module__": cls.__module__, "__qualname__": cls.__qualname__}
    recorder: type[Any] = type.__new__(type(cls), cls.__name__, (cls,), members)
    return recorder


def _same(value: Any, other: Any) -> bool:
    try:
        return type(value) is type(other) and bool(value == other)
    except Exception:  # noqa: BLE001 - values of any class, whose comparison may fail
        return False


# Values


def _usual_value(info: FieldInfo, annotation: Any) -> Any:
    if info.examples:
        return info.examples[0]
    if info.default is not PydanticUndefined and info.default is not None:
        return info.default
    return next((value for value in _values(annotation) if value is not None), None)


def _values(annotation: Any) -> Iterator[Any]:
    """Values of a type: usual ones, and those that code is likely to decide by (nothing, 0, empty, the choices)."""
    kind, arguments = kind_of(annotation), _arguments(annotation)
    if get_origin(_bare(annotation)) is Literal:
        yield from arguments
    elif isinstance(kind, type) and issubclass(kind, enum.Enum):
        yield from kind
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        yield _model(kind)
    elif kind in {list, set, frozenset, tuple}:
        yield from (kind(collection) for collection in _collections(kind, arguments))
    else:
        yield from _SINGLE.get(kind, _SINGLE[str])
    if is_optional(annotation):
        yield None


_MOMENT = datetime(2026, 1, 2, 9, 42, 0, 123_456, tzinfo=UTC)
_SINGLE: Mapping[Any, Sequence[Any]] = {
    str: ("example", "", "another one", "2026-11-21", "1", "someone@example.com"),
    int: (7, 0, -1, 1, 100, 1_000_000),
    float: (7.5, 0.0, -1.0, 1_000_000.0),
    Decimal: (Decimal("7.5"), Decimal(0), Decimal(-1), Decimal(1_000_000)),
    bool: (True, False),
    bytes: (b"example", b""),
    datetime: (_MOMENT, datetime(1970, 1, 1, tzinfo=UTC), _MOMENT + timedelta(days=40_000)),
    date: (_MOMENT.date(), date(1970, 1, 1), date(2199, 12, 31)),
    UUID: (UUID(int=7), UUID(int=0)),
    dict: ({}, {"a": "b"}),
}


def _collections(kind: Any, arguments: tuple[Any, ...]) -> Iterator[list[Any]]:
    parts = [argument for argument in arguments if argument is not Ellipsis]
    if kind is tuple and parts and Ellipsis not in arguments:
        yield [next(_values(part)) for part in parts]
        return
    values = list(islice(_values(parts[0] if parts else str), 2))
    yield values
    yield []
    yield values[:1]


def _model(cls: type[BaseModel]) -> Any:
    made = {name: _usual_value(info, info.annotation) for name, info in cls.model_fields.items()}
    try:
        return cls.model_validate(made, by_name=True)
    except (ValidationError, ValueError, TypeError, ArithmeticError):
        return cls.model_construct(**made)


def _bare(annotation: Any) -> Any:
    """The type without marks and None."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _bare(get_args(annotation)[0])
    if origin in {Union, types.UnionType} and is_optional(annotation):
        parts = [value for value in get_args(annotation) if value is not type(None)]
        return _bare(parts[0]) if len(parts) == 1 else annotation
    return annotation


def _arguments(annotation: Any) -> tuple[Any, ...]:
    return get_args(_bare(annotation))
