"""Access control of the studio. A request must name an allowed host, come from the studio's own page, and send a token.
The page contains no data. Its requests send the token in a header that pages of other sites can't set.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files

from starlette.requests import Request

from keyplan.web.policy import named_host

HEADER = "x-keyplan-token"
TOKEN_BYTES = 24


@dataclass(frozen=True)
class Access:
    """The token and the allowed host names of a studio server. If ``hosts`` is None, any host name is allowed."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES), repr=False)
    hosts: Sequence[str] | None = ("127.0.0.1", "localhost")

    def knows_host(self, request: Request) -> bool:
        return self.hosts is None or named_host(request.headers.raw) in self.hosts

    def refusal(self, request: Request) -> tuple[int, str, str] | None:
        """The status, code and message of a rejected request; None for an allowed request."""
        if not self.knows_host(request):
            return 421, "WrongHost", f"the Host header must be one of {', '.join(self.hosts or ())}"
        host = request.headers.get("host", "")
        origins = request.headers.getlist("origin")
        if any(origin != f"{request.url.scheme}://{host}" for origin in origins):
            return 403, "WrongOrigin", "requests from other sites are rejected"
        given = request.headers.get(HEADER, "")
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            return 401, "TokenNeeded", "the token is missing or wrong: open the address that the terminal shows"
        return None


STATIC = files("keyplan.studio").joinpath("static")
MODULES = {
    "preact": "vendor/preact.js",
    "preact/hooks": "vendor/preact-hooks.js",
    "@preact/signals-core": "vendor/signals-core.js",
    "@preact/signals": "vendor/signals.js",
    "htm": "vendor/htm.js",
    "uplot": "vendor/uplot.js",
    "codemirror": "vendor/codemirror.js",
}
"""The page's JavaScript modules: files by import name."""


def static_text(path: str) -> str:
    return STATIC.joinpath(*path.split("/")).read_bytes().decode()


def page_html(name: str, imports: str) -> str:
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(name)} · Studio</title>
<link rel="icon" href="static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="static/map.css">
<link rel="stylesheet" href="static/studio.css">
<link rel="stylesheet" href="static/vendor/uplot.css" media="screen">
<script type="importmap">{imports}</script>
<script type="module" src="static/app.js"></script>
</head>
<body><div id="studio"><p class="opening">Opening {escape(name)} …</p></div>
<noscript>The studio requires JavaScript.</noscript></body>
</html>
"""
