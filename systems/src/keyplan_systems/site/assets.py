"""Static files of the sites: styles, scripts, icons. Each URL contains a hash of the content."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_FOLDER = files("keyplan_systems.site").joinpath("static")
STATIC = {
    entry.name: _TYPES[entry.name.rpartition(".")[2]]
    for entry in sorted(_FOLDER.iterdir(), key=lambda entry: entry.name)
    if entry.name.rpartition(".")[2] in _TYPES
}
"""Media types of the files in ``static``, by name."""


@cache
def static_file(name: str) -> tuple[bytes, str]:
    """A static file's content, and its version: a part of its hash."""
    content = _FOLDER.joinpath(name).read_bytes()
    return content, hashlib.blake2b(content, digest_size=6).hexdigest()


def asset(name: str) -> str:
    """The URL of a static file, which changes with its content."""
    return f"/static/{name}?v={static_file(name)[1]}"
