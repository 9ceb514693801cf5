"""Conditional requests (RFC 9110, section 13): status 304 for a page that the client has.

The ETag is a hash of the body. The page is rendered in any case: only the transfer is saved.
"""

from __future__ import annotations

import hashlib
import re

from starlette.requests import Request
from starlette.responses import Response

_KEPT = ("cache-control", "content-location", "date", "etag", "expires", "set-cookie", "vary")
"""Headers that a 304 response repeats."""
_TAG = re.compile(r'(?:W/)?("[^"]*")')


def unless_known(request: Request, response: Response) -> Response:
    """The response with an ETag, or 304 if the client has this content.

    Responses that must not be stored get no ETag.
    """
    if request.method not in {"GET", "HEAD"} or response.status_code != 200:
        return response
    if "no-store" in response.headers.get("cache-control", "") or not response.body:
        return response
    tag = f'"{hashlib.blake2b(response.body, digest_size=12).hexdigest()}"'
    response.headers["etag"] = tag
    given = request.headers.get("if-none-match", "").strip()
    if given != "*" and tag not in _TAG.findall(given):
        return response
    same = Response(status_code=304, background=response.background)
    same.raw_headers = [(name, value) for name, value in response.raw_headers if name.decode("latin-1") in _KEPT]
    return same
