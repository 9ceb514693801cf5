"""Convert Markdown of Jekyll, Hugo and Zola to standard Markdown.

Tags with a meaning in Markdown are converted: links, images and code blocks. Every other template tag becomes a
placeholder and is counted by name; text between an opening and a closing tag stays. Each step takes linear time.
"""

from __future__ import annotations

import re
import shlex
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from keyplan_systems.markdown_parsing import code_lines

TAG_CHARACTERS_MAX = 4_000
"""Longer template tags are treated as text."""
ADDRESS_CHARACTERS_MAX = 2_000
NAME_CHARACTERS_MAX = 40
CODE_FENCE = "~~~~~~"
"""The fence of converted code blocks: rare in code."""

TAGS, EXPRESSIONS, ATTRIBUTES, COMMENTS = "template tags", "template expressions", "attributes", "template comments"
WIKI_LINKS = "wiki links"
_CLOSERS = {"{{<": ">}}", "{{%": "%}}", "{{": "}}", "{%": "%}", "{#": "#}", "{:": "}"}
_LINKS = frozenset({"ref", "relref", "link", "post_url"})
_OWN_ADDRESS = frozenset({"site.url", "site.baseurl", "config.base_url"})
"""Expressions for the start of the site's URLs."""
_ADDRESS_FILTERS = frozenset({"relative_url", "absolute_url", "prepend"})
_BRANCHES = frozenset({"else", "elsif", "elif", "when"})
_LITERALS = (
    *(("{% raw %}", ""), ("{% endraw %}", ""), ("{%- raw -%}", ""), ("{%- endraw -%}", "")),
    *(("{{</*", "{{<"), ("*/>}}", ">}}"), ("{{%/*", "{{%"), ("*/%}}", "%}}")),
)
"""Notations for literal tags, which remain in code."""
_WITH_ADDRESSES = frozenset({"a", "img", "source", "video", "audio", "iframe"})
_BACKTICKS = re.compile("`+")
_TAG_STARTS = re.compile(r"[`{]")
_LINK_MARKS = re.compile(r"[\[\]<\\\n`]")

Address = Callable[[str, bool], str]
"""Returns the new URL of a link, or of an image (True)."""


@dataclass
class Plain:
    """A converted text. ``removed`` counts content that isn't rendered by kind, then by name."""

    text: str
    removed: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])

    def count(self, kind: str, name: str) -> None:
        self.removed.setdefault(kind, Counter())[name[:NAME_CHARACTERS_MAX]] += 1


def plain_markdown(text: str, address: Address = lambda given, _: given) -> Plain:
    result = Plain("")
    text = "\n".join(_lines(text.replace("\0", "\N{REPLACEMENT CHARACTER}"), result))
    tags = _Tags(result)
    text = "".join(part if is_code else tags.convert(part) for is_code, part in _parts(text))
    text = "".join(part if is_code else _with_addresses(part, address, result) for is_code, part in _parts(text))
    for notation, literal in _LITERALS:
        text = text.replace(notation, literal)
    result.text = text
    return result


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """The text in parts, each with whether it is a code block."""
    code = code_lines(text)
    *lines, last = text.split("\n")
    numbered = enumerate([*(f"{line}\n" for line in lines), last])
    for is_code, part in groupby(numbered, key=lambda line: line[0] in code):
        yield is_code, "".join(line for _, line in part)


# Lines


def _lines(text: str, plain: Plain) -> list[str]:
    """The lines with converted code blocks (``{% highlight %}``), and without attributes (``{: .wide }``)."""
    lines: list[str] = []
    fence = ""
    for given in text.split("\n"):
        line, words = given, given.strip()
        if fence:
            line, fence = _in_code(line, words, fence)
        elif words.startswith(("```", "~~~")):
            marks = len(words) - len(words.lstrip(words[0]))
            fence = words[:marks] if "`" not in words[marks:] else ""
        elif (language := _opened_code(words)) is not None:
            line, fence = f"{CODE_FENCE} {language}".rstrip(), "highlight"
        elif words.startswith("{:") and words.endswith("}"):
            _attributes(words, lines, plain)
            continue
        elif words.startswith("#") and words.endswith("}"):
            title, _, attributes = line.rpartition("{")
            own_id = _own_id(attributes)
            line = f"{title.rstrip()} {{{own_id}}}" if own_id else line
        lines.append(line)
    return lines


def _attributes(words: str, lines: list[str], plain: Plain) -> None:
    """Attributes on a line of their own: a heading above gets their id."""
    own_id = _own_id(words[2:-1])
    if own_id and lines and lines[-1].startswith("#"):
        lines[-1] = f"{lines[-1].rstrip('# ')} {{{own_id}}}"
        return
    if "toc" in words[2:-1].split() and lines:
        lines.pop()  # the list item that the table of contents replaces
    plain.count(ATTRIBUTES, words)


def _in_code(line: str, words: str, fence: str) -> tuple[str, str]:
    """A line of a code block, and the fence that ends the block."""
    if fence == "highlight":
        is_end = words.startswith("{") and words.strip("{}%<>- /") in {"highlight", "endhighlight"}
        return (CODE_FENCE, "") if is_end else (line, fence)
    return line, "" if set(words) == {fence[0]} and len(words) >= len(fence) else fence


def _opened_code(words: str) -> str | None:
    """The language of the code block that a line opens with a tag, possibly empty; None for another line."""
    name, _, rest = words.strip("{}%<>- ").partition(" ")
    if not words.startswith(("{%", "{{")) or name != "highlight" or words.count("{") > 2:
        return None
    return next(iter(rest.split()), "").strip("\"'")


def _own_id(attributes: str) -> str | None:
    return next((word for word in attributes.strip(":} ").split() if word.startswith("#")), None)


# Tags


class _Next:
    """Finds the next occurrence of marks. Positions only increase, so each part is searched once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._at: dict[str, int] = {}

    def __call__(self, mark: str, start: int) -> int:
        """The position, or the end of the text."""
        at = self._at.get(mark, -1)
        if at < start:
            found = self.text.find(mark, start)
            at = self._at[mark] = len(self.text) if found < 0 else found
        return at


class _InlineCode:
    """Finds the end of inline code: the next run of equally many backticks in the same paragraph."""

    def __init__(self, text: str, following: _Next) -> None:
        self._following = following
        self._lengths = {match.start(): len(match[0]) for match in _BACKTICKS.finditer(text)}
        self._runs: dict[int, list[int]] = {}
        for start, length in self._lengths.items():
            self._runs.setdefault(length, []).append(start)

    def end(self, start: int) -> int:
        """The end of the code that starts with the backticks at a position, or of the backticks if it has no end."""
        length = self._lengths[start]
        runs = self._runs[length]
        place = bisect_right(runs, start)
        is_closed = place < len(runs) and runs[place] < self._following("\n\n", start)
        return (runs[place] if is_closed else start) + length


class _Tags:
    """Inline template tags."""

    def __init__(self, plain: Plain) -> None:
        self.plain = plain
        self.raw = False
        """Whether tags are literal: between ``{% raw %}`` and ``{% endraw %}``."""

    def convert(self, text: str) -> str:
        following = _Next(text)
        code = _InlineCode(text, following)
        out: list[str] = []
        done = past = 0
        for match in _TAG_STARTS.finditer(text):
            place = match.start()
            if place < past:
                continue
            if match[0] == "`":
                past = code.end(place)
                continue
            found = self._tag(text, place, following)
            if found is None:
                past = place + (2 if text.startswith("{{", place) else 1)
                continue
            out += [text[done:place], found[0]]
            done = past = found[1]
        return "".join([*out, text[done:]])

    def _tag(self, text: str, place: int, following: _Next) -> tuple[str, int] | None:
        """The replacement of a tag at a position, and its end; None if there is no tag."""
        opening = next((mark for mark in _CLOSERS if text.startswith(mark, place)), None)
        if opening is None or (opening == "{{" and text[place - 1 : place] in {"^", "_", "\\"}):  # a formula
            return None
        closer = _CLOSERS[opening]
        end = following(closer, place + len(opening)) + len(closer)
        if end > len(text) or end - place > TAG_CHARACTERS_MAX:
            return None
        inner = text[place + len(opening) : end - len(closer)].strip("-~ \t\n")
        inner = inner[:-1].rstrip() if inner.endswith("/") and not inner.endswith("*/") else inner
        if opening in {"{#", "{:"}:
            if opening == "{:" and "\n" not in inner:
                self.plain.count(ATTRIBUTES, f"{{:{inner}}}")
                return "", end
            if opening == "{#" and text[place + 2 : place + 3].isspace():
                self.plain.count(COMMENTS, "{# #}")
                return "", end
            return None
        if inner.startswith("/*") and inner.endswith("*/"):
            return f"`{opening} {inner[2:-2].strip()} {closer}`", end
        return self._template(text, opening, inner, place, end, following)

    def _template(
        self, text: str, opening: str, inner: str, place: int, end: int, following: _Next
    ) -> tuple[str, int] | None:
        name, _, rest = inner.partition(" ")
        name = name.partition("(")[0].partition("\n")[0]
        if opening == "{%" and name in {"raw", "endraw"}:
            self.raw = name == "raw"
            return "", end
        if self.raw:
            return f"`{text[place:end]}`", end
        if opening == "{%" and name == "comment":
            self.plain.count(COMMENTS, "{% comment %}")
            last = following("endcomment", end)
            return "", end if last == len(text) else following("%}", last) + 2
        if not inner:
            return None
        if inner[0] == "/" or (opening == "{%" and (name.startswith("end") or name in _BRANCHES)):
            return "", end
        is_call = "(" in inner.partition(" ")[0]
        if opening == "{{" and (shown := _expression(inner)) is not None:
            return shown, end
        if is_call or opening != "{{":
            given = _arguments(inner.partition("(")[2].rstrip(")") if is_call else rest)
            shown = _meaning(name.strip("\"'"), given)
            if shown is not None:
                return shown, end
        self.plain.count(EXPRESSIONS if opening == "{{" and not is_call else TAGS, name)
        if _in_address(text, place):
            return ("#" if text.endswith("]: ", 0, place) else ""), end
        return _placeholder(name), end


def _placeholder(name: str) -> str:
    shown = "".join(letter for letter in name if letter.isalnum() or letter in "._-/")[:NAME_CHARACTERS_MAX]
    return rf"\[{shown.replace('_', chr(92) + '_') or 'tag'}\]"


def _meaning(name: str, given: dict[str, str]) -> str | None:
    """The Markdown of a link or an image; None for another tag."""
    if name in _LINKS:
        return given.get("path") or given.get("0")
    source = given.get("src", "")
    if not source or "{" in source:
        return None
    shown = given.get("caption") or given.get("alt") or given.get("title") or ""
    return f"![{shown.replace('[', '(').replace(']', ')')}]({f'<{source}>' if ' ' in source else source})"


def _expression(inner: str) -> str | None:
    """The value of an expression in a link's URL: empty for the site's own URL, a literal itself."""
    words, _, filters = inner.partition("|")
    words = words.strip()
    if words in _OWN_ADDRESS:
        return ""
    if _ADDRESS_FILTERS & set(filters.replace(":", " ").split()[:1]) and len(words) > 1 and words[0] == words[-1]:
        return words.strip("\"'")
    if words.startswith("get_url("):
        return _arguments(words[8:].rstrip(")")).get("path")
    return None


def _arguments(text: str) -> dict[str, str]:
    """The arguments of a tag: by name, and positional ones by number."""
    lexer = shlex.shlex(text.replace(",", " "), posix=True)
    lexer.whitespace_split = True
    lexer.commenters, lexer.quotes, lexer.escape = "", "\"'`", ""
    result: dict[str, str] = {}
    try:
        for word in lexer:
            name, equals, value = word.partition("=")
            if equals and name.replace("-", "").replace("_", "").isalnum():
                result[name] = value
            else:
                result[str(len(result))] = word
    except ValueError:  # an unterminated quote
        return {}
    return result


def _in_address(text: str, place: int) -> bool:
    """Whether a position is in a link's URL or an attribute's value."""
    before = text[max(0, place - 300) : place]
    word = "" if not before or before[-1].isspace() else before.split()[-1]
    return before.endswith("]: ") or "](" in word or '="' in word or "='" in word


# Links


def _with_addresses(text: str, address: Address, plain: Plain) -> str:
    """The text with the URLs of its links, images, references and HTML replaced by ``address``."""
    following = _Next(text)
    code = _InlineCode(text, following)
    out: list[str] = []
    opened: list[tuple[int, bool]] = []
    done = past = line = 0
    for match in _LINK_MARKS.finditer(text):
        place, mark = match.start(), match[0]
        if place < past:
            continue
        if mark == "`":
            past = code.end(place)
        elif mark == "\n":
            line = place + 1
        elif mark == "\\":
            past = place + 2
        elif mark == "[":
            opened.append((place, text[place - 1 : place] == "!"))
        elif mark == "<":
            past = _end_of_html(text, place, following)
            changed = _html_with_addresses(text[place:past], address)
            if changed is not None:
                out += [text[done:place], changed]
                done = past
        elif opened:
            start, is_picture = opened.pop()
            is_wiki = text.startswith("[[", start) and text.startswith("]]", place - 1)
            if is_wiki and not text.startswith("(", place + 1):
                plain.count(WIKI_LINKS, text[start : place + 1])
            if text.startswith("^", start + 1):  # a footnote
                continue
            found = _destination(text, place + 1, following, defines=not text[line:start].strip(" >"))
            if found is not None:
                begin, past = found
                out += [text[done:begin], address(text[begin:past], is_picture)]
                done = past
    return "".join([*out, text[done:]])


def _destination(text: str, place: int, following: _Next, *, defines: bool) -> tuple[int, int] | None:
    """The start and end of the URL after a ``]``: in parentheses, or after the colon of a reference."""
    if not (text.startswith("(", place) or (defines and text.startswith(":", place))):
        return None
    is_inline = text[place] == "("
    place += 1
    while text.startswith(" ", place):
        place += 1
    if text.startswith("<", place):
        end = following(">", place)
        return (place + 1, end) if end < following("\n", place) else None
    end = min(following(mark, place) for mark in (" ", "\n", ")" if is_inline else "\n"))
    if end - place > ADDRESS_CHARACTERS_MAX or (is_inline and end == len(text)):
        return None
    if is_inline and text.startswith(" ", end) and text[end : end + 4].strip()[:1] not in {'"', "'", "(", ")"}:
        return None
    if is_inline and text.startswith(")", end) and "(" in text[place:end]:  # Database_(computing)
        end = min(following(")", end + 1), following("\n", end))
    return (place, end) if end > place else None


def _end_of_html(text: str, place: int, following: _Next) -> int:
    if text.startswith("<!--", place):
        return following("-->", place) + 3
    after = text[place + 1 : place + 2]
    if not (after.isalpha() or after == "/"):
        return place + 1
    end = following(">", place)
    return place + 1 if end == len(text) or end - place > TAG_CHARACTERS_MAX else end + 1


def _html_with_addresses(tag: str, address: Address) -> str | None:
    """An HTML tag with replaced URLs; None for one without any."""
    name = tag[1:].split(None, 1)[0].rstrip(">/").lower() if len(tag) > 2 else ""
    if name not in _WITH_ADDRESSES:
        return None
    for attribute in (" href=", " src=", " poster="):
        start = tag.find(attribute) + len(attribute)
        quote = tag[start : start + 1]
        end = tag.find(quote, start + 1) if quote in {'"', "'"} else -1
        if start >= len(attribute) and end > start:
            tag = f"{tag[: start + 1]}{address(tag[start + 1 : end], name != 'a')}{tag[end:]}"
    return tag
