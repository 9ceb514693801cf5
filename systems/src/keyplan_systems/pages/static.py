"""The static files of the small sites: the blog's styles and script, and what these sites need besides."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

__all__ = ["STATIC", "asset", "static_file"]

STATIC = {
    "site.css": ("keyplan_systems.blog.site", "text/css"),
    "site.js": ("keyplan_systems.blog.site", "text/javascript"),
    "more.css": ("keyplan_systems.pages", "text/css"),
    "icon.svg": ("keyplan_systems.blog.site", "image/svg+xml"),
}
"""Names with the package whose folder ``static`` has the file, and its type."""


@cache
def static_file(name: str) -> tuple[bytes, str]:
    """A static file's content, and its version: a part of its hash."""
    content = files(STATIC[name][0]).joinpath("static", name).read_bytes()
    return content, hashlib.blake2b(content, digest_size=6).hexdigest()


def asset(name: str) -> str:
    """The address of a static file, another one whenever the file is."""
    return f"/static/{name}?v={static_file(name)[1]}"
