"""Responses that contain numbers unsupported by DynamoDB are rejected, in limited time."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import orjson
import pytest

from keyplan import Design, Entity, Field, Key, Table, read
from keyplan.errors import StoreError
from tests.transports.faulty import FaultyStore, error_body, reply

Shape = Callable[[str], dict[str, Any]]


class Reading(Entity):
    reading_id: str
    count: int = 0
    amount: Decimal = Decimal(0)
    level: float = 0.0
    either: int | str = 0
    counts: list[int] = Field(default_factory=list)
    each: set[Decimal] = Field(default_factory=set)
    by_name: dict[str, int] = Field(default_factory=dict)
    anything: Any = None
    primary = Key("READING#{reading_id}", "#")


class Readings(Design):
    table = Table("readings")

    @read("R1")
    def reading(self, reading_id: str) -> Reading | None: ...


def number(text: str) -> dict[str, Any]:
    return {"N": text}


SHAPES: list[tuple[str, Shape]] = [
    ("count", number),
    ("amount", number),
    ("level", number),
    ("either", number),
    ("anything", number),
    ("of no field", number),
    ("counts", lambda text: {"L": [number("1"), number(text)]}),
    ("each", lambda text: {"NS": ["1", text]}),
    ("by_name", lambda text: {"M": {"N": number(text)}}),
    ("anything", lambda text: {"L": [{"M": {"a": {"NS": [text]}}}]}),
]
BODIES: list[Callable[[bytes], bytes]] = [bytes, lambda body: body.replace(b'"N', b'"\\u004e')]


@pytest.fixture
def readings(store: FaultyStore) -> Any:
    with Readings.open(store.url("attempts=1", "readings"), create=True) as readings:
        yield readings


def item(name: str, value: dict[str, Any]) -> dict[str, Any]:
    return {
        "pk": {"S": "READING#a"},
        "sk": {"S": "#"},
        "reading_id": {"S": "a"},
        "_type": {"S": "Reading"},
        name: value,
    }


@pytest.mark.parametrize("text", ["1e10000000", "-1e999999999", "1e-999999999", "1" * 4301, "NaN", "1_0", "\u0661"])
@pytest.mark.parametrize(("name", "shape"), SHAPES)
@pytest.mark.parametrize("form", BODIES)
def test_number_that_dynamodb_cannot_store_is_rejected(
    store: FaultyStore, readings: Readings, name: str, shape: Shape, text: str, form: Callable[[bytes], bytes]
) -> None:
    answer = reply(200, form(orjson.dumps({"Item": item(name, shape(text))})))
    store.respond = lambda operation, _: answer if operation == "GetItem" else None
    with pytest.raises(StoreError, match="a Number is invalid"):
        readings.reading("a")


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "1e3", "+1", "9" * 38 + "0" * 88, "1E-130"])
@pytest.mark.parametrize("name", ["amount", "anything"])
def test_number_that_dynamodb_can_store_is_read(store: FaultyStore, readings: Readings, name: str, text: str) -> None:
    stored = number(text) if name == "amount" else {"M": {"N": number(text), "NS": {"NS": [text]}}}
    answer = reply(200, orjson.dumps({"Item": item(name, stored)}))
    store.respond = lambda operation, _: answer if operation == "GetItem" else None
    found = readings.reading("a")
    assert found is not None
    value = found.amount if name == "amount" else found.anything["N"]
    assert Decimal(str(value)) == Decimal(text)


def test_number_in_the_item_of_a_failed_condition_is_also_validated(store: FaultyStore, readings: Readings) -> None:
    body = error_body("ConditionalCheckFailedException", "no", Item=item("count", number("1e999999999")))
    store.respond = lambda operation, _: reply(400, body) if operation == "PutItem" else None
    with pytest.raises(StoreError):
        readings.create(Reading(reading_id="a"))
