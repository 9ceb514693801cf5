"""CSV files, read row by row in bounded memory, with the line number of each row.

An unclosed quote makes the lines up to the next quote unreadable, or 128 KB of them; they are reported.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from keyplan_systems.lines import Lines, Tell

DELIMITERS = ",;\t"


@dataclass(frozen=True, slots=True)
class Row:
    """A row: the number of its first line, and its stripped values by column."""

    line: int
    values: dict[str, str]


@dataclass
class Table:
    """A file whose first line names its columns, separated by commas, semicolons or tabs.

    ``names`` are the file's names of columns, by the expected names. ``columns`` is empty if the first line can't be
    read.
    """

    path: Path
    tell: Tell
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    columns: list[str] = field(default_factory=list[str])
    delimiter: str = ","

    def __post_init__(self) -> None:
        with self.path.open("rb") as file:
            for number, text in Lines(file, lambda *_: None):
                if text.strip():
                    self._name(number, text)
                    break

    def _name(self, number: int, text: str) -> None:
        """The columns, by the delimiter that finds most of them."""
        self.delimiter = max(DELIMITERS, key=text.count)
        try:
            names = next(csv.reader([text], delimiter=self.delimiter, strict=True))
        except csv.Error as error:
            self.tell(number, f"the column names can't be read: {error}", None)
            return
        renamed = {_normalized(name): expected for expected, name in self.names.items()}
        columns = [renamed.get(name, name) for name in map(_normalized, names)]
        twice = sorted(name for name, count in Counter(columns).items() if count > 1)
        if twice:
            self.tell(number, f"several columns are named {', '.join(twice)}", "use each column name once")
        else:
            self.columns = columns

    def rows(self, *needed: str) -> Iterator[Row]:
        """The rows, one after the other; none if a needed column is missing, which is reported. Raises OSError."""
        missing = [name for name in needed if name not in self.columns]
        if missing:
            self.tell(1, f"the columns {', '.join(missing)} are missing", "add the column names to the first line")
            return
        taken: list[int] = []

        def texts(lines: Lines) -> Iterator[str]:
            for number, text in lines:
                taken.append(number)
                yield text

        named = False
        with self.path.open("rb") as file:
            reader = csv.reader(texts(Lines(file, self.tell)), delimiter=self.delimiter, strict=True)
            while True:
                taken.clear()
                try:
                    values = next(reader, None)
                except csv.Error as error:
                    where = f"line {taken[0]}" if len(taken) == 1 else f"lines {taken[0]} to {taken[-1]}"
                    self.tell(taken[0], f"{where} can't be read: {error}", 'close each quote; write a literal " as ""')
                    continue
                if values is None:
                    return
                if not any(text.strip() for text in values):
                    continue
                if not named:
                    named = True
                elif len(values) != len(self.columns):
                    self.tell(taken[0], f"the row has {len(values)} columns, expected {len(self.columns)}", None)
                else:
                    yield Row(taken[0], dict(zip(self.columns, map(str.strip, values), strict=True)))


def _normalized(column: str) -> str:
    return column.strip().lower().replace(" ", "_")
