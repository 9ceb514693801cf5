"""The opening tags of a piece of HTML with their attributes, and the text between its tags; read once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html.parser import HTMLParser

__all__ = ["HtmlText", "html_tags"]

TAG_CHARACTERS_MAX = 4_000
"""A longer tag isn't read."""
_ENDS = frozenset(" \t\n\r\f/>=<\"'")


class HtmlText(HTMLParser):
    """The text between the tags, in parts, with character references resolved."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        """Keep a piece of text."""
        self.parts.append(data)

    @classmethod
    def parts_of(cls, html: str) -> list[str] | None:
        """The parts of a piece of HTML; None if the parser rejects it (``<![`` that declares nothing)."""
        parser = cls()
        try:
            parser.feed(html)
            parser.close()
        except AssertionError:
            return None
        return parser.parts


def html_tags(html: str) -> Iterator[tuple[str, Sequence[tuple[str, str]]]]:
    """Each tag's name as written, and its attributes: names in lower case, with their values. No comments."""
    place, comments_end = html.find("<"), html.rfind("-->")
    while place >= 0:
        if html.startswith("<!--", place) and place < comments_end:
            place = html.find("<", html.find("-->", place) + 3)
            continue
        start = place + 1
        end = _word_end(html, start)
        if html[start : start + 1].isalpha():
            attributes = _attributes(html, end, place + TAG_CHARACTERS_MAX)
            if attributes is not None:
                yield html[start:end], attributes[0]
                end = attributes[1]
        place = html.find("<", max(end, start))


def _word_end(html: str, place: int) -> int:
    while place < len(html) and html[place] not in _ENDS:
        place += 1
    return place


def _attributes(html: str, place: int, limit: int) -> tuple[Sequence[tuple[str, str]], int] | None:
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
