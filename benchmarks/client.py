# mypy: disable-error-code="empty-body"
"""CPU time of one call through the client and other clients, against a server that returns constant responses.

The server is a separate process (``null_server.py``). The result is this process's CPU time, including threads. The
clients run in interleaved rounds; a ratio compares two clients in one round, and the tables show medians over the
rounds. Clients that aren't installed are omitted. ``--write`` writes the table to docs/benchmarks-client.md;
``--profile get`` shows where one operation spends its time. No test asserts seconds.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from benchmarks.import_time import import_ms
from benchmarks.rivals import FIELDS, IDS, RIVALS, Calls, Contender
from keyplan import Cursor, Design, Each, Entity, Key, Page, Table, read

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks-client.md"
BEGIN, END = "<!-- client: begin -->", "<!-- client: end -->"
OPERATIONS = {"get": 300, "query of 10": 100, "put": 300, "batch-get of 100": 25}
"""What is measured, and how many calls a round makes."""


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
    def orders_of(self, customer_id: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Order]: ...

    @read("batch")
    def orders(self, customer_id: str, order_id: Each[str]) -> list[Order]: ...


def keyplan_sync(port: int) -> Contender:
    orders = Orders.open(f"dynamodb+http://127.0.0.1:{port}/orders")
    one = Order(**FIELDS)
    calls: Calls = {
        "get": lambda: orders.order("c1", "000001"),
        "query of 10": lambda: orders.orders_of("c1"),
        "put": lambda: orders.put(one),
        "batch-get of 100": lambda: orders.orders("c1", IDS),
    }
    return Contender("keyplan", calls, awaited=False, close=orders.close)


def keyplan_async(port: int) -> Contender:
    orders = Orders.open(f"dynamodb+http://127.0.0.1:{port}/orders")
    one = Order(**FIELDS)
    calls: Calls = {
        "get": lambda: orders.order.aio("c1", "000001"),
        "query of 10": lambda: orders.orders_of.aio("c1"),
        "put": lambda: orders.aio.put(one),
        "batch-get of 100": lambda: orders.orders.aio("c1", IDS),
    }
    return Contender("keyplan, awaited", calls, awaited=True, close=orders.close)


MAKERS: tuple[Callable[[int], Contender], ...] = (keyplan_sync, keyplan_async, *RIVALS)


@contextmanager
def null_server() -> Iterator[int]:
    """The server in its own process; gives its port."""
    script = Path(__file__).with_name("null_server.py")
    with subprocess.Popen([sys.executable, script, "0"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def contenders(port: int, console: Console) -> list[Contender]:
    """Those that are installed."""
    found: list[Contender] = []
    for make in MAKERS:
        try:
            found.append(make(port))
        except ImportError as error:
            console.print(f"left out: {make.__name__} ({error})")
    return found


def spend(contender: Contender, operation: str, calls: int, runner: asyncio.Runner) -> float:
    """Microseconds of CPU of one call."""
    call = contender.calls[operation]
    if contender.awaited:
        return runner.run(_spend(call, calls))
    begun = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - begun) / calls * 1e6


async def _spend(call: Callable[[], Any], calls: int) -> float:
    begun = time.process_time()
    for _ in range(calls):
        await call()
    return (time.process_time() - begun) / calls * 1e6


def measure(found: list[Contender], rounds: int, runner: asyncio.Runner, console: Console) -> None:
    """Rounds in which each contender has its turn."""
    for contender in found:
        for operation in contender.calls:
            spend(contender, operation, 20, runner)
    for number in range(rounds):
        for operation, calls in OPERATIONS.items():
            for contender in found:
                if operation in contender.calls:
                    spent = spend(contender, operation, calls, runner)
                    contender.rounds.setdefault(operation, []).append(spent)
        console.print(f"round {number + 1} of {rounds}", end="\r")


def ratio(contender: Contender, other: Contender, operation: str) -> float:
    """The median of the rounds' ratios."""
    pairs = zip(contender.rounds[operation], other.rounds[operation], strict=True)
    return statistics.median(one / base for one, base in pairs)


def rows_of(found: list[Contender]) -> list[list[str]]:
    """A row a contender: for each operation its microseconds, and the ratio to boto3's client."""
    base = next(one for one in found if one.name == "boto3 client")
    rows: list[list[str]] = []
    for contender in found:
        cells = [contender.name]
        for operation in OPERATIONS:
            if operation in contender.rounds:
                spent = statistics.median(contender.rounds[operation])
                cells.append(f"{spent:,.0f} µs · {ratio(contender, base, operation):.2f}×")
            else:
                cells.append("–")
        rows.append(cells)
    return rows


def write_page(rows: list[list[str]], rounds: int, imports: dict[str, float]) -> None:
    """Put the table between the page's markers."""
    names = ["boto3", "botocore", "pynamodb", "aiobotocore", "aiodynamo", "pydynox", "dyntastic", "urllib3", "aiohttp"]
    versions: list[str] = []
    for name in names:
        with suppress(PackageNotFoundError):
            versions.append(f"{name} {version(name)}")
    machine = (
        f"{platform.python_implementation()} {platform.python_version()}, {platform.system()} {platform.machine()}"
    )
    lines = [
        "| | " + " | ".join(OPERATIONS) + " |",
        "|---|" + "---:|" * len(OPERATIONS),
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
        f"The table shows medians of {rounds} rounds. {machine}; {', '.join(versions)}.",
        "",
        "| work at program start | CPU time |",
        "|---|---:|",
        *(f"| {name} | {spent:,.0f} ms |" for name, spent in imports.items()),
    ]
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition(BEGIN)
    table = "\n".join(lines)
    PAGE.write_text(f"{head}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def profile(contender: Contender, operation: str, runner: asyncio.Runner) -> None:
    """Print where the time of one operation goes."""
    spend(contender, operation, 100, runner)
    profiler = cProfile.Profile()
    profiler.enable()
    spend(contender, operation, 2000, runner)
    profiler.disable()
    pstats.Stats(profiler).strip_dirs().sort_stats("tottime").print_stats(30)


def main() -> int:
    """Measure, print, and write where asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--write", action="store_true", help="put the table into docs/benchmarks-client.md")
    parser.add_argument("--profile", choices=list(OPERATIONS))
    parser.add_argument("--awaited", action="store_true", help="profile the awaited form")
    options = parser.parse_args()
    console = Console(width=150)
    with null_server() as port, asyncio.Runner() as runner:
        if options.profile:
            profile((keyplan_async if options.awaited else keyplan_sync)(port), options.profile, runner)
            return 0
        found = contenders(port, console)
        measure(found, options.rounds, runner, console)
        for contender in found:
            closing = contender.close()
            if closing is not None:
                runner.run(closing)
    rows = rows_of(found)
    table = RichTable("", *OPERATIONS)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    imports = import_ms(options.rounds)
    for name, spent in imports.items():
        console.print(f"{name}: {spent:.0f} ms")
    if options.write:
        write_page(rows, options.rounds, imports)
        console.print(f"written to {PAGE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
