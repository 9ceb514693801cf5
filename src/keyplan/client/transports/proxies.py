"""The proxy that the environment names for TLS endpoints (``HTTPS_PROXY``, ``NO_PROXY``), and the tunnel through it.

The variables are read as Python's own library and AWS's tools read them. Endpoints without TLS and those on this
machine are reached without a proxy. Source: RFC 9110, CONNECT.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from keyplan.client.transports.urls import Location
from keyplan.errors import StoreError

__all__ = ["Proxy", "ProxyRefusedError", "Tunnel", "proxy_for"]

HEAD_BYTES_MAX = 64 * 1024


class ProxyRefusedError(OSError):
    """The proxy doesn't make the connection."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """Where a proxy is, and what it knows its users by."""

    host: str
    port: int
    authorization: str = ""

    @property
    def address(self) -> tuple[str, int]:
        """The host and its port, as sockets take them."""
        return self.host, self.port

    def __str__(self) -> str:
        return f"the proxy {self.host}:{self.port}"


def proxy_for(location: Location) -> Proxy | None:
    """The proxy by which an endpoint is reached; None for none. Raises StoreError for an address that is none."""
    if not location.tls or location.local:
        return None
    from urllib.request import (  # noqa: PLC0415 - slow to import, and rarely needed
        getproxies_environment,
        proxy_bypass,
    )

    address = getproxies_environment().get("https")
    if not address or proxy_bypass(f"{location.host}:{location.port}"):
        return None
    return _proxy(address if "://" in address else f"http://{address}")


def _proxy(address: str) -> Proxy:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme != "http" or not parts.hostname:
        raise StoreError(
            "HTTPS_PROXY isn't an http URL",
            hint="write http://HOST:PORT; list exceptions in NO_PROXY",
        )
    authorization = ""
    if parts.username is not None:
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = b64encode(user.encode()).decode()
    return Proxy(parts.hostname, port or 80, authorization)


class Tunnel:
    """The conversation with a proxy before TLS begins: ``request`` is sent, ``feed`` takes what comes."""

    def __init__(self, proxy: Proxy, location: Location) -> None:
        self._proxy = proxy
        host = f"[{location.host}]" if ":" in location.host else location.host
        lines = [f"CONNECT {host}:{location.port} HTTP/1.1", f"Host: {host}:{location.port}"]
        if proxy.authorization:
            lines.append(f"Proxy-Authorization: Basic {proxy.authorization}")
        self.request = "\r\n".join([*lines, "", ""]).encode()
        self._head = b""

    def feed(self, data: bytes) -> bool:
        """Whether the tunnel stands. Raises ProxyRefusedError."""
        self._head += data
        if not data:
            raise ProxyRefusedError(f"{self._proxy} closed the connection")
        if b"\r\n\r\n" not in self._head and len(self._head) < HEAD_BYTES_MAX:
            return False
        status = self._head.partition(b"\r\n")[0]
        if not status.startswith(b"HTTP/1.") or status[8:10] != b" 2":
            raise ProxyRefusedError(f"{self._proxy} answered {status[:60].decode('latin-1')!r}")
        return True
