"""Markdown rendered as safe HTML for any author.

markdown-it renders CommonMark with tables, strikethrough, footnotes, task and definition lists, and bare URLs as links;
headings have ids, code is highlighted (``highlighting``), and ``safety`` removes everything that isn't allowed.

The work is bounded: a text that needs far more attempts of parser rules than usual is shown as source.
The number of concurrent renderings and of waiting ones is limited. Renderings are cached, because posts are read more
often than written.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore, linkify
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import escape
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from keyplan_systems.html_tags import html_tags
from keyplan_systems.markdown_parsing import NESTING_MAX, TooIntricate, allowance, bound
from keyplan_systems.site.highlighting import highlighted
from keyplan_systems.site.kept import Kept
from keyplan_systems.site.limits import Gate
from keyplan_systems.site.safety import SCHEMES, left_out, safe
from keyplan_systems.words import has_scheme

KEPT_SECONDS = 24 * 3600
KEPT_CHARACTERS_MAX = 32 * 1024 * 1024
"""Maximum age and total size of cached renderings."""
EXPANSION_CHARACTERS = 1_000_000
"""Maximum additional length of a page compared to its source, after a linear factor."""
RENDERED_AT_ONCE = 2
"""Maximum number of concurrent renderings. Each uses a core; more would only slow down each other."""
RENDERED_WAITING = 16


def _image(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any) -> str:
    token = tokens[index]
    token.attrs["loading"] = "lazy"
    token.attrs["referrerpolicy"] = "no-referrer"
    return self.image(tokens, index, options, env)


_PRE = re.compile(r'^<pre><code( class="[^"]*")?>')


def _code(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any) -> str:
    token = tokens[index]
    language = token.info.strip().partition(" ")[0]
    shown = highlighted(token.content, language, env) if language else None
    if shown is not None:
        return f'<pre class="language-{escape(language)}" tabindex="0"><code>{shown}</code></pre>\n'
    block = self.fence if token.type == "fence" else self.code_block
    return _PRE.sub(r'<pre\1 tabindex="0"><code>', block(tokens, index, options, env))


def _cell(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any) -> str:
    """Alignment as a class, because the content security policy forbids style attributes. An empty header cell becomes
    a data cell.
    """
    token = tokens[index]
    if token.tag == "th" and not tokens[index + 1].content.strip():
        token.tag = tokens[index + 2].tag = "td"
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
    made = MarkdownIt("commonmark", {"html": True, "linkify": True, "maxNesting": NESTING_MAX})
    made.enable(["table", "strikethrough", "linkify"]).use(footnote_plugin).use(deflist_plugin)
    if made.linkify is not None:  # link only URLs with a scheme, because example.com may be a file
        made.linkify.set({"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})
    made.core.ruler.at("linkify", _addresses)
    bound(made)
    made.core.ruler.push("headings", _headings)
    made.core.ruler.push("tasks", _tasks)
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


def _addresses(state: StateCore) -> None:
    if "//" in state.src or "mailto:" in state.src.lower():
        linkify(state)


# Headings and lists

PAGE_IDS: tuple[str, ...] = ("main", "q")
"""Ids of the surrounding pages; equal ids in a text get an underscore, which no heading id has."""

_OWN_ID = re.compile(r"[ \t]*\{#([\w.:-]{1,80})\}[ \t]*$")
_OWN_ID_MAX = 200
"""Characters at the end of a heading that can contain its id."""


def _headings(state: StateCore) -> None:
    """Give headings consistent levels and ids.

    The first level is 2, because the page's title is level 1, and no level is skipped. Ids are built as in Jekyll and
    GitHub, so that links in imported posts work. Terms of definition lists have ids, too, as in Hugo.
    """
    tokens = state.tokens
    levels = [int(element.tag[1]) for element in tokens if element.type == "heading_open"]
    first = min(levels, default=1)
    level = 1
    taken: dict[str, int] = dict.fromkeys(PAGE_IDS, 1)
    for place, token in enumerate(tokens):
        if token.type == "dt_open":
            token.attrs["id"] = _heading_id(tokens[place + 1], taken)
        if token.type == "heading_open":
            level = min(level + 1, int(token.tag[1]) - first + 2, 6)
            token.attrs["id"] = _heading_id(tokens[place + 1], taken)
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{level}"


def _heading_id(inline: Token, taken: dict[str, int]) -> str:
    children = inline.children or []
    own = None
    if children and children[-1].type == "text":
        start, end = children[-1].content[:-_OWN_ID_MAX], children[-1].content[-_OWN_ID_MAX:]
        own = _OWN_ID.search(end)
        children[-1].content = start + _OWN_ID.sub("", end)
    text = "".join(child.content for child in children if child.type in {"text", "code_inline"})
    plain = re.sub(r"[^\w\- ]|_", "", (own[1] if own else text).lower()).strip().replace(" ", "-")[:80] or "section"
    number = taken.get(plain, 0)
    taken[plain] = number + 1
    return f"{plain}-{number}" if number else plain


_TASK = re.compile(r"\[([ xX])\][ \t]+")


def _tasks(state: StateCore) -> None:
    """``[ ]`` and ``[x]`` at the start of a list item as checkboxes."""
    tokens = state.tokens
    for place in range(2, len(tokens)):
        token = tokens[place]
        in_item = tokens[place - 2].type == "list_item_open" and tokens[place - 1].type == "paragraph_open"
        if token.type != "inline" or not in_item or not token.children:
            continue
        first = token.children[0]
        match = _TASK.match(first.content) if first.type == "text" else None
        if match is not None:
            first.content = first.content[match.end() :]
            done = match[1] != " "
            box = Token("html_inline", "", 0)
            box.content = f'<span class="task{" done" if done else ""}">{"☑" if done else "☐"}</span> '
            token.children.insert(0, box)
            tokens[place - 2].attrs["class"] = "task"


_PARSER = _parser()


def _bounded(tokens: Sequence[Token], characters: int) -> None:
    """Remove the targets of links that would make a page far longer than its source.

    A reference's URL occurs once in the source, and in the page for each use: a text of 100 KB could become a page of
    600 MB. Percent-encoding expands a character to up to 12.
    """
    left = 12 * characters + EXPANSION_CHARACTERS
    for block in tokens:
        for token in block.children or ():
            left -= sum(len(str(value)) for value in token.attrs.values())
            if left < 0:
                token.attrs.clear()


# Rendering


_RENDERINGS: Kept[bytes, str] = Kept(KEPT_SECONDS, time.monotonic, KEPT_CHARACTERS_MAX, len)
_GATE = Gate(RENDERED_AT_ONCE, RENDERED_WAITING)


def render_markdown(text: str) -> str:
    """The text as safe HTML. Raises ``limits.TooBusy`` if too many renderings are running and waiting."""
    key = _key(text)

    def rendered() -> str:
        with _GATE:
            return _RENDERINGS.peek(key) or _rendered(text)  # another request may have rendered the text meanwhile

    return _RENDERINGS.get(key, rendered)


def is_rendered(text: str) -> bool:
    """Whether the rendering is cached, so that it costs nothing."""
    return _RENDERINGS.peek(_key(text)) is not None


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


def _rendered(text: str) -> str:
    env = allowance(text)
    try:
        tokens = _PARSER.parse(text, env)
    except TooIntricate:
        return _as_typed(text, "The text is too complex to render, so the source is shown.")
    _bounded(tokens, len(text))
    html = safe(_PARSER.renderer.render(tokens, _PARSER.options, env))
    if len(html) > 20 * len(text) + EXPANSION_CHARACTERS:
        return _as_typed(text, "The rendered text would be too large, so the source is shown.")
    return html


def _as_typed(text: str, reason: str) -> str:
    return f'<p><em>{reason}</em></p>\n<pre tabindex="0"><code>{escape(text)}</code></pre>\n'


# Analysis of a text without rendering


@dataclass
class Look:
    """The contents of a text's page: ``ids`` for links, ``links`` in order; and ``left_out``, the content that the page
    doesn't show.
    """

    ids: set[str] = field(default_factory=set[str])
    links: list[str] = field(default_factory=list[str])
    left_out: Counter[str] = field(default_factory=Counter[str])


_WITH_IDS = frozenset({"h2", "h3", "h4", "h5", "h6", "dt"})


def looked_at(text: str) -> Look:
    """Analyze a text without rendering it, for imports."""
    env = allowance(text)
    look = Look()
    try:
        tokens = _PARSER.parse(text, env)
    except TooIntricate:
        look.left_out["all Markdown, because the text is too complex"] += 1
        return look
    for token in _each(tokens):
        if token.type in {"heading_open", "dt_open"}:
            look.ids.add(str(token.attrs["id"]))
        elif token.type == "link_open":
            look.links.append(str(token.attrs.get("href", "")))
        elif token.type in {"html_block", "html_inline"}:
            look.left_out.update(left_out(token.content))
            for name, attributes in html_tags(token.content):
                if name.lower() in _WITH_IDS and attributes.get("id"):
                    look.ids.add(attributes["id"])
                if name.lower() == "a" and attributes.get("href"):
                    look.links.append(attributes["href"])
    for link in look.links:
        scheme = link.partition(":")[0].lower()
        if has_scheme(link) and scheme not in SCHEMES:
            look.left_out[f"a link's {scheme}: address"] += 1
    return look


def _each(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _each(token.children or ())


def without_title(text: str, title: str) -> str:
    """The text without a first heading that repeats the title."""
    heading, _, rest = text.lstrip().partition("\n")
    if not heading.startswith(("# ", "#\t")):
        return text
    return rest if heading[1:].rstrip().rstrip("#").strip() == title.strip() else text
