"""``python with_aiodynamo.py ENDPOINT`` uses aiodynamo, and prints ``done`` if all assertions pass. Aiodynamo signs
requests and parses responses itself.
"""
# mypy: ignore-errors
# It runs in a separate environment; the type checker doesn't have its packages.

from __future__ import annotations

import asyncio
import sys

from aiodynamo.client import Client
from aiodynamo.credentials import Key, StaticCredentials
from aiodynamo.errors import ConditionalCheckFailed, ItemNotFound, TableNotFound
from aiodynamo.expressions import F, HashKey, RangeKey
from aiodynamo.http.httpx import HTTPX
from aiodynamo.models import BatchWriteRequest, KeySchema, KeySpec, KeyType, PayPerRequest, RetryConfig, ReturnValues
from aiodynamo.operations import ConditionCheck, Put, Update
from httpx import AsyncClient
from yarl import URL

NAME = "aiodynamo"


async def is_refused(kind, awaitable) -> bool:
    try:
        await awaitable
    except kind:
        return True
    return False


async def main(endpoint: str) -> None:
    async with AsyncClient() as http:
        client = Client(HTTPX(http), StaticCredentials(Key("dev", "secret")), "eu-west-1", URL(endpoint))
        table = client.table(NAME)
        assert await is_refused(TableNotFound, client.describe_table(NAME))
        schema = KeySchema(KeySpec("pk", KeyType.string), KeySpec("sk", KeyType.number))
        await client.create_table(NAME, PayPerRequest(), schema, wait_for_active=RetryConfig.default_wait_config())
        items = [{"pk": "a", "sk": number, "blob": b"\x00\xff", "seen": 0} for number in range(60)]
        for first in range(0, 60, 25):
            batch = BatchWriteRequest(items_to_put=items[first : first + 25])
            await client.batch_write({NAME: batch})
        assert [item async for item in table.query(HashKey("pk", "a") & RangeKey("sk").gte(30), limit=7)] == items[
            30:37
        ]
        assert [item async for item in table.scan(filter_expression=F("sk").between(10, 12))] == items[10:13]
        await asyncio.gather(*(table.update_item({"pk": "a", "sk": 0}, F("seen").add(1)) for _ in range(40)))
        changed = await table.update_item(
            {"pk": "a", "sk": 0}, F("blob").remove() & F("name").set("ü"), return_values=ReturnValues.all_new
        )
        assert changed == {"pk": "a", "sk": 0, "seen": 40, "name": "ü"}
        unseen = table.put_item(items[0], condition=F("pk").does_not_exist())
        assert await is_refused(ConditionalCheckFailed, unseen)
        await client.transact_write_items(
            [
                Put(NAME, {"pk": "b", "sk": 1}),
                Update(NAME, {"pk": "a", "sk": 1}, F("seen").add(5)),
                ConditionCheck(NAME, {"pk": "a", "sk": 2}, F("seen").equals(0)),
            ]
        )
        assert (await table.get_item({"pk": "a", "sk": 1}))["seen"] == 5
        await table.delete_item({"pk": "b", "sk": 1})
        assert await is_refused(ItemNotFound, table.get_item({"pk": "b", "sk": 1}))
        await client.delete_table(NAME, wait_for_disabled=RetryConfig.default_wait_config())


asyncio.run(main(sys.argv[1]))
print("done")
