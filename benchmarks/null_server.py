"""A server that returns the same bytes for every request of an operation, to measure the client alone.

``python benchmarks/null_server.py PORT``. It reads no body, verifies no signature, and runs in a separate process.
"""

from __future__ import annotations

import asyncio
import sys
import zlib
from typing import Any

import orjson

TABLE = "orders"
PAGE = 10
BATCH = 100


def item(number: int) -> dict[str, Any]:
    """An order of about 1 KB as stored, as the design of the benchmark keeps it."""
    return {
        "pk": {"S": "CUSTOMER#c1"},
        "sk": {"S": f"ORDER#{number:06d}"},
        "order_id": {"S": f"{number:06d}"},
        "customer_id": {"S": "c1"},
        "status": {"S": "pending"},
        "placed_at": {"S": "2026-01-01T00:00:00.000000Z"},
        "total_cents": {"N": "129900"},
        "currency": {"S": "EUR"},
        "lines": {"L": [{"S": f"SKU-{line:04d} x {line}"} for line in range(8)]},
        "note": {"S": "n" * 600},
    }


def answers() -> dict[bytes, bytes]:
    """The bytes of each operation's answer, headers as DynamoDB's own."""
    bodies: dict[str, dict[str, Any]] = {
        "GetItem": {"Item": item(1)},
        "PutItem": {},
        "Query": {"Items": [item(number) for number in range(PAGE)], "Count": PAGE, "ScannedCount": PAGE},
        "BatchGetItem": {"Responses": {TABLE: [item(number) for number in range(BATCH)]}, "UnprocessedKeys": {}},
        "DescribeTable": {"Table": description()},
    }
    found: dict[bytes, bytes] = {}
    for operation, answer in bodies.items():
        body = orjson.dumps(answer)
        head = (
            "HTTP/1.1 200 OK\r\nServer: Server\r\nDate: Sat, 21 Nov 2026 10:00:00 GMT\r\n"
            f"Content-Type: application/x-amz-json-1.0\r\nContent-Length: {len(body)}\r\nConnection: keep-alive\r\n"
            f"x-amzn-RequestId: {'A' * 52}\r\nx-amz-crc32: {zlib.crc32(body)}\r\n\r\n"
        )
        found[operation.encode()] = head.encode() + body
    return found


def description() -> dict[str, Any]:
    """The table, as DescribeTable tells it."""
    names = [("pk", "HASH"), ("sk", "RANGE")]
    return {
        "TableName": TABLE,
        "TableStatus": "ACTIVE",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name, _ in names],
        "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in names],
        "ItemCount": 0,
        "TableSizeBytes": 0,
        "CreationDateTime": 1_700_000_000,
        "TableArn": f"arn:aws:dynamodb:us-east-1:000000000000:table/{TABLE}",
        "ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0, "NumberOfDecreasesToday": 0},
        "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
    }


ANSWERS = answers()


class Canned(asyncio.Protocol):
    """One connection."""

    def __init__(self) -> None:
        self._held = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # a stream's transport

    def data_received(self, data: bytes) -> None:
        self._held += data
        while (end := self._held.find(b"\r\n\r\n")) >= 0:
            fields = dict(line.split(b": ", 1) for line in self._held[:end].split(b"\r\n")[1:])
            fields = {name.lower(): value for name, value in fields.items()}
            whole = end + 4 + int(fields.get(b"content-length", b"0"))
            if len(self._held) < whole:
                return
            self._held = self._held[whole:]
            assert self._transport is not None
            self._transport.write(ANSWERS[fields[b"x-amz-target"].partition(b".")[2]])


async def main(port: int) -> None:
    """Serve until killed."""
    server = await asyncio.get_running_loop().create_server(Canned, "127.0.0.1", port)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
