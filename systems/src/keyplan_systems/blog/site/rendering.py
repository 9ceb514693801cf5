"""Templates: their environment, their filters, and the static files with their versions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from keyplan_systems.site.filters import FILTERS, MONTHS, iso

__all__ = ["TAG_SLUGS", "asset", "environment", "http_date", "iso", "post_path", "static_file", "tags_path"]

STATIC = {"site.css": "text/css", "site.js": "text/javascript", "icon.svg": "image/svg+xml"}


@cache
def static_file(name: str) -> tuple[bytes, str]:
    """A static file's content, and its version: a part of its hash."""
    content = files("keyplan_systems.blog.site").joinpath("static", name).read_bytes()
    return content, hashlib.blake2b(content, digest_size=6).hexdigest()


def asset(name: str) -> str:
    """The address of a static file, another one whenever the file is."""
    return f"/static/{name}?v={static_file(name)[1]}"


def http_date(moment: datetime) -> str:
    """A moment as RSS has it: ``Sat, 21 Nov 2026 09:42:00 GMT``."""
    days = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    at = moment.astimezone(UTC)
    return f"{days[at.weekday()]}, {at.day:02d} {MONTHS[at.month - 1][:3]} {at.year} {at:%H:%M:%S} GMT"


_DEVICES = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS", "a Mac"),
    ("Linux", "Linux"),
)
_BROWSERS = (("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))


def _device(label: str) -> str:
    """What a browser calls itself, as people call it."""
    browser = next((name for mark, name in _BROWSERS if mark in label), "")
    device = next((name for mark, name in _DEVICES if mark in label), "")
    return " on ".join(filter(None, (browser, device))) or label[:40] or "Unknown device"


TAG_SLUGS = {"c#": "c-sharp", "f#": "f-sharp", ".net": "dot-net"}
"""How addresses say tags whose signs mean something there."""


def tags_path(tags: Iterable[str]) -> str:
    """The address of the posts that carry all of these tags."""
    return "/tags/" + ",".join(quote(TAG_SLUGS.get(tag, tag), safe="") for tag in sorted(tags))


def post_path(slug: str) -> str:
    """The address of a post."""
    return f"/posts/{quote(slug, safe='')}"


def _tag_path(tag: str) -> str:
    return tags_path([tag])


@cache
def environment() -> Environment:
    """The templates. Everything is escaped, and a name that isn't there is an error and not an empty text."""
    made = Environment(
        loader=PackageLoader("keyplan_systems.blog.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    filters: dict[str, Any] = {
        **FILTERS,
        "device": _device,
        "tag_path": _tag_path,
    }
    made.filters.update(filters)
    own: Mapping[str, Any] = {"asset": asset}
    made.globals.update(own)
    return made
