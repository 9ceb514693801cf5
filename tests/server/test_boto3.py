"""Programs that use boto3's client and resource, as users write them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]
import pytest
from boto3.dynamodb.conditions import Attr, Key  # type: ignore[import-untyped]
from botocore.config import Config  # type: ignore[import-untyped]
from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from tests.server.support import Server, serving, started

ID, SECRET = "dev", "secret"
CLI = [sys.executable, "-c", "from keyplan.cli.dynamodb import command; command()"]


@pytest.fixture(scope="module")
def signed_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that requires an access key, with two workers on one file."""
    with serving(str(tmp_path_factory.mktemp("boto3") / "store.db"), keys={ID: SECRET}, workers=2) as server:
        yield server


def options(server: Server, secret: str = SECRET) -> dict[str, Any]:
    return {
        "endpoint_url": server.url,
        "region_name": "eu-west-1",
        "aws_access_key_id": ID,
        "aws_secret_access_key": secret,
        "config": Config(retries={"max_attempts": 0}),
    }


@pytest.fixture(scope="module")
def client(signed_server: Server) -> Any:
    return boto3.client("dynamodb", **options(signed_server))


@pytest.fixture
def table(signed_server: Server, request: pytest.FixtureRequest) -> Iterator[Any]:
    resource = boto3.resource("dynamodb", **options(signed_server))
    made = resource.create_table(
        TableName=request.node.name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "N"},
            {"AttributeName": "kind", "AttributeType": "S"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by_kind",
                "KeySchema": [
                    {"AttributeName": "kind", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["note"]},
            }
        ],
    )
    made.wait_until_exists()
    yield made
    made.delete()
    made.wait_until_not_exists()


def test_boto3_reads_items_with_the_types_that_were_written(table: Any) -> None:
    item = {
        "pk": "a",
        "sk": 1,
        "number": Decimal("3.1415926535897932384626433832795028841"),
        "binary": b"\x00\xff",
        "set": {"x", "y"},
        "numbers": {Decimal(1), Decimal("2.5")},
        "map": {"list": [1, None, True, "text"], "empty": {}},
        "text": "größer 😀",
    }
    table.put_item(Item=item)
    result = table.get_item(Key={"pk": "a", "sk": 1}, ConsistentRead=True, ReturnConsumedCapacity="TOTAL")
    assert result["Item"] == item
    assert result["ConsumedCapacity"]["CapacityUnits"] == 1.0
    assert "Item" not in table.get_item(Key={"pk": "a", "sk": 2})


def test_boto3_queries_batches_and_filters_return_the_expected_items(table: Any, client: Any) -> None:
    with table.batch_writer(overwrite_by_pkeys=["pk", "sk"]) as batch:
        for number in range(120):
            batch.put_item(Item={"pk": "a", "sk": number, "kind": f"k{number % 2}", "note": "n", "other": "o" * 100})
        for number in range(0, 120, 10):
            batch.delete_item(Key={"pk": "a", "sk": number})
    pages = client.get_paginator("query").paginate(
        TableName=table.name,
        KeyConditionExpression="pk = :p AND sk BETWEEN :a AND :b",
        ExpressionAttributeValues={":p": {"S": "a"}, ":a": {"N": "11"}, ":b": {"N": "49"}},
        PaginationConfig={"PageSize": 7},
    )
    assert [int(item["sk"]["N"]) for page in pages for item in page["Items"]] == [
        number for number in range(11, 50) if number % 10
    ]
    scanned = [
        item["sk"]["N"]
        for segment in range(3)
        for page in client.get_paginator("scan").paginate(TableName=table.name, TotalSegments=3, Segment=segment)
        for item in page["Items"]
    ]
    assert len(scanned) == len(set(scanned)) == 108
    answer = table.query(
        IndexName="by_kind",
        KeyConditionExpression=Key("kind").eq("k1") & Key("sk").lt(30),
        FilterExpression=Attr("note").begins_with("n") & Attr("note").ne("m"),
        ScanIndexForward=False,
    )
    assert [item["sk"] for item in answer["Items"]] == list(range(29, 0, -2))
    assert all(item.keys() == {"pk", "sk", "kind", "note"} for item in answer["Items"])
    keys = [{"pk": {"S": "a"}, "sk": {"N": str(number)}} for number in range(1, 10)]
    got = client.batch_get_item(RequestItems={table.name: {"Keys": keys, "ProjectionExpression": "sk"}})
    assert got["Responses"][table.name] == [{"sk": key["sk"]} for key in keys]
    assert got["UnprocessedKeys"] == {}


def test_update_returns_new_values_or_fails_if_its_condition_is_false(table: Any, client: Any) -> None:
    key = {"pk": "a", "sk": 1}
    for _ in range(3):
        answer = table.update_item(
            Key=key,
            UpdateExpression="ADD visits :one SET #n = if_not_exists(#n, :first)",
            ExpressionAttributeNames={"#n": "name"},
            ExpressionAttributeValues={":one": 1, ":first": "Ada"},
            ReturnValues="ALL_NEW",
        )
    assert answer["Attributes"] == {**key, "visits": 3, "name": "Ada"}
    with pytest.raises(client.exceptions.ConditionalCheckFailedException) as caught:
        table.put_item(
            Item=key, ConditionExpression=Attr("visits").gt(5), ReturnValuesOnConditionCheckFailure="ALL_OLD"
        )
    assert caught.value.response["Item"]["visits"] == {"N": "3"}
    old = table.delete_item(Key=key, ConditionExpression=Attr("visits").eq(3), ReturnValues="ALL_OLD")
    assert old["Attributes"]["name"] == "Ada"


def test_transactions_are_idempotent_and_report_cancellation_reasons(table: Any, client: Any) -> None:
    def put(number: int, **more: Any) -> dict[str, Any]:
        return {"Put": {"TableName": table.name, "Item": {"pk": {"S": "a"}, "sk": {"N": str(number)}}, **more}}

    client.transact_write_items(TransactItems=[put(1), put(2)], ClientRequestToken="once")
    client.transact_write_items(TransactItems=[put(1), put(2)], ClientRequestToken="once")
    with pytest.raises(client.exceptions.IdempotentParameterMismatchException):
        client.transact_write_items(TransactItems=[put(3)], ClientRequestToken="once")
    condition = {"ConditionExpression": "attribute_not_exists(pk)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    with pytest.raises(client.exceptions.TransactionCanceledException) as caught:
        client.transact_write_items(TransactItems=[put(3), put(2, **condition)])
    reasons = caught.value.response["CancellationReasons"]
    assert [reason["Code"] for reason in reasons] == ["None", "ConditionalCheckFailed"]
    assert reasons[1]["Item"]["sk"] == {"N": "2"}
    assert caught.value.response["Message"].endswith("[None, ConditionalCheckFailed]")
    gets = [{"Get": {"TableName": table.name, "Key": put(n)["Put"]["Item"]}} for n in (1, 3)]
    answer = client.transact_get_items(TransactItems=gets)
    assert [response.get("Item", {}).get("sk") for response in answer["Responses"]] == [{"N": "1"}, None]


def test_request_signed_with_a_wrong_secret_is_rejected(signed_server: Server) -> None:
    stranger = boto3.client("dynamodb", **options(signed_server, "wrong"))
    with pytest.raises(ClientError) as caught:
        stranger.list_tables()
    assert caught.value.response["Error"]["Code"] == "InvalidSignatureException"


def test_sdk_waiters_wait_for_tables(tmp_path: Path) -> None:
    """In this test, tables have the statuses CREATING and DELETING for a second."""
    with started([*CLI, "--state-delay", "1", "--port", "0", "--db", str(tmp_path / "store.db")]) as server:
        client = boto3.client("dynamodb", **options(server))
        made = client.create_table(
            TableName="waited",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        )
        assert made["TableDescription"]["TableStatus"] == "CREATING"
        assert client.meta.endpoint_url == f"http://{client.describe_endpoints()['Endpoints'][0]['Address']}"
        item = {"pk": {"S": "a"}}
        with pytest.raises(client.exceptions.ResourceNotFoundException):
            client.put_item(TableName="waited", Item=item)
        often = {"Delay": 0.1, "MaxAttempts": 100}
        client.get_waiter("table_exists").wait(TableName="waited", WaiterConfig=often)
        assert client.describe_table(TableName="waited")["Table"]["TableStatus"] == "ACTIVE"
        client.put_item(TableName="waited", Item=item)
        assert client.get_item(TableName="waited", Key=item)["Item"] == item
        deleted = client.delete_table(TableName="waited")
        assert deleted["TableDescription"]["TableStatus"] == "DELETING"
        assert client.describe_table(TableName="waited")["Table"]["TableStatus"] == "DELETING"
        client.get_waiter("table_not_exists").wait(TableName="waited", WaiterConfig=often)
        assert client.list_tables()["TableNames"] == []
