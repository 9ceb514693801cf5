"""Proxies from environment variables. TLS endpoints are reached through a tunnel, except hosts in NO_PROXY."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from keyplan.client.transports.endpoint import HEAD_BYTES_MAX, Proxy, Tunnel, proxy_for
from keyplan.client.transports.urls import parse_url
from keyplan.errors import StoreError
from tests.transports.calls import Note, Notes
from tests.transports.faulty import FaultyStore, Loop
from tests.transports.test_tls import over_tls

pytestmark = pytest.mark.usefixtures("impatient")
FAR = "10.9.8.7"
"""An address that only the proxy can reach."""
URL = f"dynamodb+https://{FAR}:4430/notes"


class FakeProxy:
    """A proxy whose tunnels all lead to one local port."""

    def __init__(
        self, port: int, answer: bytes = b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n", pause_s: float = 0
    ) -> None:
        self._port = port
        self._answer = answer
        self._pause_s = pause_s
        self.sent_bytes = 0
        self.heads: list[bytes] = []
        self.port = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError), closing(writer.transport):
            self.heads.append(await reader.readuntil(b"\r\n\r\n"))
            for at in range(len(self._answer)):  # byte by byte
                writer.write(self._answer[at : at + 1])
                await writer.drain()
                self.sent_bytes += 1
                await asyncio.sleep(self._pause_s)
            if b" 200 " not in self._answer:
                return
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
            with closing(far_writer.transport):
                await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


@pytest.fixture
def proxy(store: FaultyStore, loop: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeProxy]:
    """A proxy to a store with TLS, set in the environment variables."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_CA_BUNDLE", str(over_tls(store, loop, tmp_path, FAR)))
    made = FakeProxy(int(store.address.rpartition(":")[2]))
    loop.run(made.start())
    monkeypatch.setenv("HTTPS_PROXY", f"http://me:p%40ss@127.0.0.1:{made.port}")
    for name in ("https_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    yield made
    loop.run(made.stop())


def test_calls_are_sent_through_the_configured_proxy(proxy: FakeProxy, store: FaultyStore) -> None:
    """Synchronous and asynchronous calls reuse connections and check the certificate of the endpoint."""
    with Notes.open(URL, create=True) as notes:
        for number in range(3):
            notes.put(Note(book="b", number=number, marks=["x" * 15_000]))
        assert len(notes.notes("b", limit=20)) == 3
        before = store.connections

        async def awaited() -> int:
            await notes.note.aio("b", 1)
            return len(await notes.notes.aio("b", limit=20))

        assert asyncio.run(awaited()) == 3
        assert store.connections == before + 1
    for head in proxy.heads:
        assert (
            head
            == (
                f"CONNECT {FAR}:4430 HTTP/1.1\r\nHost: {FAR}:4430\r\nProxy-Authorization: Basic bWU6cEBzcw==\r\n\r\n"
            ).encode()
        )
    assert len(proxy.heads) == 2


@pytest.mark.parametrize("awaited", [False, True], ids=["sync", "async"])
def test_proxy_that_rejects_the_tunnel_is_reported(
    proxy: FakeProxy, loop: Loop, awaited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error contains the response of the proxy, but no password."""
    other = FakeProxy(0, b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
    loop.run(other.start())
    monkeypatch.setenv("HTTPS_PROXY", f"127.0.0.1:{other.port}")
    with pytest.raises(StoreError, match=rf"the proxy 127\.0\.0\.1:{other.port} answered .*407") as raised:
        asyncio.run(Notes.aopen(URL)) if awaited else Notes.open(URL)
    loop.run(other.stop())
    assert "p@ss" not in str(raised.value)
    assert proxy.heads == []


@pytest.mark.parametrize("awaited", [False, True], ids=["sync", "async"])
@pytest.mark.usefixtures("proxy")
def test_slow_proxy_times_out(loop: Loop, awaited: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = FakeProxy(0, b"HTTP/1.1 407 " + b"x" * 400, pause_s=0.02)
    loop.run(slow.start())
    monkeypatch.setenv("HTTPS_PROXY", f"127.0.0.1:{slow.port}")
    url = f"{URL}?connect_seconds=0.3&total_seconds=0.4"
    with pytest.raises(StoreError, match="no connection within"):
        asyncio.run(Notes.aopen(url)) if awaited else Notes.open(url)
    loop.run(slow.stop())
    assert 0 < slow.sent_bytes < 200


def test_unreachable_proxy_is_reported(proxy: FakeProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    with pytest.raises(StoreError, match=r"through the proxy 127\.0\.0\.1:1: connection refused"):
        Notes.open(URL)
    assert proxy.heads == []


@pytest.mark.parametrize(
    ("url", "no_proxy", "expected"),
    [
        ("dynamodb://eu-west-1/notes", "", Proxy("proxy", 3128)),
        ("dynamodb://eu-west-1/notes", "example.com", Proxy("proxy", 3128)),
        ("dynamodb://eu-west-1/notes", "example.com, .amazonaws.com", None),
        ("dynamodb://eu-west-1/notes", "*", None),
        ("dynamodb+http://store:8000/notes", "", None),
        ("dynamodb+https://localhost:8000/notes", "", None),
        ("dynamodb+https://127.0.0.1:8000/notes", "", None),
        ("dynamodb+https://store:8000/notes", "store", None),
        ("dynamodb+https://store:8000/notes", "other", Proxy("proxy", 3128)),
    ],
)
def test_proxy_environment_variables_are_interpreted_as_by_curl(
    url: str, no_proxy: str, expected: Proxy | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("HTTPS_PROXY", "http://proxy:3128"), ("NO_PROXY", no_proxy)):
        monkeypatch.setenv(name, value)
    assert proxy_for(parse_url(url, "notes")) == expected


@pytest.mark.parametrize("address", ["https://proxy:1", "socks5://proxy", "http://proxy:x", "http://"])
def test_invalid_proxy_address_is_rejected(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address may contain a password, so the error doesn't contain the address."""
    monkeypatch.setenv("HTTPS_PROXY", address)
    with pytest.raises(StoreError, match="HTTPS_PROXY isn't an http URL"):
        proxy_for(parse_url("dynamodb://eu-west-1/notes", "notes"))


def test_endless_proxy_response_is_rejected() -> None:
    assert HEAD_BYTES_MAX == 65_536
    tunnel = Tunnel(Proxy("proxy", 1), parse_url("dynamodb://eu-west-1/notes", "notes"))
    assert not tunnel.feed(b"x" * 1000)
    with pytest.raises(OSError, match="answered"):
        tunnel.feed(b"x" * HEAD_BYTES_MAX)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("http://proxy", Proxy("proxy", 80)),
        ("proxy:8080", Proxy("proxy", 8080)),
        ("http://me@proxy", Proxy("proxy", 80, "bWU6")),
        ("http://m%40e:a%3Ab@proxy:1", Proxy("proxy", 1, "bUBlOmE6Yg==")),
        ("http://:x@proxy", Proxy("proxy", 80, "Ong=")),
    ],
)
def test_proxy_addresses_are_parsed(address: str, expected: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", address)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert proxy_for(parse_url("dynamodb://eu-west-1/notes", "notes", {})) == expected
