"""A server killed under concurrent load keeps every acknowledged write, and its store is undamaged.

The test runs two rounds by default; ``KEYPLAN_CRASHES=100`` runs 100.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import run
from tests.server.support import CREATE, TABLE, Raw, Server, request, s, serving

ROUNDS = int(os.environ.get("KEYPLAN_CRASHES", "2"))
CLIENTS = 6
KEYS = 12

State = dict[tuple[str, str], int | None]


def item(pk: str, sk: str, value: int) -> dict[str, Any]:
    return {
        "pk": s(pk),
        "sk": s(sk),
        "g": s(f"g{value % 5}"),
        "value": {"N": str(value)},
        "filler": s("x" * (value % 900)),
    }


class Client(threading.Thread):
    """A client that writes to its own partitions until the connection fails, and records the acknowledged writes."""

    def __init__(self, server: Server, name: str, seed: int, before: State) -> None:
        super().__init__()
        self.state = {key: value for key, value in before.items() if key[0].startswith(name)}
        self.pending: State = {}
        self.acknowledged = 0
        self._raw: Raw = server.raw()
        self.partition = name
        self._chance = random.Random(seed)

    def run(self) -> None:
        try:
            while True:
                self.write()
        except (EOFError, OSError):
            self._raw.socket.close()

    def write(self) -> None:
        value = self._chance.randrange(1_000_000)
        sk = str(self._chance.randrange(KEYS))
        key = {"TableName": TABLE, "Key": {"pk": s(self.partition), "sk": s(sk)}}
        kind = self._chance.randrange(5)
        self.pending = {(self.partition, sk): value}
        if kind == 0:
            self.pending = {(self.partition, sk): None}
            self.ask("DeleteItem", key)
        elif kind == 1:
            self.pending = {(f"{self.partition}-pair{part}", sk): value for part in range(3)}
            puts = [{"Put": {"TableName": TABLE, "Item": item(pk, sk, value)}} for pk, sk in self.pending]
            self.ask("TransactWriteItems", {"TransactItems": puts})
        elif kind == 2:
            new = item(self.partition, sk, value)
            update = {
                "UpdateExpression": "SET g = :g, #v = :v, filler = :p",
                "ExpressionAttributeNames": {"#v": "value"},
                "ExpressionAttributeValues": {":g": new["g"], ":v": new["value"], ":p": new["filler"]},
            }
            self.ask("UpdateItem", {**key, **update})
        else:
            self.ask("PutItem", {"TableName": TABLE, "Item": item(self.partition, sk, value)})
        self.state |= self.pending
        self.pending = {}
        self.acknowledged += 1

    def ask(self, operation: str, params: dict[str, Any]) -> None:
        answer = self._raw.ask(request(operation, params))
        assert answer.status == 200, answer


def stored(server: Server) -> State:
    state: State = {}
    start = None
    while True:
        answer = server.call("Scan", {"TableName": TABLE, "ExclusiveStartKey": start})
        for each in answer["Items"]:
            pk, sk, value = each["pk"]["S"], each["sk"]["S"], int(each["value"]["N"])
            assert each == item(pk, sk, value)
            state[pk, sk] = value
        start = answer.get("LastEvaluatedKey")
        if start is None:
            return state


def kill_under_load(server: Server, round_: int, before: State) -> list[Client]:
    """Kill the server while clients are writing, and return the clients."""
    clients = [Client(server, f"c{number}", round_ * 100 + number, before) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    while min(client.acknowledged for client in clients) < 20:
        assert all(client.is_alive() for client in clients)
        time.sleep(0.001)
    time.sleep(random.Random(round_).uniform(0, 0.05))
    server.end(signal.SIGKILL)
    for client in clients:
        client.join()
    return clients


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.nightly), 2])
def test_killed_server_keeps_acknowledged_writes(tmp_path: Path, workers: int) -> None:
    db = str(tmp_path / "store.db")
    state: State = {}
    with serving(db) as server:
        server.call("CreateTable", CREATE)
    for round_ in range(ROUNDS):
        with serving(db, workers=workers) as server:
            clients = kill_under_load(server, round_, state)
        checked = run("dynamodb", "check", db)
        assert checked.exit_code == 0, checked.output
        with serving(db) as server:
            result = stored(server)
        for client in clients:
            assert client.acknowledged >= 20
            mine = {key: value for key, value in result.items() if key[0].split("-")[0] == client.partition}
            known = {key: value for key, value in client.state.items() if value is not None}
            also = {key: value for key, value in (client.state | client.pending).items() if value is not None}
            assert mine in (known, also), f"{client.partition} in round {round_}"
        state = dict(result)
