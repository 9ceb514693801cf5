"""Formats Markdown tables and their cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def code(text: str) -> str:
    """A string, formatted as code for a table cell."""
    line = " ".join(text.split()).replace("|", "\\|")
    ticks = "``" if "`" in line else "`"
    return f"{ticks} {line} {ticks}" if len(ticks) > 1 else f"`{line}`"


def cell(text: str) -> str:
    """A string, escaped for a table cell."""
    line = " ".join(text.split())
    for character in "\\|*_`<[":
        line = line.replace(character, f"\\{character}")
    return line


def literal(text: str) -> str:
    """A string literal, in double quotes if possible."""
    shown = repr(text)
    return f'"{shown[1:-1]}"' if shown.startswith("'") and '"' not in shown else shown


def docstring(text: str, longest: int = 100) -> str:
    """A one-line docstring in triple quotes, truncated to ``longest`` characters."""
    line = one_line(text).replace("\\", "/").replace('"', "'")
    return f'"""{line[:longest]}"""'


def one_line(text: str) -> str:
    """A string on one line, without unprintable characters, for a comment or a docstring."""
    return "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))
