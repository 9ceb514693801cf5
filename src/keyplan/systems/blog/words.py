"""Texts of posts in other forms: the slug of a title, the excerpt and the words of a text, a tag as it is kept."""

from __future__ import annotations

import re
import unicodedata

from keyplan.systems.posts import first_paragraph

__all__ = ["EXCERPT_MAX", "SLUG_MAX", "TAG_MAX", "excerpt_from", "slug_from", "tag_from", "word_count"]

EXCERPT_MAX = 300
SLUG_MAX = 100
"""Characters of a slug that is made of a title."""
TAG_MAX = 40


def slug_from(title: str, otherwise: str = "post") -> str:
    """A title as the last part of an address: ``Über uns & so`` is ``uber-uns-so``.

    Letters of every script stay; marks over them go, and all between words is one hyphen. ``otherwise`` is the slug of
    a title without letters and numbers.
    """
    plain = "".join(one for one in unicodedata.normalize("NFKD", title) if not unicodedata.combining(one))
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFC", plain).lower())
    slug = ""
    for word in words:
        longer = f"{slug}-{word}" if slug else word[:SLUG_MAX]
        if len(longer) > SLUG_MAX:
            break
        slug = longer
    return slug or otherwise


def tag_from(text: str) -> str:
    """A tag as it is kept: lower case, a hyphen for each space, no ``#`` before it; empty when nothing is left."""
    words = re.sub(r"[\s_]+", "-", text.strip().lower()).strip("#,;-.")
    return words[:TAG_MAX].rstrip("-")


def excerpt_from(content: str) -> str:
    """The first paragraph of a Markdown text as plain text, at most EXCERPT_MAX characters; empty without one."""
    return (first_paragraph(content) or "")[:EXCERPT_MAX]


def word_count(content: str) -> int:
    """How many words a text has: what white space divides."""
    return len(content.split())
