"""Text files read line by line in bounded memory, each line with its number.

What a line means is its reader's matter.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from keyplan.errors import RequestError, StoreError
from keyplan.systems import Progress

__all__ = ["LINE_BYTES_MAX", "Lines", "Steps", "Tell", "count_lines", "readable"]

LINE_BYTES_MAX = 100_000
"""Longer lines are told and left out. csv's own limit for one field is 131,072 characters."""
CHUNK_BYTES = 1 << 20
STEP_LINES = 20
"""Progress is told once in so many lines."""

Tell = Callable[[int, str, str | None], None]
"""Told of what can't be read: the line, what is wrong, and what to do."""


@contextmanager
def readable(path: Path) -> Generator[None]:
    """Tell by a RequestError that a file, or one of a folder, can't be read. The store's own errors are OSErrors too,
    and not the file's: they go on as they are.
    """
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        raise RequestError(f"{path} can't be read: {error.strerror or error}", hint="make it readable") from None


def count_lines(path: Path) -> int:
    """How many lines a file has. Raises OSError."""
    count, last = 0, b"\n"
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            count += chunk.count(b"\n")
            last = chunk[-1:]
    return count + (last != b"\n")


class Lines:
    """The lines of a file with their numbers, their ends included. Those that are too long are told and left out.

    So are those that aren't UTF-8, unless ``fallback`` names an encoding to read them in: then the first one is told.
    """

    def __init__(self, file: BinaryIO, tell: Tell, *, fallback: str | None = None) -> None:
        self._file = file
        self._tell = tell
        self._fallback = fallback
        self._number = 0
        self._told = False
        self._again: deque[tuple[int, str]] = deque()

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return self

    def __next__(self) -> tuple[int, str]:
        if self._again:
            return self._again.popleft()
        while line := self._file.readline(LINE_BYTES_MAX + 1):
            self._number += 1
            if len(line) > LINE_BYTES_MAX:
                self._to_the_end(line)
                self._tell(self._number, f"the line is longer than {LINE_BYTES_MAX:,} bytes, and left out", None)
                continue
            text = self._decoded(line)
            if text is not None:
                return self._number, text
        raise StopIteration

    def push_back(self, lines: Iterable[tuple[int, str]]) -> None:
        """Give these lines again."""
        self._again.extendleft(reversed(list(lines)))

    def _decoded(self, line: bytes) -> str | None:
        try:
            return line.decode("utf-8-sig" if self._number == 1 else "utf-8")
        except UnicodeDecodeError:
            if self._fallback is None:
                self._tell(self._number, "the line isn't UTF-8, and left out", "save the file as UTF-8")
                return None
        if not self._told:
            self._told = True
            text = f"the line isn't UTF-8: it, and others like it, are read as {self._fallback}"
            self._tell(self._number, text, "save the file as UTF-8")
        return line.decode(self._fallback, "replace")

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
        """So many lines of the file are done."""
        if line >= self._next:
            self._next = line + STEP_LINES
            self._progress(min(self._before + line, self._total), self._total)

    def done(self, lines: int) -> None:
        """The file is done: it had so many lines."""
        self._before += lines
        self._next = STEP_LINES
        self._progress(min(self._before, self._total), self._total)
