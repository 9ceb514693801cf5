"""Backups, restores and replicas are copied in batches, and are consistent despite concurrent writes."""

from __future__ import annotations

import time
from functools import partial
from itertools import count
from typing import Any

import pytest

from keyplan.dynamodb.values import item_size
from keyplan.errors import StoreError
from keyplan.store import Engine, Regions
from keyplan.store.storage.storage_transactions import Reader, Writer
from tests.engine.batches import (
    ADD_ATTRIBUTES,
    ADD_VECTORS,
    COPY,
    HISTORY,
    KEYS,
    LATEST,
    ROWS,
    SEARCH,
    TABLE,
    Item,
    Key,
    Writers,
    back_up,
    between,
    by_key,
    engines,
    restored,
    tables_of,
)
from tests.engine.support import answer, create, index, pages, put, s

__all__ = ["between", "engines"]

# --- backups ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_backup_contains_the_items_at_its_start(engines: list[Engine], between: Any, seed: int) -> None:
    others = Writers(engines, seed)
    create(engines[0])
    others.write(60)
    expected = dict(others.stored)
    seen: list[Any] = []

    def meanwhile() -> None:
        # The last rows are deleted, and their row ids are reused.
        for sk in range(others.chance.randrange(8)):
            others.engines[0].call("DeleteItem", {**TABLE, "Key": {"pk": s("b"), "sk": s(f"{sk:02}")}})
            others.stored.pop(("b", f"{sk:02}"), None)
        others.write(6)
        (backup,) = engines[-1].call("ListBackups", {})["BackupSummaries"]
        seen.append(backup["BackupStatus"])
        for operation, params in (("DeleteBackup", {}), ("RestoreTableFromBackup", {"TargetTableName": "early"})):
            refused = answer(engines[-1], operation, {"BackupArn": backup["BackupArn"], **params})
            assert refused["error"] == "BackupInUseException"
        assert answer(engines[-1], "DeleteTable", TABLE)["error"] == "ResourceInUseException"

    between(meanwhile)
    arn = back_up(engines[0])
    assert seen
    assert set(seen) == {"CREATING"}
    others.check()
    between(lambda: None)
    others.write(20)
    for number, engine in enumerate(engines):
        described = engine.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"]
        assert described["BackupDetails"]["BackupStatus"] == "AVAILABLE"
        assert described["SourceTableDetails"]["ItemCount"] == len(expected)
        sizes = sum(item_size(item) for item in expected.values())
        assert described["BackupDetails"]["BackupSizeBytes"] == sizes
        assert restored(engine, arn, f"copy{number}") == expected
        assert engine.check() == []
    # A write to a table without a running backup takes no extra statements.
    before = engines[0].statements
    engines[0].call("PutItem", {**TABLE, "Item": {"pk": s("c"), "sk": s("d")}})
    assert engines[0].statements - before <= 5


@pytest.mark.parametrize("row", [15, 20])
def test_item_added_during_a_backup_in_a_reused_row_is_not_backed_up(between: Any, row: int) -> None:
    """SQLite reuses the highest row ids, even those of rows that were deleted before the backup started."""
    with Engine.open(":memory:") as engine:
        create(engine)
        for number in range(20):
            put(engine, "a", f"{number:02}", x=s("p"))

        def delete(*rows: int) -> None:
            for number in rows:
                engine.call("DeleteItem", {**TABLE, "Key": {"pk": s("a"), "sk": s(f"{number - 1:02}")}})

        delete(row)
        expected = by_key(pages(engine, "Scan", TABLE))
        changed: list[int] = []

        def meanwhile() -> None:
            if not changed:
                changed.append(row)
                delete(*range(row + 1, 21), 19)
                put(engine, "b", "new", x=s("p"))
                put(engine, "b", "new", x=s("changed"))
                put(engine, "b", "newer", x=s("p"))

        between(meanwhile)
        assert restored(engine, back_up(engine)) == expected


@pytest.mark.parametrize("error", [KeyboardInterrupt, StoreError("The disk failed")])
def test_failed_backup_leaves_no_rows(between: Any, error: BaseException | type[BaseException]) -> None:
    with Engine.open(":memory:") as engine:
        others = Writers([engine], 5)
        create(engine)
        others.write(60)
        before = tables_of(engine) - {"keyplan_records"}

        def fail() -> None:
            raise error

        between(fail)
        with pytest.raises((KeyboardInterrupt, StoreError)):
            back_up(engine)
        assert engine.call("ListBackups", {})["BackupSummaries"] == []
        others.write(5)
        assert {name.partition("_")[0] for name in tables_of(engine) - before} <= {"items", "keyplan"}
        between(lambda: None)
        assert restored(engine, back_up(engine)) == others.stored


def test_system_backup_of_a_deleted_table_copies_no_items(
    engines: list[Engine], between: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = Writers(engines, 8)
    create(engines[0])
    engines[0].call(
        "UpdateContinuousBackups", {**TABLE, "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
    )
    engines[0].call("UpdateTable", ADD_VECTORS)
    engines[0].call("UpdateTimeToLive", {**TABLE, "TimeToLiveSpecification": {"AttributeName": "t", "Enabled": True}})
    others.write(60)
    between(lambda: None)
    seen: list[str] = []
    run = Writer._run

    def seen_run(self: Writer, text: str, *rest: Any) -> Any:
        seen.append(text)
        return run(self, text, *rest)

    monkeypatch.setattr(Writer, "_run", seen_run)
    engines[0].call("DeleteTable", TABLE)
    assert not [text for text in seen if "backup" in text and not text.startswith("ALTER TABLE items_")]
    (backup,) = engines[-1].call("ListBackups", {"BackupType": "SYSTEM"})["BackupSummaries"]
    assert {name.partition("_")[0] for name in tables_of(engines[0])} == {"keyplan", "backup", "entries", "sqlite"}
    described = engines[0].call("DescribeBackup", {"BackupArn": backup["BackupArn"]})["BackupDescription"]
    assert described["SourceTableDetails"]["ItemCount"] == len(others.stored)
    assert restored(engines[0], backup["BackupArn"], "orders") == others.stored
    assert engines[0].check() == []


# --- restores ---------------------------------------------------------------------------------------------


def check_restoring(engine: Engine, operation: str, params: dict[str, Any]) -> None:
    """Check that the table is described as being restored, and that requests to the table are rejected."""
    shown = engine.call("DescribeTable", COPY)["Table"]
    assert (shown["TableStatus"], shown["RestoreSummary"]["RestoreInProgress"]) == ("CREATING", True)
    assert {each["IndexStatus"] for each in shown["GlobalSecondaryIndexes"]} == {"CREATING"}
    for name, more, error in (
        ("Scan", COPY, "ResourceNotFoundException"),
        ("DeleteTable", COPY, "ResourceInUseException"),
        (operation, params, "TableInUseException"),
    ):
        assert answer(engine, name, more)["error"] == error


def test_backup_is_restored_in_batches(engines: list[Engine], between: Any) -> None:
    others = Writers(engines, 9)
    create(engines[0], GlobalSecondaryIndexes=[index("ByX", "x")], AttributeDefinitions=[*KEYS, *ADD_ATTRIBUTES])
    engines[0].call("UpdateTable", ADD_VECTORS)
    others.write(60)
    restore = {"BackupArn": back_up(engines[0]), "TargetTableName": "copy"}
    expected = dict(others.stored)

    def meanwhile() -> None:
        others.write()
        for engine in engines:
            check_restoring(engine, "RestoreTableFromBackup", restore)
            assert answer(engine, "DeleteBackup", {"BackupArn": restore["BackupArn"]})["error"] == (
                "BackupInUseException"
            )

    batches = between(meanwhile)
    engines[0].call("RestoreTableFromBackup", restore)
    assert len(batches) >= 3
    check_copy(engines, expected)


def check_copy(engines: list[Engine], expected: dict[Key, Item]) -> None:
    for engine in engines:
        assert "RestoreSummary" not in engine.call("DescribeTable", COPY)["Table"]
        assert by_key(pages(engine, "Scan", COPY)) == expected
        by_x = by_key(pages(engine, "Scan", {**COPY, "IndexName": "ByX"}))
        assert by_x == {key: item for key, item in expected.items() if "x" in item}
        results = [each["Item"] for each in engine.call("SearchVectors", {**SEARCH, **COPY})["SearchResults"]]
        assert by_key(results).keys() == {key for key, item in expected.items() if "v" in item}
        assert engine.check() == []
    assert not [name for name in tables_of(engines[0]) if name.startswith("restoring")]


@pytest.mark.parametrize(("seed", "writes"), [(0, 3), (1, 12), (2, 3), (3, 12)])
def test_restore_to_a_point_in_time_is_consistent_during_other_writes(
    engines: list[Engine], between: Any, seed: int, writes: int
) -> None:
    """The other writers can write more items between two batches than a batch copies."""
    others = Writers(engines, seed)
    create(engines[0], GlobalSecondaryIndexes=[index("ByX", "x")], AttributeDefinitions=[*KEYS, *ADD_ATTRIBUTES])
    engines[0].call("UpdateTable", ADD_VECTORS)
    others.write(40)
    engines[0].call("UpdateContinuousBackups", HISTORY)
    others.write(20)
    expected = dict(others.stored)
    moment_s = time.time()
    clock = [moment_s + 1]
    for engine in engines:
        engine.database.clock = engine._storage.clock = lambda: clock[0]
    others.write(10 * seed)
    restore = {**LATEST, "UseLatestRestorableTime": False, "RestoreDateTime": moment_s}

    def meanwhile() -> None:
        assert len(batches) < 80
        others.write(writes)
        check_restoring(engines[-1], "RestoreTableToPointInTime", restore)
        assert answer(engines[-1], "DeleteTable", TABLE)["error"] == "ResourceInUseException"
        off = {**TABLE, "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": False}}
        assert answer(engines[-1], "UpdateContinuousBackups", off)["error"] == "ContinuousBackupsUnavailableException"

    batches = between(meanwhile, 5 * ROWS)
    engines[0].call("RestoreTableToPointInTime", restore)
    assert len(batches) >= 3
    others.check()
    check_copy(engines, expected)


def test_failed_restore_leaves_no_rows(between: Any) -> None:
    with Engine.open(":memory:") as engine:
        others = Writers([engine], 5)
        create(engine)
        others.write(60)
        engine.call("UpdateContinuousBackups", HISTORY)
        arn = back_up(engine)
        before = tables_of(engine)

        def fail() -> None:
            raise StoreError("The disk failed")

        between(fail)
        from_backup = {"BackupArn": arn, "TargetTableName": "copy"}
        for operation, params in (("RestoreTableFromBackup", from_backup), ("RestoreTableToPointInTime", LATEST)):
            with pytest.raises(StoreError):
                engine.call(operation, params)
            assert engine.call("ListTables", {})["TableNames"] == ["orders"]
            assert tables_of(engine) == before


# --- replicas ---------------------------------------------------------------------------------------------

REGIONS = ["us-east-1", "us-west-2", "eu-west-1"]


class RegionalWriters(Writers):
    """Writers that each have their own keys, since concurrent writes of a key in two regions would conflict."""

    def engine_of(self, key: Key) -> Engine:
        return self.engines["ab".index(key[0])]


def add_region(engine: Engine, region: str) -> None:
    engine.call("UpdateTable", {**TABLE, "ReplicaUpdates": [{"Create": {"RegionName": region}}]})


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("fails", [False, True])
def test_new_replica_is_complete_despite_other_writes(between: Any, seed: int, fails: bool) -> None:
    """Two regions write and replicate while a third region is added. In the end, all regions have the same items."""
    times = count(1_800_000_000)
    with Regions.open(":memory:", REGIONS, clock=lambda: float(next(times))) as regions:
        east, west, eu = (regions.engines[name] for name in REGIONS)
        create(east, GlobalSecondaryIndexes=[index("ByX", "x")], AttributeDefinitions=[*KEYS, *ADD_ATTRIBUTES])
        east.call("UpdateTimeToLive", {**TABLE, "TimeToLiveSpecification": {"AttributeName": "t", "Enabled": True}})
        Writers([east], seed).write(60)
        between(lambda: None)
        add_region(east, REGIONS[1])
        regions.finish()
        others = RegionalWriters([east, west], seed)
        others.stored = by_key(pages(east, "Scan", TABLE))
        statuses: list[Any] = []

        def meanwhile() -> None:
            others.write()
            statuses.append(eu.call("DescribeTable", TABLE)["Table"]["TableStatus"])
            shown = east.call("DescribeTable", TABLE)["Table"]["Replicas"]
            assert {each["RegionName"]: each["ReplicaStatus"] for each in shown} == {
                REGIONS[1]: "ACTIVE",
                REGIONS[2]: "CREATING",
            }
            assert answer(eu, "Scan", TABLE)["error"] == "ResourceNotFoundException"
            if others.chance.random() < 0.6:
                regions.finish()
            if fails and len(statuses) == 2:
                raise StoreError("The disk failed")

        between(meanwhile, 8 * ROWS)
        if fails:
            with pytest.raises(StoreError, match="The disk failed"):
                add_region(east, REGIONS[2])
            assert answer(eu, "DescribeTable", TABLE)["error"] == "ResourceNotFoundException"
            replicas = east.call("DescribeTable", TABLE)["Table"]["Replicas"]
            assert [each["RegionName"] for each in replicas] == [REGIONS[1]]
        add_region(east, REGIONS[2])
        assert len(statuses) >= 3
        assert set(statuses) == {"CREATING"}
        between(lambda: None)
        regions.finish()
        shown = east.call("DescribeTable", TABLE)["Table"]["Replicas"]
        assert {each["ReplicaStatus"] for each in shown} == {"ACTIVE"}
        for engine in (east, west, eu):
            items = by_key(pages(engine, "Scan", TABLE))
            assert items == others.stored
            assert by_key(pages(engine, "Scan", {**TABLE, "IndexName": "ByX"})) == {
                key: item for key, item in items.items() if "x" in item
            }
            assert engine.check() == []
        eu.call("PutItem", {**TABLE, "Item": {"pk": s("c"), "sk": s("d")}})
        regions.finish()
        assert east.call("GetItem", {**TABLE, "Key": {"pk": s("c"), "sk": s("d")}})["Item"]
        for region, engine in regions.engines.items():  # each deletes expired items through its own index
            table = engine._storage.read(engine._database.fresh)["orders"]
            assert engine._storage.read(partial(Reader.expires, table=table.stored))
            key = {"pk": s("expired"), "sk": s(region)}
            engine.call("PutItem", {**TABLE, "Item": {**key, "t": {"N": str(next(times) - 10_000)}}})
            assert engine.sweep(100) >= 1
            assert "Item" not in engine.call("GetItem", {**TABLE, "Key": key})
