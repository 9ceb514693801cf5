"""Simulates throttling by throughput limits, and delayed visibility of index entries. Both options are off by default.

Throttling follows the developer guide ("Read and write capacity", "Burst and adaptive capacity"). A provisioned table
or global secondary index provides its units per second, and keeps unused units for five minutes. On-demand capacity
starts with 4,000 write and 12,000 read units per second, and rises to twice its peak every half hour. A partition
allows 1,000 write and 3,000 read units, and a hot partition isn't split. A request is admitted while every resource
that it uses has units left, and is then charged in full. Consumed units are in the memory of one process.

A delayed index is read from an earlier snapshot of the store. A snapshot, taken before a write, is an open read
transaction. A delayed index shows a write after the delay plus at most an eighth of the delay. Strongly consistent
reads and reads of tables have no delay, and a change of tables or indexes makes indexes current.
"""

from __future__ import annotations

import math
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from keyplan.dynamodb.capacity import Consumed
from keyplan.dynamodb.limits import (
    ON_DEMAND_READ_UNITS,
    ON_DEMAND_WRITE_UNITS,
    PARTITION_READ_UNITS_MAX,
    PARTITION_WRITE_UNITS_MAX,
    TABLE_UNITS_MAX,
)
from keyplan.dynamodb.service_errors import (
    PROVISIONED_THROUGHPUT_CODE,
    THROTTLING_CODE,
    ProvisionedThroughputExceededException,
    RequestLimitExceeded,
    ThrottlingException,
)
from keyplan.errors import DynamoDBError
from keyplan.store.items.item_writes import Outcome, add_units
from keyplan.store.storage.key_layouts import Bounds, KeyText, Row, StaleTableError, raw_of
from keyplan.store.storage.sqlite import Snapshot, Storage
from keyplan.store.storage.table_reads import StoredTable
from keyplan.store.tables.item_keys import Key, entry_of
from keyplan.store.tables.table import Index, Table

Direction = Literal["Read", "Write"]

BURST_S = 300.0
"""Saved units of a provisioned table or index."""
PARTITION_UNITS: Mapping[Direction, float] = {"Read": PARTITION_READ_UNITS_MAX, "Write": PARTITION_WRITE_UNITS_MAX}
ON_DEMAND_UNITS: Mapping[Direction, float] = {"Read": ON_DEMAND_READ_UNITS, "Write": ON_DEMAND_WRITE_UNITS}
"""Initial throughput of a new on-demand table, in units per second."""
PEAK_AGE_S = 1800.0
"""The age from which twice a peak is allowed."""

Partition = tuple[KeyText, ...]

_KEY_RANGE = "KeyRangeThroughputExceeded"
_ACCOUNT = "AccountLimitExceeded"
_MAXIMUM = "MaxOnDemandThroughputExceeded"

_TABLE_LEVEL = (
    "The level of configured provisioned throughput for the table was exceeded. "
    "Consider increasing your provisioning level with the UpdateTable API."
)
_INDEX_LEVEL = (
    "The level of configured provisioned throughput for one or more global secondary indexes of the table "
    "was exceeded. Consider increasing your provisioning level for the under-provisioned global secondary indexes "
    "with the UpdateTable API"
)
_TABLE_SCALES = (
    "Throughput exceeds the current capacity of your table or index. "
    "DynamoDB is automatically scaling your table or index so please try again shortly. "
    "If exceptions persist, check if you have a hot key: "
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html."
)
_INDEX_SCALES = (
    "Throughput exceeds the current capacity for one or more global secondary indexes. "
    "DynamoDB is automatically scaling your index so please try again shortly."
)
_OVER_MAXIMUM = "Throughput exceeds the maximum OnDemandThroughput configured on table or index."
_OVER_ACCOUNT = (
    "Throughput exceeds the current throughput limit for your account. "
    "Please contact AWS Support at https://aws.amazon.com/support request a limit increase"
)


class Bucket:
    """A token bucket with a rate and a capacity. ``balance``, the number of units at ``_at_s``, can be negative."""

    __slots__ = ("_at_s", "balance", "capacity", "rate")

    def __init__(self, rate: float, capacity: float, now_s: float, balance: float | None = None) -> None:
        self.rate = rate
        self.capacity = capacity
        self.balance = capacity if balance is None else balance
        self._at_s = now_s

    def has_any(self, now_s: float) -> bool:
        passed_s = max(0.0, now_s - self._at_s)
        self.balance = min(self.capacity, self.balance + self.rate * passed_s)
        self._at_s = now_s
        return self.balance > 0


@dataclass(frozen=True, slots=True)
class _Level:
    provisioned: float | None
    """None means on demand."""
    maximum: float | None
    warm: float


class _Resource:
    def __init__(self, level: _Level, direction: Direction, now_s: float) -> None:
        self.level = level
        self._ceiling = PARTITION_UNITS[direction]
        self._begins_with = max(ON_DEMAND_UNITS[direction], level.warm)
        self._peak = self._recent_peak = 0.0
        self._second = self._half_hour_s = now_s
        self._units_of_second = 0.0
        self._partitions: dict[int, Bucket] = {}
        self._maximum = None if level.maximum is None else Bucket(level.maximum, level.maximum, now_s)
        if level.provisioned is not None:
            # The token bucket starts with the capacity units of one second.
            self._main = Bucket(level.provisioned, level.provisioned * BURST_S, now_s, level.provisioned)
        else:
            self._main = Bucket(self._begins_with, self._begins_with, now_s)

    def refuses(self, partition: Partition | None, now_s: float) -> str | None:
        """The reason to throttle a request; None to admit it."""
        self._scale(now_s)
        if self._maximum is not None and not self._maximum.has_any(now_s):
            return _MAXIMUM
        if not self._main.has_any(now_s):
            if self.level.provisioned is not None:
                return PROVISIONED_THROUGHPUT_CODE
            return _ACCOUNT if self._main.rate >= TABLE_UNITS_MAX else _KEY_RANGE
        if partition is not None and not self._bucket_of(partition, now_s).has_any(now_s):
            return _KEY_RANGE
        return None

    def take(self, partition: Partition | None, units: float, now_s: float) -> None:
        self._main.balance -= units
        if self._maximum is not None:
            self._maximum.balance -= units
        if partition is not None:
            self._bucket_of(partition, now_s).balance -= units
        self._units_of_second += units

    def _scale(self, now_s: float) -> None:
        """On demand: record the peak; every half hour, allow twice the highest peak."""
        if self.level.provisioned is not None:
            return
        if now_s - self._second >= 1.0:
            self._recent_peak = max(self._recent_peak, self._units_of_second)
            self._second, self._units_of_second = now_s, 0.0
        if now_s - self._half_hour_s >= PEAK_AGE_S:
            self._peak = max(self._peak, self._recent_peak)
            self._half_hour_s, self._recent_peak = now_s, 0.0
            rate = min(float(TABLE_UNITS_MAX), max(self._begins_with, 2 * self._peak))
            self._main.rate = self._main.capacity = rate

    def _bucket_of(self, partition: Partition, now_s: float) -> Bucket:
        """The bucket of a key's partition. Additional partitions split the ranges of key hashes."""
        raw = b"".join(map(raw_of, partition))
        count = max(1, math.ceil(self._main.rate / self._ceiling))
        number = zlib.crc32(raw) * count >> 32
        bucket = self._partitions.get(number)
        if bucket is None:
            bucket = self._partitions[number] = Bucket(self._ceiling, self._ceiling, now_s)
        return bucket


@dataclass(frozen=True, slots=True)
class _Charge:
    """The units of a request on a table (``index`` None) or a global secondary index."""

    index: Index | None
    partition: Partition | None
    """None if the load is spread over all partitions."""
    units: float


class Meter:
    """Counts consumed units, and throttles requests."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._resources: dict[tuple[int, int | None, Direction], _Resource] = {}

    def read(self, table: Table, index: Index | None, partition: Partition | None, units: float) -> None:
        """Charge a read to the table or the global index. Raises one of ``THROTTLING`` if no units are left."""
        self._charge(table, "Read", [_Charge(None if index is None or index.is_local else index, partition, units)])

    def write(self, table: Table, key: Key, outcome: Outcome, *, transactional: bool = False) -> None:
        """Charge a write before it is executed: on the table, and on each global secondary index, which must have units
        left even if its entry doesn't change. Raises one of ``THROTTLING`` if no units are left.
        """
        consumed = Consumed(table.name, "Write")
        add_units(consumed, table, outcome, transactional=transactional)
        units = consumed.table_units + sum(consumed.local_units.values())
        charges = [_Charge(None, key[:1], units), *_index_charges(table, consumed, outcome)]
        self._charge(table, "Write", charges)

    def _charge(self, table: Table, direction: Direction, charges: list[_Charge]) -> None:
        with self._lock:
            now_s = self._clock()
            resources = [self._resource(table, charge.index, direction, now_s) for charge in charges]
            refused = [
                (charge.index, reason)
                for charge, resource in zip(charges, resources, strict=True)
                if (reason := resource.refuses(charge.partition, now_s)) is not None
            ]
            if refused:
                raise _throttled(table, direction, refused)
            for charge, resource in zip(charges, resources, strict=True):
                resource.take(charge.partition, charge.units, now_s)

    def _resource(self, table: Table, index: Index | None, direction: Direction, now_s: float) -> _Resource:
        key = (table.stored.layout.id, index.number if index is not None else None, direction)
        level = _level(table, index, direction)
        resource = self._resources.get(key)
        if resource is None or resource.level != level:
            resource = self._resources[key] = _Resource(level, direction, now_s)
        return resource


def _index_charges(table: Table, consumed: Consumed, outcome: Outcome) -> Iterator[_Charge]:
    for index in table.indexes:
        if index.is_local:
            continue
        units = consumed.global_units.get(index.name, 0.0)
        entry = None
        for item in (outcome.new, outcome.old):
            if entry is None and units and item is not None:
                entry = entry_of(index, item)
        partition = entry.key[: len(index.partition)] if entry is not None else None
        yield _Charge(index, partition, units)


def _level(table: Table, index: Index | None, direction: Direction) -> _Level:
    settings: Mapping[str, Any] = table.definition
    on_demand = settings["BillingMode"] == "PAY_PER_REQUEST"
    if index is not None:
        settings = next(each for each in settings["GlobalSecondaryIndexes"] if each["IndexName"] == index.name)
    provisioned = settings.get("ProvisionedThroughput") or {}
    maximum = (settings.get("OnDemandThroughput") or {}).get(f"Max{direction}RequestUnits")
    warm = (settings.get("WarmThroughput") or {}).get(f"{direction}UnitsPerSecond") or 0
    return _Level(
        None if on_demand else float(provisioned.get(f"{direction}CapacityUnits", 1)),
        # A maximum of -1 means that there is no maximum.
        float(maximum) if on_demand and maximum is not None and maximum > 0 else None,
        float(warm) if on_demand else 0.0,
    )


def _throttled(table: Table, direction: Direction, refused: list[tuple[Index | None, str]]) -> DynamoDBError:
    reasons = [
        {
            "reason": f"{'Table' if index is None else 'Index'}{direction}{reason}",
            "resource": table.arn(index.name if index is not None else None),
        }
        for index, reason in refused
    ]
    index, reason = refused[0]
    if table.definition["BillingMode"] != "PAY_PER_REQUEST":
        return ProvisionedThroughputExceededException(_TABLE_LEVEL if index is None else _INDEX_LEVEL, reasons)
    if reason == _ACCOUNT:
        return RequestLimitExceeded(_OVER_ACCOUNT, reasons)
    if reason == _MAXIMUM:
        return ThrottlingException(_OVER_MAXIMUM, reasons)
    return ThrottlingException(_TABLE_SCALES if index is None else _INDEX_SCALES, reasons)


def cancellation_of(error: DynamoDBError) -> dict[str, str]:
    is_provisioned = isinstance(error, ProvisionedThroughputExceededException)
    return {"Code": PROVISIONED_THROUGHPUT_CODE if is_provisioned else THROTTLING_CODE, "Message": error.message}


SNAPSHOTS_MAX = 8
"""The number of snapshots per delay. Writes in shorter succession become visible together."""


class IndexLag:
    """Keeps past snapshots for the duration of the delay, and reads indexes from them. Thread-safe."""

    def __init__(self, storage: Storage, clock: Callable[[], float], lag_s: float) -> None:
        self._storage = storage
        self._clock = clock
        self._lag_s = lag_s
        self._apart_s = lag_s / SNAPSHOTS_MAX
        self._lock = threading.Lock()
        self._snapshots: deque[tuple[float, Snapshot]] = deque()
        """Oldest first; each contains the writes before its time."""

    def remember(self) -> None:
        """Take a snapshot before a write, unless a very recent snapshot exists."""
        with self._lock:
            now_s = self._clock()
            self._drop_old(now_s)
            if not self._snapshots or now_s - self._snapshots[-1][0] >= self._apart_s:
                self._snapshots.append((now_s, self._storage.snapshot()))

    def page(
        self, stored: StoredTable, index: int, bounds: Bounds, limit: int | None, bytes_max: int
    ) -> tuple[list[Row], bool]:
        """Read a page of an index at a past time."""
        with self._lock:
            self._drop_old(self._clock())
            # Hold the snapshot: other threads can drop it at any time, because writers don't wait for readers.
            snapshot = self._snapshots[0][1].hold() if self._snapshots else None
        if snapshot is not None:
            try:
                return snapshot.page(stored, index, bounds, limit, bytes_max)
            except StaleTableError:
                pass  # the snapshot's table is missing or has another definition: read the current index
            finally:
                snapshot.close()
        return stored.page(index, bounds, limit, bytes_max)

    def forget(self) -> None:
        """Drop all snapshots, so that indexes become current."""
        with self._lock:
            while self._snapshots:
                self._snapshots.popleft()[1].close()

    def _drop_old(self, now_s: float) -> None:
        # Reads use the first snapshot after now - lag, which contains all earlier writes. Add the interval between
        # snapshots: a write soon after a snapshot takes no snapshot, and is visible only with the next one.
        while self._snapshots and self._snapshots[0][0] + self._apart_s <= now_s - self._lag_s:
            self._snapshots.popleft()[1].close()
