# mypy: disable-error-code="empty-body"
"""The typed API on the embedded store, compared with bare SQL statements on the same rows, and with moto.

All run in this process in interleaved rounds: each round measures every candidate once, and ratios are within a round,
so that other work on the machine affects all candidates. The table shows medians over the rounds. ``--write`` writes it
to docs/benchmarks.md; ``--profile NAME`` shows where one operation spends its time.

Run it with ``make bench``. Tests assert SQL statements, not seconds.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import platform
import pstats
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zlib import crc32

import apsw
import boto3  # type: ignore[import-untyped] # it has no types
import orjson
from moto import mock_aws
from rich.console import Console
from rich.table import Table as RichTable

from keyplan import Cursor, Design, Entity, Index, Key, Page, Put, Table, read

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- typed_api: begin -->", "<!-- typed_api: end -->"
ITEMS = 5000
CUSTOMERS = 50
START = datetime(2026, 1, 1, tzinfo=UTC)

STATUSES = ("pending", "paid", "shipped")

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
GSI2 = Index("GSI2", "gsi2pk", "gsi2sk")


class Order(Entity):
    """An order of about 1 KB as stored, with an entry in each of two indexes."""

    order_id: str
    customer_id: str
    status: str
    placed_at: datetime
    total_cents: int
    currency: str
    lines: list[str]
    note: str

    primary = Key("CUSTOMER#{customer_id}", "ORDER#{order_id}")
    by_id = Key("ORDER#{order_id}", "HEADER", index=GSI1)
    by_status = Key("STATUS#{status}", "{placed_at}#{order_id}", index=GSI2)


class Orders(Design):
    """The questions that are measured."""

    table = Table("orders", indexes=[GSI1, GSI2])

    @read("get")
    def order(self, customer_id: str, order_id: str) -> Order | None: ...

    @read("query")
    def orders_of(self, customer_id: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Order]: ...

    @read("index")
    def by_status(self, status: str, limit: int = 10, cursor: Cursor | None = None) -> Page[Order]: ...


def customer(number: int) -> str:
    """The customer of an order."""
    return f"c{number % CUSTOMERS:04d}"


def order(number: int) -> Order:
    """Order number ``number``: always the same one."""
    return Order(
        order_id=f"{number:09d}",
        customer_id=customer(number),
        status=STATUSES[number % 3],
        placed_at=START + timedelta(seconds=number),
        total_cents=1990 + number,
        currency="EUR",
        lines=[f"{line + 1} x article {number + line:06d}" for line in range(4)],
        note="as stored, an order has about one kilobyte. " * 11,
    )


class Bare:
    """The statements of the store, on a connection of their own to the same file with the same pragmas."""

    def __init__(self, path: Path) -> None:
        self.connection = apsw.Connection(str(path), statementcachesize=400)
        self.connection.execute("PRAGMA synchronous = FULL")
        self.connection.execute("PRAGMA cache_size = -8192")
        catalog: Any = self.connection.execute("SELECT id, generation FROM keyplan_catalog").fetchall()
        table, generation = catalog[0]
        items = f"items_{table}_{generation}"
        first, second = (table << 32 | number for number in (1, 2))
        self.get = f"SELECT size, body FROM {items} WHERE pk = ? AND sk = ?"
        self.page = f"SELECT size, body FROM {items} WHERE pk = ? AND sk >= ? AND sk < ? ORDER BY sk LIMIT ?"
        self.index_page = (
            f"SELECT i.size, i.body FROM entries_1_1 e CROSS JOIN {items} i ON i.id = e.item "
            f"WHERE e.index_id = {second} AND e.p1 = ? ORDER BY e.s1, e.pk, e.sk LIMIT ?"
        )
        self.find = f"SELECT id, size, body FROM {items} WHERE pk = ? AND sk = ?"
        self.insert = f"INSERT INTO {items} (pk, sk, size, body, checksum) VALUES (?, ?, ?, ?, ?)"
        self.entries = [f"INSERT INTO entries_1_1 VALUES ({number}, ?, ?, ?, ?, ?, NULL)" for number in (first, second)]

    def put(self, row: tuple[Any, ...]) -> None:
        """One put as the store does it, of a row that was made before."""
        pk, sk, size, body, *entries = row
        run = self.connection.execute
        run("BEGIN IMMEDIATE")
        run(self.find, (pk, sk)).fetchone()
        run(self.insert, (pk, sk, size, body, crc32(body)))
        item = self.connection.last_insert_rowid()
        for text, entry in zip(self.entries, entries, strict=True):
            run(text, (*entry, pk, sk, item))
        run("COMMIT")


Contenders = dict[str, Callable[[int], object]]


@dataclass
class Contest:
    """One operation, and who carries it out: each function makes one call for a number, and never twice for one."""

    name: str
    what: str
    target: float | None
    calls: int
    contenders: Contenders
    prepare: Callable[[str, range], None] = lambda _name, _numbers: None
    seconds: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    statements: float = 0

    def round(self, start: int) -> int:
        """Measure each contender once, on its own numbers; the first number not used."""
        for name, call in self.contenders.items():
            calls = self.calls if name != "moto" else max(2, self.calls // 10)
            numbers = range(start, start + calls)
            start += calls
            self.prepare(name, numbers)
            begin = time.perf_counter()
            for number in numbers:
                call(number)
            self.seconds.setdefault(name, []).append((time.perf_counter() - begin) / calls)
        return start

    def micros(self, name: str) -> float:
        """The median time of one call."""
        return statistics.median(self.seconds[name]) * 1e6

    def ratio(self, name: str) -> float:
        """The median of the rounds' ratios to the bare statements."""
        pairs = zip(self.seconds[name], self.seconds["bare"], strict=True)
        return statistics.median(one / bare for one, bare in pairs)


@contextmanager
def moto_table() -> Iterator[Any]:
    """A boto3 client of moto with the table in it."""
    os.environ.setdefault("AWS_DEFAULT_REGION", "eu-west-1")
    with mock_aws():
        client = boto3.client("dynamodb")
        client.create_table(**Orders.table.create_request())
        yield client


def item_of(number: int) -> dict[str, Any]:
    """The item of an order, as the store holds it."""
    return Orders.compiled.by_name["Order"].to_item(order(number))


def row_of(number: int) -> tuple[Any, ...]:
    """What the bare statements write for an order."""
    item = item_of(number)
    key = {name: value["S"] for name, value in item.items() if name.endswith(("pk", "sk"))}
    body = orjson.dumps(item)
    entries = [(key["gsi1pk"], key["gsi1sk"]), (key["gsi2pk"], key["gsi2sk"])]
    return (key["pk"], key["sk"], len(body), body, *entries)


def get_contest(orders: Orders, bare: Bare, moto: Any) -> Contest:
    """One item by its key."""

    def key_of(number: int) -> tuple[str, str]:
        return f"CUSTOMER#{customer(number)}", f"ORDER#{number % ITEMS:09d}"

    def by_moto(number: int) -> object:
        pk, sk = key_of(number)
        return moto.get_item(TableName="orders", Key={"pk": {"S": pk}, "sk": {"S": sk}})

    contenders: Contenders = {
        "bare": lambda number: bare.connection.execute(bare.get, key_of(number)).fetchone(),
        "typed": lambda number: orders.order(customer(number), f"{number % ITEMS:09d}"),
        "moto": by_moto,
    }
    return Contest("get", "one item by its key", 5, 400, contenders)


def query_contest(orders: Orders, bare: Bare, moto: Any) -> Contest:
    """A page of a partition of the table."""

    def by_bare(number: int) -> object:
        return bare.connection.execute(bare.page, (f"CUSTOMER#{customer(number)}", "ORDER#", "ORDER$", 10)).fetchall()

    def by_moto(number: int) -> object:
        return moto.query(
            TableName="orders",
            KeyConditionExpression="pk = :pk AND begins_with(sk, :sk)",
            ExpressionAttributeValues={":pk": {"S": f"CUSTOMER#{customer(number)}"}, ":sk": {"S": "ORDER#"}},
            Limit=10,
        )

    contenders: Contenders = {
        "bare": by_bare,
        "typed": lambda number: orders.orders_of(customer(number)),
        "moto": by_moto,
    }
    return Contest("query", "a page of 10, from the table", 10, 150, contenders)


def index_contest(orders: Orders, bare: Bare, moto: Any) -> Contest:
    """A page of a partition of an index."""

    def by_bare(number: int) -> object:
        return bare.connection.execute(bare.index_page, (f"STATUS#{STATUSES[number % 3]}", 10)).fetchall()

    def by_moto(number: int) -> object:
        return moto.query(
            TableName="orders",
            IndexName="GSI2",
            KeyConditionExpression="gsi2pk = :pk",
            ExpressionAttributeValues={":pk": {"S": f"STATUS#{STATUSES[number % 3]}"}},
            Limit=10,
        )

    contenders: Contenders = {
        "bare": by_bare,
        "typed": lambda number: orders.by_status(STATUSES[number % 3]),
        "moto": by_moto,
    }
    return Contest("index", "a page of 10, from an index", 10, 150, contenders)


def put_contest(orders: Orders, bare: Bare, moto: Any) -> Contest:
    """A new item; what is written is made before the clock runs."""
    made: dict[int, Any] = {}
    makers: dict[str, Callable[[int], Any]] = {"bare": row_of, "typed": order, "moto": item_of}

    def prepare(name: str, numbers: range) -> None:
        made.update({number: makers[name](number) for number in numbers})

    contenders: Contenders = {
        "bare": lambda number: bare.put(made[number]),
        "typed": lambda number: orders.put(made[number]),
        "moto": lambda number: moto.put_item(TableName="orders", Item=made[number]),
    }
    return Contest("put", "a new item with two index entries", 2.5, 60, contenders, prepare)


CONTESTS = {"get": get_contest, "query": query_contest, "index": index_contest, "put": put_contest}


def fill(orders: Orders, moto: Any, console: Console) -> None:
    """Write the items that are read; into moto fewer of them, since it takes its time."""
    console.print(f"writing {ITEMS} items ...")
    orders.batch(Put(order(number)) for number in range(ITEMS))
    for number in range(ITEMS // 10):
        moto.put_item(TableName="orders", Item=item_of(number))


def measure(found: list[Contest], orders: Orders, rounds: int, console: Console) -> None:
    """Run the rounds of each contest; the first one warms up and doesn't count."""
    engine: Any = orders.store.transport.call.__self__  # type: ignore[attr-defined] # the transport calls its method
    number = ITEMS
    for contest in found:
        console.print(f"{contest.name}: {rounds} rounds ...")
        number = contest.round(number)
        contest.seconds.clear()
        for _ in range(rounds):
            number = contest.round(number)
        contest.prepare("typed", range(number, number + 1))
        before = engine.statements
        contest.contenders["typed"](number)
        contest.statements = engine.statements - before
        number += 1


def rows_of(found: list[Contest]) -> list[tuple[str, ...]]:
    """The table's rows."""
    return [
        (
            contest.name,
            contest.what,
            f"{contest.micros('bare'):.1f}",
            f"{contest.micros('typed'):.1f}",
            f"{contest.ratio('typed'):.1f}",
            "" if contest.target is None else f"{contest.target:g}",
            f"{contest.statements:g}",
            f"{contest.micros('moto'):.0f}",
        )
        for contest in found
    ]


HEADINGS = ("operation", "what", "bare µs", "typed µs", "ratio", "at most", "statements", "moto µs")


def markdown(rows: list[tuple[str, ...]], rounds: int) -> str:
    """The page's part between the markers."""
    size = statistics.mean(len(orjson.dumps(item_of(number))) for number in range(0, ITEMS, 100))
    python = f"{platform.python_implementation()} {platform.python_version()}"
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    lines = [
        " | ".join(("", *HEADINGS, "")).strip(),
        "|---|---|" + "--:|" * (len(HEADINGS) - 2),
        *(" | ".join(("", *row, "")).strip() for row in rows),
        "",
        f"The table has {ITEMS:,} items of {size:,.0f} bytes on average; the times are medians of {rounds} rounds.",
        f"{python}, SQLite {apsw.sqlite_lib_version()}, {machine}.",
    ]
    return "\n".join(lines)


def write_page(text: str) -> None:
    """Put the table between the page's markers."""
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    PAGE.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}", encoding="utf-8")


def profile(contest: Contest, calls: int) -> None:
    """Print where the time of the typed call goes."""
    numbers = range(ITEMS, ITEMS + calls)
    contest.prepare("typed", numbers)
    call = contest.contenders["typed"]
    profiler = cProfile.Profile()
    profiler.enable()
    for number in numbers:
        call(number)
    profiler.disable()
    pstats.Stats(profiler).strip_dirs().sort_stats("tottime").print_stats(30)


def main() -> int:
    """Measure, print, and write where asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    parser.add_argument("--profile", choices=list(CONTESTS))
    options = parser.parse_args()
    console = Console(width=110)
    with tempfile.TemporaryDirectory() as folder, moto_table() as moto:
        path = Path(folder) / "orders.db"
        with Orders.open(path) as orders:
            fill(orders, moto, console)
            bare = Bare(path)
            if options.profile:
                profile(CONTESTS[options.profile](orders, bare, moto), 5000)
                return 0
            found = [make(orders, bare, moto) for make in CONTESTS.values()]
            measure(found, orders, options.rounds, console)
    rows = rows_of(found)
    table = RichTable(*HEADINGS)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    if options.write:
        write_page(markdown(rows, options.rounds))
        console.print(f"written to {PAGE.name}")
    missed = [one.name for one in found if one.target is not None and one.ratio("typed") > one.target]
    if missed:
        console.print(f"over their targets: {', '.join(missed)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
