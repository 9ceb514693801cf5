"""What holds for every request of the API: the host it names, the page it comes from, and each response's headers."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keyplan.web.api import problem
from keyplan.web.origins import is_foreign, named_host

__all__ = ["Guard"]

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
        if self.hosts is not None and named_host(scope["headers"]) not in self.hosts:
            return problem(421, "WrongHost", f"this server answers for {', '.join(sorted(self.hosts))}")
        if is_foreign(scope["method"], headers, self.origin):
            return problem(403, "ForeignOrigin", "requests from pages of other sites are rejected")
        return None
