"""The child process of the kill tests, which writes as fast as possible and prints each acknowledged write.

Run as ``python -m tests.crash.writer PATH SEED``. Each line is ``put pk sk value``, ``update pk sk value``,
``delete pk sk``, or ``pair number`` for a transaction that writes three items with one number.
"""

from __future__ import annotations

import os
import random
import sys
import threading
from typing import Any

from keyplan.store import Engine

TABLE = "orders"
THREADS = 3
KEYS = 40


def s(value: object) -> dict[str, str]:
    return {"S": str(value)}


def key(pk: str, sk: str) -> dict[str, Any]:
    return {"pk": s(pk), "sk": s(sk)}


def item(pk: str, sk: str, value: int) -> dict[str, Any]:
    """Return an item that moves within the index when its value changes."""
    return {
        **key(pk, sk),
        "value": {"N": str(value)},
        "g": s(f"g{value % 5}"),
        "h": {"N": str(value)},
        "note": s("x" * (value % 700)),
    }


def report(line: str) -> None:
    os.write(1, line.encode() + b"\n")


def write_forever(engine: Engine, name: str, chance: random.Random) -> None:
    """Write in one of the threads. Each thread has its own partitions, so its lines are in the order of its writes."""
    number = 0
    while True:
        number += 1
        value = chance.randrange(1_000_000)
        sk = str(chance.randrange(KEYS))
        kind = chance.choice(("put", "put", "update", "delete", "pair"))
        if kind == "put":
            engine.call("PutItem", {"TableName": TABLE, "Item": item(name, sk, value)})
            report(f"put {name} {sk} {value}")
        elif kind == "update":
            wanted = item(name, sk, value)
            names = [attribute for attribute in wanted if attribute not in ("pk", "sk")]
            engine.call(
                "UpdateItem",
                {
                    "TableName": TABLE,
                    "Key": key(name, sk),
                    "UpdateExpression": "SET " + ", ".join(f"#{each} = :{each}" for each in names),
                    "ExpressionAttributeNames": {f"#{each}": each for each in names},
                    "ExpressionAttributeValues": {f":{each}": wanted[each] for each in names},
                },
            )
            report(f"update {name} {sk} {value}")
        elif kind == "delete":
            engine.call("DeleteItem", {"TableName": TABLE, "Key": key(name, sk)})
            report(f"delete {name} {sk}")
        else:
            puts = [item(f"{name}-pair{part}", str(number % KEYS), value) for part in range(3)]
            engine.call(
                "TransactWriteItems", {"TransactItems": [{"Put": {"TableName": TABLE, "Item": each}} for each in puts]}
            )
            report(f"pair {name} {number % KEYS} {value}")


def main(path: str, seed: int) -> None:
    engine = Engine.open(path, create=False)
    for number in range(THREADS):
        chance = random.Random(f"{seed}-{number}")
        threading.Thread(target=write_forever, args=(engine, f"w{number}", chance)).start()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
