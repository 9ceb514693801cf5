"""Responses with numbers that DynamoDB can't store: an error, in bounded time, that names the item's field."""

from __future__ import annotations

import orjson
import pytest

from keyplan import Design, Entity, Key, Table, read
from keyplan.errors import KeyplanError
from tests.transports.faulty import FaultyStore, reply


class Counter(Entity):
    counter_id: str
    count: int
    primary = Key("COUNTER#{counter_id}", "#")


class Counters(Design):
    table = Table("counters")

    @read("R1")
    def counter(self, counter_id: str) -> Counter | None: ...


@pytest.mark.parametrize("number", ["1e10000000", "1e999999999", "1.0e999999999", "1" * 4301, "NaN"])
def test_a_number_out_of_range(store: FaultyStore, number: str) -> None:
    with Counters.open(store.url(table="counters"), create=True) as counters:
        item = {
            "pk": {"S": "COUNTER#a"},
            "sk": {"S": "#"},
            "counter_id": {"S": "a"},
            "count": {"N": number},
            "_type": {"S": "Counter"},
        }
        answer = reply(200, orjson.dumps({"Item": item}))
        store.respond = lambda operation, _: answer if operation == "GetItem" else None
        with pytest.raises(KeyplanError, match="count"):
            counters.counter("a")
