"""Which host a request names, and whether a page of another site makes it: for the API, and for systems' own sites.

Nothing here needs the extra ``web``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

__all__ = ["is_foreign", "named_host"]

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_ELSEWHERE = frozenset({"cross-site", "same-site"})


def is_foreign(method: str, headers: Mapping[str, str], public: str | None) -> bool:
    """Whether a page of another site makes a request, as browsers say it: in ``Origin``, and in ``Sec-Fetch-Site``.

    To follow a link from elsewhere is no such request, but to send a form is. A program that is no browser sends
    neither header. ``headers`` have names in lower case; ``public`` is the server's own address for others, if it isn't
    the host that requests name.
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


def named_host(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The host that a request names, in lower case and without its port; empty where it names none, or several."""
    named = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
    if len(named) != 1:
        return ""
    host, colon, port = named[0].rpartition(":")
    return host if colon and port.isascii() and port.isdigit() else named[0]
