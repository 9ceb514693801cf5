"""Python source for generated modules: string literals and docstrings of any text."""

from __future__ import annotations

__all__ = ["docstring", "literal", "one_line"]


def literal(text: str) -> str:
    """A string literal, in double quotes if possible."""
    shown = repr(text)
    return f'"{shown[1:-1]}"' if shown.startswith("'") and '"' not in shown else shown


def docstring(text: str, longest: int = 100) -> str:
    """A docstring of one line, cut after ``longest`` characters with its first quotes."""
    line = one_line(text).replace("\\", "/").replace('"', "'")
    return f'"""{line[:longest]}"""'


def one_line(text: str) -> str:
    """A text on one line, without unprintable characters, for a comment or a docstring."""
    return "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))
