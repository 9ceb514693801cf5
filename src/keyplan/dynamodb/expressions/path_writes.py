"""Writing values at document paths: a new item from an old one, sharing what didn't change.

All writes of one update are applied together: list indexes mean the list as it was before the update, an
index past its end appends to what the removals left.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from keyplan.dynamodb.expressions.expression_errors import UpdateFault
from keyplan.dynamodb.expressions.paths import Steps
from keyplan.dynamodb.values import AttributeValue, Item
from keyplan.dynamodb.values.validation import CONTAINER_DEPTH_MAX

TOO_DEEP = "Nesting Levels have exceeded supported limits"
_MEMBERS_MAX = 400 * 1024
"""Of all that an update writes; each takes a byte, so that an item with more is too large in any case."""
INVALID_PATH = "The document path provided in the update expression is invalid for update"
REMOVED: Final[AttributeValue] = {}
"""Written in place of a value, it removes what is there. No value is an empty dict."""


@dataclass(frozen=True, slots=True)
class Write:
    """A value to stand at a path, or ``REMOVED``."""

    steps: Steps
    value: AttributeValue


def write_all(writes: Iterable[Write], item: Item) -> Item:
    """The item after the writes; the item given is left as it was.

    Raises ``UpdateFault`` for a path that leads through what isn't there or isn't a map or list.
    """
    copy = _Copy(item)
    # By list index, so that appends keep the order of their indexes. Names and indexes never meet: such paths conflict.
    ordered = sorted(writes, key=_steps)
    for write in ordered:
        if write.value is not REMOVED:
            copy.put(write.steps, write.value)
    for write in reversed(ordered):
        if write.value is REMOVED:
            copy.remove(write.steps)
    copy.append()
    return copy.item


def _steps(write: Write) -> Any:
    return write.steps


class _Copy:
    """A shallow copy of an item that copies each container once, when something is first written in it."""

    def __init__(self, item: Item) -> None:
        self.item: Item = dict(item)
        self._copied: dict[Steps, Any] = {}
        self._appends: list[tuple[list[AttributeValue], AttributeValue]] = []
        self._members = 0
        """Those that were looked at."""

    def _container(self, steps: Steps) -> Any:
        """The dict or list that holds the last step of a path, our own copy of it."""
        holder: Any = self.item
        for depth in range(1, len(steps)):
            prefix = steps[:depth]
            inner = self._copied.get(prefix)
            if inner is None:
                value = _held(holder, steps[depth - 1])
                tag = "L" if isinstance(steps[depth], int) else "M"
                if value is None or tag not in value:
                    raise UpdateFault(INVALID_PATH)
                inner = value[tag].copy()
                holder[steps[depth - 1]] = {tag: inner}
                self._copied[prefix] = inner
            holder = inner
        return holder

    def put(self, steps: Steps, value: AttributeValue) -> None:
        if ("M" in value or "L" in value) and self._is_deeper(value, CONTAINER_DEPTH_MAX - len(steps) + 1):
            raise UpdateFault(TOO_DEEP)
        holder = self._container(steps)
        last = steps[-1]
        if isinstance(last, int) and last >= len(holder):
            # Only after the removals, which mean the list as it was.
            self._appends.append((holder, value))
        else:
            holder[last] = value

    def _is_deeper(self, value: AttributeValue, levels: int) -> bool:
        """Whether a value has more levels of maps and lists."""
        layer = [value]
        while True:
            lists = [each["L"] for each in layer if "L" in each]
            maps = [each["M"] for each in layer if "M" in each]
            if not lists and not maps:
                return False
            if levels == 0:
                return True
            levels -= 1
            layer = [each for inner in lists for each in inner]
            layer += [each for inner in maps for each in inner.values()]
            self._members += len(layer)
            if self._members > _MEMBERS_MAX:
                return False

    def append(self) -> None:
        for elements, value in self._appends:
            elements.append(value)

    def remove(self, steps: Steps) -> None:
        holder = self._container(steps)
        if _held(holder, steps[-1]) is not None:
            del holder[steps[-1]]


def _held(holder: Any, step: str | int) -> AttributeValue | None:
    if isinstance(step, str):
        value: AttributeValue | None = holder.get(step)
        return value
    return holder[step] if step < len(holder) else None
