"""Reads text files line by line in bounded memory, with line numbers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from keyplan.errors import RequestError, StoreError
from keyplan.systems import Progress

LINE_BYTES_MAX = 100_000
"""Longer lines are reported and skipped. csv's limit for one field is 131,072 characters."""
CHUNK_BYTES = 1 << 20
STEP_LINES = 20
"""Progress is reported once per this number of lines."""

Tell = Callable[[int, str, str | None], None]
"""Reports an unreadable line: its number, the error, and a hint."""


@contextmanager
def readable(path: Path) -> Generator[None]:
    """Converts an error of reading a file or a file in a folder to a RequestError. The store's errors, which are also
    OSErrors, pass through.
    """
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        raise RequestError(f"{path} can't be read: {error.strerror or error}", hint="make the file readable") from None


def count_lines(path: Path) -> int:
    """The number of lines in a file. Raises OSError."""
    count, last = 0, b"\n"
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            count += chunk.count(b"\n")
            last = chunk[-1:]
    return count + (last != b"\n")


class Lines:
    """The numbered lines of a file, with line ends. Lines that are too long or not UTF-8 are reported and skipped."""

    def __init__(self, file: BinaryIO, tell: Tell) -> None:
        self._file = file
        self._tell = tell
        self._number = 0

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return self

    def __next__(self) -> tuple[int, str]:
        while line := self._file.readline(LINE_BYTES_MAX + 1):
            self._number += 1
            if len(line) > LINE_BYTES_MAX:
                self._to_the_end(line)
                self._tell(self._number, f"the line is longer than {LINE_BYTES_MAX:,} bytes and is skipped", None)
                continue
            try:
                return self._number, line.decode("utf-8-sig" if self._number == 1 else "utf-8")
            except UnicodeDecodeError:
                self._tell(self._number, "the line isn't UTF-8 and is skipped", "save the file as UTF-8")
        raise StopIteration

    def _to_the_end(self, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = self._file.readline(LINE_BYTES_MAX)


class Steps:
    """Progress over several files, in lines."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._total = total
        self._before = 0
        self._next = STEP_LINES
        progress(0, total)

    def at(self, line: int) -> None:
        """Report the number of processed lines of the file."""
        if line >= self._next:
            self._next = line + STEP_LINES
            self._progress(min(self._before + line, self._total), self._total)

    def done(self, lines: int) -> None:
        """Report that the file is finished, with its number of lines."""
        self._before += lines
        self._next = STEP_LINES
        self._progress(min(self._before, self._total), self._total)
