"""Code as HTML whose words have classes, for the style sheet to colour. Pygments knows the languages.

Its lexers are made of regular expressions, and some take long for lines that nobody writes; so only well-tried ones are
taken, and what is long isn't highlighted.
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

__all__ = ["highlighted", "prepare"]

LANGUAGES = frozenset(
    (
        *(
            "bash",
            "c",
            "c#",
            "c++",
            "clojure",
            "console",
            "cpp",
            "cs",
            "csharp",
        ),
        *(
            "css",
            "diff",
            "docker",
            "dockerfile",
            "elixir",
            "erlang",
            "f#",
            "fsharp",
            "go",
        ),
        *(
            "golang",
            "graphql",
            "haskell",
            "hcl",
            "html",
            "http",
            "ini",
            "java",
            "javascript",
        ),
        *(
            "js",
            "json",
            "jsx",
            "kotlin",
            "kt",
            "lua",
            "make",
            "makefile",
            "nginx",
        ),
        *(
            "php",
            "powershell",
            "py",
            "py3",
            "pycon",
            "python",
            "python3",
            "rb",
            "ruby",
            "rs",
        ),
        *(
            "rust",
            "scala",
            "sh",
            "shell",
            "sql",
            "swift",
            "terraform",
            "toml",
            "ts",
        ),
        *(
            "tsx",
            "typescript",
            "xml",
            "yaml",
            "yml",
            "zsh",
        ),
    )
)
_NAMES = {"kt": "kotlin"}
"""Names of languages that Pygments doesn't know."""
BLOCK_CHARACTERS_MAX = 20_000
LINE_CHARACTERS_MAX = 400
TEXT_CHARACTERS_MAX = 60_000
"""Of all blocks of one text together."""


def highlighted(code: str, language: str, env: MutableMapping[str, Any]) -> str | None:
    """The code as safe HTML; None for a language that isn't known, and for code that is too long.

    ``env`` counts what has been highlighted of one text.
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
    """Make the lexers of all languages, which takes some 0.6 s: one alone takes up to 0.2 s, and who is shown the first
    code in a language would wait for it, with all others.
    """
    for name in sorted(LANGUAGES):
        _lexer(name)


@cache
def _lexer(name: str) -> Lexer | None:
    try:
        return get_lexer_by_name(_NAMES.get(name, name), ensurenl=False, stripnl=False)
    except ClassNotFound:  # a Pygments that is older than the list
        return None
