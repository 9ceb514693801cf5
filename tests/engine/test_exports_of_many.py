"""Large exports equal the table when their manifests are read and when ImportTable imports them. ``KEYPLAN_EXPORTED``
sets the number of items; ``make nightly`` exports 100,000 items.
"""

from __future__ import annotations

import io
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan.dynamodb.values import check_item
from keyplan.store import Engine
from keyplan.store.transfer.item_formats import Csv, read_records
from tests.engine.support import Clock, create, index, n, pages, s
from tests.engine.test_backups import keep_history
from tests.engine.test_exports import export, lines_of, parameters, start_import

COUNT = int(os.environ.get("KEYPLAN_EXPORTED", "400"))
BATCH = 25
Items = dict[tuple[str, str], dict[str, Any]]
INDEXES = {"GlobalSecondaryIndexes": [index("ByG", "g", "h")]}


def item(chance: random.Random, number: int) -> dict[str, Any]:
    """Return an item with a random selection of attributes of all types."""
    possible: dict[str, Any] = {
        "g": s(f"g{number % 50}"),
        "h": s(chance.choice(["", "é", "日本", "a\nb", '"quoted"', "'''"]) + str(number)),
        "number": n(chance.choice(["0", "-1.5", "1E+125", "1E-130", "12345678901234567890123456789012345678"])),
        "bytes": {"B": chance.choice(["", "AA==", "/////w=="])},
        "flag": {"BOOL": chance.random() < 0.5},
        "nothing": {"NULL": True},
        "texts": {"SS": chance.sample(["a", "é", "", "x y"], 2)},
        "numbers": {"NS": chance.sample(["1", "-2.5", "1E+20"], 2)},
        "blobs": {"BS": ["AA==", "AQ=="]},
        "list": {"L": [n(number), s("x"), {"M": {"in": {"L": []}}}]},
        "map": {"M": {"a b": s("\u0000\\"), "deep": {"M": {}}}},
    }
    chosen = {name: value for name, value in possible.items() if chance.random() < 0.5}
    return {"pk": s(f"p{number % 97}"), "sk": s(f"{number:06}"), **chosen}


def write(engine: Engine, requests: list[dict[str, Any]]) -> None:
    for start in range(0, len(requests), BATCH):
        engine.call("BatchWriteItem", {"RequestItems": {"orders": requests[start : start + BATCH]}})


def by_key(items: Iterator[dict[str, Any]] | list[dict[str, Any]]) -> Items:
    return {(item["pk"]["S"], item["sk"]["S"]): check_item(item) for item in items}


def stored(engine: Engine, table: str = "orders", name: str | None = None) -> Items:
    return by_key(pages(engine, "Scan", {"TableName": table, "IndexName": name}))


def records(s3: Path, done: dict[str, Any], format_: Any) -> Iterator[dict[str, Any]]:
    """Yield the records in the data files of an export."""
    found: Iterator[Any] = read_records(io.BytesIO(b"\n".join(lines_of(s3, done))), format_, Csv({}))
    return found


@pytest.mark.parametrize("format_", ["DYNAMODB_JSON", "ION"])
def test_imported_large_export_equals_the_original_table(tmp_path: Path, format_: str) -> None:
    """The full export is imported into a table with an index. The incremental export contains the later changes."""
    s3, clock, chance = tmp_path / "s3", Clock(), random.Random(format_)
    (s3 / "bucket").mkdir(parents=True)
    with Engine.open(str(tmp_path / "store.db"), clock=clock, s3=s3, synchronous="OFF") as engine:
        create(engine)
        keep_history(engine)
        write(engine, [{"PutRequest": {"Item": item(chance, number)}} for number in range(COUNT)])
        clock.now_s += 100
        full = export(engine, ExportFormat=format_)
        before = stored(engine)
        assert len(before) == full["ItemCount"] == COUNT
        assert by_key(record["Item"] for record in records(s3, full, format_)) == before
        place = full["ExportManifest"].removesuffix("manifest-summary.json") + "data/"
        definitions = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "g", "h")]
        target = parameters("copy", AttributeDefinitions=definitions, **INDEXES)
        imported = start_import(
            engine, prefix=place, InputFormat=format_, InputCompressionType="GZIP", TableCreationParameters=target
        )
        assert (imported["ImportStatus"], imported["ImportedItemCount"]) == ("COMPLETED", COUNT)
        assert stored(engine, "copy") == before
        assert stored(engine, "copy", "ByG") == stored(engine, "orders", "ByG") != {}

        from_s = clock.now_s
        clock.now_s += 1
        keys = chance.sample(sorted(before), COUNT // 4)
        deleted = [{"DeleteRequest": {"Key": {"pk": s(pk), "sk": s(sk)}}} for pk, sk in keys[::2]]
        new = [item(chance, int(sk)) for _, sk in keys[1::2]]
        new += [item(chance, number) for number in range(COUNT, COUNT + COUNT // 10)]
        write(engine, [*deleted, *({"PutRequest": {"Item": each}} for each in new)])
        clock.now_s += 100
        span = {"IncrementalExportSpecification": {"ExportFromTime": from_s, "ExportToTime": clock.now_s - 1}}
        changes = export(engine, ExportFormat=format_, ExportType="INCREMENTAL_EXPORT", **span)
        after = dict(before)
        for record in records(s3, changes, format_):
            key = (record["Keys"]["pk"]["S"], record["Keys"]["sk"]["S"])
            assert ("OldImage" in record) == (key in before)
            if "NewImage" in record:
                after[key] = check_item(record["NewImage"])
            else:
                del after[key]
        assert after == stored(engine)
        # A write that doesn't change its item isn't exported.
        assert changes["ItemCount"] == sum(before.get(key) != after.get(key) for key in {**before, **after})
        assert engine.check() == []
