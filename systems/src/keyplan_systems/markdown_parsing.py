"""Markdown parsed in bounded work: its blocks, which lines are code, its first heading and its first paragraph.

markdown-it tries rules at each position of a text. Each try is counted, and a text that needs far more tries than prose
does is refused. Rendering is in ``site/markdown.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

__all__ = ["Heading", "TooIntricate", "allowance", "bound", "code_lines", "first_heading", "first_paragraph"]

NESTING_MAX = 20
STEPS_MIN = 10_000
CHARACTERS_PER_STEP = 5
"""Tries that a text may take: ``STEPS_MIN``, and one more per so many characters. Prose takes fewer."""
BLOCK_STEPS = 4
"""What a try of a block counts: it reads more than a try within a line."""
EXCERPT_CHARACTERS = 280
EXCERPT_SOURCE_MAX = 8_000
"""Characters at the start of a text in which its first heading and paragraph are searched."""
_TEXT = frozenset({"text", "code_inline"})
_NO_PROSE = ("{%", "{{", "\\[")
"""How a paragraph begins that is a template tag, or the placeholder of one."""


class TooIntricate(Exception):
    """A text takes more tries than it may."""


class Heading(NamedTuple):
    """The first heading of a text: its words, its level, and its lines (``start``, and ``end`` behind the last)."""

    title: str
    level: int
    start: int
    end: int


def allowance(text: str) -> dict[str, Any]:
    """The ``env`` of a parse, with the number of tries that the text may take."""
    return {"steps": STEPS_MIN + len(text) // CHARACTERS_PER_STEP}


def bound(parser: MarkdownIt) -> MarkdownIt:
    """Let a parser count its tries in ``env``: it raises TooIntricate when none is left."""
    parser.inline.ruler.before("text", "step", _inline_step)
    parser.block.ruler.before("table", "step", _block_step)
    return parser


def _step(env: MutableMapping[str, Any], weight: int) -> bool:
    env["steps"] -= weight
    if env["steps"] < 0:
        raise TooIntricate
    return False


def _inline_step(state: StateInline, silent: bool) -> bool:  # noqa: ARG001 - the parser's own form of a rule
    return _step(state.env, 1)


def _block_step(state: StateBlock, first: int, last: int, silent: bool) -> bool:  # noqa: ARG001 - the same
    return _step(state.env, BLOCK_STEPS)


_PARSER = bound(MarkdownIt("commonmark", {"maxNesting": NESTING_MAX}).enable("table"))


def code_lines(text: str) -> set[int]:
    """The numbers of the lines, from 0, that belong to blocks of code. Empty for a text that is too intricate."""
    result: set[int] = set()
    for token in _blocks(text):
        if token.type in {"fence", "code_block"} and token.map is not None:
            result.update(range(*token.map))
    return result


def first_heading(text: str) -> Heading | None:
    """The first heading at the start of a text, or None."""
    source = text[:EXCERPT_SOURCE_MAX]
    for token, inline in _pairs(_blocks(source)):
        if token.type == "heading_open" and token.map is not None:
            title = _words(inline.content)
            if title:
                return Heading(title, int(token.tag[1]), *token.map)
    return None


def first_paragraph(text: str) -> str | None:
    """The first paragraph as plain text on one line, cut at a word; None where there is none.

    Headings, lists, quotations, tables, code, HTML, pictures and template tags are skipped.
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
    """The words of inline Markdown: without marks, pictures and HTML. What is too intricate stays as it is."""
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
