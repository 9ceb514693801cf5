"""A server with several regions, and a global table with replicas in these regions."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from tests.server.support import CREATE, TABLE, boto3_client, s, serving

EAST, WEST = "us-east-1", "us-west-2"


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("db", [":memory:", "store.db"])
def test_global_table_replicates_between_regions_of_one_server(tmp_path: Path, db: str) -> None:
    place = db if db == ":memory:" else str(tmp_path / db)
    with serving(place, regions=(EAST, WEST), replica_lag_ms=50) as server:
        east, west = boto3_client(server, region=EAST), boto3_client(server, region=WEST)
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
            boto3_client(server).list_tables()
        assert caught.value.response["Error"]["Code"] == "UnrecognizedClientException"
