"""Syntax highlighting with Pygments: code as HTML with classes for the style sheet.

Lexers are regular expressions, some of which are slow for unusual input; so only well-tested lexers are used, and long
code isn't highlighted.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from functools import cache
from typing import Any

from markupsafe import escape
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

_LANGUAGES = (
    "bash c c# c++ clojure console cpp cs csharp css diff docker dockerfile elixir erlang f# fsharp go golang "
    "graphql haskell hcl html http ini java javascript js json jsx kotlin lua make makefile nginx php "
    "powershell py py3 pycon python python3 rb ruby rs rust scala sh shell sql swift terraform toml ts tsx "
    "typescript xml yaml yml zsh"
)
LANGUAGES = frozenset(_LANGUAGES.split())
BLOCK_CHARACTERS_MAX = 20_000
LINE_CHARACTERS_MAX = 400
TEXT_CHARACTERS_MAX = 60_000
"""Maximum total length of highlighted blocks in one text."""


def highlighted(code: str, language: str, env: MutableMapping[str, Any]) -> str | None:
    """The code as safe HTML; None for an unknown language or code that is too long.

    ``env`` counts the highlighted characters of one text.
    """
    name = language.lower()
    if name not in LANGUAGES or len(code) > BLOCK_CHARACTERS_MAX:
        return None
    if any(len(line) > LINE_CHARACTERS_MAX for line in code.split("\n")):
        return None
    env["highlighted"] = env.get("highlighted", 0) + len(code)
    lexer = _lexer(name) if env["highlighted"] <= TEXT_CHARACTERS_MAX else None
    if lexer is None:
        return None
    parts: list[str] = []
    for kind, text in lexer.get_tokens(code):
        css = STANDARD_TYPES.get(kind, "")
        shown = str(escape(text))
        parts.append(f'<span class="{css}">{shown}</span>' if css not in {"", "n", "p", "w"} else shown)
    return "".join(parts)


def prepare() -> None:
    """Load the lexers of all languages, which takes 0.6 s in total: otherwise the first visitor of each language would
    wait up to 0.2 s.
    """
    for name in sorted(LANGUAGES):
        _lexer(name)


@cache
def _lexer(name: str) -> Lexer | None:
    try:
        return get_lexer_by_name(name, ensurenl=False, stripnl=False)
    except ClassNotFound:  # an older version of Pygments lacks this lexer
        return None
