"""Requests are validated before they have any effect. Every member of every request is tested with values of a wrong
type or beyond the limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.dynamodb.operations.shapes import Flag, ListOf, MapOf, Real, Shape, Structure, Text, Value, Whole
from keyplan.errors import DynamoDBError
from keyplan.store import Engine, Regions
from tests.engine import tour

OTHERS: tuple[Any, ...] = (5, 1.5, True, "x", [], {}, [1], {"x": 1}, [[]], 10**30, "")
TYPES: dict[type[Shape], tuple[type, ...]] = {
    Text: (str,),
    Whole: (int, float),  # fractions are truncated
    Real: (int, float),
    Flag: (bool,),
    ListOf: (list,),
    MapOf: (dict,),
    Structure: (dict,),
    Value: (dict,),
}
TEXT_MAX = 70_000
"""Longer strings aren't tested."""
Path = tuple[str | int, ...]


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Regions.open(":memory:", ["us-east-1", "us-west-2"]) as regions:
        engine = regions.engines["us-east-1"]
        engine.call("CreateTable", tour.TABLE)
        engine.call("PutItem", {"TableName": "orders", "Item": tour.ITEM})
        yield engine
        assert engine.check() == []


@pytest.fixture(scope="module")
def valid() -> dict[str, dict[str, Any]]:
    """Return a valid request for each operation, as recorded by ``tests/engine/tour.py``."""
    return {operation: requests[0] for operation, requests in tour.travel().requests.items()}


def places(shape: Shape, path: Path = ()) -> Iterator[tuple[Path, Shape]]:
    """Yield the path and the shape of each member of a request."""
    yield path, shape
    match shape:
        case Structure():
            for name, member in shape.members.items():
                yield from places(member, (*path, name))
        case ListOf():
            yield from places(shape.of, (*path, 0))
        case MapOf():
            yield from places(shape.of, (*path, "*"))
        case _:
            pass


def minimal(shape: Shape) -> Any:
    """Return a minimal value of a shape."""
    match shape:
        case Text():
            return shape.enum[0] if shape.enum else "orders"
        case Whole():
            return 1
        case Real():
            return 1.0
        case Flag():
            return True
        case Value():
            return {"S": "x"}
        case ListOf():
            return [minimal(shape.of)]
        case MapOf():
            return {"orders": minimal(shape.of)}
        case Structure():
            return {name: minimal(shape.members[name]) for name in shape.required}


def replaced(base: Any, shape: Shape, path: Path, value: Any) -> Any:
    """Return the request with another value at a path. Missing parents of the path are created."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    match shape:
        case Structure():
            members = {**minimal(shape), **(base if isinstance(base, dict) else {})}
            return {**members, step: replaced(members.get(str(step)), shape.members[str(step)], rest, value)}
        case ListOf():
            elements = base if isinstance(base, list) and base else [minimal(shape.of)]
            return [replaced(elements[0], shape.of, rest, value), *elements[1:]]
        case MapOf():
            members = base if isinstance(base, dict) and base else {"orders": minimal(shape.of)}
            name = next(iter(members))
            return {**members, name: replaced(members[name], shape.of, rest, value)}
        case _:
            raise AssertionError(shape)


def beyond(shape: Shape) -> Iterator[Any]:
    """Yield values of the correct type that are outside the limits of a shape."""
    match shape:
        case Text(enum=enum) if enum:
            yield "none of them"
        case Text():
            if shape.min:
                yield ""
            if shape.max is not None and shape.max < TEXT_MAX and not shape.arn:
                yield "x" * (shape.max + 1)
        case Whole():
            if shape.min is not None:
                yield shape.min - 1
            if shape.max is not None:
                yield shape.max + 1
        case ListOf() | MapOf():
            if shape.min:
                yield [] if isinstance(shape, ListOf) else {}
            if shape.max is not None:
                elements = [minimal(shape.of) for _ in range(shape.max + 1)]
                names = (f"orders{number}" for number in range(shape.max + 1))
                yield elements if isinstance(shape, ListOf) else dict(zip(names, elements, strict=True))
        case _:
            pass


def error(engine: Engine, operation: str, request: Any) -> str | None:
    try:
        engine.call(operation, request)
    except DynamoDBError as refused:
        return refused.type if refused.message else None
    return None


@pytest.mark.parametrize("operation", OPERATIONS)
def test_members_of_a_wrong_type_are_rejected(engine: Engine, valid: dict[str, dict[str, Any]], operation: str) -> None:
    shape = OPERATIONS[operation].request
    base = valid.get(operation, minimal(shape))
    for path, at in places(shape):
        for value in OTHERS:
            fits = isinstance(value, TYPES[type(at)]) and (isinstance(at, Flag) or not isinstance(value, bool))
            if not fits:
                request = replaced(base, shape, path, value)
                assert error(engine, operation, request) == "SerializationException", (path, value)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_request_members_that_exceed_their_limits_are_rejected(
    engine: Engine, valid: dict[str, dict[str, Any]], operation: str
) -> None:
    shape = OPERATIONS[operation].request
    base = valid.get(operation, minimal(shape))
    for path, at in places(shape):
        for value in beyond(at):
            request = replaced(base, shape, path, value)
            assert error(engine, operation, request) == "ValidationException", (path, value)


@pytest.mark.parametrize(
    ("operation", "members"),
    [
        ("PutItem", {"Item": {**tour.ITEM, "x": {"S": "a\ud800"}}}),
        ("PutItem", {"Item": {**tour.ITEM, "\udc00": {"S": "a"}}}),
        ("GetItem", {"Key": {**tour.KEY, "sk": {"S": "\ud800"}}}),
        ("TagResource", {"ResourceArn": tour.ARN, "Tags": [{"Key": "\ud800", "Value": "a"}]}),
    ],
)
def test_strings_with_unpaired_surrogates_are_rejected(engine: Engine, operation: str, members: dict[str, Any]) -> None:
    """Strings with unpaired surrogates can't be sent over HTTP, but can be passed within a process."""
    assert error(engine, operation, {"TableName": "orders", **members}) in {
        "SerializationException",
        "ValidationException",
    }
