"""A design's file, which is reloaded after each save, and the error if the file is invalid."""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from keyplan.errors import KeyplanError
from keyplan.formatting.results import error_json

Opened = TypeVar("Opened")

CONTEXT = 4
"""Number of lines that are shown before the line of an error, and after that line."""


class DesignFile(Generic[Opened]):
    """A design's file. ``open_file`` opens the design or raises KeyplanError; ``error`` is the last attempt's error."""

    def __init__(self, path: Path, open_file: Callable[[], Opened], error: KeyplanError | None = None) -> None:
        self.path = path
        self.error = error
        self._open = open_file
        self.version = stamp(self.path)
        self._lock = threading.Lock()

    def attempt(self) -> Opened | None:
        """The reopened design; None if the file is unchanged or invalid, or if another thread is opening it."""
        version = stamp(self.path)
        if version == self.version or not self._lock.acquire(blocking=False):
            return None
        try:
            self.version = version
            opened = self._open()
        except KeyplanError as error:
            self.error = error
            return None
        else:
            self.error = None
            return opened
        finally:
            self._lock.release()

    def as_json(self) -> dict[str, Any] | None:
        if self.error is None:
            return None
        _, colon, line_text = (self.error.place or "").rpartition(":")
        line = int(line_text) if colon and line_text.isdecimal() else line_in(self.path, self.error)
        text = self.path.read_text(encoding="utf-8", errors="replace") if self.path.is_file() else ""
        lines = list(enumerate(text.splitlines(), 1))
        return {
            **error_json(self.error)["error"],
            "file": str(self.path),
            "line": line,
            "lines": [] if line is None else lines[max(line - 1 - CONTEXT, 0) : line + CONTEXT],
        }


def stamp(path: Path | str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - a store's URL isn't a path
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size


def line_in(path: Path, error: BaseException) -> int | None:
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == str(path)), None)
