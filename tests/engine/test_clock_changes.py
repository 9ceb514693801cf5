"""Stores remain correct if the system clock is set forward or back while they are open."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.consumer import Checkpoints, consume
from tests.engine.support import create, n, pages, put, s

TABLE = {"TableName": "orders"}
JUMPS_S = (-20_000, -3600, -1, -0.001, 1, 60, 7200)
"""Less than a day in total: stream records expire after 24 hours."""


@pytest.mark.parametrize("seed", range(3))
def test_no_write_is_lost_when_the_system_clock_changes(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    now_s = [1_700_000_000.0]
    with Engine.open(tmp_path / "store.db", clock=lambda: now_s[0], shard_records=20, s3=tmp_path) as engine:
        create(engine)
        stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
        described = engine.call("UpdateTable", {**TABLE, "StreamSpecification": stream})["TableDescription"]
        history = {"PointInTimeRecoveryEnabled": True}
        engine.call("UpdateContinuousBackups", {**TABLE, "PointInTimeRecoverySpecification": history})
        engine.call(
            "UpdateTimeToLive", {**TABLE, "TimeToLiveSpecification": {"AttributeName": "until", "Enabled": True}}
        )
        written: list[str] = []
        consumed: list[str] = []
        checkpoints = Checkpoints()
        for step in range(100):
            now_s[0] += chance.choice(JUMPS_S) if chance.random() < 0.2 else 0
            put(engine, "a", str(chance.randrange(8)), step=n(step), until=n(int(now_s[0]) + 100_000))
            written.append(str(step))
            if chance.random() < 0.1:
                engine.sweep()
                engine.trim_streams()
                consumed += numbers(consume(engine.call, described["LatestStreamArn"], checkpoints))
        assert consumed + numbers(consume(engine.call, described["LatestStreamArn"], checkpoints)) == written
        now_s[0] -= 7200
        latest = {"SourceTableName": "orders", "TargetTableName": "copy", "UseLatestRestorableTime": True}
        engine.call("RestoreTableToPointInTime", latest)
        (tmp_path / "bucket").mkdir()
        arn = described["TableArn"]
        export = engine.call("ExportTableToPointInTime", {"TableArn": arn, "S3Bucket": "bucket"})["ExportDescription"]
        done = engine.call("DescribeExport", {"ExportArn": export["ExportArn"]})["ExportDescription"]
        stored = pages(engine, "Scan", TABLE)
        assert done["ItemCount"] == len(stored) == 8
        assert pages(engine, "Scan", {"TableName": "copy"}) == stored
        assert engine.check() == []


@pytest.mark.parametrize("jump_s", [-1_000_000, 300, 1_000_000])
def test_client_request_token_is_recognized_when_the_system_clock_changes(jump_s: float) -> None:
    """A token is valid for ten minutes, so it expires if the clock is set forward by more than ten minutes."""
    now_s = [1_700_000_000.0]
    with Engine.open(":memory:", clock=lambda: now_s[0]) as engine:
        create(engine)
        add: dict[str, Any] = {
            **TABLE,
            "Key": {"pk": s("a"), "sk": s("1")},
            "UpdateExpression": "ADD amount :one",
            "ExpressionAttributeValues": {":one": n(1)},
        }
        for _ in range(2):
            engine.call("TransactWriteItems", {"TransactItems": [{"Update": add}], "ClientRequestToken": "token"})
            now_s[0] += jump_s
        item = engine.call("GetItem", {**TABLE, "Key": add["Key"]})["Item"]
        assert item["amount"] == n(2 if jump_s > 600 else 1)


def numbers(records: list[dict[str, Any]]) -> list[str]:
    """Return the attribute ``step`` of the new item in each stream record."""
    return [record["dynamodb"]["NewImage"]["step"]["N"] for record in records]
