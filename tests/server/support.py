"""Test servers, and a client that sends given bytes unchanged."""

from __future__ import annotations

import gzip
import json
import signal
import socket
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]
from botocore.config import Config  # type: ignore[import-untyped]

from tests.processes import Process

ROOT = Path(__file__).parents[2]
AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=dev/20260101/eu-west-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00"
)
JSON_TYPE = "application/x-amz-json-1.0"
TABLE = "orders"
CREATE: dict[str, Any] = {
    "TableName": TABLE,
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "g")],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "ByG",
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}


def boto3_client(
    server: Server, service: str = "dynamodb", *, region: str = "eu-west-1", secret: str = "secret"
) -> Any:
    """Return a boto3 client that doesn't retry."""
    return boto3.client(
        service,
        endpoint_url=server.url,
        region_name=region,
        aws_access_key_id="dev",
        aws_secret_access_key=secret,
        config=Config(retries={"max_attempts": 0}),
    )


def s(value: object) -> dict[str, str]:
    return {"S": str(value)}


@dataclass
class Answer:
    """A response, as received by the client."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> dict[str, Any]:
        packed = self.headers.get("content-encoding") == "gzip"
        result: dict[str, Any] = json.loads(gzip.decompress(self.body) if packed else self.body)
        return result

    @property
    def type(self) -> str:
        """Return the error type with its namespace."""
        text: str = self.json()["__type"]
        return text

    @property
    def message(self) -> str | None:
        body = self.json()
        text: str | None = body.get("message", body.get("Message"))
        return text

    def assert_sound(self) -> None:
        """Check the headers that every response must have."""
        assert int(self.headers["content-length"]) == len(self.body)
        assert int(self.headers["x-amz-crc32"]) == zlib.crc32(self.body)
        assert len(self.headers["x-amzn-requestid"]) == 52


class Raw:
    """A connection on which a test sends bytes unchanged and reads responses."""

    def __init__(self, port: int, timeout_s: float = 20.0) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout_s)
        self._buffer = b""

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *exception: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def _more(self) -> bool:
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionResetError:
            return False
        self._buffer += data
        return bool(data)

    def answer(self) -> Answer:
        """Read and return the next response. Raise EOFError if the server has closed the connection."""
        while b"\r\n\r\n" not in self._buffer:
            if not self._more():
                raise EOFError(self._buffer)
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        status = int(first.split()[1])
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        if status == 100:
            return Answer(status, headers, b"")
        length = int(headers["content-length"])
        while len(self._buffer) < length:
            if not self._more():
                raise EOFError(self._buffer)
        body, self._buffer = self._buffer[:length], self._buffer[length:]
        return Answer(status, headers, body)

    def rest_until(self, last: bytes) -> bytes:
        """Read until the data contains ``last``, and return the data."""
        while last not in self._buffer:
            if not self._more():
                raise EOFError(self._buffer)
        rest, self._buffer = self._buffer, b""
        return rest

    def ended(self) -> bool:
        """Return whether the server has closed the connection and all its output has been read."""
        while not self._buffer:
            if not self._more():
                return True
        return False

    def ask(self, data: bytes) -> Answer:
        self.send(data)
        return self.answer()


def request(
    operation: str | None,
    body: bytes | dict[str, Any] = b"{}",
    *,
    method: str = "POST",
    chunks: bool = False,
    **headers: str | None,
) -> bytes:
    """Return the bytes of a request. A header that is None is omitted; ``_`` in header names stands for ``-``."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines: dict[str, str | None] = {"host": "127.0.0.1", "content-type": JSON_TYPE, "authorization": AUTHORIZATION}
    if operation is not None:
        lines["x-amz-target"] = f"DynamoDB_20120810.{operation}"
    if chunks:
        lines["transfer-encoding"] = "chunked"
        pieces = [data[start : start + 7] for start in range(0, len(data), 7)]
        data = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    else:
        lines["content-length"] = str(len(data))
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value is not None)
    return f"{method} / HTTP/1.1\r\n{head}\r\n".encode() + data


@dataclass
class Server:
    port: int
    process: Process
    _connections: list[Raw] = field(default_factory=list[Raw])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def raw(self) -> Raw:
        """Open a connection that is closed at the latest when the server ends."""
        raw = Raw(self.port)
        self._connections.append(raw)
        return raw

    def call(self, operation: str, params: dict[str, Any]) -> dict[str, Any]:
        """Call one operation on a new connection, and check that the call succeeds."""
        with self.raw() as raw:
            answer = raw.ask(request(operation, params))
        assert answer.status == 200, answer
        return answer.json()

    def hang_up(self) -> None:
        """Close all connections to the server."""
        for raw in self._connections:
            raw.socket.close()

    def memory_mb(self) -> float:
        """Return the resident memory of the server process in MB."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise AssertionError

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal to the process and wait for its exit. Return the exit status and standard error."""
        self.process.send_signal(number)
        _, errors = self.process.end()
        return self.process.returncode, errors


@contextmanager
def serving(db: str, **settings: Any) -> Iterator[Server]:
    """Run a server on a store, and check that the server exits without errors."""
    with started([sys.executable, "-m", "tests.server.launch", json.dumps({"db": db, **settings})]) as server:
        yield server
        if server.process.poll() is None:
            status, errors = server.end()
            assert (status, errors) == (0, "")


@contextmanager
def started(command: list[str]) -> Iterator[Server]:
    """Run a server process, and wait for its first line of output, which contains the port."""
    with Process(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.end()[1]
        server = Server(int(line.rpartition(":")[2].split()[0]), process)
        try:
            yield server
        finally:
            server.hang_up()
