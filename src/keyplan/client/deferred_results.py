"""What is given for a value that only the store knows, while it isn't known whether anybody needs it.

A pending value can be kept, handed on and returned, and nothing else: whatever else is done with it ends the generator
that does it, with ``Touched``. The generator is then run anew, and told better (``attempts.py``).
"""

from __future__ import annotations

import weakref
from typing import Any, NoReturn

__all__ = ["Pending", "Touched"]


class Touched(BaseException):
    """Code that met a pending value needs the real one. No ``except Exception`` of the generator catches it."""


class _Unknown:
    """Stands for an instance."""

    __slots__ = ("__weakref__", "_touches")

    def __init__(self, touches: list[bool]) -> None:
        self._touches = touches

    def __getattribute__(self, name: str) -> Any:
        object.__getattribute__(self, "_touches").append(True)
        if name == "__class__":  # validators ask it from code that can't raise: what they make of it isn't used
            return _Unknown
        raise Touched

    def _touch(self, *_: Any) -> NoReturn:
        object.__getattribute__(self, "_touches").append(True)
        raise Touched

    __eq__ = __ne__ = __hash__ = __bool__ = __repr__ = __str__ = __format__ = __iter__ = _touch
    __len__ = __contains__ = __getitem__ = __lt__ = __le__ = __gt__ = __ge__ = _touch


class Pending:
    """A value that was handed out, and what became of it."""

    def __init__(self) -> None:
        self._touches: list[bool] = []
        self._there: weakref.ref[Any] = weakref.ref(self)

    def hand_out(self) -> Any:
        """The value. Whoever asks must not keep it."""
        value = _Unknown(self._touches)
        self._there = weakref.ref(value)
        return value

    @property
    def touched(self) -> bool:
        """Whether the generator did something with it."""
        return bool(self._touches)

    @property
    def kept(self) -> bool:
        """Whether it still stands somewhere: in a variable, or in what was returned. One that is dropped at once, by a
        ``yield`` that is a statement, is gone.
        """
        return self._there() is not None
