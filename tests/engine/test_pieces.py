"""What takes a whole table is done in pieces: others read and write in between, and it comes out as if they hadn't
been in the way. Between two pieces, the tests let others do something, in the very same order each time.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan.engine import Engine, backups, effort, filling, restoring
from keyplan.engine.storage.sqlite import Storage
from keyplan.errors import StoreError
from keyplan.values import item_size
from tests.engine.support import answer, create, index, n, pages, put, s

TABLE = {"TableName": "orders"}
ROWS = 4
"""Items of a piece."""
Item = dict[str, Any]
Key = tuple[str, str]


@pytest.fixture(params=["memory", "file", "two"])
def engines(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Engine]]:
    """A store, by one who has it, or by two."""
    path = ":memory:" if request.param == "memory" else str(tmp_path / "store.db")
    with Engine.open(path) as engine:
        if request.param != "two":
            yield [engine]
            return
        with Engine.open(path) as other:
            yield [engine, other]


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], list[int]]:
    """Let something be done between all pieces from now on; how often that was."""
    monkeypatch.setattr(effort, "PIECE_ROWS", ROWS)

    def begin(work: Callable[[], None]) -> list[int]:
        count: list[int] = []

        def let_others_in(storage: Storage) -> None:
            count.append(len(count))
            monkeypatch.setattr(Storage, "let_others_in", lambda _: None)  # what is done in between is left alone
            try:
                work()
            finally:
                monkeypatch.setattr(Storage, "let_others_in", let_others_in)

        monkeypatch.setattr(Storage, "let_others_in", let_others_in)
        return count

    return begin


class Others:
    """Others who write at random, and a plain dict of what stands in the table."""

    def __init__(self, engines: list[Engine], seed: int) -> None:
        self.engines = engines
        self.chance = random.Random(seed)
        self.stored: dict[Key, Item] = {}

    def write(self, count: int = 3) -> None:
        """Write some items, through any of the engines."""
        for _ in range(count):
            engine, chance = self.chance.choice(self.engines), self.chance
            key = (chance.choice("ab"), f"{chance.randrange(24):02}")
            asked = {"pk": s(key[0]), "sk": s(key[1])}
            kind = chance.choice(("put", "put", "update", "delete"))
            if kind == "put":
                item = {**asked, **self.attributes()}
                engine.call("PutItem", {**TABLE, "Item": item})
                self.stored[key] = item
            elif kind == "update":
                given = self.attributes()
                sets = ", ".join(f"{name} = :{name}" for name in given)
                values = {f":{name}": value for name, value in given.items()}
                engine.call(
                    "UpdateItem",
                    {**TABLE, "Key": asked, "UpdateExpression": f"SET {sets}", "ExpressionAttributeValues": values},
                )
                self.stored[key] = {**self.stored.get(key, asked), **given}
            else:
                engine.call("DeleteItem", {**TABLE, "Key": asked})
                self.stored.pop(key, None)

    def attributes(self) -> Item:
        chance = self.chance
        more: Item = {"x": s(chance.choice("pqr"))} if chance.random() < 0.8 else {"y": s("no x")}
        vector = {"L": [n(chance.randrange(9)), n(1)]}
        return {**more, "times": n(chance.randrange(1000)), **({"v": vector} if chance.random() < 0.8 else {})}

    def check(self) -> None:
        """What is in the table is what was written."""
        for engine in self.engines:
            assert by_key(pages(engine, "Scan", {**TABLE, "ConsistentRead": True})) == self.stored


def by_key(items: list[Item]) -> dict[Key, Item]:
    result = {(item["pk"]["S"], item["sk"]["S"]): item for item in items}
    assert len(result) == len(items)
    return result


BY_X = index("ByX", "x")
KEYS = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")]
ADD_ATTRIBUTES = [{"AttributeName": "x", "AttributeType": "S"}]
ADD = {
    **TABLE,
    "AttributeDefinitions": ADD_ATTRIBUTES,
    "GlobalSecondaryIndexUpdates": [{"Create": BY_X}],
}
DROP = {**TABLE, "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "ByX"}}]}
QUERY = {
    **TABLE,
    "IndexName": "ByX",
    "KeyConditionExpression": "x = :x",
    "ExpressionAttributeValues": {":x": s("p")},
}
ADD_VECTORS = {
    **TABLE,
    "VectorIndexUpdates": [
        {
            "Create": {
                "IndexName": "ByV",
                "VectorAttribute": {"AttributeName": "v"},
                "Dimensions": 2,
                "DistanceFunction": "EUCLIDEAN",
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        }
    ],
}
DROP_VECTORS = {**TABLE, "VectorIndexUpdates": [{"Delete": {"IndexName": "ByV"}}]}
SEARCH = {**TABLE, "IndexName": "ByV", "SearchVector": [{"N": "0"}, {"N": "1"}], "TopK": 100}


def statuses(engine: Engine) -> dict[str, tuple[str, bool | None]]:
    table = engine.call("DescribeTable", TABLE)["Table"]
    assert table["TableStatus"] == "ACTIVE"
    indexes = [*table.get("GlobalSecondaryIndexes", []), *table.get("VectorIndexes", [])]
    return {each["IndexName"]: (each["IndexStatus"], each.get("Backfilling")) for each in indexes}


# --- indexes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_an_index_is_filled_while_others_write(engines: list[Engine], between: Any, seed: int) -> None:
    others = Others(engines, seed)
    create(engines[0])
    others.write(60)

    def meanwhile() -> None:
        others.write()
        others.check()
        for engine in engines:
            assert statuses(engine)["ByX"] == ("CREATING", True)
            refused = answer(engine, "Query", QUERY)
            assert refused["message"] == "Cannot read from backfilling global secondary index: ByX"

    count = between(meanwhile)
    engines[0].call("UpdateTable", ADD)
    assert len(count) >= 3
    others.check()
    expected = {key: item for key, item in others.stored.items() if "x" in item}
    for engine in engines:
        assert statuses(engine)["ByX"] == ("ACTIVE", None)
        assert by_key(pages(engine, "Scan", {**TABLE, "IndexName": "ByX"})) == expected
        assert {key[1] for key in by_key(pages(engine, "Query", QUERY))} == {
            key[1] for key, item in expected.items() if item["x"] == s("p")
        }
        assert engine.check() == []


@pytest.mark.parametrize("seed", range(1))
def test_a_vector_index_is_filled_while_others_write(engines: list[Engine], between: Any, seed: int) -> None:
    others = Others(engines, seed)
    create(engines[0])
    others.write(60)

    def meanwhile() -> None:
        others.write()
        for engine in engines:
            assert statuses(engine)["ByV"] == ("CREATING", True)
            refused = answer(engine, "SearchVectors", SEARCH)
            assert refused["message"] == "Cannot search backfilling vector index: ByV"
            assert engine.check() == []

    count = between(meanwhile)
    engines[0].call("UpdateTable", ADD_VECTORS)
    assert len(count) >= 3
    for engine in engines:
        results = [each["Item"] for each in engine.call("SearchVectors", SEARCH)["SearchResults"]]
        assert by_key(results).keys() == {key for key, item in others.stored.items() if "v" in item}
        assert engine.check() == []


@pytest.mark.parametrize(("add", "drop", "name"), [(ADD, DROP, "ByX"), (ADD_VECTORS, DROP_VECTORS, "ByV")])
def test_what_is_refused_while_an_index_is_filled(between: Any, add: Any, drop: Any, name: str) -> None:
    with Engine.open(":memory:") as engine:
        create(engine)
        for number in range(20):
            put(engine, "a", str(number), x=s("p"), v={"L": [n(1), n(2)]})
        second = {**BY_X, "IndexName": "ByY"}
        met: list[Any] = []

        def meanwhile() -> None:
            if met:
                return
            met.append(answer(engine, "UpdateTable", {**ADD, "GlobalSecondaryIndexUpdates": [{"Create": second}]}))
            met.append(answer(engine, "DeleteTable", TABLE))
            engine.call("UpdateTable", drop)
            assert name not in statuses(engine)

        between(meanwhile)
        described = engine.call("UpdateTable", add)["TableDescription"]
        assert [each["error"] for each in met] == ["LimitExceededException", "ResourceInUseException"]
        indexes = [*described.get("GlobalSecondaryIndexes", []), *described.get("VectorIndexes", [])]
        assert [each["IndexName"] for each in indexes] == ["ByG"]
        assert engine.check() == []
        between(lambda: None)
        engine.call("UpdateTable", add)
        assert statuses(engine)[name] == ("ACTIVE", None)


@pytest.mark.parametrize("fault", [KeyboardInterrupt, StoreError("The disk failed")])
def test_an_index_that_cant_be_filled_isnt_there(between: Any, fault: BaseException | type[BaseException]) -> None:
    with Engine.open(":memory:") as engine:
        create(engine)
        for number in range(20):
            put(engine, "a", str(number), x=s("p"))

        def fail() -> None:
            raise fault

        between(fail)
        for add in (ADD, ADD_VECTORS):
            with pytest.raises((KeyboardInterrupt, StoreError)):
                engine.call("UpdateTable", add)
            assert statuses(engine) == {"ByG": ("ACTIVE", None)}
        attributes = engine.call("DescribeTable", TABLE)["Table"]["AttributeDefinitions"]
        assert "x" not in {each["AttributeName"] for each in attributes}
        between(lambda: None)
        engine.call("UpdateTable", ADD)
        assert len(pages(engine, "Scan", {**TABLE, "IndexName": "ByX"})) == 20


def test_a_damaged_item_ends_the_filling(tmp_path: Path, between: Any) -> None:
    with Engine.open(tmp_path / "store.db") as engine:
        create(engine)
        for number in range(20):
            put(engine, "a", str(number), x=s("p"))

        def damage() -> None:
            connection = engine._storage.pool.take()
            ((name,),) = connection.execute("SELECT name FROM sqlite_schema WHERE name LIKE 'items%'").fetchall()
            connection.execute(f"UPDATE {name} SET body = x'7b' WHERE id = 18")
            engine._storage.pool.give(connection)

        between(damage)
        with pytest.raises(StoreError, match="A stored item is damaged"):
            engine.call("UpdateTable", ADD)
        assert statuses(engine) == {"ByG": ("ACTIVE", None)}


def test_whoever_meets_an_index_left_half_filled_goes_on(
    engines: list[Engine], between: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = Others(engines, 7)
    create(engines[0])
    others.write(60)

    def fail() -> None:
        raise StoreError("The disk failed")

    def fail_again(*_: Any) -> None:
        raise StoreError("The disk failed again")

    between(fail)
    with monkeypatch.context() as patch:
        patch.setattr(filling, "_give_up", fail_again)
        with pytest.raises(StoreError, match=r"The disk failed$"):
            engines[0].call("UpdateTable", ADD)
    others.write(10)
    between(lambda: None)
    assert statuses(engines[-1])["ByX"] == ("ACTIVE", None)
    expected = {key: item for key, item in others.stored.items() if "x" in item}
    assert by_key(pages(engines[0], "Scan", {**TABLE, "IndexName": "ByX"})) == expected
    assert engines[0].check() == []


# --- backups ----------------------------------------------------------------------------------------------


def back_up(engine: Engine, name: str = "first") -> str:
    arn: str = engine.call("CreateBackup", {**TABLE, "BackupName": name})["BackupDetails"]["BackupArn"]
    return arn


def restored(engine: Engine, arn: str, name: str = "copy") -> dict[Key, Item]:
    engine.call("RestoreTableFromBackup", {"TargetTableName": name, "BackupArn": arn})
    items = by_key(pages(engine, "Scan", {"TableName": name}))
    assert by_key(pages(engine, "Scan", {"TableName": name, "IndexName": "ByG"})).keys() == {
        key for key, item in items.items() if "g" in item and "h" in item
    }
    return items


def tables_of(engine: Engine) -> set[str]:
    """The names of all tables in the file."""
    connection = engine._storage.pool.take()
    names = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    engine._storage.pool.give(connection)
    return names


@pytest.mark.parametrize("seed", range(2))
def test_a_backup_is_what_the_table_was_when_it_began(engines: list[Engine], between: Any, seed: int) -> None:
    others = Others(engines, seed)
    create(engines[0])
    others.write(60)
    expected = dict(others.stored)
    seen: list[Any] = []

    def meanwhile() -> None:
        # The highest rows go, and their numbers are taken anew.
        for sk in range(others.chance.randrange(8)):
            others.engines[0].call("DeleteItem", {**TABLE, "Key": {"pk": s("b"), "sk": s(f"{sk:02}")}})
            others.stored.pop(("b", f"{sk:02}"), None)
        others.write(6)
        (backup,) = engines[-1].call("ListBackups", {})["BackupSummaries"]
        seen.append(backup["BackupStatus"])
        for operation, params in (
            ("DeleteBackup", {}),
            ("RestoreTableFromBackup", {"TargetTableName": "early"}),
        ):
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
    # A table that isn't being backed up pays nothing.
    before = engines[0].statements
    engines[0].call("PutItem", {**TABLE, "Item": {"pk": s("c"), "sk": s("d")}})
    assert engines[0].statements - before <= 5


@pytest.mark.parametrize("row", [15, 20])
def test_a_new_item_in_the_row_of_an_old_one_isnt_backed_up(between: Any, row: int) -> None:
    """SQLite gives the numbers of the highest rows again when these are gone, those among them of rows that were gone
    before the backup began.
    """
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


def test_several_backups_at_once(between: Any) -> None:
    with Engine.open(":memory:") as engine:
        others = Others([engine], 3)
        create(engine)
        others.write(60)
        expected = [dict(others.stored)]
        arns: list[str] = []

        def meanwhile() -> None:
            others.write()
            if not arns:
                expected.append(dict(others.stored))
                arns.append(back_up(engine, "second"))

        between(meanwhile)
        arns.insert(0, back_up(engine))
        between(lambda: None)
        for number, (arn, items) in enumerate(zip(arns, expected, strict=True)):
            assert restored(engine, arn, f"copy{number}") == items


@pytest.mark.parametrize("fault", [KeyboardInterrupt, StoreError("The disk failed")])
def test_a_backup_that_cant_be_made_isnt_there(between: Any, fault: BaseException | type[BaseException]) -> None:
    with Engine.open(":memory:") as engine:
        others = Others([engine], 5)
        create(engine)
        others.write(60)
        before = tables_of(engine) - {"keyplan_records"}

        def fail() -> None:
            raise fault

        between(fail)
        with pytest.raises((KeyboardInterrupt, StoreError)):
            back_up(engine)
        assert engine.call("ListBackups", {})["BackupSummaries"] == []
        others.write(5)
        assert {name.partition("_")[0] for name in tables_of(engine) - before} <= {"items", "keyplan"}
        between(lambda: None)
        assert restored(engine, back_up(engine)) == others.stored


def test_whoever_meets_a_backup_left_half_made_goes_on(
    engines: list[Engine], between: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = Others(engines, 7)
    create(engines[0])
    others.write(60)
    expected = dict(others.stored)

    def fail(*_: Any) -> None:
        raise StoreError("The disk failed")

    between(fail)
    with monkeypatch.context() as patch:
        patch.setattr(backups, "_give_up", fail)
        with pytest.raises(StoreError, match="The disk failed"):
            back_up(engines[0])
    others.write(20)
    between(lambda: others.write(3))
    (backup,) = engines[-1].call("ListBackups", {})["BackupSummaries"]
    assert backup["BackupStatus"] == "AVAILABLE"
    assert restored(engines[0], backup["BackupArn"]) == expected


def test_a_deleted_table_leaves_its_items_as_they_are(engines: list[Engine], between: Any) -> None:
    others = Others(engines, 8)
    create(engines[0])
    engines[0].call(
        "UpdateContinuousBackups",
        {**TABLE, "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}},
    )
    engines[0].call("UpdateTable", ADD_VECTORS)
    engines[0].call("UpdateTimeToLive", {**TABLE, "TimeToLiveSpecification": {"AttributeName": "t", "Enabled": True}})
    others.write(60)
    between(lambda: None)
    before = engines[0].statements
    engines[0].call("DeleteTable", TABLE)
    assert engines[0].statements - before <= 30
    (backup,) = engines[-1].call("ListBackups", {"BackupType": "SYSTEM"})["BackupSummaries"]
    assert {name.partition("_")[0] for name in tables_of(engines[0])} == {"keyplan", "backup", "sqlite"}
    described = engines[0].call("DescribeBackup", {"BackupArn": backup["BackupArn"]})["BackupDescription"]
    assert described["SourceTableDetails"]["ItemCount"] == len(others.stored)
    assert restored(engines[0], backup["BackupArn"], "orders") == others.stored
    assert engines[0].check() == []


# --- restores ---------------------------------------------------------------------------------------------

HISTORY = {**TABLE, "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
COPY = {"TableName": "copy"}
LATEST = {"SourceTableName": "orders", "TargetTableName": "copy", "UseLatestRestorableTime": True}


def meet(engine: Engine, operation: str, params: dict[str, Any]) -> None:
    """See a table that is being restored."""
    shown = engine.call("DescribeTable", COPY)["Table"]
    assert (shown["TableStatus"], shown["RestoreSummary"]["RestoreInProgress"]) == ("CREATING", True)
    assert {each["IndexStatus"] for each in shown["GlobalSecondaryIndexes"]} == {"CREATING"}
    for asked, more, error in (
        ("Scan", COPY, "ResourceNotFoundException"),
        ("DeleteTable", COPY, "ResourceInUseException"),
        (operation, params, "TableInUseException"),
    ):
        assert answer(engine, asked, more)["error"] == error


def test_a_backup_is_restored_in_pieces(engines: list[Engine], between: Any) -> None:
    others = Others(engines, 9)
    create(engines[0], GlobalSecondaryIndexes=[index("ByX", "x")], AttributeDefinitions=[*KEYS, *ADD_ATTRIBUTES])
    engines[0].call("UpdateTable", ADD_VECTORS)
    others.write(60)
    restore = {"BackupArn": back_up(engines[0]), "TargetTableName": "copy"}
    expected = dict(others.stored)

    def meanwhile() -> None:
        others.write()
        for engine in engines:
            meet(engine, "RestoreTableFromBackup", restore)
            assert answer(engine, "DeleteBackup", {"BackupArn": restore["BackupArn"]})["error"] == (
                "BackupInUseException"
            )

    count = between(meanwhile)
    engines[0].call("RestoreTableFromBackup", restore)
    assert len(count) >= 3
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


@pytest.mark.parametrize("seed", range(3))
def test_a_moment_is_restored_while_others_write(engines: list[Engine], between: Any, seed: int) -> None:
    others = Others(engines, seed)
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
        others.write(3)  # fewer than a piece takes, else it would never catch up
        meet(engines[-1], "RestoreTableToPointInTime", restore)
        assert answer(engines[-1], "DeleteTable", TABLE)["error"] == "ResourceInUseException"
        off = {**TABLE, "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": False}}
        assert answer(engines[-1], "UpdateContinuousBackups", off)["error"] == "ContinuousBackupsUnavailableException"

    count = between(meanwhile)
    engines[0].call("RestoreTableToPointInTime", restore)
    assert len(count) >= 3
    others.check()
    check_copy(engines, expected)


def test_a_restore_that_fails_leaves_nothing(between: Any) -> None:
    with Engine.open(":memory:") as engine:
        others = Others([engine], 5)
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


@pytest.mark.parametrize("operation", ["RestoreTableFromBackup", "RestoreTableToPointInTime"])
def test_whoever_meets_a_table_left_half_restored_goes_on(
    engines: list[Engine], between: Any, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    others = Others(engines, 7)
    create(engines[0])
    others.write(60)
    engines[0].call("UpdateContinuousBackups", HISTORY)
    params = {"BackupArn": back_up(engines[0]), "TargetTableName": "copy"} if "Backup" in operation else LATEST
    expected = dict(others.stored)

    def fail(*_: Any) -> None:
        raise StoreError("The disk failed")

    between(fail)
    with monkeypatch.context() as patch:
        patch.setattr(restoring, "_give_up", fail)
        with pytest.raises(StoreError, match="The disk failed"):
            engines[0].call(operation, params)
    between(lambda: others.write(3))
    for engine in engines:
        assert engine.call("DescribeTable", COPY)["Table"]["TableStatus"] == "ACTIVE"
        assert by_key(pages(engine, "Scan", COPY)) == expected
        assert engine.check() == []


# --- how much a transaction does --------------------------------------------------------------------------


def test_no_transaction_does_more_than_a_piece(between: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with Engine.open(":memory:") as engine:
        create(engine)
        for number in range(100):
            put(engine, "a", str(number), x=s("p"), v={"L": [n(1), n(2)]})
        between(lambda: None)
        statements: list[int] = []
        transaction = Storage._transaction

        def counted(self: Storage, *args: Any) -> Any:
            before = self.statements
            result = transaction(self, *args)
            statements.append(self.statements - before)
            return result

        monkeypatch.setattr(Storage, "_transaction", counted)
        backup = {**TABLE, "BackupName": "first"}
        engine.call("UpdateContinuousBackups", HISTORY)
        arn = back_up(engine)
        from_backup = {"BackupArn": arn, "TargetTableName": "other"}
        for operation, params in (
            ("UpdateTable", ADD),
            ("UpdateTable", ADD_VECTORS),
            ("CreateBackup", backup),
            ("RestoreTableFromBackup", from_backup),
            ("RestoreTableToPointInTime", LATEST),
        ):
            statements.clear()
            engine.call(operation, params)
            assert len(statements) >= 100 / ROWS
            assert max(statements) <= 20 + 4 * ROWS
