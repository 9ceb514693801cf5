"""Capacity units from bytes, and the ``ConsumedCapacity`` member of a response.

The rules are those of the developer guide, "DynamoDB read and write operations" (capacity unit consumption).
"""

from __future__ import annotations

from typing import Any

from keyplan.dynamodb.limits import READ_UNIT_BYTES, WRITE_UNIT_BYTES


def read_units(size_bytes: int, *, consistent: bool = False, transactional: bool = False) -> float:
    """Read units for ``size_bytes``: 0.5 (eventually consistent), 1 (strongly consistent) or 2 (transactional) per 4
    KB, rounded up. A read without a result costs the minimum.
    """
    blocks = max(1, -(-size_bytes // READ_UNIT_BYTES))
    if transactional:
        return 2.0 * blocks
    return float(blocks) if consistent else 0.5 * blocks


def write_units(size_bytes: int, *, transactional: bool = False) -> float:
    """Units for ``size_bytes`` (the larger of the old and new sizes): 1 (or 2 in a transaction) per KB, rounded up."""
    blocks = max(1, -(-size_bytes // WRITE_UNIT_BYTES))
    return 2.0 * blocks if transactional else float(blocks)


def entry_units(size_bytes: int) -> float:
    """Write units for one index entry; a transaction doesn't double them."""
    return float(max(1, -(-size_bytes // WRITE_UNIT_BYTES)))


class Consumed:
    """The units that one request consumed on one table and on each index.

    ``direction`` is ``"Read"`` or ``"Write"``: transactions also report units by direction.
    """

    __slots__ = ("direction", "global_units", "local_units", "table_name", "table_units", "vector_bytes")

    def __init__(self, table_name: str, direction: str) -> None:
        self.table_name = table_name
        self.direction = direction
        self.table_units = 0.0
        self.local_units: dict[str, float] = {}
        self.global_units: dict[str, float] = {}
        self.vector_bytes: dict[str, int] = {}
        """Bytes written to vector indexes, which aren't measured in units."""

    def add_index(self, name: str, units: float, *, is_local: bool) -> None:
        units_of = self.local_units if is_local else self.global_units
        units_of[name] = units_of.get(name, 0.0) + units

    @property
    def total_units(self) -> float:
        return self.table_units + sum(self.local_units.values()) + sum(self.global_units.values())

    def as_json(self, level: str, *, by_direction: bool = False) -> dict[str, Any]:
        def units(number: float) -> dict[str, float]:
            shape = {"CapacityUnits": number}
            if by_direction:
                shape[f"{self.direction}CapacityUnits"] = number
            return shape

        shape: dict[str, Any] = {"TableName": self.table_name, **units(self.total_units)}
        if level != "INDEXES":
            return shape
        shape["Table"] = units(self.table_units)
        if self.local_units:
            shape["LocalSecondaryIndexes"] = {name: units(n) for name, n in self.local_units.items()}
        if self.global_units:
            shape["GlobalSecondaryIndexes"] = {name: units(n) for name, n in self.global_units.items()}
        if self.vector_bytes:
            written = self.vector_bytes.items()
            shape["VectorIndexes"] = {name: {"VectorWriteRequestBytes": float(count)} for name, count in written}
        return shape


class ConsumedByTable(dict[str, Consumed]):
    """The units that one request consumed on each table, by name."""

    def __init__(self, direction: str) -> None:
        super().__init__()
        self._direction = direction

    def __missing__(self, table_name: str) -> Consumed:
        return self.setdefault(table_name, Consumed(table_name, self._direction))
