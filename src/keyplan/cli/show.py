"""Prints results: an entity as a list of fields, several as a table that fits the terminal."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from keyplan.cli.options import printable

__all__ = ["console", "show_answer"]

WIDTH_WITHOUT_TERMINAL = 120
_CELL_MAX = 36
_CELL_MIN = 6


def console(*, stderr: bool = False) -> Console:
    """A console; 120 columns wide if there is no terminal."""
    made = Console(stderr=stderr, highlight=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = WIDTH_WITHOUT_TERMINAL
    return made


def show_answer(out: Console, answer: Any) -> None:
    """Print a result, given as JSON data."""
    if answer is None:
        out.print(Text("nothing", style="dim"))
    elif isinstance(answer, dict) and "items" in answer and isinstance(answer["items"], list):
        _show_items(out, answer["items"])
        if answer.get("cursor"):
            out.print(
                Text("next page: ", style="dim").append(f"cursor={answer['cursor']}", style="default"), soft_wrap=True
            )
    elif isinstance(answer, dict):
        _show_object(out, answer)
    else:
        out.print(_value(answer))


def _show_items(out: Console, items: Sequence[Any]) -> None:
    if not items:
        out.print(Text("nothing", style="dim"))
        return
    if not all(isinstance(item, dict) for item in items):
        for item in items:
            out.print(_value(item))
        return
    names = list(dict.fromkeys(name for item in items for name in item))
    shown = _fitting(names, items, out.width)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in shown:
        table.add_column(escape(name), overflow="ellipsis", no_wrap=True, max_width=_CELL_MAX)
    for item in items:
        table.add_row(*(_cell(item.get(name)) for name in shown))
    out.print(table)
    count = f"{len(items)} item{'' if len(items) == 1 else 's'}"
    left = [name for name in names if name not in shown]
    more = f"; not shown: {', '.join(left)} (--json shows all)" if left else ""
    out.print(Text(count + printable(more), style="dim"))


def _fitting(names: list[str], items: Sequence[dict[str, Any]], width: int) -> list[str]:
    """The fields that fit: fields that differ or are set first, in their own order."""

    def size(name: str) -> int:
        longest = max(len(_cell(item.get(name)).plain) for item in items)
        return max(len(name), min(longest, _CELL_MAX), _CELL_MIN) + 2

    filled = [name for name in names if any(item.get(name) not in (None, [], "") for item in items)]
    shown: set[str] = set()
    room = width
    for name in filled:
        if size(name) <= room:
            shown.add(name)
            room -= size(name)
    return [name for name in names if name in shown] or names[:1]


def _show_object(out: Console, result: dict[str, Any]) -> None:
    """Print one entity; a collection as one block per member."""
    nested = {name: value for name, value in result.items() if _is_entity(value)}
    plain = {name: value for name, value in result.items() if name not in nested}
    if plain:
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="bold", no_wrap=True)
        grid.add_column(overflow="fold")
        for name, value in plain.items():
            grid.add_row(escape(name), _value(value))
        out.print(grid)
    for name, value in nested.items():
        out.print(Text(printable(name), style="bold underline"))
        _show_items(out, value) if isinstance(value, list) else _show_object(out, value)


def _is_entity(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def _value(value: Any) -> Text:
    if value is None:
        return Text("–", style="dim")
    if isinstance(value, list) and all(isinstance(element, str) for element in value):
        return Text(printable(", ".join(value)))
    return Text(printable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)))


def _cell(value: Any) -> Text:
    text = _value(value)
    text.plain = " ".join(text.plain.split())
    return text
