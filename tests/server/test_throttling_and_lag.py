"""Simulated throttling and index lag, as observed by an SDK."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.server.support import CREATE, TABLE, boto3_client, s, serving

ITEM = {"pk": s("a"), "sk": s("1"), "g": s("g")}
QUERY = {
    "TableName": TABLE,
    "IndexName": "ByG",
    "KeyConditionExpression": "g = :g",
    "ExpressionAttributeValues": {":g": s("g")},
}


def put_many(client: Any, item: dict[str, Any]) -> None:
    for number in range(1000):
        client.put_item(TableName=TABLE, Item={**item, "sk": s(number)})


@pytest.mark.nightly
def test_boto3_raises_the_simulated_throttling_error(tmp_path: Path) -> None:
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    provisioned: dict[str, Any] = {**CREATE, "BillingMode": "PROVISIONED", "ProvisionedThroughput": units}
    index = {**CREATE["GlobalSecondaryIndexes"][0], "ProvisionedThroughput": units}
    large = {**ITEM, "x": s("x" * 200_000)}
    with serving(str(tmp_path / "store.db"), throttle=True) as server:
        client = boto3_client(server)
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
            put_many(client, large)  # about 196 units each, in a partition limited to 1,000 per second
        reasons = [each["reason"] for each in limited.value.response["throttlingReasons"]]
        assert "TableWriteKeyRangeThroughputExceeded" in reasons


def test_index_lag_delays_the_visibility_of_writes_in_queries(tmp_path: Path) -> None:
    with serving(str(tmp_path / "store.db"), index_lag_ms=600_000) as server:
        server.call("CreateTable", CREATE)
        server.call("PutItem", {"TableName": TABLE, "Item": ITEM})
        assert server.call("Query", QUERY)["Count"] == 0
        assert server.call("Scan", {"TableName": TABLE})["Count"] == 1
    with serving(":memory:", index_lag_ms=1) as server:
        server.call("CreateTable", CREATE)
        server.call("PutItem", {"TableName": TABLE, "Item": ITEM})
        while server.call("Query", QUERY)["Count"] == 0:
            pass
