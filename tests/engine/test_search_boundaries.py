"""Where searches, pieces and notes end: the first record since a moment, what a new replica begins with, transactions
within transactions, names that are taken, conditions on vectors.
"""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import apsw
import orjson
import pytest

from keyplan.errors import StoreError
from keyplan.store import Engine, Regions
from keyplan.store import state_delays as settling
from keyplan.store.backups import point_in_time as history
from keyplan.store.replication import replica_backfill as joining
from keyplan.store.state_delays import SETTLING
from keyplan.store.storage.storage_transactions import Reader, Writer
from keyplan.store.storage.stream_rows import Changes
from tests.engine.support import answer, create, index, put, s
from tests.engine.test_throttle import Clock

EAST, WEST = "us-east-1", "us-west-2"
STREAM = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}


@pytest.mark.parametrize("seed", range(3))
def test_the_first_record_since_a_moment(seed: int) -> None:
    chance, clock = random.Random(seed), Clock()
    with Engine.open(":memory:", clock=clock) as engine:
        create(engine, StreamSpecification=STREAM)
        moments: list[float] = []
        for number in range(chance.choice((1, 2, 7))):
            clock.now_s += chance.choice((0.0, 1.0, 5.0))
            put(engine, "a", str(number))
            moments.append(clock.now_s)
        stream = engine._database.table("orders").stream
        assert stream is not None
        for since_s in {moment + moved for moment in moments for moved in (-0.5, 0.0, 0.5)}:
            for after in range(len(moments) + 1):
                first = engine._storage.read(
                    lambda reader, since_s=since_s, after=after: reader.changes.first_since(stream.id, since_s, after)  # type: ignore[misc]
                )
                numbers = (number for number, at in enumerate(moments, 1) if at >= since_s and number > after)
                assert first == next(numbers, None)
        assert engine._storage.read(lambda reader: reader.changes.last(stream.id)) == len(moments)


def test_a_search_of_records_is_short() -> None:
    """Halved with each look, at records whose moments may be the same."""
    looks: list[int] = []

    def place(text: str, number: int) -> tuple[int, float] | None:
        looks.append(number)
        if "DESC" in text:
            return 1000, 100.0
        return (1, 0.0) if "LIMIT 1" in text else (number, number // 10)

    changes: Any = SimpleNamespace(_place=place)
    assert Changes.first_since(changes, 1, 55.0) == 550
    assert len(looks) == 12


def test_what_a_new_replica_begins_with() -> None:
    with Regions.open(":memory:", [EAST, WEST]) as regions:
        east, west = regions.engines[EAST], regions.engines[WEST]
        create(east)
        definition = {**east._database.table("orders").definition, "TimeToLive": "t"}
        definition["Replication"] = {"Regions": [EAST, WEST, "other"], "Own": WEST}
        begun = joining.begin_replica(west._database, "orders", definition, EAST, 7)
        kept = west._storage.read(
            lambda reader: {
                name: reader.archives.record(*name)
                for name in (
                    (joining._KIND, str(begun.table_id)),
                    ("replica", f"orders/{EAST}"),
                    ("replica", "orders/other"),
                )
            }
        )
        progress = kept.pop((joining._KIND, str(begun.table_id)))
        assert progress is not None
        assert orjson.loads(progress) == {"Region": EAST, "Noted": 0, "LastNoted": 7, "Row": 0}
        assert [*kept.values()] == [b"7", b"0"]
        assert west._storage.read(lambda reader: reader.expires(west._database.fresh(reader)["orders"].stored))


def test_a_transaction_within_one_that_is_lost() -> None:
    with Engine.open(":memory:") as engine:
        create(engine)
        storage = engine._storage

        def lose(writer: Writer) -> None:
            writer._run("ROLLBACK")
            raise ValueError("lost")

        with pytest.raises(StoreError, match="The store failed; nothing was written"):
            storage.write(lambda writer: writer.nested(lose))

        def fail(writer: Writer) -> None:
            writer._run("INSERT INTO keyplan_tokens VALUES (1)")

        with pytest.raises(StoreError, match="The store failed: "):
            storage.write(lambda writer: writer.nested(fail))

        def undo(writer: Writer) -> None:
            writer.judged_bytes = 5.0
            writer.archives.keep_record("kind", "inner", b"x")
            raise KeyError

        def outer(writer: Writer) -> float:
            writer.archives.keep_record("kind", "outer", b"x")
            writer.judged_bytes = 7.0
            with pytest.raises(KeyError):
                writer.nested(undo)
            assert writer.nested(lambda inner: inner.judged_bytes) == 0.0
            return writer.judged_bytes

        storage.write(outer)
        names = [name for name, _ in storage.read(lambda reader: reader.archives.records("kind"))]
        assert names == ["outer"]


def test_errors_of_sqlite_that_are_expected_and_that_are_not() -> None:
    layout: Any = SimpleNamespace(id=7, generation=1)
    table: Any = SimpleNamespace(layout=layout)
    for error, expected in (("no such table: expires_7", []), ("no such table: other", None)):

        def fail(*_: Any, error: str = error) -> Any:
            raise apsw.SQLError(error)

        reader: Any = SimpleNamespace(_run=fail)
        if expected is None:
            with pytest.raises(apsw.SQLError):
                Reader.expired(reader, table, 0.0, 1.0, 5)
        else:
            assert Reader.expired(reader, table, 0.0, 1.0, 5) == expected
    for error, count in (("malformed JSON", 3), ("other", 1)):
        ran: list[str] = []

        def run(text: str, *_: Any, error: str = error, ran: list[str] = ran) -> None:
            ran.append(text)
            if len(ran) == 1:
                raise apsw.SQLError(error)

        writer: Any = SimpleNamespace(_run=run)
        if count == 1:
            with pytest.raises(apsw.SQLError):
                Writer._run_over_old(writer, table, "DELETE", ())
        else:
            Writer._run_over_old(writer, table, "DELETE", ())
            assert ran == ["DELETE", "DROP INDEX IF EXISTS expiry_7", "DELETE"]
        assert len(ran) == count


@pytest.mark.parametrize(
    ("note", "gone", "over"),
    [
        (None, False, False),
        ({}, False, True),
        ({"Table": {"Status": "DELETING", "Until": 6.0}}, False, False),
        ({"Table": {"Status": "DELETING", "Until": 5.0}}, True, True),
        ({"Table": {"Status": "UPDATING", "Until": 6.0}}, False, False),
        ({"Table": {"Status": "UPDATING", "Until": 5.0}}, False, True),
        ({"Encryption": 5.0}, False, True),
        ({"Encryption": 5.5}, False, False),
        ({"Warm": 5.5}, False, False),
        ({"Backups": 5.5}, False, False),
        ({"Indexes": {"A": {"Status": "DELETING", "Until": 5.0}}}, False, True),
        ({"Indexes": {"A": {"Status": "DELETING", "Until": 5.5}}}, False, False),
    ],
)
def test_notes_that_say_nothing_any_more(note: Any, gone: bool, over: bool) -> None:
    definition = {} if note is None else {SETTLING: note}
    assert settling.is_gone(definition, 5.0) is gone
    assert settling.is_over(definition, 5.0) is over


def test_backups_are_listed_between_two_moments_that_are_the_same() -> None:
    clock = Clock()
    with Engine.open(":memory:", clock=clock) as engine:
        create(engine)
        engine.call("CreateBackup", {"TableName": "orders", "BackupName": "first"})
        for low, high, count in ((0, 0, 0), (0, 1, 1), (-1, 0, 0), (1, 2, 0), (1, 0, None)):
            asked = {"TimeRangeLowerBound": clock.now_s + low, "TimeRangeUpperBound": clock.now_s + high}
            result = answer(engine, "ListBackups", asked)
            if count is None:
                assert "must be less than or equal" in result["message"]
            else:
                assert len(result["BackupSummaries"]) == count


def test_a_history_of_as_many_days_as_before_goes_on() -> None:
    clock = Clock()
    with Engine.open(":memory:", clock=clock) as engine:
        create(engine)
        since_s = clock.now_s
        for days in (None, 7, 9):
            recovery = {"PointInTimeRecoveryEnabled": True} | ({} if days is None else {"RecoveryPeriodInDays": days})
            asked = {"TableName": "orders", "PointInTimeRecoverySpecification": recovery}
            engine.call("UpdateContinuousBackups", asked)
            put(engine, "a", str(days), g=s("g"))
            kept = engine._database.described_table("orders").definition[history.MEMBER]
            assert kept == {"Since": since_s, "Days": days or 35}
            clock.now_s += 5
        off = {"TableName": "orders", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": False}}
        for _ in range(2):
            engine.call("UpdateContinuousBackups", off)
            assert history.MEMBER not in engine._database.described_table("orders").definition


@pytest.mark.parametrize("units", [40_000, 40_001])
def test_a_new_index_is_given_no_more_than_an_account_has(units: int) -> None:
    plain = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    throughput = {**plain, "ReadCapacityUnits": units}
    with Engine.open(":memory:") as engine:
        create(engine, "plain")
        asked = {
            "TableName": "orders",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "g")],
            "GlobalSecondaryIndexes": [{**index("ByG", "g"), "ProvisionedThroughput": throughput}],
            "ProvisionedThroughput": plain,
        }
        assert (answer(engine, "CreateTable", asked).get("error") == "LimitExceededException") == (units > 40_000)


def test_a_new_replica_knows_what_was_removed_and_who_wrote_what_is_there() -> None:
    """Else an older write of a third region would bring back what was removed."""
    south = "sa-east-1"
    with Regions.open(":memory:", [EAST, WEST, south], lag_ms=1e9) as regions:
        east = regions.engines[EAST]
        create(east)
        east.call("UpdateTable", {"TableName": "orders", "ReplicaUpdates": [{"Create": {"RegionName": WEST}}]})
        for sk in "123":
            put(east, "a", sk)
        east.call("DeleteItem", {"TableName": "orders", "Key": {"pk": s("a"), "sk": s("1")}})
        east.call("UpdateTable", {"TableName": "orders", "ReplicaUpdates": [{"Create": {"RegionName": south}}]})
        database = regions.engines[south]._database
        table_id = database.table("orders").stored.layout.id
        known = database.storage.read(lambda reader: [reader.replicas.version(table_id, ("a", sk)) for sk in "1234"])
        assert [None if version is None else version[1] for version in known] == [EAST, EAST, EAST, None]


def test_what_was_is_forgotten_with_the_end() -> None:
    engine = Engine.open(":memory:", index_lag_ms=1000)
    create(engine)
    put(engine, "a", "1")
    lag = engine._database.lag
    assert lag is not None
    assert lag._snapshots
    engine.close()
    assert not lag._snapshots
