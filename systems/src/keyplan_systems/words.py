"""Slugs of titles, excerpts and word lists of posts, normalized tags."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from keyplan_systems.html_tags import html_text
from keyplan_systems.markdown_parsing import first_paragraph

EXCERPT_MAX = 300
SLUG_MAX = 100
"""Maximum length of a slug generated from a title."""
NUMBERED_MAX = 20
TAG_MAX = 40
TEXT_CHARACTERS_MAX = 1_000
"""Maximum length of a title, a name or a tag that is processed."""
ADDRESS_CHARACTERS_MAX = 2_000
EMAIL = re.compile(r"[^\s@<>(),;:\"\\\[\]]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+[^\W\d_][\w-]{0,61}[^\W_]")
_ENDS = ",;-"
_NO_TEXT = {"Cc", "Cs", "Zl", "Zp"}
"""Unicode categories of controls, surrogates, and line and paragraph separators."""
_BLANK = "\u115f\u1160\u2800\u3164\uffa0"
"""Characters of category letter or symbol that are invisible: Hangul fillers, the blank Braille pattern."""
_TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Characters that change the text direction, also after the text's end."""


def slug_from(title: str, otherwise: str = "post") -> str:
    """A title as the last part of a URL: ``Über uns & so`` becomes ``uber-uns-so``.

    Letters of every script stay, with marks that are part of a syllable; accents are removed, and everything between
    words becomes one hyphen. ``otherwise`` is the slug of a title without letters and numbers.
    """
    plain = "".join(
        letter for letter in unicodedata.normalize("NFKD", title[:TEXT_CHARACTERS_MAX]) if not _is_accent(letter)
    )
    text = "".join(letter if _in_word(letter) else " " for letter in unicodedata.normalize("NFC", plain).lower())
    slug = ""
    for word in text.split():
        longer = f"{slug}-{word}" if slug else word[:SLUG_MAX]
        if len(longer) > SLUG_MAX:
            break
        slug = longer
    return slug or otherwise


def numbered(slug: str) -> Iterator[str]:
    """A slug, then the same slug with numbers, for duplicate titles."""
    yield slug
    for number in range(2, NUMBERED_MAX + 1):
        yield f"{slug[: SLUG_MAX - 3]}-{number}"


def is_slug(text: str) -> bool:
    """Whether a string consists of words of letters and numbers of any script, separated by single hyphens.

    Uses Unicode categories instead of a regular expression, because those of Python and pydantic differ, for example
    for numerals. ASCII, the usual case, is fast.
    """
    if text.isascii():
        return all(word.isalnum() for word in text.split("-"))
    return all(word and all(map(_in_word, word)) for word in text.split("-"))


def _in_word(text: str) -> bool:
    return unicodedata.category(text)[0] in "LMN"  # Unicode categories: letters, marks, numbers


def _is_accent(text: str) -> bool:
    """Whether a mark is an accent, rather than a vowel sign, a virama or a voicing mark."""
    kind = unicodedata.combining(text)  # the canonical combining class in Unicode
    return 10 <= kind <= 35 or kind >= 200


def address_key(address: str) -> str:
    """A normalized URL: ``/a/b`` for ``/a/b/``, ``/a/b.html`` and ``/A/b/index.html``."""
    plain = address[:ADDRESS_CHARACTERS_MAX].partition("#")[0].partition("?")[0]
    path = unquote(urlsplit(plain).path if "://" in plain else plain)
    path = f"/{path.strip('/').lower()}"
    page = path.removesuffix(".html").removesuffix(".htm")
    path = page.removesuffix("/index") if page != path or path.endswith("/index") else path
    return posixpath.normpath(path or "/").replace("//", "/")


def has_scheme(address: str) -> bool:
    """Whether a URL starts with a scheme: ``https:``, ``mailto:``."""
    scheme, colon, _ = address[:100].partition(":")
    return bool(colon) and scheme[:1].isalpha() and all(letter.isalnum() or letter in "+.-" for letter in scheme)


def tag_from(text: str) -> str:
    """A normalized tag: lower case, hyphens for spaces, no ``#`` in front; possibly empty."""
    shown = "".join(word for word in text[:TEXT_CHARACTERS_MAX] if word.isspace() or not _is_hidden(word))
    words = shown.lower().replace("_", " ").replace(",", " ").split()
    return _trimmed(_trimmed("-".join(words))[:TAG_MAX])


def _trimmed(tag: str) -> str:
    """A tag without punctuation around it: ``#notes,`` becomes ``notes``, but ``c#`` and ``.net`` stay."""
    before = None
    while tag != before:
        before = tag
        tag = tag.strip(_ENDS).lstrip("#").rstrip(".")
        if not tag[1:2].isalpha():
            tag = tag.lstrip(".")
    return tag


def _is_hidden(text: str) -> bool:
    return text in _TURNING or unicodedata.category(text) in _NO_TEXT


def is_tag(text: str) -> bool:
    return is_line(text) and tag_from(text) == text


def is_line(text: str) -> bool:
    """Whether a string is one visible line without controls and direction marks."""
    kinds = {unicodedata.category(word) for word in text}
    if kinds & _NO_TEXT or any(word in _TURNING for word in text):
        return False
    return shows_something(text)


def is_storable(text: str) -> bool:
    """Whether a string can be stored: it has no lone surrogate."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def shows_something(text: str) -> bool:
    """Whether a string has a visible character: not only spaces, marks and zero-width characters."""
    return any(unicodedata.category(word)[0] not in "CZM" and word not in _BLANK for word in text)


def visible(text: str) -> str:
    """The string, for pydantic. Raises ValueError for an invisible string."""
    if not shows_something(text):
        raise ValueError("the text has no visible characters")
    return text


def excerpt_from(content: str) -> str:
    """The first paragraph of a Markdown text as plain text, at most EXCERPT_MAX characters; empty without one."""
    return (first_paragraph(content) or "")[:EXCERPT_MAX]


def plain_words(content: str) -> str:
    """The words of a Markdown text for search: without URLs and HTML tags."""
    words = (word.partition("](")[0] for word in " ".join(html_text(content)).split())
    return " ".join(word.translate(_MARKS) for word in words if "://" not in word)


_MARKS = str.maketrans(dict.fromkeys("`*#>|[]()!", " "))


def word_count(content: str) -> int:
    """The number of words, separated by white space."""
    return len(content.split())
