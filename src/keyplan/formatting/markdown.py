"""Markdown tables and their cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["cell", "code", "markdown_table"]


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the cells are Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def code(text: str) -> str:
    """A text as code in a table cell."""
    line = " ".join(text.split()).replace("|", "\\|")
    ticks = "``" if "`" in line else "`"
    return f"{ticks} {line} {ticks}" if len(ticks) > 1 else f"`{line}`"


def cell(text: str) -> str:
    """A literal text in a table cell."""
    line = " ".join(text.split())
    for character in "\\|*_`<[":
        line = line.replace(character, f"\\{character}")
    return line
