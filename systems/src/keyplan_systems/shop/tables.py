"""CSV files, read row by row in bounded memory, with the line number of each row.

The loader interprets the columns. An unreadable row is reported by its line, and reading continues after it: an
unclosed quote invalidates only its own line.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from keyplan_systems.lines import Lines, Tell

RECORD_LINES_MAX = 20
"""Lines that a row may go on over, where a quoted text has line breaks."""
DELIMITERS = ",;\t"


@dataclass(frozen=True, slots=True)
class Row:
    """A row: the line that it begins on, and its texts by column, without the spaces around them."""

    line: int
    values: dict[str, str]


@dataclass
class Table:
    """A file whose first line names its columns. They may be divided by commas, semicolons or tabs.

    ``columns`` is empty where there is no line of names.
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
            self.tell(number, f"the columns' names can't be read: {error}", None)
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
        """What is missing of the columns that are needed; of each collection one is enough."""
        return [" or ".join(names) for names in needed if not set(names) & set(self.columns)]

    def rows(self) -> Iterator[Row]:
        """The rows, one after the other. Raises OSError."""
        with self.path.open("rb") as file:
            lines = Lines(file, self.tell)
            named = False
            while True:
                taken: list[tuple[int, str]] = []
                try:
                    texts = next(csv.reader(_pulled(lines, taken), delimiter=self.delimiter, strict=True), None)
                except csv.Error as error:
                    lines.push_back(taken[1:])
                    quote = "end of data" in str(error) or "expected after" in str(error)
                    reason = "a quote isn't closed, or isn't doubled" if quote else str(error)
                    self.tell(
                        taken[0][0], f"the row can't be read: {reason}", "quote a text once, and double quotes in it"
                    )
                    continue
                if texts is None:
                    return
                if not any(text.strip() for text in texts):
                    continue
                if not named:
                    named = True
                elif len(texts) != len(self.columns):
                    self.tell(
                        taken[0][0],
                        f"the number of columns is {len(texts)}, and {len(self.columns)} in the first line",
                        None,
                    )
                else:
                    yield Row(taken[0][0], dict(zip(self.columns, map(str.strip, texts), strict=True)))


def _pulled(lines: Lines, taken: list[tuple[int, str]]) -> Iterator[str]:
    """The lines of one row, as csv asks for them; they are kept, for those that aren't the row's after all."""
    while len(taken) < RECORD_LINES_MAX and (line := next(lines, None)) is not None:
        taken.append(line)
        yield line[1]
