"""What others leave, or do meanwhile: processes that ended, locks that were interrupted, tables that change under a
batch or a bulk operation, regions that leave a group, throttled parts of several.
"""

from __future__ import annotations

import gzip
import json
import logging
import os
import threading
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import apsw
import pytest

from keyplan.errors import StoreError
from keyplan.store import Engine, Regions, processes
from keyplan.store.background_work import Behind
from keyplan.store.chunked_work import TableWork
from keyplan.store.database import Database
from keyplan.store.processes import has_ended, is_given_up
from keyplan.store.replication import replica_backfill as joining
from keyplan.store.storage import connections
from keyplan.store.storage.connections import BusyWait, FilePool, MemoryPool
from keyplan.store.storage.fair_lock import FairLock
from keyplan.store.storage.key_layouts import StaleTableError
from keyplan.store.storage.sqlite import Storage
from keyplan.store.transfer import bucket_folder as folder
from keyplan.store.transfer import bulk_operations as bulk
from keyplan.store.transfer import table_exports as exports
from keyplan.store.transfer import table_imports as imports
from keyplan.store.transfer.bucket_folder import Bucket, S3Error
from tests.engine.support import answer, create, get, index, n, put, s
from tests.engine.test_throttle import Clock, item, opened, provisioned, refusal

batch_execute_statement: Any = import_module("keyplan.store.operations.batch_execute_statement")
EAST, WEST, SOUTH = "us-east-1", "us-west-2", "sa-east-1"


@pytest.mark.parametrize(
    ("record", "started", "kill", "ended"),
    [
        ({"Process": 7, "Started": "5"}, "5", None, False),
        ({"Process": 7, "Started": "5"}, "6", None, True),
        ({"Process": 7, "Started": ""}, "6", None, False),
        ({"Process": 7}, "", None, False),
        ({"Process": 7, "Started": "5"}, "", None, False),
        ({"Process": 7, "Started": "5"}, "", ProcessLookupError, True),
        ({"Process": 7, "Started": "5"}, "", PermissionError, False),
        ({"Process": 1, "Started": "5"}, "", ProcessLookupError, False),
    ],
)
def test_which_processes_have_ended(
    monkeypatch: pytest.MonkeyPatch, record: dict[str, Any], started: str, kill: type[Exception] | None, ended: bool
) -> None:
    asked: list[tuple[int, int]] = []

    def killed(number: int, signal: int) -> None:
        asked.append((number, signal))
        if kill is not None:
            raise kill

    monkeypatch.setattr(processes, "_started", lambda _: started)
    monkeypatch.setattr(os, "kill", killed)
    monkeypatch.setattr(os, "getpid", lambda: 1)
    assert has_ended(record) is ended
    assert asked in ([], [(7, 0)])
    assert is_given_up({**record, "Work": "x"}) is (ended or record["Process"] == 1)


def test_a_process_is_known_by_its_start() -> None:
    me = processes.this_process()
    assert me == {"Process": os.getpid(), "Started": processes._started(os.getpid())}
    assert processes._started(2**22 + 1) == ""
    text = Path(f"/proc/{os.getpid()}/stat").read_text()
    assert me["Started"] == text.rpartition(")")[2].split()[19]


def test_a_lock_that_was_handed_to_who_is_interrupted_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted while it waits, or just when it had it."""
    for is_handed, lock in ((True, FairLock()), (False, FairLock())):
        assert lock.acquire_at_once()

        class Gate:
            def __init__(self) -> None:
                self.calls = 0

            def acquire(self, timeout: float = -1) -> bool:
                self.calls += 1
                if self.calls == 1:
                    return True
                if is_handed:  # noqa: B023 - it is called at once
                    lock.release()  # noqa: B023
                raise KeyboardInterrupt

            def release(self) -> None:
                pass

        with monkeypatch.context() as patched:
            patched.setattr("keyplan.store.storage.fair_lock.threading.Lock", Gate)
            with pytest.raises(KeyboardInterrupt):
                lock.acquire(5)
        assert not lock._waiting
        assert lock.acquire_at_once() == is_handed


def test_who_gives_up_waiting_is_passed_by() -> None:
    lock = FairLock()
    gate = threading.Lock()
    lock._waiting.append(gate)
    assert lock._withdraw(gate) is True
    assert lock._withdraw(gate) is False


def test_what_ended_processes_left_in_a_bucket_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bucket" / folder.PARTIAL).mkdir(parents=True)
    partial_ = tmp_path / "bucket" / folder.PARTIAL
    for name in ("7-5.aa", "8-5.aa", "x-5.aa", "7-6.bb"):
        (partial_ / name).write_text("left")
    monkeypatch.setattr(folder, "has_ended", lambda record: record == {"Process": 7, "Started": "5"})
    bucket = Bucket(str(tmp_path), "bucket")
    bucket.put("a/b", b"text")
    assert sorted(path.name for path in partial_.iterdir()) == ["7-6.bb", "8-5.aa", "x-5.aa"]
    for key in (f"{folder.PARTIAL}/x", "a//b", "../x", "a/..", "./x", "", "a\0b", "x" * 1025, "é" * 513):
        with pytest.raises(S3Error, match="A key can't lead out of its bucket"):
            bucket.put(key, b"")
    bucket.put(f"a/{folder.PARTIAL}", b"")
    assert folder._Digesting(SimpleNamespace(flush=lambda: None)).flush() is None  # type: ignore[arg-type, func-returns-value]
    for text in (b"", b"text"):
        written = bucket.put("c", text)
        assert (written.md5, len(written.etag)) == (
            {b"": "1B2M2Y8AsgTpgAmY7PhCfg==", b"text": "HLJR7A1WjeapKbUgxK7Y0Q=="}[text],
            34,
        )


@pytest.mark.parametrize("kind", ["import", "bulk", "export"])
def test_a_job_whose_bucket_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    (tmp_path / "bucket").mkdir()
    (tmp_path / "bucket" / "a.json").write_text(json.dumps({"Item": {"pk": s("a"), "sk": s("1")}}) + "\n")

    def fail(*_: Any, **__: Any) -> Any:
        raise S3Error("S3NoSuchKey", "it is gone")

    with Engine.open(":memory:", s3=str(tmp_path)) as engine:
        table = create(engine)["TableDescription"]
        monkeypatch.setattr(imports, "_import_object", fail)
        monkeypatch.setattr(bulk, "_put_object", fail)
        monkeypatch.setattr(exports, "_written", fail)
        if kind == "import":
            made = {name: table[name] for name in ("KeySchema",)} | {
                "TableName": "copy",
                "BillingMode": "PAY_PER_REQUEST",
            }
            made["AttributeDefinitions"] = [
                each for each in table["AttributeDefinitions"] if each["AttributeName"] in {"pk", "sk"}
            ]
            asked = {
                "S3BucketSource": {"S3Bucket": "bucket"},
                "InputFormat": "DYNAMODB_JSON",
                "TableCreationParameters": made,
                "ClientToken": "t",
            }
            arn = engine.call("ImportTable", asked)["ImportTableDescription"]["ImportArn"]
            told = engine.call("DescribeImport", {"ImportArn": arn})["ImportTableDescription"]
            assert told["ImportStatus"] == "FAILED"
            assert (told["ProcessedItemCount"], told["ErrorCount"]) == (0, 0)
        elif kind == "bulk":
            source = {"S3Bucket": "bucket", "S3KeyPrefix": "", "InputFormat": "DYNAMODB_JSON"}
            asked = {
                "TableName": "orders",
                "InputS3Configuration": source,
                "OutputS3Configuration": {"OutputType": ["ERROR"]},
            }
            arn = engine.call("StartBulkPutItems", asked)["BulkOperationDescription"]["BulkOperationArn"]
            told = engine.call("DescribeBulkOperation", {"BulkOperationArn": arn})["BulkOperationDescription"]
            assert (told["BulkOperationStatus"], told["ProcessedItemCount"]) == ("FAILED", 0)
        else:
            recovery = {"PointInTimeRecoveryEnabled": True}
            engine.call(
                "UpdateContinuousBackups", {"TableName": "orders", "PointInTimeRecoverySpecification": recovery}
            )
            asked = {"TableArn": table["TableArn"], "S3Bucket": "bucket"}
            arn = engine.call("ExportTableToPointInTime", asked)["ExportDescription"]["ExportArn"]
            told = engine.call("DescribeExport", {"ExportArn": arn})["ExportDescription"]
            assert told["ExportStatus"] == "FAILED"
        assert (told["FailureCode"], told["FailureMessage"]) == ("S3NoSuchKey", "it is gone")
        assert "EndTime" in told


def test_a_bulk_operation_goes_on_when_indexes_change_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bucket" / "in").mkdir(parents=True)
    records = [{"Item": {"pk": s("a"), "sk": s(str(number)), "x": s("x")}} for number in range(3)]
    (tmp_path / "bucket" / "in" / "1").write_text("".join(json.dumps(record) + "\n" for record in records))
    source = {"S3Bucket": "bucket", "S3KeyPrefix": "in/", "InputFormat": "DYNAMODB_JSON"}
    output = {"S3Bucket": "bucket", "S3KeyPrefix": "/out/", "OutputType": ["ERROR"]}
    asked = {"TableName": "orders", "InputS3Configuration": source, "OutputS3Configuration": output}
    path = tmp_path / "store.db"
    by_x = {
        "AttributeDefinitions": [{"AttributeName": "x", "AttributeType": "S"}],
        "GlobalSecondaryIndexUpdates": [{"Create": index("ByX", "x")}],
    }
    with Engine.open(path, s3=str(tmp_path)) as engine, Engine.open(path) as other:
        create(engine)
        write = bulk._write

        def change_and_write(*given: Any) -> None:
            monkeypatch.setattr(bulk, "_write", write)
            other.call("UpdateTable", {"TableName": "orders", **by_x})
            write(*given)

        monkeypatch.setattr(bulk, "_write", change_and_write)
        arn = engine.call("StartBulkPutItems", asked)["BulkOperationDescription"]["BulkOperationArn"]
        told = engine.call("DescribeBulkOperation", {"BulkOperationArn": arn})["BulkOperationDescription"]
        assert (told["BulkOperationStatus"], told["ProcessedItemCount"], told["FailedItemCount"]) == ("COMPLETED", 3, 0)
        assert engine.call("Scan", {"TableName": "orders", "IndexName": "ByX"})["Count"] == 3
        assert engine.check() == []


def test_a_statement_of_a_batch_is_run_again_when_its_table_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    with Engine.open(":memory:") as engine:
        create(engine)
        put(engine, "a", "1")
        read, refresh = batch_execute_statement._read, Database.refresh
        done: list[str] = []

        def stale(*given: Any) -> Any:
            done.append("read")
            if done.count("read") < 3:
                raise StaleTableError
            return read(*given)

        def refreshed(self: Database) -> bool:
            done.append("refreshed")
            return refresh(self)

        monkeypatch.setattr(batch_execute_statement, "_read", stale)
        monkeypatch.setattr(Database, "refresh", refreshed)
        statement = {"Statement": "SELECT * FROM orders WHERE pk = 'a' AND sk = '1'"}
        result = engine.call("BatchExecuteStatement", {"Statements": [statement]})
        assert result["Responses"][0]["Item"] == {"pk": s("a"), "sk": s("1")}
        assert done[:5] == ["read", "refreshed", "read", "refreshed", "read"]


# --- throttled parts ----------------------------------------------------------------------------------------


def test_reads_of_statements_and_batches_are_charged_by_their_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(Clock(), **provisioned(2, 9)) as engine:
        put(engine, "a", "1")
        meter = engine._database.meter
        assert meter is not None
        charged: list[Any] = []
        monkeypatch.setattr(meter, "read", lambda _, index, partition, units: charged.append((index, partition, units)))
        statement = {"Statement": "SELECT * FROM orders WHERE pk = 'a' AND sk = '1'"}
        missed = {"Statement": "SELECT * FROM orders WHERE pk = 'a' AND sk = '2'", "ConsistentRead": True}
        engine.call("BatchExecuteStatement", {"Statements": [statement, missed]})
        key = {"pk": s("a"), "sk": s("1")}
        engine.call("BatchGetItem", {"RequestItems": {"orders": {"Keys": [key]}}})
        engine.call("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "orders", "Key": key}}]})
        query = {
            "TableName": "orders",
            "KeyConditionExpression": "pk = :a",
            "ExpressionAttributeValues": {":a": s("a")},
        }
        engine.call("Query", query)
        engine.call("Scan", {"TableName": "orders"})
        assert charged == [
            *((None, ("a",), units) for units in (0.5, 1.0, 0.5, 2.0, 0.5)),
            (None, None, 0.5),
        ]


def test_what_is_throttled_of_several() -> None:
    clock = Clock()
    statements = [{"Statement": f"SELECT * FROM orders WHERE pk = 'a' AND sk = '{number}'"} for number in range(4)]
    gets = [{"Get": {"TableName": name, "Key": {"pk": s("a"), "sk": s("1")}}} for name in ("orders", "other")]
    with opened(clock, **provisioned(1, 9)) as engine:
        create(engine, "other")
        responses = engine.call("BatchExecuteStatement", {"Statements": statements})["Responses"]
        codes = [each.get("Error", {}).get("Code") for each in responses]
        assert codes == [None, None, "ProvisionedThroughputExceeded", "ProvisionedThroughputExceeded"]
        error = refusal(engine, "TransactGetItems", {"TransactItems": gets})
        assert [each["Code"] for each in error.fields["CancellationReasons"]] == [
            "ProvisionedThroughputExceeded",
            "None",
        ]
        clock.now_s += 1
        engine.call("TransactGetItems", {"TransactItems": gets})


def test_what_is_refused_is_charged_by_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(Clock()) as engine:
        engine.call("PutItem", {"TableName": "orders", **item("a", kb=3)})
        charged: list[Any] = []
        monkeypatch.setattr(engine._database, "charge", lambda _, key, outcome: charged.append((key, outcome)))
        refusal(engine, "PutItem", {**item("a"), "ConditionExpression": "attribute_not_exists(pk)"})
        statement = "INSERT INTO orders VALUE {'pk': 'a', 'sk': '1'}"
        assert answer(engine, "ExecuteStatement", {"Statement": statement})["error"] == "DuplicateItemException"
        assert [(key, outcome.old_size == outcome.new_size > 2900) for key, outcome in charged] == [
            (("a", "1"), True)
        ] * 2


# --- connections --------------------------------------------------------------------------------------------


def test_a_store_in_memory_after_a_fork() -> None:
    pool = MemoryPool()
    connection = pool.take()
    before = len(connections._after_fork)
    pool.forget()
    assert connections._after_fork[before:] == [connection]
    with pytest.raises(StoreError, match="forked while another thread"):
        pool.take()
    with pytest.raises(StoreError, match="forked while another thread"):
        pool.take()
    free = MemoryPool()
    free.forget()
    free.give(free.take())
    free.close()
    for _ in range(2):
        with pytest.raises(StoreError, match="The store is closed"):
            free.take()
    del connections._after_fork[before:]


def test_a_file_of_another_journal_is_brought_to_the_wal(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    with Engine.open(path) as engine:
        create(engine)
    connection = apsw.Connection(path)
    connection.execute("PRAGMA journal_mode = DELETE").fetchall()
    connection.close()
    pool = FilePool(path, create=False, busy_timeout_s=5.0, synchronous="OFF")
    taken = pool.take()
    assert taken.pragma("journal_mode") == "wal"
    assert Path(f"{path}-wal").exists()
    pool.give(taken)
    pool.verify()
    pool.close()
    closed = pool._open_ones
    with pytest.raises(StoreError, match="The store is closed"):
        pool.take()
    assert not list(closed)


def test_the_wal_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    def execute(_: str) -> Any:
        if len(tries) < 3:
            raise apsw.BusyError
        return SimpleNamespace(fetchall=list)

    for patience in (9, 2):
        tries.clear()

        def wait(number: int, patience: int = patience) -> bool:
            tries.append(number)
            return number < patience

        pool: Any = SimpleNamespace(wait=wait)
        use_wal = partial(FilePool._use_wal, pool, SimpleNamespace(execute=execute))  # type: ignore[arg-type]
        if patience == 9:
            use_wal()
        else:
            with pytest.raises(apsw.BusyError):
                use_wal()
        assert tries == [0, 1, 2]
    slept: list[float] = []
    monkeypatch.setattr("keyplan.store.storage.connections.time.sleep", slept.append)
    monkeypatch.setattr("keyplan.store.storage.connections.random.uniform", lambda _, longest: longest)
    now = [100.0]
    monkeypatch.setattr("keyplan.store.storage.connections.time.monotonic", lambda: now[0])
    waiting = BusyWait(5.0)
    assert [waiting(number) for number in (0, 1, 2, 40)] == [True] * 4
    assert slept == pytest.approx([0.0004, 0.0006, 0.0008, 0.005])
    now[0] = 105.0
    assert not waiting(5)
    assert waiting(0)
    waiting.until(105.0)
    assert not waiting(0)
    waiting.until(None)
    assert waiting(0)


def test_a_transaction_counts_its_statements_and_gives_its_connection_back(tmp_path: Path) -> None:
    with Engine.open(str(tmp_path / "store.db")) as engine:
        storage: Storage = engine._storage
        before = storage.statements
        storage.read(lambda _: None)
        assert storage.statements == before + 2
        with pytest.raises(ZeroDivisionError):
            storage.read(lambda _: 1 // 0)
        assert storage.statements == before + 2
        assert len(storage.pool._free) == len(list(storage.pool._open_ones))  # type: ignore[union-attr]


def test_jobs_run_in_one_thread_that_ends_with_its_process() -> None:
    runner = Behind()
    seen: list[threading.Thread] = []
    for _ in range(3):
        runner.run(lambda: seen.append(threading.current_thread()))
    runner.close()
    assert [(thread.name, thread.daemon) for thread in seen] == [("keyplan-jobs", True)] * 3
    assert len(set(seen)) == 1
    Behind().close()


def test_what_cannot_be_cleared_or_gone_on_with_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    module: Any = import_module("keyplan.store.engine")
    database: Any = import_module("keyplan.store.database")

    def fail(error: Exception, *_: Any) -> None:
        raise error

    with Engine.open(":memory:") as engine, caplog.at_level(logging.ERROR):
        assert repr(engine) == "Engine(':memory:')"
        monkeypatch.setattr(database, "clear_waste", partial(fail, StoreError("the disk", place="x")))
        engine._database.clear_waste()
        damage = module.orjson.JSONDecodeError("no item", "", 0)
        monkeypatch.setattr(module, "go_on_filling", partial(fail, StoreError("the disk", place="x")))
        monkeypatch.setattr(module, "go_on_expiring", partial(fail, damage))
        engine._go_on()
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 3
    assert told[0].startswith("What was removed takes up room yet: ")
    assert told[1].startswith("What was left half done can't be finished: ")
    assert "the disk" in told[1]
    assert "A stored item is damaged: no item" in told[2]


# --- regions ------------------------------------------------------------------------------------------------


def replicas(engine: Engine, *updates: dict[str, Any], **more: Any) -> dict[str, Any]:
    return answer(engine, "UpdateTable", {"TableName": "orders", "ReplicaUpdates": list(updates), **more})


def members(engine: Engine) -> list[str]:
    table = engine.call("DescribeTable", {"TableName": "orders"})["Table"]
    return [each["RegionName"] for each in table.get("Replicas", ())]


def test_a_replica_leaves_its_group_with_all_that_was_written() -> None:
    leave = {"Disassociate": {"RegionName": WEST, "DisassociationMode": "WAIT_FOR_REPLICATION"}}
    with Regions.open(":memory:", [EAST, WEST, SOUTH], lag_ms=1e9) as regions:
        east, west, south = (regions.engines[name] for name in (EAST, WEST, SOUTH))
        create(east)
        for region in (WEST, SOUTH):
            replicas(east, {"Create": {"RegionName": region}})
        put(east, "a", "1")
        assert get(west, "a", "1") is None
        assert "can only be requested in the region" in replicas(east, leave)["message"]
        assert "only replica update" in replicas(west, leave, {"Delete": {"RegionName": EAST}})["message"]
        assert "only replica update" in replicas(west, {**leave, "Update": {"RegionName": EAST}})["message"]
        assert "disassociation protection is enabled" in replicas(west, leave)["message"]
        west.call("UpdateTable", {"TableName": "orders", "DisassociationProtectionEnabled": False})
        assert "error" not in replicas(west, leave)
        assert (members(east), members(west), members(south)) == ([SOUTH], [], [EAST])
        assert get(west, "a", "1") == {"pk": s("a"), "sk": s("1")}
        assert "not part of the global table" in replicas(west, leave)["message"]


def test_what_is_set_apart_for_a_replica_is_known_everywhere() -> None:
    with Regions.open(":memory:", [EAST, WEST, SOUTH]) as regions:
        east, west = regions.engines[EAST], regions.engines[WEST]
        create(east)
        replicas(east, {"Create": {"RegionName": WEST, "TableClassOverride": "STANDARD_INFREQUENT_ACCESS"}})
        replicas(east, {"Create": {"RegionName": SOUTH}})
        replicas(east, {"Update": {"RegionName": WEST, "KMSMasterKeyId": "key"}})
        for engine in (east, regions.engines[SOUTH]):
            told = engine.call("DescribeTable", {"TableName": "orders"})["Table"]["Replicas"]
            (of_west,) = (each for each in told if each["RegionName"] == WEST)
            assert of_west["ReplicaTableClassSummary"] == {"TableClass": "STANDARD_INFREQUENT_ACCESS"}
            assert of_west["KMSMasterKeyId"] == "key"
        shared = {"TableName": "orders", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "t"}}
        east.call("UpdateTimeToLive", shared)
        told = west.call("DescribeTimeToLive", {"TableName": "orders"})["TimeToLiveDescription"]
        assert told == {"TimeToLiveStatus": "ENABLED", "AttributeName": "t"}
        most = {"MaxReadRequestUnits": 50}
        east.call("UpdateTable", {"TableName": "orders", "OnDemandThroughput": most})
        assert west.call("DescribeTable", {"TableName": "orders"})["Table"]["OnDemandThroughput"] == most
        east.call("UpdateTable", {"TableName": "orders", "DeletionProtectionEnabled": True})
        assert not west.call("DescribeTable", {"TableName": "orders"})["Table"]["DeletionProtectionEnabled"]


def test_a_replica_that_is_not_to_be_filled_goes() -> None:
    with Regions.open(":memory:", [EAST, WEST]) as regions:
        east, west = regions.engines[EAST], regions.engines[WEST]
        create(east)
        definition = {**east._database.table("orders").definition}
        definition["Replication"] = {"Regions": [EAST, WEST], "Own": WEST}
        begun = joining.begin_replica(west._database, "orders", definition, EAST, 0)
        assert west.call("ListTables", {})["TableNames"] == ["orders"]
        assert not is_given_up(begun.worker)
        gone = TableWork("orders", begun.table_id + 1, begun.worker)
        assert joining._join_next(west._database, gone) is True
        joining.abandon(west._database, begun)
        assert is_given_up(begun.worker)
        assert west.call("ListTables", {})["TableNames"] == []
        again = joining.begin_replica(west._database, "orders", definition, EAST, 0)
        assert joining._join_next(west._database, again) is True  # the source has no such replica
        assert west.call("ListTables", {})["TableNames"] == []


def test_reports_of_bulk_operations_are_read_again(tmp_path: Path) -> None:
    (tmp_path / "bucket" / "in").mkdir(parents=True)
    records = [{"Item": {"pk": s("a"), "sk": s("1")}}, {"Item": {"pk": n(5), "sk": s("2")}}]
    text = "".join(json.dumps(record) + "\n" for record in records) + "{\n"
    (tmp_path / "bucket" / "in" / "1").write_text(text)
    source = {"S3Bucket": "bucket", "S3KeyPrefix": "in/", "InputFormat": "DYNAMODB_JSON"}
    asked = {"TableName": "orders", "InputS3Configuration": source, "OutputS3Configuration": {"OutputType": ["ERROR"]}}
    with Engine.open(":memory:", s3=str(tmp_path)) as engine:
        create(engine)
        begun = engine.call("StartBulkPutItems", {**asked, "ClientToken": "t"})["BulkOperationDescription"]
        again = engine.call("StartBulkPutItems", {**asked, "ClientToken": "t"})["BulkOperationDescription"]
        assert again["BulkOperationArn"] == begun["BulkOperationArn"]
        other = answer(
            engine, "StartBulkPutItems", {**asked, "OutputS3Configuration": {"OutputType": []}, "ClientToken": "t"}
        )
        assert other["error"].endswith("IdempotentParameterMismatchException") or "error" in other
        told = engine.call("DescribeBulkOperation", {"BulkOperationArn": begun["BulkOperationArn"]})[
            "BulkOperationDescription"
        ]
        assert (told["ProcessedItemCount"], told["FailedItemCount"]) == (3, 2)
        assert told["ProcessedInputBytes"] == told["TotalInputBytes"] == len(text)
        (report,) = (tmp_path / "bucket" / "AWSDynamoDB").rglob("data/*.json.gz")
        lines = [json.loads(line) for line in gzip.decompress(report.read_bytes()).splitlines()]
        assert [(line["itemIndex"], "Item" in line) for line in lines] == [(1, True), (2, False)]
        (manifest,) = (tmp_path / "bucket" / "AWSDynamoDB").rglob("manifest.json")
        assert json.loads(manifest.read_text())["files"][0]["itemCount"] == 2
