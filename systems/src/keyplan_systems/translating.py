"""Texts of Jekyll and Hugo as plain Markdown: template tags whose meaning is known are translated, others counted.

Liquid (``{% highlight %}``, ``{{ site.url }}``), Hugo's shortcodes (``{{< ref >}}``), and kramdown's attributes
(``{: .note}``) are known here; where links lead is the caller's matter (``linking.py``). What isn't known stays as it
is, and is counted by its kind.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from keyplan_systems.marks import as_html, shown_raw
from keyplan_systems.shortcodes import filled

__all__ = ["Translation", "translate"]

Where = Callable[[str], "str | None"]
"""Gives the address of the post that a tag names, or None where there is none."""


@dataclass
class Translation:
    """A translated text: ``translated`` counts the tags that became something else, ``kept`` those that stand there
    as they were, ``dropped`` what was left out, each by what it is called.
    """

    text: str
    translated: Counter[str] = field(default_factory=Counter[str])
    kept: Counter[str] = field(default_factory=Counter[str])
    dropped: Counter[str] = field(default_factory=Counter[str])


def translate(
    text: str, values: Mapping[str, Any], where: Where, *, mdx: bool = False, own: Mapping[str, str] | None = None
) -> Translation:
    """The text as Markdown. ``values`` has what ``site.…`` and ``page.…`` stand for, by that name; ``mdx`` says that
    lines of JavaScript, and JSX, may stand in it; ``own`` has the templates of the site's own shortcodes.
    """
    work = _Work(values, where, own or {})
    return work.run(text, mdx=mdx)


_ARGUMENT = re.compile(r"""(?:([\w-]+)\s*=\s*)?("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|[^\s"'`]+)""")
_NOTES = "note|tip|warning|info|important|caution|danger|admonition|callout|notice|alert|hint|deprecated-in|new-in"
_RAW = re.compile(r"\{%-?\s*raw\s*-?%\}(.*?)\{%-?\s*endraw\s*-?%\}", re.DOTALL)
_HIGHLIGHT = re.compile(
    r"\{%-?\s*highlight\s+([\w+#.-]+)([^%]*)-?%\}[ \t]*\n?(.*?)\n?[ \t]*\{%-?\s*endhighlight\s*-?%\}", re.DOTALL
)
_COMMENT = re.compile(r"\{%-?\s*comment\s*-?%\}.*?\{%-?\s*endcomment\s*-?%\}", re.DOTALL)
_LIQUID = re.compile(r"(?<!\{)\{%-?\s*(\w+)\s*([^%]*?)\s*-?%\}")
_OUTPUT = re.compile(r"\{\{-?(?![<%])\s*([^{}\n]*?)\s*-?\}\}")
_ESCAPED = re.compile(r"\{\{([<%])/\*\s*(.*?)\s*\*/([>%])\}\}", re.DOTALL)
_PAIR = re.compile(
    r"\{\{([<%])\s*([\w/-]+)((?:\s[^<>]*?)?)\s*[>%]\}\}[ \t]*\n?"
    r"((?:(?!\{\{[<%]\s*\2[\s>%]).)*?)\n?[ \t]*\{\{[<%]\s*/\s*\2\s*[>%]\}\}",
    re.DOTALL,
)
_SHORTCODE = re.compile(r"\{\{[<%]\s*(/?[\w./-]+)((?:\s(?:[^<>]|->){0,4000}?)?)\s*/?\s*[>%]\}\}")
_TERA_ESCAPED = re.compile(r"\{([{%])/\*\s*(.*?)\s*\*/([}%])\}", re.DOTALL)
"""Zola's way to show a shortcode: ``{{/* youtube(id="…") */}}``."""
_CALLED = re.compile(r"(\w+)\((.*)\)")
_KRAMDOWN_COMMENT = re.compile(r"\{::comment\}.*?\{:/(?:comment)?\}", re.DOTALL)
_NO_MARKDOWN = re.compile(r"\{::nomarkdown[^}\n]*\}(.*?)\{:/(?:nomarkdown)?\}", re.DOTALL)
_HEADING_ID = re.compile(r"^(#{1,6} .*|.+\n(?:=+|-+))\n\{:\s*#([\w.:-]+)[^}\n]*\}[ \t]*$", re.MULTILINE)
_HEADING_LINE_ID = re.compile(
    r"^(#{1,6} [^\n]*?)(?:[ \t]+#+)?[ \t]*\{:[ \t]*#([\w.:-]+)[^}\n]*\}[ \t]*#*[ \t]*$", re.MULTILINE
)
_CONTENTS = re.compile(r"^[ \t]*(?:[*\-+]|1\.)[^\n]*\n\{:\s*toc[^}\n]*\}[ \t]*\n?", re.MULTILINE | re.IGNORECASE)
_BLOCKS = re.compile(r"(\n(?:[ \t]*\n)+)")
_NOTE = re.compile(r"[ \t]*\{:([^}\n]*)\}[ \t]*")
"""A line that makes a note of the paragraph that it stands below or above, by a class: ``{: .note .warning}``."""
_ATTRIBUTES = re.compile(r"(?:^[ \t]*\{:[^}\n]*\}[ \t]*\n?|(?<=[\])*`_])\{:[^}\n]*\})", re.MULTILINE)
_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})[^\n]*\n.*?^[ \t]*\2[`~]*[ \t]*$", re.DOTALL | re.MULTILINE)
_QUOTED_FENCE = re.compile(
    r"^[ \t]*>[ \t>]*(`{3,}|~{3,})[^\n]*\n(?:[ \t]*>[^\n]*\n)*?[ \t]*>[ \t>]*\1[`~]*[ \t]*$", re.MULTILINE
)
_TITLE = re.compile(r"""\b(?:title|tab|file|filename)=["']([^"'\n]+)["']""")
_MARKS = re.compile(r"(?<=[ \t,{])(?!line-?nums?\b|linenos\b|showLineNumbers\b)([a-zA-Z][\w-]*)(?=[ \t=,}]|$)")
"""What stands behind the language of a fence by name: lines to stress, a site's own ways to show it. That lines are
numbered is left out without a word.
"""
_SPAN = re.compile(r"(?<!`)(`{1,16})(?!`)[^\n]*?(?<!`)\1(?!`)")
_INDENTED = re.compile(r"(?:^|(?<=\n\n))(?:(?: {4}|\t)[^\n]*\n?)+")
_COLONS = re.compile(r"[ \t]*:::+[ \t]*(?:([\w-]+)[ \t]*(?:\[([^\]]*)\]|([^{]*)).*)?")
"""A line that begins one of Docusaurus's notes (``:::tip[Title]``), or ends it (``:::``)."""
_SLASHES = re.compile(r"[ \t]*///+[ \t]*(?:([a-z][\w-]*)[ \t]*(?:\|[ \t]*(.*)())?)?")
"""The same of pymdownx's blocks (``/// tip | Title``, and ``///``)."""
NESTED_MAX = 4
_BANGS = re.compile(
    r"^( *)(?:!!!|\?\?\?\+?)[ \t]+([\w-]+)(?:[ \t]+\"([^\"\n]*)\")?[^\n]*\n"
    r"((?:\1(?: {4}|\t)[^\n]*\n|(?!\1(?: {4}|\t))[ \t]*\n)+)",
    re.MULTILINE,
)
"""MkDocs' notes: ``!!! tip "Title"``, and the text indented below it; a list's are indented themselves."""
_ALERT = re.compile(r"^([ \t]*>[> ]*)\[!(\w+)\][+-]?([^\n]*)$", re.MULTILINE)
"""The first line of a note as GitHub and Obsidian have it: ``> [!NOTE]``."""
_TAB = re.compile(
    r"^( *)===[!+]?[ \t]+\"([^\"\n]+)\"[ \t]*\n"
    r"((?:\1(?: {4}|\t)[^\n]*\n|[ \t]*\n(?=(?:[ \t]*\n)*\1(?: {4}|\t)))+)",
    re.MULTILINE,
)
"""A tab of pymdownx: ``=== "Title"``, and the text indented below it."""
_MDX_SCRIPT = re.compile(
    r"^(?:import\s(?:[\w*{](?:[^\n]|\n(?![ \t]*\n))*?\sfrom\s+)?[\"'][^\n]*"
    r"|export\s(?:const|let|var|default|function|async|class)\b[^\n]*(?:\n[^\n]*\S[^\n]*)*)\n?",
    re.MULTILINE,
)
"""JavaScript in MDX: a statement goes on until an empty line."""
_MDX_ID = re.compile(r"^(#{1,6} [^\n]*?)[ \t]*\{/\*[ \t]*#([\w-]+)[ \t]*\*/\}[ \t]*$", re.MULTILINE)
_MDX_COMMENT = re.compile(r"\{/\*(?:(?!\{/\*).)*?\*/\}", re.DOTALL)
_JSX = re.compile(r"</?([A-Z][\w.]*)(?:\s[^<>]*)?/?>")
_JSX_ATTRIBUTE = re.compile(r"<([a-z][\w-]*)\s(?:[^<>{]*?\s)?([\w:-]+)=\{")
"""An element of HTML with a value that is JavaScript."""
_HELD = re.compile("\x00(\\d+)\x00")
_MARKDOWN_INSIDE = re.compile(r"""<(\w+)((?:\s[^<>]*?)?)\smarkdown(?:=(?:"[^"]*"|'[^']*'|\w+))?((?:\s[^<>]*)?)>""")
"""An element of HTML whose text is Markdown, as Python-Markdown and kramdown have it."""
_BARE_ATTRIBUTES = re.compile(r"(?:(?<=[\])*`:>])|(?<=__))\{[ ]*(?:[.#][\w-]|[\w-]+=)[^{}\n]*\}")
"""Attributes of Python-Markdown and Hugo's: ``![…](…){ loading=lazy }``. Behind one ``_`` they may be mathematics."""
_ICON = re.compile(r":(?:material|octicons|fontawesome|simple)-[\w/-]+:(?:\{[^{}\n]*\})?[ ]?")
_LEFT = re.compile(
    r"^[ \t]*(?:(:::)[ \t]*[\w.]+|(===)[!+]?[ \t]+\"|(!!!|\?\?\?)\+?[ \t]+\w|(--8<--|;--8<--)|(\[TOC\])[ \t]*$)",
    re.MULTILINE,
)
"""What some sites put other things for, and what is no Markdown of anybody else's."""
_DIAGRAM = re.compile(
    r"^[ \t]*(?:`{3,}|~{3,})[ \t]*\{?\.?(mermaid|plantuml|puml|dot|graphviz|vega-lite|katex|tikz)\b", re.MULTILINE
)
_LABELLED = re.compile(r"(?<!\])\[[^\[\]\n]+\]\[([^\[\]\n]+)\](?![(\[:])")
_LABEL = re.compile(r"^[ >]{0,12}\[(?!\^)([^\[\]\n]+)\]:", re.MULTILINE)
_PAGES = {
    "youtube": "https://www.youtube.com/watch?v={}",
    "vimeo": "https://vimeo.com/{}",
    "instagram": "https://www.instagram.com/p/{}/",
    "codepen": "https://codepen.io/{}",
    "gist": "https://gist.github.com/{}",
}
"""What is shown inside a page, and what its own page is called: a blog shows a link to it."""


class _Work:
    """A text while it is translated. What must stay as it is, is held apart."""

    def __init__(self, values: Mapping[str, Any], where: Where, own: Mapping[str, str]) -> None:
        self.values = values
        self.where = where
        self.own = own
        self.held: list[str] = []
        self.result = Translation("")

    def run(self, text: str, *, mdx: bool) -> Translation:
        """Every step, each over the whole text."""
        text = text.replace("\x00", "\N{REPLACEMENT CHARACTER}")
        text = _RAW.sub(lambda match: self._hold(match[1], "raw"), text)
        text = _ESCAPED.sub(lambda match: self._hold(f"{{{{{match[1]} {match[2]} {match[3]}}}}}", "escaped"), text)
        text = _TERA_ESCAPED.sub(lambda match: self._hold(f"{{{match[1]} {match[2]} {match[3]}}}", "escaped"), text)
        text = _COMMENT.sub("", text)
        text = _outside(text, (_FENCE, _SPAN), self._without_kramdown)
        text = _HIGHLIGHT.sub(self._highlight, text)
        text = _FENCE.sub(self._titled, text)
        for _ in range(4):  # one within another
            before = text
            text = _PAIR.sub(self._pair, text)
            if text == before:
                break
        text = _outside_fences(text, self._notes)
        text = _outside(text, (_FENCE, _SPAN), self._markdown_inside)
        if mdx:
            text = _outside(text, (_FENCE, _SPAN), self._without_mdx)  # what is indented is no code in MDX
        text = _SHORTCODE.sub(self._shortcode, text)
        text = _LIQUID.sub(self._tag, text)
        text = _OUTPUT.sub(self._output, text)
        text = _outside_code(text, partial(as_html, translated=self.result.translated, dropped=self.result.dropped))
        text = self._attributes(text)
        self._count_kept(text)
        self.result.text = self._restored(text)
        return self.result

    def _hold(self, text: str, what: str) -> str:
        self.result.translated[what] += 1
        self.held.append(text)
        return f"\x00{len(self.held) - 1}\x00"

    def _restored(self, text: str) -> str:
        while _HELD.search(text):
            text = _HELD.sub(lambda match: self.held[int(match[1])], text)
        return text

    def _done(self, what: str, text: str) -> str:
        self.result.translated[what] += 1
        return text

    # Code

    def _highlight(self, match: re.Match[str]) -> str:
        return self._done("{% highlight %}", _fenced(self._restored(match[3]), match[1]))

    def _titled(self, match: re.Match[str]) -> str:
        """A fence whose title, which stands behind the language, stands above it."""
        info = match[0].partition("\n")[0]
        title = _TITLE.search(info)
        for mark in _MARKS.findall(_TITLE.sub("", info)):
            self.result.dropped[f"a code's mark ({mark})"] += 1
        return match[0] if title is None else self._done("a code's title", f"\n{match[1]}**{title[1]}**\n\n{match[0]}")

    # Hugo's shortcodes

    def _pair(self, match: re.Match[str]) -> str:
        name, given, inner = match[2], _arguments(match[3]), match[4]
        what = f"{{{{< {name} >}}}}"
        if name in {"highlight", "code"}:
            language = given.get("lang") or given.get("0", "")
            return self._done(what, _fenced(self._restored(inner), language))
        if name == "code-toggle":
            kind = "toml" if re.search(r"^\s*\[?[\w.]+\]?\s*(?:=|$)", inner) else "yaml"
            return self._done(what, _fenced(self._restored(inner), kind))
        if re.fullmatch(_NOTES, name):
            title = given.get("title") or given.get("type") or given.get("0") or name
            return self._done(what, _note(title.replace("-", " ").capitalize(), inner))
        if name == "details":
            summary = given.get("summary") or given.get("title") or given.get("0", "Details")
            return self._done(what, f"<details><summary>{summary}</summary>\n\n{inner}\n\n</details>\n")
        if name in {"rawhtml", "html", "raw"}:
            return self._done(what, inner)
        if name in {"tabs", "tab", "columns", "column", "steps", "quick-reference"}:
            self.result.dropped[f"{what}, of which the text stands there"] += 1
            title = given.get("title") or given.get("name")
            return f"\n**{title}**\n\n{inner}\n" if title else inner
        return self._by_its_own(match[0], name, given, inner)

    def _shortcode(self, match: re.Match[str]) -> str:
        name, given = match[1], _arguments(match[2])
        what = f"{{{{< {name} >}}}}"
        first = given.get("0", "")
        if name in {"ref", "relref"}:
            address = self.where(given.get("path") or first)
            return match[0] if address is None else self._done(what, address)
        if name in {"figure", "img", "image"}:
            shown = _picture(given)
            return match[0] if shown is None else self._done(what, shown)
        if re.fullmatch(_NOTES, name) and given.get("text"):
            title = given.get("title") or given.get("type") or name
            return self._done(what, _note(title.replace("-", " ").capitalize(), given["text"]))
        if name == "param" and isinstance(self.values.get(f"page.{first}"), str | int | float):
            return self._done(what, str(self.values[f"page.{first}"]))
        if name in _PAGES:
            target = given.get("id") or "/".join(value for key, value in given.items() if key in {"0", "1"})
            return self._done(what, f"[{name}]({_PAGES[name].format(target)})") if target else match[0]
        if name in {"tweet", "x", "twitter"} and (given.get("id") or first.isdigit()):
            status = given.get("id") or first
            return self._done(what, f"[{name}](https://x.com/{given.get('user', 'i')}/status/{status})")
        return self._by_its_own(match[0], name, given, None)

    def _by_its_own(self, text: str, name: str, given: Mapping[str, str], inner: str | None) -> str:
        """A shortcode by the template that its own site has for it; as it stands where that says more than values."""
        made = filled(self.own[name], given, inner) if name in self.own else None
        return text if made is None else self._done(f"{{{{< {name} >}}}}", made)

    # Notes of Docusaurus and MkDocs, and what MDX has besides Markdown

    def _notes(self, text: str) -> str:
        def bangs(match: re.Match[str]) -> str:
            if not _in_list(match):
                return match[0]
            title = match[2].capitalize() if match[3] is None else match[3]
            return self._done(f"!!! {match[2]}", indented(match[1], _note(title, nested(inner(match[1], match[4])))))

        def tab(match: re.Match[str]) -> str:
            if not _in_list(match):
                return match[0]
            made = f"{match[1]}**{match[2]}**\n\n{indented(match[1], nested(inner(match[1], match[3])))}"
            return self._done("=== tab", made)

        def nested(text: str) -> str:
            """What a note holds, with the notes in it."""
            if depth[0] >= NESTED_MAX:
                return text
            depth[0] += 1
            result = _TAB.sub(tab, _BANGS.sub(bangs, text))
            depth[0] -= 1
            return result

        def inner(space: str, text: str) -> str:
            return re.sub(rf"^{space}(?: {{4}}|\t)", "", text, flags=re.MULTILINE)

        def indented(space: str, text: str) -> str:
            return re.sub(r"^(?=[^\n])", space, text, flags=re.MULTILINE)

        depth = [0]
        text = self._fenced_notes(text, ":::", _COLONS) if ":::" in text else text
        text = self._fenced_notes(text, "///", _SLASHES) if "///" in text else text
        text = _ALERT.sub(
            lambda match: self._done(
                "> [!…]", f"{match[1]}**{match[3].strip() or match[2].capitalize()}**\n{match[1].rstrip()}"
            ),
            text,
        )
        for _ in range(NESTED_MAX):
            before = text
            text = _TAB.sub(tab, _BANGS.sub(bangs, text))
            if text == before:
                break
        return text

    def _fenced_notes(self, text: str, marks: str, pattern: re.Pattern[str]) -> str:
        """Notes between lines of marks, read line by line: one that has no end stays as it is."""
        open_notes: list[tuple[str, str, str, list[str]]] = []
        lines: list[str] = []
        for line in text.split("\n"):
            match = pattern.fullmatch(line) if marks in line else None
            if match is not None and match[1] and len(open_notes) < NESTED_MAX:
                title = (match[2] or match[3] or "").strip() or match[1].replace("-", " ").capitalize()
                open_notes.append((line, match[1], title, lines))
                lines = []
            elif match is not None and not match[1] and open_notes:
                _, kind, title, outer = open_notes.pop()
                made = _block(kind, title, "\n".join(lines)) if marks == "///" else _note(title, "\n".join(lines))
                lines = [*outer, *self._done(f"{marks}{kind}", made).split("\n")]
            else:
                lines.append(line)
        while open_notes:
            line, _, _, outer = open_notes.pop()
            lines = [*outer, line, *lines]
        return "\n".join(lines)

    def _without_mdx(self, text: str) -> str:
        def left_out(match: re.Match[str]) -> str:
            self.result.dropped[f"{match[0].split()[0]} of JavaScript"] += 1
            return ""

        text = _MDX_SCRIPT.sub(left_out, text)
        for match in _JSX.finditer(text):
            if not match[0].startswith("</"):
                self.result.kept[f"<{match[1]}>"] += 1
        for match in _JSX_ATTRIBUTE.finditer(text):
            self.result.kept[f"<{match[1]} {match[2]}={{…}}>"] += 1
        text = _MDX_ID.sub(lambda match: self._done("{/* #id */}", f"{match[1]} {{#{match[2]}}}"), text)
        return _MDX_COMMENT.sub("", text)

    # Liquid

    def _tag(self, match: re.Match[str]) -> str:
        name, rest = match[1], self._filled(match[2])
        what = f"{{% {name} %}}"
        if name in {"link", "post_url"}:
            address = self.where(rest.strip().strip("\"'"))
            return match[0] if address is None else self._done(what, address)
        if name in _PAGES:
            target = rest.split()[0].strip("\"'") if rest else ""
            return self._done(what, f"[{name}]({_PAGES[name].format(target)})") if target else match[0]
        if name == "include":
            shown = _picture(_arguments(rest)) if re.match(r"(?:figure|image|img|picture)\b", rest) else None
            return match[0] if shown is None else self._done(what, shown)
        return match[0]

    def _filled(self, text: str) -> str:
        return _OUTPUT.sub(self._output, text)

    def _output(self, match: re.Match[str]) -> str:
        expression, *filters = (part.strip() for part in match[1].split("|"))
        kinds = {text.partition(":")[0].strip() for text in filters}
        if not kinds <= {"relative_url", "absolute_url", "escape", "prepend", "strip", "url_encode"}:
            return match[0]
        literal = re.fullmatch(r"\"([^\"]*)\"|'([^']*)'", expression)
        if literal is not None:
            return self._done("{{ … | relative_url }}", literal[1] or literal[2] or "")
        called = _CALLED.fullmatch(expression)
        if called is not None and not filters:
            return self._called(called[1], called[2]) or match[0]
        value = self.values.get(expression)
        if isinstance(value, str | int | float):
            return self._done(f"{{{{ {expression} }}}}", str(value))
        return match[0]

    def _called(self, name: str, arguments: str) -> str | None:
        """A shortcode of Zola's: ``{{ youtube(id="…") }}``."""
        given = _arguments(re.sub(r",\s*(?=\w+\s*=)", " ", arguments))
        if name in _PAGES and given.get("id"):
            return self._done(f"{{{{ {name}() }}}}", f"[{name}]({_PAGES[name].format(given['id'])})")
        shown = _picture(given) if name in {"figure", "img", "image"} else None
        return None if shown is None else self._done(f"{{{{ {name}() }}}}", shown)

    # kramdown

    def _without_kramdown(self, text: str) -> str:
        if "{::" not in text:
            return text
        text = _KRAMDOWN_COMMENT.sub(lambda _: self._done("{::comment}", ""), text)
        return _NO_MARKDOWN.sub(lambda match: self._done("{::nomarkdown}", match[1]), text)

    def _attributes(self, text: str) -> str:
        text = _CONTENTS.sub(lambda _: self._done("{:toc}", ""), text)

        def with_id(match: re.Match[str]) -> str:
            line, newline, rest = match[1].partition("\n")
            return self._done("{: #id}", f"{line.rstrip()} {{#{match[2]}}}{newline}{rest}")

        text = _HEADING_ID.sub(with_id, text)
        text = _outside(text, (_FENCE,), lambda part: _HEADING_LINE_ID.sub(with_id, part))

        text = _outside(text, (_FENCE,), lambda part: "".join(map(self._kramdown_note, _BLOCKS.split(part))))

        def left_out(match: re.Match[str]) -> str:
            self.result.dropped[match[0].strip()] += 1
            return ""

        def icon(match: re.Match[str]) -> str:
            self.result.dropped[match[0].strip()] += 1
            return ""

        text = _outside_code(text, lambda part: _ICON.sub(icon, part) if "-" in part else part)
        return _outside_code(text, lambda part: _BARE_ATTRIBUTES.sub(left_out, _ATTRIBUTES.sub(left_out, part)))

    def _markdown_inside(self, text: str) -> str:
        """Blank lines around the text of an element, which say that it is Markdown."""
        parts: list[str] = []
        end = 0
        for match in _MARKDOWN_INSIDE.finditer(text):
            closing = text.find(f"</{match[1]}>", match.end())
            if match.start() < end or closing < 0:
                continue
            inner = "\n".join(
                line.strip() if line[:4].isspace() else line for line in text[match.end() : closing].split("\n")
            )
            parts += [
                text[end : match.start()],
                f"<{match[1]}{match[2]}{match[3]}>\n\n{inner.strip()}\n\n</{match[1]}>",
            ]
            end = closing + len(match[1]) + 3
            self.result.translated["<… markdown>"] += 1
        return "".join([*parts, text[end:]])

    def _kramdown_note(self, block: str) -> str:
        """A paragraph as a note, if the line below it or above it has a class that says so."""
        if "{:" not in block:
            return block
        lines = block.strip("\n").split("\n")
        for place, inner in ((-1, lines[:-1]), (0, lines[1:])):
            match = _NOTE.fullmatch(lines[place])
            names: list[str] = re.findall(r"\.([\w-]+)", match[1]) if match else []
            kinds = [name for name in names if re.fullmatch(_NOTES, name)]
            if kinds and inner and not inner[0].lstrip().startswith("#"):
                text = re.sub(r"^> ?", "", "\n".join(inner), flags=re.MULTILINE)
                return self._done("{: .note}", _note(kinds[-1].capitalize(), text))
        return block

    # What is left

    def _count_kept(self, text: str) -> None:
        def count(part: str) -> str:
            for pattern, form in ((_SHORTCODE, "{{{{< {} >}}}}"), (_LIQUID, "{{% {} %}}"), (_OUTPUT, "{{{{ {} }}}}")):
                for match in pattern.finditer(part):
                    name = match[1].split("|")[0].strip()
                    if name and not name.startswith(("/", "end")):
                        self.result.kept[form.format(name[:60])] += 1
            for match in _LEFT.finditer(part):
                self.result.kept[next(filter(None, match.groups()))] += 1
            self.result.kept.update(shown_raw(part))
            for match in _LABELLED.finditer(part):
                if " ".join(match[1].split()).lower() not in labels:
                    self.result.kept[f"[…][{match[1][:60]}]"] += 1
            return part

        labels = {" ".join(match[1].split()).lower() for match in _LABEL.finditer(text)}
        _outside_code(text, count)
        for match in _DIAGRAM.finditer(text):
            self.result.kept[f"the source of a picture ({match[1]})"] += 1


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    """Change what is no code: neither fenced, in a quotation or not, nor indented, nor a span in a line."""
    return _outside(text, (_FENCE, _QUOTED_FENCE, _INDENTED, _SPAN), change)


def _outside_fences(text: str, change: Callable[[str], str]) -> str:
    """Change what isn't fenced, with the fences in it held apart: a note may have code in it."""
    fenced: list[str] = []

    def hold(match: re.Match[str]) -> str:
        fenced.append(match[0])
        return f"{match[1]}\x01{len(fenced) - 1}\x01"

    changed = change(_FENCE.sub(hold, text.replace("\x01", "\N{REPLACEMENT CHARACTER}")))

    def put_back(match: re.Match[str]) -> str:
        lines = fenced[int(match[2])].split("\n")
        return "\n".join([f"{match[1]}{lines[0].lstrip()}", *(f"{match[1]}{line}" for line in _aligned(lines))])

    return re.sub(r"^([^\n\x01]*)\x01(\d+)\x01", put_back, changed, flags=re.MULTILINE)


_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")


def _in_list(match: re.Match[str]) -> bool:
    """Whether a block stands at the margin, or is indented as a part of a list's item: what else is, is code."""
    if not match[1]:
        return True
    before = match.string[: match.start()].split("\n")[-200:]
    outer = (line for line in reversed(before) if line.strip() and len(line) - len(line.lstrip()) < len(match[1]))
    return _ITEM.match(next(outer, "")) is not None


def _aligned(lines: list[str]) -> list[str]:
    """The lines of a fence behind its first, less the space that stands before the first."""
    space = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    return [line.removeprefix(space) for line in lines[1:]]


def _block(kind: str, title: str, inner: str) -> str:
    """A block of pymdownx: containers give what they hold, a tab its title too, and others are notes."""
    if kind in {"html", "caption", "figure-caption", "table-caption", "define"}:
        return f"\n{inner}\n"
    return f"\n**{title}**\n\n{inner}\n" if kind == "tab" else _note(title, inner)


def _note(title: str, inner: str) -> str:
    quoted = "\n".join(f"> {line}".rstrip() for line in inner.strip("\n").split("\n"))
    return f"\n> **{title}**\n>\n{quoted}\n" if title else f"\n{quoted}\n"


def _outside(text: str, kinds: tuple[re.Pattern[str], ...], change: Callable[[str], str]) -> str:
    parts: list[str] = []
    end = 0
    places = sorted({(match.start(), match.end()) for kind in kinds for match in kind.finditer(text)})
    for start, stop in places:
        if start < end:
            continue
        parts += [change(text[end:start]), text[start:stop]]
        end = stop
    return "".join([*parts, change(text[end:])])


def _arguments(text: str) -> dict[str, str]:
    """The arguments of a tag: by name, and those without one by their number."""
    result: dict[str, str] = {}
    for match in _ARGUMENT.finditer(text):
        value = match[2]
        if value[0] in "\"'`":
            value = value[1:-1].replace('\\"', '"')
        result[match[1] or str(sum(key.isdigit() for key in result))] = value
    return result


def _fenced(code: str, language: str) -> str:
    marks = "```"
    while marks in code:
        marks += "`"
    return f"\n{marks}{language}\n{code.strip(chr(10))}\n{marks}\n"


def _picture(given: Mapping[str, str]) -> str | None:
    """A figure as a Markdown picture, with its caption below; None without a source."""
    source = next((given[name] for name in ("src", "image_path", "url", "path", "file", "0") if given.get(name)), None)
    if source is None or source in {"figure", "image", "img", "picture"} or source.endswith((".html", ".liquid")):
        source = next((given[name] for name in ("src", "image_path", "url", "1") if given.get(name)), None)
    if source is None:
        return None
    alt = given.get("alt") or given.get("title") or given.get("caption") or ""
    caption = given.get("caption") or given.get("title") or ""
    credit = given.get("attr") or ""
    if credit:
        link = given.get("attrlink")
        caption = f"{caption} {f'[{credit}]({link})' if link else credit}".strip()
    target = f"<{source}>" if re.search(r"[\s()]", source) else source
    picture = f"![{alt.replace('[', '(').replace(']', ')')}]({target})"
    if given.get("link"):
        picture = f"[{picture}]({given['link']})"
    return f"{picture}\n*{caption}*" if caption else picture
