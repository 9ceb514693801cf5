"""Print results: one entity as a list of fields, several entities as a table that fits the terminal."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from keyplan.cli.options import printable
from keyplan.errors import ErrorDetail
from keyplan.formatting.arguments import arguments_of
from keyplan.model.compiled.signatures import Signature
from keyplan.systems import Progress as Report

WIDTH_WITHOUT_TERMINAL = 120
_CELL_MAX = 36
_CELL_MIN = 6


def console(*, stderr: bool = False) -> Console:
    """A console, which is 120 columns wide if the output isn't a terminal."""
    made = Console(stderr=stderr, highlight=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = WIDTH_WITHOUT_TERMINAL
    return made


def show_answer(out: Console, answer: Any) -> None:
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
    """The fields that fit the width, without fields that are empty in every item; at least one field."""

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


_PAIR = re.compile(r"([^\W\d][\w.]*)(:?=)(.*)", re.DOTALL)


def typed_arguments(signature: Signature, texts: Iterable[str]) -> dict[str, Any]:
    pairs: list[tuple[str, Any]] = []
    faults: list[ErrorDetail] = []
    for text in texts:
        match = _PAIR.fullmatch(text)
        if match is None:
            faults.append(ErrorDetail(text, "isn't name=value", "write name=value, or name:=JSON"))
            continue
        name, how, value = match.groups()
        if how == "=":
            pairs.append((name, value))
            continue
        try:
            pairs.append((name, json.loads(value)))
        except ValueError as error:
            faults.append(ErrorDetail(name, f"isn't JSON: {error}", 'use shell quotes: name:=\'{"title": "…"}\''))
    return arguments_of(signature, pairs, faults)


@contextmanager
def progress(what: str) -> Generator[Report]:
    """A progress bar on standard error, shown only in a terminal."""
    out = console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        task = bar.add_task(what, total=None)

        def report(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total)

        yield report
