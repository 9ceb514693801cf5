"""Group commits: each write succeeds or fails separately, and acknowledged writes are stored."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from keyplan.errors import DynamoDBError, StoreError
from keyplan.store import Engine
from keyplan.store import work_budget as effort
from keyplan.store.server.server_settings import Settings
from keyplan.store.server.service import Incoming, Service
from keyplan.store.server.worker_threads import TOGETHER_MAX, Threads, WriterThread
from keyplan.store.storage.sqlite import Storage
from tests.processes import PATIENCE_S
from tests.server.support import AUTHORIZATION, CREATE, TABLE, request, s, serving

Call = tuple[str, dict[str, Any]]


def put(sk: str, **more: Any) -> Call:
    item = {"pk": s("a"), "sk": s(sk), "g": s("g"), "by": {"N": "1"}}
    return "PutItem", {"TableName": TABLE, "Item": item, **more}


def sorts(engine: Engine) -> list[str]:
    return [item["sk"]["S"] for item in engine.call("Scan", {"TableName": TABLE})["Items"]]


ONLY_NEW = {"ConditionExpression": "attribute_not_exists(pk)"}


@pytest.mark.parametrize("place", ["file", ":memory:"])
def test_failed_write_does_not_undo_other_writes_of_its_group_commit(tmp_path: Path, place: str) -> None:
    with Engine.open(tmp_path / "store.db" if place == "file" else place) as engine:
        engine.call("CreateTable", CREATE)
        writes = [{"Put": put("3")[1]}, {"Put": put("1", **ONLY_NEW)[1]}]
        outcomes = engine.call_together(
            [
                put("1"),
                put("1", **ONLY_NEW),
                ("TransactWriteItems", {"TransactItems": writes}),
                put("2", **ONLY_NEW),
                ("PutItem", {"TableName": "nothing", "Item": {}}),
                ("UpdateItem", {"TableName": TABLE, "Key": {"pk": s("a"), "sk": s("2")}, "UpdateExpression": "ADD"}),
                put("4"),
            ]
        )
        types = [outcome.type if isinstance(outcome, DynamoDBError) else outcome for outcome in outcomes]
        assert types == [
            {},
            "ConditionalCheckFailedException",
            "TransactionCanceledException",
            {},
            "ResourceNotFoundException",
            "ValidationException",
            {},
        ]
        assert sorts(engine) == ["1", "2", "4"]
        assert engine.check() == []


def test_concurrent_writes_share_one_commit(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "store.db") as engine:
        engine.call("CreateTable", CREATE)
        engine.call(*put("0"))
        before = engine.statements
        engine.call(*put("1"))
        alone = engine.statements - before
        before = engine.statements
        engine.call_together([put(str(number)) for number in range(10, 20)])
        # One BEGIN and COMMIT for all; each write has a savepoint and its release instead.
        assert engine.statements - before == 2 + 10 * alone


def test_group_commit_detects_a_changed_table_definition(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Engine.open(path) as engine, Engine.open(path) as other:
        engine.call("CreateTable", CREATE)
        engine.call(*put("0"))
        changes = [{"Delete": {"IndexName": "ByG"}}]
        other.call("UpdateTable", {"TableName": TABLE, "GlobalSecondaryIndexUpdates": changes})
        assert engine.call_together([put("1"), put("2")]) == [{}, {}]
        assert engine.check() == []


def test_failed_group_commit_stores_none_of_its_writes(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Engine.open(path) as engine, Engine.open(path, busy_timeout_s=0.05) as other:
        engine.call("CreateTable", CREATE)
        outcomes: list[Exception] = []

        def work() -> None:
            try:
                other.call_together([put("1"), put("2")])
            except StoreError as error:
                outcomes.append(error)

        def hold(writer: object) -> None:
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()

        engine._storage.write(hold)
        assert len(outcomes) == 1
        assert sorts(engine) == []


def test_writer_thread_keeps_the_order_of_writes(tmp_path: Path) -> None:
    async def run(engine: Engine) -> list[Any]:
        loop = asyncio.get_running_loop()
        writing = WriterThread(engine, loop)
        outcomes: list[Any] = []
        writing.submit("CreateTable", CREATE, outcomes.append)
        count = 3 * TOGETHER_MAX
        for number in range(count):
            name, params = put("x")
            params["Item"]["by"] = {"N": str(number)}
            params["ReturnValues"] = "ALL_OLD"
            writing.submit(name, params, outcomes.append)
        writing.submit("DeleteTable", {"TableName": TABLE}, outcomes.append)
        writing.submit(*put("y"), outcomes.append)
        await asyncio.to_thread(writing.close)
        await asyncio.sleep(0)
        return outcomes

    with Engine.open(tmp_path / "store.db") as engine:
        created, first, *others, deleted, last = asyncio.run(run(engine))
        assert created["TableDescription"]["TableStatus"] == "ACTIVE"
        assert first == {}
        assert [int(other["Attributes"]["by"]["N"]) for other in others] == list(range(3 * TOGETHER_MAX - 1))
        assert deleted["TableDescription"]["TableStatus"] == "DELETING"
        assert last.type == "ResourceNotFoundException"


def incoming(name: str, params: Any) -> Incoming:
    headers = {
        b"x-amz-target": f"DynamoDB_20120810.{name}".encode(),
        b"content-type": b"application/x-amz-json-1.0",
        b"authorization": AUTHORIZATION.encode(),
    }
    return Incoming(b"POST", b"/", headers, json.dumps(params).encode())


def test_creating_an_index_does_not_block_other_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """A write and a read succeed during an index backfill."""
    others = threading.Event()
    monkeypatch.setattr(effort, "PIECE_ROWS", 2)
    monkeypatch.setattr(Storage, "let_others_in", lambda _: others.wait(PATIENCE_S))
    index = {"KeySchema": [{"AttributeName": "sk", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}
    changes = {
        "AttributeDefinitions": [{"AttributeName": "sk", "AttributeType": "S"}],
        "GlobalSecondaryIndexUpdates": [{"Create": {"IndexName": "BySort", **index}}],
    }

    async def run(engine: Engine) -> None:
        loop = asyncio.get_running_loop()
        writing, aside = WriterThread(engine, loop), Threads(loop)
        service = Service(engine, Settings(db=":memory:"), writing, aside)

        def ask(name: str, params: Any) -> asyncio.Future[bytes]:
            reply: asyncio.Future[bytes] = loop.create_future()
            service.handle(incoming(name, params), reply.set_result)
            return reply

        changed = ask("UpdateTable", {"TableName": TABLE, **changes})
        for call in (put("later"), ("Query", {"TableName": TABLE, "Limit": 1, **KEYED})):
            assert (await ask(*call)).split()[1] == b"200"
        others.set()
        assert b'"IndexStatus":"ACTIVE","' in await changed
        await asyncio.to_thread(writing.close)
        aside.close()

    with Engine.open(":memory:") as engine:
        engine.call("CreateTable", CREATE)
        for number in range(5):
            engine.call(*put(str(number)))
        asyncio.run(run(engine))
        assert len(sorts(engine)) == engine.call("Scan", {"TableName": TABLE, "IndexName": "BySort"})["Count"] == 6


KEYED = {"KeyConditionExpression": "pk = :a", "ExpressionAttributeValues": {":a": s("a")}}


def test_conditional_writes_on_several_workers_are_serializable(tmp_path: Path) -> None:
    """Clients increment a counter by compare-and-set, and each acknowledged value is one higher than the previous."""
    steps: list[int] = []
    lock = threading.Lock()
    with serving(str(tmp_path / "store.db"), workers=2) as server:
        server.call("CreateTable", CREATE)
        server.call(*put("counter"))

        def work() -> None:
            with server.raw() as raw:
                done = 0
                while done < 12:
                    key = {"TableName": TABLE, "Key": {"pk": s("a"), "sk": s("counter")}}
                    seen = raw.ask(request("GetItem", key)).json()["Item"]["by"]
                    update = {
                        **key,
                        "UpdateExpression": "SET #b = :new",
                        "ConditionExpression": "#b = :seen",
                        "ExpressionAttributeNames": {"#b": "by"},
                        "ExpressionAttributeValues": {":seen": seen, ":new": {"N": str(int(seen["N"]) + 1)}},
                    }
                    if raw.ask(request("UpdateItem", update)).status == 200:
                        done += 1
                        with lock:
                            steps.append(int(seen["N"]))

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(steps) == list(range(1, 73))
