# mypy: disable-error-code="empty-body"
"""CPU of one call through the client, beside other clients, against a server that answers canned bytes.

The server is a process of its own (``null_server.py``); what is measured is this process's CPU time, threads included.
Contenders take turns, round by round; a ratio is taken within its round, and shown are medians over the rounds. Clients
that aren't installed are left out. ``--write`` puts the table into docs/benchmarks-client.md, ``--profile get`` shows
where the time of one operation goes instead. No test asserts seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import platform
import pstats
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from keyplan import Cursor, Design, Each, Entity, Key, Page, Put, Table, Writes, read, write

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks-client.md"
BEGIN, END = "<!-- client: begin -->", "<!-- client: end -->"
OPERATIONS = {"get": 300, "query of 10": 100, "put": 300, "batch-get of 100": 25}
"""What is measured, and how many calls a round makes."""
REGION = "us-east-1"
KEYS = {"aws_access_key_id": "key", "aws_secret_access_key": "secret"}
IDS = [f"{number:06d}" for number in range(100)]

Calls = dict[str, Callable[[], Any]]


class Order(Entity):
    """An order of about 1 KB."""

    order_id: str
    customer_id: str
    status: str
    placed_at: datetime
    total_cents: int
    currency: str
    lines: list[str]
    note: str

    primary = Key("CUSTOMER#{customer_id}", "ORDER#{order_id}")


class Orders(Design):
    """What is measured."""

    table = Table("orders")

    @read("get")
    def order(self, customer_id: str, order_id: str) -> Order | None: ...

    @read("query")
    def orders_of(self, customer_id: str, limit: int = 9, cursor: Cursor | None = None) -> Page[Order]: ...

    @read("batch")
    def orders(self, customer_id: str, order_id: Each[str]) -> list[Order]: ...

    @write("put")
    def place(self, order: Order) -> Writes[None]:
        yield Put(order)


FIELDS: dict[str, Any] = {
    "order_id": "000001",
    "customer_id": "c1",
    "status": "pending",
    "placed_at": datetime(2026, 1, 1, tzinfo=UTC),
    "total_cents": 129900,
    "currency": "EUR",
    "lines": [f"SKU-{line:04d} x {line}" for line in range(8)],
    "note": "n" * 600,
}


@dataclass
class Contender:
    """One client: its calls by operation, and the microseconds of CPU of each round."""

    name: str
    calls: Calls
    awaited: bool
    rounds: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    close: Callable[[], Any] = lambda: None


# Contenders. Each makes its calls on the server's port, or raises ImportError.


def keyplan_sync(port: int) -> Contender:
    orders = Orders.open(f"dynamodb+http://127.0.0.1:{port}/orders")
    one = Order(**FIELDS)
    calls: Calls = {
        "get": lambda: orders.order("c1", "000001"),
        "query of 10": lambda: orders.orders_of("c1"),
        "put": lambda: orders.put(one),
        "batch-get of 100": lambda: orders.orders("c1", Each(IDS)),
    }
    return Contender("keyplan", calls, awaited=False, close=orders.close)


def keyplan_async(port: int) -> Contender:
    orders = Orders.open(f"dynamodb+http://127.0.0.1:{port}/orders")
    one = Order(**FIELDS)
    calls: Calls = {
        "get": lambda: orders.order.aio("c1", "000001"),
        "query of 10": lambda: orders.orders_of.aio("c1"),
        "put": lambda: orders.aio.put(one),
        "batch-get of 100": lambda: orders.orders.aio("c1", Each(IDS)),
    }
    return Contender("keyplan, awaited", calls, awaited=True, close=orders.close)
