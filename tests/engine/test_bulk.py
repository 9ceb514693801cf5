"""Bulk put operations: conditions, error logs, client tokens and cancellation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan.store import Engine
from keyplan.store.transfer import bulk_operations as bulk
from tests.engine.support import answer, create, get, index, n, put, s


@pytest.fixture
def bucket(tmp_path: Path) -> Path:
    folder = tmp_path / "s3" / "bucket"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture(params=["memory", "file"])
def engine(request: pytest.FixtureRequest, tmp_path: Path, bucket: Path) -> Iterator[Engine]:
    path = ":memory:" if request.param == "memory" else str(tmp_path / "store.db")
    with Engine.open(path, s3=bucket.parent) as opened:
        create(opened)
        yield opened


def request(**more: Any) -> dict[str, Any]:
    return {
        "TableName": "orders",
        "InputS3Configuration": {"S3Bucket": "bucket", "S3KeyPrefix": "in/", "InputFormat": "DYNAMODB_JSON"},
        "OutputS3Configuration": {
            "S3Bucket": "bucket",
            "S3KeyPrefix": "out",
            "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"],
        },
        **more,
    }


def start(engine: Engine, **more: Any) -> dict[str, Any]:
    started = engine.call("StartBulkPutItems", request(**more))["BulkOperationDescription"]
    assert started["BulkOperationStatus"] == "IN_PROGRESS"
    requested = {"BulkOperationArn": started["BulkOperationArn"]}
    done: dict[str, Any] = engine.call("DescribeBulkOperation", requested)["BulkOperationDescription"]
    return done


def write(bucket: Path, *records: dict[str, Any] | bytes, name: str = "in/1") -> None:
    place = bucket / name
    place.parent.mkdir(exist_ok=True)
    lines = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in records]
    place.write_bytes(b"".join(line + b"\n" for line in lines))


def logged(bucket: Path, description: dict[str, Any]) -> list[dict[str, Any]]:
    number = description["BulkOperationArn"].rpartition("/")[2]
    log = bucket.parent / ".logs" / "aws-dynamodb" / "bulk-operations" / number / "error"
    return [json.loads(line) for line in log.read_bytes().splitlines()]


def item(pk: str, **attributes: Any) -> dict[str, Any]:
    return {"Item": {"pk": s(pk), "sk": s("1"), **attributes}}


def test_bulk_items_are_put_only_if_their_conditions_are_true(engine: Engine, bucket: Path) -> None:
    put(engine, "a", "1", value=n(1))
    unless = {"ConditionExpression": "attribute_not_exists(pk)"}
    under = {
        "ConditionExpression": "#v = :one",
        "ExpressionAttributeNames": {"#v": "value"},
        "ExpressionAttributeValues": {":one": n(1)},
    }
    write(bucket, item("a", value=n(2)) | unless, item("b", g=s("g"), h=s("h")) | unless, item("c") | under)
    write(bucket, item("a", value=n(3)) | under, name="in/2")
    done = start(engine, ClientToken="t", MaxWriteRequestUnits=1024)
    assert done["BulkOperationStatus"] == "COMPLETED"
    assert (done["ProcessedItemCount"], done["FailedItemCount"]) == (4, 0)
    assert done["ProcessedInputBytes"] == done["TotalInputBytes"] > 0
    assert done["BulkOperationUsage"] == [
        {
            "TableName": "orders",
            "BulkPutBytes": 3072,
            "Table": {"BulkPutBytes": 2048},
            "GlobalSecondaryIndexes": {"ByG": {"BulkPutBytes": 1024}},
        }
    ]
    assert get(engine, "a", "1") == item("a", value=n(3))["Item"]
    assert get(engine, "b", "1") is not None
    refused = logged(bucket, done)
    assert [(line["key"], line["itemIndex"]) for line in refused] == [("in/1", 0), ("in/1", 2)]
    assert refused[0]["errorMessage"] == "The conditional request failed"
    assert engine.check() == []


def test_invalid_items_of_a_bulk_operation_are_logged(engine: Engine, bucket: Path) -> None:
    write(
        bucket,
        {"Item": {"pk": s("x")}},
        item("a", x={"Q": 1}),
        item("b") | {"ConditionExpression": "(("},
        item("b") | {"ConditionExpression": 7},
        item("c"),
        b"garbage",
        item("never"),
    )
    done = start(engine)
    assert done["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS"
    assert (done["ProcessedItemCount"], done["FailedItemCount"]) == (6, 5)
    errors = logged(bucket, done)
    assert [line["itemIndex"] for line in errors] == [0, 1, 2, 3, 5]
    assert errors[0]["errorMessage"] == "One or more parameter values were invalid: Missing the key sk in the item"
    assert get(engine, "c", "1") is not None


def test_ion_items_with_conditions_are_imported(engine: Engine, bucket: Path) -> None:
    write(
        bucket,
        b'$ion_1_0 {Item:{pk:"a",sk:"1",n:1.},ConditionExpression:"#n <> :n",'
        b"ExpressionAttributeNames:{'#n':\"n\"},ExpressionAttributeValues:{':n':5}}",
        b'{Item:{pk:"b",sk:"1"}}',
    )
    source = {"S3Bucket": "bucket", "S3KeyPrefix": "in/", "InputFormat": "ION"}
    assert start(engine, InputS3Configuration=source)["BulkOperationStatus"] == "COMPLETED"
    assert get(engine, "a", "1") == item("a", n=n(1))["Item"]
    assert get(engine, "b", "1") is not None


def test_invalid_bulk_operations_are_rejected(engine: Engine, bucket: Path) -> None:
    assert answer(engine, "StartBulkPutItems", request(TableName="missing"))["error"] == "ResourceNotFoundException"
    none = request()
    none["OutputS3Configuration"]["OutputType"] = []
    assert answer(engine, "StartBulkPutItems", none)["error"] == "ValidationException"
    source = {"S3Bucket": "missing", "InputFormat": "DYNAMODB_JSON"}
    done = start(engine, InputS3Configuration=source)
    assert (done["BulkOperationStatus"], done["FailureCode"]) == ("FAILED", "S3NoSuchBucket")
    arn = "arn:aws:dynamodb:local:000000000000:table/orders/bulk-operation/01790000000000-00000000"
    for operation in ("DescribeBulkOperation", "CancelBulkOperation"):
        assert answer(engine, operation, {"BulkOperationArn": arn})["error"] == "ResourceNotFoundException"


def test_client_token_makes_a_bulk_operation_idempotent(engine: Engine, bucket: Path) -> None:
    write(bucket, item("a"))
    first = start(engine, ClientToken="t")
    assert engine.call("StartBulkPutItems", request(ClientToken="t"))["BulkOperationDescription"] == first
    other = request(ClientToken="t", PerformanceTier="ACCELERATED")
    assert answer(engine, "StartBulkPutItems", other)["error"] == "IdempotentParameterMismatchException"
    start(engine)
    page = engine.call("ListBulkOperations", {"MaxResults": 1})
    rest = engine.call("ListBulkOperations", {"MaxResults": 1, "NextToken": page["NextToken"]})
    assert [each["BulkOperationArn"] for each in rest["BulkOperationsSummaryList"]] == [first["BulkOperationArn"]]
    assert "NextToken" not in rest


def test_bulk_operation_can_be_canceled(engine: Engine, bucket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "TOGETHER", 2)
    write(bucket, *(item(f"{number}") for number in range(6)))
    requested: list[str] = []

    def cancel_once(arn: str) -> None:
        if not requested and get(engine, "1", "1") is not None:
            requested.append(arn)
            assert engine.call("CancelBulkOperation", {"BulkOperationArn": arn})["BulkOperationStatus"] == "CANCELLING"

    prepared = bulk._write_of

    def write_of(database: Any, name: str, record: Any) -> Any:
        listed = engine.call("ListBulkOperations", {})["BulkOperationsSummaryList"]
        cancel_once(listed[0]["BulkOperationArn"])
        return prepared(database, name, record)

    monkeypatch.setattr(bulk, "_write_of", write_of)
    done = start(engine)
    assert (done["BulkOperationStatus"], done["FailureCode"]) == ("CANCELLED", "UserCancelled")
    assert get(engine, "1", "1") is not None
    assert get(engine, "2", "1") is None
    refused = answer(engine, "CancelBulkOperation", {"BulkOperationArn": requested[0]})
    assert refused["error"] == "ValidationException"


def test_bulk_operation_continues_after_an_index_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bucket" / "in").mkdir(parents=True)
    records = [{"Item": {"pk": s("a"), "sk": s(str(number)), "x": s("x")}} for number in range(3)]
    (tmp_path / "bucket" / "in" / "1").write_text("".join(json.dumps(record) + "\n" for record in records))
    source = {"S3Bucket": "bucket", "S3KeyPrefix": "in/", "InputFormat": "DYNAMODB_JSON"}
    output = {"S3Bucket": "bucket", "S3KeyPrefix": "/out/", "OutputType": ["ERROR"]}
    requested = {"TableName": "orders", "InputS3Configuration": source, "OutputS3Configuration": output}
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
        arn = engine.call("StartBulkPutItems", requested)["BulkOperationDescription"]["BulkOperationArn"]
        done = engine.call("DescribeBulkOperation", {"BulkOperationArn": arn})["BulkOperationDescription"]
        assert (done["BulkOperationStatus"], done["ProcessedItemCount"], done["FailedItemCount"]) == ("COMPLETED", 3, 0)
        assert engine.call("Scan", {"TableName": "orders", "IndexName": "ByX"})["Count"] == 3
        assert engine.check() == []
