"""The tokens of DynamoDB's expression language. What they mean together is in ``parser``."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["END", "KEYWORDS", "Token", "tokenize"]

KEYWORDS = frozenset({"ADD", "AND", "BETWEEN", "DELETE", "IN", "NOT", "OR", "REMOVE", "SET"})
END = "<EOF>"

_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:
    (?P<word>[A-Za-z][A-Za-z0-9_]*)
    | (?P<name>\#[A-Za-z0-9_]+)
    | (?P<value>:[A-Za-z0-9_]+)
    | (?P<index>0|[1-9][0-9]*)
    | (?P<symbol><>|<=|>=|[=<>()\[\],.+\-])
    | (?P<unknown>[^ \t\r\n])
    )""",
    re.VERBOSE,
)


class Token(NamedTuple):
    """A token: ``kind`` is word, name, value, index, unknown, end, or the keyword or symbol itself."""

    kind: str
    text: str
    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """The tokens of an expression; the last is the end. What fits nothing is a token of kind unknown."""
    tokens: list[Token] = []
    position = 0
    while (match := _TOKEN.match(text, position)) is not None:
        kind = match.lastgroup or "unknown"
        word = match[kind]
        if kind == "symbol":
            kind = word
        elif kind == "word" and word.upper() in KEYWORDS:
            kind = word.upper()
        tokens.append(Token(kind, word, match.start(match.lastgroup or 0), match.end()))
        position = match.end()
    tokens.append(Token("end", END, len(text), len(text)))
    return tokens
