"""HTML tags and attributes, and the text between tags, found in linear time.

The standard library's ``HTMLParser`` takes quadratic time for unterminated tags.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from html import unescape

TAG = r"""<(?P<name>[A-Za-z][^\s/>=<"']*+)(?P<attributes>(?:[^<>"']++|"[^"]{0,2000}+"|'[^']{0,2000}+'){0,100}+)>"""
"""An opening tag. The possessive repeats are bounded, so that an unterminated tag ends the search."""
_MARKUP = re.compile(rf"<!--(?:.*?-->|.*)|<[/!?][^<>]*>|{TAG}", re.DOTALL)
_ATTRIBUTE = re.compile(r"""([^\s/>=<"']++)(?:\s{0,9}=\s{0,9}(?:"([^"]*+)"|'([^']*+)'|([^\s>"']++)))?""")


def html_text(html: str, shown: Callable[[str, str], str] = lambda _name, _tag: "") -> list[str]:
    """The text between the tags, in parts, with character references resolved. ``shown`` gets the lower-case name of
    each opening tag, and the tag; it returns a replacement.
    """
    parts: list[str] = []
    done = 0
    for tag in _MARKUP.finditer(html):
        parts += [unescape(html[done : tag.start()]), shown(tag["name"].lower(), tag[0]) if tag["name"] else ""]
        done = tag.end()
    return [part for part in (*parts, unescape(html[done:])) if part]


def html_tags(html: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Each opening tag's name as written, and its attributes: lower-case names with values."""
    for tag in _MARKUP.finditer(html):
        if tag["name"]:
            given = _ATTRIBUTE.findall(tag["attributes"])
            yield tag["name"], {name.lower(): double or single or plain for name, double, single, plain in given}
