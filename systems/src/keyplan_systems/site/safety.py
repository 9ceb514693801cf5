"""HTML sanitizing: allowed tags, attributes and values."""

from __future__ import annotations

import re
from collections.abc import Iterator

import nh3

from keyplan_systems.html_tags import html_tags

_TAGS = (
    "a abbr b blockquote br caption cite code dd del details dfn div dl dt em figcaption figure h2 h3 h4 h5 h6 "
    "hr i img ins kbd li mark ol p pre q s samp section small span strong sub summary sup table tbody td tfoot "
    "th thead tr ul var"
)
TAGS = set(_TAGS.split())
ATTRIBUTES = {
    "a": {"class", "href", "id", "title"},
    "abbr": {"title"},
    "div": {"class", "tabindex"},
    "dt": {"id"},
    **{f"h{level}": {"id"} for level in range(2, 7)},
    "hr": {"class"},
    "img": {"src", "alt", "title", "width", "height", "loading", "referrerpolicy"},
    "li": {"class", "id"},
    "ol": {"class", "start"},
    "pre": {"class", "tabindex"},
    "section": {"class"},
    "span": {"class"},
    "sup": {"class"},
    "td": {"class", "colspan", "rowspan"},
    "th": {"class", "colspan", "rowspan", "scope"},
}
SCHEMES = {"http", "https", "mailto"}
_VALUES = {
    ("a", "class"): re.compile("footnote-backref"),
    ("a", "id"): re.compile(r"fnref\d{1,4}(?::\d{1,4})?"),
    **{(f"h{level}", "id"): re.compile(r"(?:(?!_)[\w-]){1,90}") for level in range(2, 7)},
    ("dt", "id"): re.compile(r"(?:(?!_)[\w-]){1,90}"),
    ("hr", "class"): re.compile("footnotes-sep"),
    ("li", "class"): re.compile("task|footnote-item"),
    ("li", "id"): re.compile(r"fn\d{1,4}"),
    ("ol", "class"): re.compile("footnotes-list"),
    ("section", "class"): re.compile("footnotes"),
    ("span", "class"): re.compile(r"task(?: done)?|[a-z]{1,2}[a-z0-9]?"),
    ("sup", "class"): re.compile("footnote-ref"),
    ("pre", "class"): re.compile(r"language-[\w+#.-]{1,40}"),
    ("div", "class"): re.compile("wide"),
    ("div", "tabindex"): re.compile("0"),
    ("img", "src"): re.compile(r"(?:https:)?//.*|/.*|[^:]*", re.DOTALL),
    ("pre", "tabindex"): re.compile("0"),
    ("td", "class"): re.compile("center|right"),
    ("th", "class"): re.compile("center|right"),
}
"""Attributes whose values are checked, because a class could make text look like a part of the page."""

_FORMATTING = re.compile(r"<(b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/][^>]*>", re.IGNORECASE)
"""Formatting elements with attributes. HTML repeats unclosed ones in each following paragraph, all that differ: 300
unclosed elements before 1,000 paragraphs become 300,000. Without attributes, at most three are repeated.
"""


def _kept(tag: str, attribute: str, value: str) -> str | None:
    pattern = _VALUES.get((tag, attribute))
    return value if pattern is None or pattern.fullmatch(value) else None


_CLEANER = nh3.Cleaner(
    tags=TAGS,
    attributes=ATTRIBUTES,
    attribute_filter=_kept,
    url_schemes=SCHEMES,
    link_rel="nofollow ugc noopener noreferrer",
    strip_comments=True,
)


_NOSCRIPT = re.compile(r"</?noscript\b[^<>]*>", re.IGNORECASE)
"""The tags are removed and their content stays: scripts are disabled, and the sanitizer would show the content
as text.
"""


def safe(html: str) -> str:
    end = html.rfind(">") + 1  # the rest has no complete tag, and a regex search in it is slow
    return _CLEANER.clean(_NOSCRIPT.sub("", _FORMATTING.sub(r"<\1>", html[:end])) + html[end:])


def left_out(html: str) -> Iterator[str]:
    """The elements and attributes (as ``<p align>``) that ``safe`` removes. The text of elements stays, except for
    scripts. Ignores ``rel``, which links get again, and comments.
    """
    for name, attributes in html_tags(html):
        tag = name.lower()
        if tag not in TAGS and tag != "noscript":
            yield f"<{name}>"
            continue
        for attribute, value in attributes.items():
            if attribute == "rel":
                continue
            if attribute not in ATTRIBUTES.get(tag, set()) or _kept(tag, attribute, value) is None:
                yield f"<{tag} {attribute}>"
