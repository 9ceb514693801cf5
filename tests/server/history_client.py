"""A client process that makes a history: ``python -m tests.server.history_client PORT NAME OPERATIONS THREADS``.

It prints what each of its operations saw, as JSON. Its clock is the machine's, which all processes share.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from dataclasses import asdict
from typing import Any

from tests.server.histories import Operation
from tests.server.support import TABLE, Raw, request

KEYS = [f"k{number}" for number in range(5)]
ACCOUNTS = [f"account{number}" for number in range(4)]
BALANCE = 100


def place(key: str) -> dict[str, Any]:
    return {"TableName": TABLE, "Key": {"pk": {"S": key}, "sk": {"S": "list"}}}


def append(key: str, value: int, condition: str | None = None, length: int | None = None) -> dict[str, Any]:
    values: dict[str, Any] = {":new": {"L": [{"N": str(value)}]}, ":none": {"L": []}}
    more: dict[str, Any] = {}
    if condition is not None:
        values[":length"] = {"N": str(length)}
        more = {"ConditionExpression": condition}
    return {
        **place(key),
        "UpdateExpression": "SET v = list_append(if_not_exists(v, :none), :new)",
        "ExpressionAttributeValues": values,
        **more,
    }


def listed(item: dict[str, Any] | None) -> list[int]:
    return [int(each["N"]) for each in (item or {}).get("v", {"L": []})["L"]]


class Client:
    """One connection, and what was seen over it."""

    def __init__(self, port: int, name: str, number: int) -> None:
        self._raw = Raw(port)
        self._name = name
        self._chance = random.Random(name)
        self._values = iter(range(number * 1_000_000, (number + 1) * 1_000_000))
        self._known: dict[str, int] = {}
        self.history: list[Operation] = []
        self.sums: list[int] = []

    def ask(self, operation: str, params: dict[str, Any]) -> tuple[dict[str, Any] | None, float, float]:
        """The answer, or None when a condition or another transaction stood against it; with its times."""
        begin = time.monotonic()
        answer = self._raw.ask(request(operation, params))
        end = time.monotonic()
        if answer.status == 200:
            return answer.json(), begin, end
        assert answer.type.endswith(("ConditionalCheckFailedException", "TransactionCanceledException")), answer
        return None, begin, end

    def keep(self, begin: float, end: float, **seen: Any) -> None:
        self.history.append(Operation(f"{self._name}.{len(self.history)}", begin, end, **seen))
        for key, values in seen.get("reads", {}).items():
            self._known[key] = len(values) + (key in seen.get("appends", {}))

    def step(self) -> None:
        """One operation."""
        self._chance.choice(
            (
                self.read,
                self.append,
                self.append_if,
                self.append_some,
                self.append_some,
                self.read_some,
                self.move,
                self.sum,
            )
        )()

    def read(self) -> None:
        key = self._chance.choice(KEYS)
        answer, begin, end = self.ask("GetItem", {**place(key), "ConsistentRead": True})
        assert answer is not None
        self.keep(begin, end, reads={key: listed(answer.get("Item"))})

    def append(self) -> None:
        """Append, and see what was there."""
        key, value = self._chance.choice(KEYS), next(self._values)
        answer, begin, end = self.ask("UpdateItem", {**append(key, value), "ReturnValues": "ALL_OLD"})
        assert answer is not None
        self.keep(begin, end, reads={key: listed(answer.get("Attributes"))}, appends={key: value})

    def append_if(self) -> None:
        """Append if the list is as long as it was."""
        key, value = self._chance.choice(KEYS), next(self._values)
        length = self._known.get(key, 0)
        condition = "size(v) = :length" if length else "attribute_not_exists(v) OR size(v) = :length"
        answer, begin, end = self.ask("UpdateItem", append(key, value, condition, length))
        self.keep(begin, end, is_done=answer is not None, appends={key: value}, lengths={key: length})

    def append_some(self) -> None:
        """Append to several lists or to none, if another is as long as it was."""
        keys = self._chance.sample(KEYS, 3)
        appends = {key: next(self._values) for key in keys[:2]}
        actions = [{"Update": append(key, value)} for key, value in appends.items()]
        lengths: dict[str, int] = {}
        if self._chance.random() < 0.6 and self._known.get(keys[2]):
            lengths[keys[2]] = self._known[keys[2]]
            length = {":length": {"N": str(lengths[keys[2]])}}
            check = {**place(keys[2]), "ConditionExpression": "size(v) = :length", "ExpressionAttributeValues": length}
            actions.append({"ConditionCheck": check})
        answer, begin, end = self.ask("TransactWriteItems", {"TransactItems": actions})
        self.keep(begin, end, is_done=answer is not None, appends=appends, lengths=lengths)

    def read_some(self) -> None:
        keys = self._chance.sample(KEYS, 3)
        answer, begin, end = self.ask("TransactGetItems", {"TransactItems": [{"Get": place(key)} for key in keys]})
        assert answer is not None
        responses = zip(keys, answer["Responses"], strict=True)
        self.keep(begin, end, reads={key: listed(each.get("Item")) for key, each in responses})

    def move(self) -> None:
        """Move money between two accounts, if there is as much."""
        text, other = self._chance.sample(ACCOUNTS, 2)
        amount = {":n": {"N": str(self._chance.randrange(1, 30))}}
        take = {"UpdateExpression": "SET b = b - :n", "ConditionExpression": "b >= :n"}
        give = {"UpdateExpression": "SET b = b + :n"}
        actions = [
            {"Update": {**place(text), **take, "ExpressionAttributeValues": amount}},
            {"Update": {**place(other), **give, "ExpressionAttributeValues": amount}},
        ]
        self.ask("TransactWriteItems", {"TransactItems": actions})

    def sum(self) -> None:
        gets = [{"Get": place(account)} for account in ACCOUNTS]
        answer, _, _ = self.ask("TransactGetItems", {"TransactItems": gets})
        assert answer is not None
        balances = [int(each["Item"]["b"]["N"]) for each in answer["Responses"]]
        assert min(balances) >= 0
        self.sums.append(sum(balances))


def run(client: Client, operations: int) -> None:
    for _ in range(operations):
        client.step()


def main(port: int, name: str, operations: int, threads: int) -> None:
    clients = [Client(port, f"{name}{number}", hash_of(name) + number) for number in range(threads)]
    running = [threading.Thread(target=run, args=(client, operations)) for client in clients]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    history = [asdict(operation) for client in clients for operation in client.history]
    print(json.dumps({"history": history, "sums": [total for client in clients for total in client.sums]}))


def hash_of(name: str) -> int:
    """A number for a process's name, apart from the others'."""
    return (ord(name) - ord("A")) * 100


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
