"""The static files of the sites: styles, the script, the icon. Their addresses change whenever they do."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

__all__ = ["STATIC", "asset", "static_file"]

STATIC = {
    "site.css": "text/css",
    "more.css": "text/css",
    "site.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}


@cache
def static_file(name: str) -> tuple[bytes, str]:
    """A static file's content, and its version: a part of its hash."""
    content = files("keyplan_systems.site").joinpath("static", name).read_bytes()
    return content, hashlib.blake2b(content, digest_size=6).hexdigest()


def asset(name: str) -> str:
    """The address of a static file, another one whenever the file is."""
    return f"/static/{name}?v={static_file(name)[1]}"
