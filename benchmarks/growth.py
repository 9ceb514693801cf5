"""A query over HTTP on a table of a thousand items and on one of a million: the effect of the table's size.

Both tables have the structure and the items of ``over_http``, 16 per partition, in one file, and are queried
alternately. Every query reads another partition, so that the large table's pages aren't all in the cache.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import over_http
from benchmarks.lean import request_bytes, run
from keyplan.store import Engine

SMALL = 1000
PER_PARTITION = 16
REQUESTS = 2000
RATIO_MAX = 1.2


def item(number: int) -> dict[str, Any]:
    """An order: its partitions, of the table and of the second index, have sixteen of them."""
    partition = f"{number // PER_PARTITION:09d}"
    made = {**over_http.item(number), "pk": over_http.s(f"CUSTOMER#{partition}")}
    return {**made, "gsi2pk": over_http.s(f"STATUS#{partition}")}


def fill(engine: Engine, table: str, rows: int) -> None:
    """The table and its items, many in one commit."""
    engine.call("CreateTable", {**over_http.CREATE, "TableName": table})
    for start in range(0, rows, 5000):
        writes = [
            ("PutItem", {"TableName": table, "Item": item(number)}) for number in range(start, min(start + 5000, rows))
        ]
        for outcome in engine.call_together(writes):
            assert isinstance(outcome, dict), outcome


def cpu_s(process: int) -> float:
    """The seconds of CPU that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def query(table: str, rows: int, index: str | None, chance: random.Random) -> bytes:
    """A query of ten items of any partition."""
    partition = f"{chance.randrange(rows // PER_PARTITION):09d}"
    name, prefix = ("pk", "CUSTOMER") if index is None else ("gsi2pk", "STATUS")
    return request_bytes(
        "Query",
        {
            "TableName": table,
            "KeyConditionExpression": f"{name} = :v",
            "ExpressionAttributeValues": {":v": over_http.s(f"{prefix}#{partition}")},
            "Limit": 10,
            **({} if index is None else {"IndexName": index}),
        },
    )


def measure(rows: int, rounds: int, seconds_max: float, tell: Callable[[str], None]) -> str:
    """The table of results, in Markdown."""
    chance = random.Random(0)
    rates: dict[tuple[str, int], list[float]] = {}
    costs: dict[tuple[str, int], list[float]] = {}
    tables = {"small": SMALL, "large": rows}
    with tempfile.TemporaryDirectory(prefix="keyplan-bench-") as folder:
        own = Path(folder) / "own"
        own.mkdir()
        with Engine.open(own / "store.db", synchronous="OFF") as engine:
            for table, count in tables.items():
                tell(f"filling a table with {count:,} items")
                fill(engine, table, count)
        size_mb = (own / "store.db").stat().st_size / 1e6
        server = over_http.ours(None)
        with over_http.running(server, str(own)) as (port, process, seconds):
            for _ in range(rounds + 1):
                for index in (None, "GSI2"):
                    for table, count in tables.items():
                        made = [query(table, count, index, chance) for _ in range(REQUESTS)]
                        before_s = cpu_s(process.pid)
                        answered, took_s = run(port, iter(made), 1, seconds_max)
                        rates.setdefault((index or "the table", count), []).append(answered / took_s)
                        used_s = cpu_s(process.pid) - before_s
                        costs.setdefault((index or "the table", count), []).append(used_s / answered * 1e6)
    lines = [
        f"| Queries per second | {SMALL:,} items | {rows:,} items | time ratio (≤ ×{RATIO_MAX}) | CPU µs per query |",
        "| --- | --- | --- | --- | --- |",
    ]
    for where in ("the table", "GSI2"):
        small, large = rates[where, SMALL][1:], rates[where, rows][1:]
        ratio = statistics.median(one / other for one, other in zip(small, large, strict=True))
        cpu = [statistics.median(costs[where, count][1:]) for count in (SMALL, rows)]
        shown = f"{statistics.median(small):,.0f} | {statistics.median(large):,.0f} | ×{ratio:.2f}"
        shown += f" | {cpu[0]:.0f}, {cpu[1]:.0f}"
        lines.append(f"| {where if where == 'the table' else 'an index'} | {shown} |")
    lines += ["", f"The file is {size_mb:,.0f} MB. The server was ready {seconds:.2f} s after it started."]
    return "\n".join(lines)
