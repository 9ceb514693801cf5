"""CSV files, read row by row in bounded memory, with the line number of each row.

An unclosed quote makes the lines up to the next quote unreadable, or 128 KB of them; they are reported.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
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

    ``columns`` is empty if the first line can't be read.
    """

    path: Path
    tell: Tell
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
        columns = [name.strip().lower().replace(" ", "_") for name in names]
        twice = sorted(name for name, count in Counter(columns).items() if count > 1)
        if twice:
            self.tell(number, f"several columns are named {', '.join(twice)}", "name each column once")
        else:
            self.columns = columns

    def rename(self, names: Mapping[str, str]) -> None:
        """Give columns other names."""
        self.columns = [names.get(name, name) for name in self.columns]

    def lacks(self, *needed: Collection[str]) -> list[str]:
        """The missing columns; one column of each collection is required."""
        return [" or ".join(names) for names in needed if not set(names) & set(self.columns)]

    def rows(self) -> Iterator[Row]:
        """The rows, one after the other. Raises OSError."""
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
                    self.tell(taken[0], f"{where} can't be read: {error}", "close quotes; double those inside values")
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
