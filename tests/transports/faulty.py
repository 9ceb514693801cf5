"""A store with faults on demand: an engine behind DynamoDB's protocol.

A fault occurs before or after the store executes the request, so after a retry, the request was executed once or twice.
The server runs in a thread with its own event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

import orjson

from keyplan.errors import DynamoDBError
from keyplan.store import Engine

CLOCK_AHEAD_SECONDS = 3600


@dataclass(frozen=True)
class Fault:
    """A fault of a request. ``carried_out``: the store executes the request. ``lost``: no response arrives."""

    name: str
    carried_out: bool
    lost: bool
    shows: str
    times: int = 1


FAULTS = {
    fault.name: fault
    for fault in (
        Fault("dropped", False, True, "the connection is dropped before the request is executed"),
        Fault(
            "dropped after", True, True, "the connection is dropped after the request is executed, without a response"
        ),
        Fault("stalled", False, True, "the store doesn't respond, and the request isn't executed"),
        Fault("stalled after", True, True, "the store executes the request, but doesn't respond"),
        Fault("cut", True, True, "the connection is closed after half of the response"),
        Fault("garbled", True, True, "the response isn't HTTP"),
        Fault("not JSON", True, True, "the response's body isn't JSON"),
        Fault("wrong crc", True, True, "the response's CRC-32 doesn't match its body"),
        Fault("500", False, True, "the store returns InternalServerError, and doesn't execute the request"),
        Fault("500 after", True, True, "the store returns InternalServerError, although it executed the request"),
        Fault("503", False, True, "a proxy returns status 503 with an HTML page, and the request isn't executed"),
        Fault("throttled", False, False, "the store returns ProvisionedThroughputExceededException three times", 3),
        Fault("expired", False, False, "the store returns ExpiredTokenException once, because the credentials expired"),
        Fault("clock", False, False, "the signature is rejected, because the client's clock is one hour slow"),
    )
}


class Loop:
    """An event loop in a separate thread, in which servers run."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    def close(self) -> None:
        self.run(self._end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    async def _end(self) -> None:
        for _ in range(3):  # a connection that is being accepted starts another task
            await asyncio.sleep(0)  # a task that is canceled before it starts doesn't close its connection
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@dataclass
class FaultyStore:
    """A server on which ``fail`` sets the next faults. ``received`` and ``carried_out`` count requests."""

    engine: Engine
    received: Counter[str] = field(default_factory=Counter[str])
    carried_out: Counter[str] = field(default_factory=Counter[str])
    connections: int = 0
    open_connections: int = 0
    open_max: int = 0
    delay_seconds: float = 0.0
    respond: Callable[[str, bytes], bytes | None] | None = None
    """Returns raw bytes to respond with instead."""
    when_met: Callable[[], None] | None = None
    """Called when a planned fault occurs."""
    heads: list[bytes] = field(default_factory=list[bytes])
    _plan: dict[str, list[Fault]] = field(default_factory=dict[str, list[Fault]])
    _server: asyncio.Server | None = None
    _writers: set[asyncio.StreamWriter] = field(default_factory=set[asyncio.StreamWriter])

    def fail(self, operation: str, fault: Fault) -> None:
        """Apply the fault to the next ``fault.times`` requests of an operation."""
        self._plan[operation] = [fault] * fault.times

    @property
    def met(self) -> bool:
        """Return whether all planned faults have occurred."""
        return not any(self._plan.values())

    @property
    def address(self) -> str:
        assert self._server is not None
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"{host}:{port}"

    def url(self, options: str = "", table: str = "notes") -> str:
        return f"dynamodb+http://{self.address}/{table}?{options}"

    async def start(self, port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port, ssl=tls)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open_connections += 1
        self.open_max = max(self.open_max, self.open_connections)
        self._writers.add(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.heads.append(head)
                fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
                body = await reader.readexactly(int(fields[b"Content-Length"]))
                operation = fields[b"X-Amz-Target"].partition(b".")[2].decode()
                self.received[operation] += 1
                if self.delay_seconds:
                    await asyncio.sleep(self.delay_seconds)
                if not await self._answer(operation, body, reader, writer):
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.open_connections -= 1
            self._writers.discard(writer)
            writer.transport.abort()

    async def _answer(
        self, operation: str, body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Respond to a request, and return whether the connection stays open."""
        raw = self.respond(operation, body) if self.respond is not None else None
        if raw is not None:
            writer.write(raw)
            return True
        plan = self._plan.get(operation)
        fault = plan.pop(0) if plan else None
        if fault is None:
            writer.write(reply(*self._carry_out(operation, body)))
            return True
        if self.when_met is not None:
            self.when_met()
        status, answer = self._carry_out(operation, body) if fault.carried_out else (200, b"{}")
        if fault.name.startswith("dropped"):
            return False
        if fault.name.startswith("stalled"):
            await reader.read()  # until the client gives up
            return False
        writer.write(misanswer(fault, status, answer))
        if fault.name == "cut":
            await writer.drain()
            writer.close()
            return False
        return True

    def _carry_out(self, operation: str, body: bytes) -> tuple[int, bytes]:
        self.carried_out[operation] += 1
        try:
            return 200, orjson.dumps(self.engine.call(operation, orjson.loads(body)))
        except DynamoDBError as error:
            return 400, error_body(error.type, error.message, **error.fields)


def error_body(kind: str, message: str, **fields: Any) -> bytes:
    return orjson.dumps({"__type": f"com.amazonaws.dynamodb.v20120810#{kind}", "message": message, **fields})


def reply(
    status: int, body: bytes, crc: int | None = None, *, date: str | None = None, kind: str = "x-amz-json-1.0"
) -> bytes:
    return (
        f"HTTP/1.1 {status} Whatever\r\nContent-Type: application/{kind}\r\nDate: {date or formatdate(usegmt=True)}\r\n"
        f"x-amz-crc32: {zlib.crc32(body) if crc is None else crc}\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def misanswer(fault: Fault, status: int, answer: bytes) -> bytes:
    """Return the bytes of the response that a fault sends."""
    match fault.name:
        case "cut":
            whole = reply(status, answer)
            return whole[: len(whole) - max(1, len(answer) // 2)]
        case "garbled":
            return b"\x15\x03\x01\x00\x02\x02\x16 what is this\r\n\r\n"
        case "not JSON":
            return reply(200, b'{"Item": {')
        case "wrong crc":
            return reply(status, answer, zlib.crc32(answer) ^ 1)
        case "500" | "500 after":
            return reply(500, error_body("InternalServerError", "The request processing has failed"))
        case "503":
            return reply(503, b"<html>busy</html>", kind="html")
        case "throttled":
            return reply(400, error_body("ProvisionedThroughputExceededException", "The level is exceeded"))
        case "expired":
            text = "The security token included in the request is expired"
            return reply(400, error_body("ExpiredTokenException", text))
        case _:
            text = "Signature expired: 20261121T100000Z is now earlier than 20261121T105500Z"
            date = formatdate(time.time() + CLOCK_AHEAD_SECONDS, usegmt=True)
            return reply(400, error_body("InvalidSignatureException", text), date=date)


@contextlib.contextmanager
def faulty_store(loop: Loop) -> Iterator[FaultyStore]:
    """Run a faulty store in an event loop, which several stores can share."""
    with Engine.open(":memory:") as engine:
        store = FaultyStore(engine)
        loop.run(store.start())
        try:
            yield store
        finally:
            loop.run(store.stop())
