"""Statistics of the cost of each access pattern, and of the hottest partition keys, in bounded memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from keyplan.client.call_records import CallRecord, PatternRecord
from keyplan.client.conversations import equal_attributes
from keyplan.errors import RequestError, shown
from keyplan.model.declared.table import Table

KEYS = 100

Item = Mapping[str, Mapping[str, Any]]


class HotKey(NamedTuple):
    """A partition key with its consumed units, which are overestimated by at most ``over``, never underestimated."""

    place: str | None
    """The index name; None for the table."""
    key: str
    read_units: float
    write_units: float
    over: float


@dataclass
class PatternUsage:
    """Totals of a pattern's calls. Latencies are in ms, body sizes in bytes."""

    calls: int = 0
    errors: int = 0
    requests: int = 0
    retries: int = 0
    read_units: float = 0.0
    write_units: float = 0.0
    request_bytes: int = 0
    response_bytes: int = 0
    latency_ms: float = 0.0
    latency_ms_max: float = 0.0

    def add(self, record: PatternRecord) -> None:
        self.calls += 1
        self.errors += record.error is not None
        self.requests += record.requests
        self.retries += record.retries
        self.read_units += record.read_units
        self.write_units += record.write_units
        self.request_bytes += record.request_bytes
        self.response_bytes += record.response_bytes
        self.latency_ms += record.latency_ms
        self.latency_ms_max = max(self.latency_ms_max, record.latency_ms)


class Usage:
    """Collects totals by pattern, and the hottest partition keys, with ``usage = blog.store.watch(Usage(Blog.table))``.

    ``keys`` is the maximum number of tracked partition keys (the space-saving algorithm of Metwally, Agrawal and El
    Abbadi, 2005: a key that consumed more than 1/``keys`` of all units is among them). The index entries of a put count
    for their partition keys. Index entries of an update aren't in its request, so they don't count. Thread-safe.
    """

    def __init__(self, table: Table, *, keys: int = KEYS) -> None:
        if keys < 1:
            raise RequestError(f"the number of keys must be at least 1, not {shown(keys)}", place="Usage.keys")
        self.patterns: dict[str, PatternUsage] = {}
        self._partition: dict[str | None, tuple[str, ...]] = {None: (table.partition.name,)}
        self._partition |= {
            index.name: tuple(attribute.name for attribute in index.partition) for index in table.indexes
        }
        self._keys = keys
        self._counts: dict[tuple[str | None, str], list[float]] = {}
        self._lock = threading.Lock()

    def __call__(self, record: PatternRecord) -> None:
        """Add the record of a call to the totals."""
        with self._lock:
            self.patterns.setdefault(record.pattern, PatternUsage()).add(record)
            for call in record.calls:
                for place, key, reads, writes in self._shares(call):
                    self._count((place, key), reads, writes)

    def hottest(self, count: int = 10) -> list[HotKey]:
        """The partition keys that consumed the most read and write units in total."""
        with self._lock:
            result = [HotKey(place, key, *counts) for (place, key), counts in self._counts.items()]
        return sorted(result, key=lambda key: (-(key.read_units + key.write_units), key.key))[:count]

    def _count(self, key: tuple[str | None, str], reads: float, writes: float) -> None:
        if not reads and not writes:
            return  # the request failed or reported no capacity, so evict no key
        counts = self._counts.get(key)
        if counts is None:
            over = 0.0
            if len(self._counts) >= self._keys:
                least = min(self._counts, key=lambda element: sum(self._counts[element][:2]))
                taken = self._counts.pop(least)
                over = taken[0] + taken[1]
            # The new counter replaces the smallest and inherits its value, an upper bound for the key's earlier units.
            counts = self._counts[key] = [over if reads else 0.0, 0.0 if reads else over, over]
        counts[0] += reads
        counts[1] += writes

    def _shares(self, call: CallRecord) -> Iterator[tuple[str | None, str, float, float]]:
        """The partition keys of a request with their units, split evenly if DynamoDB reports only the total."""
        parameters = call.parameters
        if call.operation == "Query":
            place = parameters.get("IndexName")
            key = self._asked(parameters, place)
            if key is not None:
                yield place, key, call.read_units, 0.0
            return
        items = list(_items(call))
        if not items:
            return
        by_index = _by_index(call.capacity)
        in_indexes = sum(by_index.values())
        share = 1 / len(items)
        for item, _ in items:
            key = self._text(item, None)
            if key is not None:
                yield None, key, call.read_units * share, max(0.0, call.write_units - in_indexes) * share
        for index, units in by_index.items():
            keys = [key for item, whole in items if whole and (key := self._text(item, index)) is not None]
            for key in keys:
                yield index, key, 0.0, units / len(keys)

    def _asked(self, parameters: Mapping[str, Any], place: str | None) -> str | None:
        """The partition key of a Query, from the ``=`` comparisons in its key condition."""
        return self._text(equal_attributes(parameters), place)

    def _text(self, item: Item, place: str | None) -> str | None:
        attributes = self._partition.get(place)
        if attributes is None or not all(item.get(name) for name in attributes):
            return None
        return ", ".join(str(next(iter(item[name].values()))) for name in attributes)


def _items(call: CallRecord) -> Iterator[tuple[Item, bool]]:
    """The items or keys of a request, and whether each is a whole item."""
    parameters = call.parameters
    match call.operation:
        case "GetItem" | "UpdateItem" | "DeleteItem":
            yield parameters["Key"], False
        case "PutItem":
            yield parameters["Item"], True
        case "BatchGetItem":
            for asked in parameters["RequestItems"].values():
                yield from ((key, False) for key in asked["Keys"])
        case "BatchWriteItem":
            for asked in parameters["RequestItems"].values():
                yield from (_written(value) for value in asked)
        case "TransactGetItems" | "TransactWriteItems":
            yield from (_written(item) for item in parameters["TransactItems"])
        case _:
            return


def _written(action: Mapping[str, Any]) -> tuple[Item, bool]:
    member = next(iter(action.values()))
    return (member["Item"], True) if "Item" in member else (member["Key"], False)


def _by_index(capacity: Any) -> dict[str, float]:
    result: dict[str, float] = {}
    for element in capacity if isinstance(capacity, list) else [capacity or {}]:
        for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
            for name, units in (element.get(member) or {}).items():
                result[name] = result.get(name, 0.0) + units.get("CapacityUnits", 0.0)
    return result
