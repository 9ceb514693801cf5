"""Other DynamoDB clients, each with the calls of the benchmark's design.

A client that isn't installed raises ImportError when it is created.
"""
# ruff: noqa: PLC0415 - each is imported by the contender that needs it
# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,misc,unused-ignore"

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

REGION = "us-east-1"
KEYS = {"aws_access_key_id": "key", "aws_secret_access_key": "secret"}
IDS = [f"{number:06d}" for number in range(100)]
PK = "CUSTOMER#c1"

Calls = dict[str, Callable[[], Any]]

FIELDS: dict[str, Any] = {
    "order_id": "000001",
    "customer_id": "c1",
    "status": "pending",
    "placed_at": datetime(2026, 1, 1, tzinfo=UTC),
    "total_cents": 129900,
    "currency": "EUR",
    "lines": [f"SKU-{line:04d} x {line}" for line in range(8)],
    "note": "n" * 600,
}
PLAIN = {**FIELDS, "placed_at": "2026-01-01T00:00:00.000000Z", "pk": PK, "sk": "ORDER#000001"}
WIRE: dict[str, Any] = {
    name: {"N": str(value)} if isinstance(value, int) else {"S": value}
    for name, value in PLAIN.items()
    if name != "lines"
} | {"lines": {"L": [{"S": line} for line in FIELDS["lines"]]}}


@dataclass
class Contender:
    """One client: its calls by operation, and the microseconds of CPU of each round."""

    name: str
    calls: Calls
    awaited: bool
    rounds: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    close: Callable[[], Any] = lambda: None


def _wire_calls(client: Any) -> Calls:
    """The calls of botocore's clients, which take and give DynamoDB's own form."""
    key = {"pk": {"S": PK}, "sk": {"S": "ORDER#000001"}}
    keys = [{"pk": {"S": PK}, "sk": {"S": f"ORDER#{one}"}} for one in IDS]
    query: dict[str, Any] = {
        "TableName": "orders",
        "KeyConditionExpression": "#p = :p AND begins_with(#s, :s)",
        "ExpressionAttributeNames": {"#p": "pk", "#s": "sk"},
        "ExpressionAttributeValues": {":p": {"S": PK}, ":s": {"S": "ORDER#"}},
        "Limit": 11,
    }
    return {
        "get": lambda: client.get_item(TableName="orders", Key=key),
        "query of 10": lambda: client.query(**query),
        "put": lambda: client.put_item(TableName="orders", Item=WIRE),
        "batch-get of 100": lambda: client.batch_get_item(RequestItems={"orders": {"Keys": keys}}),
    }


def boto3_client(port: int) -> Contender:
    """AWS's own, in DynamoDB's form."""
    import boto3

    client = boto3.client("dynamodb", region_name=REGION, endpoint_url=f"http://127.0.0.1:{port}", **KEYS)
    return Contender("boto3 client", _wire_calls(client), awaited=False)


def boto3_resource(port: int) -> Contender:
    """AWS's own, with Python's values."""
    import boto3
    from boto3.dynamodb.conditions import Key

    resource = boto3.resource("dynamodb", region_name=REGION, endpoint_url=f"http://127.0.0.1:{port}", **KEYS)
    table = resource.Table("orders")
    key = {"pk": PK, "sk": "ORDER#000001"}
    keys = [{"pk": PK, "sk": f"ORDER#{one}"} for one in IDS]
    condition = Key("pk").eq(PK) & Key("sk").begins_with("ORDER#")
    calls: Calls = {
        "get": lambda: table.get_item(Key=key),
        "query of 10": lambda: table.query(KeyConditionExpression=condition, Limit=11),
        "put": lambda: table.put_item(Item=PLAIN),
        "batch-get of 100": lambda: resource.batch_get_item(RequestItems={"orders": {"Keys": keys}}),
    }
    return Contender("boto3 resource", calls, awaited=False)


def aiobotocore_client(port: int) -> Contender:
    """What aioboto3 runs on: botocore over aiohttp."""
    from aiobotocore.session import get_session

    made: list[Any] = []

    def calls_of(operation: str) -> Callable[[], Any]:
        async def call() -> Any:
            if not made:
                session = get_session()
                options: dict[str, Any] = {"region_name": REGION, "endpoint_url": f"http://127.0.0.1:{port}", **KEYS}
                made.append(await session.create_client("dynamodb", **options).__aenter__())
                made.append(_wire_calls(made[0]))
            return await made[1][operation]()

        return call

    async def close() -> None:
        await made[0].close()

    operations = ("get", "query of 10", "put", "batch-get of 100")
    return Contender("aiobotocore (aioboto3)", {one: calls_of(one) for one in operations}, awaited=True, close=close)


def pynamodb(port: int) -> Contender:
    """PynamoDB's models."""
    from pynamodb.attributes import ListAttribute, NumberAttribute, UnicodeAttribute
    from pynamodb.models import Model

    class Order(Model):
        """The same order."""

        class Meta:
            """Where it lives."""

            table_name = "orders"
            region = REGION
            host = f"http://127.0.0.1:{port}"
            aws_access_key_id = "key"
            aws_secret_access_key = "secret"

        pk = UnicodeAttribute(hash_key=True)
        sk = UnicodeAttribute(range_key=True)
        order_id = UnicodeAttribute()
        customer_id = UnicodeAttribute()
        status = UnicodeAttribute()
        placed_at = UnicodeAttribute()  # its own times have another format
        total_cents = NumberAttribute()
        currency = UnicodeAttribute()
        lines: Any = ListAttribute()
        note = UnicodeAttribute()

    one = Order(**PLAIN)
    keys = [(PK, f"ORDER#{number}") for number in IDS]
    calls: Calls = {
        "get": lambda: Order.get(PK, "ORDER#000001"),
        "query of 10": lambda: list(Order.query(PK, Order.sk.startswith("ORDER#"), limit=10)),
        "put": one.save,
        "batch-get of 100": lambda: list(Order.batch_get(keys)),
    }
    return Contender("PynamoDB", calls, awaited=False)


def dyntastic(port: int) -> Contender:
    """Dyntastic: pydantic over boto3's resource."""
    import os

    from boto3.dynamodb.conditions import Key
    from dyntastic import Dyntastic

    os.environ.setdefault("AWS_ACCESS_KEY_ID", "key")
    os.environ.setdefault("AWS_SECRET_ACCESS_KEY", "secret")

    class Order(Dyntastic):
        """The same order."""

        __table_name__ = "orders"
        __hash_key__ = "pk"
        __range_key__ = "sk"
        __table_region__ = REGION
        __table_host__ = f"http://127.0.0.1:{port}"

        pk: str
        sk: str
        order_id: str
        customer_id: str
        status: str
        placed_at: datetime
        total_cents: int
        currency: str
        lines: list[str]
        note: str

    Order.model_rebuild(_types_namespace={"datetime": datetime})
    one = Order(**PLAIN)
    keys = [(PK, f"ORDER#{number}") for number in IDS]
    begins = Key("sk").begins_with("ORDER#")
    calls: Calls = {
        "get": lambda: Order.get(PK, "ORDER#000001"),
        "query of 10": lambda: list(Order.query(PK, range_key_condition=begins)),
        "put": one.save,
        "batch-get of 100": lambda: list(Order.batch_get(keys)),
    }
    return Contender("Dyntastic", calls, awaited=False)


def _pydynox(port: int) -> Any:
    from pydynox import DynamoDBClient, Model, ModelConfig
    from pydynox.attributes import ListAttribute, NumberAttribute, StringAttribute

    client = DynamoDBClient(
        region=REGION, access_key="key", secret_key="secret", endpoint_url=f"http://127.0.0.1:{port}"
    )

    class Order(Model):
        """The same order; times are texts to it."""

        model_config = ModelConfig(table="orders", client=client)

        pk = StringAttribute(partition_key=True)
        sk = StringAttribute(sort_key=True)
        order_id = StringAttribute()
        customer_id = StringAttribute()
        status = StringAttribute()
        placed_at = StringAttribute()
        total_cents = NumberAttribute()
        currency = StringAttribute()
        lines = ListAttribute()
        note = StringAttribute()

    return Order


def pydynox(port: int) -> Contender:
    """pydynox: models over a core in Rust."""
    order = _pydynox(port)
    one = order(**PLAIN)
    keys = [{"pk": PK, "sk": f"ORDER#{number}"} for number in IDS]
    begins = order.sk.begins_with("ORDER#")
    calls: Calls = {
        "get": lambda: order.sync_get(pk=PK, sk="ORDER#000001"),
        "query of 10": lambda: list(order.sync_query(PK, begins, limit=10)),
        "put": lambda: one.sync_save(full_replace=True),
        "batch-get of 100": lambda: order.sync_batch_get(keys),
    }
    return Contender("pydynox", calls, awaited=False)


def pydynox_awaited(port: int) -> Contender:
    """The same, awaited."""
    order = _pydynox(port)
    one = order(**PLAIN)
    keys = [{"pk": PK, "sk": f"ORDER#{number}"} for number in IDS]
    begins = order.sk.begins_with("ORDER#")

    async def query() -> Any:
        return [found async for found in order.query(PK, begins, limit=10)]

    calls: Calls = {
        "get": lambda: order.get(pk=PK, sk="ORDER#000001"),
        "query of 10": query,
        "put": lambda: one.save(full_replace=True),
        "batch-get of 100": lambda: order.batch_get(keys),
    }
    return Contender("pydynox, awaited", calls, awaited=True)


def aiodynamo(port: int) -> Contender:
    """Over aiohttp; it gives dictionaries."""
    from aiodynamo.client import Client
    from aiodynamo.credentials import Key, StaticCredentials
    from aiodynamo.expressions import HashKey, RangeKey
    from aiodynamo.http.aiohttp import AIOHTTP
    from aiodynamo.models import BatchGetRequest
    from aiohttp import ClientSession
    from yarl import URL

    made: list[Any] = []
    key = {"pk": PK, "sk": "ORDER#000001"}
    keys = [{"pk": PK, "sk": f"ORDER#{number}"} for number in IDS]
    condition = HashKey("pk", PK) & RangeKey("sk").begins_with("ORDER#")

    def client() -> Any:
        if not made:
            held = ClientSession(loop=asyncio.get_running_loop())
            credentials = StaticCredentials(Key("key", "secret"))
            made.append(Client(AIOHTTP(held), credentials, REGION, URL(f"http://127.0.0.1:{port}")))
            made.append(held)
        return made[0]

    async def query() -> Any:
        return [found async for found in client().query("orders", condition, limit=10)]

    async def get() -> Any:
        return await client().get_item("orders", key)

    async def put() -> Any:
        return await client().put_item("orders", PLAIN)

    async def batch() -> Any:
        return await client().batch_get({"orders": BatchGetRequest(keys)})

    async def close() -> None:
        await made[1].close()

    calls: Calls = {"get": get, "query of 10": query, "put": put, "batch-get of 100": batch}
    return Contender("aiodynamo", calls, awaited=True, close=close)


RIVALS: tuple[Callable[[int], Contender], ...] = (
    boto3_client,
    boto3_resource,
    aiobotocore_client,
    pynamodb,
    dyntastic,
    pydynox,
    pydynox_awaited,
    aiodynamo,
)
