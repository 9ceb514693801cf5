"""Convert Markdown of site generators to standard Markdown.

Supports links, includes and code blocks. Every other template tag (Liquid, Hugo, Nunjucks, Tera), note and attribute
becomes a placeholder or is removed, and is counted by kind; the surrounding text stays. Each step reads the text once,
in linear time.
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

__all__ = ["Plain", "plain_markdown"]

TAG_CHARACTERS_MAX = 4_000
"""Longer template tags are treated as text."""
ADDRESS_CHARACTERS_MAX = 2_000
INCLUDED_CHARACTERS_MAX = 400_000
"""Maximum number of characters that the includes of one text can add."""
NAME_CHARACTERS_MAX = 40
CODE_FENCE = "~~~~~~"
"""The fence of converted Liquid and Hugo code blocks: rare in code."""

TAGS, EXPRESSIONS = "template tags", "template expressions"
ATTRIBUTES, NOTES, SCRIPTS = "attributes", "notes and tabs", "JavaScript of MDX"
COMMENTS, OPTIONS = "comments of templates", "options of code blocks"
_CLOSERS = {"{{<": ">}}", "{{%": "%}}", "{{": "}}", "{%": "%}", "{#": "#}", "{:": "}", "{/": "/}"}
_LINKS = frozenset({"ref", "relref", "link", "post_url", "post_path", "asset_path"})
_INCLUDES = frozenset({"include", "include_relative", "include_cached", "includes", "readfile", "snippet"})
_INCLUDED = (".md", ".markdown", ".mdx", ".txt")
_OWN_ADDRESS = frozenset({"site.url", "site.baseurl", "baseurl", "base_url", "site.base_url", "config.base_url"})
"""Expressions for the start of the site's URLs."""
_ADDRESS_FILTERS = (["relative_url"], ["absolute_url"], ["url"], ["absURL"], ["relURL"], ["prepend"])
_BRANCHES = frozenset({"else", "elsif", "elif", "elseif", "when"})
_PICTURED = frozenset({"a", "img", "image", "source", "video", "audio", "iframe"})
_MARK = re.compile(r"[\[\]<\\\n]")

Address = Callable[[str, bool], str]
"""Returns the new URL of a link, or of an image (True)."""
Include = Callable[[str], "str | None"]
"""Returns the text of an included file, or None."""


@dataclass
class Plain:
    """A converted text. ``removed`` counts placeholders and removals by kind, then by name."""

    text: str
    removed: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    included: int = 0
    """The number of characters of included texts."""

    def count(self, kind: str, name: str) -> None:
        """Count a placeholder or removal."""
        self.removed.setdefault(kind, Counter())[name[:NAME_CHARACTERS_MAX]] += 1


def plain_markdown(
    text: str, address: Address = lambda given, _: given, include: Include = lambda _: None, *, mdx: bool = False
) -> Plain:
    """Convert a text. ``mdx``: it can contain lines of JavaScript."""
    result = Plain("")

    def included(name: str) -> str | None:
        """An included text without tags; nested includes become placeholders."""
        found = include(name)
        if found is None or len(found) > INCLUDED_CHARACTERS_MAX - result.included:
            return None
        result.included += len(found)
        inner = plain_markdown(found, mdx=mdx)
        for kind, names in inner.removed.items():
            result.removed.setdefault(kind, Counter()).update(names)
        return inner.text

    blocks = _Blocks(result, included, mdx=mdx).convert(text.replace("\0", "\N{REPLACEMENT CHARACTER}"))
    tags = _Tags(result, included)
    without_tags = "".join(tags.code(part) if is_code else tags.convert(part) for is_code, part in _parts(blocks))
    result.text = "".join(part if is_code else _with_addresses(part, address) for is_code, part in _parts(without_tags))
    return result


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """The text in parts that are code, and parts that aren't."""
    code = code_lines(text)
    *lines, last = text.split("\n")
    numbered = enumerate([*(f"{line}\n" for line in lines), last])
    for is_code, part in groupby(numbered, key=lambda line: line[0] in code):
        yield is_code, "".join(line for _, line in part)


def placeholder(name: str) -> str:
    """The placeholder of a tag."""
    shown = "".join(letter for letter in name if letter.isalnum() or letter in "._-/")[:NAME_CHARACTERS_MAX]
    return rf"\[{shown.replace('_', chr(92) + '_') or 'tag'}\]"


# Lines


class _Blocks:
    """Lines with a special meaning for a generator: notes, tabs, attributes, includes, code blocks."""

    def __init__(self, plain: Plain, included: Include, *, mdx: bool) -> None:
        self.plain = plain
        self.included = included
        self.mdx = mdx
        self.lines: list[str] = []
        self.indents: list[int] = []
        """Indents of open notes, in columns of the source."""
        self.fence = ""
        """The end of the open code block: its fence, or the name of its tag."""
        self.in_list = False
        self.colons = 0
        """Number of open notes between lines of colons."""

    def convert(self, text: str) -> str:
        script = False
        for given in text.split("\n"):
            line = self._unindented(given)
            words = line.strip()
            if self.fence:
                self._code(line, words)
                continue
            script = bool(words) and (
                script or (self.mdx and line.startswith(("import ", "export ")) and not self._is_prose(line))
            )
            if script:
                self.plain.count(SCRIPTS, words.split(" ")[0] if line[:1].isalpha() else "further lines")
                continue
            if words and not line[0].isspace():
                self.in_list = words[0] in "-*+" or words[0].isdigit()
            self._line(line, words, len(given) - len(given.lstrip()))
        return "\n".join(self.lines)

    def _is_prose(self, line: str) -> bool:
        """Whether a line of MDX that starts with ``import`` or ``export`` is a sentence."""
        return not any(mark in line for mark in "'\"{=(*")

    def _unindented(self, line: str) -> str:
        """A line without the indent of its notes."""
        if not line.strip():
            return ""
        line = line.expandtabs(4) if self.indents and line.startswith("\t") else line
        indent = len(line) - len(line.lstrip())
        while self.indents and indent < self.indents[-1]:
            self.indents.pop()
        return line[4 * len(self.indents) :]

    def _code(self, line: str, words: str) -> None:
        if self.fence.isalpha():
            is_end = words.startswith("{") and words.strip("{}%<>- /").removeprefix("end") == self.fence
            line = CODE_FENCE if is_end else line
        else:
            is_end = set(words) == {self.fence[0]} and len(words) >= len(self.fence)
        self.fence = "" if is_end else self.fence
        self.lines.append(line)

    def _line(self, line: str, words: str, indent: int) -> None:
        if words.startswith(("```", "~~~")):
            self._fenced(words)
        elif words.startswith(("{%", "{{")) and self._opens_code(words):
            return
        elif words.startswith("{:") and not words.startswith("{::") and words.endswith("}"):
            self._attributes(words[2:-1].split())
            return
        elif words.startswith(":::"):
            self._colons(words.lstrip(":").strip(" {}"), line)
            return
        elif words.startswith(("!!!", "???", "===")) and (len(line) - len(line.lstrip()) < 4 or self.in_list):
            title = _note_title(words)
            if title is not None:
                self.indents.append(indent + 4)
                name = "tab" if words[0] == "=" else words.lstrip("!?+ ").partition(" ")[0]
                self._note(name, title, line)
                return
        elif words.startswith(("--8<-- ", "-8<- ")):
            included = self.included(words.partition(" ")[2].strip("\"' "))
            if included is None:
                self.plain.count(TAGS, "--8<--")
            self.lines.append(placeholder("include") if included is None else included)
            return
        elif words.startswith("#") and words.rstrip("# ").endswith("}"):
            line = self._heading(line.rstrip("# "))
        elif words in {"[TOC]", "[[toc]]", "[[_TOC_]]", "${toc}"}:
            self.plain.count(ATTRIBUTES, words)
            return
        self.lines.append(line)

    def _heading(self, line: str) -> str:
        """A heading with only the id of its attributes: ``## Title {: #id .wide }``."""
        title, _, attributes = line.rpartition("{")
        own_id = next((word for word in attributes.strip(":} ").split() if word.startswith("#")), None)
        return line if own_id is None else f"{title.rstrip()} {{{own_id}}}"

    def _fenced(self, words: str) -> None:
        marks = len(words) - len(words.lstrip(words[0]))
        if "`" not in words[marks:]:
            self.fence = words[:marks]
            for options in words[marks:].split(None, 1)[1:]:
                self.plain.count(OPTIONS, options)

    def _opens_code(self, words: str) -> bool:
        """Whether a line opens a code block of Liquid, Hugo or Hexo; starts the block."""
        name, _, rest = words.strip("{}%<>- ").partition(" ")
        if name not in {"highlight", "codeblock"} or words.count("{") > 2:
            return False
        language = next((word.partition(":")[2] or word for word in rest.split()[:1]), "").strip("\"'")
        self.lines.append(f"{CODE_FENCE} {language}".rstrip())
        self.fence = name
        return True

    def _attributes(self, words: list[str]) -> None:
        """A line of kramdown attributes: only the id of a heading above stays."""
        own_id = next((word for word in words if word.startswith("#")), None)
        if own_id is not None and self.lines and self.lines[-1].startswith("#"):
            self.lines[-1] = f"{self.lines[-1].rstrip('# ')} {{{own_id}}}"
            return
        if "toc" in words and self.lines:
            self.lines.pop()  # the list item that the table of contents replaces
        self.plain.count(ATTRIBUTES, f"{{: {' '.join(words)} }}")

    def _colons(self, name: str, line: str) -> None:
        if name[:1].isalpha():
            self.colons += 1
            kind, _, rest = name.partition(" ")
            self._note(kind.partition("[")[0], name.partition("[")[2].rstrip("]") or rest, line)
        elif self.colons:
            self.colons -= 1
            self.lines.append("")
        else:
            self.lines.append(line)

    def _note(self, name: str, title: str, line: str) -> None:
        self.plain.count(NOTES, name)
        space = line[: len(line) - len(line.lstrip())]
        self.lines += [f"{space}{placeholder(name)} {title}".rstrip(), ""]


def _note_title(words: str) -> str | None:
    """The title of a Python-Markdown note or tab; None for other lines (``===`` below a heading)."""
    rest = words.lstrip("!?+=")
    if words.startswith("===") and not rest.startswith((' "', " '")):
        return None
    if not rest.startswith(" ") or not rest[1:2].strip():
        return None
    return rest.partition('"')[2].rpartition('"')[0]


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


class _Tags:
    """Inline template tags."""

    def __init__(self, plain: Plain, included: Include) -> None:
        self.plain = plain
        self.included = included
        self.raw = False
        """Whether tags are literal: between ``{% raw %}`` and ``{% endraw %}``."""

    def code(self, text: str) -> str:
        """Code with literal tags, without the raw marks."""
        for mark in ("{% raw %}", "{% endraw %}", "{%- raw -%}", "{%- endraw -%}"):
            text = text.replace(mark, "")
        return text.replace("{{</*", "{{<").replace("*/>}}", ">}}").replace("{{%/*", "{{%").replace("*/%}}", "%}}")

    def convert(self, text: str) -> str:
        spans = _code_spans(text)
        following = _Next(text)
        out: list[str] = []
        done = place = 0
        while (place := following("{", place)) < len(text):
            span = _span_at(spans, place)
            if span is not None:
                out += [text[done : span[0]], self.code(text[span[0] : span[1]])]
                done = place = span[1]
                continue
            found = self._tag(text, place, following)
            if found is None:
                place += 2 if text.startswith("{{", place) else 1
                continue
            shown, end = found
            out += [text[done:place], shown]
            done = place = end
        return "".join([*out, text[done:]])

    def _tag(self, text: str, place: int, following: _Next) -> tuple[str, int] | None:
        """The replacement of a tag at a position, and its end; None if there is no tag."""
        opening = next((mark for mark in _CLOSERS if text.startswith(mark, place)), None)
        before = text[place - 1 : place]
        if opening is None:
            opening = "{" if before in {")", "]"} else ""
        if not opening or (opening == "{{" and before in {"^", "_", "\\"}):
            return None
        closer = _CLOSERS.get(opening, "}")
        end = following(closer, place + len(opening)) + len(closer)
        if end > len(text) or end - place > TAG_CHARACTERS_MAX:
            return None
        inner = text[place + len(opening) : end - len(closer)].strip("-~ \t\n")
        inner = inner[:-1].rstrip() if inner.endswith("/") and not inner.endswith("*/") else inner
        if opening == "{#":
            return self._removed(COMMENTS, "{# #}", end) if text[place + 2 : place + 3].isspace() else None
        if opening == "{/":
            return self._removed(COMMENTS, "{/* */}", end) if inner.startswith("*") else None
        if opening == "{:":
            return self._kramdown(text, inner, end, following)
        if opening == "{":
            return self._removed(ATTRIBUTES, inner, end) if inner[:1] in {".", "#", ":"} or "=" in inner else None
        if inner.startswith("/*") and inner.endswith("*/"):
            return f"`{opening} {inner[2:-2].strip()} {closer}`", end
        return self._template(text, opening, inner, place, end, following)

    def _removed(self, kind: str, name: str, end: int) -> tuple[str, int]:
        self.plain.count(kind, name)
        return "", end

    def _kramdown(self, text: str, inner: str, end: int, following: _Next) -> tuple[str, int] | None:
        if "\n" in inner:
            return None
        if inner.startswith(":comment"):
            last = following("{:/", end)
            return self._removed(COMMENTS, "{::comment}", end if last == len(text) else following("}", last) + 1)
        return self._removed(ATTRIBUTES, f"{{:{inner}}}", end)

    def _template(
        self, text: str, opening: str, inner: str, place: int, end: int, following: _Next
    ) -> tuple[str, int] | None:
        name, _, rest = inner.partition(" ")
        name = name.partition("(")[0].partition("\n")[0]
        if opening == "{%" and name in {"raw", "endraw", "verbatim", "endverbatim"}:
            self.raw = not name.startswith("end")
            return "", end
        if self.raw:
            return f"`{text[place:end]}`", end
        if opening == "{%" and name == "comment":
            last = following("endcomment", end)
            return self._removed(COMMENTS, "{% comment %}", end if last == len(text) else following("%}", last) + 2)
        if not inner:
            return None
        if inner[0] == "/" or (opening == "{%" and (name.startswith("end") or name in _BRANCHES)):
            return "", end
        if opening == "{{":
            shown = _expression(inner)
            if shown is not None:
                return shown, end
        called = "(" in inner.partition(" ")[0]
        given = _arguments(inner.partition("(")[2].rstrip(")") if called else rest)
        shown = self._meant(name.strip("\"'"), given) if called or opening != "{{" else None
        if shown is not None:
            return shown, end
        kind = EXPRESSIONS if opening == "{{" and not called else TAGS
        self.plain.count(kind, name)
        if _in_address(text, place):
            return ("#" if text.endswith("]: ", 0, place) else ""), end
        return placeholder(name), end

    def _meant(self, name: str, given: dict[str, str]) -> str | None:
        """A link, an include or an image; None for another tag."""
        first = given.get("path") or given.get("0") or ""
        if name in _LINKS and first:
            return first
        if name == "post_link" and first:
            return f"[{given.get('1', first)}]({first})"
        if name in _INCLUDES and len(given) == 1 and first.lower().endswith(_INCLUDED):
            included = self.included(first)
            if included is not None:
                return included
        source = given.get("src") or given.get("image_path") or (first if name in {"asset_img", "img"} else "")
        if not source or "{" in source:
            return None
        shown = given.get("caption") or given.get("alt") or given.get("title") or given.get("1", "")
        return f"![{shown.replace('[', '(').replace(']', ')')}]({f'<{source}>' if ' ' in source else source})"


def _expression(inner: str) -> str | None:
    """The value of an expression in a link's URL: empty for the site's own URL, a literal itself."""
    words, _, filters = inner.partition("|")
    words = words.strip()
    if words in _OWN_ADDRESS:
        return ""
    if filters.replace(":", " ").split()[:1] in _ADDRESS_FILTERS and len(words) > 1 and words[0] == words[-1]:
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


# Inline code and links


def _code_spans(text: str) -> list[tuple[int, int]]:
    """The starts and ends of inline code: between two runs of equally many backticks, in one paragraph."""
    following = _Next(text)
    runs: list[tuple[int, int, int]] = []
    paragraph = place = 0
    blank = following("\n\n", 0)
    while (place := following("`", place)) < len(text):
        while blank < place:
            paragraph += 1
            blank = following("\n\n", blank + 1)
        end = place
        while text.startswith("`", end):
            end += 1
        runs.append((place, end, paragraph))
        place = end
    closing: dict[tuple[int, int], int] = {}
    partners: list[int | None] = []
    for number in range(len(runs) - 1, -1, -1):
        start, end, at = runs[number]
        partners.append(closing.get((end - start, at)))
        closing[end - start, at] = number
    partners.reverse()
    spans: list[tuple[int, int]] = []
    number = 0
    while number < len(runs):
        partner = partners[number]
        if partner is not None:
            spans.append((runs[number][0], runs[partner][1]))
            number = partner
        number += 1
    return spans


def _span_at(spans: list[tuple[int, int]], place: int) -> tuple[int, int] | None:
    number = bisect_right(spans, (place, len(spans) and spans[-1][1])) - 1
    return spans[number] if number >= 0 and spans[number][0] <= place < spans[number][1] else None


def _with_addresses(text: str, address: Address) -> str:
    """The text with the URLs of its links, images, references and HTML replaced by ``address``."""
    spans, following = _code_spans(text), _Next(text)
    out: list[str] = []
    opened: list[tuple[int, bool]] = []
    done = past = line = 0
    for match in _MARK.finditer(text):
        place, mark = match.start(), match[0]
        if place < past:
            continue
        span = _span_at(spans, place)
        if span is not None:
            past = span[1]
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
    if name not in _PICTURED:
        return None
    for attribute in (" href=", " src=", " poster="):
        start = tag.find(attribute) + len(attribute)
        quote = tag[start : start + 1]
        end = tag.find(quote, start + 1) if quote in {'"', "'"} else -1
        if start >= len(attribute) and end > start:
            tag = f"{tag[: start + 1]}{address(tag[start + 1 : end], name != 'a')}{tag[end:]}"
    return tag
