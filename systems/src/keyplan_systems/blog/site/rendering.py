"""The blog's templates and filters, and the URLs of its pages."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment

from keyplan_systems.site.templating import environment

CARDS_KEPT = 2_000
"""Number of cached cards, about 1 KB each: rendering them is most of the work of a list page."""


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
    """The readable name of a browser."""
    browser = next((name for mark, name in _BROWSERS if mark in label), "")
    device = next((name for mark, name in _DEVICES if mark in label), "")
    return " on ".join(filter(None, (browser, device))) or label[:40] or "Unknown device"


TAG_SLUGS = {"c#": "c-sharp", "f#": "f-sharp", ".net": "dot-net"}
"""Tags in URLs whose characters have a special meaning there."""


def tags_path(tags: Iterable[str]) -> str:
    """The URL of the posts with all of these tags."""
    return "/tags/" + ",".join(quote(TAG_SLUGS.get(tag, tag), safe="") for tag in sorted(tags))


def post_path(slug: str) -> str:
    return f"/posts/{quote(slug, safe='')}"


@lru_cache(CARDS_KEPT)
def _tag_path(tag: str) -> str:
    return tags_path([tag])


@cache
def blog_environment() -> Environment:
    """The templates of the blog's pages. A card's HTML is the same for all visitors, and cached until the card
    changes.
    """
    made = environment(("keyplan_systems.blog.site",), {"device": _device, "tag_path": _tag_path})
    parts: Any = made.get_template("blog_parts.html").module
    made.globals["card"] = lru_cache(CARDS_KEPT)(parts.card)
    return made
