"""What the served store does like the service under load, on request: an SDK meets the service's errors, and lag."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]
import pytest
from botocore.config import Config  # type: ignore[import-untyped]

from keyplan.errors import RequestError
from keyplan.store.server import Settings
from tests.server.support import CREATE, TABLE, Server, s, serving

ITEM = {"pk": s("a"), "sk": s("1"), "g": s("g")}
QUESTION = {
    "TableName": TABLE,
    "IndexName": "ByG",
    "KeyConditionExpression": "g = :g",
    "ExpressionAttributeValues": {":g": s("g")},
}


def client_of(server: Server) -> Any:
    return boto3.client(
        "dynamodb",
        endpoint_url=server.url,
        region_name="eu-west-1",
        aws_access_key_id="dev",
        aws_secret_access_key="secret",
        config=Config(retries={"max_attempts": 1, "mode": "standard"}),
    )


def put_many(client: Any, item: dict[str, Any]) -> None:
    for number in range(1000):
        client.put_item(TableName=TABLE, Item={**item, "sk": s(number)})


@pytest.mark.nightly
def test_an_sdk_is_throttled(tmp_path: Path) -> None:
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    provisioned: dict[str, Any] = {**CREATE, "BillingMode": "PROVISIONED", "ProvisionedThroughput": units}
    index = {**CREATE["GlobalSecondaryIndexes"][0], "ProvisionedThroughput": units}
    large = {**ITEM, "x": s("x" * 200_000)}
    with serving(str(tmp_path / "store.db"), throttle=True) as server:
        client = client_of(server)
        client.create_table(**{**provisioned, "GlobalSecondaryIndexes": [index]})
        client.put_item(TableName=TABLE, Item=large)
        with pytest.raises(client.exceptions.ProvisionedThroughputExceededException) as caught:
            client.put_item(TableName=TABLE, Item=ITEM)
        arn = client.describe_table(TableName=TABLE)["Table"]["TableArn"]
        assert caught.value.response["ThrottlingReasons"] == [
            {"reason": "TableWriteProvisionedThroughputExceeded", "resource": arn},
            {"reason": "IndexWriteProvisionedThroughputExceeded", "resource": f"{arn}/index/ByG"},
        ]
        client.update_table(TableName=TABLE, BillingMode="PAY_PER_REQUEST")
        with pytest.raises(client.exceptions.ThrottlingException) as limited:
            put_many(client, large)  # some 196 units each, of a partition that has 1,000 a second
        reasons = [each["reason"] for each in limited.value.response["throttlingReasons"]]
        assert "TableWriteKeyRangeThroughputExceeded" in reasons


def test_an_index_lags(tmp_path: Path) -> None:
    with serving(str(tmp_path / "store.db"), index_lag_ms=600_000) as server:
        server.call("CreateTable", CREATE)
        server.call("PutItem", {"TableName": TABLE, "Item": ITEM})
        assert server.call("Query", QUESTION)["Count"] == 0
        assert server.call("Scan", {"TableName": TABLE})["Count"] == 1
    with serving(":memory:", index_lag_ms=1) as server:
        server.call("CreateTable", CREATE)
        server.call("PutItem", {"TableName": TABLE, "Item": ITEM})
        while server.call("Query", QUESTION)["Count"] == 0:
            pass


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"workers": 2, "throttle": True}, "one worker only"),
        ({"workers": 2, "index_lag_ms": 5}, "one worker only"),
        ({"index_lag_ms": -1}, "at least 0 ms"),
        ({"sweep_s": -1}, "at least 0 s"),
    ],
)
def test_settings_that_can_not_be(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        Settings("store.db", **settings)
