"""Hostile requests for every operation, made from the service's own model: the event loop does little for each.

What it does is counted as calls of functions, Python's own among them, and not as time: a hundred thousand of them take
some ten milliseconds.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import botocore.session  # type: ignore[import-untyped]
import orjson
import pytest

from keyplan.store import Engine
from keyplan.store.server.server_settings import Settings
from keyplan.store.server.service import Incoming, Service, outcome_of
from keyplan.store.server.worker_threads import Work
from keyplan.store.server.writer_thread import Done
from tests.engine import tour
from tests.server.support import AUTHORIZATION

BODY_BYTES = 60_000
"""Just under what is taken aside for its length."""
CALLS_MAX = 100_000
SAMPLES = 4
"""Of each operation."""
DEPTH_MAX = 7
SESSION = botocore.session.get_session()
PREFIXES = {"dynamodb": b"DynamoDB_20120810.", "dynamodbstreams": b"DynamoDBStreams_20120810."}
Path = tuple[str | int, ...]
VALUES = {":v": {"S": "a"}, ":w": {"N": "1"}}
EXPRESSIONS = {"ExpressionAttributeValues": VALUES, "ExpressionAttributeNames": {"#n": "a"}}
CONDITION = {"ConditionExpression": "pk = :v OR #n = :w", **EXPRESSIONS}
OF_KEY = {"TableName": "orders", "Key": tour.KEY}
BASES: dict[str, list[dict[str, Any]]] = {
    "PutItem": [{"TableName": "orders", "Item": tour.ITEM, **CONDITION}],
    "UpdateItem": [{**OF_KEY, "UpdateExpression": "SET #n = :w", **CONDITION}, OF_KEY],
    "DeleteItem": [{**OF_KEY, **CONDITION}, OF_KEY],
    "GetItem": [OF_KEY, {**OF_KEY, "ProjectionExpression": "#n", "ExpressionAttributeNames": {"#n": "a"}}],
    "Query": [
        {"TableName": "orders", "KeyConditionExpression": "pk = :v", "FilterExpression": "#n = :w", **EXPRESSIONS},
        {
            "TableName": "orders",
            "KeyConditions": {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}},
        },
    ],
    "Scan": [{"TableName": "orders", "FilterExpression": "a = :v OR #n = :w", **EXPRESSIONS}, {"TableName": "orders"}],
    "ExecuteStatement": [
        {"Statement": "UPDATE orders SET x=? WHERE pk='a' AND sk='b'", "Parameters": [{"S": "x"}]},
        {"Statement": "SELECT * FROM orders WHERE pk=?", "Parameters": [{"S": "x"}]},
    ],
    "TransactWriteItems": [
        {"TransactItems": [{"Put": {"TableName": "orders", "Item": tour.ITEM, **CONDITION}}]},
        {"TransactItems": [{"Update": {**OF_KEY, "UpdateExpression": "SET #n = :w", **CONDITION}}]},
    ],
}


def least(shape: Any, number: int = 0, depth: int = 0) -> Any:
    """The least value of a shape, made with a number so that others differ."""
    if shape.name == "AttributeValue":
        return {"S": f"v{number:x}"}
    match shape.type_name:
        case "structure":
            return {name: least(shape.members[name], number, depth + 1) for name in shape.required_members}
        case "list":
            return [least(shape.member, number, depth + 1)] if depth < DEPTH_MAX else []
        case "map":
            return {f"k{number:x}": least(shape.value, number, depth + 1)}
        case "string":
            return shape.enum[0] if shape.enum else f"n{number:x}"
        case "boolean":
            return True
        case "blob":
            return "AAAA"
        case _:
            return 1


def texts(size: int) -> Iterator[str]:
    yield from ("x" * size, '"' * (size // 2), "\x01" * (size // 6), "(" * size, "[" * (size // 2) + "]" * (size // 2))
    yield from (
        " AND ".join(["a=:v"] * (size // 9)),
        "NOT " * (size // 4) + "a=:v",
        "a" + ".b" * (size // 2),
        "9" * size,
    )
    yield "SET " + ",".join(f"a{number:x}=:v" for number in range(size // 9))
    yield "a IN (" + ",".join([":v"] * (size // 3)) + ")"
    yield "SELECT * FROM orders WHERE pk IN [" + ",".join(f"'{number:x}'" for number in range(900)) + "]"
    yield "INSERT INTO orders VALUE {'pk':'a','sk':'b','x':[" + ",".join(["1"] * 4000) + "]}"
    yield '{"Version":"2012-10-17","Statement":[' + ",".join(['{"Effect":"Allow"}'] * (size // 20)) + "]}"
    yield "arn:aws:dynamodb:" + ":" * size


def values(size: int) -> Iterator[dict[str, Any]]:
    deep: dict[str, Any] = {"S": "x"}
    for _ in range(400):
        deep = {"L": [deep]}
    yield deep
    yield from ({"L": [{"N": "1"}] * (size // 10)}, {"L": [{}] * (size // 3)}, {"L": [{"L": []}] * (size // 9)})
    yield {"M": {f"{number:x}": {"N": "1"} for number in range(size // 16)}}
    yield from ({"SS": [f"{number:x}" for number in range(size // 7)]}, {"SS": ["a"] * (size // 4)})
    yield from (
        {"NS": [str(10**37 + number) for number in range(size // 41)]},
        {"N": "9" * size},
        {"N": "1e" + "9" * size},
    )
    yield from ({"BS": ["AAAA"] * (size // 7)}, {"B": "A" * (size // 4 * 4)}, {"B": "!" * (size // 4 * 4)})
    yield from ({"S": "\x01" * (size // 6)}, {f"T{number:x}": "x" for number in range(size // 10)})


def hostile(shape: Any) -> Iterator[Any]:
    """What may stand in the place of a shape and is as large as can be."""
    size = BODY_BYTES
    kind = shape.type_name
    if shape.name == "AttributeValue":
        yield from values(size)
    elif kind == "string":
        yield from texts(size)
    elif kind == "list":
        member = len(orjson.dumps(least(shape.member, 4096))) + 1
        yield [least(shape.member, number) for number in range(size // member)]
        yield from ([None] * (size // 5), [[]] * (size // 3), [{}] * (size // 3), ["x"] * (size // 4))
    elif kind == "map":
        member = len(orjson.dumps(least(shape.value, 4096))) + 9
        yield {f"k{number:x}": least(shape.value, number) for number in range(size // member)}
        inners: list[Any] = [None, [], {}, "a"]
        for inner in inners:
            yield {f"#{number:x}": inner for number in range(size // 12)}
    elif kind == "structure":
        yield {**least(shape), **{f"x{number:x}": 1 for number in range(size // 10)}}


def places(shape: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every place in a request."""
    yield path, shape
    if len(path) > DEPTH_MAX or shape.name == "AttributeValue":
        return
    if shape.type_name == "structure":
        for name, member in shape.members.items():
            yield from places(member, (*path, name))
    elif shape.type_name == "list":
        yield from places(shape.member, (*path, 0))
    elif shape.type_name == "map":
        yield from places(shape.value, (*path, "*"))


def replaced(base: Any, shape: Any, path: Path, value: Any) -> Any:
    """The request with another value in a place."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if shape.type_name == "structure":
        base = dict(base) if isinstance(base, dict) else least(shape)
        return {**base, step: replaced(base.get(step), shape.members[step], rest, value)}
    if shape.type_name == "list":
        base = base if isinstance(base, list) and base else [least(shape.member)]
        return [replaced(base[0], shape.member, rest, value), *base[1:]]
    base = base if isinstance(base, dict) and base else {"k": least(shape.value)}
    name = next(iter(base))
    return {**base, name: replaced(base[name], shape.value, rest, value)}


def requests_of(operation: str, shape: Any) -> list[Callable[[], bytes]]:
    """Makers of all hostile bodies of an operation."""
    return [
        lambda base=base, path=path, value=value: orjson.dumps(replaced(base, shape, path, value))  # type: ignore[misc]
        for path, at in places(shape)
        for base in BASES.get(operation) or [least(shape)]
        for value in hostile(at)
    ]


class Elsewhere:
    """Where others do what isn't done on the event loop: it is left undone."""

    def submit(self, work: Work, slow: Work | None, done: Callable[[bytes], None]) -> None:
        """Leave it."""

    def submit_change(self, work: Work, done: Callable[[bytes], None]) -> None:
        """Leave it."""


class Writes:
    """Takes writes, to be made later, and not on the event loop."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: list[tuple[str, dict[str, Any], Done]] = []

    def submit(self, name: str, params: dict[str, Any], done: Done) -> None:
        """Take one."""
        self._waiting.append((name, params, done))

    def make(self) -> None:
        """Make them."""
        for name, params, done in self._waiting:
            done(outcome_of(self._engine.call, name, params))

    def sweep(self, items_max: int, done: Callable[[int], None]) -> None:
        """Nothing expires."""


@pytest.mark.parametrize(
    ("api", "operation"),
    [(api, name) for api in PREFIXES for name in SESSION.get_service_model(api).operation_names],
)
def test_the_event_loop_does_little_for_a_request(api: str, operation: str) -> None:
    shape = SESSION.get_service_model(api).operation_model(operation).input_shape
    makers = [] if shape is None else requests_of(operation, shape)
    chance = random.Random(operation)
    headers = {
        b"content-type": b"application/x-amz-json-1.0",
        b"authorization": AUTHORIZATION.encode(),
        b"x-amz-target": PREFIXES[api] + operation.encode(),
    }
    count = 0

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    with Engine.open(":memory:", raw_items=True) as engine:
        engine.call("CreateTable", tour.TABLE)
        engine.call("PutItem", {"TableName": "orders", "Item": tour.ITEM})
        for make in chance.sample(makers, min(SAMPLES, len(makers))):
            body = make()
            writes = Writes(engine)
            replies: list[bytes] = []
            service = Service(engine, Settings(db=":memory:"), writes, Elsewhere())
            count = 0
            sys.setprofile(note)
            try:
                service.handle(Incoming(b"POST", b"/", headers, body), replies.append)
            finally:
                sys.setprofile(None)
            assert count < CALLS_MAX, body[:200]
            writes.make()
            assert all(reply.startswith((b"HTTP/1.1 200", b"HTTP/1.1 400")) for reply in replies), replies[0][:500]
            assert all(len(reply) < 4 * BODY_BYTES for reply in replies), body[:200]
