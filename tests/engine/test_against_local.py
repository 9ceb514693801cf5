"""Generated sequences of operations on the engine and on DynamoDB Local, whose answers must be the same.

Runs when ``KEYPLAN_DYNAMODB_LOCAL`` names one (``http://127.0.0.1:8000``); ``KEYPLAN_SEQUENCES`` says how many.
"""

from __future__ import annotations

import json
import os
import random
from typing import Any

import pytest

from keyplan.engine import Engine
from tests.engine.local import call, clear
from tests.engine.scenarios import INDEXED, TABLE, n, s
from tests.engine.support import answer

URL = os.environ.get("KEYPLAN_DYNAMODB_LOCAL")
SEQUENCES = int(os.environ.get("KEYPLAN_SEQUENCES", "30"))
STEPS = 60

pytestmark = pytest.mark.skipif(URL is None, reason="KEYPLAN_DYNAMODB_LOCAL isn't set")


class Sequence:
    """Operations that a seed gives. They keep away from what Local is known to do otherwise (see the scenarios)."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def pick(self, *options: Any) -> Any:
        return self.chance.choice(options)

    def key(self) -> dict[str, Any]:
        return {"pk": s(self.pick("a", "b")), "sk": s(self.pick("1", "12", "2", "é"))}

    def attributes(self) -> dict[str, Any]:
        possible: dict[str, Any] = {
            "g": s(self.pick("g", "gg")),
            "h": n(self.pick(-1, 0, 2, 10, "1.5", "1E+3")),
            "l": s(self.pick("l1", "l2")),
            "m": s("m"),
            "note": s("x" * self.pick(0, 3, 1100, 5000)),
            "list": {"L": [n(self.chance.randrange(4)) for _ in range(self.chance.randrange(4))]},
            "map": {"M": {"in": n(self.chance.randrange(4)), "text": s("t")}},
            "set": {"SS": self.chance.sample(["p", "q", "r"], self.chance.randrange(1, 4))},
            "count": n(self.chance.randrange(4)),
        }
        chosen = {name: value for name, value in possible.items() if self.chance.random() < 0.5}
        if not chosen.keys() >= {"g", "h"}:
            # Local counts a unit for an entry of which only a part of the key was there.
            chosen.pop("g", None)
            chosen.pop("h", None)
        return chosen

    def condition(self) -> dict[str, Any]:
        text, values = self.pick(
            (None, {}),
            (None, {}),
            ("attribute_exists(pk)", {}),
            ("attribute_not_exists(note)", {}),
            ("g = :g AND NOT (h > :h)", {":g": s("g"), ":h": n(1)}),
            ("size(note) > :h OR contains(#s, :p)", {":h": n(10), ":p": s("p")}),
            ("#m.#i IN (:h, :g)", {":h": n(1), ":g": s("g")}),
            ("begins_with(l, :p) AND #m.#i BETWEEN :h AND :k", {":p": s("l"), ":h": n(0), ":k": n(2)}),
        )
        if text is None:
            return {}
        names = {"#s": "set", "#m": "map", "#i": "in"}
        return {
            "ConditionExpression": text,
            "ExpressionAttributeNames": {name: value for name, value in names.items() if name in text},
            "ExpressionAttributeValues": values,
            "ReturnValuesOnConditionCheckFailure": self.pick("NONE", "ALL_OLD"),
        }

    def update(self) -> dict[str, Any]:
        parts: dict[str, list[tuple[str, dict[str, Any]]]] = {
            "SET": [
                ("#c = if_not_exists(#c, :one) + :one", {":one": n(1)}),
                ("#l = list_append(#l, :list)", {":list": {"L": [n(9)]}}),
                ("note = :note", {":note": s("y" * self.pick(1, 2000))}),
                ("g = :g, h = :h", {":g": s(self.pick("g", "gg")), ":h": n(self.pick(1, 2))}),
                ("#m.#i = :one", {":one": n(1)}),
            ],
            "REMOVE": [("g, h", {}), ("l, m", {})],
            "ADD": [("#t :set", {":set": {"SS": ["z", "p"]}}), ("#c :one", {":one": n(5)})],
            "DELETE": [("#t :set", {":set": {"SS": ["p"]}})],
        }
        section: str = self.chance.choice(list(parts))
        text, values = self.chance.choice(parts[section])
        names = {"#c": "count", "#l": "list", "#m": "map", "#i": "in", "#t": "set"}
        returns = ["NONE", "ALL_OLD", "ALL_NEW"]
        if "." not in text:
            # Of a nested path Local returns the whole attribute, the service what lies on the path.
            returns += ["UPDATED_OLD", "UPDATED_NEW"]
        update: dict[str, Any] = {
            "UpdateExpression": f"{section} {text}",
            "ExpressionAttributeNames": {name: value for name, value in names.items() if name in text},
            "ExpressionAttributeValues": values,
            "ReturnValues": self.pick(*returns),
        }
        return update

    def question(self) -> dict[str, Any]:
        condition, values, index = self.pick(
            ("pk = :p", {":p": s("a")}, None),
            ("pk = :p AND sk > :s", {":p": s("a"), ":s": s("1")}, None),
            ("pk = :p AND begins_with(sk, :s)", {":p": s("b"), ":s": s("1")}, None),
            ("g = :g AND h BETWEEN :x AND :y", {":g": s("g"), ":x": n(0), ":y": n(10)}, "ByG"),
            ("pk = :p AND l >= :l", {":p": s("a"), ":l": s("l2")}, "ByL"),
            ("m = :m AND pk = :p", {":m": s("m"), ":p": s("b")}, "Some"),
        )
        more = {"IndexName": index} if index is not None else {}
        if index is None and self.pick(True, False):
            more |= {"FilterExpression": "attribute_exists(#t)", "ExpressionAttributeNames": {"#t": "set"}}
        return {
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": values,
            "ScanIndexForward": self.pick(True, False),
            # Local has no order among equal index keys, so that a page may hold any of them.
            "Limit": 50 if index is not None else self.pick(1, 2, 50),
            **more,
        }

    def step(self) -> tuple[str, dict[str, Any]]:
        capacity = {"ReturnConsumedCapacity": self.pick("NONE", "TOTAL", "INDEXES")}
        match self.pick("put", "put", "update", "update", "delete", "get", "query", "query", "scan"):
            case "put":
                item = {**self.key(), **self.attributes()}
                returns = {"ReturnValues": self.pick("NONE", "ALL_OLD")}
                return "PutItem", {**TABLE, "Item": item, **self.condition(), **returns, **capacity}
            case "update":
                return "UpdateItem", {**TABLE, "Key": self.key(), **self.update(), **capacity}
            case "delete":
                return "DeleteItem", {**TABLE, "Key": self.key(), **self.condition(), **capacity}
            case "get":
                return "GetItem", {**TABLE, "Key": self.key(), **capacity}
            case "query":
                return "Query", {**TABLE, **self.question(), **capacity}
            case _:
                return "Scan", {**TABLE, "Select": "COUNT", **capacity}


def compact(params: dict[str, Any]) -> dict[str, Any]:
    """Without empty maps of placeholders."""
    return {name: value for name, value in params.items() if value != {}}


def printed(item: dict[str, Any]) -> str:
    return json.dumps(item, sort_keys=True)


def same(operation: str, ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    if theirs.get("ScannedCount") == 0 or operation == "DeleteItem":
        # Local counts nothing for a page without items, where the documentation gives the minimum. Of deleting
        # what isn't there it tells the capacity unasked.
        ours, theirs = ({**each, "ConsumedCapacity": None} for each in (ours, theirs))
    if "Items" in theirs and "Items" in ours:
        ours, theirs = ({**each, "Items": sorted(each["Items"], key=printed)} for each in (ours, theirs))
    if operation == "UpdateItem" and theirs.get("Attributes") == {}:
        theirs = {name: value for name, value in theirs.items() if name != "Attributes"}
    return ours == theirs


@pytest.mark.parametrize("seed", range(SEQUENCES))
def test_the_same_answers(seed: int) -> None:
    assert URL is not None
    sequence = Sequence(seed)
    clear(URL)
    call(URL, INDEXED[0], INDEXED[1])
    with Engine.open(":memory:") as engine:
        engine.call(INDEXED[0], INDEXED[1])
        for _ in range(STEPS):
            operation, params = sequence.step()
            params = compact(params)
            ours, theirs = answer(engine, operation, params), call(URL, operation, params)
            assert same(operation, ours, theirs), (
                f"{operation} {json.dumps(params, ensure_ascii=False)}\nours:  {ours}\nlocal: {theirs}"
            )
        assert engine.check() == []
