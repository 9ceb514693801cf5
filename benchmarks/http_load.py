"""An HTTP/1.1 client for load generators, with persistent connections and without layers that could hide the server's
behavior.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass


@dataclass(frozen=True)
class Reply:
    """A response."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def cookies(self) -> str:
        """The cookies that it sets, as a request sends them."""
        pairs = [value.partition(";")[0] for name, value in self.headers if name == "set-cookie"]
        return "; ".join(pair for pair in pairs if pair.partition("=")[2])


class Client:
    """Requests to one server, each on a connection of its own while it runs."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def request(self, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> Reply:
        """One request. The server must say how long its answer is; one that closes an idle connection is asked anew."""
        while self._free:
            reader, writer = self._free.pop()
            try:
                return await self._ask(reader, writer, method, path, headers, body)
            except (ConnectionError, asyncio.IncompleteReadError):
                writer.close()
        reader, writer = await asyncio.open_connection(self.host, self.port)
        return await self._ask(reader, writer, method, path, headers, body)

    async def _ask(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        method: str,
        path: str,
        headers: dict[str, str],
        body: bytes,
    ) -> Reply:
        lines = [f"{method} {path} HTTP/1.1", f"host: {self.host}:{self.port}", f"content-length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        found = [(name.lower(), value) for name, _, value in (line.partition(": ") for line in head[1:] if line)]
        length = next((int(value) for name, value in found if name == "content-length"), 0)
        content = await reader.readexactly(length) if length else b""
        self._free.append((reader, writer))
        return Reply(int(head[0].split(" ")[1]), found, content)

    async def close(self) -> None:
        """Close the connections."""
        for _, writer in self._free:
            writer.close()
            await writer.wait_closed()
        self._free.clear()
