"""Markdown parsing with bounded work: blocks, code lines, the first heading and the first paragraph.

markdown-it tries rules at each position of a text. Attempts are counted, and a text that needs far more than normal
texts is rejected. ``site.markdown`` renders.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

NESTING_MAX = 20
STEPS_MIN = 10_000
CHARACTERS_PER_STEP = 5
"""The allowed number of attempts: ``STEPS_MIN``, and one more per this number of characters. Normal texts need
fewer.
"""
BLOCK_STEPS = 4
"""The cost of a block rule's attempt, which reads more than an inline rule's."""
EXCERPT_CHARACTERS = 280
EXCERPT_SOURCE_MAX = 8_000
"""Length of the text's start in which the first heading and paragraph are searched."""
_TEXT = frozenset({"text", "code_inline"})
_NO_PROSE = ("{%", "{{", "\\[")
"""Starts of paragraphs that are template tags or their placeholders."""


class TooIntricate(Exception):
    """A text needs more attempts than allowed."""


class Heading(NamedTuple):
    """The first heading of a text: its text, level, and lines (``start``, and ``end``, exclusive)."""

    title: str
    level: int
    start: int
    end: int


def allowance(text: str) -> dict[str, Any]:
    """The ``env`` of a parse, with the text's allowed number of attempts."""
    return {"steps": STEPS_MIN + len(text) // CHARACTERS_PER_STEP}


def bound(parser: MarkdownIt) -> MarkdownIt:
    """Make a parser count its attempts in ``env``: it raises TooIntricate when none are left."""
    parser.inline.ruler.before("text", "step", _inline_step)
    parser.block.ruler.before("table", "step", _block_step)
    return parser


def _step(env: MutableMapping[str, Any], weight: int) -> bool:
    env["steps"] -= weight
    if env["steps"] < 0:
        raise TooIntricate
    return False


def _inline_step(state: StateInline, silent: bool) -> bool:  # noqa: ARG001 - the parser requires this signature
    return _step(state.env, 1)


def _block_step(state: StateBlock, first: int, last: int, silent: bool) -> bool:  # noqa: ARG001 - the parser requires this signature
    return _step(state.env, BLOCK_STEPS)


_PARSER = bound(MarkdownIt("commonmark", {"maxNesting": NESTING_MAX}).enable("table"))


def code_lines(text: str) -> set[int]:
    """The numbers of lines in code blocks, from 0. Empty for a text that is too intricate."""
    result: set[int] = set()
    for token in _blocks(text):
        if token.type in {"fence", "code_block"} and token.map is not None:
            result.update(range(*token.map))
    return result


def first_heading(text: str) -> Heading | None:
    source = text[:EXCERPT_SOURCE_MAX]
    for token, inline in _pairs(_blocks(source)):
        if token.type == "heading_open" and token.map is not None:
            title = _words(inline.content)
            if title:
                return Heading(title, int(token.tag[1]), *token.map)
    return None


def first_paragraph(text: str) -> str | None:
    """The first paragraph as plain text on one line, truncated at a word; None if there is none.

    Skips headings, lists, quotations, tables, code, HTML, images and template tags.
    """
    source = text[:EXCERPT_SOURCE_MAX]
    for token, inline in _pairs(_blocks(source)):
        if token.type == "paragraph_open" and token.level == 0 and not inline.content.startswith(_NO_PROSE):
            words = _words(inline.content)
            if words:
                return words if len(words) <= EXCERPT_CHARACTERS else f"{_cut(words)}…"
    return None


def _blocks(text: str) -> list[Token]:
    tokens: list[Token] = []
    try:
        _PARSER.block.parse(text.replace("\0", "\N{REPLACEMENT CHARACTER}"), _PARSER, allowance(text), tokens)
    except TooIntricate:
        return []
    return tokens


def _pairs(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    """Each token that opens a heading or a paragraph, with its inline content."""
    return ((token, after) for token, after in pairwise(tokens) if after.type == "inline")


def _words(content: str) -> str:
    """The plain text of inline Markdown: without marks, images and HTML. Text that is too intricate is unchanged."""
    tokens: list[Token] = []
    try:
        _PARSER.inline.parse(content, _PARSER, allowance(content), tokens)
    except TooIntricate:
        return " ".join(content.split())
    parts = (token.content if token.type in _TEXT else " " * token.type.endswith("break") for token in tokens)
    return " ".join("".join(parts).split())


def _cut(text: str) -> str:
    head = text[: EXCERPT_CHARACTERS - 1]
    return (head.rpartition(" ")[0] or head).rstrip(" ,;:.–-")
