"""What holds for every request of the API: the host it names, the page it comes from, and each response's headers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keyplan.web.api import problem

__all__ = ["Guard", "is_foreign"]

_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (
        b"content-security-policy",
        (
            b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
            b"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
        ),
    ),
)
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_ELSEWHERE = frozenset({"cross-site", "same-site"})


class Guard:
    """Refuses requests for other hosts, and from pages of other sites; gives every response its headers.

    Without the first, a page of another site could reach a local server by a name of its own; without the second, by
    the server's. ``origin`` is the public address, where a server before this one may name this machine as the host.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str] | None, origin: str | None = None) -> None:
        self.app = app
        self.hosts = None if hosts is None else {host.lower() for host in hosts}
        self.origin = origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS]
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self.app)(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if self.hosts is not None and _host(scope) not in self.hosts:
            return problem(421, "WrongHost", f"this server answers for {', '.join(sorted(self.hosts))}")
        if is_foreign(scope["method"], headers, self.origin):
            return problem(403, "ForeignOrigin", "a page of another site sent this, and it isn't taken")
        return None


def is_foreign(method: str, headers: Mapping[str, str], public: str | None) -> bool:
    """Whether a page of another site makes a request, as browsers say it: in ``Origin``, and in ``Sec-Fetch-Site``.

    To follow a link from elsewhere is no such request, but to send a form is. A program that is no browser sends
    neither header. ``public`` is the server's own address for others, if it isn't the host that requests name.
    """
    origin = headers.get("origin")
    if origin is not None and _place(origin) not in {_place(f"//{headers.get('host', '')}"), _place(public or "")} - {
        ""
    }:
        return True
    if headers.get("sec-fetch-site", "").lower() not in _ELSEWHERE:
        return False
    return method not in _SAFE or headers.get("sec-fetch-mode", "").lower() != "navigate"


def _place(address: str) -> str:
    """Host and port of an address; empty for what is none. A port that goes without saying isn't named."""
    try:
        parts = urlsplit(address.strip())
        usual = {"http": 80, "https": 443}.get(parts.scheme)
        return parts.netloc.lower().removesuffix(f":{usual}")
    except ValueError:
        return ""


def _host(scope: Scope) -> str:
    """The host that a request names, without its port; empty where it names none, or several."""
    named: list[str] = [value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"host"]
    if len(named) != 1:
        return ""
    host, colon, port = named[0].rpartition(":")
    return host if colon and port.isascii() and port.isdigit() else named[0]
