"""Operations on damaged items raise only Keyplan's own errors. A damaged item can be overwritten."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan.errors import KeyplanError, StoreError
from keyplan.store import Engine
from tests.engine.support import create, index, n, s

TABLE = {"TableName": "orders"}
KEY = {"pk": s("a"), "sk": s("1")}
ITEM: dict[str, Any] = {
    **KEY,
    "g": s("g"),
    "h": s("h"),
    "x": s("x"),
    "num": n(5),
    "l": {"L": [s("q"), n(1)]},
    "m": {"M": {"k": s("v"), "d": {"M": {"z": n(3)}}}},
    "ss": {"SS": ["a", "b"]},
    "ttl": n(10),
    "v": {"L": [n(1), n(2)]},
    "b": {"B": "AAE="},
}
NO_VALUES: list[Any] = [
    *(5, {}, [], "x", None, True, {"S": 5}, {"N": 5}, {"N": "abc"}, {"N": ""}, {"SS": "a"}, {"SS": [1]}),
    *({"NS": ["x"]}, {"L": 5}, {"L": [5]}, {"L": [{}]}, {"L": ["x"]}, {"M": []}, {"M": {"k": 5}}, {"B": "!!"}),
    *({"g": 5}, {"S": "a", "N": "1"}, {"NULL": 5}, {"BOOL": "x"}, {"M": {"d": {"M": {"z": {}}}}}, {"L": [{"Q": 1}]}),
]
SELECT = "SELECT * FROM orders WHERE pk = 'a' AND sk = '1'"
KEYED = {**TABLE, "Key": KEY}
ALL = {"ReturnConsumedCapacity": "INDEXES"}


def query(index_name: str | None = None, name: str = "pk", value: str = "a", **more: Any) -> tuple[str, dict[str, Any]]:
    asked = {"KeyConditionExpression": f"{name} = :p", "ExpressionAttributeValues": {":p": s(value)}}
    values = {**asked["ExpressionAttributeValues"], **more.pop("values", {})}  # type: ignore[dict-item]
    named = {} if index_name is None else {"IndexName": index_name}
    return "Query", {**TABLE, **asked, **named, **more, "ExpressionAttributeValues": values}


def update(text: str, returned: str = "NONE", **values: Any) -> tuple[str, dict[str, Any]]:
    given = {"ExpressionAttributeValues": {f":{name}": value for name, value in values.items()}} if values else {}
    return "UpdateItem", {**KEYED, "UpdateExpression": text, "ReturnValues": returned, **given, **ALL}


def transact(kind: str, **members: Any) -> tuple[str, dict[str, Any]]:
    return "TransactWriteItems", {"TransactItems": [{kind: {**TABLE, **members}}], **ALL}


def statement(text: str) -> tuple[str, dict[str, Any]]:
    return "ExecuteStatement", {"Statement": text}


IF_NUM = {"ConditionExpression": "num > :n AND m.k <> :n", "ExpressionAttributeValues": {":n": n(0)}}
FILTER = "size(m) > :n AND begins_with(x, :s) OR attribute_type(b, :s) OR m.k = :s OR l[1] < :n OR contains(ss, :s)"
NEW_INDEX = {
    **TABLE,
    "AttributeDefinitions": [{"AttributeName": "num", "AttributeType": "N"}],
    "GlobalSecondaryIndexUpdates": [{"Create": index("New", "num")}],
}
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("GetItem", KEYED),
    ("GetItem", {**KEYED, "ProjectionExpression": "g, m.d.z, l[0], x"}),
    query(),
    query(Limit=1),
    query(FilterExpression="num > :n AND contains(ss, :s)", values={":n": n(1), ":s": s("v")}),
    query("ByG", "g", "g", Limit=1, **ALL),
    query("Keys", "g", "g", Limit=1),
    query("Some", "x", "x", ProjectionExpression="m.k"),
    query("Local", Select="ALL_ATTRIBUTES", **ALL),
    ("Scan", TABLE),
    ("Scan", {**TABLE, "FilterExpression": FILTER, "ExpressionAttributeValues": {":n": n(1), ":s": s("S")}}),
    ("Scan", {**TABLE, "IndexName": "Keys", "Limit": 1}),
    ("Scan", {**TABLE, "ScanFilter": {"num": {"ComparisonOperator": "GT", "AttributeValueList": [n(1)]}}}),
    ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [KEY], "ProjectionExpression": "m.k"}}, **ALL}),
    ("TransactGetItems", {"TransactItems": [{"Get": KEYED}], **ALL}),
    ("TransactGetItems", {"TransactItems": [{"Get": {**KEYED, "ProjectionExpression": "m.k, l[0]"}}]}),
    statement(SELECT),
    statement(SELECT.replace("*", "m.k, l[0], x")),
    statement("SELECT m.k, l[0] FROM orders WHERE pk = 'a' AND num > 1 AND contains(x, 'x')"),
    ("BatchExecuteStatement", {"Statements": [{"Statement": SELECT.replace("*", "m.k, l[0]")}]}),
    ("ExecuteTransaction", {"TransactStatements": [{"Statement": f"{SELECT} AND num > 1"}]}),
    update("SET num = num + :n", n=n(1)),
    update("ADD num :n", "ALL_OLD", n=n(1)),
    update("SET m.k = :s", "UPDATED_OLD", s=s("v")),
    update("SET l = list_append(l, :l)", "UPDATED_NEW", l={"L": [s("z")]}),
    update("DELETE ss :ss", "ALL_NEW", ss={"SS": ["a"]}),
    update("REMOVE l[0], m.d.z", "UPDATED_OLD"),
    update("SET g = :s, x = :s", "UPDATED_OLD", s=s("v")),
    ("UpdateItem", {**KEYED, "AttributeUpdates": {"num": {"Action": "ADD", "Value": n(1)}}}),
    ("PutItem", {**TABLE, "Item": KEY, "ReturnValues": "ALL_OLD", **ALL}),
    ("PutItem", {**TABLE, "Item": ITEM, **IF_NUM, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}),
    ("PutItem", {**TABLE, "Item": KEY}),
    ("DeleteItem", {**KEYED, **ALL, "ReturnItemCollectionMetrics": "SIZE"}),
    ("DeleteItem", {**KEYED, "ReturnValues": "ALL_OLD"}),
    ("DeleteItem", {**KEYED, **IF_NUM}),
    ("BatchWriteItem", {"RequestItems": {"orders": [{"DeleteRequest": {"Key": KEY}}]}, **ALL}),
    ("BatchWriteItem", {"RequestItems": {"orders": [{"PutRequest": {"Item": ITEM}}]}, **ALL}),
    transact("Update", Key=KEY, UpdateExpression="SET num = num + :n", ExpressionAttributeValues={":n": n(1)}),
    transact("Put", Item=KEY, **IF_NUM, ReturnValuesOnConditionCheckFailure="ALL_OLD"),
    transact("ConditionCheck", Key=KEY, **IF_NUM),
    ("TransactWriteItems", {"TransactItems": [{"Delete": KEYED}], **ALL, "ReturnItemCollectionMetrics": "SIZE"}),
    statement("UPDATE orders SET num = num + 1 WHERE pk = 'a' AND sk = '1' RETURNING ALL OLD *"),
    statement("UPDATE orders REMOVE m.k WHERE pk = 'a' AND sk = '1' AND num > 1 RETURNING MODIFIED OLD *"),
    statement("DELETE FROM orders WHERE pk = 'a' AND sk = '1' RETURNING ALL OLD *"),
    ("ExportTableToPointInTime", {"S3Bucket": "bucket", "ExportFormat": "DYNAMODB_JSON"}),
    ("ExportTableToPointInTime", {"S3Bucket": "bucket", "ExportFormat": "ION"}),
    ("CreateBackup", {**TABLE, "BackupName": "first"}),
    (
        "RestoreTableToPointInTime",
        {"SourceTableName": "orders", "TargetTableName": "copy", "UseLatestRestorableTime": True},
    ),
    ("UpdateTable", NEW_INDEX),
    ("sweep", {}),
    ("check", {}),
]


@pytest.fixture(params=[False, True], ids=["shown", "raw"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """A store with indexes, a stream, point-in-time recovery and TTL."""
    (tmp_path / "s3" / "bucket").mkdir(parents=True)
    with Engine.open(tmp_path / "store.db", s3=tmp_path / "s3", raw_items=request.param, synchronous="OFF") as engine:
        some = {**index("Some", "x"), "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["num", "m"]}}
        create(
            engine,
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "g", "h", "x")
            ],
            GlobalSecondaryIndexes=[index("ByG", "g", "h"), index("Keys", "g", projection="KEYS_ONLY"), some],
            LocalSecondaryIndexes=[index("Local", "pk", "h", projection="KEYS_ONLY")],
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        )
        recovery = {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
        engine.call("UpdateContinuousBackups", {**TABLE, **recovery})
        engine.call("UpdateTimeToLive", {**TABLE, "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"}})
        yield engine


def damaged(chance: random.Random, item: dict[str, Any]) -> bytes:
    body = json.dumps(item).encode()
    kind = chance.randrange(6)
    if kind == 0:
        bits = bytearray(body)
        bits[chance.randrange(len(bits))] ^= 1 << chance.randrange(8)
        return bytes(bits)
    if kind == 1:
        return body[: chance.randrange(len(body))]
    if kind == 2:
        return json.dumps(chance.choice(NO_VALUES)).encode()
    changed = dict(item)
    for name in chance.sample(sorted(item), 2):
        changed[name] = chance.choice(NO_VALUES)
    if chance.random() < 0.1:
        del changed[chance.choice(sorted(item))]
    return json.dumps(changed).encode()


def overwrite(engine: Engine, body: bytes) -> None:
    """Overwrite the stored bytes of the item."""
    connection = engine._storage.pool.take()
    ((name,),) = connection.execute("SELECT name FROM sqlite_schema WHERE name LIKE 'items_1%'").fetchall()
    connection.execute("DROP TRIGGER IF EXISTS expires_1_update")  # the trigger would fail on the damaged bytes
    connection.execute(f"UPDATE {name} SET body = ? WHERE sk = '1'", (body,))
    engine._storage.pool.give(connection)


def run(engine: Engine, operation: str, params: dict[str, Any]) -> None:
    if operation in {"sweep", "check"}:
        getattr(engine, operation)()
        return
    if operation == "ExportTableToPointInTime":
        arn = engine.call("DescribeTable", TABLE)["Table"]["TableArn"]
        started = engine.call(operation, {**params, "TableArn": arn})["ExportDescription"]
        export = engine.call("DescribeExport", {"ExportArn": started["ExportArn"]})["ExportDescription"]
        assert export["ExportStatus"] == "COMPLETED" or "A stored item is damaged" in export["FailureMessage"]
        return
    engine.call(operation, params)


@pytest.mark.parametrize("seed", range(2))
def test_operations_on_damaged_items_raise_only_keyplan_errors(engine: Engine, seed: int) -> None:
    chance = random.Random(seed)
    refused = 0
    for operation, params in [*REQUESTS, *chance.choices(REQUESTS, k=150)]:
        engine.call("PutItem", {**TABLE, "Item": ITEM})
        overwrite(engine, damaged(chance, ITEM))
        try:
            run(engine, operation, params)
        except KeyplanError as error:
            refused += isinstance(error, StoreError)
        overwrite(engine, damaged(chance, ITEM))
        engine.call("PutItem", {**TABLE, "Item": ITEM})
        assert engine.call("GetItem", KEYED)["Item"]
        overwrite(engine, damaged(chance, ITEM))
        engine.call("DeleteItem", KEYED)
        assert "Item" not in engine.call("GetItem", KEYED)
        for name in engine.call("ListTables", {})["TableNames"][:-1]:
            engine.call("DeleteTable", {"TableName": name})
        shown = engine.call("DescribeTable", TABLE)["Table"]["GlobalSecondaryIndexes"]
        if any(each["IndexName"] == "New" for each in shown):
            engine.call("UpdateTable", {**TABLE, "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "New"}}]})
    assert refused >= 40


NEW = {**ITEM, "g": s("new"), "num": n(6)}


OTHER_ENTRIES: list[dict[str, Any]] = [{"g": s("other")}, {"g": s("other"), "h": s("other")}, {"x": s("y")}, NEW]
NO_ENTRIES: list[dict[str, Any]] = [{"h": None}, {"g": None}, {"x": s("")}]


@pytest.mark.parametrize("changed", OTHER_ENTRIES + NO_ENTRIES)
@pytest.mark.parametrize("write", ["put", "delete", "transact", "batch"])
def test_index_entries_of_a_damaged_item_are_removed(engine: Engine, write: str, changed: dict[str, Any]) -> None:
    """An item with a flipped bit may be readable even if its keys differ from those of its index entries."""
    engine.call("PutItem", {**TABLE, "Item": ITEM})
    body = {name: value for name, value in {**ITEM, **changed}.items() if value is not None}
    overwrite(engine, json.dumps(body).encode())
    asked = {
        "put": ("PutItem", {**TABLE, "Item": NEW}),
        "delete": ("DeleteItem", KEYED),
        "transact": transact("Put", Item=NEW),
        "batch": ("BatchWriteItem", {"RequestItems": {"orders": [{"DeleteRequest": {"Key": KEY}}]}}),
    }
    engine.call(*asked[write])
    assert engine.check() == []
    left = [NEW] if write in {"put", "transact"} else []
    for name in ("ByG", "Keys", "Some", "Local"):
        assert engine.call("Scan", {**TABLE, "IndexName": name})["Count"] == len(left)


def test_writes_that_read_an_item_with_a_wrong_checksum_are_rejected(engine: Engine) -> None:
    """If writes didn't verify the checksum, they would store the damaged value with a valid checksum."""
    for write in (
        update("SET num = num + :n", n=n(1)),
        ("PutItem", {**TABLE, "Item": KEY, **IF_NUM}),
        ("DeleteItem", {**KEYED, "ReturnValues": "ALL_OLD"}),
        transact("ConditionCheck", Key=KEY, **IF_NUM),
        statement("UPDATE orders SET num = num + 1 WHERE pk = 'a' AND sk = '1'"),
    ):
        engine.call("PutItem", {**TABLE, "Item": ITEM})
        overwrite(engine, json.dumps({**ITEM, "num": n(7)}).encode())
        with pytest.raises(StoreError, match="A stored item is damaged: the checksum doesn't match"):
            engine.call(*write)
        assert {finding.code for finding in engine.check()} == {"ItemDamaged"}
