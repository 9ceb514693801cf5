"""DynamoDB Streams over HTTP, with boto3, several workers, shard splits and killed servers."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.store import check_file
from tests.engine.consumer import Checkpoints, consume, shards
from tests.repository.examples import programs_of
from tests.server.support import CREATE, TABLE, Raw, Server, boto3_client, request, s, serving

ROUNDS = int(os.environ.get("KEYPLAN_CRASHES", "2"))
CLIENTS = 4
STREAMED = {**CREATE, "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}}
PAGE = Path(__file__).parents[2] / "docs" / "server.md"


def clients(server: Server, secret: str = "secret") -> tuple[Any, Any]:
    return boto3_client(server, secret=secret), boto3_client(server, "dynamodbstreams", secret=secret)


def caller(server: Server) -> Callable[[str, dict[str, Any]], dict[str, Any]]:
    """Return a function that calls DynamoDB and DynamoDB Streams over one connection."""
    raw = server.raw()

    def call(operation: str, params: dict[str, Any]) -> dict[str, Any]:
        data = request(operation, params)
        if OPERATIONS[operation].api == "DynamoDBStreams":
            data = data.replace(b"DynamoDB_20120810.", b"DynamoDBStreams_20120810.", 1)
        answer = raw.ask(data)
        assert answer.status == 200, answer
        return answer.json()

    return call


def item(pk: str, value: int) -> dict[str, Any]:
    return {"pk": s(pk), "sk": s("1"), "value": {"N": str(value)}}


def values_by_key(records: list[dict[str, Any]]) -> dict[str, list[int]]:
    result: dict[str, list[int]] = {}
    for record in records:
        image = record["dynamodb"]["NewImage"]
        result.setdefault(image["pk"]["S"], []).append(int(image["value"]["N"]))
    return result


def test_stream_consumer_of_the_documentation_reads_all_changes(tmp_path: Path) -> None:
    """The server has two workers and requires an access key."""
    (program,) = [each for each in programs_of(PAGE) if any("dynamodbstreams" in step[1] for step in each.steps)]
    names: dict[str, Any] = {}
    for _, code, _ in program.steps:
        exec(code, names)
    db = str(tmp_path / "store.db")
    with serving(db, keys={"dev": "secret"}, workers=2, shard_records=5) as server:
        dynamodb, streams = clients(server)
        made = dynamodb.create_table(**STREAMED)["TableDescription"]
        for number in range(40):
            dynamodb.put_item(TableName=TABLE, Item=item(f"k{number % 3}", number))
        arn = made["LatestStreamArn"]
        records = list(names["changes"](streams, arn))
        assert values_by_key(records) == {f"k{first}": list(range(first, 40, 3)) for first in range(3)}
        assert len(names["shards"](streams, arn)) > 3
        assert {type(record["dynamodb"]["ApproximateCreationDateTime"]).__name__ for record in records} == {"datetime"}
        with pytest.raises(ClientError, match="ResourceNotFoundException"):
            streams.describe_stream(StreamArn=arn.replace(TABLE, "nothing"))
        with pytest.raises(ClientError, match="InvalidSignatureException"):
            clients(server, "wrong")[1].list_streams()
        with server.raw() as raw:
            answer = raw.ask(request("ListStreams"))
        assert answer.type.endswith("UnknownOperationException")  # it belongs to the other API


class Client(threading.Thread):
    """A client that increments the values of its own keys until the connection fails."""

    def __init__(self, server: Server, name: str, seed: int, values: dict[str, int]) -> None:
        super().__init__()
        self.values = {pk: value for pk, value in values.items() if pk.startswith(name)}
        self.pending: dict[str, int] = {}
        self._raw: Raw = server.raw()
        self._prefix = name
        self._chance = random.Random(seed)

    def run(self) -> None:
        try:
            while True:
                self.write()
        except (EOFError, OSError):
            self._raw.socket.close()

    def write(self) -> None:
        keys = {f"{self._prefix}-{self._chance.randrange(4)}" for _ in range(self._chance.choice((1, 1, 3)))}
        self.pending = {pk: self.values.get(pk, -1) + 1 for pk in keys}
        puts = [{"Put": {"TableName": TABLE, "Item": item(pk, value)}} for pk, value in self.pending.items()]
        data = request("TransactWriteItems", {"TransactItems": puts})
        if len(puts) == 1:
            data = request("PutItem", puts[0]["Put"])
        answer = self._raw.ask(data)
        assert answer.status == 200, answer
        self.values |= self.pending
        self.pending = {}


@pytest.mark.nightly
@pytest.mark.parametrize("workers", [1, 2])
def test_killed_server_has_recorded_all_acknowledged_writes_in_the_stream(tmp_path: Path, workers: int) -> None:
    db = str(tmp_path / "store.db")
    options = {"shard_records": 40, "sync": "normal"}
    checkpoints = Checkpoints()
    seen: list[dict[str, Any]] = []
    values: dict[str, int] = {}
    with serving(db, **options) as server:
        arn = caller(server)("CreateTable", STREAMED)["TableDescription"]["LatestStreamArn"]
    for round_ in range(ROUNDS):
        with serving(db, workers=workers, **options) as server:
            writing = [Client(server, f"c{number}", round_ * 10 + number, values) for number in range(CLIENTS)]
            for client in writing:
                client.start()
            call = caller(server)
            while min(sum(client.values.values()) for client in writing) < 30 * (round_ + 1):
                assert all(client.is_alive() for client in writing)
                seen += consume(call, arn, checkpoints, limit=50, pages_max=5)
            server.end(signal.SIGKILL)
            for client in writing:
                client.join()
        assert check_file(db) == []
        with serving(db, **options) as server:
            seen += consume(caller(server), arn, checkpoints, limit=50)
        result = values_by_key(seen)
        for client in writing:
            mine = {pk: each for pk, each in result.items() if pk.startswith(client._prefix)}
            acknowledged = {pk: list(range(value + 1)) for pk, value in client.values.items()}
            also = {pk: list(range(value + 1)) for pk, value in (client.values | client.pending).items()}
            assert mine in (acknowledged, also), f"{client._prefix} in round {round_}"
        values = {pk: each[-1] for pk, each in result.items()}
    with serving(db) as server:
        assert len(shards(caller(server), arn)) > 5
