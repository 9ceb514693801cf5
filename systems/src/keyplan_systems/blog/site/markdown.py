"""Markdown made into HTML that is safe to show, whoever wrote it.

markdown-it renders CommonMark with tables and strikethrough; nh3 then lets through what stands in the lists below, and
nothing else. HTML in the text is allowed as far as those lists go. The rendering of a text is kept for a while, since
posts are read more often than written.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import escape

__all__ = ["render_markdown", "without_title"]

CACHED_BYTES_MAX = 32 * 1024 * 1024
"""How much rendered text is kept."""
NESTING_MAX = 20
EXPANSION_CHARACTERS = 1_000_000
"""How much longer than its text a page may be, besides what grows with the text."""

TAGS = {
    *(
        "a",
        "abbr",
        "b",
        "blockquote",
        "br",
        "caption",
        "cite",
        "code",
        "dd",
        "del",
        "details",
        "dfn",
        "div",
        "dl",
        "dt",
    ),
    *("em", "figcaption", "figure", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "mark", "ol"),
    *("p", "pre", "q", "s", "samp", "small", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th"),
    *("thead", "tr", "ul", "var"),
}
ATTRIBUTES = {
    "a": {"href", "title"},
    "abbr": {"title"},
    "div": {"class", "tabindex"},
    "img": {"src", "alt", "title", "width", "height", "loading", "referrerpolicy"},
    "ol": {"start"},
    "pre": {"class", "tabindex"},
    "td": {"class", "colspan", "rowspan"},
    "th": {"class", "colspan", "rowspan", "scope"},
}
SCHEMES = {"http", "https", "mailto"}
_VALUES = {
    ("pre", "class"): re.compile(r"language-[\w+#.-]{1,40}"),
    ("div", "class"): re.compile("wide"),
    ("div", "tabindex"): re.compile("0"),
    ("img", "src"): re.compile(r"(?:https:)?//.*|/.*|[^:]*", re.DOTALL),
    ("pre", "tabindex"): re.compile("0"),
    ("td", "class"): re.compile("center|right"),
    ("th", "class"): re.compile("center|right"),
}
"""Attributes whose values are looked at too, since a class could dress a text as a part of the page."""


_FORMATTING = re.compile(r"<(b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/][^>]*>", re.IGNORECASE)
"""Formatting with attributes. Left open, HTML repeats it in each paragraph that follows, and all of those that differ:
300 that are open before 1,000 paragraphs make 300,000. Without attributes it repeats three at most."""


def _kept(tag: str, attribute: str, value: str) -> str | None:
    pattern = _VALUES.get((tag, attribute))
    return value if pattern is None or pattern.fullmatch(value) else None


def _image(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any) -> str:
    token = tokens[index]
    token.attrs["loading"] = "lazy"
    token.attrs["referrerpolicy"] = "no-referrer"
    return self.image(tokens, index, options, env)


_PRE = re.compile(r'^<pre><code( class="[^"]*")?>')


def _code(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any) -> str:
    block = self.fence if tokens[index].type == "fence" else self.code_block
    return _PRE.sub(r'<pre\1 tabindex="0"><code>', block(tokens, index, options, env))


def _cell(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any) -> str:
    """Alignment as a class: the page's policy allows no style attributes."""
    token = tokens[index]
    style = str(token.attrs.pop("style", ""))
    for side in ("center", "right"):
        if style.endswith(side):
            token.attrs["class"] = side
    return self.renderToken(tokens, index, options, env)


def _table_open(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any) -> str:
    return '<div class="wide" tabindex="0">' + self.renderToken(tokens, index, options, env)


def _table_close(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any) -> str:
    return self.renderToken(tokens, index, options, env) + "</div>\n"


def _parser() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": True, "maxNesting": NESTING_MAX}).enable(["table", "strikethrough"])
    rules = {
        "image": _image,
        "fence": _code,
        "code_block": _code,
        "th_open": _cell,
        "td_open": _cell,
        "table_open": _table_open,
        "table_close": _table_close,
    }
    for name, rule in rules.items():
        made.add_render_rule(name, rule)
    return made


_PARSER = _parser()


def _levels(tokens: Sequence[Token]) -> None:
    """Give headings levels that a reader of the page can follow: the first rank is 2, and none is left out.

    The page's own title is its heading of rank 1. A text may begin with ``##``, or go from ``#`` to ``####``.
    """
    headings = [one for one in tokens if one.type in {"heading_open", "heading_close"}]
    first = min((int(one.tag[1]) for one in headings), default=1)
    level = 1
    for token in headings:
        if token.type == "heading_open":
            level = min(level + 1, int(token.tag[1]) - first + 2, 6)
        token.tag = f"h{level}"


def _bounded(tokens: Sequence[Token], characters: int) -> None:
    """Take the addresses away from links that make a page far longer than its text.

    A reference's address stands in the text once, and in the page wherever it is referred to: a text of 100 KB could
    be a page of 600 MB. A character in an address is up to 12 when it is percent-encoded.
    """
    left = 12 * characters + EXPANSION_CHARACTERS
    for block in tokens:
        for token in block.children or ():
            left -= sum(len(str(value)) for value in token.attrs.values())
            if left < 0:
                token.attrs.clear()


class _Cache:
    """The latest renderings, up to so many bytes."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._bytes = 0
        self._found: OrderedDict[bytes, str] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: bytes) -> str | None:
        with self._lock:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
            return found

    def put(self, key: bytes, html: str) -> None:
        with self._lock:
            if key not in self._found:
                self._found[key] = html
                self._bytes += len(html)
            while self._bytes > self._bytes_max and self._found:
                self._bytes -= len(self._found.popitem(last=False)[1])


_CACHE = _Cache(CACHED_BYTES_MAX)


def render_markdown(text: str) -> str:
    """The text as safe HTML."""
    key = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
    found = _CACHE.get(key)
    if found is None:
        tokens = _PARSER.parse(text)
        _levels(tokens)
        _bounded(tokens, len(text))
        found = nh3.clean(
            _FORMATTING.sub(r"<\1>", _PARSER.renderer.render(tokens, _PARSER.options, {})),
            tags=TAGS,
            attributes=ATTRIBUTES,
            attribute_filter=_kept,
            url_schemes=SCHEMES,
            link_rel="nofollow ugc noopener noreferrer",
            strip_comments=True,
        )
        if len(found) > 20 * len(text) + EXPANSION_CHARACTERS:
            found = f'<pre tabindex="0"><code>{escape(text)}</code></pre>'
        _CACHE.put(key, found)
    return found


_FIRST_HEADING = re.compile(r"\s*#[ \t]+([^\n]*?)[ \t]*#*[ \t]*(?:\n|$)")


def without_title(text: str, title: str) -> str:
    """The text without a first heading that only says the title again, as many files begin."""
    found = _FIRST_HEADING.match(text)
    return text[found.end() :] if found is not None and found.group(1).strip() == title.strip() else text
