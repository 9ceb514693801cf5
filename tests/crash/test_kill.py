"""A process that is killed while it writes keeps all acknowledged writes and leaves no partial write."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from keyplan.store import Engine, Regions, check_file
from keyplan.store.transfer.bucket_folder import PARTIAL, Bucket
from tests.crash.batches import REGIONS
from tests.crash.writer import KEYS, TABLE, THREADS, item, key
from tests.seeds import examples

ROUNDS = examples(2, 12)
WRITES_PER_ROUND = 1_700

State = dict[tuple[str, str], dict[str, Any] | None]


def create(path: str) -> None:
    with Engine.open(path) as engine:
        engine.call(
            "CreateTable",
            {
                "TableName": TABLE,
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
                "AttributeDefinitions": [
                    {"AttributeName": name, "AttributeType": kind}
                    for name, kind in (("pk", "S"), ("sk", "S"), ("g", "S"), ("h", "N"))
                ],
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": name,
                        "KeySchema": [
                            {"AttributeName": "g", "KeyType": "HASH"},
                            {"AttributeName": "h", "KeyType": "RANGE"},
                        ],
                        "Projection": {"ProjectionType": projection},
                    }
                    for name, projection in (("All", "ALL"), ("Keys", "KEYS_ONLY"))
                ],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )


def run_and_kill(path: str, seed: int, writes: int) -> list[str]:
    """Kill a writer after at least ``writes`` acknowledged writes, and return the lines that it printed."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.crash.writer", path, str(seed)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        env=None,
    )
    assert child.stdout is not None
    lines: list[str] = []
    timer: threading.Timer | None = None
    for raw in child.stdout:
        if not raw.endswith(b"\n"):
            break  # killed while reporting: the write may or may not be stored
        lines.append(raw.decode().rstrip())
        if len(lines) == writes:
            # Kill it within the next writes, not just after one.
            timer = threading.Timer(random.Random(seed).uniform(0, 0.01), child.send_signal, [signal.SIGKILL])
            timer.start()
    if timer is not None:
        timer.join()
    child.wait()
    child.stdout.close()
    assert child.returncode == -signal.SIGKILL
    return lines


def expect(state: State, line: str) -> None:
    """Apply an acknowledged write to the expected items."""
    kind, name, sk, *rest = line.split()
    if kind == "delete":
        state[name, sk] = None
    elif kind == "pair":
        for part in range(3):
            pk = f"{name}-pair{part}"
            state[pk, sk] = item(pk, sk, int(rest[0]))
    else:
        state[name, sk] = item(name, sk, int(rest[0]))


def stored(path: str) -> State:
    with Engine.open(path, create=False) as engine:
        state: State = {}
        start = None
        while True:
            answer = engine.call("Scan", {"TableName": TABLE, "ExclusiveStartKey": start})
            for each in answer["Items"]:
                state[each["pk"]["S"], each["sk"]["S"]] = each
            start = answer.get("LastEvaluatedKey")
            if start is None:
                return state


def differing(state: State, result: State) -> set[tuple[str, str]]:
    keys = {key for key, value in state.items() if value is not None} | result.keys()
    return {key for key in keys if state.get(key) != result.get(key)}


def test_acknowledged_writes_of_a_killed_process_are_kept(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    create(path)
    state: State = {}
    acknowledged = 0
    for seed in range(ROUNDS):
        lines = run_and_kill(path, seed, WRITES_PER_ROUND)
        acknowledged += len(lines)
        for line in lines:
            expect(state, line)
        assert check_file(path) == []
        result = stored(path)
        # Each thread may have finished one write without reporting it.
        unknown = differing(state, result)
        by_writer: dict[str, set[tuple[str, str]]] = {}
        for pk, sk in unknown:
            by_writer.setdefault(pk.split("-")[0], set()).add((pk, sk))
        assert len(by_writer) <= THREADS
        for writer, keys in by_writer.items():
            parts = [key for key in keys if "-pair" in key[0]]
            assert len(keys) == (3 if parts else 1), f"{writer}: {sorted(keys)}"
            assert len({result[key]["value"]["N"] for key in parts}) <= 1  # type: ignore[index]
        assert_pairs_are_whole(result)
        state = dict(result)
    assert acknowledged >= ROUNDS * WRITES_PER_ROUND


def assert_pairs_are_whole(state: State) -> None:
    for writer in range(THREADS):
        for sk in map(str, range(KEYS)):
            parts = [state.get((f"w{writer}-pair{part}", sk)) for part in range(3)]
            seen = {part["value"]["N"] if part is not None else None for part in parts}
            assert len(seen) == 1, f"half a transaction: {parts}"


BATCH_ITEMS = 14
"""Three batches of five, two of them after the first transaction."""


def with_items(folder: Path, count: int = BATCH_ITEMS) -> str:
    """Create a store whose table has ``count`` items, and return its path."""
    path = str(folder / "store.db")
    create(path)
    with Engine.open(path) as engine:
        for number in range(count):
            engine.call("PutItem", {"TableName": TABLE, "Item": item("a", str(number), number)})
    return path


def run_to_batch(path: str, count: int, operation: str, params: dict[str, Any]) -> bool:
    """Run an operation in a process that is killed before batch ``count``, and return whether it was killed."""
    command = [sys.executable, "-m", "tests.crash.batches", path, str(count), operation, json.dumps(params)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, check=False)
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr
    return done.returncode != 0


@pytest.mark.parametrize("count", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_index_creation_of_a_killed_process_is_completed_by_the_next_process(tmp_path: Path, count: int) -> None:
    path = with_items(tmp_path)
    by_h = {"IndexName": "New", "KeySchema": [{"AttributeName": "h", "KeyType": "HASH"}]}
    creation = {**by_h, "Projection": {"ProjectionType": "ALL"}}
    changes = {
        "AttributeDefinitions": [{"AttributeName": "h", "AttributeType": "N"}],
        "GlobalSecondaryIndexUpdates": [{"Create": creation}],
    }
    assert run_to_batch(path, count, "UpdateTable", {"TableName": TABLE, **changes})
    assert check_file(path) == []
    with Engine.open(path) as engine:
        assert engine.call("Scan", {"TableName": TABLE})["Count"] == BATCH_ITEMS + 1  # the table is readable
        table = engine.call("DescribeTable", {"TableName": TABLE})["Table"]
        statuses = {each["IndexName"]: each["IndexStatus"] for each in table["GlobalSecondaryIndexes"]}
        assert statuses == {"All": "ACTIVE", "Keys": "ACTIVE", "New": "ACTIVE"}
        scanned = engine.call("Scan", {"TableName": TABLE, "IndexName": "New"})["Items"]
        assert sorted(int(each["h"]["N"]) for each in scanned) == sorted([*range(BATCH_ITEMS), count])
    assert check_file(path) == []


@pytest.mark.nightly
@pytest.mark.parametrize("count", [1, 2])
def test_backup_of_a_killed_process_is_completed_by_the_next_process(tmp_path: Path, count: int) -> None:
    """The backup contains the items at its start, even if other items were written before it was completed."""
    path = with_items(tmp_path)
    assert run_to_batch(path, count, "CreateBackup", {"TableName": TABLE, "BackupName": "first"})
    assert check_file(path) == []
    with Engine.open(path) as engine:
        for number in range(5, BATCH_ITEMS):
            engine.call("DeleteItem", {"TableName": TABLE, "Key": key("a", str(number))})
        (backup,) = engine.call("ListBackups", {})["BackupSummaries"]
        assert backup["BackupStatus"] == "AVAILABLE"
        engine.call("RestoreTableFromBackup", {"TargetTableName": "copy", "BackupArn": backup["BackupArn"]})
        scanned = engine.call("Scan", {"TableName": "copy"})["Items"]
        assert sorted(int(each["value"]["N"]) for each in scanned) == list(range(BATCH_ITEMS))


@pytest.mark.nightly
@pytest.mark.parametrize("count", [1, 2])
def test_restore_of_a_killed_process_is_completed_by_the_next_process(tmp_path: Path, count: int) -> None:
    path = with_items(tmp_path)
    recovery = {"PointInTimeRecoveryEnabled": True}
    with Engine.open(path) as engine:
        arn = engine.call("CreateBackup", {"TableName": TABLE, "BackupName": "first"})["BackupDetails"]["BackupArn"]
        engine.call("UpdateContinuousBackups", {"TableName": TABLE, "PointInTimeRecoverySpecification": recovery})
    latest = {"SourceTableName": TABLE, "UseLatestRestorableTime": True, "TargetTableName": "moment"}
    assert run_to_batch(path, count, "RestoreTableFromBackup", {"BackupArn": arn, "TargetTableName": "backup"})
    assert check_file(path) == []
    with Engine.open(path) as engine:
        assert engine.call("DescribeTable", {"TableName": "backup"})["Table"]["TableStatus"] == "ACTIVE"
        engine.call("DeleteItem", {"TableName": TABLE, "Key": key("late", str(count))})
    assert run_to_batch(path, count, "RestoreTableToPointInTime", latest)
    assert check_file(path) == []
    with Engine.open(path) as engine:
        for number in range(5, BATCH_ITEMS):
            engine.call("DeleteItem", {"TableName": TABLE, "Key": key("a", str(number))})
        for name in ("backup", "moment"):
            assert engine.call("DescribeTable", {"TableName": name})["Table"]["TableStatus"] == "ACTIVE"
            for more in ({}, {"IndexName": "All"}):
                scanned = engine.call("Scan", {"TableName": name, **more})["Items"]
                assert sorted(int(each["value"]["N"]) for each in scanned) == list(range(BATCH_ITEMS))
    assert check_file(path) == []


@pytest.mark.nightly
@pytest.mark.parametrize("count", [1, 2])
def test_enabling_ttl_in_a_killed_process_is_completed_by_the_next_process(tmp_path: Path, count: int) -> None:
    path = with_items(tmp_path)
    wanted = {"AttributeName": "h", "Enabled": True}
    assert run_to_batch(path, count, "UpdateTimeToLive", {"TableName": TABLE, "TimeToLiveSpecification": wanted})
    assert check_file(path) == []
    with Engine.open(path, clock=lambda: 100.0) as engine:
        assert engine.sweep() == BATCH_ITEMS + 1
        assert engine.call("Scan", {"TableName": TABLE})["Count"] == 0
    assert check_file(path) == []


@pytest.mark.nightly
@pytest.mark.parametrize("count", [1, 2])
def test_replica_creation_of_a_killed_process_is_completed_by_the_next_process(tmp_path: Path, count: int) -> None:
    path = with_items(tmp_path)
    replica = {"ReplicaUpdates": [{"Create": {"RegionName": REGIONS[1]}}]}
    assert run_to_batch(path, count, "UpdateTable", {"TableName": TABLE, **replica})
    assert check_file(path) == []
    with Regions.open(path, REGIONS) as regions:
        engine = regions.engines[REGIONS[1]]
        assert engine.call("DescribeTable", {"TableName": TABLE})["Table"]["TableStatus"] == "ACTIVE"
        regions.finish()
        for name in ("All", "Keys"):
            scanned = engine.call("Scan", {"TableName": TABLE, "IndexName": name})["Items"]
            assert len(scanned) == BATCH_ITEMS + 1
        assert engine.check() == []


def remaining(path: str) -> list[object]:
    """Return the deleted tables and indexes that still have rows in the file."""
    with closing(sqlite3.connect(path)) as file:
        tables = "SELECT name FROM sqlite_schema WHERE name LIKE 'waste%'"
        return [each for (each,) in file.execute(f"{tables} UNION ALL SELECT id FROM keyplan_dropped_indexes")]


@pytest.mark.nightly
@pytest.mark.parametrize("count", [1, 2])
def test_table_deleted_by_a_killed_process_is_cleaned_up_by_the_next_process(tmp_path: Path, count: int) -> None:
    """The table is hidden immediately, and a table with the same name can be created."""
    path = with_items(tmp_path, 50)
    assert run_to_batch(path, count, "DeleteTable", {"TableName": TABLE})
    assert len(remaining(path)) == 3  # its items, and the entries of two indexes
    assert check_file(path) == []
    create(path)
    with Engine.open(path) as engine:
        assert engine.call("Scan", {"TableName": TABLE})["Count"] == 0
        engine.call("PutItem", {"TableName": TABLE, "Item": item("a", "1", 1)})
        engine.sweep()
        assert engine.call("Scan", {"TableName": TABLE, "IndexName": "All"})["Count"] == 1
    assert not remaining(path)
    assert check_file(path) == []


EXPORTS = (
    "import json, os, signal, sys; from keyplan.store import Engine; from keyplan.store.transfer import table_exports\n"
    "write, left = table_exports.write_record, [5]\n"
    "def written(*given):\n"
    "    left[0] -= 1\n"
    "    if not left[0]: os.kill(os.getpid(), signal.SIGKILL)\n"
    "    return write(*given)\n"
    "table_exports.write_record = written\n"
    "Engine.open(sys.argv[1], s3=sys.argv[2]).call('ExportTableToPointInTime', json.loads(sys.argv[3]))\n"
)


def test_export_of_a_killed_process_leaves_no_partial_object(tmp_path: Path) -> None:
    """The unfinished file isn't visible as an object, and the next export deletes it."""
    path, bucket = with_items(tmp_path), tmp_path / "s3" / "bucket"
    bucket.mkdir(parents=True)
    recovery = {"PointInTimeRecoveryEnabled": True}
    with Engine.open(path) as engine:
        engine.call("UpdateContinuousBackups", {"TableName": TABLE, "PointInTimeRecoverySpecification": recovery})
        arn = engine.call("DescribeTable", {"TableName": TABLE})["Table"]["TableArn"]
    export = {"TableArn": arn, "S3Bucket": "bucket"}
    command = [sys.executable, "-c", EXPORTS, path, str(tmp_path / "s3"), json.dumps(export)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    objects = [each.name for each in bucket.rglob("*") if each.is_file() and PARTIAL not in each.parts]
    assert objects == ["_started"]
    assert len(list((bucket / PARTIAL).iterdir())) == 1
    assert Bucket(str(tmp_path / "s3"), "bucket").keys("") == [
        (each.relative_to(bucket).as_posix(), 0) for each in bucket.rglob("_started")
    ]
    with Engine.open(path, s3=tmp_path / "s3") as engine:
        engine.call("ExportTableToPointInTime", export)
        statuses = [each["ExportStatus"] for each in engine.call("ListExports", {})["ExportSummaries"]]
        assert sorted(statuses) == ["COMPLETED", "FAILED"]
    assert list((bucket / PARTIAL).iterdir()) == []


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(2))
def test_comparison_of_acknowledged_and_stored_writes_detects_a_missing_write(tmp_path: Path, seed: int) -> None:
    """After a kill, at most one write per thread was stored but not acknowledged."""
    path = str(tmp_path / "store.db")
    create(path)
    lines = run_and_kill(path, seed, 50)
    state: State = {}
    for line in lines:
        expect(state, line)
    result = stored(path)
    assert len({key[0].split("-")[0] for key in differing(state, result)}) <= THREADS
    if result:
        incomplete = dict(result)
        incomplete.popitem()
        assert differing(state, incomplete) != differing(state, result)
