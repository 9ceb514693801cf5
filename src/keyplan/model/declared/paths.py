"""Paths into a field: ``Update(user).at(lambda user: user.address.city).set("Porto")``.

The function is called once, with an object that records where it goes: so type checkers see the entity's own fields.
What becomes of a value at a path is in ``design/stored/within.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeAlias, TypeVar

from keyplan.errors import ArgumentError, shown

__all__ = ["At", "Steps", "steps_of"]

U = TypeVar("U")
T = TypeVar("T")
V = TypeVar("V")

Steps: TypeAlias = tuple[str | int, ...]


class _Recorder:
    """Stands for an item, and records the attributes, keys and positions that are asked of it."""

    __slots__ = ("_steps",)

    def __init__(self, steps: Steps) -> None:
        self._steps = steps

    def __getattr__(self, name: str) -> _Recorder:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Recorder((*self._steps, name))

    def __getitem__(self, key: Any) -> _Recorder:
        if isinstance(key, bool) or not isinstance(key, str | int) or (isinstance(key, int) and key < 0):
            raise ArgumentError(
                f"{shown(key)} is no place in a map or a list", place="at", hint="give a text, or 0, 1, …"
            )
        return _Recorder((*self._steps, key))


def steps_of(path: Callable[[Any], Any]) -> Steps:
    """The fields, keys and positions that a path goes by. Raises ArgumentError."""
    anything: Any = path
    result: Any = anything(_Recorder(())) if callable(anything) else None
    steps: Steps = object.__getattribute__(result, "_steps") if isinstance(result, _Recorder) else ()
    if not steps or not isinstance(steps[0], str):
        raise ArgumentError(
            "a path goes from the item to a part of it", place="at", hint="write .at(lambda user: user.address.city)"
        )
    return steps


class At(Generic[U, T]):
    """A place within an item, where an update changes something."""

    def __init__(self, make: Callable[[Any], U], changes: tuple[Callable[[Any], Any], ...]) -> None:
        self._make = make
        self._add, self._append, self._remove = changes

    def set(self, value: T) -> U:
        """The update with this value there."""
        return self._make(value)

    def add(self, amount: T) -> U:
        """The update that adds to the number there; in a map, a key that isn't there begins at 0."""
        return self._make(self._add(amount))

    def append(self: At[U, list[V]], items: Iterable[V]) -> U:
        """The update that appends to the list there; in a map, a key that isn't there begins empty."""
        return self._make(self._append(items))

    def remove(self) -> U:
        """The update that takes it away: a field that has a default, a key of a map, an element of a list."""
        return self._make(self._remove(None))
