"""Convert Markdown of Jekyll, Hugo and Zola to standard Markdown.

Tags with a meaning in Markdown are converted: links, images and code blocks. Every other template tag becomes a
placeholder and is counted by name; text between an opening and a closing tag stays. Each step takes linear time.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby

from keyplan_systems.html_tags import TAG
from keyplan_systems.markdown_parsing import code_lines

NAME_CHARACTERS_MAX = 40
CODE_FENCE = "~~~~~~"
"""The fence of converted code blocks: rare in code."""

TAGS, EXPRESSIONS, ATTRIBUTES, COMMENTS = "template tags", "template expressions", "attributes", "template comments"
WIKI_LINKS = "wiki links"
_LINKS = frozenset({"ref", "relref", "link", "post_url"})
_OWN_ADDRESS = frozenset({"site.url", "site.baseurl", "config.base_url"})
"""Expressions for the start of the site's URLs."""
_ADDRESS_FILTERS = frozenset({"relative_url", "absolute_url", "prepend"})
_BRANCHES = frozenset({"else", "elsif", "elif", "when"})
_LITERALS = (
    *(("{% raw %}", ""), ("{% endraw %}", ""), ("{%- raw -%}", ""), ("{%- endraw -%}", "")),
    *(("{{</*", "{{<"), ("*/>}}", ">}}"), ("{{%/*", "{{%"), ("*/%}}", "%}}")),
)
"""Notations for literal tags, which are kept in code."""
_WITH_ADDRESSES = frozenset({"a", "img", "source", "video", "audio", "iframe"})
_CODE = r"(?P<ticks>`++)(?:[^`\n]++|\n(?!\n)|(?!(?P=ticks)(?!`))`++){1,400}+(?P=ticks)(?!`)|`++"
"""Inline code in one paragraph, or backticks without an end."""
_TAGS = re.compile(
    rf"""{_CODE}
    |\{{%-?\s*raw\s*-?%\}}(?P<raw>.*?)(?:\{{%-?\s*endraw\s*-?%\}}|\Z)
    |(?P<comment>\{{%-?\s*comment\s*-?%\}}(?:.*?endcomment\s*-?%\}}|.*)|\{{\#\s(?:(?!\{{\#|\#\}}).)*+\#\}})
    |(?P<attributes>\{{:[^{{}}\n]*+\}})
    |\{{%(?P<block>(?:(?!\{{%|%\}}).){{1,4000}}+)%\}}
    |(?<![\^_\\])\{{\{{(?P<kind>[<%]?)(?P<inner>(?:(?!\{{\{{|[>%]?\}}\}}).){{1,4000}}+)[>%]?\}}\}}""",
    re.DOTALL | re.VERBOSE,
)
"""Inline code and template tags. No tag contains the start of another, so each part of a text is read once."""
_LINK_PARTS = re.compile(
    rf"""{_CODE}
    |\\.
    |^(?P<definition>[ >]*+\[(?!\^)[^\[\]\n]++\]:[ ]*+)(?P<defined><[^<>\n]*+>|\S++)
    |(?P<wiki>!?\[\[[^\[\]\n]*+\]\])(?!\()
    |(?P<open>!?\[)
    |(?P<close>\])(?:(?P<start>\([ ]*+)(?P<target><[^<>\n]*+>|(?:[^\s()<>]|\([^\s()<>]*+\))++(?=\)|\s{{1,3}}["'()])))?
    |<!--(?:.*?-->|.*)
    |{TAG}""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
"""Inline code, links and HTML, in which URLs are replaced."""
_HTML_URLS = re.compile(r"""(?<=\s)((?:href|src|poster)=(?P<quote>["']))((?:(?!(?P=quote)).)*+)""", re.IGNORECASE)

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
    for convert in (partial(_without_tags, result), partial(_with_addresses, result, address)):
        text = "".join(part if is_code else convert(part) for is_code, part in _parts(text))
    for notation, literal in _LITERALS:
        text = text.replace(notation, literal)
    result.text = text
    return result


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """The parts of the text, each with a flag for code blocks."""
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
    """Attributes on a separate line: a heading above them gets their id."""
    own_id = _own_id(words[2:-1])
    if own_id and lines and lines[-1].startswith("#"):
        lines[-1] = f"{lines[-1].rstrip('# ')} {{{own_id}}}"
        return
    if "toc" in words[2:-1].split() and lines:
        lines.pop()  # Jekyll replaces the list item with a table of contents
    plain.count(ATTRIBUTES, words)


def _in_code(line: str, words: str, fence: str) -> tuple[str, str]:
    """A line in a code block, and the fence that ends the block; "" after its end."""
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


def _without_tags(plain: Plain, text: str) -> str:
    return _TAGS.sub(partial(_converted, plain), text)


def _converted(plain: Plain, match: re.Match[str]) -> str:
    """The replacement of a tag, or inline code as it is."""
    tag, inner = match[0], match["block"] or match["inner"]
    if match["raw"] is not None:
        return _TAGS.sub(lambda tag: tag[0] if tag[0].startswith("`") else f"`{tag[0]}`", match["raw"])
    if match["comment"]:
        plain.count(COMMENTS, "{# #}" if tag.startswith("{#") else "{% comment %}")
        return ""
    if match["attributes"]:
        plain.count(ATTRIBUTES, f"{{:{tag[2:-1].strip()}}}")
        return ""
    inner = (inner or "").strip("-~ \t\n")
    inner = inner if inner.endswith("*/") else inner.removesuffix("/").rstrip()
    if not inner:
        return tag
    if inner.startswith("/*") and inner.endswith("*/"):
        return f"`{tag.replace('/*', '', 1).replace('*/', '')}`"
    is_block, is_shortcode = match["block"] is not None, bool(match["kind"])
    name, _, rest = inner.partition(" ")
    name = name.partition("(")[0].partition("\n")[0]
    if inner[0] == "/" or (is_block and (name.startswith("end") or name in _BRANCHES)):
        return ""
    is_call = "(" in inner.partition(" ")[0]
    shown = None if is_block or is_shortcode else _expression(inner)
    if shown is None and (is_call or is_block or is_shortcode):
        shown = _meaning(name.strip("\"'"), _arguments(inner.partition("(")[2].rstrip(")") if is_call else rest))
    if shown is not None:
        return shown
    plain.count(TAGS if is_block or is_shortcode or is_call else EXPRESSIONS, name)
    text, place = match.string, match.start()
    if _in_address(text, place):
        return "#" if text.endswith("]: ", 0, place) else ""
    return _placeholder(name)


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
    """The value of an expression in a link's URL: empty for the site's own URL, the literal for a literal."""
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
    except ValueError:  # a quote isn't closed
        return {}
    return result


def _in_address(text: str, place: int) -> bool:
    """Whether a position is in a link's URL or an attribute's value."""
    before = text[max(0, place - 300) : place]
    word = "" if not before or before[-1].isspace() else before.split()[-1]
    return before.endswith("]: ") or "](" in word or '="' in word or "='" in word


# Links


def _with_addresses(plain: Plain, address: Address, text: str) -> str:
    """The text with the URLs of its links, images, references and HTML replaced by ``address``."""
    opened: list[bool] = []
    """For each open bracket, whether it belongs to an image."""

    def replaced(match: re.Match[str]) -> str:
        if match["definition"]:
            return match["definition"] + target(match["defined"], is_picture=False)
        if match["wiki"]:
            plain.count(WIKI_LINKS, match["wiki"])
        elif match["open"]:
            opened.append(match["open"].startswith("!"))
        elif match["close"] and opened:
            is_picture = opened.pop()
            if match["target"]:
                return f"]{match['start']}{target(match['target'], is_picture=is_picture)}"
        elif match["name"] and match["name"].lower() in _WITH_ADDRESSES:
            is_picture = match["name"].lower() != "a"
            return _HTML_URLS.sub(lambda url: url[1] + address(url[3], is_picture), match[0])
        return match[0]

    def target(given: str, *, is_picture: bool) -> str:
        is_quoted = given.startswith("<")
        return f"<{address(given[1:-1], is_picture)}>" if is_quoted else address(given, is_picture)

    return _LINK_PARTS.sub(replaced, text)
