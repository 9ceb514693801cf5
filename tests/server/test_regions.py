"""Regions of the served store: clients of several regions, and a global table between them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]
import pytest
from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from tests.server.support import CREATE, TABLE, Server, s, serving

EAST, WEST = "us-east-1", "us-west-2"


def client_of(server: Server, region: str) -> Any:
    return boto3.client(
        "dynamodb", endpoint_url=server.url, region_name=region, aws_access_key_id="dev", aws_secret_access_key="secret"
    )


def wait_for(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("db", [":memory:", "store.db"])
def test_a_global_table(tmp_path: Path, db: str) -> None:
    place = db if db == ":memory:" else str(tmp_path / db)
    with serving(place, regions=(EAST, WEST), replica_lag_ms=50) as server:
        east, west = client_of(server, EAST), client_of(server, WEST)
        east.create_table(**CREATE)
        assert west.list_tables()["TableNames"] == []
        east.update_table(TableName=TABLE, ReplicaUpdates=[{"Create": {"RegionName": WEST}}])
        assert west.list_tables()["TableNames"] == [TABLE]
        item, other = {"pk": s("a"), "sk": s("1")}, {"pk": s("a"), "sk": s("2")}
        east.put_item(TableName=TABLE, Item=item)
        west.put_item(TableName=TABLE, Item=other)
        for client, key in ((west, item), (east, other)):
            wait_for(lambda c=client, k=key: "Item" in c.get_item(TableName=TABLE, Key=k))  # type: ignore[misc]
        with pytest.raises(ClientError) as caught:
            client_of(server, "eu-west-1").list_tables()
        assert caught.value.response["Error"]["Code"] == "UnrecognizedClientException"
