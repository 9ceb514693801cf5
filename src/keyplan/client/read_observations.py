"""What a write's reads found, so that a failed condition can be told from one that a further attempt can cure.

A write that reads first decides by what it read. When a condition fails on an item that is no longer as it was read,
the generator decides anew: another attempt may succeed. A condition on what was never read fails again, and so does
one that already what was read contradicts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from keyplan.client.conversations import Conversation, Request, relay
from keyplan.client.transactions import Refusal
from keyplan.model.declared.table import Table

__all__ = ["Findings"]

Item = Mapping[str, Mapping[str, Any]]
Identity = tuple[Any, ...]

_EQUALS = re.compile(r"([#\w.-]+)\s*=\s*(:\w+)")


class _Found(NamedTuple):
    item: Item | None
    whole: bool
    """Whether all of the item was read, and not what an index holds of it."""


class Findings:
    """What the reads of one attempt found. ``before`` are the refusals that ended the attempt before it."""

    def __init__(self, table: Table, before: frozenset[str] = frozenset()) -> None:
        self._names = table.key_names
        self._whole_indexes = {index.name for index in table.indexes if index.projection == "ALL"}
        self._before = before
        self._items: dict[Identity, list[_Found]] = {}
        """Each reading of an item: two of one attempt differ where somebody else has written between them."""
        self._listed: list[tuple[str | None, Mapping[str, Any]]] = []
        """The partitions that were queried: the index, and the values of the key's attributes; a scan has none."""

    def watch(self, conversation: Conversation[Any]) -> Conversation[Any]:
        """The conversation of a read, its answers noted."""
        return relay(conversation, self._observe)

    def _observe(self, step: Request | list[Request], answer: Any, error: Exception | None) -> None:
        if error is not None:
            return
        requests, responses = ([step], [answer]) if isinstance(step, Request) else (step, answer)
        for request, response in zip(requests, responses, strict=True):
            self._note(request, response)

    def _note(self, request: Request, response: Mapping[str, Any]) -> None:
        parameters = request.parameters
        match request.operation:
            case "GetItem":
                reading = _Found(response.get("Item"), whole=True)
                self._items.setdefault(self._identity(parameters["Key"]), []).append(reading)
            case "BatchGetItem":
                there = [item for items in response.get("Responses", {}).values() for item in items]
                self._keep(there, whole=True)
                later = [key for rest in response.get("UnprocessedKeys", {}).values() for key in rest["Keys"]]
                known = {*map(self._identity, there), *map(self._identity, later)}
                asked = [key for keys in parameters["RequestItems"].values() for key in keys["Keys"]]
                for key in asked:
                    if self._identity(key) not in known:
                        self._items.setdefault(self._identity(key), []).append(_Found(None, whole=True))
            case "Query" | "Scan":
                index: str | None = parameters.get("IndexName")
                names: Mapping[str, str] = parameters.get("ExpressionAttributeNames") or {}
                values: Mapping[str, Any] = parameters.get("ExpressionAttributeValues") or {}
                equal: list[tuple[str, str]] = _EQUALS.findall(parameters.get("KeyConditionExpression", ""))
                partition: dict[str, Any] = {names.get(name, name): values[value] for name, value in equal}
                self._listed.append((index, partition))
                self._keep(response.get("Items", ()), whole=index is None or index in self._whole_indexes)
            case _:
                pass

    def _keep(self, items: Any, *, whole: bool) -> None:
        for item in items:
            self._items.setdefault(self._identity(item), []).append(_Found(item, whole))

    def _identity(self, item: Item) -> Identity:
        return tuple(next(iter(item[name].values())) for name in self._names)

    def curable(self, refusals: list[Refusal], *, gave_up: bool) -> bool:
        """Whether a further attempt may succeed: something isn't as it was read, and no refused action is final; or the
        generator itself gave up (by raising WriteFailed) on what it read.
        """
        if gave_up:
            return bool(self._items or self._listed)
        if any(refusal.operation.final for refusal in refusals):
            return False
        return any(self._moved_on(refusal) for refusal in refusals)

    def _moved_on(self, refusal: Refusal) -> bool:
        known = {**refusal.operation.parameters.get("Item", {}), **refusal.operation.parameters.get("Key", {})}
        readings = self._items.get(self._identity(known))
        if readings is not None:
            return any(_differs(reading, refusal) for reading in readings)
        known |= refusal.item or {}
        for index, equal in self._listed:
            if all(_plain(known.get(name)) == _plain(value) for name, value in equal.items()):
                # An index follows its table after a while, so the same refusal twice says nothing there
                return index is not None or _told(refusal) not in self._before
        return False

    @staticmethod
    def told(refusals: list[Refusal]) -> frozenset[str]:
        """The refusals, so that the next attempt knows them again."""
        return frozenset(map(_told, refusals))


def _told(refusal: Refusal) -> str:
    return f"{refusal.operation.description} {json.dumps(_plain(refusal.item), sort_keys=True)}"


def _differs(reading: _Found, refusal: Refusal) -> bool:
    """Whether what stands there isn't what was read."""
    if reading.item is None:
        return refusal.operation.role != "item" or refusal.item is not None
    return not _same(reading, refusal.item)


def _same(read: _Found, item: Item | None) -> bool:
    """Whether an item is still as it was read, as far as it was."""
    if item is None or read.item is None:
        return False
    if read.whole and len(item) != len(read.item):
        return False
    return all(_plain(item.get(name)) == _plain(value) for name, value in read.item.items())


def _plain(value: Any) -> Any:
    """An attribute value with the elements of sets in one order: they have none."""
    if isinstance(value, Mapping):
        return {
            name: sorted(map(str, part)) if name in {"SS", "NS", "BS"} and isinstance(part, list) else _plain(part)
            for name, part in value.items()
        }
    return [_plain(part) for part in value] if isinstance(value, list) else value
