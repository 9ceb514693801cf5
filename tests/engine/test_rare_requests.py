"""Requests that are rare: changes that do nothing, missing tables, boundaries and who is notified."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.dynamodb.service_errors import CountFault, TableNotFoundException, ValidationException
from keyplan.dynamodb.values import ValueFault
from keyplan.errors import RequestError
from keyplan.store import Engine
from keyplan.store import engine as engine_module
from keyplan.store.backups import backup_records as backups
from keyplan.store.backups import point_in_time as history
from keyplan.store.backups.backup_records import Copying
from keyplan.store.control_plane import time_to_live as expiry
from keyplan.store.database import Database
from keyplan.store.error_messages import error_of
from keyplan.store.items import item_writes as writes
from keyplan.store.items import write_outcome as judging
from keyplan.store.items.stored_items import or_carefully
from keyplan.store.multi_region import Regions
from keyplan.store.processes import begin_work
from keyplan.store.statements.statement_updates import change_of
from keyplan.store.streams.stream_shards import RETENTION_S, SHARD_S
from keyplan.store.tables import table as tables
from keyplan.store.transfer import table_exports as exports
from keyplan.store.transfer import transfer_jobs as jobs
from keyplan.store.transfer.bucket_folder import S3Error
from tests.engine.support import answer, create, get, index, n, put, s

TABLE = {"TableName": "orders"}
HISTORY = {**TABLE, "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
STREAM = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}


class Clock:
    def __init__(self) -> None:
        self.now_s = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine(clock: Clock) -> Any:
    with Engine.open(":memory:", clock=clock) as opened:
        create(opened)
        yield opened


# --- generations --------------------------------------------------------------------------------------------


def test_what_others_must_learn_of_makes_a_later_generation(engine: Engine) -> None:
    database = engine._database

    def generation() -> int:
        database.refresh()
        return database.table("orders").stored.layout.generation

    def note(running: dict[str, Any]) -> None:
        database.write(lambda writer: backups._note_copying(writer, database.fresh(writer)["orders"], running))

    by_x = {
        "AttributeDefinitions": [{"AttributeName": "x", "AttributeType": "S"}],
        "GlobalSecondaryIndexUpdates": [{"Create": index("ByX", "x")}],
    }
    changes: tuple[Any, ...] = (
        partial(engine.call, "UpdateContinuousBackups", HISTORY),
        partial(engine.call, "UpdateTable", {**TABLE, "StreamSpecification": STREAM}),
        partial(engine.call, "UpdateTable", {**TABLE, **by_x}),
        partial(note, {"a": {"Worker": {}}}),
        partial(note, {}),
        partial(
            engine.call, "UpdateTable", {**TABLE, "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "ByX"}}]}
        ),
    )
    before = generation()
    for change in changes:
        change()
        assert generation() > before, change
        before = generation()


# --- what is done again, or goes on -------------------------------------------------------------------------


@pytest.mark.parametrize(("fault", "times"), [(ValueError(), 2), (KeyError(), 2), (ValueFault("x"), 1), (OSError(), 1)])
def test_what_says_what_is_wrong_is_not_tried_again(fault: Exception, times: int) -> None:
    tried = []

    def work() -> None:
        tried.append(1)
        raise fault

    with pytest.raises(type(fault)):
        or_carefully(work)
    assert len(tried) == times


@pytest.mark.parametrize("undone", [True, False])
def test_what_is_left_undone_is_gone_on_with_once_an_hour(
    engine: Engine, clock: Clock, monkeypatch: pytest.MonkeyPatch, undone: bool
) -> None:
    monkeypatch.setattr(engine_module, "is_left_undone", lambda _: undone)
    gone_on: list[float] = []
    monkeypatch.setattr(engine._database, "go_on", lambda: gone_on.append(clock.now_s))
    for passed_s in (0.0, 1800.0, 1799.0, 1.0):
        clock.now_s += passed_s
        engine.tidy()
    assert gone_on == ([clock.now_s - 3600, clock.now_s] if undone else [])


@pytest.mark.parametrize(
    ("operation", "params"),
    [
        ("DeleteTable", TABLE),
        ("DeleteBackup", {"BackupArn": ""}),
        ("RestoreTableFromBackup", {"BackupArn": "", "TargetTableName": "copy"}),
        (
            "RestoreTableToPointInTime",
            {"SourceTableName": "orders", "TargetTableName": "copy", "UseLatestRestorableTime": True},
        ),
        ("UpdateContinuousBackups", HISTORY),
    ],
)
def test_what_may_be_in_use_elsewhere_is_finished_before(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, operation: str, params: dict[str, Any]
) -> None:
    engine.call("UpdateContinuousBackups", HISTORY)
    arn = engine.call("CreateBackup", {**TABLE, "BackupName": "first"})["BackupDetails"]["BackupArn"]
    asked: list[str] = []
    monkeypatch.setattr(Database, "goes_on_with_all", lambda _: asked.append(operation))
    engine.call(operation, {name: value or arn for name, value in params.items()})
    assert asked == [operation]


def test_who_makes_a_backup_of_a_table_that_is_gone_leaves_nothing(engine: Engine) -> None:
    database = engine._database
    copying = Copying("01700000000000-00000000", "gone", begin_work())
    with pytest.raises(TableNotFoundException, match="Table not found: gone"):
        backups.finish_backup(database, copying)
    assert engine.call("ListBackups", {})["BackupSummaries"] == []


def test_nobody_takes_over_what_nobody_left(engine: Engine) -> None:
    database = engine._database
    assert database.write(partial(expiry._take_over, database)) is None


def test_a_job_that_came_to_its_end_is_told_as_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    for abandoned in (True, False):
        monkeypatch.setattr(jobs, "is_abandoned", lambda _, abandoned=abandoned: abandoned)
        for status in ("IN_PROGRESS", "CANCELLING", "COMPLETED", "CANCELLED", "FAILED"):
            told = jobs._told({"Description": {"Status": status}}, "Status")
            has_failed = abandoned and status in {"IN_PROGRESS", "CANCELLING"}
            assert told["Status"] == ("FAILED" if has_failed else status)
            assert ("FailureCode" in told) == has_failed


def test_an_export_of_a_table_that_is_another_by_now_fails(engine: Engine, tmp_path: Path) -> None:
    assert str(S3Error("code", "the message")) == "the message"
    database = engine._database
    database.s3 = str(tmp_path)
    (tmp_path / "bucket").mkdir()
    job = {"Description": {"S3Bucket": "bucket", "ExportFormat": "DYNAMODB_JSON"}, "TableNumber": 77}
    database.write(lambda writer: jobs.keep_job(writer, exports.KIND, "1", job))
    for name in ("orders", "gone"):
        with pytest.raises(S3Error, match=f"The table {name} was deleted before it was exported"):
            exports._written(database, "1", name, SimpleNamespace(from_us=None, until_us=1), None)  # type: ignore[arg-type]


# --- who is told what ---------------------------------------------------------------------------------------


def test_a_store_of_regions_names_each_once() -> None:
    for names in ([], ["eu-west-1", "eu-west-1"]):
        with pytest.raises(RequestError, match="Each region is to be named once"):
            Regions.open(":memory:", names)


def test_raw_items_are_given_as_they_are_stored() -> None:
    for raw in (True, False):
        with Engine.open(":memory:", raw_items=raw) as engine:
            create(engine)
            put(engine, "a", "1")
            assert isinstance(get(engine, "a", "1"), orjson.Fragment) == raw


def test_what_is_told_before_wrong_types() -> None:
    operation = OPERATIONS["BatchGetItem"]
    wrong = {"RequestItems": {"orders": {"Keys": 5}}}
    told = [
        type(error_of(fault, operation, wrong)).__name__
        for fault in (
            CountFault("too many"),
            TableNotFoundException("gone"),
            RuntimeError("ours"),
            ValidationException("it is wrong"),
            ValueFault("it is no value"),
        )
    ]
    assert told == [
        "CountFault",
        "TableNotFoundException",
        "RuntimeError",
        "SerializationException",
        "SerializationException",
    ]
    plain = ValidationException("it is wrong")
    assert error_of(plain, operation, {"RequestItems": {"orders": {"Keys": [{"pk": s("a")}]}}}) is plain


@pytest.mark.parametrize(
    ("statement", "is_short"),
    [
        ("DELETE FROM orders WHERE pk = 'a' AND sk = '1'", True),
        ("DELETE FROM orders WHERE pk = 'a' AND sk = '1' RETURNING ALL OLD *", True),
        ("DELETE FROM orders WHERE pk = 'a' AND sk = '1' RETURNING ALL NEW *", False),
        ("UPDATE orders SET x = 1 WHERE pk = 'a' AND sk = '1'", True),
        ("UPDATE orders SET x = 1 WHERE pk = 'a' AND sk = '1' RETURNING MODIFIED NEW *", True),
        ("UPDATE orders.ByG SET x = 1 WHERE pk = 'a' AND sk = '1'", False),
        ("INSERT INTO orders VALUE {'pk': 'a', 'sk': '1'}", False),
    ],
)
def test_which_changes_take_the_short_way(statement: str, is_short: bool) -> None:
    assert (change_of(statement) is not None) == is_short


# --- indexes, streams, sizes --------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", ["PutItem", "UpdateItem"])
def test_each_attribute_of_an_indexs_key_is_looked_at(engine: Engine, operation: str) -> None:
    told = []
    for attributes in (
        {"h": n(5)},
        {"h": s("")},
        {"h": s("x" * 1025)},
        {"g": s("x" * 2049)},
        {"g": s("x" * 2048), "h": s("x" * 1024)},
    ):
        if operation == "PutItem":
            params: dict[str, Any] = {"Item": {"pk": s("a"), "sk": s("1"), **attributes}}
        else:
            params = {
                "Key": {"pk": s("a"), "sk": s("1")},
                "UpdateExpression": "SET " + ", ".join(f"{name} = :{name}" for name in attributes),
                "ExpressionAttributeValues": {f":{name}": value for name, value in attributes.items()},
            }
        result = answer(engine, operation, {**TABLE, **params})
        told.append("error" in result)
    assert told == [True, True, True, True, False]


def test_parts_of_an_index_are_counted_by_its_own_order(engine: Engine) -> None:
    for number in range(6):
        put(engine, f"p{number}", "1", g=s(f"g{9 - number}"), h=s("h"), x=s("x" * number))
    database = engine._database
    stored = database.table("orders").stored
    by_g = database.table("orders").index_by_name["ByG"].number
    texts = stored.texts
    rows = sorted((f"g{9 - number}", "h", f"p{number}", "1") for number in range(6))
    for after, until in ((None, None), (rows[1], None), (None, rows[3]), (rows[1], rows[3])):
        values = [part for position in (after, until) if position is not None for part in position]

        def count(reader: Any, after: Any = after, until: Any = until, values: Any = values) -> int:
            return int(reader._run(texts.count_between(by_g, after, until), values).fetchone()[0])

        expected = [row for row in rows if (after is None or row > after) and (until is None or row <= until)]
        assert engine._storage.read(count) == len(expected)


def test_a_removal_is_charged_on_each_index(engine: Engine) -> None:
    put(engine, "a", "1", g=s("g"), h=s("h"))
    key = {"pk": s("a"), "sk": s("1")}
    asked = {**TABLE, "Key": key, "ReturnConsumedCapacity": "INDEXES"}
    for expected in (2.0, 1.0):
        told = engine.call("DeleteItem", asked)["ConsumedCapacity"]
        assert (told["CapacityUnits"], told["Table"]["CapacityUnits"]) == (expected, 1.0)


def test_the_records_of_a_partition_stand_in_one_shard(clock: Clock) -> None:
    with Engine.open(":memory:", clock=clock, shard_records=1) as engine:
        create(engine, StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
        for number in range(30):
            put(engine, f"{number}", "1")
        for number in range(20):
            put(engine, "one", f"{number}")
        arn = engine.call("ListStreams", {})["Streams"][0]["StreamArn"]
        described = engine.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"]
        parents = {shard["ShardId"]: shard.get("ParentShardId") for shard in described}
        holding = []
        for shard in parents:
            asked = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
            iterator = engine.call("GetShardIterator", asked)["ShardIterator"]
            records = engine.call("GetRecords", {"ShardIterator": iterator})["Records"]
            if any(record["dynamodb"]["Keys"]["pk"] == s("one") for record in records):
                holding.append(shard)
        assert holding
        for earlier, later in pairwise(holding):
            assert parents[later] == earlier


def rows_of(engine: Engine, name: str) -> int:
    def count(reader: Any) -> int:
        return int(reader._run(f"SELECT count(*) FROM {name}", None).fetchone()[0])

    return engine._storage.read(count)


def test_what_is_too_old_goes_when_a_shard_is_followed_by_another(engine: Engine, clock: Clock) -> None:
    engine.call("UpdateTable", {**TABLE, "StreamSpecification": STREAM})
    put(engine, "a", "1")
    stream = engine._database.table("orders").stream
    assert stream is not None
    kept = []
    for passed_s in (SHARD_S, RETENTION_S, SHARD_S + 1):
        clock.now_s += passed_s
        put(engine, "a", f"{passed_s}")
        kept.append(rows_of(engine, f"changes_{stream.id}"))
    assert kept[0] == 2
    assert kept[-1] < 4


def test_what_a_write_leaves_as_it_was() -> None:
    table: Any = SimpleNamespace()
    found: Any = (1, 2, b"{}", None)
    same: Any = SimpleNamespace(body=b"{}")
    other: Any = SimpleNamespace(body=b"{1}")
    check, removal = (SimpleNamespace(table=table, removes=removes) for removes in (False, True))
    is_change: Any = writes._is_change
    for write, result, put_, expected in (
        (check, found, None, False),
        (check, None, None, False),
        (removal, found, None, True),
        (removal, None, None, False),
        (check, None, same, True),
        (check, found, same, False),
        (check, found, other, True),
    ):
        assert is_change(write, result, put_) is expected


def test_a_history_that_is_being_restored_is_not_trimmed(
    engine: Engine, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.call("UpdateContinuousBackups", HISTORY)
    for number in (1, 2):
        put(engine, "a", "1", x=n(number))
    clock.now_s += 40 * 86_400
    monkeypatch.setattr(history, "is_restored", lambda *_: True)
    assert history.trim_histories(engine._database) == 0
    monkeypatch.setattr(history, "is_restored", lambda *_: False)
    assert history.trim_histories(engine._database) == 2


def test_items_of_a_transaction_are_just_small_enough(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    put(engine, "a", "1", x=s("x" * 90))
    items = [{"Get": {**TABLE, "Key": {"pk": s("a"), "sk": s(sk)}}} for sk in "012"]
    for bytes_max, is_refused in ((97, False), (96, True)):
        monkeypatch.setattr(
            import_module("keyplan.store.operations.transact_get_items"), "TRANSACT_BYTES_MAX", bytes_max
        )
        result = answer(engine, "TransactGetItems", {"TransactItems": items})
        assert ("error" in result) == is_refused


def test_what_it_costs_to_judge_a_write() -> None:
    def cost(**members: Any) -> float:
        write: Any = SimpleNamespace(**{"condition": None, "change": None, **members})
        return judging._cost_bytes(write, b"x" * 1000) - plain

    plain = 0.0
    plain = cost()
    assert cost(change=SimpleNamespace(bound=None)) == 1000
    assert cost(change=SimpleNamespace(bound=SimpleNamespace(actions=[]))) == 1000
    assert cost(change=SimpleNamespace(bound=SimpleNamespace(actions=[0] * 16))) == 2000
    assert cost(condition=SimpleNamespace(operators=0)) == 0
    assert cost(condition=SimpleNamespace(operators=1)) > 0


def test_tables_are_the_same_only_where_nothing_changed(engine: Engine) -> None:
    database = engine._database
    before = database.table("orders")
    assert database.refresh() is False
    assert database.table("orders") is before
    other = tables.read_table(before.record, engine._storage)
    assert other != before
    assert other.plans is not before.plans
