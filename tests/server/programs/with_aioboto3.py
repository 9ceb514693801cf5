"""``python with_aioboto3.py ENDPOINT`` uses aioboto3, and prints ``done`` if all assertions pass."""
# mypy: ignore-errors
# It runs in a separate environment; the type checker doesn't have its packages.

from __future__ import annotations

import asyncio
import sys

import aioboto3

KEY = {"AttributeName": "pk", "KeyType": "HASH"}


async def main(endpoint: str) -> None:
    options = {"region_name": "eu-west-1", "aws_access_key_id": "dev", "aws_secret_access_key": "secret"}
    session = aioboto3.Session(**options)
    async with session.resource("dynamodb", endpoint_url=endpoint) as dynamodb:
        table = await dynamodb.create_table(
            TableName="aioboto3",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[KEY],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        )
        await table.wait_until_exists()
        async with table.batch_writer() as batch:
            for number in range(60):
                await batch.put_item(Item={"pk": str(number), "number": number})

        async def add(number: int) -> None:
            values = {":one": 1}
            await table.update_item(
                Key={"pk": str(number)}, UpdateExpression="ADD seen :one", ExpressionAttributeValues=values
            )

        await asyncio.gather(*(add(number % 60) for number in range(240)))
        items = (await table.scan())["Items"]
        assert len(items) == 60
        assert all(item["seen"] == 4 for item in items)
    async with session.client("dynamodb", endpoint_url=endpoint) as client:
        pages = client.get_paginator("scan").paginate(TableName="aioboto3", PaginationConfig={"PageSize": 7})
        assert [len(page["Items"]) async for page in pages] == [7] * 8 + [4]
        put = {"TableName": "aioboto3", "Item": {"pk": {"S": "0"}}, "ConditionExpression": "attribute_not_exists(pk)"}
        reasons = []
        try:
            await client.transact_write_items(TransactItems=[{"Put": put}])
        except client.exceptions.TransactionCanceledException as error:
            reasons = error.response["CancellationReasons"]
        assert [reason["Code"] for reason in reasons] == ["ConditionalCheckFailed"]
        await client.delete_table(TableName="aioboto3")
        await client.get_waiter("table_not_exists").wait(TableName="aioboto3")


asyncio.run(main(sys.argv[1]))
print("done")
