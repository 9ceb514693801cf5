"""Checks of every request: host, size; and the headers of every response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keyplan.systems import named_host
from keyplan_systems.site.incoming import BODY_BYTES_MAX

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' https:",  # images in posts
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    (b"referrer-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)
_STRICT_TRANSPORT = (b"strict-transport-security", b"max-age=31536000")


class Guard:
    """Rejects requests for other hosts and bodies that are too large, and adds headers to every response.

    The host check prevents DNS rebinding. ``larger`` has the maximum request sizes of some paths.
    """

    def __init__(
        self, app: ASGIApp, hosts: Sequence[str] | None, *, secure: bool, larger: Mapping[str, int] | None = None
    ) -> None:
        self.app = app
        self.larger = larger or {}
        self.hosts = None if hosts is None else frozenset(host.lower() for host in hosts)
        self.headers = (*HEADERS, _STRICT_TRANSPORT) if secure else HEADERS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reject, or pass through."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self.headers]
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self.app)(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        headers = dict(scope["headers"])
        if self.hosts is not None and named_host(scope["headers"]) not in self.hosts:
            return PlainTextResponse("This server doesn't serve that host.\n", status_code=421)
        length = headers.get(b"content-length", b"0")
        most = self.larger.get(scope["path"], BODY_BYTES_MAX)
        if length.isdigit() and int(length[:20]) > most:
            return PlainTextResponse(f"A request has at most {most:,} bytes.\n", status_code=413)
        return None
