"""HTML parsing in linear time: opening tags with attributes, and the text between tags.

The standard library's ``HTMLParser`` takes quadratic time for unterminated tags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import unescape

TAG_CHARACTERS_MAX = 4_000
"""Longer tags are ignored."""
_ENDS = frozenset(" \t\n\r\f/>=<\"'")

Attributes = Sequence[tuple[str, str]]


def html_text(html: str, shown: Callable[[str, str], str] = lambda _name, _tag: "") -> list[str]:
    """The text between the tags, in parts, with character references resolved. ``shown`` gets the lower-case name of
    each opening tag, and the tag; it returns a replacement text.
    """
    parts: list[str] = []
    done = 0
    for start, end, name, _ in _markup(html):
        parts += [unescape(html[done:start]), shown(name.lower(), html[start:end]) if name else ""]
        done = end
    return [part for part in (*parts, unescape(html[done:])) if part]


def html_tags(html: str) -> Iterator[tuple[str, Attributes]]:
    """Each opening tag's name as written, and its attributes: lower-case names with values."""
    return ((name, attributes) for _, _, name, attributes in _markup(html) if name)


def _markup(html: str) -> Iterator[tuple[int, int, str, Attributes]]:
    """The start and end of each tag, comment or declaration; for an opening tag also its name and attributes."""
    place, comments_end = html.find("<"), html.rfind("-->")
    while place >= 0:
        start = place + 1
        end = start
        if html[start : start + 1].isalpha():
            end = _word_end(html, start)
            attributes = _attributes(html, end, place + TAG_CHARACTERS_MAX)
            if attributes is not None:
                yield place, attributes[1], html[start:end], attributes[0]
                end = attributes[1]
        elif html.startswith("!--", start) and place < comments_end:
            end = html.find("-->", place) + 3
            yield place, end, "", ()
        elif html.startswith(("/", "!", "?"), start):
            closed = html.find(">", start, place + TAG_CHARACTERS_MAX)
            if closed > 0:
                end = closed + 1
                yield place, end, "", ()
        place = html.find("<", end)


def _word_end(html: str, place: int) -> int:
    while place < len(html) and html[place] not in _ENDS:
        place += 1
    return place


def _attributes(html: str, place: int, limit: int) -> tuple[Attributes, int] | None:
    """The attributes from a place on, and where the tag ends; None where it doesn't."""
    result: list[tuple[str, str]] = []
    while place < min(limit, len(html)):
        letter = html[place]
        if letter == ">":
            return result, place + 1
        if letter == "<":
            return None
        if letter in _ENDS:
            place += 1
            continue
        end = _word_end(html, place)
        name, value, place = html[place:end].lower(), "", end
        after = place + len(html[place : place + 10]) - len(html[place : place + 10].lstrip())
        if html.startswith("=", after):
            place = after + 1
            while html[place : place + 1].isspace():
                place += 1
            quote = html[place : place + 1]
            if quote in {'"', "'"}:
                end = html.find(quote, place + 1, limit)
                if end < 0:
                    return None
                value, place = html[place + 1 : end], end + 1
            else:
                end = _word_end(html, place)
                while html[end : end + 1] in {"/", "="}:
                    end = _word_end(html, end + 1)
                value, place = html[place:end], end
        result.append((name, value))
    return None
